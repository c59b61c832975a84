/* Units of the field. See units.h. Constants: CODATA 2018 (E. Tiesinga et al., Rev. Mod. Phys. 93, 025010
 * (2021)); those of the SI are exact. */
#include "input/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"

static const double boltzmann = 1.380649e-23;        /* J/K */
static const double avogadro = 6.02214076e23;        /* 1/mol */
static const double electron_volt = 1.602176634e-19; /* J */
static const double hartree = 4.3597447222071e-18;   /* J */
static const double bohr = 5.29177210903e-11;        /* m */
static const double planck = 6.62607015e-34;         /* J s */
static const double mass_unit = 1.66053906660e-27;   /* kg */
static const double two_pi = 6.28318530717958648;

/* ---- Keys ---------------------------------------------------------------------------------------------- */

enum { ANGSTROM, NANOMETRE, BOHR };
enum { KJ_MOL, KCAL_MOL, KELVIN, EV, HARTREE };
enum { IN_KELVIN, IN_ENERGY };
enum { BAR, ATMOSPHERE, MEGAPASCAL, GIGAPASCAL, IN_ENERGY_PER_VOLUME };

const plugmc_parameter units_table[] = {
    PLUGMC_CHOICE_KEY(units_section, length, NULL, "angstrom|nm|bohr", "of lengths"),
    PLUGMC_CHOICE_KEY(units_section, energy, NULL, "kJ/mol|kcal/mol|K|eV|hartree",
                      "unit of energy; K: k_B times one kelvin"),
    PLUGMC_CHOICE_KEY(units_section, temperature, "K", "K|energy",
                      "unit of temperature; energy: k_B T in the unit of energy"),
    PLUGMC_CHOICE_KEY(units_section, pressure, "bar", "bar|atm|MPa|GPa|energy/length^D",
                      "unit of pressure; in two dimensions always energy/length^D"),
};
const int units_count = PLUGMC_COUNT(units_table);

/* ---- Factors ------------------------------------------------------------------------------------------- */

units units_reduced(void)
{
    return (units){.length = "length", .energy = "energy", .kT = 1, .of_pressure = 1};
}

units units_of(const units_section *s)
{
    static const char *const length_name[] = {"angstrom", "nm", "bohr"},
                             *const energy_name[] = {"kJ/mol", "kcal/mol", "K", "eV", "hartree"},
                             *const pressure_name[] = {"bar", "atm", "MPa", "GPa", NULL};
    const double metre[] = {1e-10, 1e-9, bohr}, pascal[] = {1e5, 101325, 1e6, 1e9},
                 joule[] = {1e3 / avogadro, 4184 / avogadro, boltzmann, electron_volt, hartree};
    const double length = metre[s->length], energy = joule[s->energy];
    units u = {
        .given = true,
        .atomic = s->length == BOHR && s->energy == HARTREE,
        .length = length_name[s->length],
        .metre = length,
        .energy = energy_name[s->energy],
        .kelvin = s->temperature == IN_KELVIN ? "K" : NULL,
        .pressure = pressure_name[s->pressure],
        .kT = s->temperature == IN_KELVIN && s->energy != KELVIN ? boltzmann / energy : 1,
        .of_pressure = 1,
        .of_charges = hartree * bohr / (energy * length),
        .of_wavelength = planck / mass_unit * planck / (two_pi * energy * length * length),
    };
    if (u.atomic) u.of_charges = 1;
    if (u.pressure) u.of_pressure = pascal[s->pressure] * length * length * length / energy;
    return u;
}

/* In the plane pressures are not told in bar. */
double units_of_pressure(const units *u, int dimension)
{
    return dimension == 3 ? u->of_pressure : 1;
}

/* ---- Names --------------------------------------------------------------------------------------------- */

/* "kT/length^3" or "energy/length^3". */
static bool is_pressure(const char *told, bool *over_kT)
{
    *over_kT = !strcmp(told, "kT/length^3");
    return *over_kT || !strcmp(told, "energy/length^3");
}

/* In brackets if it is a quotient of which something is one more: "angstrom/(kJ/mol)". */
static void put_word(FILE *out, const char *word, bool alone)
{
    fprintf(out, !alone && strchr(word, '/') ? "(%s)" : "%s", word);
}

static bool begins(const char *text, const char *word)
{
    const size_t n = strlen(word);
    return !strncmp(text, word, n) && (!text[n] || strchr("^/ )", text[n]));
}

char *units_words(const units *u, const char *told, int dimension, double kT, double *scale)
{
    char *text;
    size_t size;
    bool over_kT;
    *scale = 1;
    if (!u->given) return checked(strdup(told));
    if (u->pressure && dimension == 3 && is_pressure(told, &over_kT) && !(over_kT && isnan(kT))) {
        *scale = (over_kT ? kT : 1) / u->of_pressure;
        return checked(strdup(u->pressure));
    }
    FILE *out = checked(open_memstream(&text, &size));
    for (const char *at = told; *at;) {
        const bool start = at == told || strchr(" /(", at[-1]);
        if (start && begins(at, "length")) {
            put_word(out, u->length, true);
            at += strlen("length");
        } else if (start && begins(at, "energy")) {
            put_word(out, u->energy, at == told && !at[strlen("energy")]);
            at += strlen("energy");
        } else {
            fputc(*at++, out);
        }
    }
    fclose(out);
    return text;
}
