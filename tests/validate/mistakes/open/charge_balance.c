/* mistake: insert_remove forgets that the last particle of the species takes the free number */
/* a user would see: after removals the kept data of particles belong to others: energies of later
 * moves are wrong */
/* charge_balance: U = strength (sum_j cos(2 pi x_j / L))^2, also where particles come and go (one species). */
#include <math.h>

#include <plugmc/total.h>

typedef struct charge_balance {
    double strength;
    const plugmc_system *system;
    double *c, *sum, *trial, *fresh; /* [walkers][particles], then [walkers] */
    int64_t *place, *n, *grows;      /* [walkers] */
} charge_balance;

static double wave(const charge_balance *u, double x)
{
    return cos(2 * M_PI * x / u->system->box.length[0]);
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const charge_balance *u = instance;
    for (int32_t w = 0; q->energy && w < plugmc_walkers_of(q->view, u->system); w++) {
        const double *r = q->view->positions + 3 * w * u->system->particles;
        double sum = 0;
        for (int64_t j = 0; j < q->view->count[w]; j++) sum += wave(u, r[3 * j]);
        q->energy[w] += u->strength * sum * sum;
    }
    return PLUGMC_OK;
}

static int start(void *instance, const plugmc_view *view)
{
    const charge_balance *u = instance;
    const int64_t all = u->system->particles;
    for (int32_t w = 0; w < u->system->walkers; w++) {
        u->n[w] = view->count[w];
        u->sum[w] = 0;
        for (int64_t j = 0; j < u->n[w]; j++)
            u->sum[w] += u->c[w * all + j] = wave(u, view->positions[3 * (w * all + j)]);
    }
    return PLUGMC_OK;
}

static double propose(const charge_balance *u, int32_t w, int64_t place, double lost, double won)
{
    u->place[w] = w * u->system->particles + place;
    u->fresh[w] = won;
    u->trial[w] = u->sum[w] + won - lost;
    return u->strength * (u->trial[w] * u->trial[w] - u->sum[w] * u->sum[w]);
}

static int change(void *instance, int32_t w, int64_t i, const double position[3], double *out)
{
    const charge_balance *u = instance;
    u->grows[w] = 0;
    *out += propose(u, w, i, u->c[w * u->system->particles + i], wave(u, position[0]));
    return PLUGMC_OK;
}

static int insert_remove(void *instance, int32_t w, const plugmc_insert_remove *q, double *out)
{
    const charge_balance *u = instance;
    u->grows[w] = q->inserted - q->removed;
    if (q->inserted)
        *out += propose(u, w, u->n[w], 0, wave(u, q->position[0][0]));
    else
        *out += propose(u, w, q->particle[0], u->c[w * u->system->particles + q->particle[0]], 0);
    return PLUGMC_OK;
}

static int settle(void *instance, int32_t w, int accepted)
{
    const charge_balance *u = instance;
    if (!accepted) return PLUGMC_OK;
    u->sum[w] = u->trial[w];
    u->c[u->place[w]] = u->fresh[w];
    u->n[w] += u->grows[w];
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    charge_balance *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    u->c = host->allocate(host->context, walkers * n * sizeof *u->c);
    u->sum = host->allocate(host->context, walkers * sizeof *u->sum);
    u->trial = host->allocate(host->context, walkers * sizeof *u->trial);
    u->fresh = host->allocate(host->context, walkers * sizeof *u->fresh);
    u->place = host->allocate(host->context, walkers * sizeof *u->place);
    u->n = host->allocate(host->context, walkers * sizeof *u->n);
    u->grows = host->allocate(host->context, walkers * sizeof *u->grows);
    if (!u->c || !u->sum || !u->trial || !u->fresh || !u->place || !u->n || !u->grows)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers of %zu",
                          walkers, n);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(charge_balance, strength, "0.2", -1e9, 1e9, "kT", "of the bias"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .energy = energy,
                                   .start = start,
                                   .change = change,
                                   .settle = settle,
                                   .follows = PLUGMC_CHANGED_COUNT,
                                   .insert_remove = insert_remove};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "charge_balance",
              .summary = "suppresses a density wave", .reference = "",
              PLUGMC_KEYS(charge_balance, table), .prepare = prepare, .potential = &potential)
