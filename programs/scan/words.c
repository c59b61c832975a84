/* See words.h. */
#include "words.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"

int64_t words_split(const char *text, char ***words)
{
    int64_t count = 0;
    char **all = checked(calloc(strlen(text) / 2 + 2, sizeof *all)); /* "a b": two of three bytes */
    for (;;) {
        text += strspn(text, " \t");
        const char *begin = text + (*text == '"');
        if (!*text) break;
        const size_t length = *text == '"' ? strcspn(begin, "\"") : strcspn(begin, " \t");
        if (*text == '"' && !begin[length]) {
            words_free(all);
            *words = NULL;
            return -1;
        }
        all[count++] = checked(strndup(begin, length));
        text = begin + length + (*text == '"');
    }
    *words = all;
    return count;
}

void words_free(char **words)
{
    for (char **w = words; w && *w; w++) free(*w);
    free(words);
}
