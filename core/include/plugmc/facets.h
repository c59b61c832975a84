/* Energies of pairs and of single particles, as movers call them. plugmc/pair.h and plugmc/field.h write these facets
 * from the author's functions. */
#ifndef PLUGMC_FACETS_H
#define PLUGMC_FACETS_H

#include "plugmc/plugin.h"

/* One particle as batch functions take it, whatever the precision of the descriptor. */
typedef struct plugmc_particle {
    double x, y, z, charge, diameter;
    int32_t species;
} plugmc_particle;

/* Particles as structure of arrays. Arrays of real of the descriptor's precision. */
typedef struct plugmc_particles {
    int64_t n;
    const void *x, *y, *z;         /* real[n] */
    const void *charge, *diameter; /* real[n] */
    const int32_t *species;        /* [n] */
} plugmc_particles;

/* Batches of independent trial moves, one a lane, in cell coordinates: multiples of the cell
 * edge, relative to the centre of the cell that the probe is in. The neighbour of lane l in
 * slot s is at x[s][l] + offset[s]; an empty slot holds PLUGMC_NOWHERE in x. The separation in
 * units of length is (probe - neighbour) * ratio * scale, component by component. Only float. */
typedef struct plugmc_lanes {
    uint32_t size;
    int32_t lanes; /* a multiple of PLUGMC_LANE_BLOCK */
    int32_t slots;
    float scale;                                 /* edge of a cell in x, length */
    float ratio[3];                              /* edges of a cell over that in x */
    const float *const *x, *const *y, *const *z; /* [slots], each float[lanes] */
    const float (*offset)[3];                    /* [slots] */
    const uint8_t *const *species;               /* [slots], each [lanes]; NULL with one species */
    const float *charge, *diameter;              /* [number of species] */
    const float *old_x, *old_y, *old_z;          /* [lanes] */
    const float *new_x, *new_y, *new_z;          /* [lanes] */
    const uint8_t *probe_species;                /* [lanes]; NULL with one species */
    float *change; /* [lanes]: out, energy(new) - energy(old) summed slot by slot */
} plugmc_lanes;

enum { PLUGMC_LANE_BLOCK = 16 };

/* Derivatives of an energy by the position of one particle. */
typedef struct plugmc_derivatives {
    double energy;      /* kT */
    double gradient[3]; /* kT/length; the force is minus this */
    double laplacian;   /* kT/length^2 */
    double virial[3];   /* kT: sum over pairs of -s_d du/ds_d, of the probe's pairs */
} plugmc_derivatives;

/* Pair facet, written by plugmc/pair.h from the author's functions. */
typedef struct plugmc_pair {
    uint32_t size;
    int32_t functions; /* PLUGMC_PAIR_* that the author gives */
    /* Separation beyond which the energy is exactly 0; INFINITY if there is none, 0 without an
     * energy. */
    double (*range)(const void *instance);
    /* Distance below which two such particles overlap; 0 without a hard core. */
    double (*contact)(const void *instance, const plugmc_particle *a, const plugmc_particle *b);
    /* Energy over kT of a probe with n others is added to *energy; returns how many overlap with
     * it (the energy is then meaningless). With `periodic` the minimum image is taken. */
    int64_t (*energy)(const void *instance, const plugmc_box *box, int periodic,
                      const plugmc_particle *probe, const plugmc_particles *others, double *energy);
    /* Energy of `probe` moved to `moved` less that before is added to *change; returns how many
     * overlap at the new position. */
    int64_t (*change)(const void *instance, const plugmc_box *box, int periodic,
                      const plugmc_particle *probe, const double moved[3],
                      const plugmc_particles *others, double *change);
    /* NULL in the double precision facet, and without an energy. */
    void (*lanes)(const void *instance, const plugmc_lanes *);
    /* As `change`, but the change of each pair apart: out[j] (real of the descriptor's precision)
     * for others j, times the probe's factor, INFINITY where the new position overlaps. */
    void (*changes)(const void *instance, const plugmc_box *box, int periodic,
                    const plugmc_particle *probe, const double moved[3],
                    const plugmc_particles *others, void *out);
    /* Energy of a probe with n others and its derivatives are added to *out; the Laplacian only if
     * `second`. Returns how many overlap. NULL without PLUGMC_PAIR_DERIVATIVE. */
    int64_t (*derivatives)(const void *instance, const plugmc_box *box, int periodic, int second,
                           const plugmc_particle *probe, const plugmc_particles *others,
                           plugmc_derivatives *out);
} plugmc_pair;

/* Field facet: one-body energies, written by plugmc/field.h. */
typedef struct plugmc_field {
    uint32_t size;
    int32_t functions; /* PLUGMC_FIELD_* that the author gives */
    /* Energy of n particles is added to *energy; returns how many are where they may not be. */
    int64_t (*energy)(const void *instance, const plugmc_particles *, double *energy);
    /* Energy of one particle and its derivatives are added to *out; returns 1 where it may not be.
     * NULL without PLUGMC_FIELD_DERIVATIVE. */
    int (*derivatives)(const void *instance, const plugmc_particle *, plugmc_derivatives *out);
} plugmc_field;

/* What a potential is; NULL where a facet does not apply. */
typedef struct plugmc_potential {
    uint32_t size;
    const plugmc_pair *pair;
    const plugmc_field *field;
    const struct plugmc_total *total; /* plugmc/total.h */
} plugmc_potential;

#endif
