#include "border.h"

#include <fenv.h>
#include <locale.h>
#include <omp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu/gpu.h"

/* ---- The thread of the host program ----------------------------------------------------------- */

/* What the thread of the host has set for itself, and what plugmc needs instead. */
typedef struct settings {
    bool inside;
    int threads, own_threads; /* of OpenMP; own: 0 before it is known */
    locale_t locale, own_locale;
    fenv_t arithmetic;
    sigset_t signals;
    bool pending[2];
} settings;

static settings kept; /* one engine is open at a time */
static jmp_buf *way_out;

/* ---- Messages --------------------------------------------------------------------------------- */

void border_forget_messages(plugmc_engine *e)
{
    told *t = &e->told;
    while (t->count) free(t->messages[--t->count].text);
    free(t->messages);
    t->messages = NULL;
    t->passed = 0;
    t->error[0] = 0;
    t->code = 0;
}

/* Of all threads that are at work for the engine. */
static pthread_mutex_t hearing = PTHREAD_MUTEX_INITIALIZER;

/* Where memory is short the first error is kept all the same. */
static void keep(told *t, int32_t kind, const char *message)
{
    if (kind == REPORT_ERROR && !t->error[0]) snprintf(t->error, sizeof t->error, "%s", message);
    heard *more = realloc(t->messages, (size_t)(t->count + 1) * sizeof *more);
    if (more) t->messages = more;
    char *text = more ? strdup(message) : NULL;
    if (text) t->messages[t->count++] = (heard){text, kind};
}

/* What has been kept, to the host, in its own thread. */
static void pass_on(plugmc_engine *e)
{
    told *t = &e->told;
    const bool was_inside = kept.inside;
    if (!t->hears || !pthread_equal(e->thread, pthread_self())) return;
    if (was_inside) border_leave(e);
    for (; t->passed < t->count; t->passed++)
        t->hears(t->data, t->messages[t->passed].kind, t->messages[t->passed].text);
    if (was_inside) border_enter(e);
}

static void hear_text(plugmc_engine *e, enum report_kind kind, const char *message)
{
    pthread_mutex_lock(&hearing);
    keep(&e->told, (int32_t)kind, message);
    pthread_mutex_unlock(&hearing);
    pass_on(e);
}

static void hear(void *listener, const report_message *m)
{
    plugmc_engine *e = listener;
    char *line = report_line(&e->report, m);
    if (line) line[strcspn(line, "\n")] = 0;
    hear_text(e, m->kind, line ? line : "there is not enough memory for what is to be said");
    free(line);
}

void border_hear(plugmc_engine *e)
{
    e->report.hear = hear;
    e->report.listener = e;
}

int border_say(plugmc_engine *e, int code, const char *format, ...)
{
    char sentence[sizeof e->told.error];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    e->told.error[0] = 0;
    hear_text(e, REPORT_ERROR, sentence);
    return e->told.code = code;
}

/* ---- In and out ------------------------------------------------------------------------------- */

/* Writing to a pipe or beyond a limit is an error with a sentence. */
static const int quiet_signals[2] = {SIGPIPE, SIGXFSZ};

static void hold_signals(void)
{
    sigset_t quiet, now;
    sigemptyset(&quiet);
    for (int k = 0; k < 2; k++) sigaddset(&quiet, quiet_signals[k]);
    sigpending(&now);
    for (int k = 0; k < 2; k++) kept.pending[k] = sigismember(&now, quiet_signals[k]) == 1;
    pthread_sigmask(SIG_BLOCK, &quiet, &kept.signals);
}

static void let_signals_go(void)
{
    const struct timespec none = {0, 0};
    sigset_t now, one;
    sigpending(&now);
    for (int k = 0; k < 2; k++) {
        if (kept.pending[k] || sigismember(&now, quiet_signals[k]) != 1) continue;
        sigemptyset(&one);
        sigaddset(&one, quiet_signals[k]);
        sigtimedwait(&one, NULL, &none);
    }
    pthread_sigmask(SIG_SETMASK, &kept.signals, NULL);
}

static void memory_is_short(void) { longjmp(*way_out, 1); }

void border_enter(plugmc_engine *e)
{
    if (kept.inside) return;
    kept.inside = true;
    kept.threads = omp_get_max_threads();
    if (e->condition != IS_NEW && kept.own_threads) omp_set_num_threads(kept.own_threads);
    if (!kept.own_locale) kept.own_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    kept.locale = uselocale(kept.own_locale);
    fegetenv(&kept.arithmetic);
    fesetenv(FE_DFL_ENV);
    hold_signals();
    if (e->session.engine.device.gpu) gpu_enter(e->session.engine.device.gpu);
    checked_leaves(memory_is_short);
}

void border_leave(plugmc_engine *e)
{
    if (!kept.inside) return;
    kept.inside = false;
    checked_leaves(NULL);
    if (e->session.engine.device.gpu) gpu_leave(e->session.engine.device.gpu);
    let_signals_go();
    fesetenv(&kept.arithmetic);
    uselocale(kept.locale);
    kept.own_threads = omp_get_max_threads();
    omp_set_num_threads(kept.threads);
}

/* ---- Calls ------------------------------------------------------------------------------------ */

static int refuse_or_not(plugmc_engine *e, int where)
{
    if (e->depth && where != OPEN)
        return border_say(e, EXIT_USAGE,
                          "a callback cannot open, close, sweep or set: that is for "
                          "after the call that has called it");
    if (where == ANY_ALONE) return 0;
    if (e->condition == IS_TORN)
        return border_say(e, EXIT_MEMORY,
                          "an earlier call has ended for want of memory: this "
                          "engine can only be closed");
    if (e->condition == HAS_FAILED)
        return border_say(e, EXIT_USAGE,
                          "an earlier call has failed: this engine can only be closed");
    if (where == NEW_ALONE && e->condition != IS_NEW)
        return border_say(e, EXIT_USAGE, "this engine is open already");
    if (where != NEW_ALONE && e->condition == IS_NEW)
        return border_say(e, EXIT_USAGE, "this engine has not been opened");
    return 0;
}

static int make_call(plugmc_engine *e, border_work *work, void *argument)
{
    jmp_buf here, *const outer = way_out;
    const bool was_inside = kept.inside;
    way_out = &here;
    e->depth++;
    border_enter(e);
    if (!setjmp(here)) {
        e->told.code = work(e, argument);
    } else {
        border_say(e, EXIT_MEMORY, "there is not enough memory: this engine can only be closed");
        e->condition = IS_TORN;
    }
    pass_on(e);
    if (!was_inside) border_leave(e);
    e->depth--;
    way_out = outer;
    return e->told.code;
}

int border_cross(plugmc_engine *e, int where, border_work *work, void *argument)
{
    /* messages are those of the thread that has made the engine, which may be at work */
    if (!e || !pthread_equal(e->thread, pthread_self())) return EXIT_USAGE;
    border_forget_messages(e);
    const int refused = refuse_or_not(e, where);
    if (refused) return refused;
    e->report.errors = e->report.code = 0;
    const int code = make_call(e, work, argument);
    if (code && !e->told.error[0])
        return border_say(e, code, "the call has failed (code %d), and nobody has said why", code);
    return code;
}
