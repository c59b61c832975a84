#!/usr/bin/env python3
"""Is ln p(N) of SPC/E water of three runs of others that of plugmc with another Coulomb constant?

    water_numbers_coupling.py RUNS.csv SHARE STATES FILE.npz...

RUNS.csv has N and ln p of each of their runs (tests/data/nist/spce-525-runs.csv), FILE.npz the transition counts of plugmc's runs (`water_numbers.py
take`), of which the first SHARE is left out, STATES is a folder of states of all N (.xyz of `plugmc export`, the site O and two H a molecule).

A Coulomb constant that is larger by a factor 1 + d changes ln p(N) by -d U(N) / kT to first order, where U is the mean Coulomb energy of N
molecules, found from the states as a polynomial of U / N. So d and a shift of ln z are fitted to the difference of each of their runs from
plugmc's in steps of ln p, and the three values of d have a mean and a deviation that need no errors of theirs.
"""
import csv
import glob
import math
import os
import sys

import numpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import water_numbers  # noqa: E402

EDGE, CUTOFF, ALPHA, LONGEST, TEMPERATURE = 20.0, 10.0, 0.28, 38, 525.0
CONSTANT = 167100.947  # K Angstrom / e^2, CODATA 2018
CHARGES = numpy.array([-0.8476, 0.4238, 0.4238])
EDGES = numpy.array([0, 1, 3, 6, 11, 22] + list(range(33, 265, 11)))  # of the steps that are compared


def molecules(path):
    with open(path, encoding="ascii") as lines:
        rows = [next(lines).split() for _ in range(int(next(lines)) + 1)][1:]
    of = {name: numpy.array([row[1:4] for row in rows if row[0] == name], float).reshape(-1, 3) for name in "OH"}
    away = numpy.stack([of["H"][0::2], of["H"][1::2]], 1) - of["O"][:, None]
    return numpy.concatenate([of["O"][:, None], of["O"][:, None] + away - EDGE * numpy.round(away / EDGE)], axis=1)


def waves():
    most = math.isqrt(LONGEST)
    n = numpy.array([(a, b, c) for a in range(-most, most + 1) for b in range(-most, most + 1) for c in range(-most, most + 1)
                     if (a, b, c) > (0, 0, 0) and a * a + b * b + c * c <= LONGEST])
    square = (2 * math.pi / EDGE) ** 2 * (n ** 2).sum(axis=1)
    return n, 4 * math.pi / EDGE ** 3 * numpy.exp(-square / (4 * ALPHA ** 2)) / square


GRID = numpy.linspace(0.5, CUTOFF, 200001)
REAL = numpy.array([math.erfc(ALPHA * r) / r for r in GRID])  # to 1e-9


def coulomb(places, n, weights):
    """Energy in K by an Ewald sum, with that of each molecule with itself left out."""
    count = len(places)
    phases = numpy.exp(2j * math.pi / EDGE * places.reshape(-1, 3) @ n.T)
    energy = (weights * abs(numpy.tile(CHARGES, count) @ phases) ** 2).sum() - count * ALPHA / math.sqrt(math.pi) * (CHARGES ** 2).sum()
    inside = places[0]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        r = numpy.linalg.norm(inside[i] - inside[j])
        energy -= count * CHARGES[i] * CHARGES[j] * math.erf(ALPHA * r) / r
    products = numpy.outer(CHARGES, CHARGES)[None]
    for k in range(count - 1):
        away = places[k + 1:, :, None] - places[k][None, None]
        r = numpy.sqrt(((away - EDGE * numpy.round(away / EDGE)) ** 2).sum(axis=-1))
        near = r < CUTOFF
        energy += (numpy.broadcast_to(products, r.shape) * numpy.where(near, numpy.interp(r, GRID, REAL), 0)).sum()
    return CONSTANT * energy


def mean_energy(folder):
    """U(N) / kT for N = 0 to 264, from one state each of many N."""
    n, weights = waves()
    states = [molecules(path) for path in sorted(glob.glob(os.path.join(folder, "*.xyz")))]
    states = [places for places in states if len(places)]
    count = numpy.array([len(places) for places in states])
    polynomial = numpy.polyfit(count / 100, [coulomb(places, n, weights) / len(places) for places in states], 5)
    numbers = numpy.arange(265)
    return numbers * numpy.polyval(polynomial, numbers / 100) / TEMPERATURE


def own(paths, share):
    """Steps of ln p between EDGES of plugmc and their covariance by the jackknife."""
    counts = water_numbers.side_by_side([water_numbers.read(path, share) for path in paths], 0, 264)

    def between(part):
        return numpy.diff(numpy.concatenate(([0], numpy.cumsum(water_numbers.steps(part))))[EDGES])

    all_of = counts.sum(axis=1)
    value, off = between(all_of), []
    for run, blocks in enumerate(counts):
        for block in blocks:
            rest = all_of.copy()
            rest[run] -= block
            off.append(between(rest))
    off = numpy.array(off) - value
    return value, (water_numbers.BLOCKS - 1) / water_numbers.BLOCKS * off.T @ off


def main():
    with open(sys.argv[1], encoding="ascii", newline="") as lines:
        theirs = numpy.array([[float(x) for x in row[1:]] for row in list(csv.reader(lines))[1:]])
    value, covariance = own(sys.argv[4:], float(sys.argv[2]))
    by_coupling = -numpy.diff(mean_energy(sys.argv[3])[EDGES])
    runs = numpy.diff(theirs[EDGES], axis=0)  # [steps][runs]
    count = runs.shape[1]
    deviation = runs.var(axis=1, ddof=1)
    deviation = numpy.convolve(numpy.pad(deviation, 1, mode="edge"), numpy.ones(3) / 3, "valid")  # with neighbours: three runs have too few
    error = numpy.sqrt(numpy.diag(covariance) + deviation / count)
    numbers = numpy.diff(EDGES).astype(float)
    print("# steps between, plugmc at its ln z, error, mean of the others at theirs, deviation of one of their runs")
    for k, (first, last) in enumerate(zip(EDGES, EDGES[1:])):
        print(first, last, f"{value[k]:.4f} {math.sqrt(covariance[k, k]):.4f} {runs[k].mean():.4f} {runs[k].std(ddof=1):.4f}")

    def fit(columns, difference):
        weighted = numpy.array(columns).T / error[:, None]
        inverse = numpy.linalg.pinv(weighted)
        found = inverse @ (difference / error)
        return found, (((difference / error - weighted @ found)) ** 2).sum(), inverse / error

    difference = runs.mean(axis=1) - value
    for d in (0, float(os.environ.get("OTHER", "167000")) / CONSTANT - 1):
        found, chi, _ = fit([numbers], difference - d * by_coupling)
        print(f"# the same constant times {1 + d:.6f}: ln z differs by {found[0]:+.5f}; chi^2 {chi:.1f} of {len(numbers) - 1}")
    found, chi, inverse = fit([numbers, by_coupling], difference)
    each = numpy.array([fit([numbers, by_coupling], run - value)[0] for run in runs.T])
    spread = each.std(axis=0, ddof=1) / math.sqrt(count)
    ours = numpy.sqrt(numpy.diag(inverse @ covariance @ inverse.T))
    print(f"# fitted: ln z differs by {found[0]:+.5f}, error by their runs {spread[0]:.5f}, by plugmc's {ours[0]:.5f}; constant times 1 "
          f"{found[1]:+.2e}, errors {spread[1]:.1e} and {ours[1]:.1e}; chi^2 {chi:.1f} of {len(numbers) - 2}")
    print("# of each run:", "  ".join(f"{a:+.5f} {d:+.2e}" for a, d in each))


if __name__ == "__main__":
    main()
