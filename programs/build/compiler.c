/* See compiler.h. Flags come from cmake/PlugmcPlugins.cmake, as those of CMake and pkg-config do. */
#include "compiler.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "advice.h"
#include "base/own_folder.h"
#include "base/paths.h"

extern char **environ;

/* The words of a command. */
typedef struct words {
    char **list; /* [count], and NULL */
    int count;
} words;

static void add(words *w, const char *word)
{
    w->list = checked(realloc(w->list, ((size_t)w->count + 2) * sizeof *w->list));
    w->list[w->count++] = checked(strdup(word));
    w->list[w->count] = NULL;
}

__attribute__((format(printf, 2, 0))) static void add_format(words *w, const char *format,
                                                             const char *value)
{
    char *word;
    if (asprintf(&word, format, value) < 0) checked(NULL);
    add(w, word);
    free(word);
}

static void add_all(words *w, const char *text)
{
    char *copy = checked(strdup(text)), *rest = copy, *word;
    while ((word = strsep(&rest, " \t")))
        if (*word) add(w, word);
    free(copy);
}

static void words_clear(words *w)
{
    for (int i = 0; i < w->count; i++) free(w->list[i]);
    free(w->list);
    *w = (words){0};
}

/* ---- Processes ----------------------------------------------------------------------------------------- */

/* Starts a command whose stream (STDOUT_FILENO, ...) goes to the file `to`, unless that is negative. */
static int start(const words *w, int stream, int to, pid_t *pid, report *r)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t interrupt;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &interrupt);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    if (to >= 0) posix_spawn_file_actions_adddup2(&files, to, stream);
    const int error = posix_spawnp(pid, w->list[0], &files, &attributes, w->list, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error
               ? report_error(r, EXIT_PLUGIN, NULL, 0,
                              "the C compiler '%s' cannot be started: %s; --compiler names another "
                              "one",
                              w->list[0], strerror(error))
               : 0;
}

static bool has_succeeded(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* The compiler has told its errors itself. */
static int tell_failure(const words *w, const char *source, report *r)
{
    return report_error(r, EXIT_PLUGIN, NULL, 0, "%s: %s has failed", source, w->list[0]);
}

static int finish(const words *w, pid_t pid, const char *source, report *r)
{
    return has_succeeded(pid) ? 0 : tell_failure(w, source, r);
}

/* Runs a command; what it prints is returned, malloc'ed. NULL: it failed. */
static char *printed_by(const words *w, const char *source, report *r)
{
    char *text = NULL;
    size_t room = 0;
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC)) {
        report_error(r, EXIT_MEMORY, NULL, 0, "no pipe for the compiler: %s", strerror(errno));
        return NULL;
    }
    int code = start(w, STDOUT_FILENO, ends[1], &pid, r);
    close(ends[1]);
    FILE *in = checked(fdopen(ends[0], "r"));
    if (!code && getdelim(&text, &room, '\0', in) < 0) {
        free(text);
        text = checked(strdup(""));
    }
    fclose(in);
    if (!code) code = finish(w, pid, source, r);
    if (!code) return text;
    free(text);
    return NULL;
}

/* ---- Commands ------------------------------------------------------------------------------------------ */

/* What is needed to compile: the absolute path of the source, and folders of the installation or the build tree. */
typedef struct workplace {
    const order *order;
    char *source, *headers, *units;
    char *folder; /* of object files; NULL without one */
    report *report;
} workplace;

/* The object file of unit k, malloc'ed. */
static char *object_of(const workplace *p, int k)
{
    char *path;
    if (asprintf(&path, "%s/%d.o", p->folder, k) < 0) checked(NULL);
    return path;
}

/* The compiler with the flags of plugins. */
static words command(const workplace *p)
{
    words w = {0};
    add_all(&w, p->order->compiler);
    add_all(&w, PLUGMC_PLUGIN_FLAGS);
    add_format(&w, "-I%s", p->headers);
    add_format(&w, "-DPLUGMC_SOURCE=\"%s\"", p->source);
    if (p->order->draft) add(&w, "-DPLUGMC_ONE_TARGET");
    for (const char *const *l = p->order->libraries; *l; l++)
        if (!strncmp(*l, "-I", 2)) add(&w, *l);
    return w;
}

/* A file with parts for the GPU is compiled twice, through the units. The preprocessor tells whether it includes the
 * header for these, directly or not. *units: the answer. */
static int find_units(const workplace *p, bool *units)
{
    words w = command(p);
    add(&w, "-M");
    add(&w, p->source);
    char *headers = printed_by(&w, p->order->source, p->report);
    words_clear(&w);
    *units = headers && strstr(headers, "/plugmc/potential.h");
    free(headers);
    return headers ? 0 : EXIT_PLUGIN;
}

/* The command for unit k. Warnings about the author's file are those of the first one. */
static words unit_command(const workplace *p, const char *unit, int k)
{
    words w = command(p);
    char *object = object_of(p, k);
    if (!k) add_all(&w, PLUGMC_PLUGIN_WARNINGS);
    add(&w, "-c");
    add(&w, unit);
    add(&w, "-o");
    add(&w, object);
    free(object);
    return w;
}

static void show(FILE *said)
{
    int c;
    rewind(said);
    while ((c = getc(said)) != EOF) putc(c, stderr);
}

/* Object files of all units, at once. What the compiler says of the author's file twice is shown once. */
static int compile_units(const workplace *p, const char *const *units, int count)
{
    pid_t pids[2];
    words w[2];
    int started = 0, code = 0;
    FILE *said = checked(tmpfile());
    for (; started < count && !code; started += !code) {
        w[started] = unit_command(p, units[started], started);
        code = start(&w[started], STDERR_FILENO, started ? fileno(said) : -1, &pids[started],
                     p->report);
        if (code) words_clear(&w[started]);
    }
    for (int k = 0; k < started; k++) {
        const bool good = has_succeeded(pids[k]);
        if (k && !code) show(said);
        if (!good && !code) code = tell_failure(&w[k], p->order->source, p->report);
        words_clear(&w[k]);
    }
    fclose(said);
    return code;
}

/* Runtime libraries of other languages. The linker takes what is needed: a static library does not say in which
 * language it was written. */
static const struct runtime {
    const char *library, *language;
} runtimes[] = {{"stdc++", "C++"}, {"gfortran", "Fortran"}, {"gomp", "OpenMP"}};

enum { RUNTIMES = sizeof runtimes / sizeof *runtimes };

/* Whether the compiler has a library; it prints the bare name of one that it does not find. */
static bool has_library(const workplace *p, const char *library)
{
    words w = {0};
    add_all(&w, p->order->compiler);
    add_format(&w, "-print-file-name=lib%s.so", library);
    char *path = printed_by(&w, p->order->source, p->report);
    const bool found = path && strchr(path, '/');
    free(path);
    words_clear(&w);
    return found;
}

static void add_libraries(words *w, const workplace *p)
{
    const char *const *l = p->order->libraries;
    if (!*l) return;
    add(w, "-Wl,--exclude-libs,ALL"); /* their names are not for other plugins */
    for (; *l; l++) {
        if (!strncmp(*l, "-I", 2)) continue;
        add(w, *l);
        if (strncmp(*l, "-L", 2)) continue;
        char *folder = realpath(*l + 2, NULL);
        if (folder)
            add_format(w, "-Wl,-rpath,%s", folder); /* where it is looked for when it is loaded */
        free(folder);
    }
    add(w, "-Wl,--as-needed");
    for (int k = 0; k < RUNTIMES; k++)
        if (has_library(p, runtimes[k].library)) add_format(w, "-l%s", runtimes[k].library);
}

static void tell_missing_runtimes(const workplace *p)
{
    for (int k = 0; k < RUNTIMES && *p->order->libraries; k++)
        if (!has_library(p, runtimes[k].library))
            report_note(p->report, "%s finds no lib%s.so, which a library in %s needs",
                        p->order->compiler, runtimes[k].library, runtimes[k].language);
}

static int link_units(const workplace *p, int count)
{
    words w = {0};
    pid_t pid;
    add_all(&w, p->order->compiler);
    add(&w, "-shared");
    add(&w, "-Wl,--no-undefined");
    for (int k = 0; k < count; k++) {
        char *object = object_of(p, k);
        add(&w, object);
        free(object);
    }
    add(&w, "-o");
    add(&w, p->order->output);
    add_libraries(&w, p);
    add(&w, "-lm");
    FILE *said = checked(tmpfile());
    int code = p->report->errors ? p->report->code
                                 : start(&w, STDERR_FILENO, fileno(said), &pid, p->report);
    if (!code) {
        const bool good = has_succeeded(pid);
        show(said);
        if (!good) code = tell_failure(&w, p->order->source, p->report);
        if (!good) advise_on_linking(said, p->order, p->report);
        if (!good) tell_missing_runtimes(p);
    }
    fclose(said);
    words_clear(&w);
    return code;
}

/* ---- All of it ----------------------------------------------------------------------------------------- */

/* A file that others may write to is refused when it is loaded. */
static int close_to_others(const workplace *p)
{
    struct stat info;
    const char *output = p->order->output;
    if (!stat(output, &info) && !chmod(output, info.st_mode & 07777u & ~(mode_t)022)) return 0;
    return report_error(p->report, EXIT_OUTPUT, NULL, 0, "%s: its modes cannot be changed: %s",
                        output, strerror(errno));
}

static int find_places(workplace *p)
{
    static const char *const headers[] = {"include/plugmc", PLUGMC_TO_INCLUDE "/plugmc", NULL},
                             *const units[] = {"share/plugmc/units", PLUGMC_TO_DATA "/units", NULL};
    char *own = own_place(headers);
    p->units = own_place(units);
    if (own) p->headers = path_folder(own);
    free(own);
    p->source = realpath(p->order->source, NULL);
    if (!p->source)
        return report_error(p->report, EXIT_USAGE, NULL, 0, "%s cannot be read: %s",
                            p->order->source, strerror(errno));
    if (strpbrk(p->source, "\"\\\n"))
        return report_error(p->report, EXIT_USAGE, NULL, 0,
                            "%s has a quote or a backslash in its path: move it", p->source);
    if (!p->headers || !p->units)
        return report_error(p->report, EXIT_PLUGIN, NULL, 0,
                            "the headers of plugmc are missing: they belong into %s/%s",
                            own_folder() ? own_folder() : "", headers[1]);
    return 0;
}

static int make_folder(workplace *p)
{
    const char *base = getenv("TMPDIR");
    if (asprintf(&p->folder, "%s/plugmc-build-XXXXXX", base && *base ? base : "/tmp") < 0)
        checked(NULL);
    if (mkdtemp(p->folder)) return 0;
    const int code = report_error(p->report, EXIT_OUTPUT, NULL, 0, "%s cannot be made: %s",
                                  p->folder, strerror(errno));
    free(p->folder);
    p->folder = NULL;
    return code;
}

static void clear_folder(workplace *p)
{
    for (int k = 0; k < 2 && p->folder; k++) {
        char *object = object_of(p, k);
        unlink(object);
        free(object);
    }
    if (p->folder) rmdir(p->folder);
    free(p->folder);
    p->folder = NULL;
}

static int make(workplace *p)
{
    bool twice = false;
    int code = find_places(p);
    if (!code) code = find_units(p, &twice);
    if (!code) code = make_folder(p);
    if (code) return code;
    char *of_double = path_join(p->units, "plugmc_double.c"),
         *of_float = path_join(p->units, "plugmc_float.c");
    const char *const once[] = {p->source}, *const both[] = {of_double, of_float};
    code = compile_units(p, twice ? both : once, twice ? 2 : 1);
    if (!code) code = link_units(p, twice ? 2 : 1);
    if (!code) code = close_to_others(p);
    free(of_double);
    free(of_float);
    return code;
}

int compiler_run(const order *order, double *seconds, report *r)
{
    workplace p = {.order = order, .report = r};
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    /* Control-C ends the compiler, and object files are removed. */
    void (*before)(int) = signal(SIGINT, SIG_IGN);
    const int code = make(&p);
    clear_folder(&p);
    signal(SIGINT, before);
    clock_gettime(CLOCK_MONOTONIC, &end);
    *seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    free(p.source);
    free(p.headers);
    free(p.units);
    return code;
}
