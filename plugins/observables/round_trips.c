/* round_trips: how walkers travel along a ladder.
 *
 * A walker is labelled by the end of the ladder that it has visited last: it is on its way up if that was the
 * lowest rung, on its way down if it was the highest. A round trip is complete when one comes back to the lowest
 * rung that has been at the highest. On each rung the share of those on their way up falls from 1 at the lowest
 * to 0 at the highest rung; where it falls steeply walkers have a hard time, and values of the ladder should be
 * closer together (H. G. Katzgraber, S. Trebst, D. A. Huse, M. Troyer, J. Stat. Mech. P03018 (2006)): the best
 * ladder has it linear in the number of the rung. With many round trips, rungs have seen the same walkers.
 *
 * It looks at the rungs at each measurement, so its period is that of the exchanges, or a part of it. */
#include <plugmc/everything.h>

enum { UNKNOWN, UP, DOWN };
enum { UPWARD, ROUND_TRIPS };

typedef struct round_trips {
    int8_t *label; /* [walkers]: UNKNOWN, UP or DOWN */
} round_trips;

static const plugmc_listing listing[] = {
    {"upward", "",
     "fraction of walkers that visited the lowest rung more recently than the "
     "highest",
     0, 0},
    {"round_trips", "", "round trips that end on this rung, per measurement and walker", 0, 0},
};

static int prepare(void *instance, const plugmc_host *host)
{
    round_trips *r = instance;
    if (host->system->rungs < 2)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there is no ladder: give a section [ladder]");
    r->label = host->allocate(host->context, (size_t)host->system->walkers);
    return r->label ? PLUGMC_OK
                    : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for labels");
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    if (index > ROUND_TRIPS) return 0;
    return plugmc_scalar(out, listing[index].name, "", listing[index].doc);
}

/* One that has been at neither end counts as half. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    round_trips *r = instance;
    void *rungs;
    const int code = host->state->array(host->state, PLUGMC_STATE_RUNG, PLUGMC_ON_HOST, PLUGMC_READ,
                                        &rungs, NULL);
    (void)view;
    for (int32_t w = 0; w < host->system->walkers && !code; w++) {
        const int32_t rung = ((const int32_t *)rungs)[w];
        const int8_t before = r->label[w];
        if (rung == 0) r->label[w] = UP;
        if (rung == host->system->rungs - 1) r->label[w] = DOWN;
        values[2 * w + UPWARD] = r->label[w] == UP ? 1 : r->label[w] == DOWN ? 0 : 0.5;
        values[2 * w + ROUND_TRIPS] = rung == 0 && before == DOWN;
    }
    return code;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    (void)host;
    return plugmc_archive_walkers(a, "labels", ((round_trips *)instance)->label, 1);
}

PLUGMC_PLUGIN(.name = "round_trips",
              .summary = "travel of walkers along a ladder: round trips, and the fraction on "
                         "the way up",
              .reference = "Katzgraber et al., J. Stat. Mech. P03018 (2006)",
              .instance_size = sizeof(round_trips),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .quantity = quantity, .measure = measure,
                                     .listing = listing, .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_ORIENTATION |
                                                PLUGMC_CHANGED_MOLECULE,
                                     .depends_on = PLUGMC_ON_HISTORY),
              .prepare = prepare, .archive = archive)
