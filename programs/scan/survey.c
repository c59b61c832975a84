/* The parent's half of a survey: it reads what the child (surveyor.c) tells, and remembers whom each
 * sentence is about. See survey.h. */
#include "survey.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "logs.h"
#include "surveyor.h"

enum { MOST_SENTENCES = 100 };
/* The first points are looked at by one process; then each of several has some of the others. */
enum { FEW = 8, EACH = 16, MOST_PARTS = 32 };

/* A sentence about the INI of some points. */
typedef struct sentence_seen {
    char *text;
    int64_t first, last, points;
} sentence_seen;

typedef struct listener {
    study *study;
    FILE *in;
    int64_t point; /* that is being told of; -1: none yet */
    bool opened;   /* what comes is about its output file */
    int code;      /* of the first INI that is wrong */
    sentence_seen seen[MOST_SENTENCES];
    int seen_count;
    int64_t further;
} listener;

/* ---- Sentences ------------------------------------------------------------------------------- */

static void hear_sentence(listener *l, const char *text)
{
    if (l->opened) {
        point *p = &l->study->points[l->point];
        if (!p->sentence) p->sentence = checked(strdup(text));
        return;
    }
    for (int i = 0; i < l->seen_count; i++) {
        sentence_seen *seen = &l->seen[i];
        if (strcmp(seen->text, text) != 0) continue;
        seen->points += seen->last != l->point;
        seen->last = l->point;
        return;
    }
    if (l->seen_count < MOST_SENTENCES)
        l->seen[l->seen_count++] =
            (sentence_seen){checked(strdup(text)), l->point, l->point, l->point >= 0};
    else
        l->further++;
}

/* Whom it is about, unless that is all. */
static void tell_sentences(const listener *l, int64_t surveyed)
{
    for (int i = 0; i < l->seen_count; i++) {
        const sentence_seen *seen = &l->seen[i];
        const char *name = seen->first < 0 ? "" : l->study->points[seen->first].name;
        fputs(seen->text, stderr);
        if (seen->points == 1 && surveyed > 1)
            fprintf(stderr, " (point %" PRId64 ", %s)", seen->first, name);
        else if (seen->points > 1 && seen->points < surveyed)
            fprintf(stderr, " (%" PRId64 " points, the first one %" PRId64 ", %s)", seen->points,
                    seen->first, name);
        fputc('\n', stderr);
    }
    if (l->further) fprintf(stderr, "and %" PRId64 " sentences more\n", l->further);
}

/* ---- Records --------------------------------------------------------------------------------- */

static void forget(point *p)
{
    for (int i = 0; i < p->result_count; i++) free(p->results[i].column), free(p->results[i].unit);
    free(p->results), free(p->sentence), free(p->ini);
    *p = (point){.name = p->name};
}

static void hear_ini(listener *l, size_t length)
{
    char *text = checked(calloc(length + 1, 1));
    if (fread(text, 1, length, l->in) != length) text[0] = 0; /* the child has died: told below */
    l->study->points[l->point].ini = text;
}

static void hear_unit(study *s, char *rest)
{
    const char *number = strsep(&rest, "\t");
    const int i = number ? atoi(number) : -1;
    if (i < 0 || i >= s->key_count || !rest) return;
    free(s->keys[i].unit);
    s->keys[i].unit = checked(strdup(rest));
}

static void hear_result(point *p, char *rest)
{
    const char *column = strsep(&rest, "\t"), *unit = strsep(&rest, "\t");
    const char *there = strsep(&rest, "\t"), *value = strsep(&rest, "\t"),
               *error = strsep(&rest, "\t"), *converged = strsep(&rest, "\t");
    if (!converged) return;
    p->results = checked(realloc(p->results, sizeof *p->results * (size_t)(p->result_count + 1)));
    p->results[p->result_count++] = (result){.column = checked(strdup(column)),
                                             .unit = checked(strdup(unit)),
                                             .there = *there == '1',
                                             .value = strtod(value, NULL),
                                             .error = strtod(error, NULL),
                                             .converged = *converged == '1'};
}

/* A run that ended badly has left a line in its log; one that goes on holds it. */
static void judge(const study *s, int64_t k, int looked)
{
    point *p = &s->points[k];
    char *log = study_file(s, k, "log");
    const int code = log_last_code(log);
    if (looked)
        p->state = POINT_FAILED;
    else if (p->state == POINT_FINISHED)
        ;
    else if (log_is_held(log))
        p->state = POINT_RUNNING;
    else if (code > 0 && code != EXIT_INTERRUPTED && code != EXIT_TIME_LIMIT)
        p->state = POINT_FAILED;
    if (p->state == POINT_FAILED && !p->sentence) p->sentence = log_last_words(log);
    free(log);
}

static void hear_record(listener *l, char *record)
{
    char *rest = record;
    const char *word = strsep(&rest, "\t");
    const char *numbers = rest ? rest : "";
    point *p = l->point < 0 ? NULL : &l->study->points[l->point];
    int a = 0, b = 0, c = 0, d = 0;
    if (!strcmp(word, "machine")) {
        sscanf(numbers, "%d\t%d", &l->study->gpus, &l->study->threads);
    } else if (!strcmp(word, "point")) {
        l->point = atoll(numbers);
        l->opened = false;
        forget(&l->study->points[l->point]);
    } else if (!p) {
        return;
    } else if (!strcmp(word, "opened")) {
        const int code = atoi(numbers);
        l->opened = true;
        if (!l->code) l->code = code;
    } else if (!strcmp(word, "wants")) {
        sscanf(numbers, "%d\t%d\t%d", &a, &b, &c);
        p->wants_gpu = a, p->own_gpu = b, p->own_threads = c;
    } else if (!strcmp(word, "particles")) {
        p->particles = atoll(numbers);
    } else if (!strcmp(word, "unit")) {
        hear_unit(l->study, rest);
    } else if (!strcmp(word, "ini")) {
        hear_ini(l, (size_t)atoll(numbers));
    } else if (!strcmp(word, "result")) {
        hear_result(p, rest);
    } else if (!strcmp(word, "looked")) {
        sscanf(numbers, "%d\t%d\t%d\t%llu\t%llu", &a, &b, &d, &p->sweep, &p->sweeps);
        p->state = d ? POINT_FINISHED : b ? POINT_INTERRUPTED : POINT_TO_DO;
        judge(l->study, l->point, a);
    }
}

static void listen_to(listener *l)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&line, &room, l->in)) > 0) {
        if (line[length - 1] == '\n') line[--length] = 0;
        if (line[0] == SURVEY_RECORD)
            hear_record(l, line + 1);
        else if (length)
            hear_sentence(l, line);
    }
    free(line);
}

/* ---- The child ------------------------------------------------------------------------------- */

/* Some of the points, and the process that looks at them; what it tells is a file in memory until it has ended. */
typedef struct part {
    int64_t first, end;
    int told;    /* descriptor; -1: none */
    pid_t child; /* 0: none */
} part;

static bool ended_well(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE; }

static int begin_part(const study *s, part *p, bool results, bool first_apart, report *r)
{
    const pid_t parent = getpid();
    fflush(NULL);
    p->told = memfd_create("survey", MFD_CLOEXEC);
    p->child = p->told < 0 ? -1 : fork();
    if (p->child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(EXIT_INTERRUPTED);
        dup2(p->told, STDOUT_FILENO);
        dup2(p->told, STDERR_FILENO);
        surveyor(s, p->first, p->end, results, first_apart);
        _exit(EXIT_DONE);
    }
    if (p->child > 0) return 0;
    const int why = errno;
    if (p->told >= 0) close(p->told);
    *p = (part){.told = -1};
    return report_error(r, EXIT_MEMORY, NULL, 0, "there is no child process: %s", strerror(why));
}

static int finish_part(listener *l, part *p, int *status, report *r)
{
    *status = child_wait(p->child);
    p->child = 0;
    lseek(p->told, 0, SEEK_SET);
    l->in = fdopen(p->told, "r");
    if (!l->in) {
        const int why = errno;
        close(p->told);
        return report_error(r, EXIT_MEMORY, NULL, 0,
                            "not enough memory for the answers of child processes: %s",
                            strerror(why));
    }
    listen_to(l);
    fclose(l->in);
    return 0;
}

/* To the end of the part, or to the point that the child breaks down on. An output file that ends it is read
 * once more, by a process that may break down. */
static int hear_part(listener *l, part *p, bool results, int *status, report *r)
{
    for (bool apart = false;; apart = true) {
        int code = finish_part(l, p, status, r);
        if (code) return code;
        const bool by_output = !ended_well(*status) && l->point >= p->first && l->opened;
        if (!by_output || (apart && l->point == p->first)) return 0;
        p->first = l->point;
        code = begin_part(l->study, p, results, true, r);
        if (code) return code;
    }
}

/* A child that has not come to its end has broken down on a point, or was killed. */
static int tell_end(const listener *l, int status, report *r)
{
    const study *s = l->study;
    if (ended_well(status)) return 0;
    return report_error(r, WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERNAL, s->path, 0,
                        "looking at point %" PRId64 " (%s) has ended with %s %d",
                        l->point < 0 ? 0 : l->point, s->points[l->point < 0 ? 0 : l->point].name,
                        WIFEXITED(status) ? "code" : "signal",
                        WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

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
static int survey_rest(listener *l, int64_t first, int64_t end, bool results, int *status,
                       report *r)
{
    part parts[MOST_PARTS];
    const int count = parts_for(end - first);
    int code = 0, begun = 0;
    for (; begun < count && !code; begun++) {
        parts[begun] = (part){.first = first + (end - first) * begun / count,
                              .end = first + (end - first) * (begun + 1) / count};
        code = begin_part(l->study, &parts[begun], results, false, r);
    }
    for (int i = 0; i < begun; i++) {
        const bool go_on = !code && ended_well(*status);
        if (go_on) {
            code = hear_part(l, &parts[i], results, status, r);
        } else if (parts[i].child > 0) {
            kill(parts[i].child, SIGKILL);
            child_wait(parts[i].child);
            close(parts[i].told);
        }
    }
    return code;
}

int survey(study *s, int64_t first, int64_t end, bool results, report *r)
{
    listener l = {.study = s, .point = -1};
    part few = {.first = first, .end = first + FEW < end ? first + FEW : end};
    const int64_t rest = few.end;
    int status = 0, code = begin_part(s, &few, results, false, r);
    if (!code) code = hear_part(&l, &few, results, &status, r);
    if (!code && ended_well(status) && rest < end)
        code = survey_rest(&l, rest, end, results, &status, r);
    if (code) return code;
    if (!results || l.code) tell_sentences(&l, end - first);
    for (int i = 0; i < l.seen_count; i++) free(l.seen[i].text);
    if (l.code && !r->code) r->errors++, r->code = l.code;
    const int broken = tell_end(&l, status, r);
    return l.code ? l.code : broken;
}
