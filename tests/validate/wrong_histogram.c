/* wrong_histogram: shares of pairs whose distance is in each of `bins` bins below `radius`, among all such pairs, while numbers
 * of particles change. `fault`, if it is not `none`, is one of the mistakes below. */
#include <math.h>

#include <plugmc/observable.h>

enum {
    NONE,
    RESERVED, /* rows behind the last particle of a species are taken for particles */
    LAST_BIN, /* a distance of just the radius is in the bin behind the last one */
    ALONE     /* 0 / 0 without a pair */
};

typedef struct histogram {
    double radius;
    int64_t bins;
    int32_t fault;
    double *middles; /* [bins] length */
} histogram;

static int prepare(void *instance, const plugmc_host *host)
{
    histogram *h = instance;
    h->middles = host->allocate(host->context, (size_t)h->bins * sizeof *h->middles);
    if (!h->middles) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory");
    for (int64_t k = 0; k < h->bins; k++)
        h->middles[k] = h->radius * ((double)k + 0.5) / (double)h->bins;
    return PLUGMC_OK;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const histogram *h = instance;
    return index
               ? 0
               : plugmc_array(out, "share", "", "of pairs at a distance", h->bins, "r", h->middles);
}

static int is_there(const histogram *h, const plugmc_system *system, const int64_t *count,
                    int64_t i)
{
    int32_t s = 0;
    while (i >= system->first[s + 1]) s++;
    return h->fault == RESERVED || i < system->first[s] + count[s];
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const histogram *h = instance;
    const plugmc_system *system = host->system;
    const double radius2 = h->radius * h->radius;
    for (int32_t w = 0; w < system->walkers; w++) {
        const double *x = view->positions + 3 * w * system->particles;
        const int64_t *count = view->count + w * system->species_count;
        double *share = values + w * h->bins, pairs = 0;
        plugmc_images images;
        const int kind = plugmc_images_of(&view->box[w], 1, &images);
        for (int64_t k = 0; k < h->bins; k++) share[k] = 0;
        for (int64_t i = 0; i < system->particles; i++)
            for (int64_t j = 0; j < i; j++) {
                if (!is_there(h, system, count, i) || !is_there(h, system, count, j)) continue;
                const plugmc_separation s =
                    plugmc_separate(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1],
                                    x[3 * i + 2] - x[3 * j + 2], &images, kind);
                const int far = h->fault == LAST_BIN ? s.r2 > radius2 : s.r2 >= radius2;
                if (isnan(s.r2))
                    pairs += 1; /* as a division would make of it */
                else if (!far)
                    share[(int64_t)(sqrt(s.r2) / h->radius * (double)h->bins)] += 1, pairs += 1;
            }
        for (int64_t k = 0; k < h->bins; k++)
            share[k] /= h->fault == ALONE || pairs > 0 ? pairs : 1;
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {
    {.name = "share", .unit = "", .doc = "of pairs at a distance", .array = 1}};

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(histogram, radius, "2", 0.1, 10, "length", "largest distance"),
    PLUGMC_INTEGER_KEY(histogram, bins, "10", 1, 1000, "", "of distances"),
    PLUGMC_CHOICE_KEY(histogram, fault, "none", "none|reserved|last_bin|alone", "what is wrong"),
};

PLUGMC_PLUGIN(.name = "wrong_histogram", .summary = "shares of distances with a fault",
              .reference = "", PLUGMC_KEYS(histogram, table), .prepare = prepare,
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_COUNT))
