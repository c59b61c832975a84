/* mistake: the previous value is one static number for all walkers */
/* a user would see: with several walkers the change is that from one walker to the next: far too
 * large */
/* wave_rate: mean square change of sum_j cos(2 pi x_j / L) between two measurements. */
#include <math.h>

#include <plugmc/observable.h>

typedef struct wave_rate {
    double *now; /* [walkers] */
} wave_rate;

static int prepare(void *instance, const plugmc_host *host)
{
    wave_rate *a = instance;
    a->now = host->allocate(host->context, (size_t)host->system->walkers * sizeof *a->now);
    return a->now ? PLUGMC_OK
                  : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for energies");
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 && plugmc_scalar(out, "square", "", "mean square change of the wave");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    wave_rate *a = instance;
    static double before;
    const int64_t n = host->system->particles;
    for (int32_t w = 0; w < host->system->walkers; w++) {
        a->now[w] = 0;
        for (int64_t j = w * n; j < (w + 1) * n; j++)
            a->now[w] += cos(2 * M_PI * view->positions[3 * j] / host->system->box.length[0]);
        values[w] = (a->now[w] - before) * (a->now[w] - before);
        before = a->now[w];
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {
    {"square", "", "mean square change of the wave", 0, 0},
};

PLUGMC_PLUGIN(.name = "wave_rate", .summary = "how fast the slowest wave changes", .reference = "",
              .instance_size = sizeof(wave_rate), .prepare = prepare,
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .depends_on = PLUGMC_ON_HISTORY))
