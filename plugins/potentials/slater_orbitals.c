/* slater_orbitals: sums of Slater functions r^(n-1) exp(-zeta r) Y_lm around nuclei (J. C. Slater, Phys. Rev. 36, 57
 * (1930)), for atoms and molecules.
 *
 * A shell has an exponent zeta, a principal quantum number n and an angular momentum l (0, 1, 2: s, p, d) and
 * belongs to nucleus on; it has 2 l + 1 functions: s; x, y, z; xy, xz, yz, x^2 - y^2, 3 z^2 - r^2. An orbital is a row of
 * `coefficients`, one for each function of all shells, of functions whose squares integrate to 1: so numbers can be
 * taken over from tables of Hartree-Fock orbitals (E. Clementi, C. Roetti, At. Data Nucl. Data Tables 14, 177
 * (1974)). Without coefficients every function is an orbital, without a norm: exp(-zeta r) is hydrogen (-1/2 Hartree and
 * no variance with zeta = 1) or helium (-(27/16)^2 Hartree with zeta = 27/16). Every species takes the first
 * orbitals, as many as it has particles.
 *
 * The box is open: [box] shape = sphere, so large that nothing of the orbitals is left at its edge. Lengths are bohr.
 */
#include <math.h>
#include <stdlib.h>

#include <plugmc/everything.h>

#include "slater_orbitals.cu"

#include "by_formula.h"

enum { MOST_N = 12, MOST_L = 2 };

typedef struct slater_orbitals {
    formulas formulas;
    plugmc_list nuclei, zeta, on, n, l, coefficients; /* parameters */
    int64_t virtual_orbitals;
    int32_t optimise;
    plugmc_ions ions;
    orbital *functions; /* of all shells, with coefficient 1 */
} slater_orbitals;

static int ions(const void *instance, plugmc_ions *out)
{
    *out = ((const slater_orbitals *)instance)->ions;
    return PLUGMC_OK;
}

/* ---- Shells ------------------------------------------------------------------------------------ */

/* An entry of a list that may be left out. */
static int32_t entry(const plugmc_list *list, int32_t k, int32_t otherwise)
{
    return list->count ? (int32_t)list->values[k] : otherwise;
}

static int32_t momentum_of(const slater_orbitals *p, int32_t shell)
{
    return entry(&p->l, shell, 0);
}

static int32_t count_functions(const slater_orbitals *p)
{
    int32_t count = 0;
    for (int32_t k = 0; k < p->zeta.count; k++) count += 2 * momentum_of(p, k) + 1;
    return count;
}

static int check_list(const slater_orbitals *p, const plugmc_host *host, const char *key,
                      const plugmc_list *list)
{
    if (list->count != 0 && list->count != p->zeta.count)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "%s has %d numbers for %d exponents of zeta", key, list->count,
                          p->zeta.count);
    for (int32_t k = 0; k < list->count; k++)
        if (list->values[k] != rint((double)list->values[k]))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "%s %d is %g, which is not a whole number", key, k + 1,
                              (double)list->values[k]);
    return PLUGMC_OK;
}

static int check_shell(const slater_orbitals *p, const plugmc_host *host, int32_t k)
{
    const int32_t on = entry(&p->on, k, 1), l = momentum_of(p, k), n = entry(&p->n, k, l + 1);
    if (!(p->zeta.values[k] > 0))
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "zeta %d is %g: it must be above 0",
                          k + 1, (double)p->zeta.values[k]);
    if (on < 1 || on > p->nuclei.count / 4)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "shell %d is on nucleus %d, but there are nuclei 1 to %d", k + 1, on,
                          p->nuclei.count / 4);
    if (n <= l)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "shell %d has n = %d and l = %d, but n must exceed l", k + 1, n, l);
    return PLUGMC_OK;
}

static int prepare_ions(slater_orbitals *p, const plugmc_host *host)
{
    const int32_t n = p->nuclei.count / 4;
    double(*positions)[3] = host->allocate(host->context, (size_t)n * sizeof *positions);
    int32_t *number = host->allocate(host->context, (size_t)n * sizeof *number);
    double *valence = host->allocate(host->context, (size_t)n * sizeof *valence);
    if (!positions || !number || !valence)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d nuclei", n);
    for (int32_t i = 0; i < n; i++) {
        const real *nucleus = p->nuclei.values + 4 * i;
        for (int e = 0; e < 3; e++) positions[i][e] = (double)nucleus[e];
        valence[i] = (double)nucleus[3];
        number[i] = (int32_t)rint(valence[i]);
        if (!(valence[i] > 0))
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "nucleus %d has charge %g", i + 1,
                              valence[i]);
        for (int32_t j = 0; j < i; j++)
            if (!memcmp(positions[j], positions[i], sizeof positions[i]))
                return host->fail(host->context, PLUGMC_ERROR_INPUT,
                                  "nuclei %d and %d have the same position", j + 1, i + 1);
    }
    p->ions = (plugmc_ions){.size = sizeof p->ions,
                            .count = n,
                            .positions = (const double(*)[3])positions,
                            .atomic_number = number,
                            .valence = valence,
                            .primitive_cells = 1};
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    slater_orbitals *p = instance;
    if (p->nuclei.count == 0 || p->nuclei.count % 4)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "nuclei has %d numbers: give x y z Z of each nucleus", p->nuclei.count);
    if (p->zeta.count == 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "zeta is empty: give one exponent per shell");
    int code = check_list(p, host, "on", &p->on);
    if (!code) code = check_list(p, host, "n", &p->n);
    if (!code) code = check_list(p, host, "l", &p->l);
    for (int32_t k = 0; k < p->zeta.count && !code; k++) code = check_shell(p, host, k);
    if (!code && p->coefficients.count % count_functions(p))
        code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "coefficients has %d numbers: give one for each of the %d functions "
                          "of all shells, for each orbital",
                          p->coefficients.count, count_functions(p));
    return code ? code : prepare_ions(p, host);
}

/* ---- Preparation ------------------------------------------------------------------------------- */

/* Each function must be gone at the edge of the sphere, which cuts it off. */
static int check_sphere(const formulas *f, const plugmc_host *host)
{
    const plugmc_box *box = &host->system->box;
    if (box->domain != PLUGMC_DOMAIN_SPHERE || box->dimension != 3)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "atoms need open space: [box] dimension = 3, shape = sphere with a large radius");
    for (int64_t k = 0; k < f->count; k++) {
        const double *c = f->orbitals[k].centre;
        double from_edge = box->radius - sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
        if (f->orbitals[k].zeta * from_edge > 12) continue;
        host->warn(
            host->context,
            "the sphere of radius %g cuts off a function of exponent %g, which falls only to "
            "exp(-%.2g) at its edge",
            box->radius, f->orbitals[k].zeta, f->orbitals[k].zeta * from_edge);
        break;
    }
    return PLUGMC_OK;
}

/* 1 over the root of the integral of (r^k exp(-zeta r) S_lm)^2: with n = k + l + 1 the radial one is
 * (2 n)! / (2 zeta)^(2 n + 1). */
static double norm_of(const orbital *o)
{
    static const double angles[MOST_L + 1][2] = {{1, 1}, {1.0 / 3, 1.0 / 3}, {1.0 / 15, 4.0 / 15}};
    const int32_t n = o->power + o->l + 1;
    const double angle = o->l == 2 && o->m == 4 ? 4.0 / 5 : angles[o->l][o->l == 2 && o->m == 3];
    return 1 / sqrt(4 * M_PI * angle * tgamma(2 * n + 1) * pow(2 * o->zeta, -2 * n - 1));
}

/* All functions of all shells, in order, with coefficient 1. */
static void list_functions(const slater_orbitals *p, orbital *out)
{
    for (int32_t k = 0; k < p->zeta.count; k++) {
        const int32_t l = momentum_of(p, k), nucleus = entry(&p->on, k, 1) - 1;
        for (int32_t m = 0; m <= 2 * l; m++, out++) {
            *out = (orbital){.zeta = (double)p->zeta.values[k],
                             .coefficient = 1,
                             .power = entry(&p->n, k, l + 1) - l - 1,
                             .l = l,
                             .m = m};
            for (int e = 0; e < 3; e++) out->centre[e] = (double)p->nuclei.values[4 * nucleus + e];
        }
    }
}

/* Entries of the list: the first functions of all orbitals, then the others of each. Coefficients that are 0
 * are left out, unless they may change. */
static void contract(const slater_orbitals *p, const orbital *functions, int32_t count,
                     int64_t orbitals, orbital *out)
{
    int64_t next = orbitals;
    for (int64_t o = 0; o < orbitals; o++) {
        orbital *first = out + o;
        int32_t found = 0;
        *first = functions[0];
        first->coefficient = 0;
        for (int32_t k = 0; k < count; k++) {
            const double c = (double)p->coefficients.values[o * count + k];
            orbital *to = found ? out + next + found - 1 : first;
            if (c == 0 && !p->optimise) continue;
            *to = functions[k];
            to->coefficient = c * norm_of(to);
            found++;
        }
        first->more = found > 1 ? found - 1 : 0;
        first->rest = (int32_t)(next - o);
        next += first->more;
    }
}

/* From exponents and coefficients; again, when they have changed. */
static void fill_orbitals(slater_orbitals *p)
{
    const int32_t functions = count_functions(p);
    const int64_t rows = p->coefficients.count / functions;
    list_functions(p, p->functions);
    if (rows)
        contract(p, p->functions, functions, rows, p->formulas.orbitals);
    else
        memcpy(p->formulas.orbitals, p->functions, (size_t)functions * sizeof *p->functions);
}

static int prepare_orbitals(slater_orbitals *p, const plugmc_host *host, int64_t *orbitals)
{
    formulas *f = &p->formulas;
    const int32_t functions = count_functions(p);
    const int64_t rows = p->coefficients.count / functions;
    *orbitals = rows ? rows : functions;
    f->host = host;
    f->count = rows ? rows * functions : functions;
    p->functions = host->allocate(host->context, (size_t)functions * sizeof *p->functions);
    f->orbitals = host->allocate(host->context, (size_t)f->count * sizeof *f->orbitals);
    if (!f->orbitals || !p->functions)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for orbitals");
    fill_orbitals(p);
    while (f->count > *orbitals && !(f->orbitals[f->count - 1].zeta > 0)) f->count--; /* unused */
    return PLUGMC_OK;
}

#include "slater_variational.h"

static int prepare(void *instance, const plugmc_host *host)
{
    slater_orbitals *p = instance;
    const plugmc_system *system = host->system;
    int64_t orbitals = 0;
    int code = variational_prepare(p, host);
    if (!code) code = prepare_orbitals(p, host, &orbitals);
    for (int32_t s = 0; s < system->species_count && !code; s++)
        if (plugmc_species_at(system, s)->count > orbitals)
            code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "species '%s' has %lld electrons, but there are only %lld orbitals",
                              plugmc_species_at(system, s)->name,
                              (long long)plugmc_species_at(system, s)->count, (long long)orbitals);
        else if (plugmc_species_at(system, s)->count + p->virtual_orbitals > orbitals)
            code = host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "virtual = %lld: beyond the %lld orbitals of species '%s' there are "
                              "only %lld",
                              (long long)p->virtual_orbitals,
                              (long long)plugmc_species_at(system, s)->count,
                              plugmc_species_at(system, s)->name,
                              (long long)(orbitals - plugmc_species_at(system, s)->count));
    p->formulas.beyond = p->virtual_orbitals;
    if (!code) code = check_sphere(&p->formulas, host);
    return code ? code : formulas_prepare(&p->formulas, host);
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(slater_orbitals, nuclei, 0, NULL, -1e6, 1e6, "length, e",
                    "x y z Z of each nucleus, one after another"),
    PLUGMC_LIST_KEY(slater_orbitals, zeta, 0, NULL, 0, 1e3, "1/length", "exponent of each shell"),
    PLUGMC_LIST_KEY(slater_orbitals, on, 0, "", 1, 1e6, "",
                    "index of the nucleus of each shell, from 1; empty: the first for all"),
    PLUGMC_LIST_KEY(slater_orbitals, n, 0, "", 1, MOST_N, "",
                    "principal quantum number of each shell, r^(n-1); empty: the smallest, l + 1"),
    PLUGMC_LIST_KEY(slater_orbitals, l, 0, "", 0, MOST_L, "",
                    "angular momentum of each shell: 0 s, 1 p, 2 d; empty: s"),
    PLUGMC_LIST_KEY(slater_orbitals, coefficients, 0, "", -1e6, 1e6, "",
                    "coefficients of all normalised functions, orbital after orbital; empty: each "
                    "function is an orbital"),
    {"virtual", PLUGMC_TYPE_INTEGER, 0, offsetof(slater_orbitals, virtual_orbitals), "0", 0, 4096,
     "", NULL, "number of orbitals beyond those that are occupied, for expansions in determinants",
     0},
    {"optimise", PLUGMC_TYPE_CHOICE, 0, offsetof(slater_orbitals, optimise), "no", 0, 0, "",
     "no|zeta|coefficients|all", "what of the orbitals plugmc optimise may vary", 0},
};

static const plugmc_orbitals orbitals = {.size = sizeof orbitals,
                                         .on_device = 1,
                                         .count = formulas_count,
                                         .complex_valued = formulas_complex,
                                         .evaluate = formulas_evaluate,
                                         .ions = ions};

static const plugmc_potential potential = {.size = sizeof potential};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "slater_orbitals",
              .summary = "orbitals of Slater functions around nuclei, for atoms and molecules",
              .reference = "Slater, Phys. Rev. 36, 57 (1930)", PLUGMC_KEYS(slater_orbitals, table),
              PLUGMC_OFFERS({PLUGMC_ORBITALS, &orbitals},
                            {PLUGMC_VARIATIONAL_PARAMETERS, &variational}),
              .configure = configure, .potential = &potential, .prepare = prepare,
              .gpu_source = formulas_gpu_source)
