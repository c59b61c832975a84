/* Files of the user's that are read: never a pipe, which might wait for ever, nor a device, which
 * might never end. */
#ifndef PLUGMC_REGULAR_FILE_H
#define PLUGMC_REGULAR_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* A descriptor for reading, or -1 with the reason in words. */
int open_regular(const char *path, const char **why);
/* Whether two looks were at one file, and nothing was written to it between them. */
bool file_is_unchanged(const struct stat *, const struct stat *);
#endif
