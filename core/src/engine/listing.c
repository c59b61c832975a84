/* What an observable says that it can give. See listing.h. */
#include "engine/listing.h"

#include <string.h>

const plugmc_listing *listing_entry(const plugmc_observable *o, int index)
{
    if (!PLUGMC_HAS(o, listing_size) || !o->listing || index >= o->listing_count) return NULL;
    const plugmc_listing *entry =
        (const plugmc_listing *)(const void *)((const char *)o->listing +
                                               (size_t)index * o->listing_size);
    return entry->name && entry->unit && entry->doc ? entry : NULL; /* a plugin's own fault */
}

bool listing_fits(const char *pattern, const char *text)
{
    const char *close = *pattern == '<' ? strchr(pattern, '>') : NULL;
    if (!*pattern) return !*text;
    if (!close) return *pattern == *text && listing_fits(pattern + 1, text + 1);
    while (*text)
        if (listing_fits(close + 1, ++text)) return true;
    return false;
}

bool listing_has(const plugmc_observable *o, const plugmc_quantity *q, bool derived)
{
    const plugmc_listing *entry = listing_entry(o, 0);
    if (!entry) return true;
    for (int i = 0; (entry = listing_entry(o, i)); i++)
        if (!!entry->derived == derived && listing_fits(entry->name, q->name) &&
            listing_fits(entry->unit, q->unit ? q->unit : ""))
            return true;
    return false;
}
