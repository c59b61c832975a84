/* Which threads look at which walkers of an Ewald sum, where whole configurations are summed on the host.
 *
 * Where there are more walkers than threads each thread takes walkers of its own: the threads of a walker wait for each
 * other several times, which costs more than its waves, above all beside other programs. Sums have the same bits either
 * way, since all of one are added up by the same thread in the same order.
 */
#include <stdlib.h>
#include <string.h>

#include "sum_parts.h"

/* A sum with arrays of its own for the walker at hand, and everything else from the sum that it is a copy of. */
typedef struct own_sum {
    ewald_sum sum;
    double *memory;
} own_sum;

static double *next(double **at, size_t numbers)
{
    double *here = *at;
    *at += numbers;
    return here;
}

static int open_own(const ewald_sum *s, own_sum *own)
{
    const size_t n = (size_t)s->system->particles, waves = (size_t)s->waves,
                 others = s->other.box ? waves : 0;
    size_t numbers = 2 * waves + 7 * others;
    for (int d = 0; d < 3; d++) numbers += 2 * n * (size_t)(s->most[d] + 1);
    double *at = own->memory = malloc(numbers * sizeof *at);
    if (!at) return PLUGMC_ERROR_MEMORY;
    own->sum = *s;
    own->sum.alone = 1;
    own->sum.fresh = (complex_table){next(&at, waves), next(&at, waves)};
    for (int d = 0; d < 3; d++) {
        const size_t phases = n * (size_t)(s->most[d] + 1);
        own->sum.phase[d].re = next(&at, phases);
        own->sum.phase[d].im = next(&at, phases);
    }
    own->sum.other.spectrum.weight = next(&at, others);
    for (int d = 0; d < 3; d++) {
        own->sum.other.spectrum.k[d] = next(&at, others);
        own->sum.other.spectrum.virial[d] = next(&at, others);
    }
    return PLUGMC_OK;
}

static int side_by_side(const ewald_sum *s, int32_t walkers, walker_task *task, const void *what)
{
    int code = PLUGMC_OK;
#pragma omp parallel num_threads(s->system->threads) reduction(max : code)
    {
        own_sum own;
        code = open_own(s, &own);
#pragma omp for schedule(dynamic)
        for (int32_t w = 0; w < walkers; w++)
            if (!code) code = task(&own.sum, what, w);
        free(own.memory);
    }
    return code ? s->host->fail(s->host->context, code, "no memory for the phases of the particles")
                : PLUGMC_OK;
}

/* What the user is told does not depend on which thread comes first: boxes and places are looked at before. */
int ewald_each_walker(ewald_sum *s, const plugmc_view *view, walker_task *task, const void *what)
{
    const int32_t walkers = plugmc_walkers_of(view, s->system);
    int code = all_finite(s, view);
    for (int32_t w = 0; w < walkers && s->other.box && !code; w++)
        code = waves_suffice(s, box_of(s, view, w), w);
    if (code) return code;
    if (s->system->threads > 1 && walkers >= s->system->threads)
        return side_by_side(s, walkers, task, what);
    for (int32_t w = 0; w < walkers && !code; w++) code = task(s, what, w);
    return code ? s->host->fail(s->host->context, code, "no memory for the phases of the particles")
                : PLUGMC_OK;
}
