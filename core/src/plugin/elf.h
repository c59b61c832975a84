/* Is a shared object whole? */
#ifndef PLUGMC_ELF_H
#define PLUGMC_ELF_H

#include "base/sentence.h"

/* Whether the parts that the headers of `file` speak of are inside it, in order and one after
 * another, and those for this machine. What is no ELF file at all passes: the loader of the
 * operating system names it. `path` is for the sentence. */
bool elf_is_whole(int file, const char *path, sentence why);
/* Whether it names folders of its own for the libraries that it needs ($ORIGIN, say). */
bool elf_has_run_path(int file);
#endif
