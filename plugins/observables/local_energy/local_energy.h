/* What the files of the observable share. */
#ifndef LOCAL_ENERGY_H
#define LOCAL_ENERGY_H

#include "../../movers/vmc/slater.h"
#include "coulomb.h"
#include "pseudopotential.h"
#include "quadrature.h"

enum { SEMILOCAL, SEPARABLE };
enum { KINETIC, ELECTRON_ELECTRON, LOCAL, NONLOCAL, ION_ION, COMPONENTS };

/* Walkers whose electrons are evaluated together, and what is found of one of them. */
typedef struct sample {
    slater spin[2];
    double *x, *y, *z;        /* [electrons] */
    double *wave;             /* [2][waves] structure factors of the electrons */
    double energy[COMPONENTS]; /* Hartree, of the cell */
    double ln_square;         /* ln |Psi|^2 */
    int singular;             /* 1 + spin */
} sample;

/* An electron near an ion whose potential depends on l. */
typedef struct visit {
    int64_t electron;
    int32_t ion;
    double from[3];  /* electron less ion (its nearest image), length */
    int64_t points;  /* of the quadrature, from first_point on in the list of its spin */
    int64_t first_point;
} visit;

typedef struct local_energy {
    /* parameters */
    const char *pseudopotentials;
    int32_t nonlocal, quadrature, units, per, electron_electron, electron_ion, ion_ion;
    int64_t radial_points;
    real tolerance;

    const plugmc_system *system;
    int32_t threads;
    const plugmc_term *orbitals;
    int is_complex;
    int64_t pitch, numbers;    /* orbitals of a row; reals of them */
    int term_count;
    const plugmc_term **terms; /* sampled, with a pair or a field */
    double *charge, *diameter; /* [electrons] */
    int32_t *species;          /* [electrons] */

    int has_ions;
    plugmc_ions ions;
    int kinds;
    pseudopotential *kind;     /* [kinds] */
    int32_t *kind_of;          /* [ions], -1: a bare charge */
    double *ion_charge;        /* [ions] */
    int64_t centres;           /* images of ions near the cell */
    double (*centre)[3];       /* [centres] */
    int32_t *ion_of;           /* [centres] */
    double *reach;             /* [kinds + 1] of the local part beyond -Z/r; last: bare */
    double *nonlocal_reach;    /* [kinds + 1] */
    coulomb sums;
    double *ion_wave;          /* [2][waves] structure factors of the ions */
    double constant;           /* Hartree: ion-ion energy */
    quadrature sphere;
    double *node, *node_weight; /* [kinds][radial_points] of separable ones */
    double **projection;       /* [spins][ions], each [functions][numbers]; NULL: by quadrature */

    int32_t group;
    double *points;            /* [group * electrons of a spin][3] */
    double *values, *gradients, *laplacians; /* [.][numbers], [.][3][numbers], [.][numbers] */
    sample *samples;           /* [group] */

    int has_jastrow;
    double unit;               /* of the output over Hartree, and per what */
    double compared[COMPONENTS]; /* of the file's calculation, in that unit; NAN: not known */

    visit *visits;             /* of one walker, grown as needed */
    int64_t visit_count, visit_room;
    double *places;            /* [.][3] places of a quadrature, all of a spin */
    double *at_places;         /* [.][numbers] */
    int64_t place_room, at_room;
} local_energy;

/* Change of -ln |Psi|^2 but for the determinants when electron e of a sample goes to `to`. */
double parts_change(const local_energy *, const sample *, int64_t e, const double to[3]);

/* Energy of pseudopotentials that depends on l. */
int measure_nonlocal(local_energy *, const plugmc_host *, const plugmc_view *, int32_t walker,
                     sample *);

/* Separable ones without a Jastrow factor: once, and then of each electron near an ion. */
int prepare_projections(local_energy *, const plugmc_host *);
double projected_energy(const local_energy *, const sample *, int spin, const visit *);

/* Values at n points of a spin, and their derivatives if wanted. */
int evaluate(const local_energy *, const plugmc_host *, int spin, int64_t n, const double *points,
             double *values, double *gradients, double *laplacians);
#endif
