/* What is on the GPU, for gpu.c, which says what it is about, and gpu_prepare.c. */
#ifndef LOCAL_ENERGY_GPU_H
#define LOCAL_ENERGY_GPU_H

#include "../../determinants/device_sums.h"
#include "../../determinants/matrices.h"
#include "local_energy.h"

/* Device memory that grows. */
typedef struct room {
    device_pointer at;
    size_t bytes;
} room;

typedef struct local_energy_kernels {
    plugmc_kernel *parts, *near, *far, *gather, *kinetic, *phase, *count, *list, *offsets, *places,
        *ratios, *visits, *projected, *add_visits, *walkers, *asked;
} local_energy_kernels;

/* Of the walkers that are measured together. */
typedef struct group_arrays {
    device_pointer parts_of, near_of, far_of, kinetic_of; /* [group][particles or far_warps][..] */
    device_pointer nonlocal, ln_square[2];                /* [group] */
    device_pointer points;                                /* [group][electrons of a spin][3] */
    device_pointer values, gradients, laplacians;         /* [group][electrons][.][numbers] */
    device_pointer counts; /* [group * electrons + 1] visits, and where they begin */
} group_arrays;

/* Of electrons near ions: visits, their energies, and the places of quadratures that are evaluated together. */
typedef struct visit_arrays {
    room list_of, energies;
    room batch_places, batch_change, batch_ratios, batch_values;
    room places_of; /* all places of a request, plugmc_nonlocal_point */
} visit_arrays;

/* Of an expansion: tables of the walkers of a group, and rows [group][n][length] in place of inverse matrices. */
typedef struct sum_arrays {
    device_sums device;
    device_pointer rows_of[2];
    plugmc_kernel *anew, *weigh, *rows, *squares;
} sum_arrays;

typedef struct local_energy_gpu {
    matrices matrices;
    local_energy_kernels kernels;
    walkers_task task;                         /* of a group of the first spin */
    int32_t group;                             /* walkers */
    int64_t far_warps;                         /* of a walker */
    double repulsion_constant, local_constant; /* Hartree: the same for all configurations */

    group_arrays arrays;
    device_pointer found;     /* [walkers][FOUND] */
    device_pointer phases;    /* [walkers][2] */
    device_pointer residuals; /* [walkers] of lent matrices */
    double *host_found, *host_phases, *host_residuals;
    const plugmc_inverses *lent;         /* matrices of all walkers; NULL: they are made anew */
    device_pointer drift, wanted_phases; /* of the group at hand, as `task`; 0: not wanted */
    device_pointer projections, projection_rows[2]; /* [.][numbers], [spin][ions] */
    visit_arrays near_ions;
    sum_arrays sums;
    device_pointer inverses; /* of the spin at hand, or such rows */
} local_energy_gpu;

/* Positions of a spin's electrons in a group, and orbitals there; with their derivatives. */
int gpu_spin_orbitals(local_energy *, const plugmc_host *, walkers_task *, int spin,
                      int derivatives);

/* ---- Expansions: gpu_sums.c ------------------------------------------------------------------- */

/* Device bytes of a walker; orbitals of a row. */
double gpu_sums_bytes(const local_energy *);
int64_t gpu_sums_length(const local_energy *, int spin);
int gpu_sums_prepare(local_energy *, const plugmc_host *, const plugmc_gpu_source *);
/* Rows and ln |Psi|^2 of the walkers of a task. */
int gpu_sums_find(local_energy *, const plugmc_host *, walkers_task *);

#endif
