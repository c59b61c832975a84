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
    return r->hear ? memory : checked(memory);
}

void report_log(const report *r, const char *text)
{
    if (!r->log || ferror(r->log) || !text) return;
    put_time(r->log);
    fputs(text, r->log);
    /* that is no reason to end a run: the log ends, and it is said once */
    const char *lost = "the log can no longer be written";
    if (!fflush(r->log)) return;
    if (r->hear)
        r->hear(r->listener, &(report_message){.kind = REPORT_WARNING, .text = lost});
    else
        fprintf(stderr, "warning: %s\n", lost);
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

char *report_printable(const char *text) { return printable(&(report){0}, text); }

/* "FILE:LINE: warning: text" with the end of a line. NULL: there was no memory for it. */
char *report_line(const report *r, const report_message *m)
{
    char *text = NULL;
    size_t length = 0;
    FILE *f = m->text ? memory_for(r, open_memstream(&text, &length)) : NULL;
    if (!f) return NULL;
    if (m->file && m->line > 0)
        fprintf(f, "%s:%d: ", m->file, m->line);
    else if (m->file)
        fprintf(f, "%s: ", m->file);
    if (m->kind == REPORT_WARNING) fputs("warning: ", f);
    fprintf(f, "%s\n", m->text);
    fclose(f);
    char *safe = printable(r, text);
    free(text);
    return safe;
}

/* One write a message: lines of several processes do not mix. */
static void tell(const report *r, report_message m, const char *format, va_list arguments)
{
    char *text;
    m.text = text = vasprintf(&text, format, arguments) < 0 ? memory_for(r, NULL) : text;
    char *line = r->log || !r->hear || r->held ? report_line(r, &m) : NULL;
    report_log(r, line);
    if (r->held && line)
        fputs(line, r->held);
    else if (!r->held && r->hear)
        r->hear(r->listener, &m);
    else if (line)
        fputs(line, stderr);
    free(line);
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
        checked(asprintf(&told, "rank %d: %s", rank, line) < 0 ? NULL : told);
        if (r->hear)
            r->hear(r->listener, &(report_message){.kind = REPORT_ERROR, .text = told});
        else
            fprintf(stderr, "%s\n", told);
        free(told);
    }
}

static void note_in_log(const report *r, const char *format, va_list arguments)
{
    char *text, *line;
    if (vasprintf(&text, format, arguments) < 0) text = memory_for(r, NULL);
    line = report_line(r, &(report_message){.kind = REPORT_NOTE, .text = text});
    report_log(r, line);
    free(line);
    free(text);
}

/* Said by one process alone. */
void report_note(const report *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!r->quiet && !r->held)
        tell(r, (report_message){.kind = REPORT_NOTE}, format, arguments);
    else if (r->log)
        note_in_log(r, format, arguments);
    va_end(arguments);
}

int report_error(report *r, enum exit_code code, const char *file, int line, const char *format,
                 ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(r, (report_message){REPORT_ERROR, code, file, line, NULL}, format, arguments);
    va_end(arguments);
    if (r->errors++ == 0) r->code = code;
    return code;
}

void report_warning(report *r, const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell(r, (report_message){REPORT_WARNING, 0, file, line, NULL}, format, arguments);
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
