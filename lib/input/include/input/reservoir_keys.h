/* Keys that say what a reservoir is: one of them in the section of a species or a molecule, or NAME.mu as a variable of the ladder.
 * See reservoir.h. */
#ifndef INPUT_RESERVOIR_KEYS_H
#define INPUT_RESERVOIR_KEYS_H

#include <stdbool.h>
#include <string.h>

enum { RESERVOIR_KEYS = 5 };

static const char *const reservoir_keys[RESERVOIR_KEYS] = {"activity", "mu", "chemical_potential",
                                                           "fugacity", "pressure"};

static inline bool is_reservoir_key(const char *key)
{
    for (int k = 0; k < RESERVOIR_KEYS; k++)
        if (!strcmp(key, reservoir_keys[k])) return true;
    return false;
}

/* Whether a variable of the ladder (NULL: there is none) is the chemical potential of this species or molecule. */
static inline bool is_mu_of(const char *variable, const char *name)
{
    const size_t n = strlen(name);
    return variable && !strncmp(variable, name, n) && !strcmp(variable + n, ".mu");
}

#endif
