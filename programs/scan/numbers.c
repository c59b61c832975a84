/* See numbers.h. */
#include "numbers.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/paths.h"

/* A file NUMBER.ini of the folder. */
typedef struct begun {
    int64_t number;
    char *name;
    bool taken; /* by a point */
} begun;

/* Values of all keys that are scanned as one text, and the file that has them. */
typedef struct values {
    char *text;
    begun *file;
} values;

typedef struct folder {
    begun *files; /* by number */
    size_t count;
    values *
        values; /* by text, then by number: of each file as written, and with files by their paths */
    size_t value_count;
} folder;

/* ---- Values --------------------------------------------------------------------------------- */

/* Files have another name as seen from the folder of a study: each word that is one is told by its path. */
static void write_paths(FILE *out, const char *from, const char *value)
{
    char *copy = checked(strdup(value)), *rest = copy, *word;
    while ((word = strsep(&rest, " \t"))) {
        struct stat info;
        char *joined = path_join(from, word),
             *real = *word && !stat(joined, &info) && S_ISREG(info.st_mode) ? realpath(joined, NULL)
                                                                            : NULL;
        fprintf(out, "%s ", real ? real : word);
        free(joined), free(real);
    }
    free(copy);
}

/* NULL: one of the keys is not in the INI. `paths`: with files by their paths. */
static char *values_of(const study *s, const ini_file *ini, bool paths)
{
    char *text;
    size_t size;
    bool all = true;
    FILE *out = checked(open_memstream(&text, &size));
    for (int i = 0; i < s->key_count && all; i++) {
        const ini_entry *entry = ini_at(ini, s->keys[i].name);
        all = entry != NULL;
        if (all && paths) write_paths(out, ini->folder, entry->value);
        if (all && !paths) fputs(entry->value, out);
        fputc('\n', out);
    }
    fclose(out);
    checked(text);
    if (all) return text;
    free(text);
    return NULL;
}

/* ---- What has been begun --------------------------------------------------------------------- */

static int by_number(const void *one, const void *other)
{
    const begun *a = one, *b = other;
    return (a->number > b->number) - (a->number < b->number);
}

static int by_text(const void *one, const void *other)
{
    const values *a = one, *b = other;
    const int order = strcmp(a->text, b->text);
    return order ? order : by_number(a->file, b->file);
}

/* The digits before ".ini"; 0: another file. */
static size_t digits_of(const char *name)
{
    size_t digits = 0;
    while (isdigit((unsigned char)name[digits])) digits++;
    return digits <= 18 && !strcmp(name + digits, ".ini") ? digits : 0;
}

static void list_files(const study *s, folder *f)
{
    DIR *dir = opendir(s->folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        const size_t digits = digits_of(e->d_name);
        if (!digits) continue;
        f->files = checked(realloc(f->files, (f->count + 1) * sizeof *f->files));
        f->files[f->count++] = (begun){.number = strtoll(e->d_name, NULL, 10),
                                       .name = checked(strndup(e->d_name, digits))};
    }
    if (dir) closedir(dir);
    if (f->count) qsort(f->files, f->count, sizeof *f->files, by_number);
}

/* What cannot be read has a number, but no values. */
static void read_values(const study *s, folder *f)
{
    report unheard = {0};
    report_hold(&unheard, true);
    f->values = checked(calloc(2 * f->count + 1, sizeof *f->values));
    for (size_t i = 0; i < f->count; i++) {
        ini_file ini = {0};
        char *path;
        if (asprintf(&path, "%s/%s.ini", s->folder, f->files[i].name) < 0) checked(NULL);
        const bool read = !ini_read(path, &ini, &unheard);
        for (int paths = 0; read && paths < 2; paths++) {
            char *text = values_of(s, &ini, paths);
            if (text) f->values[f->value_count++] = (values){text, &f->files[i]};
        }
        ini_free(&ini);
        free(path);
    }
    report_hold(&unheard, false);
    qsort(f->values, f->value_count, sizeof *f->values, by_text);
}

static begun *file_with(const folder *f, const char *text)
{
    size_t low = 0, high = f->value_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strcmp(f->values[middle].text, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < f->value_count && !strcmp(f->values[low].text, text); low++)
        if (!f->values[low].file->taken) return f->values[low].file;
    return NULL;
}

static begun *file_of_point(const study *s, int64_t k, const folder *f)
{
    report unheard = {0};
    ini_file ini = {0};
    begun *file = NULL;
    report_hold(&unheard, true);
    const bool assigned = !study_assign(s, k, &ini, &unheard);
    report_hold(&unheard, false);
    for (int paths = 0; assigned && !file && paths < 2; paths++) {
        char *text = values_of(s, &ini, paths);
        file = text ? file_with(f, text) : NULL;
        free(text);
    }
    ini_free(&ini);
    return file;
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* As many digits as the shortest name has that is there. */
static int width_of(const study *s, const folder *f)
{
    size_t width = (size_t)snprintf(NULL, 0, "%lld", (long long)s->point_count - 1);
    for (size_t i = 0; i < f->count; i++) {
        const size_t length = strlen(f->files[i].name);
        if (i == 0 || length < width) width = length;
    }
    return (int)width;
}

char **numbers_make(const study *s)
{
    folder f = {0};
    char **names = checked(calloc((size_t)s->point_count, sizeof *names));
    list_files(s, &f);
    read_values(s, &f);
    for (int64_t k = 0; f.value_count && k < s->point_count; k++) {
        begun *file = file_of_point(s, k, &f);
        if (!file) continue;
        file->taken = true;
        names[k] = checked(strdup(file->name));
    }
    const int width = width_of(s, &f);
    int64_t number = 0;
    size_t at = 0; /* of the files, the first whose number is not below */
    for (int64_t k = 0; k < s->point_count; k++) {
        if (names[k]) continue;
        for (; at < f.count && f.files[at].number <= number; at++)
            if (f.files[at].number == number) number++;
        if (asprintf(&names[k], "%0*lld", width, (long long)number++) < 0) checked(NULL);
    }
    for (size_t i = 0; i < f.count; i++) free(f.files[i].name);
    for (size_t i = 0; i < f.value_count; i++) free(f.values[i].text);
    free(f.files), free(f.values);
    return names;
}
