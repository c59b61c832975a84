/* Rigid molecules that come and leave with several trial positions and orientations: of at most two charged molecules beside an
 * Ewald sum, P(2) P(0) / P(1)^2 is <exp(-U2)> / (2 <exp(-U1)>^2), with means over positions and orientations of two
 * molecules and of one, whatever the activity. Faults that are planted in the choice have to be seen. */
#include "testing.h"

#include "molecules.h"

#include "energy/molecule_trials.h"
#include "energy/trial_positions.h"

enum { NONE, ONE_ORIENTATION, NO_WEIGHT_OF_OLD, SITES_FOR_MOLECULES };
static int fault;

/* The core's choice, in which a fault may be planted. */
#define trial_orientation(t, j) trial_orientation(t, fault == ONE_ORIENTATION ? 0 : (j))
#define molecule_leaves_one molecule_leaves_one_weighed
static int molecule_leaves_one_weighed(hamiltonian *, const plugmc_trial *, const plugmc_changes *,
                                       double *);
#include "../../core/src/energy/molecule_trials.c"
#undef molecule_leaves_one
#undef trial_orientation

int molecule_leaves_one(hamiltonian *h, const plugmc_trial *t, const plugmc_changes *c,
                        double *delta)
{
    double weighed = 0;
    const int code = molecule_leaves_one_weighed(h, t, c, &weighed);
    *delta = fault == NO_WEIGHT_OF_OLD ? c->delta[0] : weighed;
    return code;
}

static const double edge = 5, activity = 0.012;

static void begin(bench *b)
{
    const species_of_test species[] = {{"A", 0, 0.5}, {"B", 0, -1}};
    const kind_of_test kind = {"A B A", 2, {0, 0, 0, 0.8, 0, 0, 0.8, 0.8, 0}, 9, 2};
    bench_begin(b, 3, (double[3]){edge, edge, edge}, 1, 11);
    bench_cube(b, edge);
    bench_molecules(b, species, 2, &kind, 1);
    b->system.changes |= PLUGMC_CHANGED_COUNT;
    bench_expect(b, bench_configured(b, "lennard_jones", "epsilon=1,0.3 sigma=0.9 cutoff=2"));
    bench_expect(b, bench_configured(b, "tail_correction", ""));
    bench_expect(
        b, bench_configured(b, "coulomb_ewald", "bjerrum_length=2 cutoff=2.4 alpha=1.1 k_max=4"));
    bench_expect(b, bench_prepare(b));
}

/* The first n molecules are there, somewhere. */
static void put_molecules(bench *b, hamiltonian *h, int n, uint64_t draw)
{
    const plugmc_molecule *kind = plugmc_kind_of_molecule(b->system.molecules, 0);
    double *x = bench_positions(b), at[PLUGMC_MOST_SITES][3];
    plugmc_orientation o[6];
    const int64_t counts[2] = {2 * n, n};
    for (int i = 0; i < 18; i++) x[i] = NAN;
    for (int i = 0; i < 6; i++) o[i] = plugmc_upright(3);
    for (int m = 0; m < n; m++) {
        const plugmc_trial t = {.walker = (uint32_t)m,
                                .seed = {99},
                                .sweep = draw,
                                .number = (uint32_t)n,
                                .dimension = 3,
                                .box = &b->system.box};
        double first[3];
        plugmc_draw_position(&t, first);
        o[plugmc_site_number(kind, m, 0)] =
            plugmc_draw_orientation(t.seed, draw, (uint32_t)m, (uint32_t)n, 3);
        place_kind(kind, &b->system.box, first, &o[plugmc_site_number(kind, m, 0)], at);
        for (int a = 0; a < 3; a++)
            memcpy(&x[3 * plugmc_site_number(kind, m, a)], at[a], sizeof at[a]);
    }
    assert_int_equal(configuration_fill(&h->walkers[0].now, &b->system.box, counts, x, o), 0);
    h->stale = false;
    free(x);
}

/* The mean of exp(-U) over configurations of n molecules, with its error. */
static double mean_factor(bench *b, hamiltonian *h, int n, uint64_t samples, double *error)
{
    double sum = 0, squares = 0;
    for (uint64_t k = 0; k < samples; k++) {
        put_molecules(b, h, n, k);
        const double f = exp(-molecules_energy(b, h));
        sum += f, squares += f * f;
    }
    const double mean = sum / (double)samples;
    *error = sqrt((squares / (double)samples - mean * mean) / (double)samples);
    return mean;
}

typedef struct ratio {
    double value, error;
} ratio;

static ratio exact_ratio(bench *b, hamiltonian *h)
{
    double errors[2];
    const double one = mean_factor(b, h, 1, 4000, &errors[0]),
                 two = mean_factor(b, h, 2, 300000, &errors[1]);
    const double value = two / (2 * one * one);
    return (ratio){value, value * hypot(errors[1] / two, 2 * errors[0] / one)};
}

/* ---- The chain ----------------------------------------------------------------------------------- */

static int propose(const void *parameters, plugmc_trial *t)
{
    const int32_t *choices = parameters;
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const plugmc_molecule *kind = plugmc_kind_of_molecule(t->molecules, 0);
    const uint32_t there = (uint32_t)plugmc_molecules_of_kind(kind, t->with_sites),
                   n = fault == SITES_FOR_MOLECULES ? 3 * there : there;
    t->trial_positions = choices[0];
    t->trial_orientations = choices[1];
    t->species = t->other = 0;
    t->particle = -1;
    if (random.word[3] >> 31) {
        t->kind = PLUGMC_MOLECULE_INSERTED;
        plugmc_draw_position(t, t->position);
        t->log_factor = log(t->box->volume / ((double)n + 1));
        return 1;
    }
    t->kind = PLUGMC_MOLECULE_REMOVED;
    if (n == 0) return 1;
    t->particle = (int32_t)plugmc_site_number(kind, plugmc_below(random.word[0], there), 0);
    t->log_factor = log((double)n / t->box->volume);
    return 1;
}

enum { BLOCKS = 40 };

static double ratio_of(const double p[3]) { return p[2] * p[0] / (p[1] * p[1]); }

/* From `trials` exchanges, with an error by blocks that are left out in turn. */
static ratio found_ratio(bench *b, hamiltonian *h, int32_t positions, int32_t orientations,
                         int trials)
{
    const int32_t choices[2] = {positions, orientations};
    const plugmc_mover mover = {.size = sizeof mover,
                                .moves = open_plugin("rigid")->mover->moves,
                                .move_count = 1,
                                .changes = PLUGMC_CHANGED_COUNT};
    const plugmc_proposal proposal = {
        .size = sizeof proposal, .trials = 1, .parameters = choices, .propose = propose};
    double all[3] = {0}, blocks[BLOCKS][3] = {{0}}, squares = 0, mean = 0;
    put_molecules(b, h, 0, 0);
    assert_int_equal(hamiltonian_start_totals(h, &b->host), PLUGMC_OK);
    for (int k = 0; k < trials; k++) {
        bench_expect(b, hamiltonian_trials(h, &b->host, &mover, &proposal, (uint64_t)k, 1));
        const int64_t n = h->walkers[0].now.counts[1];
        assert_int_equal(h->walkers[0].now.counts[0], 2 * n);
        blocks[(int64_t)k * BLOCKS / trials][n]++;
        all[n]++;
    }
    for (int k = 0; k < BLOCKS; k++) {
        const double rest[3] = {all[0] - blocks[k][0], all[1] - blocks[k][1],
                                all[2] - blocks[k][2]},
                     r = ratio_of(rest);
        mean += r / BLOCKS, squares += r * r / BLOCKS;
    }
    return (ratio){ratio_of(all), sqrt((BLOCKS - 1) * (squares - mean * mean))};
}

static double z_of(ratio found, ratio exact)
{
    return (found.value - exact.value) / hypot(found.error, exact.error);
}

static void two_molecules_are_as_frequent_as_their_energies_say(void **state)
{
    (void)state;
    static const int32_t choices[][2] = {{1, 1}, {4, 1}, {1, 4}, {3, 5}};
    static const char *const faults[] = {"", "one orientation reused", "no weight of the old place",
                                         "sites for molecules"};
    bench b;
    begin(&b);
    test_mover core = mover_new(&b, "rigid", "");
    hamiltonian *h = &core.core->hamiltonian;
    h->multipliers[b.system.term_count + 1] = -log(activity) / 2; /* two sites of species A */
    const ratio exact = exact_ratio(&b, h);
    printf("P(2) P(0) / P(1)^2 is %.4f(%.4f)\n", exact.value, exact.error);
    assert_true(exact.value > 0.6 && exact.error < 0.02 * exact.value); /* 1/2 without energies */
    for (int k = 0; k < PLUGMC_COUNT(choices); k++) {
        b.host.seed.key = 100 + (uint64_t)k; /* else all have the same random numbers */
        const ratio found = found_ratio(&b, h, choices[k][0], choices[k][1], 100000);
        const double z = z_of(found, exact);
        printf("%d positions, %d orientations: %.4f(%.4f), z = %.2f\n", choices[k][0],
               choices[k][1], found.value, found.error, z);
        assert_true(fabs(z) < 4);
    }
    for (fault = ONE_ORIENTATION; fault <= SITES_FOR_MOLECULES; fault++) {
        const ratio found = found_ratio(&b, h, fault == ONE_ORIENTATION ? 1 : 3, 6, 100000);
        const double z = z_of(found, exact);
        printf("%s: %.4f(%.4f), z = %.1f\n", faults[fault], found.value, found.error, z);
        assert_true(fabs(z) > 6);
    }
    mover_end(&core);
    molecules_end(&b);
}

TEST_MAIN(cmocka_unit_test(two_molecules_are_as_frequent_as_their_energies_say))
