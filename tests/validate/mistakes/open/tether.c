/* mistake: change adds the new energy and forgets to subtract the old one */
/* a user would see: the energy of trial moves is not that of `energy`: hardly any move is
 * accepted and the mean energy is too low */
/* tether: U = k |R - r0|^2 / 2 of the mean R of the coordinates x, 0 ... L, of all particles. */
#include <math.h>

#include <plugmc/total.h>

typedef struct tether {
    double k, center;
    const plugmc_system *system;
    double *x, *sum, *trial; /* [walkers][particles], [walkers], [walkers] along x */
    int64_t *moved;
} tether;

static double spring(const tether *u, double sum)
{
    const double d = sum / (double)u->system->particles - u->center;
    return 0.5 * u->k * d * d;
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const tether *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; q->energy && w < plugmc_walkers_of(q->view, u->system); w++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += q->view->positions[3 * (w * n + j)];
        q->energy[w] += spring(u, sum);
    }
    return PLUGMC_OK;
}

static int start(void *instance, const plugmc_view *view)
{
    const tether *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; w < u->system->walkers; w++) {
        u->sum[w] = 0;
        for (int64_t j = 0; j < n; j++)
            u->sum[w] += u->x[w * n + j] = view->positions[3 * (w * n + j)];
    }
    return PLUGMC_OK;
}

static int change(void *instance, int32_t w, int64_t i, const double position[3], double *out)
{
    const tether *u = instance;
    u->moved[w] = i;
    u->trial[w] = position[0];
    *out += spring(u, u->sum[w] + position[0] - u->x[w * u->system->particles + i]);
    return PLUGMC_OK;
}

static int settle(void *instance, int32_t w, int accepted)
{
    const tether *u = instance;
    double *x = &u->x[w * u->system->particles + u->moved[w]];
    if (!accepted) return PLUGMC_OK;
    u->sum[w] += u->trial[w] - *x;
    *x = u->trial[w];
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    tether *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    u->x = host->allocate(host->context, walkers * n * sizeof *u->x);
    u->sum = host->allocate(host->context, walkers * sizeof *u->sum);
    u->trial = host->allocate(host->context, walkers * sizeof *u->trial);
    u->moved = host->allocate(host->context, walkers * sizeof *u->moved);
    if (!u->x || !u->sum || !u->trial || !u->moved)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers of %zu",
                          walkers, n);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(tether, k, "50", -1e9, 1e9, "kT/length^2", "stiffness"),
    PLUGMC_REAL_KEY(tether, center, "4", -1e9, 1e9, "length", "of the spring"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .start = start, .change = change, .settle = settle};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "tether", .summary = "spring on the mean position",
              .reference = "", PLUGMC_KEYS(tether, table), .prepare = prepare,
              .potential = &potential)
