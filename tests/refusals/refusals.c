/* refusals [--each-must-fail] TABLE...: what plugmc says of INI files that it refuses, or that it takes with a warning.
 *
 * A table is a text file. A line that begins with # is a comment, and blank lines end what stands before them:
 *
 *   base NAME            the INI file that the rows below it start from. Its lines follow, indented by four blanks.
 *   base NAME of OTHER   the same as OTHER but for the change that follows
 *   base NAME = PATH     a file of examples or of tests/data
 *
 *   @ LINE               one row: the first line of the base, from here on, that reads LINE
 *   - LINE               this line of it is taken out,
 *   / LINE               this one and all behind it
 *   + LINE               and this one put in there; at the end, where no line with @ or - stands before it
 *   in FILE              what follows changes another file, which the INI names; it is empty
 *   in FILE = PATH       ... or a copy of that one
 *   --set KEY=VALUE      as on the command line
 *   3 SENTENCE           the exit code, and what is said: all of it, line by line. 0 with a sentence is a warning, 0
 *                        alone a file that is taken without a word.
 *
 * A row may begin with "of NAME" where it starts from another base than the last. In a sentence ... between braces, {...},
 * stands for anything. $NAME is a variable of the environment.
 *
 * Rows go through libplugmc, up to the first sweep, one after the other in this process: a millisecond each. Files that lie
 * there must be as they were. With --each-must-fail every row has to be wrong: so it is known that wrong ones are seen. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <plugmc/engine.h>

enum { MOST_LINES = 4000, MOST_BASES = 60, MOST_FILES = 8 };

/* What an earlier run has written, which no refusal may harm. */
static const char former[] = "what an earlier run has written\n";

typedef struct lines {
    char *line[MOST_LINES];
    int count;
} lines;

typedef struct base {
    const char *name;
    lines text;
} base;

/* A file that a row changes. */
typedef struct changed {
    const char *name;
    lines text;
    int place; /* where the next line is put in; -1: at the end */
} changed;

typedef struct row {
    const char *table;
    int number;               /* its first line there */
    changed file[MOST_FILES]; /* sim.ini, and those that it names */
    int files, at;            /* of which the next change is one */
    lines sets;
    int code; /* -1: none was given */
    lines sentences;
    char fault[4000]; /* "": none */
} row;

static base bases[MOST_BASES];
static int base_count;

static void stop(const char *table, int number, const char *what, const char *line)
{
    fprintf(stderr, "%s:%d: %s: %s\n", table, number, what, line);
    exit(1);
}

static char *copy_of(const char *text)
{
    char *copy = strdup(text);
    if (!copy) exit(1);
    return copy;
}

static void add(lines *l, int at, char *line)
{
    if (l->count == MOST_LINES) exit(1);
    memmove(l->line + at + 1, l->line + at, (size_t)(l->count - at) * sizeof *l->line);
    l->line[at] = line;
    l->count++;
}

static void append(lines *l, char *line) { add(l, l->count, line); }

static const base *base_of(const char *name)
{
    for (int k = base_count; k-- > 0;)
        if (strcmp(bases[k].name, name) == 0) return &bases[k];
    return NULL;
}

/* With the variables of the environment in it; malloc'ed. */
static char *with_variables(const char *line)
{
    char text[20000], name[64];
    size_t n = 0;
    while (*line && n < sizeof text - 1) {
        const size_t letters = *line == '$' ? strspn(line + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") : 0;
        if (letters && letters < sizeof name) {
            snprintf(name, sizeof name, "%.*s", (int)letters, line + 1);
            const char *value = getenv(name);
            if (!value) fprintf(stderr, "%s is not set\n", name), exit(1);
            n += (size_t)snprintf(text + n, sizeof text - n, "%s", value);
            line += letters + 1;
        } else {
            text[n++] = *line++;
        }
    }
    if (*line) fprintf(stderr, "a line is too long: %.80s...\n", text), exit(1);
    text[n] = '\0';
    return copy_of(text);
}

/* ---- Reading a table -------------------------------------------------------------------------- */

static changed *file_of(row *r, const char *name)
{
    for (r->at = 0; r->at < r->files; r->at++)
        if (strcmp(r->file[r->at].name, name) == 0) return &r->file[r->at];
    if (r->files == MOST_FILES) exit(1);
    r->file[r->files] = (changed){.name = copy_of(name), .place = -1};
    return &r->file[r->files++];
}

/* What is done with a line: '@', '-' or '/'. */
static void find_line(row *r, const char *line, char what)
{
    changed *c = &r->file[r->at];
    lines *l = &c->text;
    int k = c->place < 0 ? 0 : c->place;
    while (k < l->count && strcmp(l->line[k], line) != 0) k++;
    if (k == l->count) {
        snprintf(r->fault, sizeof r->fault, "no line of %s, from there on, reads: %s", c->name,
                 line);
        return;
    }
    c->place = what == '@' ? k + 1 : k;
    if (what == '/') l->count = k;
    if (what != '-') return;
    l->count--;
    memmove(l->line + k, l->line + k + 1, (size_t)(l->count - k) * sizeof *l->line);
}

static void put_line(changed *c, char *line)
{
    if (c->place < 0)
        append(&c->text, line);
    else
        add(&c->text, c->place++, line);
}

/* A line of a change. Whether it was one. */
static bool change(row *r, char *line)
{
    char *text = line[0] && line[1] ? line + 2 : line + strlen(line);
    if (*line == '@' || *line == '-' || *line == '/')
        find_line(r, text, *line);
    else if (*line == '+')
        put_line(&r->file[r->at], text);
    else
        return false;
    return true;
}

static void read_file(lines *l, const char *table, int number, const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "r");
    if (!f) stop(table, number, "this file cannot be read", path);
    for (ssize_t n; (n = getline(&text, &room, f)) >= 0;) {
        if (n && text[n - 1] == '\n') text[n - 1] = '\0';
        append(l, copy_of(text));
    }
    free(text);
    fclose(f);
}

/* "in FILE" or "in FILE = PATH", of which it is a copy. */
static void turn_to(row *r, const char *table, int number, char *line)
{
    char *path = strstr(line, " = ");
    if (path) *path = '\0';
    changed *c = file_of(r, line + strlen("in "));
    if (path) read_file(&c->text, table, number, path + strlen(" = "));
}

static void expect(row *r, const char *table, int number, char *line)
{
    char *sentence;
    const long code = strtol(line, &sentence, 10);
    if (r->code >= 0 && r->code != code) stop(table, number, "another code in one row", line);
    r->code = (int)code;
    if (*sentence == ' ') append(&r->sentences, sentence + 1);
}

static void read_line(row *r, const char *table, int number, char *line)
{
    if (strncmp(line, "--set ", 6) == 0)
        append(&r->sets, line + 6);
    else if (strncmp(line, "in ", 3) == 0)
        turn_to(r, table, number, line);
    else if (*line >= '0' && *line <= '9')
        expect(r, table, number, line);
    else if (!change(r, line))
        stop(table, number, "this is no line of a row", line);
}

static const lines *text_of(const char *table, int number, const char *name)
{
    const base *b = base_of(name);
    if (!b) stop(table, number, "there is no such base", name);
    return &b->text;
}

/* "base NAME", "base NAME of OTHER" or "base NAME = PATH", and the lines that follow. */
static void read_base(const char *table, int number, lines *block)
{
    static row r;
    r = (row){.files = 0};
    changed *ini = file_of(&r, "sim.ini");
    char *name = block->line[0] + strlen("base ");
    char *of = strstr(name, " of "), *path = strstr(name, " = ");
    if (of) *of = '\0', ini->text = *text_of(table, number, of + strlen(" of "));
    if (path) *path = '\0', read_file(&ini->text, table, number, path + strlen(" = "));
    r.at = 0;
    for (int k = 1; k < block->count; k++) {
        char *line = block->line[k];
        if (of ? !change(&r, line) : strncmp(line, "    ", 4) != 0)
            stop(table, number + k, "this is no line of a base", line);
        if (!of) append(&ini->text, line + 4);
    }
    if (*r.fault) stop(table, number, r.fault, name);
    if (base_count == MOST_BASES) exit(1);
    bases[base_count++] = (base){.name = name, .text = ini->text};
}

static void read_row(row *r, const char *table, int number, lines *block)
{
    int k = 0;
    *r = (row){.table = table, .number = number, .code = -1};
    changed *ini = file_of(r, "sim.ini");
    r->at = 0;
    if (strncmp(block->line[0], "of ", 3) == 0)
        ini->text = *text_of(table, number, block->line[k++] + 3);
    else if (base_count)
        ini->text = bases[base_count - 1].text;
    for (; k < block->count; k++) read_line(r, table, number + k, block->line[k]);
    if (r->code < 0) stop(table, number, "a row without an exit code", block->line[0]);
}

/* ---- Files ------------------------------------------------------------------------------------ */

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    if (!f || fputs(text, f) < 0 || fclose(f)) perror(name), exit(1);
}

static char *joined(const lines *l)
{
    size_t n = 1;
    for (int k = 0; k < l->count; k++) n += strlen(l->line[k]) + 1;
    char *text = malloc(n), *end = text;
    if (!text) exit(1);
    *end = '\0';
    for (int k = 0; k < l->count; k++) end += sprintf(end, "%s\n", l->line[k]);
    return text;
}

static bool is_of_row(const row *r, const char *name)
{
    for (int k = 1; k < r->files; k++)
        if (strcmp(r->file[k].name, name) == 0) return true;
    return false;
}

static bool has_text(const char *name, const char *text)
{
    char found[sizeof former + 1];
    FILE *f = fopen(name, "r");
    const size_t n = f ? fread(found, 1, sizeof found, f) : 0;
    if (f) fclose(f);
    return n == strlen(text) && memcmp(found, text, n) == 0;
}

/* That nothing is there but what was, and removes what the row has brought. */
static void clear_folder(row *r)
{
    DIR *d = opendir(".");
    if (!d) exit(1);
    if (!has_text("sim.h5", former)) snprintf(r->fault, sizeof r->fault, "sim.h5 has changed");
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.' || strcmp(e->d_name, "sim.h5") == 0) continue;
        if (!is_of_row(r, e->d_name))
            snprintf(r->fault, sizeof r->fault, "this file is new: %s", e->d_name);
        unlink(e->d_name);
    }
    closedir(d);
}

/* ---- Comparing -------------------------------------------------------------------------------- */

/* Whether the text is the sentence, in which {...} is anything. */
static bool matches(const char *sentence, const char *text)
{
    const char *any = strstr(sentence, "{...}");
    if (!any) return strcmp(sentence, text) == 0;
    const size_t n = (size_t)(any - sentence);
    if (strncmp(sentence, text, n) != 0) return false;
    for (text += n;; text++) {
        if (matches(any + 5, text)) return true;
        if (!*text) return false;
    }
}

static void blame(row *r, const char *what, const char *sentence)
{
    const size_t n = strlen(r->fault);
    snprintf(r->fault + n, sizeof r->fault - n, "%s%s: %s", n ? "\n    " : "", what, sentence);
}

/* Warnings and errors of the last call against the sentences of the row, in their order. */
static void compare(row *r, const plugmc_engine *e, int code)
{
    int expected = 0, kind;
    const char *said;
    if (code != r->code) {
        char codes[80];
        snprintf(codes, sizeof codes, "%d, not %d", code, r->code);
        blame(r, "the exit code is", codes);
    }
    for (int k = 0; (said = plugmc_engine_message(e, k, &kind)); k++) {
        if (kind == PLUGMC_ENGINE_NOTE) continue;
        if (expected < r->sentences.count && matches(r->sentences.line[expected], said))
            expected++;
        else
            blame(r, "said was", said);
    }
    for (; expected < r->sentences.count; expected++)
        blame(r, "not said was", r->sentences.line[expected]);
}

static void try_row(row *r)
{
    plugmc_engine *e = plugmc_engine_new();
    if (!e) exit(1);
    write_file("sim.h5", former);
    for (int k = 1; k < r->files; k++) {
        char *text = joined(&r->file[k].text);
        write_file(r->file[k].name, text);
        free(text);
    }
    int code = 0;
    for (int k = 0; k < r->sets.count && !code; k++) code = plugmc_engine_set(e, r->sets.line[k]);
    char *text = joined(&r->file[0].text);
    if (!code) code = plugmc_engine_open_text(e, "sim.ini", text);
    compare(r, e, code);
    plugmc_engine_close(e);
    free(text);
    clear_folder(r);
}

/* ---- All of a table --------------------------------------------------------------------------- */

static bool each_must_fail;

/* Whether the row is as it has to be. */
static bool is_right(row *r, const lines *block)
{
    if (!*r->fault) try_row(r);
    if (each_must_fail == (*r->fault != '\0')) return true;
    printf("%s:%d: %s\n", r->table, r->number,
           *r->fault ? "FAILED" : "this row is right, and should not be");
    for (int k = 0; k < block->count; k++) printf("    %s\n", block->line[k]);
    if (*r->fault) printf("  but\n    %s\n", r->fault);
    return false;
}

/* The next lines up to a blank one, without comments; the number of the first of them. 0: the end. */
static int next_block(FILE *f, lines *block, int *number)
{
    char *line = NULL;
    size_t room = 0;
    int first = 0;
    block->count = 0;
    for (ssize_t n; (n = getline(&line, &room, f)) >= 0;) {
        ++*number;
        if (n && line[n - 1] == '\n') line[n - 1] = '\0';
        if (!*line && block->count) break;
        if (!*line || *line == '#') continue;
        if (!block->count) first = *number;
        append(block, with_variables(line));
    }
    free(line);
    return block->count ? first : 0;
}

static int try_table(const char *path)
{
    const char *slash = strrchr(path, '/'), *table = slash ? slash + 1 : path;
    FILE *f = fopen(path, "r");
    if (!f) perror(path), exit(1);
    static lines block;
    static row r;
    int rows = 0, wrong = 0, number = 0, first;
    struct timespec begun, ended;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    while ((first = next_block(f, &block, &number))) {
        if (strncmp(block.line[0], "base ", 5) == 0) {
            read_base(table, first, &block);
            continue;
        }
        read_row(&r, table, first, &block);
        rows++;
        wrong += !is_right(&r, &block);
    }
    fclose(f);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%s: %d rows, %d of them wrong, %.2f s\n", table, rows, wrong,
           (double)(ended.tv_sec - begun.tv_sec) + 1e-9 * (double)(ended.tv_nsec - begun.tv_nsec));
    return rows ? wrong : 1;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/refusals.XXXXXX";
    char *paths[100];
    int tables = 0, wrong = 0;
    for (int k = 1; k < argc && tables < 100; k++) {
        if (strcmp(argv[k], "--each-must-fail") == 0)
            each_must_fail = true;
        else if (!(paths[tables++] = realpath(argv[k], NULL)))
            perror(argv[k]), exit(1);
    }
    if (!tables || !mkdtemp(folder) || chdir(folder)) return 1;
    for (int k = 0; k < tables; k++) {
        base_count = 0;
        wrong += try_table(paths[k]);
        free(paths[k]);
    }
    unlink("sim.h5");
    if (chdir("/") || rmdir(folder)) perror(folder);
    return wrong > 0;
}
