/* PLUGIN_NAME: springs from each particle to the next make one chain of them all.
 *
 *     U = (spring / 2) sum_j |r_(j+1) - r_j|^2
 */
#include <string.h>

#include <plugmc/total.h>

typedef struct chain {
    double spring; /* energy/length^2 */
    const plugmc_system *system;
    double (*at)[3]; /* [walkers][particles + 1] positions, and last that of the trial move */
    int64_t *moved;  /* [walkers] particle of the trial move */
} chain;

/* To the nearest image of the other position. */
static plugmc_separation apart(const chain *c, const double *from, const double *to)
{
    plugmc_images images;
    const int kind =
        plugmc_images_of(&c->system->box, c->system->box.domain == PLUGMC_DOMAIN_PERIODIC, &images);
    return plugmc_separate(to[0] - from[0], to[1] - from[1], to[2] - from[2], &images, kind);
}

/* Adds the energy of each walker, the forces on its particles and its virial, whichever are wanted. */
static int energy(void *instance, const plugmc_total_request *request)
{
    const chain *c = instance;
    const int64_t n = c->system->particles;
    for (int32_t w = 0; w < plugmc_walkers_of(request->view, c->system); w++)
        for (int64_t j = w * n; j < (w + 1) * n - 1; j++) {
            const double *at = request->view->positions + 3 * j;
            const plugmc_separation s = apart(c, at, at + 3);
            const double bond[3] = {s.x, s.y, s.z};
            if (request->energy) request->energy[w] += c->spring / 2 * s.r2;
            for (int d = 0; d < 3; d++) {
                if (request->virial) request->virial[3 * w + d] -= c->spring * bond[d] * bond[d];
                if (!request->forces) continue;
                request->forces[3 * j + d] += c->spring * bond[d];
                request->forces[3 * j + 3 + d] -= c->spring * bond[d];
            }
        }
    return PLUGMC_OK;
}

/* The configurations that trial moves start from. */
static int start(void *instance, const plugmc_view *view)
{
    const chain *c = instance;
    const int64_t n = c->system->particles;
    for (int64_t w = 0; w < c->system->walkers; w++)
        memcpy(c->at[w * (n + 1)], view->positions + 3 * w * n, (size_t)n * sizeof *c->at);
    return PLUGMC_OK;
}

/* Adds the change of energy if a particle goes to another position. */
static int change(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *change)
{
    const chain *c = instance;
    const int64_t n = c->system->particles;
    double(*at)[3] = c->at + walker * (n + 1);
    memcpy(at[n], position, sizeof at[n]);
    c->moved[walker] = particle;
    for (int64_t j = particle - 1; j <= particle + 1; j += 2)
        if (j >= 0 && j < n)
            *change +=
                c->spring / 2 * (apart(c, at[j], at[n]).r2 - apart(c, at[j], at[particle]).r2);
    return PLUGMC_OK;
}

/* The last trial move of the walker was accepted, or not. */
static int settle(void *instance, int32_t walker, int accepted)
{
    const chain *c = instance;
    const int64_t n = c->system->particles;
    double(*at)[3] = c->at + walker * (n + 1);
    if (accepted) memcpy(at[c->moved[walker]], at[n], sizeof at[n]);
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    chain *c = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    c->system = host->system;
    c->at = host->allocate(host->context, walkers * (n + 1) * sizeof *c->at);
    c->moved = host->allocate(host->context, walkers * sizeof *c->moved);
    if (c->at && c->moved) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
}

/* Key, default (NULL: required), smallest and largest value, unit, meaning. */
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(chain, spring, NULL, 0, 1e6, "energy/length^2", "stiffness of a spring"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .start = start, .change = change, .settle = settle};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "PLUGIN_NAME", .summary = "chain of springs",
              .reference = "", PLUGMC_KEYS(chain, table), .prepare = prepare,
              .potential = &potential)
