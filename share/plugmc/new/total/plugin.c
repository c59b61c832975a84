/* PLUGIN_NAME: springs from each particle to the next make one chain of them all.
 *
 *     U = (spring / 2) sum_j |r_(j+1) - r_j|^2
 *
 * With `energy` alone every mover works; moves of single particles then take one energy of the whole configuration each.
 * `start`, `change` and `settle` of plugmc/total.h make them faster (docs/plugins/field-and-many-body.md). */
#include <plugmc/total.h>

typedef struct chain {
    double spring; /* energy/length^2 */
    const plugmc_system *system;
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

static int prepare(void *instance, const plugmc_host *host)
{
    ((chain *)instance)->system = host->system;
    return PLUGMC_OK;
}

/* Key, default (NULL: required), smallest and largest value, unit, meaning. */
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(chain, spring, NULL, 0, 1e6, "energy/length^2", "stiffness of a spring"),
};

static const plugmc_total total = {.size = sizeof total, .energy = energy};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "PLUGIN_NAME", .summary = "chain of springs",
              .reference = "", PLUGMC_KEYS(chain, table), .prepare = prepare,
              .potential = &potential)
