/* Two configurations, key by key. */
#ifndef PLUGMC_CONFIG_COMPARISON_H
#define PLUGMC_CONFIG_COMPARISON_H

#include "input/ini.h"

/* A key that one of them has and the other has not, or not the same; a section that only one of them has
 * comes with key "". one, other: its values, "there" for a section; NULL where it is not there. */
typedef void ini_differs(void *argument, const char *section, const char *key, const char *one,
                         const char *other);

/* Tells all differences: those of keys of `one` first, then what only `other` has. */
void ini_compare(const ini_file *one, const ini_file *other, ini_differs *tell, void *argument);
/* The section of this name, or NULL. */
ini_section *ini_section_named(const ini_file *, const char *name);
#endif
