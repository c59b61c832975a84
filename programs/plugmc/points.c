/* The processes that look at points, and what they tell. See points.h.
 *
 * Plugins are loaded and output files are read, and either may break down on it: so the points are looked at by
 * children. The first few have one, then each of several has some of the others. */
#include "points.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "archive/store.h"
#include "base/child.h"
#include "base/crash.h"
#include "base/json_values.h"
#include "plugin/loader.h"
#include "point.h"

enum { FEW = 8, EACH = 16, MOST_PARTS = 32, MOST_POINTS = 1000000 };

static const char input_name[] = "standard input";

/* ---- What is asked --------------------------------------------------------------------------- */

static int refuse(report *r, int line, const char *why)
{
    return report_error(r, EXIT_INPUT, input_name, line,
                        "%s; a point is a line such as {\"run.seed\": 1, \"box.density\": 0.3}",
                        why);
}

/* A member of a point: a text, a number, or {"value": one of these, "line": of the file}. */
static const char *read_assigned(const json_value *member, assigned *out)
{
    const json_value *value = member->kind == JSON_OBJECT ? json_member(member, "value") : member;
    const double line = member->kind == JSON_OBJECT ? json_member_number(member, "line") : 0;
    if (!value || (value->kind != JSON_TEXT && value->kind != JSON_NUMBER))
        return "a value is neither a text nor a number";
    if (strchr(member->name, '=')) return "a key has '=' in it";
    *out = (assigned){.key = checked(strdup(member->name)),
                      .value = checked(strdup(value->text)),
                      .line = line >= 1 && line < 1e9 ? (int)line : 0};
    return NULL;
}

static const char *read_point(const json_value *line, point *p)
{
    if (line->kind != JSON_OBJECT) return "this is not an object";
    p->set = checked(calloc((size_t)line->count + 1, sizeof *p->set));
    for (int i = 0; i < line->count; i++) {
        const char *why = read_assigned(&line->members[i], &p->set[p->set_count]);
        if (why) return why;
        p->set_count++;
    }
    return NULL;
}

static int add_point(points_asked *a, const char *text, int number, report *r)
{
    json_value line;
    if (a->count == MOST_POINTS) return refuse(r, number, "there are more than 1000000 points");
    const char *why = json_parse(text, &line);
    if (!(a->count & (a->count - 1)))
        a->points = checked(realloc(a->points, sizeof *a->points * (2 * (size_t)a->count + 1)));
    a->points[a->count] = (point){0};
    if (!why) why = read_point(&line, &a->points[a->count]);
    a->count++;
    json_release(&line);
    return why ? refuse(r, number, why) : 0;
}

/* Empty lines are none. */
static int read_points(points_asked *a, report *r)
{
    char *line = NULL;
    size_t room = 0;
    int code = 0;
    for (int number = 1; !code && getline(&line, &room, stdin) > 0; number++)
        if (line[strspn(line, " \t\r\n")]) code = add_point(a, line, number, r);
    free(line);
    if (!code && ferror(stdin)) code = refuse(r, 0, strerror(errno));
    return code;
}

static void free_asked(points_asked *a)
{
    for (int64_t k = 0; k < a->count; k++) {
        for (int i = 0; i < a->points[k].set_count; i++)
            free(a->points[k].set[i].key), free(a->points[k].set[i].value);
        free(a->points[k].set);
    }
    free(a->points);
}

/* ---- The children ---------------------------------------------------------------------------- */

/* What children share with this process: a mapping of its own memory. */
typedef struct shared {
    point_progress each[MOST_PARTS];
    point_common common;
} shared;

/* Some of the points, and the process that looks at them. */
typedef struct part {
    int64_t first, end;
    int told, printed; /* files in memory: lines of JSON; what plugins print. -1: none */
    pid_t child;       /* 0: none */
    point_progress *progress;
} part;

typedef struct survey {
    const points_asked *asked;
    shared *shared;
    report *report;
} survey;

/* Of a plugin that does not come back nobody would hear while points are surveyed. */
static void too_long(int number)
{
    unsigned long calls;
    const crash_record in = crash_of_main(&calls);
    if (in.plugin)
        dprintf(STDERR_FILENO, "the callback '%s' of [%s%s] takes too long\n", in.callback, in.kind,
                in.plugin);
    signal(number, SIG_DFL);
    raise(number);
}

/* A line is written when it is whole. */
static void work(const survey *s, const part *p, int64_t first, bool apart)
{
    const struct rlimit no_core = {0, 0};
    dup2(p->printed, STDOUT_FILENO);
    dup2(p->printed, STDERR_FILENO);
    store_guard_hdf5();
    plugins_stay();
    signal(SIGXCPU, too_long);
    signal(SIGALRM, too_long);
    setrlimit(RLIMIT_CORE, &no_core);
    for (int64_t k = first; k < p->end; k++) {
        char *line;
        size_t size;
        FILE *out = checked(open_memstream(&line, &size));
        point_tell(out, s->asked, k, k == first && apart, &s->shared->common, p->progress);
        fclose(out);
        if (write(p->told, checked(line), size) != (ssize_t)size) _exit(EXIT_MEMORY);
        free(line);
    }
}

/* From a point on; `apart`: whose output file is read by another process. */
static int begin(const survey *s, part *p, int64_t from, bool apart)
{
    const pid_t parent = getpid();
    fflush(NULL);
    p->child = fork();
    if (p->child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(EXIT_INTERRUPTED);
        work(s, p, from, apart);
        _exit(EXIT_DONE);
    }
    if (p->child > 0) return 0;
    p->child = 0;
    return report_error(s->report, EXIT_MEMORY, NULL, 0, "there is no child process: %s",
                        strerror(errno));
}

static int begin_part(const survey *s, part *p)
{
    p->told = memfd_create("points", MFD_CLOEXEC);
    p->printed = memfd_create("printed", MFD_CLOEXEC);
    if (p->told >= 0 && p->printed >= 0) return begin(s, p, p->first, false);
    return report_error(s->report, EXIT_MEMORY, NULL, 0,
                        "not enough memory for the answers of child processes: %s",
                        strerror(errno));
}

static void end_part(part *p)
{
    if (p->child > 0) {
        kill(p->child, SIGKILL);
        child_wait(p->child);
    }
    if (p->told >= 0) close(p->told);
    if (p->printed >= 0) close(p->printed);
    *p = (part){.told = -1, .printed = -1};
}

/* What is in a file in memory from a place on; malloc'ed. */
static char *content(int file, off_t from, size_t *bytes)
{
    const off_t end = lseek(file, 0, SEEK_END);
    char *text = checked(calloc((size_t)(end > from ? end - from : 0) + 1, 1));
    const ssize_t got = end > from ? pread(file, text, (size_t)(end - from), from) : 0;
    *bytes = got > 0 ? (size_t)got : 0;
    text[*bytes] = 0;
    return text;
}

static int64_t lines_in(int file)
{
    size_t bytes;
    int64_t count = 0;
    char *text = content(file, 0, &bytes);
    for (const char *at = text; (at = strchr(at, '\n')); at++) count++;
    free(text);
    return count;
}

/* The line of point k, which has ended its process. */
static void tell_end(const survey *s, part *p, int64_t k, int status)
{
    char *line, *printed, how[160];
    size_t size, bytes;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERNAL;
    printed = content(p->printed, p->progress->told, &bytes);
    p->progress->told += (off_t)bytes;
    p->progress->opened = false;
    snprintf(how, sizeof how, "the process that checked this point ended with %s %d",
             WIFEXITED(status) ? "code" : "signal", WIFEXITED(status) ? code : WTERMSIG(status));
    FILE *out = checked(open_memstream(&line, &size));
    point_tell_end(out, s->asked, k, code, printed, how);
    fclose(out);
    if (write(p->told, checked(line), size) != (ssize_t)size) checked(NULL);
    s->shared->common.codes[k] = code;
    free(line), free(printed);
}

/* To its end, whatever its points do to the processes that look at them: an output file that ends one is read once
 * more, by a process that may break down. */
static int finish_part(const survey *s, part *p)
{
    size_t bytes;
    int64_t apart = -1;
    int code = 0;
    while (p->child && !code) {
        const int status = child_wait(p->child);
        const int64_t k = p->first + lines_in(p->told);
        p->child = 0;
        if (k >= p->end) break;
        if (p->progress->opened && apart != k) {
            apart = k;
            code = begin(s, p, k, true);
        } else {
            tell_end(s, p, k, status);
            if (k + 1 < p->end) code = begin(s, p, k + 1, false);
        }
    }
    char *text = content(p->told, 0, &bytes);
    if (!code) fwrite(text, 1, bytes, stdout);
    free(text);
    return code;
}

/* ---- All points ------------------------------------------------------------------------------ */

/* As many as there are processors, but each with work, and all of them with a quarter of the memory if they need
 * what one has needed. */
static int parts_for(int64_t points)
{
    struct rusage one = {0};
    cpu_set_t set;
    getrusage(RUSAGE_CHILDREN, &one);
    const int64_t processors = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set),
                  pages = sysconf(_SC_PHYS_PAGES), kilobytes = sysconf(_SC_PAGESIZE) / 1024,
                  room = pages * kilobytes / 4 / (one.ru_maxrss + 1);
    int64_t parts = (points + EACH - 1) / EACH;
    if (parts > processors) parts = processors;
    if (parts > MOST_PARTS) parts = MOST_PARTS;
    if (parts > room) parts = room;
    return (int)(parts < 1 ? 1 : parts);
}

/* Side by side; told in the order of the points. */
static int look_at(const survey *s, int64_t first, int64_t end, int count)
{
    part parts[MOST_PARTS];
    int code = 0;
    for (int i = 0; i < count; i++) {
        parts[i] = (part){.first = first + (end - first) * i / count,
                          .end = first + (end - first) * (i + 1) / count,
                          .told = -1,
                          .printed = -1,
                          .progress = &s->shared->each[i]};
        *parts[i].progress = (point_progress){0};
        if (!code) code = begin_part(s, &parts[i]);
    }
    for (int i = 0; i < count; i++) {
        if (!code) code = finish_part(s, &parts[i]);
        end_part(&parts[i]);
    }
    return code;
}

static int look_at_all(const points_asked *a, report *r)
{
    const size_t bytes = sizeof(shared) + sizeof(int32_t) * (size_t)a->count;
    survey s = {.asked = a, .report = r};
    s.shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s.shared == MAP_FAILED)
        return report_error(r, EXIT_MEMORY, NULL, 0, "no memory for the points");
    s.shared->common.gpus = -1;
    const int64_t few = a->count < FEW ? a->count : FEW;
    int code = few ? look_at(&s, 0, few, 1) : 0;
    if (!code && few < a->count) code = look_at(&s, few, a->count, parts_for(a->count - few));
    for (int64_t k = 0; k < a->count && !code; k++) code = s.shared->common.codes[k];
    munmap(s.shared, bytes);
    return code;
}

int points_check(const arguments *arguments)
{
    report r = {0};
    point alone = {0};
    points_asked a = {.file = arguments->asked.file,
                      .of_study = arguments->points,
                      .results = arguments->results,
                      .accept_changes = arguments->asked.accept_changes,
                      .sets = arguments->asked.sets,
                      .set_count = arguments->asked.set_count};
    int code = 0;
    if (arguments->points)
        code = read_points(&a, &r);
    else
        a.points = &alone, a.count = 1;
    if (!code) code = look_at_all(&a, &r);
    if (arguments->points) free_asked(&a);
    return code;
}
