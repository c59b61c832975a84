/* numbers: how many particles there are, for runs in which they come and go. */
#include <plugmc/everything.h>
#include <stdio.h>

typedef struct numbers {
    int32_t distribution; /* parameter */
    const plugmc_system *system;
    char (*names)[3][80]; /* [species]: of the number, the density, the distribution */
    double *abscissa;     /* 0, 1, 2, ... */
} numbers;

enum { NUMBER, DENSITY, DISTRIBUTION };

static const plugmc_listing listing[] = {
    {"N_<species>", "", "number of particles of a species", 0, 0},
    {"density_<species>", "length^-<dimension>", "density of a species", 0, 0},
    {"p_<species>", "", "probability of each number, with distribution = yes", 1, 0},
};

static int prepare(void *instance, const plugmc_host *host)
{
    numbers *n = instance;
    const plugmc_system *system = n->system = host->system;
    int64_t most = 0;
    n->names = host->allocate(host->context, (size_t)system->species_count * sizeof *n->names);
    for (int32_t s = 0; s < system->species_count && n->names; s++) {
        const plugmc_species *species = plugmc_species_at(system, s);
        most = species->capacity > most ? species->capacity : most;
        if (n->distribution && species->grows)
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "distribution = yes: [species %s] needs max_count, the largest number that "
                "is counted",
                species->name);
        snprintf(n->names[s][NUMBER], 80, "N_%s", species->name);
        snprintf(n->names[s][DENSITY], 80, "density_%s", species->name);
        snprintf(n->names[s][DISTRIBUTION], 80, "p_%s", species->name);
    }
    n->abscissa = host->allocate(host->context, (size_t)(most + 1) * sizeof *n->abscissa);
    if (!n->names || !n->abscissa)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for numbers of particles");
    for (int64_t k = 0; k <= most; k++) n->abscissa[k] = (double)k;
    return PLUGMC_OK;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const numbers *n = instance;
    const int each = n->distribution ? 3 : 2, what = index % each, s = index / each;
    if (s >= n->system->species_count) return 0;
    const char *name = n->names[s][what], *doc = listing[what].doc;
    if (what == DISTRIBUTION)
        return plugmc_array(out, name, "", doc, plugmc_species_at(n->system, s)->capacity + 1, "N",
                            n->abscissa);
    const char *density = n->system->box.dimension == 2 ? "length^-2" : "length^-3";
    return plugmc_scalar(out, name, what == DENSITY ? density : "", doc);
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const numbers *n = instance;
    const plugmc_system *system = host->system;
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t s = 0; s < system->species_count; s++) {
            const int64_t count = view->count[w * system->species_count + s],
                          most = plugmc_species_at(system, s)->capacity;
            *values++ = (double)count;
            *values++ = (double)count / view->box[w].volume;
            for (int64_t k = 0; k <= most && n->distribution; k++) *values++ = k == count;
        }
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_FLAG_KEY(numbers, distribution, "no", "also measure the distribution of the numbers"),
};

PLUGMC_PLUGIN(.name = "numbers",
              .summary = "numbers of particles and densities of each "
                         "species",
              .reference = "", PLUGMC_KEYS(numbers, table),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                                     .listing = listing, .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_ORIENTATION |
                                                PLUGMC_CHANGED_MOLECULE),
              .prepare = prepare)
