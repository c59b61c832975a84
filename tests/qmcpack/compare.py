"""Runs INI files of this folder and compares what they find with QMCPACK's scalars.

    compare.py --clone CLONE --work FOLDER [--sweeps-factor X] [--limit Z] INI...

CLONE is a clone of QMCPACK, whose data the runs use: each runs in FOLDER/NAME, with links to the files of the test's folder.
Without --clone the data are those of ../data/qmc, for the INI files that need no others. z is the difference over the root of
both errors' squares; QMCPACK's is the one that its test allows three times. Exit 1 if |z| > Z (3) anywhere, 77 if something was skipped. PLUGMC names the
program. Lines are appended to FOLDER/results.csv.
"""
import argparse
import csv
import math
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = f"{HERE}/../data/qmc"
WITHOUT_DATA = ("heg/heg_14_gamma", "heg/heg_14_gamma/batch", "molecules/Be_STO", "molecules/Li2_STO_ae", "molecules/He_param",
                "solids/diamondC_1x1x1_pp")


def coverage():
    return list(csv.DictReader(open(f"{HERE}/coverage.csv")))


def references_of(row):
    """[(quantity, value, error)] of a row."""
    return [(name, float(value), float(error))
            for name, value, error in re.findall(r"(\w+)=([-\d.e]+)\(([-\d.e+]+)\)", row["references"])]


def references(rows):
    """[(quantity, value, smallest error)] of all tests that one INI file expresses; long tests have the smaller errors. Where
    tests have different values of a quantity the others follow, with as many strokes at their names."""
    found = {}
    for row in rows:
        for name, value, error in references_of(row):
            while name in found and found[name][0] != value:
                name += "'"
            if name not in found or error < found[name][1]:
                found[name] = (value, error)
    return found


def links(folder, work):
    os.makedirs(work, exist_ok=True)
    for name in os.listdir(folder):
        if not os.path.exists(f"{work}/{name}") and os.path.isfile(f"{folder}/{name}"):
            os.symlink(os.path.abspath(f"{folder}/{name}"), f"{work}/{name}")


def measured(path):
    """{quantity: (mean, error)} of an output file, with the potential energy, whose error is worked out from its series."""
    import numpy as np
    sys.path.insert(0, f"{HERE}/../../python")
    import plugmc
    run = plugmc.Run(path)
    found = {}
    for name in run.table.index:
        if name.startswith("local_energy."):
            found[name.split(".")[1]] = (float(run.table.value[name]), float(run.table.error[name]))
    # e = k + v: the series of e - k is correlated about as that of k, from whose error the number of samples follows
    e, k = (run.series["local_energy." + n].to_numpy(float).mean(axis=1) for n in ("energy", "kinetic"))
    spread_k = np.std(k)
    scale = found["kinetic"][1] / spread_k if spread_k > 1e-12 else 0
    found["potential"] = (found["energy"][0] - found["kinetic"][0], float(np.std(e - k) * scale))
    return found


def grid_of(path, quantity):
    """Corner and vectors of the cell that an input's density is of, and numbers of bins along them."""
    import numpy as np
    from listing import numbers, parameter, read_input
    root = read_input(path)
    lattice = next((p for p in root.iter("parameter") if p.get("name") == "lattice"), None)
    cell = numbers(lattice.text) if lattice is not None else None
    e = next(e for e in root.iter("estimator") if (e.get("type") or "").lower() == quantity)
    if quantity == "density":
        return np.zeros(3), np.array(cell).reshape(3, 3), [round(1 / d) for d in numbers(e.get("delta"))]
    if parameter(e, "cell"):
        cell = numbers(parameter(e, "cell"))
    cell = np.array(cell).reshape(3, 3)
    center = parameter(e, "center")
    corner = np.array(numbers(center)) - cell.sum(axis=0) / 2 if center else np.zeros(3)
    return corner, cell, [round(n) for n in numbers(parameter(e, "grid"))]


def parts_of(r, corner, cell, bins, parts):
    """In which part of a grid's bins, in their order, electrons at r [...][3] are."""
    import numpy as np
    place = (r - corner) @ np.linalg.inv(cell)
    index = np.minimum(np.floor(np.array(bins) * (place - np.floor(place))).astype(int), np.array(bins) - 1)
    return ((index[..., 0] * bins[1] + index[..., 1]) * bins[2] + index[..., 2]) * parts // np.prod(bins)


def averages(counts, weights, blocks=16):
    """Means and errors of counts [walkers][spins][parts][frames]: from the spread of the walkers, or with weights
    [walkers][frames] from blocks of frames, of which a run has 16 that are longer than correlations."""
    import numpy as np
    if weights is None:
        each = counts.mean(axis=-1)
        return each.mean(axis=0), each.std(axis=0, ddof=1) / math.sqrt(len(each))
    above = (counts * weights[:, None, None, :]).sum(axis=0)
    below = weights.sum(axis=0)
    parts = np.array_split(np.arange(len(below)), blocks)
    each = np.array([above[..., p].sum(axis=-1) / below[p].sum() for p in parts])
    return above.sum(axis=-1) / below.sum(), each.std(axis=0, ddof=1) / math.sqrt(blocks)


def densities(work, rows):
    """The numbers that check_stats.py compares: electrons in each of several parts of the grid, spin by spin, with errors
    from the spread of the walkers (at least those of the counts), as {name: (mean, error)}, and QMCPACK's."""
    import h5py
    import numpy as np
    found, wanted = {}, {}
    with h5py.File(f"{work}/sim.h5md", "r") as f:
        names = list(f["particles"])
        walkers = [f["particles"][name]["position/value"][()] for name in names]
        weights = None
        if "observables" in f:  # of diffusion, in which walkers are not independent
            weights = np.array([f["observables"][name]["weight/value"][()] for name in names])
    for row in {r["references"]: r for r in rows}.values():
        quantity, file = row["references"].split("@")
        reference = np.loadtxt(f"{work}/{file}", ndmin=2)[1:]
        grid = grid_of(f"{work}/{row['input']}", quantity)
        half, parts, sums = walkers[0].shape[1] // 2, len(reference), []
        for r in walkers:
            part = parts_of(r, *grid, parts)
            spins = [part] if quantity == "density" else [part[:, half:], part[:, :half]]
            sums.append([[(s == k).sum(axis=1) for k in range(parts)] for s in spins])
        means, errors = averages(np.array(sums, float), weights)
        for s, label in enumerate(["all"] if quantity == "density" else ["down", "up"]):
            for k in range(parts):
                name = "%s %s %d" % (os.path.basename(file).split(".")[0], label, k)
                # where hardly an electron comes the spread of the walkers says little: counts scatter by their root
                counted = math.sqrt(reference[k, 2 * s] / (len(walkers) * len(walkers[0])))
                found[name] = (means[s, k], max(errors[s, k], counted))
                wanted[name] = (reference[k, 2 * s], reference[k, 2 * s + 1])
    return found, wanted


def derivatives(text, rows):
    """Derivatives of the energy by the names that QMCPACK's tests have for parameters, from what plugmc optimise prints."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and not line.startswith("#"):
            key, k = re.fullmatch(r"\S+\.(\w+)\[(\d+)\]", words[0]).groups()
            name = "jud_" + k if key == "unlike" else "rotation_" + ("up", "down")[int(k) - 1]
            found[name] = (float(words[1]), float(words[2]))
    if "rotation_up" in found:  # of both spins at once; their errors may be correlated
        both = found["rotation_up"], found["rotation_down"]
        found["rotation"] = (both[0][0] + both[1][0], both[0][1] + both[1][1])
    return found, references(rows)


def run_one(name, rows, options):
    work = f"{options.work}/{name[:-4]}"
    links(f"{options.clone}/tests/{rows[0]['folder']}" if options.clone else TREE, work)
    for inner in ("qmc-ref", "qmc_ref"):
        if options.clone and os.path.isdir(f"{options.clone}/tests/{rows[0]['folder']}/{inner}"):
            links(f"{options.clone}/tests/{rows[0]['folder']}/{inner}", f"{work}/{inner}")
    if not options.clone and not os.path.exists(f"{work}/pwscf.pwscf.h5"):
        os.symlink(os.path.abspath(f"{TREE}/diamondC.pwscf.h5"), f"{work}/pwscf.pwscf.h5")
    program = os.environ.get("PLUGMC", "plugmc")
    text = open(f"{HERE}/inis/{name}").read()
    sweeps = int(re.search(r"^sweeps = (\d+)", text, re.M).group(1))
    with open(f"{work}/sim.ini", "w") as f:
        f.write(text)
    if os.path.exists(f"{work}/sim.h5"):
        os.remove(f"{work}/sim.h5")
    began = time.monotonic()
    source = "sim.ini"
    if name.endswith(".derivatives.ini"):
        done = subprocess.run([program, "optimise", source, "--derivatives", "--samples",
                               str(int(64 * sweeps * options.sweeps_factor))], cwd=work, capture_output=True, text=True)
        seconds = time.monotonic() - began
        return ((None, seconds, done.stderr.strip().splitlines()[-1]) if done.returncode else
                (derivatives(done.stdout, rows), seconds, ""))
    if name.endswith(".opt.ini"):
        only = re.search(r"^; plugmc optimise --only (\S+)", text, re.M)
        for old in ("sim.optimised.ini", "sim.optimised.ini.loops"):
            if os.path.exists(f"{work}/{old}"):
                os.remove(f"{work}/{old}")
        done = subprocess.run([program, "optimise", source, "--samples", str(int(20000 * options.sweeps_factor)), "--loops",
                               "8", "--variance-weight", "0.05", *(["--only", only.group(1)] if only else [])], cwd=work, capture_output=True, text=True)
        if done.returncode:
            return None, time.monotonic() - began, done.stderr.strip().splitlines()[-1]
        source = "sim.optimised.ini"
    done = subprocess.run([program, "run", source, "--quiet", "--set", "run.output=sim.h5", "--set",
                           "run.sweeps=%d" % max(40, int(sweeps * options.sweeps_factor))], cwd=work, capture_output=True,
                          text=True)
    seconds = time.monotonic() - began
    with open(f"{work}/log", "w") as f:
        f.write(done.stdout + done.stderr)
    if done.returncode:
        return None, seconds, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "exit %d" % done.returncode
    if "density@" in rows[0]["references"]:
        return densities(work, rows), seconds, ""
    return (measured(f"{work}/sim.h5"), references(rows)), seconds, ""


def limit_of(count, limit):
    """|z| that the largest of `count` numbers exceeds as often as that of 8 exceeds `limit`."""
    if count <= 8:
        return limit
    low, high = limit, limit + 5
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if count * math.erfc(middle / 2**0.5) > 8 * math.erfc(limit / 2**0.5) else (low, middle)
    return high


def compare(found, wanted):
    """Rows of quantity, value, error, QMCPACK's value, its error, z."""
    for quantity, (value, error) in wanted.items():
        if quantity.rstrip("'") not in found:
            yield quantity, math.nan, math.nan, value, error, math.nan
            continue
        mine, spread = found[quantity.rstrip("'")]
        both = math.hypot(spread if spread == spread else 0, error)
        # exact energies: what is left is rounding
        z = (mine - value) / max(both, 1e-6)
        yield quantity, mine, spread, value, error, z


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clone")
    parser.add_argument("--work", required=True)
    parser.add_argument("--sweeps-factor", type=float, default=1)
    parser.add_argument("--limit", type=float, default=3)
    parser.add_argument("ini", nargs="+")
    options = parser.parse_args()
    table, bad, skipped = coverage(), 0, 0
    os.makedirs(options.work, exist_ok=True)
    for path in options.ini:
        name = os.path.basename(path)
        rows = [r for r in table if r["ini"] == name]
        if not options.clone and (rows[0]["folder"] not in WITHOUT_DATA or "density" in name):
            print(f"{name}: skipped, it needs the data of QMCPACK's tests")
            skipped += 1
            continue
        found, seconds, why = run_one(name, rows, options)
        lines = [(name, "%.1f" % seconds, *("%.8g" % x if isinstance(x, float) else x for x in line))
                 for line in (compare(*found) if found else [])] or [(name, "%.1f" % seconds, "failed", why)]
        with open(f"{options.work}/results.csv", "a", newline="") as f:
            csv.writer(f).writerows(lines)
        worst = max((abs(float(line[-1])) for line in lines if found), default=math.nan)
        bad += not worst <= limit_of(len(lines), options.limit)
        print(f"{name}: {seconds:.1f} s, " + (f"largest |z| {worst:.1f}" if found else why), flush=True)
        for line in lines if found else []:
            print("    %-18s %14s (%s)  QMCPACK %s (%s)  z %s" % line[2:])
    sys.exit(1 if bad else 77 if skipped else 0)


if __name__ == "__main__":
    main()
