/* share_of: an observable that tells which particles are a process's own to measure (plugmc_view.share), and which
 * it sees. */
#include <math.h>

#include <plugmc/plugin.h>

typedef struct share_of {
    real reach; /* parameters */
    int32_t gives_up;
} share_of;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    static const char *const all[][2] = {
        {"own", "particles of the share, of all processes together"},
        {"seen", "particles that are not at NaN, of all processes together"},
        {"beyond", "those seen that are farther than the reach from the share"},
        {"completed", "how often it was completed"},
    };
    (void)instance;
    return index < 4 ? plugmc_scalar(out, all[index][0], "", all[index][1]) : 0;
}

/* From x to the share along its axis, round the box. */
static double away(const plugmc_share *s, double length, double x)
{
    const double after = fmod(x - s->end + 2 * length, length),
                 before = fmod(s->begin - x + 2 * length, length);
    return fmin(after, before);
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const share_of *o = instance;
    const plugmc_share share = plugmc_share_of(view);
    const int is_share = share.begin != share.end;
    double own = 0, seen = 0, beyond = 0;
    if (o->gives_up && is_share) return PLUGMC_UNANSWERED;
    for (int64_t i = 0; i < host->system->particles; i++) {
        const double *place = view->positions + 3 * i;
        if (isnan(place[0])) continue;
        seen++;
        own += plugmc_is_yours(&share, place);
        beyond += is_share && !plugmc_is_yours(&share, place) &&
                  away(&share, view->box->length[share.axis], place[share.axis]) > o->reach;
    }
    values[0] = own;
    values[1] = seen;
    values[2] = beyond;
    values[3] = 0;
    return PLUGMC_OK;
}

static void complete(void *instance, const plugmc_view *view, double *values)
{
    (void)instance, (void)view;
    values[3] += 1;
}

static double reach(void *instance) { return ((const share_of *)instance)->reach; }

static const plugmc_observable observable = {.size = sizeof observable,
                                             .quantity = quantity,
                                             .measure = measure,
                                             .reach = reach,
                                             .complete = complete};

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(share_of, reach, "1", 0, 1e9, "length", "how far from its share it looks"),
    PLUGMC_FLAG_KEY(share_of, gives_up, "no", "a share is never enough"),
};

PLUGMC_PLUGIN(.kind = PLUGMC_OBSERVABLE, .name = "share_of",
              .summary = "which particles a process measures", .reference = "",
              .instance_size = sizeof(share_of), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .observable = &observable)
