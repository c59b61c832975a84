/* See cell.h. */
#include "archive/cell.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Spreadsheets take a text that begins so for a formula, and an apostrophe in front for a word that it is none. */
static bool like_a_formula(const char *text)
{
    char *end;
    if (!*text || !strchr("=+-@\t\r", *text)) return false;
    strtod(text, &end);
    return *end != 0;
}

void cell_write(FILE *out, const char *text, const char *end)
{
    const bool formula = like_a_formula(text);
    if (!formula && !strpbrk(text, ",\"\n\r")) {
        fprintf(out, "%s%s", text, end);
        return;
    }
    fputs(formula ? "\"'" : "\"", out);
    for (; *text; text++) fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fprintf(out, "%s\"", end);
}
