/* Rigid molecules of hmc on a GPU against the CPU: the same momenta, so the same trajectories as long as rounding of forces
 * does not part them; reversal bit for bit, resumed runs, the order of the integrator, and a torque about the wrong point,
 * which the order shows. Skipped without a GPU. */
#include "testing.h"

#include "place.h"
#include "molecules.h"

#include "../../plugins/movers/hmc/hmc.h"

/* ---- Systems ------------------------------------------------------------------------------------- */

/* Bent, linear and pyramidal molecules, the linear one with its first site at an end, and particles in none. */
static const species_of_test species[] = {
    {"a", 0, -0.8476}, {"b", 0, 0.4238}, {"c", 0, -0.8476}, {"d", 8, -0.52975}};
static const double masses[] = {16, 1, 14, 23};
static const kind_of_test kinds[] = {
    {"a b b", 90, {0, 0, 0, 1, 0, 0, -0.33331324756824, 0.942816142731718, 0}, 9},
    {"b c b", 10, {-1.1, 0, 0, 0, 0, 0, 1.1, 0, 0}, 9},
    {"c b b b", 10, {0, 0, 0, 0.95, 0, 0.3, -0.5, 0.8, 0.3, -0.5, -0.8, 0.3}, 12}};

enum { NO_CHARGES, MESH, WAVES };

typedef struct shape_of_test {
    const char *name;
    int charges;
    double vectors[3][3];
} shape_of_test;

static const shape_of_test shapes[] = {
    {"charges in a cube", MESH, {{20, 0, 0}, {0, 20, 0}, {0, 0, 20}}},
    {"charges in a brick", MESH, {{19, 0, 0}, {0, 20, 0}, {0, 0, 22}}},
    {"no charges, oblique", NO_CHARGES, {{20, 0, 0}, {2, 20, 0}, {-1.5, 1, 20}}},
    {"waves, oblique", WAVES, {{20, 0, 0}, {2, 20, 0}, {-1.5, 1, 20}}}};

enum { WALKERS = 2, MOST = 400 };

/* Of all walkers. */
typedef struct held_molecules {
    double positions[3 * WALKERS * MOST];
    plugmc_orientation orientations[WALKERS * MOST];
} held_molecules;

static void begin(place *p, const shape_of_test *s, int walkers, const char *precision)
{
    bench *b = &p->b;
    char mesh[128];
    bench_begin(b, 3, (double[3]){20, 20, 20}, walkers, 5);
    bench_cube(b, 20);
    bench_molecules(b, species, 4, kinds, 3);
    bench_vectors(b, s->vectors);
    bench_masses(b, masses);
    assert_true(b->system.particles <= MOST);
    bench_expect(b, bench_configured(b, "lennard_jones",
                                     "epsilon=0.26,0,0.26,0.3,0,0,0,0.26,0.3,0.3 "
                                     "sigma=3.17,1,3.17,3,1,1,1,3.17,3,3 cutoff=8 "
                                     "truncation=force_shift"));
    snprintf(mesh, sizeof mesh, "bjerrum_length=560 cutoff=8 tolerance=1e-7 order=8 precision=%s",
             precision);
    if (s->charges == MESH) bench_expect(b, bench_configured(b, "coulomb_spme", mesh));
    if (s->charges == WAVES)
        bench_expect(
            b, bench_configured(b, "coulomb_ewald", "bjerrum_length=560 cutoff=8 tolerance=1e-5"));
}

/* First sites and particles in no molecule on a lattice, five along an edge, molecules turned at random. */
static void place_all(const bench *b, held_molecules *at)
{
    const plugmc_system *system = &b->system;
    const plugmc_box *box = &system->box;
    for (int32_t w = 0; w < system->walkers; w++) {
        double *positions = at->positions + 3 * w * system->particles;
        plugmc_orientation *turned = at->orientations + w * system->particles;
        int point = 0;
        for (int64_t i = 0; i < system->particles; i++) {
            int64_t within = 0;
            const int32_t m = system->molecule[i];
            const plugmc_molecule *kind =
                m < 0 ? NULL : plugmc_molecule_at(system->molecules, m, &within);
            turned[i] = plugmc_draw_orientation((plugmc_seed){9}, 1, (uint32_t)w, (uint32_t)i, 3);
            if (kind && plugmc_site_number(kind, within, 0) != i) continue;
            const double f[3] = {point % 5 / 5.0 + 0.05, point / 5 % 5 / 5.0 + 0.05,
                                 point / 25 / 5.0 + 0.05};
            for (int d = 0; d < 3; d++)
                positions[3 * i + d] =
                    f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
            point++;
            for (int32_t a = 1; kind && a < kind->sites; a++)
                plugmc_place_site(kind, &turned[i], box, &positions[3 * i], a,
                                  &positions[3 * plugmc_site_number(kind, within, a)]);
        }
    }
}

/* ---- In and out ---------------------------------------------------------------------------------- */

/* On the side where they are asked for. */
typedef struct lent_molecules {
    double *positions;
    plugmc_orientation *orientations;
    plugmc_box boxes[WALKERS];
} lent_molecules;

static int lend(const plugmc_state *state, int what, int side, int access, void **out, size_t *row)
{
    lent_molecules *l = (lent_molecules *)state->core;
    (void)side, (void)access, (void)row;
    *out = what == PLUGMC_STATE_POSITION ? (void *)l->positions
           : what == PLUGMC_STATE_BOX    ? (void *)l->boxes
                                         : (void *)l->orientations;
    return PLUGMC_OK;
}

static plugmc_state lender(const bench *b, lent_molecules *l)
{
    for (int w = 0; w < WALKERS; w++) l->boxes[w] = b->system.box;
    return (plugmc_state){.size = sizeof(plugmc_state),
                          .walkers = b->system.walkers,
                          .capacity = b->system.particles,
                          .array = lend,
                          .core = l};
}

static void load(place *p, held_molecules *at)
{
    lent_molecules l = {at->positions, at->orientations, {{0}}};
    const plugmc_state state = lender(&p->b, &l);
    bench_expect(
        &p->b, p->mover.calls->driver->load(p->mover.instance, &p->b.host, &state,
                                            PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_ORIENTATION));
}

static void fetch_all(place *p, held_molecules *at)
{
    const plugmc_gpu *services = p->b.host.gpu;
    plugmc_context *context = p->b.host.context;
    plugmc_device_pointer there[2];
    lent_molecules l = {at->positions, at->orientations, {{0}}};
    const plugmc_state state = lender(&p->b, &l);
    if (p->on_gpu) {
        assert_int_equal(services->allocate(context, sizeof at->positions, &there[0]), PLUGMC_OK);
        assert_int_equal(services->allocate(context, sizeof at->orientations, &there[1]),
                         PLUGMC_OK);
        /* of other sites and particles nobody writes any */
        assert_int_equal(services->fill(context, there[1], 0, sizeof at->orientations), PLUGMC_OK);
        l.positions = (double *)(uintptr_t)there[0];
        l.orientations = (plugmc_orientation *)(uintptr_t)there[1];
    }
    bench_expect(&p->b, p->mover.calls->driver->store(p->mover.instance, &p->b.host, &state));
    if (!p->on_gpu) return;
    assert_int_equal(
        services->download(context, at->positions, there[0], count_of(&p->b) * sizeof(double)),
        PLUGMC_OK);
    assert_int_equal(
        services->download(context, at->orientations, there[1], sizeof at->orientations),
        PLUGMC_OK);
    for (int k = 0; k < 2; k++) assert_int_equal(services->release(context, there[k]), PLUGMC_OK);
}

static void start_all(place *p, const char *settings, int on_gpu, held_molecules *at)
{
    place_mover(p, "hmc", settings, on_gpu);
    bench_expect(&p->b, bench_prepare(&p->b));
    bench_expect(&p->b, mover_prepare(&p->b, &p->mover));
    load(p, at);
}

static void finish_all(place *p)
{
    molecule_kinds_free(&p->b.system);
    finish(p);
}

/* Of the first walker. */
static double energy_of(place *p)
{
    double energy[WALKERS];
    bench_expect(&p->b,
                 p->mover.calls->driver->running_energy(p->mover.instance, &p->b.host, energy));
    return energy[0];
}

/* As mover_save, which knows of no orientations: the mover's archive alone. */
static void save(place *p, test_archive *archive)
{
    *archive = archive_begin(&p->b);
    bench_expect(&p->b, p->mover.plugin->archive(p->mover.instance, &p->b.host, &archive->base));
    archive->step = p->mover.steps[0];
}

/* Change of H of the last trajectory of the first walker. */
static double change_of(place *p)
{
    hmc_state state = {0};
    test_archive archive;
    save(p, &archive);
    for (int k = 0; k < archive.blobs; k++)
        if (!strcmp(archive.blob[k].name, "states"))
            memcpy(&state, archive.blob[k].data, sizeof state);
    archive_end(&archive);
    return state.change;
}

/* Largest distance between two sets of positions, through the faces of the box. */
static double apart(const bench *b, const double *p, const double *q)
{
    const plugmc_box *box = &b->system.box;
    double worst = 0;
    for (size_t i = 0; i < count_of(b); i += 3) {
        for (int d = 0; d < 3; d++) {
            double f = 0;
            for (int e = 0; e < 3; e++) f += (p[i + e] - q[i + e]) * box->inverse[e][d];
            worst = fmax(worst, fabs(f - rint(f)) * box->length[d]);
        }
    }
    return worst;
}

/* ---- Trajectories -------------------------------------------------------------------------------- */

static held_molecules at_first, one_end, other_end;

static void trajectories_are_those_of_the_cpu(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++)
        for (int precise = 0; precise < 2; precise++) {
            static place cpu, gpu;
            const char *precision = precise ? "double" : "single";
            char settings[128];
            snprintf(settings, sizeof settings,
                     "steps=10 time_step=0.01 target_acceptance=0 precision=%s", precision);
            begin(&cpu, &shapes[k], WALKERS, precision);
            begin(&gpu, &shapes[k], WALKERS, precision);
            place_all(&cpu.b, &at_first);
            start_all(&cpu, settings, 0, &at_first);
            start_all(&gpu, settings, 1, &at_first);
            const double before = energy_of(&cpu);
            /* The energy is a sum of some 10^4 pairs, rounded to 2^-32 each, and in float of parts of 10^4. */
            const double most = precise ? 3e-8 : 0.05, relative = precise ? 1e-9 : 1e-5;
            assert_close(energy_of(&gpu), before, relative, most);
            mover_sweep(&cpu.b, &cpu.mover, 0, 1);
            mover_sweep(&gpu.b, &gpu.mover, 0, 1);
            fetch_all(&cpu, &one_end);
            fetch_all(&gpu, &other_end);
            const double far = apart(&cpu.b, one_end.positions, other_end.positions);
            printf("%s, %s: energy %.12g, then %.12g, on the GPU %.3g more; positions apart by "
                   "%.2g; change of H %.6g and %.6g; %d of %d accepted\n",
                   shapes[k].name, precision, before, energy_of(&cpu),
                   energy_of(&gpu) - energy_of(&cpu), far, change_of(&cpu), change_of(&gpu),
                   (int)counts_of(&gpu).accepted, (int)counts_of(&gpu).trials);
            assert_true(apart(&cpu.b, one_end.positions, at_first.positions) > 1e-2);
            assert_true(far < (precise ? 1e-7 : 1e-3));
            assert_close(energy_of(&gpu), energy_of(&cpu), relative, most);
            assert_int_equal(counts_of(&gpu).accepted, counts_of(&cpu).accepted);
            finish_all(&cpu), finish_all(&gpu);
        }
}

/* The mover checks it itself; a run with other calls, without the check, is the same run. */
static void trajectories_lead_back(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        static place one, other;
        begin(&one, &shapes[k], WALKERS, "single");
        begin(&other, &shapes[k], WALKERS, "single");
        place_all(&one.b, &at_first);
        start_all(&one, "steps=8 time_step=0.03 check_reversal=yes", 1, &at_first);
        start_all(&other, "steps=8 time_step=0.03", 1, &at_first);
        gpu_bind(device, &one.b.system, &device_messages);
        mover_sweep(&one.b, &one.mover, 0, 40);
        mover_sweep(&other.b, &other.mover, 0, 1);
        mover_sweep(&other.b, &other.mover, 1, 39);
        fetch_all(&one, &one_end);
        fetch_all(&other, &other_end);
        assert_memory_equal(one_end.positions, other_end.positions,
                            count_of(&one.b) * sizeof(double));
        assert_int_equal(counts_of(&one).trials, 40 * WALKERS);
        printf("%s: %d of %d accepted, all lead back\n", shapes[k].name,
               (int)counts_of(&one).accepted, (int)counts_of(&one).trials);
        assert_true(counts_of(&one).accepted > 0);
        finish_all(&one), finish_all(&other);
    }
}

static void a_resumed_run_goes_on(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        static place one, later;
        test_archive archive;
        const char *settings = "length=0.08 time_step=0.01";
        begin(&one, &shapes[k], WALKERS, "single");
        begin(&later, &shapes[k], WALKERS, "single");
        place_all(&one.b, &at_first);
        start_all(&one, settings, 1, &at_first);
        mover_sweep(&one.b, &one.mover, 0, 5);
        mover_set_step(&one.b, &one.mover, 0.007);
        mover_sweep(&one.b, &one.mover, 5, 5);
        save(&one, &archive);
        mover_sweep(&one.b, &one.mover, 10, 10);
        fetch_all(&one, &one_end);
        start_all(&later, settings, 1, &at_first);
        mover_restore(&later.b, &later.mover, &archive);
        mover_sweep(&later.b, &later.mover, 10, 10);
        fetch_all(&later, &other_end);
        assert_memory_equal(one_end.positions, other_end.positions,
                            count_of(&one.b) * sizeof(double));
        for (int64_t i = 0; i < WALKERS * one.b.system.particles; i++)
            assert_memory_equal(&one_end.orientations[i], &other_end.orientations[i],
                                sizeof(plugmc_orientation));
        archive_end(&archive);
        finish_all(&one), finish_all(&later);
    }
}

/* ---- The order of the integrator ----------------------------------------------------------------- */

/* In the GPU source of a mover that has not been prepared yet. */
static void plant_torque_about_the_first_site(place *p)
{
    static const char right[] = "sites->place[a][d] - kind->centre[d]",
                      wrong[] = "sites->place[a][d] - 0 /* planted */";
    plugmc_gpu_source text = {.size = sizeof text};
    assert_int_equal(sizeof wrong, sizeof right);
    assert_true(p->mover.plugin->gpu_source(p->mover.instance, &p->b.host, 0, &text));
    char *at = strstr((char *)text.source, right);
    assert_non_null(at);
    memcpy(at, wrong, strlen(wrong));
    assert_null(strstr(at, right));
}

/* Changes of H of one trajectory with a time step and half of it. */
static void find_changes(int planted, double change[2])
{
    for (int half = 0; half < 2; half++) {
        static place gpu;
        char settings[128];
        snprintf(settings, sizeof settings,
                 "steps=%d time_step=%g target_acceptance=0 precision=double", 16 << half,
                 0.004 / (1 << half));
        begin(&gpu, &shapes[0], 1, "double");
        place_all(&gpu.b, &at_first);
        place_mover(&gpu, "hmc", settings, 1);
        if (planted) plant_torque_about_the_first_site(&gpu);
        bench_expect(&gpu.b, bench_prepare(&gpu.b));
        bench_expect(&gpu.b, mover_prepare(&gpu.b, &gpu.mover));
        load(&gpu, &at_first);
        mover_sweep(&gpu.b, &gpu.mover, 0, 1);
        change[half] = change_of(&gpu);
        finish_all(&gpu);
    }
    printf("%schange of H %.6g, with half the time step %.6g\n",
           planted ? "torque about the first site: " : "", change[0], change[1]);
}

static void trajectories_are_of_second_order(void **state)
{
    double change[2], planted[2];
    (void)state;
    find_changes(0, change);
    assert_close(change[0] / change[1], 4, 0.1, 0);
    find_changes(1, planted);
    assert_true(fabs(planted[1]) > 30 * fabs(change[1]));
    assert_true(fabs(planted[0] / planted[1] - 1) < 0.5);
}

GPU_TEST_MAIN(cmocka_unit_test(trajectories_are_those_of_the_cpu),
              cmocka_unit_test(trajectories_lead_back), cmocka_unit_test(a_resumed_run_goes_on),
              cmocka_unit_test(trajectories_are_of_second_order))
