/* PLUGIN_NAME: how the distance of pairs along x is distributed, a density in bins from 0 to L_x / 2. */
#include <math.h>
#include <string.h>

#include <plugmc/observable.h>

typedef struct distances {
    int64_t bins;
    double width;   /* length */
    double *middle; /* [bins] length */
} distances;

static int prepare(void *instance, const plugmc_host *host)
{
    distances *d = instance;
    if (host->system->box.domain != PLUGMC_DOMAIN_PERIODIC || host->system->box.oblique)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "the box must be rectangular");
    d->width = host->system->box.length[0] / 2 / (double)d->bins;
    d->middle = host->allocate(host->context, (size_t)d->bins * sizeof *d->middle);
    for (int64_t k = 0; d->middle && k < d->bins; k++) d->middle[k] = ((double)k + 0.5) * d->width;
    if (d->middle) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d bins", (int)d->bins);
}

/* What one measurement gives: name, unit, meaning, shape and axis. */
static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const distances *d = instance;
    return !index && plugmc_array(out, "density", "1/length", "distances of pairs along x", d->bins,
                                  "x", d->middle);
}

/* One measurement: values [walkers][bins]. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const distances *d = instance;
    const int64_t n = host->system->particles, pairs = n * (n - 1) / 2;
    memset(values, 0, (size_t)(host->system->walkers * d->bins) * sizeof *values);
    for (int64_t w = 0; w < host->system->walkers; w++)
        for (int64_t i = w * n; i < (w + 1) * n; i++)
            for (int64_t j = w * n; j < i; j++) {
                const double x = view->positions[3 * i] - view->positions[3 * j],
                             far = fabs(plugmc_nearest_image(x, view->box[w].length[0]));
                const int64_t bin = (int64_t)fmin(far / d->width, (double)(d->bins - 1));
                values[w * d->bins + bin] += 1 / ((double)pairs * d->width);
            }
    return PLUGMC_OK;
}

/* The same for `plugmc info`, which has no run to ask. */
static const plugmc_listing listing[] = {
    {.name = "density", .unit = "1/length", .doc = "distances of pairs along x", .array = 1}};
static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(distances, bins, "20", 1, 1e6, "", "number of bins")};

PLUGMC_PLUGIN(.name = "PLUGIN_NAME", .summary = "distances of pairs along x", .reference = "",
              PLUGMC_KEYS(distances, table), .prepare = prepare,
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing)))
