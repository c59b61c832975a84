/* read_qmcpack.c: the HDF5 files of QMCPACK's orbitals of Gaussian functions, as convert4qmc and PyscfToQmcpack.py write
 * them. Conventions are those by which QMCPACK reads them (src/QMCWaveFunctions/LCAO: AOBasisBuilder, LCAOrbitalBuilder;
 * src/Numerics: GaussianBasisSet.h, SoaSphericalTensor.h, SoaCartesianTensor.h; version 4):
 *
 * - functions come atom by atom, those of an atom in the order of the groups of its element;
 * - normalized = no: contraction coefficients are those of primitives with a norm, r^l exp(-a r^2) over r^2 dr;
 * - angular = spherical: Y_lm real, positive, with a norm. expandYlm = pyscf: m = -l ... l, but x, y, z for l = 1;
 *   gaussian: 0, 1, -1, 2, -2 ..., but x, y, z; natural: m = -l ... l for all;
 * - angular = cartesian: each function has a norm of its own, in the order of GAMESS (xx, yy, zz, xy, xz, yz ...);
 * - Super_Twist/Coord is k in 1/bohr: orbitals are sums over lattice vectors T of exp(i k T) times functions at R + T.
 *
 * PyscfToQmcpack.py writes coefficients of PySCF's cartesian functions as they are. These have no norm of their own: from
 * l = 2 on they are x^a y^b z^c times the radial function with a norm, which is taken here if the file is by PySCF. */
#include "qmcpack_basis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Atoms ---------------------------------------------------------------------------------- */

static int read_element(const molecule *m, int32_t i, basis_element *e)
{
    const hdf5_file *f = &m->file;
    char path[LONGEST_HDF5_PATH];
    snprintf(path, sizeof path, "/atoms/species_%d/name", i);
    int code = hdf5_text(f, path, e->name, sizeof e->name);
    snprintf(path, sizeof path, "/atoms/species_%d/atomic_number", i);
    if (!code) code = hdf5_count(f, path, 1, 118, &e->atomic_number);
    snprintf(path, sizeof path, "/atoms/species_%d/charge", i);
    return code ? code : hdf5_number(f, path, &e->charge);
}

static int read_atoms(molecule *m, basis_element **elements, int32_t *count, int32_t **element_of)
{
    const hdf5_file *f = &m->file;
    int code = hdf5_count(f, "/atoms/number_of_atoms", 1, MOST_NUCLEI, &m->nuclei);
    if (!code) code = hdf5_count(f, "/atoms/number_of_species", 1, m->nuclei, count);
    if (code) return code;
    const size_t n = (size_t)m->nuclei;
    m->atomic_number = molecule_take(m, n, sizeof *m->atomic_number);
    m->charge = molecule_take(m, n, sizeof *m->charge);
    m->position = molecule_take(m, n, sizeof *m->position);
    *element_of = molecule_take(m, n, sizeof **element_of);
    *elements = molecule_take(m, (size_t)*count, sizeof **elements);
    if (!m->atomic_number || !m->charge || !m->position || !*element_of || !*elements)
        return PLUGMC_ERROR_MEMORY;
    code = hdf5_reals(f, "/atoms/positions", 3 * (int64_t)m->nuclei, m->position[0]);
    if (!code) code = hdf5_integers(f, "/atoms/species_ids", m->nuclei, *element_of);
    for (int32_t i = 0; i < *count && !code; i++) code = read_element(m, i, *elements + i);
    for (int32_t i = 0; i < m->nuclei && !code; i++) {
        const int32_t e = (*element_of)[i];
        if (e < 0 || e >= *count)
            return hdf5_damaged(f, "/atoms/species_ids: atom %d is of species %d, but there are %d",
                                i + 1, e, *count);
        m->atomic_number[i] = (*elements)[e].atomic_number;
        m->charge[i] = (*elements)[e].charge;
    }
    return code;
}

/* ---- Shells --------------------------------------------------------------------------------- */

/* Shell number s of the basis number i. */
static int read_shell(const molecule *m, const basis_element *e, int32_t i, int32_t s,
                      basis_shells *list)
{
    const hdf5_file *f = &m->file;
    char group[72], path[LONGEST_HDF5_PATH], type[BASIS_NAME];
    int32_t l = 0, primitives = 0;
    int code = basis_grow(m, list);
    if (code) return code;
    gaussian_shell *shell = &list->shell[list->count];
    snprintf(group, sizeof group, "/basisset/atomicBasisSet%d/basisGroup%d", i, s);
    snprintf(path, sizeof path, "%s/type", group);
    code = hdf5_text(f, path, type, sizeof type);
    if (!code && strcmp(type, "Gaussian") && strcmp(type, "GTO"))
        code = hdf5_damaged(f, "%s: it is %.20s; only Gaussian functions are read", path, type);
    snprintf(path, sizeof path, "%s/l", group);
    if (!code) code = hdf5_count(f, path, 0, MOST_L, &l);
    snprintf(path, sizeof path, "%s/NbRadFunc", group);
    if (!code) code = hdf5_count(f, path, 1, 1000, &primitives);
    *shell = (gaussian_shell){0, l, e->cartesian, list->primitives, primitives, 0};
    for (int32_t k = 0; k < primitives && !code; k++) {
        code = basis_grow(m, list);
        if (code) return code;
        double *p = list->primitive[list->primitives++];
        snprintf(path, sizeof path, "%s/radfunctions/DataRad%d/exponent", group, k);
        code = hdf5_reals(f, path, 1, &p[0]);
        snprintf(path, sizeof path, "%s/radfunctions/DataRad%d/contraction", group, k);
        if (!code) code = hdf5_reals(f, path, 1, &p[1]);
        if (!code && !e->has_norm && p[0] > 0) p[1] *= radial_norm(l, p[0]);
    }
    list->count++;
    return code;
}

/* The shells of group number i, for the element that it names. */
static int read_basis(const molecule *m, int32_t i, basis_element *elements, int32_t count,
                      basis_shells *list)
{
    const hdf5_file *f = &m->file;
    char group[64], path[LONGEST_HDF5_PATH], name[BASIS_NAME], angular[BASIS_NAME] = "",
                                                               norm[BASIS_NAME] = "";
    int32_t shells = 0, which = 0;
    snprintf(group, sizeof group, "/basisset/atomicBasisSet%d", i);
    snprintf(path, sizeof path, "%s/elementType", group);
    int code = hdf5_text(f, path, name, sizeof name);
    while (which < count && strcmp(elements[which].name, name)) which++;
    if (!code && (which == count || elements[which].shells))
        return hdf5_damaged(f, "%s: %s '%.20s'", path,
                            which == count ? "no atom is named" : "there is already a basis of",
                            name);
    basis_element *e = &elements[which];
    snprintf(path, sizeof path, "%s/angular", group);
    if (!code) code = hdf5_text(f, path, angular, sizeof angular);
    snprintf(path, sizeof path, "%s/expandYlm", group);
    if (!code) code = hdf5_text(f, path, e->expansion, sizeof e->expansion);
    snprintf(path, sizeof path, "%s/normalized", group);
    if (!code) code = hdf5_text(f, path, norm, sizeof norm);
    if (!code && hdf5_exists(f, "/Super_Twist/spinor_0"))
        snprintf(e->expansion, sizeof e->expansion, "Dirac");
    if (!code) code = basis_check_expansion(m, group, angular, e);
    snprintf(path, sizeof path, "%s/NbBasisGroups", group);
    if (!code) code = hdf5_count(f, path, 1, 10000, &shells);
    if (code) return code;
    e->has_norm = !strcmp(norm, "yes");
    e->first = list->count;
    e->shells = shells;
    for (int32_t s = 0; s < shells && !code; s++) code = read_shell(m, e, i, s, list);
    return code;
}

static int read_shells(molecule *m)
{
    basis_element *elements = NULL;
    int32_t count = 0, groups = 0, *element_of = NULL;
    basis_shells list = {0};
    int code = read_atoms(m, &elements, &count, &element_of);
    if (!code) code = hdf5_count(&m->file, "/basisset/NbElements", 1, count, &groups);
    for (int32_t i = 0; i < groups && !code; i++) code = read_basis(m, i, elements, count, &list);
    for (int32_t i = 0; i < count && !code; i++)
        if (!elements[i].shells)
            code =
                hdf5_damaged(&m->file, "/basisset: there is no basis of '%.20s'", elements[i].name);
    if (!code) code = basis_copy_shells(m, elements, element_of, &list);
    free(list.shell);
    free(list.primitive);
    return code;
}

/* ---- Orbitals ------------------------------------------------------------------------------- */

/* Where the coefficients are: files by old converters name it otherwise. */
static const char *group_of_orbitals(const molecule *m)
{
    return hdf5_exists(&m->file, "/Super_Twist/eigenset_0") ? "/Super_Twist" : "/KPTS_0";
}

/* `name`: eigenset, or eigenset_unsorted. */
static int read_spin(molecule *m, const char *name, int s, bool is_complex)
{
    const hdf5_file *f = &m->file;
    const char *group = group_of_orbitals(m);
    molecule_spin *spin = &m->spin[s];
    char path[LONGEST_HDF5_PATH];
    int64_t extents[2];
    snprintf(path, sizeof path, "%s/%s_%d", group, name, s);
    int code = hdf5_extents(f, path, extents);
    if (!code && (extents[1] != m->functions || extents[0] < 1 || extents[0] > 2 * extents[1]))
        code =
            hdf5_damaged(f, "%s: it is of %lld orbitals of %lld functions, but the atoms have %d",
                         path, (long long)extents[0], (long long)extents[1], m->functions);
    if (code) return code;
    spin->orbitals = (int32_t)extents[0];
    code = molecule_coefficients(m, path, spin->orbitals, NULL, &spin->real);
    snprintf(path, sizeof path, "%s/%s_%d_imag", group, name, s);
    if (!code && is_complex)
        code = molecule_coefficients(m, path, spin->orbitals, NULL, &spin->imaginary);
    snprintf(path, sizeof path, "%s/eigenval_%d", group, s);
    if (code || !hdf5_exists(f, path)) return code;
    spin->energy = molecule_take(m, (size_t)spin->orbitals, sizeof *spin->energy);
    return spin->energy ? hdf5_reals(f, path, spin->orbitals, spin->energy) : PLUGMC_ERROR_MEMORY;
}

static int read_spins(molecule *m, const char *name, bool is_complex)
{
    char path[LONGEST_HDF5_PATH];
    int code = read_spin(m, name, 0, is_complex);
    snprintf(path, sizeof path, "%s/%s_1", group_of_orbitals(m), name);
    m->unrestricted = hdf5_exists(&m->file, path);
    if (!code && m->unrestricted) return read_spin(m, name, 1, is_complex);
    m->spin[1] = m->spin[0];
    return code;
}

/* Solids may have orbitals in two orders, by eigenvalue and as lists of determinants count them. */
static int read_orbitals(molecule *m)
{
    char path[LONGEST_HDF5_PATH];
    bool is_complex = false;
    int code = PLUGMC_OK;
    if (hdf5_exists(&m->file, "/parameters/IsComplex"))
        code = hdf5_flag(&m->file, "/parameters/IsComplex", &is_complex);
    snprintf(path, sizeof path, "%s/eigenset_unsorted_0", group_of_orbitals(m));
    const bool both = hdf5_exists(&m->file, path);
    if (both && m->order != ORDER_OF_ENERGY && !code)
        code = read_spins(m, "eigenset_unsorted", is_complex);
    if (both && m->order == ORDER_OF_LISTS) return code;
    return code ? code : read_spins(m, "eigenset", is_complex);
}

static int read_cell(molecule *m)
{
    const hdf5_file *f = &m->file;
    double k[3] = {0};
    int code = PLUGMC_OK;
    if (hdf5_exists(f, "/PBC/PBC")) code = hdf5_flag(f, "/PBC/PBC", &m->periodic);
    if (code || !m->periodic) return code;
    code = hdf5_reals(f, "/Cell/LatticeVectors", 9, m->lattice[0]);
    if (!code && hdf5_exists(f, "/Super_Twist/Coord"))
        code = hdf5_reals(f, "/Super_Twist/Coord", 3, k);
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) m->turns[d] += k[e] * m->lattice[d][e] / (2 * M_PI);
    return code;
}

int read_qmcpack(molecule *m)
{
    const hdf5_file *f = &m->file;
    int code = PLUGMC_OK;
    m->format = "QMCPACK";
    if (hdf5_exists(f, "/application/code"))
        code = hdf5_text(f, "/application/code", m->writer, sizeof m->writer);
    if (!code) code = read_cell(m);
    if (!code) code = read_shells(m);
    if (!code) code = read_orbitals(m);
    if (!code && hdf5_exists(f, "/parameters/NbAlpha") && hdf5_exists(f, "/parameters/NbBeta")) {
        code = hdf5_count(f, "/parameters/NbAlpha", 0, MOST_ELECTRONS, &m->electrons[0]);
        if (!code) code = hdf5_count(f, "/parameters/NbBeta", 0, MOST_ELECTRONS, &m->electrons[1]);
    }
    return code;
}
