/* vmc.cu: moves of variational Monte Carlo on the GPU; draws.h and matrices.cu stand
 * in front.
 *
 * A sweep of one spin goes in blocks of K electrons, all walkers side by side. The orbitals v_e at
 * all proposals are there already (quasi_simultaneous). For a block, with M the transposed inverse:
 *
 *     products  P = V M^T, K x n, by cuBLAS: G[i][j] = v_i . M[e_j] is a part of it
 *     look      the change of pair and field energies of each proposal, all others where they are
 *               before the block, and what it changes if another of the block has moved: K x K;
 *               infinite energies, which may come and go with that, are counted apart
 *     decide    one electron after the other: a Gauss-Jordan elimination in G, in registers
 *     solved    X = (G[C][C])^-1 (P - E), K x n, by cuBLAS; rows of rejected electrons are 0
 *     update    M -= X^T M[block], n x n, by cuBLAS
 *
 * Several blocks may be gathered before the update (gpu_blocks.h).
 *
 * (slater.h has the formulas.) The chain of decisions, which is all that is serial, touches numbers
 * of one block of threads only: K^2 operations an accepted electron. Everything else is wide.
 *
 * The floor: M of 768 electrons has 4.7 MB, is read for P, and read and written by the update. A
 * rank-1 update for each accepted electron of 1,536 would move 1,536 * 0.5 * 9.4 MB = 7 GB a walker
 * and sweep, 1.5 ms at the 4.8 TB/s of an H200; blocks of 32 bring this to 24 * 2 * 14 MB = 0.7 GB
 * or 0.14 ms, of 64 to 0.07 ms. The 8 n^3 = 3.6e9 operations in double precision take 0.06 ms at 60
 * Tflop/s.
 */
PLUGMC_FN int32_t species_of(const vmc_block &b, int32_t e)
{
    return PLUGMC_SPECIES > 1 && e >= b.down ? 1 : 0;
}

/* ---- Proposals ---- */

/* One thread an electron of the block: x electrons, y walkers. to [walkers][rows][3]; and
 * [walkers][particles][3] in `whole` if that is given. */
extern "C" __global__ void vmc_propose(const __grid_constant__ vmc_draws d, const vmc_block b,
                                       const double *positions, double *to, double *whole)
{
    const int32_t k = blockIdx.x * VMC_THREADS + threadIdx.x, w = blockIdx.y;
    if (k >= b.size) return;
    const int32_t e = b.spin_first + b.first + k;
    const double *from = positions + 3 * ((int64_t)w * b.particles + e);
    double v[3], r[3];
    vmc_displacement(&d, d.walker + w, e, v);
    for (int i = 0; i < 3; i++) r[i] = from[i] + d.step * v[i];
    /* in a rectangular box the same as plugmc_wrap up to rounding */
    if (d.periodic) plugmc_wrap_oblique(d.vector, d.inverse, r);
    double *out = to + 3 * ((int64_t)w * b.rows + b.row + k);
    for (int i = 0; i < 3; i++) out[i] = r[i];
    for (int i = 0; i < 3 && whole; i++) whole[3 * ((int64_t)w * b.particles + e) + i] = r[i];
}

/* ---- Pair and field energies ---- */

PLUGMC_FN plugmc_separation_at between(const double *a, const double *b)
{
    return plugmc_separate_at(
        (real)a[0], (real)a[1], (real)a[2],
        plugmc_separated((real)(a[0] - b[0]), (real)(a[1] - b[1]), (real)(a[2] - b[2])));
}

/* *outside: whether an electron may not be there, which is out of the sphere or where a field
 * forbids it. */
PLUGMC_FN double field_and_bar(const double *r, plugmc_site a, int *outside)
{
    *outside =
        PLUGMC_IN_SPHERE && r[0] * r[0] + r[1] * r[1] + r[2] * r[2] > plugmc_radius * plugmc_radius;
    plugmc_position at;
    at.x = (real)r[0];
    at.y = (real)r[1];
    at.z = (real)r[2];
    return (double)plugmc_fields(at, a, outside);
}

/* Infinite where an electron may not be. */
PLUGMC_FN double field_at(const double *r, plugmc_site a)
{
    int outside;
    const double energy = field_and_bar(r, a, &outside);
    return outside ? infinity() : energy;
}

/* ---- Infinite energies ----
 *
 * A partner that forbids a proposal may have moved away once the proposal is decided about, and
 * infinity less infinity says nothing. So finite energies are added up and infinite ones counted.
 * These functions are not inlined, so that what is added where all is finite stays as it is. */

/* Counted for what ends the run, NaN or minus infinity, in place of 1. */
#define VMC_LOST 0x1p40

PLUGMC_FN bool is_finite(double energy) { return fabs(energy) < infinity(); }

PLUGMC_FN double finite_part(double energy, double *infinite)
{
    if (is_finite(energy)) return energy;
    *infinite += energy > 0 ? 1 : VMC_LOST;
    return 0;
}

PLUGMC_FN double with_infinite(double finite, double infinite)
{
    return infinite == 0 ? finite : infinite < VMC_LOST ? infinity() : infinity() - infinity();
}

/* Change of the pair energy of a moved electron with one at `other`. */
PLUGMC_FN double change_with(const double *from, const double *there, const double *other,
                             plugmc_site a, plugmc_site b)
{
    plugmc_sums sums;
    plugmc_sums_clear(&sums);
    if (PLUGMC_ENERGY_TERMS > 0)
        plugmc_sums_add_change(&sums, between(from, other), between(there, other), a, b);
    return (double)plugmc_sums_total(&sums, a);
}

/* The whole change of electron e, by all threads of a block. */
__device__ __noinline__ double look_apart(const vmc_block &b, int32_t e, const double *all,
                                          const double *there, double *infinite)
{
    const plugmc_site a = plugmc_site_of_species(species_of(b, e));
    double mine = 0, count = 0;
    for (int32_t j = threadIdx.x; j < b.particles; j += VMC_LOOK)
        if (j != e)
            mine += finite_part(change_with(all + 3 * e, there, all + 3 * j, a,
                                            plugmc_site_of_species(species_of(b, j))),
                                &count);
    if (threadIdx.x == 0)
        mine += finite_part(field_at(there, a), &count) - field_at(all + 3 * e, a);
    *infinite = sum_of_block<VMC_LOOK>(count);
    return sum_of_block<VMC_LOOK>(mine);
}

/* What the change grows by if another moves from `old` to `now`. */
__device__ __noinline__ double growth_apart(const double *from, const double *there,
                                            const double *old, const double *now, plugmc_site a,
                                            double *infinite)
{
    double gained = 0, lost = 0;
    const double with = finite_part(change_with(from, there, now, a, a), &gained),
                 without = finite_part(change_with(from, there, old, a, a), &lost);
    *infinite = gained - lost;
    return with - without;
}

/* ---- The energies of a block ---- */

/* Field energies of the proposals and of where their electrons are, a thread each: fields [walkers][rows][2]. Sums over
 * many ions are long, and in vmc_look all threads would wait for one. x twice the electrons of the block, y walkers. */
extern "C" __global__ void __launch_bounds__(VMC_LOOK)
    vmc_fields(const vmc_block b, const double *positions, const double *to, double *fields)
{
    const int32_t i = blockIdx.x * VMC_LOOK + threadIdx.x, w = blockIdx.y,
                  e = b.spin_first + b.first + i / 2;
    const int64_t row = (int64_t)w * b.rows + b.row + i / 2;
    if (i >= 2 * b.size) return;
    const double *at = i % 2 ? positions + 3 * ((int64_t)w * b.particles + e) : to + 3 * row;
    fields[2 * row + i % 2] = field_at(at, plugmc_site_of_species(species_of(b, e)));
}

/* The change of a proposal by the fields: what vmc_fields has found, or found here by two threads, which have a part
 * each. */
PLUGMC_FN double change_of_fields(const double *fields, const double *from, const double *there,
                                  plugmc_site a)
{
    if (threadIdx.x == 0) return fields ? fields[0] - fields[1] : field_at(there, a);
    return threadIdx.x == 32 && PLUGMC_FIELDS > 0 && !fields ? -field_at(from, a) : 0;
}

/* One block of threads a proposal: x electrons of the block, y walkers. change [walkers][capacity].
 * others [walkers][capacity][capacity], or NULL: at [k][j], j < k, what the change of k grows by if
 * j of the block has moved; at [k][k] how many infinite energies the change leaves out; at [j][k]
 * what that number grows by. Without it the change is infinite itself. fields: of vmc_fields, or NULL. */
extern "C" __global__ void __launch_bounds__(VMC_LOOK)
    vmc_look(const vmc_block b, const double *positions, const double *to, const double *fields,
             double *change, double *others)
{
    __shared__ double with[VMC_MOST_BLOCK], without[VMC_MOST_BLOCK];
    const int32_t k = blockIdx.x, w = blockIdx.y, e = b.spin_first + b.first + k, n = b.particles;
    const double *all = positions + 3 * (int64_t)w * n, *from = all + 3 * e;
    const int64_t first = (int64_t)w * b.rows + b.row;
    const double *proposals = to + 3 * first, *there = proposals + 3 * k;
    const plugmc_site a = plugmc_site_of_species(species_of(b, e));
    double mine = change_of_fields(fields ? fields + 2 * (first + k) : NULL, from, there, a),
           infinite = 0;
    /* those of the block before it twice: where they are, and where they would go */
    const int32_t places = PLUGMC_ENERGY_TERMS > 0 ? n + (others ? k : 0) : 0;
    for (int32_t i = threadIdx.x; i < places; i += VMC_LOOK) {
        const int32_t j = i < n ? i : e - k + (i - n), before = j - (e - k);
        if (j == e) continue;
        const double one = change_with(from, there, i < n ? all + 3 * j : proposals + 3 * before, a,
                                       plugmc_site_of_species(species_of(b, j)));
        if (i < n) mine += one;
        if (others && before >= 0 && before < k) (i < n ? without : with)[before] = one;
    }
    double sum = sum_of_block<VMC_LOOK>(mine);
    if (others && !is_finite(sum)) sum = look_apart(b, e, all, there, &infinite);
    if (threadIdx.x == 0) change[(int64_t)w * b.capacity + k] = sum;
    if (!others) return;
    double *table = others + (int64_t)w * b.capacity * b.capacity, *row = table + k * b.capacity;
    if (threadIdx.x == 0) row[k] = infinite;
    for (int32_t j = threadIdx.x; j < k; j += VMC_LOOK) {
        double growth = PLUGMC_ENERGY_TERMS > 0 ? with[j] - without[j] : 0;
        infinite = 0;
        if (!is_finite(growth))
            growth = growth_apart(from, there, from + 3 * (j - k), proposals + 3 * j, a, &infinite);
        row[j] = growth;
        table[j * b.capacity + k] = infinite;
    }
}

/* Energies of electron x of walker y with those before it and with the fields: rows
 * [walkers][particles]. */
extern "C" __global__ void __launch_bounds__(VMC_LOOK)
    vmc_energy(const vmc_block b, const double *positions, double *rows)
{
    const int32_t e = blockIdx.x, w = blockIdx.y;
    const double *all = positions + 3 * (int64_t)w * b.particles, *r = all + 3 * e;
    const plugmc_site a = plugmc_site_of_species(species_of(b, e));
    plugmc_sums sums;
    plugmc_sums_clear(&sums);
    for (int32_t j = threadIdx.x; j < e && PLUGMC_ENERGY_TERMS > 0; j += VMC_LOOK)
        plugmc_sums_add_energy(&sums, between(r, all + 3 * j), a,
                               plugmc_site_of_species(species_of(b, j)));
    double mine = PLUGMC_ENERGY_TERMS > 0 ? (double)plugmc_sums_total(&sums, a) : 0;
    if (threadIdx.x == 0) mine += field_at(r, a);
    const double sum = sum_of_block<VMC_LOOK>(mine);
    if (threadIdx.x == 0) rows[(int64_t)w * b.particles + e] = sum;
}

/* One block of threads a walker: out [walkers]. */
extern "C" __global__ void __launch_bounds__(VMC_THREADS)
    vmc_energy_sum(int32_t particles, const double *rows, double *out)
{
    double mine = 0;
    for (int32_t e = threadIdx.x; e < particles; e += VMC_THREADS)
        mine += rows[(int64_t)blockIdx.x * particles + e];
    const double sum = sum_of_block<VMC_THREADS>(mine);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/* ---- Decisions; those about a block are in decide.cu ---- */

PLUGMC_FN double acceptance_number(const vmc_draws &d, int32_t walker, int32_t e)
{
    const plugmc_random u =
        plugmc_draw(d.seed, d.sweep, (uint32_t)walker, (uint32_t)e, PLUGMC_PURPOSE_ACCEPT, 0);
    return plugmc_uniform_double(u.word[0], u.word[1]);
}

/* A ratio of probabilities |q|^2 exp(-change) that is not a number, or infinite. */
PLUGMC_FN bool is_lost(double square_of_q, double change)
{
    return !(change > -infinity()) || !(square_of_q < infinity());
}

#define VMC_BARS (PLUGMC_IN_SPHERE || PLUGMC_FIELDS > 0) /* there are places that are forbidden */

/* Whether an electron may not go there. Then it is rejected, whatever orbitals and energies are
 * there; asked where they are no numbers, and not inlined, since that is seldom. */
__device__ __noinline__ bool is_barred(const double *r, plugmc_site a)
{
    int outside;
    field_and_bar(r, a, &outside);
    return outside;
}

/* Whether any electron of a configuration [particles][3] may not be where it is; the whole block
 * calls it. */
__device__ __noinline__ bool is_anyone_barred(const vmc_block &b, const double *all)
{
    bool mine = false;
    for (int32_t e = threadIdx.x; e < b.particles; e += VMC_THREADS)
        mine = mine || is_barred(all + 3 * e, plugmc_site_of_species(species_of(b, e)));
    return __syncthreads_or(mine);
}

PLUGMC_FN void note_failure(const vmc_state &s, const vmc_draws &d, int32_t w, int32_t e)
{
    if (s.failure[w].electron) return;
    s.failure[w].sweep = d.sweep;
    s.failure[w].electron = (uint64_t)e + 1;
}

/* ---- Matrices ---- */

/* Orbitals at the proposals of a block, and the rows of M that belong to it, side by side in
 * double: x numbers of a row, y electrons of the block, z walkers. values [walkers][rows][pitch],
 * inverse [walkers][electrons][numbers]; taken, old [walkers][capacity][numbers]; old may be NULL. */
template <class V>
PLUGMC_FN void gather(const vmc_block &b, int32_t numbers, int64_t pitch, const V *values,
                      const double *inverse, double *taken, double *old)
{
    const int32_t x = blockIdx.x * VMC_THREADS + threadIdx.x, k = blockIdx.y, w = blockIdx.z;
    if (x >= numbers) return;
    const int64_t out = ((int64_t)w * b.capacity + k) * numbers + x;
    taken[out] = (double)values[((int64_t)w * b.rows + b.row + k) * pitch + x];
    if (old) old[out] = inverse[((int64_t)w * b.electrons + b.first + k) * numbers + x];
}

extern "C" __global__ void vmc_gather_float(const vmc_block b, int32_t numbers, int64_t pitch,
                                            const float *values, const double *inverse,
                                            double *taken, double *old)
{
    gather(b, numbers, pitch, values, inverse, taken, old);
}

extern "C" __global__ void vmc_gather_double(const vmc_block b, int32_t numbers, int64_t pitch,
                                             const double *values, const double *inverse,
                                             double *taken, double *old)
{
    gather(b, numbers, pitch, values, inverse, taken, old);
}

/* What is gathered has `parts` doubles a number (1 real, 2 complex), and P [walkers][gathered.rows][columns]. In the
 * kernels that follow z are walkers. */

/* Columns of P that belong to electrons that are chosen, for the rows of a block: x numbers, y electrons of the
 * block; out [walkers][capacity][gathered.rows], 0 where a walker has fewer. */
extern "C" __global__ void vmc_overlaps(const vmc_block b, const vmc_gathered gathered,
                                        int32_t parts, const double *products, double *out)
{
    const int32_t x = blockIdx.x * VMC_THREADS + threadIdx.x, c = x / parts, k = blockIdx.y,
                  w = blockIdx.z;
    if (c >= gathered.rows) return;
    const double *row = products + ((int64_t)w * gathered.rows + k) * b.columns * parts;
    const int64_t place = ((int64_t)w * b.capacity + k) * gathered.rows * parts + x;
    out[place] = c < gathered.count[w]
                     ? row[gathered.chosen[(int64_t)w * gathered.rows + c] * parts + x % parts]
                     : 0;
}

/* How X follows from the rows P - E of a block: X += Q^T (P - E), with Q [walkers][capacity][gathered.rows]. For rows of
 * blocks before it Q has -X[:][B] small, for its own electrons that are taken their rows of `small`, and 0 behind them,
 * up to `rows`, where X [walkers][columns][gathered.rows] becomes 0 if `clear` is set. x rows, z walkers; in y the
 * first blocks of threads find Q, the others clear VMC_CLEARED columns each. */
template <class T>
PLUGMC_FN void coefficients(const vmc_block &b, const vmc_gathered &gathered, int32_t rows,
                            int32_t clear, const T *small, T *solved, T *out)
{
    const int32_t lane = threadIdx.x % VMC_COLUMNS, warp = threadIdx.x / VMC_COLUMNS,
                  c = blockIdx.x * VMC_COLUMNS + lane, w = blockIdx.z, before = gathered.before[w],
                  count = gathered.count[w];
    const int32_t *chosen = gathered.chosen + (int64_t)w * gathered.rows;
    T *x = solved + (int64_t)w * b.columns * gathered.rows + c;
    const T zero = of(0, 0, T());
    if (blockIdx.y > 0) {
        const int32_t first = (blockIdx.y - 1) * VMC_CLEARED, last = first + VMC_CLEARED,
                      end = last < b.columns ? last : b.columns;
        for (int32_t j = first + warp; j < end && clear && c >= before && c < rows; j += VMC_ROWS)
            x[(int64_t)j * gathered.rows] = zero;
        return;
    }
    /* a warp has a few neighbours of Q's rows */
    constexpr int own = VMC_MOST_BLOCK / VMC_ROWS;
    __shared__ int32_t rows_taken[VMC_MOST_BLOCK];
    T mine[own];
    const T *table = small + (int64_t)w * b.capacity * b.capacity + own * warp;
    const int32_t left = b.size - own * warp; /* rows of Q from this warp's first one on */
    for (int32_t i = threadIdx.x; i < count - before; i += VMC_THREADS)
        rows_taken[i] = chosen[before + i] - b.column;
    __syncthreads();
    if (c >= rows) return;
#pragma unroll
    for (int i = 0; i < own; i++)
        mine[i] = c >= before && c < count && i < left
                      ? table[rows_taken[c - before] * b.capacity + i]
                      : zero;
#pragma unroll 4
    for (int32_t taken = 0; taken < (c < before ? count - before : 0); taken++) {
        const int32_t j = rows_taken[taken];
        const T one = x[(int64_t)(b.column + j) * gathered.rows];
#pragma unroll
        for (int i = 0; i < own; i++)
            if (i < left) mine[i] = less_product(mine[i], one, table[j * b.capacity + i]);
    }
    T *to = out + ((int64_t)w * b.capacity + own * warp) * gathered.rows + c;
#pragma unroll
    for (int i = 0; i < own; i++)
        if (i < left) to[(int64_t)i * gathered.rows] = mine[i];
}

extern "C" __global__ void __launch_bounds__(VMC_THREADS)
    vmc_coefficients_real(const vmc_block b, const vmc_gathered gathered, int32_t rows,
                          int32_t clear, const double *small, double *solved, double *out)
{
    coefficients(b, gathered, rows, clear, small, solved, out);
}

extern "C" __global__ void __launch_bounds__(VMC_THREADS)
    vmc_coefficients_complex(const vmc_block b, const vmc_gathered gathered, int32_t rows,
                             int32_t clear, const vmc_complex *small, vmc_complex *solved,
                             vmc_complex *out)
{
    coefficients(b, gathered, rows, clear, small, solved, out);
}

/* Rows of M of the electrons that are chosen, and behind each, where numbers are complex, i times it: out
 * [walkers][gathered.rows][parts][numbers]; x numbers, y rows; 0 where a walker has fewer than the one that has most. */
extern "C" __global__ void vmc_chosen_rows(const vmc_block b, const vmc_gathered gathered,
                                           int32_t parts, const double *inverse, double *out)
{
    const int32_t x = blockIdx.x * VMC_THREADS + threadIdx.x, c = blockIdx.y, w = blockIdx.z,
                  numbers = b.electrons * parts;
    const int64_t row = (int64_t)w * gathered.rows + c,
                  electron = (int64_t)w * b.electrons + b.first - b.column;
    if (x >= numbers || c >= *gathered.largest) return;
    double *to = out + row * parts * numbers;
    const double one =
        c < gathered.count[w] ? inverse[(electron + gathered.chosen[row]) * numbers + x] : 0;
    to[x] = one;
    if (parts == 2) to[numbers + (x ^ 1)] = x % 2 ? -one : one;
}

/* Orbitals at the proposals that are chosen, in double: values [walkers][b.rows][pitch], out
 * [walkers][gathered.rows][numbers]; x numbers, y rows; 0 as above. */
template <class V>
PLUGMC_FN void chosen_orbitals(const vmc_block &b, const vmc_gathered &gathered, int32_t numbers,
                               int64_t pitch, const V *values, double *out)
{
    const int32_t x = blockIdx.x * VMC_THREADS + threadIdx.x, c = blockIdx.y, w = blockIdx.z;
    const int64_t row = (int64_t)w * gathered.rows + c,
                  proposal = (int64_t)w * b.rows + b.row - b.column;
    if (x >= numbers || c >= *gathered.largest) return;
    out[row * numbers + x] =
        c < gathered.count[w] ? (double)values[(proposal + gathered.chosen[row]) * pitch + x] : 0;
}

extern "C" __global__ void vmc_chosen_orbitals_float(const vmc_block b, const vmc_gathered gathered,
                                                     int32_t numbers, int64_t pitch,
                                                     const float *values, double *out)
{
    chosen_orbitals(b, gathered, numbers, pitch, values, out);
}

extern "C" __global__ void vmc_chosen_orbitals_double(const vmc_block b,
                                                      const vmc_gathered gathered, int32_t numbers,
                                                      int64_t pitch, const double *values,
                                                      double *out)
{
    chosen_orbitals(b, gathered, numbers, pitch, values, out);
}

/* ---- All against the old configuration ---- */

/* One block of threads an electron of a spin: x electrons, y walkers. Proposals that are accepted
 * are copied to `moved` [walkers][particles][3], which holds the positions else; where a move is
 * lost there is NaN then. Failures are noted by vmc_settle, so that all blocks see the same. */
template <class V, class T>
PLUGMC_FN void judge(const vmc_draws &d, const vmc_block &b, const vmc_state &s, int64_t pitch,
                     const double *to, const double *change, const V *values, const T *inverse,
                     double *moved)
{
    const int32_t k = blockIdx.x, w = blockIdx.y, n = b.electrons, e = b.spin_first + k;
    const T *row = inverse + ((int64_t)w * n + k) * n;
    T v, q = of(0, 0, T());
    for (int32_t o = threadIdx.x; o < n; o += VMC_LOOK) {
        load(values, ((int64_t)w * b.rows + k) * pitch + o, &v);
        q = less(q, times(v, row[o])); /* its sign does not matter */
    }
    const double re = sum_of_block<VMC_LOOK>(real_of(q)),
                 im = sum_of_block<VMC_LOOK>(imaginary_of(q));
    if (threadIdx.x > 0) return;
    const double q2 = re * re + im * im, own = change[(int64_t)w * b.capacity + k],
                 ratio = q2 * exp(-own);
    const bool lost = is_lost(q2, own);
    if (s.failure[w].electron) return;
    if (VMC_BARS && lost &&
        is_barred(to + 3 * ((int64_t)w * b.rows + k), plugmc_site_of_species(species_of(b, e))))
        return;
    if (!(acceptance_number(d, d.walker + w, e) < ratio) && !lost) return;
    atomicAdd(s.accepted + w, 1ull);
    for (int i = 0; i < 3; i++)
        moved[3 * ((int64_t)w * b.particles + e) + i] =
            lost ? infinity() - infinity() : to[3 * ((int64_t)w * b.rows + k) + i];
}

#define VMC_JUDGE(name, V, T)                                                                      \
    extern "C" __global__ void __launch_bounds__(VMC_LOOK) name(                                   \
        const __grid_constant__ vmc_draws d, const vmc_block b, const vmc_state s, int64_t pitch,  \
        const double *to, const double *change, const V *values, const T *inverse, double *moved)  \
    {                                                                                              \
        judge(d, b, s, pitch, to, change, values, inverse, moved);                                 \
    }
VMC_JUDGE(vmc_judge_float_real, float, double)
VMC_JUDGE(vmc_judge_float_complex, float, vmc_complex)
VMC_JUDGE(vmc_judge_double_real, double, double)
VMC_JUDGE(vmc_judge_double_complex, double, vmc_complex)

/* One block of threads a walker: the moves of both spins are made. Of a walker with lost ones only
 * the first of them is, as it was judged with all others where they were, and none after it, so
 * that it is found. to_up, to_down [walkers][electrons][3]. */
extern "C" __global__ void __launch_bounds__(VMC_THREADS)
    vmc_settle(const __grid_constant__ vmc_draws d, int32_t particles, int32_t up,
               const vmc_state s, const double *to_up, const double *to_down, const double *moved,
               double *positions)
{
    __shared__ int32_t lost;
    const int32_t w = blockIdx.x, t = threadIdx.x, down = particles - up;
    const double *from = moved + 3 * (int64_t)w * particles;
    double *out = positions + 3 * (int64_t)w * particles;
    if (s.failure[w].electron) return;
    if (t == 0) lost = particles;
    __syncthreads();
    for (int32_t e = t; e < particles; e += VMC_THREADS)
        if (!(from[3 * e] == from[3 * e])) atomicMin(&lost, e);
    __syncthreads();
    const int32_t e = lost;
    for (int32_t i = t; i < 3 * particles && e == particles; i += VMC_THREADS) out[i] = from[i];
    if (t > 0 || e == particles) return;
    note_failure(s, d, w, e);
    const double *to =
        e < up ? to_up + 3 * ((int64_t)w * up + e) : to_down + 3 * ((int64_t)w * down + e - up);
    for (int i = 0; i < 3; i++) out[3 * e + i] = to[i];
}

/* ---- All at once ---- */

/* One block of threads a walker: the whole configuration or nothing. ln_new of both spins; the
 * second is NULL if there is one. */
extern "C" __global__ void vmc_decide_configuration(const __grid_constant__ vmc_draws d,
                                                    const vmc_block b, const vmc_state s,
                                                    const double *whole, const double *ln_up,
                                                    const double *ln_down, const double *parts_new,
                                                    double *ln_square_down, double *positions)
{
    const int32_t w = blockIdx.x, particles = b.particles;
    double ln_ratio = ln_up[w] - s.ln_square[w];
    if (ln_down) ln_ratio += ln_down[w] - ln_square_down[w];
    const double change = parts_new[w] - s.parts[w] - ln_ratio, ratio = exp(-change);
    bool lost = is_lost(1, change);
    if (VMC_BARS && lost && is_anyone_barred(b, whole + 3 * (int64_t)w * particles)) lost = false;
    /* where somebody may not be, parts_new and with it the ratio are 0 or no number */
    const bool taken =
        !s.failure[w].electron && (lost || acceptance_number(d, d.walker + w, 0) < ratio);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (lost) note_failure(s, d, w, 0);
        if (taken) {
            s.ln_square[w] = ln_up[w];
            if (ln_down) ln_square_down[w] = ln_down[w];
            s.parts[w] = parts_new[w];
            s.accepted[w]++;
        }
    }
    for (int32_t i = threadIdx.x; i < 3 * particles && taken; i += VMC_THREADS)
        positions[(int64_t)w * 3 * particles + i] = whole[(int64_t)w * 3 * particles + i];
}
