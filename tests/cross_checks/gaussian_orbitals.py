#!/usr/bin/env python3
"""gaussian_orbitals.py TEST_GAUSSIAN_ORBITALS FOLDER: every basis function and derivative of plugmc against formulae of its
own, from the same files of tests/data/lcao (FOLDER), to 1e-12 of the largest value.

Functions are polynomials times exp(-a r^2) here, one primitive after the other: solid harmonics by their expansion in
powers of x, y and z (H. B. Schlegel, M. J. Frisch, Int. J. Quantum Chem. 54, 83 (1995)), derivatives by those of
polynomials, d/dx (P e) = (P' - 2 a x P) e. Solids are summed over all lattice vectors within 20 bohr."""
import os
import shutil
import subprocess
import sys
import tempfile
from math import comb, factorial, pi, sqrt, cos, sin

import h5py
import numpy as np

LIMIT = 1e-12


def solid_harmonic(l, m):
    """{(a, b, c): coefficient} of sqrt(4 pi / (2 l + 1)) r^l Y_lm, real."""
    n, terms = abs(m), {}
    norm = sqrt((2 if n else 1) * factorial(l - n) / factorial(l + n))
    for k in range((l - n) // 2 + 1):
        gamma = (-1)**k * 2.0**-l * comb(l, k) * comb(2 * l - 2 * k, l) * factorial(l - 2 * k) / factorial(l - 2 * k - n)
        for p in range(n + 1):
            angle = comb(n, p) * (cos if m >= 0 else sin)((n - p) * pi / 2)
            if abs(angle) < 1e-9:
                continue
            for i in range(k + 1):      # r^(2k), by powers of x, y, z
                for j in range(k - i + 1):
                    power = (2 * i + p, 2 * j + n - p, 2 * (k - i - j) + l - 2 * k - n)
                    weight = factorial(k) // (factorial(i) * factorial(j) * factorial(k - i - j))
                    terms[power] = terms.get(power, 0) + norm * gamma * round(angle) * weight
    return terms


def slope(terms, e, a):
    """d/dx_e of terms exp(-a r^2), over exp(-a r^2)."""
    out = {}
    for power, c in terms.items():
        up, down = list(power), list(power)
        up[e] += 1
        down[e] -= 1
        out[tuple(up)] = out.get(tuple(up), 0) - 2 * a * c
        if power[e]:
            out[tuple(down)] = out.get(tuple(down), 0) + power[e] * c
    return out


def polynomial(terms, r):
    return sum(c * r[:, 0]**p[0] * r[:, 1]**p[1] * r[:, 2]**p[2] for p, c in terms.items())


def function(terms, primitives, r):
    """Value, gradient and Laplacian [5][points]."""
    out = np.zeros((5, len(r)))
    for a, c in primitives:
        e = c * np.exp(-a * (r**2).sum(1))
        first = [slope(terms, d, a) for d in range(3)]
        out[0] += polynomial(terms, r) * e
        for d in range(3):
            out[1 + d] += polynomial(first[d], r) * e
            out[4] += polynomial(slope(first[d], d, a), r) * e
    return out


def odd(n):
    return 1 if n < 2 else n * odd(n - 2)


def radial_norm(l, a):
    """Of r^l exp(-a r^2) over r^2 dr, by the integral of r^(2 l + 2) exp(-2 a r^2)."""
    return 1 / sqrt(odd(2 * l + 1) * sqrt(pi / (2 * a)) / (2**(l + 2) * (2 * a)**(l + 1)))


def gamess(l):
    names = {0: [''], 1: 'x y z'.split(), 2: 'xx yy zz xy xz yz'.split(),
             3: 'xxx yyy zzz xxy xxz yyx yyz zzx zzy xyz'.split(),
             4: 'xxxx yyyy zzzz xxxy xxxz yyyx yyyz zzzx zzzy xxyy xxzz yyzz xxyz yyxz zzxy'.split(),
             5: ('xxxxx yyyyy zzzzz xxxxy xxxxz yyyyx yyyyz zzzzx zzzzy xxxyy xxxzz yyyxx yyyzz zzzxx zzzyy xxxyz yyyxz '
                 'zzzxy xxyyz xxzzy yyzzx').split()}[l]
    return [tuple(n.count(x) for x in 'xyz') for n in names]


def read_qmcpack(f):
    """[(nucleus, terms, primitives)] in the order of the file, and coefficients [orbital][function]."""
    functions, text = [], lambda x: x[()][0].decode()
    by_pyscf = text(f['application/code']) == 'PySCF'
    for at, species in zip(f['atoms/positions'][()], f['atoms/species_ids'][()]):
        basis = f[f'basisset/atomicBasisSet{species}']
        for g in range(basis['NbBasisGroups'][0]):
            group = basis[f'basisGroup{g}']
            l = int(group['l'][0])
            primitives = []
            for k in range(group['NbRadFunc'][0]):
                p = group[f'radfunctions/DataRad{k}']
                primitives.append((p['exponent'][0], p['contraction'][0] * radial_norm(l, p['exponent'][0])))
            y = sqrt((2 * l + 1) / (4 * pi))
            if text(basis['angular']) == 'cartesian':
                assert by_pyscf
                angular = [{power: y if l < 2 else 1.0} for power in gamess(l)]
            else:
                assert text(basis['expandYlm']) == 'pyscf'
                orders = [1, -1, 0] if l == 1 else range(-l, l + 1)
                angular = [{p: c * y for p, c in solid_harmonic(l, m).items()} for m in orders]
            functions += [(at, terms, primitives) for terms in angular]
    twist = f['Super_Twist']
    coefficient = twist['eigenset_0'][()].astype(complex)
    if 'eigenset_0_imag' in twist:
        coefficient += 1j * twist['eigenset_0_imag'][()]
    lattice = f['Cell/LatticeVectors'][()] if f['PBC/PBC'][0] else None
    k = twist['Coord'][()].ravel() if lattice is not None else np.zeros(3)
    return functions, coefficient, lattice, k


def read_trexio(f):
    basis, functions = f['basis'], []
    nucleus, ang_mom = basis['basis_nucleus_index'][()], basis['basis_shell_ang_mom'][()]
    shell_of, factor = basis['basis_shell_index'][()], basis['basis_shell_factor'][()]
    weight = basis['basis_coefficient'][()] * basis['basis_prim_factor'][()]
    norm, i = f['ao/ao_normalization'][()], 0
    cartesian = f['ao'].attrs['ao_cartesian'] != 0
    for s, l in enumerate(ang_mom):
        primitives = [(basis['basis_exponent'][k], factor[s] * weight[k]) for k in np.flatnonzero(shell_of == s)]
        angular = ([{(a, b, l - a - b): 1.0} for a in range(l, -1, -1) for b in range(l - a, -1, -1)] if cartesian else
                   [solid_harmonic(l, m) for m in [0] + [sign * m for m in range(1, l + 1) for sign in (1, -1)]])
        for powers in angular:
            terms = {p: c * norm[i] for p, c in powers.items()}
            functions.append((f['nucleus/nucleus_coord'][()][nucleus[s]], terms, primitives))
            i += 1
    return functions, f['mo/mo_coefficient'][()].astype(complex), None, np.zeros(3)


def images(lattice, reach=20.0):
    if lattice is None:
        return [np.zeros(3)]
    n = range(-8, 9)
    all_of_them = [np.array([a, b, c]) @ lattice for a in n for b in n for c in n]
    return [t for t in all_of_them if np.linalg.norm(t) < reach]


def evaluate(path, r, orbitals):
    with h5py.File(path) as f:
        functions, coefficient, lattice, k = read_trexio(f) if 'ao' in f else read_qmcpack(f)
    out = np.zeros((orbitals, 5, len(r)), complex)
    phase = np.ones(len(r), complex)
    if lattice is not None:     # into the cell, by Bloch's theorem
        moved = np.floor(r @ np.linalg.inv(lattice)) @ lattice
        r, phase = r - moved, np.exp(1j * moved @ k)
    for i, (at, terms, primitives) in enumerate(functions):
        value = np.zeros((5, len(r)), complex)
        for t in images(lattice):
            value += np.exp(1j * k @ t) * function(terms, primitives, r - at - t)
        out += coefficient[:orbitals, i, None, None] * value * phase
    return out


def derive(path, out, expansion=None, writer=None, normalized=False):
    """The same orbitals in a file of another convention: order of functions (expandYlm), the norm of cartesian functions of a
    writer that is not PySCF, contraction coefficients with the norms of primitives."""
    shutil.copy(path, out)
    os.chmod(out, 0o600)
    with h5py.File(out, 'r+') as f:
        columns, scale = [], []
        for species in f['atoms/species_ids'][()]:
            basis = f[f'basisset/atomicBasisSet{species}']
            for g in range(basis['NbBasisGroups'][0]):
                l, start = int(basis[f'basisGroup{g}/l'][0]), len(columns)
                if writer:
                    for power in gamess(l):
                        unit = sqrt(odd(2 * l + 1) / (4 * pi * np.prod([odd(2 * p - 1) for p in power])))
                        scale.append((sqrt((2 * l + 1) / (4 * pi)) if l < 2 else 1) / unit)
                    columns += range(start, start + len(gamess(l)))
                    continue
                old = [1, -1, 0] if l == 1 else list(range(-l, l + 1))
                new = {'natural': list(range(-l, l + 1)), None: old,
                       'gaussian': old if l == 1 else [0] + [s * m for m in range(1, l + 1) for s in (1, -1)]}[expansion]
                columns += [start + old.index(m) for m in new]
                scale += [1] * len(new)
        c = f['Super_Twist/eigenset_0'][()]
        f['Super_Twist/eigenset_0'][...] = c[:, columns] * np.array(scale)
        if writer:
            del f['application/code']
            f['application/code'] = np.array([writer.encode()])
        for basis in f['basisset'].values():
            if not isinstance(basis, h5py.Group):
                continue
            if expansion:
                del basis['expandYlm']
                basis['expandYlm'] = np.array([expansion.encode()])
            if normalized:
                del basis['normalized']
                basis['normalized'] = np.array([b'yes'])
                for g in range(basis['NbBasisGroups'][0]):
                    for p in basis[f'basisGroup{g}/radfunctions'].values():
                        p['contraction'][...] *= radial_norm(int(basis[f'basisGroup{g}/l'][0]), p['exponent'][0])


def markup(path, folder):
    """The same orbitals as an input of QMCPACK, whose particles and wave function are in files that it includes."""
    def text(x):
        return x[()][0].decode()

    def attributes(**names):
        return ''.join(f' {k}="{v}"' for k, v in names.items())

    with h5py.File(path) as f:
        c = f['Super_Twist/eigenset_0'][()]
        species = [f'atoms/species_{i}' for i in range(f['atoms/number_of_species'][0])]
        names = [text(f[s + '/name']) for s in species]
        ids = f['atoms/species_ids'][()]
        with open(f'{folder}/particles.xml', 'w') as out:
            out.write(f'<qmcsystem>\n<particleset name="ion0" size="{len(ids)}">\n')
            for s, name in zip(species, names):
                out.write(f'<group name="{name}"><parameter name="charge">{f[s + "/charge"][0]}</parameter></group>\n')
            out.write('<attrib name="position" datatype="posArray">\n')
            for r in f['atoms/positions'][()]:
                out.write(' '.join(f'{x:.17g}' for x in r) + '\n')
            out.write('</attrib>\n<attrib name="ionid" datatype="stringArray">' + ' '.join(names[i] for i in ids))
            out.write('</attrib>\n</particleset>\n</qmcsystem>\n')
        with open(f'{folder}/wave.xml', 'w') as out:
            out.write('<wavefunction name="psi0">\n<sposet_collection type="MolecularOrbital" source="ion0"><basisset>\n')
            for i in range(f['basisset/NbElements'][0]):
                basis = f[f'basisset/atomicBasisSet{i}']
                keys = ('elementType', 'angular', 'expandYlm', 'normalized')
                out.write('<atomicBasisSet' + attributes(**{k: text(basis[k]) for k in keys}) + '>\n')
                for g in range(basis['NbBasisGroups'][0]):
                    group = basis[f'basisGroup{g}']
                    out.write(f'<basisGroup l="{group["l"][0]}" type="{text(group["type"])}">\n')
                    for k in range(group['NbRadFunc'][0]):
                        p = group[f'radfunctions/DataRad{k}']
                        out.write(f'<radfunc exponent="{p["exponent"][0]:.17g}" contraction="{p["contraction"][0]:.17g}"/>\n')
                    out.write('</basisGroup>\n')
                out.write('</atomicBasisSet>\n')
            out.write(f'</basisset>\n<sposet name="both"><coefficient size="{len(c)}">\n')
            out.write('\n'.join(' '.join(f'{x:.17g}' for x in row) for row in c))
            out.write('</coefficient></sposet></sposet_collection>\n<determinantset><slaterdeterminant>'
                      '<determinant sposet="both"/><determinant sposet="both"/></slaterdeterminant></determinantset>\n'
                      '</wavefunction>\n')
    with open(f'{folder}/input.xml', 'w') as out:
        out.write('<?xml version="1.0"?>\n<simulation>\n<include href="particles.xml"/>\n<include href="wave.xml"/>\n'
                  '</simulation>\n')
    return f'{folder}/input.xml'


program, folder = sys.argv[1:3]
cases = [('shells.h5', 64, 60), ('shells.trexio.h5', 64, 60), ('cartesian.h5', 98, 60),
         ('cartesian.trexio.h5', 98, 60), ('water.h5', 43, 60),
         ('water.trexio.h5', 43, 60), ('gamma.h5', 2, 9), ('twist.h5', 2, 9)]
scratch = tempfile.mkdtemp()
failed = False


def check(name, path, original, orbitals, points):
    """The orbitals that the program finds in `path` against those of the file `original`."""
    command = [program, 'print', path, str(orbitals), str(points), 'cusp = no\ntolerance = 1e-16']
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split('\n')
    table = np.array([[float(x) for x in line.split()] for line in lines if line]).reshape(points, orbitals, 13)
    found = (table[:, :, 3::2] + 1j * table[:, :, 4::2]).transpose(1, 2, 0)
    expected = evaluate(original, table[:, 0, :3], orbitals)
    off = [abs(found[:, c] - expected[:, c]).max() / abs(expected[:, c]).max() for c in range(5)]
    print(f'{name}: {orbitals} orbitals at {points} points, value {off[0]:.1e}, gradient {max(off[1:4]):.1e}, '
          f'Laplacian {off[4]:.1e}')
    return max(off) < LIMIT


for name, orbitals, points in cases:
    failed |= not check(name, f'{folder}/{name}', f'{folder}/{name}', orbitals, points)
for name, orbitals, convention in [('shells.h5', 64, dict(expansion='natural')), ('shells.h5', 64, dict(expansion='gaussian')),
                                   ('shells.h5', 64, dict(normalized=True)), ('cartesian.h5', 98, dict(writer='GAMESS'))]:
    path = f'{scratch}/{name}'
    derive(f'{folder}/{name}', path, **convention)
    failed |= not check(f'{name} {convention}', path, f'{folder}/{name}', orbitals, 30)
    if 'natural' not in convention.values():
        failed |= not check(f'{name} {convention}, XML', markup(path, scratch), f'{folder}/{name}', orbitals, 30)
shutil.rmtree(scratch)
sys.exit(failed)
