/* A run as the text of an INI file. */
#ifndef PLUGMC_ECHO_H
#define PLUGMC_ECHO_H

#include "engine/engine.h"

/* All keys with the values in effect, and where each value comes from. Known once the plugins are configured.
 * malloc'ed. */
char *effective_ini(const engine *);
/* The same for comparisons. It lacks the comments on pairs of species, which take longer than all the rest. */
char *effective_keys(const engine *);
/* The assignments by --set and the file as one INI text. It gives the same input when it is read back from the file
 * `archive`. malloc'ed. */
char *ini_as_text(const ini_file *, const char *archive);
#endif
