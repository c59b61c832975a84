/* A run that is resumed, against one that is not: by libplugmc, as any program would make them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "plugin/descriptor.h"
#include "plugmc/engine.h"

enum { MOST_TERMS = 64 };

/* What is compared. */
typedef struct run_results {
    int32_t terms, walkers;
    double *energies; /* [walkers][terms] */
    double *last;     /* the last measurement of all quantities that are kept */
    int64_t numbers;
    char **names; /* [numbers] */
} run_results;

static void free_run_results(run_results *o)
{
    for (int64_t k = 0; k < o->numbers; k++) free(o->names[k]);
    free(o->energies), free(o->last), free(o->names);
}

static int note_quantities(plugmc_engine *e, const target *t, run_results *o)
{
    int32_t count = 0;
    int code = plugmc_engine_quantities(e, &count);
    for (int32_t k = 0; k < count && !code; k++) {
        plugmc_engine_quantity q;
        code = plugmc_engine_quantity_at(e, k, &q);
        if (code || !q.last || strcmp(q.observable, t->label)) continue;
        const int64_t more = q.walkers * q.length;
        o->last = checked(realloc(o->last, sizeof *o->last * (size_t)(o->numbers + more)));
        o->names = checked(realloc(o->names, sizeof *o->names * (size_t)(o->numbers + more)));
        for (int64_t i = 0; i < more; i++) {
            o->last[o->numbers + i] = q.last[i];
            o->names[o->numbers + i] = checked(strdup(q.name));
        }
        o->numbers += more;
    }
    return code;
}

static int note(plugmc_engine *e, const target *t, run_results *o)
{
    plugmc_engine_array positions;
    while (o->terms < MOST_TERMS && plugmc_engine_term(e, o->terms)) o->terms++;
    int code = plugmc_engine_get(e, "positions", &positions);
    if (code) return code;
    o->walkers = (int32_t)positions.shape[0];
    o->energies = checked(calloc((size_t)(o->walkers * o->terms) + 1, sizeof *o->energies));
    code = plugmc_engine_energies(e, o->energies, NULL);
    return code ? code : note_quantities(e, t, o);
}

static void compare(const run_results *a, const run_results *b, findings *f)
{
    for (int32_t k = 0; k < a->walkers * a->terms; k++) {
        const double size = fabs(a->energies[k]) + fabs(b->energies[k]);
        check_value(
            f,
            a->energies[k] == b->energies[k]
                ? 0
                : fabs(a->energies[k] - b->energies[k]) / (1e-12 * size),
            "the energy of walker %d is %.17g, but %.17g in a run that was saved and resumed: "
            "what the plugin keeps beside its parameters belongs into `archive`",
            k / a->terms, a->energies[k], b->energies[k]);
    }
    if (a->numbers != b->numbers)
        check_fail(f, "a resumed run has %lld values, the other one %lld", (long long)b->numbers,
                   (long long)a->numbers);
    for (int64_t k = 0; k < a->numbers && a->numbers == b->numbers; k++)
        if (memcmp(&a->last[k], &b->last[k], sizeof(double)))
            check_fail(f,
                       "'%s' is %.17g, but %.17g in a run that was saved and resumed: what the "
                       "plugin keeps from one measurement to the next belongs into `archive`",
                       a->names[k], a->last[k], b->last[k]);
}

/* ---- Runs ------------------------------------------------------------------------------------ */

typedef struct task {
    int system;
    char folder[64];
} task;

static const char *input_name(const target *t) { return t->file ? t->file : "input"; }

/* Sections as a text, with movers, and an output file in our folder. */
static int write_input(const target *t, const task *own, char **text, report *r)
{
    ini_file ini = {0};
    size_t size;
    char output[128];
    const bool potential = t->loaded.plugin->kind == PLUGMC_POTENTIAL;
    int code = stand_input(t, own->system, STAND_POSITIONS, &ini, r);
    snprintf(output, sizeof output, "run.output=%s/run.h5", own->folder);
    if (!code) code = ini_set(&ini, output, r);
    if (!code) code = ini_set(&ini, "run.device=cpu", r);
    if (!code) code = ini_set(&ini, "run.equilibrate=2", r);
    if (!code) code = ini_set(&ini, "run.sweeps=40", r);
    if (!code && potential) code = ini_set(&ini, "mover serial.step=0.1", r);
    char period[512];
    snprintf(period, sizeof period, "observable %s.period=1", t->label);
    if (!code && t->loaded.plugin->kind == PLUGMC_OBSERVABLE) code = ini_set(&ini, period, r);
    FILE *out = checked(open_memstream(text, &size));
    if (!code) ini_write(out, &ini, NULL);
    fclose(out);
    ini_free(&ini);
    return code;
}

/* A sentence that begins with a line of our text, "FILE:LINE: ", with the line of FILE.ini that ini_write names at the end of
 * that line; without file and line where there is none. */
static const char *with_own_line(const target *t, const char *text, const char *name,
                                 const char *sentence, char out[1200])
{
    const size_t n = strlen(name);
    char *end;
    if (strncmp(sentence, name, n) || sentence[n] != ':') return sentence;
    const long line = strtol(sentence + n + 1, &end, 10);
    if (strncmp(end, ": ", 2)) return sentence;
    for (long k = 1; k < line && text; k++) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    const size_t length = text ? strcspn(text, "\n") : 0;
    const char *mark = length ? memrchr(text, ';', length) : NULL;
    const int rest = mark ? (int)(text + length - mark) - 2 : 0;
    if (!t->file || rest <= 0 || !memchr(mark, ':', (size_t)rest)) return end + 2;
    snprintf(out, 1200, "%.*s%s", rest, mark + 2, end);
    return out;
}

static const char *error_of(const target *t, const char *text, plugmc_engine *e, char out[1200])
{
    return with_own_line(t, text, input_name(t), plugmc_engine_error(e), out);
}

/* The failed check that has this sentence already, which has *place bytes of file and line before it here; NULL: none. */
static const char *told_by(const findings *f, const char *why, int *place)
{
    for (int k = 0; k < f->count; k++) {
        const finding *one = &f->list[k];
        const char *same =
            one->verdict == CHECK_FAILED && *one->sentence ? strstr(why, one->sentence) : NULL;
        *place = same ? (int)(same - why) : 0;
        if (same) return one->check;
    }
    return NULL;
}

static void tell(const target *t, const char *text, findings *f, plugmc_engine *e, int code)
{
    char words[1200];
    int place;
    const char *why = error_of(t, text, e, words), *check = told_by(f, why, &place);
    if (check)
        check_leave(f, "such a run ends: %.*swhat '%s' says", place, why, check);
    else if (code == EXIT_PLUGIN || code == EXIT_INTERNAL)
        check_fail(f, "%s", why);
    else
        check_leave(f, "such a run is not possible: %s", why);
}

/* One run; half of it is in the file if `saves`. */
static int run(const target *t, const char *text, int64_t sweeps, bool saves, run_results *o,
               findings *f)
{
    plugmc_engine *e = checked(plugmc_engine_new());
    int code = plugmc_engine_open_text(e, input_name(t), text);
    if (!code) code = plugmc_engine_sweep(e, sweeps);
    if (!code && saves) code = plugmc_engine_checkpoint(e);
    if (!code && o) code = note(e, t, o);
    if (code) tell(t, text, f, e, code);
    plugmc_engine_close(e);
    return code;
}

static int resume(const target *t, const task *own, const char *text, int64_t sweeps,
                  run_results *o, findings *f)
{
    char path[128], words[1200];
    snprintf(path, sizeof path, "%s/run.h5", own->folder);
    plugmc_engine *e = checked(plugmc_engine_new());
    int code = plugmc_engine_resume(e, path);
    if (!code) code = plugmc_engine_sweep(e, sweeps);
    if (!code) code = note(e, t, o);
    if (code) check_fail(f, "a run cannot be resumed: %s", error_of(t, text, e, words));
    plugmc_engine_close(e);
    return code;
}

static int compare_runs(const target *t, findings *f, void *argument)
{
    const task *own = argument;
    const int64_t half = 7;
    char *text = NULL;
    heard heard;
    run_results straight = {0}, resumed = {0};
    heard_begin(&heard);
    check_begin(f, "saved and resumed", 1,
                "energies and the last measurement of a run with those of the same run that was "
                "saved half way and resumed; allowed 1e-12, measurements bit for bit");
    int code = write_input(t, own, &text, &heard.report);
    if (code) check_leave(f, "%s", heard_or(&heard, "no input for it"));
    if (!code) code = run(t, text, 2 * half, false, &straight, f);
    if (!code) code = run(t, text, half, true, NULL, f);
    if (!code) code = resume(t, own, text, half, &resumed, f);
    if (!code) compare(&straight, &resumed, f);
    check_end(f);
    free_run_results(&straight), free_run_results(&resumed), free(text);
    return 0;
}

int check_resumed(const target *t, int system, findings *f)
{
    task own = {.system = system};
    const char *temporary = getenv("TMPDIR");
    snprintf(own.folder, sizeof own.folder, "%.40s/validate-XXXXXX",
             temporary && strlen(temporary) <= 40 ? temporary : "/tmp");
    if (!mkdtemp(own.folder)) {
        check_not_covered(f, "saved and resumed", "no folder in %s: %s", own.folder,
                          strerror(errno));
        return 0;
    }
    apart(t, f, "saved and resumed", apart_patience(t), compare_runs, &own);
    remove_folder(own.folder);
    return 0;
}
