/* plane_waves: the orbitals of free electrons in a periodic box,
 *
 *     1, sqrt(2) cos(G.r), sqrt(2) sin(G.r), ...
 *
 * with one of each pair of reciprocal vectors G, -G of the box, in the order of |G|. They are the
 * real combinations of exp(i G.r), so for closed shells (1, 7, 19, 27, 33, 57, ... electrons of a
 * spin in a cubic box) the determinant is that of the homogeneous electron gas, an eigenstate of
 * the kinetic energy (R. M. Martin, L. Reining, D. M. Ceperley, Interacting Electrons, chapter 5).
 * Every species has the lowest orbitals, as many as it has particles.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/plugin.h>

#include PLUGMC_KERNEL_FILE

PLUGMC_EMBED(plane_kernel, PLUGMC_KERNEL_FILE);

enum { LARGEST_INDEX = 64 };

typedef struct plane_waves {
    const plugmc_host *host;
    plane_wave *waves; /* [most], lowest first */
    int64_t most;      /* orbitals of the largest species */
    plugmc_device_pointer device_waves;
    plugmc_kernel *kernels[2]; /* results in float, double */
} plane_waves;

/* ---- Evaluation ---------------------------------------------------------------------------- */

static int64_t count(const void *instance, int32_t species)
{
    const plugmc_system *system = ((const plane_waves *)instance)->host->system;
    return species >= 0 && species < system->species_count ? system->species[species].count : 0;
}

static int32_t complex_valued(const void *instance)
{
    (void)instance;
    return 0;
}

static void put(void *out, int32_t real_size, int64_t i, double value)
{
    if (!out) return;
    if (real_size == sizeof(float))
        ((float *)out)[i] = (float)value;
    else
        ((double *)out)[i] = value;
}

static void evaluate_on_host(const plane_waves *p, const plugmc_orbital_request *q,
                             int64_t orbitals)
{
#pragma omp parallel for num_threads(p->host->system->threads) if (q->points > 64)
    for (int64_t i = 0; i < q->points; i++)
        for (int64_t l = 0; l < orbitals; l++) {
            double v[5];
            plane_orbital(p->waves + l, p->host->system->box.inverse, q->positions + 3 * i, v);
            put(q->values, q->real_size, i * q->pitch + l, v[0]);
            for (int e = 0; e < 3; e++)
                put(q->gradients, q->real_size, (3 * i + e) * q->pitch + l, v[1 + e]);
            put(q->laplacians, q->real_size, i * q->pitch + l, v[4]);
        }
}

static int evaluate_on_device(const plane_waves *p, const plugmc_orbital_request *q,
                              int64_t orbitals)
{
    const plugmc_host *host = p->host;
    plane_task task = {.waves = (const plane_wave *)(uintptr_t)p->device_waves,
                       .positions = q->positions,
                       .points = q->points,
                       .orbitals = orbitals,
                       .pitch = q->pitch,
                       .values = q->values,
                       .gradients = q->gradients,
                       .laplacians = q->laplacians};
    memcpy(task.inverse, host->system->box.inverse, sizeof task.inverse);
    const uint32_t grid[3] = {(uint32_t)((q->points * orbitals + 127) / 128), 1, 1};
    const uint32_t block[3] = {128, 1, 1};
    return host->gpu->launch(host->context, p->kernels[q->real_size == sizeof(double)], grid, block,
                             0, (void *[]){&task});
}

static int evaluate(void *instance, const plugmc_orbital_request *q)
{
    const plane_waves *p = instance;
    const int64_t orbitals = count(instance, q->species);
    if (orbitals == 0 || q->pitch < orbitals || (q->on_device && !p->host->gpu))
        return p->host->fail(p->host->context, PLUGMC_ERROR_STATE,
                             "orbitals of species %d are asked for with a pitch of %lld",
                             q->species, (long long)q->pitch);
    if (q->points <= 0) return PLUGMC_OK;
    if (q->on_device) return evaluate_on_device(p, q, orbitals);
    evaluate_on_host(p, q, orbitals);
    return PLUGMC_OK;
}

/* ---- Preparation --------------------------------------------------------------------------- */

/* Lowest |G| first. Those of one shell differ by rounding, so a hair does not count; then by n. */
static int by_square(const void *a, const void *b)
{
    const plane_wave *x = a, *y = b;
    double apart = x->square - y->square;
    if (fabs(apart) > 1e-9 * (x->square + y->square)) return apart < 0 ? -1 : 1;
    for (int d = 0; d < 3; d++)
        if (x->n[d] != y->n[d]) return x->n[d] > y->n[d] ? -1 : 1;
    return x->sine - y->sine;
}

/* One of each pair n, -n: the first index that is not 0 is positive. */
static int is_first(const int32_t n[3])
{
    for (int d = 0; d < 3; d++)
        if (n[d] != 0) return n[d] > 0;
    return 1;
}

static plane_wave wave_of(const plugmc_box *box, const int32_t n[3], int32_t sine)
{
    plane_wave w = {.sine = sine, .factor = n[0] || n[1] || n[2] ? sqrt(2.0) : 1};
    for (int d = 0; d < 3; d++) {
        w.n[d] = n[d];
        for (int e = 0; e < 3; e++) w.g[e] += 2 * M_PI * n[d] * box->inverse[e][d];
    }
    for (int e = 0; e < 3; e++) w.square += w.g[e] * w.g[e];
    return w;
}

/* Bounds of the indices with |G| up to `longest`: n_d = G.a_d / (2 pi), at most |G| |a_d| / (2 pi).
 */
static int index_bounds(const plugmc_box *box, double longest, int32_t bound[3])
{
    int largest = 0;
    for (int d = 0; d < 3; d++) {
        const double *a = box->vector[d];
        double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        bound[d] = d < box->dimension ? (int32_t)fmin(longest * length / (2 * M_PI), 1e4) : 0;
        if (bound[d] > largest) largest = bound[d];
    }
    return largest;
}

/* All waves with |G| up to `longest`, sorted; returns how many, -1 without memory. */
static int64_t list_waves(const plugmc_box *box, double longest, plane_wave **out)
{
    int32_t bound[3], n[3];
    int64_t found = 0;
    index_bounds(box, longest, bound);
    const size_t room = (size_t)(2 * bound[0] + 1) * (size_t)(2 * bound[1] + 1) *
                        (size_t)(2 * bound[2] + 1) + 1;
    plane_wave *waves = malloc(room * sizeof *waves);
    *out = waves;
    if (!waves) return -1;
    for (n[0] = -bound[0]; n[0] <= bound[0]; n[0]++)
        for (n[1] = -bound[1]; n[1] <= bound[1]; n[1]++)
            for (n[2] = -bound[2]; n[2] <= bound[2]; n[2]++) {
                if (!is_first(n)) continue;
                plane_wave w = wave_of(box, n, 0);
                if (w.square > longest * longest) continue;
                waves[found++] = w;
                if (w.square > 0) waves[found++] = wave_of(box, n, 1);
            }
    qsort(waves, (size_t)found, sizeof *waves, by_square);
    return found;
}

/* The sphere of G grows until it has the waves wanted, and one more to see where shells end. */
static int find_waves(plane_waves *p, const plugmc_host *host)
{
    const plugmc_box *box = &host->system->box;
    double longest = 2 * M_PI * pow((double)p->most / box->volume, 1.0 / box->dimension);
    plane_wave *waves = NULL;
    int64_t found;
    while ((found = list_waves(box, longest, &waves)) >= 0 && found <= p->most) {
        int32_t bound[3];
        free(waves);
        waves = NULL;
        longest *= 1.3;
        if (index_bounds(box, longest, bound) > LARGEST_INDEX)
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "%lld plane waves in this box need reciprocal vectors beyond index %d",
                (long long)p->most, LARGEST_INDEX);
    }
    p->waves = found < 0 ? NULL : host->allocate(host->context, (size_t)p->most * sizeof *waves);
    if (p->waves) memcpy(p->waves, waves, (size_t)p->most * sizeof *waves);
    for (int32_t s = 0; s < host->system->species_count && p->waves; s++) {
        const int64_t n = host->system->species[s].count;
        if (n > 0 && fabs(waves[n].square - waves[n - 1].square) < 1e-9 * waves[n].square)
            host->warn(host->context,
                       "%lld electrons of species '%s' do not fill a shell of plane waves: the "
                       "determinant is no closed shell",
                       (long long)n, host->system->species[s].name);
    }
    free(waves);
    return p->waves ? PLUGMC_OK
                    : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for plane waves");
}

static int kernel_text(void *instance, const plugmc_host *host, int index, plugmc_kernel_text *out)
{
    (void)instance, (void)host;
    *out = (plugmc_kernel_text){.size = sizeof *out, .name = "plane_waves.cu", .text = plane_kernel,
                                .double_precision = index == 1, .contract = 1};
    return index < 2;
}

static int prepare_device(plane_waves *p, const plugmc_host *host)
{
    const size_t bytes = (size_t)p->most * sizeof *p->waves;
    int code = host->gpu->allocate(host->context, bytes, &p->device_waves);
    if (!code) code = host->gpu->upload(host->context, p->device_waves, p->waves, bytes);
    for (int i = 0; i < 2 && !code; i++) {
        plugmc_kernel_text text;
        kernel_text(p, host, i, &text);
        code = host->gpu->kernel(host->context, &text, "orbitals", &p->kernels[i]);
    }
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    plane_waves *p = instance;
    const plugmc_system *system = host->system;
    p->host = host;
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "plane waves need a periodic box; this one is a sphere");
    for (int32_t s = 0; s < system->species_count; s++)
        if (system->species[s].count > p->most) p->most = system->species[s].count;
    int code = find_waves(p, host);
    return code || !host->gpu ? code : prepare_device(p, host);
}

static const plugmc_orbitals orbitals = {.size = sizeof orbitals,
                                         .on_device = 1,
                                         .count = count,
                                         .complex_valued = complex_valued,
                                         .evaluate = evaluate};

static const plugmc_potential potential = {.size = sizeof potential, .orbitals = &orbitals};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "plane_waves",
              .summary = "orbitals of free electrons in a periodic box",
              .reference = "Martin, Reining, Ceperley, Interacting Electrons, chapter 5",
              .instance_size = sizeof(plane_waves), .potential = &potential, .prepare = prepare,
              .kernel_text = kernel_text)
