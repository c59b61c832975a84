/* See text_lines.h. */
#include "text_lines.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"

enum { MOST_NAMES = 4096 };

/* ---- Lines ------------------------------------------------------------------------------------------- */

int lines_open(text_lines *l, const char *path, report *r)
{
    const char *why;
    *l = (text_lines){.path = path, .report = r};
    const int fd = open_regular(path, &why);
    if (fd < 0) return refuse_line(l, "cannot be opened: %s", why);
    l->file = fdopen(fd, "r");
    if (l->file) return EXIT_DONE;
    close(fd);
    return lines_no_memory(l);
}

int lines_no_memory(const text_lines *l)
{
    return report_error(l->report, EXIT_MEMORY, l->path, 0, "not enough memory to read it");
}

int lines_next(text_lines *l, bool *ended)
{
    errno = 0;
    ssize_t length = getline(&l->text, &l->capacity, l->file);
    *ended = length < 0;
    if (*ended && errno) return refuse_line(l, "cannot be read: %s", strerror(errno));
    if (*ended) return EXIT_DONE;
    l->line++;
    if (strlen(l->text) != (size_t)length)
        return refuse_line(l, "there is a zero byte in this line");
    if (l->line == 1 && !strncmp(l->text, "\xef\xbb\xbf", 3)) { /* a byte order mark */
        memmove(l->text, l->text + 3, (size_t)length - 2);
        length -= 3;
    }
    while (length > 0 && strchr("\r\n", l->text[length - 1])) l->text[--length] = 0;
    l->length = (size_t)length;
    return EXIT_DONE;
}

int lines_expect(text_lines *l, const char *expected)
{
    bool ended;
    const int code = lines_next(l, &ended);
    if (code || !ended) return code;
    l->line++;
    return refuse_line(l, "the file ends where %s should be", expected);
}

void lines_close(text_lines *l)
{
    if (l->file) fclose(l->file);
    free(l->text);
    l->file = NULL;
    l->text = NULL;
}

/* ---- Numbers ----------------------------------------------------------------------------------------- */

bool number_of_word(const char *word, double *out)
{
    char *end;
    *out = strtod(word, &end);
    if (end == word || !isfinite(*out)) return false;
    while (isspace((unsigned char)*end)) end++;
    return !*end;
}

int lines_number(const text_lines *l, int first, int last, const char *what, double *out)
{
    char word[32] = "";
    const size_t wide = (size_t)(last - first + 1);
    if (wide >= sizeof word || l->length < (size_t)last)
        return refuse_line(l, "the line ends before column %d, where %s stands", last, what);
    memcpy(word, l->text + first - 1, wide);
    if (number_of_word(word, out)) return EXIT_DONE;
    return refuse_line(l, "%s in columns %d to %d is '%s', which is not a finite number", what,
                       first, last, excerpt(word).text);
}

double error_of_word(const char *word)
{
    const char *dot = strchr(word, '.'), *end = dot ? dot + 1 : word;
    while (isdigit((unsigned char)*end)) end++;
    const char *power = strpbrk(word, "eE");
    const int digits = dot ? (int)(end - dot - 1) : 0;
    return 0.5 * pow(10, (power ? atoi(power + 1) : 0) - (digits < 300 ? digits : 300));
}

/* ---- Frames ------------------------------------------------------------------------------------------ */

static bool lengthen(void **array, int64_t room, size_t row)
{
    void *more = realloc(*array, (size_t)room * row);
    if (more) *array = more;
    return more != NULL;
}

/* Room for one more, which a line of its own takes in the file. */
static bool make_room(frame_rows *rows, const double *property)
{
    file_frame *f = rows->frame;
    if (f->count < rows->room) return true;
    rows->room = 2 * rows->room + 64;
    bool good = lengthen((void **)&f->positions, rows->room, 3 * sizeof(double)) &&
                lengthen((void **)&f->species, rows->room, sizeof(int32_t)) &&
                lengthen((void **)&f->line, rows->room, sizeof(int64_t));
    for (int k = 0; k < FRAME_PROPERTIES && property && good; k++)
        if (!isnan(property[k]))
            good = lengthen((void **)&f->property[k], rows->room, sizeof(double));
    return good;
}

int frame_add(frame_rows *rows, const text_lines *l, const double place[3], int32_t species,
              const double property[FRAME_PROPERTIES])
{
    file_frame *f = rows->frame;
    if (!make_room(rows, property)) return lines_no_memory(l);
    const int64_t i = f->count++;
    memcpy(&f->positions[3 * i], place, 3 * sizeof *place);
    f->species[i] = species;
    f->line[i] = l->line;
    for (int k = 0; k < FRAME_PROPERTIES && property; k++)
        if (f->property[k]) f->property[k][i] = property[k];
    return EXIT_DONE;
}

int32_t frame_name(file_frame *f, const text_lines *l, const char *name)
{
    for (int32_t k = f->names - 1; k >= 0; k--)
        if (!strcmp(f->name[k], name)) return k;
    if (f->names == MOST_NAMES) {
        refuse_line(l, "there are more than %d names of particles", MOST_NAMES);
        return -1;
    }
    char **more = realloc(f->name, (size_t)(f->names + 1) * sizeof *more), *copy = strdup(name);
    if (more) f->name = more;
    if (!more || !copy) {
        free(copy);
        lines_no_memory(l);
        return -1;
    }
    f->name[f->names] = copy;
    return f->names++;
}

int frame_box(file_frame *f, const text_lines *l, const double vectors[3][3])
{
    if (!f->box) f->box = calloc(1, sizeof *f->box);
    if (!f->box) return lines_no_memory(l);
    f->boxes = 1;
    memcpy(f->box[0], vectors, sizeof f->box[0]);
    f->head_line = l->line;
    /* Of boxes with right angles positions stay as they are, to the last bit. */
    f->from_corner = false;
    for (int k = 0; k < 9; k++) f->from_corner |= k % 4 && vectors[k / 3][k % 3] != 0;
    return EXIT_DONE;
}
