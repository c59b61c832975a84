/* What an observable says that it can give, before there is a run. */
#ifndef PLUGMC_LISTING_H
#define PLUGMC_LISTING_H

#include <stdbool.h>

#include "plugmc/everything.h"

/* Entry number `index`; NULL past the last, for one that lacks a text, and if the observable has no listing. */
const plugmc_listing *listing_entry(const plugmc_observable *, int index);
/* Does `text` fit a pattern in which <word> stands for any text but none? */
bool listing_fits(const char *pattern, const char *text);
/* Is this quantity listed, by name and unit? Always, if there is no listing. */
bool listing_has(const plugmc_observable *, const plugmc_quantity *, bool derived);
#endif
