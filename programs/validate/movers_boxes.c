/* Laws of volumes: constant pressure, and walkers that share volume and particles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "laws.h"
#include "movers.h"

/* ---- Constant pressure -------------------------------------------------------------------------- */

static const double kT = 1.4, pressure = 0.6;

setting setting_of_pressure(subject *s, int dimension, int particles, double diameter)
{
    setting of = setting_new(s, dimension, dimension == 2 ? 3 : 2.2, kT);
    of.pressure = pressure;
    of.part = particles > 3 ? 0.4 : 0.8;
    setting_species(s, &of, particles, -1, diameter);
    setting_add(of.potentials, "[potential hard_sphere]\n");
    setting_add(of.after, "[mover serial]\nstep = 0.8\n");
    snprintf(of.initial, sizeof of.initial, "state = lattice\n");
    return of;
}

static law_test volume_test(const char *check, const char *compared)
{
    return (law_test){
        .check = check,
        .compared = compared,
        .what = "the volume",
        .measure = law_measure_volume,
        .advice =
            "look at log_factor: (N + 1) ln(V'/V) where ln V is drawn, N ln(V'/V) where V is; "
            "particles go along at fixed fractional coordinates, and -ln p has P V / kT already"};
}

/* Free particles, whose potential has a range but no strength, for movers that have cells. */
void setting_beside_cells(setting *of, double range)
{
    *of->potentials = *of->after = 0;
    of->walkers /= 2;
    of->equilibrate /= 2;
    setting_add(of->potentials, "[potential expression]\nenergy = 0*r\ncutoff = %g\n", range);
    setting_add(of->after, "[mover checkerboard]\nstep = %g\n", 0.4 * range);
}

static void law_beside_cells(subject *s)
{
    law_test t = volume_test(
        "law: beside checkerboard",
        "volumes of free particles, which another mover moves in cells, against V^N exp(-PV/kT)");
    t.setting = setting_of_pressure(s, 2, 8, 0);
    setting_beside_cells(&t.setting, 0.3);
    t.samples = s->target->quick ? 200 : 600;
    t.interval = 2;
    law_try_in_bins(
        s, &t, law_of("volume", "dimension=2 particles=8 pressure=%g kT=%g", pressure, kT), 13);
}

static void law_of_pressure(subject *s, int dimension, int particles, double diameter,
                            const char *check)
{
    law_test t = volume_test(
        check, diameter > 0 ? "volumes of two hard particles against exp(-PV/kT) and their volumes"
                            : "volumes of free particles against V^N exp(-PV/kT)");
    t.setting = setting_of_pressure(s, dimension, particles, diameter);
    t.interval = 2;
    law_try_in_bins(s, &t,
                    law_of("volume", "dimension=%d particles=%d pressure=%g kT=%g core=%g",
                           dimension, particles, pressure, kT, diameter),
                    13);
}

/* Every pair by its nearest image, whatever the size of the box. */
static void law_of_charges(subject *s)
{
    law_test t =
        volume_test("law: pressure, charges",
                    "volumes of two charges against exp(-PV/kT) and their energies by quadrature");
    t.setting = setting_new(s, 2, 5, 1.2);
    t.setting.pressure = 0.2;
    t.setting.part = 1;
    t.setting.step = 2;
    t.interval = 2;
    setting_add(t.setting.species, "[species %s]\ncount = 2\ndiameter = 0\ncharge = 1\n",
                s->names[0]);
    setting_add(t.setting.potentials,
                "[potential coulomb]\nbjerrum_length = 2\nminimum_image = yes\n");
    setting_add(t.setting.after, "[mover serial]\nstep = 1.5\n");
    law_try_in_bins(s, &t, law_of("volume", "dimension=2 coulomb=2 pressure=0.2 kT=1.2"), 13);
}

/* ---- Walkers that share volume and particles ---------------------------------------------------- */

setting setting_of_shared_boxes(subject *s, int dimension)
{
    setting of = setting_new(s, dimension, 2, 1.3);
    of.part = 1;
    setting_add(of.species, "[species %s]\ncount = 2\nmax_count = 4\ndiameter = 0\n", s->names[0]);
    setting_add(of.potentials, "[potential hard_sphere]\n");
    setting_add(of.after, "[mover serial]\nstep = 0.8\n");
    if (subject_key(s, "trials")) snprintf(of.keys, sizeof of.keys, "trials = 10\n");
    return of;
}

static const char advice_shared[] =
    "look at log_factor: N V' / ((N' + 1) V) belongs to a particle that leaves N in V and joins N' in V', and "
    "(N + 1) ln V + (N' + 1) ln V' to volumes whose ratio is drawn by its logarithm";

static void measure_share(const law_test *t, const snapshot_of_run *now, int w, double *out,
                          double *samples)
{
    const double value =
        t->parameters[0] > 0 ? now->boxes[w].volume : (double)now->counts[w * now->species];
    law_count(t, value, out, samples);
}

/* Of an ideal gas every number is as likely as every other, and so is every volume. */
static void law_of_shares(subject *s, int dimension, bool volumes)
{
    law_test t = {
        .check = volumes ? "law: shared volume" : "law: shared particles",
        .compared =
            "one of two boxes that share four free particles and their volumes against even laws",
        .what = volumes ? "the volume" : "the number of particles",
        .together = s->mover->together > 0 ? s->mover->together : -1,
        .measure = measure_share,
        .advice = advice_shared,
        .parameters = {volumes}};
    t.setting = setting_of_shared_boxes(s, dimension);
    law_try_even(s, &t, volumes, 2 * pow(2, dimension));
}

/* Probabilities of 0, 1 and 2 particles in one of two boxes that share two hard disks and the volume `all`. */
static void expect_hard_shares(law_test *t, double all)
{
    enum { STEPS = 400 };
    double sum[3] = {0};
    for (int k = 0; k < STEPS; k++) {
        const double v = all * (k + 0.5) / STEPS;
        const law one = law_of("number", "dimension=2 length=%.12g activity=1 most=2 core=1",
                               sqrt(v)),
                  other = law_of("number", "dimension=2 length=%.12g activity=1 most=2 core=1",
                                 sqrt(all - v));
        for (int n = 0; n < 3; n++)
            sum[n] += one.points[n].weight / one.points[0].weight * other.points[2 - n].weight /
                      other.points[0].weight;
        free(one.points);
        free(other.points);
    }
    for (int n = 0; n < 2; n++) {
        t->expected[n] = sum[n] / (sum[0] + sum[1] + sum[2]);
        t->ends[n] = n + 0.5;
    }
    t->dims = 2;
}

static void law_of_hard_shares(subject *s)
{
    law_test t = {
        .check = "law: shared hard disks",
        .compared =
            "one of two boxes that share two hard disks and their volumes against quadrature",
        .what = "the number of particles",
        .together = s->mover->together > 0 ? s->mover->together : -1,
        .measure = measure_share,
        .advice = advice_shared};
    t.setting = setting_of_shared_boxes(s, 2);
    snprintf(t.setting.species, sizeof t.setting.species,
             "[species %s]\ncount = 1\nmax_count = 2\ndiameter = 1\n", s->names[0]);
    expect_hard_shares(&t, 2 * t.setting.edge * t.setting.edge);
    law_try(s, &t);
}

int laws_of_boxes(const target *target, findings *f, void *argument)
{
    subject *s = argument;
    (void)target, (void)f;
    if (s->family == FAMILY_SHARED_BOXES) {
        for (int dimension = 2; dimension <= 3; dimension++)
            for (int volumes = 0; volumes < 2; volumes++) law_of_shares(s, dimension, volumes);
        law_of_hard_shares(s);
        laws_of_molecules_in_boxes(s);
        return 0;
    }
    law_of_pressure(s, 2, 1, 0, "law: pressure, one particle, 2 d");
    law_of_pressure(s, 3, 1, 0, "law: pressure, one particle, 3 d");
    law_of_pressure(s, 2, 8, 0, "law: pressure, eight particles, 2 d");
    law_of_pressure(s, 3, 8, 0, "law: pressure, eight particles, 3 d");
    law_of_pressure(s, 2, 2, 1, "law: pressure, hard pair, 2 d");
    law_of_pressure(s, 3, 2, 1, "law: pressure, hard pair, 3 d");
    law_of_charges(s);
    law_beside_cells(s);
    laws_of_molecules_in_boxes(s);
    return 0;
}
