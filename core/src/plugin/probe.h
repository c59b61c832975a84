/* A pair potential on trial, before anything is sampled with it. */
#ifndef PLUGMC_PROBE_H
#define PLUGMC_PROBE_H

#include "base/sentence.h"
#include "plugmc/everything.h"

/* Asks the pair facet of a configured term for energies of two particles at some hundred
 * separations, for pairs of species that there are, and compares what must agree (probe.c says
 * what). Takes milliseconds. False with the first that does not: separation, species and values.
 * True for a term without a pair facet. */
bool probe_pair(const plugmc_system *, const plugmc_term *, sentence why);

/* Energy of two particles of species a and b at distance r by a term with a pair facet, in its own unit; +infinity
 * where they overlap. */
double probe_energy(const plugmc_system *, const plugmc_term *, int32_t a, int32_t b, double r);
#endif
