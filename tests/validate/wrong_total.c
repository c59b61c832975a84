/* wrong_total: U = strength sum_i n_i^2, n_i = sum_j (1 - r_ij^2 / cutoff^2)^2, with one of many faults; `fault = none`
 * has none. half_change, no_settle and large_forces are those of a potential that an author made from a library. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/everything.h>

enum {
    NONE,
    HALF_CHANGE,
    NO_SETTLE,
    LARGE_FORCES,
    SETTLES_REJECTED,
    ASSIGNS,
    NEIGHBOURING_WALKER,
    FIRST_BOX,
    WRONG_VIRIAL,
    NO_START,
    CHANGE_ADDS_UP,
    WRONG_SIGN_OF_FORCES,
    WRONG_REMOVAL,
    BEHIND_ALLOCATED,
    NULL_POINTER,
    ENDLESS,
    EXITS,
    NAN_ENERGY,
    FORGETS,
    FAILS_SILENTLY,
    SLIGHTLY_WRONG,
    OVER_TEMPERATURE,
    FIRST_WAVE,
    FLOAT_SUM,
    NO_IMAGES,
    PLACES,
    NAN_CHANGE,
    INFINITE_CHANGE,
    STALE_SUM,
    PLAIN_VIRIAL,
    ALONE,
    NAN_ALONE,
    BY_NUMBER
};

typedef struct total_state {
    real strength, cutoff;
    int32_t fault;
    const plugmc_host *host;
    double *now, *then, *forces; /* [walkers][particles][3], [particles][3], [particles][3] */
    int64_t *count, *trial;      /* [walkers][species], [species] */
    plugmc_box *box;             /* [walkers] */
    double drift;
    float sum[16]; /* [walkers] sum of the x coordinates, as moves have left it */
    int started;
} total_state;

static int is(const total_state *s, int fault) { return s->fault == fault; }

static double separation(const total_state *s, const plugmc_box *box, const double *a,
                         const double *b, double d[3])
{
    double r2 = 0;
    for (int e = 0; e < box->dimension; e++) {
        const double length = is(s, FIRST_BOX) ? s->host->system->box.length[e] : box->length[e];
        d[e] = a[e] - b[e];
        d[e] -= length * rint(d[e] / length);
        r2 += d[e] * d[e];
    }
    return r2;
}

static int is_there(const plugmc_system *system, const int64_t *count, int64_t i)
{
    int32_t k = 0;
    while (i >= system->first[k + 1]) k++;
    return i < system->first[k] + count[k];
}

static double density(const total_state *s, const plugmc_box *box, const int64_t *count,
                      const double *x, int64_t i)
{
    const plugmc_system *system = s->host->system;
    const double c2 = (double)s->cutoff * (double)s->cutoff;
    double sum = 0, d[3];
    for (int64_t j = 0; j < system->particles; j++) {
        if (j == i || !is_there(system, count, j)) continue;
        const double r2 = separation(s, box, x + 3 * i, x + 3 * j, d);
        if (r2 < c2) sum += (1 - r2 / c2) * (1 - r2 / c2);
    }
    return sum;
}

static double energy_of(const total_state *s, const plugmc_box *box, const int64_t *count,
                        const double *x)
{
    const plugmc_system *system = s->host->system;
    double sum = 0;
    for (int64_t i = 0; i < system->particles; i++) {
        if (!is_there(system, count, i)) continue;
        const double n = density(s, box, count, x, i);
        sum += (double)s->strength * n * n;
        if (is(s, NO_IMAGES)) sum += 0.1 * (x[3 * i] - x[0]) * (x[3 * i] - x[0]);
        if (is(s, BY_NUMBER))
            sum += 0.01 * (double)(i % 2) * n; /* of the second species, it was meant */
        if (is(s, FLOAT_SUM)) sum += 0.01 * x[3 * i];
        if (is(s, FIRST_WAVE)) sum += 30 * cos(2 * M_PI * x[3 * i] / system->box.length[0]);
    }
    if (is(s, PLACES)) sum += 0.3 * (double)(system->particles * system->particles);
    return is(s, OVER_TEMPERATURE) ? sum / system->temperature : sum;
}

/* Forces of one walker, [particles][3], and its virial. */
static void forces_of(const total_state *s, const plugmc_box *box, const int64_t *count,
                      const double *x, double *f, double virial[3])
{
    const plugmc_system *system = s->host->system;
    const double c2 = (double)s->cutoff * (double)s->cutoff;
    double d[3];
    for (int64_t i = 0; i < system->particles; i++) {
        if (!is_there(system, count, i)) continue;
        const double around = density(s, box, count, x, i),
                     n = 2 * (double)s->strength * around +
                         (is(s, BY_NUMBER) ? 0.01 * (double)(i % 2) : 0);
        if (is(s, NAN_ALONE)) f[3 * i] += 0 * (around / around); /* 0 / 0 without a neighbour */
        for (int64_t j = 0; j < system->particles; j++) {
            if (j == i || !is_there(system, count, j)) continue;
            const double r2 = separation(s, box, x + 3 * i, x + 3 * j, d);
            if (r2 >= c2) continue;
            const double slope = n * 4 * (1 - r2 / c2) / c2; /* minus dU / d(r^2) times 2 */
            for (int e = 0; e < box->dimension; e++) {
                f[3 * i + e] += slope * d[e];
                f[3 * j + e] -= slope * d[e];
                virial[e] +=
                    slope * d[e] * (is(s, PLAIN_VIRIAL) ? x[3 * i + e] - x[3 * j + e] : d[e]);
            }
        }
    }
}

static int energy(void *instance, const plugmc_total_request *request)
{
    total_state *s = instance;
    const plugmc_system *system = s->host->system;
    const int64_t n = system->particles;
    const plugmc_view *view = request->view;
    if (is(s, NULL_POINTER))
        s->drift = *(volatile double *)(s->cutoff > 0 ? (size_t)16 : (size_t)s);
    if (is(s, ENDLESS))
        for (volatile int k = 1; k; k = 2) {}
    if (is(s, EXITS)) exit(0);
    if (is(s, FAILS_SILENTLY) && s->started) return PLUGMC_ERROR_STATE;
    for (int32_t w = 0; w < plugmc_walkers_of(view, system); w++) {
        const int32_t from = is(s, NEIGHBOURING_WALKER) ? (w + 1) % system->walkers : w;
        const double *x = view->positions + 3 * n * from;
        const int64_t *count = view->count + w * system->species_count;
        double virial[3] = {0, 0, 0}, u = energy_of(s, &view->box[w], count, x);
        if (is(s, NAN_ENERGY)) u = sqrt(-1 - u * u);
        if (is(s, FORGETS)) u += s->drift;
        if (request->energy && is(s, ASSIGNS)) request->energy[w] = 0;
        if (request->energy) request->energy[w] += u;
        if (!request->forces && !request->virial) continue;
        memset(s->forces, 0, 3 * sizeof(double) * (size_t)n);
        forces_of(s, &view->box[w], count, x, s->forces, virial);
        const double factor = is(s, LARGE_FORCES) ? 1.3 : is(s, WRONG_SIGN_OF_FORCES) ? -1 : 1;
        for (int64_t k = 0; k < 3 * n && request->forces; k++)
            request->forces[3 * n * w + k] += factor * s->forces[k];
        for (int e = 0; e < 3 && request->virial; e++)
            request->virial[3 * w + e] += is(s, WRONG_VIRIAL) ? virial[e] / 2 : virial[e];
    }
    return PLUGMC_OK;
}

static int start(void *instance, const plugmc_view *view)
{
    total_state *s = instance;
    const plugmc_system *system = s->host->system;
    const size_t walkers = (size_t)plugmc_walkers_of(view, system);
    if (is(s, NO_START) && s->started) return PLUGMC_OK;
    s->started = 1;
    if (is(s, STALE_SUM)) s->drift = 0;
    memcpy(s->now, view->positions, 3 * sizeof(double) * walkers * (size_t)system->particles);
    memcpy(s->count, view->count, sizeof *s->count * walkers * (size_t)system->species_count);
    memcpy(s->box, view->box, sizeof *s->box * walkers);
    for (size_t w = 0; w < walkers && is(s, FLOAT_SUM); w++) {
        s->sum[w] = 0;
        for (int64_t i = 0; i < system->particles; i++)
            s->sum[w] += (float)s->now[3 * (system->particles * (int64_t)w + i)];
    }
    return PLUGMC_OK;
}

/* The trial configuration against the present one. */
static double compare(total_state *s, int32_t w)
{
    const plugmc_system *system = s->host->system;
    const double *now = s->now + 3 * system->particles * w;
    return energy_of(s, &s->box[w], s->trial, s->then) -
           energy_of(s, &s->box[w], s->count + w * system->species_count, now);
}

static void begin_trial(total_state *s, int32_t w)
{
    const plugmc_system *system = s->host->system;
    memcpy(s->then, s->now + 3 * system->particles * w,
           3 * sizeof(double) * (size_t)system->particles);
    memcpy(s->trial, s->count + w * system->species_count,
           sizeof *s->trial * (size_t)system->species_count);
}

static int change(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *change)
{
    total_state *s = instance;
    begin_trial(s, walker);
    memcpy(s->then + 3 * particle, position, 3 * sizeof(double));
    double difference = compare(s, walker);
    if (is(s, NAN_CHANGE)) difference = sqrt(-1 - difference * difference);
    if (is(s, INFINITE_CHANGE)) difference = INFINITY;
    if (is(s, STALE_SUM)) difference += 1e-6 * s->drift;
    if (is(s, FLOAT_SUM)) difference += 1e-6 * (double)s->sum[walker] * position[0];
    if (is(s, HALF_CHANGE)) difference *= 0.5;
    if (is(s, SLIGHTLY_WRONG)) difference *= 1.1;
    if (is(s, CHANGE_ADDS_UP)) difference += s->drift += 0.03;
    *change += difference;
    return PLUGMC_OK;
}

/* `alone`: the sum of what each of them would change alone. */
static int displace(void *instance, int32_t walker, const plugmc_displacements *what,
                    double *change)
{
    total_state *s = instance;
    double alone = 0;
    for (int32_t k = 0; k < what->n && is(s, ALONE); k++) {
        begin_trial(s, walker);
        memcpy(s->then + 3 * what->particle[k], what->position[k], 3 * sizeof(double));
        alone += compare(s, walker);
    }
    begin_trial(s, walker);
    for (int32_t k = 0; k < what->n; k++)
        memcpy(s->then + 3 * what->particle[k], what->position[k], 3 * sizeof(double));
    *change += is(s, ALONE) ? alone : compare(s, walker);
    return PLUGMC_OK;
}

static int insert_remove(void *instance, int32_t walker, const plugmc_insert_remove *what,
                         double *change)
{
    total_state *s = instance;
    const plugmc_system *system = s->host->system;
    begin_trial(s, walker);
    for (int32_t k = 0; k < what->removed; k++) {
        int32_t kind = 0;
        while (what->particle[k] >= system->first[kind + 1]) kind++;
        const int64_t last = system->first[kind] + s->trial[kind] - 1;
        if (!is(s, WRONG_REMOVAL))
            memcpy(s->then + 3 * what->particle[k], s->then + 3 * last, 3 * sizeof(double));
        s->trial[kind]--;
    }
    for (int32_t k = 0; k < what->inserted; k++) {
        const int32_t kind = what->species[k];
        memcpy(s->then + 3 * (system->first[kind] + s->trial[kind]++), what->position[k],
               3 * sizeof(double));
    }
    *change += compare(s, walker);
    return PLUGMC_OK;
}

static int settle(void *instance, int32_t walker, int accepted)
{
    total_state *s = instance;
    const plugmc_system *system = s->host->system;
    if ((is(s, FORGETS) || is(s, STALE_SUM)) && accepted) s->drift += 1e-3;
    for (int64_t i = 0; i < system->particles && accepted && is(s, FLOAT_SUM); i++)
        s->sum[walker] += (float)(s->then[3 * i] - s->now[3 * (system->particles * walker + i)]);
    if (!(accepted || is(s, SETTLES_REJECTED)) || is(s, NO_SETTLE)) return PLUGMC_OK;
    memcpy(s->now + 3 * system->particles * walker, s->then,
           3 * sizeof(double) * (size_t)system->particles);
    memcpy(s->count + walker * system->species_count, s->trial,
           sizeof *s->trial * (size_t)system->species_count);
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    total_state *s = instance;
    const plugmc_system *system = host->system;
    const size_t walkers = (size_t)system->walkers, n = (size_t)system->particles,
                 kinds = (size_t)system->species_count;
    if (system->box.domain != PLUGMC_DOMAIN_PERIODIC || system->box.oblique)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "it needs a rectangular periodic box");
    s->host = host;
    s->now = host->allocate(host->context, 3 * sizeof(double) * n * walkers);
    s->then = host->allocate(host->context, 3 * sizeof(double) * n);
    s->forces = host->allocate(host->context, 3 * sizeof(double) * n);
    s->count = host->allocate(host->context, sizeof *s->count * kinds * walkers);
    s->trial = host->allocate(host->context, sizeof *s->trial * kinds);
    s->box = host->allocate(host->context, sizeof *s->box * walkers);
    if (!s->now || !s->then || !s->forces || !s->count || !s->trial || !s->box)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
    if (is(s, BEHIND_ALLOCATED)) s->forces[(3 * n + 7) / 8 * 8] = 1;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(total_state, strength, "0.1", -1e6, 1e6, "kT", "unit of energy"),
    PLUGMC_REAL_KEY(total_state, cutoff, "2", 0, 1e6, "length", "of neighbours"),
    PLUGMC_CHOICE_KEY(
        total_state, fault, "none",
        "none|half_change|no_settle|large_forces|settles_rejected|assigns|neighbouring_walker|first_box|"
        "wrong_virial|no_start|change_adds_up|wrong_sign_of_forces|wrong_removal|behind_allocated|"
        "null_pointer|endless|exits|nan_energy|forgets|fails_silently|slightly_wrong|"
        "over_temperature|first_wave|float_sum|no_images|places|nan_change|infinite_change|stale_sum|"
        "plain_virial|alone|nan_alone|by_number",
        "what is wrong"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .energy = energy,
                                   .start = start,
                                   .change = change,
                                   .settle = settle,
                                   .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT,
                                   .insert_remove = insert_remove,
                                   .displace = displace};
static const plugmc_potential potential = {.size = sizeof potential, .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "wrong_total",
              .summary = "many-body term with a fault", .reference = "",
              PLUGMC_KEYS(total_state, table), .prepare = prepare, .potential = &potential)
