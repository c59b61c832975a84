/* Checks that energies of a potential depend on nothing but its parameters and the positions of particles. */
#ifndef PLUGMC_HIDDEN_INPUTS_H
#define PLUGMC_HIDDEN_INPUTS_H

#include "base/sentence.h"
#include "plugmc/everything.h"

/* Tests a configured potential. False with a sentence. */
bool check_hidden_inputs(const plugmc_system *, const plugmc_term *, sentence why);

/* Energies of pairs of particles and of single ones, before `prepare` is called; NULL: the plugin has none of these, or no
 * `prepare`. To be freed by the caller. */
struct answers *answers_before_prepare(const plugmc_system *, const plugmc_term *);
/* Whether they are the same after `prepare`. Float energies and those on a GPU are of the parameters before. */
bool check_prepare_keeps(const plugmc_system *, const plugmc_term *, const struct answers *before,
                         sentence why);
#endif
