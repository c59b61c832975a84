/* What is asked of an ELF file before the loader of the operating system maps it: that one believes
 * the headers, and dies where they lie (of SIGBUS behind the end of a file that was cut short). */
#include "plugin/elf.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PARTS = 256, PAGE = 4096 }; /* at least a page on every machine */

#if defined(__x86_64__)
enum { THIS_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { THIS_MACHINE = EM_AARCH64 };
#else
enum { THIS_MACHINE = EM_NONE }; /* not compared */
#endif

static bool read_at(int file, void *to, size_t bytes, uint64_t offset)
{
    return offset <= INT64_MAX && pread(file, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool is_elf(int file, Elf64_Ehdr *head)
{
    memset(head, 0, sizeof *head);
    return read_at(file, head, SELFMAG, 0) && !memcmp(head->e_ident, ELFMAG, SELFMAG);
}

static bool is_power_of_two(uint64_t n) { return n && !(n & (n - 1)); }

/* What is wrong with one part, NULL if nothing is. `end` is the address behind the last part that
 * is loaded. */
static const char *part_fault(const Elf64_Phdr *p, uint64_t length, uint64_t *end)
{
    const uint64_t too_far = UINT64_C(1) << 46; /* beyond what a process has */
    if (p->p_type == PT_NULL || p->p_type == PT_GNU_STACK) return NULL;
    if (p->p_filesz > length || p->p_offset > length - p->p_filesz)
        return "it ends before its last part";
    if (p->p_type != PT_LOAD) return NULL;
    if (p->p_memsz < p->p_filesz || p->p_memsz > too_far || p->p_vaddr > too_far)
        return "a part has a size or place that cannot be";
    if (!is_power_of_two(p->p_align) || p->p_align < PAGE ||
        (p->p_vaddr - p->p_offset) % p->p_align != 0)
        return "a part is not aligned";
    if (p->p_vaddr < *end) return "its parts are not one behind the other";
    *end = p->p_vaddr + p->p_memsz;
    return NULL;
}

/* Tables that the loader finds by address, such as PT_DYNAMIC, lie in a part that is loaded. */
static bool is_loaded(const Elf64_Phdr *parts, int count, const Elf64_Phdr *table)
{
    for (int i = 0; i < count; i++) {
        const Elf64_Phdr *p = &parts[i];
        if (p->p_type == PT_LOAD && table->p_memsz <= p->p_memsz && table->p_vaddr >= p->p_vaddr &&
            table->p_vaddr - p->p_vaddr <= p->p_memsz - table->p_memsz)
            return true;
    }
    return false;
}

/* ---- What the dynamic section points to ------------------------------------------------------ */

typedef struct image {
    int file, count;
    const Elf64_Phdr *parts;
    uint64_t end; /* address behind the last part */
} image;

/* Whether `bytes` at an address come from the file, and where they are there. */
static bool in_file(const image *m, uint64_t address, uint64_t bytes, uint64_t *offset)
{
    for (int i = 0; i < m->count; i++) {
        const Elf64_Phdr *p = &m->parts[i];
        if (p->p_type != PT_LOAD || bytes > p->p_filesz || address < p->p_vaddr ||
            address - p->p_vaddr > p->p_filesz - bytes)
            continue;
        *offset = p->p_offset + (address - p->p_vaddr);
        return true;
    }
    return false;
}

static bool is_writable(const image *m, uint64_t address)
{
    for (int i = 0; i < m->count; i++) {
        const Elf64_Phdr *p = &m->parts[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_W && p->p_memsz >= 8 && address >= p->p_vaddr &&
            address - p->p_vaddr <= p->p_memsz - 8)
            return true;
    }
    return false;
}

/* Relocations are writes at the addresses that they give, wherever these are. */
static bool relocations_stay_inside(const image *m, uint64_t address, uint64_t bytes,
                                    uint64_t symbols)
{
    /* R_X86_64_ and R_AARCH64_: RELATIVE, IRELATIVE; NONE */
    const uint32_t relative[] = {8, 37, 1027, 1032}, none[] = {0, 256};
    uint64_t offset;
    Elf64_Rela r;
    if (bytes % sizeof r || !in_file(m, address, bytes, &offset)) return false;
    for (uint64_t at = 0; at < bytes; at += sizeof r) {
        if (!read_at(m->file, &r, sizeof r, offset + at)) return false;
        const uint32_t type = ELF64_R_TYPE(r.r_info);
        if (type == none[0] || type == none[1]) continue;
        if (!is_writable(m, r.r_offset) || ELF64_R_SYM(r.r_info) >= symbols) return false;
        for (int k = 0; k < 4; k++)
            if (type == relative[k] && (uint64_t)r.r_addend > m->end) return false;
    }
    return true;
}

/* Names and places of symbols 0 ... count - 1. */
static bool symbols_stay_inside(const image *m, uint64_t symbols, uint64_t count,
                                uint64_t name_bytes)
{
    uint64_t offset;
    Elf64_Sym symbol;
    for (uint64_t k = 0; k < count; k++)
        if (!in_file(m, symbols + k * sizeof symbol, sizeof symbol, &offset) ||
            !read_at(m->file, &symbol, sizeof symbol, offset) || symbol.st_name >= name_bytes ||
            (symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS &&
             symbol.st_value > m->end))
            return false;
    return true;
}

enum { TAGS = 40 }; /* the plain ones, which are numbered from 1 */

static bool dynamic_stays_inside(const image *m, const Elf64_Phdr *dynamic)
{
    static const int addresses[] = {DT_PLTGOT, DT_HASH, DT_STRTAB, DT_SYMTAB,     DT_RELA,
                                    DT_INIT,   DT_FINI, DT_JMPREL, DT_INIT_ARRAY, DT_FINI_ARRAY};
    uint64_t value[TAGS] = {0}, offset, next = UINT64_MAX;
    Elf64_Dyn entry;
    for (uint64_t at = 0; at + sizeof entry <= dynamic->p_filesz; at += sizeof entry) {
        if (!read_at(m->file, &entry, sizeof entry, dynamic->p_offset + at)) return false;
        if (entry.d_tag == DT_NULL) break;
        if (entry.d_tag > 0 && entry.d_tag < TAGS) value[entry.d_tag] = entry.d_un.d_val;
    }
    /* How many symbols there are is said nowhere: they end where the next table begins. */
    const uint64_t symbols = value[DT_SYMTAB];
    for (uint64_t at = 0; at + sizeof entry <= dynamic->p_filesz; at += sizeof entry) {
        if (!read_at(m->file, &entry, sizeof entry, dynamic->p_offset + at)) return false;
        if (entry.d_tag == DT_NULL) break;
        bool address = entry.d_tag == DT_GNU_HASH || entry.d_tag == DT_VERSYM ||
                       entry.d_tag == DT_VERNEED || entry.d_tag == DT_VERDEF;
        for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
            address = address || entry.d_tag == addresses[i];
        if (!address) continue;
        if (!in_file(m, entry.d_un.d_ptr, 1, &offset)) return false;
        if (entry.d_un.d_ptr > symbols && entry.d_un.d_ptr < next) next = entry.d_un.d_ptr;
    }
    const uint64_t count = next == UINT64_MAX ? 0 : (next - symbols) / sizeof(Elf64_Sym);
    return in_file(m, value[DT_STRTAB], value[DT_STRSZ], &offset) &&
           in_file(m, value[DT_INIT_ARRAY], value[DT_INIT_ARRAYSZ], &offset) &&
           in_file(m, value[DT_FINI_ARRAY], value[DT_FINI_ARRAYSZ], &offset) &&
           relocations_stay_inside(m, value[DT_RELA], value[DT_RELASZ], count) &&
           relocations_stay_inside(m, value[DT_JMPREL], value[DT_PLTRELSZ], count) &&
           symbols_stay_inside(m, symbols, count, value[DT_STRSZ]);
}

/* ---- Headers --------------------------------------------------------------------------------- */

/* Nothing that is loaded needs the sections, but their table comes last in most files: without it
 * one has been cut short. */
static const char *header_fault(const Elf64_Ehdr *head, uint64_t length)
{
    const uint64_t sections = (uint64_t)head->e_shnum * head->e_shentsize;
    if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_type != ET_DYN ||
        (THIS_MACHINE != EM_NONE && head->e_machine != THIS_MACHINE))
        return "it is no shared object for this machine";
    if (head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phnum < 1 || head->e_phnum > MOST_PARTS)
        return "its header has no table of parts";
    if (sections > length || head->e_shoff > length - sections)
        return "it ends before its last part";
    return NULL;
}

static const char *table_fault(int file, const Elf64_Phdr *parts, int count, uint64_t length)
{
    uint64_t end = 0;
    const Elf64_Phdr *dynamic = NULL;
    for (int i = 0; i < count; i++) {
        const char *wrong = part_fault(&parts[i], length, &end);
        if (wrong) return wrong;
        switch (parts[i].p_type) {
        case PT_DYNAMIC: dynamic = &parts[i]; /* fall through */
        case PT_NOTE:
        case PT_TLS:
        case PT_GNU_EH_FRAME:
        case PT_GNU_RELRO:
            if (!is_loaded(parts, count, &parts[i])) return "a table lies outside of its parts";
        }
    }
    if (end == 0 || !dynamic) return "it has nothing to load";
    const image m = {.file = file, .count = count, .parts = parts, .end = end};
    return dynamic_stays_inside(&m, dynamic) ? NULL : "a table points outside of its parts";
}

bool elf_is_whole(int file, const char *path, sentence why)
{
    Elf64_Ehdr head;
    Elf64_Phdr parts[MOST_PARTS];
    struct stat status;
    if (!is_elf(file, &head)) return true;
    if (!read_at(file, &head, sizeof head, 0) || fstat(file, &status) != 0)
        return why_not(why, "%s is damaged: it ends before its last part", path);
    const uint64_t length = (uint64_t)status.st_size;
    const char *wrong = header_fault(&head, length);
    if (!wrong && !read_at(file, parts, head.e_phnum * sizeof *parts, head.e_phoff))
        wrong = "it ends before its last part";
    if (!wrong) wrong = table_fault(file, parts, head.e_phnum, length);
    return !wrong || why_not(why, "%s is damaged: %s", path, wrong);
}

bool elf_has_run_path(int file)
{
    Elf64_Ehdr head;
    Elf64_Phdr part;
    Elf64_Dyn entry;
    if (!read_at(file, &head, sizeof head, 0)) return false;
    for (int i = 0; i < head.e_phnum; i++) {
        if (!read_at(file, &part, sizeof part, head.e_phoff + (uint64_t)i * sizeof part)) break;
        for (uint64_t at = 0; part.p_type == PT_DYNAMIC && at < part.p_filesz; at += sizeof entry)
            if (read_at(file, &entry, sizeof entry, part.p_offset + at) &&
                (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH))
                return true;
    }
    return false;
}
