/* plane_waves: the orbitals of free electrons in a periodic box,
 *
 *     1, sqrt(2) cos(G.r), sqrt(2) sin(G.r), ...
 *
 * with one of each pair of reciprocal vectors G, -G of the box, in the order of |G|. They are the
 * real combinations of exp(i G.r), so for closed shells (1, 7, 19, 27, 33, 57, ... electrons of a
 * spin in a cubic box) the determinant is that of the homogeneous electron gas, an eigenstate of
 * the kinetic energy (R. M. Martin, L. Reining, D. M. Ceperley, Interacting Electrons, chapter 5).
 * Every species has the lowest orbitals, as many as it has particles.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/plugin.h>

#include "plane_waves.cu"

#include "by_formula.h"

enum { LARGEST_INDEX = 64 };

typedef struct plane_waves {
    formulas waves; /* lowest first, as many as the largest species has particles */
} plane_waves;

/* Lowest |G| first. Those of one shell differ by rounding, so a hair does not count; then by n. */
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
static int is_first(const int32_t n[3])
{
    for (int d = 0; d < 3; d++)
        if (n[d] != 0) return n[d] > 0;
    return 1;
}

static orbital wave_of(const plugmc_box *box, const int32_t n[3], int32_t sine)
{
    orbital w = {.sine = sine, .factor = n[0] || n[1] || n[2] ? sqrt(2.0) : 1};
    for (int d = 0; d < 3; d++) {
        w.n[d] = n[d];
        for (int e = 0; e < 3; e++) w.g[e] += 2 * M_PI * n[d] * box->inverse[e][d];
    }
    for (int e = 0; e < 3; e++) w.square += w.g[e] * w.g[e];
    return w;
}

/* Bounds of the indices with |G| up to `longest`: n_d = G.a_d / (2 pi), at most |G| |a_d| / (2 pi).
 */
static int index_bounds(const plugmc_box *box, double longest, int32_t bound[3])
{
    int largest = 0;
    for (int d = 0; d < 3; d++) {
        const double *a = box->vector[d];
        double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        bound[d] = d < box->dimension ? (int32_t)fmin(longest * length / (2 * M_PI), 1e4) : 0;
        if (bound[d] > largest) largest = bound[d];
    }
    return largest;
}

/* All waves with |G| up to `longest`, sorted; returns how many, -1 without memory. */
static int64_t list_waves(const plugmc_box *box, double longest, orbital **out)
{
    int32_t bound[3], n[3];
    int64_t found = 0;
    index_bounds(box, longest, bound);
    const size_t room =
        (size_t)(2 * bound[0] + 1) * (size_t)(2 * bound[1] + 1) * (size_t)(2 * bound[2] + 1) + 1;
    orbital *waves = malloc(room * sizeof *waves);
    *out = waves;
    if (!waves) return -1;
    for (n[0] = -bound[0]; n[0] <= bound[0]; n[0]++)
        for (n[1] = -bound[1]; n[1] <= bound[1]; n[1]++)
            for (n[2] = -bound[2]; n[2] <= bound[2]; n[2]++) {
                if (!is_first(n)) continue;
                orbital w = wave_of(box, n, 0);
                if (w.square > longest * longest) continue;
                waves[found++] = w;
                if (w.square > 0) waves[found++] = wave_of(box, n, 1);
            }
    qsort(waves, (size_t)found, sizeof *waves, by_square);
    return found;
}

/* The sphere of G grows until it has the waves wanted, and one more to see where shells end. */
static int find_waves(formulas *f, const plugmc_host *host)
{
    const plugmc_box *box = &host->system->box;
    double longest = 2 * M_PI * pow((double)f->count / box->volume, 1.0 / box->dimension);
    orbital *waves = NULL;
    int64_t found;
    while ((found = list_waves(box, longest, &waves)) >= 0 && found <= f->count) {
        int32_t bound[3];
        free(waves);
        waves = NULL;
        longest *= 1.3;
        if (index_bounds(box, longest, bound) > LARGEST_INDEX)
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "%lld plane waves in this box need reciprocal vectors beyond index %d",
                (long long)f->count, LARGEST_INDEX);
    }
    const size_t bytes = (size_t)f->count * sizeof *waves;
    f->orbitals = found < 0 ? NULL : host->allocate(host->context, bytes);
    if (f->orbitals) memcpy(f->orbitals, waves, bytes);
    for (int32_t s = 0; s < host->system->species_count && f->orbitals; s++) {
        const int64_t n = plugmc_species_at(host->system, s)->count;
        if (n > 0 && fabs(waves[n].square - waves[n - 1].square) < 1e-9 * waves[n].square)
            host->warn(host->context,
                       "%lld electrons of species '%s' do not fill a shell of plane waves: the "
                       "determinant is no closed shell",
                       (long long)n, plugmc_species_at(host->system, s)->name);
    }
    free(waves);
    return f->orbitals
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for plane waves");
}

static int prepare(void *instance, const plugmc_host *host)
{
    formulas *f = &((plane_waves *)instance)->waves;
    const plugmc_system *system = host->system;
    f->host = host;
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "plane waves need a periodic box; this one is a sphere");
    for (int32_t s = 0; s < system->species_count; s++)
        if (plugmc_species_at(system, s)->count > f->count)
            f->count = plugmc_species_at(system, s)->count;
    int code = find_waves(f, host);
    return code ? code : formulas_prepare(f, host);
}

static const plugmc_orbitals orbitals = {.size = sizeof orbitals,
                                         .on_device = 1,
                                         .count = formulas_count,
                                         .complex_valued = formulas_complex,
                                         .evaluate = formulas_evaluate};

static const plugmc_potential potential = {.size = sizeof potential, .orbitals = &orbitals};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "plane_waves",
              .summary = "orbitals of free electrons in a periodic box",
              .reference = "Martin, Reining, Ceperley, Interacting Electrons, chapter 5",
              .instance_size = sizeof(plane_waves), .potential = &potential, .prepare = prepare,
              .kernel_text = formulas_kernel_text)
