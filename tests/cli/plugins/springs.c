/* springs: a potential of the tests. Particles 2 k and 2 k + 1 are held together by a spring: a
 * molecule of two. What it does not give, or gives wrongly, is chosen by `fault`. */
#include <math.h>

#include <plugmc/everything.h>

typedef struct springs {
    double stiffness; /* kT/length^2 */
    int32_t fault;
    const plugmc_system *system;
    const plugmc_host *host;
} springs;

enum { NONE, NO_FORCES, NO_VIRIAL, LARGE_FORCES, REFUSED_FORCES, ZERO_FORCES, ZERO_VIRIAL };

static int energy(void *instance, const plugmc_total_request *q)
{
    const springs *p = instance;
    const plugmc_system *system = p->system;
    const double of_force = p->fault == LARGE_FORCES ? 2 : p->fault != ZERO_FORCES,
                 of_virial = p->fault != ZERO_VIRIAL;
    double *forces = p->fault == NO_FORCES ? NULL : q->forces,
           *virial = p->fault == NO_VIRIAL ? NULL : q->virial;
    if (forces && p->fault == REFUSED_FORCES)
        return p->host->fail(p->host->context, PLUGMC_ERROR_INPUT, "springs have no forces today");
    for (int64_t i = 0; i + 1 < system->walkers * system->particles; i += 2)
        for (int d = 0; d < 3; d++) {
            const double *r = q->view->positions + 3 * i, edge = system->box.length[d];
            const double s = r[d] - r[3 + d], x = s - edge * rint(s / edge), f = p->stiffness * x;
            const int64_t w = i / system->particles;
            if (q->energy) q->energy[w] += f * x / 2;
            if (forces) forces[3 * i + d] -= of_force * f;
            if (forces) forces[3 * i + 3 + d] += of_force * f;
            if (virial) virial[3 * w + d] -= of_virial * f * x;
        }
    return PLUGMC_OK;
}

static int32_t molecules(const void *instance)
{
    (void)instance;
    return PLUGMC_MOLECULES_BOUND;
}

static int prepare(void *instance, const plugmc_host *host)
{
    ((springs *)instance)->system = host->system;
    ((springs *)instance)->host = host;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(springs, stiffness, "100", 0, 1e9, "kT/length^2", "of a spring"),
    PLUGMC_CHOICE_KEY(
        springs, fault, "none",
        "none|no_forces|no_virial|large_forces|refused_forces|zero_forces|zero_virial",
        "what it does not give"),
};
static const plugmc_total total = {.size = sizeof total, .energy = energy, .molecules = molecules};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "springs", .summary = "molecules of two",
              .reference = "", PLUGMC_KEYS(springs, table), .prepare = prepare,
              .potential = &potential)
