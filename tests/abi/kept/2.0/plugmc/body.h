/* Bodies: particles with an orientation, and energies that see it. A draft, which nothing in the core serves yet: what
 * plugins that are written for it will offer and ask for (docs/room-to-grow.md). */
#ifndef PLUGMC_BODY_H
#define PLUGMC_BODY_H

#include "plugmc/plugin.h"
#include "plugmc/state.h"

/* An array of the state behind those of this version: double [capacity][4], unit quaternions w, x, y, z, (1, 0, 0, 0)
 * where nobody has turned; in two dimensions turns about z alone. A mover that changes it says
 * PLUGMC_CHANGED_ORIENTATION, which programs without bodies refuse. */
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

/* The facet, an extension that a potential offers. Who overlaps is a matter of orientations, so it is told here and not
 * by a contact distance. */
#define PLUGMC_BODY "plugmc.body/1"
typedef struct plugmc_body {
    uint32_t size;
    /* Between centres: from where on the energy is exactly 0. */
    double (*range)(const void *instance);
    /* Of a probe of one body with n others, over kT: added to *energy; returns how many overlap with it. */
    int64_t (*energy)(const void *instance, const plugmc_box *, int periodic,
                      const plugmc_bodies *probe, const plugmc_bodies *others, double *energy);
    /* Optional: also the force on the probe and the torque about its centre [3], for hybrid Monte Carlo and virials. */
    int64_t (*derivatives)(const void *instance, const plugmc_box *, int periodic,
                           const plugmc_bodies *probe, const plugmc_bodies *others, double *energy,
                           double force[3], double torque[3]);
} plugmc_body;

/* Rigid molecules: what the core will tell of them. */
#define PLUGMC_MOLECULES "plugmc.molecules/1"
typedef struct plugmc_molecule {
    uint32_t size;
    const char *name;
    int32_t sites;          /* particles of one, side by side in the state */
    const int32_t *species; /* [sites] */
    const double (
        *rest)[3]; /* [sites] length: about the centre of mass, as it lies with (1, 0, 0, 0) */
} plugmc_molecule;
typedef struct plugmc_molecules {
    uint32_t size;
    int32_t kinds;
    const plugmc_molecule *const *kind; /* [kinds] */
} plugmc_molecules;

#endif
