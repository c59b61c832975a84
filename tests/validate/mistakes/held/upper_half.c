/* mistake: the mean height of the particles in a layer is divided by their number, which may be 0
 * */
/* a user would see: a sample without particles in the layer is NaN, and so is the average of the
 * whole run */
/* upper_half: mean height of the particles that are in a thin layer below the top of the box. */
#include <math.h>

#include <plugmc/observable.h>

typedef struct upper_half {
    double layer;
} upper_half;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 && plugmc_scalar(out, "height", "length", "mean height within the layer");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const upper_half *u = instance;
    const int64_t n = host->system->particles;
    const double bottom = host->system->box.length[2] - u->layer;
    for (int32_t w = 0; w < host->system->walkers; w++) {
        double sum = 0, count = 0;
        for (int64_t j = w * n; j < (w + 1) * n; j++) {
            const double z = view->positions[3 * j + 2];
            if (z < bottom) continue;
            sum += z;
            count += 1;
        }
        values[w] = sum / count;
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {
    {"height", "length", "mean height within the layer", 0, 0},
};

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(upper_half, layer, "1", -1e9, 1e9, "length", "thickness of the layer"),
};

PLUGMC_PLUGIN(.name = "upper_half", .summary = "mean height within a layer", .reference = "",
              PLUGMC_KEYS(upper_half, table),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing)))
