#!/usr/bin/env python3
"""Draws hard disks coloured by the direction of their sixfold bond order, from a run's output file.

    plugmc run disks.ini           # with [observable trajectory], see README.md
    python3 disks.py disks.h5 disks.png

psi_6(j) is the mean of exp(6 i theta) over the bonds from disk j to the disks closer than 1.45
diameters, as in plugins/observables/hexatic_order.c. The hue is its argument, so that disks of one
crystalline orientation have one colour; the paler a disk, the smaller its modulus. Needs numpy,
h5py and matplotlib.
"""
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import EllipseCollection
from PIL import Image

CUTOFF = 1.45  # diameters
PIXELS = 1200  # of the edge along x
COLOURS = 256  # of the file, which is then a few hundred kilobytes


def last_frame(path):
    """Positions [N][2], box edges [2] and diameters [N] of the last frame of walker 0."""
    with h5py.File(path) as file:
        group = file["particles/trajectory"]
        positions = group["position/value"][-1, :, :2]
        edges = group["box/edges/value"][-1, :2]
        return positions, edges, group["diameter"][:]


def neighbours(positions, edges, reach):
    """Pairs (i, j), both ways round, closer than reach, and their separations, by cells."""
    count = np.maximum(3, np.floor(edges / reach).astype(int))
    cell = np.minimum((positions / edges * count).astype(int), count - 1)
    members = {}
    for i, c in enumerate(map(tuple, cell)):
        members.setdefault(c, []).append(i)
    first, second = [], []
    for (x, y), own in members.items():
        around = [j for dx in (-1, 0, 1) for dy in (-1, 0, 1)
                  for j in members.get(((x + dx) % count[0], (y + dy) % count[1]), [])]
        first.append(np.repeat(own, len(around)))
        second.append(np.tile(around, len(own)))
    i, j = np.concatenate(first), np.concatenate(second)
    separation = positions[j] - positions[i]
    separation -= edges * np.round(separation / edges)
    near = (i != j) & ((separation**2).sum(axis=1) < reach**2)
    return i[near], j[near], separation[near]


def local_order(positions, edges, reach):
    """psi_6 [N], complex; 0 without neighbours."""
    i, _, separation = neighbours(positions, edges, reach)
    bond = np.exp(6j * np.arctan2(separation[:, 1], separation[:, 0]))
    total = np.bincount(i, bond.real, len(positions)) + 1j * np.bincount(i, bond.imag, len(positions))
    return total / np.maximum(1, np.bincount(i, minlength=len(positions)))


def colours(psi):
    """sRGB [N][3]: hue from the argument, chroma and darkness from the modulus, in CIE Lab, where
    equal steps look equal."""
    strength = np.abs(psi)
    lightness, chroma = 90 - 27 * strength, 5 + 62 * strength
    a, b = chroma * np.cos(np.angle(psi)), chroma * np.sin(np.angle(psi))
    f = np.stack([(lightness + 16) / 116 + a / 500, (lightness + 16) / 116,
                  (lightness + 16) / 116 - b / 200], axis=1)
    xyz = np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * [0.9505, 1, 1.089]
    linear = xyz @ np.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415],
                             [0.0557, -0.2040, 1.0570]]).T
    linear = np.clip(linear, 0, 1)
    return np.where(linear > 0.0031308, 1.055 * linear ** (1 / 2.4) - 0.055, 12.92 * linear)


def draw(path, positions, edges, diameters, psi):
    figure = plt.figure(figsize=(PIXELS / 100, PIXELS / 100 * edges[1] / edges[0]), dpi=100)
    axes = figure.add_axes([0, 0, 1, 1])
    axes.set(xlim=(0, edges[0]), ylim=(0, edges[1]), aspect="equal")
    axes.axis("off")
    # disks across an edge are drawn on both sides
    for shift in [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]:
        at = positions + edges * np.array(shift)
        seen = ((at > -0.5 * diameters[:, None]) & (at < edges + 0.5 * diameters[:, None])).all(axis=1)
        size = diameters[seen]
        axes.add_collection(EllipseCollection(
            size, size, np.zeros_like(size), units="xy", offsets=at[seen],
            transOffset=axes.transData, facecolors=colours(psi[seen]), linewidths=0))
    figure.canvas.draw()
    picture = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[:, :, :3])
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    positions, edges, diameters = last_frame(sys.argv[1])
    psi = local_order(positions, edges, CUTOFF * diameters.max())
    print(f"{len(psi)} disks, |psi_6| = {abs(psi.mean()):.4f}")
    draw(sys.argv[2], positions, edges, diameters, psi)


if __name__ == "__main__":
    main()
