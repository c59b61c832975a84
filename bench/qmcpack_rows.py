"""Rows of tests/qmcpack on a GPU: runs of INI files from there with a limit of time, several at once, beside QMCPACK's scalars.

    qmcpack_rows.py --data FOLDER --seconds S [--lanes N] [--compilers N] [--device cpu] < LIST

FOLDER/NAME has the files that NAME.ini needs; an optimised.ini there is run in its place. A line of LIST is NAME SECONDS WALKERS
[SECTION.KEY=VALUE]..., where the first _ of SECTION stands for a blank, and NAME@WORD is one more run of NAME. Rows are taken in this order, N at a
time, until S seconds are over; one that would not be ready by then gets what is left, or is left out. Kernels of the next rows are compiled meanwhile. Standard output has, for each row as it ends, a line for each
quantity: name, mean, error, QMCPACK's value, the error that its test allows three times, z; tables as the program prints them
go to standard error. Only Python's own library is needed. PLUGMC names the program.
"""
import argparse
import concurrent.futures
import csv
import os
import re
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../tests/qmcpack")
from compare import compare, coverage, references  # noqa: E402

MARGIN = 20  # seconds that a run needs beside its sweeps: 2 us for each sample of a walker


def settings_of(text, walkers, extra, options):
    """What differs from the INI file of tests/qmcpack."""
    given = {"run.device": options.device, "run.walkers": walkers, "run.sweeps": 100000000, "run.threads": options.threads,
             "run.csv": "row.csv", "run.checkpoint": 0}
    if "[mover particle_by_particle]" in text:  # a sample is a number for each walker: not too many of them
        given |= {"mover particle_by_particle.precision": "double", "run.equilibrate": 1000, "observable local_energy.period": 10}
    else:
        given |= {"observable local_energy.period": 2}
    for setting in extra:
        key, value = setting.split("=", 1)
        given[key.replace("_", " ", 1) if key.startswith(("mover_", "potential_", "observable_")) else key] = value
    return given


def number(text):
    """(mean, error) of 1.234(56), -3e-16 +- 1e-16 or 0."""
    text = text.rstrip("*")
    both = re.fullmatch(r"(-?\d+)(\.\d+)?\((\d+(?:\.\d+)?)\)", text)
    if both:
        digits = len(both[2]) - 1 if both[2] else 0
        error = float(both[3]) if "." in both[3] else int(both[3]) / 10**digits
        return float(both[1] + (both[2] or "")), error
    return float(text.split(" +- ")[0]), float(text.split(" +- ")[1]) if " +- " in text else 0.0


def table(text, series):
    """{quantity: (mean, error)} of a printed table, with the potential energy, and the number of samples."""
    found, samples = {}, 0
    for line in text.splitlines():
        parts = re.match(r"local_energy\.(\w+) +(\S+(?: \+- \S+)?)(?: +\S+ +(\d+))?(?: |$)", line)
        if parts and re.match(r"-?\d", parts[2]):
            found[parts[1]] = number(parts[2])
            samples = int(parts[3] or 0) if parts[1] == "energy" else samples
    e, k = ([float(row["local_energy." + n]) for row in series] for n in ("energy", "kinetic"))
    # as correlated as the kinetic energy, from whose error the number of independent samples follows
    scale = found["kinetic"][1] / (statistics.pstdev(k) or 1)
    found["potential"] = (found["energy"][0] - found["kinetic"][0],
                          scale * statistics.pstdev([x - y for x, y in zip(e, k)]))
    return found, samples


class Rows:
    def __init__(self, options):
        self.options, self.ends = options, time.monotonic() + options.seconds
        self.program, self.rows, self.lock = os.environ.get("PLUGMC", "plugmc"), coverage(), threading.Lock()

    def left(self):
        return self.ends - time.monotonic()

    def command(self, name, what, walkers, extra):
        own, plain = f"{self.options.data}/{name}/optimised.ini", name.split("@")[0]
        text = open(own if os.path.exists(own) else f"{HERE}/../tests/qmcpack/inis/{plain}.ini").read()
        with open(f"{self.options.data}/{name}/row.ini", "w") as f:
            f.write(text)
        given = settings_of(text, walkers, extra, self.options)
        if what == "check":
            given.pop("run.device")
        return [self.program, what, "row.ini"] + [w for k, v in given.items() for w in ("--set", f"{k}={v}")]

    def compile(self, name, seconds, walkers, extra):
        if "@" in name and not os.path.isdir(f"{self.options.data}/{name}"):
            os.mkdir(f"{self.options.data}/{name}")
            for file in os.listdir(f"{self.options.data}/{name.split('@')[0]}"):
                if not file.startswith("row."):
                    os.link(f"{self.options.data}/{name.split('@')[0]}/{file}", f"{self.options.data}/{name}/{file}")
        if self.options.device != "gpu" or "run.device=cpu" in extra or self.left() < MARGIN:
            return 0
        began = time.monotonic()
        try:
            subprocess.run(self.command(name, "check", walkers, extra) + ["--architecture", "90"], timeout=max(1, self.left()),
                           cwd=f"{self.options.data}/{name}", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            pass
        return time.monotonic() - began

    def run(self, compiled, name, seconds, walkers, extra):
        ready, began = compiled.result(), time.monotonic()
        limit = min(seconds, self.left() - MARGIN)
        if limit < 5:
            self.tell(f"{name}: left out, no time", "")
            return
        work, text, error = f"{self.options.data}/{name}", "", ""
        try:
            done = subprocess.run(self.command(name, "run", walkers, extra) + ["--quiet", "--set", "run.output=row.h5", "--set",
                                  "run.time_limit=%.1f" % limit], timeout=max(1, self.left()), cwd=work, capture_output=True, text=True)
            text, error = done.stdout, done.stderr
            if done.returncode not in (0, 11):
                raise ValueError("exit code %d, %s" % (done.returncode, " / ".join(error.strip().splitlines()[-2:])))
            text += "".join(open(f"{work}/row.csv").readlines()[:12])
            found, samples = table(text, list(csv.DictReader(open(f"{work}/row.csv"))))
        except (ValueError, KeyError, OSError, ZeroDivisionError, statistics.StatisticsError, subprocess.TimeoutExpired) as what:
            self.tell(f"{name}: failed: {what}", text + error)
            return
        finally:
            if os.path.exists(f"{work}/row.h5"):
                os.remove(f"{work}/row.h5")
        seconds, lines = time.monotonic() - began, []
        for quantity, *numbers in compare(found, references([r for r in self.rows if r["ini"] == name.split("@")[0] + ".ini"])):
            lines.append("    %-20s %14.8g %10.3g   %14.8g %10.3g   %6.2f" % (quantity, *numbers))
        self.tell("%s: %d walkers, %d samples, %.0f s, compiled %.0f s, largest |z| %.2f" % (
            name, walkers, samples, seconds, ready, max(abs(float(line.split()[-1])) for line in lines)), text, lines)

    def tell(self, line, text, more=()):
        with self.lock:
            print("\n".join([line, *more]), flush=True)
            print(f"== {line}\n{text}", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--lanes", type=int, default=4)
    parser.add_argument("--compilers", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="gpu")
    rows = Rows(parser.parse_args())
    with concurrent.futures.ThreadPoolExecutor(rows.options.compilers) as compilers, \
            concurrent.futures.ThreadPoolExecutor(rows.options.lanes) as lanes:
        for line in sys.stdin:
            words = line.split("#")[0].split()
            if words:
                row = words[0], float(words[1]), int(words[2]), words[3:]
                lanes.submit(rows.run, compilers.submit(rows.compile, *row), *row)


if __name__ == "__main__":
    main()
