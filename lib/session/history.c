/* What makes a run, as lines of text. See history.h.
 *
 *     plugmc: VERSION, commit COMMIT
 *     plugin: KIND NAME HASH
 *     file: [SECTION] KEY SHA256 PATH
 *
 * are what a resumed run is compared by; the others are for people. */
#include "session/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/regular_file.h"
#include "plugin/descriptor.h"

/* ---- Files that plugins read ---------------------------------------------------------------- */

enum { HEX = 65 };

static bool hash_content(const char *path, char hex[HEX])
{
    enum { PIECE = 1 << 20 };
    sha256 state;
    uint8_t digest[32], *piece = checked(malloc(PIECE));
    const char *why;
    const int fd = open_regular(path, &why); /* a pipe would wait, a device never end */
    FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
    size_t n;
    sha256_start(&state);
    while (f && (n = fread(piece, 1, PIECE, f)) > 0) sha256_add(&state, piece, n);
    bool good = f && !ferror(f);
    sha256_finish(&state, digest);
    for (int i = 0; i < 32; i++) sprintf(hex + 2 * i, "%02x", digest[i]);
    if (f) fclose(f);
    if (!f && fd >= 0) close(fd);
    free(piece);
    return good;
}

/* A study asks for the same files again and again, which may be large ones of orbitals. */
static bool hash_file(const char *path, char hex[HEX])
{
    enum { KNOWN = 16 };
    static struct {
        struct stat of;
        char hex[HEX];
    } known[KNOWN];
    static int next;
    struct stat now;
    if (stat(path, &now)) return hash_content(path, hex);
    for (int i = 0; i < KNOWN; i++) {
        const struct stat *of = &known[i].of;
        if (*known[i].hex && of->st_dev == now.st_dev && of->st_ino == now.st_ino &&
            of->st_size == now.st_size && of->st_ctim.tv_sec == now.st_ctim.tv_sec &&
            of->st_ctim.tv_nsec == now.st_ctim.tv_nsec)
            return strcpy(hex, known[i].hex);
    }
    if (!hash_content(path, hex)) return false;
    known[next].of = now;
    strcpy(known[next].hex, hex);
    next = (next + 1) % KNOWN;
    return true;
}

/* One that cannot be read is for the plugin to complain about. */
static void describe_file(FILE *out, const char *section, const char *key, const char *path)
{
    char hex[HEX];
    fprintf(out, "file: [%s] %s %s %s\n", section, key, hash_file(path, hex) ? hex : "unreadable",
            path);
}

static void describe_files(FILE *out, const instance *instance)
{
    for (int i = 0; i < instance->plugin->parameter_count; i++) {
        const plugmc_parameter *p = &instance->plugin->parameters[i];
        if (p->type != PLUGMC_TYPE_FILE || p->derived) continue;
        const char *names = *(const char *const *)((const char *)instance->data + p->offset);
        char *copy = checked(strdup(names ? names : "")), *rest = copy, *path;
        while ((path = strsep(&rest, "\n")))
            if (*path) describe_file(out, instance->section->section->name, p->name, path);
        free(copy);
    }
}

/* ---- Description ---------------------------------------------------------------------------- */

static void describe_chain(FILE *out, const session *session)
{
    fprintf(out, "plugmc: %s, commit " PLUGMC_COMMIT "\n", PLUGMC_VERSION);
    for (int i = 0; i < session->engine.instance_count; i++)
        fprintf(out, "plugin: %s %s %s\n",
                plugin_kind_name(session->engine.instances[i].plugin->kind),
                session->engine.instances[i].loaded.name, session->engine.instances[i].loaded.hash);
    for (int i = 0; i < session->engine.instance_count; i++)
        describe_files(out, &session->engine.instances[i]);
}

/* "model name" of x86-64; other processors have no such line. */
static void describe_processor(FILE *out)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", strlen("model name")) || !colon) continue;
        line[strcspn(line, "\n")] = 0;
        fprintf(out, "processor:%s\n", colon + 1);
        break;
    }
    if (f) fclose(f);
}

/* Papers of what is used, for the page that reports on the run. */
static void describe_references(FILE *out, const session *session)
{
    for (int i = 0; i < session->engine.instance_count; i++) {
        const char *text = session->engine.instances[i].plugin->reference;
        if (!text || !*text) continue;
        fprintf(out, "reference: %s: ", session->engine.instances[i].loaded.name);
        for (; *text; text++) fputc(*text == '\n' ? ' ' : *text, out);
        fputc('\n', out);
    }
}

static void describe_machine(FILE *out, const session *session)
{
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    struct utsname machine;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    fprintf(out, "from sweep: %llu\nbegun: %s\n", (unsigned long long)session->resumed_at, date);
    if (session->command) fprintf(out, "command: %s\n", session->command);
    fprintf(out, "compiler: %s\n", __VERSION__);
    if (uname(&machine) == 0)
        fprintf(out, "host: %s\nmachine: %s %s %s\n", machine.nodename, machine.sysname,
                machine.release, machine.machine);
    describe_processor(out);
    fprintf(out, "threads: %d\n", session->engine.system.threads);
    if (session->engine.device.gpu) {
        fputs("gpu: ", out);
        gpu_describe(out, session->engine.device.gpu);
    } else {
        fprintf(out, "gpu: none (%s)\n", session->engine.device.why_no_gpu);
    }
}

char *history_describe(const session *session)
{
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    describe_chain(out, session);
    describe_references(out, session);
    describe_machine(out, session);
    fclose(out);
    return checked(text);
}

char *history_append(const char *before, const char *entry)
{
    char *all;
    if (asprintf(&all, "%s%s%s", before ? before : "", before ? "\n" : "", entry) < 0)
        checked(NULL);
    return all;
}

/* ---- Comparison ----------------------------------------------------------------------------- */

/* Line number `index` of those that begin with `key`, without it, in the last entry; malloc'ed,
 * NULL if there are not as many. */
static char *line_of(const char *text, const char *key, int index)
{
    const char *entry = text, *end;
    while ((end = strstr(entry, "\n\n"))) entry = end + 2;
    size_t length = strlen(key);
    for (const char *line = entry; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        if (strncmp(line, key, length) || index--) continue;
        return checked(strndup(line + length, strcspn(line + length, "\n")));
    }
    return NULL;
}

/* Word number `index` of a line, as a piece of it: where, and how long. */
static const char *word_of(const char *line, int index, int *length)
{
    for (;; index--) {
        line += strspn(line, " ");
        *length = (int)strcspn(line, " ");
        if (!index || !*line) return line;
        line += *length;
    }
}

/* Of a line, what must be the same, and what messages call it. */
typedef struct identity_line {
    const char *hash, *name;
    int hash_length, name_length;
} identity_line;

/* "KIND NAME HASH": a name may have blanks. */
static identity_line read_plugin(const char *line)
{
    const char *blank = strrchr(line, ' '), *hash = blank ? blank + 1 : line;
    return (identity_line){hash, line, (int)strlen(hash), (int)(hash - line) - (blank != NULL)};
}

/* "[SECTION] KEY SHA256 PATH" */
static identity_line read_file(const char *line)
{
    const char *close = strchr(line, ']'), *rest = close ? close + 1 : line;
    identity_line out = {.name = line};
    int length;
    out.hash = word_of(rest, 1, &out.hash_length);
    const char *key = word_of(rest, 0, &length);
    out.name_length = (int)(key - line) + length;
    return out;
}

static identity_line read_version(const char *line)
{
    return (identity_line){line, "", (int)strlen(line), 0};
}

static bool is_same(const identity_line *a, const identity_line *b)
{
    return a->hash_length == b->hash_length && !strncmp(a->hash, b->hash, (size_t)a->hash_length);
}

char *history_parts(const session *session, bool start)
{
    const char *file = session->engine.config.initial.file;
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    describe_chain(out, session);
    if (start && file && *file) describe_file(out, "initial", "file", file);
    fclose(out);
    return checked(text);
}

/* The hash of a line, malloc'ed; NULL: there is no such line. */
static char *hash_of(const char *line, const identity_line *read)
{
    return line ? checked(strndup(read->hash, (size_t)read->hash_length)) : NULL;
}

void history_differences(const char *before, const char *now, history_differs *tell, void *argument)
{
    static const struct {
        const char *key, *word;
        identity_line (*read)(const char *line);
    } kinds[] = {{"plugmc: ", "plugmc", read_version},
                 {"plugin: ", "plugin ", read_plugin},
                 {"file: ", "file of ", read_file}};
    char what[512];
    for (int k = 0; k < PLUGMC_COUNT(kinds); k++) {
        for (int i = 0;; i++) {
            char *old = line_of(before, kinds[k].key, i), *new = line_of(now, kinds[k].key, i);
            const identity_line was = kinds[k].read(old ? old : ""),
                                is = kinds[k].read(new ? new : "");
            const identity_line *named = new ? &is : &was;
            const bool none = !old && !new,
                       differs = !none && (!old || !new || !is_same(&was, &is));
            char *was_hash = hash_of(old, &was), *is_hash = hash_of(new, &is);
            snprintf(what, sizeof what, "%s%.*s", kinds[k].word, named->name_length, named->name);
            if (differs) tell(argument, what, was_hash, is_hash);
            free(was_hash), free(is_hash), free(old), free(new);
            if (none) break;
        }
    }
}

/* Of a resumed run. */
typedef struct resumption {
    const session *session;
    const char *path;
    bool accept;
    int code;
} resumption;

static void complain(void *argument, const char *what, const char *was, const char *is)
{
    resumption *r = argument;
    char words[700];
    int code = 0;
    snprintf(words, sizeof words, "%s has changed (%s, was %s)", what, is ? is : "none",
             was ? was : "unknown");
    if (r->accept)
        report_warning(r->session->engine.report, r->path, 0,
                       "%s; the run goes on with what is there now", words);
    else
        code =
            report_error(r->session->engine.report, EXIT_CHECKPOINT, NULL, 0,
                         "cannot resume from %s: %s; --accept-changed-plugins goes on all the same",
                         r->path, words);
    if (!r->code) r->code = code;
}

int history_compare(const session *session, const char *path, const char *before, bool accept)
{
    resumption r = {session, path, accept, 0};
    char *now = history_parts(session, false);
    history_differences(before, now, complain, &r);
    free(now);
    return r.code;
}

static void complain_of_file(void *argument, const char *what, const char *was, const char *is)
{
    resumption *r = argument;
    if (strncmp(what, "file ", 5)) return;
    const int code = report_error(
        r->session->engine.report, EXIT_CHECKPOINT, NULL, 0,
        "%s is finished, and %s has changed since (%s, was %s): another [run] output begins another "
        "run; --accept-changed-plugins shows what was found with the former one",
        r->path, what, is ? is : "none", was ? was : "unknown");
    if (!r->code) r->code = code;
}

int history_compare_files(const session *session, const char *path, const char *before)
{
    resumption r = {session, path, false, 0};
    char *now = history_parts(session, false);
    history_differences(before, now, complain_of_file, &r);
    free(now);
    return r.code;
}
