/* mistake: `change` takes the root of the moment, which may be below 0, and `energy` that of its square */
/* a user would see: the first moves end the run, by energies that are not a number */
/* hollow_bias: U = strength |m|, m = sum_j q_j sin(2 pi x_j / L_x). */
#include <math.h>

#include <plugmc/total.h>

typedef struct hollow_bias {
    double strength;
    const plugmc_system *system;
    double *charge, *x; /* [particles], [walkers][particles] */
    double *trial_x;    /* [walkers] */
    int64_t *moved;     /* [walkers] */
} hollow_bias;

static double of_moment(const hollow_bias *u, double m) { return u->strength * sqrt(m * m); }

/* With particle i at x; -1: as it is. */
static double moment(const hollow_bias *u, const double *x, int stride, int64_t i, double at)
{
    double m = 0;
    for (int64_t j = 0; j < u->system->particles; j++)
        m +=
            u->charge[j] * sin(2 * M_PI * (j == i ? at : x[stride * j]) / u->system->box.length[0]);
    return m;
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const hollow_bias *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; q->energy && w < plugmc_walkers_of(q->view, u->system); w++)
        q->energy[w] += of_moment(u, moment(u, q->view->positions + 3 * w * n, 3, -1, 0));
    return PLUGMC_OK;
}

static int start(void *instance, const plugmc_view *view)
{
    const hollow_bias *u = instance;
    const int64_t n = u->system->particles;
    for (int64_t k = 0; k < n * plugmc_walkers_of(view, u->system); k++)
        u->x[k] = view->positions[3 * k];
    return PLUGMC_OK;
}

static int change(void *instance, int32_t w, int64_t i, const double position[3], double *out)
{
    const hollow_bias *u = instance;
    const double *x = u->x + w * u->system->particles, m = moment(u, x, 1, -1, 0),
                 after = moment(u, x, 1, i, position[0]);
    u->moved[w] = i;
    u->trial_x[w] = position[0];
    *out += u->strength * (pow(sqrt(after), 2) - pow(sqrt(m), 2));
    return PLUGMC_OK;
}

static int settle(void *instance, int32_t w, int accepted)
{
    const hollow_bias *u = instance;
    if (accepted) u->x[w * u->system->particles + u->moved[w]] = u->trial_x[w];
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    hollow_bias *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    if (u->system->box.domain != PLUGMC_DOMAIN_PERIODIC || u->system->box.oblique)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "it needs a rectangular periodic box");
    u->charge = host->allocate(host->context, n * sizeof *u->charge);
    u->x = host->allocate(host->context, walkers * n * sizeof *u->x);
    u->trial_x = host->allocate(host->context, walkers * sizeof *u->trial_x);
    u->moved = host->allocate(host->context, walkers * sizeof *u->moved);
    if (!u->charge || !u->x || !u->trial_x || !u->moved)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers of %zu",
                          walkers, n);
    for (int32_t s = 0; s < u->system->species_count; s++)
        for (int64_t j = u->system->first[s]; j < u->system->first[s + 1]; j++)
            u->charge[j] = plugmc_species_at(u->system, s)->charge;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(hollow_bias, strength, "0.5", -1e9, 1e9, "energy", "of the bias"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .start = start, .change = change, .settle = settle};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "hollow_bias", .summary = "energy of a charge wave",
              .reference = "", PLUGMC_KEYS(hollow_bias, table), .prepare = prepare,
              .potential = &potential)
