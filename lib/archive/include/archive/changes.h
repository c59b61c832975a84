/* A file that grows as a whole: a process that is killed at any moment leaves it as it was or with all that was added.
 * What is new goes behind its end, where nobody looks. What changes before its end goes into a file of changes, which is
 * applied when both are on the disk, and again if that was interrupted. */
#ifndef PLUGMC_CHANGES_OF_FILE_H
#define PLUGMC_CHANGES_OF_FILE_H

#include <stdbool.h>
#include <stdint.h>

enum { CHANGES_BLOCK = 4096 };

/* Blocks before the end of a file that differ from those on the disk. */
typedef struct changes {
    char **blocks; /* [count]; NULL: as on the disk */
    uint64_t count;
} changes;

/* Of a file of so many bytes. False: no memory. */
bool changes_begin(changes *, uint64_t bytes);
void changes_free(changes *);
/* Writes the file of changes `fd`, of a file that has `size` bytes with them. 0 or errno. */
int changes_write(const changes *, int fd, uint64_t size);
/* Applies the file of changes at `name` to that at `path`, and removes it when what was changed is on the disk. 0 or
 * errno, EBADMSG for what is no file of changes. */
int changes_apply(const char *name, const char *path);
/* That of the file of changes at `name`, 0 if it is none; that of this program. */
int changes_version(const char *name);
int changes_own_version(void);
#endif
