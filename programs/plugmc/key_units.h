/* Units of keys. */
#ifndef PLUGMC_CLI_KEY_UNITS_H
#define PLUGMC_CLI_KEY_UNITS_H

#include "session/session.h"

/* What the value of a key is told in: "K", "length^-3"; "" if it is a number without a unit, or a word. Of a run that
 * is open; the caller frees it. */
char *key_unit(const session *, const char *key);
#endif
