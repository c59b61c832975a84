/* The sampled energy: the facets of potentials of which it consists, and its changes.
 *
 * Only this part knows whether a term is a sum over pairs of finite range, over all pairs, over one-body energies, a
 * many-body term, or a many-body term besides pairs and fields. In a run on a GPU, for movers that run there,
 * energies of whole configurations and trial moves are computed on the GPU (on_device.h), as far as it can. The rest is
 * computed on the host. Configurations are copied to the host when that is needed. */
#ifndef PLUGMC_HAMILTONIAN_H
#define PLUGMC_HAMILTONIAN_H

#include <stdbool.h>

#include "energy/configuration.h"
#include "energy/macrostates.h"
#include "plugmc/everything.h"

/* One sampled term. Its facets are sorted by how they are computed. */
typedef struct energy_term {
    const plugmc_term *of;
    /* Index in plugmc_system.terms. */
    int32_t index;
    /* A pair facet of finite range, for which only near particles matter. NULL: none. */
    const plugmc_pair *close;
    /* A pair facet without a range, for which all particles matter. */
    const plugmc_pair *far;
    /* Bodies. NULL: none. */
    const plugmc_body *body;
    /* `close` has an energy; else it is only a hard core. */
    bool has_energy;
    const plugmc_field *field;
    const plugmc_total *total;
    /* `total` depends on positions; else only on the box. */
    bool total_moves;
} energy_term;

/* Largest number of kinds of moves of a mover whose trials the core makes. */
enum { MOST_MOVES = 16 };

/* energy/running.h */
typedef struct running_energy {
    double *energy; /* [terms] */
    bool known;
    /* Since the fresh sums from which it started: largest absolute value of an energy or a change, but at least the number
     * of particles; how many changes were accepted. */
    double largest;
    int64_t changes;
    /* Bound on the error of -ln p in what was answered last from running energies. 0: from fresh sums. */
    double doubt;
} running_energy;

typedef struct walker_energy {
    configuration now;
    /* In another box. Allocated when a box is proposed for the first time. */
    configuration trial;
    /* [terms + 1 + species]: energies, volume and particle counts of `now`, if `known`. */
    double *energy;
    /* The same for `trial`, until it is accepted or rejected. Else a buffer for sums. */
    double *proposed;
    /* `energy` is that of `now`. */
    bool known;
    running_energy running;
    /* A trial move was accepted since the state was last loaded or stored. */
    bool moved;
    /* Many-body terms wait to be told whether their change was accepted. */
    bool asked;
    /* As `moved`: a body may have another orientation. */
    bool turned;
    /* As `moved`: another box was accepted. */
    bool rescaled;
    /* As `moved`: a particle was inserted or removed. */
    bool recounted;
    /* 1 + the species that had no free slot, when that last happened. */
    int32_t full;
    /* In a run with rigid molecules: particles that are in none, [species] and all together. Valid after hamiltonian_count_free. */
    int64_t *free_count, free;
    /* Step of trials: a length, or in the unit of the move. */
    double step;
    /* Of trials, by kind. The reader resets them. */
    plugmc_counts counts[MOST_MOVES];
    /* What is wrong with the trial move that a mover has proposed. NULL: nothing. */
    const char *refused;
    /* What failed, in which term (-1: in the sum), and where. */
    int code;
    int32_t failed_term;
    uint64_t failed_sweep;
    int64_t failed_particle;
} walker_energy;

/* A mover that holds the configuration and can answer for other boxes. */
typedef struct configuration_holder {
    /* plugmc_driver.rescale; `holder` is passed in place of its instance. PLUGMC_UNANSWERED if there is no such mover.
     * NULL: none. */
    int (*rescale)(void *holder, const plugmc_changes *, const int64_t *taken);
    void *holder;
    /* When boxes were last proposed, it answered. */
    bool answered;
} configuration_holder;

/* In a run with rigid molecules: the particles that are in none. */
typedef struct free_particles {
    /* [species + 1] of each species the first one; [species] how many there are at the start. */
    int64_t *first, *count;
    /* [species] molecules have sites of it, so the number of those in no molecule does not change. */
    bool *fixed;
} free_particles;

typedef struct hamiltonian {
    const plugmc_system *system;
    energy_term *terms; /* [count] */
    int count;
    /* There is a many-body term that depends on positions; there is a pair facet without a range. */
    bool has_totals, has_far;
    /* There is a many-body term of any kind. */
    bool any_total;
    /* A term, sampled or not, needs nearest images farther away than half the height of the box. */
    bool looks_far;
    /* Close pairs and fields have energies, not only hard cores. */
    bool old_energies;
    /* Another box was accepted since many-body terms were started, so they must be started again. */
    bool boxes_taken;
    /* Reach of the `close` terms, and of their energies without hard cores. */
    double reach;
    double range;
    /* [walkers][width], as in the state. */
    double *multipliers;
    /* Terms, the volume, species. */
    int width;
    free_particles free;
    /* [walkers]; NULL: not open. */
    walker_energy *walkers;
    /* The particles in `walkers` are out of date; the state is newer. */
    bool stale;
    const plugmc_state *state;
    configuration_holder holder;
    /* NULL: none. */
    struct device_energies *device;
    /* Many-body terms that offer only `energy` (energy/totals.h). NULL: none. */
    struct whole_energies *whole;
    bias bias;
    /* Buffers: sums [walkers], boxes [walkers]; for views positions [walkers][particles][3], counts
     * [walkers][species]. */
    double *sums;
    plugmc_box *boxes;
    double *positions;
    int64_t *counts;
} hamiltonian;

/* Whether there are hard cores alone, which have no energies. */
bool hamiltonian_is_of_hard_cores(const hamiltonian *);
/* Whether the bodies of a term have energies, not only hard cores. */
bool bodies_have_energy(const energy_term *);

/* Threads for a loop that spends some 100 ns on each walker: one where there are few, who are done before others have begun. */
int hamiltonian_threads(const hamiltonian *);
/* Whether a pair within range may have several images in such a box. */
bool hamiltonian_finds_box_too_small(const hamiltonian *, const plugmc_box *);

/* Resolves the terms and allocates memory; only the first call does anything. Returns a PLUGMC_* code, reported by
 * `host`. */
int hamiltonian_open(hamiltonian *, const plugmc_host *host);
void hamiltonian_close(hamiltonian *);
/* Loads the state; stores in it what was accepted since. Both return PLUGMC_* codes. */
int hamiltonian_load(hamiltonian *, const plugmc_host *, const plugmc_state *, uint32_t changed);
int hamiltonian_store(hamiltonian *, const plugmc_state *);
/* Whether there is something to store. */
bool hamiltonian_is_newer(const hamiltonian *);
/* Store only boxes, particle counts, positions, or orientations. */
int hamiltonian_store_boxes(hamiltonian *, const plugmc_state *);
int hamiltonian_store_counts(hamiltonian *, const plugmc_state *);
int hamiltonian_store_positions(hamiltonian *, const plugmc_state *);
int hamiltonian_store_orientations(hamiltonian *, const plugmc_state *);

/* Loads the particles from the state if they are out of date (`stale`). From any thread. */
int hamiltonian_refresh(hamiltonian *, const plugmc_host *);

/* Updates walker_energy.free and free_count. */
void hamiltonian_count_free(const hamiltonian *, walker_energy *);
/* Updates hamiltonian.counts. */
void hamiltonian_counts(hamiltonian *);
/* A view of all walkers now. Valid until the next call. */
int hamiltonian_view(hamiltonian *, const plugmc_host *, plugmc_view *);
/* Starts many-body terms again with all walkers as they are now. */
int hamiltonian_start_totals(hamiltonian *, const plugmc_host *);

/* plugmc_hamiltonian.energies and settle, plugmc_host.trials. */
int hamiltonian_energies(hamiltonian *, const plugmc_host *, const plugmc_changes *);
/* Changes of particles. The caller has called hamiltonian_refresh and started many-body terms. From many threads. */
int hamiltonian_changes(hamiltonian *, const plugmc_changes *);
int hamiltonian_settle(hamiltonian *, const plugmc_host *, const plugmc_changes *,
                       const int64_t *taken);
/* What is wrong with proposals of particles or molecules. NULL: nothing. */
const char *changes_refused(const hamiltonian *, const plugmc_changes *);
/* Change of -ln p by proposal p, for which the volume grows by `volume`: each change times what multiplies it in walker w. */
void changes_weigh(const hamiltonian *, const plugmc_changes *, int32_t w, int64_t p,
                   double volume);
int hamiltonian_trials(hamiltonian *, const plugmc_host *, const plugmc_mover *,
                       const plugmc_proposal *, uint64_t first, uint64_t n);
/* Answers for a change of boxes with fresh sums, in walker w, where running energies have answered before. */
int hamiltonian_resolve_doubt(hamiltonian *, const plugmc_host *, const plugmc_changes *,
                              int32_t w);
/* plugmc_hamiltonian.decide, for a mover with these changes. rungs [walkers] or NULL, counts [rungs]. */
int hamiltonian_decide(hamiltonian *, const plugmc_host *, const plugmc_decision *,
                       uint32_t mover_changes, const int32_t *rungs, plugmc_counts *counts);
/* Whether proposal number p is a change at all. */
bool hamiltonian_is_proposed(const plugmc_changes *, int64_t p);
/* Energy of each term [terms] of a walker now, summed from scratch on the host even if it is known. Many-body terms
 * that depend on positions are left out. From any thread. */
void hamiltonian_energy_anew(hamiltonian *, int32_t walker, double *energy);
/* Energy of each term [terms] of a walker now. */
int hamiltonian_energy(hamiltonian *, const plugmc_host *, int32_t walker, const double **energy);
/* plugmc_rungs.exchange_delta, exchange_rungs. */
int hamiltonian_exchange_delta(hamiltonian *, const plugmc_host *, int32_t a, int32_t b,
                               double *delta);
int hamiltonian_exchange_rungs(hamiltonian *, int32_t a, int32_t b);
/* Sets the multipliers of walker w, which are those of its rung in the state from now on. */
void hamiltonian_set_rung(hamiltonian *, int32_t w, const double *multipliers);
#endif
