/* Electrons that begin near ions: how many of which spin at which, and how far away. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "initial/near_ions.h"
#include "system/system.h"

enum { IONS = 3, UP = 5, DOWN = 4, ELECTRONS = UP + DOWN, WALKERS = 4000 };

/* A sheet in a box with vacuum above and below; the last ion is at a corner. */
static const double places[IONS][3] = {{2, 5, 15}, {7, 5, 15}, {0, 0, 15}};
static const int64_t first[] = {0, UP, ELECTRONS};

static plugmc_system system_of(const plugmc_species *species)
{
    plugmc_box box = {
        .domain = PLUGMC_DOMAIN_PERIODIC, .dimension = 3, .length = {10, 10, 30}, .volume = 3000};
    for (int d = 0; d < 3; d++) box.vector[d][d] = box.length[d];
    for (int d = 0; d < 3; d++) box.inverse[d][d] = 1 / box.length[d];
    return (plugmc_system){.size = sizeof(plugmc_system),
                           .box = box,
                           .seed = {3},
                           .particles = ELECTRONS,
                           .walkers = 1,
                           .rungs = 1,
                           .species_count = 2,
                           .species = species,
                           .species_size = sizeof(plugmc_species),
                           .first = first};
}

static const plugmc_species spins[2] = {{.name = "up", .count = UP},
                                        {.name = "down", .count = DOWN}};

/* Of the nearest image. */
static double distance(const double a[3], const double b[3], double length_x, double length_z)
{
    double square = 0;
    for (int d = 0; d < 3; d++) {
        const double length = d == 2 ? length_z : length_x, x = a[d] - b[d];
        square += pow(x - length * rint(x / length), 2);
    }
    return sqrt(square);
}

/* counts [ions][spins], by the nearest ion. */
static void count(const plugmc_system *s, const double *r, int64_t counts[IONS][2])
{
    memset(counts, 0, IONS * sizeof *counts);
    for (int64_t i = 0; i < ELECTRONS; i++) {
        int nearest = 0;
        for (int k = 1; k < IONS; k++)
            if (distance(r + 3 * i, places[k], 10, 30) <
                distance(r + 3 * i, places[nearest], 10, 30))
                nearest = k;
        counts[nearest][i >= UP]++;
        for (int d = 0; d < 3; d++)
            assert_true(r[3 * i + d] >= 0 && r[3 * i + d] < s->box.length[d]);
    }
}

/* Charges 4, 4 and 1 of nine electrons: each ion is neutral, and of spin 0 or 1/2. */
static void ions_are_neutral(void **state)
{
    (void)state;
    const plugmc_system s = system_of(spins);
    const double charge[IONS] = {4, 4, 1};
    const int32_t number[IONS] = {6, 6, 1};
    const plugmc_ions ions = {sizeof ions, IONS, places, number, charge, 1};
    double r[3 * ELECTRONS];
    int64_t counts[IONS][2];
    for (uint32_t w = 0; w < 50; w++) {
        assert_int_equal(near_ions_place(&s, &ions, 0.01, w, r), 0);
        count(&s, r, counts);
        for (int k = 0; k < IONS; k++) assert_int_equal(counts[k][0] + counts[k][1], charge[k]);
        assert_true(labs(counts[0][0] - counts[0][1]) <= 2);
        assert_true(labs(counts[1][0] - counts[1][1]) <= 2);
    }
}

/* Twice as many electrons as charges, and charges that are the atomic numbers: shares are in proportion. What is left
 * over goes to ions with equal shares by chance. */
static void shares_are_in_proportion(void **state)
{
    (void)state;
    const plugmc_system s = system_of(spins);
    const int32_t number[IONS] = {1, 1, 1}, uneven[IONS] = {2, 2, 1};
    plugmc_ions ions = {sizeof ions, IONS, places, number, NULL, 1};
    double r[3 * ELECTRONS];
    int64_t counts[IONS][2], more[IONS] = {0};
    assert_int_equal(near_ions_place(&s, &ions, 0.01, 0, r), 0);
    count(&s, r, counts);
    for (int k = 0; k < IONS; k++) assert_int_equal(counts[k][0] + counts[k][1], 3);
    ions.atomic_number = uneven; /* 3.6, 3.6, 1.8 */
    for (uint32_t w = 0; w < 200; w++) {
        assert_int_equal(near_ions_place(&s, &ions, 0.01, w, r), 0);
        count(&s, r, counts);
        assert_int_equal(counts[2][0] + counts[2][1], 2);
        for (int k = 0; k < 2; k++) more[k] += counts[k][0] + counts[k][1] == 4;
    }
    assert_int_equal(more[0] + more[1], 200);
    printf("the odd electron is at the first ion %lld times of 200, z = %.2f\n", (long long)more[0],
           ((double)more[0] - 100) / sqrt(50));
    assert_true(more[0] > 70 && more[0] < 130); /* 4.2 standard deviations */
}

/* Gaussians of the width that is asked for, without a drift; z <= 4.5 of six numbers, one false alarm in 24,000 seeds. */
static void distances_are_gaussian(void **state)
{
    (void)state;
    const plugmc_system s = system_of(spins);
    const double charge[IONS] = {9, 0.01, 0.01};
    const int32_t number[IONS] = {9, 0, 0};
    const plugmc_ions ions = {sizeof ions, IONS, places, number, charge, 1};
    double r[3 * ELECTRONS], sum[3] = {0}, square[3] = {0};
    const double n = (double)WALKERS * ELECTRONS, width = 0.5;
    for (uint32_t w = 0; w < WALKERS; w++) {
        assert_int_equal(near_ions_place(&s, &ions, width, w, r), 0);
        for (int64_t i = 0; i < ELECTRONS; i++)
            for (int d = 0; d < 3; d++) {
                const double x = (r[3 * i + d] - places[0][d]) / width;
                sum[d] += x;
                square[d] += x * x;
            }
    }
    for (int d = 0; d < 3; d++) {
        const double mean = sum[d] / sqrt(n), spread = (square[d] - n) / sqrt(2 * n);
        printf("%c: mean z = %.2f, variance z = %.2f\n", "xyz"[d], mean, spread);
        assert_true(fabs(mean) < 4.5 && fabs(spread) < 4.5);
    }
}

/* In an open box nobody begins outside. */
static void open_boxes_keep_their_electrons(void **state)
{
    (void)state;
    plugmc_system s = system_of(spins);
    s.box.domain = PLUGMC_DOMAIN_SPHERE;
    s.box.radius = 3;
    const double at_the_edge[1][3] = {{2.9, 0, 0}};
    const int32_t number[1] = {9};
    const plugmc_ions ions = {sizeof ions, 1, at_the_edge, number, NULL, 1};
    double r[3 * ELECTRONS];
    for (uint32_t w = 0; w < 500; w++) {
        assert_int_equal(near_ions_place(&s, &ions, 1, w, r), 0);
        for (int64_t i = 0; i < ELECTRONS; i++)
            assert_true(r[3 * i] * r[3 * i] + r[3 * i + 1] * r[3 * i + 1] +
                            r[3 * i + 2] * r[3 * i + 2] <
                        9);
    }
}

/* Two molecules of water, one of them across a face of the box: both spins are alike in each, and the hydrogens of one differ. */
static void spins_of_each_molecule_are_paired(void **state)
{
    enum { ATOMS = 6, PAIRS = 8 };
    (void)state;
    static const double at[ATOMS][3] = {{0.1, 5, 15},  {5, 5, 15},   {9.1, 5.9, 15},
                                        {4, 5.9, 15.}, {1, 5.9, 15}, {6, 5.9, 15}};
    static const int molecule[ATOMS] = {0, 1, 0, 1, 0, 1};
    static const int64_t begin[] = {0, PAIRS, 2 * PAIRS};
    static const plugmc_species both[2] = {{.name = "up", .count = PAIRS},
                                           {.name = "down", .count = PAIRS}};
    const int32_t number[ATOMS] = {8, 8, 1, 1, 1, 1};
    const double charge[ATOMS] = {6, 6, 1, 1, 1, 1};
    const plugmc_ions ions = {sizeof ions, ATOMS, at, number, charge, 1};
    plugmc_system s = system_of(both);
    s.particles = 2 * PAIRS;
    s.first = begin;
    for (uint32_t w = 0; w < 500; w++) {
        double r[6 * PAIRS];
        int spin[ATOMS] = {0}, of_molecule[2] = {0};
        assert_int_equal(near_ions_place(&s, &ions, 0.001, w, r), 0);
        for (int64_t i = 0; i < s.particles; i++) {
            int nearest = 0;
            for (int k = 1; k < ATOMS; k++)
                if (distance(r + 3 * i, at[k], 10, 30) < distance(r + 3 * i, at[nearest], 10, 30))
                    nearest = k;
            spin[nearest] += i < PAIRS ? 1 : -1;
            of_molecule[molecule[nearest]] += i < PAIRS ? 1 : -1;
        }
        assert_int_equal(of_molecule[0], 0);
        assert_int_equal(of_molecule[1], 0);
        assert_int_equal(spin[2] * spin[4], -1);
        assert_int_equal(spin[3] * spin[5], -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ions_are_neutral),
        cmocka_unit_test(shares_are_in_proportion),
        cmocka_unit_test(distances_are_gaussian),
        cmocka_unit_test(open_boxes_keep_their_electrons),
        cmocka_unit_test(spins_of_each_molecule_are_paired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
