/* mistake: separations from the first particle are not those of the nearest images */
/* a user would see: a cluster across a face of the box has a huge radius of gyration: the energy
 * jumps when a particle crosses a face */
/* gyration: umbrella on the radius of gyration of the first particles, U = k (R_g - target)^2 / 2. */
#include <math.h>

#include <plugmc/total.h>

typedef struct gyration {
    double k, target;
    int64_t members;
    const plugmc_system *system;
} gyration;

static double radius(const gyration *u, const double *r)
{
    const double m = (double)u->members;
    double square = 0, sum[3] = {0, 0, 0};
    for (int64_t j = 0; j < u->members; j++)
        for (int d = 0; d < 3; d++) {
            const double s = r[3 * j + d] - r[d];
            sum[d] += s;
            square += s * s;
        }
    for (int d = 0; d < 3; d++) square -= sum[d] * sum[d] / m;
    return sqrt(square / m);
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const gyration *u = instance;
    for (int32_t w = 0; q->energy && w < plugmc_walkers_of(q->view, u->system); w++) {
        const double x = radius(u, q->view->positions + 3 * w * u->system->particles) - u->target;
        q->energy[w] += 0.5 * u->k * x * x;
    }
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    const gyration *u = instance;
    return u->members <= host->system->particles
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_INPUT, "members: too many");
}

static int prepare(void *instance, const plugmc_host *host)
{
    gyration *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    (void)walkers, (void)n;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(gyration, k, "20", -1e9, 1e9, "kT/length^2", "stiffness"),
    PLUGMC_REAL_KEY(gyration, target, "1.5", -1e9, 1e9, "length", "radius"),
    PLUGMC_INTEGER_KEY(gyration, members, "4", 1, 1e9, "", "number of particles"),
};

static const plugmc_total total = {.size = sizeof total, .energy = energy};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "gyration",
              .summary = "umbrella on a radius of gyration", .reference = "",
              PLUGMC_KEYS(gyration, table), .prepare = prepare, .configure = configure,
              .potential = &potential)
