/* What a run tells while it runs. See progress.h. */
#include "session/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "archive/averages.h"
#include "records/json.h"
#include "engine/moves.h"
#include "parallel/team.h"
#include "records/results.h"
#include "base/stop.h"

/* ---- Beginning ----------------------------------------------------------------------------------------- */

static char *name_of(const quantity_record *q)
{
    char *name;
    return checked(asprintf(&name, "%s.%s", q->observable, q->name) < 0 ? NULL : name);
}

static int no_such(const session *session, const char *place, const char *word)
{
    const output_data *out = &session->records.output;
    char **names = checked(calloc((size_t)out->quantity_count + 1, sizeof *names));
    int count = 0;
    for (int i = 0; i < out->quantity_count; i++)
        if (out->quantities[i].length == 1) names[count++] = name_of(&out->quantities[i]);
    const char *near = nearest_name(word, (const char *const *)names, count);
    const int code =
        report_error(session->engine.report, EXIT_INPUT, place, 0,
                     "[run] show: no observable measures a number '%s'%s%s%s", excerpt(word).text,
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    for (int i = 0; i < count; i++) free(names[i]);
    free(names);
    return code;
}

static const quantity_record *quantity_called(const session *session, const char *word)
{
    for (int i = 0; i < session->records.output.quantity_count; i++) {
        const quantity_record *q = &session->records.output.quantities[i];
        char *name = name_of(q);
        const bool same = q->length == 1 && !strcmp(name, word);
        free(name);
        if (same) return q;
    }
    return NULL;
}

int progress_find(progress *p, const session *session)
{
    const ini_section *section = ini_find(&session->engine.config.ini, "run");
    const ini_entry *entry = section ? ini_get(section, "show") : NULL;
    if (!entry) return 0;
    char *words = checked(strdup(session->engine.config.run.show)), *rest = words, *word;
    int code = 0;
    while ((word = strsep(&rest, " \t")) && !code) {
        const quantity_record *q = *word ? quantity_called(session, word) : NULL;
        if (!*word) continue;
        if (!q)
            code = no_such(session, entry->origin, word);
        else if (p->shown_count == MOST_SHOWN)
            code = report_error(session->engine.report, EXIT_INPUT, entry->origin, 0,
                                "[run] show: %d numbers at most", MOST_SHOWN);
        else
            p->shown[p->shown_count++] = q;
    }
    free(words);
    return code;
}

int progress_begin(progress *p, const session *session, double now)
{
    *p = (progress){.terminal = isatty(STDERR_FILENO),
                    .begin = now,
                    .last = now,
                    .first = session->records.output.sweep};
    return progress_find(p, session);
}

/* ---- What is known so far ------------------------------------------------------------------------------ */

/* Of all kinds of trial moves together; NaN before there are any. Of many processes as it was when they were counted
 * last, since one alone shows it. */
static double acceptance_of(session *session)
{
    double trials = 0, accepted = 0;
    if (team_now()->ranks == 1 && moves_refresh(&session->engine)) return NAN;
    for (int i = 0; i < session->records.output.move_count; i++)
        for (int32_t r = 0; r < session->records.output.moves[i].rungs; r++) {
            trials += (double)session->records.output.moves[i].counts[r].trials;
            accepted += (double)session->records.output.moves[i].counts[r].accepted;
        }
    return trials > 0 ? accepted / trials : NAN;
}

/* Long series take time: a fiftieth of it at most. */
static void look_at_shown(progress *p, const session *session, double now)
{
    if (now < p->looked + 50 * p->took) return;
    for (int i = 0; i < p->shown_count; i++)
        averages_so_far(&session->records.output, p->shown[i], &p->found[i]);
    p->looked = stop_clock();
    p->took = p->looked - now;
}

const char *duration_words(double seconds, char text[32])
{
    if (!(seconds < 1e9))
        snprintf(text, 32, "years");
    else if (seconds < 100)
        snprintf(text, 32, "%.0f s", seconds);
    else if (seconds < 100 * 60)
        snprintf(text, 32, "%.3g min", seconds / 60);
    else if (seconds < 48 * 3600)
        snprintf(text, 32, "%.3g h", seconds / 3600);
    else
        snprintf(text, 32, "%.3g d", seconds / 86400);
    return text;
}

/* ---- Lines --------------------------------------------------------------------------------------------- */

/* Columns of the terminal, 0 if it does not say. */
static size_t columns_of_terminal(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

/* Pieces as long as they fit, the important ones first. */
typedef struct line {
    char text[512];
    size_t length, room;
} line;

static void add(line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(line *l, const char *format, ...)
{
    char piece[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    const size_t length = strlen(piece);
    if (l->length + length > l->room) {
        l->room = l->length; /* nothing behind what has been left out */
        return;
    }
    memcpy(l->text + l->length, piece, length + 1);
    l->length += length;
}

typedef struct moment {
    uint64_t sweep, total;
    bool production;
    double rate, left, acceptance; /* sweeps a second; seconds */
    double trials;                 /* trial moves a second; NAN: not known */
} moment;

static void show_line(const progress *p, const session *session, const moment *m, bool final)
{
    char words[64], time[32];
    const size_t columns = p->terminal ? columns_of_terminal() : 0;
    line l = {.room = columns > 1 && columns <= sizeof l.text ? columns - 1 : sizeof l.text - 1};
    add(&l, "%s: %llu of %llu sweeps", m->production ? "production" : "equilibration",
        (unsigned long long)m->sweep, (unsigned long long)m->total);
    add(&l, " (%.3g %%)", m->total ? 100 * (double)m->sweep / (double)m->total : 100);
    add(&l, ", %s left", duration_words(m->left, time));
    add(&l, ", %.3g sweeps/s", m->rate);
    if (m->trials > 0) add(&l, ", %.3g trials/s", m->trials);
    if (!isnan(m->acceptance)) add(&l, ", acceptance %.3f", m->acceptance);
    for (int i = 0; i < p->shown_count; i++)
        if (p->found[i].samples)
            add(&l, ", %s %s", p->shown[i]->name,
                with_error(p->found[i].mean, p->found[i].error, p->found[i].converged, words));
    if (p->terminal && !final)
        fprintf(stderr, "\r%s\033[K", l.text);
    else
        report_note(session->engine.report, "%s", l.text);
    fflush(stderr);
}

static void show_object(const progress *p, const moment *m)
{
    printf("{\"event\": \"progress\", \"phase\": \"%s\", \"sweep\": %llu, \"sweeps\": %llu",
           m->production ? "production" : "equilibration", (unsigned long long)m->sweep,
           (unsigned long long)m->total);
    json_real(stdout, "sweeps_per_second", m->rate);
    json_real(stdout, "trials_per_second", m->trials);
    json_real(stdout, "seconds_left", m->left);
    json_real(stdout, "acceptance", m->acceptance);
    for (int i = 0; i < p->shown_count; i++) {
        char *name = name_of(p->shown[i]);
        json_number(stdout, name, &p->found[i]);
        free(name);
    }
    puts("}");
    fflush(stdout);
}

void progress_show(progress *p, session *session, uint64_t sweep, bool final)
{
    const double now = stop_clock(), elapsed = now - p->begin;
    const bool json = session->tells == TELLS_JSON;
    const double pause = json ? 1 : p->terminal ? 0.5 : 30;
    if ((!final && now - p->last < pause) ||
        (session->tells == TELLS_LITTLE && !session->engine.report->log))
        return;
    p->last = now;
    moment m = {.sweep = sweep,
                .total = (uint64_t)(session->engine.config.run.equilibrate +
                                    session->engine.config.run.sweeps),
                .production = sweep > (uint64_t)session->engine.config.run.equilibrate,
                .rate = elapsed > 0 ? (double)(sweep - p->first) / elapsed : 0};
    m.left = m.rate > 0 ? (double)(m.total - sweep) / m.rate : 0;
    m.acceptance = acceptance_of(session);
    /* of many processes they have not been asked for now */
    m.trials = elapsed > 0 && team_now()->ranks == 1 ? session->engine.trials_made / elapsed : NAN;
    look_at_shown(p, session, now);
    if (json)
        show_object(p, &m);
    else
        show_line(p, session, &m, final);
}

void progress_end(const progress *p)
{
    if (p->terminal) fputs("\r\033[K", stderr);
}
