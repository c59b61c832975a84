#!/usr/bin/env python3
"""ln p(N) of SPC/E water from several runs, beside a reference: see water_numbers.sh.

    water_numbers.py take FILE.h5 TO.npz          transition counts of a run in blocks of time
    water_numbers.py starts TO.h5md FILE.xyz...   one file of configurations, a walker each: [initial] file of a run with windows
    water_numbers.py join REFERENCE.csv SHARE FILE.npz...

`join` leaves the first SHARE of the blocks of each run out (0.2, say). Runs over the same numbers are taken together; ranges of
numbers follow one another and have one in common. It prints N, ln p, its error, the reference, its error and z, normalised to the numbers
that both have; then what the runs say of each other.
"""
import csv
import sys

import numpy

DOWN, DOWN_TRIALS, UP, UP_TRIALS = range(4)
BLOCKS = 8  # of a run, for errors


def take(path, to):
    import h5py

    with h5py.File(path) as file:
        transitions = file["plugmc/observables/transition_matrix/transitions"]
        blocks = int(transitions.attrs["samples"]) // max(1, int(transitions.attrs["per_block"]))
        if blocks == 0:
            sys.exit(f"{path}: nothing was measured: the run ended during equilibration")
        sums = transitions["block_sums"][:blocks].reshape(blocks, -1, 4)
        numpy.savez_compressed(to, numbers=transitions["abscissa"][()], sums=sums)


def starts(to, paths):
    """Walker k begins as FILE k; of more walkers each FILE is that of several. Numbers of molecules may differ."""
    import h5py

    found = []
    for path in paths:
        with open(path, encoding="ascii") as lines:
            rows = [next(lines) for _ in range(int(next(lines)) + 1)]
        edges = [float(x) for x in rows[0].split('"')[1].split()][::4]
        found.append([row.split()[:4] for row in rows[1:]])
    names = sorted({row[0] for rows in found for row in rows})
    most = max(map(len, found))
    with h5py.File(to, "w") as file:
        file.create_group("h5md").attrs["version"] = [1, 1]
        for walker, rows in enumerate(found):
            group = file.create_group("particles/trajectory" + (f"_{walker}" if walker else ""))
            places = numpy.zeros((1, most, 3))
            species, number = numpy.full((2, 1, most), -1, numpy.int32)  # -1: not there
            places[0, :len(rows)] = [[float(x) for x in row[1:]] for row in rows]
            species[0, :len(rows)] = [names.index(row[0]) for row in rows]
            number[0, :len(rows)] = numpy.arange(len(rows))
            for name, of_frame in (("position", places), ("species", species), ("id", number),
                                   ("box/edges", numpy.array([edges]))):
                group[name + "/value"], group[name + "/step"] = of_frame, [0]
            group["box"].attrs["dimension"] = 3
            group["box"].attrs["boundary"] = numpy.array(["periodic"] * 3, dtype="S8")
            group["species"].attrs["names"] = numpy.array(names, dtype="S")


def read(path, share):
    """Numbers [bins] and sums [BLOCKS][bins][4] of a run without its beginning."""
    with numpy.load(path) as file:
        numbers, sums = file["numbers"], file["sums"]
    sums = sums[int(numpy.ceil(share * len(sums))):]
    if len(sums) < BLOCKS:
        sys.exit(f"{path}: {len(sums)} blocks are left, and {BLOCKS} are needed")
    return numbers, numpy.array([part.sum(axis=0) for part in numpy.array_split(sums, BLOCKS)])


def steps(sums):
    """ln p(N + 1) - ln p(N) [bins - 1]"""
    nowhere = (sums[:-1, UP] == 0) | (sums[1:, DOWN] == 0)
    if nowhere.any():
        sys.exit(f"no trials lead on from bin {nowhere.argmax()} of {len(sums)} in a run or a part of it: a longer run is needed")
    up = sums[:-1, UP] / sums[:-1, UP_TRIALS]
    down = sums[1:, DOWN] / sums[1:, DOWN_TRIALS]
    return numpy.log(up) - numpy.log(down)


class Range:
    """All runs over the same numbers."""

    def __init__(self, numbers):
        self.numbers = numbers
        self.blocks = []  # [runs][BLOCKS][bins][4]

    def means(self):
        return steps(sum(run.sum(axis=0) for run in self.blocks))

    def without_each(self):
        """Steps without one block [runs BLOCKS][bins - 1]"""
        all_of = sum(run.sum(axis=0) for run in self.blocks)
        return numpy.array([steps(all_of - block) for run in self.blocks for block in run])


def normalised(of_steps, known):
    """ln p from its steps, 1 in all up to the last number of the reference."""
    ln_p = numpy.concatenate(([0], numpy.cumsum(of_steps)))
    top = ln_p[:known].max()
    return ln_p - top - numpy.log(numpy.exp(ln_p[:known] - top).sum())


def join(ranges, known):
    """ln p and its error by the jackknife over blocks, of which ranges have none in common."""
    means = [r.means() for r in ranges]
    ln_p = normalised(numpy.concatenate(means), known)
    variance = 0
    for k, r in enumerate(ranges):
        without = numpy.array([normalised(numpy.concatenate(means[:k] + [s] + means[k + 1:]), known) for s in r.without_each()])
        n = len(without)
        variance = variance + (n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    return ln_p, numpy.sqrt(variance)


def compare_runs(r):
    """How far runs over the same numbers are from each other: at the end of the range, and the largest difference on the way."""
    rises = []
    for run in r.blocks:
        all_of = run.sum(axis=0)
        without = numpy.array([numpy.cumsum(steps(all_of - block)) for block in run])
        error = numpy.sqrt((BLOCKS - 1) / BLOCKS * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
        rises.append((numpy.cumsum(steps(all_of)), error))
    for k, (rise, error) in enumerate(rises):
        print(f"# N = {r.numbers[0]:.0f} to {r.numbers[-1]:.0f}, run {k + 1}: ln p rises by {rise[-1]:.4f}({error[-1]:.4f})")
    for k in range(1, len(rises)):
        difference = rises[k][0] - rises[0][0]
        z = difference / numpy.hypot(rises[k][1], rises[0][1])
        print(f"#     run {k + 1} - run 1: z = {z[-1]:+.2f} at the end, largest |z| {abs(z).max():.2f}, mean z^2 {(z ** 2).mean():.2f}")


def main():
    if sys.argv[1] == "take":
        return take(*sys.argv[2:4])
    if sys.argv[1] == "starts":
        return starts(sys.argv[2], sys.argv[3:])
    with open(sys.argv[2], encoding="ascii", newline="") as lines:
        reference = [[float(x) for x in line] for line in csv.reader(lines) if not line[0].startswith(("N", "#"))]
    ranges = {}
    for path in sys.argv[4:]:
        numbers, sums = read(path, float(sys.argv[3]))
        ranges.setdefault(tuple(numbers), Range(numbers)).blocks.append(sums)
    ranges = [ranges[key] for key in sorted(ranges)]
    for below, above in zip(ranges, ranges[1:]):
        if below.numbers[-1] != above.numbers[0]:
            sys.exit(f"no run leads from N = {below.numbers[-1]:.0f} to {above.numbers[0]:.0f}")
    numbers = numpy.arange(ranges[0].numbers[0], ranges[-1].numbers[-1] + 1)
    there = {int(n): (value, error) for n, value, error in reference}
    known = sum(int(n) in there for n in numbers)
    ln_p, error = join(ranges, known)
    shift = numpy.log(sum(numpy.exp(there[int(n)][0]) for n in numbers[:known]))
    print("# N ln_p error reference error z")
    z = []
    for n, value, own in zip(numbers[:known], ln_p, error):
        other, of_other = there[int(n)]
        z.append((value - other + shift) / numpy.hypot(own, of_other))
        print(f"{n:.0f} {value:.4f} {own:.4f} {other - shift:.4f} {of_other:.4f} {z[-1]:+.2f}")
    z = numpy.array(z)
    print(f"# largest |z| {abs(z).max():.2f}, mean z^2 {(z ** 2).mean():.2f}")
    for r in ranges:
        compare_runs(r)


if __name__ == "__main__":
    main()
