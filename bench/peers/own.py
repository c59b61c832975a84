"""plugmc's side: start configurations, their energies, and the times of its rows."""
import json
import os
import re
import resource
import subprocess


class Failed(Exception):
    """A program has failed; its last line is the reason."""


def species_of(system):
    if "water" in system:
        return ["O", "H"]
    return ["A0", "A1"] if "bjerrum_length" in system else ["A0"]


def particles_of(system):
    return system["count"] * (len(system["water"]["sites"]) if "water" in system else 1)


def water(system, truncation):
    """What an INI file of rigid water has between [run] and the mover."""
    w = system["water"]
    text = (f"temperature = {w['temperature']}\n[units]\nlength = angstrom\ntemperature = K\nenergy = kJ/mol\n"
            f"[box]\ndimension = 3\nlx = {system['box'][0]!r}\n")
    for name, charge, mass in zip(species_of(system), w["charges"], w["masses"]):
        text += f"[species {name}]\ncharge = {charge}\nmass = {mass}\n"
    places = "   ".join(" ".join(repr(x) for x in site) for site in w["sites"])
    return (text + f"[molecule water]\nsites = O H H\nplaces = {places}\ncount = {system['count']}\n"
            f"[potential lennard_jones]\nepsilon = {w['epsilon']} 0\nsigma = {w['sigma']} 1\ncutoff = {system['cutoff']!r}\n"
            f"truncation = {truncation}\n"
            f"[potential coulomb_spme]\ncutoff = {system['cutoff']!r}\ntolerance = {system['tolerance']!r}\n")


def ini(system, movers, initial, run, truncation="shift", observable=""):
    """Text of an INI file for the system."""
    text = "[run]\n" + "".join(f"{k} = {v}\n" for k, v in run.items())
    if "water" in system:
        return text + water(system, truncation) + f"[initial]\n{initial}\n" + movers.format(**system) + observable
    if system["kind"] == "npt":
        text += f"pressure = {system['pressure']!r}\n"
    text += f"[box]\ndimension = {system['dimension']}\n"
    text += f"lx = {system['box'][0]!r}\n"  # a square or a cube
    for k, name in enumerate(species_of(system)):
        text += f"[species {name}]\ncount = {system['count'] // len(species_of(system))}\n"
        if "bjerrum_length" in system:
            text += f"charge = {1 - 2 * k}\n"
        if system["kind"] == "gc" and "insert" in movers:
            text += f"activity = {system['activity']!r}\n"
    text += f"[initial]\n{initial}\n"
    if system["kind"] == "hard":
        text += f"[potential hard_{'disk' if system['dimension'] == 2 else 'sphere'}]\n"
    else:
        text += f"[potential lennard_jones]\nepsilon = 1\ncutoff = {system['cutoff']!r}\ntruncation = {truncation}\n"
    if "bjerrum_length" in system:
        text += (f"[potential coulomb_ewald]\nbjerrum_length = {system['bjerrum_length']!r}\n"
                 f"cutoff = {system['cutoff']!r}\ntolerance = {system['tolerance']!r}\n")
    return text + movers.format(**system) + observable


class Own:
    """plugmc in the current folder, with one thread on the CPU or on the GPU."""

    def __init__(self, program):
        self.program = program
        self.per_sweep = {}  # trial moves a sweep of (kind, count, movers), once known

    def run(self, name, text, *options):
        """Times (user, wall of the run itself) and the line of results."""
        with open(name + ".ini", "w", encoding="ascii") as f:
            f.write(text)
        if os.path.exists(name + ".h5"):
            os.remove(name + ".h5")
        begin = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = subprocess.run([self.program, "run", name + ".ini", "--json", *options], capture_output=True, text=True,
                              env=dict(os.environ, OMP_NUM_THREADS="1"))
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin
        if done.returncode:
            lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
            raise Failed(re.sub(r"^\S+\.ini:\d+: |^--set: ", "", lines[-1]))
        result = json.loads(done.stdout.strip().splitlines()[-1])
        return seconds, result["seconds"], result

    @staticmethod
    def settings(name, sweeps, system, **more):
        return {"sweeps": sweeps, "equilibrate": 0, "seed": system["seed"], "device": "gpu" if system.get("gpu") else "cpu",
                "threads": 1, "output": name + ".h5", **more}

    def start(self, system):
        """The system with positions and species: a lattice that has melted."""
        if "water" in system:
            self.melt_water(system)
        else:
            self.melt(system)
        done = subprocess.run([self.program, "export", "melt.h5", "--to", "start.xyz", "--last", "--force"],
                              capture_output=True, text=True)
        if done.returncode:
            raise Failed(done.stderr.strip())
        with open("start.xyz", encoding="ascii") as f:
            body = [line.split() for line in f.read().splitlines()[2:]]
        box = system["box"]
        # In [0, edge), as some programs want it.
        positions = [[(float(x) % edge) % edge for x, edge in zip(line[1:], box)] for line in body]
        species = [species_of(system).index(line[0]) for line in body]
        self.write_start(positions, [line[0] for line in body], box)
        return dict(system, positions=positions, species=species)

    def melt_water(self, system):
        """Most of 8 ps, on a GPU 16: the time step is shorter at first, when the lattice has energy to give away."""
        text = ini(system, "[mover hmc]\ntime_step = 0.02\nsteps = 20\ntarget_acceptance = 0.8\n", "state = lattice",
                   self.settings("melt", 1, system, equilibrate=400 if system.get("gpu") else 200))
        self.run("melt", text)

    def melt(self, system):
        hard, ions = system["kind"] == "hard", "bjerrum_length" in system
        mover = "serial" if ions or system["count"] < 3000 and not system.get("gpu") else "checkerboard"
        melting = dict(system, kind="hard" if hard else "nvt")
        text = ini(melting, f"[mover {mover}]\nstep = 0.16\n", "state = lattice",
                   self.settings("melt", 1, system, equilibrate=100 if ions else 300))
        self.run("melt", text)

    @staticmethod
    def write_start(positions, names, box):
        edges = list(box) + [1.0] * (3 - len(box))
        lattice = " ".join(repr(edges[i] if i == j else 0.0) for i in range(3) for j in range(3))
        with open("start.xyz", "w", encoding="ascii") as f:
            f.write(f'{len(names)}\nLattice="{lattice}" Properties=species:S:1:pos:R:3 ')
            f.write(f'pbc="T T {"T" if len(box) == 3 else "F"}"\n')
            for name, r in zip(names, positions):
                f.write(name + "".join(f" {x!r}" for x in list(r) + [0.0] * (3 - len(r))) + "\n")

    def energies(self, system):
        """Of the start, by truncation: after trial moves that lead nowhere."""
        found = {}
        for truncation in ("shift", "cut"):
            if system["kind"] == "hard":
                found[truncation] = 0.0  # plugmc refuses a start with overlaps
                continue
            fixed = dict(system, kind="nvt", gpu=False)
            mover = "[mover serial]\nstep = 1e-12\n"
            if "water" in system:  # which is compared more sharply than it is timed
                fixed["tolerance"] = 1e-6
                mover = "[mover hmc]\ntime_step = 1e-12\nsteps = 1\ntarget_acceptance = 0\n"
            text = ini(fixed, mover, "state = file\nfile = start.xyz",
                       self.settings("energy", 1, fixed), truncation, "[observable energy]\nperiod = 1\n")
            _, _, result = self.run("energy", text)
            found[truncation] = next(n["value"] for n in result["numbers"] if n["name"] == "energy.energy") * particles_of(system)
        return found

    def measure(self, system, movers, moves):
        """Seconds of so many trial moves or more: the difference of two runs, of which the short one has a fifth."""
        key = (system["kind"], system["count"], movers)
        sweeps = max(5, round(moves / self.per_sweep.get(key, system["count"])))
        times = []
        for n in (max(1, sweeps // 5), max(1, sweeps // 5) + sweeps):
            text = ini(system, movers, "state = file\nfile = start.xyz", self.settings("own", n, system))
            user, wall, result = self.run("own", text)
            # A trajectory counts as its steps.
            each = system["steps"] if system["kind"] in ("hmc", "water") else 1
            times.append((wall if system.get("gpu") else user, each * sum(m["trials"] for m in result["moves"])))
        tried = sum(m["trials"] for m in result["moves"])
        self.per_sweep[key] = (times[1][1] - times[0][1]) / sweeps
        return {"moves": times[1][1] - times[0][1], "seconds": times[1][0] - times[0][0],
                "acceptance": sum(m["accepted"] for m in result["moves"]) / tried}
