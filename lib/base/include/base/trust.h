/* Whose file is it? Code of others must not run with the user's rights: plugins and libraries of CUDA and MPI are opened
 * through here. */
#ifndef PLUGMC_TRUST_H
#define PLUGMC_TRUST_H

#include "base/sentence.h"

typedef struct trusted {
    int file;   /* a descriptor that reads; -1 without one */
    char *path; /* of it, absolute and without links; malloc'ed */
} trusted;

/* Opens a regular file if nobody but who is trusted can change it or put another in its place; false with the reason
 * else. Links are followed first. Then file and folder have to belong to the user, to root, or to a member of a group
 * that PLUGMC_TRUST_GROUP names (with ':' between them), and must not be writable by others. An owner without a name
 * here (containers) will do on a file system that is mounted read-only. Folders further up are not looked at. */
bool trusted_open(const char *path, trusted *out, sentence why);
void trusted_close(trusted *);
/* Whether `path` still leads to what was opened, as it was then: a file that the user himself builds again meanwhile is
 * another one. */
bool trusted_unchanged(const trusted *);
#endif
