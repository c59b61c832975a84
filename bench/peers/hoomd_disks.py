"""HOOMD-blue's hard disks, where it is installed (it is not on PyPI). JSON in, one line of JSON out.

A sweep of its integrator has "trials" trial moves a disk, each uniform in a disk of radius "step" as in plugmc. "gpu": true
takes the GPU; times are wall times. The energy is the number of overlaps. This program was written by HOOMD-blue's manual
(version 4) and has not been run yet.
"""
import json
import sys
import time

import hoomd


def main():
    system = json.load(sys.stdin)
    device = hoomd.device.GPU() if system.get("gpu") else hoomd.device.CPU()
    simulation = hoomd.Simulation(device=device, seed=system["seed"])
    snapshot = hoomd.Snapshot()
    snapshot.configuration.box = [*system["box"][:2], 0, 0, 0, 0]
    snapshot.particles.N = len(system["positions"])
    snapshot.particles.types = ["A"]
    half = [edge / 2 for edge in system["box"]]
    snapshot.particles.position[:] = [(r[0] - half[0], r[1] - half[1], 0) for r in system["positions"]]
    simulation.create_state_from_snapshot(snapshot)
    integrator = hoomd.hpmc.integrate.Sphere(default_d=system["step"], nselect=system.get("trials", 4))
    integrator.shape["A"] = {"diameter": 1.0}
    simulation.operations.integrator = integrator
    simulation.run(0)
    overlaps = integrator.overlaps
    sweep = len(system["positions"]) * integrator.nselect
    simulation.run(20)  # compiles, and tunes its kernels
    sweeps = max(1, round(system["moves"] / sweep))
    begin = time.monotonic()
    simulation.run(sweeps)
    accepted, rejected = integrator.translate_moves  # of this run; waits for the GPU
    print(json.dumps({"version": hoomd.version.version, "energy": float(overlaps), "truncation": "shift",
                      "moves": accepted + rejected, "seconds": time.monotonic() - begin,
                      "acceptance": accepted / (accepted + rejected)}))


main()
