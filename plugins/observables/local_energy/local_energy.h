/* What the files of the observable share. */
#ifndef LOCAL_ENERGY_H
#define LOCAL_ENERGY_H

#include "../../determinants/slater.h"
#include "../../determinants/wave_function.h"
#include "coulomb.h"
#include "pseudopotential.h"
#include "quadrature.h"

enum { SEMILOCAL, SEPARABLE };
enum { OF_WAVE_FUNCTION, OF_DETERMINANTS }; /* what nonlocal potentials act on */
enum { KINETIC, ELECTRON_ELECTRON, LOCAL, NONLOCAL, ION_ION, COMPONENTS };
/* Of a measurement: the sum, the components, the sum squared, and the difference of ln |Psi|^2 to
 * the mover's. */
enum { TOTAL, TOTAL_SQUARED = TOTAL + 1 + COMPONENTS, DRIFT, QUANTITIES };

/* Walkers whose electrons are evaluated together, and what is found of one of them. */
typedef struct sample {
    slater spin[2];
    double *x, *y, *z;         /* [electrons] */
    double *wave;              /* [2][waves] structure factors of the electrons */
    double *own_wave;          /* [2][waves] work: of one charge */
    double energy[COMPONENTS]; /* Hartree, of the cell */
    double ln_square;          /* ln |Psi|^2 */
    double complex phase;      /* Psi / |Psi|, where determinants were found here and not lent */
    double *drift;             /* [electrons][3] Re grad ln Psi; NULL: not wanted */
    double *shares;     /* [electrons + ions][2] kinetic, potential energies; NULL: not wanted */
    double *inverse[2]; /* what spin[].inverse is where no matrices are lent */
    int singular;       /* 1 + spin */
} sample;

enum { WANTS_NO_PLACES, WANTS_PLACES_HERE, WANTS_PLACES_THERE }; /* there: in device memory */

/* Parameters. */
typedef struct local_energy_settings {
    const char *pseudopotentials;
    int32_t nonlocal, localisation, quadrature, units, per, electron_electron, electron_ion,
        ion_ion;
    int64_t radial_points;
    real tolerance;
} local_energy_settings;

/* Overlaps of the orbitals with what pseudopotentials project onto; without a Jastrow factor alone. */
typedef struct projections {
    double **of;  /* [spins][ions], each [functions][numbers]; NULL: by quadrature */
    double *rows; /* [row_count][numbers] all of these */
    int64_t row_count;
} projections;

/* Walkers whose electrons are evaluated together. */
typedef struct walker_group {
    int32_t size;
    double *points;                          /* [size * electrons of a spin][3] */
    double *values, *gradients, *laplacians; /* [.][numbers], [.][3][numbers], [.][numbers] */
    sample *samples;                         /* [size] */
} walker_group;

/* Of a quadrature, grown as needed. */
typedef struct quadrature_work {
    visit *visits; /* of one walker */
    int64_t visit_count, visit_room;
    double *places;    /* [.][3] places, all of a spin */
    double *at_places; /* [.][numbers] */
    int64_t place_room, at_room;
} quadrature_work;

/* Places of quadratures for whoever asked, grown as needed. */
typedef struct asked_places {
    plugmc_nonlocal_point *list;
    int32_t *ions; /* [count] */
    int64_t count, room, ion_room;
    int wanted; /* WANTS_* */
} asked_places;

typedef struct local_energy {
    local_energy_settings set; /* first: the table of keys counts from here */

    const plugmc_system *system;
    int32_t threads;
    wave_function wave;
    int has_jastrow;

    int has_ions;
    plugmc_ions ions;
    int kinds;
    ion_potentials v; /* v_I: ions as electrons feel them */
    coulomb sums;
    double *ion_wave; /* [2][waves] structure factors of the ions */
    double constant;  /* Hartree: ion-ion energy */
    projections projections;

    walker_group group;
    quadrature_work work;
    asked_places asked;

    double unit;                 /* of the output over Hartree, and per what */
    double compared[COMPONENTS]; /* of the file's calculation, in that unit; NAN: not known */

    struct local_energy_gpu *gpu; /* NULL: measured on the CPU */
    double *fetched; /* [walkers][particles][3] positions, if those are on a GPU then */
} local_energy;

/* Psi is 0 in a walker, by the determinant of a spin. */
int fail_singular(const local_energy *, const plugmc_host *, int32_t walker, int spin);

/* Change of -ln |Psi|^2 but for the determinants when electron e of a sample goes to `to`. */
double parts_change(const local_energy *, const sample *, int64_t e, const double to[3]);

/* Energy over kT of electron e at r in all fields: -ln of the square of the one-body Jastrow factor. */
double fields_energy(const local_energy *, int64_t e, const double r[3]);

/* Energies of walkers first ... first + n - 1 of a view in host memory, at most le->group, into le->samples.
 * `lent`: matrices of all walkers of the view, or NULL; drift [n][particles][3], or NULL. `lu`: ln |Psi|^2 and
 * phase are found even so. */
int evaluate_walkers(local_energy *, const plugmc_host *, const plugmc_view *,
                     const plugmc_inverses *lent, int lu, double *drift, int32_t first, int32_t n);

/* The Coulomb energies of a sample, which has them as a sum, dealt out to its electrons and the ions: shares.c. */
void share_coulomb(const local_energy *, const double *positions, sample *);
/* Adds half of an energy of an electron and an ion to either, if that is wanted. */
void share_pair(const local_energy *, sample *, int64_t electron, int32_t ion, double energy);

/* The facet for others: request.c. */
extern const plugmc_local_energy local_energy_facet;

/* Makes room in an array of elements of `size` bytes. */
int grow(const plugmc_host *, void *array, int64_t *room, int64_t wanted, size_t size);

/* Energy of pseudopotentials that depends on l. */
int measure_nonlocal(local_energy *, const plugmc_host *, const plugmc_view *, int32_t walker,
                     sample *);

/* Separable ones without a Jastrow factor: once, and then of each electron near an ion. */
int prepare_projections(local_energy *, const plugmc_host *);
double projected_energy(const local_energy *, const sample *, int spin, const visit *);

/* Values at n points of a spin, and their derivatives if wanted. */
int evaluate(const local_energy *, const plugmc_host *, int spin, int64_t n, const double *points,
             double *values, double *gradients, double *laplacians);

/* Says that memory is short; returns the code. */
int local_energy_no_memory(const plugmc_host *);

/* ---- What is reported: report.c --------------------------------------------------------------- */

/* values [QUANTITIES] of energies in Hartree, with ln |Psi|^2 in the place of the difference. */
void write_values(const local_energy *, const double energy[COMPONENTS], double ln_square,
                  double *values);
/* The unit, and what is compared with the file's calculation. */
int prepare_comparison(local_energy *, const plugmc_host *);
/* As of an observable. */
int local_energy_quantity(void *instance, int index, plugmc_quantity *out);
int local_energy_derived(void *instance, int index, plugmc_quantity *out);
int local_energy_derive(void *instance, const double *means, double *out);

/* ---- Ions: ions.c ---------------------------------------------------------------------------- */

/* Pseudopotentials, and the charge of each ion. */
int prepare_ions(local_energy *, const plugmc_host *);
/* Then, once the Ewald sums are prepared, how far each ion reaches, its images, their energy. */
int prepare_centres(local_energy *, const plugmc_host *);

/* Warns where the wave function lacks the cusp of a bare nucleus, or has a wrong one of two electrons: cusps.c. */
int check_cusps(const local_energy *, const plugmc_host *);

/* ---- On a GPU: gpu.c, gpu_prepare.c ---------------------------------------------------------- */

/* After everything else is prepared. */
int gpu_prepare(local_energy *, const plugmc_host *);
/* Positions are in device memory; values [walkers][QUANTITIES] as write_values gives them. */
int gpu_measure(local_energy *, const plugmc_host *, const plugmc_view *, double *values);
/* The same for others, who may want more: plugmc/wave.h. */
int gpu_request(local_energy *, const plugmc_host *, const plugmc_local_energy_request *);
void gpu_release(local_energy *);
int gpu_gpu_source(void *instance, const plugmc_host *, int index, plugmc_gpu_source *out);
#endif
