/* Tests a pair energy as a function of the vector between two particles. probe.h tests it along one line. */
#ifndef PLUGMC_PROBE_VECTORS_H
#define PLUGMC_PROBE_VECTORS_H

#include "base/sentence.h"
#include "plugmc/everything.h"

/* Tests the pair facet of a configured term. False with a sentence. */
bool probe_vectors(const plugmc_system *, const plugmc_term *, sentence why);
#endif
