/* Several blocks of electrons before the inverse matrix M is touched. Part of gpu_blocks.h.
 *
 * An update by the columns of one block makes poor use of a GPU where M is large: M is read and written for few
 * operations. So blocks are gathered (delayed updates: T. McDaniel, E. F. D'Azevedo, Y. W. Li, K. Wong, P. R. C. Kent,
 * J. Chem. Phys. 147, 174107 (2017)). Decisions about all of them need no more than G[i][j] = v_i . M[e_j] of the electrons
 * that are gathered, which is found first. After the decisions about a block the rest of G is eliminated by it, so
 * that the next one finds its own part of G as if M had been updated; at the end G has, for the electrons C that are
 * taken, the inverse of what G[C][C] was in the beginning. Only then, and for C alone,
 *
 *     P = V[C] M^T - (1 where j = e_i),  X = G[C][C]^-1 P,  M -= X^T M[C].
 *
 * What is rejected costs its part of G. How many are taken differs by walker and is known to the GPU alone: the host
 * waits for nothing. */
#ifndef VMC_GPU_GATHERED_H
#define VMC_GPU_GATHERED_H

/* Rows of `length` numbers, `rows` of them a walker, from the given one on. */
static vmc_factor rows_of(const vmc *v, device_pointer array, int64_t rows, int64_t length,
                          int64_t from)
{
    const int64_t parts = vmc_numbers(v, 1);
    return (vmc_factor){.numbers = AT(array, const double) + from * length * parts,
                        .walker = rows * length * parts,
                        .row = length * parts};
}

/* The product of two factors, into such rows. */
static vmc_product product_into(vmc_factor to, vmc_factor a, vmc_factor b, int64_t rows,
                                int64_t columns, int64_t terms)
{
    return (vmc_product){.a = a,
                         .b = b,
                         .c = (double *)to.numbers,
                         .walker = to.walker,
                         .row = to.row,
                         .rows = (int32_t)rows,
                         .columns = (int32_t)columns,
                         .terms = (int32_t)terms};
}

typedef struct vmc_ahead {
    vmc_gathered device;
    device_pointer inverse;
    int32_t walkers, parts;
    int64_t count; /* electrons that are gathered */
} vmc_ahead;

/* G of all that are gathered. */
static int find_overlaps(const vmc *v, const plugmc_host *host, const vmc_block *b, vmc_ahead *s)
{
    const vmc_gpu *g = v->gpu;
    const int64_t n = b->electrons, size = g->gathered;
    const size_t counts = (size_t)(2 * g->group + 1) * sizeof(int32_t);
    int code = host->gpu->fill(host->context, g->counts, 0, counts);
    if (!code) code = gather_rows(v, host, b, (int32_t)s->count, s->inverse, 0, s->walkers);
    if (code) return code;
    vmc_product p =
        product_into(rows_of(v, g->all_overlaps, size, size, 0), rows_of(v, g->taken, size, n, 0),
                     rows_of(v, s->inverse, n, n, b->first), s->count, s->count, n);
    return products_make(&g->multiplying, host, ROWS_BY_ROWS, &p, s->walkers);
}

/* G after the decisions about a block. */
static int eliminate(const vmc *v, const plugmc_host *host, const vmc_block *b, vmc_ahead *s)
{
    vmc_gpu *g = v->gpu;
    const int64_t size = g->gathered, capacity = g->capacity, at = s->device.column;
    const vmc_factor all = rows_of(v, g->all_overlaps, size, size, 0),
                     row = rows_of(v, g->row_panel, capacity, size, 0);
    vmc_product p =
        product_into(row, rows_of(v, g->small, capacity, capacity, 0),
                     rows_of(v, g->all_overlaps, size, size, at), b->size, s->count, b->size);
    int code = products_make(&g->multiplying, host, ROWS_BY_COLUMNS, &p, s->walkers);
    if (!code)
        code = launch(host, g->panels, blocks_for(size * s->parts, VMC_THREADS), (uint32_t)b->size,
                      (uint32_t)s->walkers, VMC_THREADS, 0,
                      (void *[]){(void *)b, &s->device, &s->parts, &g->small, &g->all_overlaps,
                                 &g->column, &g->row_panel});
    if (code) return code;
    p = product_into(all, rows_of(v, g->column, size, capacity, 0), row, s->count, s->count,
                     b->size);
    p.subtract = 1;
    return products_make(&g->multiplying, host, ROWS_BY_COLUMNS, &p, s->walkers);
}

/* M for those that are taken. */
static int update_for_taken(const vmc *v, const plugmc_host *host, const vmc_block *b, vmc_ahead *s)
{
    vmc_gpu *g = v->gpu;
    const int64_t n = b->electrons, size = g->gathered;
    const vmc_factor taken = rows_of(v, g->taken, size, n, 0),
                     products = rows_of(v, g->products, size, n, 0),
                     solved = rows_of(v, g->solved, size, n, 0),
                     inverse = rows_of(v, s->inverse, n, n, 0);
    const vmc_gathered *device = &s->device;
    int code = launch(host, g->chosen_overlaps, blocks_for(s->count * s->parts, VMC_THREADS),
                      (uint32_t)s->count, (uint32_t)s->walkers, VMC_THREADS, 0,
                      (void *[]){&s->device, &s->parts, &g->all_overlaps, &g->solving});
    vmc_product p = product_into(products, taken, inverse, s->count, n, n);
    p.a.numbers -= device->first * p.a.row; /* the list is of electrons of the spin */
    p.a.list = device->chosen;
    p.a.listed = size;
    p.count = device->count;
    p.counts_rows = p.less_one = 1;
    if (!code) code = products_make(&g->multiplying, host, ROWS_BY_ROWS, &p, s->walkers);
    p = product_into(solved, rows_of(v, g->solving, size, size, 0), products, s->count, n,
                     s->count);
    p.count = device->count;
    p.counts_rows = p.counts_terms = 1;
    if (!code) code = products_make(&g->multiplying, host, ROWS_BY_COLUMNS, &p, s->walkers);
    if (!code)
        code = launch(host, g->rows_to_change, blocks_for(n * s->parts, VMC_THREADS),
                      (uint32_t)s->count, (uint32_t)s->walkers, VMC_THREADS, 0,
                      (void *[]){(void *)b, &s->device, &s->parts, &s->inverse, &g->taken});
    p = product_into(inverse, solved, taken, n, n, s->count);
    p.count = device->count;
    p.counts_terms = p.subtract = 1;
    return code ? code : products_make(&g->multiplying, host, COLUMNS_BY_COLUMNS, &p, s->walkers);
}

/* Electrons first ... first + count - 1 of a spin, whose orbitals are known; count is at most `gathered`. */
static int decide_ahead(const vmc *v, const plugmc_host *host, vmc_draws *d, int spin, int32_t n,
                        int64_t first, int64_t count)
{
    const vmc_gpu *g = v->gpu;
    const int64_t electrons = vmc_electrons(v, spin), bytes = electrons * electrons * g->number,
                  size = g->gathered;
    const device_pointer group = (device_pointer)(g->group * (int32_t)sizeof(int32_t));
    vmc_ahead s = {
        .device = {.rows = (int32_t)size,
                   .first = (int32_t)first,
                   .chosen = AT(g->chosen, int32_t),
                   .before = AT(g->counts, int32_t),
                   .count = AT(g->counts + group, int32_t),
                   .largest = AT(g->counts + 2 * group, int32_t),
                   .walker = size * size,
                   .row = (int32_t)size},
        .inverse = from_walker(g->inverse[spin], d->walker, bytes),
        .walkers = n,
        .parts = (int32_t)vmc_numbers(v, 1),
        .count = count,
    };
    vmc_block b = block_of(v, spin, first, count, electrons, first);
    int code = find_overlaps(v, host, &b, &s);
    for (int64_t done = 0; done < count && !code; done += b.size) {
        const int64_t left = count - done;
        b = block_of(v, spin, first + done, left < g->capacity ? left : g->capacity, electrons,
                     first + done);
        s.device.column = (int32_t)done;
        code = look_at(v, host, d, &b, spin, n, g->has_fields ? g->field : 0);
        if (!code)
            code = decide(v, host, d, &b, spin, n,
                          g->all_overlaps + (device_pointer)(done * size * g->number), &s.device);
        if (!code) code = eliminate(v, host, &b, &s);
    }
    return code ? code : update_for_taken(v, host, &b, &s);
}

#endif
