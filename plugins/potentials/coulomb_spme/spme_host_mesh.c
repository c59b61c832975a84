/* Memory of the mesh on the CPU, and FFTW's plans for it. */
#include <omp.h>

#include "spme_host.h"

static void *take(const spme *m, size_t count, size_t size, int *missing)
{
    void *memory = m->host->allocate(m->host->context, count * size);
    *missing |= memory == NULL;
    return memory;
}

static int fill_workspace(const spme *m, const struct spme_host_mesh *h, workspace *s, int threads)
{
    const size_t x = (size_t)h->half_x, pitch = (size_t)h->pitch;
    const size_t y = (size_t)m->set.grid[1], z = (size_t)m->set.grid[2];
    const size_t n = (size_t)m->host->system->particles, team = (size_t)threads;
    int missing = 0;
    s->threads = threads;
    s->waves = take(m, z * y * x, sizeof *s->waves, &missing);
    s->field = take(m, z * y * pitch, sizeof *s->field, &missing);
    s->plane = take(m, team * y * pitch, sizeof *s->plane, &missing);
    s->slab = take(m, team * z * x, sizeof *s->slab, &missing);
    s->partial = take(m, 4 * y, sizeof *s->partial, &missing);
    s->found = take(m, n, sizeof *s->found, &missing);
    s->sites = take(m, n, sizeof *s->sites, &missing);
    s->first = take(m, z * y + 1, sizeof *s->first, &missing);
    s->weights = take(m, n * 3 * (size_t)m->set.order, sizeof *s->weights, &missing);
    if (m->set.balance_forces) s->forces = take(m, 3 * n, sizeof *s->forces, &missing);
    if (m->exclusions.first) s->share = take(m, 4 * n, sizeof *s->share, &missing);
    if (m->limit.stretch > 0) missing |= !spme_new_tables(m, &s->other);
    return !missing;
}

static int make_plans(struct spme_host_mesh *h, const int32_t *grid)
{
    workspace *s = &h->space[0];
    const int plane[2] = {grid[1], grid[0]}, embedded[2] = {grid[1], h->pitch};
    const int waves[2] = {grid[1], h->half_x}, z = grid[2], x = h->half_x;
    h->plane_forward = fftw_plan_many_dft_r2c(2, plane, 1, s->plane, embedded, 1, 0, s->waves,
                                              waves, 1, 0, FFTW_ESTIMATE);
    h->plane_backward = fftw_plan_many_dft_c2r(2, plane, 1, s->waves, waves, 1, 0, s->field,
                                               embedded, 1, 0, FFTW_ESTIMATE);
    h->column_forward = fftw_plan_many_dft(1, &z, x, s->slab, NULL, x, 1, s->slab, NULL, x, 1,
                                           FFTW_FORWARD, FFTW_ESTIMATE);
    h->column_backward = fftw_plan_many_dft(1, &z, x, s->slab, NULL, x, 1, s->slab, NULL, x, 1,
                                            FFTW_BACKWARD, FFTW_ESTIMATE);
    return h->plane_forward && h->plane_backward && h->column_forward && h->column_backward;
}

int spme_make_host_mesh(spme *m)
{
    const plugmc_system *system = m->host->system;
    const int threads = system->threads > 0 ? system->threads : omp_get_max_threads();
    int missing = 0;
    struct spme_host_mesh *h = take(m, 1, sizeof *h, &missing);
    if (missing)
        return m->host->fail(m->host->context, PLUGMC_ERROR_MEMORY, "no memory for a mesh");
    h->half_x = m->set.grid[0] / 2 + 1;
    h->pitch = (m->set.grid[0] + SPME_MOST_ORDER + 7) / 8 * 8;
    h->workspaces = threads < system->walkers ? threads : system->walkers;
    h->threads = threads;
    if (h->workspaces < threads) h->workspaces = 1; /* all threads for one walker after the other */
    h->space = take(m, (size_t)h->workspaces, sizeof *h->space, &missing);
    for (int i = 0; i < h->workspaces && !missing; i++)
        missing |= !fill_workspace(m, h, &h->space[i], h->workspaces > 1 ? 1 : threads);
    if (missing)
        return m->host->fail(m->host->context, PLUGMC_ERROR_MEMORY,
                             "no memory for %d grids of %d x %d x %d points", h->workspaces,
                             m->set.grid[0], m->set.grid[1], m->set.grid[2]);
    if (!make_plans(h, m->set.grid))
        return m->host->fail(m->host->context, PLUGMC_ERROR_STATE,
                             "FFTW cannot plan transforms of %d x %d x %d points", m->set.grid[0],
                             m->set.grid[1], m->set.grid[2]);
    m->on_host = h;
    return PLUGMC_OK;
}

void spme_host_release(spme *m)
{
    if (!m->on_host) return;
    fftw_plan plans[] = {m->on_host->plane_forward, m->on_host->plane_backward,
                         m->on_host->column_forward, m->on_host->column_backward};
    for (int i = 0; i < 4; i++)
        if (plans[i]) fftw_destroy_plan(plans[i]);
}
