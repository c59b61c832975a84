/* Configurations of all walkers: the state that movers borrow. */
#ifndef PLUGMC_STATE_H
#define PLUGMC_STATE_H

#include "plugmc/plugin.h"

/* What a configuration consists of. Each is an array with a row for every walker. */
enum {
    PLUGMC_STATE_BOX, /* plugmc_box */
    PLUGMC_STATE_COUNT, /* int64_t [species]: particles of each. In every walker those of species s have the
                           numbers first[s] ... first[s] + count[s] - 1 (plugmc_system.first), whatever the
                           counts of others; behind them is room up to first[s + 1] */
    PLUGMC_STATE_POSITION, /* double [capacity][3], length; periodic ones wrapped into [0, length), z = 0
                              in two dimensions; NaN where there is nobody */
    PLUGMC_STATE_SPECIES,    /* int32_t [capacity] */
    PLUGMC_STATE_MULTIPLIER, /* double: of -ln p. [t] times the energy of term t, [terms] times the
                                volume, [terms + 1 + s] times the count of species s, which is -ln of its
                                activity; what comes behind in a row belongs to later versions */
    PLUGMC_STATE_RUNG,       /* int32_t: of the ladder; multipliers are those of the rung */
    PLUGMC_STATE_MOLECULE, /* int32_t [capacity]: number of the molecule in the walker; -1: none */
    PLUGMC_STATE_WEIGHT /* double: ln of the weight of the walker in averages (plugmc/wave.h); 0 */
};
enum { PLUGMC_ON_HOST, PLUGMC_ON_DEVICE };
enum { PLUGMC_READ = 1, PLUGMC_WRITE = 2 };

/* What has changed, as bits: 1 << PLUGMC_STATE_*. From 1 << 24 on they are changes that are no array. A mover
 * that changes or follows what a program does not know is refused. */
enum {
    PLUGMC_CHANGED_BOX = 1 << PLUGMC_STATE_BOX,
    PLUGMC_CHANGED_COUNT = 1 << PLUGMC_STATE_COUNT,
    PLUGMC_CHANGED_POSITION = 1 << PLUGMC_STATE_POSITION,
    PLUGMC_CHANGED_SPECIES = 1 << PLUGMC_STATE_SPECIES,
    PLUGMC_CHANGED_MULTIPLIER = 1 << PLUGMC_STATE_MULTIPLIER,
    PLUGMC_CHANGED_RUNG = 1 << PLUGMC_STATE_RUNG,
    PLUGMC_CHANGED_MOLECULE = 1 << PLUGMC_STATE_MOLECULE,
    PLUGMC_CHANGED_WALKER_WEIGHT = 1 << PLUGMC_STATE_WEIGHT,
    PLUGMC_CHANGED_WEIGHT =
        1 << 24 /* weights of macrostates: averages are not those of -ln p alone */
};

/* The configurations of all walkers. They are the core's; a mover borrows them from take to give. */
typedef struct plugmc_state {
    uint32_t size;
    int32_t walkers, first_walker,
        all_walkers;  /* here; number of the first among all; all that are known */
    int64_t capacity; /* particles that a walker has room for */
    /* An array on one side. PLUGMC_READ brings it up to date there first; PLUGMC_WRITE says that it
     * is changed there: the other side is out of date then, and other movers are told. Without
     * PLUGMC_READ all of it must be written. *row, unless NULL, becomes the bytes from one walker to
     * the next. The pointer holds until the callback returns. Fails with a message. */
    int (*array)(const struct plugmc_state *, int what, int side, int access, void **out,
                 size_t *row);
    void *core;
    int32_t of_run; /* walkers of the run, in all processes together */
} plugmc_state;

/* Positions [walkers][capacity][3] on a side; returns the code. */
static inline int plugmc_state_positions(const plugmc_state *state, int side, int access,
                                         double **positions)
{
    void *out = NULL;
    const int code = state->array(state, PLUGMC_STATE_POSITION, side, access, &out, NULL);
    *positions = (double *)out;
    return code;
}

#endif
