/* What the files of structure_factor share. */
#ifndef PLUGMC_STRUCTURE_FACTOR_H
#define PLUGMC_STRUCTURE_FACTOR_H

#include <plugmc/everything.h>

#include "../walker_boxes.h"

enum { FINITE_SIZE_NO, FINITE_SIZE_MEASURED, FINITE_SIZE_GAS };

typedef struct structure_factor {
    real k_max;          /* parameter, 1/length */
    int64_t shells;      /* parameter; 0: every |k| is one */
    int32_t finite_size; /* parameter, FINITE_SIZE_* */
    int64_t fit;         /* parameter, shells */

    const plugmc_system *system;
    int64_t waves;
    int32_t (*wave)[3]; /* [waves] n, sorted by |k| */
    int32_t *shell;     /* [waves] */
    int64_t used;       /* shells with a wave */
    double *k;          /* [used] mean |k|, 1/length */
    double *weight;     /* [used] 1 / waves of a shell */
    double next;        /* Hartree: next order of the gas's kinetic correction */
    int32_t rows;
    int32_t *of[2];   /* [rows] the species A and B */
    char **names;     /* [rows] "A-B" */
    int32_t numbers;  /* the numbers of particles change: products and numbers are measured */
    char **products;  /* [rows] "products_A-B" */
    char **number_of; /* [species] "number_A" */
    double *density;  /* [walkers][waves][species][2] rho */
    double *fraction; /* [3][particles] of the walker at hand */
    plugmc_kernel *kernel;
    plugmc_device_pointer device_wave, device_first, device_density;
} structure_factor;

/* ---- Waves: waves.c ---------------------------------------------------------------------------- */

/* |k| of the wave n. */
double length_of(const plugmc_box *, const int32_t n[3]);
/* All up to k_max, and their shells; memory for density waves of them. */
int take_waves(structure_factor *, const plugmc_host *);

/* ---- Corrections for the size of the box: finite_size.c ---------------------------------------- */

/* An error if there are none for this system. */
int check_finite_size(structure_factor *, const plugmc_host *);
/* As of an observable, from the means of S [rows][used]. */
int correction(const structure_factor *, int index, plugmc_quantity *out);
int derive_corrections(const structure_factor *, const double *means, double *out);
const char *lacking_corrections(const structure_factor *, const double *means);

#endif
