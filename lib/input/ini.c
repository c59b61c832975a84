/* The INI file as sections, keys and values.
 *
 * inih splits a line into key and value and takes comments off. What it would cut, join or pass
 * over in silence never reaches it: the reader below hands it one checked line at a time, and an
 * empty one for each that is refused, so that all errors of a file are found in one go. Of a line
 * longer than inih's buffer it hands over the key and keeps the value, so lines have any length.
 * The reader also keeps track of sections, of which Debian's inih tells nothing unless they have
 * keys.
 */
#include "input/ini.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/paths.h"
#include "base/text.h"
#include "input/former_keys.h"

enum {
    LONGEST_NAME = 49,     /* bytes, of a section or key; inih cuts what is longer */
    LARGEST_FILE = 1 << 20 /* bytes; nobody writes more by hand */
};

/* Where the reader is. */
typedef struct reader {
    const char *next, *end; /* what is not read yet */
    int line;
    bool in_section;
    int section; /* index of the one whose keys come; -1: keys are passed over */
    char *value; /* of the line that inih has, if that was too long for it; else NULL */
    ini_file *file;
    report *report;
} reader;

static char *next_line(char *line, int size, void *stream);
static int keep_entry(void *user, const char *section, const char *key, const char *value);

/* ---- Reading --------------------------------------------------------------------------------- */

static int parse(const char *name, const char *text, size_t length, ini_file *out, report *r)
{
    static const char bom[] = "\xef\xbb\xbf", hdf5[] = "\x89HDF\r\n\x1a\n";
    int before = r->errors;

    *out = (ini_file){.path = checked(strdup(name)), .folder = path_folder(name)};
    if (length >= strlen(hdf5) && memcmp(text, hdf5, strlen(hdf5)) == 0)
        return report_error(r, EXIT_INPUT, name, 0,
                            "this is an HDF5 file, not an INI file; to continue the run that "
                            "wrote it: plugmc run --resume %s",
                            name);
    if (memchr(text, 0, length))
        return report_error(r, EXIT_INPUT, name, 0, "this is not a text file: it has NUL bytes");

    reader reader = {.next = text, .end = text + length, .file = out, .report = r};
    if (length >= strlen(bom) && memcmp(text, bom, strlen(bom)) == 0) reader.next += strlen(bom);
    int line = ini_parse_stream(next_line, &reader, keep_entry, &reader);
    free(reader.value);
    if (line != 0 && r->errors == before)
        report_error(r, EXIT_INPUT, name, line > 0 ? line : 0, "inih cannot read this line");
    for (int i = 0; i < out->count; i++) former_keys_rename(out, &out->sections[i], r);
    return r->errors > before ? r->code : 0;
}

int ini_read_text(const char *name, const char *text, ini_file *out, report *r)
{
    return parse(name, text, strlen(text), out, r);
}

int ini_read(const char *path, ini_file *out, report *r)
{
    struct stat status;
    *out = (ini_file){.path = checked(strdup(path)), .folder = path_folder(path)};
    FILE *f = fopen(path, "rb");
    if (!f)
        return report_error(r, EXIT_INPUT, path, 0, "cannot open this file: %s", strerror(errno));
    if (fstat(fileno(f), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(f);
        return report_error(r, EXIT_INPUT, path, 0, "this is a folder, not an INI file");
    }
    char *text = checked(malloc(LARGEST_FILE + 1));
    size_t length = fread(text, 1, LARGEST_FILE + 1, f);
    int trouble = ferror(f) ? errno : 0;
    fclose(f);
    free(out->path);
    free(out->folder);
    int code = parse(path, text, length <= LARGEST_FILE && !trouble ? length : 0, out, r);
    if (trouble)
        code = report_error(r, EXIT_INPUT, path, 0, "cannot read this file: %s", strerror(trouble));
    else if (length > LARGEST_FILE)
        code = report_error(r, EXIT_INPUT, path, 0,
                            "this is not an INI file: it is larger than "
                            "1 MiB");
    free(text);
    return code;
}

/* ---- Characters ------------------------------------------------------------------------------ */

/* What is wrong with the characters of a line, NULL if nothing; *code says which. */
static const char *character_fault(const char *text, size_t length, uint32_t *code)
{
    for (size_t i = 0; i < length;) {
        int bytes = text_character(text + i, length - i, code);
        if (bytes == 0) {
            *code = (unsigned char)text[i];
            return "is not UTF-8 text";
        }
        if ((*code < 0x20 && *code != '\t') || (*code >= 0x7f && *code < 0xa0))
            return "is a control character";
        i += (size_t)bytes;
    }
    return NULL;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void refuse(reader *r, const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    report_error(r->report, EXIT_INPUT, r->file->path, r->line, "%s", sentence);
}

/* The first of `characters`, a comment (';' after a blank) or the end; as inih sees it. */
static const char *find_or_comment(const char *s, const char *characters)
{
    for (bool after_blank = false; *s; s++) {
        if (strchr(characters, *s) || (after_blank && *s == ';')) break;
        after_blank = isspace((unsigned char)*s);
    }
    return s;
}

static const char *skip_blanks(const char *s)
{
    while (*s && isspace((unsigned char)*s)) s++;
    return s;
}

static char *copy_trimmed(const char *begin, const char *end)
{
    while (begin < end && isspace((unsigned char)*begin)) begin++;
    while (begin < end && isspace((unsigned char)end[-1])) end--;
    return checked(strndup(begin, (size_t)(end - begin)));
}

/* A new section of that name at the end of the file; its kind is the first word. */
static ini_section make_section(const char *begin, const char *end, int line)
{
    ini_section s = {.name = copy_trimmed(begin, end), .line = line};
    const char *blank = s.name + strcspn(s.name, " \t");
    s.kind = copy_trimmed(s.name, blank);
    s.label = copy_trimmed(blank, blank + strlen(blank));
    return s;
}

static int find_same(const ini_file *file, const char *kind, const char *label)
{
    for (int i = 0; i < file->count; i++) {
        const ini_section *s = &file->sections[i];
        if (strcmp(s->kind, kind) == 0 && strcmp(s->label, label) == 0) return i;
    }
    return -1;
}

static int append_section(ini_file *file, ini_section s)
{
    size_t bytes = ((size_t)file->count + 1) * sizeof *file->sections;
    file->sections = checked(realloc(file->sections, bytes));
    s.folder = file->folder;
    file->sections[file->count] = s;
    return file->count++;
}

/* Opens the section of a line that begins with '['. Faulty ones are opened as well as can be, so
 * that their keys are not taken for those of the section above. */
static bool open_section(reader *r, const char *line)
{
    const char *close = find_or_comment(line, "]");
    const char *rest = skip_blanks(close + (*close == ']'));
    ini_section s = make_section(line + 1, close, r->line);
    int first = find_same(r->file, s.kind, s.label), before = r->report->errors;

    if (*close != ']')
        refuse(r, "section '[%s' has no ']' at its end", excerpt(s.name).text);
    else if (*s.name == 0)
        refuse(r, "section without a name");
    else if (strlen(s.name) > LONGEST_NAME)
        refuse(r, "[%s] is %zu bytes long: the limit for names of sections is %d",
               excerpt(s.name).text, strlen(s.name), LONGEST_NAME);
    else if (*rest && *rest != ';' && *rest != '#')
        refuse(r, "[%s] is followed by '%s': keys begin on the next line", s.name,
               excerpt(rest).text);
    else if (first >= 0)
        refuse(r, "[%s] given twice, first in line %d", s.name, r->file->sections[first].line);

    if (*s.name == 0 || first >= 0) {
        ini_section_free(&s);
        r->section = -1;
    } else {
        r->section = append_section(r->file, s);
    }
    return r->report->errors == before;
}

/* Keys that follow belong to a section of which nothing is kept. */
static void pass_over_section(reader *r)
{
    r->in_section = true;
    r->section = -1;
}

static bool check_key(reader *r, const char *begin, const char *end)
{
    char *key = copy_trimmed(begin, end);
    const bool fits = strlen(key) <= LONGEST_NAME;
    if (!fits)
        refuse(r, "key '%s' is %zu bytes long: the limit for keys is %d", excerpt(key).text,
               strlen(key), LONGEST_NAME);
    free(key);
    return fits;
}

/* May inih see this line? Says why not. */
static bool check_line(reader *r, const char *line)
{
    const char *first = skip_blanks(line);
    if (*first == 0 || *first == ';' || *first == '#') return false; /* nothing in it */
    if (first > line) {
        refuse(r, "this line is indented: keys and sections must begin in the first column, "
                  "and a list of numbers must be on one line");
        if (*first == '[') pass_over_section(r);
        return false;
    }
    if (*first == '[') return open_section(r, first);

    const char *equal = find_or_comment(first, "=:");
    if (*equal != '=' && *equal != ':')
        refuse(r, "'%s' is neither 'key = value' nor '[section]' nor a comment",
               excerpt(line).text);
    else if (equal == first)
        refuse(r, "there is no key in front of '%c'", *equal);
    else if (!r->in_section)
        refuse(r, "this key is not in a section: a line such as [run] must come first");
    else
        return check_key(r, first, equal);
    return false;
}

/* Gives a checked line to inih, in its buffer of `size` bytes, with the newline that fgets would
 * leave there: to some versions of inih (59, say) a full buffer without one is a line that goes on. */
static void hand_over(reader *r, const char *line, char *buffer, size_t size)
{
    if (strlen(line) + 1 < size) {
        snprintf(buffer, size, "%s\n", line);
    } else if (*line != '[') { /* the name of a section is known already */
        const char *equal = find_or_comment(line, "=:");
        char *key = copy_trimmed(line, equal);
        snprintf(buffer, size, "%s=\n", key);
        free(key);
        r->value = copy_trimmed(equal + 1, find_or_comment(equal + 1, ""));
    }
}

/* The reader that inih calls: the next line without its end, empty where it is refused. */
static char *next_line(char *buffer, int size, void *stream)
{
    reader *r = stream;
    free(r->value);
    r->value = NULL;
    if (r->next >= r->end) return NULL;
    const char *begin = r->next, *end = memchr(begin, '\n', (size_t)(r->end - begin));
    r->next = end ? end + 1 : r->end;
    r->line++;
    if (!end) end = r->end;
    if (end > begin && end[-1] == '\r') end--;

    size_t length = (size_t)(end - begin);
    uint32_t code = 0;
    const char *fault = character_fault(begin, length, &code);
    buffer[0] = 0;
    /* Until it is opened, so that its keys are not taken for those of the section above. */
    if (begin < end && *begin == '[') pass_over_section(r);
    if (fault) {
        refuse(r, "character 0x%02x %s", code, fault);
    } else {
        char *line = checked(strndup(begin, length));
        if (check_line(r, line)) hand_over(r, line, buffer, (size_t)size);
        free(line);
    }
    return buffer;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static void append_entry(ini_section *s, const char *key, const char *value, char *origin, int line)
{
    s->entries = checked(realloc(s->entries, ((size_t)s->count + 1) * sizeof *s->entries));
    s->entries[s->count++] = (ini_entry){.key = checked(strdup(key)),
                                         .value = checked(strdup(value)),
                                         .origin = origin,
                                         .line = line};
}

/* The handler that inih calls. The section's name comes from the reader. */
static int keep_entry(void *user, const char *name, const char *key, const char *value)
{
    reader *r = user;
    (void)name;
    if (!key || r->section < 0) return 1; /* inih may be built to tell of sections alone */
    if (r->value) value = r->value;
    ini_section *s = &r->file->sections[r->section];
    const ini_entry *first = ini_get(s, key);
    char *origin = NULL;
    if (first) {
        refuse(r, "[%s] key '%s' given twice, first in line %d", s->name, key, first->line);
    } else if (*value == ';') {
        refuse(r, "[%s] the value of '%s' begins with ';': a comment needs a blank before it",
               s->name, key);
    } else {
        if (asprintf(&origin, "%s:%d", r->file->path, r->line) < 0) checked(NULL);
        append_entry(s, key, value, origin, r->line);
    }
    return 1;
}

/* ---- Archived -------------------------------------------------------------------------------- */

/* The end of a line. No comment for an origin that a line cannot hold. */
static void write_origin(FILE *f, const char *origin)
{
    uint32_t code;
    const bool plain = !character_fault(origin, strlen(origin), &code);
    fprintf(f, "%s%s\n", plain ? " ; " : "", plain ? origin : "");
}

/* A value, or the files that it names as they are seen from the folder of an archive. */
static void write_entry(FILE *f, const ini_entry *entry, const char *folder)
{
    fprintf(f, "%s=", entry->key);
    if (!folder || !entry->file) {
        fputs(entry->value, f);
    } else {
        char *copy = checked(strdup(entry->file)), *rest = copy, *path;
        const char *between = "";
        while ((path = strsep(&rest, "\n"))) {
            char *beside = path_beside(folder, path);
            const char *quote = strchr(beside, ' ') && !strchr(beside, '"') ? "\"" : "";
            fprintf(f, "%s%s%s%s", between, quote, beside, quote);
            free(beside);
            between = "\t";
        }
        free(copy);
    }
    write_origin(f, entry->origin);
}

void ini_write(FILE *f, const ini_file *file, const char *archive)
{
    char *folder = archive ? path_folder(archive) : NULL;
    for (int i = 0; i < file->count; i++) {
        const ini_section *s = &file->sections[i];
        char *origin = checked(strdup("--set"));
        if (s->line) {
            free(origin);
            if (asprintf(&origin, "%s:%d", file->path, s->line) < 0) checked(NULL);
        }
        fprintf(f, "%s[%s]", i ? "\n" : "", s->name);
        write_origin(f, origin);
        free(origin);
        for (int k = 0; k < s->count; k++) write_entry(f, &s->entries[k], folder);
    }
    free(folder);
}

/* The number of the line that an origin names; 0 for --set. The file goes into *path once. */
static int line_of_origin(const char *origin, char **path)
{
    const char *colon = strrchr(origin, ':');
    if (!colon) return 0;
    if (!*path) *path = checked(strndup(origin, (size_t)(colon - origin)));
    return atoi(colon + 1);
}

/* Lines of the text follow one another as sections and keys do. */
static void take_origins(ini_file *file, const char *text)
{
    char *copy = checked(strdup(text)), *rest = copy, *line, *path = NULL;
    int section = -1, key = 0;
    while ((line = strsep(&rest, "\n"))) {
        const char *comment = find_or_comment(line, ""),
                   *origin = skip_blanks(comment + (*comment != 0));
        const bool is_section = *line == '[';
        if (is_section) section++, key = 0;
        if (!*line || section < 0 || section >= file->count) continue;
        ini_section *s = &file->sections[section];
        ini_entry *entry = !is_section && key < s->count ? &s->entries[key++] : NULL;
        if (!*origin) continue;
        if (is_section) s->line = line_of_origin(origin, &path);
        if (!entry) continue;
        free(entry->origin);
        entry->origin = checked(strdup(origin));
        entry->line = line_of_origin(origin, &path);
    }
    free(copy);
    if (!path) return;
    free(file->path);
    file->path = path;
}

int ini_read_archived(const char *archive, const char *text, ini_file *out, report *r)
{
    int code = ini_read_text(archive, text, out, r); /* hence with the folder of the archive */
    out->archive = checked(strdup(archive));
    for (int i = 0; i < out->count; i++) out->sections[i].archived = true;
    if (!code) take_origins(out, text);
    return code;
}

/* ---- --set ----------------------------------------------------------------------------------- */

/* The section that a name means: -1 if there is none; -2 if that of the kind alone is not enough, as *last shows. */
static int section_meant(const ini_file *file, const ini_section *wanted, int *same_kind, int *last)
{
    const int found = find_same(file, wanted->kind, wanted->label);
    *same_kind = 0;
    *last = -1;
    for (int i = 0; i < file->count; i++) {
        if (strcmp(file->sections[i].kind, wanted->kind) != 0) continue;
        ++*same_kind;
        *last = i;
    }
    if (found >= 0 || *wanted->label) return found;
    return *same_kind > 1 ? -2 : *last;
}

ini_entry *ini_at(const ini_file *file, const char *name)
{
    int same_kind, last;
    const char *dot = strrchr(name, '.');
    if (!dot) return NULL;
    ini_section wanted = make_section(name, dot, 0);
    const int found = section_meant(file, &wanted, &same_kind, &last);
    ini_section_free(&wanted);
    if (found < 0) return NULL;
    const ini_section *s = &file->sections[found];
    const char *now = former_key_now(s, dot + 1);
    return ini_get(s, now ? now : dot + 1);
}

/* The section an assignment means, made if there is none; below 0 after an error. */
static int target_section(ini_file *file, const char *begin, const char *end, report *r)
{
    ini_section wanted = make_section(begin, end, 0);
    int same_kind, last, found = section_meant(file, &wanted, &same_kind, &last);
    uint32_t code;
    if (found == -2) {
        report_error(r, EXIT_USAGE, "--set", 0,
                     "there are %d [%s ...] sections: name one, as in "
                     "\"%s.KEY=VALUE\"",
                     same_kind, wanted.kind, file->sections[last].name);
    } else if (found < 0 && (strlen(wanted.name) > LONGEST_NAME || strpbrk(wanted.name, "[];") ||
                             character_fault(wanted.name, strlen(wanted.name), &code))) {
        report_error(r, EXIT_USAGE, "--set", 0, "'%s' cannot be the name of a section",
                     wanted.name);
    } else if (found < 0) {
        return append_section(file, wanted);
    }
    ini_section_free(&wanted);
    return found;
}

/* Key and value must also do as a line of a file: a resumed run reads them from one. */
static const char *assignment_fault(const char *key, const char *value)
{
    uint32_t code;
    if (character_fault(value, strlen(value), &code) || character_fault(key, strlen(key), &code))
        return "it has characters that are not text";
    if (*key == 0 || strpbrk(key, "=:;#[")) return "the key is missing, or is none";
    if (*value == ';' || *find_or_comment(value, "")) return "';' would begin a comment";
    if (strlen(key) > LONGEST_NAME) return "the key is longer than 49 bytes";
    return NULL;
}

static char *origin_of(const ini_file *file, int line)
{
    char *origin;
    if ((line ? asprintf(&origin, "%s:%d", file->path, line) : asprintf(&origin, "--set")) < 0)
        checked(NULL);
    return origin;
}

static int set_entry(ini_file *file, const char *section, const char *dot, const char *key,
                     const char *value, int line, report *r)
{
    const char *fault = assignment_fault(key, value);
    if (fault)
        return report_error(r, EXIT_USAGE, "--set", 0, "'%s=%s': %s", excerpt(key).text,
                            excerpt(value).text, fault);
    int index = target_section(file, section, dot, r);
    if (index < 0) return EXIT_USAGE;
    ini_section *s = &file->sections[index];
    const char *now = former_key_now(s, key);
    ini_entry *entry = ini_get(s, now ? now : key);
    if (!s->line) s->line = line;
    if (!entry) {
        append_entry(s, now ? now : key, value, origin_of(file, line), line);
        entry = &s->entries[s->count - 1];
        if (now) entry->before = checked(strdup(key));
        entry->here = !line;
        entry->assigned = true;
        return 0;
    }
    free(entry->value);
    free(entry->origin);
    free(entry->before);
    entry->before = now ? checked(strdup(key)) : NULL;
    entry->value = checked(strdup(value));
    entry->origin = origin_of(file, line);
    entry->line = line;
    entry->here = !line;
    entry->assigned = true;
    return 0;
}

int ini_set(ini_file *file, const char *assignment, report *r)
{
    return ini_set_at(file, assignment, 0, r);
}

int ini_set_at(ini_file *file, const char *assignment, int line, report *r)
{
    /* Labels may have dots (paths), keys have none: the last one before '=' counts. */
    const char *equal = strchr(assignment, '=');
    const char *dot = equal ? memrchr(assignment, '.', (size_t)(equal - assignment)) : NULL;
    const char *begin = skip_blanks(assignment);
    if (!equal || !dot || begin >= dot)
        return report_error(r, EXIT_USAGE, "--set", 0,
                            "'%s' must read SECTION.KEY=VALUE, as in run.sweeps=1000", assignment);
    char *key = copy_trimmed(dot + 1, equal);
    char *value = copy_trimmed(equal + 1, equal + strlen(equal));
    int code = set_entry(file, begin, dot, key, value, line, r);
    free(key);
    free(value);
    return code;
}
