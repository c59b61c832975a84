/* coulomb_cube against coulomb_ewald, which has the same energies by waves. */
#include "boxes.h"
#include "testing.h"

#include "movers.h"
#include "forces.h"

enum { MOST = 60 };
static const double edge = 5;

static double uniform_of(uint64_t *state)
{
    plugmc_random r =
        plugmc_draw((plugmc_seed){20261126}, ++*state, 0, 0, PLUGMC_PURPOSE_INITIAL, 0);
    return plugmc_uniform_double(r.word[0], r.word[1]);
}

/* Charges 1 and -1 in a cube under one of the two. */
static void ions(bench *b, const char *name, const char *settings, int64_t cations, int64_t anions)
{
    bench_begin(b, 3, (double[3]){1, 1, 1}, 1, 7);
    bench_cube(b, edge);
    bench_species(b, "cation", cations, 1, 1);
    bench_species(b, "anion", anions, 1, -1);
    bench_potential(b, "hard_disk", "");
    bench_expect(b, bench_configured(b, name, settings));
}

/* Far more precise than the series. */
static double by_waves(const double *positions, int64_t cations, int64_t anions)
{
    bench b;
    ions(&b, "coulomb_ewald", "bjerrum_length=3 tolerance=1e-11", cations, anions);
    const plugmc_term *term = &b.terms[1];
    bench_expect(&b, term->plugin->prepare(term->instance, &b.host));
    b.terms[0] = b.terms[1];
    b.system.term_count = 1; /* hard cores aside */
    const double energy = bench_energy(&b, positions, NULL, NULL);
    bench_end(&b);
    return energy;
}

/* In the precision `single` or double. */
static double by_pairs(const bench *b, const double *positions, bool single)
{
    const plugmc_term *term = &b->terms[1];
    const plugmc_potential *p = single ? term->plugin->single->potential : term->plugin->potential;
    const void *instance = single ? term->instance_single : term->instance;
    const int64_t n = b->system.particles;
    double in_double[5][MOST], energy = 0;
    float in_single[5][MOST];
    int32_t species[MOST];
    for (int64_t i = 0; i < n; i++) {
        const plugmc_species *own = bench_species_of(b, i);
        const double of[5] = {positions[3 * i], positions[3 * i + 1], positions[3 * i + 2],
                              own->charge, own->diameter};
        for (int k = 0; k < 5; k++) in_single[k][i] = (float)(in_double[k][i] = of[k]);
        species[i] = (int32_t)(own - b->species);
    }
#define COLUMN(k, i) (single ? (const void *)&in_single[k][i] : (const void *)&in_double[k][i])
    for (int64_t i = 0; i < n; i++) {
        const plugmc_particle probe = {positions[3 * i], positions[3 * i + 1], positions[3 * i + 2],
                                       in_double[3][i],  in_double[4][i],      species[i]};
        const plugmc_particles
            before = {i,      COLUMN(0, 0), COLUMN(1, 0), COLUMN(2, 0), COLUMN(3, 0), COLUMN(4, 0),
                      species},
            own = {1,          COLUMN(0, i), COLUMN(1, i), COLUMN(2, i), COLUMN(3, i), COLUMN(4, i),
                   species + i};
        p->pair->energy(instance, &b->system.box, 1, &probe, &before, &energy);
        assert_int_equal(p->field->energy(instance, &own, &energy), 0);
    }
#undef COLUMN
    return energy;
}

/* Of two, whatever way they are apart: along an axis, in corners of the cell, near each other. */
static void has_the_energies_of_pairs(void **state)
{
    (void)state;
    uint64_t sequence = 0;
    double worst = 0;
    bench b;
    ions(&b, "coulomb_cube", "bjerrum_length=3", 1, 1);
    for (int k = 0; k < 400; k++) {
        double r[6] = {1, 2, 3};
        for (int d = 0; d < 3; d++) {
            const double corner[3] = {0.5 * (k & 1), 0.5 * (k >> 1 & 1), 0.5 * (k >> 2 & 1)};
            const double x = k > 0 && k < 8 ? corner[d] : uniform_of(&sequence);
            r[3 + d] = r[d] + edge * (k < 200 ? x : 0.1 * x + 0.01);
        }
        const double wanted = by_waves(r, 1, 1);
        worst = fmax(worst, fabs(by_pairs(&b, r, false) - wanted) * edge / 3);
        assert_close(by_pairs(&b, r, true), wanted, 1e-5, 1e-4);
    }
    bench_end(&b);
    printf("psi is right to %.2g\n", worst);
    assert_true(worst < 6e-6);
}

static void has_the_energies_of_many(void **state)
{
    (void)state;
    static const int64_t numbers[3][2] = {{30, 30}, {31, 29}, {0, 5}}; /* charged ones, too */
    uint64_t sequence = 1000000;
    for (int k = 0; k < 3; k++) {
        const int64_t n = numbers[k][0] + numbers[k][1];
        double r[3 * MOST];
        bench b;
        ions(&b, "coulomb_cube", "bjerrum_length=3", numbers[k][0], numbers[k][1]);
        for (int64_t i = 0; i < 3 * n; i++) r[i] = edge * uniform_of(&sequence);
        const double wanted = by_waves(r, numbers[k][0], numbers[k][1]);
        printf("%.7f, by waves %.7f\n", by_pairs(&b, r, false), wanted);
        /* errors of pairs, 1e-6 l_B / L on average, with random signs */
        assert_close(by_pairs(&b, r, false), wanted, 0, 3.0 / edge * 2e-6 * (double)n);
        assert_close(by_pairs(&b, r, true), wanted, 0, 1e-3);
        bench_end(&b);
    }
}

static void refuses_what_is_no_cube(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        bench b;
        bench_begin(&b, k == 1 ? 2 : 3, (double[3]){5, 5, 5}, 1, 7);
        if (k == 0) bench_vectors(&b, (double[3][3]){{5, 0, 0}, {0, 5, 0}, {0, 0, 5.5}});
        if (k == 2) bench_cube(&b, edge);
        if (k == 2) b.system.changes |= PLUGMC_CHANGED_BOX;
        bench_species(&b, "cation", 1, 1, 1);
        bench_species(&b, "anion", 1, 1, -1);
        assert_int_equal(bench_configured(&b, "coulomb_cube", "bjerrum_length=1"),
                         PLUGMC_ERROR_INPUT);
        assert_non_null(strstr(b.message, k == 2 ? "changes boxes" : "but [box] is not one"));
        bench_end(&b);
    }
}

TEST_MAIN(cmocka_unit_test(has_the_energies_of_pairs), cmocka_unit_test(has_the_energies_of_many),
          cmocka_unit_test(refuses_what_is_no_cube))
