"""FEASST (feasst on PyPI, compiled when it is installed). Reads a system of systems.py as JSON, prints one line of JSON.

FEASST displaces uniformly in a cube; its mean square is that of the step asked for, and is not tuned. Cells are used where
the box has room for them. Its libraries of charges and of further models are loaded here, since its module does not.
"""
import csv
import ctypes
import json
import math
import os
import resource
import sys
from importlib.metadata import version

import feasst

COULOMB = 1389.35457644382  # kJ/mol A
for library in ("models", "charge"):
    ctypes.CDLL(os.path.join(sys.prefix, "lib", f"libfeasst{library}.so"), ctypes.RTLD_GLOBAL)


def particle(name, charge, cutoff):
    with open(name + ".txt", "w", encoding="ascii") as f:
        f.write("# FEASST particle file (https://doi.org/10.18434/M3S095)\n\nSite Types\n\n"
                f"{name} sigma=1.0 epsilon=1.0 cutoff={cutoff!r} charge={charge!r}\n\nSites\n\n1{name} {name} 0 0 0\n")
    return f"{name}:{name}.txt"


def configuration(system):
    """The command that makes it. Energies of charges are in kJ/mol A per e^2, as FEASST has them."""
    count, charge = len(system["positions"]), math.sqrt(system.get("bjerrum_length", 0) / COULOMB)
    names = ["A", "B"] if charge else ["A"]
    species = system.get("species", [0] * count)
    with open("start.xyz", "w", encoding="ascii") as f:
        f.write("%d\n-1 %.17g %.17g %.17g 0 0 0\n" % (count, *system["box"]))
        for k, name in enumerate(names):
            f.writelines("%s %.17g %.17g %.17g\n" % (name, *(x - l / 2 for x, l in zip(r, system["box"])))
                         for r, s in zip(system["positions"], species) if s == k)
    kinds = ",".join(particle(n, q * charge, system["cutoff"]) for n, q in zip(names, (1, -1)))
    numbers = " ".join(f"add_num_{n}_particles={species.count(k)}" for k, n in enumerate(names)) if charge else ""
    return f"Configuration particle_type={kinds} {numbers} xyz_file=start.xyz"


def potentials(system):
    cells = min(system["box"]) >= 4 * system["cutoff"] and system["kind"] not in ("gc", "npt")
    visit = f" VisitModel=VisitModelCell min_length={system['cutoff']!r}" if cells else ""
    if "bjerrum_length" not in system:
        return [f"Potential Model={'HardSphere' if system['kind'] == 'hard' else 'LennardJonesCutShift'}{visit}"]
    # Relative to the force of charges e at a distance of 1.
    return [f"Potential VisitModel=Ewald tolerance={system['tolerance'] * system['bjerrum_length'] / COULOMB!r}",
            "Potential Model=ModelTwoBodyFactory models=LennardJonesCutShift,ChargeScreened", "Potential Model=ChargeSelf"]


def simulation_of(system, step):
    """A simulation with its moves, and the energy after the first of them."""
    simulation = feasst.MonteCarlo()
    pressure = f" pressure={system['pressure']!r}" if "pressure" in system else ""
    lines = [f"RandomMT19937 seed={system['seed']}", configuration(system), *potentials(system),
             f"ThermoParams beta=1 chemical_potential={math.log(system.get('activity', 1))!r}{pressure}", "Metropolis",
             f"TrialTranslate weight=1 tunable_param={step!r}"]
    if system["kind"] == "gc":
        lines.append("TrialTransfer weight=1 particle_type=A")
    if system["kind"] == "npt":
        lines.append(f"TrialVolume weight={1 / len(system['positions'])!r} tunable_param={system['volume_step']!r}")
    for line in lines:
        feasst.parse(simulation, line)
    return simulation


def log(simulation):
    """Does a trial move; what the log has of the state then, and acceptances."""
    feasst.parse(simulation, "Log trials_per_write=1 output_file=log.csv max_precision=true clear_file=true")
    feasst.parse(simulation, "Run num_trials=1")
    feasst.parse(simulation, "Remove name=Log")
    with open("log.csv", encoding="ascii") as f:
        return list(csv.DictReader(f))[-1]


def acceptance(said):
    """Grand canonical: of all moves, half of which are displacements. Volume moves, one in N + 1, are left out."""
    kinds = ["TrialTranslate"] * 2 + ["TrialAdd", "TrialRemove"] * ("TrialAdd" in said)
    return sum(float(said[k]) for k in kinds) / len(kinds)


def main():
    system = json.load(sys.stdin)
    result = os.fdopen(os.dup(1), "w")  # FEASST writes on standard output, too
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    alike = {"gc": "nvt", "npt": "nvt"}  # the same energy, without moves that change it
    energy = float(log(simulation_of(dict(system, kind=alike.get(system["kind"], system["kind"])), 1e-12))["energy"])
    simulation = simulation_of(system, system["step"] * math.sqrt(0.6))
    begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    feasst.parse(simulation, f"Run num_trials={system['moves']}")
    seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin
    print(json.dumps({"version": version("feasst"), "energy": energy, "truncation": "shift", "moves": system["moves"],
                      "seconds": seconds, "acceptance": acceptance(log(simulation))}), file=result, flush=True)


main()
