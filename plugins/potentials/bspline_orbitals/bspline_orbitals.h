/* What the parts of bspline_orbitals share: its parameters, its tables, and how these are prepared. */
#ifndef PLUGMC_BSPLINE_ORBITALS_H
#define PLUGMC_BSPLINE_ORBITALS_H

#include <plugmc/everything.h>

#include "occupation.h"
#include "orbital_file.h"

enum { PRECISION_AUTO, PRECISION_FLOAT, PRECISION_DOUBLE };
enum { LAYOUT_COALESCED, LAYOUT_PLAIN };
enum { SORT_AUTO, SORT_YES, SORT_NO };

/* Orbitals of one spin; both spins share a table where the file does not tell them apart. */
typedef struct spline_table {
    int64_t count;   /* orbitals */
    int64_t row;     /* numbers in a row: components of all orbitals, padded to 32 bytes */
    int32_t *k_of;   /* [count]: index into phase and wave */
    int32_t k_count; /* phases that differ, with those of time reversal */
    int32_t *single; /* [singles][2] orbitals of which there is one part, and which */
    int32_t singles;
    double (*phase)[3]; /* [k_count] turns a primitive vector */
    double (*wave)[4];  /* [k_count] k, 1/bohr, and its square */
    void *numbers;      /* [grid 0][1][2][row], or plain: [count][grid 0][1][2][parts] */
    plugmc_device_pointer device, device_phase, device_wave; /* the latter two by orbital */
    plugmc_device_pointer device_single;
} spline_table;

/* The kernels for one type of results. */
typedef struct spline_kernels {
    plugmc_kernel *values, *everything, *values_of_few, *everything_of_few, *plain_values,
        *plain_everything, *clear, *bin, *offsets, *places, *parts;
} spline_kernels;

/* The grid of the primitive cell. */
typedef struct spline_grid {
    int32_t points[3];
    double inverse[3][3], metric[6], slope[3][3];
} spline_grid;

/* Kernels, and memory for points of one call, which are sorted by the brick of the grid that they are in. */
typedef struct spline_gpu {
    const char *defines[4]; /* of the GPU source */
    char resident_define[32];
    spline_kernels kernels[2]; /* results in float, double */
    int64_t batch;             /* points */
    uint32_t bricks[3], brick_count;
    plugmc_device_pointer counts, brick, rank, order;
} spline_gpu;

/* What is occupied beside the lowest orbitals: keys of each spin (rules.c), and what comes of them. */
typedef struct occupation_keys {
    const char *occupied[2], *promoted[2];
    real charge; /* of the cell, elementary charges */
    int32_t *filled
        [2]; /* [k points of the file] occupied orbitals, with those of -k; NULL: no electrons */
    int64_t beyond;       /* orbitals more than electrons */
    int32_t electrons[2]; /* of each spin */
} occupation_keys;

typedef struct bspline_orbitals {
    const char *file; /* parameters */
    plugmc_list tile, twist, valence;
    occupation_keys keys;
    real multiplicity;
    int32_t precision, layout, sort;
    int64_t resident;

    const plugmc_host *host;
    orbital_file source;
    k_set cells;
    spline_grid grid;
    int32_t parts;     /* 2 if orbitals are complex */
    size_t size;       /* of a number of the table */
    int32_t wanted[2]; /* orbitals of each spin: as many as electrons, and `beyond` */
    spline_table tables[2];
    int32_t table_of[2]; /* spin -> table */
    int32_t threads;
    char *scratch; /* [threads][scratch_bytes] */
    size_t scratch_bytes;
    spline_gpu gpu;
    plugmc_ions ions; /* of the simulation cell */
} bspline_orbitals;

/* Blips of a file are what they are; plane waves get a grid that is fine enough. */
int choose_grid(bspline_orbitals *);
/* The orbitals that are occupied, from the file into the tables of the two spins. */
int load_tables(bspline_orbitals *);

/* Valence charges of the file's atoms, then all ions of the simulation cell. */
int find_valence(bspline_orbitals *);
int prepare_ions(bspline_orbitals *, const plugmc_box *);

/* What plugmc check prints: k points, bands, the grid, ions (plugmc/description.h). */
int32_t describe_orbitals(const void *instance, int32_t index, char *out, size_t bytes);

/* ---- On the GPU: gpu.c ------------------------------------------------------------------------- */

int spline_evaluate_there(const bspline_orbitals *, const spline_table *,
                          const plugmc_orbital_request *);
/* Two texts: results in float and in double. */
int spline_gpu_source(void *instance, const plugmc_host *, int index, plugmc_gpu_source *out);
/* Once the tables are filled. */
int spline_prepare_gpu(bspline_orbitals *, const plugmc_host *);
#endif
