/* Tests a pair potential before anything is sampled with it. */
#ifndef PLUGMC_PROBE_H
#define PLUGMC_PROBE_H

#include "base/sentence.h"
#include "plugmc/everything.h"

/* Computes energies of two particles by the pair facet of a configured term, at some hundred separations and for the
 * pairs of species in the system. Compares results that must agree (see probe.c). Takes milliseconds. False with the
 * first disagreement: separation, species and values. True for a term without a pair facet. */
bool probe_pair(const plugmc_system *, const plugmc_term *, sentence why);

/* Energy of two particles of species a and b at distance r, by a term with a pair facet and in its own unit.
 * +infinity if they overlap. */
double probe_energy(const plugmc_system *, const plugmc_term *, int32_t a, int32_t b, double r);
#endif
