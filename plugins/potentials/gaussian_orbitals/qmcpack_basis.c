/* qmcpack_basis.c: from shells of elements to those of atoms, and the order and norm of functions. */
#include "qmcpack_basis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int basis_grow(const molecule *m, basis_shells *list)
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

int basis_check_expansion(const molecule *m, const char *group, const char *angular,
                          basis_element *e)
{
    static const char *const spherical[] = {"pyscf", "gaussian", "natural", "Gaussian"};
    if (!strcmp(e->expansion, "Dirac"))
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

static int32_t order_of(const basis_element *e, int32_t l, int32_t k)
{
    if (l == 1 && strcmp(e->expansion, "natural")) return k == 0 ? 1 : k == 1 ? -1 : 0;
    if (strcasecmp(e->expansion, "gaussian")) return k - l;
    return k % 2 ? (k + 1) / 2 : -k / 2;
}

static void place_function(const molecule *m, const basis_element *e, const gaussian_shell *s,
                           int32_t k)
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
int basis_copy_shells(molecule *m, const basis_element *elements, const int32_t *element_of,
                      const basis_shells *list)
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
        const basis_element *e = &elements[element_of[i]];
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
