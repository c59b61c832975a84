/* hard_disk.cu: the checkerboard sweep of equal hard disks as one would write it for them alone,
 * compiled by nvcc ahead of time. compare.c puts it in the place of the kernel that plugmc fuses at
 * run time and NVRTC compiles, which must not be more than 3 % slower.
 *
 * What is the same: the algorithm and its layout in memory, which are the mover's text. What is
 * not: there is no potential with its parameters, no namespace, no box, no table of species and no
 * sum over terms around it, only the few numbers below, which are those of the mover for DISKS = N
 * equal disks of diameter 1 in a square box at packing fraction 0.698, four trial moves a cell and
 * sub-sweep and no particle numbers; and another compiler. Rounding is the same (no contraction),
 * so both have to come to the same positions, to the last bit; a wrong number below would show
 * there. */
#include "nvcc.h"

#define PLUGMC_REAL float
#include "plugmc/device.h"

#define PLUGMC_DIMENSION 2
#define PLUGMC_SPECIES 1
#define PLUGMC_ENERGY_TERMS 0

/* Cells across the box, just below sqrt(2) diameters wide; places of half a row, a multiple of 32;
 * threads a block, blocks a multiprocessor has to have room for; the square of the diameter over that of the cell's edge, rounded up. */
#if DISKS == 577600
#define CB_MX 572
#define CB_PITCH 288
#define CB_BLOCK 32
#define CB_RESIDENT 20
#define CB_CONTACTS                                                                                \
    {                                                                                              \
        0x1.01c048p-1f                                                                             \
    }
#elif DISKS == 2310400
#define CB_MX 1142
#define CB_PITCH 576
#define CB_BLOCK 64
#define CB_RESIDENT 8
#define CB_CONTACTS                                                                                \
    {                                                                                              \
        0x1.00d9c4p-1f                                                                             \
    }
#else
#error "there are numbers for DISKS=577600 and DISKS=2310400"
#endif
#define CB_MY CB_MX
#define CB_MZ 1
#define CB_RATIO_Y 1.0f

#define CB_WALKERS 1
#define CB_TRIALS 4
#define CB_CAP 4 /* no fifth disk fits into a cell */
#define CB_SHUFFLE 1
#define CB_SHUFFLE_SETS 1
#define CB_SHIFT 1
#define CB_IDS 0
#define CB_AT_ONCE 0
#define CB_PATCH 0

/* Of several species; the text names it all the same. */
#define CB_FIRST                                                                                   \
    {                                                                                              \
        0u                                                                                         \
    }

#include "checkerboard/random_choices.h"
#include "checkerboard/checkerboard.cu"
#include "checkerboard/disks.cu"
