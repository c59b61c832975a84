/* sw_cpp: the energy of a C++ library, swlib.h, behind the C functions of sw_border.h. */
#include <plugmc/total.h>

#include "sw_border.h"

typedef struct sw_cpp {
    double epsilon, sigma;
    const plugmc_host *host;
    sw_model *model;
} sw_cpp;

static int prepare(void *instance, const plugmc_host *host)
{
    sw_cpp *s = instance;
    const plugmc_system *system = host->system;
    char why[256];
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC || system->box.dimension != 3 ||
        system->box.oblique)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "needs a rectangular periodic box in three dimensions");
    s->host = host;
    s->model = sw_create(s->epsilon, s->sigma, system->threads, why, sizeof why);
    return s->model ? PLUGMC_OK : host->fail(host->context, PLUGMC_ERROR_INPUT, "%s", why);
}

static void release(void *instance) { sw_destroy(((sw_cpp *)instance)->model); }

/* Adds the energy of each walker, and what else is asked for. */
static int energy(void *instance, const plugmc_total_request *request)
{
    const sw_cpp *s = instance;
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

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(sw_cpp, epsilon, "1", 0, 1e6, "energy", "depth of a pair's minimum"),
    PLUGMC_REAL_KEY(sw_cpp, sigma, "1", 0, 1e6, "length", "its distance divided by 2^(1/6)"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .follows = PLUGMC_CHANGED_BOX};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "sw_cpp",
              .summary = "silicon by Stillinger and Weber, from a C++ library",
              .reference = "Stillinger, Weber, Phys. Rev. B 31, 5262 (1985)",
              PLUGMC_KEYS(sw_cpp, table), .prepare = prepare, .release = release,
              .potential = &potential)
