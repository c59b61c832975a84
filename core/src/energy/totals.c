/* See totals.h. */
#include "energy/totals.h"

#include <stdlib.h>
#include <string.h>

#include "base/crash.h"

/* Terms that offer only `energy`. One walker is asked for at a time: its configuration with the trial move is put where
 * that of walker 0 is expected, since a term need not know plugmc_view.walkers. */
struct whole_energies {
    const plugmc_host *host;
    /* [walkers][particles][3] and [walkers][species]: accepted configurations. */
    double *positions;
    int64_t *counts;
    /* The same for the walker that is asked for, in place of walker 0. */
    double *trial;
    int64_t *trial_counts;
    plugmc_box *boxes; /* [walkers] */
    /* [terms][walkers] of the accepted configurations; [terms] with the trial move; [walkers] as a buffer. */
    double *energy, *proposed, *sums;
};

static bool is_whole(const energy_term *t) { return t->total_moves && !t->total->change; }

static size_t row_of(const hamiltonian *h) { return 3 * (size_t)h->system->particles; }

int totals_open(hamiltonian *h)
{
    const size_t walkers = (size_t)h->system->walkers, all = walkers * row_of(h),
                 counts = walkers * (size_t)h->system->species_count,
                 terms = (size_t)h->system->term_count;
    bool any = false;
    for (int k = 0; k < h->count; k++) any |= is_whole(&h->terms[k]);
    if (!any || h->whole) return PLUGMC_OK;
    whole_energies *w = h->whole = calloc(1, sizeof *w);
    if (!w) return PLUGMC_ERROR_MEMORY;
    w->positions = malloc(all * sizeof(double));
    w->trial = malloc(all * sizeof(double));
    w->counts = malloc(counts * sizeof(int64_t));
    w->trial_counts = malloc(counts * sizeof(int64_t));
    w->boxes = malloc(walkers * sizeof *w->boxes);
    w->energy = calloc(terms * walkers, sizeof(double));
    w->proposed = calloc(terms, sizeof(double));
    w->sums = calloc(walkers, sizeof(double));
    return w->positions && w->trial && w->counts && w->trial_counts && w->boxes && w->energy &&
                   w->proposed && w->sums
               ? PLUGMC_OK
               : PLUGMC_ERROR_MEMORY;
}

void totals_close(hamiltonian *h)
{
    whole_energies *w = h->whole;
    if (!w) return;
    free(w->positions), free(w->trial), free(w->counts), free(w->trial_counts), free(w->boxes);
    free(w->energy), free(w->proposed), free(w->sums), free(w);
    h->whole = NULL;
}

/* ---- The configurations ------------------------------------------------------------------------- */

static int start_whole(hamiltonian *h, const plugmc_host *host, const plugmc_view *view)
{
    whole_energies *w = h->whole;
    const size_t walkers = (size_t)h->system->walkers,
                 counts = walkers * (size_t)h->system->species_count * sizeof *w->counts;
    int code = PLUGMC_OK;
    w->host = host;
    memcpy(w->positions, view->positions, walkers * row_of(h) * sizeof(double));
    memcpy(w->trial, view->positions, walkers * row_of(h) * sizeof(double));
    memcpy(w->counts, view->count, counts);
    memcpy(w->trial_counts, view->count, counts);
    memcpy(w->boxes, view->box, walkers * sizeof *w->boxes);
    for (int k = 0; k < h->count && !code; k++) {
        const energy_term *t = &h->terms[k];
        double *energy = &w->energy[(size_t)t->index * walkers];
        const plugmc_total_request request = {
            .size = sizeof request, .view = view, .energy = energy};
        if (!is_whole(t)) continue;
        memset(energy, 0, walkers * sizeof *energy);
        const crash_record outer = crash_calling_potential(t->of->label, "energy");
        code = t->total->energy(t->of->instance, &request);
        crash_called_within(outer);
    }
    return code;
}

int totals_start(hamiltonian *h, const plugmc_host *host, const plugmc_view *view)
{
    int code = h->whole ? start_whole(h, host, view) : PLUGMC_OK;
    for (int k = 0; k < h->count && !code; k++) {
        const energy_term *t = &h->terms[k];
        if (!t->total_moves || is_whole(t)) continue;
        const crash_record outer = crash_calling_potential(t->of->label, "start");
        code = t->total->start(t->of->instance, view);
        crash_called_within(outer);
    }
    return code;
}

/* ---- Trial moves of whole configurations --------------------------------------------------------- */

static void make_trial(const hamiltonian *h, const walker_energy *e, int32_t walker)
{
    whole_energies *w = h->whole;
    const size_t row = row_of(h), species = (size_t)h->system->species_count;
    memcpy(w->trial, w->positions + (size_t)walker * row, row * sizeof(double));
    memcpy(w->trial_counts, w->counts + (size_t)walker * species, species * sizeof *w->counts);
    w->boxes[0] = e->now.box;
}

static void put(double *positions, int64_t i, const double at[3])
{
    memcpy(positions + 3 * i, at, 3 * sizeof(double));
}

/* As plugmc_insert_remove says. */
static void insert_remove(const hamiltonian *h, const walker_energy *e,
                          const plugmc_insert_remove *x)
{
    whole_energies *w = h->whole;
    const int64_t *first = h->system->first;
    const double nowhere[3] = {__builtin_nan(""), __builtin_nan(""), __builtin_nan("")};
    for (int32_t k = 0; k < x->removed; k++) {
        const int32_t s = e->now.all.species[x->particle[k]];
        const int64_t last = first[s] + --w->trial_counts[s];
        put(w->trial, x->particle[k], w->trial + 3 * last);
        put(w->trial, last, nowhere);
    }
    for (int32_t k = 0; k < x->inserted; k++) {
        const int32_t s = x->species[k];
        put(w->trial, first[s] + w->trial_counts[s]++, x->position[k]);
    }
}

/* Adds the change of one term for the trial configuration of a walker. */
static int ask_whole(const hamiltonian *h, const energy_term *t, int32_t walker, double *change)
{
    whole_energies *w = h->whole;
    const size_t walkers = (size_t)h->system->walkers;
    plugmc_view view = {.size = sizeof view};
    const plugmc_total_request request = {.size = sizeof request, .view = &view, .energy = w->sums};
    int code = w->host->view(w->host->context, w->trial, 0, &view);
    if (code) return code;
    view.box = w->boxes;
    view.count = w->trial_counts;
    view.walkers = 1;
    memset(w->sums, 0, walkers * sizeof *w->sums);
    code = t->total->energy(t->of->instance, &request);
    w->proposed[t->index] = w->sums[0];
    *change += w->sums[0] - w->energy[(size_t)t->index * walkers + (size_t)walker];
    return code;
}

static void settle_whole(const hamiltonian *h, int32_t walker, int taken)
{
    whole_energies *w = h->whole;
    const size_t row = row_of(h), species = (size_t)h->system->species_count,
                 walkers = (size_t)h->system->walkers;
    if (!taken) return;
    memcpy(w->positions + (size_t)walker * row, w->trial, row * sizeof(double));
    memcpy(w->counts + (size_t)walker * species, w->trial_counts, species * sizeof *w->counts);
    for (int k = 0; k < h->count; k++) {
        const size_t t = (size_t)h->terms[k].index;
        if (is_whole(&h->terms[k])) w->energy[t * walkers + (size_t)walker] = w->proposed[t];
    }
}

/* ---- All terms ------------------------------------------------------------------------------------ */

static int failed(walker_energy *e, const energy_term *t, int code)
{
    if (code) e->failed_term = t->index;
    return code;
}

/* A crash is that of the potential, not of the mover that asks. */
static crash_record calling(const energy_term *t, const char *callback)
{
    return crash_calling_potential(t->of->label, is_whole(t) ? "energy" : callback);
}

int totals_displaced(const hamiltonian *h, walker_energy *e, int32_t w, int64_t i,
                     const double to[3], double *change)
{
    int code = PLUGMC_OK;
    if (h->whole) {
        make_trial(h, e, w);
        put(h->whole->trial, i, to);
    }
    for (int k = 0; k < h->count && !code; k++) {
        const energy_term *t = &h->terms[k];
        double own = 0;
        if (!t->total_moves) continue;
        const crash_record outer = calling(t, "change");
        code = failed(e, t,
                      is_whole(t) ? ask_whole(h, t, w, &own)
                                  : t->total->change(t->of->instance, w, i, to, &own));
        crash_called_within(outer);
        change[t->index] += own;
    }
    return code;
}

bool totals_displace_together(const hamiltonian *h)
{
    bool all = h->whole == NULL;
    for (int k = 0; k < h->count; k++) {
        const energy_term *t = &h->terms[k];
        if (t->total_moves) all &= PLUGMC_HAS(t->total, displace) && t->total->displace;
    }
    return all;
}

int totals_displaced_together(const hamiltonian *h, walker_energy *e, int32_t w,
                              const plugmc_displacements *x, double *change)
{
    int code = PLUGMC_OK;
    for (int k = 0; k < h->count && !code; k++) {
        const energy_term *t = &h->terms[k];
        double own = 0;
        if (!t->total_moves) continue;
        const crash_record outer = calling(t, "displace");
        code = failed(e, t, t->total->displace(t->of->instance, w, x, &own));
        crash_called_within(outer);
        change[t->index] += own;
    }
    return code;
}

int totals_insert_remove(const hamiltonian *h, walker_energy *e, int32_t w,
                         const plugmc_insert_remove *x, double *change)
{
    int code = PLUGMC_OK;
    if (h->whole) {
        make_trial(h, e, w);
        insert_remove(h, e, x);
    }
    for (int k = 0; k < h->count && !code; k++) {
        const energy_term *t = &h->terms[k];
        double own = 0;
        if (!t->total_moves) continue;
        const crash_record outer = calling(t, "insert_remove");
        code = failed(e, t,
                      is_whole(t) ? ask_whole(h, t, w, &own)
                                  : t->total->insert_remove(t->of->instance, w, x, &own));
        crash_called_within(outer);
        change[t->index] += own;
    }
    return code;
}

int totals_settle(const hamiltonian *h, walker_energy *e, int32_t w, int taken)
{
    int code = PLUGMC_OK;
    if (h->whole) settle_whole(h, w, taken);
    for (int k = 0; k < h->count && !code; k++) {
        const energy_term *t = &h->terms[k];
        if (!t->total_moves || is_whole(t)) continue;
        const crash_record outer = calling(t, "settle");
        code = failed(e, t, t->total->settle(t->of->instance, w, taken));
        crash_called_within(outer);
    }
    return code;
}
