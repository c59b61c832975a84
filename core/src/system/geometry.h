/* Geometry for the files of core/src/system: contact distances and forbidden positions. */
#ifndef PLUGMC_GEOMETRY_H
#define PLUGMC_GEOMETRY_H

#include "base/cell_grid.h"
#include "plugmc/everything.h"

/* ---- Contacts ------------------------------------------------------------------------------ */

/* Contact distances: the largest distance, over the sampled terms, below which two particles overlap. */
typedef struct contacts {
    int32_t species;
    double *between; /* [species][species], length; 0 without a hard core */
    double largest;
} contacts;

int contacts_make(const plugmc_system *, contacts *); /* EXIT_DONE or EXIT_MEMORY */
void contacts_free(contacts *);

/* Whether `position` is outside the domain, or forbidden by a sampled field. */
int forbidden(const plugmc_system *, int32_t species, const double position[3]);
/* Whether `position` is so many boxes away that wrapping it into the box loses digits. */
int far_away(const plugmc_box *, const double position[3]);
/* Species of particle i. */
int32_t species_of(const plugmc_system *, int64_t i);
/* Volume (area in two dimensions) of a sphere (disk). */
double ball_volume(int dimension, double diameter);
/* Volume of a particle of a species: of the body that a sampled potential gives it, else of a sphere of its diameter. */
double particle_volume(const plugmc_system *, int32_t species);
/* Largest packing fraction of equal particles: pi/(2 sqrt 3) or pi/(3 sqrt 2). */
double close_packing(int dimension);

#endif
