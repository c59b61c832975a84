/* What a potential's energies follow beside its parameters and where particles are: nothing should. */
#ifndef PLUGMC_HIDDEN_INPUTS_H
#define PLUGMC_HIDDEN_INPUTS_H

#include "base/sentence.h"
#include "plugmc/everything.h"

/* Tries a configured potential; false with a sentence. */
bool check_hidden_inputs(const plugmc_system *, const plugmc_term *, sentence why);
#endif
