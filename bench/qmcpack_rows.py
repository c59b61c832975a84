"""Rows of tests/qmcpack on a GPU: runs of INI files from there with a limit of time, several at once, beside QMCPACK's scalars.

    qmcpack_rows.py --data FOLDER --seconds S [--lanes N] [--compilers N] [--device cpu] < LIST

FOLDER/NAME has the files that NAME.ini needs; an optimised.ini there is run in its place. A line of LIST is NAME SECONDS WALKERS
[SECTION.KEY=VALUE]..., where the first _ of SECTION stands for a blank, and NAME@WORD is one more run of NAME. Rows are taken in this order, N at a
time, until S seconds are over; where these do not suffice, all that have not begun get less. Files of the next rows are
checked and their kernels compiled meanwhile. A run that fails is made once more; one that is cut off has its table all the same.
Standard output has, for each row as it ends, a line for each quantity: name, mean, error, QMCPACK's value, the error that its
test allows three times, z; what the program says goes to standard error. Only Python's own library is needed. PLUGMC names the program.
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

MARGIN = 20  # seconds for the error bars at the end of a run: 2 us for each sample of a walker
START = 60  # seconds in which a run has to begin
USUAL = 6  # seconds in which most have begun
LEAST = 5  # seconds of sweeps


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
        parts = re.match(r"local_energy\.(\w+) +(-?\d\S*(?: \+- \S+)?)(?: +\S+ +(\d+))?(?: |$)", line)
        if parts:
            found[parts[1]] = number(parts[2])
            samples = int(parts[3] or 0) if parts[1] == "energy" else samples
    if "kinetic" in found and len(series) > 1:
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
        self.waiting, self.running = [], {}  # seconds of rows that have not begun, and when those that have will end

    def left(self):
        return self.ends - time.monotonic()

    def begin(self, name, seconds):
        """Seconds of sweeps for a row that begins now: what was asked for, less if the rows after it would find no time then,
        and more if there are none."""
        with self.lock:
            left = self.left() - MARGIN
            self.waiting.remove(seconds)
            others = [seconds, *self.waiting]
            idle = self.options.lanes * left - sum(max(0, end - time.monotonic()) for end in self.running.values())
            share = (idle - USUAL * len(others)) / sum(min(s, left) for s in others)
            limit = max(LEAST, min(min(seconds, left) * min(1, share) if self.waiting else 2 * seconds, left))
            self.running[name] = time.monotonic() + USUAL + limit
            return limit

    def command(self, name, what, walkers, extra):
        own, plain = f"{self.options.data}/{name}/optimised.ini", name.split("@")[0]
        text = open(own if os.path.exists(own) else f"{HERE}/../tests/qmcpack/inis/{plain}.ini").read()
        with open(f"{self.options.data}/{name}/row.ini", "w") as f:
            f.write(text)
        given = settings_of(text, walkers, extra, self.options)
        if what == "check":
            given.pop("run.device")
        return [self.program, what, "row.ini"] + [w for k, v in given.items() for w in ("--set", f"{k}={v}")]

    def folder(self, name):
        if "@" in name and not os.path.isdir(f"{self.options.data}/{name}"):
            os.mkdir(f"{self.options.data}/{name}")
            for file in os.listdir(f"{self.options.data}/{name.split('@')[0]}"):
                if not file.startswith("row."):
                    os.link(f"{self.options.data}/{name.split('@')[0]}/{file}", f"{self.options.data}/{name}/{file}")

    def check(self, name, seconds, walkers, extra):
        """Reads the row's files and compiles its kernels; seconds. What goes wrong is told before the row's turn."""
        began = time.monotonic()
        gpu = self.options.device == "gpu" and "run.device=cpu" not in extra
        try:
            self.folder(name)
            for attempt in 1, 2:
                code, said = self.wait(self.command(name, "check", walkers, extra) + ["--architecture", "90"] * gpu, name,
                                       min(60, self.left()), None)
                if not code:
                    break
                self.tell(f"{name}: check {attempt}: exit code {code}, {self.last(said)}", said)
        except Exception as what:  # or the row would never begin
            self.tell(f"{name}: check: {what}", "")
        return time.monotonic() - began

    def wait(self, command, name, seconds, output):
        """(exit code, what it said) of a command that is told to stop after that time, and killed if it does not, or if it
        has not made the file `output` in START seconds."""
        work = f"{self.options.data}/{name}"
        with open(f"{work}/row.said", "w+") as said:
            process = subprocess.Popen(command, cwd=work, stdout=said, stderr=subprocess.STDOUT)
            began, begun = time.monotonic(), not output
            while process.poll() is None:
                spent = time.monotonic() - began
                begun = begun or os.path.exists(f"{work}/{output}")  # which the program removes at its end
                if spent > START and not begun:
                    process.kill()
                    said.write(f"no {output} after {spent:.0f} s\n")
                elif spent > seconds:
                    process.terminate()
                    try:
                        process.wait(MARGIN / 2)
                    except subprocess.TimeoutExpired:
                        process.kill()
                    said.write(f"stopped after {spent:.0f} s\n")
                time.sleep(0.1)
            said.seek(0)
            return process.wait(), said.read()

    @staticmethod
    def last(said):
        return " / ".join(said.strip().splitlines()[-2:])

    def run(self, checked, name, seconds, walkers, extra):
        work, ready = f"{self.options.data}/{name}", checked.result()
        try:
            limit = self.begin(name, seconds)
            for attempt in 1, 2:
                began = time.monotonic()
                for file in "row.csv", "row.h5":
                    if os.path.exists(f"{work}/{file}"):
                        os.remove(f"{work}/{file}")
                code, said = self.wait(self.command(name, "run", walkers, extra) +
                                       ["--quiet", "--set", "run.output=row.h5", "--set", "run.time_limit=%.1f" % limit], name,
                                       limit + START, "row.h5.lock")
                if code in (0, 10, 11):
                    break
                self.tell(f"{name}: run {attempt}: exit code {code}, {self.last(said)}", said)
                limit = max(LEAST, min(limit, self.left() - MARGIN))
            self.report(name, said, code, walkers, time.monotonic() - began, ready)
        except Exception as what:
            self.tell(f"{name}: failed: {type(what).__name__}: {what}", "")
        finally:
            with self.lock:
                self.running.pop(name, None)
            if os.path.exists(f"{work}/row.h5"):
                os.remove(f"{work}/row.h5")

    def report(self, name, said, code, walkers, seconds, ready):
        lines, series = [], []
        if os.path.exists(f"{self.options.data}/{name}/row.csv"):
            with open(f"{self.options.data}/{name}/row.csv") as f:
                series = list(csv.DictReader(f))
        found, samples = table(said, series)
        wanted = references([r for r in self.rows if r["ini"] == name.split("@")[0] + ".ini"])
        for quantity, *numbers in compare(found, wanted):
            lines.append("    %-20s %14.8g %10.3g   %14.8g %10.3g   %6.2f" % (quantity, *numbers))
        for q in "energy", "weight":
            values = [float(row["local_energy." + q]) for row in series if row.get("local_energy." + q)]
            parts = [values[i * len(values) // 16:(i + 1) * len(values) // 16] for i in range(16)]
            said += "%s in 16 parts:%s\n" % (q, "".join(" %.7g" % statistics.fmean(part) for part in parts if part))
        swept = re.search(r"UNFINISHED: (\d+)", said)
        self.tell("%s: exit code %d, %d walkers, %s sweeps, %d samples, %.0f s, checked in %.0f s" % (
            name, code, walkers, swept[1] if swept else "all", samples, seconds, ready), said, lines)

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
        listed = [words for words in (line.split("#")[0].split() for line in sys.stdin) if words]
        rows.waiting = [float(words[1]) for words in listed]
        for words in listed:
            row = words[0], float(words[1]), int(words[2]), words[3:]
            lanes.submit(rows.run, compilers.submit(rows.check, *row), *row)


if __name__ == "__main__":
    main()
