/* What the tests of a many-body term (total_check.h) work with: one configuration of some walkers, which they change
 * and ask the term about. */
#ifndef PLUGMC_TOTAL_EXAMINATION_H
#define PLUGMC_TOTAL_EXAMINATION_H

#include "base/sentence.h"
#include "engine/engine.h"

#define TOTAL_BUDGET 0.02 /* seconds, a potential */
enum { TOTAL_ROUNDS = 8, TOTAL_LEAST_WALKERS = 2, TOTAL_MOST_WALKERS = 4 };

/* Of its members, energies are [walkers], forces [walkers][particles][3], virials [walkers][3]. */
typedef struct examination {
    engine *engine;
    const plugmc_term *term;
    const plugmc_total *total;
    const int64_t *counts; /* [walkers][species] */
    const plugmc_box *boxes;
    double *positions; /* [walkers][particles][3] */
    double *energy, *before, *forces, *virial;
    int32_t walkers; /* that are tried: the first ones */
    /* Sections that ask for them, such as "mover NAME"; NULL: nobody does. */
    const char *forces_for, *virial_for;
    bool wrote_forces;
    uint64_t draws;
    sentence why;
} examination;

/* What is asked of a term: arrays of an examination, or NULL. */
typedef struct question {
    double *energy, *forces, *virial;
} question;

/* A displacement that the term is asked about. */
typedef struct examined_move {
    int32_t walker;
    int64_t particle;
    double from[3], to[3], change;
    bool taken;
} examined_move;

/* Of those walkers that are tried, on the host. Energies are cleared, forces and virials are -0 before, which any number
 * that is added changes (examination_wrote). A PLUGMC_* code. */
int examination_ask(examination *, question);
/* Whether the term has added anything to one of n numbers that were -0. */
bool examination_wrote(const double *values, size_t n);
/* Any number below 1; it has nothing to do with those of the chain. */
double examination_draw(examination *);
/* Particles that are there. */
int64_t examination_present(const examination *, int32_t walker);
/* Of one that is there; false where nobody is, and where it would leave a sphere. */
bool examination_draw_move(examination *, int32_t walker, examined_move *);
void examination_put(examination *, const examined_move *, const double at[3]);
#endif
