#!/usr/bin/env python3
"""two_bodies.py OUTPUT EXACT: probabilities of 0, 1 and 2 bodies in a run. P(2) P(0) / P(1)^2 is (1 - 2 B2 / V) / 2 at any
activity. Errors by a jackknife over 20 parts of each walker. The status is 1 if |z| is above 4 or the error above 1 %."""
import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1]) as f:
    numbers = f['plugmc/observables/numbers/N_body/series'][:]
exact = float(sys.argv[2])
parts = np.array([[np.mean(part[:, w] == n) for n in range(3)]
                  for part in np.array_split(numbers, 20) for w in range(numbers.shape[1])])


def ratio(p):
    return p[..., 2] * p[..., 0] / p[..., 1]**2


n, total = len(parts), parts.sum(0)
value, error = ratio(total / n), np.sqrt((n - 1) * np.var(ratio((total - parts) / (n - 1))))
z = (value - exact) / error
print(f'P = {total / n}: z = {z:+.2f}, {value:.6f} +- {error:.2g}, expected {exact}')
sys.exit(not (abs(z) <= 4 and error < 0.01 * exact))
