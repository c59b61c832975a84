/* Whether a mover can sample a run, and why not: a sentence that continues "mover 'NAME' ". */
#ifndef PLUGMC_FITTING_H
#define PLUGMC_FITTING_H

#include "engine/engine.h"

/* Bytes of such a sentence. */
enum { MISFIT = 512 };

/* plugmc_mover.needs. If the core computes energies for the mover, what the core can do is included. */
uint32_t needs_of(const plugmc_mover *);
/* Whether it moves particles from place to place. */
bool displaces(const plugmc_mover *);

/* Each returns NULL if nothing is in the way; else the sentence, which may be in `words`. */
const char *misfit_of_term(const engine *, uint32_t needs, const plugmc_term *, char words[MISFIT]);
const char *misfit_of_box(const engine *, uint32_t needs);
/* It would break rigid molecules, or has only their sites to move. */
const char *misfit_of_molecules(const engine *, const plugmc_mover *, char words[MISFIT]);
/* Another mover changes what this one cannot follow. */
const char *misfit_with(const engine *, const plugmc_mover *, const mover_slot *other,
                        char words[MISFIT]);
const char *misfit_of_ladder(const engine *, const plugmc_mover *, char words[MISFIT]);
/* All of these, for a mover of the search path in the place of `but`, a mover of the run or NULL. */
const char *misfit_of(const engine *, const plugmc_mover *, const mover_slot *but,
                      char words[MISFIT]);

/* Whether a mover in the search path could displace the particles of this run. Only potentials and the box are
 * considered. */
bool mover_fits(const engine *, const plugmc_mover *);
/* ": use 'a' or 'b'", the movers in the search path that can sample this system; "" if none can. */
const char *movers_for(const engine *, char words[256]);
#endif
