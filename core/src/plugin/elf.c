/* What is asked of an ELF file before the loader of the operating system maps it. */
#include "plugin/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* dlopen maps a file that was cut short and then dies of SIGBUS. Is all there that its program
 * headers speak of? What is no ELF file is left for dlopen to name. */
bool check_length(const char *path, sentence why)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    FILE *f = fopen(path, "rb");
    if (!f) return why_not(why, "%s cannot be opened: %s", path, strerror(errno));
    bool elf = fread(&head, sizeof head, 1, f) == 1 && !memcmp(head.e_ident, ELFMAG, SELFMAG) &&
               head.e_ident[EI_CLASS] == ELFCLASS64;
    bool whole = fseek(f, 0, SEEK_END) == 0;
    long length = ftell(f);
    for (int i = 0; elf && whole && i < head.e_phnum; i++) {
        whole = fseek(f, (long)head.e_phoff + i * (long)sizeof part, SEEK_SET) == 0 &&
                fread(&part, sizeof part, 1, f) == 1 && part.p_filesz <= (Elf64_Xword)length &&
                part.p_offset <= (Elf64_Xword)length - part.p_filesz;
    }
    fclose(f);
    return whole || why_not(why, "%s is damaged: it ends before its last part", path);
}
