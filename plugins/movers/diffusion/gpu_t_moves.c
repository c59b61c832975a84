/* T-moves of walkers on a GPU: t_moves.c says what they are, t_moves.cu has the kernels. Places stay there; the host
 * learns in which walkers an electron has moved, and goes round again with those. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double BATCH_BYTES = 1e9; /* of orbitals at places that are looked at again */

int gpu_t_moves_prepare(diffusion *d, const plugmc_host *host, const plugmc_gpu_source *text)
{
    diffusion_gpu *g = d->gpu;
    t_moves *t = &g->t_moves;
    const size_t walkers = (size_t)d->system->walkers, particles = (size_t)d->system->particles;
    const char *const number = d->is_complex ? "complex" : "real";
    char put[48], energies[48];
    snprintf(put, sizeof put, "dmc_put_%s_%s", g->lanes == DMC_TEAM ? "block" : "warp", number);
    snprintf(energies, sizeof energies, "dmc_energies_%s", number);
    const struct {
        const char *name;
        plugmc_kernel **kernel;
    } kernels[] = {
        {"dmc_ranges", &t->find_ranges},
        {"dmc_choose", &t->choose},
        {"dmc_destinations", &t->destinations},
        {put, &t->put},
        {"dmc_later", &t->find_later},
        {"dmc_points", &t->find_points},
        {energies, &t->energies},
    };
    const struct {
        device_pointer *place;
        size_t bytes;
    } arrays[] = {
        {&t->ranges, walkers * particles * 16},
        {&t->next, walkers * 4},
        {&t->electron, walkers * 4},
        {&t->tried, walkers * 4},
        {&t->list, walkers * 4},
        {&t->later, walkers * 16},
        {&t->points, walkers * 24},
    };
    const double fits = BATCH_BYTES / (8 * (double)d->numbers + 32);
    int code = PLUGMC_OK;
    for (size_t i = 0; i < PLUGMC_COUNT(kernels) && !code; i++)
        code = host->gpu->kernel(host->context, text, kernels[i].name, kernels[i].kernel);
    for (size_t i = 0; i < PLUGMC_COUNT(arrays) && !code; i++)
        code = host->gpu->allocate(host->context, arrays[i].bytes, arrays[i].place);
    t->most = fits < 1 ? 1 : (int64_t)fits;
    t->host_electron = host->allocate(host->context, walkers * sizeof *t->host_electron);
    t->host_list = host->allocate(host->context, walkers * sizeof *t->host_list);
    t->host_later = host->allocate(host->context, walkers * sizeof *t->host_later);
    if (!code && !(t->host_electron && t->host_list && t->host_later))
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers", walkers);
    return code;
}

/* ---- Choosing and moving --------------------------------------------------------------------- */

/* n walkers of the list choose; of all of them if n is 0. host_electron says who moves. */
static int choose(diffusion *d, const plugmc_host *host, dmc_task *task, device_pointer places,
                  int32_t n)
{
    t_moves *t = &d->gpu->t_moves;
    const size_t bytes = (size_t)task->walkers * sizeof *t->host_electron;
    device_pointer list = n ? t->list : 0;
    int32_t choosing = n ? n : task->walkers;
    int code = host->gpu->fill(host->context, t->electron, 0xff, bytes); /* -1 */
    if (!code)
        code = launch(host, t->choose, blocks_for(choosing, DMC_THREADS / DMC_WARP), 1, 1,
                      DMC_THREADS, 0,
                      (void *[]){task, &choosing, &list, &places, &t->ranges, &t->next,
                                 &t->electron, &t->tried});
    return code ? code : host->gpu->download(host->context, t->host_electron, t->electron, bytes);
}

/* Walkers in which an electron of the spin moves, or of any if that is -1: how many, in `list`. */
static int list_movers(diffusion *d, const plugmc_host *host, int spin, int32_t *count)
{
    t_moves *t = &d->gpu->t_moves;
    const plugmc_system *system = d->system;
    int32_t n = 0;
    for (int32_t w = 0; w < system->walkers; w++) {
        const int32_t e = t->host_electron[w];
        if (e >= 0 && (spin < 0 || (e >= system->first[spin] && e < system->first[spin + 1])))
            t->host_list[n++] = w;
    }
    *count = n;
    return n ? host->gpu->upload(host->context, t->list, t->host_list,
                                 (size_t)n * sizeof *t->host_list)
             : PLUGMC_OK;
}

static int move_spin(diffusion *d, const plugmc_host *host, int spin)
{
    diffusion_gpu *g = d->gpu;
    t_moves *t = &g->t_moves;
    dmc_task task = task_of(d, spin);
    int32_t n;
    int code = list_movers(d, host, spin, &n);
    if (code || !n) return code;
    code = launch(host, t->destinations, blocks_for(3 * (int64_t)n, DMC_THREADS), 1, 1, DMC_THREADS,
                  0, (void *[]){&task, &n, &t->list, &t->points});
    if (!code) code = gpu_orbitals(d, host, spin, n, t->points, g->values, g->new_slopes);
    if (code) return code;
    void *arguments[] = {&task, &n, &t->list, &t->electron};
    return g->lanes == DMC_TEAM ? launch(host, t->put, (uint32_t)n, 1, 1, DMC_TEAM, 0, arguments)
                                : launch(host, t->put, blocks_for(n, DMC_SHARED / DMC_WARP), 1, 1,
                                         DMC_SHARED, 0, arguments);
}

/* ---- Energies again -------------------------------------------------------------------------- */

static int need(const plugmc_host *host, device_pointer *at, int64_t *room, int64_t wanted,
                size_t size)
{
    if (wanted <= *room) return PLUGMC_OK;
    int code = *at ? host->gpu->release(host->context, *at) : PLUGMC_OK;
    *room = wanted + wanted / 2;
    return code ? code : host->gpu->allocate(host->context, (size_t)*room * size, at);
}

/* Energies of n places, their numbers in `which`. */
static int find_batch(diffusion *d, const plugmc_host *host, dmc_task *task, device_pointer places,
                      const int64_t *which, int64_t n)
{
    t_moves *t = &d->gpu->t_moves;
    int code = need(host, &t->which, &t->which_room, n, sizeof *which);
    if (!code) code = need(host, &t->place_points, &t->points_room, n, 24);
    if (!code) code = need(host, &t->place_values, &t->values_room, n, (size_t)d->numbers * 8);
    if (!code) code = host->gpu->upload(host->context, t->which, which, (size_t)n * sizeof *which);
    if (!code)
        code = launch(host, t->find_points, blocks_for(3 * n, DMC_THREADS), 1, 1, DMC_THREADS, 0,
                      (void *[]){&n, &t->which, &places, &t->place_points});
    if (!code) code = gpu_orbitals(d, host, task->spin, n, t->place_points, t->place_values, 0);
    return code ? code
                : launch(host, t->energies, blocks_for(n, DMC_SHARED / DMC_WARP), 1, 1, DMC_SHARED,
                         0, (void *[]){task, &n, &t->which, &t->place_values, &places});
}

/* Places to come, of electrons of a spin, of the n walkers of the list. */
static int find_spin_again(diffusion *d, const plugmc_host *host, int spin, int32_t n,
                           device_pointer places)
{
    t_moves *t = &d->gpu->t_moves;
    dmc_task task = task_of(d, spin);
    int64_t all = 0;
    int code = launch(host, t->find_later, blocks_for(n, DMC_THREADS), 1, 1, DMC_THREADS, 0,
                      (void *[]){&task, &n, &t->list, &t->next, &t->ranges, &t->later});
    if (!code)
        code = host->gpu->download(host->context, t->host_later, t->later,
                                   (size_t)n * sizeof *t->host_later);
    for (int32_t i = 0; i < n && !code; i++) all += t->host_later[i][1] - t->host_later[i][0];
    if (code || !all) return code;
    int64_t *which = malloc((size_t)all * sizeof *which), k = 0;
    if (!which) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for T-moves");
    for (int32_t i = 0; i < n; i++)
        for (int64_t p = t->host_later[i][0]; p < t->host_later[i][1]; p++) which[k++] = p;
    for (k = 0; k < all && !code; k += t->most)
        code = find_batch(d, host, &task, places, which + k, all - k < t->most ? all - k : t->most);
    free(which);
    return code;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int count_moves(diffusion *d, const plugmc_host *host)
{
    const int32_t *tried = d->gpu->t_moves.host_electron; /* of no interest any more */
    const int code =
        host->gpu->download(host->context, d->gpu->t_moves.host_electron, d->gpu->t_moves.tried,
                            (size_t)d->system->walkers * sizeof *tried);
    for (int32_t w = 0; w < d->system->walkers && !code; w++)
        d->walkers[w].counts[T_MOVE].trials += (uint64_t)tried[w];
    return code;
}

int t_moves_there(diffusion *d, const plugmc_host *host, uint64_t sweep,
                  const plugmc_nonlocal_point *where, int64_t count)
{
    t_moves *t = &d->gpu->t_moves;
    const size_t walkers = (size_t)d->system->walkers, particles = (size_t)d->system->particles;
    device_pointer places = (device_pointer)(uintptr_t)where;
    dmc_task task = task_of(d, 0);
    int32_t n = 0;
    task.sweep = sweep;
    task.tau = d->tau;
    int code = host->gpu->fill(host->context, t->ranges, 0, walkers * particles * 16);
    if (!code) code = host->gpu->fill(host->context, t->tried, 0, walkers * 4);
    if (!code)
        code = launch(host, t->find_ranges, blocks_for(count, DMC_THREADS), 1, 1, DMC_THREADS, 0,
                      (void *[]){&count, &task.particles, &places, &t->ranges});
    do {
        if (!code) code = choose(d, host, &task, places, n);
        for (size_t w = 0; w < walkers && !code; w++)
            if (t->host_electron[w] >= 0) {
                d->walkers[w].counts[T_MOVE].accepted++;
                d->walkers[w].age = 0;
            }
        for (int spin = 0; spin < d->system->species_count && !code; spin++)
            code = move_spin(d, host, spin);
        if (!code) code = list_movers(d, host, -1, &n);
        for (int spin = 0; spin < d->system->species_count && !code && n; spin++)
            code = find_spin_again(d, host, spin, n, places);
    } while (!code && n);
    return code ? code : count_moves(d, host);
}
