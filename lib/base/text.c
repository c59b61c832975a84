/* See text.h. */
#include "base/text.h"

#include <stdbool.h>

int text_character(const char *text, size_t left, uint32_t *code)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)text;
    int bytes = s[0] < 0x80       ? 1
                : s[0] >> 5 == 6  ? 2
                : s[0] >> 4 == 14 ? 3
                : s[0] >> 3 == 30 ? 4
                                  : 0;
    if (bytes == 0 || (size_t)bytes > left) return 0;
    *code = bytes == 1 ? s[0] : s[0] & (0xffu >> (bytes + 1));
    for (int i = 1; i < bytes; i++) {
        if (s[i] >> 6 != 2) return 0;
        *code = *code << 6 | (s[i] & 0x3f);
    }
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < least[bytes] || *code > 0x10ffff || surrogate ? 0 : bytes;
}
