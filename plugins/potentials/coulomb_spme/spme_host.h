/* The mesh on the CPU, for spme_host.c, which says how it is used, and spme_host_mesh.c. */
#ifndef SPME_HOST_H
#define SPME_HOST_H

#include <fftw3.h>

#include "spme.h"

/* A charge in its cell. */
typedef struct site {
    double f[3], charge;
    int32_t cell[3];
    uint32_t index; /* of the particle */
} site;

/* What one walker at a time needs. */
typedef struct workspace {
    fftw_complex *waves; /* [z][y][half_x] */
    double *field;       /* [z][y][pitch] potential on the grid, kT; repeated beyond x */
    double *plane;       /* [threads][y][pitch] charges of a plane */
    fftw_complex *slab;  /* [threads][z][half_x] */
    double *partial;     /* [y][4] sums of energy and of its strains */
    site *found, *sites; /* [particles] as numbered; sorted by z and y of the cell */
    uint32_t *first;     /* [z y + 1] in sites */
    double *weights;     /* [particles][3][order] */
    double *forces;      /* [particles][3] to be balanced */
    double *share;       /* [particles][4] energy and virial of exclusions */
    int threads;
    int64_t not_finite;  /* a particle, or -1 */
    const spme_box *box; /* of the walker: that of the start, or */
    spme_box other;      /* another one, where movers change them */
} workspace;

struct spme_host_mesh {
    int half_x, pitch; /* grid[0] / 2 + 1; row of a plane */
    int threads, workspaces;
    workspace *space; /* [workspaces] */
    fftw_plan plane_forward, plane_backward, column_forward, column_backward;
};

/* Memory and plans of the mesh, once. */
int spme_make_host_mesh(spme *);

#endif
