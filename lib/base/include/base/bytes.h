/* Reading and writing of so many bytes, however often the kernel is called for them. */
#ifndef PLUGMC_BYTES_H
#define PLUGMC_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* False: the end came before, or an error, as errno says (0: the end). */
bool bytes_read(int file, void *to, size_t bytes);
/* False: an error, as errno says. A socket that nobody reads raises no signal. */
bool bytes_write(int file, const void *from, size_t bytes);
/* As malloc. Many bytes lie in large pages if there are any: each page that is written to for the first time costs as much
 * as writing some kilobytes to it. */
void *bytes_take(size_t bytes);
#endif
