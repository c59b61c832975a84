/* sw_moves: sw_cpp with `start`, `change` and `settle`: a trial move takes the energies of a few atoms, and a search for
 * their neighbours among all. */
#include <string.h>

#include <plugmc/total.h>

#include "sw_border.h"

/* The configuration of a walker, and the trial move that is being decided. */
typedef struct copy {
    double *positions; /* [particles][3] */
    double box[3];
    int64_t particle;
    double to[3];
} copy;

typedef struct sw_moves {
    double epsilon, sigma;
    const plugmc_host *host;
    sw_model *model;
    copy *copies; /* [walkers] */
} sw_moves;

static int allocate_copies(sw_moves *s, const plugmc_host *host)
{
    const size_t walkers = (size_t)host->system->walkers, row = 3 * (size_t)host->system->particles;
    s->copies = host->allocate(host->context, walkers * sizeof *s->copies);
    double *positions = host->allocate(host->context, walkers * row * sizeof *positions);
    if (!s->copies || !positions)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
    for (size_t w = 0; w < walkers; w++) s->copies[w].positions = positions + w * row;
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    sw_moves *s = instance;
    const plugmc_system *system = host->system;
    char why[256];
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC || system->box.dimension != 3 ||
        system->box.oblique)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "needs a rectangular periodic box in three dimensions");
    s->host = host;
    s->model = sw_create(s->epsilon, s->sigma, system->threads, why, sizeof why);
    if (!s->model) return host->fail(host->context, PLUGMC_ERROR_INPUT, "%s", why);
    return allocate_copies(s, host);
}

static void release(void *instance) { sw_destroy(((sw_moves *)instance)->model); }

/* Adds the energy of each walker, and what else is asked for. */
static int energy(void *instance, const plugmc_total_request *request)
{
    const sw_moves *s = instance;
    const plugmc_host *host = s->host;
    const plugmc_view *view = request->view;
    const size_t n = (size_t)host->system->particles;
    char why[256];
    for (int32_t w = 0; w < plugmc_walkers_of(view, host->system); w++) {
        const size_t row = 3 * n * (size_t)w;
        double unused = 0;
        if (sw_evaluate(s->model, n, view->positions + row, view->box[w].length,
                        request->energy ? request->energy + w : &unused,
                        request->forces ? request->forces + row : NULL,
                        request->virial ? request->virial + 3 * w : NULL, why, sizeof why))
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "%s", why);
    }
    return PLUGMC_OK;
}

/* The configurations that trial moves start from. */
static int start(void *instance, const plugmc_view *view)
{
    const sw_moves *s = instance;
    const size_t row = 3 * (size_t)s->host->system->particles;
    for (int32_t w = 0; w < plugmc_walkers_of(view, s->host->system); w++) {
        copy *c = &s->copies[w];
        memcpy(c->positions, view->positions + (size_t)w * row, row * sizeof(double));
        memcpy(c->box, view->box[w].length, sizeof c->box);
    }
    return PLUGMC_OK;
}

/* Adds the change of energy if one particle goes to another position. */
static int change(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *change)
{
    const sw_moves *s = instance;
    copy *c = &s->copies[walker];
    char why[256];
    c->particle = particle;
    memcpy(c->to, position, sizeof c->to);
    if (sw_change(s->model, (size_t)s->host->system->particles, c->positions, c->box,
                  (size_t)particle, position, change, why, sizeof why))
        return s->host->fail(s->host->context, PLUGMC_ERROR_INPUT, "%s", why);
    return PLUGMC_OK;
}

/* The last trial move of this walker was accepted, or not. */
static int settle(void *instance, int32_t walker, int accepted)
{
    const sw_moves *s = instance;
    copy *c = &s->copies[walker];
    if (accepted) memcpy(c->positions + 3 * c->particle, c->to, sizeof c->to);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(sw_moves, epsilon, "1", 0, 1e6, "energy", "depth of a pair's minimum"),
    PLUGMC_REAL_KEY(sw_moves, sigma, "1", 0, 1e6, "length", "its distance divided by 2^(1/6)"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .energy = energy,
                                   .start = start,
                                   .change = change,
                                   .settle = settle,
                                   .follows = PLUGMC_CHANGED_BOX};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "sw_moves",
              .summary = "silicon by Stillinger and Weber, from a C++ library",
              .reference = "Stillinger, Weber, Phys. Rev. B 31, 5262 (1985)",
              PLUGMC_KEYS(sw_moves, table), .prepare = prepare, .release = release,
              .potential = &potential)
