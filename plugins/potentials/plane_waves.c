/* plane_waves: the orbitals of free electrons in a periodic box,
 *
 *     1, sqrt(2) cos(G.r), sqrt(2) sin(G.r), ...
 *
 * with one of each pair of reciprocal vectors G, -G of the box, in the order of |G|. They are the
 * real combinations of exp(i G.r), so for closed shells (1, 7, 19, 27, 33, 57, ... electrons of a
 * spin in a cubic box) the determinant is that of the homogeneous electron gas, an eigenstate of
 * the kinetic energy (R. M. Martin, L. Reining, D. M. Ceperley, Interacting Electrons, chapter 5).
 * Every species has the lowest orbitals, as many as it has particles.
 *
 * With a twist theta, fractions of the reciprocal vectors b of the box, they are
 *
 *     exp(i k.r),    k = G + sum_d theta_d b_d,
 *
 * in the order of |k|: over the edge a_d of the box they gain the phase 2 pi theta_d (C. Lin, F. H. Zong,
 * D. M. Ceperley, Phys. Rev. E 64, 016702 (2001)).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/everything.h>

#include "plane_waves.cu"

#include "by_formula.h"

enum { LARGEST_INDEX = 64 };

typedef struct plane_waves {
    formulas waves;    /* lowest first, as many as the largest species has orbitals */
    plugmc_list twist; /* parameters */
    int64_t virtual_orbitals;
    double turns[3]; /* the same, 0 where there is none */
} plane_waves;

/* Lowest |k| first. Those of one shell differ by rounding, so a hair does not count; then by n. */
static int by_square(const void *a, const void *b)
{
    const orbital *x = a, *y = b;
    double apart = x->square - y->square;
    if (fabs(apart) > 1e-9 * (x->square + y->square)) return apart < 0 ? -1 : 1;
    for (int d = 0; d < 3; d++)
        if (x->n[d] != y->n[d]) return x->n[d] > y->n[d] ? -1 : 1;
    return x->sine - y->sine;
}

/* One of each pair n, -n: the first index that is not 0 is positive. */
static int is_first(const double n[3])
{
    for (int d = 0; d < 3; d++)
        if (n[d] != 0) return n[d] > 0;
    return 1;
}

static orbital wave_of(const plugmc_box *box, const double n[3], int32_t sine, double factor)
{
    orbital w = {.sine = sine, .factor = factor};
    for (int d = 0; d < 3; d++) {
        w.n[d] = n[d];
        for (int e = 0; e < 3; e++) w.k[e] += 2 * M_PI * n[d] * box->inverse[e][d];
    }
    for (int e = 0; e < 3; e++) w.square += w.k[e] * w.k[e];
    return w;
}

/* The entries of one wave: its real and imaginary part; without a twist those of the pair k, -k, which are
 * normalised each, and of k = 0 the constant alone. Returns how many. */
static int64_t entries_of(const plugmc_box *box, const double n[3], int twisted, orbital *out)
{
    const int constant = n[0] == 0 && n[1] == 0 && n[2] == 0;
    const double factor = twisted || constant ? 1 : sqrt(2.0);
    out[0] = wave_of(box, n, 0, factor);
    if (constant && !twisted) return 1;
    out[1] = wave_of(box, n, 1, factor);
    return 2;
}

/* Bounds of the whole part of n with |k| up to `longest`: n_d = k.a_d / (2 pi), at most |k| |a_d| / (2 pi),
 * and one more with a twist, which is a part of n. */
static int index_bounds(const plugmc_box *box, double longest, int twisted, int32_t bound[3])
{
    int largest = 0;
    for (int d = 0; d < 3; d++) {
        const double *a = box->vector[d];
        double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        bound[d] = d < box->dimension
                       ? (int32_t)fmin(longest * length / (2 * M_PI), 1e4) + (twisted != 0)
                       : 0;
        if (bound[d] > largest) largest = bound[d];
    }
    return largest;
}

/* The entries of all waves with |k| up to `longest`, sorted; returns how many, -1 without memory. */
static int64_t list_waves(const plugmc_box *box, const double twist[3], int twisted, double longest,
                          orbital **out)
{
    int32_t bound[3], g[3];
    int64_t found = 0;
    index_bounds(box, longest, twisted, bound);
    const size_t room =
        2 * (size_t)(2 * bound[0] + 1) * (size_t)(2 * bound[1] + 1) * (size_t)(2 * bound[2] + 1);
    orbital *waves = malloc(room * sizeof *waves);
    *out = waves;
    if (!waves) return -1;
    for (g[0] = -bound[0]; g[0] <= bound[0]; g[0]++)
        for (g[1] = -bound[1]; g[1] <= bound[1]; g[1]++)
            for (g[2] = -bound[2]; g[2] <= bound[2]; g[2]++) {
                const double n[3] = {g[0] + twist[0], g[1] + twist[1], g[2] + twist[2]};
                if (!twisted && !is_first(n)) continue;
                if (wave_of(box, n, 0, 1).square > longest * longest) continue;
                found += entries_of(box, n, twisted, waves + found);
            }
    qsort(waves, (size_t)found, sizeof *waves, by_square);
    return found;
}

static void warn_of_open_shells(const plugmc_host *host, const orbital *waves, int64_t parts)
{
    for (int32_t s = 0; s < host->system->species_count; s++) {
        const int64_t n = plugmc_species_at(host->system, s)->count;
        if (n > 0 && fabs(waves[parts * n].square - waves[parts * n - 1].square) <
                         1e-9 * waves[parts * n].square)
            host->warn(host->context,
                       "%lld electrons of species '%s' do not fill a shell of plane waves: "
                       "the determinant is not a closed shell",
                       (long long)n, plugmc_species_at(host->system, s)->name);
    }
}

/* The sphere of k grows until it has the entries wanted, and one more to see where shells end. */
static int find_waves(formulas *f, const double twist[3], const plugmc_host *host)
{
    const plugmc_box *box = &host->system->box;
    const int twisted = f->complex_valued;
    double longest = 2 * M_PI * pow((double)f->count / box->volume, 1.0 / box->dimension);
    orbital *waves = NULL;
    int64_t found;
    while ((found = list_waves(box, twist, twisted, longest, &waves)) >= 0 && found <= f->count) {
        int32_t bound[3];
        free(waves);
        waves = NULL;
        longest *= 1.3;
        if (index_bounds(box, longest, twisted, bound) > LARGEST_INDEX)
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "%lld plane waves in this box need reciprocal vectors beyond index %d",
                (long long)(twisted ? f->count / 2 : f->count), LARGEST_INDEX);
    }
    const size_t bytes = (size_t)f->count * sizeof *waves;
    f->orbitals = found < 0 ? NULL : host->allocate(host->context, bytes);
    if (f->orbitals) {
        memcpy(f->orbitals, waves, bytes);
        warn_of_open_shells(host, waves, twisted ? 2 : 1);
    }
    free(waves);
    return f->orbitals
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for plane waves");
}

/* Fills in `twist`, 0 where there is none. */
static int take_twist(plane_waves *p, const plugmc_host *host, double twist[3])
{
    const int32_t dimension = host->system->box.dimension;
    memset(twist, 0, 3 * sizeof *twist);
    if (p->twist.count == 0) return PLUGMC_OK;
    if (p->twist.count != dimension)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "twist has %d numbers but needs %d, in units of the reciprocal "
                          "vectors of the box",
                          p->twist.count, dimension);
    for (int d = 0; d < dimension; d++) {
        twist[d] = p->twist.values[d];
        p->waves.complex_valued |= twist[d] != 0;
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    plane_waves *p = instance;
    formulas *f = &p->waves;
    const plugmc_system *system = host->system;
    f->host = host;
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "plane waves need a periodic box, but the box is a sphere");
    int code = take_twist(p, host, p->turns);
    if (code) return code;
    for (int32_t s = 0; s < system->species_count; s++)
        if (plugmc_species_at(system, s)->count > f->count)
            f->count = plugmc_species_at(system, s)->count;
    f->beyond = p->virtual_orbitals;
    f->count += f->beyond;
    if (f->complex_valued) f->count *= 2; /* real and imaginary parts */
    code = find_waves(f, p->turns, host);
    return code ? code : formulas_prepare(f, host);
}

static void turns_of(const void *instance, double turns[3])
{
    memcpy(turns, ((const plane_waves *)instance)->turns, 3 * sizeof *turns);
}

static const plugmc_parameter table[] = {
    PLUGMC_LIST_KEY(
        plane_waves, twist, 0, "", -1, 1, "",
        "twist in units of the reciprocal vectors of the box, one number per dimension: the "
        "phase of orbitals changes by 2 pi times them along its edges; empty: none"),
    {"virtual", PLUGMC_TYPE_INTEGER, 0, offsetof(plane_waves, virtual_orbitals), "0", 0, 4096, "",
     NULL, "number of orbitals beyond those that are occupied, for expansions in determinants", 0},
};

static const plugmc_orbitals orbitals = {.size = sizeof orbitals,
                                         .on_device = 1,
                                         .count = formulas_count,
                                         .complex_valued = formulas_complex,
                                         .evaluate = formulas_evaluate,
                                         .twist = turns_of};

static const plugmc_potential potential = {.size = sizeof potential};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "plane_waves",
              .summary = "orbitals of free electrons in a periodic box",
              .reference = "Martin, Reining, Ceperley, Interacting Electrons, chapter 5",
              PLUGMC_KEYS(plane_waves, table), PLUGMC_OFFERS({PLUGMC_ORBITALS, &orbitals}),
              .potential = &potential, .prepare = prepare, .gpu_source = formulas_gpu_source)
