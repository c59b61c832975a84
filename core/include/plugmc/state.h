/* The configurations of all walkers. Movers load and store them. */
#ifndef PLUGMC_STATE_H
#define PLUGMC_STATE_H

#include "plugmc/plugin.h"

/* Arrays of a configuration, each with one row per walker. A walker is an independent replica of the system. A rung
 * is a point of the ladder: a set of temperature, pressure, chemical potentials and couplings. */
enum {
    PLUGMC_STATE_BOX, /* plugmc_box */
    /* int64_t [species] particles of each species. In every walker species s has the numbers first[s] ... first[s]
     * + count[s] - 1 (plugmc_system.first), whatever the other counts are; those up to first[s + 1] - 1 are free. */
    PLUGMC_STATE_COUNT,
    /* double [capacity][3], length; periodic coordinates wrapped into [0, length), z = 0 in two dimensions; NaN
     * where there is no particle. */
    PLUGMC_STATE_POSITION,
    PLUGMC_STATE_SPECIES, /* int32_t [capacity] */
    /* double: multipliers in -ln p. [t] multiplies the energy of term t, [terms] the volume, [terms + 1 + s] the
     * count of species s: it is -ln of its activity. Further entries are for later versions. */
    PLUGMC_STATE_MULTIPLIER,
    PLUGMC_STATE_RUNG, /* int32_t: rung of the walker; the multipliers are those of the rung */
    /* int32_t [capacity] number of the particle's molecule in the walker; -1: none. */
    PLUGMC_STATE_MOLECULE,
    /* double: ln of the walker's weight in averages (plugmc/wave.h); 0 if no mover changes it. */
    PLUGMC_STATE_WEIGHT,
    /* Since 2.1. plugmc_orientation [capacity]; empty rows unless plugmc_system.bodies. That of a
     * rigid molecule is at the number of its first site. */
    PLUGMC_STATE_ORIENTATION
};
enum { PLUGMC_ON_HOST, PLUGMC_ON_DEVICE };
enum { PLUGMC_READ = 1, PLUGMC_WRITE = 2 };

/* Changes, as bits 1 << PLUGMC_STATE_*. Bits from 1 << 24 on are changes that are not arrays. A program refuses a
 * mover that changes or follows something that the program does not know. */
enum {
    PLUGMC_CHANGED_BOX = 1 << PLUGMC_STATE_BOX,
    PLUGMC_CHANGED_COUNT = 1 << PLUGMC_STATE_COUNT,
    PLUGMC_CHANGED_POSITION = 1 << PLUGMC_STATE_POSITION,
    PLUGMC_CHANGED_SPECIES = 1 << PLUGMC_STATE_SPECIES,
    PLUGMC_CHANGED_MULTIPLIER = 1 << PLUGMC_STATE_MULTIPLIER,
    PLUGMC_CHANGED_RUNG = 1 << PLUGMC_STATE_RUNG,
    /* Since 2.1, in `follows` of an observable or many-body term: right where particles are sites of rigid molecules
     * (plugmc/molecule.h), pairs within which have no energy. */
    PLUGMC_CHANGED_MOLECULE = 1 << PLUGMC_STATE_MOLECULE,
    PLUGMC_CHANGED_WALKER_WEIGHT = 1 << PLUGMC_STATE_WEIGHT,
    PLUGMC_CHANGED_ORIENTATION = 1 << PLUGMC_STATE_ORIENTATION,
    /* Weights of macrostates: averages are not those of -ln p alone. */
    PLUGMC_CHANGED_WEIGHT = 1 << 24
};

/* The configurations of all walkers of this process. The core owns them; a mover uses them between `load` and
 * `store` (plugmc/driver.h). */
typedef struct plugmc_state {
    uint32_t size;
    /* Walkers of this process; the number of its first walker; [run] first_walker plus the walkers of the run. */
    int32_t walkers, first_walker, all_walkers;
    int64_t capacity; /* particles that a walker can hold */
    /* Returns an array on one side (host or device). PLUGMC_READ updates it there first. PLUGMC_WRITE announces
     * that it is changed there: the other side becomes out of date and other movers are told. Without PLUGMC_READ
     * the whole array has to be written. *row, unless NULL, becomes the bytes from one walker to the next. The
     * pointer is valid until the callback returns. On failure it reports the error and returns its code. */
    int (*array)(const struct plugmc_state *, int what, int side, int access, void **out,
                 size_t *row);
    void *core;
    int32_t of_run; /* walkers of the run, in all processes together */
} plugmc_state;

/* Positions [walkers][capacity][3] on one side; returns the code. */
static inline int plugmc_state_positions(const plugmc_state *state, int side, int access,
                                         double **positions)
{
    void *out = NULL;
    const int code = state->array(state, PLUGMC_STATE_POSITION, side, access, &out, NULL);
    *positions = (double *)out;
    return code;
}

#endif
