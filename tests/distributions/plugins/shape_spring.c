/* shape_spring: a spring on the box, U = strength t^2 / 2:
 *
 *   t = ln(L_x / L_y)   keeps a rectangle near a square; without it the shape of a fluid's box whose edges change
 *                       one by one is not bound
 *   t = ln(w / L_y)     keeps it a strip of the width w
 *   t = ln(v / V)       keeps the volume near v, so that the box is never too small for a range */
#include <math.h>
#include <plugmc/everything.h>

typedef struct shape_spring {
    double strength, width, volume;
    const plugmc_system *system;
} shape_spring;

static int energy(void *instance, const plugmc_total_request *q)
{
    const shape_spring *s = instance;
    for (int32_t w = 0; w < s->system->walkers; w++) {
        const plugmc_box *box = &q->view->box[w];
        const double *length = box->length;
        const double t = s->volume > 0  ? log(s->volume / box->volume)
                         : s->width > 0 ? log(s->width / length[1])
                                        : log(length[0] / length[1]);
        if (q->energy) q->energy[w] += 0.5 * s->strength * t * t;
    }
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    shape_spring *s = instance;
    s->system = host->system;
    if (host->system->box.dimension != 2 && s->volume == 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "the box is no rectangle");
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(shape_spring, strength, "1", 0, 1e6, "kT", "of the spring"),
    PLUGMC_REAL_KEY(shape_spring, width, "0", 0, 1e6, "length", "along y; 0: that along x"),
    PLUGMC_REAL_KEY(shape_spring, volume, "0", 0, 1e9, "length^d", "0: the spring is on the edges"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .energy = energy,
                                   .unchanged_by = PLUGMC_CHANGED_POSITION,
                                   .follows = PLUGMC_CHANGED_BOX};

static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "shape_spring", .summary = "a spring on the box",
              .reference = "", PLUGMC_KEYS(shape_spring, table), .potential = &potential,
              .configure = configure)
