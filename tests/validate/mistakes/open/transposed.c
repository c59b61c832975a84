/* mistake: the inverse matrix of the box is transposed in the wave vector */
/* a user would see: in rectangular boxes all is right; in an oblique box the structure factor changes when
 * particles cross a face */
/* transposed: structure factor of one wave, S = |sum_j exp(i k.r_j)|^2 / N, k = 2 pi (n_a, n_b, n_c) of the box. */
#include <math.h>

#include <plugmc/observable.h>

typedef struct transposed {
    int64_t na, nb, nc;
    const plugmc_system *system;
} transposed;

static int prepare(void *instance, const plugmc_host *host)
{
    transposed *o = instance;
    o->system = host->system;
    if (host->system->box.domain != PLUGMC_DOMAIN_PERIODIC)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "it needs a periodic box");
    return PLUGMC_OK;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 && plugmc_scalar(out, "s", "", "structure factor of the wave");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const transposed *o = instance;
    const int64_t n = o->system->particles;
    const double waves[3] = {(double)o->na, (double)o->nb, (double)o->nc};
    (void)host;
    for (int32_t w = 0; w < o->system->walkers; w++) {
        double k[3] = {0, 0, 0}, re = 0, im = 0;
        for (int e = 0; e < 3; e++)
            for (int d = 0; d < 3; d++) k[e] += 2 * M_PI * waves[d] * view->box[w].inverse[d][e];
        for (int64_t j = 0; j < n; j++) {
            const double *r = view->positions + 3 * (w * n + j);
            const double phase = k[0] * r[0] + k[1] * r[1] + k[2] * r[2];
            re += cos(phase);
            im += sin(phase);
        }
        values[w] = (re * re + im * im) / (double)n;
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {{"s", "", "structure factor of the wave", 0, 0}};
static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(transposed, na, "0", -1000, 1000, "", "waves along a"),
    PLUGMC_INTEGER_KEY(transposed, nb, "1", -1000, 1000, "", "waves along b"),
    PLUGMC_INTEGER_KEY(transposed, nc, "0", -1000, 1000, "", "waves along c"),
};

PLUGMC_PLUGIN(.name = "transposed", .summary = "structure factor of one wave", .reference = "",
              PLUGMC_KEYS(transposed, table), .prepare = prepare,
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure,
                                     .follows = PLUGMC_CHANGED_BOX, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing)))
