/* What plugmc check --json tells of the points of a study. See survey.h. */
#include "survey.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/json_values.h"
#include "logs.h"

enum { MOST_SENTENCES = 100 };

/* A sentence about the INI of some points. */
typedef struct sentence_seen {
    char *text;
    int64_t first, last, points;
} sentence_seen;

typedef struct listener {
    study *study;
    int64_t point; /* the next one that is told of */
    int code;      /* of the first INI that is wrong */
    sentence_seen seen[MOST_SENTENCES];
    int seen_count;
    int64_t further;
} listener;

/* ---- Sentences ------------------------------------------------------------------------------- */

/* A message as a run would print it; malloc'ed. */
static char *sentence_of(const json_value *message)
{
    char *text, *safe, place[32] = "";
    const char *file = json_member_text(message, "file");
    const double line = json_member_number(message, "line");
    if (line > 0) snprintf(place, sizeof place, ":%.0f", line);
    if (asprintf(&text, "%s%s%s%s%s", file, place, *file ? ": " : "",
                 strcmp(json_member_text(message, "kind"), "warning") ? "" : "warning: ",
                 json_member_text(message, "text")) < 0)
        checked(NULL);
    safe = report_printable(text);
    free(text);
    return safe;
}

static void hear_sentence(listener *l, char *text)
{
    for (int i = 0; i < l->seen_count; i++) {
        sentence_seen *seen = &l->seen[i];
        if (strcmp(seen->text, text) != 0) continue;
        seen->points += seen->last != l->point;
        seen->last = l->point;
        free(text);
        return;
    }
    if (l->seen_count < MOST_SENTENCES)
        l->seen[l->seen_count++] = (sentence_seen){text, l->point, l->point, 1};
    else
        l->further++, free(text);
}

/* Whom it is about, unless that is all. */
static void tell_sentences(const listener *l, int64_t surveyed)
{
    for (int i = 0; i < l->seen_count; i++) {
        const sentence_seen *seen = &l->seen[i];
        const char *name = l->study->points[seen->first].name;
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

/* ---- A point --------------------------------------------------------------------------------- */

static void hear_device(study *s, point *p, const json_value *device)
{
    const double gpus = json_member_number(device, "gpus_here"),
                 threads = json_member_number(device, "threads_here");
    p->wants_gpu = json_member_flag(device, "takes_gpu");
    p->own_gpu = json_member(device, "gpu") != NULL;
    p->own_threads = json_member(device, "threads") != NULL;
    if (gpus >= 0) s->gpus = (int)gpus;
    if (threads > 0) s->threads = (int)threads;
}

static void hear_units(study *s, const json_value *units)
{
    for (int i = 0; i < s->key_count; i++) {
        scanned_key *key = &s->keys[i];
        if (!key->unit) key->unit = checked(strdup(json_member_text(units, key->name)));
    }
}

static void hear_files(point *p, const json_value *files)
{
    const int count = files ? files->count : 0;
    p->files = checked(calloc((size_t)count + 1, sizeof *p->files));
    for (int i = 0; i < count; i++) {
        const json_value *paths = &files->members[i];
        char *text;
        size_t size;
        FILE *out = checked(open_memstream(&text, &size));
        for (int k = 0; k < paths->count; k++)
            fprintf(out, "%s%s", k ? "\n" : "", paths->members[k].text);
        fclose(out);
        p->files[p->file_count++] = (key_files){checked(strdup(paths->name)), checked(text)};
    }
}

static void hear_results(point *p, const json_value *numbers)
{
    const int count = numbers ? numbers->count : 0;
    p->results = checked(calloc((size_t)count + 1, sizeof *p->results));
    for (int i = 0; i < count; i++) {
        const json_value *number = &numbers->members[i];
        const double value = json_member_number(number, "value"),
                     error = json_member_number(number, "error");
        p->results[p->result_count++] = (result){
            .column = checked(strdup(json_member_text(number, "name"))),
            .unit = checked(strdup(json_member_text(number, "unit"))),
            .there = !isnan(value),
            .value = value,
            .error = error,
            .converged = !isnan(error) && !json_member_flag(number, "error_is_lower_bound")};
    }
}

/* A run that ended badly has left a line in its log; one that goes on holds it. */
static void judge(const study *s, int64_t k)
{
    point *p = &s->points[k];
    char *log = study_file(s, k, "log");
    const int code = log_last_code(log);
    if (p->state == POINT_FAILED || p->state == POINT_FINISHED)
        ;
    else if (log_is_held(log))
        p->state = POINT_RUNNING;
    else if (code > 0 && code != EXIT_INTERRUPTED && code != EXIT_TIME_LIMIT)
        p->state = POINT_FAILED;
    if (p->state == POINT_FAILED && !p->sentence) p->sentence = log_last_words(log);
    free(log);
}

static void hear_output(const study *s, int64_t k, const json_value *output)
{
    static const struct {
        const char *word;
        enum point_state state;
    } states[] = {{"missing", POINT_TO_DO},
                  {"unfinished", POINT_INTERRUPTED},
                  {"finished", POINT_FINISHED},
                  {"unusable", POINT_FAILED}};
    point *p = &s->points[k];
    const json_value *messages = json_member(output, "messages");
    for (int i = 0; i < 4; i++)
        if (!strcmp(json_member_text(output, "state"), states[i].word)) p->state = states[i].state;
    p->sweep = (unsigned long long)json_member_number(output, "sweep");
    p->sweeps = (unsigned long long)json_member_number(output, "sweeps");
    if (messages && messages->count) p->sentence = sentence_of(&messages->members[0]);
    hear_results(p, json_member(output, "numbers"));
    judge(s, k);
}

static void hear_point(listener *l, const json_value *told)
{
    study *s = l->study;
    point *p = &s->points[l->point];
    const json_value *messages = json_member(told, "messages");
    point_forget(p);
    for (int i = 0; messages && i < messages->count; i++)
        hear_sentence(l, sentence_of(&messages->members[i]));
    if (!json_member_flag(told, "ok")) {
        const int code = (int)json_member_number(told, "code");
        if (!l->code) l->code = code ? code : EXIT_INTERNAL;
        return;
    }
    p->particles = (int64_t)json_member_number(told, "particles");
    hear_device(s, p, json_member(told, "device"));
    hear_units(s, json_member(told, "units"));
    hear_files(p, json_member(told, "files"));
    hear_output(s, l->point, json_member(told, "output"));
}

/* ---- All of them ----------------------------------------------------------------------------- */

static void put_value(FILE *out, int before, const char *key, const char *value, int line)
{
    fputs(before ? ", " : "", out);
    json_put(out, key);
    fputs(": {\"value\": ", out);
    json_put(out, value);
    fprintf(out, ", \"line\": %d}", line);
}

/* A point as the check reads it, with the lines of the study that its values come from. */
static void put_point(FILE *out, const study *s, int64_t k)
{
    char *output = study_file(s, k, "h5"), seed[SEED_TEXT];
    int line, count = 0;
    fputc('{', out);
    if (study_has_run(s)) put_value(out, count++, "run.output", output, 0);
    for (int i = 0; i < s->key_count; i++)
        put_value(out, count++, s->keys[i].name, study_value(s, k, &s->keys[i]), s->keys[i].line);
    if (study_seed(s, k, seed, &line)) put_value(out, count++, "run.seed", seed, line);
    fputs("}\n", out);
    free(output);
}

/* A file in memory, at its beginning; below 0: there is none. */
static int points_file(const study *s, int64_t first, int64_t end)
{
    const int file = memfd_create("points", MFD_CLOEXEC), own = file < 0 ? -1 : dup(file);
    FILE *out = own < 0 ? NULL : fdopen(own, "w");
    if (!out) return -1;
    for (int64_t k = first; k < end; k++) put_point(out, s, k);
    const bool written = fclose(out) == 0;
    lseek(file, 0, SEEK_SET);
    return written ? file : -1;
}

/* What the child says, line by line, until it ends. */
static int listen_to(listener *l, int from, int64_t end)
{
    FILE *in = fdopen(from, "r");
    char *line = NULL;
    size_t room = 0;
    const char *why = NULL;
    while (in && !why && l->point < end && getline(&line, &room, in) > 0) {
        json_value told;
        why = json_parse(line, &told);
        if (!why) hear_point(l, &told);
        json_release(&told);
        l->point++;
    }
    free(line);
    if (in) fclose(in);
    return !in || why;
}

static int no_child(report *r, int error)
{
    return report_error(r, EXIT_MEMORY, NULL, 0, "there is no child process: %s", strerror(error));
}

static int ask(listener *l, int64_t first, int64_t end, bool results, report *r)
{
    const study *s = l->study;
    char *words[8] = {(char *)"plugmc", (char *)"check", (char *)s->path, (char *)"--json",
                      (char *)"--points"};
    int count = 5, ends[2];
    pid_t child;
    if (results) words[count++] = (char *)"--results";
    if (s->accept_changes) words[count++] = (char *)"--accept-changed-plugins";
    const int points = points_file(s, first, end);
    if (points < 0) return no_child(r, errno);
    if (pipe2(ends, O_CLOEXEC)) {
        close(points);
        return no_child(r, errno);
    }
    const int error = child_start(&child, (int[]){points, ends[1], STDERR_FILENO}, 3, false, words);
    close(points), close(ends[1]);
    if (error) {
        close(ends[0]);
        return no_child(r, error);
    }
    l->point = first;
    listen_to(l, ends[0], end);
    const int status = child_wait(child);
    if (l->point == end) return 0;
    return report_error(r, WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INTERNAL, s->path, 0,
                        "plugmc check --json reported %" PRId64 " of %" PRId64
                        " points, and ended with %s %d",
                        l->point - first, end - first, WIFEXITED(status) ? "code" : "signal",
                        WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

int survey(study *s, int64_t first, int64_t end, bool results, report *r)
{
    listener l = {.study = s};
    const int code = ask(&l, first, end, results, r);
    if (!code && (!results || l.code)) tell_sentences(&l, end - first);
    for (int i = 0; i < l.seen_count; i++) free(l.seen[i].text);
    if (code) return code;
    if (l.code && !r->code) r->errors++, r->code = l.code;
    return l.code;
}
