/* mistake: the virial is counted once for each particle of the pair and so is twice too large */
/* a user would see: pressures at constant volume are wrong by the virial of this term; the energy
 * is right */
/* virial_well: U = -strength sum of exp(-r^2) of the pair of particles 0 and 1, as a many-body term. */
#include <math.h>

#include <plugmc/total.h>

typedef struct virial_well {
    double strength;
    const plugmc_system *system;
} virial_well;

static int energy(void *instance, const plugmc_total_request *q)
{
    const virial_well *u = instance;
    const int64_t n = u->system->particles;
    for (int32_t w = 0; w < plugmc_walkers_of(q->view, u->system); w++) {
        const double *r = q->view->positions + 3 * w * n;
        const plugmc_box *box = &q->view->box[w];
        plugmc_images images;
        const int mode = plugmc_images_of(box, box->domain == PLUGMC_DOMAIN_PERIODIC, &images);
        const plugmc_separation s =
            plugmc_separate(r[0] - r[3], r[1] - r[4], r[2] - r[5], &images, mode);
        const double e = exp(-s.r2), along[3] = {s.x, s.y, s.z};
        if (q->energy) q->energy[w] -= u->strength * e;
        for (int d = 0; d < 3; d++) {
            const double force = -2 * u->strength * e * along[d];
            if (q->forces) q->forces[3 * w * n + d] += force;
            if (q->forces) q->forces[3 * (w * n + 1) + d] -= force;
            if (q->virial) q->virial[3 * w + d] += along[d] * force - -along[d] * force;
        }
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    virial_well *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    (void)walkers, (void)n;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(virial_well, strength, "4", -1e9, 1e9, "kT", "depth"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .follows = PLUGMC_CHANGED_BOX};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "virial_well", .summary = "attraction of one pair",
              .reference = "", PLUGMC_KEYS(virial_well, table), .prepare = prepare,
              .potential = &potential)
