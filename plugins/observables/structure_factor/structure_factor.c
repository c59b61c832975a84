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
 * For electrons finite_size.c says what a finite box does to the energy of a wave function; waves.c finds the waves.
 *
 * Only half of the waves are summed: rho(-k) is the conjugate of rho(k). Sums run in a fixed order.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/everything.h>

#include "structure_factor.h"

PLUGMC_EMBED(structure_factor_kernel, PLUGMC_KERNEL_FILE);

enum { WAVE_THREADS = 256 };

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
                            ? "structure factor of the waves that have this k in the initial "
                              "box"
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

static const char *lacking(void *instance, const double *means)
{
    return lacking_corrections(instance, means);
}

/* ---- Preparation ----------------------------------------------------------------------------- */

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
                          "waves need a periodic box, but [box] is a sphere");
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
                      "finite-size corrections of the energies of electrons: from S(k) at "
                      "small k, measured or of the electron gas"),
    PLUGMC_INTEGER_KEY(structure_factor, fit, "1", 1, 100, "",
                       "number of smallest |k| (shells) that are used for S(k) at small k"),
};

/* All that it can give. */
static const plugmc_listing listing[] = {
    {"<species>-<species>", "",
     "structure factor against k; in a changing box of the waves that had this k initially", 1, 0},
    {"finite_size_b", "length^2", "b of S(k) = b k^2 for small k", 0, 1},
    {"finite_size_potential", "hartree", "2 pi rho b, to be added to the potential energy", 0, 1},
    {"finite_size_kinetic", "hartree", "1 / (8 b), to be added to the kinetic energy", 0, 1},
    {"finite_size_kinetic_next", "hartree",
     "next order for the electron gas, to be added to the kinetic energy as well", 0, 1},
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
                                                PLUGMC_CHANGED_ORIENTATION |
                                                PLUGMC_CHANGED_MOLECULE |
                                                PLUGMC_CHANGED_WALKER_WEIGHT),
              .prepare = prepare, .gpu_source = gpu_source)
