"""Rigid water in RASPA3 (raspalib on PyPI), for bench/water.sh: raspa3_water.py FRAME.xyz EDGE CUTOFF MOVES SEED. The frame
has the sites of each molecule, O H H, one molecule after the other, and whole. Prints one line of JSON.

Half of the trial moves displace a molecule along an axis by at most 1 A, half turn one about an axis by at most 1 rad. Steps
are not tuned: all moves are made within the first cycles. RASPA chooses its Ewald sum by itself, for a precision of 1e-6.
"""
import json
import resource
import sys
from importlib.metadata import version

import raspalib

BOLTZMANN = 0.831446261815324  # k_B in the unit of energy of RASPA, 10 J/mol
SITES = [("O", 15.9994, -0.8476, 78.19743111, 3.16555789), ("H", 1.008, 0.4238, 0.0, 1.0)]
PLACES = [[0, 0, 0], [1, 0, 0], [-0.33331324756824, 0.942816142731718, 0]]


def water_in_a_cube(path, edge, cutoff):
    """A system of SPC/E at 298 K in a cube of this edge, A, with the molecules of an XYZ file, and their number."""
    with open(path, encoding="ascii") as lines:
        places = [[float(x) for x in line.split()[1:4]] for line in list(lines)[2:]]
    field = raspalib.ForceField(
        pseudo_atoms=[raspalib.PseudoAtom(name, False, mass, charge) for name, mass, charge, _, _ in SITES],
        parameters=[raspalib.VDWParameters(epsilon, sigma) for *_, epsilon, sigma in SITES],
        cutoff_framework_vdw=cutoff, cutoff_molecule_vdw=cutoff, cutoff_coulomb=cutoff, shifted=False, tail_corrections=True,
        use_charge=True)
    water = raspalib.Component(
        force_field=field, component_name="water", critical_temperature=647.0, critical_pressure=2.2e7, acentric_factor=0.34,
        particle_probabilities=raspalib.MCMoveProbabilities(translation_probability=1, rotation_probability=1),
        defined_atoms=[raspalib.Atom(position=r, charge=SITES[k][2], type=k) for r, k in zip(PLACES, (0, 1, 1))])
    box = raspalib.System(
        force_field=field, simulation_box=raspalib.SimulationBox(edge, edge, edge), external_temperature=298.0,
        components=[water], initial_positions=[places], initial_number_of_molecules=[0])
    return box, len(places) // 3


def main():
    path, edge, cutoff, moves, seed = sys.argv[1], *map(float, sys.argv[2:6])
    box, molecules = water_in_a_cube(path, edge, cutoff)
    energy = box.compute_total_energies().potential_energy() / BOLTZMANN
    cycles = max(1, round(moves / max(20, molecules)))
    result = {}

    def counts():
        kinds = raspalib.Move.Types
        all_of = [simulation.systems[0].components[0].mc_moves_statistics[k] for k in (kinds.TRANSLATION, kinds.ROTATION)]
        return [sum(s.total_counts) for s in all_of] + [sum(s.total_accepted) for s in all_of]

    def measure():
        before = counts()
        begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        for _ in range(cycles):
            simulation.cycle()
        seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin
        made = [b - a for a, b in zip(before, counts())]
        result.update(translations=made[0], rotations=made[1], accepted=[made[2] / made[0], made[3] / made[1]],
                      seconds=seconds, moves_a_second=(made[0] + made[1]) / seconds)

    simulation = raspalib.MonteCarlo(number_of_cycles=1, number_of_initialization_cycles=0, systems=[box], random_seed=int(seed))
    simulation.setup()
    simulation.production(measure, 1)
    print(json.dumps({"version": version("raspalib"), "energy_in_K": energy, **result}))


if __name__ == "__main__":
    main()
