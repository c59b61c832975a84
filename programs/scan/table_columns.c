/* See table_columns.h. */
#include "table_columns.h"

#include <stdlib.h>
#include <string.h>

/* `place` among the results of its point, which is that of its column where points have the same results. */
static int column_of(table_columns *c, const result *r, int place)
{
    if (place < c->count && !strcmp(c->names[place], r->column)) return place;
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->names[i], r->column)) return i;
    const size_t bytes = ((size_t)c->count + 1) * sizeof *c->names;
    c->names = checked(realloc(c->names, bytes));
    c->units = checked(realloc(c->units, bytes));
    c->names[c->count] = r->column;
    c->units[c->count] = r->unit;
    return c->count++;
}

table_columns table_columns_find(const study *s)
{
    table_columns c = {0};
    for (int64_t k = 0; k < s->point_count; k++)
        for (int i = 0; i < s->points[k].result_count; i++)
            column_of(&c, &s->points[k].results[i], i);
    c.cells = checked(calloc((size_t)(s->point_count * c.count) + 1, sizeof *c.cells));
    for (int64_t k = 0; k < s->point_count; k++)
        for (int i = 0; i < s->points[k].result_count; i++) {
            const result *r = &s->points[k].results[i];
            if (r->there) c.cells[k * c.count + column_of(&c, r, i)] = r;
        }
    return c;
}

void table_columns_free(table_columns *c)
{
    free(c->names), free(c->units), free(c->cells);
    *c = (table_columns){0};
}

const char *table_state(enum point_state state)
{
    static const char *const words[] = {"to do", "interrupted", "finished", "failed", "running"};
    return words[state];
}

double *table_numbers(const study *s, const scanned_key *key)
{
    double *numbers = checked(calloc((size_t)s->point_count, sizeof *numbers));
    for (int64_t k = 0; k < s->point_count; k++) {
        const char *text = study_value(s, k, key);
        char *end;
        numbers[k] = strtod(text, &end);
        if (*text && !*end) continue;
        free(numbers);
        return NULL;
    }
    return numbers;
}
