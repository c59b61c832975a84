"""OpenMM's molecular dynamics of rigid water (openmm on PyPI). JSON in, one line of JSON out.

A move is a step of its Verlet integrator, with forces of all particles and molecules that SETTLE keeps rigid. Charges are on a
mesh with the tolerance of the system; the energy that is compared is from a mesh with 1e-6. "gpu": true takes the CUDA platform
in mixed precision and wall time; otherwise it is the CPU platform with one thread and user time. Lennard-Jones is cut, not
shifted.
"""
import json
import os
import resource
import sys
import time

os.environ["OPENMM_CPU_THREADS"] = "1"  # read when it is loaded
import openmm  # noqa: E402
from openmm import unit  # noqa: E402

ANGSTROM = 0.1  # nm
TIME = 0.1  # ps: Angstrom (g/mol / (kJ/mol))^(1/2)


def molecules(system):
    """Positions of oxygen and hydrogens, each molecule whole, nm."""
    count, edge, r = system["count"], system["box"], system["positions"]
    for m in range(count):
        oxygen = r[m]
        sites = [oxygen]
        for h in (count + 2 * m, count + 2 * m + 1):
            sites.append([x - e * round((x - o) / e) for x, o, e in zip(r[h], oxygen, edge)])
        for site in sites:
            yield [x * ANGSTROM for x in site]


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b)) ** 0.5


def build(system, tolerance):
    water = system["water"]
    world = openmm.System()
    edge = [x * ANGSTROM for x in system["box"]]
    world.setDefaultPeriodicBoxVectors((edge[0], 0, 0), (0, edge[1], 0), (0, 0, edge[2]))
    force = openmm.NonbondedForce()
    force.setNonbondedMethod(openmm.NonbondedForce.PME)
    force.setCutoffDistance(system["cutoff"] * ANGSTROM)
    force.setEwaldErrorTolerance(tolerance)
    force.setUseDispersionCorrection(False)
    for m in range(system["count"]):
        for site in range(3):
            kind = min(site, 1)
            world.addParticle(water["masses"][kind])
            force.addParticle(water["charges"][kind], water["sigma"] * ANGSTROM, 0.0 if kind else water["epsilon"])
        for a, b in ((0, 1), (0, 2), (1, 2)):
            world.addConstraint(3 * m + a, 3 * m + b, distance(water["sites"][a], water["sites"][b]) * ANGSTROM)
            force.addException(3 * m + a, 3 * m + b, 0.0, 1.0, 0.0)
    world.addForce(force)
    platform = openmm.Platform.getPlatformByName("CUDA" if system.get("gpu") else "CPU")
    properties = {"Precision": "mixed"} if system.get("gpu") else {}
    context = openmm.Context(world, openmm.VerletIntegrator(system["time_step"] * TIME), platform, properties)
    context.setPositions(list(molecules(system)))
    return context, world


def energy(context):
    return context.getState(getEnergy=True).getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)


def main():
    system = json.load(sys.stdin)

    def clock():
        return time.monotonic() if system.get("gpu") else resource.getrusage(resource.RUSAGE_SELF).ru_utime

    first = energy(build(system, 1e-6)[0])
    context, world = build(system, system["tolerance"])  # the forces are those of the world, as long as it is there
    context.setVelocitiesToTemperature(system["water"]["temperature"], system["seed"])
    integrator = context.getIntegrator()
    integrator.step(20)
    energy(context)
    # The CPU knows these once it has evaluated forces.
    alpha, *grid = world.getForce(0).getPMEParametersInContext(context)
    begin = clock()
    integrator.step(system["moves"])
    energy(context)  # waits for the GPU
    print(json.dumps({"version": openmm.version.version, "energy": first, "truncation": "cut", "moves": system["moves"],
                      "seconds": clock() - begin, "acceptance": 1.0,
                      "note": f"{context.getPlatform().getName()}, alpha {alpha / 10} / Angstrom, grid {grid}"}))


main()
