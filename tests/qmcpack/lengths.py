"""Writes lengths.csv: sweeps of each INI file for runs of about SECONDS on one core, from short runs in FOLDER.

    lengths.py --clone CLONE --work FOLDER [--seconds 40] INI...

Rows that are there stay. Diffusion runs are not timed: their lengths are imaginary times.
"""
import argparse
import csv
import os
import re
import subprocess
import time

from compare import HERE, coverage, links


def diffusion_length(text):
    tau = float(re.search(r"^tau = (\S+)", text, re.M).group(1))
    return max(1500, round(20 / tau)), 400 + round(8 / tau)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clone", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("ini", nargs="+")
    options = parser.parse_args()
    path, program = f"{HERE}/lengths.csv", os.environ.get("PLUGMC", "plugmc")
    known = {r["ini"]: r for r in csv.DictReader(open(path))} if os.path.exists(path) else {}
    for name in options.ini:
        name = os.path.basename(name)[:-4]
        if name in known:
            continue
        text = open(f"{HERE}/inis/{name}.ini").read()
        rows = [r for r in coverage() if r["ini"] == name + ".ini" and not r["reason"]]
        if not rows:
            continue
        if "mover diffusion" in text:
            sweeps, equilibrate = diffusion_length(text)
        else:
            work = f"{options.work}/{name}"
            links(f"{options.clone}/tests/{rows[0]['folder']}", work)
            open(f"{work}/time.ini", "w").write(text)
            spent = []
            for count in (8, 48):
                began = time.monotonic()
                done = subprocess.run([program, "run", "time.ini", "--quiet", "--set", f"run.sweeps={count}", "--set",
                                       "run.equilibrate=8", "--set", "run.output=time.h5"], cwd=work, capture_output=True)
                spent.append(time.monotonic() - began)
            if done.returncode:
                print(name, "does not run")
                continue
            rate = max((spent[1] - spent[0]) / 40, 2e-4)
            sweeps = min(40000, max(200, int(options.seconds / rate)))
            sweeps, equilibrate = int(float("%.2g" % sweeps)), 600
        known[name] = {"ini": name, "sweeps": sweeps, "equilibrate": equilibrate}
        print(name, sweeps, equilibrate, flush=True)
        with open(path, "w", newline="") as f:
            out = csv.DictWriter(f, ["ini", "sweeps", "equilibrate"])
            out.writeheader()
            out.writerows(known[k] for k in sorted(known))


if __name__ == "__main__":
    main()
