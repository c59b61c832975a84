/* mistake: settle takes over the trial move whether it was accepted or not */
/* a user would see: after the first rejection the kept dipole moment is not that of the
 * configuration; energies drift */
/* dipole_bias: U = strength M_x^2, M the dipole moment sum q_j x_j of charges in the box. */
#include <math.h>

#include <plugmc/total.h>

typedef struct dipole_bias {
    double strength;
    const plugmc_system *system;
    double *charge;  /* [particles] */
    double *x, *sum; /* [walkers][particles], [walkers] */
    double *trial_x; /* [walkers] */
    int64_t *moved;  /* [walkers] */
} dipole_bias;

static int energy(void *instance, const plugmc_total_request *q)
{
    const dipole_bias *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; q->energy && w < plugmc_walkers_of(q->view, u->system); w++) {
        double m = 0;
        for (int64_t j = 0; j < n; j++) m += u->charge[j] * q->view->positions[3 * (w * n + j)];
        q->energy[w] += u->strength * m * m;
    }
    return PLUGMC_OK;
}

static int start(void *instance, const plugmc_view *view)
{
    const dipole_bias *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; w < u->system->walkers; w++) {
        u->sum[w] = 0;
        for (int64_t j = 0; j < n; j++) {
            u->x[w * n + j] = view->positions[3 * (w * n + j)];
            u->sum[w] += u->charge[j] * u->x[w * n + j];
        }
    }
    return PLUGMC_OK;
}

static int change(void *instance, int32_t w, int64_t i, const double position[3], double *out)
{
    const dipole_bias *u = instance;
    const double m = u->sum[w], x = u->x[w * u->system->particles + i];
    const double after = m + u->charge[i] * (position[0] - x);
    u->moved[w] = i;
    u->trial_x[w] = position[0];
    *out += u->strength * (after * after - m * m);
    return PLUGMC_OK;
}

static int settle(void *instance, int32_t w, int accepted)
{
    const dipole_bias *u = instance;
    const int64_t i = u->moved[w];
    double *x = &u->x[w * u->system->particles + i];
    (void)accepted;
    u->sum[w] += u->charge[i] * (u->trial_x[w] - *x);
    *x = u->trial_x[w];
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    dipole_bias *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    u->charge = host->allocate(host->context, n * sizeof *u->charge);
    u->x = host->allocate(host->context, walkers * n * sizeof *u->x);
    u->sum = host->allocate(host->context, walkers * sizeof *u->sum);
    u->trial_x = host->allocate(host->context, walkers * sizeof *u->trial_x);
    u->moved = host->allocate(host->context, walkers * sizeof *u->moved);
    if (!u->charge || !u->x || !u->sum || !u->trial_x || !u->moved)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers of %zu",
                          walkers, n);
    for (int32_t s = 0; s < u->system->species_count; s++)
        for (int64_t j = u->system->first[s]; j < u->system->first[s + 1]; j++)
            u->charge[j] = plugmc_species_at(u->system, s)->charge;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(dipole_bias, strength, "0.05", -1e9, 1e9, "kT/length^2", "of the bias"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .start = start, .change = change, .settle = settle};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "dipole_bias",
              .summary = "energy of the dipole moment of the box", .reference = "",
              PLUGMC_KEYS(dipole_bias, table), .prepare = prepare, .potential = &potential)
