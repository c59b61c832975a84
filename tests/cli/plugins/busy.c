/* busy: a potential of whole configurations that takes as long as it is told, so that a test knows
 * what a benchmark has to show. Its energy is 0, or what it is told. */
#include <math.h>
#include <time.h>

#include <plugmc/everything.h>

typedef struct busy {
    double energy_time, forces_time; /* us */
    double energy;                   /* kT */
} busy;

static double now(void) /* us */
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int energy(void *instance, const plugmc_total_request *request)
{
    const busy *b = instance;
    const double until =
        now() + (request->energy ? b->energy_time : 0) + (request->forces ? b->forces_time : 0);
    while (now() < until) {}
    if (request->energy) request->energy[0] += b->energy > 1e6 ? NAN : b->energy;
    return PLUGMC_OK;
}

static const plugmc_total total = {.size = sizeof total, .energy = energy};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(busy, energy_time, "2000", 0, 1e9, "us", "of an evaluation of the energy"),
    PLUGMC_REAL_KEY(busy, forces_time, "4000", 0, 1e9, "us", "of an evaluation of the forces"),
    PLUGMC_REAL_KEY(busy, energy, "0", 0, 1e9, "kT", "above 1e6: not a number"),
};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "busy", .summary = "takes its time",
              .reference = "", PLUGMC_KEYS(busy, table), .potential = &potential);
