/* coulomb_spme alone in a box: its parameters as in an INI file, the services of the core, systems
 * of charges, and a plain Ewald sum to compare with. Include after testing.h. */
#ifndef PLUGMC_SPME_SYSTEM_H
#define PLUGMC_SPME_SYSTEM_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "own_state.h"
#include "input/parameters.h"
#include "messages.h"
#include "engine/services.h"

enum { CHARGE_SPECIES = 3 };

/* Charges in a box. */
typedef struct charges {
    double length[3];
    int species_count;
    plugmc_species species[CHARGE_SPECIES];
    int64_t first[CHARGE_SPECIES + 1];
    int walkers;
    double *positions; /* [walkers][particles][3] */
} charges;

typedef struct spme_system {
    report report;
    plugmc_context context;
    plugmc_host host;
    plugmc_system system;
    plugmc_term term;
    charges charges;
    const plugmc_plugin *plugin;
    const plugmc_total *total;
    const plugmc_pair *pair;
    void *instance, *single;
} spme_system;

static inline int64_t charge_count(const charges *c) { return c->first[c->species_count]; }

static inline double charge_of(const charges *c, int64_t i)
{
    int s = 0;
    while (i >= c->first[s + 1]) s++;
    return c->species[s].charge;
}

/* ---- Systems ----------------------------------------------------------------------------- */

static inline double random_number(uint64_t *state) /* in [0, 1) */
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Up to three species; a species that is not there has no particles. */
static inline charges new_charges(const double length[3], int walkers, int64_t n0, double z0,
                                  int64_t n1, double z1, int64_t n2, double z2)
{
    const char *const names[CHARGE_SPECIES] = {"A", "B", "C"};
    const int64_t n[CHARGE_SPECIES] = {n0, n1, n2};
    const double z[CHARGE_SPECIES] = {z0, z1, z2};
    charges c = {.length = {length[0], length[1], length[2]}, .walkers = walkers};
    for (int s = 0; s < CHARGE_SPECIES && n[s] > 0; s++) {
        c.species[s] = (plugmc_species){.name = names[s], .count = n[s], .charge = z[s]};
        c.first[s + 1] = c.first[s] + n[s];
        c.species_count = s + 1;
    }
    c.positions = calloc((size_t)(3 * walkers * charge_count(&c)), sizeof(double));
    return c;
}

/* Anywhere, but no two closer than `apart`. */
static inline void scatter(charges *c, double apart, uint64_t seed)
{
    const int64_t n = charge_count(c);
    for (int64_t i = 0; i < n * c->walkers; i++) {
        double *r = c->positions + 3 * i, closest;
        do {
            for (int d = 0; d < 3; d++) r[d] = c->length[d] * random_number(&seed);
            closest = INFINITY;
            for (int64_t j = i / n * n; j < i && apart > 0; j++) {
                double r2 = 0;
                for (int d = 0; d < 3; d++) {
                    double s = r[d] - c->positions[3 * j + d];
                    s -= c->length[d] * rint(s / c->length[d]);
                    r2 += s * s;
                }
                closest = fmin(closest, r2);
            }
        } while (closest < apart * apart);
    }
}

/* A crystal of cubic cells with `basis` [sites][3] in units of the edge; species by species. */
static inline void fill_crystal(charges *c, const double (*basis)[3], int sites, int cells,
                                double edge)
{
    int64_t i = 0;
    for (int b = 0; b < sites; b++)
        for (int k = 0; k < cells * cells * cells; k++, i++)
            for (int d = 0; d < 3; d++) {
                const int at = d == 0   ? k % cells
                               : d == 1 ? k / cells % cells
                                        : k / (cells * cells);
                c->positions[3 * i + d] = edge * (at + basis[b][d]);
            }
}

/* Energy of two ions of a molten salt near 1100 K at distance r, lengths in Angstrom: l_B = 152,
 * Coulomb screened and shifted to 0 at 10, and a repulsion with the minimum of unlike ions at 2.4.
 */
static inline double melt_energy(double r, int unlike)
{
    const double bjerrum = 152, minimum = 2.4, alpha = 0.2, cutoff = 10;
    const double coulomb = erfc(alpha * r) / r - erfc(alpha * cutoff) / cutoff;
    return bjerrum * ((unlike ? -coulomb : coulomb) + pow(minimum, 8) / (9 * pow(r, 9)));
}

/* Energy of ion i at r with all others, from a table of r^2 up to 100. */
enum { MELT_BINS = 4096 };
static inline double melt_of(const charges *c, double (*table)[MELT_BINS + 2], int64_t i,
                             const double r[3])
{
    double energy = 0;
    for (int64_t j = 0; j < charge_count(c); j++) {
        double r2 = 0;
        for (int d = 0; d < 3; d++) {
            double x = r[d] - c->positions[3 * j + d];
            x -= c->length[d] * rint(x / c->length[d]);
            r2 += x * x;
        }
        if (r2 >= 100 || j == i) continue;
        const double *row = table[(i < c->first[1]) != (j < c->first[1])], x = r2 * MELT_BINS / 100;
        const int k = (int)x;
        energy += row[k] + (x - k) * (row[k + 1] - row[k]);
    }
    return energy;
}

/* Molten NaCl: `pairs` of ions at its density, after some Metropolis sweeps from a random start. */
static inline charges melt(int64_t pairs, uint64_t seed)
{
    static double table[2][MELT_BINS + 2];
    const double edge = cbrt(2 * (double)pairs / 0.0329), box[3] = {edge, edge, edge};
    charges c = new_charges(box, 1, pairs, 1, pairs, -1, 0, 0);
    scatter(&c, 2.2, seed);
    for (int k = 0; k < MELT_BINS + 2; k++)
        for (int unlike = 0; unlike < 2; unlike++)
            table[unlike][k] = melt_energy(sqrt(fmax(0.5, 100.0 * k / MELT_BINS)), unlike);
    for (int64_t t = 0; t < 90 * charge_count(&c); t++) {
        const int64_t i = t % charge_count(&c);
        double *r = c.positions + 3 * i, to[3];
        for (int d = 0; d < 3; d++) {
            to[d] = r[d] + 0.6 * (random_number(&seed) - 0.5);
            to[d] -= edge * floor(to[d] / edge);
        }
        const double change = melt_of(&c, table, i, to) - melt_of(&c, table, i, r);
        if (change <= 0 || random_number(&seed) < exp(-change)) memcpy(r, to, sizeof to);
    }
    return c;
}

/* A configuration of water in data/nist: all oxygens, then all hydrogens. */
static inline charges water(const char *file)
{
    char path[4096], line[256], element;
    int64_t atoms = 0, next[2];
    double edge = 0;
    snprintf(path, sizeof path, "%s/nist/%s", TEST_DATA, file);
    FILE *in = fopen(path, "r");
    if (!in || !fgets(line, sizeof line, in)) fail_msg("cannot read %s", path);
    atoms = strtoll(line, NULL, 10);
    if (!fgets(line, sizeof line, in) || sscanf(line, " cell: %lf", &edge) != 1)
        fail_msg("%s: no cell", path);
    charges c = new_charges((double[3]){edge, edge, edge}, 1, atoms / 3, -0.8476, 2 * (atoms / 3),
                            0.4238, 0, 0);
    next[0] = 0;
    next[1] = atoms / 3;
    for (int64_t i = 0; i < atoms; i++) {
        double r[3];
        if (!fgets(line, sizeof line, in) ||
            sscanf(line, "%c %lf %lf %lf", &element, &r[0], &r[1], &r[2]) != 4)
            fail_msg("%s: atom %lld is missing", path, (long long)i);
        double *to = c.positions + 3 * next[element == 'H']++;
        for (int d = 0; d < 3; d++) to[d] = r[d] - edge * floor(r[d] / edge);
    }
    fclose(in);
    return c;
}

/* ---- The potential ----------------------------------------------------------------------- */

/* A system of these charges (which it takes over), and the potential with settings as in an INI
 * file, such as "cutoff = 3\norder = 4\n". `gpu` NULL: on the CPU. Must not move afterwards. */
static inline void spme_begin(spme_system *s, charges c, gpu *device, int threads)
{
    memset(s, 0, sizeof *s);
    s->charges = c;
    plugmc_box box = {.domain = PLUGMC_DOMAIN_PERIODIC, .dimension = 3, .volume = 1};
    for (int d = 0; d < 3; d++) {
        box.length[d] = c.length[d];
        box.volume *= c.length[d];
        box.vector[d][d] = c.length[d];
        box.inverse[d][d] = 1 / c.length[d];
    }
    s->system = (plugmc_system){.temperature = 1,
                                .rungs = 1,
                                .size = sizeof s->system,
                                .box = box,
                                .walkers = c.walkers,
                                .particles = charge_count(&c),
                                .species_count = c.species_count,
                                .species = s->charges.species,
                                .species_size = sizeof(plugmc_species),
                                .term_size = sizeof(plugmc_term),
                                .first = s->charges.first,
                                .terms = &s->term,
                                .term_count = 1,
                                .threads = threads};
    s->context = (plugmc_context){.report = &s->report,
                                  .gpu = device,
                                  .file = "test.ini",
                                  .line = 1,
                                  .section = "potential coulomb_spme"};
    s->host = context_host(&s->context, &s->system);
    own_state(&s->context, &s->host);
    if (device) gpu_bind(device, &s->system, &s->report);
}

static inline void *spme_parameters(spme_system *s, const plugmc_plugin *plugin,
                                    const char *settings)
{
    ini_file file = {0};
    char text[2048];
    void *instance = s->host.allocate(s->host.context, plugin->instance_size);
    snprintf(text, sizeof text, "[potential coulomb_spme]\n%s", settings);
    int code = ini_read_text("test.ini", text, &file, &s->report);
    if (!code)
        code = parameters_fill(plugin->parameters, plugin->parameter_count, plugin->real_size,
                               instance, "test.ini", &file.sections[0], &s->report);
    if (code) fail_msg("settings '%s' cannot be read", settings);
    ini_free(&file);
    return instance;
}

/* Configured and prepared; the code of what failed. */
static inline int spme_try(spme_system *s, const char *settings)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/coulomb_spme.so", TEST_PLUGINS);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail_msg("%s", dlerror());
    plugmc_entry *entry = (plugmc_entry *)dlsym(handle, "plugmc_plugin_entry");
    s->plugin = entry();
    s->total = s->plugin->potential->total;
    s->pair = s->plugin->potential->pair;
    s->instance = spme_parameters(s, s->plugin, settings);
    s->single = spme_parameters(s, s->plugin->single, settings);
    s->term = (plugmc_term){.label = "coulomb_spme",
                            .plugin = s->plugin,
                            .instance = s->instance,
                            .plugin_single = s->plugin->single,
                            .instance_single = s->single,
                            .host = &s->host};
    int code = s->plugin->configure(s->instance, &s->host);
    if (!code) code = s->plugin->single->configure(s->single, &s->host);
    return code ? code : s->plugin->prepare(s->instance, &s->host);
}

/* On one thread; warnings are not shown. */
static inline void spme_new(spme_system *s, charges c, const char *settings)
{
    messages m;
    spme_begin(s, c, NULL, 1);
    messages_begin(&m);
    const int code = spme_try(s, settings);
    const char *said = messages_end(&m);
    if (code) fail_msg("coulomb_spme cannot be prepared with %s: %s", settings, said);
}

static inline void spme_end(spme_system *s)
{
    if (s->instance) s->plugin->release(s->instance);
    context_release(&s->context);
    free(s->charges.positions);
}

/* Total facet of all walkers at host positions: added to energy [walkers], forces
 * [walkers][particles][3], virial [walkers][3]; any may be NULL. */
static inline int mesh_of(spme_system *s, const double *positions, double *energy, double *forces,
                          double *virial)
{
    plugmc_view view = {.size = sizeof view};
    s->host.view(s->host.context, positions, 0, &view);
    const plugmc_total_request request = {.size = sizeof request,
                                          .view = &view,
                                          .energy = energy,
                                          .forces = forces,
                                          .virial = virial};
    return s->total->energy(s->instance, &request);
}

/* Pair facet of one walker, in double: energy, forces and virial of all pairs are added. */
static inline double pairs_of(const spme_system *s, const double *positions, double *forces,
                              double *virial)
{
    const int64_t n = s->system.particles;
    double *x = malloc(5 * (size_t)n * sizeof *x), energy = 0;
    int32_t *species = calloc((size_t)n, sizeof *species);
    for (int64_t i = 0; i < n; i++) {
        for (int d = 0; d < 3; d++) x[d * n + i] = positions[3 * i + d];
        x[3 * n + i] = charge_of(&s->charges, i);
        x[4 * n + i] = 0;
        while (i >= s->system.first[species[i] + 1]) species[i]++;
    }
    for (int64_t i = 0; i < n; i++) {
        const plugmc_particle probe = {x[i], x[n + i], x[2 * n + i], x[3 * n + i], 0, species[i]};
        for (int half = 0; half < 2; half++) {
            const int64_t begin = half ? i + 1 : 0, end = half ? n : i;
            const plugmc_particles others = {
                end - begin,       x + begin,         x + n + begin,  x + 2 * n + begin,
                x + 3 * n + begin, x + 4 * n + begin, species + begin};
            plugmc_derivatives sum = {0};
            s->pair->derivatives(s->instance, &s->system.box, 1, 0, &probe, &others, &sum);
            energy += sum.energy / 2;
            for (int d = 0; d < 3 && forces; d++) forces[3 * i + d] -= sum.gradient[d];
            for (int d = 0; d < 3 && virial; d++) virial[d] += sum.virial[d] / 2;
        }
    }
    free(x);
    free(species);
    return energy;
}

/* ---- A plain Ewald sum ------------------------------------------------------------------- */

/* The waves of the sum alone, energy returned, without self energy and background; forces [n][3]
 * are added. Truncated where exp(-k^2 / 4 alpha^2) is 1e-17. Energies over l_B. */
static inline double ewald_waves(const charges *c, const double *positions, double alpha,
                                 double *forces, double virial[3])
{
    enum { MOST = 64 };
    const int64_t n = charge_count(c);
    const double volume = c->length[0] * c->length[1] * c->length[2], k_most = 2 * alpha * sqrt(39);
    double energy = 0;
    int most[3];
    for (int d = 0; d < 3; d++) {
        most[d] = (int)floor(k_most * c->length[d] / (2 * M_PI));
        if (most[d] > MOST) fail_msg("%d waves along an edge are too many", most[d]);
    }
    double(*phase)[3][MOST + 1][2] = malloc((size_t)n * sizeof *phase);
    double *z = malloc((size_t)n * sizeof *z), (*wave)[2] = malloc((size_t)n * sizeof *wave);
    for (int64_t i = 0; i < n; i++) {
        z[i] = charge_of(c, i);
        for (int d = 0; d < 3; d++)
            for (int m = 0; m <= most[d]; m++) {
                double x = 2 * M_PI * m * positions[3 * i + d] / c->length[d];
                phase[i][d][m][0] = cos(x);
                phase[i][d][m][1] = sin(x);
            }
    }
    for (int a = 0; a <= most[0]; a++)
        for (int b = a ? -most[1] : 0; b <= most[1]; b++)
            for (int e = a || b ? -most[2] : 1; e <= most[2]; e++) {
                const double k[3] = {2 * M_PI * a / c->length[0], 2 * M_PI * b / c->length[1],
                                     2 * M_PI * e / c->length[2]};
                const double k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
                if (k2 > k_most * k_most) continue;
                double re = 0, im = 0;
                for (int64_t i = 0; i < n; i++) {
                    const double *x = phase[i][0][a], *y = phase[i][1][abs(b)],
                                 *w = phase[i][2][abs(e)];
                    const double ys = b < 0 ? -y[1] : y[1], ws = e < 0 ? -w[1] : w[1];
                    const double xy_re = x[0] * y[0] - x[1] * ys, xy_im = x[0] * ys + x[1] * y[0];
                    wave[i][0] = z[i] * (xy_re * w[0] - xy_im * ws);
                    wave[i][1] = z[i] * (xy_re * ws + xy_im * w[0]);
                    re += wave[i][0];
                    im += wave[i][1];
                }
                const double g =
                    8 * M_PI / volume * exp(-k2 / (4 * alpha * alpha)) / k2; /* k and -k */
                const double own = g / 2 * (re * re + im * im);
                energy += own;
                for (int d = 0; d < 3 && virial; d++)
                    virial[d] +=
                        own * (1 - 2 * k[d] * k[d] / k2 - k[d] * k[d] / (2 * alpha * alpha));
                for (int64_t i = 0; i < n && forces; i++) {
                    const double f = g * (wave[i][1] * re - wave[i][0] * im);
                    for (int d = 0; d < 3; d++) forces[3 * i + d] += f * k[d];
                }
            }
    free(phase);
    free(wave);
    free(z);
    return energy;
}

/* Self energy and background, over l_B. */
static inline double ewald_constant(const charges *c, double alpha)
{
    double net = 0, square = 0;
    for (int64_t i = 0; i < charge_count(c); i++) {
        net += charge_of(c, i);
        square += charge_of(c, i) * charge_of(c, i);
    }
    return -alpha / sqrt(M_PI) * square -
           M_PI * net * net / (2 * alpha * alpha * c->length[0] * c->length[1] * c->length[2]);
}

/* Everything, converged to 1e-15: energy returned, forces are added. Over l_B. */
static inline double ewald(const charges *c, const double *positions, double *forces)
{
    const int64_t n = charge_count(c);
    const double half = fmin(c->length[0], fmin(c->length[1], c->length[2])) / 2;
    const double alpha = 5.9 / half; /* erfc(5.9) = 7e-17 */
    double energy = ewald_waves(c, positions, alpha, forces, NULL) + ewald_constant(c, alpha);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            double s[3], r2 = 0;
            for (int d = 0; d < 3; d++) {
                s[d] = positions[3 * i + d] - positions[3 * j + d];
                s[d] -= c->length[d] * rint(s[d] / c->length[d]);
                r2 += s[d] * s[d];
            }
            if (r2 > half * half) continue;
            const double r = sqrt(r2), qq = charge_of(c, i) * charge_of(c, j), x = alpha * r;
            const double u = qq * erfc(x) / r,
                         push = (u + qq * M_2_SQRTPI * alpha * exp(-x * x)) / r2;
            energy += u;
            for (int d = 0; d < 3 && forces; d++) {
                forces[3 * i + d] += push * s[d];
                forces[3 * j + d] -= push * s[d];
            }
        }
    return energy;
}

/* ---- Comparing --------------------------------------------------------------------------- */

/* Root of the mean square over particles of a - b; b NULL: of a. */
static inline double rms(const double *a, const double *b, int64_t particles)
{
    double sum = 0;
    for (int64_t k = 0; k < 3 * particles; k++) {
        double d = a[k] - (b ? b[k] : 0);
        sum += d * d;
    }
    return sqrt(sum / (double)particles);
}

static inline double *new_forces(const charges *c)
{
    return calloc((size_t)(3 * c->walkers * charge_count(c)), sizeof(double));
}

#endif
