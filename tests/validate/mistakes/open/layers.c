/* mistake: it says that it follows boxes, but slices and density are those of the initial box */
/* a user would see: at constant pressure particles fall out of the profile, or slices have the
 * wrong volume: wrong densities */
/* layers: density profile along z. */
#include <math.h>

#include <plugmc/observable.h>

enum { SLICES = 20 };

typedef struct layers {
    double place[SLICES];
} layers;

static int prepare(void *instance, const plugmc_host *host)
{
    layers *l = instance;
    for (int k = 0; k < SLICES; k++) l->place[k] = (k + 0.5) / SLICES * host->system->box.length[2];
    return PLUGMC_OK;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const layers *l = instance;
    return index == 0 &&
           plugmc_array(out, "density", "length^-3", "density along z", SLICES, "z", l->place);
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const plugmc_system *system = host->system;
    const plugmc_box *box = &system->box;
    (void)instance;
    for (int32_t w = 0; w < system->walkers; w++) {
        double *out = values + w * SLICES;
        for (int k = 0; k < SLICES; k++) out[k] = 0;
        for (int64_t j = w * system->particles; j < (w + 1) * system->particles; j++) {
            const int k = (int)(view->positions[3 * j + 2] / box->length[2] * SLICES);
            if (k < SLICES) out[k] += SLICES / box->volume;
        }
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {
    {"density", "length^-3", "density along z", 1, 0},
};

PLUGMC_PLUGIN(.name = "layers", .summary = "density profile along z", .reference = "",
              .instance_size = sizeof(layers), .prepare = prepare,
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX))
