/* box_size: the box of each walker, for runs at constant pressure. */
#include <plugmc/plugin.h>

typedef struct box_size {
    int32_t dimension;
} box_size;

enum { VOLUME, DENSITY, EDGE };

static const plugmc_listing listing[] = {
    {"volume", "length^<dimension>", "of the box; an area in two dimensions", 0, 0},
    {"density", "length^-<dimension>", "particles over the volume", 0, 0},
    {"edge_<axis>", "length", "length of a lattice vector", 0, 0},
};

static const char *const names[] = {"volume", "density", "edge_a", "edge_b", "edge_c"};

static int prepare(void *instance, const plugmc_host *host)
{
    ((box_size *)instance)->dimension = host->system->box.dimension;
    return PLUGMC_OK;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const int32_t dimension = ((const box_size *)instance)->dimension;
    if (index >= EDGE + dimension) return 0;
    const char *units[] = {dimension == 2 ? "length^2" : "length^3",
                           dimension == 2 ? "length^-2" : "length^-3", "length"};
    return plugmc_scalar(out, names[index], units[index < EDGE ? index : EDGE],
                         listing[index < EDGE ? index : EDGE].doc);
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const int32_t dimension = ((const box_size *)instance)->dimension, width = EDGE + dimension;
    for (int32_t w = 0; w < host->system->walkers; w++) {
        const plugmc_box *box = &view->box[w];
        values[w * width + VOLUME] = box->volume;
        const int64_t *count = view->count + w * host->system->species_count;
        double particles = 0;
        for (int32_t k = 0; k < host->system->species_count; k++) particles += (double)count[k];
        values[w * width + DENSITY] = particles / box->volume;
        for (int32_t d = 0; d < dimension; d++) values[w * width + EDGE + d] = box->length[d];
    }
    return PLUGMC_OK;
}

static const plugmc_observable observable = {.size = sizeof observable,
                                             .on_device = 1,
                                             .quantity = quantity,
                                             .measure = measure,
                                             .listing = listing,
                                             .listing_count = PLUGMC_COUNT(listing),
                                             .listing_size = sizeof(plugmc_listing),
                                             .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT};

PLUGMC_PLUGIN(.kind = PLUGMC_OBSERVABLE, .name = "box_size",
              .summary = "volume, density and edges of the box", .reference = "",
              .instance_size = sizeof(box_size), .observable = &observable, .prepare = prepare)
