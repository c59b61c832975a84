/* Blocks of electrons of walkers on a GPU: proposals, orbitals, decisions, and the inverse matrices that follow.
 * Part of gpu.c, which says how matrices are written. */
#ifndef VMC_GPU_BLOCKS_H
#define VMC_GPU_BLOCKS_H

#include "../../determinants/device_sums.h"
#include "../../determinants/matrices.h"
#include "vmc.h"

typedef struct vmc_kernels {
    plugmc_kernel *propose, *fields, *look, *energy, *energy_sum, *decide, *gather, *judge, *settle,
        *decide_configuration, *find_overlaps, *coefficients, *chosen_rows, *chosen_orbitals;
} vmc_kernels;

/* Memory for the moves of a group of walkers. */
typedef struct vmc_moves {
    device_pointer to[VMC_SPINS]; /* [group][n][3] */
    device_pointer values;        /* [group][n][pitch], float or double */
    /* [group][gathered][n] orbitals; rows of M take the same place, and i times them */
    device_pointer taken;
    /* P [group][gathered][n]; where blocks are gathered [gathered][gathered], and then V_C [gathered][n] */
    device_pointer products;
    /* [group][gathered][n] rows of M; where blocks are gathered X [gathered][gathered], and then V_C M[h]^T [h][gathered] */
    device_pointer solved;
    device_pointer fresh;         /* [group][capacity][n] */
    device_pointer field;         /* [group][n][2]: vmc_fields */
    device_pointer overlaps;      /* [group][capacity][gathered] */
    device_pointer chosen;        /* [group][gathered] */
    device_pointer counts;        /* [group] before, [group] now, and the largest */
    device_pointer small, others; /* [group][capacity][capacity]; others: vmc_look */
    device_pointer change;        /* [group][looked] */
    device_pointer rows;          /* [group][particles] */
    device_pointer found;         /* [VMC_SPINS + 1][group] ln |det|^2 and energies, fresh ones */
} vmc_moves;

typedef struct vmc_gpu {
    matrices matrices;
    vmc_kernels kernels;
    int has_fields;   /* what is sampled */
    int32_t capacity; /* electrons of a block */
    int32_t gathered; /* electrons of the blocks that are gathered before M is updated */
    int32_t looked;   /* rows of `change`: the capacity, or all electrons of a spin */
    int32_t group;    /* walkers dealt with together */
    int64_t number;   /* bytes of a number of a matrix */
    size_t real_size; /* of orbital values */

    device_pointer positions, base, moved;                         /* [walkers][particles][3] */
    device_pointer inverse[VMC_SPINS];                             /* M [walkers][n][n] */
    device_pointer ln_square[VMC_SPINS], parts, accepted, failure; /* [walkers] */
    vmc_moves moves;
    device_sums sums; /* of an expansion */
    plugmc_kernel *sums_anew, *sums_weigh, *sums_decide;
    void *host_numbers; /* [walkers][2] 8 bytes each */
} vmc_gpu;

/* ---- A block of electrons -------------------------------------------------------------------- */

/* Place of walker `first` in an array of `bytes` a walker. */
static device_pointer from_walker(device_pointer array, int32_t first, int64_t bytes)
{
    return array + (device_pointer)first * (device_pointer)bytes;
}

/* Electrons first ... first + size - 1 of a spin; their proposals and values begin at `row` of
 * `rows`. */
static vmc_block block_of(const vmc *v, int spin, int64_t first, int64_t size, int64_t rows,
                          int64_t row)
{
    return (vmc_block){
        .particles = (int32_t)v->system->particles,
        .electrons = (int32_t)vmc_electrons(v, spin),
        .spin_first = (int32_t)v->system->first[spin],
        .first = (int32_t)first,
        .size = (int32_t)size,
        .capacity = v->gpu->capacity,
        .rows = (int32_t)rows,
        .row = (int32_t)row,
        .columns = (int32_t)vmc_electrons(v, spin),
        .column = (int32_t)first,
        .down = (int32_t)v->system->first[1],
    };
}

static vmc_state state_of(const vmc *v, int32_t walker, int spin)
{
    const vmc_gpu *g = v->gpu;
    return (vmc_state){
        AT(from_walker(g->ln_square[spin], walker, 8), double),
        AT(from_walker(g->parts, walker, 8), double),
        AT(from_walker(g->accepted, walker, 8), unsigned long long),
        AT(from_walker(g->failure, walker, sizeof(vmc_failure)), vmc_failure),
    };
}

static device_pointer positions_of(const vmc *v, int32_t walker)
{
    return from_walker(v->gpu->positions, walker, 3 * v->system->particles * 8);
}

/* Proposals of a block for walkers first ... first + n - 1. */
static int propose(const vmc *v, const plugmc_host *host, vmc_draws *d, vmc_block *b, int spin,
                   int32_t n, device_pointer whole)
{
    device_pointer positions = positions_of(v, d->walker), to = v->gpu->moves.to[spin];
    return launch(host, v->gpu->kernels.propose, blocks_for(b->size, VMC_THREADS), (uint32_t)n, 1,
                  VMC_THREADS, 0, (void *[]){d, b, &positions, &to, &whole});
}

static int evaluate(const vmc *v, const plugmc_host *host, int spin, int64_t points,
                    device_pointer positions)
{
    const plugmc_orbital_request request = {
        .size = sizeof request,
        .on_device = 1,
        .species = spin,
        .real_size = (int32_t)v->gpu->real_size,
        .points = points,
        .positions = AT(positions, const double),
        .pitch = v->wave.pitch,
        .values = AT(v->gpu->moves.values, void),
    };
    int code = plugmc_orbitals_of(v->wave.orbitals->plugin)
                   ->evaluate(v->wave.orbitals->instance, &request);
    return code ? host->fail(host->context, code, "potential '%s' could not evaluate its orbitals",
                             v->wave.orbitals->label)
                : PLUGMC_OK;
}

/* Bytes of shared memory that deciding takes. */
static uint32_t shared_to_decide(const vmc *v, int64_t size)
{
    const int64_t most = size <= VMC_COLUMNS ? VMC_COLUMNS : VMC_MOST_BLOCK;
    return (uint32_t)(3 * v->gpu->number * most + (8 * (size + 1) + 5 * 8 + 4) * size);
}

/* ---- One block after the other ---- */

/* P = V M^T of `rows` proposals in `taken`. */
static int find_products(const vmc *v, const plugmc_host *host, const vmc_block *b, int32_t rows,
                         device_pointer inverse, int32_t n)
{
    const vmc_gpu *g = v->gpu;
    const int64_t electrons = b->electrons, wide = g->gathered * electrons;
    return matrices_multiply(&g->matrices, host, TRANSPOSED, KEEP_AS_IS, electrons, rows, electrons,
                             1, inverse, electrons, electrons * electrons, g->moves.taken,
                             electrons, wide, 0, g->moves.products, electrons, wide, n);
}

/* Field energies of the proposals of a spin, if there are fields. */
static int find_fields(const vmc *v, const plugmc_host *host, vmc_draws *d, vmc_block *all,
                       int spin, int32_t n)
{
    vmc_gpu *g = v->gpu;
    device_pointer positions = positions_of(v, d->walker);
    if (!g->has_fields) return PLUGMC_OK;
    return launch(host, g->kernels.fields, blocks_for(2 * all->size, VMC_LOOK), (uint32_t)n, 1,
                  VMC_LOOK, 0, (void *[]){all, &positions, &g->moves.to[spin], &g->moves.field});
}

/* What it has found, or 0. */
static device_pointer fields_found(const vmc *v)
{
    return v->gpu->has_fields ? v->gpu->moves.field : 0;
}

/* `fields`: of find_fields, or 0, where the kernel finds them by itself. */
static int look_at(const vmc *v, const plugmc_host *host, vmc_draws *d, vmc_block *b, int spin,
                   int32_t n, device_pointer fields)
{
    vmc_gpu *g = v->gpu;
    device_pointer positions = positions_of(v, d->walker);
    return launch(
        host, g->kernels.look, (uint32_t)b->size, (uint32_t)n, 1, VMC_LOOK, 0,
        (void *[]){b, &positions, &g->moves.to[spin], &fields, &g->moves.change, &g->moves.others});
}

/* Decisions about a block whose products are known. */
static int decide(const vmc *v, const plugmc_host *host, vmc_draws *d, vmc_block *b, int spin,
                  int32_t n, device_pointer products, vmc_gathered *gathered)
{
    vmc_gpu *g = v->gpu;
    vmc_state state = state_of(v, d->walker, spin);
    device_pointer positions = positions_of(v, d->walker);
    return launch(host, g->kernels.decide, (uint32_t)n, 1, 1, VMC_DECIDERS,
                  shared_to_decide(v, b->size),
                  (void *[]){d, b, &state, &positions, &g->moves.to[spin], &g->moves.change,
                             &g->moves.others, &products, &g->moves.small, gathered});
}

/* X = small (P - E) of a block, to `fresh`. */
static int solve_block(const vmc *v, const plugmc_host *host, const vmc_block *b, int32_t n)
{
    const vmc_gpu *g = v->gpu;
    const int64_t electrons = b->electrons, capacity = b->capacity;
    return matrices_multiply(&g->matrices, host, KEEP_AS_IS, KEEP_AS_IS, electrons, b->size,
                             b->size, 1, g->moves.products, electrons, g->gathered * electrons,
                             g->moves.small, capacity, capacity * capacity, 0, g->moves.fresh,
                             electrons, capacity * electrons, n);
}

/* M -= X^T old of a block, with its X in `fresh` and its rows of M in `solved`. */
static int update_inverse(const vmc *v, const plugmc_host *host, const vmc_block *b,
                          device_pointer inverse, int32_t n)
{
    const vmc_gpu *g = v->gpu;
    const int64_t electrons = b->electrons;
    return matrices_multiply(&g->matrices, host, KEEP_AS_IS, TRANSPOSED, electrons, electrons,
                             b->size, -1, g->moves.solved, electrons, g->gathered * electrons,
                             g->moves.fresh, electrons, b->capacity * electrons, 1, inverse,
                             electrons, electrons * electrons, n);
}

/* Orbitals of `rows` proposals to `taken`; rows of M to `old`, unless that is 0. */
static int gather_rows(const vmc *v, const plugmc_host *host, const vmc_block *b, int32_t rows,
                       device_pointer inverse, device_pointer old, int32_t n)
{
    vmc_gpu *g = v->gpu;
    vmc_block all = *b;
    int32_t numbers = (int32_t)vmc_numbers(v, b->electrons);
    int64_t pitch = v->wave.numbers;
    all.capacity = g->gathered;
    all.size = rows;
    return launch(
        host, g->kernels.gather, blocks_for(numbers, VMC_THREADS), (uint32_t)rows, (uint32_t)n,
        VMC_THREADS, 0,
        (void *[]){&all, &numbers, &pitch, &g->moves.values, &inverse, &g->moves.taken, &old});
}

/* A block whose orbitals are known, and the inverse that follows. */
static int decide_block(const vmc *v, const plugmc_host *host, vmc_draws *d, vmc_block *b, int spin,
                        int32_t n, device_pointer fields)
{
    const vmc_gpu *g = v->gpu;
    const int64_t electrons = b->electrons;
    const device_pointer inverse =
        from_walker(g->inverse[spin], d->walker, electrons * electrons * g->number);
    vmc_gathered alone = {.rows = g->gathered};
    int code = gather_rows(v, host, b, b->size, inverse, g->moves.solved, n);
    if (!code) code = find_products(v, host, b, b->size, inverse, n);
    if (!code) code = look_at(v, host, d, b, spin, n, fields);
    if (!code) code = decide(v, host, d, b, spin, n, g->moves.products, &alone);
    if (!code) code = solve_block(v, host, b, n);
    return code ? code : update_inverse(v, host, b, inverse, n);
}

/* ---- Several blocks before M is touched ----
 *
 * An update by the columns of one block makes poor use of a GPU where M is large: M is read and written for few
 * operations. So blocks are gathered (delayed updates: T. McDaniel, E. F. D'Azevedo, Y. W. Li, K. Wong, P. R. C. Kent,
 * J. Chem. Phys. 147, 174107 (2017)). Let g be the electrons of these blocks, C those of them accepted so far, M0 what
 * M was before, and X [C][g] with M[g] = M0[g] - X^T M0[C]. The products P0 = V_g M0[g]^T are found at once, for nobody
 * needs to know more of M to decide. A block B then
 *
 *     corrects   P = P0 - P0[:][C] X, its own rows
 *     decides    from P, as any block does
 *     corrects   X -= X[:][B] X_B, the rows of those before it, and puts X_B = small (P - E) behind them: one product of
 *                P - E with what vmc_coefficients finds
 *
 * and at last M[g] follows from X, and all other rows h of M from the new ones of C, for which nothing needs to be
 * solved: with S = P0[C][C], M[C] = S^-T M0[C], and
 *
 *     M[h] = M0[h] - (S^-1 V_C M0[h]^T)^T M0[C] = M0[h] - (V_C M0[h]^T)^T M[C].
 *
 * So those that are rejected cost nothing but their rows of P0. How many are accepted differs by walker; matrices are
 * multiplied for as many as the walker with most has, the others' rows are 0. The host waits for that number: behind
 * the decisions that it comes from the GPU still has the coefficients and the next block's energies to find, or rows of
 * M to copy. X and V_C M0[h]^T are kept as [electrons][C], so that a complex M is updated as a real matrix of twice the
 * columns by real products over twice the rows, rows of M and i times them: cuBLAS then needs up to a fifth less time.
 */

/* What goes on while blocks are gathered. */
typedef struct vmc_gathering {
    vmc_gathered device;
    device_pointer inverse; /* M */
    int64_t electrons;      /* of the spin */
    int64_t first, count;   /* g: electrons first ... first + count - 1 */
    int64_t pitch;          /* of P and of X */
    int32_t walkers, parts;
    int32_t pending; /* rows of X: those of the walker that has most */
} vmc_gathering;

/* Row e of M. */
static device_pointer row_of(const vmc *v, const vmc_gathering *s, int64_t e)
{
    return s->inverse + (device_pointer)(e * s->electrons * v->gpu->number);
}

/* P0. */
static int begin_gathering(const vmc *v, const plugmc_host *host, const vmc_block *b,
                           vmc_gathering *s)
{
    const vmc_gpu *g = v->gpu;
    const size_t counts = (size_t)(2 * g->group + 1) * sizeof(int32_t);
    const int64_t n = s->electrons;
    s->pending = 0;
    int code = host->gpu->fill(host->context, g->moves.counts, 0, counts);
    if (!code) code = gather_rows(v, host, b, (int32_t)s->count, s->inverse, 0, s->walkers);
    if (code) return code;
    return matrices_multiply(&g->matrices, host, TRANSPOSED, KEEP_AS_IS, s->count, s->count, n, 1,
                             row_of(v, s, s->first), n, n * n, g->moves.taken, n, s->pitch * n, 0,
                             g->moves.products, s->pitch, s->pitch * s->pitch, s->walkers);
}

/* P of a block from P0. */
static int correct_products(const vmc *v, const plugmc_host *host, const vmc_block *b,
                            vmc_gathering *s, device_pointer products)
{
    vmc_gpu *g = v->gpu;
    const int64_t square = s->pitch * s->pitch;
    if (s->pending == 0) return PLUGMC_OK;
    int code =
        launch(host, g->kernels.find_overlaps, blocks_for(s->pending * s->parts, VMC_THREADS),
               (uint32_t)b->size, (uint32_t)s->walkers, VMC_THREADS, 0,
               (void *[]){(void *)b, &s->device, &s->parts, &products, &g->moves.overlaps});
    if (code) return code;
    return matrices_multiply(&g->matrices, host, TRANSPOSED, KEEP_AS_IS, s->count, b->size,
                             s->pending, -1, g->moves.solved, s->pitch, square, g->moves.overlaps,
                             s->pitch, b->capacity * s->pitch, 1, products, s->pitch, square,
                             s->walkers);
}

/* What X is to become by a block; as many rows as it may have at most. */
static int find_coefficients(const vmc *v, const plugmc_host *host, const vmc_block *b,
                             vmc_gathering *s)
{
    vmc_gpu *g = v->gpu;
    int32_t rows = s->pending + b->size, clear = s->pending > 0;
    const uint32_t clearing = clear ? blocks_for(b->columns, VMC_CLEARED) : 0;
    return launch(host, g->kernels.coefficients, blocks_for(rows, VMC_COLUMNS), 1 + clearing,
                  (uint32_t)s->walkers, VMC_THREADS, 0,
                  (void *[]){(void *)b, &s->device, &rows, &clear, &g->moves.small,
                             &g->moves.solved, &g->moves.overlaps});
}

/* X with what a block brings; s->pending is what it was before. */
static int join_changes(const vmc *v, const plugmc_host *host, const vmc_block *b, vmc_gathering *s,
                        device_pointer products, int32_t rows)
{
    vmc_gpu *g = v->gpu;
    const int64_t square = s->pitch * s->pitch;
    const double keep = s->pending > 0;
    s->pending = rows;
    if (rows == 0) return PLUGMC_OK;
    return matrices_multiply(&g->matrices, host, KEEP_AS_IS, TRANSPOSED, rows, s->count, b->size, 1,
                             g->moves.overlaps, s->pitch, b->capacity * s->pitch, products,
                             s->pitch, square, keep, g->moves.solved, s->pitch, square, s->walkers);
}

/* Rows of M of those accepted, of whom there are `most` at most, to `taken`. */
static int copy_chosen_rows(const vmc *v, const plugmc_host *host, const vmc_block *b,
                            vmc_gathering *s, int32_t most)
{
    vmc_gpu *g = v->gpu;
    return launch(host, g->kernels.chosen_rows, blocks_for(s->electrons * s->parts, VMC_THREADS),
                  (uint32_t)most, (uint32_t)s->walkers, VMC_THREADS, 0,
                  (void *[]){(void *)b, &s->device, &s->parts, &s->inverse, &g->moves.taken});
}

/* V_C to where P was. */
static int copy_chosen_orbitals(const vmc *v, const plugmc_host *host, const vmc_block *b,
                                vmc_gathering *s)
{
    vmc_gpu *g = v->gpu;
    int32_t numbers = (int32_t)vmc_numbers(v, s->electrons);
    int64_t pitch = v->wave.numbers;
    return launch(
        host, g->kernels.chosen_orbitals, blocks_for(numbers, VMC_THREADS), (uint32_t)s->pending,
        (uint32_t)s->walkers, VMC_THREADS, 0,
        (void *[]){(void *)b, &s->device, &numbers, &pitch, &g->moves.values, &g->moves.products});
}

/* Rows first ... first + count - 1 of M, less `solved` [count][C] times the rows in `taken`. */
static int update_rows(const vmc *v, const plugmc_host *host, const vmc_gathering *s, int64_t first,
                       int64_t count, int64_t stride)
{
    const vmc_gpu *g = v->gpu;
    const int64_t wide = s->parts * s->electrons, rows = s->parts * s->pitch;
    return matrices_multiply_real(&g->matrices, host, KEEP_AS_IS, KEEP_AS_IS, wide, count,
                                  (int64_t)s->parts * s->pending, -1, g->moves.taken, wide,
                                  rows * wide, g->moves.solved, rows, rows * stride, 1,
                                  row_of(v, s, first), wide, wide * s->electrons, s->walkers);
}

/* Rows of M of electrons that are not gathered: V_C is in `products`, M[C] in `taken`. */
static int update_others(const vmc *v, const plugmc_host *host, const vmc_gathering *s,
                         int64_t first, int64_t count)
{
    const vmc_gpu *g = v->gpu;
    const int64_t n = s->electrons, wide = s->pitch * n;
    if (count == 0) return PLUGMC_OK;
    int code = matrices_multiply(&g->matrices, host, TRANSPOSED, KEEP_AS_IS, s->pending, count, n,
                                 1, g->moves.products, n, wide, row_of(v, s, first), n, n * n, 0,
                                 g->moves.solved, s->pitch, wide, s->walkers);
    return code ? code : update_rows(v, host, s, first, count, n);
}

/* M; the old rows of C are in `taken`. */
static int end_gathering(const vmc *v, const plugmc_host *host, const vmc_block *b,
                         vmc_gathering *s)
{
    const int64_t behind = s->first + s->count, left = s->electrons - behind;
    if (s->pending == 0) return PLUGMC_OK;
    int code = update_rows(v, host, s, s->first, s->count, s->pitch);
    if (code || s->count == s->electrons) return code;
    code = copy_chosen_rows(v, host, b, s, s->pending);
    if (!code) code = copy_chosen_orbitals(v, host, b, s);
    if (!code) code = update_others(v, host, s, 0, s->first);
    return code ? code : update_others(v, host, s, behind, left);
}

/* A block of those gathered; its proposals are rows of `values`. */
static vmc_block gathered_block(const vmc *v, int spin, const vmc_gathering *s, int64_t first,
                                int64_t left)
{
    const int64_t size = left < v->gpu->capacity ? left : v->gpu->capacity;
    vmc_block b = block_of(v, spin, first, size, s->electrons, first);
    b.columns = (int32_t)s->pitch;
    b.column = (int32_t)(first - s->first);
    return b;
}

/* Decisions about a block, and what follows from them but M. `next`: the block behind it, or none of size 0. */
static int decide_one(const vmc *v, const plugmc_host *host, vmc_draws *d, int spin, vmc_block *b,
                      vmc_block *next, vmc_gathering *s)
{
    const vmc_gpu *g = v->gpu;
    const device_pointer products =
                             g->moves.products + (device_pointer)(b->column * s->pitch * g->number),
                         largest = (device_pointer)(uintptr_t)s->device.largest;
    int32_t *arrived = g->host_numbers;
    int code = correct_products(v, host, b, s, products);
    if (!code) code = decide(v, host, d, b, spin, s->walkers, products, &s->device);
    if (!code) code = host->gpu->download_later(host->context, arrived, largest, sizeof *arrived);
    if (!code) code = find_coefficients(v, host, b, s);
    if (!code)
        code = next->size > 0 ? look_at(v, host, d, next, spin, s->walkers, fields_found(v))
                              : copy_chosen_rows(v, host, b, s, s->pending + b->size);
    if (!code) code = host->gpu->arrive(host->context);
    return code ? code : join_changes(v, host, b, s, products, *arrived);
}

/* Electrons first ... first + count - 1 of a spin, whose orbitals are known; count is at most `gathered`. */
static int decide_gathered(const vmc *v, const plugmc_host *host, vmc_draws *d, int spin, int32_t n,
                           int64_t first, int64_t count)
{
    const vmc_gpu *g = v->gpu;
    const int64_t electrons = vmc_electrons(v, spin), bytes = electrons * electrons * g->number;
    const device_pointer group = (device_pointer)(g->group * (int32_t)sizeof(int32_t));
    vmc_gathering s = {
        .device = {g->gathered, AT(g->moves.chosen, int32_t), AT(g->moves.counts, int32_t),
                   AT(g->moves.counts + group, int32_t), AT(g->moves.counts + 2 * group, int32_t)},
        .inverse = from_walker(g->inverse[spin], d->walker, bytes),
        .electrons = electrons,
        .first = first,
        .count = count,
        .pitch = g->gathered,
        .walkers = n,
        .parts = (int32_t)vmc_numbers(v, 1),
    };
    vmc_block b, next = gathered_block(v, spin, &s, first, count);
    int code = begin_gathering(v, host, &next, &s);
    if (!code) code = look_at(v, host, d, &next, spin, n, fields_found(v));
    for (int64_t done = 0; done < count && !code; done += b.size) {
        b = next;
        next = gathered_block(v, spin, &s, first + done + b.size, count - done - b.size);
        code = decide_one(v, host, d, spin, &b, &next, &s);
    }
    return code ? code : end_gathering(v, host, &b, &s);
}

#endif
