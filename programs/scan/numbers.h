/* Numbers that points of a study have as names. A point is known by its values: what an earlier command has begun
 * keeps its number when values are added or taken away. */
#ifndef PLUGMC_SCAN_NUMBERS_H
#define PLUGMC_SCAN_NUMBERS_H

#include "study.h"

/* The name of each point, malloc'ed: that of the FOLDER/NUMBER.ini with its values, or else the smallest numbers that
 * no such file has, in the order of the points. Commands that begin points of one study side by side so agree. */
char **numbers_make(const study *);
#endif
