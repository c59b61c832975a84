/* springs: a potential of the tests. Particles 2 k and 2 k + 1 are held together by a spring: a
 * molecule of two. */
#include <math.h>

#include <plugmc/everything.h>

typedef struct springs {
    double stiffness; /* kT/length^2 */
    const plugmc_system *system;
} springs;

static int energy(void *instance, const plugmc_total_request *q)
{
    const springs *p = instance;
    const plugmc_system *system = p->system;
    for (int64_t i = 0; i + 1 < system->walkers * system->particles; i += 2)
        for (int d = 0; d < 3; d++) {
            const double *r = q->view->positions + 3 * i, edge = system->box.length[d];
            const double s = r[d] - r[3 + d], x = s - edge * rint(s / edge), f = p->stiffness * x;
            const int64_t w = i / system->particles;
            if (q->energy) q->energy[w] += f * x / 2;
            if (q->forces) q->forces[3 * i + d] -= f;
            if (q->forces) q->forces[3 * i + 3 + d] += f;
            if (q->virial) q->virial[3 * w + d] -= f * x;
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
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(springs, stiffness, "100", 0, 1e9, "kT/length^2", "of a spring"),
};
static const plugmc_total total = {.size = sizeof total, .energy = energy, .molecules = molecules};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "springs", .summary = "molecules of two",
              .reference = "", PLUGMC_KEYS(springs, table), .prepare = prepare,
              .potential = &potential)
