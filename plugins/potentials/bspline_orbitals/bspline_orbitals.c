/* bspline_orbitals: one-electron orbitals of a solid from a file, as cubic B-splines on a grid.
 *
 *     psi(r) = exp(i k.r) u_k(r),
 *     u_k(r) = sum_n a_n theta(N_1 s_1 - n_1) theta(N_2 s_2 - n_2) theta(N_3 s_3 - n_3)
 *
 * with s the coordinates of r along the primitive vectors and theta the cubic B-spline of height 1
 * (D. Alfe, M. J. Gillan, Phys. Rev. B 70, 161101 (2004)). Only the primitive cell is tabulated;
 * the simulation cell is made of them by the matrix `tile`. Lengths are bohr, energies Hartree.
 * The electrons of species 0 have spin up, those of species 1 spin down, and each spin takes its
 * orbitals of lowest eigenvalue. All are normalised so that the mean of |psi|^2 is 1.
 *
 * Most of the time of a variational calculation for a solid goes into the sums above, and that into
 * reading coefficients: 64 rows of the table a point. In a row the orbital is the fastest index, so
 * that memory is read in order (bspline_orbitals.cu, spline.h).
 *
 * orbital_file.c and the readers beside it read the files, occupation.c chooses the orbitals, tables.c
 * fills the tables, ions.c finds the ions, gpu.c evaluates on the GPU.
 */
#define _GNU_SOURCE /* sincos */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/description.h>
#include <plugmc/everything.h>

#include "bspline_orbitals.h"

#include PLUGMC_KERNEL_FILE

/* ---- Evaluation on the CPU ----------------------------------------------------------------- */

/* Neighbours of a point along the three directions, as offsets in points of the grid, and theta
 * with its first and second derivatives there. */
typedef struct spline_place {
    int64_t x[4], y[4], z[4];
    double wx[3][4], wy[3][4], wz[3][4];
} spline_place;

#define TABLE float
#include "spline.h"
#define TABLE double
#include "spline.h"

/* The four weights at distances 1 + t, t, 1 - t, 2 - t, and derivatives by t. */
static void weigh(double t, double w[3][4])
{
    const double v = 1 - t;
    w[0][0] = 0.25 * v * v * v;
    w[0][1] = 1 - 0.75 * t * t * (2 - t);
    w[0][2] = 1 - 0.75 * v * v * (2 - v);
    w[0][3] = 0.25 * t * t * t;
    w[1][0] = -0.75 * v * v;
    w[1][1] = t * (2.25 * t - 3);
    w[1][2] = -v * (2.25 * v - 3);
    w[1][3] = 0.75 * t * t;
    w[2][0] = 1.5 * v;
    w[2][1] = 4.5 * t - 3;
    w[2][2] = 4.5 * v - 3;
    w[2][3] = 1.5 * t;
}

/* s: coordinates of r along the primitive vectors. */
static spline_place find_place(const bspline_orbitals *b, const double r[3], double s[3])
{
    spline_place p;
    int64_t *offset[3] = {p.x, p.y, p.z};
    double(*weights[3])[4] = {p.wx, p.wy, p.wz};
    const int64_t stride[3] = {(int64_t)b->grid.points[1] * b->grid.points[2], b->grid.points[2],
                               1};
    for (int d = 0; d < 3; d++) {
        s[d] = r[0] * b->grid.inverse[0][d] + r[1] * b->grid.inverse[1][d] +
               r[2] * b->grid.inverse[2][d];
        const double at = (s[d] - floor(s[d])) * b->grid.points[d];
        int64_t cell = (int64_t)at;
        weigh(at - (double)cell, weights[d]);
        if (!(cell >= 0 && cell < b->grid.points[d]))
            cell = 0; /* rounded up to the edge, or no number */
        for (int i = 0; i < 4; i++)
            offset[d][i] = (cell + i - 1 + b->grid.points[d]) % b->grid.points[d] * stride[d];
    }
    return p;
}

/* One point, in the precision of the table; s is [5][row]. */
#define EVALUATE(type)                                                                             \
    static void evaluate_##type(const bspline_orbitals *b, const spline_table *t,                  \
                                const plugmc_orbital_request *q, int64_t point,                    \
                                const spline_place *p, const double *phase, type *s)               \
    {                                                                                              \
        const int64_t count = b->wanted[q->species], components = count * b->parts;                \
        const int derivatives = q->gradients || q->laplacians;                                     \
        const sums_##type sums = {                                                                 \
            s, {s + t->row, s + 2 * t->row, s + 3 * t->row}, s + 4 * t->row};                      \
        if (b->layout == LAYOUT_PLAIN)                                                             \
            sum_plain_##type(t->numbers,                                                           \
                             (int64_t)b->grid.points[0] * b->grid.points[1] * b->grid.points[2],   \
                             b->parts, p, b->grid.metric, components, derivatives, sums);          \
        else if (q->laplacians)                                                                    \
            sum_all_##type(t->numbers, t->row, p, b->grid.metric, components, sums);               \
        else if (derivatives)                                                                      \
            sum_slopes_##type(t->numbers, t->row, p, b->grid.metric, components, sums);            \
        else                                                                                       \
            sum_values_##type(t->numbers, t->row, p, components, s);                               \
        if (q->real_size == sizeof(float))                                                         \
            FINISH(type, float);                                                                   \
        else                                                                                       \
            FINISH(type, double);                                                                  \
    }

#define FINISH(type, result)                                                                       \
    do {                                                                                           \
        const int64_t row = q->pitch * b->parts;                                                   \
        if (q->values)                                                                             \
            finish_values_##result##_##type(s, count, b->parts, t->k_of, phase,                    \
                                            (result *)q->values + point * row);                    \
        if (derivatives)                                                                           \
            finish_derivatives_##result##_##type(                                                  \
                &sums, count, b->parts, t->k_of, phase, (const double(*)[4])t->wave,               \
                b->grid.slope, q->gradients ? (result *)q->gradients + 3 * point *row : NULL,      \
                q->pitch, q->laplacians ? (result *)q->laplacians + point *row : NULL);            \
    } while (0)

EVALUATE(float)
EVALUATE(double)
#undef EVALUATE
#undef FINISH

/* Parts in place of whole orbitals, in rows of complex numbers. */
#define TAKE_PARTS(type)                                                                           \
    static void take_parts_##type(const spline_table *t, type *row)                                \
    {                                                                                              \
        for (int32_t k = 0; k < t->singles; k++) {                                                 \
            type *psi = row + 2 * t->single[2 * k];                                                \
            psi[0] = (type)(M_SQRT2 * (double)psi[t->single[2 * k + 1] == IMAGINARY_PART]);        \
            psi[1] = 0;                                                                            \
        }                                                                                          \
    }

TAKE_PARTS(float)
TAKE_PARTS(double)
#undef TAKE_PARTS

static void take_parts(const spline_table *t, const plugmc_orbital_request *q, int64_t point)
{
    const struct {
        void *rows;
        int64_t first, count;
    } all[] = {{q->values, point, 1}, {q->gradients, 3 * point, 3}, {q->laplacians, point, 1}};
    for (int i = 0; i < 3 && t->singles; i++)
        for (int64_t k = all[i].first; k < all[i].first + all[i].count && all[i].rows; k++)
            if (q->real_size == sizeof(float))
                take_parts_float(t, (float *)all[i].rows + 2 * k * q->pitch);
            else
                take_parts_double(t, (double *)all[i].rows + 2 * k * q->pitch);
}

/* scratch: phases [k_count][2], then sums. */
static void evaluate_point(const bspline_orbitals *b, const spline_table *t,
                           const plugmc_orbital_request *q, int64_t point, char *scratch)
{
    double s[3], *phase = (double *)scratch;
    void *sums = scratch + 16 * (size_t)t->k_count;
    const spline_place p = find_place(b, q->positions + 3 * point, s);
    for (int32_t k = 0; k < t->k_count && b->parts == 2; k++) {
        double turns = t->phase[k][0] * s[0] + t->phase[k][1] * s[1] + t->phase[k][2] * s[2];
        turns = 2 * M_PI * (turns - rint(turns));
        sincos(turns, &phase[2 * k + 1], &phase[2 * k]);
    }
    if (b->size == sizeof(float))
        evaluate_float(b, t, q, point, &p, phase, sums);
    else
        evaluate_double(b, t, q, point, &p, phase, sums);
    take_parts(t, q, point);
}

static void evaluate_on_host(const bspline_orbitals *b, const spline_table *t,
                             const plugmc_orbital_request *q)
{
    const int now = b->host->system->threads;
    const int threads = now > 0 && now < b->threads ? now : b->threads; /* there may be fewer now */
#pragma omp parallel num_threads(threads) if (q->points >= 4 * threads)
    {
        char *scratch = b->scratch + (size_t)omp_get_thread_num() * b->scratch_bytes;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < q->points; i++) evaluate_point(b, t, q, i, scratch);
    }
}

/* ---- Orbitals for others ---------------------------------------------------------------------- */

static int evaluate(void *instance, const plugmc_orbital_request *q)
{
    const bspline_orbitals *b = instance;
    const plugmc_host *host = b->host;
    if (q->species < 0 || q->species > 1 || b->wanted[q->species] == 0)
        return host->fail(host->context, PLUGMC_ERROR_STATE, "there are no orbitals for species %d",
                          q->species);
    if (q->pitch < b->wanted[q->species] ||
        (q->real_size != sizeof(float) && q->real_size != sizeof(double)))
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "orbitals are asked for with a pitch of %lld and reals of %d bytes",
                          (long long)q->pitch, q->real_size);
    const spline_table *t = &b->tables[b->table_of[q->species]];
    if (q->points <= 0 || (!q->values && !q->gradients && !q->laplacians)) return PLUGMC_OK;
    if (q->on_device && !host->gpu)
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "orbitals are requested on the GPU in a run on the CPU");
    if (q->on_device) return spline_evaluate_there(b, t, q);
    evaluate_on_host(b, t, q);
    return PLUGMC_OK;
}

static int64_t count(const void *instance, int32_t species)
{
    const bspline_orbitals *b = instance;
    return species == 0 || species == 1 ? b->wanted[species] : 0;
}

static int32_t complex_valued(const void *instance)
{
    return !((const bspline_orbitals *)instance)->source.real;
}

/* The caller may know fewer members. */
static int ions(const void *instance, plugmc_ions *out)
{
    const plugmc_ions *found = &((const bspline_orbitals *)instance)->ions;
    const uint32_t size = out->size < sizeof *found ? out->size : sizeof *found;
    memcpy(out, found, size);
    out->size = size;
    return PLUGMC_OK;
}

static void turns_of(const void *instance, double turns[3])
{
    memcpy(turns, ((const bspline_orbitals *)instance)->cells.twist, 3 * sizeof *turns);
}

/* ---- Preparation: the cell ----------------------------------------------------------------- */

/* The box of the run is the simulation cell. */
static int check_box(const bspline_orbitals *b, const plugmc_host *host)
{
    const plugmc_box *box = &host->system->box;
    const orbital_file *f = &b->source;
    double a[3][3] = {{0}}, worst = 0, largest = 0;
    char words[TILE_WORDS];
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) {
            for (int g = 0; g < 3; g++) a[d][e] += b->cells.tile[d][g] * f->crystal.lattice[g][e];
            largest = fmax(largest, fabs(a[d][e]));
            worst = fmax(worst, fabs(a[d][e] - box->vector[d][e]));
        }
    if (box->domain == PLUGMC_DOMAIN_PERIODIC && box->dimension == 3 && worst < 1e-6 * largest)
        return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s: the box of the run differs from its simulation cell of %s "
                      "primitive cells, which is [box] dimension = 3, shape = oblique, a "
                      "= %.12g %.12g %.12g, b = %.12g %.12g %.12g, c = %.12g %.12g %.12g "
                      "(bohr)",
                      f->path, tile_words((const int32_t(*)[3])b->cells.tile, words), a[0][0],
                      a[0][1], a[0][2], a[1][0], a[1][1], a[1][2], a[2][0], a[2][1], a[2][2]);
}

static int check_electrons(bspline_orbitals *b, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const int64_t cells = b->cells.cells;
    int64_t found = 0;
    for (int32_t s = 0; s < system->species_count && s < 2; s++) {
        b->keys.electrons[s] = (int32_t)plugmc_species_at(system, s)->count;
        b->wanted[s] = b->keys.electrons[s] ? b->keys.electrons[s] + (int32_t)b->keys.beyond : 0;
        found += b->keys.electrons[s];
    }
    const double missing = (double)(cells * b->source.crystal.electrons) - (double)b->keys.charge;
    if (fabs((double)found - missing) < 1e-6) return PLUGMC_OK;
    return host->fail(
        host->context, PLUGMC_ERROR_INPUT,
        "%s: %lld primitive cells of %d electrons make %lld%s, but the first two species "
        "(spin up and down) have %lld particles%s",
        b->file, (long long)cells, b->source.crystal.electrons,
        (long long)(cells * b->source.crystal.electrons),
        b->keys.charge != 0 ? " less the charge of the cell" : "", (long long)found,
        b->keys.charge != 0 ? "" : "; a cell with more or fewer needs its charge");
}

/* Three numbers of cells along the primitive vectors, or the matrix row by row. */
static int read_tile(const bspline_orbitals *b, const plugmc_host *host, tiling tile)
{
    const int count = b->tile.count;
    if (count != 0 && count != 3 && count != 9)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "tile has %d numbers but needs three, the primitive cells along each "
                          "edge, or nine, a matrix row by row",
                          count);
    for (int k = 0; k < count; k++) {
        const double value = b->tile.values[k];
        int32_t *to = count == 9 ? &tile[k / 3][k % 3] : &tile[k][k];
        *to = (int32_t)value;
        if (*to == value && (count == 9 || *to >= 1)) continue;
        return count == 9 ? host->fail(host->context, PLUGMC_ERROR_INPUT,
                                       "tile: %g is not a whole number", value)
                          : host->fail(host->context, PLUGMC_ERROR_INPUT,
                                       "tile = %g %g %g: these must be numbers of cells, 1 or more",
                                       b->tile.values[0], b->tile.values[1], b->tile.values[2]);
    }
    if (!count || tile_determinant((const int32_t(*)[3])tile)) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "the determinant of tile is 0: its rows make no cell");
}

static int configure(void *instance, const plugmc_host *host)
{
    bspline_orbitals *b = instance;
    tiling tile = {{0}};
    b->host = host;
    int code = read_tile(b, host, tile);
    if (code) return code;
    if (b->twist.count != 0 && b->twist.count != 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "twist has %d numbers but needs 3, in units of the reciprocal "
                          "vectors of the box",
                          b->twist.count);
    const double *twist = b->twist.count ? b->twist.values : NULL;
    code = orbital_file_open(&b->source, host, b->file);
    if (!code) code = find_k_points(&b->source, (const int32_t(*)[3])tile, twist, &b->cells);
    if (!code) code = check_box(b, host);
    if (!code) code = check_electrons(b, host);
    if (!code) code = find_valence(b);
    return code ? code : prepare_ions(b, &host->system->box);
}

/* The metric of the grid, and how derivatives along it make Cartesian ones. */
static void prepare_geometry(bspline_orbitals *b)
{
    static const int pair[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    memcpy(b->grid.inverse, b->source.crystal.inverse, sizeof b->grid.inverse);
    for (int e = 0; e < 3; e++)
        for (int d = 0; d < 3; d++) b->grid.slope[e][d] = b->grid.inverse[e][d] * b->grid.points[d];
    for (int m = 0; m < 6; m++) {
        double sum = 0;
        for (int e = 0; e < 3; e++)
            sum += b->grid.slope[e][pair[m][0]] * b->grid.slope[e][pair[m][1]];
        b->grid.metric[m] = m < 3 ? sum : 2 * sum;
    }
}

/* ---- The plugin ---------------------------------------------------------------------------- */

static int prepare(void *instance, const plugmc_host *host)
{
    bspline_orbitals *b = instance;
    b->host = b->source.host = host;
    b->threads = host->system->threads;
    b->parts = b->source.real ? 1 : 2;
    if (b->precision == PRECISION_AUTO)
        b->precision = host->gpu ? PRECISION_FLOAT : PRECISION_DOUBLE;
    b->size = b->precision == PRECISION_FLOAT ? sizeof(float) : sizeof(double);
    int code = choose_grid(b);
    if (code) return code;
    prepare_geometry(b);
    code = load_tables(b);
    if (code) return code;
    orbital_file_close(&b->source);
    for (int s = 0; s < 2; s++) {
        const spline_table *t = &b->tables[s];
        size_t bytes = 5 * (size_t)t->row * b->size + 16 * (size_t)t->k_count + 128;
        if (bytes > b->scratch_bytes) b->scratch_bytes = bytes / 64 * 64;
    }
    b->scratch = host->allocate(host->context, (size_t)b->threads * b->scratch_bytes);
    if (!b->scratch) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for sums");
    return host->gpu ? spline_prepare_gpu(b, host) : PLUGMC_OK;
}

static void release(void *instance)
{
    bspline_orbitals *b = instance;
    orbital_file_close(&b->source);
    free(b->tables[0].numbers);
    free(b->tables[1].numbers);
}

static const plugmc_parameter table[] = {
    PLUGMC_FILE_KEY(bspline_orbitals, file, NULL,
                    "CASINO's bwfn.data, bwfn.data.b1 or pwfn.data, or QMCPACK's ES-HDF"),
    PLUGMC_LIST_KEY(
        bspline_orbitals, tile, 0, "", -1000, 1000, "",
        "number of primitive cells along each edge of the box, three numbers; or nine, rows of a "
        "matrix that makes the edges of the box from primitive vectors (QMCPACK's tilematrix); "
        "empty: from the k points of the file"),
    PLUGMC_LIST_KEY(
        bspline_orbitals, twist, 0, "", -1, 1, "",
        "twist in units of the reciprocal vectors of the box, three numbers: the phase of "
        "orbitals changes by 2 pi times them along its edges; empty: that of the file"),
    {"occupied_up", PLUGMC_TYPE_TEXT, 0, offsetof(bspline_orbitals, keys.occupied[0]), "", 0, 0, "",
     NULL,
     "occupied bands of spin up, k:bands as in 1:1-4 2:1-3,5 -2:1-4 (-2: the opposite of k point "
     "2); empty: those of lowest eigenvalue",
     0},
    {"occupied_down", PLUGMC_TYPE_TEXT, 0, offsetof(bspline_orbitals, keys.occupied[1]), "", 0, 0,
     "", NULL, "likewise, spin down", 0},
    {"promote_up", PLUGMC_TYPE_TEXT, 0, offsetof(bspline_orbitals, keys.promoted[0]), "", 0, 0, "",
     NULL,
     "electrons of spin up in another band, k:band>k:band as in 1:4>2:5; where k and -k belong to "
     "the cell 1:4>2:5:complex",
     0},
    {"promote_down", PLUGMC_TYPE_TEXT, 0, offsetof(bspline_orbitals, keys.promoted[1]), "", 0, 0,
     "", NULL, "likewise, spin down", 0},
    {"charge", PLUGMC_TYPE_REAL, 0, offsetof(bspline_orbitals, keys.charge), "0", -1e6, 1e6, "e",
     NULL,
     "charge of the simulation cell, of its ions and electrons together; a uniform background "
     "neutralises it",
     0},
    {"virtual", PLUGMC_TYPE_INTEGER, 0, offsetof(bspline_orbitals, keys.beyond), "0", 0, 4096, "",
     NULL,
     "number of orbitals beyond those that are occupied, the next ones by eigenvalue, for expansions "
     "in determinants; occupied_up and occupied_down then list these, too",
     0},
    PLUGMC_CHOICE_KEY(bspline_orbitals, precision, "auto", "auto|float|double",
                      "precision of the coefficients; auto: float on the GPU, double on the "
                      "CPU"),
    PLUGMC_REAL_KEY(bspline_orbitals, multiplicity, "2", 1, 8, "",
                    "for files of plane waves: factor by which the grid of B-splines is finer than "
                    "necessary"),
    PLUGMC_LIST_KEY(
        bspline_orbitals, valence, 0, "", 0, 118, "e",
        "valence charges of the elements, in the order of the file; they replace those of "
        "the file, and are needed if a file with several elements has none"),
    PLUGMC_CHOICE_KEY(
        bspline_orbitals, layout, "coalesced", "coalesced|plain",
        "layout of the coefficients; coalesced: orbital index fastest; plain: each orbital "
        "separately, slow, for comparison"),
    PLUGMC_CHOICE_KEY(
        bspline_orbitals, sort, "auto", "auto|yes|no",
        "on the GPU: sort points so that neighbours share memory accesses; auto: if there "
        "are enough points and tables exceed 4 MB"),
    PLUGMC_INTEGER_KEY(
        bspline_orbitals, resident, "4", 1, 8, "",
        "number of resident blocks of 256 threads on a GPU multiprocessor: more threads, or "
        "more registers for each"),
};

static const plugmc_orbitals orbitals = {
    .size = sizeof orbitals,
    .on_device = 1,
    .count = count,
    .complex_valued = complex_valued,
    .evaluate = evaluate,
    .ions = ions,
    .twist = turns_of,
};

static const plugmc_description description = {.size = sizeof description,
                                               .line = describe_orbitals};

static const plugmc_potential potential = {.size = sizeof potential};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "bspline_orbitals",
              .summary = "orbitals of a solid from a file, as cubic B-splines",
              .reference = "Alfe, Gillan, Phys. Rev. B 70, 161101 (2004)",
              PLUGMC_KEYS(bspline_orbitals, table),
              PLUGMC_OFFERS({PLUGMC_ORBITALS, &orbitals}, {PLUGMC_DESCRIPTION, &description}),
              .configure = configure, .release = release, .prepare = prepare,
              .gpu_source = spline_gpu_source, .potential = &potential,
              .rehearse = orbital_file_rehearse)
