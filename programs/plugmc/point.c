/* One point of plugmc check --json. See point.h. */
#include "point.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/averages.h"
#include "base/child.h"
#include "base/json_values.h"
#include "engine/device_choice.h"
#include "gpu/gpu.h"
#include "key_units.h"
#include "records/json.h"
#include "session/own_files.h"
#include "session/resume.h"

/* ---- Messages -------------------------------------------------------------------------------- */

/* A list of them, as far as it has been written. */
typedef struct messages {
    FILE *out;
    char *text;
    size_t size;
    int count;
} messages;

static void hear(void *listener, const report_message *m)
{
    static const char *const kinds[] = {"note", "warning", "error"};
    messages *all = listener;
    fprintf(all->out, "%s{\"kind\": \"%s\"", all->count++ ? ", " : "", kinds[m->kind]);
    if (m->file) json_text(all->out, "file", m->file);
    if (m->file && m->line > 0) fprintf(all->out, ", \"line\": %d", m->line);
    json_text(all->out, "text", m->text);
    fputc('}', all->out);
}

static void hear_nothing(void *listener, const report_message *m) { (void)listener, (void)m; }

static void hear_lines(messages *all, char *printed)
{
    for (char *line; (line = strsep(&printed, "\n"));)
        if (*line) hear(all, &(report_message){.kind = REPORT_NOTE, .text = line});
}

/* What plugins have printed since. */
static void hear_prints(messages *all, point_progress *progress)
{
    struct stat info;
    fflush(NULL);
    if (fstat(STDERR_FILENO, &info) || info.st_size <= progress->told) return;
    const size_t bytes = (size_t)(info.st_size - progress->told);
    char *printed = checked(calloc(bytes + 1, 1));
    if (pread(STDERR_FILENO, printed, bytes, progress->told) > 0) hear_lines(all, printed);
    progress->told = info.st_size;
    free(printed);
}

static void begin_messages(messages *all)
{
    *all = (messages){0};
    all->out = checked(open_memstream(&all->text, &all->size));
}

static void put_messages(FILE *out, messages *all)
{
    fclose(all->out);
    fprintf(out, ", \"messages\": [%s]", (const char *)checked(all->text));
    free(all->text);
    *all = (messages){0};
}

/* ---- Limits ---------------------------------------------------------------------------------- */

#ifdef PLUGMC_SANITIZED
enum { LIMITS_MEMORY = 0 }; /* they map more than any limit */
#else
enum { LIMITS_MEMORY = 1 };
#endif

enum { MOST_CPU = 60, MOST_SECONDS = 600 }; /* for the plugins of a point to load and configure */

typedef struct limits {
    struct rlimit cpu, data;
} limits;

static void lower(int resource, struct rlimit *before, rlim_t to)
{
    if (getrlimit(resource, before)) *before = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
    struct rlimit now = *before;
    if (now.rlim_cur > to) now.rlim_cur = to;
    setrlimit(resource, &now);
}

/* What takes longer ends this process: points.c tells which callback it was in. */
static void limit_seconds(int64_t cpu, int64_t all, limits *before)
{
    struct rusage used = {0};
    getrusage(RUSAGE_SELF, &used);
    lower(RLIMIT_CPU, &before->cpu, (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + cpu));
    alarm((unsigned)all);
}

/* What no sound output file needs ends it, too, and its parent has the file read by another one. */
static void limit_to(int64_t bytes, limits *before)
{
    limit_seconds(6 + bytes / 5000000, 60 + bytes / 1000000, before);
    if (LIMITS_MEMORY) lower(RLIMIT_DATA, &before->data, ((rlim_t)2 << 30) + 8 * (rlim_t)bytes);
}

static void lift_seconds(const limits *before)
{
    alarm(0);
    setrlimit(RLIMIT_CPU, &before->cpu);
}

static void lift(const limits *before)
{
    lift_seconds(before);
    if (LIMITS_MEMORY) setrlimit(RLIMIT_DATA, &before->data);
}

/* ---- What is asked --------------------------------------------------------------------------- */

static void put_asked(FILE *out, const points_asked *a, int64_t k)
{
    const point *p = &a->points[k];
    int count = 0;
    fprintf(out, "{\"point\": %lld", (long long)k);
    json_text(out, "file", a->file);
    fputs(", \"set\": {", out);
    for (int i = 0; i < a->set_count; i++) {
        const char *equal = strchr(a->sets[i], '=');
        if (!equal) continue;
        char *key = checked(strndup(a->sets[i], (size_t)(equal - a->sets[i])));
        fputs(count++ ? ", " : "", out);
        json_put(out, key);
        fputs(": ", out);
        json_put(out, equal + 1);
        free(key);
    }
    for (int i = 0; i < p->set_count; i++) {
        fputs(count++ ? ", " : "", out);
        json_put(out, p->set[i].key);
        fputs(": ", out);
        json_put(out, p->set[i].value);
    }
    fputc('}', out);
}

/* The values of a point, but for keys that begin with one of these words; malloc'ed. */
static char *values_of(const point *p, const char *const *without, int count)
{
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    for (int i = 0; i < p->set_count; i++) {
        bool left_out = false;
        for (int c = 0; c < count; c++)
            left_out |= !strncmp(p->set[i].key, without[c], strlen(without[c]));
        if (!left_out) fprintf(out, "%s=%s\n", p->set[i].key, p->set[i].value);
    }
    fclose(out);
    return checked(text);
}

static int assign(const points_asked *a, int64_t k, ini_file *ini, report *r)
{
    const point *p = &a->points[k];
    int code = 0;
    for (int i = 0; i < a->set_count && !code; i++) code = ini_set(ini, a->sets[i], r);
    for (int i = 0; i < p->set_count && !code; i++) {
        char *text;
        if (asprintf(&text, "%s=%s", p->set[i].key, p->set[i].value) < 0) checked(NULL);
        code = ini_set_at(ini, text, p->set[i].line, r);
        free(text);
    }
    return code;
}

static int compare_texts(const void *one, const void *other) { return strcmp(one, other); }

/* Pair energies are probed where a point is the first that has them, and good: they depend on all keys but these. What
 * the machine offers is asked once. */
static int open_point(const points_asked *a, int64_t k, session *session)
{
    static const char *const of_chain[] = {"run.seed", "run.sweeps", "run.equilibrate",
                                           "run.output"};
    static thread_offer offer;
    static void *probed;
    engine *engine = &session->engine;
    int code = ini_read(a->file, &engine->config.ini, engine->report);
    if (code && !engine->config.ini.count) return code;
    if (a->of_study) ini_drop(&engine->config.ini, "scan");
    if (a->of_study) ini_drop(&engine->config.ini, "twists");
    if (!code) code = assign(a, k, &engine->config.ini, engine->report);
    char *pairs = values_of(&a->points[k], of_chain, PLUGMC_COUNT(of_chain));
    engine->device.offer = offer;
    engine->in_child = true;
    engine->pairs_known = tfind(pairs, &probed, compare_texts) != NULL;
    limits before;
    limit_seconds(MOST_CPU, MOST_SECONDS, &before);
    const int reading = config_read(&engine->config, engine->report);
    resume_choice(&engine->config);
    const int opening = session_open(session);
    lift_seconds(&before);
    offer = engine->device.offer;
    if (!code) code = reading ? reading : opening;
    if (!code) code = own_files_check(session, engine->config.run.output);
    if (code || *(char **)checked(tsearch(pairs, &probed, compare_texts)) != pairs) free(pairs);
    return code;
}

/* ---- What it is ------------------------------------------------------------------------------ */

/* As the run will choose. */
static bool takes_gpu(const engine *engine)
{
    if (engine->config.run.device != DEVICE_AUTO) return engine->config.run.device == DEVICE_GPU;
    return device_wants_gpu(engine, device_gain(engine));
}

static const char *flag(bool yes) { return yes ? "true" : "false"; }

static void put_device(FILE *out, const engine *engine, point_common *common)
{
    const ini_section *run = ini_find(&engine->config.ini, "run");
    const bool gpu = takes_gpu(engine);
    char why[512];
    int version;
    if (gpu && common->gpus < 0) common->gpus = gpu_count(&version, why);
    fprintf(out, ", \"device\": {\"takes_gpu\": %s", flag(gpu));
    if (gpu) fprintf(out, ", \"gpus_here\": %d", common->gpus);
    fprintf(out, ", \"threads_here\": %d", engine->device.offer.threads);
    if (ini_get(run, "gpu")) fprintf(out, ", \"gpu\": %d", (int)engine->config.run.gpu);
    if (engine->config.run.threads)
        fprintf(out, ", \"threads\": %d", (int)engine->config.run.threads);
    fputc('}', out);
}

static void put_sizes(FILE *out, const plugmc_system *system)
{
    fprintf(out,
            ", \"dimension\": %d, \"walkers\": %d, \"particles\": %lld, \"numbers_change\": %s, "
            "\"bytes_of_positions\": %lld",
            system->box.dimension, system->walkers, (long long)system->particles,
            flag(system->changes & PLUGMC_CHANGED_COUNT),
            (long long)(24 * system->walkers * system->particles));
}

static void put_units(FILE *out, const points_asked *a, int64_t k, const session *session)
{
    const point *p = &a->points[k];
    fputs(", \"units\": {", out);
    for (int i = 0; i < p->set_count; i++) {
        char *unit = key_unit(session, p->set[i].key);
        fputs(i ? ", " : "", out);
        json_put(out, p->set[i].key);
        fputs(": ", out);
        json_put(out, unit);
        free(unit);
    }
    fputc('}', out);
}

static void put_paths(FILE *out, const char *paths)
{
    char *copy = checked(strdup(paths)), *rest = copy, *path;
    for (const char *between = ""; (path = strsep(&rest, "\n")); between = ", ") {
        fputs(between, out);
        json_put(out, path);
    }
    free(copy);
}

/* Keys that name files which are read. */
static void put_files(FILE *out, const ini_file *ini)
{
    int count = 0;
    fputs(", \"files\": {", out);
    for (int i = 0; i < ini->count; i++)
        for (int e = 0; e < ini->sections[i].count; e++) {
            const ini_entry *entry = &ini->sections[i].entries[e];
            char *key;
            if (!entry->file || !*entry->value) continue;
            if (asprintf(&key, "%s.%s", ini->sections[i].name, entry->key) < 0) checked(NULL);
            fputs(count++ ? ", " : "", out);
            json_put(out, key);
            fputs(": [", out);
            put_paths(out, entry->file);
            fputc(']', out);
            free(key);
        }
    fputc('}', out);
}

/* ---- Its output file ------------------------------------------------------------------------- */

/* In this process, without what only a run that goes on reads: true if all is well with it, or there is none. */
static bool glance(session *session, bool results, output_data *found, bool accept, bool *there)
{
    struct stat info = {0};
    limits before;
    if (stat(session->engine.config.run.output, &info)) return true;
    limit_to((int64_t)info.st_size, &before);
    const int code = resume_glance(session, results, found, accept, there);
    lift(&before);
    if (!code) return true;
    output_free(found);
    return false;
}

/* As a run that goes on would. */
static int look(session *session, output_data *found, bool accept, bool *there)
{
    const int code = resume_look(session, found, accept, there);
    for (int k = 0; k < session->engine.mover_count; k++)
        found->joined |= session->engine.movers[k].mover->couples != 0;
    if (!code && *there && averages_find(found)) checked(NULL);
    return code;
}

static void put_output(FILE *out, const points_asked *a, session *session, bool apart,
                       point_progress *progress)
{
    const run_section *run = &session->engine.config.run;
    messages said;
    report r = {.hear = hear, .listener = &said};
    output_data found = {0};
    bool there = false;
    int code = 0;
    begin_messages(&said);
    session->engine.report = &r;
    if (apart || !glance(session, a->results, &found, a->accept_changes, &there))
        code = look(session, &found, a->accept_changes, &there);
    hear_prints(&said, progress);
    const bool finished = !code && there && resume_is_finished(session, &found);
    fputs(", \"output\": {\"state\": ", out);
    json_put(out, code ? "unusable" : finished ? "finished" : there ? "unfinished" : "missing");
    json_text(out, "file", run->output);
    fprintf(out, ", \"code\": %d, \"sweep\": %llu, \"sweeps\": %llu", code,
            (unsigned long long)found.sweep, (unsigned long long)(run->equilibrate + run->sweeps));
    if (!code && there && a->results) json_numbers(out, &found);
    put_messages(out, &said);
    fputc('}', out);
    output_free(&found);
}

/* ---- The line -------------------------------------------------------------------------------- */

static void put_verdict(FILE *out, int code, messages *said)
{
    fprintf(out, ", \"ok\": %s, \"code\": %d", flag(!code), code);
    put_messages(out, said);
}

void point_tell(FILE *out, const points_asked *a, int64_t k, bool apart, point_common *common,
                point_progress *progress)
{
    messages said;
    report r = {.hear = hear, .listener = &said};
    session session = {.engine.report = &r};
    begin_messages(&said);
    const int code = open_point(a, k, &session);
    hear_prints(&said, progress);
    common->codes[k] = code;
    put_asked(out, a, k);
    put_verdict(out, code, &said);
    progress->opened = !code;
    if (!code) {
        put_sizes(out, &session.engine.system);
        put_device(out, &session.engine, common);
        put_units(out, a, k, &session);
        put_files(out, &session.engine.config.ini);
        put_output(out, a, &session, apart, progress);
    }
    fputs("}\n", out);
    progress->opened = false;
    session.engine.report = &r;
    r.hear = hear_nothing;
    session_close(&session);
}

void point_tell_end(FILE *out, const points_asked *a, int64_t k, int code, const char *printed,
                    const char *how)
{
    messages said;
    char *copy = checked(strdup(printed));
    begin_messages(&said);
    hear_lines(&said, copy);
    hear(&said, &(report_message){.kind = REPORT_ERROR, .text = how});
    put_asked(out, a, k);
    put_verdict(out, code, &said);
    fputs("}\n", out);
    free(copy);
}
