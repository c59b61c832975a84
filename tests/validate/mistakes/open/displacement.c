/* mistake: the positions of the beginning are not archived */
/* a user would see: after a resume displacements are counted from the resume on: a jump to 0 in
 * the time series */
/* displacement: mean square distance, by the nearest image, from the first measured configuration. */
#include <math.h>

#include <plugmc/observable.h>

typedef struct displacement {
    int64_t measured;
    double *origin; /* [walkers][particles][3] */
} displacement;

static int prepare(void *instance, const plugmc_host *host)
{
    displacement *d = instance;
    const size_t n = (size_t)host->system->particles * (size_t)host->system->walkers;
    d->origin = host->allocate(host->context, 3 * n * sizeof *d->origin);
    return d->origin ? PLUGMC_OK
                     : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 && plugmc_scalar(out, "square", "length^2", "mean square displacement");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    displacement *d = instance;
    const plugmc_system *system = host->system;
    const int64_t n = system->particles;
    plugmc_images images;
    const int mode = plugmc_images_of(&system->box, 1, &images);
    if (d->measured++ == 0)
        for (int64_t k = 0; k < 3 * n * system->walkers; k++) d->origin[k] = view->positions[k];
    for (int32_t w = 0; w < system->walkers; w++) {
        values[w] = 0;
        for (int64_t j = w * n; j < (w + 1) * n; j++) {
            const double *r = view->positions + 3 * j, *o = d->origin + 3 * j;
            values[w] += plugmc_separate(r[0] - o[0], r[1] - o[1], r[2] - o[2], &images, mode).r2 /
                         (double)n;
        }
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {
    {"square", "length^2", "mean square displacement", 0, 0},
};

PLUGMC_PLUGIN(.name = "displacement", .summary = "distance from the first configuration",
              .reference = "", .instance_size = sizeof(displacement), .prepare = prepare,
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .depends_on = PLUGMC_ON_HISTORY))
