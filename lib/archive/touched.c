#include "archive/touched.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(touched *t, size_t bytes)
{
    if (bytes <= t->bytes) return true;
    unsigned char *more = realloc(t->bits, bytes);
    if (!more) return false;
    memset(more + t->bytes, 0, bytes - t->bytes);
    t->bits = more;
    t->bytes = bytes;
    return true;
}

void touched_add(touched *t, uint64_t from, uint64_t end)
{
    if (from >= end) return;
    const uint64_t first = from / TOUCHED_BLOCK, last = (end - 1) / TOUCHED_BLOCK;
    if (!make_room(t, (size_t)(last / 8 + 1))) {
        t->unknown = true;
        return;
    }
    for (uint64_t b = first; b <= last; b++) t->bits[b / 8] |= (unsigned char)(1 << b % 8);
}

bool touched_next(const touched *t, uint64_t *from, uint64_t *end)
{
    const uint64_t blocks = 8 * (uint64_t)t->bytes;
    uint64_t b = *end / TOUCHED_BLOCK;
    while (b < blocks && !(t->bits[b / 8] >> b % 8 & 1)) b++;
    if (b >= blocks) return false;
    *from = b * TOUCHED_BLOCK;
    while (b < blocks && t->bits[b / 8] >> b % 8 & 1) b++;
    *end = b * TOUCHED_BLOCK;
    return true;
}

bool touched_has(const touched *t, uint64_t at)
{
    const uint64_t b = at / TOUCHED_BLOCK;
    return b / 8 < t->bytes && t->bits[b / 8] >> b % 8 & 1;
}

void touched_free(touched *t)
{
    free(t->bits);
    *t = (touched){0};
}
