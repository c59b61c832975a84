/* Wave functions: what movers and programs ask of them beside the orbitals, and weights of walkers. */
#ifndef PLUGMC_WAVE_H
#define PLUGMC_WAVE_H

#include "plugmc/view.h"

/* ---- Parameters ------------------------------------------------------------------------------ */

/* Numbers of a potential that whoever optimises a wave function may change while a run is prepared, without
 * compiling or taking memory again: only numbers change, neither ranges nor how many of anything there are.
 * ln |Psi| = -U/2 with U the energy over kT of the potential, O_k = d ln |Psi| / dp_k. Hartree atomic units. */

/* One of them: the key of the potential's section that it belongs to, and its place in that list; -1: the key
 * is no list. All numbers of a list are free, and stand one after the other, from place 0. */
typedef struct plugmc_variational_parameter {
    uint32_t size;
    const char *key; /* lives as long as the instance */
    int64_t place;
} plugmc_variational_parameter;

/* What is asked, of walkers first ... first + walkers - 1 of a view in host memory; it is ADDED to what is there,
 * as potentials of a run have their numbers side by side: `row` numbers from one walker to the next. */
typedef struct plugmc_variational_request {
    uint32_t size;
    int32_t first, walkers;
    int64_t row;
    const plugmc_view *view;
    double *derivatives; /* [walkers][row] O_k; NULL: not wanted */
    /* [walkers][row] sum over electrons i of -1/2 lap_i O_k - drift_i . grad_i O_k: what d/dp_k does to the
     * kinetic part of the local energy (J. Toulouse, C. J. Umrigar, J. Chem. Phys. 126, 084102 (2007));
     * with drift [walkers][particles][3] = Re grad ln Psi, 1/length. NULL: not wanted. */
    double *kinetic;
    const double *drift;
} plugmc_variational_request;

/* The same for one particle of one walker, tried at some places while all others stay: the quadrature of a
 * nonlocal potential. */
typedef struct plugmc_variational_points {
    uint32_t size;
    int32_t walker; /* of the view */
    int64_t particle, points, row;
    const plugmc_view *view;
    const double (*position)[3]; /* [places], length, wrapped into the box */
    double *changes;             /* [places][row] O_k there less O_k as the view is: added */
} plugmc_variational_points;

typedef struct plugmc_variational {
    uint32_t size;
    int32_t on_device; /* 1: takes views in device memory; none does so far */
    /* After configure; the same as long as the instance lives. */
    int64_t (*count)(const void *instance);
    int (*number)(const void *instance, int64_t k, plugmc_variational_parameter *out);
    int (*get)(const void *instance, double *values);
    /* From the main thread, of the instance of each precision. Finite numbers, as the keys allow them. */
    int (*set)(void *instance, const double *values);
    /* Of the instance in double precision; for different walkers from many threads at once. */
    int (*derivatives)(const void *instance, const struct plugmc_host *,
                       const plugmc_variational_request *);
    int (*at_points)(const void *instance, const struct plugmc_host *,
                     const plugmc_variational_points *);
    /* 1: keys of the section come before what a file of the potential gives, so that lists may be written into a
     * section that does not give them. */
    int32_t keys_before_files;
    /* Names of the lists of the plugin's table, keys and derived ones, whose numbers `set` changes, ended by NULL: all
     * that GPU source sees of variational parameters. Where plugmc_system.numbers_change they are memory of each loaded kernel
     * text, which the core writes after `set`. NULL: no kernel may be used once numbers were set. */
    const char *const *tables;
    /* PLUGMC_VARIATIONAL_* (plugmc/variational.h): derivatives that the potential's own text gives, so that the core finds them on
     * the GPU too. 0: on the CPU alone. */
    int32_t functions;
    /* With these: how many sums the text adds up (the same as long as the instance lives), and what they are to the
     * numbers: `combine` adds d/dp_k [count] of the instance in double precision from sums [sums]. */
    int64_t (*sums)(const void *instance);
    void (*combine)(const void *instance, const double *sums, double *row);
} plugmc_variational;

/* Variational parameters that a potential offers; NULL: it has none. */
#define PLUGMC_VARIATIONAL_PARAMETERS "plugmc.variational_parameters/1"
static inline const plugmc_variational *plugmc_variational_of(const plugmc_plugin *potential)
{
    return (const plugmc_variational *)plugmc_offered(potential, PLUGMC_VARIATIONAL_PARAMETERS);
}

/* ---- Local energies -------------------------------------------------------------------------- */

/* H Psi / Psi of Psi = determinants of the orbitals of one potential times exp(-U/2), U the energy over kT
 * of all sampled pairs and fields (W. M. C. Foulkes, L. Mitas, R. J. Needs, G. Rajagopal, Rev. Mod. Phys. 73,
 * 33 (2001)). One plugin of a run gives them, of whatever kind; others ask PLUGMC_LOCAL_ENERGIES. Hartree
 * atomic units, of the whole cell. */

/* What a local energy consists of, in this order; real parts. */
enum {
    PLUGMC_LOCAL_KINETIC,
    PLUGMC_LOCAL_ELECTRON_ELECTRON,
    PLUGMC_LOCAL_LOCAL, /* ions' charges, and pseudopotentials that act on any angular momentum alike */
    PLUGMC_LOCAL_NONLOCAL, /* those that do not */
    PLUGMC_LOCAL_ION_ION,
    PLUGMC_LOCAL_PARTS
};

/* Inverse matrices that somebody keeps: of spin s (species), M[e][o] = (A^-1)[o][e] with A[e][o] the orbital o at
 * electron e, n of each; real, or re, im. They may be as far from exact as the mover lets them drift. */
typedef struct plugmc_inverses {
    uint32_t size;
    int32_t on_device; /* where `inverse` is; the list of pointers is host memory */
    const double *const
        *inverse[2]; /* [species][walkers]: M [n][n] of each walker; NULL: no electron */
    const double
        *ln_square[2]; /* [species][walkers] ln |det A|^2 as it is kept, host memory; or NULL */
} plugmc_inverses;

/* A place where a nonlocal potential takes an electron. The sum of `energy` over those of a walker is its
 * nonlocal energy; for moves by T = -tau `energy` see M. Casula, Phys. Rev. B 74, 161102 (2006). */
typedef struct plugmc_nonlocal_point {
    int32_t walker, electron; /* walker: of the view */
    double position[3];       /* length, wrapped into the box */
    double energy;            /* Hartree: v(r, r') Re(Psi(.., r', ..) / Psi) with all its weights */
    double factor;            /* Hartree: v(r, r') alone */
    /* Re, im of what orbitals at `position` are multiplied by to be those at r': with a twist they gain a phase over
     * an edge of the box, where `position` is on the other side. */
    double phase[2];
} plugmc_nonlocal_point;

/* What is asked, of walkers first ... first + walkers - 1 of a view. What is found is written over what was
 * there; NULL: not wanted. A Psi that is 0, or no number, is a failure with a sentence. */
typedef struct plugmc_local_energy_request {
    uint32_t size;
    int32_t first, walkers;
    /* Positions, and the sweep whose random numbers turn the quadratures of nonlocal potentials: the same sweep
     * and walker have the same quadrature, whoever asks. */
    const plugmc_view *view;
    /* Of all walkers of the view, belonging to its positions; NULL: those of the view, if it has any
     * (plugmc_view.inverses), else they are made from the positions. */
    const plugmc_inverses *inverses;
    double *energy; /* [walkers] the sum of the parts, host memory */
    double *parts;  /* [walkers][PLUGMC_LOCAL_PARTS] host memory */
    double *ln_psi; /* [walkers] ln |Psi|, without a norm; host memory */
    /* [walkers][2] Psi / |Psi|, re and im; host memory. By an LU decomposition, even if matrices are lent. */
    double *phase;
    double *drift; /* [walkers][particles][3] Re grad ln Psi, 1/length; where the view is */
    /* Out: the places of the quadratures, in the order of walkers, host memory of whoever answers, until it is
     * asked again. NULL: not wanted. */
    const plugmc_nonlocal_point **points;
    int64_t *point_count;
    /* The same of a view on a device, in device memory: those of an electron side by side, electrons of a walker and
     * species in order. Who asked may write there, until it asks again. NULL: not wanted. */
    plugmc_nonlocal_point **device_points;
} plugmc_local_energy_request;

typedef struct plugmc_local_energy {
    uint32_t size;
    int32_t on_device; /* 1: takes a view in device memory */
    /* From the main thread, after prepare of all plugins. */
    int (*evaluate)(void *instance, const struct plugmc_host *,
                    const plugmc_local_energy_request *);
} plugmc_local_energy;

/* Offered by the plugin that gives them. */
#define PLUGMC_LOCAL_ENERGY "plugmc.local_energy/1"
static inline const plugmc_local_energy *plugmc_local_energy_of(const plugmc_plugin *plugin)
{
    return (const plugmc_local_energy *)plugmc_offered(plugin, PLUGMC_LOCAL_ENERGY);
}

/* What the core has for others, who ask the one plugin of the run that gives them. */
#define PLUGMC_LOCAL_ENERGIES "plugmc.local_energies/1"
typedef struct plugmc_local_energies {
    uint32_t size;
    /* Local energies of the wave function, by the one plugin of the run that gives them. Main
     * thread, once all plugins are prepared. With NULL it only asks, in `prepare`, whether there is one. */
    int (*local_energy)(plugmc_context *, const plugmc_local_energy_request *);
} plugmc_local_energies;

static inline const plugmc_local_energies *plugmc_local_energies_of(const plugmc_host *host)
{
    return (const plugmc_local_energies *)host->extension(host->context, PLUGMC_LOCAL_ENERGIES);
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* PLUGMC_STATE_WEIGHT is ln of what a walker counts in averages. A mover that changes it
 * (PLUGMC_CHANGED_WALKER_WEIGHT) ties walkers together and says so (plugmc_mover.couples). The core then keeps, of
 * each measurement, the weighted mean over walkers and the mean weight, which is a quantity "weight" of each
 * observable, and averages are sum_t w_t x_t / sum_t w_t. An observable says that it follows the bit if what it
 * measures of a walker depends on where that walker is now and on nothing before, so that it may have been another
 * one at the last measurement; others are refused. */

#endif
