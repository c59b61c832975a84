#include "energy/hamiltonian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "energy/on_device.h"
#include "energy/totals.h"
#include "energy/bias.h"
#include "system/molecule_kinds.h"
#include "system/system.h"

/* ---- Terms ------------------------------------------------------------------------------------- */

bool bodies_have_energy(const energy_term *t)
{
    return t->body && t->body->functions & PLUGMC_BODY_ENERGY;
}

static int resolve(hamiltonian *h, const plugmc_host *host, const plugmc_term *term, int32_t index)
{
    const plugmc_potential *p = term->plugin->potential;
    const plugmc_body *body = plugmc_body_of(term->plugin);
    const bool parts = p->pair || p->field || body;
    energy_term *t = &h->terms[h->count];
    *t = (energy_term){.of = term, .index = index, .field = p->field, .body = body};
    if (p->pair) {
        const double reach = reach_of_term(h->system, term);
        *(isfinite(reach) ? &t->close : &t->far) = p->pair;
        if (isfinite(reach)) h->reach = fmax(h->reach, reach);
        t->has_energy = p->pair->functions & PLUGMC_PAIR_ENERGY;
        if (t->close && t->has_energy) h->range = fmax(h->range, p->pair->range(term->instance));
    }
    if (body) {
        const double reach = reach_of_term(h->system, term);
        h->reach = fmax(h->reach, reach);
        h->range = fmax(h->range, reach); /* a body must not meet two images of another */
    }
    if (p->total && (!parts || p->total->beside_parts)) t->total = p->total;
    t->total_moves = t->total && plugmc_follows_positions(t->total);
    if (!parts && !p->total)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "potential '%s' has neither pair, field, body nor total energies",
                          term->label);
    h->has_totals |= t->total_moves;
    h->any_total |= t->total != NULL;
    h->old_energies |= t->field || (t->close && t->has_energy) || bodies_have_energy(t);
    h->has_far |= t->far != NULL;
    h->count++;
    return PLUGMC_OK;
}

/* A pair of any range, or a total of its own, for all that is known of it. */
static bool looks_far(const plugmc_system *system, const plugmc_term *term)
{
    const plugmc_potential *p = term->plugin->potential;
    const bool whole = p->total && !p->total->beside_parts && plugmc_follows_positions(p->total);
    return whole || (p->pair && !isfinite(reach_of_term(system, term)));
}

/* Sites come first among the particles of a species. */
static int find_free(hamiltonian *h)
{
    const plugmc_system *system = h->system;
    const size_t species = (size_t)system->species_count;
    free_particles *f = &h->free;
    if (!system->molecules) return PLUGMC_OK;
    f->first = calloc(2 * species + 1, sizeof *f->first);
    f->fixed = calloc(species + 1, sizeof *f->fixed);
    if (!f->first || !f->fixed) return PLUGMC_ERROR_MEMORY;
    f->count = f->first + species + 1;
    for (int32_t s = 0; s < system->species_count; s++) {
        const int64_t sites = sites_of_species(system, s);
        f->first[s] = system->first[s] + sites;
        f->count[s] = plugmc_species_at(system, s)->count - sites;
        f->fixed[s] = has_sites(system, s);
    }
    f->first[species] = system->particles;
    return PLUGMC_OK;
}

void hamiltonian_count_free(const hamiltonian *h, walker_energy *e)
{
    e->free = 0;
    for (int32_t s = 0; s < h->system->species_count; s++)
        e->free += e->free_count[s] = h->free.fixed[s] ? h->free.count[s] : e->now.counts[s];
}

int hamiltonian_open(hamiltonian *h, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const size_t walkers = (size_t)system->walkers, terms = (size_t)system->term_count;
    if (h->walkers) return host->gpu ? on_device_open(h, host) : PLUGMC_OK;
    const size_t species = (size_t)system->species_count, width = terms + 1 + species;
    *h = (hamiltonian){.system = system, .width = (int)width};
    h->terms = calloc(terms + 1, sizeof *h->terms);
    int code = h->terms ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (int32_t t = 0; t < system->term_count && !code; t++) {
        h->looks_far |= looks_far(system, plugmc_term_at(system, t));
        if (plugmc_term_at(system, t)->sampled)
            code = resolve(h, host, plugmc_term_at(system, t), t);
    }
    if (code && code != PLUGMC_ERROR_MEMORY) return code;
    h->walkers = calloc(walkers, sizeof *h->walkers);
    h->multipliers = calloc(walkers * width, sizeof(double));
    h->counts = calloc(walkers * species, sizeof *h->counts);
    h->sums = calloc(walkers, sizeof(double));
    h->boxes = calloc(walkers, sizeof *h->boxes);
    h->positions = malloc(walkers * (size_t)system->particles * 3 * sizeof(double));
    if (!code) code = totals_open(h);
    if (!code) code = find_free(h);
    bool enough =
        !code && h->walkers && h->multipliers && h->sums && h->boxes && h->counts && h->positions;
    for (size_t w = 0; w < walkers && enough; w++) {
        walker_energy *e = &h->walkers[w];
        e->energy = calloc(width, sizeof(double));
        e->proposed = calloc(width, sizeof(double));
        e->running.energy = calloc(terms + 1, sizeof(double));
        e->free_count = calloc(species + 1, sizeof *e->free_count);
        for (int k = 0; k < h->count; k++)
            h->multipliers[w * width + (size_t)h->terms[k].index] = 1;
        enough = e->energy && e->proposed && e->running.energy && e->free_count &&
                 !configuration_make(&e->now, system, h->reach);
    }
    if (!enough)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY,
                          "no memory for %zu walkers of %lld particles", walkers,
                          (long long)system->particles);
    return host->gpu ? on_device_open(h, host) : PLUGMC_OK;
}

void hamiltonian_close(hamiltonian *h)
{
    on_device_close(h);
    bias_close(h);
    totals_close(h);
    for (int32_t w = 0; w < (h->walkers ? h->system->walkers : 0); w++) {
        configuration_free(&h->walkers[w].now);
        configuration_free(&h->walkers[w].trial);
        free(h->walkers[w].energy), free(h->walkers[w].proposed);
        free(h->walkers[w].running.energy), free(h->walkers[w].free_count);
    }
    free(h->walkers), free(h->terms), free(h->multipliers), free(h->sums), free(h->boxes),
        free(h->positions), free(h->counts), free(h->free.first), free(h->free.fixed);
    *h = (hamiltonian){0};
}

/* ---- The state --------------------------------------------------------------------------------- */

void hamiltonian_counts(hamiltonian *h)
{
    const int32_t species = h->system->species_count;
    for (int32_t w = 0; w < h->system->walkers; w++)
        memcpy(h->counts + w * species, h->walkers[w].now.counts,
               (size_t)species * sizeof *h->counts);
}

int hamiltonian_view(hamiltonian *h, const plugmc_host *host, plugmc_view *view)
{
    const int64_t n = h->system->particles;
    const int code = host->view(host->context, h->positions, 0, view);
    for (int32_t w = 0; w < h->system->walkers; w++) {
        const configuration *now = &h->walkers[w].now;
        h->boxes[w] = now->box;
        for (int64_t i = 0; i < n; i++) configuration_place(now, i, &h->positions[3 * (w * n + i)]);
    }
    hamiltonian_counts(h);
    view->box = h->boxes;
    view->count = h->counts;
    return code;
}

int hamiltonian_start_totals(hamiltonian *h, const plugmc_host *host)
{
    plugmc_view view = {.size = sizeof view};
    int code = h->has_totals ? hamiltonian_view(h, host, &view) : PLUGMC_OK;
    if (!code && h->has_totals) code = totals_start(h, host, &view);
    h->boxes_taken = false;
    return code;
}

/* What multiplies the terms and the volume of each walker. */
static int take_multipliers(hamiltonian *h, const plugmc_state *state)
{
    const size_t width = (size_t)h->width;
    void *rows;
    size_t row;
    const int code =
        state->array(state, PLUGMC_STATE_MULTIPLIER, PLUGMC_ON_HOST, PLUGMC_READ, &rows, &row);
    for (int32_t w = 0; w < h->system->walkers && !code; w++)
        memcpy(h->multipliers + (size_t)w * width, (const char *)rows + (size_t)w * row,
               width * sizeof(double));
    return code;
}

/* Particles of all walkers from the state, and totals look at them. */
static int bring(hamiltonian *h, const plugmc_host *host)
{
    const int64_t n = h->system->particles;
    double *positions;
    void *orientations = NULL;
    int code = plugmc_state_positions(h->state, PLUGMC_ON_HOST, PLUGMC_READ, &positions);
    if (!code && h->system->bodies)
        code = h->state->array(h->state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_HOST, PLUGMC_READ,
                               &orientations, NULL);
    for (int32_t w = 0; w < h->system->walkers && !code; w++) {
        configuration *now = &h->walkers[w].now;
        const plugmc_box box = now->box;
        if (configuration_fill(now, &box, now->counts, positions + 3 * n * w,
                               orientations ? (plugmc_orientation *)orientations + n * w : NULL))
            code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for cells");
    }
    return code ? code : hamiltonian_start_totals(h, host);
}

int hamiltonian_refresh(hamiltonian *h, const plugmc_host *host)
{
    int code = PLUGMC_OK;
#pragma omp critical(hamiltonian_refresh)
    if (h->stale) {
        code = bring(h, host);
        h->stale = code != PLUGMC_OK;
    }
    return code;
}

int hamiltonian_load(hamiltonian *h, const plugmc_host *host, const plugmc_state *state,
                     uint32_t changed)
{
    void *boxes, *counts;
    h->state = state;
    int code = changed & PLUGMC_CHANGED_MULTIPLIER ? take_multipliers(h, state) : PLUGMC_OK;
    if (code || !(changed & ~(PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG))) return code;
    code = state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_READ, &boxes, NULL);
    if (!code)
        code = state->array(state, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST, PLUGMC_READ, &counts, NULL);
    for (int32_t w = 0; w < h->system->walkers && !code; w++) {
        walker_energy *e = &h->walkers[w];
        e->known = e->moved = e->turned = e->asked = e->rescaled = e->recounted = false;
        e->running.known = false;
        e->code = PLUGMC_OK;
        e->now.box = ((plugmc_box *)boxes)[w];
        configuration_set_counts(&e->now, (int64_t *)counts + w * h->system->species_count);
    }
    h->stale = true;
    (void)host;
    return code;
}

/* Whether something has been taken since it was given, by kind. */
typedef struct news {
    bool places, orientations, boxes, counts;
} news;

static news news_of(const hamiltonian *h)
{
    news n = {false, false, false, false};
    /* what is taken on the host is taken by walkers that are up to date */
    for (int32_t w = 0; w < h->system->walkers && !h->stale; w++) {
        n.places |= h->walkers[w].moved;
        n.orientations |= h->walkers[w].turned;
        n.boxes |= h->walkers[w].rescaled;
        n.counts |= h->walkers[w].recounted;
    }
    return n;
}

int hamiltonian_store_boxes(hamiltonian *h, const plugmc_state *state)
{
    void *boxes;
    if (!news_of(h).boxes) return PLUGMC_OK;
    const int code =
        state->array(state, PLUGMC_STATE_BOX, PLUGMC_ON_HOST, PLUGMC_WRITE, &boxes, NULL);
    for (int32_t w = 0; w < h->system->walkers && !code; w++) {
        ((plugmc_box *)boxes)[w] = h->walkers[w].now.box;
        h->walkers[w].rescaled = false;
    }
    return code;
}

int hamiltonian_store_counts(hamiltonian *h, const plugmc_state *state)
{
    const int32_t species = h->system->species_count;
    void *counts;
    if (!news_of(h).counts) return PLUGMC_OK;
    const int code =
        state->array(state, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST, PLUGMC_WRITE, &counts, NULL);
    for (int32_t w = 0; w < h->system->walkers && !code; w++) {
        memcpy((int64_t *)counts + w * species, h->walkers[w].now.counts,
               (size_t)species * sizeof(int64_t));
        h->walkers[w].recounted = false;
    }
    return code;
}

bool hamiltonian_is_newer(const hamiltonian *h)
{
    const news n = h->walkers ? news_of(h) : (news){false, false, false, false};
    return n.places || n.orientations || n.boxes || n.counts;
}

int hamiltonian_store_positions(hamiltonian *h, const plugmc_state *state)
{
    const int64_t n = h->system->particles;
    double *positions;
    if (!news_of(h).places) return PLUGMC_OK;
    const int code =
        plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ | PLUGMC_WRITE, &positions);
    for (int32_t w = 0; w < h->system->walkers && !code; w++) {
        const particle_arrays *all = &h->walkers[w].now.all;
        for (int64_t i = 0; i < n && h->walkers[w].moved; i++) {
            double *to = &positions[3 * (w * n + i)];
            to[0] = all->x[i];
            to[1] = all->y[i];
            to[2] = all->z[i];
        }
        h->walkers[w].moved = false;
    }
    return code;
}

int hamiltonian_store_orientations(hamiltonian *h, const plugmc_state *state)
{
    const int64_t n = h->system->particles;
    void *orientations;
    if (!news_of(h).orientations) return PLUGMC_OK;
    const int code = state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_HOST,
                                  PLUGMC_READ | PLUGMC_WRITE, &orientations, NULL);
    for (int32_t w = 0; w < h->system->walkers && !code; w++) {
        if (h->walkers[w].turned)
            memcpy((plugmc_orientation *)orientations + w * n, h->walkers[w].now.all.orientation,
                   (size_t)n * sizeof(plugmc_orientation));
        h->walkers[w].turned = false;
    }
    return code;
}

/* Nothing is written where nothing was taken, so that other movers keep what they have. */
int hamiltonian_store(hamiltonian *h, const plugmc_state *state)
{
    if (!hamiltonian_is_newer(h)) return PLUGMC_OK;
    int code = hamiltonian_store_positions(h, state);
    if (!code) code = hamiltonian_store_orientations(h, state);
    if (!code) code = hamiltonian_store_counts(h, state);
    return code ? code : hamiltonian_store_boxes(h, state);
}
