/* A trial move, as a mover proposes it. On a GPU this text stands in front of the mover's. */
#ifndef PLUGMC_TRIAL_MOVE_H
#define PLUGMC_TRIAL_MOVE_H

#if !defined(__CUDACC_RTC__)
#include <stddef.h>
#include <stdint.h>
#endif

#include "plugmc/device.h"

/* Kinds of change. */
enum {
    PLUGMC_DISPLACED, /* `particle` goes to `position` */
    PLUGMC_SWAPPED,   /* `particle` and `other` take each other's place */
    PLUGMC_RESCALED,  /* the walker gets `box`; fractional coordinates stay */
    PLUGMC_INSERTED, /* a particle of `species` comes in at `position`: behind the last of its species.
                         Forbidden where there is no place for it (plugmc_species.capacity) */
    PLUGMC_REMOVED,  /* `particle` leaves; the last of its species gets its number */
    PLUGMC_IDENTITY, /* `particle` becomes one of `species`: it leaves, and comes in where it was */
    /* `group` particles come in, or leave, together. Of a species the one with the largest number leaves first. */
    PLUGMC_GROUP_INSERTED,
    PLUGMC_GROUP_REMOVED
};

enum { PLUGMC_MOST_TOGETHER = 8 };         /* room for particles of a group, at least */
enum { PLUGMC_MOST_TRIAL_POSITIONS = 64 }; /* of a trial */

/* Particles of a trial that come or leave together. */
typedef struct plugmc_group {
    int32_t n, capacity;    /* how many; for how many there is room */
    int32_t *members;       /* [n] species that come, or particles that leave: see plugmc_changes */
    double (*positions)[3]; /* [n] of those that come, length; wrapped by the core */
} plugmc_group;

/* A trial move of one walker as a mover proposes it. */
typedef struct plugmc_trial {
    uint32_t size;
    /* given */
    uint32_t walker; /* for plugmc_draw */
    plugmc_seed seed;
    uint64_t sweep;
    uint32_t number; /* of the trial in the sweep, from plugmc_proposal.from */
    int32_t dimension;
    int64_t particles;       /* that are there: see plugmc_one_of_all */
    const int64_t *first;    /* particles of species s: first[s] ... first[s] + count[s] - 1 */
    const double *x, *y, *z; /* length */
    double step;             /* that of plugmc_proposal.move */
    /* wanted; cleared before */
    int32_t kind; /* any but PLUGMC_RESCALED */
    /* Of PLUGMC_REMOVED and PLUGMC_IDENTITY `particle` is -1 where there is nobody of the species `other`:
     * such a trial is rejected. */
    int32_t particle, other;
    double position[3]; /* length; wrapped by the core */
    /* given */
    const int64_t *count; /* [species] */
    const struct plugmc_box *box;
    /* wanted; cleared before, `move` is that of plugmc_proposal */
    int32_t species; /* of PLUGMC_INSERTED and PLUGMC_IDENTITY */
    int32_t move;    /* whose counts */
    double
        log_factor; /* ln of the mover's own factor in the probability of acceptance: the density with which
                          the way back is proposed over that of the way there */
    /* Of PLUGMC_GROUP_*: room for them, n is 0; NULL on a GPU without PLUGMC_GROUPS. */
    plugmc_group *group;
    /* wanted; cleared before. Of PLUGMC_INSERTED and PLUGMC_REMOVED, k above 1: k places are weighed, those of
     * plugmc_draw_trial_position instead of `position`, and who comes goes to one of them by its Boltzmann factor; of who
     * leaves its own and k - 1 others. log_factor is that of one place. At most PLUGMC_MOST_TRIAL_POSITIONS, and not beside a
     * total that positions change. */
    int32_t trial_positions;
} plugmc_trial;

/* Number k = 0 ... particles - 1 of all particles that are there, species by species. */
PLUGMC_FN int64_t plugmc_one_of_all(const plugmc_trial *t, int64_t k)
{
    int64_t s = 0;
    for (; k >= t->count[s]; s++) k -= t->count[s];
    return t->first[s] + k;
}

/* A place drawn uniformly in a box or sphere: with D(k) = plugmc_draw(seed, sweep, walker, number,
 * PLUGMC_PURPOSE_TRIAL, k), fractional coordinates are plugmc_uniform_double of words 0 and 1 of D(0), 2 and 3
 * of D(0), 0 and 1 of D(1); in a sphere it is radius times plugmc_draw_in_ball. */
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

/* Place j of a trial with several: 0 is that of plugmc_draw_position, j that with the seed plus j times the fractional
 * part of the golden ratio, 2^64 for 1. */
PLUGMC_FN void plugmc_draw_trial_position(const plugmc_trial *t, int32_t j, double place[3])
{
    plugmc_trial one = *t;
    one.seed.key += (uint64_t)j * 0x9e3779b97f4a7c15u;
    plugmc_draw_position(&one, place);
}

#endif
