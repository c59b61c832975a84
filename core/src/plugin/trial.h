/* Loading a plugin for trial, where a crash does no harm. */
#ifndef PLUGMC_TRIAL_H
#define PLUGMC_TRIAL_H

#include "base/sentence.h"

/* Opens the plugin in a child process and looks at its descriptor there (rehearsal.h). False if the
 * child ends by that, with a sentence about how: the file is damaged (the loader of the operating system
 * believes tables that it cannot check), or its code cannot be run here. Whatever else is wrong with it,
 * the caller finds in its own process. Inside such a child it is always true. *shortage: there was no child, as
 * processes, descriptors or memory are used up. */
bool survives_loading(const char *path, bool *shortage, sentence why);
#endif
