/* numbers: how many particles and rigid molecules there are, for runs in which they come and go. */
#include <plugmc/everything.h>
#include <stdio.h>

typedef struct numbers {
    int32_t distribution; /* parameter */
    const plugmc_system *system;
    /* [species, then kinds of molecules]: of the number, the density, the distribution */
    char (*names)[3][80];
    double *abscissa; /* 0, 1, 2, ... */
} numbers;

enum { NUMBER, DENSITY, DISTRIBUTION };

static const plugmc_listing listing[] = {
    {"N_<species>", "", "number of particles of a species, or of molecules of a kind", 0, 0},
    {"density_<species>", "length^-<dimension>", "density of a species or of molecules", 0, 0},
    {"p_<species>", "", "probability of each number, with distribution = yes", 1, 0},
};

/* ---- What is counted ------------------------------------------------------------------------- */

static int32_t counted(const plugmc_system *system)
{
    return system->species_count + (system->molecules ? system->molecules->kinds : 0);
}

/* Number k of them as a kind of molecule; NULL: it is a species. */
static const plugmc_molecule *kind_of(const plugmc_system *system, int32_t k)
{
    return k < system->species_count
               ? NULL
               : plugmc_kind_of_molecule(system->molecules, k - system->species_count);
}

static int64_t capacity_of(const plugmc_system *system, int32_t k)
{
    const plugmc_molecule *kind = kind_of(system, k);
    return kind ? kind->capacity : plugmc_species_at(system, k)->capacity;
}

/* count [species] of a walker. */
static int64_t number_of(const plugmc_system *system, int32_t k, const int64_t *count)
{
    const plugmc_molecule *kind = kind_of(system, k);
    return kind ? plugmc_molecules_of_kind(kind, count) : count[k];
}

/* ---- Preparation and measurement --------------------------------------------------------------- */

/* A distribution ends somewhere. Molecules come first: where their number has no end, that of their sites has none. */
static int check_ends(const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const int32_t all = counted(system), first = system->species_count;
    for (int32_t l = 0; l < all; l++) {
        const int32_t k = (first + l) % all;
        const plugmc_molecule *kind = kind_of(system, k);
        const plugmc_species *species = kind ? NULL : plugmc_species_at(system, k);
        if (kind ? kind->grows : species->grows)
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "distribution = yes: [%s %s] needs max_count, the largest number that is counted",
                kind ? "molecule" : "species", kind ? kind->name : species->name);
    }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    numbers *n = instance;
    const plugmc_system *system = n->system = host->system;
    int64_t most = 0;
    const int code = n->distribution ? check_ends(host) : PLUGMC_OK;
    if (code) return code;
    n->names = host->allocate(host->context, (size_t)counted(system) * sizeof *n->names);
    for (int32_t k = 0; k < counted(system) && n->names; k++) {
        const plugmc_molecule *kind = kind_of(system, k);
        const char *name = kind ? kind->name : plugmc_species_at(system, k)->name;
        most = capacity_of(system, k) > most ? capacity_of(system, k) : most;
        snprintf(n->names[k][NUMBER], 80, "N_%s", name);
        snprintf(n->names[k][DENSITY], 80, "density_%s", name);
        snprintf(n->names[k][DISTRIBUTION], 80, "p_%s", name);
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
    const int each = n->distribution ? 3 : 2, what = index % each, k = index / each;
    if (k >= counted(n->system)) return 0;
    const char *name = n->names[k][what], *doc = listing[what].doc;
    if (what == DISTRIBUTION)
        return plugmc_array(out, name, "", doc, capacity_of(n->system, k) + 1, "N", n->abscissa);
    const char *density = n->system->box.dimension == 2 ? "length^-2" : "length^-3";
    return plugmc_scalar(out, name, what == DENSITY ? density : "", doc);
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const numbers *n = instance;
    const plugmc_system *system = host->system;
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t k = 0; k < counted(system); k++) {
            const int64_t count = number_of(system, k, view->count + w * system->species_count),
                          most = capacity_of(system, k);
            *values++ = (double)count;
            *values++ = (double)count / view->box[w].volume;
            for (int64_t m = 0; m <= most && n->distribution; m++) *values++ = m == count;
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
