/* herd: U = height (((N - middle) / half)^2 - 1)^2 of the number of particles: two numbers that they like, in an
 * ideal gas two phases of which all is known. */
#include <plugmc/everything.h>

typedef struct herd {
    double height, middle, half;
    const plugmc_system *system;
} herd;

static double of_counts(const void *instance, const plugmc_box *box, const int64_t *count)
{
    const herd *h = instance;
    double n = -h->middle;
    (void)box;
    for (int32_t s = 0; s < h->system->species_count; s++) n += (double)count[s];
    const double t = n * n / (h->half * h->half) - 1;
    return h->height * t * t;
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const herd *h = instance;
    for (int32_t w = 0; w < h->system->walkers; w++)
        if (q->energy)
            q->energy[w] +=
                of_counts(h, &q->view->box[w], q->view->count + w * h->system->species_count);
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    ((herd *)instance)->system = host->system;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(herd, height, "1", 0, 1e6, "kT", "of what is between"),
    PLUGMC_REAL_KEY(herd, middle, "10", 0, 1e6, "", "the number between"),
    PLUGMC_REAL_KEY(herd, half, "6", 1e-6, 1e6, "", "how far from there both numbers are"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .energy = energy,
                                   .unchanged_by = PLUGMC_CHANGED_POSITION,
                                   .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT,
                                   .of_counts = of_counts};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "herd", .summary = "likes two numbers of particles",
              .reference = "", PLUGMC_KEYS(herd, table), .configure = configure,
              .potential = &potential)
