/* plugmc optimise: the numbers of a wave function that give the lowest cost, (1 - w) energy + w variance. */
#include "optimise.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "program/beside.h"
#include "base/paths.h"
#include "engine/local_energies.h"
#include "base/stop.h"

enum {
    MOST_LEVEL = 12,
    MOST_IDLE = 2, /* loops without a step that helps, after which it is enough */
    FINAL = 4      /* times the samples of a loop */
};

/* ---- One optimisation --------------------------------------------------------------------------- */

typedef struct optimisation {
    session *session;
    variational_parameters f;
    const choices *c;
    char *output, *table;
    output_lock locks[2]; /* of both */
    history history;
    int64_t loop, level;
    double *values;  /* [K] to be sampled next */
    double *steps;   /* of the mover: samples_first_steps */
    bool files_kept; /* those of an earlier run that have the names of the files that are written */
    int64_t idle;    /* loops one after the other that found no step that helps */
    spent spent;
} optimisation;

/* The last loop that was not worse than what came before; NULL: there is none. */
static const entry *last_good(const optimisation *o)
{
    for (int64_t i = o->history.count - 1; i >= 0; i--)
        if (o->history.entries[i].good) return &o->history.entries[i];
    return NULL;
}

/* "-1.0733(4)": the error in units of the last digit. */
static const char *with_error(char text[64], double value, double error)
{
    int digits = error > 0 ? (int)ceil(-log10(error)) : 9;
    if (digits < 0) digits = 0;
    if (digits > 12) digits = 12;
    snprintf(text, 64, "%.*f(%.0f)", digits, value, error * pow(10, digits));
    return text;
}

static void write_input(FILE *out, const void *what)
{
    const optimisation *o = what;
    ini_write(out, &o->session->engine.config.ini, o->output);
}

static void write_text(FILE *out, const void *what) { fputs(what, out); }

/* "FILE.optimised.J.xml" for "J.xml" beside FILE.optimised.ini; to be freed. */
static char *name_beside(const optimisation *o, const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t length = strlen(o->output);
    const int stem =
        (int)(length > 4 && !strcmp(o->output + length - 4, ".ini") ? length - 4 : length);
    char *name;
    const int made = asprintf(&name, "%.*s.%s", stem, o->output, slash ? slash + 1 : path);
    return checked(made < 0 ? NULL : name);
}

/* The files that sections name, with the parameters in them, in the form of each. */
static int write_files(optimisation *o, const double *values)
{
    report *r = o->session->engine.report;
    const char *path;
    char *text;
    int code = variational_set(&o->f, values);
    for (int k = 0; !code; k++) {
        code = variational_file(&o->f, k, &path, &text, r);
        if (code || !path) break;
        char *name = name_beside(o, path);
        if (o->history.count == 1 && !o->files_kept) code = keep_former(name, r);
        if (!code) code = replace_file(name, write_text, text, r);
        free(name);
        free(text);
    }
    o->files_kept = true;
    return code;
}

static int write_result(optimisation *o, const double *values)
{
    session *session = o->session;
    int code = variational_put(&o->f, &session->engine.config.ini, values, session->engine.report);
    if (!code) code = replace_file(o->output, write_input, o, session->engine.report);
    return code ? code : write_files(o, values);
}

/* What is tried of one loop. */
typedef struct trial {
    double level, change, error, effective;
    double *values; /* [K] */
} trial;

/* The numbers after the step at a level, on the same samples. *good: whether they may be taken, and then *t is
 * what is known of them. */
static int try_level(optimisation *o, const samples *s, const matrices *m, double level, trial *t,
                     int *good)
{
    const int64_t k = o->f.count;
    double *energy = checked(calloc((size_t)s->count, sizeof *energy)),
           *ln_psi = checked(calloc((size_t)s->count, sizeof *ln_psi)),
           *step = checked(calloc((size_t)k, sizeof *step));
    int finite = 0, code = 0;
    *good = 0;
    t->level = level;
    const int possible = step_at(m, o->c, level, step);
    for (int64_t a = 0; a < k; a++) t->values[a] = o->values[a] + step[a];
    if (possible && variational_in_range(&o->f, t->values)) {
        code = variational_set(&o->f, t->values);
        if (!code) code = samples_again(o->session, s, energy, ln_psi, &finite);
        const int back = variational_set(&o->f, o->values);
        if (!code) code = back;
    }
    if (!code && finite) {
        const cost c = cost_reweighted(s, o->c, energy, ln_psi, &t->change, &t->error);
        t->effective = c.effective;
        *good = isfinite(t->change) && isfinite(t->error) && c.effective >= o->c->least_effective &&
                t->change <= t->error;
    }
    free(energy), free(ln_psi), free(step);
    return code;
}

/* The best of some levels, then of more caution until one is good. *found: 0 if none is. */
static int choose_step(optimisation *o, const samples *s, const matrices *m, trial *best,
                       int *found)
{
    const int64_t widest = o->loop ? 1 : 3; /* at first nobody knows where to look */
    trial t = {.values = checked(calloc((size_t)o->f.count, sizeof *t.values))};
    int code = 0, good;
    *found = 0;
    for (int64_t level = o->level - widest; level <= MOST_LEVEL && !code; level++) {
        if (*found && level > o->level + 1) break;
        code = try_level(o, s, m, (double)level, &t, &good);
        if (code || !good || (*found && t.change >= best->change)) continue;
        memcpy(best->values, t.values, (size_t)o->f.count * sizeof *t.values);
        *best = (trial){t.level, t.change, t.error, t.effective, best->values};
        *found = 1;
    }
    free(t.values);
    return code;
}

/* No variance that steps could lower: Psi is an eigenfunction as far as numbers go. */
static int is_exact(const cost *c) { return c->variance <= 1e-16 * (c->energy * c->energy + 1e-6); }

/* Local energies that scatter beyond their mean and beyond what any electron has: samples say nothing about
 * their average, and every step would fit noise. */
static int check_scatter(const optimisation *o, const cost *c)
{
    enum { MOST_SCATTER = 10 }; /* Hartree an electron */
    const double scatter = sqrt(c->variance),
                 electrons = (double)o->session->engine.system.particles;
    if (scatter <= fabs(c->energy) + MOST_SCATTER * electrons) return 0;
    return report_error(o->session->engine.report, EXIT_INPUT, o->session->engine.config.ini.path,
                        0,
                        "local energies scatter by %.3g Hartree around %.3g: this wave "
                        "function cannot be optimised from these parameters; start with "
                        "coefficients closer to 0",
                        scatter, c->energy);
}

static void say_loop(const optimisation *o, const cost *c, const char *then)
{
    char energy[64], variance[64];
    report_note(o->session->engine.report, "loop %lld: energy %s, variance %s Hartree^2; %s",
                (long long)o->loop, with_error(energy, c->energy, c->energy_error),
                with_error(variance, c->variance, c->variance_error), then);
}

/* The step from samples that are no worse than those before; into e->next and e->level. */
static int step_from(optimisation *o, const samples *s, entry *e)
{
    matrices m;
    char words[200], change[64];
    trial best = {.values = e->next};
    int found = 0;
    int code = matrices_make(s, o->c, &m, o->session->engine.report);
    if (!code) code = choose_step(o, s, &m, &best, &found);
    matrices_free(&m);
    if (code) return code;
    e->level = found ? (int64_t)best.level : o->level + 1;
    o->idle = found && best.change < -best.error ? 0 : o->idle + 1;
    if (found)
        snprintf(words, sizeof words, "step at level %g changes the cost by %s, N_eff/N %.2f",
                 best.level, with_error(change, best.change, best.error), best.effective);
    else
        snprintf(words, sizeof words, "no step lowers the cost");
    say_loop(o, &e->cost, words);
    return code;
}

/* The first steps are so large that a quarter, then half of the samples show the way. */
static int64_t samples_of_loop(const optimisation *o)
{
    return o->loop == 0 ? o->c->samples / 4 : o->loop == 1 ? o->c->samples / 2 : o->c->samples;
}

/* Samples, looks whether the last step was good on samples of its own, and finds the next one. */
static int do_loop(optimisation *o)
{
    const entry *before = last_good(o);
    samples s;
    int code = variational_set(&o->f, o->values);
    if (!code)
        code =
            samples_take(o->session, &o->f, o->steps, o->loop, samples_of_loop(o), &o->spent, &s);
    if (code) return code;
    double *next = checked(calloc((size_t)o->f.count, sizeof *next));
    entry e = {.loop = o->loop,
               .cost = cost_of(&s, o->c),
               .level = o->level,
               .good = 1,
               .sampled = o->values,
               .next = next};
    memcpy(next, o->values, (size_t)o->f.count * sizeof *next);
    if (before)
        e.good = e.cost.value - before->cost.value <= 3 * hypot(e.cost.error, before->cost.error);
    if (e.good) code = check_scatter(o, &e.cost);
    if (code) {
        o->idle = MOST_IDLE;
    } else if (is_exact(&e.cost)) {
        code = o->history.count
                   ? 0
                   : report_error(o->session->engine.report, EXIT_INPUT,
                                  o->session->engine.config.ini.path, 0,
                                  "no variance is left to optimise: the energy is %.10g in all "
                                  "samples, so this wave function is an eigenfunction",
                                  e.cost.energy);
        o->idle = MOST_IDLE;
    } else if (e.good) {
        code = step_from(o, &s, &e);
    } else {
        memcpy(next, before->sampled, (size_t)o->f.count * sizeof *next);
        e.level = o->level + 2;
        say_loop(o, &e.cost,
                 "worse than before: back to the previous parameters, with "
                 "smaller steps");
    }
    samples_free(&s);
    if (!code) {
        e.idle = o->idle;
        loops_append(&o->history, &e);
        memcpy(o->values, next, (size_t)o->f.count * sizeof *next);
        o->level = e.level < -MOST_LEVEL ? -MOST_LEVEL : e.level;
        o->loop++;
        if (o->history.count == 1) code = keep_former(o->output, o->session->engine.report);
        if (o->history.count == 1 && !code) code = keep_former(o->table, o->session->engine.report);
    }
    if (!code)
        code = loops_write(&o->history, &o->f, o->c, &o->session->engine.config.ini, o->table,
                           o->session->engine.report);
    if (!code) code = write_result(o, o->values);
    free(next);
    return code;
}

/* The numbers that are left, with more samples; those of the last good loop, if they are worse. */
static int finish(optimisation *o)
{
    const entry *before = last_good(o);
    samples s;
    char energy[64], variance[64];
    int code = variational_set(&o->f, o->values);
    if (!code)
        code = samples_take(o->session, &o->f, o->steps, o->loop, FINAL * o->c->samples, &o->spent,
                            &s);
    if (code) return code;
    cost c = cost_of(&s, o->c);
    const double *values = o->values;
    samples_free(&s);
    if (before && c.value - before->cost.value > 3 * hypot(c.error, before->cost.error)) {
        report_note(o->session->engine.report,
                    "the last step was worse than loop %lld, whose parameters are kept",
                    (long long)before->loop);
        c = before->cost;
        values = before->sampled;
    }
    code = write_result(o, values);
    if (code) return code;
    printf("energy    %s Hartree\nvariance  %s Hartree^2\n\n",
           with_error(energy, c.energy, c.energy_error),
           with_error(variance, c.variance, c.variance_error));
    variational_write(stdout, &o->f, values);
    report_note(o->session->engine.report, "written to %s", o->output);
    return 0;
}

/* From the table of loops. */
static int take_up(optimisation *o)
{
    const int code = loops_read(&o->history, &o->f, o->c, &o->session->engine.config.ini, o->table,
                                o->session->engine.report);
    if (code) return code;
    const entry *last = &o->history.entries[o->history.count - 1];
    memcpy(o->values, last->next, (size_t)o->f.count * sizeof *o->values);
    o->level = last->level;
    o->idle = last->idle;
    o->loop = last->loop + 1;
    return 0;
}

/* Before hours are spent: that the result can be written, and is not the input. */
static int check_output(const optimisation *o)
{
    report *r = o->session->engine.report;
    if (path_is_same_file(o->session->engine.config.ini.path, o->output))
        return report_error(r, EXIT_OUTPUT, NULL, 0,
                            "--output %s is the input, which would be overwritten", o->output);
    return output_probe(o->output, NULL, r);
}

/* From here on no other program writes the result or the table: two optimisations would mix them. */
static int take_locks(optimisation *o)
{
    const int code = output_lock_take_plain(&o->locks[0], o->output, o->session->engine.report);
    return code ? code : output_lock_take_plain(&o->locks[1], o->table, o->session->engine.report);
}

/* A step of so many numbers from so few samples fits noise; the first loop has a quarter of them. */
static void warn_of_few_samples(const optimisation *o)
{
    enum { ENOUGH = 20 };
    if (o->c->samples >= ENOUGH * o->f.count) return;
    report_warning(
        o->session->engine.report, NULL, 0,
        "--samples %lld for %lld parameters: steps will fit noise, and results may be worse "
        "than the initial parameters; some thousands of samples are usual",
        (long long)o->c->samples, (long long)o->f.count);
}

/* Samples of an optimisation count alike. */
static int check_movers(const session *session)
{
    for (int k = 0; k < session->engine.mover_count; k++) {
        const mover_slot *m = &session->engine.movers[k];
        const ini_section *of = m->instance->section->section;
        if (m->mover->changes & PLUGMC_CHANGED_WALKER_WEIGHT || m == session->engine.weighing)
            return report_error(session->engine.report, EXIT_INPUT, session->engine.config.ini.path,
                                of->line,
                                "[%s] gives walkers weights, but an optimisation needs "
                                "samples without weights: use a mover of variational Monte "
                                "Carlo",
                                of->name);
    }
    return 0;
}

static int ask_for_energies(session *session)
{
    instance *asking = engine_asking(&session->engine);
    return context_exit_code(&asking->context, local_energies(&asking->host, NULL),
                             "looking for local energies");
}

/* After a signal, or at the time limit, the table is that of the last loop. */
static int say_stopped(const optimisation *o, int code)
{
    if (code == EXIT_INTERRUPTED || code == EXIT_TIME_LIMIT)
        report_note(o->session->engine.report, "%s after %lld loops; %s",
                    code == EXIT_TIME_LIMIT ? "time limit reached" : "stopped by a signal",
                    (long long)o->history.count,
                    o->history.count ? "continue with --resume" : "there is nothing to continue");
    return code;
}

/* For whoever chooses the number of walkers and samples. */
static void say_spent(const optimisation *o)
{
    const spent *t = &o->spent;
    report_note(o->session->engine.report,
                "time: %.1f s sweeps, %.1f s local energies, %.1f s derivatives, %.1f s "
                "reweighting",
                t->sweeps, t->energies, t->derivatives, t->again);
}

static int optimise(optimisation *o, const char *only, bool resume)
{
    session *session = o->session;
    const double limit = session->engine.config.run.time_limit, begin = stop_clock();
    int code = check_movers(session);
    if (!code) code = check_output(o);
    if (!code) code = take_locks(o);
    if (!code) code = variational_find(&session->engine, only, &o->f);
    if (!code) code = ask_for_energies(session);
    if (code) return code;
    warn_of_few_samples(o);
    o->values = checked(calloc((size_t)o->f.count, sizeof *o->values));
    o->steps = samples_first_steps(session);
    o->history.numbers = o->f.count;
    code = resume ? take_up(o) : variational_get(&o->f, o->values);
    while (!code && o->loop < o->c->loops && o->idle < MOST_IDLE) {
        if (limit > 0 && stop_clock() - begin >= limit) code = EXIT_TIME_LIMIT;
        if (!code) code = do_loop(o);
    }
    if (!code) code = finish(o);
    if (o->history.count) say_spent(o);
    return say_stopped(o, code);
}

/* Derivatives of the energy by the parameters as they are, or a check of those that it is made of. */
static int derive(optimisation *o, const char *only, bool check)
{
    enum { CHECKED = 256 };
    session *session = o->session;
    samples s;
    int code = check_movers(session);
    if (!code) code = variational_find(&session->engine, only, &o->f);
    if (!code) code = ask_for_energies(session);
    if (code) return code;
    o->steps = samples_first_steps(session);
    const int64_t wanted = check && o->c->samples > CHECKED ? CHECKED : o->c->samples;
    o->values = checked(calloc((size_t)o->f.count, sizeof *o->values));
    code = variational_get(&o->f, o->values);
    if (!code) code = samples_take(session, &o->f, o->steps, 0, wanted, &o->spent, &s);
    if (code) return code;
    if (check)
        code = derivatives_check(stdout, session, &s, &o->f, o->values);
    else
        derivatives_print(stdout, &s, &o->f);
    samples_free(&s);
    return code;
}

/* ---- The run inside ----------------------------------------------------------------------------- */

static int open_run(session *session, const arguments *a)
{
    report *report = session->engine.report;
    int code = ini_read(a->file, &session->engine.config.ini, report);
    for (int i = 0; i < a->set_count && !code; i++)
        code = ini_set(&session->engine.config.ini, a->sets[i], report);
    if (code && !session->engine.config.ini.count) return code;
    const int reading = config_read(&session->engine.config, report),
              opening = session_open(session);
    if (code || reading || opening) return code ? code : reading ? reading : opening;
    session->engine.system.parameters_change = 1;
    return session_prepare(session);
}

static int begin(session *session, const arguments *a)
{
    optimisation o = {.session = session, .c = &a->choices};
    const size_t length = strlen(a->file);
    const char *dot = length > 4 && !strcmp(a->file + length - 4, ".ini") ? a->file + length - 4
                                                                          : a->file + length;
    int made = a->output ? asprintf(&o.output, "%s", a->output)
                         : asprintf(&o.output, "%.*s.optimised.ini", (int)(dot - a->file), a->file);
    checked(made < 0 ? NULL : o.output);
    checked(asprintf(&o.table, "%s.loops", o.output) < 0 ? NULL : o.table);
    int code = open_run(session, a);
    if (!code && a->derivatives)
        code = derive(&o, a->only, a->check);
    else if (!code)
        code = optimise(&o, a->only, a->resume);
    for (int k = 0; k < 2; k++) output_lock_release(&o.locks[k]);
    loops_free(&o.history);
    variational_free(&o.f);
    free(o.values), free(o.steps), free(o.output), free(o.table);
    return code;
}

static int command(int argc, char **argv)
{
    arguments a = {.choices = {.loops = 12,
                               .samples = 10000,
                               .variance_weight = 0.05,
                               .least_effective = 0.3,
                               .identity = 0.01,
                               .overlap = 1,
                               .time_step = 1,
                               .damping = 1e-3}};
    int code = arguments_parse(argc, argv, &a);
    if (code) return code;
    stop_take_signals();
    report report = {0};
    session session = {.engine.report = &report, .command = "plugmc optimise"};
    code = begin(&session, &a);
    session_close(&session);
    return code;
}

int main(int argc, char **argv) { return beside_main(argc, argv, optimise_help, command); }
