/* shape_spring: what keeps a rectangle near a square: U = strength t^2 / 2, t = ln(L_x / L_y). Without it
 * the shape of a fluid's box whose edges change one by one is not bound. */
#include <math.h>
#include <plugmc/plugin.h>

typedef struct shape_spring {
    double strength;
    const plugmc_system *system;
} shape_spring;

static int energy(void *instance, const plugmc_total_request *q)
{
    const shape_spring *s = instance;
    for (int32_t w = 0; w < s->system->walkers; w++) {
        const double t = log(q->view->box[w].length[0] / q->view->box[w].length[1]);
        if (q->energy) q->energy[w] += 0.5 * s->strength * t * t;
    }
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    ((shape_spring *)instance)->system = host->system;
    if (host->system->box.dimension != 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "the box is no rectangle");
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(shape_spring, strength, "1", 0, 1e6, "kT", "of the spring"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .energy = energy,
                                   .unchanged_by = PLUGMC_CHANGED_POSITION,
                                   .follows = PLUGMC_CHANGED_BOX};

static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "shape_spring",
              .summary = "keeps a rectangle near a square", .reference = "",
              .instance_size = sizeof(shape_spring), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .potential = &potential,
              .configure = configure)
