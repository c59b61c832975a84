/* crowd: an energy that comes from how many particles there are, N, alone: k (N - n)^2 / 2. */
#include <plugmc/everything.h>

typedef struct crowd {
    real k, n; /* energy; a number */
} crowd;

static double of_counts(const void *instance, const plugmc_box *box, const int64_t *count)
{
    const crowd *c = instance;
    const double more = (double)count[0] - (double)c->n;
    (void)box;
    return 0.5 * (double)c->k * more * more;
}

static const plugmc_system *of;

static int prepare(void *instance, const plugmc_host *host)
{
    (void)instance;
    of = host->system;
    return PLUGMC_OK;
}

static int energy(void *instance, const plugmc_total_request *q)
{
    for (int32_t w = 0; w < of->walkers && q->energy; w++)
        q->energy[w] +=
            of_counts(instance, &q->view->box[w], q->view->count + w * of->species_count);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(crowd, k, "1", 0, 1e9, "energy", "how much it matters"),
    PLUGMC_REAL_KEY(crowd, n, "0", 0, 1e9, "",
                    "particles of the first species that have no energy"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .energy = energy,
                                   .unchanged_by = PLUGMC_CHANGED_POSITION,
                                   .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT,
                                   .of_counts = of_counts};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "crowd",
              .summary = "an energy of the number of particles", .reference = "",
              PLUGMC_KEYS(crowd, table), .prepare = prepare, .potential = &potential)
