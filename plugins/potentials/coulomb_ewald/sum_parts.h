/* What the files of an Ewald sum share: sum.c (whole configurations), walkers.c (by which threads), moves.c (what one trial
 * move changes), prepare.c, device.c (whole configurations on a GPU). */
#ifndef PLUGMC_EWALD_SUM_PARTS_H
#define PLUGMC_EWALD_SUM_PARTS_H

#include "sum.h"

enum {
    LANES = 8,
    BLOCK = 64, /* particles whose forces are found together */
    MOST = 1000 /* the largest |n_d| that the table of parameters lets through */
};

/* Waves first ... first + n - 1: n_z = low, low + 1, ... */
typedef struct row {
    int32_t x, y, low, n;
    int64_t first;
} row;

typedef struct complex_table {
    double *re, *im;
} complex_table;

/* The trial move that waits for settle: a particle that moves, several that move at once, or particles that come and leave. */
typedef struct trial {
    int32_t walker;   /* -1: none waits */
    int64_t particle; /* -1: several move, or some come and leave */
    int32_t moved;    /* how many move, see single_moves */
    int32_t comes, leaves;
    int32_t species[PLUGMC_MOST_SITES], leaver[PLUGMC_MOST_SITES];
    double position[PLUGMC_MOST_SITES][3]; /* the first one's is that of the particle that moves */
} trial;

/* What the waves are in one box. */
typedef struct spectrum {
    double *weight;    /* [waves] kT: energy is sum of weight |S|^2, both halves counted */
    double *k[3];      /* [waves] 1/length */
    double *virial[3]; /* [waves] virial / energy, along each axis */
    double back; /* kT: energy of the background of a charge 1, which also counts in the virial */
} spectrum;

/* Walkers as single moves have made them, and the move that waits. */
typedef struct single_moves {
    int started;
    double *structure; /* [walkers][2][waves] S, real parts and imaginary parts */
    double *positions; /* [walkers][particles][3] */
    double *shift;     /* [2][waves] change of S by the trial move */
    int64_t *count;    /* [walkers][species], where numbers change */
    trial trial;
    /* Of several that move at once. */
    int32_t mover[PLUGMC_MOST_DISPLACED];
    double moved[PLUGMC_MOST_DISPLACED][3];
} single_moves;

/* Where movers change boxes; else NULL. */
typedef struct other_boxes {
    spectrum spectrum;  /* in the box of the walker at hand */
    plugmc_box *box;    /* [walkers] for single moves */
    double *own_weight; /* [walkers][waves] in that box, where it is not that of the start */
    int follow;         /* as in ewald_waves */
    int limited;        /* n_square or k_cutoff were given */
    double shortest;    /* 1/length: of the waves left out, in the box of the start */
    double wanted;      /* error of the forces, */
    double allowed;     /* and what it is at the start, if that is more */
} other_boxes;

struct ewald_sum {
    const plugmc_host *host;
    const plugmc_system *system;
    double bjerrum_length, alpha; /* length, 1/length */
    int32_t most[3];              /* largest |n_d| */
    int32_t row_count;
    row *rows;
    int64_t waves;
    int32_t (*wave)[3]; /* [waves] n */
    spectrum common;    /* in the box of the start */
    double self, net;   /* kT: constant energy of a walker; sum of its charges; at the start */
    double *
        excluded; /* [kinds] 1/length: sum of q q' erf(alpha r) / r of the pairs within a molecule */
    double *charge;         /* [particles] */
    int numbers_change;     /* movers change how many there are */
    complex_table phase[3]; /* [most + 1][particles], of the walker at hand */
    complex_table fresh;    /* [waves] S of the walker at hand */
    single_moves single;
    other_boxes other;
    int alone;                   /* 1: of a thread that has walkers to itself, see walkers.c */
    struct ewald_device *device; /* NULL until an energy is asked for in device memory */
};

/* ---- sum.c ---- */

int all_finite(const ewald_sum *, const plugmc_view *);
double fractional(const plugmc_box *, const double r[3], int d);
void take_phases(const ewald_sum *, const plugmc_box *, const double *positions);
/* From the phases that have been taken. It fails without a sentence, and for want of memory alone. */
int structure_factors(const ewald_sum *, complex_table out);
double sum_of_lanes(const double lane[LANES]);
void wave_vector(const plugmc_box *, const int32_t n[3], double k[3]);
double square(const double v[3]);
void weigh_waves(const ewald_sum *, const plugmc_box *, spectrum *out);
const plugmc_box *box_of(const ewald_sum *, const plugmc_view *, int32_t walker);
int is_new(const ewald_sum *, const plugmc_box *);
/* What is left out where the waves end, relative to the forces. */
double error_beyond(const ewald_sum *, double k);
/* The waves in a walker's box, which live until the next call. Whether they suffice has been looked at. */
void spectrum_of(ewald_sum *, const plugmc_box *, const spectrum **out);
/* Sum of the squares of the charges, and of the charges, of these numbers of particles [species]. */
void charges_of(const ewald_sum *, const int64_t *count, double *squares, double *net);
double self_energy(const ewald_sum *, double squares);
/* kT: takes the pairs within rigid molecules out of the waves. count [species], or NULL: as at the start. */
double excluded_energy(const ewald_sum *, const int64_t *count);
/* kT: that of the background of a charge 1. */
double background(const ewald_sum *, const plugmc_box *);
/* Fails, and says so, where a walker's box has outgrown the waves. */
int waves_suffice(const ewald_sum *, const plugmc_box *, int32_t walker);

/* ---- walkers.c ---- */

/* What is done with one walker; `what` is for it. It fails without a sentence, and for want of memory alone. */
typedef int walker_task(ewald_sum *, const void *what, int32_t walker);

/* The same for all walkers of a configuration, which is examined before, some of them at a time. */
int ewald_each_walker(ewald_sum *, const plugmc_view *, walker_task *, const void *what);

/* ---- device.c ---- */

int ewald_device_energy(ewald_sum *, const plugmc_total_request *);

#endif
