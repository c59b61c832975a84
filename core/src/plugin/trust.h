/* Whose file is it? Code of others must not run with the user's rights. */
#ifndef PLUGMC_TRUST_H
#define PLUGMC_TRUST_H

#include "plugin/sentence.h"

/* A regular file that nobody else can change or replace. */
bool check_file(const char *path, sentence why);
#endif
