#!/usr/bin/env python3
"""Energies of a determinant of plane-wave orbitals, exactly, and what a run of plugmc found.

    python3 determinant.py ORBITALS.h5 PSEUDOPOTENTIAL.xml [--grid N]... [--run FILE.h5]

The expectation values of one determinant of orthonormal orbitals a, with n of either spin, in one
primitive cell (volume V, one k point; Hartree, bohr) are sums over plane waves q = k + G:

    kinetic            sum_a sum_G |c_aG|^2 q^2
    local              V sum_G rho_G^* sum_I exp(-i G.R_I) v_I(G)
    nonlocal           2 sum_a sum_I sum_l sum_m int r^2 (v_l(r) - v_local(r)) |f_lm(r)|^2 dr,
                       f_lm(r) = 4 pi i^l sum_G c_aG exp(i q.R_I) j_l(q r) Y_lm(q) / sqrt(V)
    electron_electron  2 pi V sum_{G != 0} |rho_G|^2 / G^2
                       - 4 pi V sum_ab sum_{G != 0} |rho_ab,G|^2 / G^2 + n xi
    ion_ion            an Ewald sum

with rho_ab,G the Fourier coefficient of psi_a^* psi_b, rho_G = 2 sum_a rho_aa,G, and xi the Madelung
term of the cell: a charge feels its own images. The potential of an ion is v(G) = -4 pi Z / (V G^2)
for G != 0 and, for all G, 4 pi / V int (r v_local(r) + Z) r j_0(G r) dr: the average over the cell of
-Z/r, its images and the background is 0, that of the rest is not. This is what docs/vmc-sampling.md
says of local_energy; nothing here uses its code.

With --grid the same for the orbitals as cubic B-splines on a grid of N points along each edge
(docs/vmc.md), which are what a run samples. theta has the Fourier transform 1.5 (sin(k/2) / (k/2))^4,
so a wave g also gets the waves g + N i, with the amplitude (g / (g + N i))^4 in each direction. The
splines are not quite orthonormal, which the determinant does not feel: they are made so.

With --run the means of [observable local_energy] in a run's output are compared with the column of
the last --grid, or of plane waves if there is none. The status is 1 if a |z| is above --limit, or an
error above --largest-error, and 77 if numpy or h5py is missing.
"""
import argparse
import itertools
import math
import sys
import xml.etree.ElementTree

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

COMPONENTS = ("kinetic", "local", "nonlocal", "electron_electron", "ion_ion")
ALIASES = (-1, 0, 1)  # the next ones add a hundredth of what these add to the energy
ION_ION_DIGITS = 1e-6  # Hartree; the same in all samples of a run


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("orbitals")
    parser.add_argument("pseudopotential")
    parser.add_argument("--grid", type=int, action="append", default=[])
    parser.add_argument("--run")
    parser.add_argument("--limit", type=float, default=3)
    parser.add_argument("--largest-error", type=float, default=math.inf)
    arguments = parser.parse_args()
    crystal = Crystal(arguments.orbitals)
    ion = Pseudopotential(arguments.pseudopotential, crystal)
    columns = {"plane waves": energies(crystal, ion, crystal.waves, crystal.coefficients)}
    for points in arguments.grid:
        columns[f"B-splines, {points}^3"] = energies(crystal, ion, *splines(crystal, points))
    show(columns)
    if arguments.run and not agrees(arguments, list(columns.values())):
        sys.exit(1)


# ---- Energies ------------------------------------------------------------------------------------


def energies(crystal, ion, waves, coefficients):
    """Expectation values by name; waves [G][3] integers, coefficients [a][G]."""
    a = orthonormal(coefficients)
    q = (waves + crystal.k) @ crystal.reciprocal
    mesh = Mesh(crystal, waves)
    found = {
        "kinetic": (abs(a) ** 2 @ (q**2).sum(axis=1)).sum(),
        "local": local_energy(crystal, ion, mesh, a),
        "nonlocal": nonlocal_energy(crystal, ion, q, a),
        "electron_electron": electron_electron(crystal, mesh, a),
        "ion_ion": ion_ion(crystal),
    }
    return {"energy": sum(found.values()), **found}


def orthonormal(coefficients):
    """The same space of functions: D is the same up to a factor."""
    lower = np.linalg.cholesky(coefficients.conj() @ coefficients.T)
    return np.linalg.solve(lower.conj(), coefficients)


def local_energy(crystal, ion, mesh, a):
    density = sum(2 * mesh.product(one, one) for one in a)
    structure = sum(np.exp(-1j * (mesh.waves @ crystal.reciprocal @ r)) for r in crystal.positions)
    shells, which = mesh.shells
    weight = np.bincount(which, (density.conj() * structure).real, len(shells))
    return crystal.volume * weight @ ion.local(shells)


def nonlocal_energy(crystal, ion, q, a):
    shells, which = shells_of(q)
    direction = q / np.maximum(np.sqrt((q**2).sum(axis=1)), 1e-12)[:, None]
    sum_of_all = 0.0
    for l, r, r2_v in ion.channels:
        bessel = spherical_bessel(l, np.multiply.outer(shells, r))
        for orbital, position, harmonic in itertools.product(a, crystal.positions, HARMONICS[l]):
            term = orbital * np.exp(1j * (q @ position)) * harmonic(direction)
            by_shell = (np.bincount(which, term.real, len(shells)) +
                        1j * np.bincount(which, term.imag, len(shells)))
            f = 4 * np.pi / np.sqrt(crystal.volume) * (by_shell @ bessel)
            sum_of_all += 2 * simpson(r, r2_v * abs(f) ** 2)
    return sum_of_all


def electron_electron(crystal, mesh, a):
    shells, which = mesh.shells
    kernel = np.where(shells > 0, 4 * np.pi / np.maximum(shells, 1e-12) ** 2, 0)[which]
    density, exchange = 0, 0.0
    for i, j in itertools.combinations_with_replacement(range(len(a)), 2):
        pair = mesh.product(a[i], a[j])
        exchange += (1 if i == j else 2) * crystal.volume * (kernel @ abs(pair) ** 2)
        density = density + (2 * pair if i == j else 0)
    hartree = 0.5 * crystal.volume * (kernel @ abs(density) ** 2)
    return hartree - exchange + len(a) * madelung_term(crystal)


def ion_ion(crystal):
    pairs = sum(periodic_coulomb(crystal, r - s)
                for r, s in itertools.combinations(crystal.positions, 2))
    own = len(crystal.positions) * madelung_term(crystal) / 2
    return crystal.valence**2 * (pairs + own)


# ---- Ewald sums ----------------------------------------------------------------------------------


def periodic_coulomb(crystal, r, itself=False):
    """A unit charge at r, its images and a background that makes the average 0; without the charge
    itself at r = 0."""
    kappa = math.sqrt(math.pi) / crystal.volume ** (1 / 3)
    index = np.array([i for i in itertools.product(range(-6, 7), repeat=3)])
    apart = np.sqrt(((r + index @ crystal.lattice) ** 2).sum(axis=1))
    apart = apart[apart > 1e-9] if itself else apart
    near = sum(math.erfc(kappa * d) / d for d in apart)
    g = index[(index != 0).any(axis=1)] @ crystal.reciprocal
    square = (g**2).sum(axis=1)
    far = (4 * np.pi / crystal.volume * np.exp(-square / (4 * kappa**2)) / square *
           np.cos(g @ r)).sum()
    return near + far - np.pi / (kappa**2 * crystal.volume)


def madelung_term(crystal):
    """xi = lim (v(r) - 1/r). The sum over G has 2 kappa / sqrt(pi) of the charge itself."""
    kappa = math.sqrt(math.pi) / crystal.volume ** (1 / 3)
    return periodic_coulomb(crystal, np.zeros(3), itself=True) - 2 * kappa / math.sqrt(math.pi)


# ---- Functions -----------------------------------------------------------------------------------


def simpson(x, y):
    """The integral over an even number of equal steps; y [..., x]."""
    weight = np.full(len(x), 2.0)
    weight[1::2] = 4
    weight[[0, -1]] = 1
    return y @ weight * (x[1] - x[0]) / 3


def spherical_bessel(l, x):
    y = np.maximum(x, 1e-4)
    if l == 0:
        return np.sin(y) / y
    return np.where(x < 1e-4, x / 3, np.sin(y) / y**2 - np.cos(y) / y)


# Y_lm [l][m] of unit vectors [...][3], real ones
HARMONICS = (
    (lambda u: np.full(len(u), np.sqrt(1 / (4 * np.pi))),),
    tuple(lambda u, d=d: np.sqrt(3 / (4 * np.pi)) * u[:, d] for d in range(3)),
)


def shells_of(q):
    """Different lengths [s], and for each vector which of them it has."""
    length = np.sqrt((q**2).sum(axis=1))
    _, first, which = np.unique(np.round(length, 8), return_index=True, return_inverse=True)
    return length[first], which.ravel()


class Mesh:
    """Products of orbitals by Fourier transforms, without wrapping for those of the file."""

    def __init__(self, crystal, waves):
        self.crystal, self.orbital_waves = crystal, waves
        # products have twice the range of the file's waves; those of aliases wrap, and are small
        self.points = max(2 * int(abs(waves).max()), 4 * int(abs(crystal.waves).max())) + 1
        while not is_smooth(self.points):
            self.points += 1
        g = np.fft.fftfreq(self.points, 1 / self.points).round().astype(int)
        self.waves = np.stack(np.meshgrid(g, g, g, indexing="ij"), axis=-1).reshape(-1, 3)
        self.shells = shells_of(self.waves @ crystal.reciprocal)

    def values(self, orbital):
        box = np.zeros((self.points,) * 3, complex)
        box[tuple(self.orbital_waves.T)] = orbital
        return np.fft.ifftn(box, norm="forward")

    def product(self, a, b):
        """Fourier coefficients of psi_a^* psi_b, [waves]."""
        both = self.values(a).conj() * self.values(b) / self.crystal.volume
        return np.fft.fftn(both, norm="forward").ravel()


def is_smooth(n):
    for p in (2, 3, 5):
        while n % p == 0:
            n //= p
    return n == 1


def splines(crystal, points):
    """Waves and coefficients of the B-splines on a grid."""
    extent = int(abs(crystal.waves).max())
    if points <= 2 * extent:
        sys.exit(f"a grid of {points} points cannot hold waves up to {extent}")
    waves, coefficients = [], []
    for alias in itertools.product(ALIASES, repeat=3):
        there = crystal.waves + points * np.array(alias)
        # where the alias is the wave itself the factor is 1, for g = 0 too
        factor = np.where(np.array(alias) == 0, 1, crystal.waves / np.where(there == 0, 1, there))
        factor = (factor**4).prod(axis=1)
        waves.append(there[factor > 0])
        coefficients.append((crystal.coefficients * factor)[:, factor > 0])
    return np.concatenate(waves), np.concatenate(coefficients, axis=1)


# ---- Files ---------------------------------------------------------------------------------------


class Crystal:
    """lattice, reciprocal [3][3] as rows, k [3] in reciprocal vectors, positions [ion][3], valence,
    waves [G][3] integers, coefficients [a][G] of the lowest orbitals."""

    def __init__(self, path):
        with h5py.File(path) as file:
            self.lattice = file["supercell/primitive_vectors"][:]
            self.positions = file["atoms/positions"][:]
            species = file["atoms/number_of_species"][0]
            self.valence = float(file["atoms/species_0/valence_charge"][0])
            up, down = file["electrons/number_of_electrons"][:]
            points = file["electrons/number_of_kpoints"][0]
            if species != 1 or points != 1 or up != down:
                sys.exit(f"{path}: expected one element, one k point and as many spins up as down")
            at = file["electrons/kpoint_0"]
            self.k = at["reduced_k"][:]
            self.waves = at["gvectors"][:].astype(int)
            order = np.argsort(at["spin_0/eigenvalues"][:], kind="stable")[:up]
            parts = [at[f"spin_0/state_{i}/psi_g"][:] for i in order]
        self.coefficients = np.array([p[:, 0] + 1j * p[:, 1] for p in parts])
        self.volume = abs(np.linalg.det(self.lattice))
        self.reciprocal = 2 * np.pi * np.linalg.inv(self.lattice).T


class Pseudopotential:
    """QMCPACK's XML with r V on one grid of equal steps from 0."""

    def __init__(self, path, crystal):
        root = xml.etree.ElementTree.parse(path).getroot()
        semilocal = root.find("semilocal")
        self.charge = float(root.find("header").get("zval"))
        if self.charge != crystal.valence:
            sys.exit(f"{path} has charge {self.charge:g}, the orbitals {crystal.valence:g}")
        if semilocal.get("units") != "hartree" or semilocal.get("format") != "r*V":
            sys.exit(f"{path}: expected r*V in hartree")
        self.volume = crystal.volume
        r_v = {}
        for vps in semilocal.iter("vps"):
            grid, data = vps.find(".//grid"), vps.find(".//data").text.split()
            if grid.get("type") != "linear" or float(grid.get("ri")) != 0:
                sys.exit(f"{path}: expected a linear grid from 0")
            self.r = np.linspace(0, float(grid.get("rf")), int(grid.get("npts")))
            r_v["spdf".index(vps.get("l"))] = np.array([float(x) for x in data])
        local = int(semilocal.get("l-local"))
        self.r_v = r_v[local]
        # [(l, r, r^2 (v_l - v_local))]
        self.channels = []
        for l in sorted(set(r_v) - {local}):
            if l >= len(HARMONICS):
                sys.exit(f"{path}: l = {l} is more than this program has")
            self.channels.append((l, *until_zero(self.r, self.r * (r_v[l] - r_v[local]))))

    def local(self, g):
        """v(G) of one ion for lengths g [s]."""
        r, y = until_zero(self.r, self.r * (self.r_v + self.charge))
        v = np.empty(len(g))
        for part in np.array_split(np.arange(len(g)), len(g) // 2000 + 1):
            v[part] = simpson(r, y * spherical_bessel(0, np.multiply.outer(g[part], r)))
        coulomb = np.where(g > 0, self.charge / np.maximum(g, 1e-12) ** 2, 0)
        return 4 * np.pi / self.volume * (v - coulomb)


def until_zero(r, y):
    """Without the tail below 1e-13, with an even number of steps."""
    n = min(len(r), int(np.flatnonzero(abs(y) > 1e-13).max()) + 3)
    n -= 1 - n % 2
    return r[:n], y[:n]


# ---- Results -------------------------------------------------------------------------------------


def show(columns):
    print(f"{'Hartree a cell':18}" + "".join(f"{name:>22}" for name in columns))
    for name in ("energy",) + COMPONENTS:
        print(f"{name:18}" + "".join(f"{column[name]:22.6f}" for column in columns.values()))


def agrees(arguments, columns):
    """Prints the means of a run and z, with respect to plane waves and to the last column."""
    good = True
    print(f"\n{arguments.run}:\n{'':18}{'found':>14}{'error':>12}{'z, plane waves':>16}{'z':>8}")
    with h5py.File(arguments.run) as file:
        for name in ("energy",) + COMPONENTS:
            attributes = file[f"plugmc/observables/local_energy/{name}"].attrs
            mean, error = float(attributes["mean"]), float(attributes["error"])
            if name == "ion_ion":
                error = ION_ION_DIGITS
            z = [(mean - column[name]) / error for column in (columns[0], columns[-1])]
            fine = abs(z[1]) <= arguments.limit and 0 < error <= arguments.largest_error
            good = good and fine
            print(f"{name:18}{mean:14.6f}{error:12.6f}{z[0]:16.2f}{z[1]:8.2f}" +
                  ("" if fine else "   FAILED"))
    return good


if __name__ == "__main__":
    main()
