/* Extended XYZ, as OVITO, ASE, QUIP and VMD read and write it:
 *
 *     2
 *     Lattice="10 0 0 0 10 0 0 0 10" Properties=species:S:1:pos:R:3:charge:R:1 pbc="T T T"
 *     A 0.5 1.0 2.0 1
 *     B 3.5 1.0 2.0 -1
 *
 * frame after frame. What may stand there is said by https://github.com/libAtoms/extxyz: keys and values with blanks
 * round the '=', lists in quotes, in {...} or in [...], exponents of Fortran (1.5D-3). Without Properties there are a
 * name and three coordinates, and what is behind them is passed over. The vectors of Lattice come one after the other.
 * Orientations, orientation:R:4, are quaternions x, y, z, w, as OVITO has them.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "formats/frame.h"

typedef struct xyz {
    const char *path;
    FILE *file;
    report *report;
    char *text; /* the line */
    size_t capacity;
    int64_t line;
    file_frame *frame;
    int64_t room; /* of the arrays of the frame */
    /* columns, from 0; -1: there is none */
    int species, position, orientation, property[FRAME_PROPERTIES];
    double factor;   /* of the column of diameters: 2 where it has radii */
    int coordinates; /* columns of the position: 2 or 3 */
    int columns;     /* in all */
    bool plain;      /* without Properties: there may be more of them */
} xyz;

#define refuse(x, ...) report_error((x)->report, EXIT_INPUT, (x)->path, (int)(x)->line, __VA_ARGS__)

static int no_memory(const xyz *x)
{
    return report_error(x->report, EXIT_MEMORY, x->path, 0, "not enough memory to read it");
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static int next_line(xyz *x, const char *expected)
{
    errno = 0;
    ssize_t length = getline(&x->text, &x->capacity, x->file);
    x->line++;
    if (length < 0)
        return errno ? refuse(x, "cannot be read: %s", strerror(errno))
                     : refuse(x, "the file ends where %s should be", expected);
    if (x->line == 1 && length >= 2 && strchr("\xff\xfe", *x->text) && *x->text)
        return refuse(x, "this is UTF-16 text: save it as UTF-8");
    if (strlen(x->text) != (size_t)length) return refuse(x, "there is a zero byte in this line");
    if (x->line == 1 && !strncmp(x->text, "\xef\xbb\xbf", 3)) /* a byte order mark */
        memmove(x->text, x->text + 3, (size_t)length - 2);
    return EXIT_DONE;
}

static int next_particle(xyz *x, int64_t i, int64_t count)
{
    char expected[64];
    snprintf(expected, sizeof expected, "particle %lld of %lld", (long long)i + 1,
             (long long)count);
    return next_line(x, expected);
}

/* Nothing but blanks up to the end. */
static bool is_at_end(xyz *x)
{
    int c;
    const long at = ftell(x->file);
    while ((c = getc(x->file)) != EOF && isspace(c)) continue;
    if (c == EOF) return true;
    fseek(x->file, at, SEEK_SET);
    return false;
}

/* The first two lines of a frame. */
static int begin_frame(xyz *x, int64_t *count)
{
    long long n;
    char rest;
    int code = next_line(x, "the number of particles");
    if (code) return code;
    if (sscanf(x->text, "%lld %c", &n, &rest) != 1 || n < 0)
        return refuse(x, "the first line of a frame of an XYZ file is the number of particles");
    *count = n;
    return next_line(x, "the line with Lattice and Properties");
}

/* ---- Frames ---------------------------------------------------------------------------------- */

typedef struct mark {
    long at;
    int64_t line;
} mark;

/* Where frames begin: all of them, or as many as are needed to know where number `which` does. */
static int find_frames(xyz *x, int64_t which, mark **marks, int64_t *frames)
{
    int64_t room = 0, count = 0;
    int code = EXIT_DONE;
    do {
        if (*frames == room) {
            mark *more = realloc(*marks, (size_t)(room = 2 * room + 16) * sizeof *more);
            if (!more) return no_memory(x);
            *marks = more;
        }
        (*marks)[(*frames)++] = (mark){ftell(x->file), x->line};
        if (which >= 0 && *frames > which) return EXIT_DONE;
        code = begin_frame(x, &count);
        for (int64_t i = 0; i < count && !code; i++) code = next_particle(x, i, count);
    } while (!code && !is_at_end(x));
    return code;
}

/* To the beginning of frame `which`. */
static int go_to_frame(xyz *x, int64_t which)
{
    mark *marks = NULL;
    int64_t frames = 0;
    char why[FRAME_WHY];
    int code = find_frames(x, which, &marks, &frames);
    const int64_t number = code ? -1 : frame_number(which, frames, why);
    if (!code && number < 0) code = report_error(x->report, EXIT_INPUT, x->path, 0, "%s", why);
    if (!code && fseek(x->file, marks[number].at, SEEK_SET))
        code = refuse(x, "cannot be read: %s", strerror(errno));
    if (!code) x->line = marks[number].line;
    free(marks);
    return code;
}

/* ---- The second line ------------------------------------------------------------------------- */

/* The end of a list that begins here, with lists in it; NULL: it has none. */
static char *end_of_list(char *at)
{
    const char open = *at, close = open == '[' ? ']' : '}';
    for (int depth = 0; *at; at++) {
        depth += (*at == open) - (*at == close);
        if (!depth) return at;
    }
    return NULL;
}

/* A word, bare or in quotes, whose backslashes are taken out, or a list without its outermost brackets; `ends` end a
 * bare one. Its end is overwritten. The text behind it; NULL: quotes or brackets do not close. */
static char *take_word(char *at, const char *ends, char **word)
{
    const char quote = *at == '"' || *at == '\'' ? *at : 0;
    *word = quote || *at == '[' || *at == '{' ? at + 1 : at;
    if (*at == '[' || *at == '{') {
        at = end_of_list(at);
    } else if (quote) {
        char *to = *word;
        for (at = *word; *at && *at != quote; *to++ = *at++) at += *at == '\\' && at[1];
        if (!*at) return NULL;
        if (to < at) *to = 0;
    } else {
        at += strcspn(at, ends);
        return at;
    }
    if (!at) return NULL;
    *at = 0;
    return at + 1;
}

static const char blanks[] = " \t\r\n\f\v";

/* The next KEY = VALUE, or a KEY alone: then *value is NULL. The text behind them; NULL: there is nothing more, or, with
 * a *value, its quotes or brackets do not close. */
static char *take_pair(char *at, char **key, char **value)
{
    at += strspn(at, blanks);
    *value = NULL;
    if (!*at) return NULL;
    char *end = take_word(at, "= \t\r\n\f\v", key);
    if (!end) return NULL;
    char *sign = end + strspn(end, blanks);
    if (*sign != '=') {
        if (*end) *end++ = 0;
        return end;
    }
    *end = 0;
    *sign = 0;
    at = sign + 1 + strspn(sign + 1, blanks);
    end = take_word(at, blanks, value);
    if (end && *end && strchr(blanks, *end)) *end++ = 0;
    return end;
}

/* As strtod, where the exponent may be Fortran's, which a D begins; it is made an e. */
static double number_at(char *at, char **end)
{
    const double number = strtod(at, end);
    if (*end == at || !**end || !strchr("dD", **end) || !strchr("0123456789.", (*end)[-1]))
        return number;
    **end = 'e';
    return strtod(at, end);
}

/* Nine numbers, one vector after the other, or three: the edges of a rectangular box. */
static int read_lattice(xyz *x, const char *text)
{
    double a[9];
    int n = 0;
    char *copy = strdup(text), *end = copy;
    if (!copy) return no_memory(x);
    for (char *c = copy; *c; c++)
        if (strchr("[]{},\"'", *c)) *c = ' ';
    for (char *at = copy; n <= 9; n++, at = end) {
        at += strspn(at, blanks);
        const double number = number_at(at, &end);
        if (end == at || !isfinite(number) || (*end && !strchr(blanks, *end))) break;
        if (n < 9) a[n] = number;
    }
    const bool whole = (n == 9 || n == 3) && !end[strspn(end, blanks)];
    free(copy);
    if (!whole) return refuse(x, "Lattice=\"%s\" is not nine numbers", excerpt(text).text);
    x->frame->box = calloc(1, sizeof *x->frame->box);
    if (!x->frame->box) return no_memory(x);
    x->frame->boxes = 1;
    for (int k = 0; k < 9; k++)
        x->frame->box[0][k / 3][k % 3] = n == 9 ? a[k] : k % 4 == 0 ? a[k / 4] : 0;
    return EXIT_DONE;
}

static int read_boundary(xyz *x, const char *text)
{
    static const char *const words[] = {"F", "false", "0", "T", "true", "1"};
    char copy[64], *at = copy, *word;
    int n = 0;
    snprintf(copy, sizeof copy, "%s", text);
    while (n >= 0 && (word = strsep(&at, " \t\r\n,[]{}\"'"))) {
        if (!*word) continue;
        int k = 0;
        while (k < 6 && strcasecmp(word, words[k])) k++;
        if (k == 6 || n == 3)
            return refuse(x, "pbc=\"%s\" is not three of T and F", excerpt(text).text);
        x->frame->open[n++] = k < 3;
    }
    return n == 3 ? EXIT_DONE : refuse(x, "pbc=\"%s\" is not three of T and F", excerpt(text).text);
}

/* Columns that say what is compared with the species of the run; of other names there may be more. */
static void note_property(xyz *x, const char *name)
{
    static const struct {
        const char *name;
        int property;
        double factor;
    } known[] = {{"charge", FRAME_CHARGE, 1},     {"initial_charges", FRAME_CHARGE, 1},
                 {"mass", FRAME_MASS, 1},         {"masses", FRAME_MASS, 1},
                 {"diameter", FRAME_DIAMETER, 1}, {"radius", FRAME_DIAMETER, 2}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(name, known[k].name)) continue;
        x->property[known[k].property] = x->columns;
        if (known[k].property == FRAME_DIAMETER) x->factor = known[k].factor;
    }
}

/* NAME:TYPE:COLUMNS, one after another. */
static int read_properties(xyz *x, const char *text)
{
    char *copy = strdup(text), *rest = copy, *name;
    int code = copy ? EXIT_DONE : no_memory(x);
    while (!code && (name = strsep(&rest, ":"))) {
        char *type = strsep(&rest, ":"), *columns = strsep(&rest, ":");
        int n = columns ? atoi(columns) : 0;
        if (!type || n < 1 || n > 1000) {
            code =
                refuse(x, "Properties=%s is not a list of NAME:TYPE:COLUMNS", excerpt(text).text);
            break;
        }
        if (!strcmp(name, "species") && *type == 'S' && n == 1) x->species = x->columns;
        if (*type == 'R' && n == 1) note_property(x, name);
        if (!strcmp(name, "orientation") && *type == 'R' && n == 4) x->orientation = x->columns;
        if (!strcmp(name, "pos") && *type == 'R' && (n == 3 || n == 2)) {
            x->position = x->columns;
            x->coordinates = n;
        }
        x->columns += n;
    }
    if (!code && (x->species < 0 || x->position < 0))
        code = refuse(x, "Properties=%s has no species:S:1 or no pos:R:3", excerpt(text).text);
    free(copy);
    return code;
}

static int read_header(xyz *x)
{
    char *at = x->text, *key, *value = NULL, *properties = NULL;
    int code = EXIT_DONE;
    x->frame->head_line = x->line;
    x->species = x->position = x->orientation = -1;
    for (int k = 0; k < FRAME_PROPERTIES; k++) x->property[k] = -1;
    while (!code && (at = take_pair(at, &key, &value))) {
        if (!value) continue;
        if (!strcasecmp(key, "Lattice") && !x->frame->boxes) code = read_lattice(x, value);
        if (!strcasecmp(key, "pbc")) code = read_boundary(x, value);
        if (!strcasecmp(key, "Properties")) properties = value;
    }
    if (code) return code;
    if (value && (!x->frame->boxes || !properties))
        return refuse(x, "the quotes or brackets behind %s= do not close", excerpt(key).text);
    x->plain = !properties;
    return read_properties(x, properties ? properties : "species:S:1:pos:R:3");
}

/* ---- Particles ------------------------------------------------------------------------------- */

static int read_number(xyz *x, char *word, double *out)
{
    char *end;
    *out = number_at(word, &end);
    if (end == word || *end || !isfinite(*out))
        return refuse(x, "'%s' is not a finite number", excerpt(word).text);
    return EXIT_DONE;
}

static bool lengthen(void **array, int64_t room, size_t row)
{
    void *more = realloc(*array, (size_t)room * row);
    if (more) *array = more;
    return more != NULL;
}

/* Room for one more, which a line of its own takes in the file: a first line that promises too many costs nothing. */
static int make_room(xyz *x)
{
    file_frame *f = x->frame;
    if (f->count < x->room) return EXIT_DONE;
    x->room = 2 * x->room + 64;
    bool good = lengthen((void **)&f->positions, x->room, 3 * sizeof(double)) &&
                lengthen((void **)&f->species, x->room, sizeof(int32_t)) &&
                lengthen((void **)&f->line, x->room, sizeof(int64_t));
    for (int k = 0; k < FRAME_PROPERTIES && good; k++)
        if (x->property[k] >= 0) good = lengthen((void **)&f->property[k], x->room, sizeof(double));
    if (x->orientation >= 0 && good)
        good = lengthen((void **)&f->orientations, x->room, 4 * sizeof(double));
    return good ? EXIT_DONE : no_memory(x);
}

/* The number of a name among those so far, most of which are few and come again; -1: memory is short. */
static int32_t number_of_name(file_frame *f, const char *word)
{
    for (int32_t k = f->names - 1; k >= 0; k--)
        if (!strcmp(f->name[k], word)) return k;
    char **more = realloc(f->name, (size_t)(f->names + 1) * sizeof *more), *copy = strdup(word);
    if (more) f->name = more;
    if (!more || !copy) {
        free(copy);
        return -1;
    }
    f->name[f->names] = copy;
    return f->names++;
}

enum { MOST_NAMES = 4096 };

static int read_particle(xyz *x)
{
    file_frame *f = x->frame;
    int column = 0, code = make_room(x);
    if (code) return code;
    const int64_t i = f->count;
    char *rest = x->text, *word;
    double *at = &f->positions[3 * i];
    at[2] = 0;
    f->line[i] = x->line;
    while (!code && (word = strsep(&rest, blanks))) {
        if (!*word) continue;
        if (column == x->species && (f->species[i] = number_of_name(f, word)) < 0)
            code = no_memory(x);
        if (f->names > MOST_NAMES) code = refuse(x, "there are more than %d species", MOST_NAMES);
        for (int k = 0; k < FRAME_PROPERTIES && !code; k++)
            if (column == x->property[k]) code = read_number(x, word, &f->property[k][i]);
        if (!code && column >= x->position && column < x->position + x->coordinates)
            code = read_number(x, word, &at[column - x->position]);
        if (!code && x->orientation >= 0 && column >= x->orientation && column < x->orientation + 4)
            code = read_number(
                x, word, &f->orientations[4 * i + (column - x->orientation + 1) % 4]); /* w last */
        column++;
    }
    if (code) return code;
    if (x->plain && column < x->columns)
        return refuse(x, "there are %d columns, and a name and three coordinates are needed",
                      column);
    if (!x->plain && column != x->columns)
        return refuse(x, "there are %d columns, Properties has %d", column, x->columns);
    if (x->property[FRAME_DIAMETER] >= 0) f->property[FRAME_DIAMETER][i] *= x->factor;
    f->count++;
    return EXIT_DONE;
}

static int read_frame(xyz *x)
{
    int64_t count = 0;
    int code = begin_frame(x, &count);
    if (!code) code = read_header(x);
    if (!code) code = make_room(x);
    for (int64_t i = 0; i < count && !code; i++) {
        code = next_particle(x, i, count);
        if (!code) code = read_particle(x);
    }
    x->frame->walkers = 1;
    return code;
}

int xyz_read(const char *path, int64_t which, file_frame *out, report *report)
{
    xyz x = {.path = path, .report = report, .frame = out};
    const char *why;
    *out = (file_frame){0};
    int fd = open_regular(path, &why);
    if (fd < 0) return refuse(&x, "cannot be opened: %s", why);
    x.file = fdopen(fd, "r");
    if (!x.file) close(fd);
    if (!x.file) return no_memory(&x);
    int code = go_to_frame(&x, which);
    if (!code) code = read_frame(&x);
    free(x.text);
    fclose(x.file);
    if (code) frame_free(out);
    return code;
}
