/* mistake: forces are the gradient, not minus the gradient */
/* a user would see: energies are right; hmc with this term accepts almost nothing and pressures
 * from forces are wrong */
/* common_trap: a spring on the first sine wave along y, U = k (sum_j sin(2 pi y_j / L))^2 / 2. */
#include <math.h>

#include <plugmc/total.h>

typedef struct common_trap {
    double k;
    const plugmc_system *system;
} common_trap;

static int energy(void *instance, const plugmc_total_request *q)
{
    const common_trap *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; w < plugmc_walkers_of(q->view, u->system); w++) {
        const double *r = q->view->positions + 3 * w * n, p = 2 * M_PI / u->system->box.length[1];
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += sin(p * r[3 * j + 1]);
        if (q->energy) q->energy[w] += 0.5 * u->k * sum * sum;
        for (int64_t j = 0; q->forces && j < n; j++)
            q->forces[3 * (w * n + j) + 1] += u->k * sum * p * cos(p * r[3 * j + 1]);
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    common_trap *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    (void)walkers, (void)n;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(common_trap, k, "0.5", -1e9, 1e9, "kT", "stiffness"),
};

static const plugmc_total total = {.size = sizeof total, .energy = energy};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "common_trap",
              .summary = "spring on the first sine wave", .reference = "",
              PLUGMC_KEYS(common_trap, table), .prepare = prepare, .potential = &potential)
