/* Trial moves that a mover proposes, one after the other in each walker. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "energy/trial_positions.h"
#include "energy/insertions.h"
#include "energy/molecule_trials.h"
#include "energy/parts.h"
#include "energy/bias.h"
#include "system/molecule_kinds.h"

/* What all trials of a call have in common. */
typedef struct task {
    hamiltonian *h;
    const plugmc_host *host;
    const plugmc_proposal *proposal;
    int64_t between_looks; /* trials until somebody may wait to stop the run */
    uint32_t from;         /* number of the first trial of a sweep */
    int32_t moves;         /* that the mover has */
    int32_t together;      /* capacity of groups */
    bool counted;          /* are kept: it can lead to another macrostate */
} task;

/* The kinds of change that a trial may be. */
static bool is_known(const task *k, int32_t kind)
{
    const bool counts = k->h->system->changes & PLUGMC_CHANGED_COUNT;
    if (kind >= PLUGMC_MOLECULE_DISPLACED && kind <= PLUGMC_MOLECULES_SWAPPED)
        return k->h->system->molecules &&
               (counts || kind == PLUGMC_MOLECULE_DISPLACED || kind == PLUGMC_MOLECULES_SWAPPED);
    return kind == PLUGMC_DISPLACED || kind == PLUGMC_SWAPPED || kind == PLUGMC_GROUP_DISPLACED ||
           (counts && kind >= PLUGMC_INSERTED && kind <= PLUGMC_GROUP_REMOVED);
}

static bool any_particle(int32_t kind)
{
    return (kind != PLUGMC_INSERTED && kind < PLUGMC_GROUP_INSERTED) ||
           kind == PLUGMC_MOLECULE_REMOVED || kind == PLUGMC_MOLECULE_IDENTITY;
}

/* Somebody was to leave of a species of which there is nobody. */
static bool nobody(const plugmc_trial *t)
{
    bool missing = t->particle < 0 &&
                   (t->kind == PLUGMC_REMOVED || t->kind == PLUGMC_IDENTITY ||
                    t->kind == PLUGMC_MOLECULE_REMOVED || t->kind == PLUGMC_MOLECULE_IDENTITY);
    for (int32_t k = 0; t->kind == PLUGMC_GROUP_REMOVED && k < t->group->n; k++)
        missing |= t->group->members[k] < 0;
    return missing;
}

static bool is_there(const walker_energy *e, int64_t i)
{
    return i >= 0 && i < e->now.n && !isnan(e->now.all.x[i]);
}

/* A molecule that comes or leaves; its orientation is the core's. */
static const char *wrong_molecule(const hamiltonian *h, const walker_energy *e,
                                  const plugmc_trial *t)
{
    const plugmc_orientation any = plugmc_upright(3);
    const plugmc_changes c = {.size = sizeof c,
                              .kind = t->kind,
                              .particle = &t->particle,
                              .other = &t->other,
                              .position = (const double(*)[3])t->position,
                              .species = &t->species,
                              .orientation = &any};
    const int32_t kinds = h->system->molecules->kinds;
    if (molecule_choices(t) > PLUGMC_MOST_TRIAL_POSITIONS ||
        (t->kind == PLUGMC_MOLECULE_IDENTITY &&
         (t->trial_positions > 1 || 2 * t->trial_orientations > PLUGMC_MOST_TRIAL_POSITIONS)))
        return "has too many trial positions and orientations";
    if ((t->kind != PLUGMC_MOLECULE_REMOVED && (t->species < 0 || t->species >= kinds)) ||
        (t->kind != PLUGMC_MOLECULE_INSERTED && t->particle < 0 &&
         (t->other < 0 || t->other >= kinds)))
        return "has no such kind of molecule";
    return molecule_is_wrong(h, e, &c, 0) ? "has a molecule that cannot come or leave" : NULL;
}

/* Of a run with rigid molecules: whoever moves a site has to move all of the molecule. */
static const char *breaks_molecules(const hamiltonian *h, const walker_energy *e,
                                    const plugmc_trial *t)
{
    const plugmc_system *system = e->now.system;
    const bool comes = t->kind == PLUGMC_INSERTED || t->kind == PLUGMC_IDENTITY;
    const bool one = t->kind < PLUGMC_GROUP_INSERTED;
    if (is_molecule_trial(t)) return wrong_molecule(h, e, t);
    if (t->kind == PLUGMC_MOLECULE_DISPLACED) {
        if (!is_there(e, t->particle) || !is_first_site(system, t->particle))
            return "moves a particle that is not the first site of a molecule";
        if (t->turns && !is_orientation(&t->orientation, t->dimension))
            return "turns a molecule to what is no orientation";
        return is_position(t->position) ? NULL : "has a position that is not a number";
    }
    if (t->kind == PLUGMC_MOLECULES_SWAPPED)
        return is_there(e, t->particle) && is_first_site(system, t->particle) &&
                       is_there(e, t->other) && is_first_site(system, t->other) &&
                       t->particle != t->other
                   ? NULL
                   : "swaps particles that are not the first sites of two molecules";
    if (!one) return "changes a run with rigid molecules in a way that could break them";
    if (comes && t->species >= 0 && t->species < system->species_count && h->free.fixed[t->species])
        return "makes a particle a site of a rigid molecule";
    if (t->kind == PLUGMC_INSERTED) return NULL;
    return (is_there(e, t->particle) && system->molecule[t->particle] >= 0) ||
                   (t->kind == PLUGMC_SWAPPED && is_there(e, t->other) &&
                    system->molecule[t->other] >= 0)
               ? "moves a site of a rigid molecule"
               : NULL;
}

/* What a mover has filled in must be there. */
static const char *wrong(const task *k, const walker_energy *e, const plugmc_trial *t)
{
    const bool another = t->kind == PLUGMC_INSERTED || t->kind == PLUGMC_IDENTITY;
    if (t->move < 0 || t->move >= k->moves) return "has a move that is not in the mover's table";
    if (!is_known(k, t->kind)) return "changes what no mover of the run declares as changed";
    if (t->molecules) {
        const char *why = breaks_molecules(k->h, e, t);
        if (why || t->kind >= PLUGMC_MOLECULE_DISPLACED) return why;
    }
    if (t->trial_positions > 1 &&
        (k->h->has_totals || t->trial_positions > PLUGMC_MOST_TRIAL_POSITIONS ||
         (t->kind != PLUGMC_INSERTED && t->kind != PLUGMC_REMOVED)))
        return "has too many trial positions";
    if (t->kind >= PLUGMC_GROUP_INSERTED) return NULL; /* see group_of_trial_is_wrong */
    if (another && (t->species < 0 || t->species >= k->h->system->species_count))
        return "has no such species";
    if (nobody(t))
        return t->other >= 0 && t->other < k->h->system->species_count ? NULL
                                                                       : "has no such species";
    if ((any_particle(t->kind) && !is_there(e, t->particle)) ||
        (t->kind == PLUGMC_SWAPPED && !is_there(e, t->other)))
        return "has no such particle";
    if (t->turns && (t->kind != PLUGMC_DISPLACED || !k->h->system->bodies ||
                     !is_orientation(&t->orientation, t->dimension)))
        return "turns what has no orientation, or to one that is none";
    return goes_somewhere(t->kind) && !is_position(t->position)
               ? "has a position that is not a number"
               : NULL;
}

/* What the trial would change, at the place that is chosen where there are several. */
static int ask(hamiltonian *h, plugmc_trial *t, const plugmc_changes *c, several_places *several,
               double *change, int64_t *chosen, int32_t *forbidden, double *delta)
{
    *forbidden = nobody(t);
    if (*forbidden) return PLUGMC_OK;
    if (is_molecule_trial(t) && molecule_choices(t) > 1)
        return t->kind == PLUGMC_MOLECULE_INSERTED
                   ? molecule_comes_to_one(h, t, c, t->position, &t->orientation, delta)
               : t->kind == PLUGMC_MOLECULE_REMOVED
                   ? molecule_leaves_one(h, t, c, delta)
                   : molecule_becomes_one(h, t, c, &t->orientation, delta);
    if (t->trial_positions > 1 && t->kind == PLUGMC_INSERTED)
        return places_to_come(h, t, several, change, chosen, forbidden, delta);
    const int code = hamiltonian_changes(h, c);
    if (code || *forbidden || t->trial_positions <= 1) return code;
    /* behind the change of its own, which weights of energies ask for */
    return places_to_leave(h, t, several, change + h->system->term_count, delta);
}

/* Arrays of plugmc_trial.group. */
typedef struct group_arrays {
    int32_t members[PLUGMC_MOST_DISPLACED];
    double positions[PLUGMC_MOST_DISPLACED][3];
} group_arrays;

/* What a mover is told of a trial that it is to propose. */
static plugmc_trial trial_of(const task *k, int32_t w, uint64_t sweep, uint32_t number,
                             plugmc_group *group)
{
    walker_energy *e = &k->h->walkers[w];
    const particle_arrays *all = &e->now.all;
    const free_particles *free = k->h->system->molecules ? &k->h->free : NULL;
    if (free) hamiltonian_count_free(k->h, e);
    return (plugmc_trial){.size = sizeof(plugmc_trial),
                          .walker = (uint32_t)w,
                          .seed = k->host->seed,
                          .sweep = sweep,
                          .number = number,
                          .dimension = e->now.box.dimension,
                          .particles = free ? e->free : e->now.present,
                          .first = free ? free->first : k->h->system->first,
                          .x = all->x,
                          .y = all->y,
                          .z = all->z,
                          .step = e->step,
                          .count = free ? e->free_count : e->now.counts,
                          .box = &e->now.box,
                          .move = k->proposal->move,
                          .group = group,
                          .molecule = k->h->system->molecule,
                          .orientations = all->orientation,
                          .molecules = k->h->system->molecules,
                          .with_sites = free ? e->now.counts : NULL,
                          .partner = (uint32_t)w};
}

static const char *group_of_trial_is_wrong(const walker_energy *e, const hamiltonian *h,
                                           const plugmc_group *group, const plugmc_changes *c)
{
    if (c->kind < PLUGMC_GROUP_INSERTED || c->kind >= PLUGMC_MOLECULE_DISPLACED) return NULL;
    if (group->n > group->capacity)
        return "has more particles in a group than the mover declares (plugmc_proposal.together)";
    return group_is_wrong(h, e, c, 0);
}

/* Orientations of a trial, NULL if it changes none: that of a body that turns, and random ones of those that come. */
static const plugmc_orientation *orientations_of(const task *k, plugmc_trial *t,
                                                 plugmc_orientation drawn[PLUGMC_MOST_TOGETHER])
{
    const int32_t n = t->kind == PLUGMC_INSERTED         ? 1
                      : t->kind == PLUGMC_GROUP_INSERTED ? t->group->n
                                                         : 0;
    if (!k->h->system->bodies) return NULL;
    if (t->kind == PLUGMC_MOLECULE_INSERTED || t->kind == PLUGMC_MOLECULE_IDENTITY) {
        t->orientation = trial_orientation(t, 0);
        return &t->orientation;
    }
    if (!n) /* of a group only the core turns one: that of the first site of a molecule */
        return t->turns && (t->kind == PLUGMC_DISPLACED || t->molecules) ? &t->orientation : NULL;
    for (int32_t j = 0; j < n && j < PLUGMC_MOST_TOGETHER;
         j++) /* of particles in no molecule: without meaning */
        drawn[j] = t->molecules ? plugmc_upright(3) : trial_orientation(t, j);
    return drawn;
}

/* Adds all sites of the molecule of first site i to the group of a trial, the first one first. */
static void add_sites(const walker_energy *e, plugmc_trial *t, int32_t i, const double to[3],
                      const plugmc_orientation *turned)
{
    int64_t number[PLUGMC_MOST_SITES];
    plugmc_group *g = t->group;
    const int32_t n =
        place_sites(e->now.system, &e->now.box, i, to, turned, &g->positions[g->n], number);
    for (int32_t a = 0; a < n; a++) g->members[g->n++] = (int32_t)number[a];
}

/* Makes the trial of a molecule, or of two that swap, one of a group. */
static void make_group_of_sites(const walker_energy *e, plugmc_trial *t)
{
    if (t->kind == PLUGMC_MOLECULES_SWAPPED) {
        const int32_t swapped[2] = {t->particle, t->other};
        for (int k = 0; k < 2; k++) {
            double to[3];
            configuration_place(&e->now, swapped[!k], to);
            add_sites(e, t, swapped[k], to, configuration_orientation(&e->now, swapped[k]));
        }
        t->turns = 0;
    } else {
        add_sites(e, t, t->particle, t->position,
                  t->turns ? &t->orientation : configuration_orientation(&e->now, t->particle));
    }
    t->kind = PLUGMC_GROUP_DISPLACED;
}

/* Returns the code of what failed; e tells the rest. */
static int trial_move(const task *k, int32_t w, uint64_t sweep, uint32_t number, double *change,
                      group_arrays *arrays)
{
    hamiltonian *h = k->h;
    walker_energy *e = &h->walkers[w];
    plugmc_group group = {0, k->together, arrays->members, arrays->positions};
    plugmc_trial trial = trial_of(k, w, sweep, number, &group);
    int32_t forbidden = 0;
    double delta = 0;
    const int proposed = k->proposal->propose(k->proposal->parameters, &trial);
    const char *why = proposed ? wrong(k, e, &trial) : NULL;
    e->refused = why;
    if (why) return PLUGMC_ERROR_STATE;
    plugmc_counts *counts =
        &e->counts[trial.move >= 0 && trial.move < k->moves ? trial.move : k->proposal->move];
    counts->trials++;
    if (!proposed) return PLUGMC_OK;
    const bool whole_molecule =
        trial.kind == PLUGMC_MOLECULE_DISPLACED || trial.kind == PLUGMC_MOLECULES_SWAPPED;
    if (whole_molecule) make_group_of_sites(e, &trial);
    if (trial.kind == PLUGMC_MOLECULE_IDENTITY && !nobody(&trial))
        configuration_place(&e->now, trial.particle, trial.position);
    const bool many = trial.kind >= PLUGMC_GROUP_INSERTED && trial.kind <= PLUGMC_GROUP_DISPLACED;
    plugmc_orientation drawn[PLUGMC_MOST_TOGETHER];
    const plugmc_changes c = {.size = sizeof c,
                              .kind = trial.kind,
                              .first = w,
                              .walkers = 1,
                              .per_walker = 1,
                              .particle = many ? group.members : &trial.particle,
                              .other = &trial.other,
                              .position = many ? (const double(*)[3])group.positions
                                               : (const double(*)[3])trial.position,
                              .species = many ? group.members : &trial.species,
                              .change = change,
                              .forbidden = &forbidden,
                              .delta = &delta,
                              .group = group.n,
                              .orientation = orientations_of(k, &trial, drawn)};
    e->refused = whole_molecule ? NULL : group_of_trial_is_wrong(e, h, &group, &c);
    if (!(trial.log_factor < INFINITY))
        e->refused = "has a log_factor that is not a number or plus infinity";
    if (e->refused) return PLUGMC_ERROR_STATE;
    several_places several;
    const bool comes_to_one = trial.trial_positions > 1 && trial.kind == PLUGMC_INSERTED;
    const plugmc_changes *settled = comes_to_one ? &several.changes : &c;
    const int64_t no = -1;
    int64_t yes = 0;
    e->failed_term = -1;
    e->failed_particle = any_particle(trial.kind) ? trial.particle : -1;
    int code = ask(h, &trial, &c, &several, change, &yes, &forbidden, &delta);
    const bias_step step = bias_of(h, w, bias_change(h, settled, w, comes_to_one ? yes : 0));
    if (forbidden && k->counted && !code) bias_note(h, w, &step, 0, false);
    if (code || forbidden) return code;
    delta -= trial.log_factor;
    if (!(delta > -INFINITY)) { /* it goes there, so that it is found */
        code = hamiltonian_settle(h, k->host, settled, &yes);
        return code ? code : PLUGMC_ERROR_STATE;
    }
    const plugmc_random random =
        plugmc_draw(k->host->seed, sweep, (uint32_t)w, number, PLUGMC_PURPOSE_ACCEPT, 0);
    const double weighted = delta + step.delta;
    const bool taken =
        !step.leads_out &&
        (weighted <= 0 || plugmc_uniform_double(random.word[0], random.word[1]) < exp(-weighted));
    if (k->counted) bias_note(h, w, &step, fmin(1, exp(-delta)), taken);
    counts->accepted += taken;
    return hamiltonian_settle(h, k->host, settled, taken ? &yes : &no);
}

/* Of a sweep that begins. */
static int64_t trials_of(const task *k, walker_energy *e)
{
    const plugmc_molecules *all = k->h->system->molecules;
    if (k->proposal->trials) return k->proposal->trials;
    if (!all) return e->now.present;
    if (PLUGMC_HAS(k->proposal, for_molecules) && k->proposal->for_molecules)
        return plugmc_molecules_present(all, e->now.counts, NULL);
    hamiltonian_count_free(k->h, e);
    return e->free;
}

/* Up to the sweep `last`, or until the run is stopped: then returns 1. */
static int sweep_walker(const task *k, int32_t w, uint64_t first, uint64_t last)
{
    walker_energy *e = &k->h->walkers[w];
    double change[(k->h->system->term_count + 1) * PLUGMC_MOST_TRIAL_POSITIONS];
    group_arrays arrays;
    for (uint64_t sweep = first; sweep <= last; sweep++) {
        const int64_t trials = trials_of(k, e);
        if (bias_is_of_energy(k->h)) bias_find_energy(k->h, w);
        for (int64_t t = 0; t < trials && !e->code; t++) {
            if (t % k->between_looks == 0 && k->host->stopping(k->host->context)) return 1;
            e->failed_sweep = sweep;
            e->code = trial_move(k, w, sweep, k->from + (uint32_t)t, change, &arrays);
            if (e->now.overwritten) {
                e->refused = "has written to positions, which `propose` may only read";
                e->code = PLUGMC_ERROR_STATE;
            }
        }
    }
    return 0;
}

static int report_failure(const hamiltonian *h, const plugmc_host *host)
{
    for (int32_t w = 0; w < h->system->walkers; w++) {
        const walker_energy *e = &h->walkers[w];
        if (e->code && e->refused)
            return host->fail(host->context, e->code,
                              "a trial move %s, in walker %d and sweep %llu", e->refused, w,
                              (unsigned long long)e->failed_sweep);
        if (e->code && e->failed_term >= 0)
            return host->fail(
                host->context, e->code,
                "potential '%s' failed to evaluate its energy change for particle %lld of "
                "walker %d in sweep %llu",
                plugmc_term_at(h->system, e->failed_term)->label, (long long)e->failed_particle, w,
                (unsigned long long)e->failed_sweep);
        const plugmc_not_a_number where = {.size = sizeof where,
                                           .walker = w,
                                           .particle = e->failed_particle,
                                           .sweep = e->failed_sweep};
        if (e->code) return host->not_a_number(host->context, &where);
    }
    return PLUGMC_OK;
}

/* Of walkers that sweep one after the other: a many-body term that has failed is not asked again. */
static bool failed_before(const hamiltonian *h, int32_t w)
{
    for (int32_t v = 0; v < w; v++)
        if (h->walkers[v].code) return true;
    return false;
}

/* Totals are called one at a time, from the main thread, as plugin.h promises. A few trial moves take
 * less time than anyone waits for; where every pair or the whole system is computed, one may take a
 * second. */
int hamiltonian_trials(hamiltonian *h, const plugmc_host *host, const plugmc_mover *mover,
                       const plugmc_proposal *proposal, uint64_t first, uint64_t n)
{
    int code = hamiltonian_refresh(h, host);
    if (!code && h->has_totals && h->boxes_taken) code = hamiltonian_start_totals(h, host);
    if (!code && PLUGMC_HAS(proposal, together) &&
        (proposal->together < 0 || proposal->together > PLUGMC_MOST_DISPLACED))
        code = host->fail(host->context, PLUGMC_ERROR_STATE,
                          "groups of %d particles are proposed; at most %d can move together",
                          proposal->together, PLUGMC_MOST_DISPLACED);
    if (code) return code;
    const task k = {h,
                    host,
                    proposal,
                    h->has_totals ? 1
                    : h->has_far  ? 2
                                  : 8,
                    PLUGMC_HAS(proposal, from) ? proposal->from : 0,
                    mover->move_count,
                    PLUGMC_HAS(proposal, together) ? proposal->together : 0,
                    bias_concerns(h, mover->changes)};
    const int threads = h->has_totals || h->system->threads < 1 ? 1 : h->system->threads;
    int stopped = 0;
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)                    \
    reduction(|                                                                                    \
              : stopped)
    for (int32_t w = 0; w < h->system->walkers; w++)
        if (!(h->has_totals && failed_before(h, w)))
            stopped |= sweep_walker(&k, w, first, first + n - 1);
    return stopped ? PLUGMC_STOPPED : report_failure(h, host);
}
