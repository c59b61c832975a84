/* slow_total: a constant energy that takes 20 ms for each walker, of all walkers whatever the view says. */
#include <time.h>

#include <plugmc/total.h>

typedef struct slow_total {
    double energy; /* kT */
    const plugmc_system *system;
} slow_total;

static int energy(void *instance, const plugmc_total_request *request)
{
    const slow_total *s = instance;
    const struct timespec pause = {.tv_nsec = 20000000};
    for (int32_t w = 0; w < s->system->walkers; w++) {
        nanosleep(&pause, NULL);
        if (request->energy) request->energy[w] += s->energy;
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    ((slow_total *)instance)->system = host->system;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(slow_total, energy, "1", -1e6, 1e6, "kT", "of the configuration"),
};
static const plugmc_total total = {.size = sizeof total, .energy = energy};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "slow_total", .summary = "a slow constant",
              .reference = "", PLUGMC_KEYS(slow_total, table), .prepare = prepare,
              .potential = &potential)
