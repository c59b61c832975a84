/* Where a file has been written: a bit for each block of it. */
#ifndef PLUGMC_TOUCHED_H
#define PLUGMC_TOUCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOUCHED_BLOCK = 1 << 16 };

typedef struct touched {
    unsigned char *bits;
    size_t bytes;
    bool unknown; /* memory was short: anywhere */
} touched;

/* From one byte to before another. */
void touched_add(touched *, uint64_t from, uint64_t end);
/* The next range of blocks that were written, from *end on; false: there is none. *end is 0 before the first. */
bool touched_next(const touched *, uint64_t *from, uint64_t *end);
/* Whether the block of this byte was written. */
bool touched_has(const touched *, uint64_t at);
void touched_free(touched *);
#endif
