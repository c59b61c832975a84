/* Jumps of pair energies in virial_pressure and pressure: two particles whose partition function is an
 * integral, with wells, shoulders and cut potentials, mixtures, in boxes with and without room for both shells; what is
 * found where nothing jumps; and along which axis the part of a jump goes.
 *
 * Statistical tests: fixed seeds, |z| <= 4, a false alarm in 16 000 for each z printed. */
#include "boxes.h"
#include "testing.h"

#include "movers.h"
#include "forces.h"
#include "system/system.h"

static bench *viewed; /* the system that cells are made of */
static plugmc_cells held;

static int view_cells(const plugmc_view *view, double range, plugmc_cells *out)
{
    host_cells_free(&held);
    int code = host_cells_build(&viewed->system, view->box, view->positions, range, &held);
    *out = held;
    return code;
}

typedef struct meter {
    bench *b;
    const plugmc_observable *calls;
    void *instance;
    int width, jumps; /* numbers of a sample; which of them is the part of jumps, -1: none */
} meter;

static int try_meter(meter *m, bench *b, const char *name, const char *settings)
{
    const plugmc_plugin *plugin = open_plugin(name);
    *m = (meter){.b = b, .calls = plugin->observable, .jumps = -1};
    m->instance = bench_allocate(b->host.context, plugin->instance_size);
    set_parameters(plugin, m->instance, settings);
    viewed = b;
    const int code = plugin->prepare(m->instance, &b->host);
    plugmc_quantity q = {.size = sizeof q};
    for (int i = 0; !code && m->calls->quantity(m->instance, i, &q); i++) {
        if (!strcmp(q.name, "jumps")) m->jumps = m->width;
        m->width += (int)plugmc_quantity_length(&q);
    }
    return code;
}

static void look(const meter *m, const double *positions, double *values)
{
    plugmc_view view = {.size = sizeof view,
                        .positions = positions,
                        .cells = view_cells,
                        .count = numbers_of(&m->b->system),
                        .box = boxes_of(&m->b->system)};
    bench_expect(m->b, m->calls->measure(m->instance, &m->b->host, &view, values));
}

static double pressure_of(const meter *m, const double *means)
{
    double out[16];
    if (!m->calls->derive) return means[0];
    assert_int_equal(m->calls->derive(m->instance, means, out), 0);
    return out[0];
}

static double uniform(uint64_t *state)
{
    const plugmc_random r =
        plugmc_draw((plugmc_seed){5}, (*state)++, 0, 0, PLUGMC_PURPOSE_INITIAL, 0);
    return plugmc_uniform_double(r.word[0], r.word[1]);
}

/* ---- Two particles --------------------------------------------------------------------------- */

typedef struct pair_case {
    const char *name, *observable, *settings;
    int dimension;
    double edge, diameters[2], charges[2];
    const char *potentials[3]; /* NAME SETTINGS */
    double (*energy)(double r);
} pair_case;

static double well(double r) { return r < 1.5 ? -1 : 0; }
static double shoulder(double r) { return r < 1.4 ? 1.3 : 0; }
static double steps(double r) { return (r < 1.3 ? -2 : 0) + (r < 1.35 ? 1.5 : 0); }
static double soft_well(double r) { return r < 1.8 ? 2 * exp(-r) - 1 : 0; }
static double near_contact(double r) { return r < 1.02 ? -1.5 : 0; }
static double lennard_jones(double r) { return 4 * (pow(r, -12) - pow(r, -6)); }
static double cut(double r) { return r < 1.6 ? 1.5 * lennard_jones(r) : 0; }
static double cut_early(double r) { return r < 0.95 ? lennard_jones(r) : 0; }
static double screened(double r) { return r < 1.2 ? -3 * exp(-r) / r : 0; }

static double contact_of(const pair_case *c)
{
    return strncmp(c->potentials[0], "hard_disk", 9) ? 0 : (c->diameters[0] + c->diameters[1]) / 2;
}

/* All within half the box: Z = V (V - B), B the integral of 1 - exp(-u), and P V = 1 + V / (V - B). */
static double exact_pressure(const pair_case *c)
{
    const int steps = 400000, d = c->dimension;
    const double contact = contact_of(c), surface = d == 2 ? 2 * M_PI : 4 * M_PI,
                 volume = pow(c->edge, d), width = (c->edge / 2 - contact) / steps;
    double b = surface * pow(contact, d) / d;
    for (int i = 0; i < steps; i++) {
        const double r = contact + (i + 0.5) * width;
        b += surface * pow(r, d - 1) * (1 - exp(-c->energy(r))) * width;
    }
    return (1 + volume / (volume - b)) / volume;
}

static double highest_of(const pair_case *c)
{
    double highest = 0;
    for (double r = contact_of(c) + 0.002; r < c->edge; r += 0.002)
        highest = fmax(highest, exp(-c->energy(r)));
    return 1.0001 * highest;
}

/* Independent states: the second particle anywhere, kept with probability exp(-u) over its largest. */
static void draw_pair(const pair_case *c, double highest, uint64_t *random, double *positions)
{
    for (;;) {
        double square = 0;
        for (int d = 0; d < c->dimension; d++) {
            positions[d] = c->edge * uniform(random);
            const double s = c->edge * (uniform(random) - 0.5);
            positions[3 + d] = positions[d] + s - c->edge * floor((positions[d] + s) / c->edge);
            square += s * s;
        }
        const double r = sqrt(square);
        if (r > contact_of(c) && uniform(random) * highest < exp(-c->energy(r))) return;
    }
}

static void set_up(bench *b, meter *m, const pair_case *c, int *code)
{
    bench_begin(b, c->dimension, (double[3]){c->edge, c->edge, c->edge}, 1, 1);
    bench_vectors(b, (const double[3][3]){{c->edge, 0, 0},
                                          {0, c->edge, 0},
                                          {0, 0, c->dimension == 3 ? c->edge : 1}});
    bench_species(b, "a", 1, c->diameters[0], c->charges[0]);
    bench_species(b, "b", 1, c->diameters[1], c->charges[1]);
    for (int t = 0; t < 3 && c->potentials[t]; t++) {
        char *name = bench_allocate(b->host.context, strlen(c->potentials[t]) + 1);
        const char *space = strchr(c->potentials[t], ' ');
        memcpy(name, c->potentials[t], (size_t)(space - c->potentials[t]));
        bench_expect(b, bench_configured(b, name, space + 1));
    }
    *code = try_meter(m, b, c->observable, c->settings);
}

static void check_pair(const pair_case *c)
{
    enum { BLOCKS = 40, SAMPLES = 2000 };
    bench b;
    meter m;
    int code;
    uint64_t random = 0;
    double sum[2] = {0}, squares[2] = {0}, positions[6] = {0}, values[512];
    const double highest = highest_of(c);
    set_up(&b, &m, c, &code);
    bench_expect(&b, code);
    assert_true(m.jumps > 0 && m.width <= 512);
    for (int block = 0; block < BLOCKS; block++) {
        double means[512] = {0};
        for (int s = 0; s < SAMPLES; s++) {
            draw_pair(c, highest, &random, positions);
            look(&m, positions, values);
            for (int i = 0; i < m.width; i++) means[i] += values[i] / SAMPLES;
        }
        const double of[2] = {pressure_of(&m, means), means[m.jumps]};
        for (int i = 0; i < 2; i++) sum[i] += of[i] / BLOCKS, squares[i] += of[i] * of[i] / BLOCKS;
    }
    double error[2];
    for (int i = 0; i < 2; i++) error[i] = sqrt((squares[i] - sum[i] * sum[i]) / (BLOCKS - 1));
    assert_z(c->name, sum[0], error[0], exact_pressure(c), 4);
    /* without the jumps it would be seen to be wrong */
    printf("     jumps %.6g +- %.2g\n", sum[1], error[1]);
    assert_true(fabs(sum[1]) > 6 * error[0]);
    bench_end(&b);
    host_cells_free(&held);
}

#define HARD "hard_disk "
#define CUT "lennard_jones epsilon=1.5 cutoff=1.6"

static void two_particles_have_the_exact_pressure(void **state)
{
    (void)state;
    static const pair_case cases[] = {
        {"square well, spheres",
         "pressure",
         "",
         3,
         3.3,
         {1, 1},
         {0, 0},
         {HARD, "expression energy=-1 cutoff=1.5"},
         well},
        {"square well, disks",
         "pressure",
         "",
         2,
         3.3,
         {0.8, 1.2},
         {0, 0},
         {HARD, "expression energy=-1 cutoff=1.5"},
         well},
        {"shoulder, disks",
         "pressure",
         "",
         2,
         3.2,
         {1, 1},
         {0, 0},
         {HARD, "expression energy=1.3 cutoff=1.4"},
         shoulder},
        {"two wells within their shells",
         "pressure",
         "",
         3,
         3,
         {1, 1},
         {0, 0},
         {HARD, "expression energy=-2 cutoff=1.3", "expression energy=1.5 cutoff=1.35"},
         steps},
        {"a well as wide as a few bins",
         "pressure",
         "",
         2,
         2.6,
         {1, 1},
         {0, 0},
         {HARD, "expression energy=-1.5 cutoff=1.02"},
         near_contact},
        {"a well without a core",
         "virial_pressure",
         "",
         3,
         3.9,
         {1, 1},
         {0, 0},
         {"expression energy=2*exp(-r)-1 cutoff=1.8"},
         soft_well},
        {"Lennard-Jones, cut", "virial_pressure", "", 3, 3.5, {1, 1}, {0, 0}, {CUT}, cut},
        {"Lennard-Jones, cut, in a plane",
         "virial_pressure",
         "",
         2,
         3.5,
         {1, 1},
         {0, 0},
         {CUT},
         cut},
        {"cut as far as half the box", "virial_pressure", "", 3, 3.21, {1, 1}, {0, 0}, {CUT}, cut},
        {"cut where it repels",
         "virial_pressure",
         "",
         3,
         2.1,
         {1, 1},
         {0, 0},
         {"lennard_jones epsilon=1 cutoff=0.95"},
         cut_early},
        {"unlike charges",
         "pressure",
         "degree=3",
         3,
         2.6,
         {1, 0.6},
         {1, -2},
         {HARD, "yukawa bjerrum_length=1.5 kappa=1 cutoff=1.2"},
         screened},
        {"a wide shell, a straight line",
         "virial_pressure",
         "fit_range=0.2 degree=1",
         2,
         4,
         {1, 1},
         {0, 0},
         {CUT},
         cut},
        {"a narrow shell",
         "virial_pressure",
         "fit_range=0.02 degree=8",
         2,
         3.5,
         {1, 1},
         {0, 0},
         {CUT},
         cut},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) check_pair(&cases[k]);
}

/* ---- What is found --------------------------------------------------------------------------- */

static void what_is_smooth_has_no_jumps(void **state)
{
    (void)state;
    static const struct {
        const char *potentials[3];
        int jumps;
    } cases[] = {
        {{"lennard_jones epsilon=1 cutoff=1.6 truncation=shift"}, 0},
        {{"lennard_jones epsilon=1 cutoff=1.6 truncation=force_shift"}, 0},
        {{"expression energy=-exp(-r)/r cutoff=1.7 shift=yes"}, 0},
        {{"expression energy=1e6*max(0,1.5-r)^2-3*exp(-200*(r-1.2)^2) cutoff=1.8"}, 0},
        {{"expression energy=-1 cutoff=1.5", "expression energy=1 cutoff=1.5"}, 0},
        {{"expression energy=-1 cutoff=1.5", "expression energy=0.9999 cutoff=1.5"}, 1},
        {{"yukawa bjerrum_length=1 kappa=1 cutoff=1.7"}, 1},
        {{"hard_disk "}, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        pair_case c = {.observable = "pressure", .settings = "", .dimension = 3, .edge = 4};
        bench b;
        meter m;
        int code;
        c.diameters[0] = c.diameters[1] = 1;
        c.charges[0] = c.charges[1] = 1;
        memcpy(c.potentials, cases[k].potentials, sizeof c.potentials);
        set_up(&b, &m, &c, &code);
        bench_expect(&b, code);
        if ((m.jumps > 0) != cases[k].jumps) fail_msg("%s: jumps %d", c.potentials[0], m.jumps);
        bench_end(&b);
    }
}

/* Two particles apart along y, on either side of the edge of a well: nothing pushes along x and z. Threads change no
 * bit. */
static void a_jump_pulls_along_the_pair(void **state)
{
    (void)state;
    pair_case c = {.observable = "virial_pressure", .settings = "", .dimension = 3, .edge = 4};
    double values[2][8];
    c.potentials[0] = "expression energy=-1 cutoff=1.5";
    for (int run = 0; run < 2; run++) {
        bench b;
        meter m;
        int code;
        set_up(&b, &m, &c, &code);
        bench_expect(&b, code);
        b.system.threads = 1 + 2 * run;
        assert_int_equal(m.width, 5);
        look(&m, (const double[6]){1, 0.1, 1, 1, 2.62, 1}, values[run]); /* 1.48, across the edge */
        const double volume = 64, ideal = 2 / volume;
        assert_close(values[run][1], ideal, 1e-14, 0);
        assert_close(values[run][3], ideal, 1e-14, 0);
        assert_true(fabs(values[run][2] - ideal) > 0.01);
        assert_close(values[run][4], (values[run][2] - ideal) / 3, 1e-12, 0);
        bench_end(&b);
    }
    assert_memory_equal(values[0], values[1], 5 * sizeof(double));
    host_cells_free(&held);
}

/* With nobody inside, a box that ends before the outer shell does leaves nothing to count. */
static void a_jump_without_room_is_refused(void **state)
{
    (void)state;
    pair_case c = {.observable = "virial_pressure", .settings = "", .dimension = 3, .edge = 3.1};
    bench b;
    meter m;
    int code;
    c.potentials[0] = "expression energy=1e20 cutoff=1.5";
    set_up(&b, &m, &c, &code);
    assert_int_equal(code, PLUGMC_ERROR_INPUT);
    if (!strstr(b.message, "more than half of the box, which is 3.1 wide"))
        fail_msg("said: %s", b.message);
    bench_end(&b);
}

TEST_MAIN(cmocka_unit_test(two_particles_have_the_exact_pressure),
          cmocka_unit_test(what_is_smooth_has_no_jumps),
          cmocka_unit_test(a_jump_pulls_along_the_pair),
          cmocka_unit_test(a_jump_without_room_is_refused))
