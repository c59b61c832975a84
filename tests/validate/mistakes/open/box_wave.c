/* mistake: the wave number comes from the initial box although the term says that it follows
 * boxes */
/* a user would see: at constant pressure the wave does not fit the box any more: energies jump at
 * its edges */
/* box_wave: U = strength |sum_j exp(i k x_j)|^2 / N for the longest wave along x. */
#include <math.h>

#include <plugmc/total.h>

typedef struct box_wave {
    double strength;
    const plugmc_system *system;
} box_wave;

static double of_walker(const box_wave *u, const double *positions, const plugmc_box *box)
{
    const double k = 2 * M_PI / box->length[0];
    double re = 0, im = 0;
    for (int64_t j = 0; j < u->system->particles; j++) {
        re += cos(k * positions[3 * j]);
        im += sin(k * positions[3 * j]);
    }
    return u->strength * (re * re + im * im) / (double)u->system->particles;
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const box_wave *u = instance;
    for (int32_t w = 0; q->energy && w < plugmc_walkers_of(q->view, u->system); w++)
        q->energy[w] +=
            of_walker(u, q->view->positions + 3 * w * u->system->particles, &u->system->box);
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    box_wave *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    (void)walkers, (void)n;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(box_wave, strength, "2", -1e9, 1e9, "kT", "of the wave"),
};

static const plugmc_total total = {
    .size = sizeof total, .energy = energy, .follows = PLUGMC_CHANGED_BOX};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "box_wave",
              .summary = "energy of the longest density wave", .reference = "",
              PLUGMC_KEYS(box_wave, table), .prepare = prepare, .potential = &potential)
