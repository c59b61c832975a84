/* Checks that energies of a potential depend on nothing but its parameters and the positions of particles. */
#ifndef PLUGMC_HIDDEN_INPUTS_H
#define PLUGMC_HIDDEN_INPUTS_H

#include "base/sentence.h"
#include "plugmc/everything.h"

/* Tests a configured potential. False with a sentence. */
bool check_hidden_inputs(const plugmc_system *, const plugmc_term *, sentence why);
#endif
