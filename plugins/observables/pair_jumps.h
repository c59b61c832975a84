/* pair_jumps: where the energy of two particles jumps, and what that adds to the virial.
 *
 * At a jump at r_j a derivative of the energy sees nothing, and yet pairs push or pull there. With u the energy of a pair
 * over kT, of all sampled potentials together, and n(r) exp(-u(r)) dr pairs at distances r ... r + dr, where n has no jump,
 *
 *     -sum over pairs of r du/dr  has the part  r_j n(r_j) [exp(-u(r_j+)) - exp(-u(r_j-))],
 *
 * and P V / kT has this over the dimension d. Where the energy is infinite on one side it is the contact value of hard
 * cores. Square wells and shoulders, potentials cut at a distance, tables that begin or end with an energy, formulas: all
 * are found in the energies themselves.
 *
 * n(r_j) is read off a polynomial in r that is fitted, by least squares, to n(r) / r^(d-1) of the pairs in a shell on each
 * side. The weight of a distance is r^(d-1) exp(-u(r)), since counts are the more precise the more pairs there are: a side
 * where the energy is high counts little, one where it is infinite not at all, and other jumps within the shells do no
 * harm. The value is linear in the counts. So each pair in the shells adds a polynomial of its distance, along each axis
 * in proportion to s_d^2 / r^2; no histogram is needed, and boxes and numbers may change.
 * J.-P. Hansen, I. R. McDonald, Theory of Simple Liquids, section 2.5 (y = g exp(u), which is n / r^(d-1) here);
 * M. P. Allen, D. J. Tildesley, Computer Simulation of Liquids, section 2.4. */
#ifndef PLUGMC_PAIR_JUMPS_H
#define PLUGMC_PAIR_JUMPS_H

#include <plugmc/everything.h>

#include JUMP_WINDOWS_FILE

typedef struct pair_jumps {
    int32_t count; /* of all pairs of species and rungs; 0: the energies have no jumps */
    int32_t degree;
    double reach;     /* length: pairs farther apart add nothing */
    int32_t *first;   /* [rungs]: the first rung that has the same energies */
    jump_list *lists; /* [rungs][species][species] */
    pair_jump *jumps; /* [count] */
} pair_jumps;

/* In prepare of an observable. Shells are fit_range times the distance of a jump wide on each side. Hard cores of
 * PLUGMC_PAIR_CONTACT are left to others. */
int pair_jumps_prepare(pair_jumps *, const plugmc_host *, double fit_range, int64_t degree);

/* Fails where a box has become too narrow for the shells. */
int pair_jumps_check(const pair_jumps *, const plugmc_host *, const plugmc_view *);

/* On the host, for walkers of a rung. */
jump_task pair_jumps_task(const pair_jumps *, const plugmc_system *, int32_t rung);

/* The keys of an observable of this struct. */
#define PAIR_JUMPS_FIT_RANGE "0.05"
#define PAIR_JUMPS_DEGREE "4"

#endif
