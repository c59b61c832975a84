/* mistake: the sum that is updated move by move is a float and is not archived */
/* a user would see: rounding errors pile up: the kept energy walks away from the true one, and a
 * resumed run differs from an undisturbed one */
/* running_dipole: U = strength S^2 / N with S = sum_j tanh(x_j - L / 2). */
#include <math.h>

#include <plugmc/total.h>

typedef struct running_dipole {
    double strength;
    const plugmc_system *system;
    float *s, *sum; /* [walkers][particles], [walkers] */
    float *trial;   /* [walkers] */
    int64_t *moved; /* [walkers] */
} running_dipole;

static double of_sum(const running_dipole *u, double sum)
{
    return u->strength * sum * sum / (double)u->system->particles;
}

static double side(const running_dipole *u, double x)
{
    return tanh(x - u->system->box.length[0] / 2);
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const running_dipole *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; q->energy && w < plugmc_walkers_of(q->view, u->system); w++) {
        double sum = 0;
        for (int64_t j = w * n; j < (w + 1) * n; j++) sum += side(u, q->view->positions[3 * j]);
        q->energy[w] += of_sum(u, sum);
    }
    return PLUGMC_OK;
}

static int start(void *instance, const plugmc_view *view)
{
    const running_dipole *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; w < u->system->walkers; w++) {
        u->sum[w] = 0;
        for (int64_t j = w * n; j < (w + 1) * n; j++)
            u->sum[w] += u->s[j] = (float)side(u, view->positions[3 * j]);
    }
    return PLUGMC_OK;
}

static int change(void *instance, int32_t w, int64_t i, const double position[3], double *out)
{
    const running_dipole *u = instance;
    u->moved[w] = w * u->system->particles + i;
    u->trial[w] = (float)side(u, position[0]);
    *out += of_sum(u, u->sum[w] + u->trial[w] - u->s[u->moved[w]]) - of_sum(u, u->sum[w]);
    return PLUGMC_OK;
}

static int settle(void *instance, int32_t w, int accepted)
{
    const running_dipole *u = instance;
    if (!accepted) return PLUGMC_OK;
    u->sum[w] += u->trial[w] - u->s[u->moved[w]];
    u->s[u->moved[w]] = u->trial[w];
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    running_dipole *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    u->s = host->allocate(host->context, walkers * n * sizeof *u->s);
    u->sum = host->allocate(host->context, walkers * sizeof *u->sum);
    u->trial = host->allocate(host->context, walkers * sizeof *u->trial);
    u->moved = host->allocate(host->context, walkers * sizeof *u->moved);
    if (!u->s || !u->sum || !u->trial || !u->moved)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers of %zu",
                          walkers, n);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(running_dipole, strength, "1", -1e9, 1e9, "kT", "of the bias"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .start = start, .change = change, .settle = settle};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "running_dipole",
              .summary = "balance between the halves of the box", .reference = "",
              PLUGMC_KEYS(running_dipole, table), .prepare = prepare, .potential = &potential)
