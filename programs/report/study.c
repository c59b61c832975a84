/* A page about a study: the table that plugmc scan has written, each of its columns drawn against the key that was
 * scanned. The file is summary.csv: point, state, the keys, then value, error and star of every number. Units are those
 * of summary.h5, which plugmc scan writes beside it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/store.h"
#include "page.h"
#include "base/regular_file.h"
#include "records/results.h"

enum {
    MOST_BYTES = 256 << 20,
    FIRST_KEY = 2,
    MOST_DRAWN = 24,
    MOST_BESIDE = 8 /* columns that a wide page shows beside each other */
};

/* Cells of the file; of a row that is too short the rest is "". */
typedef struct sheet {
    char *text;
    char **cells; /* [rows][columns], row 0 is the head */
    int64_t rows, columns;
    int64_t first_value; /* column */
    char **units;        /* [columns]; NULL where there is none */
    bool has_units;      /* summary.h5 is there */
} sheet;

static const char *cell(const sheet *s, int64_t row, int64_t column)
{
    const char *text = s->cells[row * s->columns + column];
    return text ? text : "";
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

/* The end of the cell that begins at `at`; quotes are taken out in place. `*end`: what was behind it. */
static char *next_cell(char *at, char *end)
{
    char *to = at;
    bool quoted = *at == '"';
    if (quoted) at++;
    while (*at && (quoted || (*at != ',' && *at != '\n'))) {
        if (quoted && *at == '"') {
            if (at[1] != '"') {
                quoted = false;
                at++;
                continue;
            }
            at++;
        }
        *to++ = *at++;
    }
    *end = *at;
    *to = 0;
    return *end ? at + 1 : at;
}

static void count_cells(const char *text, int64_t *rows, int64_t *columns)
{
    bool quoted = false;
    *rows = 0, *columns = 1;
    for (; *text; text++) {
        quoted ^= *text == '"';
        *rows += *text == '\n' && !quoted;
        *columns += *rows == 0 && *text == ',' && !quoted;
    }
}

static int read_cells(sheet *s)
{
    count_cells(s->text, &s->rows, &s->columns);
    s->cells = checked(calloc((size_t)(s->rows * s->columns) + 1, sizeof *s->cells));
    char *at = s->text, end;
    for (int64_t row = 0; row < s->rows && *at; row++) {
        int64_t column = 0;
        do {
            char *begin = at;
            at = next_cell(at, &end);
            if (column < s->columns) s->cells[row * s->columns + column++] = begin;
        } while (end == ',');
    }
    s->first_value = FIRST_KEY;
    while (s->first_value + 2 < s->columns) {
        char *error;
        checked(asprintf(&error, "%s error", cell(s, 0, s->first_value)) < 0 ? NULL : error);
        const bool found = !strcmp(cell(s, 0, s->first_value + 1), error);
        free(error);
        if (found) break;
        s->first_value++;
    }
    return s->rows > 1 && !strcmp(cell(s, 0, 0), "point") && !strcmp(cell(s, 0, 1), "state") &&
           s->first_value + 2 < s->columns && (s->columns - s->first_value) % 3 == 0;
}

static int open_sheet(sheet *s, const char *path, report *r)
{
    const char *why = "";
    const int fd = open_regular(path, &why);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    size_t size = 0;
    if (!file) return report_error(r, EXIT_INPUT, NULL, 0, "cannot read %s: %s", path, why);
    s->text = checked(malloc(1));
    for (size_t got = 1; got && size < MOST_BYTES; size += got) {
        s->text = checked(realloc(s->text, size + (1 << 16) + 1));
        got = fread(s->text + size, 1, 1 << 16, file);
    }
    s->text[size] = 0;
    fclose(file);
    if (read_cells(s)) return EXIT_DONE;
    return report_error(r, EXIT_INPUT, path, 0,
                        "this is not a table of plugmc scan (summary.csv) with a result");
}

/* Of columns first ... end - 1, each `step`-th of them, from a group of summary.h5. */
static void read_units_of(sheet *s, store *in, const char *group, int64_t first, int64_t end,
                          int64_t step)
{
    if (!store_has(in, in->file, group)) return;
    const hid_t sets = store_enter(in, in->file, group);
    for (int64_t c = first; c < end; c += step) {
        if (!store_has(in, sets, cell(s, 0, c))) continue;
        const hid_t set = store_open_array(in, sets, cell(s, 0, c));
        s->units[c] = store_get_label(in, set, "unit");
        store_leave_array(in, set);
    }
    store_leave(in, sets);
}

/* The unit of each column that summary.h5 has, too. */
static void read_units(sheet *s, const char *path)
{
    store in;
    char *beside;
    s->units = checked(calloc((size_t)s->columns + 1, sizeof *s->units));
    checked(asprintf(&beside, "%.*s.h5", (int)(strrchr(path, '.') - path), path) < 0 ? NULL
                                                                                     : beside);
    const int fd = store_open_path(&in, beside);
    const bool opened = !in.failed && store_has(&in, in.file, "values");
    if (opened) read_units_of(s, &in, "values", s->first_value, s->columns, 3);
    s->has_units = opened && !in.failed;
    if (s->has_units) read_units_of(s, &in, "keys", FIRST_KEY, s->first_value, 1);
    store_close(&in);
    if (fd >= 0) close(fd);
    free(beside);
}

static const char *unit_of(const sheet *s, int64_t column)
{
    return s->units[column] ? s->units[column] : "";
}

/* "NAME [UNIT]", or the name alone. */
static char *with_unit(const sheet *s, int64_t column)
{
    char *words;
    const int made = asprintf(&words, *unit_of(s, column) ? "%s [%s]" : "%s", cell(s, 0, column),
                              unit_of(s, column));
    return checked(made < 0 ? NULL : words);
}

/* ---- Figures ------------------------------------------------------------------------------------------- */

static double number_in(const sheet *s, int64_t row, int64_t column)
{
    const char *text = cell(s, row, column);
    char *end;
    const double value = strtod(text, &end);
    return *text && !*end ? value : NAN;
}

/* The first key that is a number everywhere and differs; -1 if there is none. */
static int64_t key_of_axis(const sheet *s)
{
    for (int64_t k = FIRST_KEY; k < s->first_value; k++) {
        bool numbers = true, differs = false;
        for (int64_t row = 1; row < s->rows; row++) {
            const double value = number_in(s, row, k);
            numbers = numbers && isfinite(value);
            differs = differs || value != number_in(s, 1, k);
        }
        if (numbers && differs) return k;
    }
    return -1;
}

/* Whether all keys but that of the axis are the same in two rows. */
static bool on_one_curve(const sheet *s, int64_t axis, int64_t a, int64_t b)
{
    for (int64_t k = FIRST_KEY; k < s->first_value; k++)
        if (k != axis && strcmp(cell(s, a, k), cell(s, b, k))) return false;
    return true;
}

/* The row that a curve begins with, for each row. */
static int64_t *curves_of(const sheet *s, int64_t axis)
{
    int64_t *of = checked(calloc((size_t)s->rows, sizeof *of));
    for (int64_t row = 1; row < s->rows; row++)
        for (of[row] = 1; of[row] < row && !on_one_curve(s, axis, of[row], row);) of[row]++;
    return of;
}

static int by_place(const void *one, const void *other)
{
    const double *a = one, *b = other;
    return (*a > *b) - (*a < *b);
}

/* Those of the curve that begins with a row: place, value and error, in the order of places, which need not be that
 * of the study. */
static int64_t points_of(const sheet *s, int64_t axis, const int64_t *curve_of, int64_t first,
                         int64_t column, double (*points)[3])
{
    int64_t n = 0;
    for (int64_t row = first; row < s->rows; row++) {
        if (curve_of[row] != first || !isfinite(number_in(s, row, column))) continue;
        points[n][0] = number_in(s, row, axis);
        points[n][1] = number_in(s, row, column);
        points[n++][2] = number_in(s, row, column + 1);
    }
    qsort(points, (size_t)n, sizeof *points, by_place);
    return n;
}

static void draw(page *p, const sheet *s, int64_t axis, const int64_t *curve_of, int64_t column)
{
    double *x = checked(calloc((size_t)s->rows * 3, sizeof *x)), *y = x + s->rows,
           *error = y + s->rows, (*points)[3] = checked(calloc((size_t)s->rows, sizeof *points));
    char *along = with_unit(s, axis);
    figure f = {.name = cell(s, 0, column), .unit = unit_of(s, column), .x = along};
    int64_t at = 0;
    int curves = 0;
    for (int64_t first = 1; first < s->rows; first++) {
        if (curve_of[first] != first || curves == MOST_RUNS) continue;
        const int64_t begin = at, n = points_of(s, axis, curve_of, first, column, points);
        for (int64_t i = 0; i < n; i++, at++)
            x[at] = points[i][0], y[at] = points[i][1], error[at] = points[i][2];
        f.curves[f.count++] = (curve){CURVE_ERRORS, curves, n, x + begin, y + begin, error + begin};
        f.curves[f.count++] = (curve){CURVE_THIN, curves++, n, x + begin, y + begin, NULL};
    }
    put_figure(p, &f);
    free(along), free(points), free(x);
}

/* Whose colours these are. */
static void put_colours(page *p, const sheet *s, int64_t axis, const int64_t *curve_of)
{
    int curves = 0;
    put_html(p, "<p class=\"faint\">");
    for (int64_t row = 1; row < s->rows; row++) {
        if (curve_of[row] != row || curves++ >= MOST_RUNS) continue;
        fprintf(p->out, "<span class=\"key k%d\"></span>", curves - 1);
        for (int64_t k = FIRST_KEY; k < s->first_value; k++)
            if (k != axis) put_text(p, "%s = %s ", cell(s, 0, k), cell(s, row, k));
    }
    put_html(p, "</p>\n");
    if (curves > MOST_RUNS)
        put_text(p, "These are the first %d of %d combinations; the others are in the table.\n",
                 MOST_RUNS, curves);
}

static void put_figures(page *p, const sheet *s)
{
    const int64_t axis = key_of_axis(s), columns = (s->columns - s->first_value) / 3;
    if (axis < 0) {
        put_html(p, "<p class=\"faint\">No key has several values that are all numbers: nothing is "
                    "drawn.</p>\n");
        return;
    }
    int64_t *curve_of = curves_of(s, axis);
    int drawn = 0;
    put_html(p, "<h2>Against ");
    put_text(p, "%s", cell(s, 0, axis));
    put_html(p, "</h2>\n");
    if (s->first_value - FIRST_KEY > 1) put_colours(p, s, axis, curve_of);
    if (columns > MOST_DRAWN)
        put_text(p, "The first %d of %d quantities are drawn.\n", MOST_DRAWN, (int)columns);
    put_html(p, "<div class=\"grid\">\n");
    for (int64_t c = s->first_value; c < s->columns && drawn++ < MOST_DRAWN; c += 3)
        draw(p, s, axis, curve_of, c);
    put_html(p, "</div>\n");
    free(curve_of);
}

/* ---- Table --------------------------------------------------------------------------------------------- */

static void put_number(page *p, const sheet *s, int64_t row, int64_t column)
{
    char text[64];
    const double value = number_in(s, row, column), error = number_in(s, row, column + 1);
    put_html(p, "<td class=\"number\">");
    if (!isnan(value))
        put_text(p, "%s", with_error(value, error, !*cell(s, row, column + 2), text));
    put_html(p, "</td>");
}

/* A name may go on in a new line behind its dots, and the unit is in one of its own: columns are as narrow as their
 * numbers. */
static void put_head(page *p, const sheet *s, int64_t column)
{
    const char *name = cell(s, 0, column), *dot;
    put_html(p, column < s->first_value ? "<th>" : "<th class=\"number\">");
    for (; (dot = strchr(name, '.')); name = dot + 1) {
        put_text(p, "%.*s.", (int)(dot - name), name);
        put_html(p, "<wbr>");
    }
    put_text(p, "%s", name);
    if (*unit_of(s, column)) {
        put_html(p, "<br>");
        put_text(p, "[%s]", unit_of(s, column));
    }
    put_html(p, "</th>");
}

static void put_table(page *p, const sheet *s)
{
    const int64_t shown = s->first_value + (s->columns - s->first_value) / 3;
    put_html(p, "<h2>Results</h2>\n");
    put_wide(p, shown > MOST_BESIDE);
    put_html(p, "<table class=\"study\"><tr>");
    for (int64_t c = 0; c < s->columns; c += c < s->first_value ? 1 : 3) put_head(p, s, c);
    put_html(p, "</tr>\n");
    for (int64_t row = 1; row < s->rows; row++) {
        put_html(p, "<tr>");
        for (int64_t c = 0; c < s->first_value; c++) {
            put_html(p, "<td>");
            put_text(p, "%s", cell(s, row, c));
            put_html(p, "</td>");
        }
        for (int64_t c = s->first_value; c < s->columns; c += 3) put_number(p, s, row, c);
        put_html(p, "</tr>\n");
    }
    put_html(
        p,
        "</table></div>\n<p class=\"faint\">The digits in brackets are the standard error in units of the "
        "last digits; * marks one that is a lower bound, or not known where there are no brackets.");
    if (!s->has_units)
        put_html(p, " Units are missing: they are read from summary.h5 beside the table.");
    put_html(p, "</p>\n");
}

static void put_state(page *p, const sheet *s, const char *path)
{
    int64_t finished = 0;
    for (int64_t row = 1; row < s->rows; row++) finished += !strcmp(cell(s, row, 1), "finished");
    put_html(p, "<h1>");
    put_text(p, "%s", path);
    put_html(p, "</h1>\n<p>");
    put_text(p, "A study of %lld points, of which %lld are finished.", (long long)(s->rows - 1),
             (long long)finished);
    put_html(p, "</p>\n");
}

bool is_study(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && !strcmp(dot, ".csv");
}

int put_study(page *p, const char *path)
{
    sheet s = {0};
    const int code = open_sheet(&s, path, p->report);
    if (!code) {
        read_units(&s, path);
        put_state(p, &s, path);
        put_figures(p, &s);
        put_table(p, &s);
    } else {
        p->code = code;
    }
    for (int64_t c = 0; s.units && c < s.columns; c++) free(s.units[c]);
    free(s.units);
    free(s.text);
    free(s.cells);
    return code;
}
