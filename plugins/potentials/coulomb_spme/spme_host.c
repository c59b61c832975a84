/* spme_host.c: the mesh on the CPU, in double precision.
 *
 * Every number is written by one thread and every sum has a fixed order, so that nothing depends on
 * the number of threads. Charges are sorted by cell. A plane of the grid takes the charges of the n
 * cells above it and is transformed at once; then, for each y, the waves along z are transformed,
 * multiplied by G and transformed back in the cache; then planes again; then each charge adds up
 * its force. Transforms are FFTW's, planned without measuring, as plans that were timed would
 * differ from run to run. With several walkers a thread takes a walker, else the threads share the
 * one.
 */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "spme_host.h"

static void one_walker(const spme *, workspace *, const plugmc_total_request *, int64_t walker);

static int check_boxes(const spme *m, const plugmc_view *view)
{
    int code = PLUGMC_OK;
    const int32_t walkers = plugmc_walkers_of(view, m->host->system);
    for (int32_t w = 0; w < walkers && m->limit.stretch > 0 && !code; w++)
        code = spme_check_box(m, &view->box[w], w);
    return code;
}

static int no_position(const spme *m, const plugmc_total_request *request, int64_t walker,
                       int64_t particle)
{
    const double *r =
        request->view->positions + 3 * (walker * m->host->system->particles + particle);
    return m->host->fail(m->host->context, PLUGMC_ERROR_STATE,
                         "particle %lld of walker %lld is at (%g, %g, %g), which is not a "
                         "valid position",
                         (long long)particle, (long long)walker, r[0], r[1], r[2]);
}

int spme_host_energy(spme *m, const plugmc_total_request *request)
{
    const plugmc_system *system = m->host->system;
    int code = m->on_host ? PLUGMC_OK : spme_make_host_mesh(m);
    if (!code) code = check_boxes(m, request->view);
    if (code) return code;
    const struct spme_host_mesh *h = m->on_host;
    int64_t bad_walker = INT64_MAX, bad_particle = INT64_MAX;
    const int64_t walkers = plugmc_walkers_of(request->view, system);
    const int team =
        system->threads > 0 && system->threads < h->threads ? system->threads : h->threads;
    const int share = team < h->workspaces ? team : h->workspaces; /* of threads, for walkers */
    if (h->workspaces == 1) h->space[0].threads = team;
#pragma omp parallel for schedule(static) num_threads(share) if (share > 1)
    for (int64_t w = 0; w < walkers; w++) {
        workspace *space = &h->space[share > 1 ? omp_get_thread_num() : 0];
        one_walker(m, space, request, w);
        if (space->not_finite < 0) continue;
#pragma omp critical(spme_not_finite)
        if (w < bad_walker) {
            bad_walker = w;
            bad_particle = space->not_finite;
        }
    }
    return bad_walker == INT64_MAX ? PLUGMC_OK : no_position(m, request, bad_walker, bad_particle);
}

int spme_host_walker(spme *m, const plugmc_total_request *request, int64_t walker)
{
    int code = m->on_host ? PLUGMC_OK : spme_make_host_mesh(m);
    if (!code && m->limit.stretch > 0)
        code = spme_check_box(m, &request->view->box[walker], walker);
    if (code) return code;
    workspace *space = &m->on_host->space[0];
    one_walker(m, space, request, walker);
    return space->not_finite < 0 ? PLUGMC_OK : no_position(m, request, walker, space->not_finite);
}

/* ---- One walker -------------------------------------------------------------------------- */

static void take_box(const spme *, workspace *, const plugmc_view *, int64_t walker);
static void sort_charges(const spme *, workspace *, const double *positions);
static void planes_forward(const spme *, workspace *);
static void columns(const spme *, workspace *, int back);
static void planes_backward(const spme *, workspace *);
static void add_forces(const spme *, workspace *, double *forces);
static void add_sums(const spme *, const workspace *, const plugmc_total_request *, int64_t walker);
static void add_exclusions(const spme *, workspace *, const plugmc_total_request *, int64_t walker);

static void one_walker(const spme *m, workspace *s, const plugmc_total_request *request,
                       int64_t walker)
{
    const int64_t at = 3 * walker * m->host->system->particles;
    take_box(m, s, request->view, walker);
    sort_charges(m, s, request->view->positions + at);
    if (s->not_finite >= 0) return;
    planes_forward(m, s);
    columns(m, s, request->forces != NULL);
    if (request->forces) {
        planes_backward(m, s);
        add_forces(m, s, request->forces + at);
    }
    add_sums(m, s, request, walker);
    if (m->exclusions.first) add_exclusions(m, s, request, walker);
}

static int is_new(const spme *m, const plugmc_box *box)
{
    return memcmp(box->length, m->start.length, sizeof m->start.length) != 0;
}

static void take_box(const spme *m, workspace *s, const plugmc_view *view, int64_t walker)
{
    s->box = &m->start;
    if (m->limit.stretch == 0 || !is_new(m, &view->box[walker])) return;
    spme_fill_box(m, &view->box[walker], &s->other);
    s->box = &s->other;
}

/* Points along x are dealt with four at a time; `fours` of them hold the order, the rest is 0. */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));

/* Calls with order and fours as constants. */
#define FOR_ORDER(order, CALL)                                                                     \
    switch (order) {                                                                               \
    case 4: CALL(4, 1); break;                                                                     \
    case 5: CALL(5, 2); break;                                                                     \
    case 6: CALL(6, 2); break;                                                                     \
    case 7: CALL(7, 2); break;                                                                     \
    default: CALL(8, 2); break;                                                                    \
    }

/* M_n(f + j) and its derivative for j = 0 ... n - 1 are w[n - 1 - j] and slope[n - 1 - j], in the
 * order of grid points: M_k(u) = (u M_k-1(u) + (k - u) M_k-1(u - 1)) / (k - 1), and M_n'(u) =
 * M_n-1(u) - M_n-1(u - 1). */
PLUGMC_FN void splines(int order, double f, double *w, double *slope)
{
    double m[SPME_MOST_ORDER]; /* M_k(f + j) */
    m[0] = f;
    m[1] = 1 - f;
#pragma GCC unroll 8
    for (int k = 2; k < order; k++) {
        const double share = 1.0 / k;
        if (k == order - 1) {
            slope[k] = m[0];
#pragma GCC unroll 8
            for (int j = 1; j < k; j++) slope[k - j] = m[j] - m[j - 1];
            slope[0] = -m[k - 1];
        }
        m[k] = share * (1 - f) * m[k - 1];
#pragma GCC unroll 8
        for (int j = k - 1; j > 0; j--)
            m[j] = share * ((f + j) * m[j] + (k + 1 - j - f) * m[j - 1]);
        m[0] = share * f * m[0];
    }
#pragma GCC unroll 8
    for (int j = 0; j < order; j++) w[order - 1 - j] = m[j];
}

/* ---- Charges in their cells -------------------------------------------------------------- */

static void find_cell(const spme *m, const spme_box *box, const double r[3], int64_t i, site *out)
{
    *out = (site){.charge = m->charge[i], .index = (uint32_t)i};
    for (int d = 0; d < 3; d++) {
        const int32_t points = m->set.grid[d];
        double u = r[d] / box->length[d];
        u = (u - floor(u)) * points;
        out->cell[d] = u < points ? (int32_t)u : points - 1; /* a tiny negative one rounds up */
        out->f[d] = u - out->cell[d];
    }
}

PLUGMC_FN void site_weights(const site *c, double *w, int order)
{
    double slope[SPME_MOST_ORDER];
    for (int d = 0; d < 3; d++) splines(order, c->f[d], w + d * order, slope);
}

static PLUGMC_TARGETS void find_weights(const spme *m, const workspace *s, uint32_t begin,
                                        uint32_t end)
{
#define WEIGHTS(order, fours)                                                                      \
    for (size_t k = begin; k < end; k++)                                                           \
    site_weights(&s->sites[k], s->weights + 3 * order * k, order)
    FOR_ORDER(m->set.order, WEIGHTS)
}

/* Stable, by counting. Neutral particles are left out. */
static void sort_charges(const spme *m, workspace *s, const double *positions)
{
    const int64_t n = m->host->system->particles;
    const int32_t *grid = m->set.grid;
    const int64_t rows = (int64_t)grid[1] * grid[2];
    int64_t bad = INT64_MAX;
#pragma omp parallel for schedule(static) num_threads(s->threads) reduction(min : bad)
    for (int64_t i = 0; i < n; i++) {
        const double *r = positions + 3 * i;
        if (m->counts_change && isnan(r[0]))
            s->found[i] = (site){.charge = 0}; /* nobody */
        else if (isfinite(r[0] + r[1] + r[2]))
            find_cell(m, s->box, r, i, &s->found[i]);
        else
            bad = i < bad ? i : bad;
    }
    s->not_finite = bad == INT64_MAX ? -1 : bad;
    if (s->not_finite >= 0) return;
    memset(s->first, 0, (size_t)(rows + 1) * sizeof *s->first);
    for (int64_t i = 0; i < n; i++) {
        const site *f = &s->found[i];
        if (f->charge != 0) s->first[f->cell[2] * (int64_t)grid[1] + f->cell[1]]++;
    }
    uint32_t sum = 0;
    for (int64_t row = 0; row <= rows; row++) {
        uint32_t count = s->first[row];
        s->first[row] = sum;
        sum += count;
    }
    for (int64_t i = 0; i < n; i++) {
        const site *f = &s->found[i];
        if (f->charge != 0) s->sites[s->first[f->cell[2] * (int64_t)grid[1] + f->cell[1]]++] = *f;
    }
    memmove(s->first + 1, s->first, (size_t)rows * sizeof *s->first);
    s->first[0] = 0;
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int64_t row = 0; row < rows; row++) find_weights(m, s, s->first[row], s->first[row + 1]);
}

/* ---- Spreading --------------------------------------------------------------------------- */

/* First of the points that a charge in a cell reaches. */
static inline int32_t first_point(int32_t cell, int order, int32_t points)
{
    const int32_t x = cell - order + 1;
    return x < 0 ? x + points : x;
}

PLUGMC_FN void spread_site(const site *c, const double *w, double weight_z, double *plane,
                           int pitch, const int32_t *grid, int order, int fours)
{
    double padded[8] = {0};
    for (int i = 0; i < order; i++) padded[i] = w[i];
    four wx[2];
    for (int b = 0; b < fours; b++) wx[b] = *(four *)(padded + 4 * b);
    double *column = plane + first_point(c->cell[0], order, grid[0]);
    int32_t y = first_point(c->cell[1], order, grid[1]);
#pragma GCC unroll 8
    for (int j = 0; j < order; j++) {
        const double factor = weight_z * w[order + j];
        double *row = column + (size_t)y * pitch;
        for (int b = 0; b < fours; b++) *(four *)(row + 4 * b) += factor * wx[b];
        if (++y == grid[1]) y = 0;
    }
}

PLUGMC_FN void spread_cells(const spme *m, const workspace *s, int32_t z, double *plane, int pitch,
                            int order, int fours)
{
    const int32_t *grid = m->set.grid;
    for (int j = 0; j < order; j++) { /* cell z + j has its point number n - 1 - j here */
        const int64_t cell = (z + j) % grid[2] * (int64_t)grid[1];
        for (uint32_t k = s->first[cell]; k < s->first[cell + grid[1]]; k++) {
            const double *w = s->weights + 3 * order * (size_t)k;
            spread_site(&s->sites[k], w, s->sites[k].charge * w[3 * order - 1 - j], plane, pitch,
                        grid, order, fours);
        }
    }
}

static PLUGMC_TARGETS void spread_plane(const spme *m, const workspace *s, int32_t z, double *plane,
                                        int pitch)
{
    const int32_t x = m->set.grid[0];
    memset(plane, 0, (size_t)m->set.grid[1] * pitch * sizeof *plane);
#define SPREAD(order, fours) spread_cells(m, s, z, plane, pitch, order, fours)
    FOR_ORDER(m->set.order, SPREAD)
    for (int32_t y = 0; y < m->set.grid[1]; y++) {
        double *row = plane + (size_t)y * pitch;
        for (int i = 0; i < m->set.order - 1; i++) row[i] += row[x + i];
    }
}

static void planes_forward(const spme *m, workspace *s)
{
    const struct spme_host_mesh *h = m->on_host;
    const int32_t *grid = m->set.grid;
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int32_t z = 0; z < grid[2]; z++) {
        double *plane =
            s->plane + (size_t)(s->threads > 1 ? omp_get_thread_num() : 0) * grid[1] * h->pitch;
        spread_plane(m, s, z, plane, h->pitch);
        fftw_execute_dft_r2c(h->plane_forward, plane, s->waves + (size_t)z * grid[1] * h->half_x);
    }
}

/* ---- Waves ------------------------------------------------------------------------------- */

/* Multiplies the waves of one y by G, and adds up the energy and its strains. The waves of -x are
 * those of x: they count twice. */
static void solve_slab(const spme *m, const spme_box *box, fftw_complex *slab, int32_t y,
                       double sums[4])
{
    const int32_t *grid = m->set.grid;
    const int half_x = m->on_host->half_x;
    const spme_table *tx = &box->table[0], *ty = &box->table[1], *tz = &box->table[2];
    for (int32_t z = 0; z < grid[2]; z++)
        for (int32_t x = 0; x < half_x; x++) {
            const double square = tx->square[x] + ty->square[y] + tz->square[z];
            const double g = x + y + z == 0 ? 0
                                            : box->factor * tx->weight[x] * ty->weight[y] *
                                                  tz->weight[z] / square;
            double *q = slab[(size_t)z * half_x + x];
            const double twice = x == 0 || 2 * x == grid[0] ? 1 : 2;
            const double energy = twice * g * (q[0] * q[0] + q[1] * q[1]);
            const double slope = x + y + z == 0 ? 0 : 2 / square;
            sums[0] += energy;
            sums[1] += energy * (slope * tx->square[x] + tx->strain[x]);
            sums[2] += energy * (slope * ty->square[y] + ty->strain[y]);
            sums[3] += energy * (slope * tz->square[z] + tz->strain[z]);
            q[0] *= g;
            q[1] *= g;
        }
}

static void columns(const spme *m, workspace *s, int back)
{
    const struct spme_host_mesh *h = m->on_host;
    const int32_t *grid = m->set.grid;
    const size_t row = (size_t)h->half_x, plane = row * grid[1];
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int32_t y = 0; y < grid[1]; y++) {
        fftw_complex *slab =
            s->slab + (size_t)(s->threads > 1 ? omp_get_thread_num() : 0) * row * grid[2];
        for (int32_t z = 0; z < grid[2]; z++)
            memcpy(slab + z * row, s->waves + z * plane + y * row, row * sizeof *slab);
        fftw_execute_dft(h->column_forward, slab, slab);
        memset(s->partial + 4 * y, 0, 4 * sizeof *s->partial);
        solve_slab(m, s->box, slab, y, s->partial + 4 * y);
        if (!back) continue;
        fftw_execute_dft(h->column_backward, slab, slab);
        for (int32_t z = 0; z < grid[2]; z++)
            memcpy(s->waves + z * plane + y * row, slab + z * row, row * sizeof *slab);
    }
}

static void planes_backward(const spme *m, workspace *s)
{
    const struct spme_host_mesh *h = m->on_host;
    const int32_t *grid = m->set.grid;
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int32_t z = 0; z < grid[2]; z++) {
        double *plane = s->field + (size_t)z * grid[1] * h->pitch;
        fftw_execute_dft_c2r(h->plane_backward, s->waves + (size_t)z * grid[1] * h->half_x, plane);
        for (int32_t y = 0; y < grid[1]; y++)
            for (int32_t x = grid[0]; x < h->pitch; x++)
                plane[(size_t)y * h->pitch + x] = plane[(size_t)y * h->pitch + x % grid[0]];
    }
}

/* ---- Forces ------------------------------------------------------------------------------ */

PLUGMC_FN void site_force(const spme *m, const workspace *s, const site *c, int order, int fours,
                          double *force)
{
    const int32_t *grid = m->set.grid;
    const int pitch = m->on_host->pitch;
    double w[3][8] = {{0}}, slope[3][8] = {{0}}, along[3][8];
    for (int d = 0; d < 3; d++) splines(order, c->f[d], w[d], slope[d]);
    four x[2] = {{0}}, y[2] = {{0}},
         z[2] = {{0}}; /* sums over rows, for the force along each axis */
    const int32_t first_x = first_point(c->cell[0], order, grid[0]);
    int32_t at_z = first_point(c->cell[2], order, grid[2]);
#pragma GCC unroll 8
    for (int k = 0; k < order; k++) {
        const double *column = s->field + (size_t)at_z * grid[1] * pitch + first_x;
        int32_t at_y = first_point(c->cell[1], order, grid[1]);
#pragma GCC unroll 8
        for (int j = 0; j < order; j++) {
            const double *row = column + (size_t)at_y * pitch;
            for (int b = 0; b < fours; b++) {
                const four p = *(const four *)(row + 4 * b);
                x[b] += w[2][k] * w[1][j] * p;
                y[b] += w[2][k] * slope[1][j] * p;
                z[b] += slope[2][k] * w[1][j] * p;
            }
            if (++at_y == grid[1]) at_y = 0;
        }
        if (++at_z == grid[2]) at_z = 0;
    }
    for (int b = 0; b < fours; b++) {
        *(four *)(along[0] + 4 * b) = x[b];
        *(four *)(along[1] + 4 * b) = y[b];
        *(four *)(along[2] + 4 * b) = z[b];
    }
    double sum[3] = {0, 0, 0};
    for (int i = 0; i < order; i++) {
        sum[0] += slope[0][i] * along[0][i];
        sum[1] += w[0][i] * along[1][i];
        sum[2] += w[0][i] * along[2][i];
    }
    for (int d = 0; d < 3; d++) force[d] -= c->charge * grid[d] / s->box->length[d] * sum[d];
}

static PLUGMC_TARGETS void forces_of(const spme *m, const workspace *s, uint32_t begin,
                                     uint32_t end, double *forces)
{
#define FORCES(order, fours)                                                                       \
    for (uint32_t k = begin; k < end; k++)                                                         \
    site_force(m, s, &s->sites[k], order, fours, forces + 3 * (size_t)s->sites[k].index)
    FOR_ORDER(m->set.order, FORCES)
}

/* The mean over all particles is taken off in the order of particles. */
static void balance(const double *from, int64_t n, double *to)
{
    double mean[3] = {0, 0, 0};
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) mean[d] += from[3 * i + d] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) to[3 * i + d] += from[3 * i + d] - mean[d];
}

static void add_forces(const spme *m, workspace *s, double *forces)
{
    const int64_t rows = (int64_t)m->set.grid[1] * m->set.grid[2], n = m->host->system->particles;
    double *to = m->set.balance_forces ? s->forces : forces;
    if (m->set.balance_forces) memset(to, 0, 3 * (size_t)n * sizeof *to);
#pragma omp parallel for schedule(dynamic, 64) num_threads(s->threads)
    for (int64_t row = 0; row < rows; row++) forces_of(m, s, s->first[row], s->first[row + 1], to);
    if (m->set.balance_forces) balance(to, n, forces);
}

/* ---- Energy and virial ------------------------------------------------------------------- */

/* -dE/d(strain) of a wave: E (1 - 2 square_d / square - k_d^2 / 2 alpha^2). */
static void add_sums(const spme *m, const workspace *s, const plugmc_total_request *request,
                     int64_t walker)
{
    const int64_t *count = spme_counts_of(m, request->view, walker);
    double sums[4] = {0, 0, 0, 0}, constant = s->box->constant,
           constant_virial = s->box->constant_virial;
    if (count) spme_constants(m, s->box->volume, count, &constant, &constant_virial);
    for (int32_t y = 0; y < m->set.grid[1]; y++)
        for (int q = 0; q < 4; q++) sums[q] += s->partial[4 * y + q];
    if (request->energy) request->energy[walker] += sums[0] / 2 + constant;
    for (int d = 0; d < 3 && request->virial; d++)
        request->virial[3 * walker + d] += (sums[0] - sums[1 + d]) / 2 + constant_virial;
}

/* The pairs count excluded ones within the cutoff and the waves all of them: -1/r within, and
 * -erf(alpha r) / r beyond. Half of a pair belongs to each of the two. */
static void excluded(const spme *m, const spme_box *box, const double *positions, int64_t i,
                     double *force, double share[4])
{
    const spme_settings *set = &m->set;
    const double *a = positions + 3 * i;
    for (uint32_t k = m->exclusions.first[i]; k < m->exclusions.first[i + 1]; k++) {
        const double *b = positions + 3 * (size_t)m->exclusions.partner[k];
        double s[3], r2 = 0;
        for (int d = 0; d < 3; d++) {
            s[d] = a[d] - b[d];
            s[d] -= box->length[d] * rint(s[d] / box->length[d]);
            r2 += s[d] * s[d];
        }
        const double r = sqrt(r2), x = set->alpha * r, inside = r < set->cutoff;
        const double qq = set->bjerrum_length * m->charge[i] * m->charge[m->exclusions.partner[k]];
        const double u = -qq * (inside ? 1 : erf(x)) / r;
        /* -u'(r) / r */
        const double push = (u + (inside ? 0 : qq * M_2_SQRTPI * set->alpha * exp(-x * x))) / r2;
        share[0] += u / 2;
        for (int d = 0; d < 3; d++) {
            share[1 + d] += push * s[d] * s[d] / 2;
            if (force) force[d] += push * s[d];
        }
    }
}

static void add_exclusions(const spme *m, workspace *s, const plugmc_total_request *request,
                           int64_t walker)
{
    const int64_t n = m->host->system->particles, at = 3 * walker * n;
    const double *positions = request->view->positions + at;
    memset(s->share, 0, 4 * (size_t)n * sizeof *s->share);
#pragma omp parallel for schedule(static) num_threads(s->threads)
    for (int64_t i = 0; i < n; i++)
        excluded(m, s->box, positions, i, request->forces ? request->forces + at + 3 * i : NULL,
                 s->share + 4 * i);
    double sums[4] = {0, 0, 0, 0};
    for (int64_t i = 0; i < n; i++)
        for (int q = 0; q < 4; q++) sums[q] += s->share[4 * i + q];
    if (request->energy) request->energy[walker] += sums[0];
    for (int d = 0; d < 3 && request->virial; d++) request->virial[3 * walker + d] += sums[1 + d];
}
