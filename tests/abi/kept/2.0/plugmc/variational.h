/* plugmc/variational.h: makes the parts of plugmc_variational (plugmc/wave.h) that depend on the author's
 * functions, from one source for CPU and GPU. Include it after these functions.
 *
 * PLUGMC_VARIATIONAL is the sum of the functions that the author has written:
 *
 *     PLUGMC_VARIATIONAL_PAIR    void pair_variational(const parameters *p, plugmc_position at, plugmc_separation s,
 *                                            plugmc_site a, plugmc_site b, const plugmc_tally *t)
 *                             contribution of a pair: a at `at`; b, or an image of it, at `at` - s
 *     PLUGMC_VARIATIONAL_FIELD   void field_variational(const parameters *p, plugmc_position r, plugmc_site a,
 *                                             const plugmc_tally *t)
 *                             contribution of one electron
 *
 * Both call plugmc_tally_add or plugmc_tally_radial (plugmc/tally.h) for each sum that is not 0; sums are counted
 * from 0. ln |Psi| = -U/2, U being the energy over kT. Often the sums are themselves the derivatives O_k = d ln
 * |Psi| / dp_k; otherwise the derivatives are combined from them. For the CPU the author also writes
 *
 *     int64_t variational_sums(const parameters *p)                                        number of sums
 *     void variational_combine(const parameters *p, const double *sums, double *row)       adds O_k to row [count]
 *
 * The result is PLUGMC_VARIATIONAL_MEMBERS, initialisers of plugmc_variational: derivatives, at_points, functions,
 * sums, combine. */
#if PLUGMC_HOST
#include <stdlib.h>
#include <string.h>

#include "plugmc/wave.h"

/* A walker. Electrons are numbered through all species. */
typedef struct plugmc_variational_walker {
    const parameters *p;
    const plugmc_system *system;
    const double *r; /* [particles][3], length */
    plugmc_images images;
    int mode;
    plugmc_tally tally;
} plugmc_variational_walker;

static plugmc_variational_walker plugmc_variational_walker_of(const void *instance,
                                                              const plugmc_host *host,
                                                              const plugmc_view *view,
                                                              int32_t walker)
{
    const plugmc_box *box = &view->box[walker];
    plugmc_variational_walker k = {
        .p = (const parameters *)instance,
        .system = host->system,
        .r = view->positions + 3 * walker * host->system->particles,
        .tally = {.stride = 1, .dimension = box->dimension, .factor = 1}};
    k.mode = plugmc_images_of(box, box->domain == PLUGMC_DOMAIN_PERIODIC, &k.images);
    return k;
}

static plugmc_site plugmc_variational_site(const plugmc_system *system, int64_t electron)
{
    int32_t species = 0;
    while (electron >= system->first[species + 1]) species++;
    const plugmc_species *s = plugmc_species_at(system, species);
    return (plugmc_site){(real)s->charge, (real)s->diameter, species};
}

/* The pair of an electron at `at` with electron j. */
static void plugmc_variational_add_pair(const plugmc_variational_walker *k, const double at[3],
                                        plugmc_site a, int64_t j)
{
#if PLUGMC_VARIATIONAL & PLUGMC_VARIATIONAL_PAIR
    const double *q = k->r + 3 * j;
    const plugmc_separation s = plugmc_separate((real)(at[0] - q[0]), (real)(at[1] - q[1]),
                                                (real)(at[2] - q[2]), &k->images, k->mode);
    pair_variational(k->p, (plugmc_position){(real)at[0], (real)at[1], (real)at[2]}, s, a,
                     plugmc_variational_site(k->system, j), &k->tally);
#else
    (void)k, (void)at, (void)a, (void)j;
#endif
}

/* The one-body part of an electron at `at`. */
static void plugmc_variational_add_field(const plugmc_variational_walker *k, const double at[3],
                                         plugmc_site a)
{
#if PLUGMC_VARIATIONAL & PLUGMC_VARIATIONAL_FIELD
    field_variational(k->p, (plugmc_position){(real)at[0], (real)at[1], (real)at[2]}, a, &k->tally);
#else
    (void)k, (void)at, (void)a;
#endif
}

/* All pairs and electrons of a walker; drift [electrons][3] or NULL. */
static void plugmc_variational_add_walker(plugmc_variational_walker *k, const double *drift)
{
    plugmc_tally *t = &k->tally;
    for (int64_t i = 0; i < k->system->particles; i++) {
        const double *at = k->r + 3 * i;
        const plugmc_site a = plugmc_variational_site(k->system, i);
        if (drift) memcpy(t->drift_a, drift + 3 * i, sizeof t->drift_a);
        for (int64_t j = 0; j < i; j++) {
            if (drift) memcpy(t->drift_b, drift + 3 * j, sizeof t->drift_b);
            plugmc_variational_add_pair(k, at, a, j);
        }
        memset(t->drift_b, 0, sizeof t->drift_b);
        plugmc_variational_add_field(k, at, a);
    }
}

/* All parts that depend on one electron, if it is at `at`. */
static void plugmc_variational_add_electron(const plugmc_variational_walker *k, int64_t electron,
                                            const double at[3], double *sums, double factor)
{
    plugmc_variational_walker here = *k;
    const plugmc_site a = plugmc_variational_site(k->system, electron);
    here.tally.values = sums;
    here.tally.factor = factor;
    for (int64_t j = 0; j < k->system->particles; j++)
        if (j != electron) plugmc_variational_add_pair(&here, at, a, j);
    plugmc_variational_add_field(&here, at, a);
}

static int plugmc_variational_derivatives(const void *instance, const plugmc_host *host,
                                          const plugmc_variational_request *q)
{
    const parameters *p = (const parameters *)instance;
    const size_t n = (size_t)variational_sums(p);
    double *sums = malloc((2 * n + 1) * sizeof *sums);
    if (!sums) return PLUGMC_ERROR_MEMORY;
    for (int32_t w = 0; w < q->walkers; w++) {
        plugmc_variational_walker k = plugmc_variational_walker_of(p, host, q->view, q->first + w);
        memset(sums, 0, 2 * n * sizeof *sums);
        k.tally.values = q->derivatives ? sums : NULL;
        k.tally.kinetic = q->kinetic ? sums + n : NULL;
        plugmc_variational_add_walker(&k, q->kinetic ? q->drift + 3 * w * host->system->particles
                                                     : NULL);
        if (q->derivatives) variational_combine(p, sums, q->derivatives + w * q->row);
        if (q->kinetic) variational_combine(p, sums + n, q->kinetic + w * q->row);
    }
    free(sums);
    return PLUGMC_OK;
}

static int plugmc_variational_at_points(const void *instance, const plugmc_host *host,
                                        const plugmc_variational_points *q)
{
    const parameters *p = (const parameters *)instance;
    const size_t n = (size_t)variational_sums(p);
    double *sums = calloc(2 * n + 1, sizeof *sums), *there = sums ? sums + n : NULL;
    if (!sums) return PLUGMC_ERROR_MEMORY;
    const plugmc_variational_walker k = plugmc_variational_walker_of(p, host, q->view, q->walker);
    plugmc_variational_add_electron(&k, q->particle, k.r + 3 * q->particle, sums, -1);
    for (int64_t i = 0; i < q->points; i++) {
        memcpy(there, sums, n * sizeof *sums);
        plugmc_variational_add_electron(&k, q->particle, q->position[i], there, 1);
        variational_combine(p, there, q->changes + i * q->row);
    }
    free(sums);
    return PLUGMC_OK;
}

static int64_t plugmc_variational_count_sums(const void *instance)
{
    return variational_sums((const parameters *)instance);
}

static void plugmc_variational_combine(const void *instance, const double *sums, double *row)
{
    variational_combine((const parameters *)instance, sums, row);
}

#define PLUGMC_VARIATIONAL_MEMBERS                                                                 \
    .derivatives = plugmc_variational_derivatives, .at_points = plugmc_variational_at_points,      \
    .functions = PLUGMC_VARIATIONAL, .sums = plugmc_variational_count_sums,                        \
    .combine = plugmc_variational_combine
#endif
