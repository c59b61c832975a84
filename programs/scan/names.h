/* What the points of a study are called, and that none of them writes a file of another. */
#ifndef PLUGMC_SCAN_NAMES_H
#define PLUGMC_SCAN_NAMES_H

#include "study.h"

/* "packing_fraction=0.698,seed=1" or, by numbers, "03". Both stay when a list gets longer.
 * Reports names that are too long, and files that two points would write. */
int names_make(study *, bool by_number, report *);
#endif
