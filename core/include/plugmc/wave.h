/* Wave functions beyond the orbitals: variational parameters, local energies, weights of walkers. */
#ifndef PLUGMC_WAVE_H
#define PLUGMC_WAVE_H

#include "plugmc/view.h"

/* ---- Variational parameters --------------------------------------------------------------- */

/* Numbers of a potential that an optimiser of the wave function may change once a run is prepared, without new
 * compilation or memory: ranges and sizes stay the same. ln |Psi| = -U/2, U being the energy over kT of the
 * potential; O_k = d ln |Psi| / dp_k. Hartree atomic units. */

/* A variational parameter: a key of the potential's section, and the index in its list; -1: the key is not a list.
 * If a list is variational, all its values are, in order from index 0. */
typedef struct plugmc_variational_parameter {
    uint32_t size;
    const char *key; /* lives as long as the instance */
    int64_t place;
} plugmc_variational_parameter;

/* A request for walkers first ... first + walkers - 1 of a view in host memory. Results are ADDED. `row` is the
 * number of entries from one walker to the next, as the potentials of a run have their parameters side by side. */
typedef struct plugmc_variational_request {
    uint32_t size;
    int32_t first, walkers;
    int64_t row;
    const plugmc_view *view;
    double *derivatives; /* [walkers][row] O_k; NULL: not requested */
    /* [walkers][row] sum over electrons i of -1/2 lap_i O_k - drift_i . grad_i O_k, the derivative of the kinetic
     * part of the local energy with respect to p_k (J. Toulouse, C. J. Umrigar, J. Chem. Phys. 126, 084102 (2007)),
     * with drift [walkers][particles][3] = Re grad ln Psi, 1/length. NULL: not requested. */
    double *kinetic;
    const double *drift;
} plugmc_variational_request;

/* The same for one particle of one walker at several trial positions, all others staying in place: for the
 * quadrature of a nonlocal potential. */
typedef struct plugmc_variational_points {
    uint32_t size;
    int32_t walker; /* index in the view */
    int64_t particle, points, row;
    const plugmc_view *view;
    const double (*position)[3]; /* [points] length, wrapped into the box */
    /* [points][row] O_k at the point minus O_k of the view, added. If D_k = dPsi/dp_k / Psi is complex, O_k being its
     * real part: Re (q (D_k at the point - D_k)) / Re q with q the ratio of Psi. */
    double *changes;
    const double (*phases)[2]; /* [points] as plugmc_nonlocal_point.phase; NULL: 1, 0 */
} plugmc_variational_points;

typedef struct plugmc_variational {
    uint32_t size;
    int32_t on_device; /* 1: accepts views in device memory; no plugin does yet */
    /* After configure: number of parameters, parameter k, all values. `count` and `number` return the same for the
     * life of the instance. */
    int64_t (*count)(const void *instance);
    int (*number)(const void *instance, int64_t k, plugmc_variational_parameter *out);
    int (*get)(const void *instance, double *values);
    /* Sets all values. Called from the main thread, for the instance of each precision. Values are finite and
     * within the limits of the keys. */
    int (*set)(void *instance, const double *values);
    /* For the instance in double precision. Called from many threads at once, for different walkers. */
    int (*derivatives)(const void *instance, const struct plugmc_host *,
                       const plugmc_variational_request *);
    int (*at_points)(const void *instance, const struct plugmc_host *,
                     const plugmc_variational_points *);
    /* 1: keys of the section take precedence over a file of the potential, so that lists may be written to a
     * section that does not contain them. */
    int32_t keys_before_files;
    /* Names, ended by NULL, of the lists of the plugin's table, both keys and derived ones, that `set` changes: all
     * that GPU source reads of the variational parameters. If plugmc_system.parameters_change, each loaded kernel
     * source has them in memory and the core writes them after `set`. NULL: no kernel may be used after `set`. */
    const char *const *tables;
    /* PLUGMC_VARIATIONAL_* (plugmc/variational.h): derivatives that the potential's source contains, so that the
     * core computes them on the GPU too. 0: only on the CPU. */
    int32_t functions;
    /* Required with `functions`. `sums`: number of sums that the source accumulates, constant for the life of the
     * instance. `combine`: adds d/dp_k [count], computed from sums [sums], to row; for the instance in double
     * precision. */
    int64_t (*sums)(const void *instance);
    void (*combine)(const void *instance, const double *sums, double *row);
    /* Optional, with `file_key`, the key of the section that names a file with parameters: the text of that file with
     * the present values in their places, in the form of the file, to be freed. `text` is the file, in which other
     * potentials may have put theirs. NULL: it failed, and has said why. */
    char *(*file_text)(const void *instance, const struct plugmc_host *, const char *text);
    const char *file_key;
    /* 1: `derivatives` and `at_points` are called from the main thread, the former for all walkers at once: they
     * evaluate orbitals of another potential. */
    int32_t on_main_thread;
} plugmc_variational;

/* The variational parameters that a potential offers; NULL: none. */
#define PLUGMC_VARIATIONAL_PARAMETERS "plugmc.variational_parameters/1"
static inline const plugmc_variational *plugmc_variational_of(const plugmc_plugin *potential)
{
    return (const plugmc_variational *)plugmc_offered(potential, PLUGMC_VARIATIONAL_PARAMETERS);
}

/* ---- Local energies -------------------------------------------------------------------------- */

/* H Psi / Psi. Psi is the determinants of the orbitals of one potential times exp(-U/2), U being the energy over kT
 * of all sampled pairs and fields (W. M. C. Foulkes, L. Mitas, R. J. Needs, G. Rajagopal, Rev. Mod. Phys. 73, 33
 * (2001)). One plugin of a run, of any kind, computes it; others request it with PLUGMC_LOCAL_ENERGIES. Hartree
 * atomic units, for the whole cell. */

/* Parts of a local energy, in this order; real parts. */
enum {
    PLUGMC_LOCAL_KINETIC,
    PLUGMC_LOCAL_ELECTRON_ELECTRON,
    /* Charges of the ions, and pseudopotentials that act equally on every angular momentum. */
    PLUGMC_LOCAL_LOCAL,
    PLUGMC_LOCAL_NONLOCAL, /* the other pseudopotentials */
    PLUGMC_LOCAL_ION_ION,
    PLUGMC_LOCAL_PARTS
};

/* Inverse matrices that a mover keeps. For spin (species) s, M[e][o] = (A^-1)[o][e], A[e][o] being orbital o at
 * electron e, n of each; real, or complex as re, im. They may deviate from the exact inverses by as much as the
 * mover lets them drift. */
typedef struct plugmc_inverses {
    uint32_t size;
    /* Where the matrices are. The array of pointers is host memory. */
    int32_t on_device;
    /* [species][walkers] M [n][n] of each walker; NULL: no electrons. */
    const double *const *inverse[2];
    /* [species][walkers] ln |det A|^2 as the mover keeps it, host memory; or NULL. */
    const double *ln_square[2];
} plugmc_inverses;

/* A quadrature point to which a nonlocal potential moves an electron. The sum of `energy` over the points of a
 * walker is its nonlocal energy. For moves with T = -tau `energy` see M. Casula, Phys. Rev. B 74, 161102 (2006). */
typedef struct plugmc_nonlocal_point {
    int32_t walker, electron; /* walker: index in the view */
    double position[3];       /* length, wrapped into the box */
    /* Hartree: v(r, r') Re(Psi(.., r', ..) / Psi) with all its weights. */
    double energy;
    double factor; /* Hartree: v(r, r') alone */
    /* Re, im of the factor that turns orbitals at `position` into those at r': with a twist they gain a phase
     * across an edge of the box, if `position` is on the other side. */
    double phase[2];
} plugmc_nonlocal_point;

/* A request for walkers first ... first + walkers - 1 of a view. Results overwrite the arrays. NULL: not requested.
 * If Psi is 0 or not a number, evaluate fails and reports it. */
typedef struct plugmc_local_energy_request {
    uint32_t size;
    int32_t first, walkers;
    /* Positions, and the sweep whose random numbers turn the quadratures of nonlocal potentials: the same sweep
     * and walker have the same quadrature, whichever plugin asks. */
    const plugmc_view *view;
    /* For all walkers of the view and its positions. NULL: those of the view if it has any (plugmc_view.inverses),
     * else they are computed from the positions. */
    const plugmc_inverses *inverses;
    double *energy; /* [walkers] sum of the parts, host memory */
    double *parts;  /* [walkers][PLUGMC_LOCAL_PARTS] host memory */
    double *ln_psi; /* [walkers] ln |Psi|, not normalised; host memory */
    /* [walkers][2] Psi / |Psi|, re and im; host memory. Always from an LU decomposition. */
    double *phase;
    /* [walkers][particles][3] Re grad ln Psi, 1/length; host or device memory, as the view. */
    double *drift;
    /* Out: quadrature points, ordered by walker, in host memory of the plugin that answers; valid until the next
     * request. NULL: not requested. */
    const plugmc_nonlocal_point **points;
    int64_t *point_count;
    /* The same in device memory, for a view on a device: points of an electron are contiguous, electrons of a
     * walker and species are in order. The caller may write to it until its next request. NULL: not requested. */
    plugmc_nonlocal_point **device_points;
    /* Since 2.1. [walkers][particles + ions][2] kinetic and potential energy of each electron, then of each ion of the
     * orbitals' potential; host memory. Half of what two of them have with each other belongs to either, so that the
     * sum is the energy. Only for views in host memory. NULL: not requested. */
    double *shares;
    /* Since 2.1. Out: [point_count] ion of each quadrature point, with `points` in host memory. NULL: not requested. */
    const int32_t **point_ions;
} plugmc_local_energy_request;

typedef struct plugmc_local_energy {
    uint32_t size;
    int32_t on_device; /* 1: accepts views in device memory */
    /* Called from the main thread, after prepare of all plugins. */
    int (*evaluate)(void *instance, const struct plugmc_host *,
                    const plugmc_local_energy_request *);
} plugmc_local_energy;

/* Offered by the plugin that computes local energies. */
#define PLUGMC_LOCAL_ENERGY "plugmc.local_energy/1"
static inline const plugmc_local_energy *plugmc_local_energy_of(const plugmc_plugin *plugin)
{
    return (const plugmc_local_energy *)plugmc_offered(plugin, PLUGMC_LOCAL_ENERGY);
}

/* The core's extension for plugins that need local energies. */
#define PLUGMC_LOCAL_ENERGIES "plugmc.local_energies/1"
typedef struct plugmc_local_energies {
    uint32_t size;
    /* Local energies from the plugin of the run that computes them. Main thread, once all plugins are prepared.
     * With NULL, in `prepare`, it only tests that there is exactly one such plugin, and reports if not. */
    int (*local_energy)(plugmc_context *, const plugmc_local_energy_request *);
} plugmc_local_energies;

static inline const plugmc_local_energies *plugmc_local_energies_of(const plugmc_host *host)
{
    return (const plugmc_local_energies *)host->extension(host->context, PLUGMC_LOCAL_ENERGIES);
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* PLUGMC_STATE_WEIGHT is ln of a walker's weight in averages. A mover that changes it
 * (PLUGMC_CHANGED_WALKER_WEIGHT) couples walkers and says so (plugmc_mover.couples). Of each measurement the core
 * then keeps the weighted mean over walkers and the mean weight, which becomes a quantity "weight" of each
 * observable. Averages are sum_t w_t x_t / sum_t w_t. An observable may set this bit in `follows` if what it
 * measures of a walker depends on the present configuration and on nothing earlier: the walker may have been
 * another one at the previous measurement. Other observables are refused. */

#endif
