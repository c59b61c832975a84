/* Variational parameters of Jastrow factors (plugmc/wave.h, Parameters): every derivative against differences of ln |Psi|
 * and of the local energy when that number alone is set anew, in a periodic oblique box, for B-splines with a
 * pseudopotential, and for an atom in open space. */
#include "boxes.h"
#include "testing.h"

#include "../../plugins/determinants/expansion.h"
#include "gpu/gpu.h"
#include "quantum.h"

enum { MOST_NUMBERS = 64, MOST_WALKERS = 3, MOST_PARTICLES = 8 };

/* A Jastrow factor beside orbitals, and the observable that gives local energies. */
typedef struct subject {
    bench b;
    test_orbitals t;
    plugmc_term *jastrow;
    const plugmc_variational *free;
    const plugmc_plugin *energies;
    void *instance;
    double *x; /* [walkers][particles][3] */
    int64_t count;
} subject;

static const double oblique[3][3] = {{4.0, 0.3, 0.2}, {1.1, 4.2, -0.4}, {-0.7, 0.9, 4.5}};
static const double diamond[3][3] = {
    {3.37316115, 3.37316115, 0}, {0, 3.37316115, 3.37316115}, {3.37316115, 0, 3.37316115}};
#define LISTS "like=0.28 0.22 0.17 0.12 0.08 0.05; unlike=0.46 0.36 0.26 0.18 0.1 0.05; "

/* u, chi and f, the last of two electrons near an ion. */
#define POLYNOMIALS                                                                                \
    "u_like=0.2 -0.3 0.1; u_unlike=0.3 0.2; chi=-0.4 0.3 -0.2; "                                   \
    "f_like=0.6 1 -2 1.5 -1 0.8 1.2 -0.5; f_unlike=1 -1 2 0.5 -1.5 0.7 0.4 0.9; "

#define WAVES                                                                                      \
    "u_vectors=1 0 0  0 1 0  1 -1 2  0 0 1; u=-0.4 -0.3 0.2 0.25; "                                \
    "chi_vectors=1 0 0  0 1 1  2 0 -1; chi=0.3 -0.2  0.15 0.4  -0.1 0.05"

static void finish_subject(subject *s, const char *factor, const char *jastrow,
                           const char *local_energy)
{
    bench *b = &s->b;
    s->jastrow = quantum_term(b, factor, jastrow, 1);
    if (plugmc_offered(s->jastrow->plugin, PLUGMC_EXPANSION) /* which looks at the orbitals */ ||
        plugmc_orbitals_of(s->jastrow->plugin))
        bench_expect(b, s->jastrow->plugin->prepare(s->jastrow->instance, &b->host));
    s->free = plugmc_variational_of(s->jastrow->plugin);
    assert_non_null(s->free);
    s->energies = open_plugin("local_energy");
    s->instance = bench_allocate(b->host.context, s->energies->instance_size);
    quantum_parameters(b, s->energies, s->instance, local_energy);
    bench_expect(b, s->energies->prepare(s->instance, &b->host));
    s->count = s->free->count(s->jastrow->instance);
    s->x = random_positions(b, 6);
}

static void electrons(subject *s, int up, int down)
{
    bench_species(&s->b, "up", up, 0, -1);
    bench_species(&s->b, "down", down, 0, -1);
}

enum { SPLINES, OF_POLYNOMIALS, OF_WAVES, OF_FRACTIONS };
static const char *const factors[] = {"jastrow", "polynomial_jastrow", "plane_wave_jastrow",
                                      "pade_jastrow"};

static void begin_gas(subject *s, int kind)
{
    quantum_begin(&s->b, (double[]){4, 4, 4}, 2, 1);
    box_of_vectors(&s->b, oblique, 1);
    electrons(s, 5, 3);
    fill_waves(&s->t, &s->b, PLANE_WAVES, 5);
    add_orbitals(&s->b, &s->t);
    finish_subject(s, factors[kind],
                   kind == SPLINES    ? LISTS "chi=-0.2 -0.16 -0.14 -0.12 -0.1 -0.05; "
                                              "ions=0.3 0.4 0.5 2.5 2.6 2.7"
                   : kind == OF_WAVES ? WAVES
                                      : POLYNOMIALS "ions=0.3 0.4 0.5 2.5 2.6 2.7 1.4 3 1.1",
                   "");
}

static void begin_diamond(subject *s, int kind)
{
    quantum_begin(&s->b, (double[]){4, 4, 4}, 2, 2);
    box_of_vectors(&s->b, diamond, 1);
    electrons(s, 4, 4);
    plugmc_term *orbitals =
        quantum_term(&s->b, "bspline_orbitals", "file=" TEST_DATA "/qmc/diamondC.pwscf.h5", 1);
    bench_expect(&s->b, orbitals->plugin->prepare(orbitals->instance, &s->b.host));
    finish_subject(s, factors[kind],
                   kind == SPLINES    ? LISTS "chi=-0.2 -0.16 -0.14 -0.12; "
                                              "ions=0 0 0 1.686580575 1.686580575 1.686580575"
                   : kind == OF_WAVES ? WAVES
                                      : POLYNOMIALS
                       "ions=0 0 0 1.686580575 1.686580575 1.686580575",
                   "pseudopotentials=" TEST_DATA "/qmc/C.BFD.xml");
}

static void begin_atom(subject *s, int kind)
{
    s->t = (test_orbitals){.kind = EXPONENTIALS,
                           .count = 2,
                           .k = {{1.1}, {0.6}},
                           .centre = {{0.1, 0, 0}, {0.4, 0.3, 0}},
                           .ion_count = 1,
                           .atomic_number = {14},
                           .valence = {4}};
    quantum_sphere(&s->b, 20, MOST_WALKERS, 31);
    electrons(s, 2, 1);
    add_orbitals(&s->b, &s->t);
    finish_subject(s, factors[kind],
                   kind == OF_FRACTIONS ? "like=0.6; unlike=1.1; chi=0.8; chi_cusp=0.4"
                   : kind == SPLINES    ? LISTS "u_cutoff=3; chi=-0.3 -0.2 -0.1; chi_cutoff=2.5; "
                                                "chi_cusp=0.4; ions=0 0 0"
                                        : POLYNOMIALS "u_cutoff=3; chi_cutoff=2.5; f_cutoff=2; "
                                                      "chi_cusp=0.4; ions=0 0 0",
                   "pseudopotentials=" TEST_DATA "/qmc/Si.pz-vbc.UPF");
}

/* Ions of two elements, told by the orbitals, with electrons around all of them. */
static void begin_two_elements(subject *s, int kind)
{
    static const double ions[4][3] = {
        {0.3, 0.4, 0.5}, {2.5, 2.6, 2.7}, {1.4, 3, 1.1}, {3.1, 1.2, 3.3}};
    const int32_t elements[4] = {3, 1, 3, 1};
    quantum_begin(&s->b, (double[]){4, 4, 4}, 2, 1);
    box_of_vectors(&s->b, oblique, 1);
    electrons(s, 5, 3);
    fill_waves(&s->t, &s->b, PLANE_WAVES, 5);
    s->t.ion_count = 4;
    memcpy(s->t.ion, ions, sizeof ions);
    for (int i = 0; i < 4; i++) s->t.valence[i] = s->t.atomic_number[i] = elements[i];
    add_orbitals(&s->b, &s->t);
    finish_subject(s, factors[kind],
                   kind == SPLINES
                       ? LISTS "elements=H Li; chi=-0.2 -0.16 -0.14 -0.12 -0.1 -0.05 "
                               "-0.4 -0.3 -0.25 -0.2 -0.1 -0.07"
                       : "u_like=0.2 -0.3 0.1; u_unlike=0.3 0.2; elements=H Li; "
                         "chi=-0.4 0.3 -0.2 -0.7 0.6 0.1; f_like=0.6 1 -2 1.5 -1 0.8 1.2 "
                         "-0.5 -0.7 0.9 1.1 -1.3 0.4 1.9 -0.2 0.3; f_unlike=1 -1 2 0.5 "
                         "-1.5 0.7 0.4 0.9 -0.6 1.2 0.8 -1.8 1.7 -0.3 0.2 1.4",
                   "");
    for (int i = 0; i < 2 * 8; i++)
        for (int d = 0; d < 3; d++)
            s->x[3 * i + d] =
                ions[i % 4][d] + 0.9 * (random_number(8, (uint32_t)(3 * i + d)) - 0.5);
    for (int i = 0; i < 2 * 8; i++) plugmc_wrap(&s->b.system.box, s->x + 3 * i);
}

/* ---- Coefficients of determinants ------------------------------------------------------------ */

/* An expansion beside orbitals and a Jastrow factor, which has no part in the derivatives. */
static void add_sum(subject *s, const char *terms, const char *jastrow)
{
    quantum_term(&s->b, "jastrow", jastrow, 1);
    finish_subject(s, "multideterminant", terms, "");
}

/* 5 and 3 electrons in 9 complex or real waves. */
static void begin_sum_of_waves(subject *s, int kind)
{
    quantum_begin(&s->b, (double[]){4, 4, 4}, 2, 1);
    box_of_vectors(&s->b, oblique, 1);
    electrons(s, 5, 3);
    fill_waves(&s->t, &s->b, kind, 9);
    add_orbitals(&s->b, &s->t);
    add_sum(s,
            "excitations=5>6/3>4 4>7/- -/3>5,2>9 5>8,4>9/1>4 3>6,4>8,5>9/- 5>6/3>5; "
            "coefficients=-0.4 0.3 0.7 0.2 -0.5 0.35",
            LISTS);
}

/* With places of quadratures: 4 and 4 electrons of diamond in complex orbitals, some of which are empty. */
static void begin_sum_in_diamond(subject *s)
{
    quantum_begin(&s->b, (double[]){4, 4, 4}, 2, 2);
    box_of_vectors(&s->b, diamond, 1);
    electrons(s, 4, 4);
    plugmc_term *orbitals = quantum_term(&s->b, "bspline_orbitals",
                                         "file=" TEST_DATA "/qmc/diamondC.pwscf.h5; virtual=4", 1);
    bench_expect(&s->b, orbitals->plugin->prepare(orbitals->instance, &s->b.host));
    quantum_term(&s->b, "jastrow", LISTS, 1);
    finish_subject(s, "multideterminant",
                   "excitations=4>5/4>5 3>6/3>6 4>7/- 2>5,4>6/3>8; coefficients=-0.3 0.2 0.1 -0.15",
                   "pseudopotentials=" TEST_DATA "/qmc/C.BFD.xml");
}

/* 2 and 1 electrons around an ion. */
static void begin_sum_in_an_atom(subject *s)
{
    s->t = (test_orbitals){.kind = EXPONENTIALS,
                           .count = 4,
                           .k = {{1.1}, {0.6}, {0.8}, {1.5}},
                           .centre = {{0.1, 0, 0}, {0.4, 0.3, 0}, {0, 0.5, 0.2}, {-0.3, 0.2, 0.3}},
                           .ion_count = 1,
                           .atomic_number = {14},
                           .valence = {4}};
    quantum_sphere(&s->b, 20, MOST_WALKERS, 31);
    electrons(s, 2, 1);
    add_orbitals(&s->b, &s->t);
    finish_subject(s, "multideterminant",
                   "excitations=2>3/1>2 1>3,2>4/- -/1>4; coefficients=-0.3 0.5 0.4",
                   "pseudopotentials=" TEST_DATA "/qmc/Si.pz-vbc.UPF");
}

static void end_subject(subject *s)
{
    free(s->x);
    s->energies->release(s->instance);
    bench_end(&s->b);
}

/* What is found with the present numbers; drift and places only if wanted. */
static void find(subject *s, double *energy, double *ln_psi, double *drift,
                 const plugmc_nonlocal_point **places, int64_t *count)
{
    const plugmc_view view = {
        .size = sizeof view, .sweep = 3, .positions = s->x, .box = boxes_of(&s->b.system)};
    const plugmc_local_energy_request request = {.size = sizeof request,
                                                 .walkers = s->b.system.walkers,
                                                 .view = &view,
                                                 .energy = energy,
                                                 .ln_psi = ln_psi,
                                                 .drift = drift,
                                                 .points = places,
                                                 .point_count = count};
    bench_expect(&s->b,
                 plugmc_local_energy_of(s->energies)->evaluate(s->instance, &s->b.host, &request));
}

/* [walkers][row], added to what is there: numbers begin at `at` in a row. */
static void derive(subject *s, int64_t row, double *derivatives, double *energies)
{
    const plugmc_view view = {
        .size = sizeof view, .sweep = 3, .positions = s->x, .box = boxes_of(&s->b.system)};
    double energy[MOST_WALKERS], drift[MOST_WALKERS * MOST_PARTICLES * 3];
    const plugmc_nonlocal_point *places;
    int64_t count = 0;
    find(s, energy, NULL, drift, &places, &count);
    const plugmc_variational_request request = {.size = sizeof request,
                                                .walkers = s->b.system.walkers,
                                                .row = row,
                                                .view = &view,
                                                .derivatives = derivatives,
                                                .kinetic = energies,
                                                .drift = drift};
    bench_expect(&s->b, s->free->derivatives(s->jastrow->instance, &s->b.host, &request));
    for (int64_t i = 0; i < count; i++) {
        double changes[MOST_NUMBERS] = {0};
        const plugmc_variational_points at = {.size = sizeof at,
                                              .walker = places[i].walker,
                                              .particle = places[i].electron,
                                              .points = 1,
                                              .row = s->count,
                                              .view = &view,
                                              .position = &places[i].position,
                                              .changes = changes};
        bench_expect(&s->b, s->free->at_points(s->jastrow->instance, &s->b.host, &at));
        for (int64_t k = 0; k < s->count; k++)
            energies[places[i].walker * row + k] += places[i].energy * changes[k];
    }
}

/* ln |Psi| and energies depend on the numbers smoothly: the error of a central difference is of the order of h^2. */
static void every_derivative_is_a_slope(subject *s, int nonlocal)
{
    enum { ROW = MOST_NUMBERS + 3 };
    /* ln |Psi| is a logarithm of the coefficients of determinants, and others' energies are no more than quadratic */
    const double h = plugmc_offered(s->jastrow->plugin, PLUGMC_EXPANSION) ||
                             plugmc_orbitals_of(s->jastrow->plugin)
                         ? 1e-5
                         : 1e-4;
    double values[MOST_NUMBERS], again[MOST_NUMBERS], derivatives[MOST_WALKERS * ROW],
        energies[MOST_WALKERS * ROW], energy[2][MOST_WALKERS], ln_psi[2][MOST_WALKERS];
    int64_t moved = 0;
    for (int i = 0; i < MOST_WALKERS * ROW; i++) derivatives[i] = energies[i] = 7;
    assert_true(s->count <= MOST_NUMBERS);
    bench_expect(&s->b, s->free->get(s->jastrow->instance, values));
    derive(s, ROW, derivatives, energies);
    for (int64_t k = 0; k < s->count; k++) {
        for (int side = 0; side < 2; side++) {
            memcpy(again, values, sizeof again);
            again[k] += side ? h : -h;
            bench_expect(&s->b, s->free->set(s->jastrow->instance, again));
            find(s, energy[side], ln_psi[side], NULL, NULL, NULL);
        }
        bench_expect(&s->b, s->free->set(s->jastrow->instance, values));
        for (int w = 0; w < s->b.system.walkers; w++) {
            const double slope = (ln_psi[1][w] - ln_psi[0][w]) / (2 * h),
                         steep = (energy[1][w] - energy[0][w]) / (2 * h);
            assert_close(derivatives[w * ROW + k] - 7, slope, 1e-8, 1e-8);
            assert_close(energies[w * ROW + k] - 7, steep, 1e-6, 1e-6);
            moved += fabs(slope) > 1e-3 && fabs(steep) > 1e-3;
        }
    }
    assert_true(2 * moved >= s->count); /* of the numbers many matter where these electrons are */
    for (int w = 0; w < s->b.system.walkers; w++) /* what is not its own stays */
        for (int64_t k = s->count; k < ROW; k++) assert_true(derivatives[w * ROW + k] == 7);
    const plugmc_nonlocal_point *places;
    int64_t count = 0;
    double drift[MOST_WALKERS * MOST_PARTICLES * 3];
    find(s, energy[0], NULL, drift, &places, &count);
    assert_true((count > 0) == nonlocal);
}

static void slopes_in_a_gas(void **state)
{
    (void)state;
    for (int kind = SPLINES; kind <= OF_WAVES; kind++) {
        subject s = {0};
        begin_gas(&s, kind);
        every_derivative_is_a_slope(&s, 0);
        end_subject(&s);
    }
}

static void slopes_beside_two_elements(void **state)
{
    (void)state;
    for (int kind = SPLINES; kind <= OF_POLYNOMIALS; kind++) {
        subject s = {0};
        begin_two_elements(&s, kind);
        every_derivative_is_a_slope(&s, 0);
        end_subject(&s);
    }
}

static void slopes_in_diamond(void **state)
{
    (void)state;
    for (int kind = SPLINES; kind <= OF_WAVES; kind++) {
        subject s = {0};
        begin_diamond(&s, kind);
        every_derivative_is_a_slope(&s, 1);
        end_subject(&s);
    }
}

static void slopes_in_an_atom(void **state)
{
    (void)state;
    for (int kind = SPLINES; kind <= OF_FRACTIONS; kind++) {
        if (kind == OF_WAVES) continue; /* which need a periodic cell */
        subject s = {0};
        begin_atom(&s, kind);
        every_derivative_is_a_slope(&s, 1);
        end_subject(&s);
    }
}

static void slopes_of_sums_of_determinants(void **state)
{
    (void)state;
    for (int kind = PLANE_WAVES; kind <= STANDING_WAVES; kind++) {
        subject s = {0};
        begin_sum_of_waves(&s, kind);
        assert_int_equal(s.count, 6);
        every_derivative_is_a_slope(&s, 0);
        end_subject(&s);
    }
    subject atom = {0}, solid = {0};
    begin_sum_in_an_atom(&atom);
    every_derivative_is_a_slope(&atom, 1);
    end_subject(&atom);
    begin_sum_in_diamond(&solid);
    every_derivative_is_a_slope(&solid, 1);
    end_subject(&solid);
}

/* ---- Exponents and coefficients of Slater functions -------------------------------------------------- */

/* 2 and 1 electrons around two nuclei, in functions s, p and d, sums of which there are or not. */
static void begin_slater(subject *s, int sums)
{
    quantum_sphere(&s->b, 20, MOST_WALKERS, 31);
    electrons(s, 2, 1);
    quantum_term(&s->b, "pade_jastrow", "like=0.6; unlike=1.1", 1);
    finish_subject(
        s, "slater_orbitals",
        sums ? "nuclei=0 0 0 3 1.5 0.4 -0.2 2; zeta=2.6 0.9 1.3 1.1; n=1 2 2 3; l=0 0 1 2; "
               "on=1 1 2 2; coefficients=0.9 0.1 0.2 -0.1 0.3 0.1 0 -0.2 0.1 0.05 "
               "0.2 0.8 -0.3 0.4 0 0.2 -0.1 0.1 0.3 0.2; optimise=all"
             : "nuclei=0 0 0 3 1.5 0.4 -0.2 2; zeta=2.6 0.9; n=1 2; on=1 2; optimise=zeta",
        "");
    assert_int_equal(s->count, sums ? 24 : 2);
}

/* What at_points says of an electron that moves is the difference of derivatives before and after. */
static void points_are_differences(subject *s)
{
    enum { MOST = MOST_WALKERS * MOST_NUMBERS };
    const int64_t particles = s->b.system.particles, row = s->count;
    for (int64_t i = 0; i < particles; i++) {
        double before[MOST] = {0}, after[MOST] = {0}, changes[2 * MOST_NUMBERS] = {0};
        double to[2][3];
        const plugmc_view view = {
            .size = sizeof view, .positions = s->x, .box = boxes_of(&s->b.system)};
        const plugmc_variational_request request = {.size = sizeof request,
                                                    .walkers = 1,
                                                    .first = 1,
                                                    .row = row,
                                                    .view = &view,
                                                    .derivatives = before};
        plugmc_variational_request again = request;
        double *own = s->x + 3 * (particles + i), kept[3] = {own[0], own[1], own[2]};
        for (int d = 0; d < 3; d++) {
            to[0][d] = 0.3 * own[d] + 0.2 * d;
            to[1][d] = own[d] - 0.4;
        }
        const plugmc_variational_points at = {.size = sizeof at,
                                              .walker = 1,
                                              .particle = i,
                                              .points = 2,
                                              .row = row,
                                              .view = &view,
                                              .position = to,
                                              .changes = changes};
        bench_expect(&s->b, s->free->derivatives(s->jastrow->instance, &s->b.host, &request));
        bench_expect(&s->b, s->free->at_points(s->jastrow->instance, &s->b.host, &at));
        memcpy(own, to[1], sizeof kept);
        again.derivatives = after;
        bench_expect(&s->b, s->free->derivatives(s->jastrow->instance, &s->b.host, &again));
        memcpy(own, kept, sizeof kept);
        for (int64_t k = 0; k < row; k++)
            assert_close(changes[row + k], after[k] - before[k], 1e-9, 1e-9);
    }
}

static void slopes_of_slater_functions(void **state)
{
    (void)state;
    for (int sums = 0; sums < 2; sums++) {
        subject s = {0};
        begin_slater(&s, sums);
        every_derivative_is_a_slope(&s, 0);
        points_are_differences(&s);
        end_subject(&s);
    }
}

/* Numbers that are set give the wave function that is read with them, in both precisions, and names are keys. */
static void numbers_that_are_set_are_those_that_are_read(void **state)
{
    (void)state;
    subject set = {0}, read = {0};
    double values[MOST_NUMBERS], energy[2][MOST_WALKERS], ln_psi[2][MOST_WALKERS];
    begin_gas(&read, SPLINES);
    begin_gas(&set, SPLINES);
    bench_expect(&read.b, read.free->get(read.jastrow->instance, values));
    assert_close(values[0], 0.28, 0, 0);
    assert_close(values[6], 0.46, 0, 0);
    assert_close(values[17], -0.05, 0, 0);
    double other[MOST_NUMBERS];
    for (int k = 0; k < 18; k++) other[k] = 0.1 * k;
    bench_expect(&set.b, set.free->set(set.jastrow->instance, other));
    find(&set, energy[0], ln_psi[0], NULL, NULL, NULL);
    find(&read, energy[1], ln_psi[1], NULL, NULL, NULL);
    assert_true(fabs(energy[0][0] - energy[1][0]) > 1e-3);
    bench_expect(&set.b, set.free->set(set.jastrow->instance, values));
    find(&set, energy[0], ln_psi[0], NULL, NULL, NULL);
    assert_memory_equal(energy[0], energy[1], 2 * sizeof(double));
    assert_memory_equal(ln_psi[0], ln_psi[1], 2 * sizeof(double));
    static const char *const keys[] = {"like", "unlike", "chi"};
    for (int64_t k = 0; k < set.count; k++) {
        plugmc_variational_parameter n = {.size = sizeof n};
        bench_expect(&set.b, set.free->number(set.jastrow->instance, k, &n));
        assert_string_equal(n.key, keys[k / 6]);
        assert_int_equal(n.place, k % 6);
    }
    const plugmc_variational *single = plugmc_variational_of(set.jastrow->plugin_single);
    bench_expect(&set.b, single->set(set.jastrow->instance_single, other));
    bench_expect(&set.b, single->get(set.jastrow->instance_single, values));
    for (int k = 0; k < 18; k++) assert_true((float)values[k] == (float)other[k]);
    end_subject(&read);
    end_subject(&set);
}

/* Constants of the text without plugmc_system.numbers_change; with it memory, whatever the numbers are, so that the
 * text is the same. */
static void device_text_has_numbers_or_memory_for_them(void **state)
{
    (void)state;
    static const plugmc_gpu_source kernel = {
        .size = sizeof kernel, .name = "test.cu", .source = "", .fuse = PLUGMC_FUSE_SAMPLED};
    static subject s;
    double values[MOST_NUMBERS];
    char *text[4];
    begin_gas(&s, SPLINES);
    for (int k = 0; k < 4; k++) {
        s.b.system.parameters_change = k / 2;
        plugmc_term *t = s.jastrow;
        bench_expect(&s.b, s.free->get(t->instance, values));
        for (int64_t i = 0; i < s.count; i++) values[i] += 0.01;
        bench_expect(&s.b,
                     plugmc_variational_of(t->plugin_single)->set(t->instance_single, values));
        bench_expect(&s.b, s.free->set(t->instance, values));
        text[k] = fuse(&s.b.system, &kernel);
        assert_non_null(text[k]);
    }
    assert_non_null(strstr(text[0], "static __device__ const real plugmc_list_u_table[64] = {"));
    assert_string_not_equal(text[0], text[1]);
    assert_string_equal(text[2], text[3]);
    assert_null(strstr(text[2], "plugmc_list_u_table"));
    assert_null(strstr(text[2], "plugmc_list_chi_table"));
    assert_non_null(strstr(text[2], "plugmc_list_centres[")); /* no variational parameter */
    assert_non_null(strstr(text[2], "__device__ real plugmc_p1_u_table[64];"));
    assert_non_null(strstr(text[2], "p.u_table.values = plugmc_p1_u_table;"));
    for (int k = 0; k < 4; k++) free(text[k]);
    end_subject(&s);
}

/* The same for polynomials: lists one behind the other, a single 0 as many zeros. */
static void numbers_of_polynomials_are_set(void **state)
{
    (void)state;
    subject set = {0}, read = {0};
    double values[MOST_NUMBERS], zeros[MOST_NUMBERS] = {0}, energy[3][MOST_WALKERS];
    static const int counts[] = {3, 2, 3, 8, 8};
    static const char *const keys[] = {"u_like", "u_unlike", "chi", "f_like", "f_unlike"};
    begin_gas(&read, OF_POLYNOMIALS);
    begin_gas(&set, OF_POLYNOMIALS);
    bench_expect(&read.b, read.free->get(read.jastrow->instance, values));
    find(&read, energy[0], NULL, NULL, NULL, NULL);
    bench_expect(&set.b, set.free->set(set.jastrow->instance, zeros));
    find(&set, energy[1], NULL, NULL, NULL, NULL);
    assert_true(fabs(energy[0][0] - energy[1][0]) > 1e-3);
    bench_expect(&set.b, set.free->set(set.jastrow->instance, values));
    find(&set, energy[2], NULL, NULL, NULL, NULL);
    assert_memory_equal(energy[0], energy[2], 2 * sizeof(double));
    int64_t k = 0;
    for (int list = 0; list < 5; list++)
        for (int i = 0; i < counts[list]; i++, k++) {
            plugmc_variational_parameter n = {.size = sizeof n};
            bench_expect(&set.b, set.free->number(set.jastrow->instance, k, &n));
            assert_string_equal(n.key, keys[list]);
            assert_int_equal(n.place, i);
        }
    assert_int_equal(k, set.count);
    end_subject(&read);
    end_subject(&set);
}

TEST_MAIN(cmocka_unit_test(device_text_has_numbers_or_memory_for_them),
          cmocka_unit_test(slopes_in_a_gas), cmocka_unit_test(slopes_beside_two_elements),
          cmocka_unit_test(slopes_in_diamond), cmocka_unit_test(slopes_in_an_atom),
          cmocka_unit_test(slopes_of_sums_of_determinants),
          cmocka_unit_test(slopes_of_slater_functions),
          cmocka_unit_test(numbers_that_are_set_are_those_that_are_read),
          cmocka_unit_test(numbers_of_polynomials_are_set))
