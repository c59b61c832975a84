/* Memory of plugins: instances, and what they allocate. For programs that test plugins it is guarded: a read or write
 * beyond its end is a crash whose block can be named, and a write just before or behind it is found later. */
#ifndef PLUGMC_GUARDED_MEMORY_H
#define PLUGMC_GUARDED_MEMORY_H

#include "base/sentence.h"

/* From now on blocks are guarded. Without it guarded_allocate is calloc. */
void guarded_memory_begin(void);
bool guarded_memory_guards(void);
/* Zeroed; `alignment` is a power of two, at most 64. `what` names the block in sentences ("its struct") and is not
 * copied. NULL: no memory. From the main thread. */
void *guarded_allocate(size_t bytes, size_t alignment, const char *what);
void guarded_free(void *);
/* A guarded block that is not to be written to any more. */
void guarded_read_only(void *);
/* False with a sentence: bytes around a block have been overwritten. */
bool guarded_memory_intact(sentence why);
/* In words, which guarded block an address is just behind or before, or which read-only one it is in; "" if none. Safe in a handler of signals. */
void guarded_memory_describe(const void *address, char *words, size_t size);
#endif
