/* What callbacks of plugins return, checked before the rest of the program works with it: as tables
 * are (descriptor.h), but asked for when a run is prepared. Each is false, or -1, with a sentence.
 */
#ifndef PLUGMC_ANSWERS_H
#define PLUGMC_ANSWERS_H

#include "base/sentence.h"
#include "plugmc/everything.h"

enum quantity_list { QUANTITIES_MEASURED, QUANTITIES_DERIVED };

/* Asks for a quantity, cleared before: 1 if there is one and it is sound, 0 past the last, -1 if it
 * cannot be. No name may come twice among what is measured and derived. */
int ask_quantity(const plugmc_observable *, void *instance, enum quantity_list, int index,
                 plugmc_quantity *out, sentence why);
/* The same for a GPU source. */
int ask_gpu_source(const plugmc_plugin *, void *instance, const plugmc_host *, int index,
                   plugmc_gpu_source *out, sentence why);

/* Range and contact distances of a pair facet, in both precisions. After configure. */
bool check_distances(const plugmc_system *, const plugmc_term *, sentence why);
/* Numbers of orbitals, ions and waves; variational parameters. After prepare. */
bool check_potential_answers(const plugmc_system *, const plugmc_term *, sentence why);
/* Size of the trial move and the acceptance that is aimed at. After prepare. */
bool check_mover_answers(const plugmc_plugin *, const void *instance, sentence why);
/* No more moves accepted than tried. */
bool check_counts(const plugmc_counts *, sentence why);
/* Samples [n]: where the first is that is no finite number; -1 if all are. */
int64_t first_not_finite(const double *values, int64_t n);
#endif
