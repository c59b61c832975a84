/* swap: two species on four fixed places. There are six ways to put two and two particles there, and a
 * mover that only swaps must find each as often as its Boltzmann factor says. */
#include "testing.h"

#include <math.h>

#include "movers.h"

enum { PLACES = 4, WAYS = 6, SAMPLES = 20000 };

static const double places[PLACES][3] = {{1, 1, 0}, {1.9, 1.2, 0}, {1.3, 1.8, 0}, {2.4, 2.1, 0}};
static const double charge[2] = {1, -0.6};

/* strength q_a q_b (1 - r / cutoff)^2, as test_soft_disk has it. */
static double pair_energy(int i, int j, double qi, double qj)
{
    const double r = hypot(places[i][0] - places[j][0], places[i][1] - places[j][1]);
    return r < 2 ? 1.5 * qi * qj * (1 - r / 2) * (1 - r / 2) : 0;
}

/* Of the places with these bits stand particles of the first species. */
static double energy_of(unsigned bits)
{
    double sum = 0;
    for (int i = 0; i < PLACES; i++)
        for (int j = i + 1; j < PLACES; j++)
            sum += pair_energy(i, j, charge[!(bits >> i & 1)], charge[!(bits >> j & 1)]);
    return sum;
}

/* Which places the first two particles have. */
static unsigned bits_of(const double *x)
{
    unsigned bits = 0;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < PLACES; k++)
            if (x[3 * i] == places[k][0] && x[3 * i + 1] == places[k][1]) bits |= 1u << k;
    return bits;
}

static void set_text(test_mover *mover, const char *name, const char *text)
{
    const plugmc_plugin *p = mover->plugin;
    for (int k = 0; k < p->parameter_count; k++)
        if (!strcmp(p->parameters[k].name, name))
            *(const char **)((char *)mover->instance + p->parameters[k].offset) = text;
}

/* chi^2 with 5 degrees of freedom against the weights at this temperature. */
static double deviate(double kT, double asked_kT)
{
    static const unsigned ways[WAYS] = {3, 5, 6, 9, 10, 12};
    double weight[WAYS], sum = 0, chi2 = 0, x[3 * PLACES], y[3 * PLACES];
    int counts[16] = {0};
    bench b;
    bench_begin(&b, 2, (double[]){8, 8, 1}, 1, 3);
    bench_species(&b, "plus", 2, 0, charge[0]);
    bench_species(&b, "minus", 2, 0, charge[1]);
    bench_potential(&b, TEST_SOFT_DISK, "strength=1.5 cutoff=2");
    test_mover mover = {.plugin = open_plugin("swap")};
    mover.calls = mover.plugin->mover;
    mover.instance = bench_allocate(b.host.context, mover.plugin->instance_size);
    set_parameters(mover.plugin, mover.instance, "trials=30");
    set_text(&mover, "a", "plus");
    set_text(&mover, "b", "minus");
    bench_expect(&b, mover_prepare(&b, &mover));
    memcpy(x, places, sizeof x);
    mover_load(&b, &mover, x);
    for (int t = 0; t < b.system.term_count; t++) mover.core->hamiltonian.multipliers[t] = 1 / kT;
    for (uint64_t s = 0; s < SAMPLES; s++) {
        mover_sweep(&b, &mover, s, 1);
        mover_store(&b, &mover, y);
        counts[bits_of(y)]++;
    }
    for (int k = 0; k < WAYS; k++) sum += weight[k] = exp(-energy_of(ways[k]) / asked_kT);
    for (int k = 0; k < WAYS; k++) {
        const double expected = SAMPLES * weight[k] / sum;
        chi2 += (counts[ways[k]] - expected) * (counts[ways[k]] - expected) / expected;
    }
    mover_end(&mover);
    bench_end(&b);
    return chi2;
}

/* A right mover is beyond 26 once in 10,000 runs. */
static void ways_are_found_as_often_as_they_should(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const double kT = (double[]){1, 0.5, 0.3}[k], chi2 = deviate(kT, kT);
        print_message("kT = %g: chi^2 = %.2f of 5\n", kT, chi2);
        assert_true(chi2 < 26);
    }
}

/* The test sees a temperature that is wrong by a fifth. */
static void another_temperature_is_noticed(void **state)
{
    (void)state;
    assert_true(deviate(0.5, 0.6) > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ways_are_found_as_often_as_they_should),
                                       cmocka_unit_test(another_temperature_is_noticed)};
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
