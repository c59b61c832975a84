/* Elements and attributes of a text in markup. */
#include "markup.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char *find_text(char *from, const char *to, const char *what)
{
    char *found = strstr(from, what);
    return found && found < to ? found : NULL;
}

int find_element(char *from, const char *to, const char *name, element *out)
{
    char begin[80], end[80];
    const size_t length = strlen(name);
    snprintf(begin, sizeof begin, "<%s", name);
    snprintf(end, sizeof end, "</%s>", name);
    for (char *at = from; (at = find_text(at, to, begin)); at++) {
        char *after = at + 1 + length, *close = find_text(after, to, ">");
        if (*after != '>' && *after != '/' && !isspace((unsigned char)*after)) continue;
        if (!close) return 0;
        out->attributes = after;
        out->content = close + 1;
        out->end = close[-1] == '/' ? close : find_text(close, to, end);
        return out->end != NULL;
    }
    return 0;
}

int find_attribute(const element *e, const char *name, char value[64])
{
    const size_t length = strlen(name);
    for (char *at = e->attributes; (at = find_text(at, e->content, name)); at++) {
        char *equals = at + length;
        if (!isspace((unsigned char)at[-1])) continue;
        while (isspace((unsigned char)*equals)) equals++;
        if (*equals != '=') continue;
        char *open = equals + 1;
        while (isspace((unsigned char)*open)) open++;
        if (*open != '"' && *open != '\'') return 0;
        const char *close = strchr(open + 1, *open);
        if (!close || close >= e->content) return 0;
        snprintf(value, 64, "%.*s", (int)(close - open - 1 < 63 ? close - open - 1 : 63), open + 1);
        return 1;
    }
    return 0;
}
