/* Tests the bodies of a potential before anything is sampled with them. */
#ifndef PLUGMC_PROBE_BODIES_H
#define PLUGMC_PROBE_BODIES_H

#include "base/sentence.h"
#include "plugmc/everything.h"

/* Tests the body facet of a configured term (see probe_bodies.c). Takes milliseconds. False with the first disagreement.
 * True for a term without bodies. */
bool probe_bodies(const plugmc_system *, const plugmc_term *, sentence why);
#endif
