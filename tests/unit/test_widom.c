/* widom on the CPU: the means that a loop over all places and all particles gives, without cells and
 * without places that are given up; the same for any number of threads; and cell by cell the same mean as
 * anywhere, with a smaller spread. */
#include "testing.h"

#include "widom_systems.h"

enum { PLACES = 500 };

/* Place k of a walker as places.h says, written once more. */
static void draw_place(const plugmc_box *box, uint64_t seed, uint64_t sweep, int walker, uint32_t k,
                       double r[3])
{
    r[0] = r[1] = r[2] = 0;
    for (uint32_t draw = 0; draw < 256; draw++) {
        const plugmc_random u = plugmc_draw((plugmc_seed){seed}, sweep, (uint32_t)walker, k,
                                            PLUGMC_PURPOSE_OBSERVABLE, draw);
        double f[3] = {0, 0, 0}, square = 0;
        for (int d = 0; d < box->dimension; d++) f[d] = (u.word[d] + 0.5) / 4294967296.0;
        if (box->domain == PLUGMC_DOMAIN_PERIODIC) {
            for (int d = 0; d < box->dimension; d++)
                for (int e = 0; e < 3; e++) r[e] += f[d] * box->vector[d][e];
            return;
        }
        for (int d = 0; d < 3; d++) square += pow(r[d] = 2 * f[d] - 1, 2);
        for (int d = 0; d < 3; d++) r[d] *= box->radius;
        if (square <= 1) return;
    }
}

/* exp(-dU/kT) of a test particle of `species` at r, `missing` particles at the end of A left out. */
static double naive_factor(const widom_run *run, const widom_system *s, int walker, int species,
                           const double r[3], int missing)
{
    const bench *b = &run->b;
    const plugmc_species *own = &b->species[species];
    const plugmc_particle probe = {r[0], r[1], r[2], own->charge, own->diameter, species};
    const plugmc_particles one = {
        1, &probe.x, &probe.y, &probe.z, &probe.charge, &probe.diameter, &probe.species};
    const plugmc_box *box = &run->view.box[walker];
    double growth = 0;
    for (int t = 0; t < b->system.term_count; t++) {
        const plugmc_potential *p = b->terms[t].plugin->potential;
        double energy = 0;
        int64_t forbidden = 0;
        if (p->field) forbidden += p->field->energy(b->terms[t].instance, &one, &energy);
        if (p->total) {
            int64_t more[2] = {run->view.count[2 * walker], run->view.count[2 * walker + 1]};
            more[species]++;
            energy += p->total->of_counts(b->terms[t].instance, box, more) -
                      p->total->of_counts(b->terms[t].instance, box, run->view.count + 2 * walker);
        }
        for (int64_t i = 0; i < b->system.particles && p->pair; i++) {
            const double *at = run->positions + 3 * (walker * b->system.particles + i);
            const int k = i >= b->first[1];
            if (isnan(at[0]) || (k == 0 && i >= b->first[1] - missing)) continue;
            const plugmc_species *of = &b->species[k];
            const plugmc_particle o = {at[0], at[1], at[2], of->charge, of->diameter, k};
            const plugmc_particles other = {1,         &o.x,        &o.y,      &o.z,
                                            &o.charge, &o.diameter, &o.species};
            forbidden +=
                p->pair->energy(b->terms[t].instance, box, box->domain == PLUGMC_DOMAIN_PERIODIC,
                                &probe, &other, &energy);
        }
        if (forbidden) return 0;
        growth += (t == 0 && s->weighted ? 0.5 + 0.3 * walker : 1 / b->system.temperature) * energy;
    }
    return exp(-growth);
}

static void means_are_those_of_all_pairs(void **state)
{
    (void)state;
    for (int k = 0; k < WIDOM_SYSTEMS; k++)
        for (int species = 0; species < 2; species++) {
            static widom_run run;
            const widom_system *s = &widom_systems[k];
            double found[WIDOM_WALKERS];
            char settings[64];
            snprintf(settings, sizeof settings, "insertions=%d", PLACES);
            widom_begin_run(&run, s, species ? "B" : "A", settings, 2, 0);
            widom_measure(&run, found);
            for (int w = 0; w < WIDOM_WALKERS; w++) {
                double sum = 0, faulty = 0, r[3];
                for (uint32_t i = 0; i < PLACES; i++) {
                    draw_place(&run.view.box[w], 9, run.view.sweep, w, i, r);
                    sum += naive_factor(&run, s, w, species, r, 0);
                    if (w == 0) faulty += naive_factor(&run, s, w, species, r, 1);
                }
                assert_close(found[w], sum / PLACES, 1e-11, 1e-30);
                assert_true(sum > 0);
                if (w == 0) assert_true(fabs(faulty - sum) > 1e-9 * sum); /* one less is seen */
            }
            printf("%s, %s: %.6g %.6g %.6g\n", s->name, species ? "B" : "A", found[0], found[1],
                   found[2]);
            widom_end_run(&run);
        }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    static const char *const settings[] = {"insertions=1500", "insertions=1500 placement=cells"};
    for (int k = 0; k < WIDOM_SYSTEMS; k++)
        for (int drawn = 0; drawn < (widom_systems[k].shape == BALL ? 1 : 2); drawn++) {
            double found[3][WIDOM_WALKERS];
            for (int i = 0; i < 3; i++) { /* more threads than walkers, and fewer */
                static widom_run run;
                widom_begin_run(&run, &widom_systems[k], "A", settings[drawn], 1 + i * i, 0);
                widom_measure(&run, found[i]);
                widom_end_run(&run);
            }
            assert_memory_equal(found[0], found[1], sizeof found[0]);
            assert_memory_equal(found[0], found[2], sizeof found[0]);
        }
}

/* The mean of a configuration over many draws, and its variance. */
static void average(const widom_system *s, const char *settings, double *mean, double *variance)
{
    enum { DRAWS = 30 };
    static widom_run run;
    double sum = 0, square = 0, found[WIDOM_WALKERS];
    widom_begin_run(&run, s, "A", settings, 2, 0);
    for (int i = 0; i < DRAWS; i++) {
        run.view.sweep = (uint64_t)i;
        widom_measure(&run, found);
        sum += found[0] / DRAWS;
        square += found[0] * found[0] / DRAWS;
    }
    widom_end_run(&run);
    *mean = sum;
    *variance = (square - sum * sum) / (DRAWS - 1); /* of the mean */
}

/* Eight comparisons within 4.5 standard errors of 30 draws each: a right program fails once in 1,000. */
static void cells_have_the_same_mean_and_a_smaller_spread(void **state)
{
    (void)state;
    double logarithms = 0;
    for (int k = 0; k < WIDOM_SYSTEMS; k++) {
        double mean[2], variance[2];
        if (widom_systems[k].shape == BALL) continue;
        average(&widom_systems[k], "insertions=1000", &mean[0], &variance[0]);
        average(&widom_systems[k], "insertions=1000 placement=cells", &mean[1], &variance[1]);
        assert_z(widom_systems[k].name, mean[1] - mean[0], sqrt(variance[0] + variance[1]), 0, 4.5);
        printf("  variance cell by cell over that anywhere: %.3f\n", variance[1] / variance[0]);
        logarithms += log(variance[1] / variance[0]);
    }
    assert_true(logarithms < -3); /* a variance is known to a quarter; half of it is usual */
}

/* Two rods of length 1 on a ring of 5.5, as disks in a strip too thin for them to pass: the second is where
 * the first lets it be. A test rod fits in with (L - 3)^2 / (L (L - 2)), exactly but for the width of the
 * strip (1e-6). Within 4 standard errors: a right program fails once in 10,000. */
static void rods_on_a_ring(void **state)
{
    (void)state;
    enum { DRAWS = 2000 };
    const widom_system s = {"rods", 2, BRICK, 5.5, {1, 1}, 0, 1, {{"hard_disk", ""}}, 0};
    static widom_run run;
    double sum = 0, square = 0, found[WIDOM_WALKERS];
    widom_begin_run(&run, &s, "A", "insertions=100", 1, 0);
    bench *b = &run.b;
    bench_vectors(b, (const double[3][3]){{5.5, 0, 0}, {0, 1e-3, 0}, {0, 0, 1}});
    state_end(&run.state); /* the boxes of walkers are that of the system again */
    free(run.rungs.multipliers);
    widom_make_state(&run, &s);
    for (uint32_t i = 0; i < DRAWS; i++) {
        for (uint32_t w = 0; w < WIDOM_WALKERS; w++) {
            double *r = run.positions + 6 * w;
            memset(r, 0, 6 * sizeof *r);
            r[0] = 5.5 * widom_number(i, w, 0);
            r[3] = fmod(r[0] + 1.0001 + (5.5 - 2.0002) * widom_number(i, w, 1), 5.5);
        }
        bench_expect(b, b->host.view(b->host.context, run.positions, 0, &run.view));
        run.view.sweep = i;
        widom_measure(&run, found);
        const double mean = (found[0] + found[1] + found[2]) / WIDOM_WALKERS;
        sum += mean / DRAWS;
        square += mean * mean / DRAWS;
    }
    widom_end_run(&run);
    assert_z("rods", sum, sqrt((square - sum * sum) / (DRAWS - 1)), 6.25 / (5.5 * 3.5), 4);
}

TEST_MAIN(cmocka_unit_test(rods_on_a_ring), cmocka_unit_test(means_are_those_of_all_pairs),
          cmocka_unit_test(threads_do_not_matter),
          cmocka_unit_test(cells_have_the_same_mean_and_a_smaller_spread))
