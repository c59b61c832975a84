/* A run as an INI text. */
#ifndef PLUGMC_ECHO_H
#define PLUGMC_ECHO_H

#include "engine/engine.h"

/* All keys with the values that they have, and where these come from. Known once the plugins are
 * configured. malloc'ed. */
char *effective_ini(const engine *);
/* The same without the comments on pairs of species, which cost more than all the rest: for comparisons. */
char *effective_keys(const engine *);
/* The --set's and the file as one INI text that reads back the same from the file `archive`.
 * malloc'ed. */
char *ini_as_text(const ini_file *, const char *archive);
#endif
