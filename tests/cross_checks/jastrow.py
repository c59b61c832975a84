#!/usr/bin/env python3
"""tests/cross_checks/jastrow.py jastrow.xml correlation.data: Jastrow factors that plugmc reads from other people's
files against the forms that their manuals give, worked out here from the same files: all images by themselves, B-splines
by their basis function, conditions of three-body terms by fractions. In a solid of two elements, whose orbitals (made
here, ES-HDF) tell plugmc where the ions are. Then the coefficients of a short optimisation in the file that it writes
must be those of its INI file."""
import configparser
import fractions
import itertools
import os
import subprocess
import sys
import tempfile
import warnings
import xml.etree.ElementTree as xml

import h5py
import numpy as np

import plugmc

CELL = 1.3 * np.array([[3.1, 2.9, 0.2], [0.1, 3.0, 3.2], [2.8, -0.2, 3.3]])  # primitive, bohr
TILE = [2, 1, 1]
IONS = [('Li', 3, [0.1, 0.2, 0.3]), ('H', 1, [1.6, 1.5, 1.7])]
IMAGES = np.array(list(itertools.product((-2, -1, 0, 1, 2), repeat=3)))


def write_orbitals(path):
    """Eight electrons in two cells: plane waves with some others admixed, at k = 0 and at the edge of the zone."""
    g = np.array(list(itertools.product((-1, 0, 1), repeat=3)), dtype='i4')
    random = np.random.default_rng(4)
    with h5py.File(path, 'w') as f:
        f['format'] = np.bytes_('ES-HDF')
        f['version'] = np.array([2, 1, 0], dtype='i4')
        f['supercell/primitive_vectors'] = CELL
        f['atoms/number_of_atoms'] = np.array([2], dtype='i4')
        f['atoms/number_of_species'] = np.array([2], dtype='i4')
        f['atoms/species_ids'] = np.array([0, 1], dtype='i4')
        f['atoms/positions'] = np.array([ion[2] for ion in IONS])
        for s, (name, charge, _) in enumerate(IONS):
            f[f'atoms/species_{s}/name'] = np.bytes_(name)
            f[f'atoms/species_{s}/atomic_number'] = np.array([charge], dtype='i4')
            f[f'atoms/species_{s}/valence_charge'] = np.array([charge], dtype='i4')
        f['electrons/number_of_electrons'] = np.array([2, 2], dtype='i4')
        f['electrons/number_of_spins'] = np.array([1], dtype='i4')
        f['electrons/number_of_kpoints'] = np.array([2], dtype='i4')
        f['electrons/kpoint_0/number_of_gvectors'] = np.array([len(g)], dtype='i4')
        f['electrons/kpoint_0/gvectors'] = g
        for k in range(2):
            f[f'electrons/kpoint_{k}/reduced_k'] = np.array([0.5 * k, 0, 0])
            f[f'electrons/kpoint_{k}/spin_0/number_of_states'] = np.array([2], dtype='i4')
            f[f'electrons/kpoint_{k}/spin_0/eigenvalues'] = np.array([0.1 + 0.01 * k, 0.2 + 0.01 * k])
            for band in range(2):
                c = 0.1 * random.standard_normal((len(g), 2))
                c[13 + band] += [1, 0]
                f[f'electrons/kpoint_{k}/spin_0/state_{band}/psi_g'] = c / np.sqrt((c ** 2).sum())


def simulation_cell():
    return CELL * np.array(TILE)[:, None]


def half_of_shortest():
    lengths = np.linalg.norm(IMAGES @ simulation_cell(), axis=1)
    return min(lengths[lengths > 0]) / 2


def write_ini(path, potentials, sweeps=0):
    a, b, c = simulation_cell()
    with open(path, 'w') as out:
        out.write(f"""[run]
sweeps = {sweeps or 10}
seed = 3
walkers = 8
threads = 1
device = cpu
output = {path}.h5
[box]
dimension = 3
shape = oblique
a = {' '.join(map(repr, map(float, a)))}
b = {' '.join(map(repr, map(float, b)))}
c = {' '.join(map(repr, map(float, c)))}
[species up]
count = 4
charge = -1
[species down]
count = 4
charge = -1
[initial]
state = random
[potential bspline_orbitals]
file = orbitals.h5
{potentials}
[mover particle_by_particle]
step = 0.5
[observable local_energy]
period = 2
""")


# ---- The forms ------------------------------------------------------------------------------------


def all_ions(symbol):
    places = [np.array(at) + i * CELL[0] for name, _, at in IONS if name == symbol for i in range(TILE[0])]
    return np.array(places)


def separations(a, b):
    """From b to a, [images][3]."""
    return a - b + IMAGES @ simulation_cell()


def cardinal(x):
    """The cubic B-spline with knots at the integers, centred."""
    x = abs(x)
    return np.where(x < 1, 2 / 3 - x ** 2 + x ** 3 / 2, np.where(x < 2, (2 - x) ** 3 / 6, 0))


def spline(coefficients, cutoff, cusp, r):
    n = len(coefficients)
    spacing = cutoff / (n + 1)
    knots = np.concatenate([[coefficients[1] - 2 * spacing * cusp], coefficients])
    r = np.asarray(r)
    total = sum(c * cardinal(r / spacing - (k - 1)) for k, c in enumerate(knots))
    return np.where(r < cutoff, total, 0)


def reduced(rows):
    """Reduced echelon form over the rationals; the column that leads each row."""
    rows, leads = [list(r) for r in rows], []
    for column in range(len(rows[0])):
        lead = next((r for r in range(len(leads), len(rows)) if rows[r][column]), None)
        if lead is None:
            continue
        at = len(leads)
        rows[at], rows[lead] = rows[lead], rows[at]
        rows[at] = [x / rows[at][column] for x in rows[at]]
        for r in range(len(rows)):
            if r != at and rows[r][column]:
                factor = rows[r][column]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[at])]
        leads.append(column)
    return rows, leads


def three_body_coefficients(parameters, ion_power, electron_power, length, order, c=3):
    """gamma[l][m][n] without cusps (Drummond, Towler, Needs 2004); `order` lists (l, m, n) with l >= m."""
    column = {p: k for k, p in enumerate(order)}
    exact = fractions.Fraction(length).limit_denominator(10 ** 9)
    rows = []
    for k in range(2 * ion_power + 1):
        row = [fractions.Fraction(0)] * len(order)
        for l, m in itertools.product(range(ion_power + 1), repeat=2):
            if l + m == k:
                row[column[max(l, m), min(l, m), 1]] += 1
        rows.append(row)
    for k in range(ion_power + electron_power + 1):
        row = [fractions.Fraction(0)] * len(order)
        for m, n in itertools.product(range(ion_power + 1), range(electron_power + 1)):
            if m + n == k:
                row[column[m, 0, n]] += c
                row[column[max(m, 1), min(m, 1), n]] -= exact
        rows.append(row)
    rows, leads = reduced(rows)
    free = [k for k in range(len(order)) if k not in leads]
    assert len(free) == len(parameters), (len(free), len(parameters))
    values = dict(zip(free, parameters))
    for row, lead in zip(rows, leads):
        values[lead] = -sum(float(row[k]) * values[k] for k in free)
    gamma = np.zeros((ion_power + 1, ion_power + 1, electron_power + 1))
    for (l, m, n), k in column.items():
        gamma[l, m, n] = gamma[m, l, n] = values[k]
    return gamma


def three_body(gamma, length, a, b, ion):
    """All images of two electrons near one ion."""
    total = 0
    near = [[d for d in separations(r, ion) if np.linalg.norm(d) < length] for r in (a, b)]
    for da in near[0]:
        for db in near[1]:
            x, y, z = np.linalg.norm(da), np.linalg.norm(db), np.linalg.norm(da - db)
            powers = [x ** np.arange(gamma.shape[0]), y ** np.arange(gamma.shape[1]), z ** np.arange(gamma.shape[2])]
            total += np.einsum('lmn,l,m,n', gamma, *powers) * (x - length) ** 3 * (y - length) ** 3
    return total


def pairs_of(x):
    for i, j in itertools.combinations(range(len(x)), 2):
        yield x[i], x[j], (i < 4) == (j < 4)


# ---- QMCPACK --------------------------------------------------------------------------------------


def numbers(element):
    return [float(word) for word in (element.find('coefficients').text or '').split()]


def by_m_l_n(ion_power, electron_power):
    return [(l, m, n) for m in range(ion_power + 1) for l in range(m, ion_power + 1) for n in range(electron_power + 1)]


def qmcpack(path, x, radius):
    """J of Psi = D exp(-J): one-body and two-body terms, and the three-body term."""
    splines = three = 0
    symbol = {'proton': 'H'}
    root = xml.parse(path).getroot()
    for jastrow in root.iter('jastrow'):
        for c in jastrow.iter('correlation'):
            values, get = numbers(c), c.get
            cutoff = float(get('rcut') or get('cutoff') or radius)
            if jastrow.get('type') == 'Two-Body':
                like = get('speciesA') == get('speciesB')
                cusp = float(get('cusp') or (-0.25 if like else -0.5))
                splines += sum(spline(values, cutoff, cusp, np.linalg.norm(separations(a, b), axis=1)).sum()
                               for a, b, same in pairs_of(x) if same == like)
            elif jastrow.get('type') == 'One-Body':
                name = get('elementType')
                splines += sum(spline(values, cutoff, float(get('cusp') or 0),
                                      np.linalg.norm(separations(r, ion), axis=1)).sum()
                               for r in x for ion in all_ions(symbol.get(name, name)))
            else:
                name, like = get('ispecies'), get('especies1', 'u') == get('especies2', 'u')
                alone = sum(other.get('ispecies') == name for other in jastrow.iter('correlation')) == 1
                powers = int(get('isize')), int(get('esize'))
                gamma = three_body_coefficients(values, *powers, cutoff / 2, by_m_l_n(*powers))
                three += sum(three_body(gamma, cutoff / 2, a, b, ion) for a, b, same in pairs_of(x)
                             for ion in all_ions(symbol.get(name, name)) if same == like or alone)
    return splines, three


# ---- CASINO ---------------------------------------------------------------------------------------


def casino(path, x, sets, truncation=3):
    """J of Psi = D exp(J), of a file of spin dependences 0 and 1. `sets`: the ions of each set."""
    lines = [line.strip() for line in open(path)]
    total, term, state = 0, '', {}
    for k, line in enumerate(lines):
        if line.startswith('START ') and line.endswith(' TERM'):
            term = line.split()[1]
        elif line.startswith('START SET'):
            state = {'set': int(line.split()[2])}
        elif line.startswith(('Expansion order', 'Electron-nucleus exp')):
            state['order'] = int(lines[k + 1])
        elif line.startswith('Electron-electron exp'):
            state['second'] = int(lines[k + 1])
        elif line.startswith('Spin dep'):
            state['spins'] = int(lines[k + 1]) + 1
        elif line.startswith('Cutoff'):
            state['cutoff'] = float(lines[k + 1].split()[0])
        elif line.startswith('Parameter values'):
            end = next(i for i in range(k, len(lines)) if lines[i].startswith('END SET'))
            values = np.array([float(v.split()[0]) for v in lines[k + 1:end]])
            if len(values):
                total += casino_set(term, state, values.reshape(state['spins'], -1), x, sets, truncation)
    return total


def casino_set(term, state, values, x, sets, c):
    length, total = state['cutoff'], 0

    def radial(a, slope, r):
        full = np.insert(a, 1, (slope / (-length) ** c + a[0] * c / length))
        return np.where(r < length, (r - length) ** c * np.polynomial.polynomial.polyval(r, full), 0)

    if term == 'CHI':
        slope = -1 if state['set'] == 2 else 0  # of H, to whose set the file gives the cusp
        return sum(radial(values[0], slope, np.linalg.norm(separations(r, ion), axis=1)).sum()
                   for r in x for ion in sets[state['set']])
    for a, b, same in pairs_of(x):
        own = values[0 if same or state['spins'] == 1 else 1]
        if term == 'U':
            total += radial(own, 0.25 if same else 0.5, np.linalg.norm(separations(a, b), axis=1)).sum()
            continue
        powers = state['order'], state['second']
        order = [(l, m, n) for n in range(powers[1] + 1) for m in range(powers[0] + 1)
                 for l in range(m, powers[0] + 1)]
        gamma = three_body_coefficients(own, *powers, length, order, c)
        total += sum(three_body(gamma, length, a, b, ion) for ion in sets[state['set']])
    return total


# ---- What plugmc finds ----------------------------------------------------------------------------


def compare(what, found, expected, tolerance=1e-10):
    worst = np.abs(np.array(found) - np.array(expected)).max() / max(1, np.abs(expected).max())
    print(f'{what}: {len(found)} walkers, largest {np.abs(expected).max():.4f}, differs by {worst:.1e}')
    assert np.abs(expected).max() > 0.05 and worst < tolerance, (found, expected)


def near_ions(walkers):
    """Electrons so near the ions that there are two at many: [walkers][8][3], in the cell."""
    random = np.random.default_rng(6)
    ions = np.concatenate([all_ions('Li'), all_ions('H')])
    places = ions[random.integers(len(ions), size=(walkers, 8))] + random.uniform(-0.7, 0.7, (walkers, 8, 3))
    fractions_of_cell = places @ np.linalg.inv(simulation_cell())
    return (fractions_of_cell % 1) @ simulation_cell()


def energies_of(ini):
    with plugmc.Engine(ini) as engine:
        engine.set('positions', near_ions(len(engine.positions)))
        return np.array(engine.positions), engine.energies()


def check_qmcpack(path):
    write_ini('qmcpack.ini', '[potential jastrow]\nfile = jastrow.xml\n'
              '[potential polynomial_jastrow]\nfile = jastrow.xml\n')
    x, found = energies_of('qmcpack.ini')
    expected = np.array([qmcpack(path, walker, half_of_shortest()) for walker in x])
    compare("QMCPACK's one-body and two-body terms", found['jastrow'], 2 * expected[:, 0])
    compare("QMCPACK's three-body term", found['polynomial_jastrow'], 2 * expected[:, 1])


def check_casino(path):
    write_ini('casino.ini', '[potential polynomial_jastrow]\nfile = correlation.data\n')
    x, found = energies_of('casino.ini')
    sets = {1: all_ions('Li'), 2: all_ions('H')}
    compare("CASINO's u, chi and f", found['polynomial_jastrow'], -2 * np.array([casino(path, w, sets) for w in x]))


def check_optimised(program, source, potentials):
    """Files with the coefficients of an optimisation, against those in the INI file, through plugmc itself."""
    write_ini('start.ini', potentials)
    subprocess.run([program, 'optimise', 'start.ini', '--samples', '2000', '--loops', '1'], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    written = f'start.optimised.{source}'
    assert open(written).read() != open(source).read()
    write_ini('again.ini', potentials.replace(source, written))
    _, by_ini = energies_of('start.optimised.ini')
    _, by_file = energies_of('again.ini')
    for term in by_ini:
        if 'jastrow' in term:
            compare(f'{written}, {term}', by_file[term], by_ini[term], 1e-9)
    for name in os.listdir('.'):
        if name.startswith('start.'):
            os.remove(name)


def main():
    program = os.environ['PLUGMC']
    warnings.simplefilter('ignore')  # of cusps that this wave function lacks
    files = [os.path.abspath(path) for path in sys.argv[1:3]]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for path in files:
            with open(path) as source, open(os.path.basename(path), 'w') as out:
                text = source.read()
                out.write(text.replace('2 1\n', '2 2\n'))  # atoms of the primitive cell
        write_orbitals('orbitals.h5')
        check_qmcpack('jastrow.xml')
        check_casino('correlation.data')
        check_optimised(program, 'jastrow.xml', '[potential jastrow]\nfile = jastrow.xml\n'
                        '[potential polynomial_jastrow]\nfile = jastrow.xml\n')
        check_optimised(program, 'correlation.data', '[potential polynomial_jastrow]\nfile = correlation.data\n')
        os.chdir('/')


main()
