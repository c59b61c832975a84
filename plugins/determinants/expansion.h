/* A wave function as a sum of determinants: an extension that a potential offers beside another with orbitals.
 *
 *     Psi = J sum_k c_k D_up,k D_down,k
 *
 * D_s,k is the determinant of the orbitals that term k occupies with the electrons of spin s, its columns in ascending
 * order of their numbers. Determinants that several terms share are listed once. */
#ifndef PLUGMC_EXPANSION_H
#define PLUGMC_EXPANSION_H

#include <plugmc/everything.h>

#include "spin_table_task.h"

/* Determinants of one spin. */
typedef struct expansion_spin {
    int32_t electrons;    /* orbitals of each */
    int32_t orbitals;     /* that occur in any of them */
    int32_t determinants; /* different ones; 1 without electrons */
    int32_t degree; /* most orbitals in which two of them may differ, up to EXPANSION_MOST_DEGREE */
    const int32_t *column;   /* [orbitals] number of each, from 0, ascending */
    const int32_t *occupied; /* [determinants][electrons] places in `column`, ascending */
} expansion_spin;

typedef struct expansion {
    int64_t terms;
    const double *coefficients; /* [terms] c_k, which an optimiser may change between sweeps */
    const double *imaginary;    /* [terms] imaginary parts of c_k, which stay; NULL: they are 0 */
    const int32_t *of[2];       /* [terms] determinant of each spin; term 0 has determinants 0 */
    expansion_spin spin[2];
} expansion;

/* The table is a plugmc_expansion. */
#define PLUGMC_EXPANSION "determinants.expansion/1"
typedef struct plugmc_expansion {
    uint32_t size;
    /* After prepare; lives as long as the instance. */
    const expansion *(*get)(const void *instance);
} plugmc_expansion;

/* Whether a run has one, also before prepare. */
int expansion_is_there(const plugmc_host *);
/* The expansion of a run into *out, NULL if there is none; a code, reported, if there are two. */
int expansion_find(const plugmc_host *, const expansion **out);

#endif
