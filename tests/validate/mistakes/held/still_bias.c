/* mistake: unchanged_by says that positions do not matter, copied from a long-range correction */
/* a user would see: movers skip the term: the distribution is that without it, only the printed
 * energy has it */
/* still_bias: U = -strength times the number of particles in the left half of the box, squared over N. */
#include <math.h>

#include <plugmc/total.h>

typedef struct still_bias {
    double strength;
    const plugmc_system *system;
} still_bias;

static int energy(void *instance, const plugmc_total_request *q)
{
    const still_bias *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; q->view->positions && w < plugmc_walkers_of(q->view, u->system); w++) {
        double left = 0;
        for (int64_t j = w * n; j < (w + 1) * n; j++)
            left += q->view->positions[3 * j] < q->view->box[w].length[0] / 2;
        if (q->energy) q->energy[w] -= u->strength * left * left / (double)n;
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    still_bias *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    (void)walkers, (void)n;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(still_bias, strength, "1", -1e9, 1e9, "kT", "of the bias"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .unchanged_by = PLUGMC_CHANGED_POSITION};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "still_bias",
              .summary = "draws particles to one half", .reference = "",
              PLUGMC_KEYS(still_bias, table), .prepare = prepare, .potential = &potential)
