/* lying_total: a potential of the tests. Each particle is in waves along x, as an energy of whole configurations that
 * follows single moves; `lie` says which of its answers is wrong. */
#include <math.h>
#include <string.h>

#include <plugmc/everything.h>

enum { NONE, CHANGE, SETTLE, REJECTED, FORCE };

typedef struct lying_total {
    int32_t lie; /* parameter */
    const plugmc_system *system;
    double *places; /* [walkers][particles][3] */
    double tried[3];
    int64_t who;
} lying_total;

static double wave(const lying_total *p) { return 4 * M_PI / p->system->box.length[0]; }

static int energy(void *instance, const plugmc_total_request *q)
{
    const lying_total *p = instance;
    const int64_t n = p->system->particles;
    for (int64_t i = 0; i < n * p->system->walkers; i++) {
        const double x = wave(p) * q->view->positions[3 * i];
        if (q->energy) q->energy[i / n] += 3 * cos(x);
        if (q->forces) q->forces[3 * i] += (p->lie == FORCE ? 1.3 : 1) * 3 * wave(p) * sin(x);
    }
    return PLUGMC_OK;
}

static int start(void *instance, const plugmc_view *view)
{
    lying_total *p = instance;
    memcpy(p->places, view->positions,
           3 * sizeof(double) * (size_t)(p->system->particles * p->system->walkers));
    return PLUGMC_OK;
}

static int change(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *change)
{
    lying_total *p = instance;
    p->who = walker * p->system->particles + particle;
    memcpy(p->tried, position, sizeof p->tried);
    const double found = 3 * (cos(wave(p) * position[0]) - cos(wave(p) * p->places[3 * p->who]));
    *change += p->lie == CHANGE ? found / 2 : found;
    return PLUGMC_OK;
}

static int settle(void *instance, int32_t walker, int accepted)
{
    lying_total *p = instance;
    (void)walker;
    if (p->lie == SETTLE ? 0 : p->lie == REJECTED ? 1 : accepted)
        memcpy(p->places + 3 * p->who, p->tried, sizeof p->tried);
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    lying_total *p = instance;
    p->system = host->system;
    p->places = host->allocate(
        host->context, 3 * sizeof(double) * (size_t)(p->system->particles * p->system->walkers));
    return p->places ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
}

static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(lying_total, lie, "none", "none|change|settle|rejected|force",
                      "the answer that is wrong"),
};
static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .start = start, .change = change, .settle = settle};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "lying_total", .summary = "waves along x",
              .reference = "", PLUGMC_KEYS(lying_total, table), .prepare = prepare,
              .potential = &potential)
