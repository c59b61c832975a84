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

from estimators import densities, density_matrices, energy_densities, measured, pure
from refused import refused

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


def derivatives(text, rows):
    """Derivatives of the energy by the names that QMCPACK's tests have for parameters, from what plugmc optimise prints."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and not line.startswith("#"):
            key, k = re.fullmatch(r"\S+\.(\w+)\[(\d+)\]", words[0]).groups()
            name = "jud_b" if "pade" in words[0] else "jud_" + k if key == "unlike" else "rotation_" + ("up", "down")[int(k) - 1]
            found[name] = (float(words[1]), float(words[2]))
    if "rotation_up" in found:  # of both spins at once; their errors may be correlated
        both = found["rotation_up"], found["rotation_down"]
        found["rotation"] = (both[0][0] + both[1][0], both[0][1] + both[1][1])
    return found, references(rows)


def optimise(program, work, text, samples):
    """Optimises sim.ini of a folder; the file with the result, or None, and what was said. QMCPACK's cost for the state above
    and nearest to an energy w, (w - E) / ((w - E)^2 + V) with the variance V (L. Zhao, E. Neuscamman, J. Chem. Theory Comput.
    12, 3436 (2016)), has its minimum where E + V (E - w) / ((E - w)^2 - V) has it, with E and V as they are there."""
    only = re.search(r"^; plugmc optimise --only (\S+)", text, re.M)
    target = re.search(r"^; the state nearest to (\S+)", text, re.M)
    for old in os.listdir(work):
        if old.startswith("sim.optimised"):
            os.remove(f"{work}/{old}")
    source, weights = "sim", [0.5, None, None] if target else [0.05]
    for weight in weights:
        if weight is None:
            gap = energy - float(target.group(1))
            ratio = gap / (gap**2 - variance)
            weight = ratio / (1 + ratio) if gap**2 > variance else 1  # which is not there yet
        done = subprocess.run([program, "optimise", source + ".ini", "--samples", str(samples), "--loops", "8",
                               "--variance-weight", "%.4f" % weight, *(["--only", only.group(1)] if only else [])],
                              cwd=work, capture_output=True, text=True)
        if done.returncode:
            return None, done.stderr.strip().splitlines()[-1]
        energy, variance = (float(re.search(r"^%s +([-\d.]+)" % word, done.stdout + done.stderr, re.M).group(1))
                            for word in ("energy", "variance"))
        source += ".optimised"
    return source + ".ini", ""


def variational(text):
    """The INI file with a variational mover instead of diffusion, or None if there is none of diffusion."""
    walked = re.search(r"\[mover diffusion\]\n(?:.+\n)*", text)
    return walked and text.replace(walked.group(0), "[mover particle_by_particle]\nstep = 0.5\n")


def of_paths(program, work, text, sweeps, rows):
    """What tests of reptation look at: at ends of its paths, from the run of diffusion that was made, and in the middle,
    extrapolated from that run and a variational one."""
    with open(f"{work}/vmc.ini", "w") as f:
        f.write(variational(text))
    subprocess.run([program, "run", "vmc.ini", "--quiet", "--set", "run.output=vmc.h5", "--set", "run.sweeps=%d" % sweeps],
                   cwd=work, check=True, capture_output=True)
    if "density@" in rows[0]["references"]:
        (mixed, wanted), (other, _) = densities(work, rows), densities(work, rows, "vmc.h5md")
        return pure(mixed, other), wanted
    found, middle = measured(f"{work}/sim.h5"), pure(measured(f"{work}/sim.h5"), measured(f"{work}/vmc.h5"))
    return found | {f"{name}_pure": both for name, both in middle.items()}, references(rows)


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
    sweeps = int(re.search(r"^sweeps = (\d+)", text + "\nsweeps = 0", re.M).group(1))
    with open(f"{work}/sim.ini", "w") as f:
        f.write(text)
    for old in ("sim.h5", "vmc.h5"):
        if os.path.exists(f"{work}/{old}"):
            os.remove(f"{work}/{old}")
    began = time.monotonic()
    source = "sim.ini"
    if name.endswith(".refused.ini"):
        good, why = refused(program, work, text)
        return ({"refused": (good, 0.0)}, references(rows)) if good else None, time.monotonic() - began, why
    if name.endswith(".derivatives.ini"):
        done = subprocess.run([program, "optimise", source, "--derivatives", "--samples",
                               str(int(64 * sweeps * options.sweeps_factor))], cwd=work, capture_output=True, text=True)
        seconds = time.monotonic() - began
        return ((None, seconds, done.stderr.strip().splitlines()[-1]) if done.returncode else
                (derivatives(done.stdout, rows), seconds, ""))
    if name.endswith(("opt.ini", "opt_dmc.ini")):
        walked = re.search(r"\[mover diffusion\]\n(?:.+\n)*", text)
        if walked:  # it is optimised by variational runs
            with open(f"{work}/sim.ini", "w") as f:
                f.write(variational(text))
        source, why = optimise(program, work, text, int(20000 * options.sweeps_factor))
        if not source:
            return None, time.monotonic() - began, why
        if walked:
            found = open(f"{work}/{source}").read()
            with open(f"{work}/{source}", "w") as f:
                f.write(re.sub(r"\[mover particle_by_particle\].*\n(?:.+\n)*", lambda m: walked.group(0), found))
    sweeps = max(40, int(sweeps * options.sweeps_factor))
    done = subprocess.run([program, "run", source, "--quiet", "--set", "run.output=sim.h5", "--set", "run.sweeps=%d" % sweeps],
                          cwd=work, capture_output=True, text=True)
    seconds = time.monotonic() - began
    with open(f"{work}/log", "w") as f:
        f.write(done.stdout + done.stderr)
    if done.returncode:
        return None, seconds, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "exit %d" % done.returncode
    if name.endswith(("rmc.ini", "rmc_density.ini")):
        found = of_paths(program, work, text, sweeps, rows)
        return found, time.monotonic() - began, ""
    if "1rdm@" in rows[0]["references"] or "obdm@" in rows[0]["references"]:
        return density_matrices(work, rows), seconds, ""
    if "energydensity@" in rows[0]["references"]:
        return energy_densities(work, rows), seconds, ""
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
        if not options.clone and (rows[0]["folder"] not in WITHOUT_DATA or
                                    "density" in name or name.endswith(".density_matrix.ini")):
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
