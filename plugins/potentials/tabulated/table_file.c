/* Tables as text: a row a line, r and u with blanks between them. A third number, as of a force, is
 * passed over: the force is the derivative of what is interpolated. '#' begins a comment; empty lines
 * are passed over. Exponents may be Fortran's (1.5D-3), and a byte order mark may come first.
 *
 * Numbers have to survive in single precision, in which most movers compute: r grows by a millionth
 * of itself at least, so that no interval vanishes, and neither r nor u is near the ends of float.
 */
#include "table_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE = 1024, NUMBERS = 3 };
static const double least_r = 1e-9, most_r = 1e9, most_u = 1e25, least_growth = 1e-6;

typedef struct reader {
    const plugmc_host *host;
    const char *path;
    FILE *stream;
    int number; /* of the line */
    char line[LINE];
    table_file *table;
    int32_t room;
} reader;

static int open_regular(reader *);
static int read_rows(reader *);

int table_read(const plugmc_host *host, const char *path, table_file *out)
{
    reader in = {.host = host, .path = path, .table = out};
    *out = (table_file){0};
    int code = open_regular(&in);
    if (code) return code;
    code = read_rows(&in);
    fclose(in.stream);
    if (code) table_free(out);
    return code;
}

void table_free(table_file *table)
{
    free(table->r);
    free(table->u);
    *table = (table_file){0};
}

/* Waits for no pipe and reads no device. */
static int open_regular(reader *in)
{
    struct stat info;
    int fd = open(in->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const char *why = NULL;
    if (fd < 0 || fstat(fd, &info))
        why = strerror(errno);
    else if (!S_ISREG(info.st_mode))
        why = S_ISDIR(info.st_mode) ? "it is a folder" : "it is not a regular file";
    else if (!(in->stream = fdopen(fd, "r")))
        why = strerror(errno);
    if (!why) return PLUGMC_OK;
    if (fd >= 0) close(fd);
    return in->host->fail(in->host->context, PLUGMC_ERROR_INPUT, "%s: cannot be read: %s", in->path,
                          why);
}

static int wrong(const reader *in, const char *what)
{
    return in->host->fail(in->host->context, PLUGMC_ERROR_INPUT, "%s:%d: %s", in->path, in->number,
                          what);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* That of UTF-8 is passed over; in texts of wider characters every second byte is 0. */
static int byte_order_mark(reader *in)
{
    static const unsigned char mark[] = {0xef, 0xbb, 0xbf};
    unsigned char begins[3] = {0};
    const size_t got = fread(begins, 1, sizeof begins, in->stream);
    if (got == sizeof begins && !memcmp(begins, mark, sizeof mark)) return PLUGMC_OK;
    if (got >= 2 &&
        ((begins[0] == 0xff && begins[1] == 0xfe) || (begins[0] == 0xfe && begins[1] == 0xff)))
        return wrong(in, "this is UTF-16 text: save it as UTF-8");
    return fseek(in->stream, 0, SEEK_SET) ? wrong(in, strerror(errno)) : PLUGMC_OK;
}

/* The next line, without its comment; *more is 0 where there is none. */
static int next_line(reader *in, int *more)
{
    int c, length = 0, comment = 0;
    if (in->number++ == 0 && (c = byte_order_mark(in))) return c;
    while ((c = getc(in->stream)) != EOF && c != '\n') {
        if (c == 0) return wrong(in, "this is not a text file: it has a zero byte");
        comment |= c == '#';
        if (comment) continue;
        if (length == LINE - 1) return wrong(in, "the line is too long for a row of a table");
        in->line[length++] = (char)c;
    }
    in->line[length] = 0;
    if (ferror(in->stream)) return wrong(in, strerror(errno));
    *more = c != EOF || length > 0;
    return PLUGMC_OK;
}

/* As strtod, where the exponent may be Fortran's, which a D begins; it is made an e. */
static double number_at(char *at, char **end)
{
    const double number = strtod(at, end);
    if (*end == at || !strchr("dD", **end) || !**end || !strchr("0123456789.", (*end)[-1]))
        return number;
    **end = 'e';
    return strtod(at, end);
}

/* Numbers of the line; -1 if something else is written there or there are more than NUMBERS. */
static int numbers_of(char *at, double out[NUMBERS])
{
    static const char blanks[] = " \t\r\f\v";
    for (int count = 0;; count++) {
        char *end;
        at += strspn(at, blanks);
        if (!*at) return count;
        if (count == NUMBERS) return -1;
        out[count] = number_at(at, &end);
        if (end == at || (*end && !strchr(blanks, *end))) return -1;
        at = end;
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* What is wrong with a row behind the others; NULL if nothing is. */
static const char *fault(const table_file *t, double r, double u)
{
    const double last = t->rows ? t->r[t->rows - 1] : -1;
    if (!isfinite(r) || !isfinite(u)) return "r and u must be finite numbers";
    if (r < 0) return "r is negative";
    if (r > most_r || (r > 0 && r < least_r)) return "r is beyond 1e-9 ... 1e9";
    if (fabs(u) > most_u) return "u is beyond -1e25 ... 1e25";
    if (r <= last) return "r does not increase";
    if (r - last < least_growth * r && t->rows)
        return "r increases by less than a millionth, which single precision cannot resolve";
    if (t->rows == TABLE_MOST_ROWS) return "there are more than 20000 rows";
    return NULL;
}

static int make_room(reader *in)
{
    table_file *t = in->table;
    if (t->rows < in->room) return PLUGMC_OK;
    in->room = in->room ? 2 * in->room : 256;
    double *r = realloc(t->r, (size_t)in->room * sizeof *r);
    if (r) t->r = r;
    double *u = realloc(t->u, (size_t)in->room * sizeof *u);
    if (u) t->u = u;
    if (r && u) return PLUGMC_OK;
    return in->host->fail(in->host->context, PLUGMC_ERROR_MEMORY, "no memory for the table %s",
                          in->path);
}

static int add_row(reader *in, const double number[NUMBERS])
{
    table_file *t = in->table;
    const char *what = fault(t, number[0], number[1]);
    if (what) return wrong(in, what);
    const int code = make_room(in);
    if (code) return code;
    t->r[t->rows] = number[0];
    t->u[t->rows++] = number[1];
    return PLUGMC_OK;
}

static int read_rows(reader *in)
{
    int more = 1, code = PLUGMC_OK;
    while (!(code = next_line(in, &more)) && more) {
        double number[NUMBERS];
        const int count = numbers_of(in->line, number);
        if (count == 0) continue;
        code = count < 2 ? wrong(in, "a row must be two numbers, r and u") : add_row(in, number);
        if (code) return code;
    }
    if (code || in->table->rows >= 2) return code;
    return in->host->fail(in->host->context, PLUGMC_ERROR_INPUT,
                          "%s: a table needs at least two rows, but here %s", in->path,
                          in->table->rows ? "is one" : "are none");
}
