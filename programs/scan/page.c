/* See page.h. */
#include "page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_empty(const page *p, int64_t row)
{
    for (int c = 0; c < p->columns; c++)
        if (*p->cells[row * p->columns + c]) return false;
    return true;
}

void page_print(const page *p)
{
    int *width = checked(calloc((size_t)p->columns, sizeof *width));
    for (int64_t i = 0; i < p->rows * p->columns; i++) {
        const int length = (int)strlen(p->cells[i]);
        if (length > width[i % p->columns]) width[i % p->columns] = length;
    }
    for (int64_t row = 0; row < p->rows; row++)
        for (int c = 0; c < p->columns && !is_empty(p, row); c++) {
            const bool last = c + 1 == p->columns;
            printf("%-*s%s", last ? 0 : width[c], p->cells[row * p->columns + c],
                   last ? "\n" : "  ");
        }
    free(width);
}

char *page_unit(const char *unit)
{
    char *text;
    if (!unit || !*unit) return page_text("");
    if (asprintf(&text, "[%s]", unit) < 0) checked(NULL);
    return text;
}

void page_free(page *p)
{
    for (int64_t i = 0; i < p->rows * p->columns; i++) free(p->cells[i]);
    free(p->cells);
}

page page_make(int64_t rows, int columns)
{
    return (page){checked(calloc((size_t)(rows * columns), sizeof(char *))), rows, columns};
}

char *page_text(const char *text) { return checked(strdup(text)); }

void page_write_csv(FILE *out, const result *r)
{
    fprintf(out, ",%.17g,", r->value);
    if (isfinite(r->error)) fprintf(out, "%.17g", r->error);
    fprintf(out, ",%s", r->converged ? "" : "*");
}

char *page_number(const result *r)
{
    enum { DIGITS = 15, SHOWN = 12 };
    char *text;
    if (!r) return page_text("-");
    const char *star = r->converged ? "" : "*";
    const int behind = r->error > 0 && isfinite(r->error) ? 1 - (int)floor(log10(r->error)) : -1;
    const int before = r->value != 0 ? (int)floor(log10(fabs(r->value))) : 0;
    if (!(r->error > 0) || !isfinite(r->error)) {
        if (asprintf(&text, "%.*g%s", SHOWN, r->value, star) < 0) checked(NULL);
    } else if (behind < 0 || behind > DIGITS || behind + before > DIGITS) {
        if (asprintf(&text, "%.*g+-%.2g%s", SHOWN, r->value, r->error, star) < 0) checked(NULL);
    } else if (asprintf(&text, "%.*f(%.0f)%s", behind, r->value, r->error * pow(10, behind), star) <
               0) {
        checked(NULL);
    }
    return text;
}
