/* box_size: the box of each walker, for runs at constant pressure. */
#include <plugmc/everything.h>

typedef struct box_size {
    int32_t dimension, oblique;
} box_size;

enum { VOLUME, DENSITY, EDGE, TILT };

static const plugmc_listing listing[] = {
    {"volume", "length^<dimension>", "volume of the box, or its area in two dimensions", 0, 0},
    {"density", "length^-<dimension>", "number of particles over volume, a molecule counted as one",
     0, 0},
    {"edge_<axis>", "length", "length of a lattice vector", 0, 0},
    {"tilt_<axis><axis>", "",
     "tilt of an oblique box: component of the second vector along "
     "the first",
     0, 0},
};

static const char *const names[] = {"volume", "density", "edge_a", "edge_b", "edge_c"};
static const struct {
    const char *name;
    int of, along;
} tilts[] = {{"tilt_ab", 1, 0}, {"tilt_ac", 2, 0}, {"tilt_bc", 2, 1}};

static int prepare(void *instance, const plugmc_host *host)
{
    ((box_size *)instance)->dimension = host->system->box.dimension;
    ((box_size *)instance)->oblique = host->system->box.oblique;
    return PLUGMC_OK;
}

static int tilts_of(const box_size *b) { return !b->oblique ? 0 : b->dimension == 3 ? 3 : 1; }

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const int32_t dimension = ((const box_size *)instance)->dimension;
    const int tilt = index - EDGE - dimension;
    if (tilt >= tilts_of(instance)) return 0;
    if (tilt >= 0) return plugmc_scalar(out, tilts[tilt].name, "", listing[TILT].doc);
    const char *units[] = {dimension == 2 ? "length^2" : "length^3",
                           dimension == 2 ? "length^-2" : "length^-3", "length"};
    return plugmc_scalar(out, names[index], units[index < EDGE ? index : EDGE],
                         listing[index < EDGE ? index : EDGE].doc);
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const int32_t dimension = ((const box_size *)instance)->dimension;
    const plugmc_molecules *molecules = host->system->molecules;
    const int tilted = tilts_of(instance), width = EDGE + dimension + tilted;
    for (int32_t w = 0; w < host->system->walkers; w++) {
        const plugmc_box *box = &view->box[w];
        values[w * width + VOLUME] = box->volume;
        const int64_t *count = view->count + w * host->system->species_count;
        double particles = 0;
        for (int32_t k = 0; k < host->system->species_count; k++) particles += (double)count[k];
        int64_t sites = 0;
        const int64_t n = molecules ? plugmc_molecules_present(molecules, count, &sites) : 0;
        particles -= (double)(sites - n);
        values[w * width + DENSITY] = particles / box->volume;
        for (int32_t d = 0; d < dimension; d++) values[w * width + EDGE + d] = box->length[d];
        for (int k = 0; k < tilted; k++)
            values[w * width + EDGE + dimension + k] =
                plugmc_tilt(box, tilts[k].of, tilts[k].along);
    }
    return PLUGMC_OK;
}

PLUGMC_PLUGIN(.name = "box_size", .summary = "volume, density and edges of the box",
              .reference = "", .instance_size = sizeof(box_size),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                                     .listing = listing, .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_ORIENTATION |
                                                PLUGMC_CHANGED_MOLECULE),
              .prepare = prepare)
