/* Laws of positions: movers that displace particles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws.h"
#include "movers.h"

static const double field_strength = 260;

static const char advice_steps[] =
    "look at the acceptance (exp(-change of -ln p), with the temperature and every potential), and "
    "whether each step is drawn as often as its reverse, or log_factor says how much less; also whether two "
    "draws share purpose, number and k, and whether every distance takes the nearest image";

/* ---- Particles in a field ---------------------------------------------------------------------- */

/* Bins of each coordinate, then the energy over the strength. All particles count. */
static void measure_field(const law_test *t, const snapshot_of_run *now, int w, double *out,
                          double *samples)
{
    const int dimension = t->setting.dimension, per_axis = (int)t->parameters[0];
    double energy = 0;
    int64_t particles = 0;
    for (int32_t s = 0; s < now->species; s++)
        for (int64_t i = 0; i < now->counts[w * now->species + s]; i++, particles++) {
            const double *x = now->positions + 3 * (w * now->capacity + now->first[s] + i);
            for (int d = 0; d < dimension; d++) {
                int bin = 0;
                while (bin < per_axis && x[d] > t->ends[bin]) bin++;
                if (bin < per_axis) out[d * per_axis + bin] += 1;
                const double f = x[d] / t->setting.edge, q = f * (1 - f);
                energy += q * q * (f - 0.4);
            }
        }
    out[dimension * per_axis] += energy * (double)t->parameters[1];
    *samples += (double)particles;
}

law_test law_of_field(subject *s, int dimension, double temperature, int bins)
{
    const double edge = dimension == 2 ? 5 : 4;
    law_test t = {.check = dimension == 2 ? "law: field, 2 dimensions" : "law: field, 3 dimensions",
                  .compared = "coordinates and energy of 24 free particles in a field against "
                              "exp(-U/kT)",
                  .what = "a coordinate",
                  .settled = true,
                  .measure = measure_field,
                  .advice = advice_steps};
    t.setting = setting_new(s, dimension, edge, temperature);
    setting_species(s, &t.setting, 12, 12, 0);
    t.samples = s->target->quick ? 800 : 2400;
    setting_field(&t.setting, field_strength);
    law l = law_of("field", "length=%g strength=%g kT=%g", edge, field_strength, temperature);
    law_bins(&t, &l, bins);
    const int per_axis = t.dims;
    double energy = 0;
    for (int i = 0; i < l.count; i++) {
        const double f = l.points[i].value / edge, q = f * (1 - f);
        energy += l.points[i].weight * q * q * (f - 0.4);
    }
    for (int d = 1; d < dimension; d++)
        for (int b = 0; b < per_axis; b++) {
            t.expected[t.dims] = t.expected[b];
            t.ends[t.dims++] = t.ends[b];
        }
    t.parameters[0] = per_axis;
    t.parameters[1] = field_strength / temperature;
    t.last = "the energy over kT";
    t.expected[t.dims++] = energy * dimension * t.parameters[1];
    free(l.points);
    return t;
}

bool any_law_has_failed(const findings *f)
{
    for (int i = 0; i < f->count; i++)
        if (f->list[i].verdict == CHECK_FAILED && !strncmp(f->list[i].check, "law: ", 5))
            return true;
    return false;
}

/* With a step that the core has tuned before, several times as long as that of the section. Where a law fails without, the
 * step need not be the reason. */
static void law_of_tuned_step(subject *s)
{
    law_test t = law_of_field(s, 2, 0.7, 9);
    t.check = "law: field, tuned step";
    t.setting.step = 0.04 * t.setting.edge;
    t.setting.target = 0.4;
    t.setting.equilibrate = 400;
    if (!any_law_has_failed(s->findings))
        t.advice =
            "use the step that 'sweep' or the trial is given everywhere, also in log_factor, and not "
            "the parameter";
    law_try(s, &t);
}

/* ---- Two particles ----------------------------------------------------------------------------- */

static double nearest_distance(const law_test *t, const snapshot_of_run *now, int w)
{
    const double *x = now->positions + 3 * w * now->capacity, edge = t->setting.edge;
    double square = 0;
    for (int d = 0; d < t->setting.dimension; d++) {
        double away = x[3 + d] - x[d];
        away -= edge * rint(away / edge);
        square += away * away;
    }
    return sqrt(square);
}

static void measure_distance(const law_test *t, const snapshot_of_run *now, int w, double *out,
                             double *samples)
{
    const int bin = law_bin(t, nearest_distance(t, now, w));
    if (bin < t->dims) out[bin] += 1;
    *samples += 1;
}

/* Two of them: soft ones, or hard ones of diameter 1. */
law_test law_of_pair(subject *s, int dimension, bool hard)
{
    static const char *const checks[] = {
        "law: soft pair, 2 dimensions", "law: soft pair, 3 dimensions",
        "law: hard pair, 2 dimensions", "law: hard pair, 3 dimensions"};
    const double edge = hard ? 5 : 6.5, temperature = hard ? 1 : 0.45;
    law_test t = {.check = checks[2 * hard + dimension - 2],
                  .compared = hard ? "distances of two hard particles against their volumes"
                                   : "distances of two Lennard-Jones particles against exp(-U/kT)",
                  .what = "the distance",
                  .settled = true,
                  .measure = measure_distance,
                  .advice = advice_steps};
    t.setting = setting_new(s, dimension, edge, temperature);
    t.setting.step = dimension == 2 ? 1.6 : 1.2;
    setting_species(s, &t.setting, 2, -1, 1);
    /* At a random start two of them may overlap with 10^17 kT, of which sums of a mover keep all later digits. */
    snprintf(t.setting.initial, sizeof t.setting.initial, "state = lattice\n");
    if (hard)
        setting_add(t.setting.potentials, "[potential hard_sphere]\n");
    else
        setting_add(t.setting.potentials,
                    "[potential lennard_jones]\nepsilon = 1\nsigma = 1\ncutoff = 1.6\n");
    law l = hard ? law_of("distance", "dimension=%d length=%g core=1", dimension, edge)
                 : law_of("distance", "dimension=%d length=%g lennard_jones=1 cutoff=1.6 kT=%g",
                          dimension, edge, temperature);
    law_bins(&t, &l, 16);
    t.samples = s->target->quick ? 1600 : 4800; /* which are cheap */
    free(l.points);
    return t;
}

/* ---- Many particles: identities ---------------------------------------------------------------- */

static const double smooth_strength = 2.5, smooth_range = 2;

/* Minus the gradient [dimension] and the Laplacian of all that particle i feels, in units of energy. */
static void force_of(const law_test *t, const double *x, int n, int i, double *force,
                     double *laplacian)
{
    const int dimension = t->setting.dimension;
    const double edge = t->setting.edge, strength = t->parameters[0];
    *laplacian = 0;
    for (int d = 0; d < dimension; d++) {
        const double f = x[3 * i + d] / edge, q = f * (1 - f), c = f - 0.4,
                     slope = 2 * q * (1 - 2 * f);
        force[d] = -strength / edge * (slope * c + q * q);
        *laplacian += strength / (edge * edge) * (2 * (1 - 6 * q) * c + 2 * slope);
    }
    for (int j = 0; j < n; j++) {
        double away[3], square = 0;
        if (j == i || isnan(x[3 * j])) continue;
        for (int d = 0; d < dimension; d++) {
            away[d] = x[3 * i + d] - x[3 * j + d];
            away[d] -= edge * rint(away[d] / edge);
            square += away[d] * away[d];
        }
        const double range2 = smooth_range * smooth_range, left = 1 - square / range2;
        if (left <= 0) continue;
        const double slope = -3 * smooth_strength / range2 * left * left;
        for (int d = 0; d < dimension; d++) force[d] -= 2 * slope * away[d];
        *laplacian +=
            4 * square * 6 * smooth_strength / (range2 * range2) * left + 2 * dimension * slope;
    }
}

/* <F^2> = kT <Laplacian U> for each species, and <F_x g> = -kT <dg/dx> for g = sin and cos of 2 pi x / L, per axis: these hold
 * for exp(-U/kT) whatever the number of particles. */
static void measure_identities(const law_test *t, const snapshot_of_run *now, int w, double *out,
                               double *samples)
{
    const double *x = now->positions + 3 * w * now->capacity, kT = t->setting.temperature;
    const double k = 2 * M_PI / t->setting.edge;
    const int n = (int)now->capacity, dimension = t->setting.dimension;
    for (int i = 0; i < n; i++) {
        double force[3], laplacian;
        force_of(t, x, n, i, force, &laplacian);
        double *of_species = &out[i >= now->first[1]];
        *of_species -= kT * laplacian;
        for (int d = 0; d < dimension; d++) {
            const double phase = k * x[3 * i + d];
            *of_species += force[d] * force[d];
            out[2 + 2 * d] += force[d] * sin(phase) + kT * k * cos(phase);
            out[3 + 2 * d] += force[d] * cos(phase) - kT * k * sin(phase);
        }
    }
    *samples += 1;
}

static law_test law_of_identities(subject *s, int dimension, bool field)
{
    static const char *const names[] = {"<F^2> - kT <Laplacian of U> of the first species",
                                        "<F^2> - kT <Laplacian of U> of the second species",
                                        "<F_x sin kx> + kT k <cos kx>",
                                        "<F_x cos kx> - kT k <sin kx>",
                                        "<F_y sin ky> + kT k <cos ky>",
                                        "<F_y cos ky> - kT k <sin ky>",
                                        "<F_z sin kz> + kT k <cos kz>",
                                        "<F_z cos kz> - kT k <sin kz>"};
    law_test t = {.check = dimension == 2 ? "law: many particles, 2 dimensions"
                                          : "law: many particles, 3 dimensions",
                  .compared = "forces on six interacting particles against derivatives of forces",
                  .names = names,
                  .dims = 2 + 2 * dimension,
                  .settled = true,
                  .measure = measure_identities,
                  .advice = advice_steps};
    t.setting = setting_new(s, dimension, dimension == 2 ? 6.5 : 5, 0.8);
    if (!(s->mover->needs & PLUGMC_NEEDS_FORCES)) t.setting.step = 1.2;
    t.parameters[0] = field ? 120 : 0;
    setting_species(s, &t.setting, 4, 2, 0);
    setting_add(t.setting.potentials,
                "[potential expression]\nenergy = %g*(1 - r*r/%g)^3\ncutoff = %g\n",
                smooth_strength, smooth_range * smooth_range, smooth_range);
    if (field) setting_field(&t.setting, 120);
    return t;
}

/* ---- Movers that exchange positions alone ------------------------------------------------------ */

enum { PLACES = 5 };
static const double places[PLACES][2] = {
    {0.3, 0.2}, {1.1, 0.5}, {2.2, 1.0}, {3.1, 2.9}, {0.6, 2.7}};
static const double charge_of[2] = {1.5, 0.5};

/* Bits of the places that the two particles of the first species have: a number from 0 to 9, in the order of bits. */
static int arrangement_of(const double *x)
{
    unsigned bits = 0;
    int number = 0;
    for (int i = 0; i < 2; i++)
        for (int p = 0; p < PLACES; p++)
            if (fabs(x[3 * i] - places[p][0]) < 1e-3 && fabs(x[3 * i + 1] - places[p][1]) < 1e-3)
                bits |= 1u << p;
    for (unsigned b = 0; b < bits; b++) number += __builtin_popcount(b) == 2;
    return __builtin_popcount(bits) == 2 ? number : -1;
}

static double weight_of_arrangement(unsigned bits, double edge, double kT)
{
    double u = 0;
    for (int i = 0; i < PLACES; i++)
        for (int j = 0; j < i; j++) {
            double away[2];
            for (int d = 0; d < 2; d++) {
                away[d] = places[i][d] - places[j][d];
                away[d] -= edge * rint(away[d] / edge);
            }
            const double r = hypot(away[0], away[1]);
            u += charge_of[!(bits >> i & 1)] * charge_of[!(bits >> j & 1)] * exp(-r) / r;
        }
    return exp(-u / kT);
}

static void measure_arrangement(const law_test *t, const snapshot_of_run *now, int w, double *out,
                                double *samples)
{
    const int number = arrangement_of(now->positions + 3 * w * now->capacity);
    if (number >= 0 && number < t->dims) out[number] += 1;
    *samples += 1;
}

/* Walkers begin in arrangements with the law, so that a mover which does not reach all of them, as one that exchanges
 * neighbours, must only leave it as it is. */
static double *begin_arranged(const law_test *t)
{
    double *positions =
        checked(malloc(3 * PLACES * sizeof *positions * (size_t)t->setting.walkers));
    for (int w = 0; w < t->setting.walkers; w++) {
        int number = 0, strong = 0, weak = 2;
        unsigned bits = 3;
        double sum = t->expected[0];
        while (number < t->dims && sum < (w + 0.5) / t->setting.walkers)
            sum += ++number < t->dims ? t->expected[number] : 1;
        for (int k = 0; k < number; k++) do
                bits++;
            while (__builtin_popcount(bits) != 2);
        for (int p = 0; p < PLACES; p++) {
            double *at = positions + 3 * (PLACES * w + (bits >> p & 1 ? strong++ : weak++));
            at[0] = places[p][0], at[1] = places[p][1], at[2] = 0;
        }
    }
    return positions;
}

static void law_of_arrangements(subject *s)
{
    char frame[80];
    double sum = 0;
    law_test t = {.check = "law: exchanged positions",
                  .compared = "two strong and three weak charges on five places against exp(-U/kT)",
                  .what = "arrangement",
                  .dims = 9,
                  .begin = begin_arranged,
                  .measure = measure_arrangement,
                  .advice =
                      "look at the acceptance, and whether each exchange is proposed as often "
                      "as its reverse, or log_factor says how much less"};
    t.setting = setting_new(s, 2, 4, 0.6);
    t.setting.reach =
        0.46; /* places have one to three neighbours within it, and all are connected */
    for (unsigned bits = 0, n = 0; bits < 1u << PLACES; bits++) {
        if (__builtin_popcount(bits) != 2) continue;
        const double weight = weight_of_arrangement(bits, 4, t.setting.temperature);
        if (n < 9) t.expected[n] = weight, t.ends[n] = n + 0.5;
        n++;
        sum += weight;
    }
    for (int n = 0; n < 9; n++) t.expected[n] /= sum;
    snprintf(frame, sizeof frame, "%s/start.xyz", s->folder);
    FILE *out = fopen(frame, "w");
    if (!out) return check_not_covered(s->findings, t.check, "%s cannot be written", frame);
    fprintf(out, "%d\nLattice=\"4 0 0 0 4 0 0 0 1\" Properties=species:S:1:pos:R:3 pbc=\"T T F\"\n",
            PLACES);
    for (int p = 0; p < PLACES; p++)
        fprintf(out, "%s %g %g 0\n", s->names[p > 1], places[p][0], places[p][1]);
    fclose(out);
    for (int k = 0; k < 2; k++)
        setting_add(t.setting.species, "[species %s]\ncount = %d\ndiameter = 0\ncharge = %g\n",
                    s->names[k], k ? 3 : 2, charge_of[k]);
    setting_add(t.setting.potentials, "[potential yukawa]\nbjerrum_length = 1\nkappa = 1\n");
    snprintf(t.setting.initial, sizeof t.setting.initial, "state = file\nfile = %s\n", frame);
    if (subject_key(s, "trials")) snprintf(t.setting.keys, sizeof t.setting.keys, "trials = 3\n");
    law_try(s, &t);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All x of a walker in the order of their values. */
static bool sorted_positions(run *r, double *out)
{
    snapshot_of_run now;
    if (run_look(r, &now)) return false;
    for (int64_t i = 0; i < now.capacity; i++) out[i] = now.positions[3 * i];
    qsort(out, (size_t)now.capacity, sizeof *out, by_value);
    return true;
}

/* Whether particles have been where others were, and nowhere else, in 20 sweeps. */
static bool try_exchanges(subject *s)
{
    enum { PARTICLES = 6 };
    double before[PARTICLES], after[PARTICLES];
    run r;
    setting of = setting_new(s, 2, 6.5, 1);
    of.walkers = 1;
    setting_species(s, &of, PARTICLES / 2, PARTICLES / 2, 0.001);
    setting_add(of.potentials, "[potential hard_sphere]\n");
    char *text = setting_text(s, &of);
    int code = run_open(&r, text);
    free(text);
    bool same = !code && sorted_positions(&r, before) && !run_sweep(&r, 20) &&
                sorted_positions(&r, after) && !memcmp(before, after, sizeof before);
    const mover_slot *m = same ? run_mover(&r, candidate) : NULL;
    same = m && s->mover->move_count > 0 && run_counts(&r, m, 0).accepted > 0;
    run_close(&r);
    return same;
}

static bool exchanges_positions(subject *s)
{
    if (s->known->exchanges)
        s->systems++; /* as if it were tried again: seeds of later systems stay what they are */
    else
        s->known->exchanges = 1 + try_exchanges(s);
    return s->known->exchanges > 1;
}

/* ---- Groups ------------------------------------------------------------------------------------ */

int laws_of_positions(const target *target, findings *f, void *argument)
{
    subject *s = argument;
    const bool field = subject_uses(s, PLUGMC_USES_FIELD), pair = subject_uses(s, PLUGMC_USES_PAIR);
    (void)target, (void)f;
    if (exchanges_positions(s)) {
        law_of_arrangements(s);
        return 0;
    }
    for (int dimension = 2; dimension <= 3; dimension++) {
        if (field) {
            law_test t = law_of_field(s, dimension, 0.7, 9);
            law_try(s, &t);
        } else {
            check_not_covered(s->findings, "law: field", "the mover takes no fields");
        }
        for (int hard = 0; hard < 2 && pair; hard++) {
            law_test t = law_of_pair(s, dimension, hard);
            law_try(s, &t);
        }
        law_test t = law_of_identities(s, dimension, field);
        if (pair) law_try(s, &t);
    }
    if (field && subject_is_tuned(s)) law_of_tuned_step(s);
    return 0;
}

/* Beside a potential that has no part in the density. What else is wrong would be blamed on it. */
static void law_of_measured(subject *s)
{
    if (any_law_has_failed(s->findings))
        return check_not_covered(s->findings, "law: beside a measured potential",
                                 "another law has failed; mend that first");
    for (int hard = 0; hard < 2; hard++) {
        law_test t = law_of_pair(s, 2, hard);
        t.check = "law: beside a measured potential";
        t.advice =
            "leave out potentials with role = measured (term->sampled is 0), if the mover adds up "
            "energies itself";
        setting_add(t.setting.potentials,
                    "[potential seen]\nplugin = yukawa\nrole = measured\nbjerrum_length = 3\n"
                    "kappa = 1\ncutoff = %g\n",
                    hard ? 2.4 : 1.6);
        setting_add(t.setting.species, "charge = 1\n");
        if (hard || subject_can_open(s, &t.setting)) {
            law_try(s, &t);
            return;
        }
    }
}

const char advice_wide[] =
    "a ball of more than half of the smallest height of the box meets its own image: refuse it, or "
    "propose nothing where 2 radius > plugmc_height(trial->box, d)";

/* A neighbourhood whose ball meets its own image has another volume than the ball, and lists whom it finds once or twice: a
 * mover refuses it, does nothing, or is right. */
static void law_of_wide_lengths(subject *s)
{
    const char *key;
    if (!(subject_length(s, &key) > 0)) return;
    law_test t = law_of_pair(s, 3, false);
    t.check = "law: lengths beyond half of the box";
    t.setting.reach = 0.6;
    if (!any_law_has_failed(s->findings)) t.advice = advice_wide;
    law_try(s, &t);
}

/* Beside other movers, which change what this one holds; and on a ladder. */
int laws_of_company(const target *target, findings *f, void *argument)
{
    subject *s = argument;
    (void)target;
    if (exchanges_positions(s)) {
        check_not_covered(f, "laws beside other movers", "the mover only exchanges positions");
        return 0;
    }
    law_test t = law_of_pair(s, 2, false);
    if (!subject_can_open(s, &t.setting)) t = law_of_pair(s, 2, true);
    t.check = "law: beside checkerboard";
    setting_add(t.setting.before, "[mover checkerboard]\nstep = 0.4\n");
    law_try(s, &t);
    t = law_of_pair(s, 3, true);
    t.check = "law: beside serial";
    setting_add(t.setting.after, "[mover serial]\nstep = 0.5\n");
    law_try(s, &t);
    law_of_measured(s);
    law_test second = law_of_pair(s, 2, false);
    t = second;
    t.check = "law: on a ladder";
    t.together = -1;
    t.settled = false;
    t.setting.walkers = 8;
    t.samples = s->target->quick ? 100 : 300;
    setting_add(
        t.setting.after,
        "[mover serial]\nstep = 1.6\n[mover exchange]\n[ladder]\nvary = run.temperature\nvalues = 0.45 0.9\n");
    law l[2];
    for (int rung = 0; rung < 2; rung++) {
        l[rung] = law_of("distance", "dimension=2 length=6.5 lennard_jones=1 cutoff=1.6 kT=%g",
                         rung ? 0.9 : 0.45);
        law_bins(rung ? &second : &t, &l[rung], 10);
        free(l[rung].points);
    }
    t.second = &second;
    law_try(s, &t);
    law_of_wide_lengths(s);
    return 0;
}
