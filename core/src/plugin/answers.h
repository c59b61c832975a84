/* Checks what callbacks of plugins return, before the rest of the program uses it. The tables of a plugin are
 * checked in descriptor.h; callbacks are called when a run is prepared. On failure each function returns false, or
 * -1, and gives the reason as a sentence. */
#ifndef PLUGMC_ANSWERS_H
#define PLUGMC_ANSWERS_H

#include "base/sentence.h"
#include "plugmc/everything.h"

enum quantity_list { QUANTITIES_MEASURED, QUANTITIES_DERIVED };

/* Clears *out and asks for a quantity. Returns 1 if there is a valid one, 0 after the last one, -1 if it is invalid.
 * No name may occur twice among measured and derived quantities. */
int ask_quantity(const plugmc_observable *, void *instance, enum quantity_list, int index,
                 plugmc_quantity *out, sentence why);
/* The same for a GPU source. */
int ask_gpu_source(const plugmc_plugin *, void *instance, const plugmc_host *, int index,
                   plugmc_gpu_source *out, sentence why);

/* Checks the range and the contact distances of a pair facet, in both precisions. Call it after configure. */
bool check_distances(const plugmc_system *, const plugmc_term *, sentence why);
/* Checks the numbers of orbitals, ions and waves, and variational parameters. Call it after prepare. */
bool check_potential_answers(const plugmc_system *, const plugmc_term *, sentence why);
/* Checks the step and the target acceptance. Call it after prepare. */
bool check_mover_answers(const plugmc_plugin *, const void *instance, sentence why);
/* Checks that no more moves were accepted than tried. */
bool check_counts(const plugmc_counts *, sentence why);
/* Index of the first of n samples that is not finite; -1: all are finite. */
int64_t first_not_finite(const double *values, int64_t n);
#endif
