/* Local energies as others ask for them (plugmc/wave.h): against what the observable measures, against
 * differences of ln Psi, with matrices that a mover lends, and the places of quadratures. */
#include "boxes.h"
#include "testing.h"

#include "quantum.h"

enum { TOTAL, FIRST_PART, QUANTITIES = 8, WALKERS = 5, MOST = 14 };

static const char jastrow[] =
    "like=0.28 0.22 0.17 0.12 0.08 0.05; unlike=0.46 0.36 0.26 0.18 0.1 0.05;"
    " chi=-0.2 -0.16 -0.14 -0.12 -0.1 -0.05; ions=0.3 0.4 0.5 2.5 2.6 2.7";

typedef struct answer {
    double energy[WALKERS], parts[WALKERS][PLUGMC_LOCAL_PARTS], ln_psi[WALKERS], phase[WALKERS][2],
        drift[WALKERS][MOST][3];
} answer;

/* Eight electrons in an oblique box with a Jastrow factor; the observable is `plugin`, `instance`. */
static void begin(bench *b, test_orbitals *t, int kind, const plugmc_plugin **plugin,
                  void **instance)
{
    const double length[3] = {4, 4, 4};
    const double vector[3][3] = {{4.0, 0.3, 0.2}, {1.1, 4.2, -0.4}, {-0.7, 0.9, 4.5}};
    quantum_begin(b, length, WALKERS, 1);
    box_of_vectors(b, vector, 1);
    bench_species(b, "up", 5, 0, -1);
    bench_species(b, "down", 3, 0, -1);
    fill_waves(t, b, kind, 5);
    add_orbitals(b, t);
    quantum_term(b, "jastrow", jastrow, 1);
    *plugin = open_plugin("local_energy");
    *instance = bench_allocate(b->host.context, (*plugin)->instance_size);
    quantum_parameters(b, *plugin, *instance, "");
    bench_expect(b, (*plugin)->prepare(*instance, &b->host));
}

static plugmc_view view_at(const bench *b, const double *x)
{
    return (plugmc_view){
        .size = sizeof(plugmc_view), .sweep = 3, .positions = x, .box = boxes_of(&b->system)};
}

/* Of walkers first ... first + n - 1. */
static void ask(bench *b, const plugmc_plugin *plugin, void *instance, const double *x,
                const plugmc_inverses *lent, int32_t first, int32_t n, answer *out)
{
    const plugmc_view view = view_at(b, x);
    double drift[WALKERS * MOST * 3];
    const plugmc_local_energy_request request = {.size = sizeof request,
                                                 .first = first,
                                                 .walkers = n,
                                                 .view = &view,
                                                 .inverses = lent,
                                                 .energy = out->energy + first,
                                                 .parts = out->parts[first],
                                                 .ln_psi = out->ln_psi + first,
                                                 .phase = lent ? NULL : out->phase[first],
                                                 .drift = drift};
    const int64_t particles = b->system.particles;
    bench_expect(b, plugmc_local_energy_of(plugin)->evaluate(instance, &b->host, &request));
    for (int32_t w = 0; w < n; w++)
        memcpy(out->drift[first + w], drift + 3 * w * particles,
               3 * (size_t)particles * sizeof *drift);
}

/* Energy and parts are what the observable measures of the same walkers; the phase is that of a determinant
 * found otherwise. */
static void answers_are_what_is_measured(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        bench b;
        test_orbitals t;
        const plugmc_plugin *plugin;
        void *instance;
        static answer all, some;
        double values[WALKERS][QUANTITIES];
        begin(&b, &t, kind ? STANDING_WAVES : PLANE_WAVES, &plugin, &instance);
        double *x = random_positions(&b, 6);
        const plugmc_view view = view_at(&b, x);
        bench_expect(&b, plugin->observable->measure(instance, &b.host, &view, values[0]));
        ask(&b, plugin, instance, x, NULL, 0, WALKERS, &all);
        ask(&b, plugin, instance, x, NULL, 2, 3, &some);
        for (int w = 0; w < WALKERS; w++) {
            double complex phase = 1, matrix[TEST_ORBITALS * TEST_ORBITALS];
            assert_close(all.energy[w], values[w][TOTAL], 1e-13, 0);
            for (int c = 0; c < PLUGMC_LOCAL_PARTS; c++)
                assert_true(all.parts[w][c] == values[w][FIRST_PART + c]);
            if (w >= 2) assert_true(all.energy[w] == some.energy[w]);
            if (w >= 2) assert_memory_equal(all.drift[w], some.drift[w], 8 * 24);
            for (int k = 0; k < 2; k++) {
                orbital_matrix(&t, x + 3 * (8 * w + b.first[k]), (int)b.species[k].count, matrix);
                const double complex d = invert_in_place(matrix, (int)b.species[k].count);
                phase *= d / cabs(d);
            }
            assert_close(all.phase[w][0], creal(phase), 0, 1e-10);
            assert_close(all.phase[w][1], cimag(phase), 0, 1e-10);
        }
        free(x);
        plugin->release(instance);
        bench_end(&b);
    }
}

/* The sums of shares [walkers][particles][2] over electrons and ions are the energies. */
static void check_shares(const double *shares, int particles, int walkers,
                         const double parts[][PLUGMC_LOCAL_PARTS])
{
    for (int w = 0; w < walkers; w++) {
        double kinetic = 0, potential = 0, wanted = 0;
        for (int i = 0; i < particles; i++) {
            kinetic += shares[2 * (w * particles + i)];
            potential += shares[2 * (w * particles + i) + 1];
        }
        for (int c = PLUGMC_LOCAL_KINETIC + 1; c < PLUGMC_LOCAL_PARTS; c++) wanted += parts[w][c];
        assert_close(kinetic, parts[w][PLUGMC_LOCAL_KINETIC], 1e-12, 1e-12);
        assert_close(potential, wanted, 1e-11, 1e-11);
    }
}

/* Three ions and eight electrons in an oblique box, with Ewald sums. Two electrons that change places take their
 * potential energies along. */
static void energies_are_dealt_out_to_electrons_and_ions(void **state)
{
    (void)state;
    enum { ELECTRONS = 8, IONS = 3, ALL = ELECTRONS + IONS };
    bench b;
    test_orbitals t;
    const double length[3] = {4, 4, 4};
    const double vector[3][3] = {{4.0, 0.3, 0.2}, {1.1, 4.2, -0.4}, {-0.7, 0.9, 4.5}};
    double parts[2][PLUGMC_LOCAL_PARTS], shares[2][ALL][2], swapped[2][ALL][2];
    quantum_begin(&b, length, 2, 1);
    box_of_vectors(&b, vector, 1);
    bench_species(&b, "up", 5, 0, -1);
    bench_species(&b, "down", 3, 0, -1);
    fill_waves(&t, &b, PLANE_WAVES, 5);
    t.ion_count = IONS;
    for (int i = 0; i < IONS; i++) {
        t.atomic_number[i] = i + 1 + (i == 2 ? 2 : 0);
        t.valence[i] = t.atomic_number[i];
        for (int d = 0; d < 3; d++) t.ion[i][d] = 0.4 + 1.1 * i + 0.2 * d;
    }
    add_orbitals(&b, &t);
    const plugmc_plugin *plugin = open_plugin("local_energy");
    void *instance = bench_allocate(b.host.context, plugin->instance_size);
    quantum_parameters(&b, plugin, instance, "");
    bench_expect(&b, plugin->prepare(instance, &b.host));
    double *x = random_positions(&b, 6);
    const plugmc_view view = view_at(&b, x);
    plugmc_local_energy_request request = {.size = sizeof request,
                                           .walkers = 2,
                                           .view = &view,
                                           .parts = parts[0],
                                           .shares = shares[0][0]};
    bench_expect(&b, plugmc_local_energy_of(plugin)->evaluate(instance, &b.host, &request));
    check_shares(shares[0][0], ALL, 2, (const double(*)[PLUGMC_LOCAL_PARTS])parts);
    for (int i = 0; i < IONS; i++) assert_true(shares[0][ELECTRONS + i][0] == 0);
    for (int d = 0; d < 3; d++) {
        const double kept = x[3 + d];
        x[3 + d] = x[18 + d];
        x[18 + d] = kept;
    }
    request.shares = swapped[0][0];
    bench_expect(&b, plugmc_local_energy_of(plugin)->evaluate(instance, &b.host, &request));
    for (int i = 0; i < ALL; i++) {
        const int was = i == 1 ? 6 : i == 6 ? 1 : i;
        assert_close(swapped[0][i][1], shares[0][was][1], 1e-11, 1e-11);
    }
    assert_true(fabs(shares[0][1][1] - shares[0][6][1]) > 1e-3);
    free(x);
    plugin->release(instance);
    bench_end(&b);
}

/* Re grad ln Psi of every electron is the slope of ln |Psi| that is given beside it. */
static void drift_is_the_slope_of_ln_psi(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        bench b;
        test_orbitals t;
        const plugmc_plugin *plugin;
        void *instance;
        static answer here, there;
        const double h = 1e-5;
        begin(&b, &t, kind ? STANDING_WAVES : PLANE_WAVES, &plugin, &instance);
        double *x = random_positions(&b, 7);
        ask(&b, plugin, instance, x, NULL, 0, 1, &here);
        for (int i = 0; i < 24; i++) {
            const double at = x[i];
            double ln[2];
            for (int side = 0; side < 2; side++) {
                x[i] = at + (side ? h : -h);
                ask(&b, plugin, instance, x, NULL, 0, 1, &there);
                ln[side] = there.ln_psi[0];
            }
            x[i] = at;
            assert_close(here.drift[0][i / 3][i % 3], (ln[1] - ln[0]) / (2 * h), 1e-6, 1e-6);
        }
        free(x);
        plugin->release(instance);
        bench_end(&b);
    }
}

/* With the matrices of a mover after some sweeps energies and drift are those that are found anew; with wrong
 * ones they are not, so they are looked at. */
static void matrices_that_are_lent_are_used(void **state)
{
    (void)state;
    static const char *const movers[] = {"particle_by_particle", "quasi_simultaneous"};
    for (int k = 0; k < 2; k++) {
        bench b;
        test_orbitals t;
        const plugmc_plugin *plugin;
        void *instance;
        static answer anew, lent;
        plugmc_inverses inverses = {.size = sizeof inverses};
        begin(&b, &t, k ? STANDING_WAVES : PLANE_WAVES, &plugin, &instance);
        double *x = allowed_positions(&b, 8);
        test_mover mover = mover_new(&b, movers[k], "step=0.5");
        mover_load(&b, &mover, x);
        mover_sweep(&b, &mover, 0, 20);
        mover_store(&b, &mover, x);
        bench_expect(
            &b, ((const plugmc_lends_inverses *)plugmc_offered(mover.plugin, PLUGMC_LENDS_INVERSES))
                    ->inverses(mover.instance, &b.host, &inverses));
        assert_non_null(inverses.inverse[0]);
        ask(&b, plugin, instance, x, NULL, 0, WALKERS, &anew);
        ask(&b, plugin, instance, x, &inverses, 0, WALKERS, &lent);
        for (int w = 0; w < WALKERS; w++) {
            assert_close(lent.energy[w], anew.energy[w], 1e-8, 1e-8);
            assert_close(lent.ln_psi[w], anew.ln_psi[w], 0, 1e-8);
            for (int i = 0; i < 24; i++)
                assert_close(lent.drift[w][i / 3][i % 3], anew.drift[w][i / 3][i % 3], 1e-7, 1e-7);
        }
        const double *turned[WALKERS];
        for (int w = 0; w < WALKERS; w++) turned[w] = inverses.inverse[0][(w + 1) % WALKERS];
        inverses.inverse[0] = turned;
        ask(&b, plugin, instance, x, &inverses, 0, WALKERS, &lent);
        for (int w = 0; w < WALKERS; w++) assert_true(fabs(lent.energy[w] - anew.energy[w]) > 1e-3);
        free(x);
        mover_end(&mover);
        plugin->release(instance);
        bench_end(&b);
    }
}

/* The energies of the places of a walker add up to its nonlocal energy, and each is its factor times the ratio
 * of Psi with the electron there. Semilocal and separable, with a Jastrow factor and without. */
static void places_of_quadratures_make_up_the_nonlocal_energy(void **state)
{
    (void)state;
    static const char *const forms[] = {"semilocal", "separable"};
    for (int form = 0; form < 4; form++) {
        bench b;
        test_orbitals t = {.kind = EXPONENTIALS,
                           .count = 2,
                           .k = {{1.1}, {0.6}},
                           .centre = {{0.1, 0, 0}, {0.4, 0.3, 0}},
                           .ion_count = 1,
                           .atomic_number = {14},
                           .valence = {4}};
        char settings[160];
        double parts[2][PLUGMC_LOCAL_PARTS], ln_psi[2], shares[2 * 4 * 2];
        const plugmc_nonlocal_point *places;
        int64_t count = 0;
        quantum_sphere(&b, 20, 2, 31);
        bench_species(&b, "up", 2, 0, -1);
        bench_species(&b, "down", 1, 0, -1);
        add_orbitals(&b, &t);
        if (form >= 2) quantum_term(&b, "jastrow", "like=0.3 0.1; unlike=0.4 0.2; u_cutoff=3", 1);
        const plugmc_plugin *plugin = open_plugin("local_energy");
        void *instance = bench_allocate(b.host.context, plugin->instance_size);
        snprintf(settings, sizeof settings,
                 "pseudopotentials=" TEST_DATA "/qmc/Si.pz-vbc.UPF; nonlocal=%s", forms[form % 2]);
        quantum_parameters(&b, plugin, instance, settings);
        bench_expect(&b, plugin->prepare(instance, &b.host));
        double *x = random_positions(&b, 9);
        plugmc_view view = view_at(&b, x);
        plugmc_local_energy_request request = {.size = sizeof request,
                                               .walkers = 2,
                                               .view = &view,
                                               .parts = parts[0],
                                               .ln_psi = ln_psi,
                                               .points = &places,
                                               .point_count = &count,
                                               .shares = shares};
        bench_expect(&b, plugmc_local_energy_of(plugin)->evaluate(instance, &b.host, &request));
        assert_true(count > 12);
        check_shares(shares, 4, 2, (const double(*)[PLUGMC_LOCAL_PARTS])parts);
        double sum[2] = {0, 0};
        int last = 0;
        plugmc_nonlocal_point *kept = malloc((size_t)count * sizeof *kept);
        memcpy(kept, places, (size_t)count * sizeof *kept);
        for (int64_t k = 0; k < count; k++) {
            const plugmc_nonlocal_point *p = &kept[k];
            assert_true(p->walker >= last && p->walker < 2);
            last = p->walker;
            sum[p->walker] += p->energy;
            if (k % 7) continue; /* the ratio, by moving the electron there */
            double moved[18], there[2], phase[2][2], phase_there[2][2];
            memcpy(moved, x, sizeof moved);
            memcpy(moved + 3 * (3 * p->walker + p->electron), p->position, sizeof p->position);
            plugmc_view other = view_at(&b, moved);
            plugmc_local_energy_request ask_there = {.size = sizeof ask_there,
                                                     .walkers = 2,
                                                     .view = &other,
                                                     .ln_psi = there,
                                                     .phase = phase_there[0]};
            bench_expect(&b,
                         plugmc_local_energy_of(plugin)->evaluate(instance, &b.host, &ask_there));
            ask_there.view = &view, ask_there.phase = phase[0];
            bench_expect(&b,
                         plugmc_local_energy_of(plugin)->evaluate(instance, &b.host, &ask_there));
            const int w = p->walker;
            double moved_ln[2];
            ask_there.view = &other, ask_there.ln_psi = moved_ln, ask_there.phase = NULL;
            bench_expect(&b,
                         plugmc_local_energy_of(plugin)->evaluate(instance, &b.host, &ask_there));
            const double ratio = exp(moved_ln[w] - ln_psi[w]) * phase_there[w][0] * phase[w][0];
            assert_close(p->energy, p->factor * ratio, 1e-9, 1e-12);
        }
        for (int w = 0; w < 2; w++) {
            assert_close(sum[w], parts[w][PLUGMC_LOCAL_NONLOCAL], 1e-10, 1e-12);
            assert_true(fabs(sum[w]) > 1e-3);
        }
        free(kept);
        free(x);
        plugin->release(instance);
        bench_end(&b);
    }
}

TEST_MAIN(cmocka_unit_test(answers_are_what_is_measured),
          cmocka_unit_test(energies_are_dealt_out_to_electrons_and_ions),
          cmocka_unit_test(drift_is_the_slope_of_ln_psi),
          cmocka_unit_test(matrices_that_are_lent_are_used),
          cmocka_unit_test(places_of_quadratures_make_up_the_nonlocal_energy))
