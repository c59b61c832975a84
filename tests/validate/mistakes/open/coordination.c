/* mistake: cells are asked for with half of the radius, and only adjacent cells are searched */
/* a user would see: neighbours two cells away are missed: coordination numbers are too small, and
 * jump with the size of the box */
/* coordination: mean number of neighbours within a radius. */
#include <math.h>

#include <plugmc/observable.h>

typedef struct coordination {
    double radius;
} coordination;

/* Neighbours of the particle in place `i` of the list. */
static int64_t around(const plugmc_cells *c, const plugmc_box *box, int32_t w, int64_t n,
                      const int32_t at[3], int64_t i, double square)
{
    const uint32_t *start = c->start + w * (c->cells + 1);
    const double *r = c->positions + 3 * w * n;
    plugmc_images images;
    const int mode = plugmc_images_of(box, 1, &images);
    int64_t met = 0;
    for (int32_t a = 0; a < plugmc_cells_around(c->count[0]); a++)
        for (int32_t b = 0; b < plugmc_cells_around(c->count[1]); b++)
            for (int32_t e = 0; e < plugmc_cells_around(c->count[2]); e++) {
                const int32_t x = plugmc_cell_around(at[0], a, c->count[0]),
                              y = plugmc_cell_around(at[1], b, c->count[1]),
                              z = plugmc_cell_around(at[2], e, c->count[2]),
                              cell = (z * c->count[1] + y) * c->count[0] + x;
                for (int64_t j = start[cell]; j < start[cell + 1]; j++)
                    met +=
                        j != i && plugmc_separate(r[3 * i] - r[3 * j], r[3 * i + 1] - r[3 * j + 1],
                                                  r[3 * i + 2] - r[3 * j + 2], &images, mode)
                                          .r2 < square;
            }
    return met;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 && plugmc_scalar(out, "neighbours", "", "mean number of neighbours");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const coordination *o = instance;
    const int64_t n = host->system->particles;
    plugmc_cells c = {.size = sizeof c};
    const int code = view->cells(view, o->radius / 2, &c);
    for (int32_t w = 0; w < host->system->walkers && !code; w++) {
        const plugmc_box *box = &view->box[w];
        int64_t met = 0;
        for (int64_t i = 0; i < n; i++) {
            int32_t at[3];
            for (int d = 0; d < 3; d++)
                at[d] = plugmc_cell_along(c.positions[3 * (w * n + i) + d],
                                          box->length[d] / c.count[d], c.count[d]);
            met += around(&c, box, w, n, at, i, o->radius * o->radius);
        }
        values[w] = (double)met / (double)n;
    }
    return code;
}

static const plugmc_listing listing[] = {
    {"neighbours", "", "mean number of neighbours", 0, 0},
};

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(coordination, radius, "1.5", -1e9, 1e9, "length", "distance of neighbours"),
};

PLUGMC_PLUGIN(.name = "coordination", .summary = "coordination number", .reference = "",
              PLUGMC_KEYS(coordination, table),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX))
