/* mistake: the number of reserved places is used instead of the current number of particles */
/* a user would see: in a run with a reservoir the energy does not follow the number: wrong
 * densities */
/* mean_field: attraction of a homogeneous fluid, U = -a N^2 / V (van der Waals). */
#include <math.h>

#include <plugmc/total.h>

typedef struct mean_field {
    double a;
    const plugmc_system *system;
} mean_field;

static double of_counts(const void *instance, const plugmc_box *box, const int64_t *count)
{
    const mean_field *u = instance;
    const double n = (double)u->system->particles;
    (void)count;
    return -u->a * n * n / box->volume;
}

static int energy(void *instance, const plugmc_total_request *q)
{
    const mean_field *u = instance;
    const int32_t species = u->system->species_count;
    for (int32_t w = 0; w < plugmc_walkers_of(q->view, u->system); w++) {
        const plugmc_box *box = &q->view->box[w];
        const double e = of_counts(u, box, q->view->count + w * species);
        if (q->energy) q->energy[w] += e;
        for (int d = 0; q->virial && d < box->dimension; d++) q->virial[3 * w + d] += e;
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    mean_field *u = instance;
    const size_t walkers = (size_t)host->system->walkers, n = (size_t)host->system->particles;
    u->system = host->system;
    (void)walkers, (void)n;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(mean_field, a, "1", -1e9, 1e9, "kT length^3", "strength"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .energy = energy,
                                   .unchanged_by = PLUGMC_CHANGED_POSITION,
                                   .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT,
                                   .of_counts = of_counts};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "mean_field", .summary = "mean-field attraction",
              .reference = "", PLUGMC_KEYS(mean_field, table), .prepare = prepare,
              .potential = &potential)
