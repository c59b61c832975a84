/* Hybrid Monte Carlo on a GPU against the CPU: the same momenta, so the same trajectories as long
 * as rounding does not part them; reversal bit for bit, fields, charges on a mesh; how fast it is.
 * And structure_factor, whose waves are summed on the GPU. Skipped without a GPU. */
#include "boxes.h"
#include "testing.h"

#include "place.h"
#include "liquids.h"

static double energy_of(place *p)
{
    double energy[16];
    bench_expect(&p->b,
                 p->mover.calls->driver->running_energy(p->mover.instance, &p->b.host, energy));
    return energy[0];
}

/* Largest distance between two sets of positions, through the faces of the box. */
static double apart(const bench *b, const double *p, const double *q)
{
    const plugmc_box *box = &b->system.box;
    double worst = 0;
    for (size_t i = 0; i < count_of(b); i += 3) {
        double f[3];
        for (int d = 0; d < 3; d++) {
            f[d] = 0;
            for (int e = 0; e < 3; e++) f[d] += (p[i + e] - q[i + e]) * box->inverse[e][d];
            worst = fmax(worst, fabs(f[d] - rint(f[d])) * box->length[d]);
        }
    }
    return worst;
}

/* ---- Liquids --------------------------------------------------------------------------------- */

static const shape shapes[] = {
    {"cube, 2 cells an edge", 3, 4, 2, {{4.4, 0, 0}, {0, 4.4, 0}, {0, 0, 4.4}}},
    {"brick, 3 and 4 cells", 3, 5, 1, {{6.1, 0, 0}, {0, 6.5, 0}, {0, 0, 8.2}}},
    {"oblique", 3, 5, 1, {{6.1, 0, 0}, {1.5, 6.3, 0}, {-1.2, 0.8, 6.6}}},
    {"square, 3 walkers", 2, 8, 3, {{9, 0, 0}, {0, 9, 0}, {0, 0, 1}}},
    {"brick, cells half as wide", 3, 16, 1, {{19, 0, 0}, {0, 20, 0}, {0, 0, 17}}},
};

static void begin_liquid(place *p, const shape *s)
{
    bench *b = &p->b;
    bench_liquid(b, s);
    bench_expect(b,
                 bench_configured(b, "lennard_jones",
                                  "epsilon=0.9,0.7 sigma=1,0.95 cutoff=2 truncation=force_shift"));
}

static void trajectories_are_those_of_the_cpu(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++)
        for (int precise = 0; precise < 2; precise++) {
            static place cpu, gpu;
            char settings[128];
            snprintf(settings, sizeof settings, "steps=10 time_step=0.005 precision=%s",
                     precise ? "double" : "single");
            begin_liquid(&cpu, &shapes[k]);
            begin_liquid(&gpu, &shapes[k]);
            double *at_first = bench_positions(&cpu.b), *r = bench_positions(&cpu.b),
                   *q = bench_positions(&cpu.b);
            bench_lattice(&cpu.b, shapes[k].side, 0.02, at_first);
            start(&cpu, "hmc", settings, 0, at_first);
            start(&gpu, "hmc", settings, 1, at_first);
            assert_close(energy_of(&gpu), energy_of(&cpu), 1e-10, 0);
            mover_sweep(&cpu.b, &cpu.mover, 0, 2);
            mover_sweep(&gpu.b, &gpu.mover, 0, 2);
            fetch(&cpu, r);
            fetch(&gpu, q);
            printf("%s, %s: positions apart by %.2g, energies by %.2g; %d of %d accepted\n",
                   shapes[k].name, precise ? "double" : "single", apart(&cpu.b, r, q),
                   energy_of(&gpu) - energy_of(&cpu), (int)counts_of(&gpu).accepted,
                   (int)counts_of(&gpu).trials);
            assert_true(apart(&cpu.b, r, at_first) > 1e-3);
            assert_true(apart(&cpu.b, r, q) < (precise ? 1e-10 : 2e-6));
            assert_int_equal(counts_of(&gpu).accepted, counts_of(&cpu).accepted);
            free(at_first), free(r), free(q);
            finish(&cpu), finish(&gpu);
        }
}

/* The mover checks it itself; a run with other calls, without the check, is the same run. */
static void trajectories_lead_back(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        static place one, other;
        begin_liquid(&one, &shapes[k]);
        begin_liquid(&other, &shapes[k]);
        double *r = bench_positions(&one.b), *q = bench_positions(&one.b);
        bench_lattice(&one.b, shapes[k].side, 0.02, r);
        start(&one, "hmc", "steps=12 time_step=0.008 check_reversal=yes", 1, r);
        start(&other, "hmc", "steps=12 time_step=0.008", 1, r);
        gpu_bind(device, &one.b.system, &device_messages);
        mover_sweep(&one.b, &one.mover, 0, 40);
        mover_sweep(&other.b, &other.mover, 0, 1);
        mover_sweep(&other.b, &other.mover, 1, 39);
        fetch(&one, r);
        fetch(&other, q);
        assert_memory_equal(r, q, count_of(&one.b) * sizeof(double));
        assert_int_equal(counts_of(&one).trials, 40 * shapes[k].walkers);
        assert_true(counts_of(&one).accepted > 0);
        free(r), free(q);
        finish(&one), finish(&other);
    }
}

static void a_resumed_run_goes_on(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        static place one, later;
        test_archive archive;
        begin_liquid(&one, &shapes[k]);
        begin_liquid(&later, &shapes[k]);
        double *r = bench_positions(&one.b), *middle = bench_positions(&one.b);
        bench_lattice(&one.b, shapes[k].side, 0.02, r);
        start(&one, "hmc", "length=0.08 time_step=0.01", 1, r);
        mover_sweep(&one.b, &one.mover, 0, 5);
        mover_set_step(&one.b, &one.mover, 0.007);
        mover_sweep(&one.b, &one.mover, 5, 5);
        fetch(&one, middle);
        mover_save(&one.b, &one.mover, &archive);
        mover_sweep(&one.b, &one.mover, 10, 10);
        fetch(&one, r);
        start(&later, "hmc", "length=0.08 time_step=0.01", 1, middle);
        mover_restore(&later.b, &later.mover, &archive);
        mover_sweep(&later.b, &later.mover, 10, 10);
        fetch(&later, middle);
        assert_memory_equal(r, middle, count_of(&one.b) * sizeof(double));
        archive_end(&archive);
        free(r), free(middle);
        finish(&one), finish(&later);
    }
}

/* ---- A field, written here for both ---------------------------------------------------------- */

typedef struct well {
    double stiffness, centre;
} well;
typedef struct well_single {
    float stiffness, centre;
} well_single;

static const char well_text[] =
    "typedef struct parameters { real stiffness, centre; } parameters;\n"
    "PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int "
    "*outside)\n"
    "{\n    real x = r.x - p->centre, y = r.y - p->centre, z = r.z - p->centre;\n"
    "    if (r.x > (real)19) *outside = 1;\n"
    "    return p->stiffness * (real)0.5 * (x * x + y * y + z * z);\n}\n"
    "PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,\n"
    "                                real gradient[3], real *laplacian)\n"
    "{\n    gradient[0] = p->stiffness * (r.x - p->centre);\n"
    "    gradient[1] = p->stiffness * (r.y - p->centre);\n"
    "    gradient[2] = p->stiffness * (r.z - p->centre);\n    *laplacian = 3 * p->stiffness;\n}\n"
    "#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)\n"
    "#include <plugmc/field.h>\n";

static int64_t well_energy(const void *instance, const plugmc_particles *p, double *energy)
{
    (void)instance, (void)p, (void)energy;
    return 0; /* hmc asks for derivatives */
}

static int well_derivatives(const void *instance, const plugmc_particle *p, plugmc_derivatives *out)
{
    const well *w = instance;
    const double r[3] = {p->x - w->centre, p->y - w->centre, p->z - w->centre};
    for (int d = 0; d < 3; d++) {
        out->energy += w->stiffness / 2 * r[d] * r[d];
        out->gradient[d] += w->stiffness * r[d];
    }
    return p->x > 19;
}

static const plugmc_parameter well_table[] = {
    PLUGMC_REAL_KEY(well, stiffness, NULL, 0, 1e9, "", ""),
    PLUGMC_REAL_KEY(well, centre, NULL, 0, 1e9, "", "")};
static const plugmc_parameter well_table_single[] = {
    PLUGMC_REAL_KEY(well_single, stiffness, NULL, 0, 1e9, "", ""),
    PLUGMC_REAL_KEY(well_single, centre, NULL, 0, 1e9, "", "")};
static const plugmc_field well_field = {sizeof well_field,
                                        PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE, well_energy,
                                        well_derivatives};
static const plugmc_potential well_potential = {sizeof well_potential, NULL, &well_field, NULL};
#define WELL(size, list)                                                                           \
    {                                                                                              \
        .real_size = size, .kind = PLUGMC_POTENTIAL, .name = "well", .potential = &well_potential, \
        .parameters = list, .parameter_count = 2, .parameter_size = sizeof(plugmc_parameter),      \
        .source = well_text, .source_end = well_text + sizeof well_text - 1, .source_name = "well" \
    }
static const plugmc_plugin well_plugin = WELL(sizeof(double), well_table),
                           well_plugin_single = WELL(sizeof(float), well_table_single);

static void begin_wells(place *p, int64_t n)
{
    static well parameters = {4, 10};
    static well_single single = {4, 10};
    static const double masses[2] = {1, 4};
    bench *b = &p->b;
    bench_begin(b, 3, (double[3]){1, 1, 1}, 1, 5);
    bench_cube(b, 20);
    bench_species(b, "light", n / 2, 0, 0);
    bench_species(b, "heavy", n / 2, 0, 0);
    bench_masses(b, masses);
    b->terms[b->system.term_count++] = (plugmc_term){.label = "well",
                                                     .plugin = &well_plugin,
                                                     .instance = &parameters,
                                                     .plugin_single = &well_plugin_single,
                                                     .instance_single = &single,
                                                     .sampled = 1};
}

/* Frequencies 2 and 1: exact averages, from the GPU alone, and the same trajectory as the CPU. */
static void oscillators_are_exact(void **state)
{
    (void)state;
    enum { N = 2000, SWEEPS = 400 };
    static place cpu, gpu;
    static double r[3 * N], q[3 * N];
    begin_wells(&cpu, N);
    begin_wells(&gpu, N);
    for (int i = 0; i < 3 * N; i++) { /* nearly Gaussian: twelve uniform numbers */
        double sum = -6;
        for (uint32_t draw = 0; draw < 3; draw++) {
            const plugmc_random random =
                plugmc_draw((plugmc_seed){8}, 0, 0, (uint32_t)i, PLUGMC_PURPOSE_INITIAL, draw);
            for (int w = 0; w < 4; w++) sum += random.word[w] * 0x1p-32;
        }
        r[i] = 10 + 0.5 * sum;
    }
    start(&cpu, "hmc", "time_step=0.13 steps=10 check_reversal=yes", 0, r);
    start(&gpu, "hmc", "time_step=0.13 steps=10 check_reversal=yes", 1, r);
    assert_close(energy_of(&gpu), energy_of(&cpu), 1e-12, 0);
    mover_sweep(&cpu.b, &cpu.mover, 0, 1);
    mover_sweep(&gpu.b, &gpu.mover, 0, 1);
    fetch(&cpu, r);
    fetch(&gpu, q);
    assert_true(apart(&cpu.b, r, q) < 1e-5);
    mover_sweep(&gpu.b, &gpu.mover, 1, 19);
    double sum = 0, squares = 0;
    for (int s = 0; s < SWEEPS; s++) {
        double square = 0;
        mover_sweep(&gpu.b, &gpu.mover, (uint64_t)(20 + s), 1);
        fetch(&gpu, q);
        for (int i = 0; i < 3 * N; i++) square += pow(q[i] - 10, 2) / (3 * N);
        sum += square / SWEEPS;
        squares += square * square / SWEEPS;
    }
    printf("acceptance %.3f\n", (double)counts_of(&gpu).accepted / (double)counts_of(&gpu).trials);
    assert_z("<x^2>", sum, 2 * sqrt((squares - sum * sum) / SWEEPS), 0.25, 4);
    finish(&cpu), finish(&gpu);
}

/* ---- Ions on a mesh -------------------------------------------------------------------------- */

static void begin_salt(place *p)
{
    static const double masses[2] = {22.99, 35.453};
    bench *b = &p->b;
    bench_begin(b, 3, (double[3]){1, 1, 1}, 1, 5);
    bench_cube(b, 25.27);
    bench_species(b, "Na", 256, 0, 1);
    bench_species(b, "Cl", 256, 0, -1);
    bench_masses(b, masses);
    bench_expect(b, bench_configured(b, "born_mayer",
                                     "a=2.78195,2.22556,1.66917 b=3.1546 sigma=2.34,2.755,3.17 "
                                     "c=11.062,73.7465,763.803 d=5.26761,91.5247,1534.19 cutoff=10 "
                                     "truncation=shift"));
    bench_expect(b, bench_configured(b, "coulomb_spme", "bjerrum_length=151.91 cutoff=10"));
}

/* Rock salt, 8 sites an edge, the species in turn. */
static void place_salt(const bench *b, double *positions)
{
    int next[2] = {0, 256};
    for (int site = 0; site < 512; site++) {
        const int at[3] = {site % 8, site / 8 % 8, site / 64};
        const int i = next[(at[0] + at[1] + at[2]) % 2]++;
        const plugmc_random r =
            plugmc_draw((plugmc_seed){3}, 0, 0, (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0);
        for (int d = 0; d < 3; d++)
            positions[3 * i + d] =
                b->system.box.length[d] * (at[d] + 0.5 + 0.1 * (r.word[d] * 0x1p-32 - 0.5)) / 8;
    }
}

static void molten_salt(void **state)
{
    (void)state;
    static place cpu, gpu;
    static double r[512 * 3], q[512 * 3];
    begin_salt(&cpu);
    begin_salt(&gpu);
    place_salt(&cpu.b, r);
    start(&cpu, "hmc", "steps=5 time_step=0.05", 0, r);
    start(&gpu, "hmc", "steps=5 time_step=0.05", 1, r);
    printf("energy %.10g on the CPU, %.10g on the GPU\n", energy_of(&cpu), energy_of(&gpu));
    assert_close(energy_of(&gpu), energy_of(&cpu), 1e-6, 0);
    mover_sweep(&cpu.b, &cpu.mover, 0, 1);
    mover_sweep(&gpu.b, &gpu.mover, 0, 1);
    fetch(&cpu, r);
    fetch(&gpu, q);
    printf("positions apart by %.2g\n", apart(&cpu.b, r, q));
    assert_true(apart(&cpu.b, r, q) < 1e-4);
    finish(&cpu), finish(&gpu);
    begin_salt(&gpu);
    place_salt(&gpu.b, r);
    start(&gpu, "hmc", "steps=10 time_step=0.1 check_reversal=yes", 1, r);
    mover_sweep(&gpu.b, &gpu.mover, 0, 20);
    printf("%d of %d accepted, all lead back\n", (int)counts_of(&gpu).accepted,
           (int)counts_of(&gpu).trials);
    finish(&gpu);
}

/* ---- Speed ----------------------------------------------------------------------------------- */

static void force_evaluations_a_second(void **state)
{
    (void)state;
    static const double mass = 1;
    static const char *const precisions[] = {"single", "double"};
    for (int k = 0; k < 2; k++) {
        static place p;
        char settings[128];
        bench_begin(&p.b, 3, (double[3]){1, 1, 1}, 1, 5);
        bench_cube(&p.b, cbrt(262144 / 0.8));
        bench_species(&p.b, "A", 262144, 1, 0);
        bench_masses(&p.b, &mass);
        bench_expect(
            &p.b, bench_configured(&p.b, "lennard_jones", "epsilon=1 cutoff=2.5 truncation=shift"));
        double *r = bench_positions(&p.b);
        bench_lattice(&p.b, 64, 0, r);
        snprintf(settings, sizeof settings, "steps=50 time_step=0.002 precision=%s", precisions[k]);
        start(&p, "hmc", settings, 1, r);
        mover_sweep(&p.b, &p.mover, 0, 20); /* melts */
        synchronize(&p);
        double begin = seconds();
        mover_sweep(&p.b, &p.mover, 20, 20);
        synchronize(&p);
        const double rate = 20 * 50 / (seconds() - begin);
        printf("262,144 Lennard-Jones particles, forces in %s: %.0f force evaluations/s; %d of %d "
               "accepted\n",
               precisions[k], rate, (int)counts_of(&p).accepted, (int)counts_of(&p).trials);
        assert_true(rate > 100); /* the goal on an H200 is 1000; other GPUs are slower */
        free(r);
        finish(&p);
    }
}

/* ---- structure_factor ------------------------------------------------------------------------ */

static void waves_are_those_of_the_cpu(void **state)
{
    (void)state;
    static double values[2][3 * 400 * 2];
    int64_t length = 0;
    double *r = NULL;
    for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
        bench b;
        bench_begin(&b, 3, (double[3]){1, 1, 1}, 2, 5);
        bench_vectors(&b, (double[3][3]){{9, 0, 0}, {1, 8, 0}, {-1, 0.5, 9}});
        bench_species(&b, "A", 200, 0, 0);
        bench_species(&b, "B", 312, 0, 0);
        const plugmc_plugin *plugin = open_plugin("structure_factor");
        void *instance = bench_allocate(b.host.context, plugin->instance_size);
        set_all(&b, plugin, instance, "k_max=8 shells=40");
        if (!r) {
            r = bench_positions(&b);
            bench_lattice(&b, 8, 0.2, r);
        }
        onto_core(&b, on_gpu);
        bench_expect(&b, plugin->prepare(instance, &b.host));
        plugmc_view view = {.size = sizeof view, .positions = r, .box = boxes_of(&b.system)};
        plugmc_device_pointer at = 0;
        if (on_gpu) {
            const size_t bytes = count_of(&b) * sizeof(double);
            assert_int_equal(b.host.gpu->allocate(b.host.context, bytes, &at), PLUGMC_OK);
            assert_int_equal(b.host.gpu->upload(b.host.context, at, r, bytes), PLUGMC_OK);
            view.positions = (const double *)(uintptr_t)at;
            view.on_device = 1;
            view.device_box = device_boxes_of(&b.host);
        }
        plugmc_quantity q = {.size = sizeof q};
        length = 0;
        for (int i = 0; plugin->observable->quantity(instance, i, &q); i++)
            length += plugmc_quantity_length(&q);
        bench_expect(&b, plugin->observable->measure(instance, &b.host, &view, values[on_gpu]));
        context_release(&b.context);
        bench_end(&b);
    }
    assert_true(length > 60);
    for (int64_t i = 0; i < 2 * length; i++) assert_close(values[1][i], values[0][i], 1e-10, 1e-10);
    free(r);
}

GPU_TEST_MAIN(cmocka_unit_test(trajectories_are_those_of_the_cpu),
              cmocka_unit_test(trajectories_lead_back), cmocka_unit_test(a_resumed_run_goes_on),
              cmocka_unit_test(oscillators_are_exact), cmocka_unit_test(molten_salt),
              cmocka_unit_test(force_evaluations_a_second),
              cmocka_unit_test(waves_are_those_of_the_cpu))
