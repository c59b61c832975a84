/* Changes as movers hear them of the core (energy/hamiltonian.h), against energies of whole configurations before and
 * after. Proposals are accepted as in a simulation, so that configurations stay such as are met; some are rejected all
 * the same, and the next change must not know of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "checks.h"

/* Made however long they take. */
enum { LEAST_MOVES = 40, LEAST_COMPARISONS = 4, MOST_REFUSALS = 20 };
/* Particles that are displaced together. */
enum { TOGETHER = 3 };

typedef struct chain {
    stand *stand;
    hamiltonian *h;
    const plugmc_system *system;
    findings *findings;
    /* Of all walkers, when they were compared last, and now. */
    whole *before, *now;
    /* [walkers]: sums of accepted changes since the beginning, and how many; energies then. */
    double *sum, *first;
    int64_t accepted;
    /* Refused displacements that were compared. */
    int refusals;
    /* Of one proposal. */
    double *change, delta, (*position)[3];
    int32_t particle, other, species, forbidden, members[TOGETHER];
    const char *what; /* "particle moves" */
} chain;

static int begin(chain *c, stand *s, findings *f, const char *what)
{
    const plugmc_system *system = &s->session.engine.system;
    const size_t walkers = (size_t)system->walkers;
    *c = (chain){.stand = s,
                 .h = &s->session.engine.current.hamiltonian,
                 .system = system,
                 .findings = f,
                 .what = what};
    c->before = checked(calloc(walkers, sizeof *c->before));
    c->now = checked(calloc(walkers, sizeof *c->now));
    c->sum = checked(calloc(walkers, sizeof *c->sum));
    c->first = checked(calloc(walkers, sizeof *c->first));
    c->change = checked(calloc(walkers * (size_t)system->term_count + 1, sizeof *c->change));
    c->position = checked(calloc(TOGETHER, sizeof *c->position));
    return hamiltonian_refresh(c->h, s->host);
}

static void end(chain *c)
{
    free(c->before), free(c->now), free(c->sum), free(c->first), free(c->change), free(c->position);
}

/* Energies of all walkers as they are. */
static int look(chain *c, whole *out, plugmc_view *view)
{
    *view = (plugmc_view){.size = sizeof *view};
    int code = hamiltonian_view(c->h, c->stand->host, view);
    return code ? code : whole_energies(c->stand, view, out);
}

/* What two numbers may differ by that should be one. Meshes are not exact: as engine/total_check.c. */
static double allowed(const chain *c, int32_t w, double a, double b, double moves)
{
    const double size = c->before[w].size + c->now[w].size;
    const double exact = 1e-10 * size + 1e-9 * fmax(fabs(a), fabs(b)) + 1e-12;
    if (!stand_total(c->stand)) return exact * sqrt(moves);
    return 0.02 * fmax(fabs(a), fabs(b)) +
           2e-3 * sqrt(moves) * size / (double)c->system->particles + exact;
}

static plugmc_changes proposal(chain *c, int kind, int32_t w)
{
    return (plugmc_changes){.size = sizeof(plugmc_changes),
                            .kind = kind,
                            .first = w,
                            .walkers = 1,
                            .per_walker = 1,
                            .particle = kind == PLUGMC_GROUP_DISPLACED ? c->members : &c->particle,
                            .group = kind == PLUGMC_GROUP_DISPLACED ? TOGETHER : 0,
                            .other = &c->other,
                            .species = &c->species,
                            .position = (const double(*)[3])c->position,
                            .change = c->change,
                            .forbidden = &c->forbidden,
                            .delta = &c->delta};
}

/* Change of -ln p, by which proposals are accepted. Activities are left out, as they would empty a box or fill it, where
 * nothing can be compared. */
static double weight_of(const chain *c, int kind, double change)
{
    const double kT = c->system->temperature;
    const bool numbers =
        kind == PLUGMC_INSERTED || kind == PLUGMC_REMOVED || kind == PLUGMC_IDENTITY;
    return numbers ? change / (isfinite(kT) ? kT : 1) : c->delta;
}

/* Of a sphere, where the box itself forbids a position. */
static bool is_outside(const plugmc_box *box, const double r[3])
{
    return box->domain == PLUGMC_DOMAIN_SPHERE &&
           r[0] * r[0] + r[1] * r[1] + r[2] * r[2] > box->radius * box->radius;
}

/* A displacement in walker w that `energies` forbids, or gives an infinite energy: that of the whole configuration must
 * be infinite, too. Before it is settled. */
static int compare_refusal(chain *c, int32_t w, double change)
{
    const size_t numbers = 3 * (size_t)(c->system->walkers * c->system->particles);
    const whole *after = &c->now[w];
    plugmc_view view, moved = {.size = sizeof moved};
    int code = look(c, c->before, &view);
    if (code || !isfinite(c->before[w].energy) || is_outside(&view.box[w], *c->position))
        return code;
    double *positions = checked(malloc(numbers * sizeof *positions)),
           *own = positions + 3 * (w * c->system->particles + c->particle);
    memcpy(positions, view.positions, numbers * sizeof *positions);
    memcpy(own, *c->position, 3 * sizeof *own);
    plugmc_wrap(&view.box[w], own);
    code = c->stand->host->view(c->stand->host->context, positions, 0, &moved);
    moved.box = view.box;
    moved.count = view.count;
    if (!code) code = whole_energies(c->stand, &moved, c->now);
    c->refusals++;
    if (!code && after->energy < 1e30)
        check_value(
            c->findings, INFINITY,
            "the change of the energy is %g when particle %lld of walker %d moves to %.6g %.6g "
            "%.6g, %sbut the energies of the whole configurations before and after are %.9g and "
            "%.9g: such moves would all be refused; %s",
            change, (long long)c->particle, w, own[0], own[1], own[2],
            c->forbidden ? "where it may not be, " : "", c->before[w].energy, after->energy,
            stand_total(c->stand) ? "correct `change` of the many-body term, or its energy"
                                  : "correct pair_change, or the energy");
    free(positions);
    return code;
}

/* A change of walker w that is decided, and compared with whole energies if `compares`. */
static int try_change(chain *c, int kind, int32_t w, bool compares, bool *took)
{
    const plugmc_host *host = c->stand->host;
    const plugmc_changes p = proposal(c, kind, w);
    plugmc_view view;
    int code = compares ? look(c, c->before, &view) : PLUGMC_OK;
    if (!code) code = hamiltonian_energies(c->h, host, &p);
    if (code) return code;
    const double change = c->change[stand_term(c->stand) - c->stand->session.engine.terms];
    const double delta = weight_of(c, kind, change);
    const bool possible = !c->forbidden && isfinite(c->delta),
               own = c->forbidden ? c->system->term_count == 1 : isinf(change);
    if (!possible && own && compares && kind == PLUGMC_DISPLACED && c->refusals < MOST_REFUSALS)
        code = compare_refusal(c, w, change);
    if (code) return code;
    const bool good = possible && stand_uniform(c->stand) < 0.8;
    *took = good && (delta <= 0 || stand_uniform(c->stand) < exp(-delta));
    const int64_t taken = *took ? 0 : -1;
    code = hamiltonian_settle(c->h, host, &p, &taken);
    if (*took) c->sum[w] += change, c->accepted++;
    if (!c->forbidden && isnan(change))
        check_value(c->findings, NAN,
                    "the change is not a number when a %s: energies must be "
                    "numbers, or +infinity where nothing can be",
                    c->what);
    if (!compares || !*took || code) return code;
    code = look(c, c->now, &view);
    const double found = c->now[w].energy - c->before[w].energy;
    if (isnan(c->now[w].energy))
        check_value(c->findings, NAN,
                    "the energy of the whole configuration of walker %d is not a number after a %s",
                    w, c->what);
    check_value(c->findings, fabs(change - found) / allowed(c, w, change, found, 1),
                "the energy changes by %.9g when a %s in walker %d, but the energies of the whole "
                "configurations before and after differ by %.9g: %s",
                change, c->what, w, found,
                kind == PLUGMC_GROUP_DISPLACED
                    ? "correct `displace` or `settle` of the many-body term"
                : stand_total(c->stand)
                    ? "correct `change` or `settle` of the many-body term, or its energy"
                    : "the energy of a pair must depend on these two particles alone");
    return code;
}

/* What accepted changes have added up to. */
static int compare_sums(chain *c)
{
    plugmc_view view;
    int code = look(c, c->now, &view);
    for (int32_t w = 0; w < c->system->walkers && !code; w++) {
        if (isinf(c->first[w])) {
            check_leave(
                c->findings,
                "the energy of walker %d is infinite where the run begins: give FILE.ini with "
                "another configuration",
                w);
            return code;
        }
        const double found = c->now[w].energy - c->first[w], n = (double)c->accepted + 1;
        c->before[w] = c->now[w];
        check_value(c->findings, fabs(c->sum[w] - found) / allowed(c, w, c->sum[w], found, n),
                    "%lld changes add up to %.9g in walker %d, but its energy has changed by %.9g: "
                    "what `settle` keeps departs from the configuration",
                    (long long)c->accepted, c->sum[w], w, found);
    }
    return code;
}

/* A proposal in walker w; false: there is none. */
typedef bool draw_proposal(chain *, int32_t w, int *kind);

static int run_chain(const target *t, chain *c, draw_proposal *draw, int64_t moves)
{
    const double start = stand_clock(), budget = t->quick ? 1 : 60;
    const int comparisons = t->quick ? 12 : 200;
    int compared = 0;
    plugmc_view view;
    int code = look(c, c->now, &view);
    for (int32_t w = 0; w < c->system->walkers && !code; w++) c->first[w] = c->now[w].energy;
    for (int64_t k = 0; k < moves && !code; k++) {
        const int32_t w = (int32_t)(k % c->system->walkers);
        int kind;
        bool took = false;
        if (k >= LEAST_MOVES && stand_clock() - start > budget) break;
        if (!draw(c, w, &kind)) continue;
        const bool compares = compared < LEAST_COMPARISONS ||
                              (compared < comparisons && stand_clock() - start < 0.6 * budget);
        code = try_change(c, kind, w, compares, &took);
        compared += took && compares;
    }
    if (!code) code = compare_sums(c);
    if (!code && !c->accepted)
        check_leave(c->findings,
                    "no proposal was accepted: give FILE.ini with a less dense system");
    return code;
}

/* ---- Proposals ------------------------------------------------------------------------------- */

static int64_t one_of(chain *c, int32_t w, int32_t species)
{
    const int64_t n = c->h->walkers[w].now.counts[species];
    return n < 1 ? -1 : c->system->first[species] + stand_below(c->stand, n);
}

static bool draw_displacement(chain *c, int32_t w, int *kind)
{
    const configuration *now = &c->h->walkers[w].now;
    const double step = 0.3 * stand_distance(c->system, &now->box);
    c->particle = (int32_t)one_of(c, w, (int32_t)stand_below(c->stand, c->system->species_count));
    if (c->particle < 0) return false;
    configuration_place(now, c->particle, *c->position);
    for (int d = 0; d < now->box.dimension; d++)
        (*c->position)[d] += step * stand_symmetric(c->stand);
    *kind = PLUGMC_DISPLACED;
    return true;
}

/* Different particles, each by a step of its own. */
static bool draw_group(chain *c, int32_t w, int *kind)
{
    const configuration *now = &c->h->walkers[w].now;
    const double step = 0.2 * stand_distance(c->system, &now->box);
    for (int k = 0; k < TOGETHER; k++) {
        const int32_t species = (int32_t)stand_below(c->stand, c->system->species_count);
        c->members[k] = (int32_t)one_of(c, w, species);
        if (c->members[k] < 0) return false;
        for (int l = 0; l < k; l++)
            if (c->members[l] == c->members[k]) return false;
        configuration_place(now, c->members[k], c->position[k]);
        for (int d = 0; d < now->box.dimension; d++)
            c->position[k][d] += step * stand_symmetric(c->stand);
    }
    *kind = PLUGMC_GROUP_DISPLACED;
    return true;
}

static bool draw_swap(chain *c, int32_t w, int *kind)
{
    const int32_t n = c->system->species_count, a = (int32_t)stand_below(c->stand, n);
    c->particle = (int32_t)one_of(c, w, a);
    c->other = (int32_t)one_of(c, w, (a + 1 + (int32_t)stand_below(c->stand, n - 1)) % n);
    *kind = PLUGMC_SWAPPED;
    return c->particle >= 0 && c->other >= 0;
}

static bool draw_insertion(chain *c, int32_t w, int *kind)
{
    const int32_t s = (int32_t)stand_below(c->stand, c->system->species_count);
    const int64_t choice = stand_below(c->stand, 3);
    c->species = s;
    c->particle = (int32_t)one_of(c, w, s);
    *kind = choice == 0 ? PLUGMC_INSERTED : choice == 1 ? PLUGMC_REMOVED : PLUGMC_IDENTITY;
    if (choice == 2) {
        if (c->system->species_count < 2) return false;
        c->species = (s + 1) % c->system->species_count;
    }
    stand_position(c->stand, &c->h->walkers[w].now.box, *c->position);
    return choice == 0 || c->particle >= 0;
}

static int64_t moves_of(const target *t) { return t->quick ? 1000 : 100000; }

static int check_chain(const target *t, stand *s, findings *f, draw_proposal *draw,
                       const char *name, const char *what)
{
    chain c;
    check_begin(
        f, name, 1,
        "changes of the energy with energies of whole configurations, one by one and summed "
        "over up to %lld proposals; allowed 1e-9, with a many-body term 2 %%",
        (long long)moves_of(t));
    int code = begin(&c, s, f, what);
    if (!code) code = run_chain(t, &c, draw, moves_of(t));
    end(&c);
    return code;
}

int scramble(stand *s)
{
    chain c;
    findings *unused = checked(calloc(1, sizeof *unused));
    check_begin(unused, "scramble", 1, "%s", "");
    int code = begin(&c, s, unused, "particle moves");
    const double start = stand_clock();
    for (int64_t k = 0; k < 20 * s->session.engine.system.particles && !code; k++) {
        const int32_t w = (int32_t)(k % s->session.engine.system.walkers);
        int kind;
        bool took;
        if (k >= 2 * LEAST_MOVES && stand_clock() - start > 0.5) break;
        if (draw_displacement(&c, w, &kind)) code = try_change(&c, kind, w, false, &took);
    }
    end(&c), free(unused);
    return code;
}

/* The state is as it was at the beginning, and is loaded once more. */
int check_restart(const target *t, stand *s, findings *f)
{
    hamiltonian *h = &s->session.engine.current.hamiltonian;
    chain c;
    if (!stand_total(s) || !h->has_totals) {
        check_not_covered(f, "started again", "there is no many-body term");
        return 0;
    }
    check_begin(
        f, "started again", 1,
        "changes of the energy after positions were changed behind its back and `start` was "
        "called again, with energies of whole configurations");
    int code = scramble(s);
    if (!code)
        code = hamiltonian_load(h, s->host, &s->session.engine.current.state.face, ~(uint32_t)0);
    if (!code) code = begin(&c, s, f, "particle moves after `start` was called again");
    if (!code) code = run_chain(t, &c, draw_displacement, 100);
    if (!code) end(&c);
    return code;
}

/* Changes of trial moves that are not made, by the many-body term itself; always the same ones. */
static int ask_trials(chain *c, double *out, int trials)
{
    const plugmc_total *total = stand_total(c->stand);
    const uint64_t draws = c->stand->draws;
    int code = PLUGMC_OK;
    context_calling(&c->stand->own->context, "change");
    for (int k = 0; k < trials && !code; k++) {
        const int32_t w = k % c->system->walkers;
        int kind;
        out[k] = 0;
        if (!draw_displacement(c, w, &kind)) continue;
        plugmc_wrap(&c->h->walkers[w].now.box, *c->position);
        code = total->change(c->stand->own->data, w, c->particle, *c->position, &out[k]);
        if (!code) code = total->settle(c->stand->own->data, w, 0);
    }
    crash_called();
    c->stand->draws = draws;
    return code;
}

/* Why a change with what is kept is not that after `start`: sums of doubles are rounded in the order of moves, to 1e-16 of
 * the energy each time; what is off by more has been forgotten. */
static void compare_kept(chain *c, const double *kept, const double *anew, int trials)
{
    for (int k = 0; k < trials; k++) {
        const whole *now = &c->now[k % c->system->walkers];
        const double away = fabs(kept[k] - anew[k]);
        if (!memcmp(&kept[k], &anew[k], sizeof *kept)) continue;
        check_fail(
            c->findings,
            "a trial move changes the energy by %.17g with what `settle` has kept, and by %.17g "
            "after `start` with the same positions, which a resumed run calls: %s",
            kept[k], anew[k],
            away <= 1e-11 * (now->size + fabs(kept[k]))
                ? "sums are rounded otherwise in another order of moves; add up integers "
                  "(llrint(ldexp(x, 40))), whose sum does not depend on it, or save sums by `archive`"
                : "that is more than the rounding of doubles; `settle` has to keep all that `change` has "
                  "computed, the sums as well as the position, and `start` to set all of it");
    }
}

/* A resumed run calls `start`, and one that nothing disturbs goes on with what `settle` has kept: both must make the
 * same chain, bit for bit. */
int check_kept(const target *t, stand *s, findings *f)
{
    enum { TRIALS = 24 };
    const plugmc_total *total = stand_total(s);
    double kept[TRIALS], anew[TRIALS];
    chain c;
    if (!total || !total->change || !total->start || s->own->plugin->archive) {
        check_not_covered(f, "kept sums",
                          !total || !total->change ? "there is no many-body term with `change`"
                                                   : "what it keeps is in `archive`");
        return 0;
    }
    check_begin(
        f, "kept sums", NAN,
        "changes of the energy with what `settle` has kept of accepted moves, and after `start` with "
        "the same positions; bit for bit");
    int code = begin(&c, s, f, "particle moves");
    const double start = stand_clock();
    for (int k = 0; k < (t->quick ? 400 : 20000) && !code; k++) {
        int kind;
        bool took;
        const int32_t w = k % c.system->walkers;
        if (k >= LEAST_MOVES && stand_clock() - start > (t->quick ? 0.3 : 10)) break;
        if (draw_displacement(&c, w, &kind)) code = try_change(&c, kind, w, false, &took);
    }
    if (!code) code = ask_trials(&c, kept, TRIALS);
    if (!code) code = hamiltonian_start_totals(c.h, s->host);
    if (!code) code = ask_trials(&c, anew, TRIALS);
    plugmc_view view;
    if (!code) code = look(&c, c.now, &view);
    if (!code) compare_kept(&c, kept, anew, TRIALS);
    end(&c);
    return code;
}

int check_displacements(const target *t, stand *s, findings *f)
{
    return check_chain(t, s, f, draw_displacement, "displacements", "particle moves");
}

int check_swaps(const target *t, stand *s, findings *f)
{
    if (s->session.engine.system.species_count < 2) {
        check_not_covered(f, "swaps", "there is one species");
        return 0;
    }
    return check_chain(t, s, f, draw_swap, "swaps", "pair of particles swaps positions");
}

int check_displaced_together(const target *t, stand *s, findings *f)
{
    const plugmc_total *total = stand_total(s);
    const char *name = "displaced together";
    if (!total || !PLUGMC_HAS(total, displace) || !total->displace) {
        check_not_covered(f, name, "there is no many-body term with `displace`");
        return 0;
    }
    return check_chain(t, s, f, draw_group, name, "group of particles is displaced");
}

int check_insertions(const target *t, stand *s, findings *f)
{
    return check_chain(t, s, f, draw_insertion, "insertions and removals",
                       "particle is inserted, removed or becomes another species");
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Each walker in a box near its first one, and not smaller: none goes far away, which meshes and ranges could not follow,
 * and a range of half the box still fits. */
static int try_boxes(chain *c, const plugmc_box *first, plugmc_box *boxes, bool takes)
{
    const plugmc_host *host = c->stand->host;
    int32_t forbidden[c->system->walkers];
    int64_t taken[c->system->walkers];
    plugmc_view view;
    plugmc_changes p = proposal(c, PLUGMC_RESCALED, 0);
    p.walkers = c->system->walkers;
    p.box = boxes;
    p.forbidden = forbidden;
    p.delta = NULL;
    int code = look(c, c->before, &view);
    for (int32_t w = 0; w < c->system->walkers && !code; w++) {
        const double ratio = exp(0.02 * stand_uniform(c->stand));
        double factor[3] = {ratio, ratio, ratio};
        boxes[w] = first[w];
        if (!boxes[w].oblique) factor[stand_below(c->stand, boxes[w].dimension)] *= 1.003;
        if (boxes[w].domain == PLUGMC_DOMAIN_PERIODIC) plugmc_scale_box(&boxes[w], factor);
    }
    if (!code) code = hamiltonian_energies(c->h, host, &p);
    double change[c->system->walkers];
    for (int32_t w = 0; w < c->system->walkers && !code; w++) {
        change[w] = c->change[w * c->system->term_count +
                              (stand_term(c->stand) - c->stand->session.engine.terms)];
        taken[w] = takes && !forbidden[w] ? 0 : -1;
    }
    if (!code) code = hamiltonian_settle(c->h, host, &p, taken);
    if (!code) code = look(c, c->now, &view);
    for (int32_t w = 0; w < c->system->walkers && !code; w++) {
        const double found = c->now[w].energy - c->before[w].energy;
        if (taken[w] < 0) continue;
        c->accepted++;
        check_value(
            c->findings, fabs(change[w] - found) / allowed(c, w, change[w], found, 1),
            "the energy changes by %.9g when the box of walker %d changes, but the energies "
            "of the whole configurations differ by %.9g: the potential must read the box of "
            "the view, not the one of the beginning",
            change[w], w, found);
    }
    return code;
}

int check_boxes(const target *t, stand *s, findings *f)
{
    chain c;
    const int rounds = t->quick ? 12 : 300;
    check_begin(f, "other boxes", 1,
                "changes of the energy in %d other boxes with energies of whole configurations",
                rounds);
    int code = scramble(s);
    if (!code) code = begin(&c, s, f, "box changes");
    if (code) return code;
    const size_t walkers = (size_t)c.system->walkers;
    plugmc_box *boxes = checked(calloc(walkers, sizeof *boxes)),
               *first = checked(calloc(walkers, sizeof *first));
    for (size_t w = 0; w < walkers; w++) first[w] = c.h->walkers[w].now.box;
    const double start = stand_clock(), budget = t->quick ? 1 : 30;
    for (int k = 0; k < rounds && !code; k++)
        if (k < LEAST_COMPARISONS || stand_clock() - start < budget)
            code = try_boxes(&c, first, boxes, k % 3 != 2);
    if (!code && !c.accepted) check_leave(f, "hard cores overlap in all other boxes");
    end(&c), free(boxes), free(first);
    return code;
}
