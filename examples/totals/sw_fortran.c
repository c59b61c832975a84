/* sw_fortran: the energy of a Fortran module, sw.f90, whose function has bind(c). */
#include <plugmc/total.h>

/* forces and virial are optional arguments: NULL where they are not wanted. */
int sw_fortran_evaluate(int64_t atoms, const double *positions, const double *box, double epsilon,
                        double sigma, double *energy, double *forces, double *virial, char *why,
                        int64_t length);

typedef struct sw_fortran {
    double epsilon, sigma;
    const plugmc_host *host;
} sw_fortran;

static int prepare(void *instance, const plugmc_host *host)
{
    sw_fortran *s = instance;
    const plugmc_box *box = &host->system->box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC || box->dimension != 3 || box->oblique)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "needs a rectangular periodic box in three dimensions");
    s->host = host;
    return PLUGMC_OK;
}

/* Adds the energy of each walker, and what else is asked for. */
static int energy(void *instance, const plugmc_total_request *request)
{
    const sw_fortran *s = instance;
    const plugmc_host *host = s->host;
    const plugmc_view *view = request->view;
    const int64_t n = host->system->particles;
    char why[256];
    for (int32_t w = 0; w < plugmc_walkers_of(view, host->system); w++) {
        const int64_t row = 3 * n * w;
        double unused = 0;
        if (sw_fortran_evaluate(n, view->positions + row, view->box[w].length, s->epsilon, s->sigma,
                                request->energy ? request->energy + w : &unused,
                                request->forces ? request->forces + row : NULL,
                                request->virial ? request->virial + 3 * w : NULL, why, sizeof why))
            return host->fail(host->context, PLUGMC_ERROR_INPUT, "%s", why);
    }
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(sw_fortran, epsilon, "1", 0, 1e6, "energy", "depth of a pair's minimum"),
    PLUGMC_REAL_KEY(sw_fortran, sigma, "1", 0, 1e6, "length", "its distance divided by 2^(1/6)"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .follows = PLUGMC_CHANGED_BOX};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "sw_fortran",
              .summary = "silicon by Stillinger and Weber, from a Fortran module",
              .reference = "Stillinger, Weber, Phys. Rev. B 31, 5262 (1985)",
              PLUGMC_KEYS(sw_fortran, table), .prepare = prepare, .potential = &potential)
