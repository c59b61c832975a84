"""OpenMM's molecular dynamics (openmm on PyPI), the yardstick for force evaluations. JSON in, one line of JSON out.

A move is a step of its Verlet integrator, with forces of all particles. "gpu": true takes the CUDA platform in mixed
precision and wall time; otherwise it is the CPU platform with one thread and user time. Lennard-Jones is cut, not shifted.
"""
import json
import os
import resource
import sys
import time

os.environ["OPENMM_CPU_THREADS"] = "1"  # read when it is loaded
import openmm  # noqa: E402
from openmm import unit  # noqa: E402

KELVIN = 120.0
KT = 8.31446261815324e-3 * KELVIN  # kJ/mol
TIME = (1 / KT) ** 0.5  # of a reduced unit of time, in ps: sigma = 1 nm, mass 1 u


def build(system):
    world = openmm.System()
    edge = system["box"]
    world.setDefaultPeriodicBoxVectors((edge[0], 0, 0), (0, edge[1], 0), (0, 0, edge[2]))
    force = openmm.NonbondedForce()
    force.setNonbondedMethod(openmm.NonbondedForce.CutoffPeriodic)
    force.setCutoffDistance(system["cutoff"])
    force.setUseDispersionCorrection(False)
    for _ in system["positions"]:
        world.addParticle(1.0)
        force.addParticle(0.0, 1.0, KT)
    world.addForce(force)
    platform = openmm.Platform.getPlatformByName("CUDA" if system.get("gpu") else "CPU")
    properties = {"Precision": "mixed"} if system.get("gpu") else {}
    context = openmm.Context(world, openmm.VerletIntegrator(system["time_step"] * TIME), platform, properties)
    context.setPositions(system["positions"])
    context.setVelocitiesToTemperature(KELVIN, system["seed"])
    return context, platform


def main():
    system = json.load(sys.stdin)
    context, platform = build(system)

    def energy():
        return context.getState(getEnergy=True).getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole) / KT

    def clock():
        return time.monotonic() if system.get("gpu") else resource.getrusage(resource.RUSAGE_SELF).ru_utime

    first = energy()
    integrator = context.getIntegrator()
    integrator.step(20)
    energy()
    begin = clock()
    integrator.step(system["moves"])
    energy()  # waits for the GPU
    print(json.dumps({"version": openmm.version.version, "energy": first, "truncation": "cut", "moves": system["moves"],
                      "seconds": clock() - begin, "acceptance": 1.0, "note": platform.getName()}))


main()
