/* mistake: a distance in the upper half of a bin is counted in the next one, and the last one
 * beyond the array */
/* a user would see: the histogram is shifted by half a bin, and the last bin of a walker spills
 * into the first of the next */
/* distances: histogram of the distances of all pairs up to half of the edge. */
#include <math.h>

#include <plugmc/observable.h>

enum { BINS = 40 };

typedef struct distances {
    double width, radius[BINS];
} distances;

static int prepare(void *instance, const plugmc_host *host)
{
    distances *h = instance;
    h->width = host->system->box.length[0] / 2 / BINS;
    for (int k = 0; k < BINS; k++) h->radius[k] = (k + 0.5) * h->width;
    return PLUGMC_OK;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const distances *h = instance;
    return index == 0 &&
           plugmc_array(out, "pairs", "", "pairs at a distance", BINS, "r", h->radius);
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const distances *h = instance;
    const plugmc_system *system = host->system;
    plugmc_images images;
    const int mode = plugmc_images_of(&system->box, 1, &images);
    for (int32_t w = 0; w < system->walkers; w++) {
        const double *r = view->positions + 3 * w * system->particles;
        double *out = values + w * BINS;
        for (int k = 0; k < BINS; k++) out[k] = 0;
        for (int64_t i = 0; i < system->particles; i++)
            for (int64_t j = 0; j < i; j++) {
                const double *a = r + 3 * i, *b = r + 3 * j;
                const double d =
                    sqrt(plugmc_separate(a[0] - b[0], a[1] - b[1], a[2] - b[2], &images, mode).r2);
                const int bin = (int)(d / h->width + 0.5);
                if (bin <= BINS) out[bin] += 1;
            }
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {
    {"pairs", "", "pairs at a distance", 1, 0},
};

PLUGMC_PLUGIN(.name = "distances", .summary = "histogram of pair distances", .reference = "",
              .instance_size = sizeof(distances), .prepare = prepare,
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing)))
