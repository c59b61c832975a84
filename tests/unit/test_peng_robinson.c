/* The equation of state of Peng and Robinson against published numbers of methane, and against itself. */
#include "input/peng_robinson.h"

#include <math.h>

#include "testing.h"

static void near(double value, double expected, double most)
{
    if (!(fabs(value - expected) <= most)) fail_msg("%.17g instead of %.17g", value, expected);
}

/* At 180 K and 3 MPa, with 190.6 K, 4.6 MPa and 0.008, there are three roots. To four digits they are those that the tests
 * of shohirose's MATLAB code state (github.com/shohirose/preos). */
static void methane_below_its_critical_temperature(void **state)
{
    static const double z[] = {0.1237, 0.1984, 0.6242}, coefficient[] = {0.7595, 0.7657, 0.7257};
    peng_robinson found[3];
    (void)state;
    assert_int_equal(peng_robinson_roots(180 / 190.6, 3.0 / 4.6, 0.008, found), 3);
    for (int k = 0; k < 3; k++) {
        near(found[k].compressibility, z[k], 1e-4);
        near(exp(found[k].ln_coefficient), coefficient[k], 1e-4);
    }
    const peng_robinson stable = peng_robinson_at(180 / 190.6, 3.0 / 4.6, 0.008);
    assert_true(stable.compressibility == found[2].compressibility);
}

/* At 298 K and 65 bar, with -82.59 C, 45.99 bar and 0.011: the tests of PorousMaterials.jl, which have the constants of
 * the equation with six digits (github.com/SimonEnsemble/PorousMaterials.jl, test/eos.jl). */
static void methane_above_it(void **state)
{
    peng_robinson found[3];
    const double t = 298 / 190.56, p = 65 / 45.99;
    (void)state;
    assert_int_equal(peng_robinson_roots(t, p, 0.011, found), 1);
    near(found->compressibility, 0.874496226625811, 1e-6);
    near(exp(found->ln_coefficient), 0.8729028157628362, 1e-6);
}

/* d ln f / d ln P = Z, and at the critical point Z is 0.307401 of three equal roots. */
static void fugacity_is_the_integral_of_volumes(void **state)
{
    (void)state;
    for (double t = 0.6; t < 3; t += 0.3)
        for (double p = 1e-3; p < 30; p *= 3) {
            const double step = 1e-5;
            const peng_robinson low = peng_robinson_at(t, p * exp(-step), 0.1),
                                high = peng_robinson_at(t, p * exp(step), 0.1),
                                here = peng_robinson_at(t, p, 0.1);
            near(1 + (high.ln_coefficient - low.ln_coefficient) / (2 * step), here.compressibility,
                 1e-8);
        }
    near(peng_robinson_at(1, 1, 0.3).compressibility, 0.307401308698703, 1e-4);
    near(peng_robinson_at(2, 1e-9, 0.3).ln_coefficient, 0, 1e-9);
}

static void pressures_follow_from_fugacities(void **state)
{
    (void)state;
    for (double t = 0.6; t < 3; t += 0.4)
        for (double p = 1e-9; p < 1e3; p *= 7) {
            const double f = p * exp(peng_robinson_at(t, p, 0.011).ln_coefficient);
            near(peng_robinson_pressure(t, f, 0.011) / p, 1, 1e-11);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methane_below_its_critical_temperature),
        cmocka_unit_test(methane_above_it),
        cmocka_unit_test(fugacity_is_the_integral_of_volumes),
        cmocka_unit_test(pressures_follow_from_fugacities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
