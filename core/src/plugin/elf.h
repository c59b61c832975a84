/* Whether a shared object is complete. */
#ifndef PLUGMC_ELF_H
#define PLUGMC_ELF_H

#include "base/sentence.h"

/* Checks that the file is for this machine, and that all parts named in its headers are inside it, in order and without
 * overlaps. A file that is not an ELF file passes; the loader of the operating system reports it. `path` is for the
 * sentence. */
bool elf_is_whole(int file, const char *path, sentence why);
/* Whether it has a run path: folders of its own for the libraries that it needs, for example $ORIGIN. */
bool elf_has_run_path(int file);
#endif
