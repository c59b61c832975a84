/* net_force: what the forces of sums over whole configurations add up to. Two particles push each
 * other by equal amounts, but on a mesh (particle-mesh Ewald) they do so only up to its error, and
 * the sum of all forces f_i, which should be 0, shows it:
 *
 *     net_force = |sum_i f_i| / sqrt(sum_i f_i^2).
 *
 * If particles have independent errors, this is about the relative error of the forces. Only
 * sampled potentials with a total facet are looked at; the forces of pairs add up to 0. In a run on
 * a GPU the forces are found there, if all those potentials can do that.
 */
#include <math.h>
#include <string.h>

#include <plugmc/everything.h>

#include "bring_to_host.h"

typedef struct net_force {
    char none; /* no parameters */

    int32_t terms;
    const plugmc_term **term; /* [terms] */
    double *forces;           /* [walkers][particles][3] kT/length */
    double *positions;        /* the same shape: from a GPU, if the host needs them; NULL if not */
    plugmc_device_pointer on_device; /* forces there; 0: they are not found there */
} net_force;

static size_t bytes_of_all(const plugmc_system *system)
{
    return 3 * (size_t)system->walkers * (size_t)system->particles * sizeof(double);
}

static int add_terms(const net_force *n, const plugmc_view *view, double *forces)
{
    const plugmc_total_request request = {.size = sizeof request, .view = view, .forces = forces};
    int code = PLUGMC_OK;
    for (int32_t t = 0; t < n->terms && !code; t++)
        code = n->term[t]->plugin->potential->total->energy(n->term[t]->instance, &request);
    return code;
}

static int forces_on_device(const net_force *n, const plugmc_host *host, const plugmc_view *view)
{
    const size_t bytes = bytes_of_all(host->system);
    int code = host->gpu->fill(host->context, n->on_device, 0, bytes);
    if (!code) code = add_terms(n, view, (double *)(uintptr_t)n->on_device);
    return code ? code : host->gpu->download(host->context, n->forces, n->on_device, bytes);
}

static int forces_on_host(const net_force *n, const plugmc_host *host, const plugmc_view *view)
{
    const size_t bytes = bytes_of_all(host->system);
    plugmc_view copy = {.size = sizeof copy};
    memset(n->forces, 0, bytes);
    const int code = view->on_device ? bring_to_host(host, view, n->positions, &copy) : PLUGMC_OK;
    return code ? code : add_terms(n, view->on_device ? &copy : view, n->forces);
}

/* values [walkers][4]: the ratio, then the mean force on a particle along each axis. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const net_force *n = instance;
    const int64_t particles = host->system->particles;
    const int code = view->on_device && n->on_device ? forces_on_device(n, host, view)
                                                     : forces_on_host(n, host, view);
    for (int64_t w = 0; w < host->system->walkers && !code; w++) {
        const double *f = n->forces + 3 * w * particles;
        double sum[3] = {0, 0, 0}, squares = 0;
        for (int64_t i = 0; i < 3 * particles; i++) {
            sum[i % 3] += f[i];
            squares += f[i] * f[i];
        }
        double *row = values + 4 * w;
        row[0] =
            squares > 0 ? sqrt((sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / squares) : 0;
        for (int d = 0; d < 3; d++) row[1 + d] = sum[d] / (double)particles;
    }
    return code;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    static const char *const all[][3] = {
        {"net_force", "", "sum of the forces over the square root of the sum of their squares"},
        {"mean_force_x", "kT/length", "mean force on a particle along x"},
        {"mean_force_y", "kT/length", "along y"},
        {"mean_force_z", "kT/length", "along z"}};
    (void)instance;
    if (index >= PLUGMC_COUNT(all)) return 0;
    return plugmc_scalar(out, all[index][0], all[index][1], all[index][2]);
}

/* ---- Preparation ----------------------------------------------------------------------------- */

/* Returns whether all of them can be asked on a GPU. */
static int find_terms(net_force *n, const plugmc_system *system)
{
    int on_device = 1;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_total *total = plugmc_term_at(system, t)->plugin->potential->total;
        if (!plugmc_term_at(system, t)->sampled || !total) continue;
        n->term[n->terms++] = plugmc_term_at(system, t);
        on_device &= total->on_device;
    }
    return on_device;
}

static int prepare(void *instance, const plugmc_host *host)
{
    net_force *n = instance;
    const plugmc_system *system = host->system;
    const size_t bytes = bytes_of_all(system);
    n->term = host->allocate(host->context, (size_t)(system->term_count + 1) * sizeof *n->term);
    n->forces = host->allocate(host->context, bytes);
    if (!n->term || !n->forces)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld forces",
                          (long long)system->particles);
    const int on_device = find_terms(n, system);
    if (n->terms == 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no potential of this run is a many-body term: pair forces always "
                          "add up to zero");
    if (!host->gpu) return PLUGMC_OK;
    if (on_device) return host->gpu->allocate(host->context, bytes, &n->on_device);
    n->positions = host->allocate(host->context, bytes);
    return n->positions ? PLUGMC_OK
                        : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
}

/* All that it can give. */
static const plugmc_listing listing[] = {
    {"net_force", "", "sum of the forces over the square root of the sum of their squares", 0, 0},
    {"mean_force_<axis>", "kT/length", "mean force on a particle along x, y, z", 0, 0},
};

PLUGMC_PLUGIN(.name = "net_force", .summary = "sum of the forces of a mesh: a measure of its error",
              .reference = "", .instance_size = sizeof(net_force),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .of_totals = PLUGMC_TOTAL_FORCES,
                                     .quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX),
              .prepare = prepare)
