/* One-electron orbitals: an extension that a potential offers. */
#ifndef PLUGMC_ORBITALS_H
#define PLUGMC_ORBITALS_H

#include "plugmc/plugin.h"

/* The table is a plugmc_orbitals. */
#define PLUGMC_ORBITALS "plugmc.orbitals/1"

/* A request to evaluate the orbitals of one species (spin) at many points. */
typedef struct plugmc_orbital_request {
    uint32_t size;
    int32_t on_device; /* 1: all pointers are device memory */
    int32_t species;
    int32_t real_size; /* of the results: sizeof(float) or sizeof(double) */
    int64_t points;
    const double *positions; /* [points][3] length */
    int64_t pitch;           /* row length in orbitals, at least the number of orbitals */
    void *values;            /* [points][pitch], real or complex (re, im) */
    void *gradients;         /* [points][3][pitch], 1/length; NULL: not requested */
    void *laplacians;        /* [points][pitch], 1/length^2; NULL: not requested */
} plugmc_orbital_request;

/* The ions of the solid or molecule, in the simulation cell. Who asks sets `size`. */
typedef struct plugmc_ions {
    uint32_t size;
    int32_t count;
    const double (*positions)[3]; /* [count], length */
    const int32_t *atomic_number; /* [count] */
    const double *valence;        /* [count], elementary charges */
    int32_t primitive_cells;      /* in the simulation cell */
    /* Energies in the file, per primitive cell, Hartree; for comparison with the results. */
    int32_t energy_count;
    const char *const *energy_names;
    const double *energies;
    /* Of ions and electrons of the simulation cell together, elementary charges, which a uniform background
     * neutralises. */
    double charge;
} plugmc_ions;

/* Values of one-electron orbitals at many points, on the CPU or GPU. */
typedef struct plugmc_orbitals {
    uint32_t size;
    int32_t on_device; /* 1: evaluate also accepts device memory */
    /* Number of orbitals of a species; whether (1) their values are complex. */
    int64_t (*count)(const void *instance, int32_t species);
    int32_t (*complex_valued)(const void *instance);
    /* On a device it returns without waiting. */
    int (*evaluate)(void *instance, const plugmc_orbital_request *);
    /* Optional. Pointers live as long as the instance. From `configure` on, if other potentials are to find the
     * ions here; before they are known `count` is 0. */
    int (*ions)(const void *instance, plugmc_ions *out);
    /* Optional, after prepare: twist of the orbitals along each edge of the box, psi(r + a_d) = exp(2 pi i turns_d)
     * psi(r). NULL: no twist. */
    void (*twist)(const void *instance, double turns[3]);
} plugmc_orbitals;

/* The orbitals that a potential offers; NULL: none. */
static inline const plugmc_orbitals *plugmc_orbitals_of(const plugmc_plugin *potential)
{
    return (const plugmc_orbitals *)plugmc_offered(potential, PLUGMC_ORBITALS);
}

#endif
