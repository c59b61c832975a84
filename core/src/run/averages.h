/* What the samples of a run say so far: found once, then printed and written. */
#ifndef PLUGMC_AVERAGES_H
#define PLUGMC_AVERAGES_H

#include "output/output.h"

/* Fills `found` of all quantities and data->slowest, whose correlation time decides together with
 * the rule of run/blocking.h which error bars are lower bounds. Non-zero: no memory. */
int averages_find(output_data *data);

/* Whether the run is long enough for the slowest of its quantities, so that error bars of others
 * can be believed: arrays and what is derived from them are averaged over walkers before they are
 * blocked, and then have the length of one walker. */
bool averages_long_enough(const output_data *data, bool by_walker);

/* Frees `found` of a quantity. */
void averages_free(quantity_record *);

#endif
