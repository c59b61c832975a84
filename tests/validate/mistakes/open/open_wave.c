/* mistake: sums go over all reserved places, and are divided by them, although particles come and
 * go */
/* a user would see: free places are NaN, so all results are NaN in a run with a reservoir */
/* open_wave: mean of cos(2 pi x / L) per particle, also for runs in which particles come and go. */
#include <math.h>

#include <plugmc/observable.h>

typedef struct open_wave {
    int32_t unused;
} open_wave;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 && plugmc_scalar(out, "wave", "", "mean cosine per particle");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const int64_t n = host->system->particles;
    (void)instance;
    for (int32_t w = 0; w < host->system->walkers; w++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += cos(2 * M_PI * view->positions[3 * (w * n + j)] / view->box[w].length[0]);
        values[w] = sum / (double)n;
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {
    {"wave", "", "mean cosine per particle", 0, 0},
};

PLUGMC_PLUGIN(.name = "open_wave", .summary = "mean cosine per particle", .reference = "",
              .instance_size = sizeof(open_wave),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT))
