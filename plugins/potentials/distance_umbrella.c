/* distance_umbrella: an umbrella potential on the distance of two particles, to see pairs that are rarely near
 * each other, or to hold two of them at a distance (umbrella_potential.h has its forms).
 *
 * x is the distance of the nearest images. Windows together give ln of the probability of x: plugmc reweight, at
 * coupling 0.
 */
#include <math.h>
#include <string.h>

#include "umbrella_potential.h"

typedef struct pair_place {
    double at[2][3], trial[2][3]; /* of both particles */
} pair_place;

typedef struct distance_umbrella {
    umbrella_form form; /* first: parameters */
    int64_t first, second;

    const plugmc_system *system;
    plugmc_box *box;   /* [walkers] */
    pair_place *pairs; /* [walkers]: of the moves of single particles */
} distance_umbrella;

static plugmc_separation separation(const plugmc_box *box, const double a[3], const double b[3])
{
    plugmc_images images;
    const int mode = plugmc_images_of(box, box->domain == PLUGMC_DOMAIN_PERIODIC, &images);
    return plugmc_separate(b[0] - a[0], b[1] - a[1], b[2] - a[2], &images, mode);
}

static double distance(const plugmc_box *box, const double a[3], const double b[3])
{
    return sqrt(separation(box, a, b).r2);
}

/* Of a pair with this separation: -dU/dx s_d^2 / x along each axis. */
static void add_virial(const distance_umbrella *u, plugmc_separation s, double *virial)
{
    const double x = sqrt(s.r2), along[3] = {s.x, s.y, s.z};
    for (int d = 0; d < 3 && x > 0; d++)
        virial[d] -= umbrella_slope(&u->form, x) * along[d] * along[d] / x;
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const distance_umbrella *u = instance;
    for (int32_t w = 0; w < u->system->walkers; w++) {
        const double *all = q->view->positions + (int64_t)w * u->system->particles * 3;
        const plugmc_separation s =
            separation(&q->view->box[w], all + 3 * u->first, all + 3 * u->second);
        if (q->energy) q->energy[w] += umbrella_energy(&u->form, sqrt(s.r2));
        if (q->virial) add_virial(u, s, q->virial + 3 * w);
    }
    return PLUGMC_OK;
}

static int start(void *instance, const plugmc_view *view)
{
    distance_umbrella *u = instance;
    for (int32_t w = 0; w < u->system->walkers; w++) {
        const double *all = view->positions + (int64_t)w * u->system->particles * 3;
        u->box[w] = view->box[w];
        memcpy(u->pairs[w].at[0], all + 3 * u->first, sizeof u->pairs[w].at[0]);
        memcpy(u->pairs[w].at[1], all + 3 * u->second, sizeof u->pairs[w].at[1]);
        memcpy(u->pairs[w].trial, u->pairs[w].at, sizeof u->pairs[w].at);
    }
    return PLUGMC_OK;
}

static int change(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *out)
{
    distance_umbrella *u = instance;
    pair_place *p = &u->pairs[walker];
    if (particle != u->first && particle != u->second) return PLUGMC_OK;
    memcpy(p->trial[particle == u->second], position, sizeof p->trial[0]);
    *out += umbrella_energy(&u->form, distance(&u->box[walker], p->trial[0], p->trial[1])) -
            umbrella_energy(&u->form, distance(&u->box[walker], p->at[0], p->at[1]));
    return PLUGMC_OK;
}

static int settle(void *instance, int32_t walker, int accepted)
{
    pair_place *p = &((distance_umbrella *)instance)->pairs[walker];
    memcpy(accepted ? p->at : p->trial, accepted ? p->trial : p->at, sizeof p->at);
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    const distance_umbrella *u = instance;
    const long long n = host->system->particles;
    if (u->first >= n || u->second >= n || u->first == u->second)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "first and second must be different particles from 0 to %lld", n - 1);
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    distance_umbrella *u = instance;
    const size_t walkers = (size_t)host->system->walkers;
    u->system = host->system;
    u->box = host->allocate(host->context, walkers * sizeof *u->box);
    u->pairs = host->allocate(host->context, walkers * sizeof *u->pairs);
    return u->box && u->pairs
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for places");
}

static const plugmc_parameter table[] = {
    UMBRELLA_KEYS(distance_umbrella, form, "length"),
    PLUGMC_INTEGER_KEY(distance_umbrella, first, "0", 0, 1e15, "", "index of a particle, from 0"),
    PLUGMC_INTEGER_KEY(distance_umbrella, second, "1", 0, 1e15, "", "index of the other particle"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .energy = energy,
                                   .start = start,
                                   .change = change,
                                   .settle = settle,
                                   .follows = PLUGMC_CHANGED_BOX};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "distance_umbrella",
              .summary = "an umbrella potential on the distance of two particles",
              .reference = "Torrie, Valleau, J. Comput. Phys. 23, 187 (1977)",
              PLUGMC_KEYS(distance_umbrella, table), .configure = configure, .prepare = prepare,
              .potential = &potential)
