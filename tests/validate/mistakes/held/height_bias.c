/* mistake: one sum is kept for all walkers instead of one for each */
/* a user would see: with more than one walker changes are computed from the sum of another one:
 * mean heights and energies are wrong */
/* height_bias: U = strength (mean z - target)^2 N / 2. */
#include <math.h>

#include <plugmc/total.h>

typedef struct height_bias {
    double strength, target;
    const plugmc_system *system;
    double *z;       /* [walkers][particles] */
    double sum;      /* of z */
    double *trial_z; /* [walkers] */
    int64_t *moved;  /* [walkers] */
} height_bias;

static double of_sum(const height_bias *u, double sum)
{
    const double n = (double)u->system->particles, d = sum / n - u->target;
    return 0.5 * u->strength * d * d * n;
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const height_bias *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; q->energy && w < plugmc_walkers_of(q->view, u->system); w++) {
        double sum = 0;
        for (int64_t j = w * n; j < (w + 1) * n; j++) sum += q->view->positions[3 * j + 2];
        q->energy[w] += of_sum(u, sum);
    }
    return PLUGMC_OK;
}

static int start(void *instance, const plugmc_view *view)
{
    height_bias *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; w < u->system->walkers; w++) {
        u->sum = 0;
        for (int64_t j = w * n; j < (w + 1) * n; j++)
            u->sum += u->z[j] = view->positions[3 * j + 2];
    }
    return PLUGMC_OK;
}

static int change(void *instance, int32_t w, int64_t i, const double position[3], double *out)
{
    const height_bias *u = instance;
    u->moved[w] = w * u->system->particles + i;
    u->trial_z[w] = position[2];
    *out += of_sum(u, u->sum + u->trial_z[w] - u->z[u->moved[w]]) - of_sum(u, u->sum);
    return PLUGMC_OK;
}

static int settle(void *instance, int32_t w, int accepted)
{
    height_bias *u = instance;
    if (!accepted) return PLUGMC_OK;
    u->sum += u->trial_z[w] - u->z[u->moved[w]];
    u->z[u->moved[w]] = u->trial_z[w];
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    height_bias *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    u->z = host->allocate(host->context, walkers * n * sizeof *u->z);
    u->trial_z = host->allocate(host->context, walkers * sizeof *u->trial_z);
    u->moved = host->allocate(host->context, walkers * sizeof *u->moved);
    if (!u->z || !u->trial_z || !u->moved)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers of %zu",
                          walkers, n);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(height_bias, strength, "2", -1e9, 1e9, "kT/length^2", "of the bias"),
    PLUGMC_REAL_KEY(height_bias, target, "5", -1e9, 1e9, "length", "mean height"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .start = start, .change = change, .settle = settle};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "height_bias", .summary = "bias on the mean height",
              .reference = "", PLUGMC_KEYS(height_bias, table), .prepare = prepare,
              .potential = &potential)
