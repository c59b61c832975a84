/* The quantities that an observable declares, before there is a run. */
#ifndef PLUGMC_LISTING_H
#define PLUGMC_LISTING_H

#include <stdbool.h>

#include "plugmc/everything.h"

/* Entry number `index`. NULL after the last one, for an entry that lacks a string, and without a listing. */
const plugmc_listing *listing_entry(const plugmc_observable *, int index);
/* Whether `text` matches a pattern, in which <word> stands for any non-empty text. */
bool listing_fits(const char *pattern, const char *text);
/* Whether this quantity is listed with its name and unit. True if there is no listing. */
bool listing_has(const plugmc_observable *, const plugmc_quantity *, bool derived);
#endif
