/* mistake: each pair is counted from both sides and not halved */
/* a user would see: the energy per particle is twice that of the observable energy */
/* contact_energy: square-well energy per particle that the configuration would have, u = -1 within a radius. */
#include <math.h>

#include <plugmc/observable.h>

typedef struct contact_energy {
    double radius;
} contact_energy;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 &&
           plugmc_scalar(out, "energy", "", "square-well energy per particle, over its depth");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const contact_energy *o = instance;
    const int64_t n = host->system->particles;
    for (int32_t w = 0; w < host->system->walkers; w++) {
        const double *r = view->positions + 3 * w * n;
        plugmc_images images;
        const int mode = plugmc_images_of(&view->box[w], 1, &images);
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                const double *a = r + 3 * i, *b = r + 3 * j;
                const plugmc_separation s =
                    plugmc_separate(a[0] - b[0], a[1] - b[1], a[2] - b[2], &images, mode);
                if (i != j && s.r2 < o->radius * o->radius) sum -= 1;
            }
        values[w] = sum / (double)n;
    }
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {
    {"energy", "", "square-well energy per particle, over its depth", 0, 0},
};

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(contact_energy, radius, "1.5", -1e9, 1e9, "length", "range of the well"),
};

PLUGMC_PLUGIN(.name = "contact_energy", .summary = "energy of a square well", .reference = "",
              PLUGMC_KEYS(contact_energy, table),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX))
