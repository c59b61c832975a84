"""RASPA3 (raspalib on PyPI). Reads a system of systems.py as JSON from standard input, prints one line of JSON.

A translation of RASPA displaces along one axis by at most 1 A. The unit of length is chosen so that its mean square is
that of the step asked for; it is never tuned, since RASPA does that after a cycle of its own and the moves are made before.
A cycle is max(20, N) trial moves a component. Energies of RASPA are in 10 J/mol.
"""
import json
import math
import resource
import sys
from importlib.metadata import version

import raspalib

KELVIN = 120.0  # epsilon / k_B
COULOMB = 167100.9  # e^2 / (4 pi epsilon_0 k_B) in A K
BOLTZMANN = 0.831446261815324  # k_B in the unit of energy above
PASCAL = 1.380649e7  # K/A^3 in Pa


def components(system, length):
    """Force field, components and positions of one species, or of cations and anions."""
    charge = math.sqrt(system.get("bjerrum_length", 0) * length * KELVIN / COULOMB)
    charges = [charge, -charge] if charge else [0.0]
    field = raspalib.ForceField(
        pseudo_atoms=[raspalib.PseudoAtom(f"a{k}", False, 40.0, q) for k, q in enumerate(charges)],
        parameters=[raspalib.VDWParameters(KELVIN, length) for _ in charges],
        cutoff_framework_vdw=system["cutoff"] * length, cutoff_molecule_vdw=system["cutoff"] * length,
        cutoff_coulomb=system["cutoff"] * length, shifted=True, tail_corrections=False, use_charge=bool(charge))
    # Grand canonical: as many attempts to insert or to remove as displacements.
    moves = raspalib.MCMoveProbabilities(translation_probability=1, swap_probability=float(system["kind"] == "gc"))
    parts = [raspalib.Component(
        force_field=field, component_name=f"c{k}", critical_temperature=150.0, critical_pressure=5e6, acentric_factor=0.0,
        fugacity_coefficient=1.0, particle_probabilities=moves,
        defined_atoms=[raspalib.Atom(position=[0, 0, 0], charge=q, type=k, component_id=k)])
        for k, q in enumerate(charges)]
    species = system.get("species", [0] * len(system["positions"]))
    places = [[[length * x for x in r] for r, s in zip(system["positions"], species) if s == k] for k in range(len(charges))]
    return field, parts, places


def build(system):
    length = 1 / (math.sqrt(1.8) * system["step"])  # A for a sigma
    field, parts, places = components(system, length)
    volume = 1 / len(system["positions"]) if system["kind"] == "npt" else 0
    pressure = system.get("pressure", system.get("activity", 0))
    return raspalib.System(
        force_field=field, simulation_box=raspalib.SimulationBox(*(length * x for x in system["box"])),
        external_temperature=KELVIN, external_pressure=pressure * KELVIN * PASCAL / length**3, components=parts,
        initial_positions=places, initial_number_of_molecules=[0] * len(places),  # more than those of the positions
        system_probabilities=raspalib.MCMoveProbabilities(volume_change_probability=volume))


def counts(box):
    """Trial moves and accepted ones so far."""
    kinds = raspalib.Move.Types
    all_of = [c.mc_moves_statistics[k] for c in box.components for k in (kinds.TRANSLATION, kinds.SWAP)]
    all_of.append(box.mc_moves_statistics[kinds.VOLUME_CHANGE])
    total = [0.0, 0.0]
    for s in all_of:
        tried, accepted = s.total_counts, s.total_accepted
        total[0] += sum(tried) if isinstance(tried, tuple) else tried
        total[1] += sum(accepted) if isinstance(accepted, tuple) else accepted
    return total


def main():
    system = json.load(sys.stdin)
    box = build(system)
    energy = box.compute_total_energies().potential_energy() / BOLTZMANN / KELVIN
    cycle = max(20, len(system["positions"])) * (2 if "bjerrum_length" in system else 1)
    cycles = max(1, round(system["moves"] / cycle))
    result = {}

    def measure():
        before = counts(simulation.systems[0])
        begin = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        for _ in range(cycles):
            simulation.cycle()
        seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime - begin
        tried, accepted = (b - a for a, b in zip(before, counts(simulation.systems[0])))
        result.update(moves=tried, acceptance=accepted / tried, seconds=seconds)

    simulation = raspalib.MonteCarlo(number_of_cycles=1, number_of_initialization_cycles=0, systems=[box],
                                     random_seed=system["seed"])
    simulation.setup()
    simulation.production(measure, 1)  # which calls it after its first cycle
    print(json.dumps({"version": version("raspalib"), "energy": energy, "truncation": "shift", **result}))


main()
