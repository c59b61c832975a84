/* Loads a plugin in a child process first, where a crash does no harm. */
#ifndef PLUGMC_TRIAL_H
#define PLUGMC_TRIAL_H

#include "base/sentence.h"

/* Opens the plugin in a child process and reads its descriptor there (rehearsal.h). False if the child crashes, with
 * a sentence about how. Either the file is damaged, since the loader of the operating system trusts tables that it
 * cannot check, or its code cannot run on this machine. Other errors are left for the caller to find in its own
 * process. In such a child process the function always returns true. *shortage: no child could be started, since
 * processes, file descriptors or memory are exhausted. */
bool survives_loading(const char *path, bool *shortage, sentence why);
#endif
