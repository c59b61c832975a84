/* A guarded block ends where a page ends, as far as its alignment allows. That page is between two that cannot be
 * touched. What is left on its own pages has a pattern, which must stay. */
#include "base/guarded_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/report.h"

enum { PATTERN = 0xa5 };

typedef struct block {
    unsigned char *pages, *begin; /* without the pages before and behind */
    size_t room, bytes;           /* of its pages; of the block */
    const char *what;
    bool read_only;
} block;

static bool guards;
static block *blocks;
static int block_count;

void guarded_memory_begin(void) { guards = true; }

bool guarded_memory_guards(void) { return guards; }

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

void *guarded_allocate(size_t bytes, size_t alignment, const char *what)
{
    if (!guards) return calloc(1, bytes ? bytes : 1);
    const size_t page = page_size(), whole = (bytes + alignment - 1) / alignment * alignment,
                 room = whole ? (whole + page - 1) / page * page : page;
    unsigned char *all = room < bytes ? MAP_FAILED
                                      : mmap(NULL, room + 2 * page, PROT_NONE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return NULL;
    block *more = realloc(blocks, sizeof *blocks * (size_t)(block_count + 1));
    if (more) blocks = more;
    if (!more || mprotect(all + page, room, PROT_READ | PROT_WRITE)) {
        munmap(all, room + 2 * page);
        return NULL;
    }
    const block b = {all + page, all + page + room - whole, room, bytes, what, false};
    memset(b.pages, PATTERN, (size_t)(b.begin - b.pages));
    memset(b.begin + bytes, PATTERN, whole - bytes);
    blocks[block_count++] = b;
    return b.begin;
}

void guarded_free(void *memory)
{
    for (int k = 0; k < block_count; k++) {
        if (blocks[k].begin != memory) continue;
        munmap(blocks[k].pages - page_size(), blocks[k].room + 2 * page_size());
        blocks[k] = blocks[--block_count];
        return;
    }
    free(memory);
}

void guarded_read_only(void *memory)
{
    for (int k = 0; k < block_count; k++) {
        if (blocks[k].begin != memory) continue;
        blocks[k].read_only = true;
        mprotect(blocks[k].pages, blocks[k].room, PROT_READ);
    }
}

/* Offset from the block of the first byte that is not the pattern, in [from, end); `end` if all are. */
static ptrdiff_t first_changed(const block *b, ptrdiff_t from, ptrdiff_t end)
{
    while (from < end && b->begin[from] == PATTERN) from++;
    return from;
}

bool guarded_memory_intact(sentence why)
{
    for (int k = 0; k < block_count; k++) {
        const block *b = &blocks[k];
        const ptrdiff_t before = b->pages - b->begin, behind = before + (ptrdiff_t)b->room,
                        bytes = (ptrdiff_t)b->bytes;
        ptrdiff_t at = first_changed(b, before, 0);
        if (at == 0) at = first_changed(b, bytes, behind);
        if (at == behind) continue;
        return at < 0
                   ? why_not(why, "%td bytes before the begin of %s (%zu bytes) were overwritten",
                             -at, b->what, b->bytes)
                   : why_not(why, "byte %td behind the end of %s (%zu bytes) was overwritten",
                             at - bytes + 1, b->what, b->bytes);
    }
    return true;
}

/* ---- In a handler of signals ----------------------------------------------------------------- */

static void append(char *words, size_t size, const char *more)
{
    size_t used = strlen(words);
    while (*more && used + 1 < size) words[used++] = *more++;
    words[used] = 0;
}

static void append_number(char *words, size_t size, size_t number)
{
    char digits[24];
    int at = sizeof digits;
    digits[--at] = 0;
    do digits[--at] = (char)('0' + number % 10);
    while ((number /= 10));
    append(words, size, digits + at);
}

void guarded_memory_describe(const void *address, char *words, size_t size)
{
    const unsigned char *at = address;
    *words = 0;
    for (int k = 0; k < block_count; k++) {
        const block *b = &blocks[k];
        const size_t page = page_size();
        const bool behind = at >= b->pages + b->room && at < b->pages + b->room + page,
                   before = at < b->pages && at >= b->pages - page;
        if (b->read_only && at >= b->pages && at < b->pages + b->room) {
            append(words, size, b->what);
            append(words, size, ", which must not be written to");
            return;
        }
        if (!behind && !before) continue;
        append_number(words, size,
                      behind ? (size_t)(at - b->begin) - b->bytes : (size_t)(b->begin - at));
        append(words, size, behind ? " bytes behind the end of " : " bytes before the begin of ");
        append(words, size, b->what);
        append(words, size, " (");
        append_number(words, size, b->bytes);
        append(words, size, " bytes)");
        return;
    }
}
