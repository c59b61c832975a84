/* A trial move of one walker, as a mover proposes it. In GPU source this header comes before the mover's file. */
#ifndef PLUGMC_TRIAL_MOVE_H
#define PLUGMC_TRIAL_MOVE_H

#include "plugmc/molecule.h"

/* Kinds of trial move. */
enum {
    PLUGMC_DISPLACED, /* `particle` moves to `position` */
    PLUGMC_SWAPPED,   /* `particle` and `other` swap positions */
    PLUGMC_RESCALED,  /* the walker gets `box`; fractional coordinates stay */
    /* A particle of `species` is inserted at `position`, with the number after the last of its species. Forbidden
     * if that exceeds plugmc_species.capacity. */
    PLUGMC_INSERTED,
    PLUGMC_REMOVED,  /* `particle` is removed; the last of its species gets its number */
    PLUGMC_IDENTITY, /* `particle` becomes one of `species`: removed, and inserted in place */
    /* `group` particles are inserted, or removed, together. Of one species the largest number is removed first. */
    PLUGMC_GROUP_INSERTED,
    PLUGMC_GROUP_REMOVED,
    PLUGMC_GROUP_DISPLACED, /* the particles of `group` move to its positions, all at once */
    /* Since 2.1. The rigid molecule whose first site is `particle`: that site moves to `position`, and with turns = 1
     * the molecule gets `orientation`. The core places the other sites. Of trial moves only. */
    PLUGMC_MOLECULE_DISPLACED,
    /* Since 2.1. A rigid molecule of the kind number `species` is inserted with its first site at `position`, and with an
     * orientation, as the last of its kind. Forbidden if that exceeds plugmc_molecule.capacity. */
    PLUGMC_MOLECULE_INSERTED,
    /* Since 2.1. The rigid molecule whose first site is `particle` is removed; the last of its kind gets its numbers. */
    PLUGMC_MOLECULE_REMOVED,
    /* Since 2.1. The rigid molecule whose first site is `particle` becomes one of the kind number `species`: removed, and
     * inserted with its first site at the same position and with a random orientation, which the core draws. Of trial moves
     * only. */
    PLUGMC_MOLECULE_IDENTITY,
    /* Since 2.1. The rigid molecules whose first sites are `particle` and `other` take each other's positions, and keep their
     * orientations. Of trial moves only. */
    PLUGMC_MOLECULES_SWAPPED
};

/* Particles inserted or removed at once by a mover, at most. The sites of a molecule may be PLUGMC_MOST_SITES. */
enum { PLUGMC_MOST_TOGETHER = 8 };
enum { PLUGMC_MOST_DISPLACED = 512 };      /* particles displaced at once, at most */
enum { PLUGMC_MOST_TRIAL_POSITIONS = 64 }; /* of one trial */

/* Particles that are inserted, removed or displaced together. */
typedef struct plugmc_group {
    int32_t n, capacity; /* number of particles; capacity of the arrays: plugmc_proposal.together */
    int32_t *members;    /* [n] species to insert, or particles: see plugmc_changes */
    double (*positions)[3]; /* [n] of insertions and displacements, length; wrapped by the core */
} plugmc_group;

/* Input and output of `propose`. The core sets the inputs and clears the outputs. */
typedef struct plugmc_trial {
    uint32_t size;
    /* input */
    uint32_t walker; /* for plugmc_draw */
    plugmc_seed seed;
    uint64_t sweep;
    uint32_t number; /* of the trial in the sweep, counted from plugmc_proposal.from */
    int32_t dimension;
    int64_t particles;       /* present now: see plugmc_one_of_all */
    const int64_t *first;    /* particles of species s: first[s] ... first[s] + count[s] - 1 */
    const double *x, *y, *z; /* length */
    double step;             /* of the move plugmc_proposal.move */
    /* output */
    int32_t kind; /* any but PLUGMC_RESCALED */
    /* PLUGMC_REMOVED, PLUGMC_IDENTITY: -1 if there is no particle of species `other`; the trial is then rejected. So for
     * PLUGMC_MOLECULE_REMOVED and PLUGMC_MOLECULE_IDENTITY, where `other` is the kind of molecule. */
    int32_t particle, other;
    double position[3]; /* length; wrapped by the core */
    /* input */
    const int64_t *count; /* [species] */
    const struct plugmc_box *box;
    /* output; `move` is preset to plugmc_proposal.move */
    int32_t
        species; /* of PLUGMC_INSERTED and PLUGMC_IDENTITY; of molecules that come the kind of molecule */
    int32_t move; /* index in the mover's table: which counts */
    /* ln of the mover's own factor in the acceptance probability: the probability density of proposing the reverse
     * move over that of this one. */
    double log_factor;
    /* PLUGMC_GROUP_*: arrays to fill in, n is 0. If plugmc_proposal.together is 0 there is no room, and on a GPU it may be NULL. */
    plugmc_group *group;
    /* PLUGMC_INSERTED and PLUGMC_REMOVED, k > 1: k trial positions, those of plugmc_draw_trial_position instead of
     * `position`. An insertion selects one of them with its Boltzmann weight; a removal weighs the particle's own
     * position and k - 1 others. log_factor is that of a single position. At most PLUGMC_MOST_TRIAL_POSITIONS; not
     * possible with a many-body term that depends on positions. */
    int32_t trial_positions;
    /* input: [particles] as PLUGMC_STATE_MOLECULE; NULL: no molecules. */
    const int32_t *molecule;
    /* Since 2.1. Input: [particles]; NULL: there are no bodies and no rigid molecules. Output, of PLUGMC_DISPLACED
     * and PLUGMC_MOLECULE_DISPLACED with turns = 1: the new orientation of `particle`. Where particles come, the core draws their orientations. */
    const plugmc_orientation *orientations;
    int32_t turns;
    plugmc_orientation orientation;
    /* Since 2.1. Input: rigid molecules; NULL: there are none. If there are, `particles`, `first` and `count` are of
     * the particles that are in no molecule. */
    const plugmc_molecules *molecules;
    /* Since 2.1. Input, if there are: [species] particles, sites among them, for plugmc_molecules_of_kind. */
    const int64_t *with_sites;
    /* Since 2.1. Output, of PLUGMC_MOLECULE_INSERTED and PLUGMC_MOLECULE_REMOVED: orientations that are tried at each
     * trial position; their product is at most PLUGMC_MOST_TRIAL_POSITIONS. Positions are those of
     * plugmc_draw_trial_position, orientations random. One of all is selected by its Boltzmann factor, of pairs and fields
     * alone; a removal weighs the molecule's own place and orientation together with the others that an insertion would
     * have had. Many-body terms are asked once, and may be of any kind. PLUGMC_MOLECULE_IDENTITY: likewise, of the molecule that
     * comes and of the one that leaves, at the one position of both. */
    int32_t trial_orientations;
    /* Since 2.1. Input: the walker that is decided together with this one (plugmc_proposal.partner), or this one. */
    uint32_t partner;
} plugmc_trial;

/* Number of the k-th particle present, k = 0 ... particles - 1, species by species. */
PLUGMC_FN int64_t plugmc_one_of_all(const plugmc_trial *t, int64_t k)
{
    int64_t s = 0;
    for (; k >= t->count[s]; s++) k -= t->count[s];
    return t->first[s] + k;
}

/* A position drawn uniformly in a box or sphere. With D(k) = plugmc_draw(seed, sweep, walker, number,
 * PLUGMC_PURPOSE_TRIAL, k), the fractional coordinates are plugmc_uniform_double of words 0 and 1 of D(0), words 2
 * and 3 of D(0), words 0 and 1 of D(1). In a sphere it is radius times plugmc_draw_in_ball. */
PLUGMC_FN void plugmc_draw_position(const plugmc_trial *t, double place[3])
{
    const plugmc_box *box = t->box;
    if (box->domain == PLUGMC_DOMAIN_SPHERE) {
        plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, place);
        for (int d = 0; d < 3; d++) place[d] *= box->radius;
        return;
    }
    const plugmc_random a = plugmc_draw(t->seed, t->sweep, t->walker, t->number,
                                        PLUGMC_PURPOSE_TRIAL, 0),
                        b = plugmc_draw(t->seed, t->sweep, t->walker, t->number,
                                        PLUGMC_PURPOSE_TRIAL, 1);
    const double f[3] = {plugmc_uniform_double(a.word[0], a.word[1]),
                         plugmc_uniform_double(a.word[2], a.word[3]),
                         plugmc_uniform_double(b.word[0], b.word[1])};
    place[0] = place[1] = place[2] = 0;
    for (int k = 0; k < t->dimension; k++)
        for (int d = 0; d < t->dimension; d++) place[d] += f[k] * box->vector[k][d];
}

/* Trial position j of a trial with several. It is that of plugmc_draw_position with the key of the seed increased
 * by j times the fractional part of the golden ratio times 2^64. */
PLUGMC_FN void plugmc_draw_trial_position(const plugmc_trial *t, int32_t j, double place[3])
{
    plugmc_trial one = *t;
    one.seed.key += (uint64_t)j * 0x9e3779b97f4a7c15u;
    plugmc_draw_position(&one, place);
}

#endif
