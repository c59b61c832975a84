/* Tables of parameters for people: the manual, plugmc info, blocks for INI files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/parameters.h"
#include "parameter_words.h"

enum { WHY = PARAMETER_WHY, WORD = PARAMETER_WORD };

/* What may be written: "0 ... 10", "at least 1", "square, triangular". */
static void range_words(const plugmc_parameter *p, char out[WHY])
{
    char **words;
    char minimum[WORD], maximum[WORD];
    bool list = p->type == PLUGMC_TYPE_LIST || p->type == PLUGMC_TYPE_NUMBERS;
    bool number = p->type == PLUGMC_TYPE_REAL || p->type == PLUGMC_TYPE_INTEGER || list;
    char many[WORD] = "";
    if (list && p->length) snprintf(many, sizeof many, "%lld numbers, ", (long long)p->length);
    if (list && !p->length) snprintf(many, sizeof many, "numbers, ");
    bool from = number && parameter_has_minimum(p), to = number && parameter_has_maximum(p);
    parameter_bound(p->minimum, minimum);
    parameter_bound(p->maximum, maximum);
    if (from && to)
        snprintf(out, WHY, "%s%s ... %s", many, minimum, maximum);
    else if (from || to)
        snprintf(out, WHY, "%sat %s %s", many, from ? "least" : "most", from ? minimum : maximum);
    else
        snprintf(out, WHY, "%s%s%s", list && p->length ? many : "",
                 list && p->length ? "any" : parameter_kind(p),
                 p->type == PLUGMC_TYPE_FILE && p->length != 1 ? "s" : "");
    if (p->type != PLUGMC_TYPE_CHOICE) return;
    int count = parameter_choices(p->choices, &words), n = 0;
    for (int i = 0; i < count && n < WHY; i++)
        n += snprintf(out + n, (size_t)(WHY - n), "%s%s", i ? ", " : "", words[i]);
    parameter_free_choices(words);
}

static void print_cell(FILE *f, const char *text)
{
    fputs(" ", f);
    for (; *text; text++) fprintf(f, *text == '|' ? "\\|" : "%c", *text);
    fputs(" |", f);
}

enum { COLUMNS = 5 };

/* The columns of one key; range is the caller's buffer. */
static void columns_of(const plugmc_parameter *p, char range[WHY], const char *columns[COLUMNS])
{
    range_words(p, range);
    columns[0] = p->name;
    columns[1] = p->fallback ? p->fallback : "required";
    columns[2] = range;
    columns[3] = p->unit;
    columns[4] = p->doc;
}

void parameters_describe(FILE *f, const plugmc_parameter *table, int count, int markdown)
{
    static const char *const heads[COLUMNS] = {"key", "default", "range", "unit", "meaning"};
    const char *columns[COLUMNS];
    char range[WHY];
    int width[COLUMNS];

    for (int c = 0; c < COLUMNS; c++) width[c] = (int)strlen(heads[c]);
    for (int i = 0; i < count; i++) {
        columns_of(&table[i], range, columns);
        for (int c = 0; c < COLUMNS && !table[i].derived; c++)
            if ((int)strlen(columns[c]) > width[c]) width[c] = (int)strlen(columns[c]);
    }
    for (int i = -1; i < count; i++) {
        if (i >= 0 && table[i].derived) continue;
        if (i >= 0)
            columns_of(&table[i], range, columns);
        else
            memcpy(columns, heads, sizeof columns);
        if (markdown) fputs("|", f);
        for (int c = 0; c < COLUMNS; c++) {
            if (markdown)
                print_cell(f, columns[c]);
            else if (c < COLUMNS - 1)
                fprintf(f, "  %-*s", width[c], columns[c]);
            else
                fprintf(f, "  %s", columns[c]);
        }
        fputs(markdown && i < 0 ? "\n|---|---|---|---|---|\n" : "\n", f);
    }
}

/* A comment, in lines that can be read. */
static void print_comment(FILE *f, const char *text)
{
    int column = 0;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > 0 && column + 1 + length > 96) column = 0, fputs("\n", f);
        fprintf(f, "%s%.*s", column == 0 ? "; " : " ", length, text);
        column += (column == 0 ? 2 : 1) + length;
        text += length;
        text += strspn(text, " ");
    }
    fputs("\n", f);
}

void parameters_ini_block(FILE *f, const char *section, const plugmc_parameter *table, int count)
{
    fprintf(f, "[%s]\n", section);
    for (int i = 0; i < count; i++) {
        const plugmc_parameter *p = &table[i];
        char range[WHY], *comment = NULL;
        if (p->derived) continue;
        range_words(p, range);
        if (asprintf(&comment, "%s (%s%s%s)", p->doc, range, *p->unit ? ", " : "", p->unit) < 0)
            checked(NULL);
        print_comment(f, comment);
        free(comment);
        if (p->type == PLUGMC_TYPE_NUMBERS)
            fprintf(f, "; %s = \n", p->name); /* a name is the user's to choose */
        else if (p->fallback)
            fprintf(f, "%s =%s%s\n", p->name, *p->fallback ? " " : "", p->fallback);
        else
            fprintf(f, "%s =  ; must be given\n", p->name);
    }
}
