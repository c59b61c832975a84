/* Laws of wave functions: |Psi|^2, and the energy that diffusion finds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "movers.h"
#include "records/results.h"

/* ---- |Psi|^2 ------------------------------------------------------------------------------------ */

static const double charge = 1, zeta = 0.8;

/* Electrons in the orbital exp(-zeta r) around a nucleus, in open space. */
setting setting_of_atom(subject *s, int electrons)
{
    setting of = setting_new(s, 3, 0, 1);
    of.box = "dimension = 3\nshape = sphere\nradius = 20\n";
    of.step = 1;
    setting_add(of.species, "[species up]\ncount = 1\ncharge = -1\n");
    if (electrons == 2) setting_add(of.species, "[species down]\ncount = 1\ncharge = -1\n");
    setting_add(of.potentials, "[potential slater_orbitals]\nnuclei = 0 0 0 %g\nzeta = %g\n",
                charge, zeta);
    if (s->family == FAMILY_DIFFUSION)
        setting_add(of.potentials, "[observable local_energy]\nperiod = 5\n");
    return of;
}

/* Of each electron bins of the distance, and on which side of the nucleus it is. */
static void measure_electrons(const law_test *t, const snapshot_of_run *now, int w, double *out,
                              double *samples)
{
    const int bins = (int)t->parameters[0];
    const double *x = now->positions + 3 * w * now->capacity;
    for (int e = 0; e < now->capacity; e++, out += bins + 3) {
        const double r =
            sqrt(x[3 * e] * x[3 * e] + x[3 * e + 1] * x[3 * e + 1] + x[3 * e + 2] * x[3 * e + 2]);
        int bin = 0;
        while (bin < bins && r > t->ends[bin]) bin++;
        if (bin < bins) out[bin] += 1;
        for (int d = 0; d < 3; d++) out[bins + d] += x[3 * e + d] > 0;
    }
    *samples += 1;
}

/* Below this distance is the electron with probability p: by bisection of 1 - exp(-q) (1 + q + q^2 / 2), q = 2 zeta r. */
static double quantile(double p)
{
    double low = 0, high = 60;
    for (int k = 0; k < 80; k++) {
        const double q = 0.5 * (low + high);
        if (1 - exp(-q) * (1 + q + 0.5 * q * q) < p)
            low = q;
        else
            high = q;
    }
    return low / (2 * zeta);
}

int laws_of_waves(const target *target, findings *f, void *argument)
{
    enum { BINS = 9 };
    subject *s = argument;
    (void)target, (void)f;
    for (int electrons = 1; electrons <= 2; electrons++) {
        law_test t = {
            .check = electrons == 1 ? "law: one electron" : "law: two electrons",
            .compared = "distances and sides of electrons around a nucleus against |Psi|^2",
            .what = "the distance of an electron",
            .measure = measure_electrons,
            .parameters = {BINS},
            .advice =
                "look at |Psi|^2 (not |Psi|) in the acceptance, and at how displacements are drawn"};
        t.setting = setting_of_atom(s, electrons);
        for (int e = 0; e < electrons; e++) {
            for (int b = 0; b < BINS; b++, t.dims++) {
                t.expected[t.dims] = 1.0 / (BINS + 1);
                t.ends[t.dims] = quantile((b + 1.0) / (BINS + 1));
            }
            for (int d = 0; d < 3; d++) t.expected[t.dims++] = 0.5;
        }
        law_try(s, &t);
    }
    return 0;
}

/* ---- Diffusion ---------------------------------------------------------------------------------- */

/* Mean of the local energy of one run, Hartree; NaN if it fails. */
static double energy_of_run(subject *s, setting *of, int sweeps)
{
    run r;
    double energy = NAN;
    if (!subject_open(s, of, &r)) return NAN;
    if (subject_sweep(s, &r, (uint64_t)(of->equilibrate + sweeps)) &&
        !find_results(&r.session.records)) {
        const output_data *out = &r.session.records.output;
        for (int k = 0; k < out->quantity_count; k++)
            if (!strcmp(out->quantities[k].name, "energy"))
                energy = out->quantities[k].found.scalar.mean;
    }
    run_close(&r);
    return energy;
}

int laws_of_diffusion(const target *target, findings *f, void *argument)
{
    enum { RUNS = 12 };
    static const double exact = -0.5;
    subject *s = argument;
    (void)target;
    double sum = 0, square = 0;
    check_begin(
        f, "law: energy of hydrogen", LIMIT_LOG_P,
        "deviation of %d runs from -1/2 Hartree beyond 0.003, as -log10 of p; the trial function has -0.48",
        RUNS);
    int runs = 0;
    for (int k = 0; k < RUNS; k++) {
        setting of = setting_of_atom(s, 1);
        of.walkers = 100;
        of.equilibrate = 600;
        const double energy = energy_of_run(s, &of, s->target->quick ? 600 : 1800);
        if (!check_running(f) || isnan(energy)) break;
        sum += energy;
        square += energy * energy;
        runs++;
    }
    if (runs == RUNS) {
        const double mean = sum / RUNS, error = sqrt((square / RUNS - mean * mean) / (RUNS - 1));
        const double beyond = fmax(0, fabs(mean - exact) - 0.003) / error;
        check_value(
            f, -log_tail_of_f(beyond * beyond, 1, RUNS - 1) / log(10),
            "the energy is %.5f(%.5f), exact is -0.5: look at the weights of walkers, exp(-tau (E_L - E_T)), and "
            "at the Green function that is accepted with; a time step that is too large does the same",
            mean, error);
    } else if (check_running(f)) {
        check_fail(f, "a run of hydrogen has no energy");
    }
    check_end(f);
    return 0;
}
