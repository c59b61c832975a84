/* The sites of a molecule at rest from a file of another program: [molecule NAME] places_file. */
#ifndef PLUGMC_MOLECULE_PLACES_H
#define PLUGMC_MOLECULE_PLACES_H

#include "input/ini.h"
#include "input/units.h"

/* Puts `places`, the numbers that are in the file, in place of `places_file`, so that what an output file keeps of the input does
 * not need the file. Errors are reported. */
void molecule_places_from_file(const ini_file *, ini_section *, const units *, report *);
#endif
