#!/usr/bin/env python3
"""plugmc bench peers: plugmc beside other Monte Carlo programs, on the same systems, in turn.

Called by bench/peers.sh in a folder of its own. Standard output has the tables as Markdown; standard error what goes on.
"""
import argparse
import json
import os
import platform
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import arithmetic  # noqa: E402
import environment  # noqa: E402
import own  # noqa: E402
import systems  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 900  # s: longest call of a peer
FIRST_MOVES = 1000


def arguments():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    p = argparse.ArgumentParser(prog="plugmc bench peers", formatter_class=argparse.RawDescriptionHelpFormatter,
                                description="""\
Times plugmc and its peers (RASPA3, Faunus, LAMMPS, FEASST, OpenMM; HOOMD-blue where it is installed) on the same systems
from the same configurations, in turn, and prints tables. Peers of PyPI are installed in a virtual environment. Times
are user times without start-up (on a GPU wall times); medians of the rounds.""", epilog="""\
exit codes: 0 done, 1 an energy differs or a program has failed, 2 command line. A peer that cannot be had is named in the
tables and on standard error, with the reason; the exit code does not tell.""")
    p.add_argument("--quick", action="store_true", help="fewer sizes, three rounds, 0.3 s each")
    p.add_argument("--tables", nargs="+", choices=systems.TABLES,
                   help="default: those of one core; with --gpu those of a GPU")
    p.add_argument("--gpu", action="store_true", help="the tables of a GPU, which must be there")
    p.add_argument("--peers", nargs="*", choices=environment.PACKAGES, help="default: all of the table")
    p.add_argument("--sizes", nargs="+", type=int, help="numbers of particles, in place of those of the tables")
    p.add_argument("--rounds", type=int, help="default 5")
    p.add_argument("--seconds", type=float, help="of a timing, roughly; default 1")
    p.add_argument("--venv", default=os.path.join(cache, "plugmc", "peers"), help="default: %(default)s")
    p.add_argument("--no-install", action="store_true", help="take what is in the environment")
    p.add_argument("--record", help="file for all measurements, a JSON object a line")
    p.add_argument("--from", dest="recorded", help="no measurements: tables of a file that --record has written")
    p.add_argument("--plugmc", required=True, help=argparse.SUPPRESS)
    a = p.parse_args()
    a.rounds = a.rounds or (3 if a.quick else 5)
    a.seconds = a.seconds or (0.3 if a.quick else 1.0)
    if not a.tables:
        a.tables = [t for t, what in systems.TABLES.items() if bool(what.get("gpu")) == a.gpu]
    return a


def machine(program):
    """What the tables begin with."""
    model = "unknown processor"
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        flags = next((line for line in f if line.startswith("flags")), "").split()
    said = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.splitlines()
    gpu = ""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True)
        gpu = done.stdout.strip().splitlines()[0] if done.returncode == 0 else ""
    except OSError:
        pass
    return {"line": "machine", "processor": model, "cores": os.cpu_count(), "system": platform.release(),
            "simd": [f for f in ("avx2", "avx512f") if f in flags], "gpu": gpu, "load": os.getloadavg()[0],
            "plugmc": said[0] if said else "unknown", "commit": commit(program)}


def commit(program):
    """Of the clone that the program is built in, if it is in one."""
    done = subprocess.run(["git", "-C", os.path.dirname(os.path.realpath(program)), "describe", "--always", "--dirty"],
                          capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


class Bench:
    def __init__(self, a):
        self.a, self.lines = a, []
        self.own = own.Own(a.plugmc)
        self.place = environment.Environment(a.venv, not a.no_install, a.gpu)
        self.file = open(a.record, "w", encoding="utf-8") if a.record else None
        self.available = {}

    def record(self, **line):
        self.lines.append(line)
        if self.file:
            print(json.dumps(line), file=self.file, flush=True)

    def has(self, peer):
        """Whether a peer can be had; if not, it is told once."""
        if peer not in self.available:
            why = self.place.provide(peer)
            self.available[peer] = why is None
            if why:
                print(f"peers: {systems.PROGRAMS[peer]} cannot be had: {why}", file=sys.stderr, flush=True)
                self.record(line="missing", subject=systems.PROGRAMS[peer], why=why)
        return self.available[peer]

    def call(self, peer, system, moves, seed):
        """One measurement of a peer."""
        # In a folder that is emptied, since some programs do not like their files of before.
        os.makedirs("peer", exist_ok=True)
        for name in os.listdir("peer"):
            os.remove(os.path.join("peer", name))
        try:
            done = subprocess.run([self.place.python, "-I", os.path.join(HERE, peer + ".py")], timeout=LIMIT, cwd="peer",
                                  input=json.dumps(dict(system, moves=moves, seed=seed)), capture_output=True, text=True,
                                  env=self.place.variables())
        except subprocess.TimeoutExpired:
            raise own.Failed(f"takes more than {LIMIT} s") from None
        if done.returncode:
            raise own.Failed(environment.last_line(done.stderr))
        return json.loads(done.stdout.strip().splitlines()[-1])

    def subjects(self, table):
        """(label, function of system, moves, seed) of the rows."""
        what = systems.TABLES[table]
        rows = []
        for label, movers in what["own"].items():
            rows.append((systems.OWN + label, lambda s, n, seed, m=movers: self.own.measure(dict(s, seed=seed), m, n)))
        for peer in what["peers"]:
            if (self.a.peers is None or peer in self.a.peers) and self.has(peer):
                rows.append((systems.PROGRAMS[peer], lambda s, n, seed, p=peer: self.call(p, s, n, seed)))
        return rows

    def take(self, table, system, energies, subject, n, k):
        """Measures and records: in round -1 nothing but a failure. Returns the measurement, or None after a failure."""
        label, measure = subject
        try:
            m = measure(system, n, 2 + k)  # seeds from 1 on
        except own.Failed as failed:
            print(f"peers: {table}, N = {system['count']}, {label}: {failed}", file=sys.stderr, flush=True)
            # What plugmc does not do is no fault of this program: it is told in the table.
            self.record(line="failure", table=table, size=system["count"], subject=label, why=str(failed),
                        allowed=label.startswith(systems.OWN))
            return None
        m = {"version": "", "energy": energies["shift"], "truncation": "shift", **m}
        if k >= 0:
            self.record(line="measurement", table=table, size=system["count"], subject=label, round=k, **m)
        return m

    def case(self, table, size):
        """A size of a table: calibration, then the rounds, in each all programs in turn."""
        system = self.own.start(systems.parameters(table, size))
        energies = self.own.energies(system)
        moves, rows = {}, self.subjects(table)
        self.record(line="reference", table=table, size=size, energies=energies, subjects=[label for label, _ in rows])
        for label, measure in rows:
            n = FIRST_MOVES
            while label not in moves:  # until it takes long enough to be timed
                m = self.take(table, system, energies, (label, measure), n, -1)
                if m is None:
                    break
                if m["seconds"] >= 0.3 * self.a.seconds:
                    moves[label] = max(1, round(m["moves"] * self.a.seconds / m["seconds"]))
                n = round(m["moves"] * min(10, max(2, self.a.seconds / max(m["seconds"], 1e-9))))
        for k in range(self.a.rounds):
            for label, measure in rows:
                if label in moves and self.take(table, system, energies, (label, measure), moves[label], k) is None:
                    del moves[label]
            print(f"peers: {table}, N = {size}, round {k + 1} of {self.a.rounds}", file=sys.stderr, flush=True)


def write(lines, out):
    """The report: machine, versions, tables, what is missing, faults. Returns the exit code."""
    for m in arithmetic.lines_of(lines, "machine"):
        print(f"{m['processor']} ({', '.join(m['simd']) or 'no AVX2'}), {m['cores']} cores, load {m['load']:.1f} at the "
              f"beginning, Linux {m['system']}{', ' + m['gpu'] if m['gpu'] else ''}; {m['plugmc']}, commit {m['commit']}.",
              file=out)
        print(f"{m['rounds']} rounds of some {m['seconds']} s each.\n", file=out)
    versions = dict.fromkeys((l["subject"], l["version"]) for l in arithmetic.lines_of(lines, "measurement") if l["version"])
    if versions:
        print("Versions: " + ", ".join(f"{s} {v}" for s, v in versions) + ".\n", file=out)
    for table in dict.fromkeys(l["table"] for l in lines if l["line"] in ("measurement", "failure")):
        what = systems.TABLES[table]
        print(arithmetic.table_of(lines, table, what["title"], what["unit"], lambda s: s.startswith(systems.OWN)), file=out)
    for l in arithmetic.lines_of(lines, "missing"):
        print(f"- {l['subject']} could not be had: {l['why']}", file=out)
    faults = arithmetic.faults(lines)
    for fault in faults:
        print(f"- fault: {fault}", file=out)
    compared = [l for l in arithmetic.lines_of(lines, "measurement") if l["version"]]
    if compared and not faults:
        print("Energies of all peers agree with plugmc's.", file=out)
    return 1 if faults else 0


def main():
    a = arguments()
    if a.recorded:
        with open(a.recorded, encoding="utf-8") as f:
            return write([json.loads(line) for line in f], sys.stdout)
    bench = Bench(a)
    bench.record(**machine(a.plugmc), rounds=a.rounds, seconds=a.seconds)
    for table in a.tables:
        what = systems.TABLES[table]
        for size in a.sizes or (what["quick"] if a.quick else what["sizes"]):
            try:
                bench.case(table, size)
            except own.Failed as failed:
                bench.record(line="failure", table=table, size=size, subject="plugmc", why=str(failed))
    return write(bench.lines, sys.stdout)


if __name__ == "__main__":
    sys.exit(main())
