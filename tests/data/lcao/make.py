#!/usr/bin/env python3
"""make.py FOLDER: the files of this folder, by PySCF. Needs pyscf and trexio-tools (both on PyPI) and, in the folder from
which it is run or in PYTHONPATH, QMCPACK's PyscfToQmcpack.py (src/QMCTools). Prints the energies that README.md has."""
import contextlib
import io
import os
import subprocess
import sys

import numpy
import trexio
from pyscf import gto, scf
from pyscf.pbc import gto as pbc_gto, scf as pbc_scf

from PyscfToQmcpack import savetoqmcpack

os.chdir(sys.argv[1])


def quiet(function, *arguments, **keys):
    with contextlib.redirect_stdout(io.StringIO()):
        return function(*arguments, **keys)


def save(name, mol, mf, trexio=True, **keys):
    quiet(savetoqmcpack, mol, mf, title=name, **keys)
    if trexio:
        subprocess.run(['trexio', 'convert-from', '-t', 'pyscf', '-i', name + '.chk', '-b', 'hdf5', name + '.trexio.h5'],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.remove(name + '.chk')


def save_cartesian(name, mol, coefficient):
    """TREXIO with cartesian functions, which the converter does not write: those of PySCF are in the order of TREXIO."""
    with trexio.File(name + '.trexio.h5', 'w', back_end=trexio.TREXIO_HDF5) as f:
        shells = range(mol.nbas)
        l = [mol.bas_angular(i) for i in shells]
        prims = [(i, e, c) for i in shells for e, c in zip(mol.bas_exp(i), mol.bas_ctr_coeff(i)[:, 0])]
        functions = [i for i in shells for _ in range((l[i] + 1) * (l[i] + 2) // 2)]
        trexio.write_electron_up_num(f, mol.nelec[0])
        trexio.write_electron_dn_num(f, mol.nelec[1])
        trexio.write_nucleus_num(f, mol.natm)
        trexio.write_nucleus_charge(f, mol.atom_charges())
        trexio.write_nucleus_coord(f, mol.atom_coords())
        trexio.write_basis_type(f, 'Gaussian')
        trexio.write_basis_shell_num(f, mol.nbas)
        trexio.write_basis_prim_num(f, len(prims))
        trexio.write_basis_nucleus_index(f, [mol.bas_atom(i) for i in shells])
        trexio.write_basis_shell_ang_mom(f, l)
        trexio.write_basis_shell_factor(f, [1.0] * mol.nbas)
        trexio.write_basis_shell_index(f, [i for i, _, _ in prims])
        trexio.write_basis_exponent(f, [e for _, e, _ in prims])
        trexio.write_basis_coefficient(f, [c for _, _, c in prims])
        trexio.write_basis_prim_factor(f, [mol.gto_norm(l[i], e) for i, e, _ in prims])
        trexio.write_ao_cartesian(f, 1)
        trexio.write_ao_num(f, len(functions))
        trexio.write_ao_shell(f, functions)
        trexio.write_ao_normalization(f, [numpy.sqrt((2 * l[i] + 1) / (4 * numpy.pi)) if l[i] < 2 else 1.0 for i in functions])
        trexio.write_mo_num(f, coefficient.shape[1])
        trexio.write_mo_coefficient(f, coefficient.T)


def molecule(name, atoms, basis, trexio=False, spin=0, unrestricted=False, ecp=None):
    mol = gto.M(atom=atoms, basis=basis, unit='bohr', spin=spin, ecp=ecp, verbose=0)
    mf = (scf.UHF if unrestricted else scf.ROHF if spin else scf.RHF)(mol)
    mf.chkfile, mf.conv_tol = name + '.chk', 1e-12
    mf.kernel()
    dm = mf.make_rdm1()
    if dm.ndim == 3:
        dm = dm[0] + dm[1]
    kinetic = numpy.einsum('ij,ji', mol.intor('int1e_kin'), dm)
    print(f'{name:8} total {mf.e_tot:.8f} kinetic {kinetic:.8f} nuclei {mol.energy_nuc():.8f}')
    save(name, mol, mf, trexio)
    if not trexio:
        os.remove(name + '.chk')


water = 'O 0 0 0.2217; H 0 1.4309 -0.8867; H 0 -1.4309 -0.8867'
molecule('he', 'He 0 0 0', 'def2-tzvp')
molecule('h2', 'H 0 0 -0.7; H 0 0 0.7', 'def2-tzvp', True)
molecule('lih', 'Li 0 0 0; H 0 0 3.015', 'def2-qzvp')
molecule('h2o', water, {'O': 'unc-def2-qzvp', 'H': 'unc-def2-tzvp'})
# The converter to TREXIO takes no shells with several contractions.
molecule('water', water, 'def2-tzvp', True)
molecule('o2', 'O 0 0 -1.14; O 0 0 1.14', '6-31g', True, spin=2, unrestricted=True)
molecule('c2', 'C 0 0 -1.175; C 0 0 1.175', 'bfd-vtz', True, ecp='bfd')
os.remove('c2.h5')

# Every l to 5, contracted and not, at two places; orbitals are eigenvectors of the kinetic energy.
shells = {'He': [[0, [8.0, 0.3], [1.7, 0.6], [0.5, 0.4]], [0, [0.2, 1.0]], [1, [2.1, 0.5], [0.7, 0.6]], [2, [1.3, 1.0]],
                 [3, [1.1, 0.4], [0.8, 0.7]], [4, [0.9, 1.0]], [5, [1.2, 0.3], [0.6, 0.8]]],
          'H': [[0, [1.1, 1.0]], [1, [0.9, 1.0]], [2, [1.9, 0.5], [0.6, 0.6]], [3, [0.7, 1.0]], [5, [0.8, 1.0]]]}
for name, cartesian in ('shells', False), ('cartesian', True):
    mol = gto.M(atom='He 0.1 -0.2 0.3; H 0.4 0.7 -0.9', basis=shells, unit='bohr', charge=1, cart=cartesian, verbose=0)
    mf = scf.RHF(mol)
    mf.chkfile = name + '.chk'
    mf.max_cycle = 0
    mf.kernel()
    energy, coefficient = mf.eig(mol.intor('int1e_kin'), mol.intor('int1e_ovlp'))
    mf.mo_energy, mf.mo_coeff, mf.mo_occ = energy, coefficient, mf.get_occ(energy, coefficient)
    scf.chkfile.dump_scf(mol, mf.chkfile, 0, energy, coefficient, mf.mo_occ)
    save(name, mol, mf, not cartesian)
    if cartesian:
        os.remove(name + '.chk')
        save_cartesian(name, mol, coefficient)

# A skewed cell of two hydrogen molecules at a k point.
small = {'H': [[0, [3.0, 0.2], [0.8, 0.5], [0.25, 0.5]], [0, [0.3, 1.0]], [1, [0.6, 1.0]]]}
cell = pbc_gto.M(a=[[4.0, 0.5, 0.0], [0.0, 4.2, 0.3], [0.4, 0.0, 4.1]], unit='bohr', basis=small, ke_cutoff=150, precision=1e-12,
                 atom='H 0.1 0.2 0.3; H 0.1 0.9 1.5; H 2.0 2.4 2.2; H 2.9 1.5 2.6', verbose=0)
for name, fraction in ('gamma', [0, 0, 0]), ('twist', [0.2, -0.15, 0.35]):
    k = cell.get_abs_kpts(fraction)
    mf = pbc_scf.RHF(cell, kpt=k, exxdiv='ewald') if name == 'gamma' else pbc_scf.KRHF(cell, kpts=[k], exxdiv='ewald')
    mf.conv_tol = 1e-11
    mf.kernel()
    dm = mf.make_rdm1()
    kinetic = numpy.einsum('ij,ji', cell.pbc_intor('int1e_kin', kpt=k), dm if dm.ndim == 2 else dm[0]).real
    print(f'{name:8} total {mf.e_tot:.8f} kinetic {kinetic:.8f} nuclei {cell.energy_nuc():.8f}')
    if name == 'gamma':
        save(name, cell, mf, False)
    else:
        save(name, cell, mf, False, kpts=numpy.array([k]), kmesh=[1, 1, 1], sp_twist=k)
