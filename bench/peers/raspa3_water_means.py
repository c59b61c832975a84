"""Energies of rigid water in RASPA3 (raspalib on PyPI), for bench/water_means.sh: raspa3_water_means.py FRAME.xyz EDGE CUTOFF
CYCLES SEED. FRAME is as in raspa3_water.py.

Prints the energy of the frame, then that of every tenth cycle as it comes: cycle, all, Lennard-Jones and charges, in kJ/mol of the box.
A cycle is a trial move a molecule, displacements and turns about an axis. Their steps are tuned in 500 cycles before.

RASPA chooses its Ewald sum by itself when a simulation is set up: real space up to half the edge, alpha = sqrt(|ln(p r t)|) / r with
r this cutoff, p = 1e-6 and t = sqrt(|ln(p r)|), and all waves with n^2 <= k^2, of which the input for plugmc has the same.
"""
import sys

import raspalib
from raspa3_water import water_in_a_cube

KILOJOULE = 100  # a mol, in the unit of energy of RASPA, 10 J/mol


def main():
    path, edge, cutoff, cycles, seed = sys.argv[1], *map(float, sys.argv[2:6])
    box, _ = water_in_a_cube(path, edge, cutoff)
    simulation = raspalib.MonteCarlo(number_of_cycles=int(cycles), number_of_initialization_cycles=500,
                                     optimize_mc_moves_every=20, systems=[box], random_seed=int(seed))
    simulation.setup()
    cycle = 0

    def tell():
        nonlocal cycle
        energies = simulation.systems[0].compute_total_energies()
        print(cycle, energies.potential_energy() / KILOJOULE, energies.van_der_waals_energy() / KILOJOULE,
              energies.coulomb_energy() / KILOJOULE, flush=True)
        cycle += 10

    print("# start", end=" ")
    tell()
    simulation.initialize()
    cycle = 0
    simulation.production(tell, 10)


main()
