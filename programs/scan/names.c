/* See names.h. */
#include "names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/paths.h"
#include "numbers.h"

enum { LONGEST = 200 }; /* bytes: file systems have 255, and some are for what is put behind it */

/* ---- Names ---------------------------------------------------------------------------------- */

static const char *last_part(const char *name) { return strrchr(name, '.') + 1; }

/* KEY, or SECTION.KEY where several sections have it. */
static void make_label(const study *s, scanned_key *key)
{
    int same = 0;
    for (int i = 0; i < s->key_count; i++)
        same += !s->keys[i].unnamed && !strcmp(last_part(s->keys[i].name), last_part(key->name));
    key->label = checked(strdup(same > 1 ? key->name : last_part(key->name)));
}

/* What is awkward in a file name becomes '_'. */
static void write_plain(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        fputc(*c >= 0x80 || isalnum(*c) || strchr("+-._", *c) ? *c : '_', out);
}

static char *name_of(const study *s, int64_t k)
{
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    for (int i = 0; i < s->key_count; i++) {
        if (s->keys[i].unnamed) continue;
        fputs(i ? "," : "", out);
        write_plain(out, s->keys[i].label);
        fputc('=', out);
        write_plain(out, study_value(s, k, &s->keys[i]));
    }
    fclose(out);
    return checked(text);
}

/* ---- Files ---------------------------------------------------------------------------------- */

typedef struct written {
    char *path;
    int64_t point; /* -1: the study itself */
} written;

static int by_path(const void *one, const void *other)
{
    const written *a = one, *b = other;
    const int order = strcmp(a->path, b->path);
    return order ? order : (a->point > b->point) - (a->point < b->point);
}

/* The same for all ways to write it, as far as the file system shows. */
static char *plain_path(const char *path)
{
    char *beside = path_beside("", path);
    if (!strncmp(beside, "./", 2)) memmove(beside, beside + 2, strlen(beside) - 1);
    return beside;
}

static written file_of(const study *s, int64_t k, const char *end)
{
    char *path = study_file(s, k, end);
    written w = {plain_path(path), k};
    free(path);
    return w;
}

/* Where a table of its samples goes, [run] csv, of which the value may be scanned; *line is that of the
 * key. NULL: nowhere. */
static char *table_of(const study *s, int64_t k, int *line)
{
    const ini_section *run = ini_find(&s->ini, "run");
    const ini_entry *entry = run ? ini_get(run, "csv") : NULL;
    const char *value = entry ? entry->value : "";
    *line = entry ? entry->line : 0;
    for (int i = 0; i < s->key_count; i++) {
        if (strcmp(s->keys[i].name, "run.csv") != 0) continue;
        value = study_value(s, k, &s->keys[i]);
        *line = s->keys[i].line;
    }
    if (!*value) return NULL;
    char *path = path_join(s->ini.folder, value), *plain = plain_path(path);
    free(path);
    return plain;
}

static int refuse_common(const study *s, const written *w, int line, bool table, report *r)
{
    if (w[0].point < 0)
        return report_error(r, EXIT_INPUT, s->path, line,
                            "%s would be written both by point %lld (%s) and by the study", w->path,
                            (long long)w[1].point, s->points[w[1].point].name);
    return report_error(r, EXIT_INPUT, s->path, line,
                        "%s would be written both by point %lld (%s) and by point %lld (%s)%s",
                        w->path, (long long)w[0].point, s->points[w[0].point].name,
                        (long long)w[1].point, s->points[w[1].point].name,
                        table ? "" : "; [scan] names = numbers names them 0, 1, ...");
}

/* The study under whatever name: a point would be written over it. */
static int check_study(const study *s, const written *all, int64_t count, report *r)
{
    struct stat own, other;
    if (stat(s->path, &own)) return 0;
    for (int64_t i = 0; i < count; i++)
        if (!stat(all[i].path, &other) && own.st_dev == other.st_dev && own.st_ino == other.st_ino)
            return report_error(
                r, EXIT_INPUT, s->path, s->scan.line,
                "%s is this study, which %s%s would overwrite: choose another [scan] folder",
                all[i].path, all[i].point < 0 ? "its table" : "point ",
                all[i].point < 0 ? "" : s->points[all[i].point].name);
    return 0;
}

static int check_files(const study *s, report *r)
{
    static const char *const ends[] = {"h5", "ini", "log"};
    int64_t count = 0;
    int line, tables = 0, code = 0;
    written *all = checked(calloc(4 * (size_t)s->point_count + 3, sizeof *all));
    for (int64_t k = 0; k < s->point_count; k++) {
        for (int i = 0; i < 3; i++) all[count++] = file_of(s, k, ends[i]);
        char *table = table_of(s, k, &line);
        if (table) all[count++] = (written){table, k};
        if (table) tables = line;
    }
    all[count++] = file_of(s, -1, "summary.csv");
    all[count++] = file_of(s, -1, "summary.h5");
    if (s->twists.count) all[count++] = file_of(s, -1, "twists.csv");
    code = check_study(s, all, count, r);
    qsort(all, (size_t)count, sizeof *all, by_path);
    for (int64_t i = 1; i < count && !code; i++) {
        if (strcmp(all[i - 1].path, all[i].path)) continue;
        const char *end = strrchr(all[i].path, '.');
        const bool own = end && (!strcmp(end, ".h5") || !strcmp(end, ".ini"));
        code = refuse_common(s, &all[i - 1], own || !tables ? s->scan.line : tables, !own, r);
    }
    for (int64_t i = 0; i < count; i++) free(all[i].path);
    free(all);
    return code;
}

int names_make(study *s, bool by_number, report *r)
{
    char **numbers = by_number ? numbers_make(s) : NULL;
    int code = 0;
    for (int i = 0; i < s->key_count; i++) make_label(s, &s->keys[i]);
    for (int64_t k = 0; k < s->point_count; k++) {
        s->points[k].name = numbers ? numbers[k] : name_of(s, k);
        const size_t length = strlen(s->points[k].name);
        if (length > LONGEST && !code)
            code = report_error(r, EXIT_INPUT, s->path, s->scan.line,
                                "[scan] names of points can have at most %d bytes, but that "
                                "of point %lld would have %zu; names = numbers names them 0, "
                                "1, ...",
                                LONGEST, (long long)k, length);
    }
    free(numbers);
    return code ? code : check_files(s, r);
}
