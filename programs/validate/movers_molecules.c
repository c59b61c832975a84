/* Laws of rigid molecules: movers that displace and turn them, insert and remove them, change their boxes, or let two boxes share
 * them.
 *
 * All molecules are dumbbells of two equal sites. Their laws are integrals over the few coordinates of one or two of them, which
 * are done here by sums over grids; nothing of the program's own energies is used. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws.h"
#include "movers.h"

static const double bond = 0.8, field_strength = 260;

static const char advice_moves[] =
    "look at the acceptance, and whether each displacement and each turn is drawn as often as its reverse; "
    "all orientations are equally probable without energies";
static const char advice_numbers[] =
    "look at log_factor: ln(V / (N + 1)) belongs to an insertion and ln(N / V) to a removal, with N molecules, not sites, "
    "before the move; positions and orientations are uniform, and both moves are tried equally often";

/* ---- Systems ------------------------------------------------------------------------------------ */

enum { MOST = 14, START = 3 };
static const double activity_times_volume = 4.2, of_density = 1.4; /* in a field */

/* With sites of a species of their own; the molecules have the name of the first species, which keys of the mover name. */
static setting dumbbells(subject *s, double edge, double temperature, int count, int most)
{
    const char *name = s->names[0];
    setting of = setting_new(s, 3, edge, temperature);
    of.angle = 1.5;
    setting_add(of.species,
                "[species %.40s_site]\ndiameter = 1\n[molecule %s]\nsites = %.40s_site %.40s_site\n"
                "places = 0 0 0 %g 0 0\ncentre = 0.3 0.2 0.1\ncount = %d\n",
                name, name, name, name, bond, count);
    if (most > 0) setting_add(of.species, "max_count = %d\n", most);
    if (most > 0 && s->family == FAMILY_MOLECULES)
        setting_add(of.species, "activity = %.12g\n",
                    (most > MOST ? of_density : activity_times_volume) / pow(edge, 3));
    if (subject_key(s, "trials"))
        snprintf(of.keys, sizeof of.keys, "trials = %d\n", most > 0 ? 12 : 8);
    snprintf(of.initial, sizeof of.initial, "state = lattice\n");
    return of;
}

static void add_soft_pairs(setting *of)
{
    setting_add(of->potentials, "[potential lennard_jones]\nepsilon = 1\nsigma = 1\ncutoff = 1.5\n"
                                "truncation = shift\n");
}

setting setting_of_molecules(subject *s, bool ideal)
{
    const bool numbers = subject_changes(s, PLUGMC_CHANGED_COUNT);
    setting of = dumbbells(s, 5.2, 0.8, numbers ? START : 4, numbers ? MOST : 0);
    of.step = 1.2;
    if (ideal)
        setting_field(&of, 0);
    else
        add_soft_pairs(&of);
    return of;
}

/* A trajectory of all molecules is worth several moves of one. */
static int samples_of_moves(const subject *s, int quick)
{
    return (s->target->quick ? quick : 3 * quick) / (s->mover->driver ? 4 : 1);
}

/* ---- One molecule in a field -------------------------------------------------------------------- */

enum { ALONG = 400, DIRECTIONS = 100, ANGLES = 24 };

/* exp(-(u(x) + u(x + shift)) / kT) of a dumbbell along one axis; x and shift in edges. */
static double factor_along(double x, double shift, double kT)
{
    double u = 0;
    for (int k = 0; k < 2; k++) {
        double f = x + k * shift;
        f -= floor(f);
        const double q = f * (1 - f);
        u += field_strength * q * q * (f - 0.4);
    }
    return exp(-u / kT);
}

/* Mean of that over x. */
static double mean_factor(double shift, double kT)
{
    double sum = 0;
    for (int i = 0; i < ALONG; i++) sum += factor_along((i + 0.5) / ALONG, shift, kT) / ALONG;
    return sum;
}

typedef struct rotor {
    double position[ALONG]; /* weight of the first site's x, midpoints of intervals of an edge */
    double
        direction[DIRECTIONS]; /* of the component of the bond's direction along x, from -1 to 1 */
    double mean;               /* of the Boltzmann factor, over the box and all directions */
} rotor;

/* Sums over the first site's x, the component c of the direction along x, and the angle about x. */
static rotor make_rotor(double edge, double kT)
{
    rotor r = {.mean = 0};
    for (int k = 0; k < DIRECTIONS; k++) {
        const double c = (2 * k + 1.0) / DIRECTIONS - 1, across = bond / edge * sqrt(1 - c * c);
        double others = 0;
        for (int j = 0; j < ANGLES; j++) {
            const double phi = 2 * M_PI * (j + 0.5) / ANGLES;
            others += mean_factor(across * cos(phi), kT) * mean_factor(across * sin(phi), kT);
        }
        others /= ANGLES * (double)DIRECTIONS * ALONG;
        for (int i = 0; i < ALONG; i++) {
            const double weight = others * factor_along((i + 0.5) / ALONG, c * bond / edge, kT);
            r.position[i] += weight;
            r.direction[k] += weight;
            r.mean += weight;
        }
    }
    return r;
}

/* Bins of about equal probability, appended to those of the test. */
static int add_bins(law_test *t, const double *weight, int count, double first, double last,
                    int bins, double all)
{
    const int before = t->dims;
    double in_bin = 0;
    for (int i = 0; i + 1 < count && t->dims - before < bins - 1; i++) {
        in_bin += weight[i] / all;
        if (in_bin < 1.0 / bins) continue;
        t->ends[t->dims] = first + (last - first) * (i + 1) / count;
        t->expected[t->dims++] = in_bin;
        in_bin = 0;
    }
    return t->dims - before;
}

/* Bins of the first site's x, then those of the direction's component, all molecules. */
static void measure_rotors(const law_test *t, const snapshot_of_run *now, int w, double *out,
                           double *samples)
{
    const int positions = (int)t->parameters[0];
    for (int64_t i = 0; i + 1 < now->counts[w]; i += 2) {
        const double *x = now->positions + 3 * (w * now->capacity + i), edge = t->setting.edge;
        double c = x[3] - x[0];
        c = (c - edge * rint(c / edge)) / bond;
        int bin = 0;
        while (bin < positions && x[0] > t->ends[bin]) bin++;
        if (bin < positions) out[bin] += 1;
        for (bin = positions; bin < t->dims && c > t->ends[bin];) bin++;
        if (bin < t->dims) out[bin] += 1;
        *samples += 1;
    }
}

static void law_of_rotors(subject *s)
{
    const double edge = 4, kT = 0.7;
    const rotor r = make_rotor(edge, kT);
    law_test t = {
        .check = "law: molecules in a field",
        .compared =
            "positions and directions of eight dumbbells without forces on each other, in a "
            "field, against exp(-U/kT)",
        .what = "a coordinate of the first site, or of the molecule's direction,",
        .measure = measure_rotors,
        .advice = advice_moves,
        .samples = samples_of_moves(s, 8000)};
    t.setting = dumbbells(s, edge, kT, 8, 0);
    setting_field(&t.setting, field_strength);
    t.parameters[0] = add_bins(&t, r.position, ALONG, 0, edge, 9, r.mean);
    add_bins(&t, r.direction, DIRECTIONS, -1, 1, 9, r.mean);
    law_try(s, &t);
}

/* ---- Two molecules ------------------------------------------------------------------------------ */

enum { DISTANCES = 240, COSINES = 28 };
static const double cutoff = 1.5;

static double site_energy(double square)
{
    const double sixth = 1 / (square * square * square), last = pow(cutoff, -6);
    if (square >= cutoff * cutoff) return 0;
    return 4 * sixth * (sixth - 1) - 4 * last * (last - 1);
}

/* Of two dumbbells with their middles at a distance r along z, the first with its direction in the plane of x and z. */
static double energy_of_two(double r, double c1, double c2, double phi)
{
    const double s1 = sqrt(1 - c1 * c1), s2 = sqrt(1 - c2 * c2);
    double u = 0;
    for (int a = -1; a <= 1; a += 2)
        for (int b = -1; b <= 1; b += 2) {
            const double x = 0.5 * bond * (b * s2 * cos(phi) - a * s1),
                         y = 0.5 * bond * b * s2 * sin(phi), z = r + 0.5 * bond * (b * c2 - a * c1),
                         square = x * x + y * y + z * z;
            u += site_energy(fmax(square, 1e-4));
        }
    return u;
}

/* Mean of exp(-U / kT) over all directions. Both ends of a dumbbell are alike, so half of the cosines are enough. */
static double mean_of_two(double r, double kT)
{
    double sum = 0;
    for (int i = 0; i < COSINES; i++)
        for (int j = 0; j < COSINES; j++)
            for (int k = 0; k < COSINES; k++)
                sum += exp(-energy_of_two(r, (i + 0.5) / COSINES, (j + 0.5) / COSINES,
                                          M_PI * (k + 0.5) / COSINES) /
                           kT);
    return sum / pow(COSINES, 3);
}

/* The integral of the mean factor over all separations in a cube, and its parts [DISTANCES] by distance up to half the edge. */
static double integral_of_two(double edge, double kT, double *part)
{
    const double step = 0.5 * edge / DISTANCES, reach = cutoff + bond;
    double all = pow(edge, 3) - M_PI / 6 * pow(edge, 3);
    for (int i = 0; i < DISTANCES; i++) {
        const double r = (i + 0.5) * step;
        part[i] = 4 * M_PI / 3 * (pow((i + 1) * step, 3) - pow(i * step, 3)) *
                  (r < reach ? mean_of_two(r, kT) : 1);
        all += part[i];
    }
    return all;
}

static void measure_middles(const law_test *t, const snapshot_of_run *now, int w, double *out,
                            double *samples)
{
    const double *x = now->positions + 3 * w * now->capacity, edge = t->setting.edge;
    double square = 0;
    for (int d = 0; d < 3; d++) {
        const double first = x[3 + d] - x[d], second = x[9 + d] - x[6 + d];
        double away = x[6 + d] - x[d] + 0.5 * (second - edge * rint(second / edge)) -
                      0.5 * (first - edge * rint(first / edge));
        away -= edge * rint(away / edge);
        square += away * away;
    }
    const int bin = law_bin(t, sqrt(square));
    if (bin < t->dims) out[bin] += 1;
    *samples += 1;
}

static void law_of_two(subject *s)
{
    const double edge = 5.2, kT = 0.5;
    double part[DISTANCES];
    const double all = integral_of_two(edge, kT, part);
    law_test t = {.check = "law: two molecules",
                  .compared =
                      "distances of two dumbbells with Lennard-Jones sites against exp(-U/kT)",
                  .what = "the distance of their middles",
                  .measure = measure_middles,
                  .advice = advice_moves,
                  .samples = samples_of_moves(s, 6400)};
    t.setting = dumbbells(s, edge, kT, 2, 0);
    t.setting.step = 1.2;
    add_soft_pairs(&t.setting);
    add_bins(&t, part, DISTANCES, 0, 0.5 * edge, 14, all);
    law_try(s, &t);
}

/* ---- Numbers ------------------------------------------------------------------------------------ */

static void measure_numbers(const law_test *t, const snapshot_of_run *now, int w, double *out,
                            double *samples)
{
    law_count(t, (double)now->counts[w] / 2, out, samples);
}

/* Probabilities of numbers up to `most` from their weights; bins with less than a hundredth are joined with the next. */
static void expect(law_test *t, const double *weight, int most)
{
    double sum = 0, in_bin = 0;
    for (int n = 0; n <= most; n++) sum += weight[n];
    for (int n = 0; n < most; n++) {
        in_bin += weight[n] / sum;
        if (in_bin < 0.01) continue;
        t->ends[t->dims] = n + 0.5;
        t->expected[t->dims++] = in_bin;
        in_bin = 0;
    }
    if (in_bin == 0 && most > 2) t->dims--; /* the last one follows from the others */
}

static law_test test_of_numbers(const char *check, const char *compared)
{
    return (law_test){.check = check,
                      .compared = compared,
                      .what = "the number of molecules",
                      .measure = measure_numbers,
                      .advice = advice_numbers};
}

static void law_of_ideal_gas(subject *s)
{
    law_test t = test_of_numbers("law: reservoir of molecules",
                                 "numbers of molecules without energies against (zV)^N / N!");
    double weight[MOST + 1] = {1};
    for (int n = 1; n <= MOST; n++) weight[n] = weight[n - 1] * activity_times_volume / n;
    t.setting = dumbbells(s, 2.2, 1.3, START, MOST);
    setting_field(&t.setting, 0);
    expect(&t, weight, MOST);
    law_try(s, &t);
}

static void law_of_two_at_most(subject *s)
{
    const double edge = 4.7, kT = 0.8;
    double part[DISTANCES];
    law_test t = test_of_numbers("law: reservoir, pair of molecules",
                                 "P(2) P(0) / P(1)^2 of two dumbbells at most against quadrature");
    t.setting = dumbbells(s, edge, kT, 1, 2);
    const double weight[3] = {1, activity_times_volume,
                              0.5 * activity_times_volume * activity_times_volume *
                                  integral_of_two(edge, kT, part) / pow(edge, 3)};
    add_soft_pairs(&t.setting);
    expect(&t, weight, 2);
    law_try(s, &t);
}

/* Numbers of molecules with the first site in each bin, and with the direction in each bin. */
static void measure_profile(const law_test *t, const snapshot_of_run *now, int w, double *out,
                            double *samples)
{
    double all = 0;
    measure_rotors(t, now, w, out, &all);
    *samples += 1;
}

static void law_of_density(subject *s)
{
    const double edge = 2.6, kT = 1.3;
    const rotor r = make_rotor(edge, kT);
    law_test t = {.check = "law: reservoir and field, molecules",
                  .compared = "numbers of dumbbells by position and direction against z exp(-U/kT)",
                  .what = "a coordinate of the first site, or of the molecule's direction,",
                  .measure = measure_profile,
                  .advice = advice_numbers,
                  .samples = s->target->quick ? 1600 : 4800};
    t.setting = dumbbells(s, edge, kT, START, 40);
    setting_field(&t.setting, field_strength);
    t.parameters[0] = add_bins(&t, r.position, ALONG, 0, edge, 9, r.mean);
    add_bins(&t, r.direction, DIRECTIONS, -1, 1, 9, r.mean);
    for (int b = 0; b < t.dims; b++) t.expected[b] *= of_density * r.mean;
    law_try(s, &t);
}

/* ---- Boxes -------------------------------------------------------------------------------------- */

static const char advice_boxes[] =
    "N in V^N is the number of molecules and of particles in none, plugmc_changes.scaled, and not that of sites; "
    "a molecule that goes from N in V to N' in V' has the factor N V' / ((N' + 1) V), with numbers of molecules, and of "
    "several positions the weight in the box that it leaves belongs to it, too";

/* So short that boxes may become small. */
static setting short_dumbbells(subject *s, double temperature, int count, int most)
{
    setting of = setting_new(s, 3, 2, temperature);
    setting_add(of.species,
                "[species %.40s_site]\ndiameter = 0\n[molecule %s]\nsites = %.40s_site %.40s_site\n"
                "places = 0 0 0 0.002 0 0\ncount = %d\n",
                s->names[0], s->names[0], s->names[0], s->names[0], count);
    if (most > 0) setting_add(of.species, "max_count = %d\n", most);
    setting_add(of.potentials, "[potential hard_sphere]\n");
    setting_add(of.after, "[mover rigid]\nstep = 0.8\nturn = 1\n");
    snprintf(of.initial, sizeof of.initial, "state = lattice\n");
    return of;
}

static void law_of_volumes(subject *s)
{
    const double kT = 1.4, pressure = 0.6;
    law_test t = {.check = "law: pressure, molecules",
                  .compared = "volumes of four molecules without energies against V^N exp(-PV/kT)",
                  .what = "the volume",
                  .measure = law_measure_volume,
                  .advice = advice_boxes,
                  .interval = 2};
    t.setting = short_dumbbells(s, kT, 4, 0);
    t.setting.pressure = pressure;
    t.setting.part = 0.4;
    law_try_in_bins(
        s, &t, law_of("volume", "dimension=3 particles=4 pressure=%g kT=%g core=0", pressure, kT),
        13);
}

static int boxes_together(const subject *s)
{
    return s->mover->together > 0 ? s->mover->together : -1;
}

/* Of molecules without energies every number is as likely as every other, and so is every volume. */
static void law_of_shared_molecules(subject *s, bool volumes)
{
    law_test t = {.check = volumes ? "law: shared volume, molecules" : "law: shared molecules",
                  .compared =
                      "one of two boxes that share four molecules without energies and their "
                      "volumes against even laws",
                  .what = volumes ? "the volume" : "the number of molecules",
                  .together = boxes_together(s),
                  .measure = volumes ? law_measure_volume : measure_numbers,
                  .advice = advice_boxes};
    t.setting = short_dumbbells(s, 1.3, 2, 4);
    t.setting.part = 1;
    if (subject_key(s, "trials") && subject_key(s, "volume_trials"))
        snprintf(t.setting.keys, sizeof t.setting.keys, "trials = 10\nvolume_trials = 10\n");
    law_try_even(s, &t, volumes, 2 * pow(t.setting.edge, 3));
}

/* In two boxes whose volumes stay. */
static void law_of_shared_pair(subject *s)
{
    const double edge = 4.7, kT = 0.5, volume = pow(edge, 3);
    double part[DISTANCES];
    law_test t = test_of_numbers("law: shared pair of molecules",
                                 "numbers of two dumbbells with Lennard-Jones sites in one of two "
                                 "boxes that share them against quadrature");
    if (!subject_key(s, "volume_trials")) return;
    t.setting = dumbbells(s, edge, kT, 1, 2);
    snprintf(t.setting.keys, sizeof t.setting.keys, "trials = 12\nvolume_trials = 0\n");
    setting_add(t.setting.after, "[mover rigid]\nstep = 1.2\nturn = 1.5\n");
    add_soft_pairs(&t.setting);
    t.together = boxes_together(s);
    t.advice = advice_boxes;
    const double two = 0.5 * volume * integral_of_two(edge, kT, part),
                 weight[3] = {two, volume * volume, two};
    expect(&t, weight, 2);
    law_try(s, &t);
}

void laws_of_molecules_in_boxes(subject *s)
{
    if (!(s->mover->needs & PLUGMC_KEEPS_RIGID)) return;
    if (s->family != FAMILY_SHARED_BOXES) {
        law_of_volumes(s);
        return;
    }
    law_of_shared_molecules(s, false);
    law_of_shared_molecules(s, true);
    law_of_shared_pair(s);
}

int laws_of_molecules(const target *target, findings *f, void *argument)
{
    subject *s = argument;
    (void)target, (void)f;
    if (subject_changes(s, PLUGMC_CHANGED_COUNT)) {
        law_of_ideal_gas(s);
        law_of_two_at_most(s);
        law_of_density(s);
        return 0;
    }
    if (subject_uses(s, PLUGMC_USES_FIELD)) law_of_rotors(s);
    if (subject_uses(s, PLUGMC_USES_PAIR)) law_of_two(s);
    return 0;
}
