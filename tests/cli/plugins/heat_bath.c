/* heat_bath: a particle looks at `places` places at once, its own and others anywhere in the box, and goes to one of
 * them with the probability that its weight has among all: what `energies` answers for many proposals a walker, also
 * beside sums over waves. Every answer is compared with that of the proposal alone.
 *
 * Walker w in sweep s: trial t takes particle plugmc_below(word[2]) of plugmc_draw(seed, s, w, t, TRIAL, 255), its place
 * k from plugmc_draw(seed, s, w, t, TRIAL, k), and the choice from plugmc_draw(seed, s, w, t, ACCEPT, 0). */
#include <math.h>
#include <plugmc/everything.h>

enum { MOST = 16, MOST_TERMS = 16 };

typedef struct heat_bath {
    int64_t places, trials;
} heat_bath;

/* Of one walker. */
typedef struct looks {
    int32_t particle[MOST], forbidden[MOST];
    double position[MOST][3], growth[MOST], change[MOST * MOST_TERMS];
} looks;

static plugmc_changes changes_of(looks *l, int32_t walker, int64_t first, int64_t n)
{
    return (plugmc_changes){.size = sizeof(plugmc_changes),
                            .kind = PLUGMC_DISPLACED,
                            .first = walker,
                            .walkers = 1,
                            .per_walker = n,
                            .particle = l->particle + first,
                            .position = (const double(*)[3])(l->position + first),
                            .change = l->change + first * MOST_TERMS,
                            .forbidden = l->forbidden + first,
                            .delta = l->growth + first};
}

/* Each alone has to have the answer that it has among all. */
static int compare(const plugmc_host *host, const looks *all, int32_t walker, int64_t n)
{
    const int64_t none = -1;
    for (int64_t k = 0; k < n; k++) {
        looks one = *all;
        const plugmc_changes alone = changes_of(&one, walker, k, 1);
        int code = plugmc_hamiltonian_of(host)->energies(host->context, &alone);
        if (!code) code = plugmc_hamiltonian_of(host)->settle(host->context, &alone, &none);
        if (code) return code;
        if (one.forbidden[k] != all->forbidden[k] ||
            (!one.forbidden[k] &&
             !(fabs(one.growth[k] - all->growth[k]) < 1e-9 * (1 + fabs(one.growth[k])))))
            return host->fail(host->context, PLUGMC_ERROR_STATE,
                              "place %lld of walker %d: %.17g among others, %.17g alone",
                              (long long)k, walker, all->growth[k], one.growth[k]);
    }
    return PLUGMC_OK;
}

static int64_t choose(const looks *l, int64_t n, double u)
{
    double sum = 1; /* of where it is */
    for (int64_t k = 0; k < n; k++) sum += l->forbidden[k] ? 0 : exp(-l->growth[k]);
    double left = u * sum;
    for (int64_t k = 0; k < n; k++) {
        left -= l->forbidden[k] ? 0 : exp(-l->growth[k]);
        if (left < 0) return k;
    }
    return -1;
}

static int try_places(const heat_bath *h, const plugmc_host *host, uint64_t sweep, int32_t w,
                      uint32_t t)
{
    const plugmc_box *box = &host->system->box;
    const int64_t n = h->places - 1;
    const uint32_t walker = (uint32_t)w;
    plugmc_random random = plugmc_draw(host->seed, sweep, walker, t, PLUGMC_PURPOSE_TRIAL, 255);
    const int32_t particle =
        (int32_t)plugmc_below(random.word[2], (uint32_t)host->system->particles);
    looks l;
    for (int64_t k = 0; k < n; k++) {
        random = plugmc_draw(host->seed, sweep, walker, t, PLUGMC_PURPOSE_TRIAL, (uint32_t)k);
        l.particle[k] = particle;
        for (int d = 0; d < 3; d++)
            l.position[k][d] = d < box->dimension ? random.word[d] * 0x1p-32 * box->length[d] : 0;
    }
    const plugmc_changes all = changes_of(&l, w, 0, n);
    /* terms lie one after the other: rows are as long as there are terms */
    int code = plugmc_hamiltonian_of(host)->energies(host->context, &all);
    random = plugmc_draw(host->seed, sweep, walker, t, PLUGMC_PURPOSE_ACCEPT, 0);
    const int64_t taken = choose(&l, n, plugmc_uniform_double(random.word[0], random.word[1]));
    plugmc_hamiltonian_of(host)->count(host->context, 0, w, taken >= 0);
    if (code) return code;
    if (sweep % 7 == 0) { /* nothing is taken, then it is asked alone, then again */
        const int64_t none = -1;
        code = plugmc_hamiltonian_of(host)->settle(host->context, &all, &none);
        if (!code) code = compare(host, &l, w, n);
        if (!code) code = plugmc_hamiltonian_of(host)->energies(host->context, &all);
    }
    return code ? code : plugmc_hamiltonian_of(host)->settle(host->context, &all, &taken);
}

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    const heat_bath *h = instance;
    int code = PLUGMC_OK;
    for (uint64_t s = first; s < first + n && !code; s++)
        for (int32_t w = 0; w < host->system->walkers && !code; w++)
            for (int64_t t = 0; t < h->trials && !code; t++)
                code = try_places(h, host, s, w, (uint32_t)t);
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    (void)instance;
    return host->system->term_count <= MOST_TERMS
               ? PLUGMC_OK
               : host->fail(host->context, PLUGMC_ERROR_INPUT, "too many potentials");
}

static const plugmc_parameter table[] = {
    PLUGMC_INTEGER_KEY(heat_bath, places, "4", 2, MOST, "", "to choose from, its own among them"),
    PLUGMC_INTEGER_KEY(heat_bath, trials, "1", 1, 1000, "", "a walker and sweep"),
};

static const plugmc_move moves[] = {
    {.name = "choice", .doc = "a particle goes to one of some places"}};

PLUGMC_PLUGIN(.name = "heat_bath", .summary = "a particle goes to one of some places",
              .reference = "", PLUGMC_KEYS(heat_bath, table),
              PLUGMC_MOVER_WITH(moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
                                .changes = PLUGMC_CHANGED_POSITION, .sweep = sweep),
              .prepare = prepare)
