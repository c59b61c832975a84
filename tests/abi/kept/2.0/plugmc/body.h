/* Bodies: particles with an orientation, and energies that depend on it. A draft that the core does not support
 * yet: what plugins written for it will offer and request (docs/room-to-grow.md). */
#ifndef PLUGMC_BODY_H
#define PLUGMC_BODY_H

#include "plugmc/plugin.h"
#include "plugmc/state.h"

/* A further array of the state: double [capacity][4], unit quaternions w, x, y, z, initially (1, 0, 0, 0); in two
 * dimensions rotations about z only. A mover that changes it sets PLUGMC_CHANGED_ORIENTATION; programs without
 * bodies refuse it. */
enum {
    PLUGMC_STATE_ORIENTATION = PLUGMC_STATE_WEIGHT + 1,
    PLUGMC_CHANGED_ORIENTATION = 1 << PLUGMC_STATE_ORIENTATION
};

typedef struct plugmc_bodies {
    uint32_t size;
    int64_t n;
    const double (*center)[3];      /* [n] length */
    const double (*orientation)[4]; /* [n] */
    const int32_t *species;         /* [n] */
} plugmc_bodies;

/* The facet, an extension that a potential offers. Overlaps depend on orientations, so `energy` returns them; there
 * is no contact distance. */
#define PLUGMC_BODY "plugmc.body/1"
typedef struct plugmc_body {
    uint32_t size;
    /* Distance between centres from which the energy is exactly 0. */
    double (*range)(const void *instance);
    /* Adds the energy of a probe, a single body, with n others to *energy. Returns how many overlap with it. */
    int64_t (*energy)(const void *instance, const plugmc_box *, int periodic,
                      const plugmc_bodies *probe, const plugmc_bodies *others, double *energy);
    /* Optional: also the force on the probe and the torque about its centre [3], for hybrid Monte Carlo and
     * virials. */
    int64_t (*derivatives)(const void *instance, const plugmc_box *, int periodic,
                           const plugmc_bodies *probe, const plugmc_bodies *others, double *energy,
                           double force[3], double torque[3]);
} plugmc_body;

/* Rigid molecules: the core's extension. */
#define PLUGMC_MOLECULES "plugmc.molecules/1"
typedef struct plugmc_molecule {
    uint32_t size;
    const char *name;
    int32_t sites;          /* particles per molecule, contiguous in the state */
    const int32_t *species; /* [sites] */
    /* [sites] positions relative to the centre of mass at orientation (1, 0, 0, 0), length. */
    const double (*rest)[3];
} plugmc_molecule;
typedef struct plugmc_molecules {
    uint32_t size;
    int32_t kinds;
    const plugmc_molecule *const *kind; /* [kinds] */
} plugmc_molecules;

#endif
