/* unlisted: an observable that gives more than its listing has. */
#include <plugmc/everything.h>

typedef struct unlisted {
    char nothing;
} unlisted;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    if (index == 0) return plugmc_scalar(out, "one", "", "the only one");
    return index == 1 && plugmc_scalar(out, "two", "kT", "one too many");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    (void)instance, (void)host, (void)view;
    for (int i = 0; i < 2; i++) values[i] = 0;
    return PLUGMC_OK;
}

static const plugmc_listing listing[] = {{"one", "", "the only one", 0, 0}};

PLUGMC_PLUGIN(.name = "unlisted", .summary = "gives more than it lists", .reference = "",
              .instance_size = sizeof(unlisted),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing)))
