/* structure_factor: how strongly the density has waves of each length,
 *
 *     S_ab(k) = Re < rho_a(k) rho_b(-k) > / sqrt(N_a N_b),    rho_a(k) = sum over a of exp(i k.r),
 *
 * for all pairs of species, over the waves that fit into the box, averaged over directions in
 * shells of |k|. N. W. Ashcroft, D. C. Langreth, Phys. Rev. 156, 685 (1967); J.-P. Hansen, I. R.
 * McDonald, Theory of Simple Liquids, section 4.1. S_ab goes to delta_ab for large k.
 *
 * A wave is k = 2 pi sum_d n_d b_d with whole numbers n and the reciprocal vectors b of the box, so where a
 * mover changes the box it goes along: S is that of n, k that of the moment. The waves, their shells and the
 * k that S is shown against are those of the box at the start.
 *
 * Where particles come and go, S is the mean of the products over sqrt(< N_a > < N_b >), as S of a part of a
 * large system is, which N fluctuates in as well; both means are measured, and S is derived from them.
 *
 * For electrons (bohr, Hartree) it also says what a finite box does to the energy of a wave function. With S of all
 * electrons and S(k) = b k^2 for small k, the box lacks
 *
 *     potential 2 pi rho b,    kinetic 1 / (8 b),    rho = N / volume,
 *
 * to leading order in 1/N (S. Chiesa, D. M. Ceperley, R. M. Martin, M. Holzmann, Phys. Rev. Lett. 97, 076404 (2006)),
 * which are to be added to the energies of the box. b is 1/(2 w), w^2 = 4 pi rho, for the electron gas, whose kinetic
 * energy has a next order as well (next_order), or found from the smallest k that fit into the box: with one of
 * them as S / k^2, with more of them from
 *
 *     (k^2 / S)^2 - k^4 = 1 / b^2 + a k^2,
 *
 * a straight line in k^2, since S = k^2 / (2 w(k)) with w(k)^2 = w^2 + a k^2 / 4 + k^4 / 4 has both limits.
 *
 * Only half of the waves are summed: rho(-k) is the conjugate of rho(k). Sums run in a fixed order.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/everything.h>

#include "walker_boxes.h"

PLUGMC_EMBED(structure_factor_kernel, PLUGMC_KERNEL_FILE);

enum { WAVE_THREADS = 256, MOST_WAVES = 1000000 };
enum { FINITE_SIZE_NO, FINITE_SIZE_MEASURED, FINITE_SIZE_GAS };

typedef struct structure_factor {
    real k_max;          /* parameter, 1/length */
    int64_t shells;      /* parameter; 0: every |k| is one */
    int32_t finite_size; /* parameter, FINITE_SIZE_* */
    int64_t fit;         /* parameter, shells */

    const plugmc_system *system;
    int64_t waves;
    int32_t (*wave)[3]; /* [waves] n, sorted by |k| */
    int32_t *shell;     /* [waves] */
    int64_t used;       /* shells with a wave */
    double *k;          /* [used] mean |k|, 1/length */
    double *weight;     /* [used] 1 / waves of a shell */
    double next;        /* Hartree: next order of the gas's kinetic correction */
    int32_t rows;
    int32_t *of[2];   /* [rows] the species A and B */
    char **names;     /* [rows] "A-B" */
    int32_t numbers;  /* the numbers of particles change: products and numbers are measured */
    char **products;  /* [rows] "products_A-B" */
    char **number_of; /* [species] "number_A" */
    double *density;  /* [walkers][waves][species][2] rho */
    double *fraction; /* [3][particles] of the walker at hand */
    plugmc_kernel *kernel;
    plugmc_device_pointer device_wave, device_first, device_density;
} structure_factor;

/* ---- Density waves --------------------------------------------------------------------------- */

static void take_fractions(const structure_factor *f, const plugmc_box *box,
                           const double *positions)
{
    const int64_t n = f->system->particles;
#pragma omp parallel for num_threads(f->system->threads) schedule(static)
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 3; d++) {
            const double *r = &positions[3 * i];
            f->fraction[d * n + i] =
                r[0] * box->inverse[0][d] + r[1] * box->inverse[1][d] + r[2] * box->inverse[2][d];
        }
}

/* Particles of a species that are there. */
static int64_t there(const structure_factor *f, const plugmc_view *view, int64_t walker, int32_t s)
{
    const plugmc_system *system = f->system;
    return f->numbers ? view->count[walker * system->species_count + s]
                      : system->first[s + 1] - system->first[s];
}

/* Sum over particles begin ... end - 1. */
static void sum_wave(const structure_factor *f, const int32_t n[3], int64_t begin, int64_t end,
                     double out[2])
{
    const double *x = f->fraction, *y = x + f->system->particles, *z = y + f->system->particles;
    double re = 0, im = 0;
    for (int64_t i = begin; i < end; i++) {
        double turns = n[0] * x[i] + n[1] * y[i] + n[2] * z[i];
        turns -= rint(turns);
        re += cos(2 * M_PI * turns);
        im += sin(2 * M_PI * turns);
    }
    out[0] = re;
    out[1] = im;
}

static void density_on_host(const structure_factor *f, const plugmc_view *view)
{
    const plugmc_system *system = f->system;
    const int32_t species = system->species_count;
    for (int64_t w = 0; w < system->walkers; w++) {
        take_fractions(f, &view->box[w], view->positions + 3 * w * system->particles);
#pragma omp parallel for num_threads(system->threads) schedule(static)
        for (int64_t k = 0; k < f->waves; k++)
            for (int32_t a = 0; a < species; a++)
                sum_wave(f, f->wave[k], system->first[a], system->first[a] + there(f, view, w, a),
                         &f->density[2 * ((w * f->waves + k) * species + a)]);
    }
}

static int density_on_device(const structure_factor *f, const plugmc_host *host,
                             const plugmc_view *view)
{
    const plugmc_system *system = f->system;
    const size_t bytes =
        (size_t)(2 * system->walkers * f->waves * system->species_count) * sizeof *f->density;
    plugmc_device_pointer in = (plugmc_device_pointer)(uintptr_t)view->positions,
                          boxes = (plugmc_device_pointer)(uintptr_t)view->device_box;
    plugmc_device_pointer wave = f->device_wave, first = f->device_first, out = f->device_density;
    int64_t particles = system->particles;
    int code = host->gpu->launch(host->context, f->kernel,
                                 (uint32_t[3]){(uint32_t)f->waves, (uint32_t)system->species_count,
                                               (uint32_t)system->walkers},
                                 (uint32_t[3]){WAVE_THREADS, 1, 1}, 0,
                                 (void *[]){&in, &boxes, &wave, &first, &particles, &out});
    return code ? code : host->gpu->download(host->context, f->density, out, bytes);
}

/* What a product is divided by: sqrt(N_a N_b) of numbers that stay. */
static double divisor(const structure_factor *f, int32_t row)
{
    const int32_t a = f->of[0][row], b = f->of[1][row];
    return f->numbers ? 1
                      : sqrt((double)plugmc_species_at(f->system, a)->count *
                             (double)plugmc_species_at(f->system, b)->count);
}

/* values [rows][used] of one walker. */
static void average_shells(const structure_factor *f, const double *density, double *values)
{
    const int32_t species = f->system->species_count;
    memset(values, 0, (size_t)(f->rows * f->used) * sizeof *values);
    for (int64_t k = 0; k < f->waves; k++) {
        const double *rho = &density[2 * k * species];
        double *value = values + f->shell[k];
        for (int32_t row = 0; row < f->rows; row++, value += f->used) {
            const double *a = &rho[2 * f->of[0][row]], *b = &rho[2 * f->of[1][row]];
            *value += (a[0] * b[0] + a[1] * b[1]) * f->weight[f->shell[k]] / divisor(f, row);
        }
    }
}

/* Numbers of a measurement and walker. */
static int64_t width(const structure_factor *f)
{
    return f->rows * f->used + (f->numbers ? f->system->species_count : 0);
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const structure_factor *f = instance;
    const plugmc_system *system = f->system;
    int code = PLUGMC_OK;
    if (view->on_device)
        code = density_on_device(f, host, view);
    else
        density_on_host(f, view);
    for (int64_t w = 0; w < system->walkers && !code; w++) {
        double *own = values + w * width(f);
        average_shells(f, f->density + 2 * w * f->waves * system->species_count, own);
        for (int32_t s = 0; s < system->species_count && f->numbers; s++)
            own[f->rows * f->used + s] = (double)there(f, view, w, s);
    }
    return code;
}

static int factor(const structure_factor *f, int index, plugmc_quantity *out)
{
    return index < f->rows &&
           plugmc_array(out, f->names[index], "",
                        boxes_change(f->system)
                            ? "structure factor of the waves that have this k in the first box"
                            : "structure factor",
                        f->used, "k", f->k);
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const structure_factor *f = instance;
    if (!f->numbers) return factor(f, index, out);
    if (index < f->rows)
        return plugmc_array(out, f->products[index], "", "products of density waves", f->used, "k",
                            f->k);
    index -= f->rows;
    return index < f->system->species_count &&
           plugmc_scalar(out, f->number_of[index], "", "number of particles");
}

static double length_of(const plugmc_box *, const int32_t n[3]);
static int correction(const structure_factor *, int index, plugmc_quantity *out);
static int derive_corrections(const structure_factor *, const double *means, double *out);

static int derived(void *instance, int index, plugmc_quantity *out)
{
    const structure_factor *f = instance;
    return f->numbers ? factor(f, index, out) : correction(f, index, out);
}

static int derive(void *instance, const double *means, double *out)
{
    const structure_factor *f = instance;
    if (!f->numbers) return derive_corrections(f, means, out);
    const double *number = means + f->rows * f->used;
    for (int64_t i = 0; i < f->rows * f->used; i++) {
        const double counts = number[f->of[0][i / f->used]] * number[f->of[1][i / f->used]];
        out[i] = counts > 0 ? means[i] / sqrt(counts) : NAN;
    }
    return 0;
}

/* ---- Corrections for the size of the box --------------------------------------------------------- */

enum { SLOPE, POTENTIAL_CORRECTION, KINETIC_CORRECTION, NEXT_ORDER, CORRECTIONS };

static int correction(const structure_factor *f, int index, plugmc_quantity *out)
{
    if (!f->finite_size) return 0;
    switch (index) {
    case SLOPE:
        return plugmc_scalar(out, "finite_size_b", "length^2", "b of S(k) = b k^2 for small k");
    case POTENTIAL_CORRECTION:
        return plugmc_scalar(out, "finite_size_potential", "hartree",
                             "2 pi rho b, to be added to the potential energy");
    case KINETIC_CORRECTION:
        return plugmc_scalar(out, "finite_size_kinetic", "hartree",
                             "1 / (8 b), to be added to the kinetic energy");
    case NEXT_ORDER:
        return f->finite_size == FINITE_SIZE_GAS &&
               plugmc_scalar(out, "finite_size_kinetic_next", "hartree",
                             "next order of the gas's, to be added to the kinetic energy as well");
    default: return 0;
    }
}

/* S of all particles in a shell, from the means [rows][used]. */
static double whole(const structure_factor *f, const double *means, int64_t shell)
{
    const plugmc_system *system = f->system;
    double sum = 0;
    for (int32_t a = 0; a < system->species_count; a++)
        for (int32_t b = a; b < system->species_count; b++) {
            const double counts = (double)plugmc_species_at(system, a)->count *
                                  (double)plugmc_species_at(system, b)->count;
            if (counts == 0) continue;
            sum += (a == b ? 1 : 2) * sqrt(counts) * means[shell];
            means += f->used;
        }
    return sum / (double)system->particles;
}

/* NaN where S(k) is no such function. That of a determinant alone goes with k, which a few k do not tell. */
static double slope_of(const structure_factor *f, const double *means)
{
    double x = 0, y = 0, xx = 0, xy = 0, n = (double)f->fit;
    if (f->fit == 1) return whole(f, means, 0) / (f->k[0] * f->k[0]);
    for (int64_t i = 0; i < f->fit; i++) {
        const double square = f->k[i] * f->k[i], ratio = square / whole(f, means, i),
                     value = ratio * ratio - square * square;
        x += square, y += value, xx += square * square, xy += square * value;
    }
    const double inverse = (y * xx - x * xy) / (n * xx - x * x); /* 1 / b^2: where k is 0 */
    return inverse > 0 ? 1 / sqrt(inverse) : NAN;
}

static int derive_corrections(const structure_factor *f, const double *means, double *out)
{
    const double density = (double)f->system->particles / f->system->box.volume;
    const double b =
        f->finite_size == FINITE_SIZE_GAS ? 1 / (2 * sqrt(4 * M_PI * density)) : slope_of(f, means);
    if (!(b > 0)) return 1;
    out[SLOPE] = b;
    out[POTENTIAL_CORRECTION] = 2 * M_PI * density * b;
    out[KINETIC_CORRECTION] = 1 / (8 * b);
    if (f->finite_size == FINITE_SIZE_GAS) out[NEXT_ORDER] = f->next;
    return PLUGMC_OK;
}

static const char *lacking(void *instance, const double *means)
{
    const structure_factor *f = instance;
    double out[CORRECTIONS];
    if (!f->finite_size || !derive_corrections(f, means, out)) return NULL;
    return "S(k) does not go to 0 with k^2, as it does with a Jastrow factor: no finite_size "
           "corrections follow from it";
}

/* Integral of t exp(-R^2 t) above cut^2, R = sum_d n_d a_d. */
static double near_part(const plugmc_box *box, double cut, const int32_t n[3])
{
    double square = 0;
    for (int e = 0; e < 3; e++)
        square +=
            pow(n[0] * box->vector[0][e] + n[1] * box->vector[1][e] + n[2] * box->vector[2][e], 2);
    const double above = cut * cut * square;
    return exp(-above) * (1 + above) / (square * square);
}

/* Integral of t (pi / t)^(3/2) / volume exp(-k^2 / (4 t)) below cut^2, k = 2 pi sum_d n_d b_d. */
static double far_part(const plugmc_box *box, double cut, const int32_t n[3])
{
    const double k = length_of(box, n), x = k / (2 * cut);
    return pow(M_PI, 1.5) / box->volume * (2 * cut * exp(-x * x) - sqrt(M_PI) * k * erfc(x));
}

/* |b_d| / 2 pi */
static double edge_of_reciprocal(const plugmc_box *box, int d)
{
    return hypot(hypot(box->inverse[0][d], box->inverse[1][d]), box->inverse[2][d]);
}

/* Sum of R^-4 over the lattice vectors R of the box but 0 (16.5323 / edge^4 of a cube), as Ewald sums are made: R^-4
 * is the integral of t exp(-R^2 t), summed over R above t = cut^2 and over reciprocal vectors k below. */
static double inverse_fourth_powers(const plugmc_box *box)
{
    const double cut = sqrt(M_PI) / cbrt(box->volume), reach = 6; /* exp(-36) is left out */
    double sum = 2 * pow(M_PI, 1.5) * cut / box->volume - pow(cut, 4) / 2; /* k = 0 less R = 0 */
    for (int far = 0; far < 2; far++) {
        int most[3];
        for (int d = 0; d < 3; d++)
            most[d] = (int)ceil(far ? reach * cut / M_PI * box->length[d]
                                    : reach / cut * edge_of_reciprocal(box, d));
        for (int x = -most[0]; x <= most[0]; x++)
            for (int y = -most[1]; y <= most[1]; y++)
                for (int z = -most[2]; z <= most[2]; z++)
                    if (x || y || z)
                        sum += far ? far_part(box, cut, (int32_t[]){x, y, z})
                                   : near_part(box, cut, (int32_t[]){x, y, z});
    }
    return sum;
}

/* In the random phase approximation the wave k of a determinant with a Jastrow factor has the kinetic energy
 *
 *     T(k) = k^2 (S - S_0)^2 / (8 S S_0^2) = w/4 - k / (4 s) + ...,    S^-2 = S_0^-2 + 4 w^2 / k^4,
 *
 * S_0 = s k that of the determinant, s = sum over spins of 3 N_s / (4 k_F,s N), k_F,s^3 = 6 pi^2 N_s / volume
 * (T. Gaskell, Proc. Phys. Soc. 77, 1182 (1961)). The integral of |k| is above the sum over the waves of a box by
 * volume / pi^2 times the sum of R^-4 over its lattice vectors. Goes with N^(-1/3). */
static double next_order(const plugmc_system *system)
{
    const double volume = system->box.volume, n = (double)system->particles;
    double s = 0;
    for (int32_t a = 0; a < system->species_count; a++) {
        const double own = (double)plugmc_species_at(system, a)->count;
        if (own > 0) s += 3 * own / (4 * cbrt(6 * M_PI * M_PI * own / volume) * n);
    }
    return -volume / (M_PI * M_PI) * inverse_fourth_powers(&system->box) / (4 * s);
}

/* Electrons in three dimensions, and as many shells as the fit takes. */
static int check_finite_size(structure_factor *f, const plugmc_host *host)
{
    const plugmc_system *system = f->system;
    if (!f->finite_size) return PLUGMC_OK;
    if (system->box.dimension != 3 || boxes_change(system) || f->numbers)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "finite_size: the corrections are those of a box in three dimensions that does "
            "not change, with numbers that do not");
    for (int32_t a = 0; a < system->species_count; a++) {
        const plugmc_species *species = plugmc_species_at(system, a);
        if (species->count && species->charge != -1)
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "finite_size: the corrections are those of electrons, and species '%s' has the "
                "charge %g",
                species->name, species->charge);
    }
    if (f->finite_size == FINITE_SIZE_MEASURED && f->fit > f->used)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "fit: it takes the %lld smallest |k|, and up to k_max = %g there are %lld",
            (long long)f->fit, (double)f->k_max, (long long)f->used);
    if (f->finite_size == FINITE_SIZE_GAS) f->next = next_order(system);
    return PLUGMC_OK;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

typedef struct wave {
    int32_t n[3];
    double k; /* |k| */
} wave;

static double length_of(const plugmc_box *box, const int32_t n[3])
{
    double square = 0;
    for (int e = 0; e < 3; e++) {
        double k =
            2 * M_PI *
            (n[0] * box->inverse[e][0] + n[1] * box->inverse[e][1] + n[2] * box->inverse[e][2]);
        square += k * k;
    }
    return sqrt(square);
}

/* By |k|, then by n: the same order on every machine. */
static int longer(const void *pa, const void *pb)
{
    const wave *a = pa, *b = pb;
    if (a->k != b->k) return a->k < b->k ? -1 : 1;
    return memcmp(a->n, b->n, sizeof a->n);
}

/* k.a_d = 2 pi n_d, so |n_d| <= |k| |a_d| / 2 pi. Returns how many there are; writes them if there
 * is room for them. */
static int64_t list_waves(const structure_factor *f, wave *out, int64_t room)
{
    const plugmc_box *box = &f->system->box;
    int64_t found = 0, most[3];
    for (int d = 0; d < 3; d++)
        most[d] = d < box->dimension
                      ? (int64_t)floor(f->k_max * (1 + 1e-9) * box->length[d] / (2 * M_PI))
                      : 0;
    for (int64_t x = 0; x <= most[0]; x++)
        for (int64_t y = x ? -most[1] : 0; y <= most[1]; y++)
            for (int64_t z = x || y ? -most[2] : 1; z <= most[2]; z++) {
                const int32_t n[3] = {(int32_t)x, (int32_t)y, (int32_t)z};
                const double k = length_of(box, n);
                if (k > f->k_max * (1 + 1e-9)) continue;
                if (found < room) out[found] = (wave){{n[0], n[1], n[2]}, k};
                found++;
            }
    return found;
}

/* Shells in the order of the waves; those without a wave are left out. */
static void take_shells(structure_factor *f, const wave *waves)
{
    int64_t bin = -1;
    double begun = 0;
    f->used = 0;
    for (int64_t i = 0; i < f->waves; i++) {
        const double k = waves[i].k;
        const int64_t own = f->shells ? (int64_t)fmin((double)f->shells - 1,
                                                      floor(k / f->k_max * (double)f->shells))
                                      : bin + (bin < 0 || k > begun * (1 + 1e-9));
        if (own != bin) {
            bin = own;
            begun = k;
            f->used++;
        }
        f->shell[i] = (int32_t)(f->used - 1);
        memcpy(f->wave[i], waves[i].n, sizeof waves[i].n);
        f->k[f->used - 1] += k;
        f->weight[f->used - 1]++;
    }
    for (int64_t s = 0; s < f->used; s++) {
        f->k[s] /= f->weight[s];
        f->weight[s] = 1 / f->weight[s];
    }
}

static int take_waves(structure_factor *f, const plugmc_host *host)
{
    const plugmc_system *system = f->system;
    const double volume =
        system->box.dimension == 2
            ? M_PI * pow(f->k_max, 2) * system->box.volume / pow(2 * M_PI, 2)
            : 4 * M_PI / 3 * pow(f->k_max, 3) * system->box.volume / pow(2 * M_PI, 3);
    if (volume / 2 > MOST_WAVES)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "about %.0f waves are no longer than k_max = %g, and there can be %d",
                          volume / 2, (double)f->k_max, MOST_WAVES);
    f->waves = list_waves(f, NULL, 0);
    if (f->waves == 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no wave with |k| up to k_max = %g fits into the box", (double)f->k_max);
    const size_t n = (size_t)f->waves;
    wave *waves = malloc(n * sizeof *waves);
    f->wave = host->allocate(host->context, n * sizeof *f->wave);
    f->shell = host->allocate(host->context, n * sizeof *f->shell);
    f->k = host->allocate(host->context, n * sizeof *f->k);
    f->weight = host->allocate(host->context, n * sizeof *f->weight);
    f->density =
        host->allocate(host->context, 2 * n * (size_t)system->walkers *
                                          (size_t)system->species_count * sizeof *f->density);
    f->fraction =
        host->allocate(host->context, 3 * (size_t)system->particles * sizeof *f->fraction);
    int code = PLUGMC_OK;
    if (!waves || !f->wave || !f->shell || !f->k || !f->weight || !f->density || !f->fraction)
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu waves", n);
    if (!code) {
        list_waves(f, waves, f->waves);
        qsort(waves, n, sizeof *waves, longer);
        take_shells(f, waves);
    }
    free(waves);
    return code;
}

/* before a between b */
static char *joined(const plugmc_host *host, const char *before, const char *a, const char *between,
                    const char *b)
{
    const size_t bytes = strlen(before) + strlen(a) + strlen(between) + strlen(b) + 1;
    char *out = host->allocate(host->context, bytes);
    if (out) snprintf(out, bytes, "%s%s%s%s", before, a, between, b);
    return out;
}

/* Pairs of species of which there can be particles. */
static int take_rows(structure_factor *f, const plugmc_host *host)
{
    const plugmc_system *system = f->system;
    const int32_t species = system->species_count;
    const size_t n = (size_t)(species * (species + 1) / 2);
    f->names = host->allocate(host->context, n * sizeof *f->names);
    f->products = host->allocate(host->context, n * sizeof *f->products);
    f->number_of = host->allocate(host->context, (size_t)species * sizeof *f->number_of);
    for (int k = 0; k < 2; k++) f->of[k] = host->allocate(host->context, n * sizeof *f->of[k]);
    int enough = f->names && f->products && f->number_of && f->of[0] && f->of[1];
    for (int32_t a = 0; a < species && enough; a++) {
        const char *name = plugmc_species_at(system, a)->name;
        f->number_of[a] = joined(host, "number_", name, "", "");
        enough &= f->number_of[a] != NULL;
        for (int32_t b = a; b < species; b++) {
            const char *other = plugmc_species_at(system, b)->name;
            if (system->first[a + 1] == system->first[a] ||
                system->first[b + 1] == system->first[b])
                continue;
            f->of[0][f->rows] = a;
            f->of[1][f->rows] = b;
            f->names[f->rows] = joined(host, "", name, "-", other);
            f->products[f->rows] = joined(host, "products_", name, "-", other);
            enough &= f->names[f->rows] && f->products[f->rows];
            f->rows++;
        }
    }
    return enough ? PLUGMC_OK
                  : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for names");
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance, (void)host;
    out->name = "structure_factor.cu";
    out->source = structure_factor_kernel;
    out->double_precision = 1;
    return index == 0;
}

static int prepare_device(structure_factor *f, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    const plugmc_system *system = f->system;
    const size_t species = (size_t)system->species_count,
                 waves = (size_t)f->waves * sizeof *f->wave;
    plugmc_gpu_source text = {.size = sizeof text};
    gpu_source(f, host, 0, &text);
    if (system->walkers > 65535 || species > 65535)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "on a GPU there can be 65535 walkers and species");
    int code = gpu->kernel(host->context, &text, "density_waves", &f->kernel);
    if (!code) code = gpu->allocate(host->context, waves, &f->device_wave);
    if (!code)
        code = gpu->allocate(host->context, (species + 1) * sizeof(int64_t), &f->device_first);
    if (!code)
        code =
            gpu->allocate(host->context,
                          2 * species * (size_t)f->waves * (size_t)system->walkers * sizeof(double),
                          &f->device_density);
    if (!code) code = gpu->upload(host->context, f->device_wave, f->wave, waves);
    if (!code)
        code = gpu->upload(host->context, f->device_first, system->first,
                           (species + 1) * sizeof(int64_t));
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    structure_factor *f = instance;
    f->system = host->system;
    f->numbers = (f->system->changes & PLUGMC_CHANGED_COUNT) != 0;
    if (f->system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "waves have to fit into a periodic box, and [box] is a sphere");
    int code = take_waves(f, host);
    if (!code) code = take_rows(f, host);
    if (!code) code = check_finite_size(f, host);
    if (!code && host->gpu) code = prepare_device(f, host);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(structure_factor, k_max, NULL, 1e-12, 1e12, "1/length", "largest |k|"),
    PLUGMC_INTEGER_KEY(structure_factor, shells, "0", 0, 1000000, "",
                       "shells of equal width up to k_max; 0: every |k| is a shell of its own"),
    PLUGMC_CHOICE_KEY(structure_factor, finite_size, "no", "no|measured|gas",
                      "corrections of electrons' energies for the size of the box: from S(k) at "
                      "small k, or with that of the electron gas"),
    PLUGMC_INTEGER_KEY(structure_factor, fit, "1", 1, 100, "",
                       "smallest |k| (shells) that S(k) at small k is taken from"),
};

/* All that it can give. */
static const plugmc_listing listing[] = {
    {"<species>-<species>", "",
     "structure factor against k; in a box that changes of the waves that had this k at the start",
     1, 0},
    {"finite_size_b", "length^2", "b of S(k) = b k^2 for small k", 0, 1},
    {"finite_size_potential", "hartree", "2 pi rho b, to be added to the potential energy", 0, 1},
    {"finite_size_kinetic", "hartree", "1 / (8 b), to be added to the kinetic energy", 0, 1},
    {"finite_size_kinetic_next", "hartree",
     "next order of the gas's, to be added to the kinetic energy as well", 0, 1},
    {"products_<species>-<species>", "",
     "products of density waves against k; where numbers of particles change", 1, 0},
    {"number_<species>", "", "number of particles; where it changes", 0, 0},
    {"<species>-<species>", "", "structure factor against k; where numbers of particles change", 1,
     1},
};

PLUGMC_PLUGIN(.name = "structure_factor",
              .summary = "partial structure factors of all pairs of species",
              .reference = "Hansen, McDonald, Theory of Simple Liquids, section 4.1",
              PLUGMC_KEYS(structure_factor, table),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                                     .derived = derived, .derive = derive, .lacking = lacking,
                                     .listing = listing, .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_WALKER_WEIGHT),
              .prepare = prepare, .gpu_source = gpu_source)
