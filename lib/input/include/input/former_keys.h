/* Keys that had another name in earlier versions. Files that have the old name are read as if they had the new
 * one, so both compare as equal, and a person who wrote the old one is told the new one. */
#ifndef PLUGMC_FORMER_KEYS_OF_INPUT_H
#define PLUGMC_FORMER_KEYS_OF_INPUT_H

#include "base/report.h"
#include "input/sections.h"

/* The present name of a key in such a section; NULL: it never had another. */
const char *former_key_now(const ini_section *, const char *key);

/* The keys of a plugin, which says so when it is loaded (plugmc/former_keys.h): `before` is called `now` from here
 * on, in all sections that name the plugin as this one does. Main thread only. */
void former_key_add(const ini_section *, const char *before, const char *now);

/* Renames the old keys of a section. If a key stands there under both names, --set and studies win over the file; else it
 * is given twice, which is an error. Returns 0 or an exit code. */
int former_keys_rename(const ini_file *, ini_section *, report *);

/* Warns of each old name that a person wrote in this section, not of those in the archive of an output file. */
void former_keys_warn(const ini_file *, const ini_section *, report *);
#endif
