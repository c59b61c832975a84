/* Pair and one-body energies as movers call them. plugmc/pair.h and plugmc/field.h make these structs (facets of a
 * potential) from the author's functions.
 *
 * Energies are in the potentials' unit of energy (below: "energy"), which is kT unless [run] temperature is given.
 * The batch functions are called from many threads at once. */
#ifndef PLUGMC_FACETS_H
#define PLUGMC_FACETS_H

#include "plugmc/plugin.h"

/* One particle; double, whatever the precision of the descriptor. */
typedef struct plugmc_particle {
    double x, y, z, charge, diameter;
    int32_t species;
} plugmc_particle;

/* Particles as a structure of arrays; real is that of the descriptor. */
typedef struct plugmc_particles {
    int64_t n;
    const void *x, *y, *z;         /* real[n] */
    const void *charge, *diameter; /* real[n] */
    const int32_t *species;        /* [n] */
} plugmc_particles;

/* A batch of independent trial moves, one per lane, in cell coordinates: multiples of the cell edge, relative to
 * the centre of the cell that contains the probe. The neighbour of lane l in slot s is at x[s][l] + offset[s]; an
 * empty slot has PLUGMC_NOWHERE in x. A separation in units of length is (probe - neighbour) * ratio * scale,
 * component by component. Float only. */
typedef struct plugmc_lanes {
    uint32_t size;
    int32_t lanes; /* a multiple of PLUGMC_LANE_BLOCK */
    int32_t slots;
    float scale;                                 /* cell edge along x, length */
    float ratio[3];                              /* cell edges divided by that along x */
    const float *const *x, *const *y, *const *z; /* [slots] float[lanes] */
    const float (*offset)[3];                    /* [slots] */
    const uint8_t *const *species;               /* [slots] [lanes]; NULL with one species */
    const float *charge, *diameter;              /* [species] */
    const float *old_x, *old_y, *old_z;          /* [lanes] */
    const float *new_x, *new_y, *new_z;          /* [lanes] */
    const uint8_t *probe_species;                /* [lanes]; NULL with one species */
    float *change; /* [lanes] energy(new) - energy(old), summed slot by slot, is ADDED */
} plugmc_lanes;

enum { PLUGMC_LANE_BLOCK = 16 };

/* Derivatives of an energy with respect to the position of one particle. */
typedef struct plugmc_derivatives {
    double energy;
    double gradient[3]; /* energy/length; the force is its negative */
    double laplacian;   /* energy/length^2 */
    double virial[3];   /* energy: sum over the probe's pairs of -s_d du/ds_d */
} plugmc_derivatives;

/* Pair facet, made by plugmc/pair.h. */
typedef struct plugmc_pair {
    uint32_t size;
    int32_t functions; /* PLUGMC_PAIR_*: functions that the author wrote */
    /* Separation beyond which the energy is exactly 0. INFINITY without a cutoff; 0 without an energy. */
    double (*range)(const void *instance);
    /* Distance below which a and b overlap; 0 without a hard core. */
    double (*contact)(const void *instance, const plugmc_particle *a, const plugmc_particle *b);
    /* Adds the energy of the probe with n others to *energy. Returns how many of them overlap with the probe; if
     * any, the energy is meaningless. `periodic`: use the minimum image. */
    int64_t (*energy)(const void *instance, const plugmc_box *box, int periodic,
                      const plugmc_particle *probe, const plugmc_particles *others, double *energy);
    /* Adds energy(moved) - energy(probe) to *change. Returns how many particles overlap at the new position. */
    int64_t (*change)(const void *instance, const plugmc_box *box, int periodic,
                      const plugmc_particle *probe, const double moved[3],
                      const plugmc_particles *others, double *change);
    /* Adds the changes of a batch of trial moves. NULL in double precision and without an energy. */
    void (*lanes)(const void *instance, const plugmc_lanes *);
    /* As `change`, pair by pair: out[j], of type real, is the change of the pair with particle j, including the
     * probe's factor. INFINITY if the new position overlaps with j. */
    void (*changes)(const void *instance, const plugmc_box *box, int periodic,
                    const plugmc_particle *probe, const double moved[3],
                    const plugmc_particles *others, void *out);
    /* Adds the energy of the probe with n others and its derivatives to *out; the Laplacian only if `second`.
     * Returns how many overlap. NULL without PLUGMC_PAIR_DERIVATIVE. */
    int64_t (*derivatives)(const void *instance, const plugmc_box *box, int periodic, int second,
                           const plugmc_particle *probe, const plugmc_particles *others,
                           plugmc_derivatives *out);
    /* Since 2.1. Many pairs of two species, for movers that take each pair once: du/dr / r of each (real[n],
     * energy/length^2) and, unless `energy` is NULL, its energy (real[n]; INFINITY where the two overlap), including
     * the factor of a. Separations a - b are x, y, z (real[n], length) as they are, without images. Of a and b only
     * charge, diameter and species are read. NULL without PLUGMC_PAIR_DERIVATIVE and with PLUGMC_PAIR_POSITIONS. */
    void (*slopes)(const void *instance, const plugmc_particle *a, const plugmc_particle *b,
                   int64_t n, const void *x, const void *y, const void *z, void *first,
                   void *energy);
} plugmc_pair;

/* Field facet: one-body energies, made by plugmc/field.h. */
typedef struct plugmc_field {
    uint32_t size;
    int32_t functions; /* PLUGMC_FIELD_*: functions that the author wrote */
    /* Adds the energy of n particles to *energy. Returns how many are at forbidden positions. */
    int64_t (*energy)(const void *instance, const plugmc_particles *, double *energy);
    /* Adds the energy of one particle and its derivatives to *out. Returns 1 if its position is forbidden. NULL
     * without PLUGMC_FIELD_DERIVATIVE. */
    int (*derivatives)(const void *instance, const plugmc_particle *, plugmc_derivatives *out);
} plugmc_field;

/* The facets of a potential; NULL if it does not have one. */
typedef struct plugmc_potential {
    uint32_t size;
    const plugmc_pair *pair;
    const plugmc_field *field;
    const struct plugmc_total *total; /* many-body term: plugmc/total.h */
} plugmc_potential;

#endif
