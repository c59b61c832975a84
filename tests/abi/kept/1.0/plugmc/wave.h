/* Wave functions: what movers and programs ask of them beside the orbitals, and weights of walkers. Part of
 * plugmc/plugin.h. */
#ifndef PLUGMC_WAVE_H
#define PLUGMC_WAVE_H

#include <stddef.h>
#include <stdint.h>

#include "plugmc/state.h"

struct plugmc_host;

/* ---- Local energies -------------------------------------------------------------------------- */

/* H Psi / Psi of Psi = determinants of the orbitals of one potential times exp(-U/2), U the energy over kT
 * of all sampled pairs and fields (W. M. C. Foulkes, L. Mitas, R. J. Needs, G. Rajagopal, Rev. Mod. Phys. 73,
 * 33 (2001)). One plugin of a run gives them, of whatever kind; others ask plugmc_host.local_energy. Hartree
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
typedef struct plugmc_nonlocal_place {
    int32_t walker, electron; /* walker: of the view */
    double position[3];       /* length, wrapped into the box */
    double energy;            /* Hartree: v(r, r') Re(Psi(.., r', ..) / Psi) with all its weights */
    double factor;            /* Hartree: v(r, r') alone */
} plugmc_nonlocal_place;

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
    const plugmc_nonlocal_place **places;
    int64_t *place_count;
} plugmc_local_energy_request;

typedef struct plugmc_local_energy {
    uint32_t size;
    int32_t on_device; /* 1: takes a view in device memory */
    /* From the main thread, after prepare of all plugins. */
    int (*evaluate)(void *instance, const struct plugmc_host *,
                    const plugmc_local_energy_request *);
} plugmc_local_energy;

/* ---- Weights --------------------------------------------------------------------------------- */

/* PLUGMC_STATE_WEIGHT is ln of what a walker counts in averages. A mover that changes it
 * (PLUGMC_CHANGED_WALKER_WEIGHT) ties walkers together and says so (plugmc_mover.joins). The core then keeps, of
 * each measurement, the weighted mean over walkers and the mean weight, which is a quantity "weight" of each
 * observable, and averages are sum_t w_t x_t / sum_t w_t. An observable says that it follows the bit if what it
 * measures of a walker hangs on where that walker is now and on nothing before, so that it may have been another
 * one at the last measurement; others are refused. */

#endif
