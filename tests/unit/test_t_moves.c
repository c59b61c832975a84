/* T-moves of diffusion (plugins/movers/diffusion/t_moves.c) against probabilities that are written down here: two
 * electrons on a line whose wave function couples them, each with three places to go to, so that what the second one
 * does depends on where the first one is by then. |z| <= 4 of 16 frequencies: a right program fails once in 1,000
 * seeds. */
#include "../../plugins/movers/diffusion/t_moves.c" /* before CMocka, for which `fail` is a macro */

#include "testing.h"

enum { PLACES = 3, SWEEPS = 40000 };
static const double COUPLING = 0.8, TAU = 0.5;
static const double begin[2] = {0.3, -0.4};
static const double to[2][PLACES] = {{-0.9, 0.1, 1.2}, {-1.1, 0.6, 1.5}};
static const double factor[2][PLACES] = {{-1.1, 0.7, -0.4}, {0.9, -0.8, -0.5}};

/* ---- A wave function: phi(x0) phi(x1) exp(-c x0 x1 / 2), phi without a node for one electron ---- */

static double phi(double x) { return 1 + 0.3 * x + 0.5 * x * x; }

static double psi(double x0, double x1)
{
    return phi(x0) * phi(x1) * exp(-0.5 * COUPLING * x0 * x1);
}

int walk_orbitals(const diffusion *d, const plugmc_host *host, int spin, int64_t points, int slopes)
{
    (void)host, (void)spin;
    assert_int_equal(slopes, 0);
    assert_true(points <= d->batch.room);
    for (int64_t k = 0; k < points; k++) d->batch.values[k] = phi(d->batch.points[3 * k]);
    return PLUGMC_OK;
}

int64_t walk_parts(const diffusion *d, const walker *w, int64_t e, const double r[3], int64_t end,
                   plugmc_derivatives *out)
{
    (void)d;
    assert_int_equal(end, 2);
    *out = (plugmc_derivatives){.energy = COUPLING * r[0] * w->x[1 - e]};
    return 0;
}

void slater_rows(slater *s) { (void)s; }

double complex slater_product(const slater *s, int64_t e, const double *values)
{
    assert_int_equal(e, 0);
    return values[0] * s->inverse[0];
}

int walk_put(diffusion *d, const plugmc_host *host, const int32_t *electron)
{
    (void)host;
    for (int32_t w = 0; w < d->system->walkers; w++) {
        const int32_t e = electron[w];
        if (e < 0) continue;
        d->walkers[w].x[e] = d->walkers[w].there[0];
        d->walkers[w].spin[e].inverse[0] = 1 / phi(d->walkers[w].there[0]);
    }
    return PLUGMC_OK;
}

/* ---- What has to come out -------------------------------------------------------------------- */

/* Of electron e of these: chances [PLACES] to go to each place, and to stay. */
static void chances(const double x[2], int e, double out[PLACES + 1])
{
    double all = 1;
    for (int k = 0; k < PLACES; k++) {
        const double there[2] = {e ? x[0] : to[0][k], e ? to[1][k] : x[1]};
        out[k] = fmax(0, -TAU * factor[e][k] * psi(there[0], there[1]) / psi(x[0], x[1]));
        all += out[k];
    }
    for (int k = 0; k < PLACES; k++) out[k] /= all;
    out[PLACES] = 1 / all;
}

static int place_of(const double x, int e)
{
    for (int k = 0; k < PLACES; k++)
        if (x == to[e][k]) return k;
    assert_true(x == begin[e]);
    return PLACES;
}

/* ---- The test -------------------------------------------------------------------------------- */

enum { WALKERS = 2, COUNT = WALKERS * 2 * PLACES };

static void list_places(plugmc_nonlocal_point places[COUNT])
{
    const double all = psi(begin[0], begin[1]);
    for (int i = 0; i < COUNT; i++) {
        const int e = i / PLACES % 2, k = i % PLACES;
        const double ratio = psi(e ? begin[0] : to[0][k], e ? to[1][k] : begin[1]) / all;
        places[i] = (plugmc_nonlocal_point){.phase = {1, 0},
                                            .walker = i / (2 * PLACES),
                                            .electron = e,
                                            .position = {to[e][k], 0, 0},
                                            .energy = factor[e][k] * ratio,
                                            .factor = factor[e][k]};
    }
}

/* seen[i][k]: how often the first electron came to place i and the second to k. `apart`: at ions of their own. */
static void run(int32_t nonlocal, int apart, long seen[PLACES + 1][PLACES + 1])
{
    int32_t ions[COUNT];
    double x[WALKERS][2], y[2] = {0}, inverse[WALKERS][2], points[3 * 2], values[2];
    int32_t copies[WALKERS];
    walker walkers[WALKERS] = {0};
    slater slaters[WALKERS][SPINS] = {0};
    plugmc_nonlocal_point places[COUNT];
    const int64_t first[] = {0, 1, 2};
    const plugmc_system system = {
        .walkers = WALKERS, .particles = 2, .species_count = 2, .first = first};
    diffusion d = {.system = &system,
                   .seed = {1},
                   .set.tau = TAU,
                   .set.nonlocal = nonlocal,
                   .threads = 1,
                   .wave.numbers = 1,
                   .walkers = walkers,
                   .batch.points = points,
                   .batch.values = values,
                   .batch.room = 2, /* so that three places take two calls */
                   .population.copies = copies,
                   .population.ions = ions};
    list_places(places);
    for (int i = 0; i < COUNT; i++) ions[i] = apart ? places[i].electron : 3;
    for (int s = 0; s < SWEEPS; s++) {
        for (int w = 0; w < WALKERS; w++) {
            walkers[w] = (walker){.index = w, .spin = slaters[w], .x = x[w], .y = y, .z = y};
            for (int e = 0; e < 2; e++) {
                x[w][e] = begin[e];
                inverse[w][e] = 1 / phi(begin[e]);
                walkers[w].spin[e].inverse = &inverse[w][e];
            }
        }
        assert_int_equal(t_moves_here(&d, NULL, (uint64_t)s, places, COUNT), PLUGMC_OK);
        for (int w = 0; w < WALKERS; w++) seen[place_of(x[w][0], 0)][place_of(x[w][1], 1)]++;
    }
}

/* The second electron knows where the first one is by then, or does not notice. */
static void choose_in_turn(int32_t nonlocal, int apart, int notices)
{
    long seen[PLACES + 1][PLACES + 1] = {{0}};
    run(nonlocal, apart, seen);
    double worst = 0, once[PLACES + 1], then[PLACES + 1];
    chances(begin, 0, once);
    for (int i = 0; i <= PLACES; i++) {
        const double now[2] = {i < PLACES && notices ? to[0][i] : begin[0], begin[1]};
        chances(now, 1, then);
        for (int k = 0; k <= PLACES; k++) {
            const double p = once[i] * then[k], n = (double)SWEEPS * WALKERS,
                         z = p > 0 ? ((double)seen[i][k] - n * p) / sqrt(n * p * (1 - p)) : 0;
            printf("%d, %d: %ld of %.0f, %.1f expected, z = %+.2f\n", i, k, seen[i][k], n, n * p,
                   z);
            if (p == 0) assert_int_equal(seen[i][k], 0);
            worst = fmax(worst, fabs(z));
        }
    }
    assert_true(worst <= 4);
}

static void electrons_choose_one_after_the_other(void **state)
{
    (void)state;
    choose_in_turn(T_MOVES, 0, 1);
    choose_in_turn(T_MOVES, 1, 1);
}

static void only_electrons_at_the_same_ion_notice(void **state)
{
    (void)state;
    choose_in_turn(NEAR_T_MOVES, 0, 1);
    choose_in_turn(NEAR_T_MOVES, 1, 0);
}

/* One heat bath between staying and the places of both electrons. */
static void at_most_one_electron_of_a_walker_goes(void **state)
{
    (void)state;
    long seen[PLACES + 1][PLACES + 1] = {{0}};
    run(ONE_T_MOVE, 0, seen);
    double worst = 0, all = 1, weight[2][PLACES];
    for (int e = 0; e < 2; e++)
        for (int k = 0; k < PLACES; k++) {
            const double there[2] = {e ? begin[0] : to[0][k], e ? to[1][k] : begin[1]};
            weight[e][k] =
                fmax(0, -TAU * factor[e][k] * psi(there[0], there[1]) / psi(begin[0], begin[1]));
            all += weight[e][k];
        }
    for (int i = 0; i <= PLACES; i++)
        for (int k = 0; k <= PLACES; k++) {
            const double p = i < PLACES && k < PLACES ? 0
                             : i < PLACES             ? weight[0][i] / all
                             : k < PLACES             ? weight[1][k] / all
                                                      : 1 / all;
            const double n = (double)SWEEPS * WALKERS,
                         z = p > 0 ? ((double)seen[i][k] - n * p) / sqrt(n * p * (1 - p)) : 0;
            if (p == 0) assert_int_equal(seen[i][k], 0);
            worst = fmax(worst, fabs(z));
        }
    printf("largest z %.2f\n", worst);
    assert_true(worst <= 4);
}

TEST_MAIN(cmocka_unit_test(at_most_one_electron_of_a_walker_goes),
          cmocka_unit_test(electrons_choose_one_after_the_other),
          cmocka_unit_test(only_electrons_at_the_same_ion_notice))
