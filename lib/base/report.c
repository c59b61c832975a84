/* Errors and warnings, on stderr or to a host program, and the nearest name for those that are misspelt. */
#include "base/report.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/leftovers.h"

/* The local time, "2026-11-24 03:10:59". */
static void put_time(FILE *f)
{
    char text[32];
    struct tm local;
    const time_t now = time(NULL);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &local));
    fprintf(f, "%s ", text);
}

/* Whoever hears messages is told where memory is short, whichever thread it is. */
static void *memory_for(const report *r, void *memory)
{
    return r->hears ? memory : checked(memory);
}

/* A line with its end, which is cut off for whoever hears it. NULL: there was no memory for it. */
static void say(const report *r, enum report_kind kind, char *line)
{
    if (!r->hears) {
        fputs(line, stderr);
        return;
    }
    const size_t length = line ? strlen(line) : 0;
    if (length && line[length - 1] == '\n') line[length - 1] = 0;
    r->hears(r->listener, kind, line ? line : "there is not enough memory for what is to be said");
}

void report_log(const report *r, const char *text)
{
    if (!r->log || ferror(r->log) || !text) return;
    put_time(r->log);
    fputs(text, r->log);
    /* that is no reason to end a run: the log ends, and it is said once */
    char lost[] = "warning: the log can no longer be written\n";
    if (fflush(r->log)) say(r, REPORT_WARNING, lost);
}

/* Bytes of the UTF-8 character at `s`; 0: it is none, or a control character that a terminal obeys. Line ends and
 * tabs are the messages' own. */
static int shown(const unsigned char *s)
{
    static const unsigned char least[] = {0, 0, 0x80, 0x10, 0x01};
    int length = 2;
    if (*s < 0x80) return *s == '\n' || *s == '\t' || (*s >= 0x20 && *s != 0x7f);
    if (*s < 0xc2 || *s > 0xf4) return 0;
    length += (*s >= 0xe0) + (*s >= 0xf0);
    unsigned code = *s & (0x7fu >> length);
    for (int k = 1; k < length; k++) {
        if ((s[k] & 0xc0) != 0x80) return 0;
        code = code << 6 | (s[k] & 0x3f);
    }
    if (length == 2) return code >= 0xa0 ? length : 0; /* U+0080 to U+009F are controls, too */
    if (code >> (length == 3 ? 7 : 12) < least[length] || code > 0x10ffff) return 0;
    return length;
}

/* Whatever a message quotes, a file's or a user's, does not reach the terminal as a command to it: such bytes are
 * shown as \x1b. malloc'ed. */
static char *printable(const report *r, const char *text)
{
    char *out = text ? memory_for(r, malloc(4 * strlen(text) + 1)) : NULL, *to = out;
    if (!out) return NULL;
    while (*text) {
        const int length = shown((const unsigned char *)text);
        if (length) {
            memcpy(to, text, (size_t)length);
            to += length, text += length;
        } else {
            to += sprintf(to, "\\x%02x", (unsigned)(unsigned char)*text++);
        }
    }
    *to = 0;
    return out;
}

/* One write a message: lines of several processes do not mix. */
static void print_message(const report *r, enum report_kind kind, const char *file, int line,
                          const char *format, va_list arguments)
{
    char *text = NULL;
    size_t length = 0;
    FILE *f = memory_for(r, open_memstream(&text, &length));
    if (f && file && line > 0)
        fprintf(f, "%s:%d: ", file, line);
    else if (f && file)
        fprintf(f, "%s: ", file);
    if (f && kind == REPORT_WARNING) fputs("warning: ", f);
    if (f) vfprintf(f, format, arguments);
    if (f) fputc('\n', f);
    if (f) fclose(f);
    char *safe = printable(r, text);
    report_log(r, safe);
    if (r->held && safe)
        fputs(safe, r->held);
    else if (!r->held)
        say(r, kind, safe);
    free(safe);
    free(text);
}

void report_hold(report *r, bool hold)
{
    if (r->held) fclose(r->held);
    free(r->held_text);
    r->held = NULL, r->held_text = NULL;
    if (hold) r->held = checked(open_memstream(&r->held_text, &r->held_length));
}

void report_drop(report *r)
{
    if (r->held) report_hold(r, true);
}

void report_let_go(report *r, int rank)
{
    char *line, *rest;
    if (!r->held || fflush(r->held)) return;
    rest = r->held_text;
    while ((line = strsep(&rest, "\n"))) {
        char *told;
        if (!*line) continue;
        checked(asprintf(&told, "rank %d: %s\n", rank, line) < 0 ? NULL : told);
        say(r, REPORT_ERROR, told);
        free(told);
    }
}

void report_note(const report *r, const char *format, ...)
{
    char *text, *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) text = memory_for(r, NULL);
    va_end(arguments);
    char *safe = printable(r, text);
    if (safe && asprintf(&line, "%s\n", safe) < 0) line = memory_for(r, NULL);
    free(safe);
    report_log(r, line);
    if (!r->quiet && !r->held) say(r, REPORT_NOTE, line);
    free(line);
    free(text);
}

int report_error(report *r, enum exit_code code, const char *file, int line, const char *format,
                 ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(r, REPORT_ERROR, file, line, format, arguments);
    va_end(arguments);
    if (r->errors++ == 0) r->code = code;
    return code;
}

void report_warning(report *r, const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_message(r, REPORT_WARNING, file, line, format, arguments);
    va_end(arguments);
    r->warnings++;
}

short_text excerpt(const char *text)
{
    enum { MOST = 80 };
    short_text out;
    size_t length = strlen(text);
    const char *dots = length > MOST ? "..." : "";
    if (length > MOST)
        for (length = MOST; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;) length--;
    snprintf(out.text, sizeof out.text, "%.*s%s", (int)length, text, dots);
    return out;
}

static _Thread_local void (*leaves)(void);

void checked_leaves(void (*leave)(void)) { leaves = leave; }

void *checked(void *memory)
{
    if (!memory && leaves) leaves();
    if (!memory) {
        fputs("out of memory\n", stderr);
        leftovers_remove();
        exit(EXIT_MEMORY);
    }
    return memory;
}

static int smallest(int a, int b, int c)
{
    int m = a < b ? a : b;
    return m < c ? m : c;
}

/* Insertions, deletions, replacements and swaps of neighbours that turn a into b, whatever the
 * case of letters: the optimal string alignment distance, row by row. */
static int edit_distance(const char *a, const char *b)
{
    size_t n = strlen(b) + 1;
    int *rows = checked(malloc(3 * n * sizeof *rows));
    int *before = rows, *above = rows + n, *row = rows + 2 * n;

    for (size_t j = 0; j < n; j++) row[j] = (int)j;
    for (size_t i = 1; i <= strlen(a); i++) {
        int *free_row = before;
        before = above;
        above = row;
        row = free_row;
        row[0] = (int)i;
        for (size_t j = 1; j < n; j++) {
            int same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            row[j] = smallest(above[j] + 1, row[j - 1] + 1, above[j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = smallest(row[j], before[j - 2] + 1, row[j]);
        }
    }
    int distance = row[n - 1];
    free(rows);
    return distance;
}

const char *nearest_name(const char *word, const char *const *candidates, int count)
{
    int best = (int)(strlen(word) / 3) + 1;
    const char *nearest = NULL;
    for (int i = 0; i < count; i++) {
        int distance = edit_distance(word, candidates[i]);
        if (distance >= best) continue;
        best = distance;
        nearest = candidates[i];
    }
    return nearest;
}
