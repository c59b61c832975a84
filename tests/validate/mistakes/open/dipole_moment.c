/* mistake: samples are added to `values`, which is not cleared first */
/* a user would see: whatever was in the array is added: averages grow from sample to sample or
 * are random */
/* dipole_moment: square of the dipole moment of the charges in the box, by positions in the box. */
#include <math.h>

#include <plugmc/observable.h>

typedef struct dipole_moment {
    int32_t unused;
} dipole_moment;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 &&
           plugmc_scalar(out, "square", "e^2 length^2", "square of the dipole moment");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const plugmc_system *system = host->system;
    (void)instance;
    for (int32_t w = 0; w < system->walkers; w++) {
        const double *r = view->positions + 3 * w * system->particles;
        for (int d = 0; d < system->box.dimension; d++) {
            double moment = 0;
            for (int32_t s = 0; s < system->species_count; s++)
                for (int64_t j = system->first[s]; j < system->first[s + 1]; j++)
                    moment += plugmc_species_at(system, s)->charge * r[3 * j + d];
            values[w] += moment * moment;
        }
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {
    {"square", "e^2 length^2", "square of the dipole moment", 0, 0},
};

PLUGMC_PLUGIN(.name = "dipole_moment", .summary = "square of the dipole moment", .reference = "",
              .instance_size = sizeof(dipole_moment),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing)))
