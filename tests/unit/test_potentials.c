/* The potentials between pairs: every one against its formula written down once more, and derivatives against
 * differences. */
#include "testing.h"

#include "input/parameters.h"
#include "movers.h"
#include "potential_formulas.h"

/* ---- One pair -------------------------------------------------------------------------------- */

static void energies_are_those_of_the_formulas(void **state)
{
    (void)state;
    random_state = 1;
    for (int i = 0; i < PLUGMC_COUNT(formulas); i++) {
        const struct formula *f = &formulas[i];
        bench b;
        pair_potential p = formula_new(&b, f);
        const double range = p.pair[DOUBLE]->range(p.instance[DOUBLE]);
        assert_true(range == f->range || (f->end && fabs(range - f->range) < 1e-15));
        assert_true(p.pair[SINGLE]->range(p.instance[SINGLE]) == (double)(float)f->range);
        for (int trial = 0; trial < 3000; trial++) {
            double r = f->least + 0.3 + 4 * uniform();
            int ka = trial % 3, kb = trial / 3 % 3;
            double expected = f->energy(r, ka, kb), scale = typical(f, ka, kb);
            if (fabs(r - end_of(f, ka, kb)) < 1e-5) continue; /* which side a float is on */
            assert_close(at_distance(&p, DOUBLE, r, ka, kb, NULL), expected, 1e-12, 1e-14 * scale);
            /* a float knows r to some 1e-7, which a steep energy magnifies */
            double steep = (f->energy(1.00001 * r, ka, kb) - f->energy(0.99999 * r, ka, kb)) / 2e-5;
            if (fabs(r - end_of(f, ka, kb)) < 1e-4) continue;
            assert_close(at_distance(&p, SINGLE, r, ka, kb, NULL), expected, 1e-6,
                         3e-7 * (scale + fabs(steep)));
            assert_true(at_distance(&p, DOUBLE, r, ka, kb, NULL) ==
                        at_distance(&p, DOUBLE, r, kb, ka, NULL));
            assert_close(at_distance(&p, SINGLE, r, ka, kb, NULL),
                         at_distance(&p, SINGLE, r, kb, ka, NULL), 3e-7, 0);
        }
        bench_end(&b);
    }
}

/* Sixth-order differences of the energy: gradient and Laplacian of one pair, and its virial. */
static void derivatives_are_slopes_of_the_energy(void **state)
{
    (void)state;
    random_state = 2;
    for (int i = 0; i < PLUGMC_COUNT(formulas); i++) {
        const struct formula *f = &formulas[i];
        bench b;
        pair_potential p = formula_new(&b, f);
        for (int trial = 0; trial < 1000; trial++) {
            const double u[3] = {0.48, -0.6, 0.64};
            double r = f->least + 0.3 + 4 * uniform(), h = 1e-3 * r, e[7];
            int ka = trial % 3, kb = trial / 3 % 3;
            if (fabs(r - end_of(f, ka, kb)) < 4 * h) continue;
            for (int k = 0; k < 7; k++)
                e[k] = at_distance(&p, DOUBLE, r + (k - 3) * h, ka, kb, NULL);
            double first = (45 * (e[4] - e[2]) - 9 * (e[5] - e[1]) + (e[6] - e[0])) / (60 * h);
            double second =
                (270 * (e[4] + e[2]) - 27 * (e[5] + e[1]) + 2 * (e[6] + e[0]) - 490 * e[3]) /
                (180 * h * h);
            double slope = fabs(first) + fabs(e[3]) / r; /* scales of what may cancel */
            double bend = fabs(second) + slope / r;
            plugmc_derivatives d;
            assert_true(at_distance(&p, DOUBLE, r, ka, kb, &d) == e[3]);
            for (int k = 0; k < 3; k++) {
                assert_close(d.gradient[k], first * u[k], 0, 1e-8 * slope);
                assert_close(d.virial[k], -r * first * u[k] * u[k], 0, 1e-8 * slope * r);
            }
            assert_close(d.laplacian, second + 2 * first / r, 0, 1e-8 * bend);
            plugmc_derivatives s;
            at_distance(&p, SINGLE, r, ka, kb, &s);
            assert_close(s.energy, d.energy, 1e-6, 3e-7 * (typical(f, ka, kb) + slope * r));
            double scale = 3e-7 * typical(f, ka, kb) / r;
            for (int k = 0; k < 3; k++)
                assert_close(s.gradient[k], d.gradient[k], 0, 1e-6 * (slope + bend * r) + scale);
            assert_close(s.laplacian, d.laplacian, 0, 1e-5 * bend + scale / r);
        }
        bench_end(&b);
    }
}

static void energies_are_exactly_zero_beyond_the_range(void **state)
{
    (void)state;
    for (int i = 0; i < PLUGMC_COUNT(formulas); i++) {
        const struct formula *f = &formulas[i];
        if (isinf(f->range)) continue;
        bench b;
        pair_potential p = formula_new(&b, f);
        for (int precision = 0; precision < 2; precision++)
            for (double r = f->range * (1 + 1e-6); r < 1e9; r *= 1.3)
                for (int k = 0; k < 9; k++) {
                    plugmc_derivatives d;
                    assert_true(at_distance(&p, precision, r, k % 3, k / 3, &d) == 0);
                    assert_true(d.gradient[0] == 0 && d.laplacian == 0 && d.virial[2] == 0);
                }
        bench_end(&b);
    }
}

/* Two particles on one point: infinite, with the sign of the interaction, and a number; or a finite repulsion, and what
 * forbids distances, 1e30. */
static void coinciding_points_have_an_infinite_energy(void **state)
{
    (void)state;
    for (int i = 0; i < PLUGMC_COUNT(formulas); i++) {
        bench b;
        pair_potential p = formula_new(&b, &formulas[i]);
        for (int precision = 0; precision < 2; precision++)
            for (int k = 0; k < 9; k++) {
                double energy = at_distance(&p, precision, 0, k % 3, k / 3, NULL);
                double sign = at_distance(&p, precision, 0.01, k % 3, k / 3, NULL);
                if (!strcmp(formulas[i].name, "buckingham"))
                    assert_true(pair_c[k % 3][k / 3] > 0 ? energy == (precision ? 1e30f : 1e30)
                                                         : energy > 1000 && energy < 10000);
                else
                    assert_true(isinf(energy) && energy * sign > 0);
            }
        bench_end(&b);
    }
}

/* ---- Barriers of born_mayer ------------------------------------------------------------------ */

static void born_mayer_rises_inside_its_barrier(void **state)
{
    (void)state;
    bench b;
    three_species(&b, (const double[]){20, 20, 20});
    pair_potential p = potential_new(&b, "born_mayer", BM_PAIRS "cutoff = 2.9\n");
    for (int k = 0; k < 9; k++) {
        int ka = k % 3, kb = k / 3;
        double before = 0, widest = 0;
        for (double r = 2; r > 1e-3; r *= 0.999) {
            double energy = at_distance(&p, DOUBLE, r, ka, kb, NULL);
            double step = fabs(energy - before);
            if (r < 1.2) assert_true(energy > before); /* no way down */
            if (r < 1.9) widest = fmax(widest, step / fmax(1, fabs(energy)));
            before = energy;
        }
        assert_true(widest < 0.02); /* and no jump */
    }
    bench_end(&b);
}

/* ---- The guard of buckingham ------------------------------------------------------------------ */

/* Outside of it the energy falls, inside it is 1e30; without attraction there is none. */
static void buckingham_forbids_what_is_inside_its_maximum(void **state)
{
    (void)state;
    bench b;
    three_species(&b, (const double[]){20, 20, 20});
    pair_potential p = potential_new(&b, "buckingham", BUCKINGHAM_PAIRS "cutoff = 2.9\n");
    for (int precision = 0; precision < 2; precision++)
        for (int k = 0; k < 9; k++) {
            const int ka = k % 3, kb = k / 3;
            double r = 1e-3, guard;
            plugmc_derivatives d;
            while (at_distance(&p, precision, r, ka, kb, NULL) > 1e29) r += 1e-3;
            guard = r;
            if (pair_c[ka][kb] == 0) {
                assert_true(guard == 1e-3);
                continue;
            }
            assert_true(guard > 0.05 && guard < 0.7);
            /* the maximum of the formula */
            assert_true(exp_six(guard + 2e-3, ka, kb) < exp_six(guard + 1e-3, ka, kb));
            assert_true(exp_six(guard - 3e-3, ka, kb) < exp_six(guard - 2e-3, ka, kb));
            assert_close(at_distance(&p, precision, guard, ka, kb, &d), exp_six(guard, ka, kb),
                         1e-5, 0);
            at_distance(&p, precision, guard - 2e-3, ka, kb, &d);
            assert_true(d.gradient[0] == 0 && d.laplacian == 0);
        }
    bench_end(&b);
}

/* ---- Mixing rules ----------------------------------------------------------------------------- */

/* epsilon 1 and 0.25, sigma 1 and 0.8; what the rules give for the unlike pair, worked out apart. */
static void rules_mix_what_their_papers_say(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *k_ij;
        double epsilon, sigma;
    } rules[] = {{"lorentz_berthelot", "0", 0.5, 0.9},
                 {"lorentz_berthelot", "0.1", 0.45, 0.9},
                 {"geometric", "0", 0.5, 0.894427190999916},
                 {"waldman_hagler", "0", 0.405658942244308, 0.926146774553325},
                 {"waldman_hagler", "-0.5", 0.608488413366462, 0.926146774553325},
                 {"kong", "0", 0.426853411592173, 0.918318925553935}};
    for (int k = 0; k < PLUGMC_COUNT(rules); k++) {
        const char *const names[] = {"lennard_jones", "wca", "mie"};
        for (int i = 0; i < 3; i++) {
            char keys[256];
            bench b;
            bench_begin(&b, 3, (const double[]){20, 20, 20}, 1, 1);
            for (int d = 0; d < 3; d++) b.system.box.vector[d][d] = 20;
            bench_species(&b, "A", 10, 1, 0);
            bench_species(&b, "B", 10, 1, 0);
            snprintf(keys, sizeof keys,
                     "epsilon = 1 0.25\nsigma = 1 0.8\nmixing = %s\nk_ij = %s\n%s", rules[k].rule,
                     rules[k].k_ij, i == 1 ? "" : "cutoff = 5\n");
            pair_potential p = potential_new(&b, names[i], keys);
            const double e = rules[k].epsilon, s = rules[k].sigma;
            const double rest = i == 1 ? e : 0; /* of the repulsion alone */
            for (double r = 0.7; r < 1.01; r += 0.1) {
                const double expected = twelve_six(r, e, s) + rest;
                assert_close(at_distance(&p, DOUBLE, r, 0, 1, NULL), expected, 1e-12, 1e-12);
                assert_close(at_distance(&p, DOUBLE, r, 1, 0, NULL), expected, 1e-12, 1e-12);
                /* like ones are as they were given */
                const double like =
                    r < pow(2, 1.0 / 6) * 0.8 ? twelve_six(r, 0.25, 0.8) + rest / e * 0.25 : 0;
                if (like != 0 || i != 1)
                    assert_close(at_distance(&p, DOUBLE, r, 1, 1, NULL),
                                 i == 1 ? like : twelve_six(r, 0.25, 0.8), 1e-12, 1e-12);
            }
            bench_end(&b);
        }
    }
}

/* With n = 14 the exponent of Kong is 1/15. */
static void kong_takes_the_exponent_of_the_repulsion(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b, 3, (const double[]){20, 20, 20}, 1, 1);
    for (int d = 0; d < 3; d++) b.system.box.vector[d][d] = 20;
    bench_species(&b, "A", 10, 1, 0);
    bench_species(&b, "B", 10, 1, 0);
    pair_potential p = potential_new(
        &b, "mie", "epsilon = 1 0.25\nsigma = 1 0.8\nn = 14\nmixing = kong\ncutoff = 5\n");
    for (double r = 0.8; r < 2; r += 0.1)
        assert_close(at_distance(&p, DOUBLE, r, 0, 1, NULL),
                     n_to_m(r, 0.440513650869838, 0.913510266134979, 14, 6), 1e-12, 1e-12);
    bench_end(&b);
}

/* a = 1000 and 4000, b = 4 and 5, c = 1 and 4. */
static void exponentials_mix(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        double a, b, c;
    } rules[] = {{"geometric\nk_ij = 0.25", 2000, 4.5, 1.5},
                 {"geometric", 2000, 4.5, 2},
                 {"kong", 1840.33058860331, 4.444444444444445, 2}};
    for (int k = 0; k < PLUGMC_COUNT(rules); k++) {
        char keys[256];
        bench b;
        bench_begin(&b, 3, (const double[]){20, 20, 20}, 1, 1);
        for (int d = 0; d < 3; d++) b.system.box.vector[d][d] = 20;
        bench_species(&b, "A", 10, 1, 0);
        bench_species(&b, "B", 10, 1, 0);
        snprintf(keys, sizeof keys, "a = 1000 4000\nb = 4 5\nc = 1 4\ncutoff = 5\nmixing = %s\n",
                 rules[k].rule);
        pair_potential p = potential_new(&b, "buckingham", keys);
        for (double r = 0.8; r < 2; r += 0.1) {
            const double expected = rules[k].a * exp(-rules[k].b * r) - rules[k].c / pow(r, 6);
            assert_close(at_distance(&p, DOUBLE, r, 0, 1, NULL), expected, 1e-12, 1e-12);
            assert_close(at_distance(&p, DOUBLE, r, 1, 1, NULL), 4000 * exp(-5 * r) - 4 / pow(r, 6),
                         1e-12, 1e-12);
        }
        bench_end(&b);
    }
}

/* ---- Square wells ------------------------------------------------------------------------------ */

/* Cores and ends of the wells of a mixture. */
static void check_wells(const char *keys, const double core[3][3], const double end[3][3],
                        const double depth[3][3])
{
    bench b;
    three_species(&b, (const double[]){20, 20, 20});
    pair_potential p = potential_new(&b, "square_well", keys);
    for (int precision = 0; precision < 2; precision++)
        for (int k = 0; k < 9; k++) {
            const int a = k % 3, c = k / 3;
            plugmc_particle pa = {.diameter = diameter_of[a], .species = a},
                            pc = {.diameter = diameter_of[c], .species = c};
            plugmc_derivatives d;
            assert_close(p.pair[precision]->contact(p.instance[precision], &pa, &pc), core[a][c],
                         1e-7, 0);
            assert_close(at_distance(&p, precision, end[a][c] * (1 - 1e-5), a, c, &d), -depth[a][c],
                         1e-7, 0);
            assert_true(d.gradient[0] == 0 && d.laplacian == 0);
            assert_true(at_distance(&p, precision, end[a][c] * (1 + 1e-5), a, c, NULL) == 0);
        }
    bench_end(&b);
}

static void wells_have_their_cores_and_ends(void **state)
{
    (void)state;
    const double one[3][3] = {{0.7, 0.7, 0.7}, {0.7, 0.7, 0.7}, {0.7, 0.7, 0.7}};
    double sizes[3][3], ends[3][3], own[3][3];
    for (int k = 0; k < 9; k++) {
        sizes[k % 3][k / 3] = (diameter_of[k % 3] + diameter_of[k / 3]) / 2;
        own[k % 3][k / 3] = ((double[]){1, 0.8, 1.1}[k % 3] + (double[]){1, 0.8, 1.1}[k / 3]) / 2;
    }
    for (int k = 0; k < 9; k++) ends[k % 3][k / 3] = 1.5 * sizes[k % 3][k / 3];
    check_wells("epsilon = 0.7\n", sizes, ends, one);
    for (int k = 0; k < 9; k++) ends[k % 3][k / 3] = 1.7 * own[k % 3][k / 3];
    check_wells("epsilon = 1 2 3 4 5 6\nsigma = 1 0.8 1.1\nlambda = 1.7\n", own, ends,
                pair_epsilon);
    for (int k = 0; k < 9; k++)
        ends[k % 3][k / 3] = pair_cutoff[k % 3][k / 3] * pair_sigma[k % 3][k / 3];
    check_wells("epsilon = 0.7\n"
                "sigma = 1 0.9 1.1 0.8 0.7 1.2\nlambda = 2.9 2.5 2 2.7 2.2 2.6\n",
                pair_sigma, ends, one);
}

/* kJ/mol and Angstrom, as the head of born_mayer.c has them. The crystal of rock salt: the lattice
 * sum of what is not electrostatic, and Madelung's constant for what is. */
static double rock_salt(const pair_potential *p, double nearest)
{
    const double coulomb = 1389.35458; /* e^2 N_A / (4 pi eps_0) in kJ/mol Angstrom */
    enum { REACH = 12 };
    double sum[2] = {0, 0};
    for (int ion = 0; ion < 2; ion++)
        for (int x = -REACH; x <= REACH; x++)
            for (int y = -REACH; y <= REACH; y++)
                for (int z = -REACH; z <= REACH; z++) {
                    double r = nearest * sqrt(x * x + y * y + z * z);
                    int other = (ion + x + y + z) & 1;
                    if (r > 0) sum[ion] += at_distance(p, DOUBLE, r, ion, other, NULL);
                }
    return (sum[0] + sum[1]) / 2 - 1.747564594633 * coulomb / nearest;
}

/* Measured: 2.789 Angstrom at 0 K (extrapolated), and a lattice energy of -786 kJ/mol from the
 * Born-Haber cycle. The model's own, without zero-point motion, is a few per cent off. */
static void sodium_chloride_has_its_crystal(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b, 3, (double[]){200, 200, 200}, 1, 1);
    for (int k = 0; k < 3; k++) b.system.box.vector[k][k] = 200;
    bench_species(&b, "Na", 10, 0, 1);
    bench_species(&b, "Cl", 10, 0, -1);
    pair_potential p = potential_new(&b, "born_mayer",
                                     "a = 25.4435 20.3548 15.2661\nb = 3.1546\n"
                                     "sigma = 2.340 2.755 3.170\nc = 101.1719 674.4793 6985.6786\n"
                                     "d = 48.1771 837.0770 14031.5785\ncutoff = 100\n");
    double best = INFINITY, place = 0;
    for (double r = 2.5; r < 3.1; r += 0.005) {
        double energy = rock_salt(&p, r);
        if (energy < best) place = r;
        best = fmin(best, energy);
    }
    printf("rock salt: nearest neighbours at %.3f Angstrom, %.1f kJ/mol\n", place, best);
    assert_close(place, 2.789, 0.02, 0);
    assert_close(best, -786, 0.03, 0);
    bench_end(&b);
}

TEST_MAIN(cmocka_unit_test(energies_are_those_of_the_formulas),
          cmocka_unit_test(derivatives_are_slopes_of_the_energy),
          cmocka_unit_test(energies_are_exactly_zero_beyond_the_range),
          cmocka_unit_test(coinciding_points_have_an_infinite_energy),
          cmocka_unit_test(born_mayer_rises_inside_its_barrier),
          cmocka_unit_test(buckingham_forbids_what_is_inside_its_maximum),
          cmocka_unit_test(rules_mix_what_their_papers_say),
          cmocka_unit_test(kong_takes_the_exponent_of_the_repulsion),
          cmocka_unit_test(exponentials_mix), cmocka_unit_test(wells_have_their_cores_and_ends),
          cmocka_unit_test(sodium_chloride_has_its_crystal))
