/* mistake: every walker is given the value of the first one, whose positions are read */
/* a user would see: all walkers have the same time series: error bars are too small by the root
 * of their number */
/* lattice_order: |sum_j exp(2 pi i n x_j / L)|^2 / N, order of a crystal along x. */
#include <math.h>

#include <plugmc/observable.h>

typedef struct lattice_order {
    int64_t planes;
} lattice_order;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 && plugmc_scalar(out, "order", "", "order along x");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const lattice_order *o = instance;
    const int64_t n = host->system->particles;
    const double k = 2 * M_PI * (double)o->planes / host->system->box.length[0];
    for (int32_t w = 0; w < host->system->walkers; w++) {
        double re = 0, im = 0;
        for (int64_t j = 0; j < n; j++) {
            re += cos(k * view->positions[3 * j]);
            im += sin(k * view->positions[3 * j]);
        }
        values[w] = (re * re + im * im) / (double)n;
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {
    {"order", "", "order along x", 0, 0},
};

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(lattice_order, planes, "1", 1, 1e9, "", "lattice planes in the box"),
};

PLUGMC_PLUGIN(.name = "lattice_order", .summary = "order of planes along x", .reference = "",
              PLUGMC_KEYS(lattice_order, table),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing)))
