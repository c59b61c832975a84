/* Walkers on the CPU: their memory, copies, and places in and out. walk.c moves them. */
#include "../../determinants/spin_table.h"
#include "diffusion.h"

#include <string.h>

/* ---- In and out ------------------------------------------------------------------------------ */

static int take(diffusion *d, const plugmc_host *host, const double *positions)
{
    (void)host;
    for (int32_t w = 0; w < d->system->walkers; w++)
        for (int64_t i = 0; i < d->system->particles; i++, positions += 3) {
            d->walkers[w].x[i] = positions[0];
            d->walkers[w].y[i] = positions[1];
            d->walkers[w].z[i] = positions[2];
        }
    return PLUGMC_OK;
}

static int fetch(const diffusion *d, const plugmc_host *host, double *positions)
{
    (void)host;
    for (int32_t w = 0; w < d->system->walkers; w++)
        for (int64_t i = 0; i < d->system->particles; i++, positions += 3) {
            positions[0] = d->walkers[w].x[i];
            positions[1] = d->walkers[w].y[i];
            positions[2] = d->walkers[w].z[i];
        }
    return PLUGMC_OK;
}

static int keep_base(diffusion *d, const plugmc_host *host) { return fetch(d, host, d->base); }

static int fetch_base(const diffusion *d, const plugmc_host *host, double *positions)
{
    (void)host;
    memcpy(positions, d->base,
           3 * (size_t)(d->system->walkers * d->system->particles) * sizeof *positions);
    return PLUGMC_OK;
}

static int view(diffusion *d, const plugmc_host *host, plugmc_view *out)
{
    const int code = fetch(d, host, d->places);
    return code ? code : host->view(host->context, d->places, 0, out);
}

static int lend(diffusion *d, const plugmc_host *host, plugmc_inverses *out)
{
    (void)host, (void)out;
    for (int spin = 0; spin < SPINS; spin++)
        for (int32_t w = 0; w < d->system->walkers && electrons_of(d, spin); w++)
            d->lent[spin][w] = d->walkers[w].spin[spin].inverse;
    return PLUGMC_OK;
}

static int report(diffusion *d, const plugmc_host *host)
{
    (void)d, (void)host; /* they always are */
    return PLUGMC_OK;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

static void copy_walker(const diffusion *d, const walker *from, walker *to)
{
    const size_t particles = (size_t)d->system->particles;
    memcpy(to->x, from->x, 3 * particles * sizeof *to->x); /* y and z behind it */
    memcpy(to->slopes, from->slopes, 3 * particles * (size_t)d->wave.numbers * sizeof *to->slopes);
    for (int spin = 0; spin < SPINS; spin++)
        if (electrons_of(d, spin)) slater_copy(&from->spin[spin], &to->spin[spin]);
    to->parts = from->parts;
}

static int copies(diffusion *d, const plugmc_host *host)
{
    (void)host;
#pragma omp parallel for schedule(dynamic) num_threads(d->threads) if (d->threads > 1)
    for (int32_t w = 0; w < d->system->walkers; w++)
        if (d->population.from[w] != w)
            copy_walker(d, &d->walkers[d->population.from[w]], &d->walkers[w]);
    return PLUGMC_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

enum { GROUP_BYTES = 64 << 20 }; /* of orbitals that are evaluated together, with gradients */

/* Rows of the inverse grow with a block, touching all of it gets rarer: bench/results/2026-11-26-one-core-cpu.md. */
static int64_t usual_block(int64_t electrons)
{
    return electrons < 64 ? 1 : electrons < 256 ? 8 : 32;
}

static int prepare(diffusion *d, const plugmc_host *host)
{
    plugmc_context *context = host->context;
    const size_t walkers = (size_t)d->system->walkers, particles = (size_t)d->system->particles,
                 row = (size_t)d->wave.numbers, most = (size_t)d->wave.most;
    const size_t fits = GROUP_BYTES / (4 * most * row * sizeof(double));
    size_t bytes = 0;
    d->capacity = d->set.block > 0 ? d->set.block : d->wave.sum ? 1 : usual_block(d->wave.most);
    d->batch.group = fits < 1 ? 1 : fits < walkers ? (int32_t)fits : d->system->walkers;
    const size_t together = (size_t)d->batch.group * most,
                 points = together > walkers ? together : walkers;
    if (d->wave.sum)
        bytes = spin_tables_bytes(d->wave.sum, d->wave.pitch, d->wave.is_complex, d->capacity);
    for (int spin = 0; spin < SPINS && !d->wave.sum; spin++)
        if (electrons_of(d, spin))
            bytes += slater_bytes(electrons_of(d, spin), d->wave.is_complex, d->capacity);
    char *matrices = host->allocate(context, walkers * bytes);
    double *each = host->allocate(context, walkers * particles * (3 + 3 * row) * sizeof *each);
    d->batch.points = host->allocate(context, 3 * points * sizeof *d->batch.points);
    d->batch.values = host->allocate(context, 4 * points * row * sizeof *d->batch.values);
    d->base = host->allocate(context, 3 * walkers * particles * sizeof *d->base);
    if (!matrices || !each || !d->batch.points || !d->batch.values || !d->base)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY,
                          "no memory for %zu walkers of %zu electrons", walkers, particles);
    d->batch.room = (int64_t)points;
    d->batch.slopes = d->batch.values + points * row;
    for (size_t k = 0; k < walkers; k++, each += particles * (3 + 3 * row)) {
        walker *w = &d->walkers[k];
        w->x = each;
        w->y = each + particles;
        w->z = each + 2 * particles;
        w->slopes = each + 3 * particles;
        if (d->wave.sum)
            spin_tables_prepare(w->spin, matrices + k * bytes, d->wave.sum, d->wave.pitch,
                                d->wave.is_complex, d->capacity);
        for (int spin = 0; spin < SPINS && !d->wave.sum; spin++) {
            const int64_t n = electrons_of(d, spin);
            if (n)
                slater_prepare(&w->spin[spin], matrices, n, d->wave.pitch, d->wave.is_complex,
                               d->capacity);
            if (n) matrices += slater_bytes(n, d->wave.is_complex, d->capacity);
        }
    }
    return wave_function_electrons(&d->wave, host);
}

const diffusion_engine diffusion_on_cpu = {.prepare = prepare,
                                           .take = take,
                                           .give = fetch,
                                           .fetch = fetch,
                                           .anew = walk_anew,
                                           .moves = walk,
                                           .copies = copies,
                                           .keep_base = keep_base,
                                           .fetch_base = fetch_base,
                                           .view = view,
                                           .t_moves = t_moves_here,
                                           .lend = lend,
                                           .report = report};
