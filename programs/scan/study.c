/* The section [scan]: keys, values, their combinations. See study.h. */
#include "study.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "input/parameters.h"
#include "base/paths.h"
#include "names.h"
#include "twists.h"
#include "words.h"

typedef struct scan_section {
    int64_t jobs;
    int32_t names; /* choice values|numbers */
    const char *folder, *zip;
} scan_section;

static const plugmc_parameter scan_table[] = {
    PLUGMC_INTEGER_KEY(scan_section, jobs, "0", 0, 1024, "",
                       "simultaneous runs; 0: one for each GPU, or 1 on the CPU"),
    PLUGMC_CHOICE_KEY(scan_section, names, "values", "values|numbers",
                      "names of the files of a run: made of its values, or a fixed number"),
    PLUGMC_FILE_KEY(scan_section, folder, "",
                    "folder of the files; if empty, the INI's name without .ini"),
    PLUGMC_TEXT_KEY(scan_section, zip, "",
                    "keys that are varied together, value by value; quote keys that contain "
                    "blanks"),
};

static int refuse(const study *s, int line, report *r, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static int read_keys(study *, report *);
static int read_own_keys(study *, scan_section *, report *);
static int combine(study *, const char *zip, report *);

static int refuse(const study *s, int line, report *r, const char *format, ...)
{
    char sentence[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return report_error(r, EXIT_INPUT, s->path, line, "%s", sentence);
}

static char *copy_of(const char *text) { return text ? checked(strdup(text)) : NULL; }

void study_describe(FILE *out, bool markdown)
{
    fputs(markdown ? "### [scan]\n\nPoints of a study, for plugmc scan.\n\n"
                   : "[scan]: the points of a study, for plugmc scan\n\n",
          out);
    parameters_describe(out, scan_table, PLUGMC_COUNT(scan_table), markdown);
    fprintf(
        out,
        "\nThe other keys are %sSECTION.KEY = VALUE VALUE...%s, with SECTION as --set has it.\n\n",
        markdown ? "`" : "", markdown ? "`" : "");
    if (!markdown) parameters_ini_block(out, "scan", scan_table, PLUGMC_COUNT(scan_table));
}

/* ---- As a whole ----------------------------------------------------------------------------- */

/* A section that is not of a run leaves the INI, whose other sections are. 0 where it is not there. */
static int take_section(study *s, const char *kind, ini_section *out, report *r)
{
    for (int i = 0; i < s->ini.count; i++) {
        const ini_section *section = &s->ini.sections[i];
        if (strcmp(section->kind, kind) != 0) continue;
        if (*section->label)
            return refuse(s, section->line, r,
                          "[%s] must not have a name: a study has only "
                          "one [%s]",
                          section->name, kind);
        *out = s->ini.sections[i];
        memmove(&s->ini.sections[i], &s->ini.sections[i + 1],
                sizeof *s->ini.sections * (size_t)(s->ini.count - i - 1));
        s->ini.count--;
        return 0;
    }
    return 0;
}

static int take_sections(study *s, report *r)
{
    int code = take_section(s, "scan", &s->scan, r);
    if (!code) code = take_section(s, "twists", &s->twist_section, r);
    if (code || s->scan.name) return code;
    return refuse(s, 0, r,
                  "there is no section [scan] with lines SECTION.KEY = VALUES: use plugmc "
                  "run for a single run");
}

static char *default_folder(const char *path)
{
    char *folder;
    const size_t length = strlen(path);
    const bool ini = length > 4 && !strcmp(path + length - 4, ".ini") && path[length - 5] != '/';
    if (asprintf(&folder, ini ? "%.*s" : "%.*s.scan", (int)(ini ? length - 4 : length), path) < 0)
        checked(NULL);
    return folder;
}

int study_read(const char *path, study *s, report *r)
{
    scan_section own = {0};
    *s = (study){.path = path};
    int code = ini_read(path, &s->ini, r);
    if (code && !s->ini.count) return code;
    int reading = take_sections(s, r);
    if (reading) return r->code;
    read_own_keys(s, &own, r);
    read_keys(s, r);
    if (r->errors) return r->code;
    if (s->twist_section.name && twists_read(s, r)) return r->code;
    s->jobs = (int)own.jobs;
    s->folder = *own.folder ? copy_of(own.folder) : default_folder(path);
    for (char *end = s->folder + strlen(s->folder); end > s->folder + 1 && end[-1] == '/';)
        *--end = 0;
    code = combine(s, own.zip, r);
    if (code) return code;
    s->points = checked(calloc((size_t)s->point_count, sizeof *s->points));
    return names_make(s, own.names == 1, r);
}

static void free_section(const ini_section *section)
{
    ini_file alone = {.sections = checked(malloc(sizeof *section)), .count = section->name != NULL};
    *alone.sections = *section;
    ini_free(&alone);
}

void point_forget(point *p)
{
    for (int i = 0; i < p->result_count; i++) free(p->results[i].column), free(p->results[i].unit);
    for (int i = 0; i < p->file_count; i++) free(p->files[i].key), free(p->files[i].paths);
    free(p->results), free(p->files), free(p->sentence);
    *p = (point){.name = p->name};
}

void study_free(study *s)
{
    for (int64_t k = 0; s->points && k < s->point_count; k++) {
        point_forget(&s->points[k]);
        free(s->points[k].name);
    }
    for (int i = 0; i < s->key_count; i++) {
        free(s->keys[i].label), free(s->keys[i].unit);
        words_free(s->keys[i].values);
    }
    twists_free(s);
    free_section(&s->scan);
    free_section(&s->twist_section);
    free(s->points), free(s->keys), free(s->folder);
    ini_free(&s->ini);
    *s = (study){0};
}

/* ---- Keys ----------------------------------------------------------------------------------- */

/* Where --set of `plugmc run` would put a value: the section (NULL: none yet) and the key. */
typedef struct target {
    const ini_section *section;
    char *name; /* of the section as written */
    const char *key;
    int same_kind;
} target;

static target find_target(const ini_file *ini, const char *name)
{
    const char *dot = strrchr(name, '.');
    target t = {.name = checked(strndup(name, (size_t)(dot - name))), .key = dot + 1};
    const size_t kind = strcspn(t.name, " \t");
    const char *label = t.name + kind + strspn(t.name + kind, " \t");
    const ini_section *last = NULL;
    for (int i = 0; i < ini->count; i++) {
        const ini_section *s = &ini->sections[i];
        if (strlen(s->kind) != kind || strncmp(s->kind, t.name, kind)) continue;
        t.same_kind++;
        last = s;
        if (!strcmp(s->label, label)) t.section = s;
    }
    if (!t.section && !*label && t.same_kind == 1) t.section = last;
    return t;
}

static bool same_target(const ini_file *ini, const char *one, const char *other)
{
    target a = find_target(ini, one), b = find_target(ini, other);
    const bool same =
        a.section == b.section && !strcmp(a.key, b.key) && (a.section || !strcmp(a.name, b.name));
    free(a.name), free(b.name);
    return same;
}

static bool is_scanned(const char *key) { return strchr(key, '.') != NULL; }

/* Those without a dot are the section's own. */
static int read_own_keys(study *s, scan_section *own, report *r)
{
    ini_section plain = s->scan;
    const int before = r->errors;
    plain.entries = checked(calloc((size_t)s->scan.count + 1, sizeof *plain.entries));
    plain.count = 0;
    for (int i = 0; i < s->scan.count; i++)
        if (!is_scanned(s->scan.entries[i].key)) plain.entries[plain.count++] = s->scan.entries[i];
    parameters_fill(scan_table, PLUGMC_COUNT(scan_table), sizeof(double), own, s->path, &plain, r);
    parameters_unused(scan_table, PLUGMC_COUNT(scan_table), NULL, s->path, &plain, r);
    free(plain.entries);
    return r->errors > before ? r->code : 0;
}

/* Every point has its own output file, and a value must have one place to go to. */
static void check_target(const study *s, const scanned_key *key, report *r)
{
    target t = find_target(&s->ini, key->name);
    if (!*t.name || !*t.key)
        refuse(s, key->line, r, "[scan] '%s' is not SECTION.KEY, such as run.seed", key->name);
    else if (!t.section && t.same_kind > 1)
        refuse(s, key->line, r, "[scan] %s: there are %d sections [%s ...]: name one of them",
               key->name, t.same_kind, t.name);
    else if (!strcmp(t.name, "run") && !strcmp(t.key, "output"))
        refuse(s, key->line, r,
               "[scan] run.output: each run of a study writes FOLDER/NAME.h5; choose them by "
               "[scan] folder and names");
    for (const scanned_key *other = s->keys; other < key; other++)
        if (same_target(&s->ini, other->name, key->name))
            refuse(s, key->line, r, "[scan] '%s' is the same key as '%s' in line %d", key->name,
                   other->name, other->line);
    free(t.name);
}

static void read_key(study *s, const ini_entry *entry, report *r)
{
    scanned_key *key = &s->keys[s->key_count++];
    *key = (scanned_key){.name = entry->key, .line = entry->line, .stride = 1};
    key->count = words_split(entry->value, &key->values);
    if (key->count < 0)
        refuse(s, key->line, r, "[scan] %s: a quote has no end", key->name);
    else if (key->count == 0)
        refuse(s, key->line, r, "[scan] %s: there are no values", key->name);
    check_target(s, key, r);
}

static int read_keys(study *s, report *r)
{
    const int before = r->errors;
    const ini_section *run = ini_find(&s->ini, "run");
    const ini_entry *output = run ? ini_get(run, "output") : NULL;
    const size_t room =
        (size_t)s->scan.count + (size_t)s->ini.count + 2; /* with those of [twists] */
    s->keys = checked(calloc(room, sizeof *s->keys));
    for (int i = 0; i < s->scan.count; i++)
        if (is_scanned(s->scan.entries[i].key)) read_key(s, &s->scan.entries[i], r);
    if (!s->key_count && !s->twist_section.name)
        refuse(s, s->scan.line, r,
               "[scan] has no line SECTION.KEY = VALUES, so nothing is "
               "scanned");
    if (output)
        refuse(s, output->line, r,
               "[run] output = %s: all runs of a study would write this file; without it each "
               "writes FOLDER/NAME.h5",
               excerpt(output->value).text);
    return r->errors > before ? r->code : 0;
}

/* ---- Combinations --------------------------------------------------------------------------- */

static scanned_key *key_named(const study *s, const char *name)
{
    for (int i = 0; i < s->key_count; i++)
        if (!strcmp(s->keys[i].name, name)) return &s->keys[i];
    return NULL;
}

static void unknown_zip(const study *s, int line, const char *name, report *r)
{
    const char **names = checked(calloc((size_t)s->key_count, sizeof *names));
    for (int i = 0; i < s->key_count; i++) names[i] = s->keys[i].name;
    const char *nearest = nearest_name(name, names, s->key_count);
    refuse(s, line, r, "[scan] zip: '%s' has no values here%s%s%s", excerpt(name).text,
           nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    free(names);
}

/* Marks the keys that go together, which have equally many values. */
static int read_zip(study *s, const char *zip, report *r)
{
    const ini_entry *entry = ini_get(&s->scan, "zip");
    const int line = entry ? entry->line : 0, before = r->errors;
    scanned_key *first = NULL;
    char **names;
    const int64_t count = words_split(zip, &names);
    if (count < 0) return refuse(s, line, r, "[scan] zip: a quote has no end");
    for (int64_t i = 0; i < count; i++) {
        scanned_key *key = key_named(s, names[i]);
        if (!key)
            unknown_zip(s, line, names[i], r);
        else if (key->group)
            refuse(s, line, r, "[scan] zip: '%s' given twice", key->name);
        else if (first && key->count != first->count)
            refuse(s, line, r,
                   "[scan] zip: '%s' has %lld values, but '%s' has %lld: the numbers must be "
                   "equal",
                   first->name, (long long)first->count, key->name, (long long)key->count);
        if (key) key->group = GROUP_ZIP;
        if (!first) first = key;
    }
    if (count == 1) refuse(s, line, r, "[scan] zip: '%s' needs a second key", names[0]);
    words_free(names);
    return r->errors > before ? r->code : 0;
}

/* The first key that goes together with this one: itself where it is alone. */
static scanned_key *first_of_group(const study *s, scanned_key *key)
{
    scanned_key *first = s->keys;
    while (first < key && (!key->group || first->group != key->group)) first++;
    return first;
}

/* Strides from the last key, the fastest one, to the first; keys that go together have that of the
 * first of them. */
static int combine(study *s, const char *zip, report *r)
{
    int code = read_zip(s, zip, r);
    if (code) return code;
    s->point_count = 1;
    for (int i = s->key_count - 1; i >= 0; i--) {
        scanned_key *key = &s->keys[i];
        if (first_of_group(s, key) != key) continue;
        key->stride = s->point_count;
        s->point_count *=
            key->count; /* a file has at most 2^20 bytes, and 10^5 points were refused */
        if (s->point_count > MOST_POINTS)
            return refuse(s, s->scan.line, r, "[scan] makes more than %d points", MOST_POINTS);
    }
    for (int i = 0; i < s->key_count; i++)
        s->keys[i].stride = first_of_group(s, &s->keys[i])->stride;
    return 0;
}

const char *study_value(const study *s, int64_t k, const scanned_key *key)
{
    (void)s;
    return key->values[k / key->stride % key->count];
}

char *study_words(const study *s, int64_t k)
{
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    for (int i = 0; i < s->key_count; i++)
        fprintf(out, "%s%s = %s", i ? ", " : "", s->keys[i].name, study_value(s, k, &s->keys[i]));
    fclose(out);
    return checked(text);
}

char *study_file(const study *s, int64_t k, const char *end)
{
    char *path;
    if ((k < 0 ? asprintf(&path, "%s/%s", s->folder, end)
               : asprintf(&path, "%s/%s.%s", s->folder, s->points[k].name, end)) < 0)
        checked(NULL);
    return path;
}

/* ---- The INI of a point --------------------------------------------------------------------- */

static void copy_ini(const ini_file *from, ini_file *to)
{
    *to = (ini_file){.path = copy_of(from->path),
                     .folder = copy_of(from->folder),
                     .count = from->count,
                     .sections = checked(calloc((size_t)from->count + 1, sizeof *to->sections))};
    for (int i = 0; i < from->count; i++) {
        const ini_section *s = &from->sections[i];
        ini_section *copy = &to->sections[i];
        *copy = *s;
        copy->name = copy_of(s->name), copy->kind = copy_of(s->kind);
        copy->label = copy_of(s->label), copy->folder = to->folder;
        copy->entries = checked(calloc((size_t)s->count + 1, sizeof *copy->entries));
        for (int k = 0; k < s->count; k++) {
            const ini_entry *e = &s->entries[k];
            copy->entries[k] = *e;
            copy->entries[k].key = copy_of(e->key), copy->entries[k].value = copy_of(e->value);
            copy->entries[k].origin = copy_of(e->origin), copy->entries[k].file = copy_of(e->file);
        }
    }
}

static int assign(ini_file *ini, const char *key, const char *value, int line, report *r)
{
    char *assignment;
    if (asprintf(&assignment, "%s=%s", key, value) < 0) checked(NULL);
    const int code = ini_set_at(ini, assignment, line, r);
    free(assignment);
    return code;
}

/* As [run] reads it, 1e6 too. */
static bool is_seed(const char *text, unsigned long long *seed)
{
    char *end;
    *seed = strtoull(text, &end, 10);
    if (end != text && !*end) return true;
    const double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0 && value < 0x1p63) || value != floor(value))
        return false;
    *seed = (unsigned long long)value;
    return true;
}

/* The value of [run] seed of a point, and its line; NULL: there is none. */
static const char *own_seed(const study *s, int64_t k, int *line)
{
    const ini_entry *entry = ini_at(&s->ini, "run.seed");
    for (int i = 0; i < s->key_count; i++)
        if (same_target(&s->ini, s->keys[i].name, "run.seed")) {
            *line = s->keys[i].line;
            return study_value(s, k, &s->keys[i]);
        }
    *line = entry ? entry->line : s->twist_section.line;
    return entry ? entry->value : NULL;
}

bool study_has_run(const study *s)
{
    bool there = ini_find(&s->ini, "run") != NULL;
    for (int i = 0; i < s->key_count; i++) there |= !strncmp(s->keys[i].name, "run.", 4);
    return there;
}

/* What is no seed is refused later. */
bool study_seed(const study *s, int64_t k, char seed[SEED_TEXT], int *line)
{
    const int64_t twist = s->twists.count ? k % s->twists.count : 0;
    unsigned long long number = 1;
    const char *own = twist ? own_seed(s, k, line) : NULL;
    if (!twist || !study_has_run(s) || (own && !is_seed(own, &number))) return false;
    snprintf(seed, SEED_TEXT, "%llu", number + ((unsigned long long)twist << 32));
    return true;
}

int study_assign(const study *s, int64_t k, ini_file *out, report *r)
{
    char seed[SEED_TEXT];
    int code = 0, line;
    copy_ini(&s->ini, out);
    for (int i = 0; i < s->key_count && !code; i++)
        code = assign(out, s->keys[i].name, study_value(s, k, &s->keys[i]), s->keys[i].line, r);
    if (!code && study_seed(s, k, seed, &line)) code = assign(out, "run.seed", seed, line, r);
    return code;
}

/* ---- ... as a text -------------------------------------------------------------------------- */

/* "../" for each folder between the study's and that of the INI file; NULL if it does not lie below. */
static char *way_up(const study *s)
{
    char *inner = path_beside(s->ini.folder, s->folder), *up = NULL;
    size_t size;
    FILE *out = *inner == '/' ? NULL : checked(open_memstream(&up, &size));
    for (char *rest = inner, *part; out && (part = strsep(&rest, "/"));)
        if (*part && strcmp(part, ".") != 0) fputs("../", out);
    if (out) fclose(out);
    free(inner);
    return up;
}

static void write_path(FILE *out, const study *s, const char *up, const char *path)
{
    char *name = path_beside(up ? s->ini.folder : "/", path);
    const char *bare = name + (strncmp(name, "./", 2) ? 0 : 2);
    if (*name == '/')
        fputs(name, out);
    else
        fprintf(out, "%s%s", up ? up : "/", bare); /* without a way up the study lies elsewhere */
    free(name);
}

static void write_entry(FILE *out, const study *s, const char *up, const ini_entry *e)
{
    fprintf(out, "%s = ", e->key);
    if (!e->file || !*e->value) {
        fputs(e->value, out);
    } else {
        char *copy = copy_of(e->file), *rest = copy, *path;
        for (const char *between = ""; (path = strsep(&rest, "\n")); between = " ") {
            fputs(between, out);
            write_path(out, s, up, path);
        }
        free(copy);
    }
    fprintf(out, " ; line %d\n", e->line);
}

static char *write_ini(const study *s, const ini_file *ini)
{
    char *text, *up = way_up(s);
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    fputs(
        "; Written by plugmc scan, and again before each of its runs: change the study instead, in\n"
        "; which the keys have these lines.\n",
        out);
    for (int i = 0; i < ini->count; i++) {
        const ini_section *section = &ini->sections[i];
        fprintf(out, "\n[%s]\n", section->name);
        for (int k = 0; k < section->count; k++) write_entry(out, s, up, &section->entries[k]);
    }
    fclose(out);
    free(up);
    return checked(text);
}

char *study_text(const study *s, int64_t k, report *r)
{
    ini_file ini = {0};
    const point *p = &s->points[k];
    const bool good = !study_assign(s, k, &ini, r);
    for (int i = 0; i < p->file_count && good; i++) {
        ini_entry *entry = ini_at(&ini, p->files[i].key);
        if (entry && !entry->file) entry->file = copy_of(p->files[i].paths);
    }
    char *text = good ? write_ini(s, &ini) : NULL;
    ini_free(&ini);
    return text;
}
