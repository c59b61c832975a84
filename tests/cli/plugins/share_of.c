/* share_of: an observable that tells which particles are a process's own to measure (plugmc_view.share), and which
 * it sees. */
#include <math.h>

#include <plugmc/everything.h>

typedef struct share_of {
    real reach; /* parameters */
    int32_t gives_up;
} share_of;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    static const char *const all[][2] = {
        {"own", "particles of the share, of all processes together"},
        {"seen", "particles that are not at NaN, of all processes together"},
        {"near",
         "particles that are at most `reach` away from those of the share along the last axis"},
        {"completed", "how often it was completed"},
    };
    (void)instance;
    return index < 4 ? plugmc_scalar(out, all[index][0], "", all[index][1]) : 0;
}

/* How many particles are at most `reach` away from particle i along the last axis. */
static double near(const share_of *o, const plugmc_host *host, const plugmc_view *view, int64_t i)
{
    const int axis = view->box->dimension - 1;
    const double length = view->box->length[axis], at = view->positions[3 * i + axis];
    double n = 0;
    for (int64_t j = 0; j < host->system->particles; j++)
        n += fabs(remainder(view->positions[3 * j + axis] - at, length)) <= (double)o->reach;
    return n; /* nobody, at NaN, is not near */
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const share_of *o = instance;
    const plugmc_share share = plugmc_share_of(view);
    double own = 0, seen = 0, pairs = 0;
    if (o->gives_up && share.begin != share.end) return PLUGMC_UNANSWERED;
    for (int64_t i = 0; i < host->system->particles; i++) {
        const double *place = view->positions + 3 * i;
        seen += !isnan(place[0]);
        if (!plugmc_is_yours(&share, place)) continue;
        own++;
        pairs += near(o, host, view, i);
    }
    values[0] = own;
    values[1] = seen;
    values[2] = pairs;
    values[3] = 0;
    return PLUGMC_OK;
}

static void complete(void *instance, const plugmc_view *view, double *values)
{
    (void)instance, (void)view;
    values[3] += 1;
}

static double reach(void *instance) { return ((const share_of *)instance)->reach; }

static const plugmc_measures_shares shares = {
    .size = sizeof shares, .reach = reach, .complete = complete};

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(share_of, reach, "1", 0, 1e9, "length", "how far from its share it looks"),
    PLUGMC_FLAG_KEY(share_of, gives_up, "no", "a share is never enough"),
};

PLUGMC_PLUGIN(.name = "share_of", .summary = "which particles a process measures", .reference = "",
              PLUGMC_KEYS(share_of, table), PLUGMC_OFFERS({PLUGMC_MEASURES_SHARES, &shares}),
              PLUGMC_OBSERVABLE_WITH(.follows = PLUGMC_CHANGED_ORIENTATION, .quantity = quantity,
                                     .measure = measure))
