/* Who owns a file, and who may write to it. */
#ifndef PLUGMC_OWNER_H
#define PLUGMC_OWNER_H

#include <sys/stat.h>

#include "base/sentence.h"

/* Whether nobody can change what is open as `file`, whose status is given, but who is trusted (see
 * trust.h): its owner, its mode, and the file system if the owner has no name here. A link has no
 * mode; in a folder with the sticky bit others can change only what is theirs. `path` is for the
 * sentence. */
bool check_owner(int file, const char *path, const struct stat *, sentence why);
#endif
