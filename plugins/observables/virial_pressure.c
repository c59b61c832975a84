/* virial_pressure: the pressure from forces, in kT a volume,
 *
 *     P_d = N / V + (1 / V) < sum_i r_i,d f_i,d >,    P = mean of P_d over the directions d,
 *
 * with N and V in the mean, where they change; of rigid molecules N counts molecules and free particles, and r is the
 * position of the first site for all sites of one (virials.h),
 * of all sampled potentials, each times its coupling: pairs by their derivatives, whole-configuration sums by their own
 * virial. M. P. Allen, D. J. Tildesley, Computer Simulation of Liquids, section 2.4; for Ewald sums
 * D. M. Heyes, Phys. Rev. B 49, 755 (1994).
 *
 * A pair energy that jumps, at its cutoff or at the edge of a well, pushes or pulls there, which its derivative does not
 * show: `jumps` is that part of the pressure, found from pairs in shells on both sides (pair_jumps.h). So the pressure is
 * that of the energies that are sampled: at constant pressure its mean is the pressure that was given. What is beyond the
 * cutoff of a homogeneous fluid is a potential of its own (lennard_jones_tail). Hard cores push by their contacts, which
 * hard_pressure measures where there is nothing else, and pressure where there is.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "virials.h"

typedef struct virial_pressure {
    /* parameters */
    real fit_range;
    int64_t degree;

    virials virials;
    char unit[32];
} virial_pressure;

static int has_jumps(const virial_pressure *v) { return v->virials.jumps.count > 0; }

/* values [walkers][1 + dimension]: the mean, then along each axis; behind them the part of jumps, where there are any. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    virial_pressure *own = instance;
    virials *v = &own->virials;
    const int code = virials_measure(v, host, view);
    for (int64_t w = 0; w < v->system->walkers && !code; w++) {
        const plugmc_box *box = &view->box[w];
        double *row = values + w * (1 + box->dimension + has_jumps(own));
        const double n = (double)centres_of(v->system, view, w);
        row[0] = 0;
        for (int d = 0; d < box->dimension; d++) {
            row[1 + d] = (n * v->system->temperature + v->virial[w][d]) / box->volume;
            row[0] += row[1 + d] / box->dimension;
        }
        if (has_jumps(own)) row[1 + box->dimension] = v->jump[w] / (box->dimension * box->volume);
    }
    return code;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    static const char *const names[] = {"pressure", "pressure_x", "pressure_y", "pressure_z"};
    static const char *const docs[] = {"mean over the axes", "along x", "along y", "along z"};
    const virial_pressure *v = instance;
    const int dimension = v->virials.system->box.dimension;
    if (index == dimension + 1 && has_jumps(v))
        return plugmc_scalar(out, "jumps", v->unit, "contribution of jumps of pair energies");
    if (index > dimension) return 0;
    return plugmc_scalar(out, names[index], v->unit, docs[index]);
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance;
    return virials_gpu_source(host, index, out);
}

static int prepare(void *instance, const plugmc_host *host)
{
    virial_pressure *v = instance;
    if (isnan(host->system->temperature))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "walkers at different temperatures have different pressures");
    snprintf(v->unit, sizeof v->unit, "%s/length^%d", plugmc_energy_unit(host->system),
             host->system->box.dimension);
    return virials_prepare(&v->virials, host, 0, (double)v->fit_range, v->degree);
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(
        virial_pressure, fit_range, PAIR_JUMPS_FIT_RANGE, 1e-5, 0.5, "",
        "a jump of a pair energy at r is measured from pairs at r (1 - fit_range) to r (1 + fit_range)"),
    PLUGMC_INTEGER_KEY(virial_pressure, degree, PAIR_JUMPS_DEGREE, 0, 12, "",
                       "degree of the polynomial that is fitted to them"),
};

/* All that it can give. */
static const plugmc_listing listing[] = {
    {"pressure", "<energy>/length^<dimension>", "mean over the axes", 0, 0},
    {"pressure_<axis>", "<energy>/length^<dimension>", "along x, y, z", 0, 0},
    {"jumps", "<energy>/length^<dimension>",
     "contribution of jumps of pair energies, if there are any", 0, 0},
};

PLUGMC_PLUGIN(.name = "virial_pressure",
              .summary = "pressure from the forces of all sampled potentials",
              .reference = "Allen, Tildesley, Computer Simulation of Liquids, section 2.4",
              PLUGMC_KEYS(virial_pressure, table),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .of_totals = PLUGMC_TOTAL_VIRIAL,
                                     .quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_MOLECULE,
                                     .depends_on = PLUGMC_ON_MULTIPLIERS),
              .prepare = prepare, .gpu_source = gpu_source)
