/* pade_jastrow: a Jastrow factor exp(-J) of a many-electron wave function in open space,
 *
 *     J = sum_{i<j} u(r_ij) + sum_{i,I} chi(r_iI),    u = a r / (1 + b r),  chi likewise,
 *
 * as a term of -ln |Psi|^2: the energy over kT of a pair is 2 u, that of an electron 2 chi. a is the slope at contact: -1/4 for
 * like and -1/2 for unlike spins in atomic units (T. Kato, Commun. Pure Appl. Math. 10, 151 (1957)). b, 1/length, is variational;
 * 1/b is how far electrons keep away from each other. Each element has a chi of its own. J does not vanish at large distances, so
 * the box must have no periodic images.
 *
 * S. F. Boys, N. C. Handy, Proc. R. Soc. Lond. A 310, 43 (1969).
 */
#include <plugmc/potential.h>
#include <plugmc/tally.h>

typedef struct parameters {
    plugmc_list like, unlike; /* b, one number or none; 1/length */
    plugmc_list chi;          /* [elements] b; 1/length */
    plugmc_list chi_cusp;     /* [elements] a; 1/length */
    real like_cusp, unlike_cusp;
    plugmc_list centres; /* [ions][CENTRE_NUMBERS] */
} parameters;

/* Of an ion: position (length), a (1/length), and the number of its b in chi. */
enum { CENTRE_X, CENTRE_Y, CENTRE_Z, CENTRE_SLOPE, CENTRE_NUMBER, CENTRE_NUMBERS };

/* ---- The function ------------------------------------------------------------------------------- */

PLUGMC_FN real twice_pade(real a, real b, real r) { return 2 * a * r / (1 + b * r); }

/* Of twice the function: slope over r, and curvature. */
PLUGMC_FN void pade_slopes(real a, real b, real r, real *first, real *second)
{
    const real floor = (real)1e-30, over = 1 / (1 + b * r);
    *first = 2 * a * over * over / (r > floor ? r : floor);
    *second = -4 * a * b * over * over * over;
}

/* ln |Psi| = -u: its derivative by b is a r^2 / (1 + b r)^2. */
PLUGMC_FN void pade_tally(const plugmc_tally *t, int32_t k, int32_t electrons, plugmc_separation s,
                          real a, real b)
{
    const real r = plugmc_sqrt(s.r2), over = 1 / (1 + b * r), cube = over * over * over;
    plugmc_tally_radial(t, k, electrons, plugmc_tally_along(t, s), a * s.r2 * over * over,
                        2 * a * cube, 2 * a * (1 - 2 * b * r) * cube * over);
}

/* ---- Pairs -------------------------------------------------------------------------------------- */

PLUGMC_FN real pair_range(const parameters *p)
{
    (void)p;
    return PLUGMC_NO_RANGE;
}

PLUGMC_FN real a_of(const parameters *p, int same)
{
    return same ? (p->like.count ? p->like_cusp : 0) : (p->unlike.count ? p->unlike_cusp : 0);
}

PLUGMC_FN real b_of(const parameters *p, int same)
{
    const plugmc_list *list = same ? &p->like : &p->unlike;
    return list->count ? list->values[0] : (real)0;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    const int same = a.species == b.species;
    return twice_pade(a_of(p, same), b_of(p, same), plugmc_sqrt(s.r2));
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    const int same = a.species == b.species;
    pade_slopes(a_of(p, same), b_of(p, same), plugmc_sqrt(s.r2), first, second);
}

/* ---- Ions --------------------------------------------------------------------------------------- */

PLUGMC_FN plugmc_separation from_ion(const real *ion, plugmc_position r)
{
    plugmc_separation s;
    s.x = r.x - ion[CENTRE_X];
    s.y = r.y - ion[CENTRE_Y];
    s.z = r.z - ion[CENTRE_Z];
    s.r2 = s.x * s.x + s.y * s.y + s.z * s.z;
    return s;
}

PLUGMC_FN real b_at(const parameters *p, const real *ion)
{
    return p->chi.values[(int32_t)ion[CENTRE_NUMBER]];
}

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    real sum = 0;
    (void)a, (void)outside;
    for (int32_t i = 0; i < p->centres.count; i += CENTRE_NUMBERS) {
        const real *ion = p->centres.values + i;
        sum += twice_pade(ion[CENTRE_SLOPE], b_at(p, ion), plugmc_sqrt(from_ion(ion, r).r2));
    }
    return sum;
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    (void)a;
    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;
    for (int32_t i = 0; i < p->centres.count; i += CENTRE_NUMBERS) {
        const real *ion = p->centres.values + i;
        const plugmc_separation s = from_ion(ion, r);
        real first, second;
        pade_slopes(ion[CENTRE_SLOPE], b_at(p, ion), plugmc_sqrt(s.r2), &first, &second);
        gradient[0] += first * s.x;
        gradient[1] += first * s.y;
        gradient[2] += first * s.z;
        *laplacian += second + 2 * first;
    }
}

/* ---- What b has to do with it: like, unlike and those of chi in order --------------------------- */

PLUGMC_FN void pair_variational(const parameters *p, plugmc_position at, plugmc_separation s,
                                plugmc_site a, plugmc_site b, const plugmc_tally *t)
{
    const int same = a.species == b.species;
    (void)at;
    if (same ? p->like.count : p->unlike.count)
        pade_tally(t, same ? 0 : p->like.count, 2, s, a_of(p, same), b_of(p, same));
}

PLUGMC_FN void field_variational(const parameters *p, plugmc_position r, plugmc_site a,
                                 const plugmc_tally *t)
{
    const int32_t before = p->like.count + p->unlike.count;
    (void)a;
    for (int32_t i = 0; i < p->centres.count; i += CENTRE_NUMBERS) {
        const real *ion = p->centres.values + i;
        pade_tally(t, before + (int32_t)ion[CENTRE_NUMBER], 1, from_ion(ion, r), ion[CENTRE_SLOPE],
                   b_at(p, ion));
    }
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>
#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
#include <plugmc/everything.h>

#include "ions_of_orbitals.h"

enum { LISTS = 3 };

static plugmc_list *list_of(parameters *p, int k)
{
    return k == 0 ? &p->like : k == 1 ? &p->unlike : &p->chi;
}

static const char *const list_names[] = {"like", "unlike", "chi", NULL};

/* ---- Variational parameters --------------------------------------------------------------------- */

static int64_t variational_count(const void *instance)
{
    const parameters *p = instance;
    return (int64_t)p->like.count + p->unlike.count + p->chi.count;
}

static int number(const void *instance, int64_t k, plugmc_variational_parameter *out)
{
    const parameters *p = instance;
    const int64_t unlike = p->like.count, chi = unlike + p->unlike.count;
    out->key = list_names[k < unlike ? 0 : k < chi ? 1 : 2];
    out->place = k < chi ? 0 : k - chi;
    return PLUGMC_OK;
}

static int get_values(const void *instance, double *values)
{
    for (int k = 0; k < LISTS; k++) {
        const plugmc_list *list = list_of((parameters *)instance, k);
        for (int32_t i = 0; i < list->count; i++) *values++ = (double)list->values[i];
    }
    return PLUGMC_OK;
}

static int set_values(void *instance, const double *values)
{
    for (int k = 0; k < LISTS; k++) {
        plugmc_list *list = list_of(instance, k);
        for (int32_t i = 0; i < list->count; i++) ((real *)list->values)[i] = (real)*values++;
    }
    return PLUGMC_OK;
}

static int64_t variational_sums(const parameters *p) { return variational_count(p); }

static void variational_combine(const parameters *p, const double *sums, double *row)
{
    for (int64_t k = 0; k < variational_count(p); k++) row[k] += sums[k];
}

#define PLUGMC_VARIATIONAL (PLUGMC_VARIATIONAL_PAIR | PLUGMC_VARIATIONAL_FIELD)
#include <plugmc/variational.h>

static const plugmc_variational variational = {.size = sizeof variational,
                                               .count = variational_count,
                                               .number = number,
                                               .get = get_values,
                                               .set = set_values,
                                               PLUGMC_VARIATIONAL_MEMBERS,
                                               .tables = list_names};

/* ---- Preparation -------------------------------------------------------------------------------- */

static int lacks_memory(const plugmc_host *host)
{
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the Jastrow factor");
}

/* Copies that may be written to. */
static int own_numbers(parameters *p, const plugmc_host *host)
{
    for (int k = 0; k < LISTS; k++) {
        plugmc_list *list = list_of(p, k);
        real *own = host->allocate(host->context, ((size_t)list->count + 1) * sizeof *own);
        if (!own) return lacks_memory(host);
        for (int32_t i = 0; i < list->count; i++) own[i] = list->values[i];
        list->values = own;
    }
    return PLUGMC_OK;
}

static int prepare_ions(parameters *p, const plugmc_host *host)
{
    plugmc_ions ions;
    if (p->chi.count != p->chi_cusp.count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "chi has %d numbers and chi_cusp %d: give one of each for every element",
                          p->chi.count, p->chi_cusp.count);
    if (!p->chi.count) return PLUGMC_OK;
    const char *label = ions_of_orbitals(host, &ions);
    if (!label)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "chi needs ions, and no potential with orbitals has any");
    real *centres =
        host->allocate(host->context, (size_t)ions.count * CENTRE_NUMBERS * sizeof *centres);
    int32_t *element = host->allocate(host->context, (size_t)ions.count * sizeof *element);
    if (!centres || !element) return lacks_memory(host);
    const int32_t elements = number_elements(&ions, ions.count, element);
    p->centres = (plugmc_list){centres, ions.count * CENTRE_NUMBERS};
    for (int32_t i = 0; i < ions.count; i++, centres += CENTRE_NUMBERS) {
        const int32_t own = element[i];
        for (int d = 0; d < 3; d++) centres[CENTRE_X + d] = (real)ions.positions[i][d];
        centres[CENTRE_SLOPE] = own < p->chi.count ? p->chi_cusp.values[own] : 0;
        centres[CENTRE_NUMBER] = (real)own;
    }
    if (elements == p->chi.count) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "chi has %d numbers, but the ions of potential '%s' are of %d elements: give "
                      "one for each, in the order in which they appear",
                      p->chi.count, label, elements);
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    if (host->system->box.domain != PLUGMC_DOMAIN_SPHERE || host->system->box.dimension != 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "this factor does not vanish at large distances and needs open space: "
                          "[box] dimension = 3, shape = sphere; jastrow is for periodic boxes");
    for (int k = 0; k < 2; k++)
        if (list_of(p, k)->count > 1)
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "%s has %d numbers: give one",
                              list_names[k], list_of(p, k)->count);
    if (!variational_count(p))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there is no factor: give like, unlike or chi");
    const int code = own_numbers(p, host);
    return code ? code : prepare_ions(p, host);
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(parameters, like, 0, "", 0, 1e6, "1/length", "b of like spins; empty: u = 0"),
    PLUGMC_LIST_KEY(parameters, unlike, 0, "", 0, 1e6, "1/length",
                    "b of unlike spins; empty: u = 0"),
    PLUGMC_LIST_KEY(parameters, chi, 0, "", 0, 1e6, "1/length",
                    "b of each element, in the order in which they appear among the ions of the "
                    "orbitals; empty: chi = 0"),
    PLUGMC_LIST_KEY(parameters, chi_cusp, 0, "", -1e6, 1e6, "1/length",
                    "slope of chi at an ion, for each element: its charge, if it is bare and the "
                    "orbitals have no cusp"),
    PLUGMC_REAL_KEY(parameters, like_cusp, "-0.25", -1e6, 1e6, "1/length",
                    "slope of u at contact, like spins"),
    PLUGMC_REAL_KEY(parameters, unlike_cusp, "-0.5", -1e6, 1e6, "1/length",
                    "slope of u at contact, unlike spins"),
    PLUGMC_LIST_DERIVED(parameters, centres, "ions: position, slope, number of the element"),
};

static const plugmc_potential potential = {
    .size = sizeof potential, .pair = &plugmc_pair_facet, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "pade_jastrow",
              .summary = "Jastrow factor of a wave function: a r / (1 + b r) of each distance, in "
                         "open space",
              .reference = "Boys, Handy, Proc. R. Soc. Lond. A 310, 43 (1969)",
              PLUGMC_KEYS(parameters, table),
              PLUGMC_OFFERS({PLUGMC_VARIATIONAL_PARAMETERS, &variational}), .configure = configure,
              .potential = &potential);
#endif
