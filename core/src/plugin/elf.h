/* Is a shared object whole? */
#ifndef PLUGMC_ELF_H
#define PLUGMC_ELF_H

#include "plugin/sentence.h"

/* Whether all parts that the file's headers speak of are inside it. */
bool check_length(const char *path, sentence why);
#endif
