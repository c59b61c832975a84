/* The energy that is sampled: which facets of which potentials make it up, and how it changes.
 *
 * This is the one place that knows whether a term is a sum over pairs of finite range, over all pairs,
 * over one-body energies, a total, or a total beside parts. In a run on a GPU, energies of whole
 * configurations and swaps are found there (on_device.h), for movers that run there; what else is asked
 * is found on the host, where configurations are brought when something asks. */
#ifndef PLUGMC_HAMILTONIAN_H
#define PLUGMC_HAMILTONIAN_H

#include <stdbool.h>

#include "energy/configuration.h"
#include "energy/macrostates.h"
#include "plugmc/everything.h"

/* One sampled term, its facets sorted by what has to be done for them. */
typedef struct energy_term {
    const plugmc_term *of;
    int32_t index;            /* in plugmc_system.terms */
    const plugmc_pair *close; /* of finite range: only those near count; NULL: none */
    const plugmc_pair *far;   /* of any range: everyone counts */
    bool has_energy;          /* of `close`: else it is a hard core alone */
    const plugmc_field *field;
    const plugmc_total *total;
    bool total_moves; /* positions change it; else only the box does */
} energy_term;

enum { MOST_MOVES = 16 }; /* kinds of one mover whose trials the core makes */

typedef struct walker_energy {
    configuration now;
    configuration trial; /* in another box; made when a first one is proposed */
    double
        *energy; /* [terms + 1 + species]: of `now`, if known; behind them its volume and counts */
    double *proposed; /* as long: of `trial`, until it is settled; room for sums beside that */
    bool known;       /* energy is that of `now` */
    bool moved;       /* something was taken since the state was read or written */
    bool asked;       /* totals wait to be told whether their change was taken */
    bool rescaled;    /* ... another box was taken */
    bool recounted;   /* ... somebody came or left */
    int32_t full;     /* 1 + the species that had no room for another, the last time it happened */
    double step;      /* of trials, length or as the move has it */
    plugmc_counts counts[MOST_MOVES]; /* of trials, by kind; whoever reads them clears them */
    const char
        *refused; /* what is wrong with the trial move that a mover has made; NULL: nothing */
    int code;     /* what went wrong, in which term (-1: in the sum), and where */
    int32_t failed_term;
    uint64_t failed_sweep;
    int64_t failed_particle;
} walker_energy;

typedef struct hamiltonian {
    const plugmc_system *system;
    energy_term *terms; /* [count] */
    int count;
    bool has_totals, has_far; /* a total that positions change; a pair of any range */
    bool any_total;           /* of any kind */
    bool looks_far; /* at nearest images farther away than half the box is high, sampled or not */
    bool old_energies;      /* of close pairs and fields: there is more than hard cores */
    bool boxes_taken;       /* since totals were started: they have to be started again */
    double reach;           /* of `close` terms */
    double range;           /* of their energies alone */
    double *multipliers;    /* [walkers][width], as in the state */
    int width;              /* terms, the volume, species */
    walker_energy *walkers; /* [walkers]; NULL: not open */
    bool left_out;          /* their particles are not those of the state, which is ahead */
    const plugmc_state *state;
    /* plugmc_driver.rescale of the mover that holds the configuration, with `holder` as its instance;
     * PLUGMC_UNANSWERED if there is none. */
    int (*ask_holder)(void *holder, const plugmc_changes *, const int64_t *taken);
    void *holder;
    bool answered;                  /* by the holder, the last time that boxes were proposed */
    struct device_energies *device; /* NULL: none */
    bias bias;
    double *sums;      /* [walkers]: room, as the next two */
    plugmc_box *boxes; /* [walkers] */
    double *positions; /* [walkers][particles][3]: room for views */
    int64_t *counts;   /* [walkers][species]: likewise */
} hamiltonian;

/* Whether a pair within range may have several images in such a box. */
bool hamiltonian_finds_box_too_small(const hamiltonian *, const plugmc_box *);

/* Resolves the terms and takes memory; PLUGMC_* code, reported by `host`. The first call does it. */
int hamiltonian_open(hamiltonian *, const plugmc_host *host);
void hamiltonian_close(hamiltonian *);
/* Reads the state; writes into it what was taken since. PLUGMC_* codes. */
int hamiltonian_take(hamiltonian *, const plugmc_host *, const plugmc_state *, uint32_t changed);
int hamiltonian_give(hamiltonian *, const plugmc_state *);
/* Whether there is something to write. */
bool hamiltonian_is_ahead(const hamiltonian *);
/* One kind of it. */
int hamiltonian_give_boxes(hamiltonian *, const plugmc_state *);
int hamiltonian_give_counts(hamiltonian *, const plugmc_state *);
int hamiltonian_give_places(hamiltonian *, const plugmc_state *);

/* Particles that were left out are read from the state. From any thread. */
int hamiltonian_bring(hamiltonian *, const plugmc_host *);

/* hamiltonian.counts: as they are. */
void hamiltonian_counts(hamiltonian *);
/* A view of all walkers as they are; valid until the next one. */
int hamiltonian_view(hamiltonian *, const plugmc_host *, plugmc_view *);
/* Totals look at all walkers again, as they are. */
int hamiltonian_start_totals(hamiltonian *, const plugmc_host *);

/* plugmc_hamiltonian.energies and settle, plugmc_host.trials. */
int hamiltonian_energies(hamiltonian *, const plugmc_host *, const plugmc_changes *);
/* Of particles, for who has brought them and started totals. From many threads. */
int hamiltonian_changes(hamiltonian *, const plugmc_changes *);
int hamiltonian_settle(hamiltonian *, const plugmc_host *, const plugmc_changes *,
                       const int64_t *taken);
int hamiltonian_trials(hamiltonian *, const plugmc_host *, const plugmc_mover *,
                       const plugmc_proposal *, uint64_t first, uint64_t n);
/* plugmc_hamiltonian.decide, for a mover that changes this; rungs [walkers] or NULL, counts [rungs]. */
int hamiltonian_decide(hamiltonian *, const plugmc_host *, const plugmc_decision *,
                       uint32_t mover_changes, const int32_t *rungs, plugmc_counts *counts);
/* Whether anything is proposed as number p. */
bool hamiltonian_is_proposed(const plugmc_changes *, int64_t p);
/* Energy of each term [terms] of a walker as it is, added up on the host whether it is known or not; without
 * totals that positions change. From any thread. */
void hamiltonian_energy_anew(hamiltonian *, int32_t walker, double *energy);
/* Energy of each term [terms] of a walker as it is. */
int hamiltonian_energy(hamiltonian *, const plugmc_host *, int32_t walker, const double **energy);
/* plugmc_rungs.exchange_growth, exchange_rungs. */
int hamiltonian_exchange_growth(hamiltonian *, const plugmc_host *, int32_t a, int32_t b,
                                double *growth);
int hamiltonian_exchange_rungs(hamiltonian *, int32_t a, int32_t b);
/* Walker w has these multipliers in the state from now on. */
void hamiltonian_set_rung(hamiltonian *, int32_t w, const double *multipliers);
#endif
