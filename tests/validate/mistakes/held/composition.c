/* mistake: the species of a particle is taken from its number modulo the number of species */
/* a user would see: unlike and like neighbours are mixed up: the demixing parameter is that of
 * random labels */
/* composition: difference of the numbers of two species in the left half of the box, squared over N. */
#include <math.h>

#include <plugmc/observable.h>

typedef struct composition {
    int32_t unused;
} composition;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 &&
           plugmc_scalar(out, "demixing", "", "squared difference of numbers in one half");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const plugmc_system *system = host->system;
    const int64_t n = system->particles;
    (void)instance;
    for (int32_t w = 0; w < system->walkers; w++) {
        double difference = 0;
        for (int64_t j = 0; j < n; j++) {
            const int64_t species = j % system->species_count;
            if (view->positions[3 * (w * n + j)] < view->box[w].length[0] / 2)
                difference += species == 0 ? 1 : -1;
        }
        values[w] = difference * difference / (double)n;
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {
    {"demixing", "", "squared difference of numbers in one half", 0, 0},
};

PLUGMC_PLUGIN(.name = "composition", .summary = "demixing of two species", .reference = "",
              .instance_size = sizeof(composition),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX))
