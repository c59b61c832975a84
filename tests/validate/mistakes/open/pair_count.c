/* mistake: positions of the first walker are used for all walkers */
/* a user would see: all walkers have the energy of walker 0: the samples of the others do not
 * follow the bias */
/* pair_count: U = strength times the number of neighbours of particle 0 within a radius. */
#include <math.h>

#include <plugmc/total.h>

typedef struct pair_count {
    double strength, radius;
    const plugmc_system *system;
} pair_count;

static int64_t neighbours(const pair_count *u, const plugmc_box *box, const double *all)
{
    plugmc_images images;
    const int mode = plugmc_images_of(box, box->domain == PLUGMC_DOMAIN_PERIODIC, &images);
    int64_t count = 0;
    for (int64_t j = 1; j < u->system->particles; j++) {
        const double *r = all + 3 * j;
        const plugmc_separation s =
            plugmc_separate(r[0] - all[0], r[1] - all[1], r[2] - all[2], &images, mode);
        count += s.r2 < u->radius * u->radius;
    }
    return count;
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const pair_count *u = instance;
    for (int32_t w = 0; q->energy && w < plugmc_walkers_of(q->view, u->system); w++)
        q->energy[w] += u->strength * (double)neighbours(u, &q->view->box[w], q->view->positions);
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    pair_count *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    (void)walkers, (void)n;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(pair_count, strength, "-1", -1e9, 1e9, "kT", "energy of a neighbour"),
    PLUGMC_REAL_KEY(pair_count, radius, "2", -1e9, 1e9, "length", "distance of neighbours"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .follows = PLUGMC_CHANGED_BOX};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "pair_count",
              .summary = "bias on the neighbours of a particle", .reference = "",
              PLUGMC_KEYS(pair_count, table), .prepare = prepare, .potential = &potential)
