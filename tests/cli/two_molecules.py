"""tests/cli/two_molecules.py: the exact mean energy over kT of two rigid dumbbells of shifted Lennard-Jones sites in a cube, by
quadrature over their distance and their directions. Bond BOND, cutoff CUTOFF, temperature KT and edge EDGE are arguments, in units
of sigma and epsilon."""
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


def means(r):
    """Means over directions of exp(-U / kT) - 1 and U exp(-U / kT), with the centres at a distance r."""
    u = 0
    for a in (-bond / 2, bond / 2):
        for b in (-bond / 2, bond / 2):
            u = u + pair((b * s2 * numpy.cos(f) - a * s1) ** 2 + (b * s2 * numpy.sin(f)) ** 2 + (r + b * c2 - a * c1) ** 2)
    factor = numpy.exp(-numpy.minimum(u / kT, 700))
    return numpy.sum(weight * (factor - 1)), numpy.sum(weight * u * factor)


last = cutoff + bond
assert edge > 2 * last
excess = energy = 0
edges = numpy.linspace(0, last, 9)
for low, high in zip(edges, edges[1:]):
    for x, v in zip(*numpy.polynomial.legendre.leggauss(24)):
        r, dr = (low + high) / 2 + (high - low) / 2 * x, v * (high - low) / 2
        f0, u0 = means(r)
        excess += 4 * numpy.pi * r * r * dr * f0
        energy += 4 * numpy.pi * r * r * dr * u0
print(energy / (edge ** 3 + excess))
