/* The movers of variational Monte Carlo on a GPU against the CPU: the same numbers drawn, the same
 * decisions, with real and complex orbitals, with and without a Jastrow factor; checkpoints; how
 * fast it is. Skipped without a GPU. */
#include "testing.h"

#include "place.h"
#include "quantum.h"

static const char jastrow[] = "like=0.28 0.22 0.17 0.12 0.08 0.05 0.03 0.012; "
                              "unlike=0.46 0.36 0.26 0.18 0.12 0.08 0.04 0.017; u_cutoff=1.9; "
                              "chi=-0.2 -0.16 -0.14 -0.12 -0.1 -0.07 -0.04 -0.02; chi_cutoff=1.9; "
                              "ions=0.3 0.4 0.5 2.5 2.6 2.7";

/* With a function of two electrons and an ion, which depends on places. */
static const char polynomials[] =
    "u_like=0.2 -0.3 0.1; u_unlike=0.3 0.2; chi=-0.4 0.3 -0.2; f_like=0.6 1 -2 1.5 -1 0.8 1.2 -0.5; "
    "f_unlike=1 -1 2 0.5 -1.5 0.7 0.4 0.9; u_cutoff=1.9; chi_cutoff=1.8; f_cutoff=0.99; "
    "ions=0.3 0.4 0.5 2.5 2.6 2.7 0.9 0.2 -0.3";

enum { NO_JASTROW, SPLINES, POLYNOMIALS };

/* ---- The chain ------------------------------------------------------------------------------- */

typedef struct chain {
    const char *mover, *settings;
    int orbitals, up, down, oblique, jastrow;
    int forbids;     /* infinite energies of electrons one above the other */
    int ends;        /* orbitals and pair energies are no numbers outside of the sphere */
    const char *sum; /* of determinants of four orbitals more */
} chain;

static test_orbitals orbitals; /* of the one place there is at a time */

enum { BOX_RECTANGULAR, BOX_OBLIQUE, BOX_SPHERE, WALKERS = 3 };

static void begin(place *p, const chain *c)
{
    const double length[3] = {4.1, 4.4, 4.7};
    const double vector[3][3] = {{4.0, 0.3, 0.2}, {1.1, 4.2, -0.4}, {-0.7, 0.9, 4.5}};
    bench *b = &p->b;
    quantum_begin(b, length, WALKERS, 4242);
    if (c->oblique == BOX_OBLIQUE) box_of_vectors(b, vector, 1);
    if (c->oblique == BOX_SPHERE) {
        b->system.box.domain = PLUGMC_DOMAIN_SPHERE;
        b->system.box.radius = 1.6;
    }
    bench_species(b, "up", c->up, 0, -1);
    if (c->down) bench_species(b, "down", c->down, 0, -1);
    fill_waves(&orbitals, b, c->orbitals, (c->up > c->down ? c->up : c->down) + (c->sum ? 4 : 0));
    orbitals.host = &b->host;
    if (c->ends) orbitals.beyond = b->system.box.radius;
    add_orbitals(b, &orbitals);
    plugmc_term *sum = c->sum ? quantum_term(b, "multideterminant", c->sum, 1) : NULL;
    if (sum) bench_expect(b, sum->plugin->prepare(sum->instance, &b->host));
    if (c->jastrow == SPLINES) quantum_term(b, "jastrow", jastrow, 1);
    if (c->jastrow == POLYNOMIALS) quantum_term(b, "polynomial_jastrow", polynomials, 1);
    if (c->forbids)
        quantum_term(b, TEST_OWN_PLUGINS "/test_hole",
                     "strength=0.5; cutoff=1.8; hole=1.3; inside=infinity", 1);
    if (c->ends)
        quantum_term(b, TEST_OWN_PLUGINS "/test_hole", "strength=0.5; cutoff=9; hole=0; beyond=3.2",
                     1);
}

static double *beginning(const bench *b, const chain *c)
{
    if (c->forbids) return allowed_positions(b, 5);
    if (c->ends) return random_positions(b, 5);
    double *x = random_positions(b, 5);
    for (size_t i = 0; i < count_of(b) && c->oblique == BOX_SPHERE; i++) x[i] = 0.33 * (x[i] - 2);
    return x;
}

/* Both sides draw the same numbers and decide alike, as long as no decision depends on the last
 * digits. */
static void follows_the_cpu(const chain *chains, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        double *x[2], energy[2][WALKERS];
        plugmc_counts counts[2];
        for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
            static place p;
            begin(&p, &chains[k]);
            double *from = beginning(&p.b, &chains[k]);
            start(&p, chains[k].mover, chains[k].settings, on_gpu, from);
            mover_sweep(&p.b, &p.mover, 0, 4);
            mover_sweep(&p.b, &p.mover, 4, 8);
            x[on_gpu] = bench_positions(&p.b);
            fetch(&p, x[on_gpu]);
            bench_expect(&p.b, mover_counts(&p.mover, &p.b.host, &counts[on_gpu], 1));
            bench_expect(&p.b, p.mover.calls->driver->running_energy(p.mover.instance, &p.b.host,
                                                                     energy[on_gpu]));
            if (on_gpu) {
                double worst = 0;
                for (size_t i = 0; i < count_of(&p.b); i++)
                    worst = fmax(worst, fabs(x[1][i] - x[0][i]));
                printf("%s, %s: %llu of %llu accepted, %llu on the CPU; positions within %.1g\n",
                       chains[k].mover, chains[k].settings, (unsigned long long)counts[1].accepted,
                       (unsigned long long)counts[1].trials, (unsigned long long)counts[0].accepted,
                       worst);
                assert_true(worst < 1e-9);
                for (int w = 0; w < WALKERS; w++)
                    assert_close(energy[1][w], energy[0][w], 1e-9, 1e-9);
            }
            free(from);
            finish(&p);
        }
        assert_int_equal(counts[0].accepted, counts[1].accepted);
        assert_int_equal(counts[0].trials, counts[1].trials);
        assert_true(counts[1].accepted > 0 && counts[1].accepted < counts[1].trials);
        free(x[0]), free(x[1]);
    }
}

static void all_proposals_beforehand(void **state)
{
    (void)state;
    static const chain chains[] = {
        {"quasi_simultaneous", "precision=double step=0.9", STANDING_WAVES, 7, 5, 0, 0},
        {"quasi_simultaneous", "precision=double step=0.9 block=3", PLANE_WAVES, 7, 4, 1, 1},
        {"quasi_simultaneous", "precision=double moves=ball step=1 block=64 refresh=5", PLANE_WAVES,
         27, 19, 0, 1},
        {"quasi_simultaneous", "precision=double moves=cube step=1 block=8", STANDING_WAVES, 19, 0,
         1, 1},
        {"quasi_simultaneous", "precision=double moves=ball step=0.8", PLANE_WAVES, 4, 3, 2, 1},
    };
    follows_the_cpu(chains, sizeof chains / sizeof *chains);
}

/* Tables of determinants: decisions by the whole sum, references that change on the way. */
static void sums_of_determinants(void **state)
{
    (void)state;
    static const char terms[] =
        "excitations=7>8/4>6 6>9,7>10/- -/3>5,4>7 5>8,7>9/1>6 3>8,6>10,7>11/- 7>8/2>5 2>9/3>8 1>11/- "
        "1>8,2>9,3>10,4>11/1>5,2>6,3>7; coefficients=-0.4 0.3 0.7 0.2 -0.5 0.9 -0.6 0.8 1.5";
    static const char up_alone[] = "excitations=9>10/- 8>11,7>12/- 1>10,2>11,3>12/-; "
                                   "coefficients=-0.7 0.8 1.2";
    static const chain chains[] = {
        {"quasi_simultaneous", "precision=double step=0.9", STANDING_WAVES, 7, 4, 0, 0, 0, 0,
         terms},
        {"quasi_simultaneous", "precision=double step=0.9 block=3 refresh=5", PLANE_WAVES, 7, 4, 1,
         1, 0, 0, terms},
        {"quasi_simultaneous", "precision=double step=0.8", STANDING_WAVES, 7, 4, 2, 1, 0, 0,
         terms},
        {"quasi_simultaneous", "precision=double step=0.9", PLANE_WAVES, 7, 4, 0, 1, 1, 0, terms},
        {"quasi_simultaneous", "precision=double step=0.8 refresh=2", STANDING_WAVES, 9, 0, 0, 1, 0,
         0, up_alone},
        {"particle_by_particle", "precision=double step=0.9", PLANE_WAVES, 7, 4, 1, 1, 0, 0, terms},
        {"particle_by_particle", "precision=double moves=ball step=1.5", STANDING_WAVES, 7, 4, 0, 0,
         0, 0, terms},
    };
    follows_the_cpu(chains, sizeof chains / sizeof *chains);
}

static void forbidden_places_and_functions_of_places(void **state)
{
    (void)state;
    static const chain chains[] = {
        {"quasi_simultaneous", "precision=double step=0.9", PLANE_WAVES, 7, 5, 0, 1, 1},
        {"quasi_simultaneous", "precision=double step=0.7", STANDING_WAVES, 7, 5, 1, 1, 1},
        {"quasi_simultaneous", "precision=double step=0.9 block=3", PLANE_WAVES, 7, 4, 1, 0, 1},
        {"quasi_simultaneous", "precision=double step=0.8 refresh=2", STANDING_WAVES, 9, 0, 0, 1,
         1},
        {"quasi_simultaneous", "precision=double step=0.8", PLANE_WAVES, 7, 4, 2, 1, 0, 1},
        {"quasi_simultaneous", "precision=double step=0.8 block=3 refresh=3", STANDING_WAVES, 7, 5,
         2, 0, 0, 1},
        {"quasi_simultaneous", "precision=double step=0.9", PLANE_WAVES, 7, 5, 0, POLYNOMIALS},
        {"quasi_simultaneous", "precision=double step=0.8 block=4", STANDING_WAVES, 4, 3, 2,
         POLYNOMIALS},
    };
    follows_the_cpu(chains, sizeof chains / sizeof *chains);
}

static void blocks_that_are_gathered(void **state)
{
    (void)state;
    static const chain chains[] = {
        {"quasi_simultaneous", "precision=double step=0.9 block=3 gather=2", PLANE_WAVES, 7, 4, 1,
         1},
        {"quasi_simultaneous", "precision=double step=0.9 block=3 gather=7", STANDING_WAVES, 19, 7,
         0, 1},
        {"quasi_simultaneous", "precision=double step=0.8 block=4 gather=3 refresh=5", PLANE_WAVES,
         27, 19, 0, 1},
        {"quasi_simultaneous", "precision=double step=0.9 block=2 gather=3", PLANE_WAVES, 7, 5, 0,
         1, 1},
        {"quasi_simultaneous", "precision=double step=0.8 block=2 gather=2", PLANE_WAVES, 7, 4, 2,
         1, 0, 1},
        {"quasi_simultaneous", "precision=double step=0.9 block=3 gather=2", STANDING_WAVES, 7, 5,
         1, POLYNOMIALS},
        {"quasi_simultaneous", "precision=double step=0.8 block=8 gather=4", STANDING_WAVES, 27, 19,
         1, 1},
        {"quasi_simultaneous", "precision=double step=0.8 block=40 gather=2", PLANE_WAVES, 57, 33,
         0, 1},
        {"quasi_simultaneous", "precision=double step=0.8 block=64 gather=2 refresh=5", PLANE_WAVES,
         123, 81, 0, 1},
        {"quasi_simultaneous", "precision=double step=0.8 block=32 gather=3 refresh=5",
         STANDING_WAVES, 123, 0, 1, 1},
        {"quasi_simultaneous", "precision=double step=0.8 block=16 gather=2 refresh=5", PLANE_WAVES,
         123, 81, 0, 1},
        {"quasi_simultaneous", "precision=double step=0.9 block=3 gather=2", PLANE_WAVES, 7, 5, 2,
         1, 0, 1},
    };
    follows_the_cpu(chains, sizeof chains / sizeof *chains);
}

static void one_electron_at_a_time(void **state)
{
    (void)state;
    static const chain chains[] = {
        {"particle_by_particle", "precision=double step=0.9 refresh=7", PLANE_WAVES, 7, 5, 0, 1},
        {"particle_by_particle", "precision=double step=0.9", STANDING_WAVES, 7, 5, 1, 0},
        {"particle_by_particle", "precision=double step=0.9", PLANE_WAVES, 7, 5, 0, 1, 1},
        {"particle_by_particle", "precision=double step=0.8", PLANE_WAVES, 7, 4, 2, 0, 0, 1},
        {"particle_by_particle", "precision=double step=0.9 refresh=3", PLANE_WAVES, 7, 5, 1,
         POLYNOMIALS},
    };
    follows_the_cpu(chains, sizeof chains / sizeof *chains);
}

static void all_at_once(void **state)
{
    (void)state;
    static const chain chains[] = {
        {"quasi_simultaneous", "precision=double acceptance=simultaneous step=0.6", PLANE_WAVES, 7,
         5, 0, 1},
        {"quasi_simultaneous", "precision=double acceptance=simultaneous step=0.6", STANDING_WAVES,
         5, 0, 1, 0},
        {"configuration", "precision=double step=0.2", PLANE_WAVES, 7, 5, 0, 1},
        {"configuration", "precision=double step=0.2 refresh=3", STANDING_WAVES, 7, 0, 1, 0},
        {"configuration", "precision=double step=0.15", STANDING_WAVES, 7, 5, 0, 1, 1},
        {"quasi_simultaneous", "precision=double acceptance=simultaneous step=0.6", PLANE_WAVES, 5,
         4, 2, 0, 0, 1},
        {"configuration", "precision=double step=0.3", STANDING_WAVES, 4, 3, 2, 0, 0, 1},
        {"configuration", "precision=double step=0.2", STANDING_WAVES, 7, 5, 0, POLYNOMIALS},
    };
    follows_the_cpu(chains, sizeof chains / sizeof *chains);
}

static void orbitals_in_single_precision_keep_ln_psi_to_it(void **state)
{
    (void)state;
    const chain c = {"quasi_simultaneous", "precision=single step=0.9", PLANE_WAVES, 27, 19, 1, 1};
    static place p;
    double energy[WALKERS];
    begin(&p, &c);
    double *x = random_positions(&p.b, 5);
    start(&p, c.mover, c.settings, 1, x);
    mover_sweep(&p.b, &p.mover, 0, 12);
    fetch(&p, x);
    bench_expect(&p.b, p.mover.calls->driver->running_energy(p.mover.instance, &p.b.host, energy));
    for (int w = 0; w < WALKERS; w++)
        assert_close(energy[w], brute_energy(&p.b, x + 3 * 46 * w), 0, 1e-3);
    free(x);
    finish(&p);
}

static void a_resumed_chain_is_the_one_never_stopped(void **state)
{
    (void)state;
    const chain c = {"quasi_simultaneous",
                     "precision=single step=0.9 refresh=8 block=4",
                     PLANE_WAVES,
                     7,
                     5,
                     1,
                     1};
    static place p, q;
    test_archive archive;
    begin(&p, &c);
    double *x = random_positions(&p.b, 5), *y = bench_positions(&p.b);
    start(&p, c.mover, c.settings, 1, x);
    mover_sweep(&p.b, &p.mover, 0, 13);
    fetch(&p, y);
    mover_save(&p.b, &p.mover, &archive);
    mover_sweep(&p.b, &p.mover, 13, 9);
    fetch(&p, x);
    finish(&p);
    begin(&q, &c);
    start(&q, c.mover, c.settings, 1, y);
    mover_restore(&q.b, &q.mover, &archive);
    mover_sweep(&q.b, &q.mover, 13, 9);
    fetch(&q, y);
    assert_memory_equal(x, y, count_of(&q.b) * sizeof *x);
    archive_end(&archive);
    free(x), free(y);
    finish(&q);
}

static void dependent_orbitals_are_refused(void **state)
{
    (void)state;
    const chain c = {"quasi_simultaneous", "precision=double", PLANE_WAVES, 7, 5, 0, 0};
    static place p;
    begin(&p, &c);
    double *x = random_positions(&p.b, 5);
    start(&p, c.mover, c.settings, 1, x);
    memcpy(x + 3 * 12 + 3, x + 3 * 12, 3 * sizeof *x);
    assert_int_equal(mover_take(&p.mover, &p.b.host, x), PLUGMC_ERROR_INPUT);
    free(x);
    finish(&p);
}

/* ---- Speed ----------------------------------------------------------------------------------- */

/* Sweeps of 64 walkers of 2 n electrons in plane waves of the plugin, with a Jastrow factor;
 * nothing depends on the figures that are printed. PLUGMC_VMC_SPEED asks for it. */
static void sweeps_of_many_electrons(void **state)
{
    (void)state;
    static const int sizes[] = {108, 324, 768};
    static const char *const settings[] = {"block=16", "block=32", "block=64"};
    if (!getenv("PLUGMC_VMC_SPEED")) skip();
    for (int k = 0; k < 9; k++) {
        const int n = sizes[k / 3];
        const double edge = 2.5 * cbrt(2.0 * n), length[3] = {edge, edge, edge};
        static place p;
        char all[128];
        quantum_begin(&p.b, length, 64, 1);
        bench_species(&p.b, "up", n, 0, -1);
        bench_species(&p.b, "down", n, 0, -1);
        quantum_term(&p.b, "plane_waves", "", 1);
        quantum_term(&p.b, "jastrow",
                     "like=0.28 0.22 0.17 0.12 0.08 0.05 0.03 0.012; "
                     "unlike=0.46 0.36 0.26 0.18 0.12 0.08 0.04 0.017",
                     1);
        double *x = random_positions(&p.b, 5);
        snprintf(all, sizeof all, "step=1 refresh=1000000 %s", settings[k % 3]);
        start(&p, "quasi_simultaneous", all, 1, x);
        double begin = seconds();
        mover_load(&p.b, &p.mover, x);
        synchronize(&p);
        const double loading = seconds() - begin;
        mover_sweep(&p.b, &p.mover, 0, 2);
        synchronize(&p);
        begin = seconds();
        mover_sweep(&p.b, &p.mover, 2, 10);
        synchronize(&p);
        printf("%d electrons, %s: %.3f ms a sweep and walker; matrices anew %.3f ms\n", 2 * n,
               settings[k % 3], (seconds() - begin) / 10 / 64 * 1e3, loading / 64 * 1e3);
        free(x);
        finish(&p);
    }
}

GPU_TEST_MAIN(cmocka_unit_test(all_proposals_beforehand), cmocka_unit_test(sums_of_determinants),
              cmocka_unit_test(forbidden_places_and_functions_of_places),
              cmocka_unit_test(blocks_that_are_gathered), cmocka_unit_test(one_electron_at_a_time),
              cmocka_unit_test(all_at_once),
              cmocka_unit_test(orbitals_in_single_precision_keep_ln_psi_to_it),
              cmocka_unit_test(a_resumed_chain_is_the_one_never_stopped),
              cmocka_unit_test(dependent_orbitals_are_refused),
              cmocka_unit_test(sweeps_of_many_electrons))
