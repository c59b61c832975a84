/* pair_jumps.c: finds jumps of pair energies, and lays polynomials through the pairs near them. See pair_jumps.h. */
#include "pair_jumps.h"

#include <stdlib.h>
#include <string.h>

#include <plugmc/species_pairs.h>

#include "walker_boxes.h"

enum {
    STEPS = 800,         /* first distances at which a pair energy is looked at */
    MOST_JUMPS = 100,    /* of a pair of species */
    MOST_ASKED = 400000, /* energies of a pair of species */
    DEEPEST = 64         /* halvings of a step: more than double precision has */
};

/* Two species on a rung. */
typedef struct pair_of {
    const plugmc_system *system;
    int32_t rung, a, b;
    double contact; /* length */
    int64_t asked;
} pair_of;

typedef struct jump {
    double r, before, behind; /* exp(-u) on the nearer and the farther side */
} jump;

typedef struct jumps {
    int32_t count;
    jump of[MOST_JUMPS];
} jumps;

/* exp(-u): 0 in a core and where the energy is infinite. An attraction without a floor (charges) is cut off where
 * nobody is sampled any more. */
static double boltzmann(pair_of *p, double r)
{
    p->asked++;
    if (r < p->contact) return 0;
    const double u = plugmc_energy_of_species(p->system, p->rung, p->a, p->b, r);
    return isnan(u) ? 0 : exp(-fmax(u, -60));
}

/* ---- Where they are -------------------------------------------------------------------------- */

/* The least difference of exp(-u) that matters where exp(-u) is `there`: what adds a millionth to the pressure at the
 * density of the start, and a millionth of what such pairs do to it. */
static double least_jump(const plugmc_system *system, double r, double there)
{
    const int d = system->box.dimension;
    double particles = 0;
    for (int32_t s = 0; s < system->species_count; s++) {
        const plugmc_species *species = plugmc_species_at(system, s);
        particles +=
            (double)(species->capacity > species->count ? species->capacity : species->count);
    }
    const double ball = d == 2 ? M_PI * r * r : 4 * M_PI / 3 * r * r * r;
    return fmax(1e-11, 1e-6 / fmax(1, particles / system->box.volume * ball)) +
           1e-6 * fabs(there - 1);
}

typedef struct interval {
    double low, high; /* length */
    double at[3];     /* exp(-u) at low, in the middle and at high */
} interval;

static double middle_of(double low, double high) { return low + (high - low) / 2; }

static int note_jump(const pair_of *p, const interval *i, jumps *out)
{
    if (p->contact > 0 && fabs(i->high - p->contact) <= 1e-9 * p->contact) return 1;
    if (out->count == MOST_JUMPS) return 0;
    out->of[out->count++] = (jump){i->high, i->at[0], i->at[2]};
    return 1;
}

/* Halves a step as long as the fourth difference of five points is more than what matters. It falls with the fourth
 * power of the width where the energy is smooth and with the width where it bends. Where the energy jumps it is no less
 * than the jump, so what is left when there are no numbers in between is one. Returns 0 if there are too many. */
static int look_in(pair_of *p, interval whole, jumps *out)
{
    interval stack[DEEPEST + 2];
    int depth = 0;
    stack[depth++] = whole;
    while (depth > 0) {
        const interval i = stack[--depth];
        const double middle = middle_of(i.low, i.high), near = middle_of(i.low, middle),
                     far = middle_of(middle, i.high);
        const double least = least_jump(p->system, i.high, fmax(i.at[0], i.at[2]));
        if (near <= i.low || near >= middle || far <= middle || far >= i.high) {
            if (fabs(i.at[2] - i.at[0]) > least && !note_jump(p, &i, out)) return 0;
            continue;
        }
        const double at_near = boltzmann(p, near), at_far = boltzmann(p, far);
        if (fabs(i.at[0] - 4 * at_near + 6 * i.at[1] - 4 * at_far + i.at[2]) <= least) continue;
        if (p->asked > MOST_ASKED || depth > DEEPEST) return 0;
        stack[depth++] = (interval){middle, i.high, {i.at[1], at_far, i.at[2]}};
        stack[depth++] = (interval){i.low, middle, {i.at[0], at_near, i.at[1]}};
    }
    return 1;
}

/* A little beyond the ranges, and never beyond half the box. */
static double end_of_search(const plugmc_system *system)
{
    double range = 0;
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_pair *pair = term->sampled ? term->plugin->potential->pair : NULL;
        if (pair && pair->functions & PLUGMC_PAIR_ENERGY)
            range = fmax(range, pair->range(term->instance));
    }
    return fmin(range, narrowest(&system->box) / 2) * (1 + 1e-6);
}

static int find_jumps(pair_of *p, const plugmc_host *host, jumps *out)
{
    const double end = end_of_search(p->system);
    interval i = {.high = 0.125 * end / STEPS};
    out->count = 0;
    p->contact = plugmc_contact_of_species(p->system, p->a, p->b);
    i.at[2] = boltzmann(p, i.high);
    for (int32_t k = 1; k <= STEPS; k++) {
        i = (interval){i.high, end * k / STEPS, {i.at[2], 0, 0}};
        i.at[1] = boltzmann(p, middle_of(i.low, i.high));
        i.at[2] = boltzmann(p, i.high);
        if (!look_in(p, i, out))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "the energy of a pair of '%s' and '%s' jumps at too many distances, "
                              "up to %g already, for its pressure to be measured",
                              plugmc_species_at(p->system, p->a)->name,
                              plugmc_species_at(p->system, p->b)->name, i.high);
    }
    return PLUGMC_OK;
}

/* ---- The fit --------------------------------------------------------------------------------- */

/* Distances that are fitted at, and the weight of each. */
typedef struct nodes {
    int32_t count;
    double *r, *weight;
} nodes;

/* Gauss's five points in each of PARTS equal parts of a piece without jumps. Returns whether particles can be
 * there. */
static int add_piece(pair_of *p, double low, double high, nodes *out)
{
    enum { PARTS = 24 };
    static const double at[5] = {-0.906179845938664, -0.538469310105683, 0, 0.538469310105683,
                                 0.906179845938664};
    static const double share[5] = {0.236926885056189, 0.478628670499366, 0.568888888888889,
                                    0.478628670499366, 0.236926885056189};
    const double half = (high - low) / (2 * PARTS);
    double all = 0;
    for (int k = 0; k < PARTS; k++)
        for (int i = 0; i < 5; i++) {
            const double r = low + (2 * k + 1 + at[i]) * half;
            out->r[out->count] = r;
            out->weight[out->count] =
                share[i] * half * boltzmann(p, r) * pow(r, p->system->box.dimension - 1);
            all += out->weight[out->count++];
        }
    return all > 0;
}

/* Nodes from low to high, in pieces between jumps; these become the ends of where particles can be. */
static int add_pieces(pair_of *p, const jumps *all, double *low, double *high, nodes *out)
{
    double begin = fmax(*low, p->contact), first = INFINITY, last = 0;
    const double end = *high;
    for (int32_t j = 0; j <= all->count && begin < end; j++) {
        double stop = j < all->count ? fmin(all->of[j].r, end) : end;
        if (stop <= begin) continue;
        if (add_piece(p, begin, stop, out)) {
            first = fmin(first, begin);
            last = stop;
        }
        begin = stop;
    }
    *low = first;
    *high = last;
    return last > first;
}

/* The polynomial by which pairs at t have `factor` times their least-squares value at `own`, from polynomials p_k that
 * are orthogonal with these weights: sum_k p_k(own) p_k(t) / |p_k|^2. G. E. Forsythe, J. Soc. Ind. Appl. Math. 5, 74
 * (1957). t [n]; work [2 n]. */
static void fit(const double *t, const double *weight, int32_t n, int32_t degree, double own,
                double factor, double *work, double c[JUMP_MOST_DEGREE + 1])
{
    double *p = work, *before = work + n, norm_before = 1;
    double of[2][JUMP_MOST_DEGREE + 2] = {{1}, {0}}; /* coefficients of p_k and p_(k-1) */
    double at[2] = {1, 0};                           /* and their values at `own` */
    for (int32_t i = 0; i < n; i++) p[i] = 1, before[i] = 0;
    memset(c, 0, sizeof(double) * (JUMP_MOST_DEGREE + 1));
    for (int32_t k = 0; k <= degree; k++) {
        double norm = 0, shift = 0;
        for (int32_t i = 0; i < n; i++) {
            norm += weight[i] * p[i] * p[i];
            shift += weight[i] * t[i] * p[i] * p[i];
        }
        if (!(norm > 0)) return;
        shift /= norm;
        const double ratio = k > 0 ? norm / norm_before : 0;
        for (int32_t l = 0; l <= k; l++) c[l] += factor * at[0] / norm * of[0][l];
        for (int32_t l = k + 1; l >= 0;
             l--) { /* downwards, as [l - 1] is still to be that of p_k */
            const double next = (l > 0 ? of[0][l - 1] : 0) - shift * of[0][l] - ratio * of[1][l];
            of[1][l] = of[0][l];
            of[0][l] = next;
        }
        for (int32_t i = 0; i < n; i++) {
            const double next = (t[i] - shift) * p[i] - ratio * before[i];
            before[i] = p[i];
            p[i] = next;
        }
        const double next = (own - shift) * at[0] - ratio * at[1];
        at[1] = at[0];
        at[0] = next;
        norm_before = norm;
    }
}

/* Pairs from low to high give the term of jump j. A window without particles is left empty. */
static int fit_window(pair_of *p, const plugmc_host *host, const jumps *all, int32_t j, double low,
                      double high, int32_t degree, jump_window *out)
{
    enum { OF_PIECE = 120 };
    const jump *own = &all->of[j];
    const size_t most = (size_t)(all->count + 1) * OF_PIECE;
    double *work = malloc(5 * most * sizeof *work);
    nodes n = {0, work, work + most};
    *out = (jump_window){.high = 0};
    if (!work)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu distances", most);
    if (add_pieces(p, all, &low, &high, &n)) {
        double *t = work + 2 * most;
        *out = (jump_window){low, high, (low + high) / 2, 2 / (high - low), {0}};
        for (int32_t i = 0; i < n.count; i++) t[i] = (n.r[i] - out->middle) * out->over_half;
        fit(t, n.weight, n.count, degree, (own->r - out->middle) * out->over_half,
            p->system->temperature * pow(own->r, p->system->box.dimension) *
                (own->behind - own->before),
            work + 3 * most, out->c);
    }
    free(work);
    return PLUGMC_OK;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

/* Whether there may ever be such a pair. */
static int may_meet(const plugmc_system *system, int32_t a, int32_t b)
{
    const plugmc_species *one = plugmc_species_at(system, a), *other = plugmc_species_at(system, b);
    if (system->changes & PLUGMC_CHANGED_COUNT) return 1;
    return one->count >= 1 + (a == b) && other->count >= 1;
}

/* Jumps of a pair of species are added to those that there are; *all is enlarged. */
static int add_pair(pair_jumps *v, const plugmc_host *host, pair_of *p, double fit_range,
                    pair_jump **all, jump_list *list)
{
    jumps found;
    int code = find_jumps(p, host, &found);
    *list = (jump_list){.first = v->count, .nearest = INFINITY};
    if (code || found.count == 0) return code;
    pair_jump *more = realloc(*all, (size_t)(v->count + found.count) * sizeof **all);
    if (!more) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for jumps");
    *all = more;
    for (int32_t j = 0; j < found.count && !code; j++) {
        const double r = found.of[j].r, low = r * fmax(0, 1 - fit_range),
                     high = r * (1 + fit_range);
        pair_jump *jump = more + v->count++;
        jump->at = r;
        code = fit_window(p, host, &found, j, low, high, v->degree, &jump->both);
        if (!code) code = fit_window(p, host, &found, j, low, r, v->degree, &jump->inside);
        list->count++;
        list->nearest = fmin(list->nearest, jump->both.low * jump->both.low);
        if (jump->inside.high > 0)
            list->nearest = fmin(list->nearest, jump->inside.low * jump->inside.low);
        list->farthest = fmax(list->farthest, jump->both.high * jump->both.high);
        v->reach = fmax(v->reach, jump->both.high);
    }
    return code;
}

/* The first rung with the same couplings of pairs, itself if there is none. */
static int32_t rung_like(const plugmc_system *system, int32_t rung)
{
    for (int32_t k = 0; k < rung; k++) {
        int same = 1;
        for (int32_t t = 0; t < system->term_count; t++)
            if (plugmc_term_at(system, t)->sampled &&
                plugmc_term_at(system, t)->plugin->potential->pair)
                same &= system->of_rungs[rung * system->multipliers + t] ==
                        system->of_rungs[k * system->multipliers + t];
        if (same) return k;
    }
    return rung;
}

static int add_rung(pair_jumps *v, const plugmc_host *host, int32_t rung, double fit_range,
                    pair_jump **all)
{
    const plugmc_system *system = host->system;
    const int32_t n = system->species_count;
    jump_list *lists = v->lists + rung * n * n;
    int code = PLUGMC_OK;
    for (int32_t a = 0; a < n && !code; a++)
        for (int32_t b = a; b < n && !code; b++) {
            pair_of p = {.system = system, .rung = rung, .a = a, .b = b};
            if (may_meet(system, a, b))
                code = add_pair(v, host, &p, fit_range, all, &lists[a * n + b]);
            lists[b * n + a] = lists[a * n + b];
        }
    return code;
}

/* A jump that cannot be measured in a box of this limit; NULL if there is none. */
static const pair_jump *too_wide(const pair_jumps *v, double limit)
{
    for (int32_t j = 0; j < v->count && v->reach > limit; j++) {
        const pair_jump *jump = &v->jumps[j];
        if (jump->both.high <= limit) continue;
        if (jump->inside.high > 0 && jump->inside.high <= limit * (1 + 1e-9)) continue;
        return jump;
    }
    return NULL;
}

int pair_jumps_prepare(pair_jumps *v, const plugmc_host *host, double fit_range, int64_t degree)
{
    const plugmc_system *system = host->system;
    const int32_t rungs = system->weighted ? system->rungs : 1, n = system->species_count;
    pair_jump *all = NULL;
    v->degree = (int32_t)degree;
    v->first = host->allocate(host->context, (size_t)rungs * sizeof *v->first);
    v->lists = host->allocate(host->context, (size_t)(rungs * n * n) * sizeof *v->lists);
    int code = v->first && v->lists
                   ? PLUGMC_OK
                   : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for jumps");
    for (int32_t k = 0; k < rungs && !code; k++) {
        v->first[k] = rung_like(system, k);
        if (v->first[k] == k) code = add_rung(v, host, k, fit_range, &all);
    }
    if (!code && v->count > 0) {
        v->jumps = host->allocate(host->context, (size_t)v->count * sizeof *v->jumps);
        if (v->jumps)
            memcpy(v->jumps, all, (size_t)v->count * sizeof *v->jumps);
        else
            code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for jumps");
    }
    free(all);
    const pair_jump *wide = code ? NULL : too_wide(v, jump_limit(&system->box));
    return wide ? host->fail(host->context, PLUGMC_ERROR_INPUT,
                             "the pressure of a jump of the pair energy needs pairs at "
                             "distances up to %g, more than half of the box, which is %g "
                             "wide: use a wider box or a smaller fit_range",
                             wide->both.high, 2 * jump_limit(&system->box))
                : code;
}

/* ---- What measurements ask ------------------------------------------------------------------- */

int pair_jumps_check(const pair_jumps *v, const plugmc_host *host, const plugmc_view *view)
{
    for (int32_t w = 0; w < host->system->walkers && v->count > 0; w++) {
        const double limit = jump_limit(&view->box[w]);
        const pair_jump *wide = too_wide(v, limit);
        if (!wide) continue;
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "the box of walker %d has shrunk to %g: the pressure of a jump of "
                          "the pair energy needs pairs at distances up to %g, more than half "
                          "of the box",
                          w, 2 * limit, wide->both.high);
    }
    return PLUGMC_OK;
}

jump_task pair_jumps_task(const pair_jumps *v, const plugmc_system *system, int32_t rung)
{
    const int32_t n = system->species_count;
    return (jump_task){.lists = v->lists + v->first[rung] * n * n,
                       .jumps = v->jumps,
                       .species_count = n,
                       .degree = v->degree};
}
