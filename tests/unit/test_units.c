/* [units]: factors from constants of nature, and the words of the table. */
#include "input/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

enum { ANGSTROM, NANOMETRE, BOHR };
enum { KJ_MOL, KCAL_MOL, KELVIN, EV, HARTREE };
enum { IN_KELVIN, IN_ENERGY };
enum { BAR, ATMOSPHERE, MEGAPASCAL, GIGAPASCAL, IN_ENERGY_PER_VOLUME };

static units in(int length, int energy, int temperature, int pressure)
{
    return units_of(&(units_section){length, energy, temperature, pressure});
}

static void near(double value, double expected, double relative)
{
    if (fabs(value - expected) > relative * fabs(expected))
        fail_msg("%.17g instead of %.17g", value, expected);
}

/* Gas constant 8.31446261815324 J/mol/K, e^2/(4 pi epsilon_0) 1389.354576 A kJ/mol, 14.3996455 eV A and
 * 332.0637133 kcal A/mol, k_B of an electron volt 11604.51812 K, hartree/bohr^3 29421.01569 GPa: CODATA 2018. */
static void constants_are_those_of_nature(void **state)
{
    (void)state;
    near(in(ANGSTROM, KJ_MOL, IN_KELVIN, BAR).kT, 8.31446261815324e-3, 1e-14);
    near(in(ANGSTROM, KJ_MOL, IN_KELVIN, BAR).of_charges, 1389.354576, 1e-9);
    near(in(ANGSTROM, KCAL_MOL, IN_KELVIN, BAR).of_charges, 332.0637133, 1e-9);
    near(in(ANGSTROM, EV, IN_KELVIN, BAR).of_charges, 14.3996455, 1e-8);
    near(in(NANOMETRE, KJ_MOL, IN_KELVIN, BAR).of_charges, 138.9354576, 1e-9);
    near(1 / in(ANGSTROM, EV, IN_KELVIN, BAR).kT, 11604.51812, 1e-9);
    near(1 / in(BOHR, HARTREE, IN_KELVIN, GIGAPASCAL).of_pressure, 29421.01569, 1e-8);
    near(in(ANGSTROM, KELVIN, IN_KELVIN, BAR).of_pressure, 1e5 * 1e-30 / 1.380649e-23, 1e-12);
    near(in(ANGSTROM, KELVIN, IN_KELVIN, ATMOSPHERE).of_pressure, 101325 * 1e-30 / 1.380649e-23,
         1e-12);
    near(in(ANGSTROM, KELVIN, IN_KELVIN, MEGAPASCAL).of_pressure, 1e6 * 1e-30 / 1.380649e-23,
         1e-12);
    assert_true(in(BOHR, HARTREE, IN_KELVIN, BAR).of_charges == 1);
    assert_true(in(ANGSTROM, KELVIN, IN_KELVIN, BAR).kT == 1);
    assert_true(in(ANGSTROM, KJ_MOL, IN_ENERGY, BAR).kT == 1);
    assert_true(in(ANGSTROM, KJ_MOL, IN_KELVIN, IN_ENERGY_PER_VOLUME).of_pressure == 1);
}

static void said(const units *u, const char *told, int dimension, double kT, const char *expected,
                 double expected_scale)
{
    double scale;
    char *text = units_words(u, told, dimension, kT, &scale);
    assert_string_equal(text, expected);
    near(scale, expected_scale, 1e-14);
    free(text);
}

static void words_are_those_of_the_units(void **state)
{
    (void)state;
    const units melt = in(ANGSTROM, KJ_MOL, IN_KELVIN, BAR), none = units_reduced();
    said(&melt, "length", 3, 9, "angstrom", 1);
    said(&melt, "length^-3", 3, 9, "angstrom^-3", 1);
    said(&melt, "1/length", 3, 9, "1/angstrom", 1);
    said(&melt, "energy", 3, 9, "kJ/mol", 1);
    said(&melt, "energy/length", 3, 9, "(kJ/mol)/angstrom", 1);
    said(&melt, "length sqrt(mass/energy)", 3, 9, "angstrom sqrt(mass/(kJ/mol))", 1);
    said(&melt, "kT", 3, 9, "kT", 1);
    said(&melt, "lengthy", 3, 9, "lengthy", 1);
    said(&melt, "", 3, 9, "", 1);
    said(&melt, "energy/length^3", 3, NAN, "bar", 1 / melt.of_pressure);
    said(&melt, "kT/length^3", 3, 9, "bar", 9 / melt.of_pressure);
    said(&melt, "kT/length^3", 3, NAN, "kT/angstrom^3", 1);
    said(&melt, "energy/length^2", 2, 9, "(kJ/mol)/angstrom^2", 1);
    const units given = in(NANOMETRE, EV, IN_KELVIN, IN_ENERGY_PER_VOLUME);
    said(&given, "energy/length^3", 3, 9, "eV/nm^3", 1);
    said(&none, "energy/length^3", 3, 9, "energy/length^3", 1);
    said(&none, "kT/length^3", 3, 9, "kT/length^3", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_those_of_nature),
        cmocka_unit_test(words_are_those_of_the_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
