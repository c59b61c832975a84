"""tests/cli/two_molecules.py: the exact mean energy over kT of two rigid dumbbells of shifted Lennard-Jones sites in a cube, by
quadrature over their distance and their directions. Bond BOND, cutoff CUTOFF, temperature KT and edge EDGE are arguments, in units
of sigma and epsilon. With a fifth argument, `apart`: the probability that each is in a cube of its own, where two cubes share
them. With `kinds BOND ACTIVITY`: probabilities of 0, 1 and 2 dumbbells of that bond among two that may become each other's kind, whose
activity is ACTIVITY times that of the first kind; then the mean energy over kT of one of each."""
import sys

import numpy

bond, cutoff, kT, edge = map(float, sys.argv[1:5])


def pair(square):
    sixth = 1 / numpy.maximum(square, 1e-3) ** 3
    shift = 4 * (cutoff ** -12 - cutoff ** -6)
    return numpy.where(square < cutoff ** 2, 4 * sixth * (sixth - 1) - shift, 0)


z, w = numpy.polynomial.legendre.leggauss(48)
c, wc = (z + 1) / 2, w / 2  # the other half is the same
phi = numpy.pi * (numpy.arange(48) + 0.5) / 48
c1, c2, f = numpy.meshgrid(c, c, phi, indexing='ij')
weight = wc[:, None, None] * wc[None, :, None] / len(phi)
s1, s2 = numpy.sqrt(1 - c1 ** 2), numpy.sqrt(1 - c2 ** 2)


def means(r, one, other):
    """Means over directions of exp(-U / kT) - 1 and U exp(-U / kT), with the centres of bonds `one` and `other` at a distance r."""
    u = 0
    for a in (-one / 2, one / 2):
        for b in (-other / 2, other / 2):
            u = u + pair((b * s2 * numpy.cos(f) - a * s1) ** 2 + (b * s2 * numpy.sin(f)) ** 2 + (r + b * c2 - a * c1) ** 2)
    factor = numpy.exp(-numpy.minimum(u / kT, 700))
    return numpy.sum(weight * (factor - 1)), numpy.sum(weight * u * factor)


def integrals(one, other):
    """The integral of the first over r, and of the second."""
    last = cutoff + (one + other) / 2
    assert edge > 2 * last
    excess = energy = 0
    edges = numpy.linspace(0, last, 9)
    for low, high in zip(edges, edges[1:]):
        for x, v in zip(*numpy.polynomial.legendre.leggauss(24)):
            r, dr = (low + high) / 2 + (high - low) / 2 * x, v * (high - low) / 2
            f0, u0 = means(r, one, other)
            excess += 4 * numpy.pi * r * r * dr * f0
            energy += 4 * numpy.pi * r * r * dr * u0
    return excess, energy


volume = edge ** 3
excess, energy = integrals(bond, bond)
if sys.argv[5:] == ['apart']:
    print(volume / (2 * volume + excess))
elif sys.argv[5:6] == ['kinds']:
    second, activity = map(float, sys.argv[6:])
    mixed, between = integrals(bond, second)
    weights = [(volume + excess) / 2, activity * (volume + mixed), activity ** 2 * (volume + integrals(second, second)[0]) / 2]
    print(*(w / sum(weights) for w in weights), between / (volume + mixed))
else:
    print(energy / (volume + excess))
