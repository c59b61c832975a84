#!/usr/bin/env python3
"""ln p(N) of SPC/E water from several runs, beside a reference: see water_numbers.sh.

    water_numbers.py take FILE.h5 TO.npz          transition counts of a run in blocks of time
    water_numbers.py starts TO.h5md FILE.xyz...   one file of configurations, a walker each: [initial] file of a run with windows
    water_numbers.py join REFERENCE.csv SHARE FILE.npz...

`join` leaves the first SHARE of the blocks of each run out (0.2, say) and takes the steps of all runs together, whatever numbers they have been
at. It prints N; ln p and its error at the activity of the runs; the same at the activity where both phases have the same weight; the reference, which
is of this kind, its error, and z, normalised to the numbers that both have; then what the runs say of each other.
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


def steps(runs):
    """ln p(N + 1) - ln p(N) [bins - 1] from counts [runs][bins][4]: the mean of the runs' own. Counts of runs with other trial moves must not be
    added: with more trial positions more is accepted both ways, and where one run has been at N and hardly at N + 1 the sum of both is off."""
    up, down = runs[:, :-1, UP], runs[:, 1:, DOWN]
    led = (up > 0) & (down > 0)
    if not led.any(axis=0).all():
        sys.exit(f"no trials lead on from bin {led.any(axis=0).argmin()} of {runs.shape[1]} in a run or a part of it: a longer run is needed")
    with numpy.errstate(divide="ignore", invalid="ignore"):
        rise = numpy.log(up / runs[:, :-1, UP_TRIALS]) - numpy.log(down / runs[:, 1:, DOWN_TRIALS])
        weight = numpy.where(led, up * down / (up + down), 0)
    return (weight * numpy.where(led, rise, 0)).sum(axis=0) / weight.sum(axis=0)


def normalised(of_steps, known, cut=None):
    """ln p from its steps, 1 in all up to the last number of the reference, and by how much ln z was shifted. With `cut` p is that at the
    activity where there is as much below the number `cut` as from there on."""
    ln_p = numpy.concatenate(([0], numpy.cumsum(of_steps)))
    low, high = -1, 1
    while cut is not None and high - low > 1e-12:
        shift = (low + high) / 2
        p = ln_p[:known] + shift * numpy.arange(known)
        p = numpy.exp(p - p.max())
        low, high = (low, shift) if p[cut:].sum() > p[:cut].sum() else (shift, high)
    shift = (low + high) / 2
    ln_p = ln_p + shift * numpy.arange(len(ln_p))
    top = ln_p[:known].max()
    return ln_p - top - numpy.log(numpy.exp(ln_p[:known] - top).sum()), shift


def side_by_side(runs, first, last):
    """Counts [runs][BLOCKS][bins][4], 0 where a run has not been."""
    counts = numpy.zeros((len(runs), BLOCKS, last - first + 1, 4))
    led = numpy.zeros(last - first + 1, bool)  # to the next number
    for r, (numbers, sums) in enumerate(runs):
        at = int(numbers[0]) - first
        counts[r, :, at:at + len(numbers)] = sums
        led[at:at + len(numbers) - 1] = True
    if not led[:-1].all():
        end = first + int(led.argmin())
        sys.exit(f"no run leads from N = {end} to {min(int(r[0][0]) for r in runs if r[0][0] > end)}")
    return counts


def join(counts, known, cut=None):
    """ln p, its error by the jackknife over blocks of each run, and the shift of ln z and its error."""
    all_of = counts.sum(axis=1)
    ln_p, shift = normalised(steps(all_of), known, cut)
    without = []
    for r, blocks in enumerate(counts):
        for block in blocks:
            rest = all_of.copy()
            rest[r] -= block
            without.append(normalised(steps(rest), known, cut))
    off = numpy.array([w[0] for w in without]) - ln_p
    of_shift = numpy.array([w[1] for w in without]) - shift
    # of a run of n blocks leaving one out changes its mean by 1 / (n - 1) of that block's deviation
    factor = (BLOCKS - 1) / BLOCKS
    return ln_p, numpy.sqrt(factor * (off ** 2).sum(axis=0)), shift, numpy.sqrt(factor * (of_shift ** 2).sum())


def compare_runs(runs, width):
    """The rise of ln p over `width` steps in all runs that were there."""
    for first in sorted({int(n) for numbers, _ in runs for n in numbers[:-1:width]}):
        found = []
        for k, (numbers, sums) in enumerate(runs):
            at = first - int(numbers[0])
            if at < 0 or at + width >= len(numbers):
                continue
            part = sums[:, at:at + width + 1]
            rise = steps(part.sum(axis=0)[None]).sum()
            off = numpy.array([steps((part.sum(axis=0) - block)[None]).sum() for block in part]) - rise
            found.append((rise, numpy.sqrt((BLOCKS - 1) / BLOCKS * (off ** 2).sum())))
        text = "  ".join(f"{rise:.4f}({error:.4f})" for rise, error in found)
        if len(found) > 1 and min(error for _, error in found) > 0:
            weights = numpy.array([1 / error ** 2 for _, error in found])
            rises = numpy.array([rise for rise, _ in found])
            mean = (weights * rises).sum() / weights.sum()
            text += f"; chi^2 {(weights * (rises - mean) ** 2).sum():.1f} of {len(found) - 1}"
        if found:
            print(f"# N = {first} to {first + width}: ln p rises by {text}")


def main():
    if sys.argv[1] == "take":
        return take(*sys.argv[2:4])
    if sys.argv[1] == "starts":
        return starts(sys.argv[2], sys.argv[3:])
    with open(sys.argv[2], encoding="ascii", newline="") as lines:
        reference = [[float(x) for x in line] for line in csv.reader(lines) if not line[0].startswith(("N", "#"))]
    runs = [read(path, float(sys.argv[3])) for path in sys.argv[4:]]
    first, last = (int(choose(n)) for choose, n in ((min, [r[0][0] for r in runs]), (max, [r[0][-1] for r in runs])))
    there = {int(n): (value, error) for n, value, error in reference}
    known = sum(n in there for n in range(first, last + 1))
    others = numpy.array([there[n] for n in range(first, first + known)])
    minimum = others[20:180, 0].argmin() + 20 if first == 0 and known > 200 else None  # between the two phases
    counts = side_by_side(runs, first, last)
    ln_p, error, _, _ = join(counts, known)
    of_two, of_two_error, shift, of_shift = join(counts, known, minimum)
    ours = (of_two, of_two_error) if minimum is not None else (ln_p, error)
    reference_p, _ = normalised(numpy.diff(others[:, 0]), known, minimum)
    print("# N ln_p error", "ln_p_coexistence error" if minimum is not None else "ln_p error", "reference error z")
    z = (ours[0][:known] - reference_p) / numpy.hypot(ours[1][:known], others[:, 1])
    for n in range(known):
        print(f"{first + n} {ln_p[n]:.4f} {error[n]:.4f} {ours[0][n]:.4f} {ours[1][n]:.4f} {reference_p[n]:.4f} {others[n, 1]:.4f} {z[n]:+.2f}")
    if minimum is not None:
        print(f"# both phases, parted at N = {minimum}, have the same weight where ln z is larger by {shift:.5f}({of_shift:.5f})")
    print(f"# largest |z| {abs(z).max():.2f}, mean z^2 {(z ** 2).mean():.2f}; errors are at most those of the reference at "
          f"{(ours[1][:known] <= others[:, 1]).sum()} of {known} numbers")
    compare_runs(runs, 11)


if __name__ == "__main__":
    main()
