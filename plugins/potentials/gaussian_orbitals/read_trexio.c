/* read_trexio.c: TREXIO files in HDF5 (E. Posenitskiy et al., J. Chem. Phys. 158, 174801 (2023); trex.org of TREXIO 2.6,
 * groups nucleus, basis, ao, mo, cell and pbc). Data sets are named /GROUP/GROUP_NAME, counts and texts are attributes of
 * the groups. A function is
 *
 *     chi_i = N'_i P_i(r) N_s sum_k f_ks a_ks exp(-g_ks r^2)
 *
 * with ao_normalization N', basis_shell_factor N, basis_prim_factor f, basis_coefficient a and basis_exponent g. With
 * ao_cartesian = 0 P is sqrt(4 pi / (2 l + 1)) r^l Y_lm, Y_lm real and positive, m = 0, 1, -1, 2, -2 ...: z, x, y for l = 1;
 * otherwise x^a y^b z^c in alphabetical order. pbc_k_point is in reciprocal vectors of the cell. */
#include "molecule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../files/element_symbols.h"

static int read_nuclei(molecule *m)
{
    const hdf5_file *f = &m->file;
    int code = hdf5_attribute_count(f, "/nucleus", "nucleus_num", 1, MOST_NUCLEI, &m->nuclei);
    if (code) return code;
    const size_t n = (size_t)m->nuclei;
    int32_t *core = NULL;
    m->atomic_number = molecule_take(m, n, sizeof *m->atomic_number);
    m->charge = molecule_take(m, n, sizeof *m->charge);
    m->position = molecule_take(m, n, sizeof *m->position);
    core = molecule_take(m, n, sizeof *core);
    if (!m->atomic_number || !m->charge || !m->position || !core) return PLUGMC_ERROR_MEMORY;
    code = hdf5_reals(f, "/nucleus/nucleus_charge", m->nuclei, m->charge);
    if (!code)
        code = hdf5_reals(f, "/nucleus/nucleus_coord", 3 * (int64_t)m->nuclei, m->position[0]);
    if (!code && hdf5_exists(f, "/ecp/ecp_z_core"))
        code = hdf5_integers(f, "/ecp/ecp_z_core", m->nuclei, core);
    for (int32_t i = 0; i < m->nuclei && !code; i++) {
        if (!(m->charge[i] > 0 && m->charge[i] <= 118) || core[i] < 0 || core[i] > 118)
            return hdf5_damaged(f,
                                "/nucleus/nucleus_charge: nucleus %d has charge %g and %d core "
                                "electrons",
                                i + 1, m->charge[i], core[i]);
        m->atomic_number[i] = (int32_t)rint(m->charge[i]) + core[i];
    }
    return code;
}

/* ---- Shells --------------------------------------------------------------------------------- */

/* One list of the group /basis: reals that may be left out and are 1 then. */
static int read_factors(const molecule *m, const char *path, int32_t count, double **out)
{
    *out = molecule_take(m, (size_t)count, sizeof **out);
    if (!*out) return PLUGMC_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) (*out)[i] = 1;
    return hdf5_exists(&m->file, path) ? hdf5_reals(&m->file, path, count, *out) : PLUGMC_OK;
}

static int read_indices(const molecule *m, const char *path, int32_t count, int32_t most,
                        int32_t **out)
{
    *out = molecule_take(m, (size_t)count, sizeof **out);
    int code = *out ? hdf5_integers(&m->file, path, count, *out) : PLUGMC_ERROR_MEMORY;
    for (int32_t i = 0; i < count && !code; i++)
        if ((*out)[i] < 0 || (*out)[i] > most)
            code = hdf5_damaged(&m->file, "%s: entry %d is %d, which is not between 0 and %d", path,
                                i + 1, (*out)[i], most);
    return code;
}

/* Powers of r beside those of the angular functions are all 0. */
static int check_powers(const molecule *m)
{
    const char *path = "/basis/basis_r_power";
    if (!hdf5_exists(&m->file, path)) return PLUGMC_OK;
    int32_t *whole = molecule_take(m, (size_t)m->shells, sizeof *whole);
    int code = whole ? hdf5_integers(&m->file, path, m->shells, whole) : PLUGMC_ERROR_MEMORY;
    for (int32_t s = 0; s < m->shells && !code; s++)
        if (whole[s])
            code = hdf5_damaged(&m->file,
                                "%s: shell %d has a further power of r, %d, which is not "
                                "supported",
                                path, s + 1, whole[s]);
    return code;
}

/* Primitives of a shell are gathered from wherever they are in the file. */
static int fill_shells(molecule *m, const int32_t *shell_of, const double *factor[3])
{
    int32_t next = 0;
    for (int32_t k = 0; k < m->primitives; k++) m->shell[shell_of[k]].primitives++;
    for (int32_t s = 0; s < m->shells; s++) {
        gaussian_shell *shell = &m->shell[s];
        if (!shell->primitives)
            return hdf5_damaged(&m->file, "/basis/basis_shell_index: shell %d has no primitives",
                                s + 1);
        shell->first = next;
        next += shell->primitives;
        shell->primitives = 0;
    }
    double *exponents = molecule_take(m, (size_t)m->primitives, sizeof *exponents);
    int code = exponents ? hdf5_reals(&m->file, "/basis/basis_exponent", m->primitives, exponents)
                         : PLUGMC_ERROR_MEMORY;
    for (int32_t k = 0; k < m->primitives && !code; k++) {
        gaussian_shell *shell = &m->shell[shell_of[k]];
        double *p = m->primitive[shell->first + shell->primitives++];
        p[0] = exponents[k];
        p[1] = factor[0][shell_of[k]] * factor[1][k] * factor[2][k];
    }
    return code;
}

static int read_shells(molecule *m, int32_t cartesian)
{
    const hdf5_file *f = &m->file;
    char type[32];
    int32_t *nucleus = NULL, *l = NULL, *shell_of = NULL;
    double *shell_factor = NULL, *factor = NULL, *coefficient = NULL;
    int code = hdf5_attribute_text(f, "/basis", "basis_type", type, sizeof type);
    if (!code && strcasecmp(type, "Gaussian"))
        code = hdf5_damaged(f,
                            "/basis, attribute basis_type: it is %.20s; only Gaussian functions "
                            "are read",
                            type);
    if (!code)
        code = hdf5_attribute_count(f, "/basis", "basis_shell_num", 1, MOST_SHELLS, &m->shells);
    if (!code)
        code =
            hdf5_attribute_count(f, "/basis", "basis_prim_num", 1, MOST_PRIMITIVES, &m->primitives);
    if (code) return code;
    m->shell = molecule_take(m, (size_t)m->shells, sizeof *m->shell);
    m->primitive = molecule_take(m, (size_t)m->primitives, sizeof *m->primitive);
    if (!m->shell || !m->primitive) return PLUGMC_ERROR_MEMORY;
    code = read_indices(m, "/basis/basis_nucleus_index", m->shells, m->nuclei - 1, &nucleus);
    if (!code) code = read_indices(m, "/basis/basis_shell_ang_mom", m->shells, MOST_L, &l);
    if (!code)
        code = read_indices(m, "/basis/basis_shell_index", m->primitives, m->shells - 1, &shell_of);
    if (!code) code = read_factors(m, "/basis/basis_shell_factor", m->shells, &shell_factor);
    if (!code) code = read_factors(m, "/basis/basis_prim_factor", m->primitives, &factor);
    if (!code) code = read_factors(m, "/basis/basis_coefficient", m->primitives, &coefficient);
    if (!code) code = check_powers(m);
    for (int32_t s = 0; s < m->shells && !code; s++)
        m->shell[s] = (gaussian_shell){nucleus[s], l[s], cartesian, 0, 0, 0};
    return code ? code
                : fill_shells(m, shell_of, (const double *[]){shell_factor, factor, coefficient});
}

/* ---- Functions ------------------------------------------------------------------------------ */

static void place_function(const molecule *m, const gaussian_shell *s, int32_t k, int32_t at)
{
    const int32_t l = s->l, order = k % 2 ? (k + 1) / 2 : -k / 2;
    /* alphabetically is as they are here */
    m->function_of[at] = s->function + (s->cartesian ? k : place_of_m(l, order));
    if (!s->cartesian) m->factor_of[at] *= racah_factor(l, order);
}

static int read_functions(molecule *m)
{
    const hdf5_file *f = &m->file;
    int32_t count = 0, *shell = NULL, *seen = NULL;
    double *norm = NULL;
    int code = molecule_count_functions(m);
    if (!code) code = hdf5_attribute_count(f, "/ao", "ao_num", 1, MOST_FUNCTIONS, &count);
    if (!code && count != m->functions)
        code = hdf5_damaged(f, "/ao, attribute ao_num: it is %d, but the shells have %d functions",
                            count, m->functions);
    if (!code) code = read_indices(m, "/ao/ao_shell", count, m->shells - 1, &shell);
    if (!code) code = read_factors(m, "/ao/ao_normalization", count, &norm);
    seen = code ? NULL : molecule_take(m, (size_t)m->shells, sizeof *seen);
    if (!code && !seen) code = PLUGMC_ERROR_MEMORY;
    for (int32_t i = 0; i < count && !code; i++) {
        const gaussian_shell *s = &m->shell[shell[i]];
        m->factor_of[i] = norm[i];
        if (seen[shell[i]] >= functions_of_shell(s->l, s->cartesian))
            return hdf5_damaged(f, "/ao/ao_shell: shell %d has more functions than %d",
                                shell[i] + 1, functions_of_shell(s->l, s->cartesian));
        place_function(m, s, seen[shell[i]]++, i);
    }
    return code;
}

/* ---- Orbitals ------------------------------------------------------------------------------- */

/* Numbers of the orbitals of a spin, those of larger occupation first. */
static int32_t order_spin(int s, int32_t count, const int32_t *spin, const double *occupation,
                          int32_t *order)
{
    int32_t found = 0;
    for (int32_t o = 0; o < count; o++) {
        if (spin[o] != s) continue;
        int32_t at = found++;
        for (; at > 0 && occupation[order[at - 1]] < occupation[o] - 1e-6; at--)
            order[at] = order[at - 1];
        order[at] = o;
    }
    return found;
}

static int read_spin(molecule *m, molecule_spin *spin, const int32_t *order, int32_t all,
                     const double *energy)
{
    /* of all orbitals of the file, of which `order` takes some */
    int code = PLUGMC_OK;
    int64_t extents[2];
    code = hdf5_extents(&m->file, "/mo/mo_coefficient", extents);
    if (!code && (extents[0] != all || extents[1] != m->functions))
        code = hdf5_damaged(&m->file,
                            "/mo/mo_coefficient: it is of %lld orbitals of %lld functions instead "
                            "of %d and %d",
                            (long long)extents[0], (long long)extents[1], all, m->functions);
    if (!code) code = molecule_coefficients(m, "/mo/mo_coefficient", all, order, &spin->real);
    if (!code && hdf5_exists(&m->file, "/mo/mo_coefficient_im"))
        code = molecule_coefficients(m, "/mo/mo_coefficient_im", all, order, &spin->imaginary);
    if (code || !energy) return code;
    spin->energy = molecule_take(m, (size_t)spin->orbitals, sizeof *spin->energy);
    for (int32_t o = 0; o < spin->orbitals && spin->energy; o++) spin->energy[o] = energy[order[o]];
    return spin->energy ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
}

static int read_orbitals(molecule *m)
{
    const hdf5_file *f = &m->file;
    int32_t count = 0, *spin = NULL, *order = NULL;
    double *occupation = NULL, *energy = NULL;
    int code = hdf5_attribute_count(f, "/mo", "mo_num", 1, 2 * m->functions, &count);
    if (code) return code;
    spin = molecule_take(m, (size_t)count, sizeof *spin);
    order = molecule_take(m, (size_t)count, sizeof *order);
    if (!spin || !order) return PLUGMC_ERROR_MEMORY;
    if (hdf5_exists(f, "/mo/mo_spin")) code = read_indices(m, "/mo/mo_spin", count, 1, &spin);
    if (!code) code = read_factors(m, "/mo/mo_occupation", count, &occupation);
    if (!code && hdf5_exists(f, "/mo/mo_energy"))
        code = read_factors(m, "/mo/mo_energy", count, &energy);
    for (int s = 0; s < 2 && !code; s++) {
        m->spin[s].orbitals = order_spin(s, count, spin, occupation, order);
        /* those behind are not used, but the matrix is read as a whole */
        for (int32_t o = 0, next = m->spin[s].orbitals; o < count; o++)
            if (spin[o] != s) order[next++] = o;
        if (m->spin[s].orbitals) code = read_spin(m, &m->spin[s], order, count, energy);
    }
    m->unrestricted = m->spin[1].orbitals > 0;
    if (!m->unrestricted) m->spin[1] = m->spin[0];
    if (!code && !m->spin[0].orbitals)
        code = hdf5_damaged(f, "/mo/mo_spin: there are no orbitals of spin up");
    return code;
}

static int read_cell(molecule *m)
{
    static const char *const edges[3] = {"/cell/cell_a", "/cell/cell_b", "/cell/cell_c"};
    const hdf5_file *f = &m->file;
    int32_t periodic = 0, points = 1;
    int code = PLUGMC_OK;
    if (hdf5_has_attribute(f, "/pbc", "pbc_periodic"))
        code = hdf5_attribute_count(f, "/pbc", "pbc_periodic", 0, 1, &periodic);
    m->periodic = periodic;
    for (int d = 0; d < 3 && m->periodic && !code; d++)
        code = hdf5_reals(f, edges[d], 3, m->lattice[d]);
    if (code || !m->periodic) return code;
    if (hdf5_has_attribute(f, "/pbc", "pbc_k_point_num"))
        code = hdf5_attribute_count(f, "/pbc", "pbc_k_point_num", 1, 100000, &points);
    if (!code && points > 1)
        code = hdf5_damaged(f, "/pbc: it has %d k points; a file of one is read", points);
    if (!code && hdf5_exists(f, "/pbc/pbc_k_point"))
        code = hdf5_reals(f, "/pbc/pbc_k_point", 3, m->turns);
    return code;
}

int read_trexio(molecule *m)
{
    const hdf5_file *f = &m->file;
    int32_t cartesian = 0;
    m->format = "TREXIO";
    int code = read_cell(m);
    if (!code) code = read_nuclei(m);
    if (!code) code = hdf5_attribute_count(f, "/ao", "ao_cartesian", 0, INT32_MAX, &cartesian);
    if (!code) code = read_shells(m, cartesian != 0);
    if (!code) code = read_functions(m);
    if (!code) code = read_orbitals(m);
    if (!code && hdf5_has_attribute(f, "/electron", "electron_up_num")) {
        code = hdf5_attribute_count(f, "/electron", "electron_up_num", 0, MOST_ELECTRONS,
                                    &m->electrons[0]);
        if (!code)
            code = hdf5_attribute_count(f, "/electron", "electron_dn_num", 0, MOST_ELECTRONS,
                                        &m->electrons[1]);
    }
    return code;
}
