/* The local energy on a GPU against the CPU: each component of each walker, with the same random
 * rotations; atoms, the electron gas, silicon and diamond from their files, with and without a
 * Jastrow factor, in double and in single precision; how fast it is. Skipped without a GPU. */
#include "own_state.h"
#include "boxes.h"
#include "testing.h"

#include "on_gpu.h"
#include "quantum.h"
#include "engine/services.h"
#include "quantum/variational_on_device.h"

enum { TOTAL, KINETIC, REPULSION, LOCAL, NONLOCAL, IONS, SQUARED, DRIFT, QUANTITIES };
static const char *const names[QUANTITIES] = {
    [TOTAL] = "total",     [KINETIC] = "kinetic",   [REPULSION] = "repulsion",
    [LOCAL] = "local",     [NONLOCAL] = "nonlocal", [IONS] = "ions",
    [SQUARED] = "squared", [DRIFT] = "ln |Psi|^2"};

/* A system with its wave function and the observable, on the CPU or on the GPU. */
typedef struct place {
    bench b;
    report messages;
    plugmc_context context;
    const plugmc_plugin *plugin;
    void *instance;
} place;

/* After the terms, before anything is prepared. */
static void onto_gpu(place *p)
{
    bench *b = &p->b;
    p->context = (plugmc_context){.report = &p->messages,
                                  .gpu = device,
                                  .file = "test",
                                  .section = "test",
                                  .plugin = TEST_PLUGINS "/bspline_orbitals.so"};
    gpu_bind(device, &b->system, &p->messages);
    b->host = context_host(&p->context, &b->system);
    own_state(&p->context, &b->host);
}

static void prepare(place *p, int on_gpu, const char *settings)
{
    bench *b = &p->b;
    p->messages = (report){0};
    p->plugin = open_plugin("local_energy");
    p->instance = bench_allocate(b->host.context, p->plugin->instance_size);
    quantum_parameters(b, p->plugin, p->instance, settings);
    if (on_gpu) onto_gpu(p);
    for (int t = 0; t < b->system.term_count; t++) {
        plugmc_term *term = &b->terms[t];
        term->host = &b->host;
        if (term->plugin->prepare) bench_expect(b, term->plugin->prepare(term->instance, &b->host));
    }
    bench_expect(b, p->plugin->prepare(p->instance, &b->host));
}

static void finish(place *p)
{
    p->plugin->release(p->instance);
    for (int t = 0; t < p->b.system.term_count; t++) {
        const plugmc_term *term = &p->b.terms[t];
        if (term->plugin->release) term->plugin->release(term->instance);
    }
    if (p->context.gpu) context_release(&p->context);
    p->context.gpu = NULL;
    bench_end(&p->b);
}

/* A mover that keeps ln |Psi|^2 = 0, so that the observable tells what it is. */
static int keeps_nothing(const plugmc_view *view, double *energy)
{
    const place *p = view->core;
    for (int w = 0; w < p->b.system.walkers; w++) energy[w] = 0;
    return PLUGMC_OK;
}

static size_t bytes_of(const bench *b)
{
    return (size_t)(3 * b->system.particles * b->system.walkers) * sizeof(double);
}

/* values [walkers][QUANTITIES] of positions on the host; returns the code. */
static int measure(place *p, int on_gpu, const double *positions, double *values)
{
    bench *b = &p->b;
    const plugmc_gpu *gpu = b->host.gpu;
    plugmc_device_pointer at = 0;
    plugmc_view view = {.size = sizeof view,
                        .sweep = 7,
                        .positions = positions,
                        .core = p,
                        .running_energy = keeps_nothing,
                        .box = boxes_of(&b->system)};
    if (on_gpu) {
        assert_int_equal(gpu->allocate(b->host.context, bytes_of(b), &at), PLUGMC_OK);
        assert_int_equal(gpu->upload(b->host.context, at, positions, bytes_of(b)), PLUGMC_OK);
        view.positions = (const double *)(uintptr_t)at;
        view.on_device = 1;
        view.device_box = device_boxes_of(&b->host);
    }
    int code = p->plugin->observable->measure(p->instance, &b->host, &view, values);
    if (on_gpu) assert_int_equal(gpu->release(b->host.context, at), PLUGMC_OK);
    return code;
}

/* Those of the bench's services and of the core's, which a GPU has. */
static int warnings_of(const place *p) { return p->b.warnings + p->messages.warnings; }

/* ---- Cases ----------------------------------------------------------------------------------- */

enum { ATOM, GAS, OBLIQUE_GAS, SILICON, DIAMOND };

typedef struct energy_case {
    int system, up, down, walkers;
    const char *orbitals, *jastrow, *settings;
    double tolerance;   /* relative to the largest component */
    const char *factor; /* plugin of the Jastrow factor; NULL: jastrow */
    const char *sum;    /* of determinants; NULL: one a spin */
} energy_case;

static const char gas_jastrow[] = "like=0.28 0.22 0.17 0.12 0.08 0.05 0.03 0.012; "
                                  "unlike=0.46 0.36 0.26 0.18 0.12 0.08 0.04 0.017; u_cutoff=1.9; "
                                  "chi=-0.2 -0.16 -0.14 -0.12 -0.1 -0.07; chi_cutoff=1.9; "
                                  "ions=0.3 0.4 0.5 2.5 2.6 2.7";
static const char gas_polynomials[] =
    "u_like=0.2 -0.3 0.1; u_unlike=0.3 0.2; chi=-0.4 0.3 -0.2; f_like=0.6 1 -2 1.5 -1 0.8 1.2 -0.5; "
    "f_unlike=1 -1 2 0.5 -1.5 0.7 0.4 0.9; f_cutoff=0.99; ions=0.3 0.4 0.5 2.5 2.6 2.7 0.9 0.2 -0.3";
static const char diamond_polynomials[] =
    "u_like=0.2 -0.3 0.1; u_unlike=0.3 0.2; chi=-0.4 0.3 -0.2; f_like=0.6 1 -2 1.5 -1 0.8 1.2 -0.5; "
    "f_unlike=1 -1 2 0.5 -1.5 0.7 0.4 0.9; ions=0 0 0 1.686580575 1.686580575 1.686580575";
static const char atom_polynomials[] =
    "u_unlike=0.3 0.2; chi=-0.4 0.3 -0.2; f_unlike=1 -1 2 0.5 -1.5 0.7 0.4 0.9; u_cutoff=5; "
    "chi_cutoff=5; f_cutoff=4; ions=0 0 0";
static const char atom_jastrow[] = "unlike=0.46 0.36 0.26 0.18 0.12; u_cutoff=6; "
                                   "chi=-0.2 -0.16 -0.14 -0.1; chi_cutoff=5; ions=0 0 0";
static const char silicon_jastrow[] =
    "like=0.28 0.22 0.17 0.12 0.08 0.05 0.03 0.012; "
    "unlike=0.46 0.36 0.26 0.18 0.12 0.08 0.04 0.017; chi=-0.2 -0.16 -0.12 -0.07 -0.02; "
    "chi_cutoff=4; ions=0 0 0 -2.56575 2.56575 2.56575; tile=2 2 2";
static const char diamond_jastrow[] =
    "like=0.2797730287 0.2172604155 0.1656172964 0.1216984261 0.083995349 0.05302065936 "
    "0.02915953995 0.0122402581; "
    "unlike=0.4631099906 0.356399124 0.2587895287 0.1829298509 0.1233653291 0.07714708174 "
    "0.04145899033 0.01690645936; "
    "chi=-0.2032153051 -0.1625595974 -0.143124599 -0.1216434956 -0.09919771951 -0.07111729038 "
    "-0.04445345869 -0.02135082917; ions=0 0 0 1.686580575 1.686580575 1.686580575";

static const char gas_sum[] =
    "excitations=7>8/4>6 6>9,7>10/- -/3>7,4>8 5>8,7>9/1>6 3>8,6>10,7>11/- 7>8/2>6 1>8,2>9,3>10,4>11/-; "
    "coefficients=-0.4 0.3 0.7 0.2 -0.5 0.9 1.5";
static const char up_sum[] = "excitations=7>8/- 6>9,7>10/-; coefficients=-0.7 0.8";
static const char diamond_sum[] =
    "excitations=4>5/4>5 3>6/3>6 4>7/- 2>5,4>6/3>8; coefficients=-0.3 0.2 0.1 -0.15";

#define SILICON_FILE "file=" TEST_DATA "/qmc/si-2x2x2.bwfn.data.b1; precision="
#define SILICON_ION "pseudopotentials=" TEST_DATA "/qmc/Si.pz-vbc.UPF; nonlocal="
#define DIAMOND_FILE "file=" TEST_DATA "/qmc/diamondC.pwscf.h5; precision="
#define DIAMOND_ION "pseudopotentials=" TEST_DATA "/qmc/C.BFD.xml; quadrature="

static void begin(place *p, const energy_case *c)
{
    static const char *const plugins[] = {"slater_orbitals", "plane_waves", "plane_waves",
                                          "bspline_orbitals", "bspline_orbitals"};
    const double length[3] = {4.1, 4.4, 4.7}, s = 10.263, d = 3.37316115;
    const double vectors[][3][3] = {
        [OBLIQUE_GAS] = {{4.0, 0.3, 0.2}, {1.1, 4.2, -0.4}, {-0.7, 0.9, 4.5}},
        [SILICON] = {{-s, 0, s}, {0, s, s}, {-s, s, 0}},
        [DIAMOND] = {{d, d, 0}, {0, d, d}, {d, 0, d}}};
    bench *b = &p->b;
    if (c->system == ATOM)
        quantum_sphere(b, 20, c->walkers, 31);
    else
        quantum_begin(b, length, c->walkers, 31);
    if (c->system >= OBLIQUE_GAS) box_of_vectors(b, vectors[c->system], 1);
    bench_species(b, "up", c->up, 0, -1);
    if (c->down) bench_species(b, "down", c->down, 0, -1);
    quantum_term(b, plugins[c->system], c->orbitals, 1);
    if (c->sum) quantum_term(b, "multideterminant", c->sum, 1);
    if (c->jastrow) quantum_term(b, c->factor ? c->factor : "jastrow", c->jastrow, 1);
}

/* Largest difference of a quantity over the largest component of its walker; the square of the sum
 * over the square of that. */
static double difference(const double *a, const double *b, int walkers, int quantity)
{
    double worst = 0;
    for (int w = 0; w < walkers; w++, a += QUANTITIES, b += QUANTITIES) {
        double scale = 1;
        for (int q = KINETIC; q <= IONS; q++) scale = fmax(scale, fabs(b[q]));
        if (quantity == SQUARED) scale *= scale;
        const double one = fabs(a[quantity] - b[quantity]) / scale;
        if (!(one <= worst)) worst = one; /* what is not a number stays */
    }
    return worst;
}

enum { MOST_WALKERS = 8 };

static void components_are_those_of_the_cpu(void **state)
{
    (void)state;
    static const energy_case cases[] = {
        {ATOM, 1, 0, 8, "nuclei=0 0 0 1; zeta=1", NULL, "", 1e-12},
        {ATOM, 1, 1, 8, "nuclei=0 0 0 2; zeta=1.6875", NULL, "units=ev", 1e-12},
        {ATOM, 1, 1, 8, "nuclei=0 0 0 2; zeta=1.6875", atom_jastrow, "", 1e-11},
        {GAS, 1, 0, 3, "", NULL, "", 1e-11},
        {GAS, 7, 7, 5, "", gas_jastrow, "", 1e-10},
        {GAS, 7, 5, 5, "", NULL, "per=electron", 1e-10},
        {OBLIQUE_GAS, 7, 7, 5, "", gas_jastrow, "", 1e-10},
        {OBLIQUE_GAS, 19, 0, 3, "", gas_jastrow, "electron_electron=no", 1e-10},
        {OBLIQUE_GAS, 33, 35, 2, "", gas_jastrow, "", 1e-9},
        {SILICON, 32, 32, 2, SILICON_FILE "double", NULL, SILICON_ION "semilocal", 1e-9},
        {SILICON, 32, 32, 2, SILICON_FILE "double", silicon_jastrow,
         SILICON_ION "semilocal; quadrature=6", 1e-9},
        {SILICON, 32, 32, 2, SILICON_FILE "double", NULL, SILICON_ION "separable", 1e-9},
        {SILICON, 32, 32, 1, SILICON_FILE "double", silicon_jastrow,
         SILICON_ION "separable; radial_points=5; per=primitive_cell", 1e-9},
        {SILICON, 32, 32, 2, SILICON_FILE "float", NULL, SILICON_ION "semilocal", 1e-3},
        {DIAMOND, 4, 4, 8, DIAMOND_FILE "double", diamond_jastrow, DIAMOND_ION "12", 1e-9},
        {DIAMOND, 4, 4, 8, DIAMOND_FILE "double", NULL, DIAMOND_ION "26; ion_ion=no", 1e-9},
        {DIAMOND, 4, 4, 8, DIAMOND_FILE "double", NULL, DIAMOND_ION "12; electron_ion=no", 1e-9},
        {DIAMOND, 4, 4, 8, DIAMOND_FILE "float", diamond_jastrow, DIAMOND_ION "12", 1e-4},
        {GAS, 7, 7, 5, "", gas_polynomials, "", 1e-10, "polynomial_jastrow"},
        {OBLIQUE_GAS, 33, 35, 2, "", gas_polynomials, "", 1e-9, "polynomial_jastrow"},
        {ATOM, 1, 1, 8, "nuclei=0 0 0 2; zeta=2", atom_polynomials, "", 1e-11,
         "polynomial_jastrow"},
        {DIAMOND, 4, 4, 8, DIAMOND_FILE "double", diamond_polynomials, DIAMOND_ION "12", 1e-9,
         "polynomial_jastrow"},
        {GAS, 7, 5, 5, "virtual=4", gas_jastrow, "", 1e-9, NULL, gas_sum},
        {OBLIQUE_GAS, 7, 5, 5, "virtual=4; twist=0.25 0.1 0", gas_jastrow, "", 1e-9, NULL, gas_sum},
        {OBLIQUE_GAS, 7, 0, 5, "virtual=4", NULL, "", 1e-9, NULL, up_sum},
        {DIAMOND, 4, 4, 8, DIAMOND_FILE "double; virtual=4", diamond_jastrow, DIAMOND_ION "12",
         1e-8, NULL, diamond_sum},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        static double values[3][MOST_WALKERS * QUANTITIES];
        const energy_case *c = &cases[k];
        int warnings = 0;
        for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
            static place p;
            begin(&p, c);
            prepare(&p, on_gpu, c->settings);
            double *x = random_positions(&p.b, 5);
            bench_expect(&p.b, measure(&p, on_gpu, x, values[on_gpu]));
            if (!on_gpu) {
                warnings = warnings_of(&p); /* of a factor whose cusp is not that of repulsion */
            } else {                        /* once more: the same bits */
                assert_int_equal(warnings_of(&p), warnings);
                bench_expect(&p.b, measure(&p, 1, x, values[2]));
                assert_memory_equal(values[1], values[2],
                                    (size_t)c->walkers * QUANTITIES * sizeof(double));
            }
            free(x);
            finish(&p);
        }
        printf("%-16s %2d + %2d%s %-12s",
               c->system == ATOM      ? "atom"
               : c->system == SILICON ? "silicon"
               : c->system == DIAMOND ? "diamond"
                                      : "gas",
               c->up, c->down, c->jastrow ? " Jastrow" : "        ",
               strrchr(c->settings, '=') ? strrchr(c->settings, '=') + 1 : "");
        for (int q = 0; q < QUANTITIES; q++)
            printf(" %.0e", difference(values[1], values[0], c->walkers, q));
        printf("; %s %.10g\n", names[NONLOCAL], values[0][NONLOCAL]);
        for (int q = 0; q < QUANTITIES; q++)
            if (!(difference(values[1], values[0], c->walkers, q) <= c->tolerance))
                fail_msg("%s: %.15g in the first walker, and %.15g on the CPU", names[q],
                         values[1][q], values[0][q]);
        if (c->system >= SILICON && !strstr(c->settings, "electron_ion=no"))
            assert_true(values[0][NONLOCAL] != 0);
        if (k == 0)
            for (int w = 0; w < c->walkers; w++)
                assert_close(values[1][w * QUANTITIES + TOTAL], -0.5, 1e-12, 0);
    }
}

/* What others ask for (plugmc/wave.h): walkers from the second on. */
typedef struct asked {
    double energy[MOST_WALKERS], parts[MOST_WALKERS][PLUGMC_LOCAL_PARTS], ln_psi[MOST_WALKERS],
        phase[MOST_WALKERS][2], drift[MOST_WALKERS * 68 * 3];
    plugmc_nonlocal_point *places;
    int64_t count;
} asked;

static void ask(place *p, int on_gpu, const double *positions, asked *out)
{
    bench *b = &p->b;
    const plugmc_gpu *gpu = b->host.gpu;
    plugmc_device_pointer at = 0, drift = 0;
    const plugmc_nonlocal_point *places;
    plugmc_view view = {
        .size = sizeof view, .sweep = 7, .positions = positions, .box = boxes_of(&b->system)};
    plugmc_local_energy_request request = {.size = sizeof request,
                                           .first = 1,
                                           .walkers = b->system.walkers - 1,
                                           .view = &view,
                                           .energy = out->energy,
                                           .parts = out->parts[0],
                                           .ln_psi = out->ln_psi,
                                           .phase = out->phase[0],
                                           .drift = out->drift,
                                           .points = &places,
                                           .point_count = &out->count};
    if (on_gpu) {
        assert_int_equal(gpu->allocate(b->host.context, bytes_of(b), &at), PLUGMC_OK);
        assert_int_equal(gpu->allocate(b->host.context, bytes_of(b), &drift), PLUGMC_OK);
        assert_int_equal(gpu->upload(b->host.context, at, positions, bytes_of(b)), PLUGMC_OK);
        view.positions = (const double *)(uintptr_t)at;
        view.on_device = 1;
        view.device_box = device_boxes_of(&b->host);
        request.drift = (double *)(uintptr_t)drift;
    }
    bench_expect(b, plugmc_local_energy_of(p->plugin)->evaluate(p->instance, &b->host, &request));
    if (on_gpu) {
        const size_t bytes = bytes_of(b) / (size_t)b->system.walkers * (size_t)request.walkers;
        assert_int_equal(gpu->download(b->host.context, out->drift, drift, bytes), PLUGMC_OK);
        assert_int_equal(gpu->release(b->host.context, at), PLUGMC_OK);
        assert_int_equal(gpu->release(b->host.context, drift), PLUGMC_OK);
    }
    out->places = malloc(((size_t)out->count + 1) * sizeof *out->places);
    if (out->count) memcpy(out->places, places, (size_t)out->count * sizeof *out->places);
}

/* By walker, electron, and place. */
static int compare_places(const void *a, const void *b)
{
    const plugmc_nonlocal_point *p = a, *q = b;
    if (p->walker != q->walker) return p->walker - q->walker;
    if (p->electron != q->electron) return p->electron - q->electron;
    for (int d = 0; d < 3; d++)
        if (fabs(p->position[d] - q->position[d]) > 1e-7)
            return p->position[d] < q->position[d] ? -1 : 1;
    return 0;
}

static void what_others_ask_for_is_that_of_the_cpu(void **state)
{
    (void)state;
    static const energy_case cases[] = {
        {GAS, 7, 5, 5, "", gas_jastrow, "", 1e-10},
        {OBLIQUE_GAS, 33, 35, 3, "", gas_jastrow, "", 1e-8},
        {SILICON, 32, 32, 3, SILICON_FILE "double", NULL, SILICON_ION "separable", 1e-8},
        {DIAMOND, 4, 4, 8, DIAMOND_FILE "double", diamond_jastrow, DIAMOND_ION "12", 1e-8},
        {OBLIQUE_GAS, 7, 5, 3, "", gas_polynomials, "", 1e-8, "polynomial_jastrow"},
        {DIAMOND, 4, 4, 8, DIAMOND_FILE "double", diamond_polynomials, DIAMOND_ION "12", 1e-8,
         "polynomial_jastrow"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        static asked found[2];
        const energy_case *c = &cases[k];
        for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
            static place p;
            begin(&p, c);
            prepare(&p, on_gpu, c->settings);
            double *x = random_positions(&p.b, 5);
            ask(&p, on_gpu, x, &found[on_gpu]);
            free(x);
            finish(&p);
        }
        const asked *here = &found[0], *there = &found[1];
        double worst = 0;
        for (int w = 0; w + 1 < c->walkers; w++) {
            assert_close(there->energy[w], here->energy[w], c->tolerance, c->tolerance);
            assert_close(there->ln_psi[w], here->ln_psi[w], c->tolerance, c->tolerance);
            for (int d = 0; d < 2; d++)
                assert_close(there->phase[w][d], here->phase[w][d], 0, c->tolerance);
        }
        for (int i = 0; i < 3 * (c->up + c->down) * (c->walkers - 1); i++) {
            worst = fmax(worst, fabs(there->drift[i] - here->drift[i]));
            assert_close(there->drift[i], here->drift[i], c->tolerance, c->tolerance);
        }
        assert_int_equal(there->count, here->count);
        qsort(here->places, (size_t)here->count, sizeof *here->places, compare_places);
        qsort(there->places, (size_t)there->count, sizeof *there->places, compare_places);
        for (int64_t i = 0; i < here->count; i++) {
            assert_int_equal(compare_places(&here->places[i], &there->places[i]), 0);
            assert_close(there->places[i].energy, here->places[i].energy, 1e-7, 1e-8);
        }
        printf("drift within %.0e, %lld places\n", worst, (long long)here->count);
        free(here->places), free(there->places);
    }
}

/* ---- What cannot be ------------------------------------------------------------------------- */

static void a_wave_function_that_is_zero_is_refused(void **state)
{
    (void)state;
    for (int spin = 0; spin < 2; spin++) {
        static place p;
        const energy_case c = {GAS, 7, 5, 3, "", NULL, "", 0};
        double values[3 * QUANTITIES];
        begin(&p, &c);
        prepare(&p, 1, "");
        double *x = random_positions(&p.b, 5), *there = x + 3 * (12 + 7 * spin);
        memcpy(there + 3, there, 3 * sizeof *x);
        assert_int_equal(measure(&p, 1, x, values), PLUGMC_ERROR_STATE);
        free(x);
        finish(&p);
    }
}

/* Orbitals for the CPU alone are said to be so, once, and measured there. */
static void orbitals_without_a_gpu_part_are_measured_on_the_cpu(void **state)
{
    (void)state;
    static place p;
    static test_orbitals t;
    static double values[2][3 * QUANTITIES];
    plugmc_orbitals facet = test_orbitals_facet;
    plugmc_potential potential = test_orbitals_potential;
    plugmc_plugin plugin = test_orbitals_plugin;
    facet.on_device = 0;
    const plugmc_extension offered[] = {{PLUGMC_ORBITALS, &facet}, {NULL, NULL}};
    plugin.extensions = offered;
    plugin.potential = &potential;
    for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
        const double length[3] = {4.1, 4.4, 4.7};
        quantum_begin(&p.b, length, 3, 31);
        bench_species(&p.b, "up", 7, 0, -1);
        bench_species(&p.b, "down", 5, 0, -1);
        fill_waves(&t, &p.b, PLANE_WAVES, 7);
        add_orbitals(&p.b, &t);
        p.b.terms[0].plugin = &plugin;
        prepare(&p, on_gpu, "");
        double *x = random_positions(&p.b, 5);
        bench_expect(&p.b, measure(&p, on_gpu, x, values[on_gpu]));
        if (on_gpu) assert_int_equal(p.messages.warnings, 1);
        free(x);
        finish(&p);
    }
    assert_memory_equal(values[0], values[1], sizeof values[0]);
}

/* ---- Derivatives by variational parameters --------------------------------------------------------------- */

enum { MOST_NUMBERS = 64 };

/* O_k and dE_L/dp_k. */
typedef struct slopes {
    double values[MOST_WALKERS][MOST_NUMBERS], energies[MOST_WALKERS][MOST_NUMBERS];
} slopes;

static const plugmc_term *jastrow_of(const place *p) { return &p->b.terms[1]; }

static void derive_here(place *p, const double *x, slopes *out)
{
    static double drift[MOST_WALKERS * 68 * 3];
    bench *b = &p->b;
    const plugmc_variational *f = plugmc_variational_of(jastrow_of(p)->plugin);
    const void *instance = jastrow_of(p)->instance;
    const plugmc_nonlocal_point *places;
    int64_t count = 0;
    const plugmc_view view = {
        .size = sizeof view, .sweep = 7, .positions = x, .box = boxes_of(&b->system)};
    const plugmc_local_energy_request asked = {.size = sizeof asked,
                                               .walkers = b->system.walkers,
                                               .view = &view,
                                               .drift = drift,
                                               .points = &places,
                                               .point_count = &count};
    bench_expect(b, plugmc_local_energy_of(p->plugin)->evaluate(p->instance, &b->host, &asked));
    const plugmc_variational_request request = {.size = sizeof request,
                                                .walkers = b->system.walkers,
                                                .row = MOST_NUMBERS,
                                                .view = &view,
                                                .derivatives = out->values[0],
                                                .kinetic = out->energies[0],
                                                .drift = drift};
    bench_expect(b, f->derivatives(instance, &b->host, &request));
    for (int64_t i = 0; i < count; i++) {
        double changes[MOST_NUMBERS] = {0};
        const plugmc_variational_points at = {.size = sizeof at,
                                              .walker = places[i].walker,
                                              .particle = places[i].electron,
                                              .points = 1,
                                              .row = MOST_NUMBERS,
                                              .view = &view,
                                              .position = &places[i].position,
                                              .changes = changes};
        bench_expect(b, f->at_points(instance, &b->host, &at));
        for (int64_t k = 0; k < MOST_NUMBERS; k++)
            out->energies[places[i].walker][k] += places[i].energy * changes[k];
    }
}

static void derive_there(place *p, const double *x, slopes *out)
{
    bench *b = &p->b;
    const plugmc_gpu *gpu = b->host.gpu;
    const plugmc_variational *f = plugmc_variational_of(jastrow_of(p)->plugin);
    instance owner = {.data = jastrow_of(p)->instance};
    variational_part part = {.owner = &owner, .facet = f, .count = f->count(owner.data)};
    variational_parameters all = {.parts = 1, .part = &part, .count = part.count};
    plugmc_device_pointer at = 0, drift = 0;
    plugmc_nonlocal_point *places = NULL;
    const double *values, *energies;
    int64_t count = 0;
    bench_expect(b, gpu->allocate(b->host.context, bytes_of(b), &at));
    bench_expect(b, gpu->allocate(b->host.context, bytes_of(b), &drift));
    bench_expect(b, gpu->upload(b->host.context, at, x, bytes_of(b)));
    const plugmc_view view = {.size = sizeof view,
                              .sweep = 7,
                              .on_device = 1,
                              .positions = (const double *)(uintptr_t)at,
                              .box = boxes_of(&b->system),
                              .device_box = device_boxes_of(&b->host)};
    const plugmc_local_energy_request asked = {.size = sizeof asked,
                                               .walkers = b->system.walkers,
                                               .view = &view,
                                               .drift = (double *)(uintptr_t)drift,
                                               .point_count = &count,
                                               .device_points = &places};
    bench_expect(b, plugmc_local_energy_of(p->plugin)->evaluate(p->instance, &b->host, &asked));
    bench_expect(b, variational_device_open(&all, &b->host, p->context.stage->state));
    assert_non_null(all.device);
    bench_expect(b, variational_device_evaluate(all.device, &view, asked.drift, places, count,
                                                &values, &energies));
    for (int32_t w = 0; w < b->system.walkers; w++) {
        const int64_t row =
            w * variational_device_sums(all.device) + variational_device_first(all.device, 0);
        f->combine(owner.data, values + row, out->values[w]);
        f->combine(owner.data, energies + row, out->energies[w]);
    }
    variational_device_close(all.device);
    bench_expect(b, gpu->release(b->host.context, at));
    bench_expect(b, gpu->release(b->host.context, drift));
}

/* Largest difference of a number over the largest number of all. */
static double farthest(const double *a, const double *b)
{
    double worst = 0, scale = 0;
    for (int i = 0; i < MOST_WALKERS * MOST_NUMBERS; i++) {
        scale = fmax(scale, fabs(b[i]));
        if (!(fabs(a[i] - b[i]) <= worst)) worst = fabs(a[i] - b[i]);
    }
    return worst / scale;
}

static void derivatives_by_free_numbers_are_those_of_the_cpu(void **state)
{
    (void)state;
    static const energy_case cases[] = {
        {ATOM, 1, 1, 8, "nuclei=0 0 0 2; zeta=1.6875", atom_jastrow, "", 1e-11},
        {GAS, 7, 5, 5, "", gas_jastrow, "", 1e-10},
        {OBLIQUE_GAS, 33, 35, 2, "", gas_jastrow, "", 1e-8},
        {SILICON, 32, 32, 2, SILICON_FILE "double", silicon_jastrow, SILICON_ION "semilocal", 1e-9},
        {DIAMOND, 4, 4, 8, DIAMOND_FILE "double", diamond_jastrow, DIAMOND_ION "26", 1e-9},
        {ATOM, 1, 1, 8, "nuclei=0 0 0 2; zeta=2", atom_polynomials, "", 1e-10,
         "polynomial_jastrow"},
        {OBLIQUE_GAS, 7, 5, 3, "", gas_polynomials, "", 1e-8, "polynomial_jastrow"},
        {DIAMOND, 4, 4, 8, DIAMOND_FILE "double", diamond_polynomials, DIAMOND_ION "12", 1e-8,
         "polynomial_jastrow"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        static slopes found[3];
        const energy_case *c = &cases[k];
        memset(found, 0, sizeof found);
        for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
            static place p;
            begin(&p, c);
            p.b.system.parameters_change = 1;
            prepare(&p, on_gpu, c->settings);
            double *x = random_positions(&p.b, 5);
            (on_gpu ? derive_there : derive_here)(&p, x, &found[on_gpu]);
            if (on_gpu) derive_there(&p, x, &found[2]);
            free(x);
            finish(&p);
        }
        const double values = farthest(found[1].values[0], found[0].values[0]),
                     energies = farthest(found[1].energies[0], found[0].energies[0]);
        printf("%2d + %2d: %.0e %.0e\n", c->up, c->down, values, energies);
        assert_memory_equal(&found[1], &found[2], sizeof found[1]);
        assert_true(values < c->tolerance && energies < c->tolerance);
    }
}

/* ---- Speed ----------------------------------------------------------------------------------- */

static void time_measurements(const char *what, place *p)
{
    bench *b = &p->b;
    enum { TIMES = 20 };
    double *x = random_positions(b, 5),
           *values = calloc((size_t)b->system.walkers * QUANTITIES, sizeof *values);
    bench_expect(b, measure(p, 1, x, values));
    const double from = seconds();
    for (int k = 0; k < TIMES; k++) bench_expect(b, measure(p, 1, x, values));
    const double each = (seconds() - from) / TIMES;
    printf("%s, %d walkers: %.3f ms a measurement, %.0f samples a second\n", what,
           b->system.walkers, each * 1e3, b->system.walkers / each);
    free(x), free(values);
    finish(p);
}

/* Nothing depends on the figures that are printed. PLUGMC_VMC_SPEED asks for them. */
static void measurements_take_this_long(void **state)
{
    (void)state;
    static const int walkers[] = {64, 1024, 8192};
    static const int sizes[] = {108, 324, 768};
    static place p;
    if (!getenv("PLUGMC_VMC_SPEED")) skip();
    for (int k = 0; k < 3; k++) {
        const energy_case c = {
            DIAMOND, 4, 4, walkers[k], DIAMOND_FILE "float", diamond_jastrow, DIAMOND_ION "12", 0};
        begin(&p, &c);
        prepare(&p, 1, c.settings);
        time_measurements("diamond", &p);
    }
    for (int k = 0; k < 3; k++) {
        const energy_case c = {SILICON,
                               32,
                               32,
                               256,
                               SILICON_FILE "float",
                               k ? silicon_jastrow : NULL,
                               k == 2 ? SILICON_ION "separable" : SILICON_ION "semilocal",
                               0};
        begin(&p, &c);
        prepare(&p, 1, c.settings);
        time_measurements(!k       ? "silicon 2 x 2 x 2"
                          : k == 1 ? "silicon with Jastrow"
                                   : "silicon separable with Jastrow",
                          &p);
    }
    for (int k = 0; k < 3; k++) {
        const double edge = 2.5 * cbrt(2.0 * sizes[k]), length[3] = {edge, edge, edge};
        char what[64];
        quantum_begin(&p.b, length, 64, 1);
        bench_species(&p.b, "up", sizes[k], 0, -1);
        bench_species(&p.b, "down", sizes[k], 0, -1);
        quantum_term(&p.b, "plane_waves", "", 1);
        quantum_term(&p.b, "jastrow",
                     "like=0.28 0.22 0.17 0.12 0.08 0.05 0.03 0.012; "
                     "unlike=0.46 0.36 0.26 0.18 0.12 0.08 0.04 0.017",
                     1);
        prepare(&p, 1, "");
        snprintf(what, sizeof what, "gas of %d electrons", 2 * sizes[k]);
        time_measurements(what, &p);
    }
}

/* Variational parameters in the memory of kernels: what is measured there follows them, in both precisions of the text, as on
 * the CPU, and nothing is compiled again. */
static void numbers_that_are_set_are_those_of_the_device(void **state)
{
    (void)state;
    static const energy_case c = {GAS, 7, 7, 5, "", gas_jastrow, "", 1e-10};
    static double values[2][3][MOST_WALKERS * QUANTITIES];
    for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
        static place p;
        double numbers[2][64];
        begin(&p, &c);
        p.b.system.parameters_change = 1;
        prepare(&p, on_gpu, c.settings);
        plugmc_term *jastrow = &p.b.terms[1];
        const plugmc_variational *f = plugmc_variational_of(jastrow->plugin),
                                 *single = plugmc_variational_of(jastrow->plugin_single);
        const int64_t count = f->count(jastrow->instance);
        assert_in_range(count, 1, 64);
        bench_expect(&p.b, f->get(jastrow->instance, numbers[0]));
        for (int64_t k = 0; k < count; k++) numbers[1][k] = 0.3 / (double)(k % 8 + 1);
        double *x = random_positions(&p.b, 5);
        for (int k = 0; k < 3; k++) { /* as read, others, as read */
            bench_expect(&p.b, f->set(jastrow->instance, numbers[k % 2]));
            bench_expect(&p.b, single->set(jastrow->instance_single, numbers[k % 2]));
            if (on_gpu) bench_expect(&p.b, gpu_write_numbers(&p.context));
            bench_expect(&p.b, measure(&p, on_gpu, x, values[on_gpu][k]));
        }
        free(x);
        finish(&p);
    }
    assert_true(difference(values[1][0], values[1][1], c.walkers, KINETIC) > 1e-3);
    assert_memory_equal(values[1][0], values[1][2],
                        (size_t)c.walkers * QUANTITIES * sizeof(double));
    for (int k = 0; k < 3; k++)
        for (int q = 0; q < QUANTITIES; q++)
            if (q != SQUARED)
                assert_true(difference(values[1][k], values[0][k], c.walkers, q) < c.tolerance);
}

GPU_TEST_MAIN(cmocka_unit_test(numbers_that_are_set_are_those_of_the_device),
              cmocka_unit_test(derivatives_by_free_numbers_are_those_of_the_cpu),
              cmocka_unit_test(what_others_ask_for_is_that_of_the_cpu),
              cmocka_unit_test(components_are_those_of_the_cpu),
              cmocka_unit_test(a_wave_function_that_is_zero_is_refused),
              cmocka_unit_test(orbitals_without_a_gpu_part_are_measured_on_the_cpu),
              cmocka_unit_test(measurements_take_this_long))
