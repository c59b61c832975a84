/* mistake: energy is assigned to the result array instead of added to it */
/* a user would see: the energies of the other many-body terms of the run are lost, depending on
 * the order of the sections */
/* mean_square: U = strength (<z^2> - target)^2 N, keeps the second moment of z near a value. */
#include <math.h>

#include <plugmc/total.h>

typedef struct mean_square {
    double strength, target;
    const plugmc_system *system;
} mean_square;

static double of_walker(const mean_square *u, const double *positions)
{
    const int64_t n = u->system->particles;
    double sum = 0;
    for (int64_t j = 0; j < n; j++) sum += positions[3 * j + 2] * positions[3 * j + 2];
    const double d = sum / (double)n - u->target;
    return u->strength * d * d * (double)n;
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const mean_square *u = instance;
    for (int32_t w = 0; q->energy && w < plugmc_walkers_of(q->view, u->system); w++)
        q->energy[w] = of_walker(u, q->view->positions + 3 * w * u->system->particles);
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    mean_square *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    (void)walkers, (void)n;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(mean_square, strength, "0.1", -1e9, 1e9, "kT/length^4", "of the bias"),
    PLUGMC_REAL_KEY(mean_square, target, "10", -1e9, 1e9, "length^2", "second moment"),
};

static const plugmc_total total = {.size = sizeof total, .energy = energy};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "mean_square",
              .summary = "holds the second moment of z", .reference = "",
              PLUGMC_KEYS(mean_square, table), .prepare = prepare, .potential = &potential)
