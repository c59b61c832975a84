/* Several blocks of electrons before the inverse matrix M is touched. Part of gpu_blocks.h.
 *
 * An update by the columns of one block makes poor use of a GPU where M is large: M is read and written for few
 * operations. So blocks are gathered (delayed updates: T. McDaniel, E. F. D'Azevedo, Y. W. Li, K. Wong, P. R. C. Kent,
 * J. Chem. Phys. 147, 174107 (2017)). Decisions about all of them need no more than G[i][j] = v_i . M[e_j] of the
 * electrons that are gathered, which is found first. After the decisions about a block the rest of G is eliminated by
 * it, so that the next one finds its own part of G as if M had been updated; at the end G has, for the electrons C that
 * are taken, the inverse of what G[C][C] was in the beginning. Only then, and for C alone,
 *
 *     P = V[C] M^T - (1 where j = e_i),  X = G[C][C]^-1 P,  M -= X^T M[C].
 *
 * What is rejected costs its part of G. How many are taken differs by walker: matrices are multiplied for as many as the
 * walker with most has, the others' rows are 0. The host waits for that number; the GPU has the last elimination to do
 * meanwhile. */
#ifndef VMC_GPU_GATHERED_H
#define VMC_GPU_GATHERED_H

enum { ROWS_AT_A_TIME = 8 }; /* of products: what cuBLAS has kernels for */

/* What goes on while blocks are gathered. */
typedef struct vmc_gathering {
    vmc_gathered device;
    device_pointer inverse;
    int32_t walkers, parts;
    int64_t count;     /* electrons that are gathered */
    int64_t electrons; /* of the spin */
} vmc_gathering;

/* G of all that are gathered: rows are proposals, columns electrons. */
static int find_overlaps(const vmc *v, const plugmc_host *host, const vmc_block *b,
                         const vmc_gathering *s)
{
    const vmc_gpu *g = v->gpu;
    const int64_t n = s->electrons, size = g->gathered;
    const size_t counts = (size_t)(g->group + 1) * sizeof(int32_t);
    int code = host->gpu->fill(host->context, g->counts, 0, counts);
    if (!code) code = gather_rows(v, host, b, (int32_t)s->count, s->inverse, 0, s->walkers);
    return code ? code
                : matrices_multiply(&g->matrices, host, TRANSPOSED, KEEP_AS_IS, s->count, s->count,
                                    n, 1, from_walker(s->inverse, b->first, n * g->number), n,
                                    n * n, g->taken, n, size * n, 0, g->overlaps, size, size * size,
                                    s->walkers);
}

/* G after the decisions about a block. */
static int eliminate(const vmc *v, const plugmc_host *host, vmc_block *b, vmc_gathering *s)
{
    vmc_gpu *g = v->gpu;
    const int64_t size = g->gathered, capacity = g->capacity;
    const device_pointer rows = from_walker(g->overlaps, s->device.column, size * g->number);
    int code = matrices_multiply(&g->matrices, host, KEEP_AS_IS, KEEP_AS_IS, s->count, b->size,
                                 b->size, 1, rows, size, size * size, g->small, capacity,
                                 capacity * capacity, 0, g->row, size, capacity * size, s->walkers);
    if (!code)
        code = launch(
            host, g->panels, blocks_for(size * s->parts, VMC_THREADS), (uint32_t)b->size,
            (uint32_t)s->walkers, VMC_THREADS, 0,
            (void *[]){b, &s->device, &s->parts, &g->small, &g->overlaps, &g->column, &g->row});
    return code ? code
                : matrices_multiply(&g->matrices, host, KEEP_AS_IS, KEEP_AS_IS, s->count, s->count,
                                    b->size, -1, g->row, size, capacity * size, g->column, capacity,
                                    capacity * size, 1, g->overlaps, size, size * size, s->walkers);
}

/* Rows of those that are taken, 0 behind them; arguments are those of vmc_chosen_rows. */
static int choose_rows(const vmc *v, const plugmc_host *host, vmc_gathering *s, int32_t rows,
                       int32_t first, device_pointer from, device_pointer out, device_pointer less)
{
    int32_t numbers = (int32_t)s->electrons * s->parts;
    return launch(host, v->gpu->chosen_rows, blocks_for(numbers, VMC_THREADS), (uint32_t)s->count,
                  (uint32_t)s->walkers, VMC_THREADS, 0,
                  (void *[]){&s->device, &numbers, &s->parts, &rows, &first, &from, &out, &less});
}

/* M for those that are taken; how many they are is on its way to *largest. */
static int update_for_taken(const vmc *v, const plugmc_host *host, const vmc_block *b,
                            vmc_gathering *s, const int32_t *largest)
{
    vmc_gpu *g = v->gpu;
    const int64_t n = s->electrons, size = g->gathered;
    int code = launch(host, g->chosen_overlaps, blocks_for(size * s->parts, VMC_THREADS),
                      (uint32_t)s->count, (uint32_t)s->walkers, VMC_THREADS, 0,
                      (void *[]){&s->device, &s->parts, &g->overlaps, &g->chosen_overlaps_of});
    if (!code)
        code = choose_rows(v, host, s, (int32_t)size, s->device.first, g->taken, g->solved, 0);
    if (!code) code = host->gpu->arrive(host->context);
    if (code || *largest == 0) return code;
    int64_t rows = (*largest + ROWS_AT_A_TIME - 1) / ROWS_AT_A_TIME * ROWS_AT_A_TIME;
    if (rows > s->count) rows = s->count;
    code =
        matrices_multiply(&g->matrices, host, TRANSPOSED, KEEP_AS_IS, n, rows, n, 1, s->inverse, n,
                          n * n, g->solved, n, size * n, 0, g->products, n, size * n, s->walkers);
    if (!code) code = choose_rows(v, host, s, (int32_t)n, 0, s->inverse, g->taken, g->products);
    if (!code)
        code = matrices_multiply(&g->matrices, host, KEEP_AS_IS, KEEP_AS_IS, n, rows, rows, 1,
                                 g->products, n, size * n, g->chosen_overlaps_of, size, size * size,
                                 0, g->solved, n, size * n, s->walkers);
    return code ? code
                : update_inverse(v, host, b, (int32_t)rows, g->taken, size, g->solved, size,
                                 s->inverse, s->walkers);
}

/* Electrons first ... first + count - 1 of a spin, whose orbitals are known; count is at most `gathered`. */
static int decide_gathered(const vmc *v, const plugmc_host *host, vmc_draws *d, int spin, int32_t n,
                           int64_t first, int64_t count)
{
    const vmc_gpu *g = v->gpu;
    const int64_t electrons = vmc_electrons(v, spin), bytes = electrons * electrons * g->number,
                  size = g->gathered;
    const device_pointer largest =
        g->counts + (device_pointer)(g->group * (int32_t)sizeof(int32_t));
    vmc_gathering s = {
        .device = {.rows = (int32_t)size,
                   .first = (int32_t)first,
                   .chosen = AT(g->chosen, int32_t),
                   .count = AT(g->counts, int32_t),
                   .largest = AT(largest, int32_t),
                   .walker = size * size,
                   .row = (int32_t)size},
        .inverse = from_walker(g->inverse[spin], d->walker, bytes),
        .walkers = n,
        .parts = (int32_t)vmc_numbers(v, 1),
        .count = count,
        .electrons = electrons,
    };
    vmc_block b = block_of(v, spin, first, count, electrons, first);
    int code = find_overlaps(v, host, &b, &s);
    for (int64_t done = 0; done < count && !code; done += b.size) {
        const int64_t left = count - done;
        b = block_of(v, spin, first + done, left < g->capacity ? left : g->capacity, electrons,
                     first + done);
        s.device.column = (int32_t)done;
        code = look_at(v, host, d, &b, spin, n, fields_found(v));
        if (!code)
            code = decide(v, host, d, &b, spin, n,
                          from_walker(g->overlaps, (int32_t)done, size * g->number), &s.device);
        if (!code && left <= b.size)
            code =
                host->gpu->download_later(host->context, g->host_numbers, largest, sizeof(int32_t));
        if (!code) code = eliminate(v, host, &b, &s);
    }
    return code ? code : update_for_taken(v, host, &b, &s, g->host_numbers);
}

#endif
