#!/usr/bin/env python3
"""Mean energies of water in plugmc and RASPA3: see water_means.sh.

    water_means.py LEFT_OUT START.csv RASPA.txt ENERGY.txt LENNARD_JONES.txt CHARGES.txt

START.csv has the energies of the first configuration in plugmc, ENERGY.txt and the others their samples (`plugmc analyse --csv` and `--print`),
an energy a site; RASPA.txt is of peers/raspa3_water_means.py. LEFT_OUT sweeps and cycles are not used. Energies are printed a molecule,
with errors of 16 blocks of both, and what other numbers of blocks say.
"""
import csv
import sys

import numpy

MOLECULES, SITES, BLOCKS = 300, 3, 16


def mean_and_error(samples, blocks):
    of_each = numpy.array([part.mean() for part in numpy.array_split(samples, blocks)])
    return samples.mean(), of_each.std(ddof=1) / blocks ** 0.5


def shown(value, error):
    return f"{value:.4f} +- {error:.4f}"


def read_raspa(path):
    """First energies, and samples [samples][cycle, all, Lennard-Jones, charges], a molecule. A last line that is not whole is left out."""
    with open(path, encoding="ascii") as lines:
        whole = [line.split() for line in lines if line.endswith("\n")]
    first = numpy.array([float(x) for x in whole[0][2:]]) / MOLECULES
    samples = numpy.array([[float(x) for x in line] for line in whole[1:]])
    samples[:, 1:] /= MOLECULES
    return first[1:], samples


def main():
    left_out = float(sys.argv[1])
    with open(sys.argv[2], encoding="ascii", newline="") as lines:
        start = {line["quantity"].split(".")[1]: float(line["value"]) * SITES for line in csv.DictReader(lines)}
    first, raspa = read_raspa(sys.argv[3])
    ours = [numpy.loadtxt(path) for path in sys.argv[4:7]]
    names = ["energy", "energy_lennard_jones", "energy_coulomb_ewald"]
    tails = start["energy_tail_correction"], first[0] - first[1] - first[2]
    print("# first configuration / kJ/mol, plugmc, RASPA3, relative difference")
    for name, value, other in [*zip(names, (start[name] for name in names), first), ("tail", *tails)]:
        print(f"{name:22} {value:.7f} {other:.7f} {value / other - 1:+.1e}")
    print(f"# means without {left_out:.0f} sweeps and cycles, plugmc, RASPA3, z")
    raspa = raspa[raspa[:, 0] >= left_out]
    for k, name in enumerate(names):
        samples = ours[k][ours[k][:, 0] - ours[k][0, 0] >= left_out, 1] * SITES
        pairs = [mean_and_error(samples, BLOCKS), mean_and_error(raspa[:, k + 1], BLOCKS)]
        z = (pairs[0][0] - pairs[1][0]) / numpy.hypot(pairs[0][1], pairs[1][1])
        print(f"{name:22} {shown(*pairs[0])}  {shown(*pairs[1])}  {z:+.2f}")
        for blocks in (8, 32, 64):
            print(f"#   errors of {blocks} blocks: {mean_and_error(samples, blocks)[1]:.4f} {mean_and_error(raspa[:, k + 1], blocks)[1]:.4f}")
        print(f"#   standard deviations: {samples.std():.4f} {raspa[:, k + 1].std():.4f}; samples {len(samples)} {len(raspa)}")


main()
