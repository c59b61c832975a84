/* mistake: the nearest neighbour is searched for without periodic images */
/* a user would see: particles at the faces of the box seem lonely: the mean distance of nearest
 * neighbours is too large */
/* nearest: mean distance of a particle from its nearest neighbour. */
#include <math.h>

#include <plugmc/observable.h>

typedef struct nearest {
    int32_t unused;
} nearest;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 &&
           plugmc_scalar(out, "distance", "length", "mean distance of nearest neighbours");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const int64_t n = host->system->particles;
    (void)instance;
    for (int32_t w = 0; w < host->system->walkers; w++) {
        const double *r = view->positions + 3 * w * n;
        double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            double least = INFINITY;
            for (int64_t j = 0; j < n; j++) {
                double square = 0;
                for (int d = 0; d < 3; d++) {
                    const double s = r[3 * i + d] - r[3 * j + d];
                    square += s * s;
                }
                if (i != j) least = fmin(least, square);
            }
            sum += sqrt(least);
        }
        values[w] = sum / (double)n;
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {
    {"distance", "length", "mean distance of nearest neighbours", 0, 0},
};

PLUGMC_PLUGIN(.name = "nearest", .summary = "distance of nearest neighbours", .reference = "",
              .instance_size = sizeof(nearest),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing)))
