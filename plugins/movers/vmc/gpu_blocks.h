/* Blocks of electrons of walkers on a GPU: proposals, orbitals, decisions, and the inverse matrices that follow.
 * Part of gpu.c, which says how matrices are written. */
#ifndef VMC_GPU_BLOCKS_H
#define VMC_GPU_BLOCKS_H

#include "../../determinants/matrices.h"
#include "vmc.h"

typedef struct vmc_gpu {
    matrices matrices;
    plugmc_kernel *propose, *look, *energy, *energy_sum, *decide, *gather, *compare, *judge,
        *settle, *decide_configuration;
    int32_t capacity; /* electrons of a block */
    int32_t gathered; /* rows of changes that are gathered before M is updated, at most */
    int32_t pending;  /* such rows now, of the spin at hand */
    int32_t looked;   /* rows of `change`: the capacity, or all electrons of a spin */
    int32_t group;    /* walkers dealt with together */
    int64_t number;   /* bytes of a number of a matrix */
    size_t real_size; /* of orbital values */

    device_pointer positions, base, moved;                         /* [walkers][particles][3] */
    device_pointer inverse[VMC_SPINS];                             /* M [walkers][n][n] */
    device_pointer ln_square[VMC_SPINS], parts, accepted, failure; /* [walkers] */
    /* Of a group. */
    device_pointer to[VMC_SPINS];      /* [group][n][3] */
    device_pointer values;             /* [group][n][pitch], float or double */
    device_pointer taken, old, solved; /* [group][gathered][n] */
    device_pointer products;           /* [group][capacity][n] */
    device_pointer overlaps;           /* [group][capacity][gathered] */
    device_pointer small, others;      /* [group][capacity][capacity]; others: vmc_look */
    device_pointer change;             /* [group][looked] */
    device_pointer rows;               /* [group][particles] */
    device_pointer found; /* [VMC_SPINS + 1][group] ln |det|^2 and energies, fresh ones */
    device_pointer drift; /* [group][2] */
    void *host_numbers;   /* [walkers][2] 8 bytes each */
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
    device_pointer positions = positions_of(v, d->walker), to = v->gpu->to[spin];
    return launch(host, v->gpu->propose, blocks_for(b->size, VMC_THREADS), (uint32_t)n, 1,
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
        .pitch = v->pitch,
        .values = AT(v->gpu->values, void),
    };
    int code = v->orbitals->plugin->potential->orbitals->evaluate(v->orbitals->instance, &request);
    return code ? host->fail(host->context, code, "potential '%s' could not evaluate its orbitals",
                             v->orbitals->label)
                : PLUGMC_OK;
}

/* Bytes of shared memory that deciding takes. */
static uint32_t shared_to_decide(const vmc *v, int64_t size)
{
    return (uint32_t)(((size + 2) * v->gpu->number + 8 * size + 24 + 4) * size);
}

/* M is changed by X^T old, X = small (P - E), for each block. That many columns at a time make poor use of
 * the GPU where M is large, so X and old of several blocks are gathered behind each other, and M is what it was
 * when they began (delayed updates: T. McDaniel, E. F. D'Azevedo, Y. W. Li, K. Wong, P. R. C. Kent, J. Chem. Phys.
 * 147, 174107 (2017)). What the next block reads of M is corrected by them meanwhile. */

static device_pointer old_of(const vmc_gpu *g, int64_t electrons, int32_t row)
{
    return g->old + (device_pointer)(row * electrons * g->number);
}

static device_pointer solved_of(const vmc_gpu *g, int64_t electrons, int32_t row)
{
    return g->solved + (device_pointer)(row * electrons * g->number);
}

/* Rows of M that the block takes the place of: old -= X^T[its electrons] old of those that are gathered. */
static int correct_rows(const vmc *v, const plugmc_host *host, const vmc_block *b, int32_t n)
{
    const vmc_gpu *g = v->gpu;
    const int64_t electrons = b->electrons, wide = g->gathered * electrons;
    if (g->pending == 0) return PLUGMC_OK;
    return matrices_multiply(&g->matrices, host, KEEP_AS_IS, TRANSPOSED, electrons, b->size,
                             g->pending, -1, g->old, electrons, wide,
                             g->solved + (device_pointer)(b->first * g->number), electrons, wide, 1,
                             old_of(g, electrons, g->pending), electrons, wide, n);
}

/* P = V M^T: -= (V old^T) X. */
static int correct_products(const vmc *v, const plugmc_host *host, const vmc_block *b, int32_t n)
{
    const vmc_gpu *g = v->gpu;
    const int64_t electrons = b->electrons, wide = g->gathered * electrons;
    const int64_t many = (int64_t)b->capacity * g->gathered;
    if (g->pending == 0) return PLUGMC_OK;
    int code = matrices_multiply(&g->matrices, host, TRANSPOSED, KEEP_AS_IS, g->pending, b->size,
                                 electrons, 1, g->old, electrons, wide, g->taken, electrons, wide,
                                 0, g->overlaps, g->gathered, many, n);
    if (code) return code;
    return matrices_multiply(&g->matrices, host, KEEP_AS_IS, KEEP_AS_IS, electrons, b->size,
                             g->pending, -1, g->solved, electrons, wide, g->overlaps, g->gathered,
                             many, 1, g->products, electrons, b->capacity * electrons, n);
}

/* M -= X^T old of all that is gathered. */
static int update_inverse(const vmc *v, const plugmc_host *host, const vmc_block *b, int spin,
                          int32_t first, int32_t n)
{
    vmc_gpu *g = v->gpu;
    const int64_t electrons = b->electrons, matrix = electrons * electrons,
                  wide = g->gathered * electrons, rows = g->pending;
    g->pending = 0;
    return matrices_multiply(&g->matrices, host, KEEP_AS_IS, TRANSPOSED, electrons, electrons, rows,
                             -1, g->old, electrons, wide, g->solved, electrons, wide, 1,
                             from_walker(g->inverse[spin], first, matrix * g->number), electrons,
                             matrix, n);
}

/* X of a block that was decided, behind those that are gathered. */
static int gather_changes(const vmc *v, const plugmc_host *host, const vmc_block *b, int spin,
                          int32_t first, int32_t n)
{
    vmc_gpu *g = v->gpu;
    const int64_t electrons = b->electrons, capacity = b->capacity, wide = g->gathered * electrons;
    int code = matrices_multiply(&g->matrices, host, KEEP_AS_IS, KEEP_AS_IS, electrons, b->size,
                                 b->size, 1, g->products, electrons, capacity * electrons, g->small,
                                 capacity, capacity * capacity, 0,
                                 solved_of(g, electrons, g->pending), electrons, wide, n);
    g->pending += b->size;
    const int last = b->first + b->size == b->electrons;
    if (code || (!last && g->pending + b->capacity <= g->gathered)) return code;
    return update_inverse(v, host, b, spin, first, n);
}

/* Decisions about a block whose orbitals are known, and the inverse that follows. */
static int decide_block(const vmc *v, const plugmc_host *host, vmc_draws *d, vmc_block *b, int spin,
                        int32_t n)
{
    vmc_gpu *g = v->gpu;
    const int64_t electrons = b->electrons, matrix = electrons * electrons;
    int32_t numbers = (int32_t)vmc_numbers(v, electrons);
    int64_t pitch = vmc_numbers(v, v->pitch);
    vmc_state state = state_of(v, d->walker, spin);
    vmc_block rows = *b; /* of arrays [group][gathered][n] */
    rows.capacity = g->gathered;
    if (b->first == 0) g->pending = 0;
    device_pointer positions = positions_of(v, d->walker), to = g->to[spin],
                   inverse = from_walker(g->inverse[spin], d->walker, matrix * g->number),
                   old = old_of(g, electrons, g->pending);
    int code = launch(host, g->gather, blocks_for(numbers, VMC_THREADS), (uint32_t)b->size,
                      (uint32_t)n, VMC_THREADS, 0,
                      (void *[]){&rows, &numbers, &pitch, &g->values, &inverse, &g->taken, &old});
    if (!code) code = correct_rows(v, host, b, n);
    if (!code)
        code = matrices_multiply(&g->matrices, host, TRANSPOSED, KEEP_AS_IS, electrons, b->size,
                                 electrons, 1, inverse, electrons, matrix, g->taken, electrons,
                                 g->gathered * electrons, 0, g->products, electrons,
                                 b->capacity * electrons, n);
    if (!code) code = correct_products(v, host, b, n);
    if (!code)
        code = launch(host, g->look, (uint32_t)b->size, (uint32_t)n, 1, VMC_LOOK, 0,
                      (void *[]){b, &positions, &to, &g->change, &g->others});
    if (!code)
        code = launch(host, g->decide, (uint32_t)n, 1, 1, VMC_THREADS, shared_to_decide(v, b->size),
                      (void *[]){d, b, &state, &positions, &to, &g->change, &g->others,
                                 &g->products, &g->small});
    return code ? code : gather_changes(v, host, b, spin, d->walker, n);
}

#endif
