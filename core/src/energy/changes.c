/* Energies of a configuration and of what is proposed to it. */
#include <math.h>
#include <string.h>

#include "energy/groups.h"
#include "energy/insertions.h"
#include "energy/molecule_trials.h"
#include "energy/on_device.h"
#include "energy/parts.h"
#include "energy/running.h"
#include "energy/totals.h"
#include "energy/whole.h"
#include "system/molecule_kinds.h"
#include "system/skew.h"

/* ---- Changes of particles ------------------------------------------------------------------------ */

/* Particle p->i goes to `to`, as if p->j were not there. Returns whether it cannot. */
static bool parts_change(const hamiltonian *h, walker_energy *e, const probe *p, const double to[3],
                         const plugmc_orientation *turn, double *change)
{
    return !configuration_inside(&e->now, to) || close_change(h, e, p, to, turn, change) ||
           (h->has_far && far_energy(h, &e->now, p, to, change));
}

static int displaced(const hamiltonian *h, walker_energy *e, int32_t w, int64_t i,
                     const double to[3], const plugmc_orientation *turn, double *change,
                     int32_t *forbidden)
{
    const plugmc_orientation *turned = configuration_orientation(&e->now, i);
    double at[3], there[3] = {to[0], to[1], to[2]};
    configuration_place(&e->now, i, at);
    plugmc_wrap(&e->now.box, there);
    const probe p = {i, -1, -1, e->now.all.species[i], at, turned};
    *forbidden = parts_change(h, e, &p, there, turn ? turn : turned, change);
    e->asked = h->has_totals && !*forbidden;
    return e->asked ? totals_displaced(h, e, w, i, there, change) : PLUGMC_OK;
}

/* Where bodies swap positions, their separation changes its sign, and so their own pair does, too. Returns whether they
 * overlap. */
static bool swapped_pair(const hamiltonian *h, walker_energy *e, const probe *one,
                         const probe *other, double *change)
{
    const int terms = h->system->term_count;
    const probe there = {-1, -1, -1, one->species, other->at, one->turned},
                here = {-1, -1, -1, other->species, one->at, other->turned};
    double before[terms + 1];
    memset(before, 0, sizeof before);
    if (parts_between(h, &e->now, &there, &here, change)) return true;
    parts_between(h, &e->now, one, other, before);
    for (int t = 0; t < terms; t++) change[t] -= before[t];
    return false;
}

/* The distance of the two stays, and a pair has no order, so their own pair does not change, but for that of bodies. A
 * total sees one after the other go. */
static int swapped(const hamiltonian *h, walker_energy *e, int32_t w, int64_t i, int64_t j,
                   double *change, int32_t *forbidden)
{
    double at_i[3], at_j[3];
    configuration_place(&e->now, i, at_i);
    configuration_place(&e->now, j, at_j);
    const plugmc_orientation *turned_i = configuration_orientation(&e->now, i),
                             *turned_j = configuration_orientation(&e->now, j);
    const probe one = {i, j, -1, e->now.all.species[i], at_i, turned_i},
                other = {j, i, -1, e->now.all.species[j], at_j, turned_j};
    *forbidden = i == j || parts_change(h, e, &one, at_j, turned_i, change) ||
                 parts_change(h, e, &other, at_i, turned_j, change);
    if (h->system->bodies && !*forbidden) *forbidden = swapped_pair(h, e, &one, &other, change);
    e->asked = h->has_totals && !*forbidden;
    if (!e->asked) return PLUGMC_OK;
    int code = totals_displaced(h, e, w, i, at_j, change);
    if (!code) code = totals_settle(h, e, w, 1);
    return code ? code : totals_displaced(h, e, w, j, at_i, change);
}

/* ---- Whole configurations ------------------------------------------------------------------------ */

/* Totals of all walkers of a view, which are asked together: of what is proposed, or of the walkers as
 * they are, unless their energies are known. */
static int add_totals(hamiltonian *h, const plugmc_view *view, bool proposed)
{
    int code = PLUGMC_OK;
    for (int k = 0; k < h->count && !code; k++) {
        const energy_term *t = &h->terms[k];
        const plugmc_total_request request = {
            .size = sizeof request, .view = view, .energy = h->sums};
        if (!t->total) continue;
        memset(h->sums, 0, sizeof(double) * (size_t)h->system->walkers);
        code = t->total->energy(t->of->instance, &request);
        for (int32_t w = 0; w < h->system->walkers && !code; w++) {
            walker_energy *e = &h->walkers[w];
            if (proposed) e->proposed[t->index] += h->sums[w];
            if (!proposed && !e->known) e->energy[t->index] += h->sums[w];
        }
    }
    return code;
}

bool hamiltonian_is_of_hard_cores(const hamiltonian *h)
{
    return !h->old_energies && !h->has_far && !h->any_total;
}

/* All that are not known are found together. */
static int find_energies(hamiltonian *h, const plugmc_host *host)
{
    const int threads = h->system->threads > 1 ? h->system->threads : 1;
    plugmc_view view = {.size = sizeof view};
    if (hamiltonian_is_of_hard_cores(h)) return PLUGMC_OK;
    if (host->gpu) return on_device_find(h, host);
    int code = hamiltonian_refresh(h, host);
    if (code) return code;
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int32_t w = 0; w < h->system->walkers; w++)
        if (!h->walkers[w].known) whole_energy(h, &h->walkers[w].now, h->walkers[w].energy);
    if (h->any_total) code = hamiltonian_view(h, host, &view);
    if (h->any_total && !code) code = add_totals(h, &view, false);
    for (int32_t w = 0; w < h->system->walkers && !code; w++) h->walkers[w].known = true;
    return code;
}

int hamiltonian_energy(hamiltonian *h, const plugmc_host *host, int32_t w, const double **energy)
{
    const int code = h->walkers[w].known ? PLUGMC_OK : find_energies(h, host);
    double *behind = &h->walkers[w].energy[h->system->term_count];
    *behind++ = h->walkers[w].now.box.volume;
    for (int32_t s = 0; s < h->system->species_count; s++)
        *behind++ = (double)h->walkers[w].now.counts[s];
    *energy = h->walkers[w].energy;
    return code;
}

void hamiltonian_energy_anew(hamiltonian *h, int32_t w, double *energy)
{
    configuration *now = &h->walkers[w].now;
    whole_energy(h, now, energy);
    for (int k = 0; k < h->count; k++) {
        const energy_term *t = &h->terms[k];
        if (t->total && !t->total_moves && PLUGMC_HAS(t->total, of_counts) && t->total->of_counts)
            energy[t->index] += t->total->of_counts(t->of->instance, &now->box, now->counts);
    }
}

void changes_weigh(const hamiltonian *h, const plugmc_changes *c, int32_t w, int64_t p,
                   double volume)
{
    const int terms = h->system->term_count;
    const double *multiplier = &h->multipliers[(int64_t)w * h->width],
                 *of_species = multiplier + terms + 1, *change = &c->change[p * terms];
    if (!PLUGMC_HAS(c, delta) || !c->delta) return;
    double sum = multiplier[terms] * volume;
    for (int32_t s = 0; s < h->system->species_count && c->kind >= PLUGMC_INSERTED; s++) {
        const int64_t more = count_change(h, c, w, p, s);
        if (more) sum += (double)more * of_species[s];
    }
    for (int k = 0; k < h->count; k++) {
        const int t = h->terms[k].index;
        if (multiplier[t] != 0) sum += multiplier[t] * change[t]; /* else it may be infinite */
    }
    c->delta[p] = sum;
}

enum { FEW_WALKERS = 256 };

int hamiltonian_threads(const hamiltonian *h)
{
    const plugmc_system *system = h->system;
    return system->walkers < FEW_WALKERS || system->threads < 1 ? 1 : system->threads;
}

/* ---- Another box --------------------------------------------------------------------------------- */

/* Where running energies are less certain than that in -ln p, fresh sums are made at once. */
static const double LARGEST_DOUBT = 0.01;

/* A pair in reach has one image alone if half the box holds the range; hard cores take the nearest. */
bool hamiltonian_finds_box_too_small(const hamiltonian *h, const plugmc_box *box)
{
    double shortest = INFINITY;
    for (int d = 0; d < box->dimension; d++) shortest = fmin(shortest, plugmc_height(box, d));
    return 2 * h->range > shortest || 2 * molecules_extent(h->system) >= shortest;
}

/* Pairs in reach have one image alone, and that is found, in boxes that are not too small. Where farther ones count,
 * boxes that [box] would refuse end the run. To reject them would be no way out: it would be an ensemble of its own,
 * with a bound on its shapes that nobody has asked for. */
static int check_boxes(const hamiltonian *h, const plugmc_host *host, const plugmc_changes *c)
{
    const int threads = hamiltonian_threads(h);
    int32_t first = c->walkers; /* that has such a box */
#pragma omp parallel for num_threads(threads) reduction(min : first) if (threads > 1)
    for (int32_t w = 0; w < c->walkers; w++) {
        const bool fits = !hamiltonian_finds_box_too_small(h, &c->box[w]) &&
                          (!h->looks_far || finds_nearest_images(&c->box[w]));
        if (!fits && w < first) first = w;
    }
    if (first == c->walkers) return PLUGMC_OK;
    const plugmc_box *box = &c->box[first];
    if (hamiltonian_finds_box_too_small(h, box))
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "the box of walker %d would have a volume of %g, and half of it would be less than the "
            "range of a potential%s: begin with a larger box, or choose a smaller cutoff",
            first, box->volume, h->system->molecules ? " or a molecule" : "");
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "the box of walker %d is too skewed to find nearest images: its heights are "
                      "%g, %g and %g, the lengths of its lattice vectors %g, %g and %g",
                      first, plugmc_height(box, 0), plugmc_height(box, 1), plugmc_height(box, 2),
                      box->length[0], box->length[1], box->length[2]);
}

/* Molecules keep their shape: their first sites have gone with the box. places: [particles][3]. */
static void place_molecules(const configuration *now, const plugmc_box *box, double *places)
{
    const plugmc_molecules *all = now->system->molecules;
    double at[PLUGMC_MOST_SITES][3];
    int64_t number[PLUGMC_MOST_SITES], within;
    const int64_t molecules = all ? plugmc_molecules_present(all, now->counts, NULL) : 0;
    for (int64_t m = 0; m < molecules; m++) {
        const plugmc_molecule *kind = plugmc_present_molecule(all, now->counts, m, &within);
        const int64_t i = plugmc_site_number(kind, within, 0);
        const int32_t n =
            place_sites(now->system, box, i, &places[3 * i], &now->all.orientation[i], at, number);
        for (int32_t a = 0; a < n; a++) memcpy(&places[3 * number[a]], at[a], sizeof at[a]);
    }
}

/* e->trial: the same fractional coordinates in another box. */
static int make_trial(const hamiltonian *h, walker_energy *e, int32_t w, const plugmc_box *box)
{
    const particle_arrays *all = &e->now.all;
    const plugmc_box *old = &e->now.box;
    double *places = &h->positions[3 * w * e->now.n];
    if (!e->trial.slots && configuration_make(&e->trial, h->system, h->reach))
        return PLUGMC_ERROR_MEMORY;
    for (int64_t i = 0; i < e->now.n; i++) {
        const double r[3] = {all->x[i], all->y[i], all->z[i]};
        for (int d = 0; d < 3; d++) places[3 * i + d] = d < box->dimension ? 0 : r[d];
        for (int k = 0; k < box->dimension; k++) {
            const double f =
                r[0] * old->inverse[0][k] + r[1] * old->inverse[1][k] + r[2] * old->inverse[2][k];
            for (int d = 0; d < box->dimension; d++) places[3 * i + d] += f * box->vector[k][d];
        }
    }
    place_molecules(&e->now, box, places);
    return configuration_fill(&e->trial, box, e->now.counts, places, all->orientation)
               ? PLUGMC_ERROR_MEMORY
               : PLUGMC_OK;
}

/* What walkers would have in other boxes, on the host: walker_energy.proposed. */
static int rescale(hamiltonian *h, const plugmc_host *host, const plugmc_changes *c)
{
    const int threads = h->system->threads > 1 ? h->system->threads : 1;
    plugmc_view view = {.size = sizeof view};
    int code = hamiltonian_refresh(h, host);
    if (code) return code;
#pragma omp parallel for num_threads(threads) if (threads > 1) reduction(max : code)
    for (int32_t w = 0; w < c->walkers; w++) {
        walker_energy *e = &h->walkers[w];
        const int failed = make_trial(h, e, w, &c->box[w]);
        c->forbidden[w] = !failed && whole_energy(h, &e->trial, e->proposed);
        if (failed > code) code = failed;
    }
    if (code)
        return host->fail(host->context, code, "no memory for a configuration in another box");
    if (h->any_total) { /* make_trial has left all places in h->positions */
        code = host->view(host->context, h->positions, 0, &view);
        hamiltonian_counts(h);
        view.count = h->counts;
        view.box = c->box;
        if (!code) code = add_totals(h, &view, true);
    }
    return code;
}

/* c->forbidden, and energies in walker_energy.proposed. */
static int find_rescaled(hamiltonian *h, const plugmc_host *host, const plugmc_changes *c)
{
    int code = hamiltonian_is_of_hard_cores(h) && h->holder.rescale
                   ? h->holder.rescale(h->holder.holder, c, NULL)
                   : PLUGMC_UNANSWERED;
    h->holder.answered = code == PLUGMC_OK;
    if (code != PLUGMC_UNANSWERED) return code;
    return host->gpu ? on_device_rescale(h, host, c->box, c->forbidden) : rescale(h, host, c);
}

/* Energies of the current box, from fresh sums unless running energies serve. */
static int find_energy_before(hamiltonian *h, const plugmc_host *host, const plugmc_changes *c,
                              int32_t w)
{
    walker_energy *e = &h->walkers[w];
    const double *unused;
    const bool serves = running_serves(h, host, c) && !hamiltonian_is_of_hard_cores(h);
    e->running.doubt = serves && !e->known && !h->stale ? running_doubt(h, w) : 0;
    if (e->running.doubt < LARGEST_DOUBT && e->running.doubt > 0) return PLUGMC_OK;
    e->running.doubt = 0;
    const int code = hamiltonian_energy(h, host, w, &unused);
    if (!code && serves) running_start(h, e, e->energy);
    return code;
}

/* The outputs for walker w, from energies of both boxes. */
static void compare_boxes(const hamiltonian *h, const plugmc_changes *c, int32_t w)
{
    const int terms = h->system->term_count;
    const walker_energy *e = &h->walkers[w];
    const double *before = e->running.doubt > 0 ? e->running.energy : e->energy;
    for (int t = 0; t < terms; t++) c->change[w * terms + t] = e->proposed[t] - before[t];
    changes_weigh(h, c, w, w, c->box[w].volume - e->now.box.volume);
}

int hamiltonian_resolve_doubt(hamiltonian *h, const plugmc_host *host, const plugmc_changes *c,
                              int32_t w)
{
    walker_energy *e = &h->walkers[w];
    const double *unused;
    e->running.doubt = 0;
    const int code = hamiltonian_energy(h, host, w, &unused);
    if (code) return code;
    running_start(h, e, e->energy);
    compare_boxes(h, c, w);
    return PLUGMC_OK;
}

/* How many go with a box: molecules, and particles in none of them. */
static int64_t centres_of(const hamiltonian *h, int32_t w)
{
    const plugmc_molecules *all = h->system->molecules;
    const configuration *now = &h->walkers[w].now;
    int64_t sites = 0;
    const int64_t molecules = all ? plugmc_molecules_present(all, now->counts, &sites) : 0;
    return now->present - sites + molecules;
}

/* All walkers at once, one box each. */
static int rescaled(hamiltonian *h, const plugmc_host *host, const plugmc_changes *c)
{
    if (c->first != 0 || c->walkers != h->system->walkers || c->per_walker != 1)
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "boxes are proposed for all walkers, one each");
    const int threads = hamiltonian_threads(h);
    int code = check_boxes(h, host, c);
    for (int32_t w = 0; w < c->walkers && !code && !hamiltonian_is_of_hard_cores(h); w++)
        code = find_energy_before(h, host, c, w);
    if (!code) code = find_rescaled(h, host, c);
    if (code) return code;
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int32_t w = 0; w < c->walkers; w++) {
        compare_boxes(h, c, w);
        if (PLUGMC_HAS(c, scaled) && c->scaled) c->scaled[w] = centres_of(h, w);
    }
    return PLUGMC_OK;
}

/* What was `trial` is `now`, with its energy. */
static void take_box(const hamiltonian *h, walker_energy *e)
{
    const configuration now = e->now;
    double *energy = e->energy;
    e->now = e->trial;
    e->trial = now;
    e->energy = e->proposed;
    e->proposed = energy;
    e->rescaled = true;
    e->known = !hamiltonian_is_of_hard_cores(h);
    running_start(h, e, e->energy);
}

/* The boxes of the state, and of walkers as they are; particles stay with who holds them. */
static int take_boxes_of_holder(hamiltonian *h, const plugmc_changes *c, const int64_t *taken)
{
    void *boxes;
    bool any = false;
    for (int32_t w = 0; w < c->walkers; w++) any |= taken[w] >= 0;
    if (!any) return PLUGMC_OK;
    int code = h->state->array(h->state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST,
                               PLUGMC_READ | PLUGMC_WRITE, &boxes, NULL);
    for (int32_t w = 0; w < c->walkers && !code; w++)
        if (taken[w] >= 0) ((plugmc_box *)boxes)[w] = h->walkers[w].now.box = c->box[w];
    h->stale = true;
    return code ? code : h->holder.rescale(h->holder.holder, c, taken);
}

/* ---- The services -------------------------------------------------------------------------------- */

/* The new orientation of a displaced particle; NULL: it stays. */
static const plugmc_orientation *orientation_of(const plugmc_changes *c, int64_t p)
{
    return PLUGMC_HAS(c, orientation) && c->orientation ? &c->orientation[p] : NULL;
}

/* Proposal p of walker w. */
static int change_of(const hamiltonian *h, const plugmc_changes *c, int32_t w, int64_t p)
{
    walker_energy *e = &h->walkers[w];
    double *change = &c->change[p * h->system->term_count];
    int32_t *forbidden = &c->forbidden[p];
    insertions x;
    if (c->kind == PLUGMC_DISPLACED)
        return displaced(h, e, w, c->particle[p], c->position[p], orientation_of(c, p), change,
                         forbidden);
    if (c->kind == PLUGMC_SWAPPED)
        return swapped(h, e, w, c->particle[p], c->other[p], change, forbidden);
    if (c->kind == PLUGMC_GROUP_DISPLACED) return group_displaced(h, e, w, c, p, change, forbidden);
    insertions_make(&x, e, c, p);
    return insertions_change(h, e, w, &x, change, forbidden);
}

static int take_swap(const hamiltonian *h, walker_energy *e, int32_t w, int64_t i, int64_t j,
                     bool taken)
{
    double at_i[3], at_j[3], unused[1 + h->system->term_count];
    configuration_place(&e->now, i, at_i);
    configuration_place(&e->now, j, at_j);
    int code = e->asked ? totals_settle(h, e, w, taken) : PLUGMC_OK;
    if (taken && !code) {
        configuration_move(&e->now, i, at_j);
        configuration_move(&e->now, j, at_i);
    } else if (e->asked && !code) { /* the first one goes back */
        code = totals_displaced(h, e, w, i, at_i, unused);
        if (!code) code = totals_settle(h, e, w, 1);
    }
    return code;
}

static int take_displacement(const hamiltonian *h, walker_energy *e, int32_t w, int64_t i,
                             const double to[3], const plugmc_orientation *turn, bool taken)
{
    double there[3] = {to[0], to[1], to[2]};
    plugmc_wrap(&e->now.box, there);
    if (taken) configuration_move(&e->now, i, there);
    if (taken && turn) configuration_turn(&e->now, i, turn);
    return e->asked ? totals_settle(h, e, w, taken) : PLUGMC_OK;
}

/* Who comes, leaves, or becomes another. */
static int take_insertions(const hamiltonian *h, walker_energy *e, int32_t w,
                           const plugmc_changes *c, int64_t p, bool taken)
{
    insertions x;
    const int code = e->asked ? totals_settle(h, e, w, taken) : PLUGMC_OK;
    if (!taken || code) return code;
    insertions_make(&x, e, c, p);
    if (x.of.inserted || x.of.removed) insertions_take(e, &x);
    return PLUGMC_OK;
}

static int settle_one(hamiltonian *h, const plugmc_changes *c, int32_t w, int64_t p, bool took)
{
    walker_energy *e = &h->walkers[w];
    if (c->kind == PLUGMC_SWAPPED) return take_swap(h, e, w, c->particle[p], c->other[p], took);
    if (c->kind == PLUGMC_DISPLACED)
        return take_displacement(h, e, w, c->particle[p], c->position[p], orientation_of(c, p),
                                 took);
    if (c->kind == PLUGMC_GROUP_DISPLACED) return take_group(h, e, w, c, p, took);
    return take_insertions(h, e, w, c, p, took);
}

/* A total knows one change at a time: of several each is taken back before the next is asked about, and the one that
 * is taken is asked about again. */
static bool asks_again(const hamiltonian *h, const plugmc_changes *c)
{
    return h->has_totals && c->walkers * c->per_walker > 1;
}

/* Proposal p of walker w, with what it does to all terms. */
static int ask(hamiltonian *h, const plugmc_changes *c, int32_t w, int64_t p)
{
    const int terms = h->system->term_count;
    memset(&c->change[p * terms], 0, sizeof(double) * (size_t)terms);
    c->forbidden[p] = 0;
    const int code = change_of(h, c, w, p);
    if (code) h->walkers[w].failed_particle = c->particle ? c->particle[p * together(c)] : -1;
    return code;
}

bool hamiltonian_is_proposed(const plugmc_changes *c, int64_t p)
{
    const int64_t first = p * together(c);
    if (c->kind == PLUGMC_RESCALED) return true;
    if (c->kind == PLUGMC_INSERTED || c->kind == PLUGMC_GROUP_INSERTED ||
        c->kind == PLUGMC_MOLECULE_INSERTED)
        return c->species[first] >= 0;
    if (c->kind == PLUGMC_GROUP_DISPLACED) return c->particle[first] >= 0;
    for (int32_t k = 0; k < together(c); k++)
        if (c->particle[first + k] < 0) return false;
    return true;
}

int hamiltonian_changes(hamiltonian *h, const plugmc_changes *c)
{
    const int terms = h->system->term_count;
    for (int32_t k = 0; k < c->walkers; k++) {
        const int32_t w = c->first + k;
        for (int64_t p = k * c->per_walker; p < (k + 1) * c->per_walker; p++) {
            int code = PLUGMC_OK;
            if (PLUGMC_HAS(c, delta) && c->delta) c->delta[p] = 0;
            if (hamiltonian_is_proposed(c, p)) {
                const bool choose = changes_choose(c);
                code = choose ? molecule_of_choices(h, c, w, p) : ask(h, c, w, p);
                if (!code && !choose) changes_weigh(h, c, w, p, 0);
                if (!code && asks_again(h, c)) code = settle_one(h, c, w, p, false);
                if (asks_again(h, c)) h->walkers[w].asked = false;
            } else {
                memset(&c->change[p * terms], 0, sizeof(double) * (size_t)terms);
                c->forbidden[p] = 0;
            }
            if (code) return code;
        }
    }
    return PLUGMC_OK;
}

int hamiltonian_energies(hamiltonian *h, const plugmc_host *host, const plugmc_changes *c)
{
    if (c->kind == PLUGMC_RESCALED) return rescaled(h, host, c);
    int code = hamiltonian_refresh(h, host);
    if (code) return code;
    const char *why = changes_refused(h, c); /* looks at who is there */
    if (why)
        return host->fail(host->context, PLUGMC_ERROR_STATE, "change %d is not possible: %s",
                          c->kind, why);
    if (h->has_totals && h->boxes_taken) code = hamiltonian_start_totals(h, host);
    return code ? code : hamiltonian_changes(h, c);
}

int hamiltonian_settle(hamiltonian *h, const plugmc_host *host, const plugmc_changes *c,
                       const int64_t *taken)
{
    int code = PLUGMC_OK;
    if (c->kind == PLUGMC_RESCALED && h->holder.answered) return take_boxes_of_holder(h, c, taken);
    if (c->kind == PLUGMC_RESCALED && host->gpu)
        return on_device_take_boxes(h, host, c->box, taken);
    for (int32_t k = 0; k < c->walkers && !code; k++) {
        const int32_t w = c->first + k;
        walker_energy *e = &h->walkers[w];
        const bool took = taken[k] >= 0;
        const int64_t p = k * c->per_walker + (took ? taken[k] : 0);
        e->moved |= took;
        e->turned |= took && h->system->bodies;
        if (c->kind == PLUGMC_RESCALED) {
            if (took) take_box(h, e);
            h->boxes_taken |= took;
            continue;
        }
        if (took && asks_again(h, c)) code = ask(h, c, w, p);
        if (!code) code = settle_one(h, c, w, p, took);
        e->known &= !took;
        if (took) running_add(h, e, c->change ? &c->change[p * h->system->term_count] : NULL);
        e->asked = false;
    }
    return code;
}
