/* See surveyor.h. */
#include "surveyor.h"

#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "key_units.h"
#include "session/resume.h"
#include "gpu/gpu.h"
#include "plugin/loader.h"
#include "archive/store.h"
#include "archive/averages.h"

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whatever a plugin has printed, a record begins a line. */
static void tell(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "\n%c", SURVEY_RECORD);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}

/* ---- What a point wants ---------------------------------------------------------------------- */

/* As the run will choose: the first mover with a configuration of its own decides, and one that needs a
 * GPU has it. */
static bool wants_gpu(const session *session)
{
    const moving *first = NULL;
    bool needed = false;
    if (session->engine.config.run.device != DEVICE_AUTO)
        return session->engine.config.run.device == DEVICE_GPU;
    for (int k = session->engine.mover_count - 1; k >= 0; k--) {
        if (!session->engine.movers[k].by_core) first = &session->engine.movers[k];
        needed |= !(session->engine.movers[k].mover->needs & PLUGMC_RUNS_ON_CPU);
    }
    return needed || (first && first->mover->needs & PLUGMC_RUNS_ON_GPU);
}

/* Once: they are those of all points. */
static void tell_units(const study *s, const session *session)
{
    static bool told;
    for (int i = 0; i < s->key_count && !told; i++) {
        char *unit = key_unit(session, s->keys[i].name);
        tell("unit\t%d\t%s", i, unit);
        free(unit);
    }
    told = true;
}

static void tell_wants(const study *s, const session *session)
{
    const ini_section *run = ini_find(&session->engine.config.ini, "run");
    const bool gpu = wants_gpu(session);
    static bool told;
    told |= s->threads && (s->gpus || !gpu); /* by the first surveyor */
    if (!told) {
        char why[512];
        int version;
        tell("machine\t%d\t%d", gpu ? gpu_count(&version, why) : 0,
             session->engine.device.offer.threads);
    }
    told = gpu || told;
    tell_units(s, session);
    tell("particles\t%lld", (long long)session->engine.system.particles);
    tell("wants\t%d\t%d\t%d", gpu, ini_get(run, "gpu") != NULL,
         session->engine.config.run.threads != 0);
    char *text = study_text(s, &session->engine.config.ini);
    tell("ini\t%zu", strlen(text));
    fputs(text, stderr);
    free(text);
}

/* ---- What it has found ----------------------------------------------------------------------- */

static void tell_result(const char *observable, const char *name, const char *unit, bool there,
                        double value, double error, bool converged)
{
    tell("result\t%s.%s\t%s\t%d\t%.17g\t%.17g\t%d", observable, name, unit ? unit : "", there,
         there ? value : 0, there ? error : 0, converged);
}

static void tell_results(const session *session, output_data *found)
{
    for (int k = 0; k < session->engine.mover_count; k++)
        found->joined |= session->engine.movers[k].mover->joins != 0;
    if (averages_find(found)) checked(NULL);
    for (int i = 0; i < found->quantity_count; i++) {
        const quantity_record *q = &found->quantities[i];
        const estimate *e = &q->found.scalar;
        if (q->length == 1)
            tell_result(q->observable, q->name, q->unit, q->samples > 0, e->mean, e->error,
                        e->converged);
    }
    for (int i = 0; i < found->derived_count; i++) {
        const derived_record *d = &found->derived[i];
        if (d->length < 2)
            tell_result(d->observable, d->name, d->unit, d->valid, d->value, d->error,
                        d->converged);
    }
}

/* ---- One point ------------------------------------------------------------------------------- */

static int compare_texts(const void *one, const void *other) { return strcmp(one, other); }

/* The values of a point, but for keys that begin with one of these words and, of one file, which is long, twists;
 * malloc'ed. */
static char *values_of(const study *s, int64_t k, const char *const *without, int count,
                       bool twists)
{
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    for (int i = 0; i < s->key_count; i++) {
        bool left_out = s->keys[i].group == GROUP_TWISTS && !twists;
        for (int c = 0; c < count; c++)
            left_out |= !strncmp(s->keys[i].name, without[c], strlen(without[c]));
        if (!left_out) fprintf(out, "%s\n", study_value(s, k, &s->keys[i]));
    }
    fclose(out);
    return checked(text);
}

/* `text` is the set's, or freed. */
static void remember(char *text, void **set)
{
    if (*(char **)checked(tsearch(text, set, compare_texts)) != text) free(text);
}

/* Plugins, and files that they read, are tried in a child where a point is the first that has them: they
 * hang on the values of keys that are not those of the core. */
static bool is_new(const study *s, int64_t k)
{
    static const char *const core[] = {"run.", "box.", "species ", "ladder."};
    static void *known;
    char *text = values_of(s, k, core, PLUGMC_COUNT(core), false);
    const bool new = !tfind(text, &known, compare_texts);
    remember(text, &known);
    return new;
}

/* Pair energies are probed where a point is the first that has them, and good: they hang on all keys but these. What
 * the machine offers is asked once. */
static int open_point(const study *s, int64_t k, session *session)
{
    static const char *const of_chain[] = {"run.seed", "run.sweeps", "run.equilibrate"};
    static thread_offer offer;
    static void *probed;
    const char *program = child_program;
    char *pairs = values_of(s, k, of_chain, PLUGMC_COUNT(of_chain), true);
    session->engine.device.offer = offer;
    session->engine.pairs_known = tfind(pairs, &probed, compare_texts) != NULL;
    if (!is_new(s, k)) child_program = NULL;
    int code = study_configure(s, k, &session->engine.config.ini, session->engine.report);
    int reading = config_read(&session->engine.config, session->engine.report),
        opening = session_open(session);
    child_program = program;
    offer = session->engine.device.offer;
    code = code ? code : reading ? reading : opening;
    if (code)
        free(pairs);
    else
        remember(pairs, &probed);
    return code;
}

/* ---- Its output file ------------------------------------------------------------------------- */

#ifdef PLUGMC_SANITIZED
enum { LIMITS_MEMORY = 0 }; /* they map more than any limit */
#else
enum { LIMITS_MEMORY = 1 };
#endif

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

/* What no sound file needs ends this process, and its parent has the file read by another one. */
static void limit_to(int64_t bytes, limits *before)
{
    struct rusage used = {0};
    getrusage(RUSAGE_SELF, &used);
    const int64_t seconds = used.ru_utime.tv_sec + used.ru_stime.tv_sec;
    lower(RLIMIT_CPU, &before->cpu, (rlim_t)(seconds + 6 + bytes / 5000000));
    if (LIMITS_MEMORY) lower(RLIMIT_DATA, &before->data, ((rlim_t)2 << 30) + 8 * (rlim_t)bytes);
    alarm((unsigned)(60 + bytes / 1000000));
}

static void lift(const limits *before)
{
    alarm(0);
    setrlimit(RLIMIT_CPU, &before->cpu);
    if (LIMITS_MEMORY) setrlimit(RLIMIT_DATA, &before->data);
}

/* In this process, where a sound file takes a tenth of the time: true if all is well with it, or there is
 * none. Nothing is said of what is not. */
static bool look_here(session *session, output_data *found, bool accept, bool *there)
{
    struct stat info = {0};
    limits before;
    report unheard = {0}, *heard = session->engine.report;
    const char *program = child_program;
    if (stat(session->engine.config.run.output, &info)) return true;
    report_hold(&unheard, true);
    session->engine.report = &unheard;
    child_program = NULL;
    limit_to((int64_t)info.st_size, &before);
    const int code = resume_look(session, found, accept, there);
    lift(&before);
    child_program = program;
    session->engine.report = heard;
    report_hold(&unheard, false);
    if (!code) return true;
    output_free(found);
    *found = (output_data){0};
    return false;
}

static void look_at(const study *s, int64_t k, bool results, bool apart)
{
    report r = {0};
    session session = {.engine.report = &r};
    output_data found = {0};
    bool there = false;
    tell("point\t%lld", (long long)k);
    int code = open_point(s, k, &session);
    tell("opened\t%d", code);
    if (!code) {
        const run_section *run = &session.engine.config.run;
        tell_wants(s, &session);
        if (apart || !look_here(&session, &found, s->accept_changes, &there))
            code = resume_look(&session, &found, s->accept_changes, &there);
        const bool finished = !code && there && resume_is_finished(&session, &found);
        if (!code && there && results) tell_results(&session, &found);
        tell("looked\t%d\t%d\t%d\t%llu\t%llu", code, there, finished,
             (unsigned long long)found.sweep, (unsigned long long)(run->equilibrate + run->sweeps));
    }
    output_free(&found);
    session_close(&session);
}

void surveyor(const study *s, int64_t first, int64_t end, bool results, bool first_apart)
{
    const struct rlimit no_core = {0, 0};
    store_guard_hdf5();
    plugins_stay();
    setrlimit(RLIMIT_CORE, &no_core);
    for (int64_t k = first; k < end; k++) look_at(s, k, results, k == first && first_apart);
}
