/* Whose file is it? Code of others must not run with the user's rights: plugins, libraries of CUDA
 * and the cache of kernels are opened through here. */
#ifndef PLUGMC_TRUST_H
#define PLUGMC_TRUST_H

#include "base/sentence.h"

typedef struct trusted {
    int file;    /* a descriptor that reads; -1 without one */
    char *path;  /* of it, absolute and without links; malloc'ed */
    bool beside; /* others may put files beside it: it is in a folder with the sticky bit */
} trusted;

/* Opens a regular file, or with `folder` a folder, if nobody but who is trusted can change it or
 * put another in its place; false with the reason else.
 *
 * Trusted are the user, root, and members of the groups that PLUGMC_TRUST_GROUP names (with ':'
 * between them). Every folder on the way from / to the file and every link that is followed has to
 * belong to one of them. Folders are closed to writing by others or have the sticky bit (/tmp),
 * which keeps everybody from moving what is not his. An owner without a name here (containers) will
 * do on a file system that is mounted read-only.
 *
 * What was found can be undone only by who is trusted, so `path` names this very file for good. */
bool trusted_open(const char *path, bool folder, trusted *out, sentence why);
void trusted_close(trusted *);
/* Whether `path` still leads to what was opened, as it was then: a file that the user himself
 * builds again meanwhile is another one. */
bool trusted_unchanged(const trusted *);
#endif
