#!/usr/bin/env python3
"""bodies_density.py VOLUMES <LINE: the mean volume at constant pressure, from pressures at constant volumes.

VOLUMES has lines `V P error`; LINE is `shape count volume_of_one pressure <V> error P_measured error`. See bodies_density.sh.
"""
import random
import sys

import numpy


def mean_volume(count, body, pressure, middle, volumes, pressures, errors):
    """<V> of p(V) ~ exp(-P V + integral of P(V)), in units of kT, and chi^2 of the law that is fitted to the points:
    with the packing fraction f = count body / V

        P V / count = 1 + f (a + b f + c f^2) / (1 - f)^2.

    a, b and c are needed: with two terms of scaled-particle theory chi^2 is 40 for squares, and <V> is wrong by 1e-3. All
    points have the same weight, relative to their pressures. A mean in which a very short path has been, as happens
    rarely, is larger and has a larger error: weighted by its error it would count less, and the law would be too low."""
    def terms(volume):
        f = count * body / volume
        return numpy.array([f ** k / (1 - f) ** 2 for k in (1, 2, 3)]) * count / volume

    fitted, excess = terms(volumes), pressures - count / volumes
    law = numpy.linalg.lstsq((fitted / pressures).T, excess / pressures, rcond=None)[0]
    chi_squared = (((law @ fitted - excess) / errors) ** 2).sum()
    volume = middle * numpy.linspace(0.65, 1.8, 6001)
    volume = volume[volume > 1.05 * count * body]
    found = count / volume + law @ terms(volume)
    step = volume[1] - volume[0]
    exponent = numpy.concatenate(([0], numpy.cumsum((found[1:] + found[:-1]) / 2 * step))) - pressure * volume
    weight = numpy.exp(exponent - exponent.max())
    if weight[0] > 1e-6 or weight[-1] > 1e-6:
        sys.exit("the volumes of this system differ by more than is integrated over")
    return (volume * weight).sum() / weight.sum(), chi_squared


def main():
    shape, *numbers = sys.stdin.read().split()
    count, body, pressure, middle, error, measured, error_measured = map(float, numbers)
    points = numpy.loadtxt(sys.argv[1])
    volumes, pressures, errors = points.T
    of_points, chi_squared = mean_volume(count, body, pressure, middle, volumes, pressures, errors)
    random.seed(1)
    again = [mean_volume(count, body, pressure, middle, volumes,
                         numpy.array([random.gauss(p, e) for p, e in zip(pressures, errors)]), errors)[0]
             for _ in range(300)]
    error_of_points = float(numpy.std(again))
    z = (middle - of_points) / (error ** 2 + error_of_points ** 2) ** 0.5
    print(f"{shape}, {count:.0f} at P = {pressure:g}: N/<V> = {count / middle:.6f} ({error / middle:.1e} relative); "
          f"from pressures {count / of_points:.6f} ({error_of_points / of_points:.1e}, chi^2 {chi_squared:.1f} of {len(points) - 3}): "
          f"{middle / of_points - 1:+.1e}, z = {z:+.2f}; P measured {measured:.5f} +- {error_measured:.5f}, "
          f"z = {(measured - pressure) / error_measured:+.2f}")


main()
