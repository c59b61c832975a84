/* mistake: settle updates the sum but not the kept position of the particle */
/* a user would see: from the second move of a particle on its old position is stale: the kept sum
 * drifts away from the configuration */
/* layer_bias: favours layers along z, U = -strength (sum_j cos(2 pi n z_j / L))^2 / N. */
#include <math.h>

#include <plugmc/total.h>

typedef struct layer_bias {
    double strength;
    int64_t layers;
    const plugmc_system *system;
    double *c, *sum, *trial; /* cosine of each particle; their sums; of the trial move */
    int64_t *moved;
} layer_bias;

static double cosine(const layer_bias *u, double z)
{
    return cos(2 * M_PI * (double)u->layers * z / u->system->box.length[2]);
}

static double of_sum(const layer_bias *u, double sum)
{
    return -u->strength * sum * sum / (double)u->system->particles;
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const layer_bias *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; q->energy && w < plugmc_walkers_of(q->view, u->system); w++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += cosine(u, q->view->positions[3 * (w * n + j) + 2]);
        q->energy[w] += of_sum(u, sum);
    }
    return PLUGMC_OK;
}

static int start(void *instance, const plugmc_view *view)
{
    const layer_bias *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; w < u->system->walkers; w++) {
        u->sum[w] = 0;
        for (int64_t j = w * n; j < (w + 1) * n; j++)
            u->sum[w] += u->c[j] = cosine(u, view->positions[3 * j + 2]);
    }
    return PLUGMC_OK;
}

static int change(void *instance, int32_t w, int64_t i, const double position[3], double *out)
{
    const layer_bias *u = instance;
    u->moved[w] = i;
    u->trial[w] = u->sum[w] + cosine(u, position[2]) - u->c[w * u->system->particles + i];
    *out += of_sum(u, u->trial[w]) - of_sum(u, u->sum[w]);
    return PLUGMC_OK;
}

static int settle(void *instance, int32_t w, int accepted)
{
    const layer_bias *u = instance;
    if (accepted) u->sum[w] = u->trial[w];
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    layer_bias *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    u->c = host->allocate(host->context, walkers * n * sizeof *u->c);
    u->sum = host->allocate(host->context, walkers * sizeof *u->sum);
    u->trial = host->allocate(host->context, walkers * sizeof *u->trial);
    u->moved = host->allocate(host->context, walkers * sizeof *u->moved);
    if (!u->c || !u->sum || !u->trial || !u->moved)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers of %zu",
                          walkers, n);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(layer_bias, strength, "1", -1e9, 1e9, "kT", "of the bias"),
    PLUGMC_INTEGER_KEY(layer_bias, layers, "1", 1, 1e9, "", "number of layers"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .start = start, .change = change, .settle = settle};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "layer_bias", .summary = "favours layers along z",
              .reference = "", PLUGMC_KEYS(layer_bias, table), .prepare = prepare,
              .potential = &potential)
