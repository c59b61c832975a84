/* Wave functions for tests: a bench (movers.h) in any box, orbitals written here, potentials with
 * lists, and determinants by brute force. */
#ifndef PLUGMC_TEST_QUANTUM_H
#define PLUGMC_TEST_QUANTUM_H

#include "movers.h"

#include <complex.h>

#include "../plugins/determinants/expansion.h"

/* ---- The box --------------------------------------------------------------------------------- */

/* Lattice vectors as rows; rectangular unless `oblique`. */
static inline void box_of_vectors(bench *b, const double v[3][3], int oblique)
{
    plugmc_box *box = &b->system.box;
    double determinant = 0;
    memcpy(box->vector, v, sizeof box->vector);
    for (int i = 0; i < 3; i++) {
        const double *p = v[(i + 1) % 3], *q = v[(i + 2) % 3];
        for (int d = 0; d < 3; d++)
            box->inverse[d][i] = p[(d + 1) % 3] * q[(d + 2) % 3] - p[(d + 2) % 3] * q[(d + 1) % 3];
        box->length[i] = sqrt(v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]);
    }
    for (int d = 0; d < 3; d++) determinant += v[0][d] * box->inverse[d][0];
    for (int i = 0; i < 9; i++) box->inverse[i / 3][i % 3] /= determinant;
    box->volume = fabs(determinant);
    box->oblique = oblique;
}

static inline void quantum_begin(bench *b, const double length[3], int walkers, uint64_t seed)
{
    bench_begin(b, 3, length, walkers, seed);
    const double v[3][3] = {{length[0], 0, 0}, {0, length[1], 0}, {0, 0, length[2]}};
    box_of_vectors(b, v, 0);
}

/* A sphere around the origin. */
static inline void quantum_sphere(bench *b, double radius, int walkers, uint64_t seed)
{
    const double length[3] = {2 * radius, 2 * radius, 2 * radius};
    bench_begin(b, 3, length, walkers, seed);
    b->system.box.domain = PLUGMC_DOMAIN_SPHERE;
    b->system.box.radius = radius;
}

static inline double random_number(uint64_t seed, uint32_t index)
{
    plugmc_random u = plugmc_draw((plugmc_seed){seed}, 0, 0, index, PLUGMC_PURPOSE_INITIAL, 0);
    return plugmc_uniform_double(u.word[0], u.word[1]);
}

/* Uniform in the box, or in a ball of radius 1 in a sphere; to be freed. */
static inline double *random_positions(const bench *b, uint64_t seed)
{
    const plugmc_box *box = &b->system.box;
    double *x = bench_positions(b);
    for (int64_t i = 0; i < b->system.particles * b->system.walkers; i++)
        for (int d = 0; d < 3; d++) {
            const double u = random_number(seed, (uint32_t)(3 * i + d));
            if (box->domain == PLUGMC_DOMAIN_PERIODIC)
                for (int e = 0; e < 3; e++) x[3 * i + e] += u * box->vector[d][e];
            else
                x[3 * i + d] = (2 * u - 1) / sqrt(3);
        }
    return x;
}

/* ---- Orbitals -------------------------------------------------------------------------------- */

enum { TEST_ORBITALS = 128, TEST_IONS = 8 };
enum { PLANE_WAVES, STANDING_WAVES, EXPONENTIALS, POLARISED };

/* exp(i k.r); 1, cos k.r, sin k.r, ... (of k, -k in turn); exp(-k_0 |r - centre|); or
 * (1 + k.r) exp(-r^2/2) of r from centre. */
typedef struct test_orbitals {
    int32_t kind, count;
    double beyond; /* length: farther from the origin there is no number; 0: there is */
    double k[TEST_ORBITALS][3];      /* 1/length */
    double centre[TEST_ORBITALS][3]; /* length */
    int32_t ion_count;
    double ion[TEST_IONS][3];
    int32_t atomic_number[TEST_IONS];
    double valence[TEST_IONS];
    int64_t calls, points;
    const plugmc_host *host; /* for requests on a GPU */
} test_orbitals;

/* Value, gradient and Laplacian of orbital o. */
static inline void test_orbital(const test_orbitals *t, int o, const double r[3],
                                double complex out[5])
{
    const double *k = t->k[o];
    if (t->beyond > 0 && sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) > t->beyond) {
        for (int i = 0; i < 5; i++) out[i] = NAN;
        return;
    }
    const double phase = k[0] * r[0] + k[1] * r[1] + k[2] * r[2];
    const double square = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
    if (t->kind == EXPONENTIALS) {
        double d[3], distance = 0;
        for (int e = 0; e < 3; e++) d[e] = r[e] - t->centre[o][e];
        distance = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        out[0] = exp(-k[0] * distance);
        for (int e = 0; e < 3; e++) out[1 + e] = -k[0] * d[e] / distance * out[0];
        out[4] = (k[0] * k[0] - 2 * k[0] / distance) * out[0];
        return;
    }
    if (t->kind == POLARISED) {
        double d[3], square_d = 0, along = 0;
        for (int e = 0; e < 3; e++) {
            d[e] = r[e] - t->centre[o][e];
            square_d += d[e] * d[e];
            along += k[e] * d[e];
        }
        const double bell = exp(-0.5 * square_d);
        out[0] = (1 + along) * bell;
        for (int e = 0; e < 3; e++) out[1 + e] = (k[e] - d[e] * (1 + along)) * bell;
        out[4] = ((1 + along) * (square_d - 3) - 2 * along) * bell;
        return;
    }
    const int sine = t->kind == STANDING_WAVES && o % 2 == 0 && o > 0;
    const double complex wave = t->kind == PLANE_WAVES ? cexp(I * phase)
                                : sine                 ? sin(phase)
                                                       : cos(phase);
    const double complex slope = t->kind == PLANE_WAVES ? I * wave
                                 : sine                 ? cos(phase)
                                                        : -sin(phase);
    out[0] = wave;
    for (int d = 0; d < 3; d++) out[1 + d] = k[d] * slope;
    out[4] = -square * wave;
}

static inline int64_t test_orbitals_count(const void *instance, int32_t species)
{
    (void)species;
    return ((const test_orbitals *)instance)->count;
}

static inline int32_t test_orbitals_complex(const void *instance)
{
    return ((const test_orbitals *)instance)->kind == PLANE_WAVES;
}

static inline void put_orbital(const plugmc_orbital_request *q, void *to, int64_t at,
                               int is_complex, double complex value)
{
    const double parts[2] = {creal(value), cimag(value)};
    for (int c = 0; c < 1 + is_complex && to; c++) {
        const int64_t place = is_complex ? 2 * at + c : at;
        if (q->real_size == sizeof(float))
            ((float *)to)[place] = (float)parts[c];
        else
            ((double *)to)[place] = parts[c];
    }
}

static inline int test_orbitals_evaluate(void *, const plugmc_orbital_request *);

/* Values on a GPU: by way of the host. */
static inline int test_orbitals_staged(test_orbitals *t, const plugmc_orbital_request *q)
{
    const plugmc_gpu *gpu = t->host->gpu;
    plugmc_context *context = t->host->context;
    const size_t points = 3 * (size_t)q->points * sizeof(double);
    const size_t bytes =
        (size_t)(q->points * q->pitch * (1 + test_orbitals_complex(t))) * (size_t)q->real_size;
    double *positions = malloc(points);
    void *values = calloc(1, bytes);
    plugmc_orbital_request here = *q;
    here.on_device = 0;
    here.positions = positions;
    here.values = values;
    int code =
        gpu->download(context, positions, (plugmc_device_pointer)(uintptr_t)q->positions, points);
    if (!code) code = test_orbitals_evaluate(t, &here);
    if (!code)
        code = gpu->upload(context, (plugmc_device_pointer)(uintptr_t)q->values, values, bytes);
    free(positions);
    free(values);
    return code;
}

static inline int test_orbitals_evaluate(void *instance, const plugmc_orbital_request *q)
{
    test_orbitals *t = instance;
    if (q->on_device) return test_orbitals_staged(t, q);
    const int is_complex = test_orbitals_complex(t);
    t->calls++;
    t->points += q->points;
    for (int64_t p = 0; p < q->points; p++)
        for (int o = 0; o < t->count; o++) {
            double complex value[5];
            test_orbital(t, o, q->positions + 3 * p, value);
            put_orbital(q, q->values, p * q->pitch + o, is_complex, value[0]);
            for (int d = 0; d < 3; d++)
                put_orbital(q, q->gradients, (3 * p + d) * q->pitch + o, is_complex, value[1 + d]);
            put_orbital(q, q->laplacians, p * q->pitch + o, is_complex, value[4]);
        }
    return PLUGMC_OK;
}

static inline int test_orbitals_ions(const void *instance, plugmc_ions *out)
{
    const test_orbitals *t = instance;
    *out = (plugmc_ions){.size = sizeof *out,
                         .count = t->ion_count,
                         .positions = (const double(*)[3])t->ion,
                         .atomic_number = t->atomic_number,
                         .valence = t->valence,
                         .primitive_cells = 1};
    return PLUGMC_OK;
}

static const plugmc_orbitals test_orbitals_facet = {.size = sizeof(plugmc_orbitals),
                                                    .on_device = 1,
                                                    .count = test_orbitals_count,
                                                    .complex_valued = test_orbitals_complex,
                                                    .evaluate = test_orbitals_evaluate,
                                                    .ions = test_orbitals_ions};
static const plugmc_potential test_orbitals_potential = {.size = sizeof(plugmc_potential)};
static const plugmc_plugin test_orbitals_plugin = {
    .size = sizeof(plugmc_plugin),
    .kind = PLUGMC_POTENTIAL,
    .name = "test_orbitals",
    PLUGMC_OFFERS({PLUGMC_ORBITALS, &test_orbitals_facet}),
    .potential = &test_orbitals_potential};

/* n plane waves of the box, those of smallest |n| first: closed shells of a cube at n = 1, 7,
 * 19, 27. As standing waves k and -k become cosine and sine. */
static inline void fill_waves(test_orbitals *t, const bench *b, int kind, int n)
{
    int found = 0;
    *t = (test_orbitals){.kind = kind, .count = n};
    for (int square = 0; found < n; square++)
        for (int i = 0; i < 343 && found < n; i++) {
            const int m[3] = {i / 49 - 3, i / 7 % 7 - 3, i % 7 - 3};
            const int first = m[0] ? m[0] : m[1] ? m[1] : m[2];
            if (m[0] * m[0] + m[1] * m[1] + m[2] * m[2] != square || first < 0) continue;
            for (int sign = 1; sign >= (square ? -1 : 1) && found < n; sign -= 2, found++)
                for (int d = 0; d < 3; d++)
                    for (int e = 0; e < 3; e++)
                        t->k[found][d] += 2 * M_PI * sign * m[e] * b->system.box.inverse[d][e];
        }
}

static inline void add_orbitals(bench *b, test_orbitals *t)
{
    b->terms[b->system.term_count++] =
        (plugmc_term){"orbitals", &test_orbitals_plugin, t, NULL, NULL, 1, &b->host};
}

/* ---- Potentials with lists ------------------------------------------------------------------- */

/* "name=1 2 3; other=0.5": a plugin's keys, for double or float. The core's own text reading is not
 * wanted here. */
static inline void quantum_parameters(bench *b, const plugmc_plugin *plugin, void *instance,
                                      const char *settings)
{
    const plugmc_parameter *p = plugin->parameters, *end = p + plugin->parameter_count;
    for (; p < end; p++) {
        char found[2048], *text = NULL;
        const char *at = settings;
        if (p->derived) continue;
        if (p->fallback) text = strcpy(found, p->fallback);
        while (at && *at) {
            const size_t length = strcspn(at, "=");
            const char *stop = strchr(at, ';');
            if (length == strlen(p->name) && !strncmp(at, p->name, length)) {
                const size_t n = stop ? (size_t)(stop - at) - length - 1 : strlen(at) - length - 1;
                text = memcpy(found, at + length + 1, n);
                text[n] = 0;
            }
            at = stop ? stop + 1 + strspn(stop + 1, " ") : NULL;
        }
        if (!text) fail_msg("key '%s' of '%s' is missing", p->name, plugin->name);
        if (p->type == PLUGMC_TYPE_FILE && p->length != 1)
            for (char *c = text; *c; c++)
                if (*c == ' ') *c = '\n';
        if (p->type == PLUGMC_TYPE_TEXT || p->type == PLUGMC_TYPE_FILE) {
            char *copy = bench_allocate(b->host.context, strlen(text) + 1);
            set_parameter(plugin, instance, p, strcpy(copy, text));
        } else if (p->type == PLUGMC_TYPE_LIST) {
            char *rest = text, *word;
            plugmc_list list = {bench_allocate(b->host.context, strlen(text) * 8 + 8), 0};
            while ((word = strtok_r(rest, " ", &rest))) {
                if (plugin->real_size == sizeof(float))
                    ((float *)list.values)[list.count++] = strtof(word, NULL);
                else
                    ((double *)list.values)[list.count++] = strtod(word, NULL);
            }
            *(plugmc_list *)((char *)instance + p->offset) = list;
        } else {
            set_parameter(plugin, instance, p, text);
        }
    }
}

/* Adds a term in both precisions; returns the code of configure. */
static inline int try_term(bench *b, const char *name, const char *settings, int sampled)
{
    const plugmc_plugin *plugin = open_plugin(name), *single = plugin->single;
    plugmc_term *term = &b->terms[b->system.term_count];
    *term = (plugmc_term){.label = name,
                          .plugin = plugin,
                          .sampled = sampled,
                          .host = &b->host,
                          .instance = bench_allocate(b->host.context, plugin->instance_size)};
    quantum_parameters(b, plugin, term->instance, settings);
    int code = plugin->configure ? plugin->configure(term->instance, &b->host) : PLUGMC_OK;
    if (single && !code) {
        term->plugin_single = single;
        term->instance_single = bench_allocate(b->host.context, single->instance_size);
        quantum_parameters(b, single, term->instance_single, settings);
        code = single->configure ? single->configure(term->instance_single, &b->host) : PLUGMC_OK;
    }
    if (!code) b->system.term_count++;
    return code;
}

static inline plugmc_term *quantum_term(bench *b, const char *name, const char *settings,
                                        int sampled)
{
    bench_expect(b, try_term(b, name, settings, sampled));
    return &b->terms[b->system.term_count - 1];
}

/* ---- Brute force ----------------------------------------------------------------------------- */

/* The inverse of a [n][n] in place, by Gauss and Jordan with row exchanges; returns the
 * determinant. */
static inline double complex invert_in_place(double complex *a, int n)
{
    double complex *work = calloc((size_t)(2 * n * n), sizeof *work), determinant = 1;
    for (int i = 0; i < n; i++) {
        memcpy(work + 2 * n * i, a + n * i, (size_t)n * sizeof *a);
        work[2 * n * i + n + i] = 1;
    }
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int i = c; i < n; i++)
            if (cabs(work[2 * n * i + c]) > cabs(work[2 * n * best + c])) best = i;
        for (int j = 0; j < 2 * n && best != c; j++) {
            double complex swap = work[2 * n * c + j];
            work[2 * n * c + j] = work[2 * n * best + j];
            work[2 * n * best + j] = swap;
        }
        const double complex pivot = work[2 * n * c + c];
        determinant *= best == c ? pivot : -pivot;
        for (int j = 0; j < 2 * n; j++) work[2 * n * c + j] /= pivot;
        for (int i = 0; i < n; i++) {
            const double complex factor = work[2 * n * i + c];
            for (int j = 0; j < 2 * n && i != c; j++)
                work[2 * n * i + j] -= factor * work[2 * n * c + j];
        }
    }
    for (int i = 0; i < n; i++) memcpy(a + n * i, work + 2 * n * i + n, (size_t)n * sizeof *a);
    free(work);
    return determinant;
}

/* matrix [n][n]: orbitals in columns at n positions in rows. */
static inline void orbital_matrix(const test_orbitals *t, const double *positions, int n,
                                  double complex *matrix)
{
    for (int e = 0; e < n; e++)
        for (int o = 0; o < n; o++) {
            double complex value[5];
            test_orbital(t, o, positions + 3 * e, value);
            matrix[e * n + o] = value[0];
        }
}

/* The expansion in determinants of a bench; NULL: there is one determinant a spin. */
static inline const expansion *expansion_of(const bench *b)
{
    for (int t = 0; t < b->system.term_count; t++) {
        const plugmc_expansion *offered =
            plugmc_offered(b->system.terms[t].plugin, PLUGMC_EXPANSION);
        if (offered && b->system.terms[t].sampled) return offered->get(b->system.terms[t].instance);
    }
    return NULL;
}

/* A product of determinants of test orbitals at positions [particles][3]: term k of an expansion, or the first orbitals
 * if that is NULL. */
static inline double complex brute_product(const bench *b, const test_orbitals *t,
                                           const expansion *e, int64_t k, const double *positions)
{
    const plugmc_system *s = &b->system;
    double complex product = 1;
    for (int spin = 0; spin < s->species_count; spin++) {
        const int n = (int)s->species[spin].count;
        double complex *matrix = calloc((size_t)(n * n) + 1, sizeof *matrix);
        for (int i = 0; i < n; i++)
            for (int o = 0; o < n; o++) {
                const expansion_spin *set = e ? &e->spin[spin] : NULL;
                double complex value[5];
                test_orbital(t, e ? set->column[set->occupied[e->of[spin][k] * n + o]] : o,
                             positions + 3 * (s->first[spin] + i), value);
                matrix[i * n + o] = value[0];
            }
        product *= invert_in_place(matrix, n);
        free(matrix);
    }
    return product;
}

/* Psi but for pairs and fields. */
static inline double complex brute_determinants(const bench *b, const test_orbitals *t,
                                                const double *positions)
{
    const expansion *e = expansion_of(b);
    double complex sum = 0;
    if (!e) return brute_product(b, t, NULL, 0, positions);
    for (int64_t k = 0; k < e->terms; k++)
        sum += e->coefficients[k] * brute_product(b, t, e, k, positions);
    return sum;
}

/* -ln |Psi|^2 at positions [particles][3]: determinants of the term with test orbitals and all
 * pairs and fields; INFINITY where somebody may not be. */
static inline double brute_energy(const bench *b, const double *positions)
{
    const plugmc_system *s = &b->system;
    double energy = 0;
    int64_t forbidden = 0;
    for (int t = 0; t < s->term_count; t++) {
        const plugmc_term *term = &s->terms[t];
        const plugmc_potential *p = term->plugin->potential;
        if (!term->sampled) continue;
        if (plugmc_orbitals_of(term->plugin))
            energy -= 2 * log(cabs(brute_determinants(b, term->instance, positions)));
        for (int64_t i = 0; i < s->particles; i++) {
            const double *r = positions + 3 * i;
            const double zero = 0;
            const int32_t kind = i >= s->first[1];
            const plugmc_particle probe = {r[0], r[1], r[2], s->species[kind].charge, 0, kind};
            const plugmc_particles self = {1,     r,    r + 1, r + 2, &s->species[kind].charge,
                                           &zero, &kind};
            if (p->field) forbidden += p->field->energy(term->instance, &self, &energy);
            for (int64_t j = 0; j < i && p->pair; j++) {
                const double *q = positions + 3 * j;
                const int32_t other_kind = j >= s->first[1];
                const plugmc_particles other = {
                    1, q, q + 1, q + 2, &s->species[other_kind].charge, &zero, &other_kind};
                forbidden += p->pair->energy(term->instance, &s->box,
                                             s->box.domain == PLUGMC_DOMAIN_PERIODIC, &probe,
                                             &other, &energy);
            }
        }
    }
    for (int64_t i = 0; i < s->particles && s->box.domain == PLUGMC_DOMAIN_SPHERE; i++) {
        const double *r = positions + 3 * i;
        forbidden += r[0] * r[0] + r[1] * r[1] + r[2] * r[2] > s->box.radius * s->box.radius;
    }
    return forbidden ? INFINITY : energy;
}

/* Random positions of which no potential forbids any; to be freed. */
static inline double *allowed_positions(const bench *b, uint64_t seed)
{
    const size_t size = 3 * (size_t)b->system.particles;
    double *x = random_positions(b, seed);
    for (int32_t w = 0; w < b->system.walkers; w++)
        while (!isfinite(brute_energy(b, x + w * size))) {
            double *again = random_positions(b, ++seed);
            memcpy(x + w * size, again + w * size, size * sizeof *x);
            free(again);
        }
    return x;
}
#endif
