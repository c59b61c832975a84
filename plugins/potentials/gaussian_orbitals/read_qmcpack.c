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
#include "molecule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 32 };

/* Of the atoms of one element. */
typedef struct element {
    char name[NAME];
    int32_t atomic_number;
    double charge;
    int32_t first, shells; /* in `list` below; shells 0: not yet read */
    int32_t cartesian, has_norm;
    char expansion[NAME];
} element;

typedef struct element_shells {
    int32_t count, room, primitives, primitive_room;
    gaussian_shell *shell;
    double (*primitive)[2];
} element_shells;

/* ---- Atoms ---------------------------------------------------------------------------------- */

static int read_element(const molecule *m, int32_t i, element *e)
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

static int read_atoms(molecule *m, element **elements, int32_t *count, int32_t **element_of)
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

static int grow(const molecule *m, element_shells *list)
{
    const int shells = list->count == list->room,
              primitives = list->primitives == list->primitive_room;
    if (list->count >= MOST_SHELLS || list->primitives >= MOST_PRIMITIVES)
        return hdf5_damaged(&m->file, "/basisset: there are too many shells");
    if (shells) {
        gaussian_shell *more =
            realloc(list->shell, (size_t)(list->room = 2 * list->room + 64) * sizeof *more);
        if (more) list->shell = more;
        if (!more) return molecule_no_memory(m, (size_t)list->room * sizeof *more);
    }
    if (primitives) {
        double(*more)[2] =
            realloc(list->primitive,
                    (size_t)(list->primitive_room = 2 * list->primitive_room + 256) * sizeof *more);
        if (more) list->primitive = more;
        if (!more) return molecule_no_memory(m, (size_t)list->primitive_room * sizeof *more);
    }
    return PLUGMC_OK;
}

/* Shell number s of the basis number i. */
static int read_shell(const molecule *m, const element *e, int32_t i, int32_t s,
                      element_shells *list)
{
    const hdf5_file *f = &m->file;
    char group[72], path[LONGEST_HDF5_PATH], type[NAME];
    int32_t l = 0, primitives = 0;
    int code = grow(m, list);
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
        code = grow(m, list);
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

static int check_expansion(const molecule *m, const char *group, const char *angular, element *e)
{
    static const char *const spherical[] = {"pyscf", "gaussian", "natural", "Gaussian"};
    if (!strcmp(e->expansion, "Dirac") || hdf5_exists(&m->file, "/Super_Twist/spinor_0"))
        return hdf5_damaged(&m->file,
                            "%s: its orbitals are spinors of a relativistic calculation, "
                            "which are not supported",
                            group);
    e->cartesian = !strcmp(angular, "cartesian") || !strcmp(e->expansion, "Gamess");
    if (e->cartesian) return PLUGMC_OK;
    for (int i = 0; i < PLUGMC_COUNT(spherical) && !strcmp(angular, "spherical"); i++)
        if (!strcmp(e->expansion, spherical[i])) return PLUGMC_OK;
    return hdf5_damaged(&m->file, "%s: angular = %.20s with expandYlm = %.20s is not known", group,
                        angular, e->expansion);
}

/* The shells of group number i, for the element that it names. */
static int read_basis(const molecule *m, int32_t i, element *elements, int32_t count,
                      element_shells *list)
{
    const hdf5_file *f = &m->file;
    char group[64], path[LONGEST_HDF5_PATH], name[NAME], angular[NAME] = "", norm[NAME] = "";
    int32_t shells = 0, which = 0;
    snprintf(group, sizeof group, "/basisset/atomicBasisSet%d", i);
    snprintf(path, sizeof path, "%s/elementType", group);
    int code = hdf5_text(f, path, name, sizeof name);
    while (which < count && strcmp(elements[which].name, name)) which++;
    if (!code && (which == count || elements[which].shells))
        return hdf5_damaged(f, "%s: %s '%.20s'", path,
                            which == count ? "no atom is named" : "there is already a basis of",
                            name);
    element *e = &elements[which];
    snprintf(path, sizeof path, "%s/angular", group);
    if (!code) code = hdf5_text(f, path, angular, sizeof angular);
    snprintf(path, sizeof path, "%s/expandYlm", group);
    if (!code) code = hdf5_text(f, path, e->expansion, sizeof e->expansion);
    snprintf(path, sizeof path, "%s/normalized", group);
    if (!code) code = hdf5_text(f, path, norm, sizeof norm);
    if (!code) code = check_expansion(m, group, angular, e);
    snprintf(path, sizeof path, "%s/NbBasisGroups", group);
    if (!code) code = hdf5_count(f, path, 1, 10000, &shells);
    if (code) return code;
    e->has_norm = !strcmp(norm, "yes");
    e->first = list->count;
    e->shells = shells;
    for (int32_t s = 0; s < shells && !code; s++) code = read_shell(m, e, i, s, list);
    return code;
}

/* ---- Functions ------------------------------------------------------------------------------ */

/* Exponents of x, y, z of function k of a cartesian shell in the order of GAMESS: those of one letter first, then by the
 * letters that occur most. */
static void gamess_powers(int32_t l, int32_t k, int32_t powers[3])
{
    static const char *const orders[MOST_L + 1] = {
        "",
        "x y z ",
        "xx yy zz xy xz yz ",
        "xxx yyy zzz xxy xxz yyx yyz zzx zzy xyz ",
        "xxxx yyyy zzzz xxxy xxxz yyyx yyyz zzzx zzzy xxyy xxzz yyzz xxyz yyxz zzxy ",
        "xxxxx yyyyy zzzzz xxxxy xxxxz yyyyx yyyyz zzzzx zzzzy xxxyy xxxzz yyyxx yyyzz zzzxx zzzyy "
        "xxxyz yyyxz zzzxy xxyyz xxzzy yyzzx "};
    powers[0] = powers[1] = powers[2] = 0;
    for (int32_t i = 0; i < l; i++) powers[orders[l][k * (l + 1) + i] - 'x']++;
}

static double odd_factorial(int32_t n) { return n < 2 ? 1 : n * odd_factorial(n - 2); }

/* What makes x^a y^b z^c with the radial function a function with a norm. */
static double cartesian_factor(int32_t l, const int32_t powers[3])
{
    double square = pow(2 / M_PI, 1.5) * pow(4, l);
    for (int d = 0; d < 3; d++) square /= odd_factorial(2 * powers[d] - 1);
    return sqrt(square) / radial_norm(l, 1);
}

static int32_t order_of(const element *e, int32_t l, int32_t k)
{
    if (l == 1 && strcmp(e->expansion, "natural")) return k == 0 ? 1 : k == 1 ? -1 : 0;
    if (strcasecmp(e->expansion, "gaussian")) return k - l;
    return k % 2 ? (k + 1) / 2 : -k / 2;
}

static void place_function(const molecule *m, const element *e, const gaussian_shell *s, int32_t k)
{
    const int32_t l = s->l, at = s->function + k;
    if (s->cartesian) {
        int32_t powers[3];
        gamess_powers(l, k, powers);
        m->function_of[at] = s->function + place_of_powers(l, powers[0], powers[1]);
        m->factor_of[at] = strcmp(m->writer, "PySCF") ? cartesian_factor(l, powers)
                           : l < 2                    ? sqrt((2 * l + 1) / (4 * M_PI))
                                                      : 1;
    } else {
        const int32_t order = order_of(e, l, k);
        m->function_of[at] = s->function + place_of_m(l, order);
        m->factor_of[at] = sqrt((2 * l + 1) / (4 * M_PI)) * racah_factor(l, order);
    }
}

/* The shells of all atoms. */
static int copy_shells(molecule *m, const element *elements, const int32_t *element_of,
                       const element_shells *list)
{
    int64_t shells = 0;
    for (int32_t i = 0; i < m->nuclei; i++) shells += elements[element_of[i]].shells;
    if (shells > MOST_SHELLS)
        return hdf5_damaged(&m->file, "the atoms have more than %d shells", MOST_SHELLS);
    m->shells = (int32_t)shells;
    m->primitives = list->primitives;
    m->shell = molecule_take(m, (size_t)shells, sizeof *m->shell);
    m->primitive = molecule_take(m, (size_t)list->primitives, sizeof *m->primitive);
    if (!m->shell || !m->primitive) return PLUGMC_ERROR_MEMORY;
    memcpy(m->primitive, list->primitive, (size_t)list->primitives * sizeof *m->primitive);
    gaussian_shell *out = m->shell;
    for (int32_t i = 0; i < m->nuclei; i++) {
        const element *e = &elements[element_of[i]];
        for (int32_t s = 0; s < e->shells; s++, out++) {
            *out = list->shell[e->first + s];
            out->nucleus = i;
        }
    }
    int code = molecule_count_functions(m);
    for (int32_t s = 0; s < m->shells && !code; s++) {
        const gaussian_shell *shell = &m->shell[s];
        for (int32_t k = 0; k < functions_of_shell(shell->l, shell->cartesian); k++)
            place_function(m, &elements[element_of[shell->nucleus]], shell, k);
    }
    return code;
}

static int read_shells(molecule *m)
{
    element *elements = NULL;
    int32_t count = 0, groups = 0, *element_of = NULL;
    element_shells list = {0};
    int code = read_atoms(m, &elements, &count, &element_of);
    if (!code) code = hdf5_count(&m->file, "/basisset/NbElements", 1, count, &groups);
    for (int32_t i = 0; i < groups && !code; i++) code = read_basis(m, i, elements, count, &list);
    for (int32_t i = 0; i < count && !code; i++)
        if (!elements[i].shells)
            code =
                hdf5_damaged(&m->file, "/basisset: there is no basis of '%.20s'", elements[i].name);
    if (!code) code = copy_shells(m, elements, element_of, &list);
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

static int read_spin(molecule *m, int s, bool is_complex)
{
    const hdf5_file *f = &m->file;
    const char *group = group_of_orbitals(m);
    molecule_spin *spin = &m->spin[s];
    char path[LONGEST_HDF5_PATH];
    int64_t extents[2];
    snprintf(path, sizeof path, "%s/eigenset_%d", group, s);
    int code = hdf5_extents(f, path, extents);
    if (!code && (extents[1] != m->functions || extents[0] < 1 || extents[0] > 2 * extents[1]))
        code =
            hdf5_damaged(f, "%s: it is of %lld orbitals of %lld functions, but the atoms have %d",
                         path, (long long)extents[0], (long long)extents[1], m->functions);
    if (code) return code;
    spin->orbitals = (int32_t)extents[0];
    code = molecule_coefficients(m, path, spin->orbitals, NULL, &spin->real);
    snprintf(path, sizeof path, "%s/eigenset_%d_imag", group, s);
    if (!code && is_complex)
        code = molecule_coefficients(m, path, spin->orbitals, NULL, &spin->imaginary);
    snprintf(path, sizeof path, "%s/eigenval_%d", group, s);
    if (code || !hdf5_exists(f, path)) return code;
    spin->energy = molecule_take(m, (size_t)spin->orbitals, sizeof *spin->energy);
    return spin->energy ? hdf5_reals(f, path, spin->orbitals, spin->energy) : PLUGMC_ERROR_MEMORY;
}

static int read_orbitals(molecule *m)
{
    char path[LONGEST_HDF5_PATH];
    bool is_complex = false;
    int code = PLUGMC_OK;
    if (hdf5_exists(&m->file, "/parameters/IsComplex"))
        code = hdf5_flag(&m->file, "/parameters/IsComplex", &is_complex);
    if (!code) code = read_spin(m, 0, is_complex);
    snprintf(path, sizeof path, "%s/eigenset_1", group_of_orbitals(m));
    m->unrestricted = hdf5_exists(&m->file, path);
    if (!code && m->unrestricted) return read_spin(m, 1, is_complex);
    m->spin[1] = m->spin[0];
    return code;
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
