/* plugmc ladder: a better ladder, from how walkers have travelled along that of a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/beside.h"
#include "cli/standard_streams.h"
#include "crash.h"
#include "ladders.h"
#include "run/results.h"
#include "runs.h"

static const char help[] =
    "usage: plugmc ladder FILE.h5 [--rungs N] [--equal] [--from SWEEP]\n\n"
    "Proposes values for a ladder between the same ends, as lines for an INI file, from the exchanges of\n"
    "a run: those with which walkers make most round trips, if [observable round_trips] has seen enough of\n"
    "them; else those with which all neighbours exchange equally often. Says what is to be expected.\n\n"
    "  --rungs N     another number of rungs than the run has\n"
    "  --equal       by equal acceptance in any case\n"
    "  --from SWEEP  round trips after this sweep alone\n\n"
    "exit codes: 0 done, 2 command line, 3 input, 4 plugin, 5 output, 6 a file that cannot be read,\n"
    "8 memory\n";

enum { MOST_RUNGS = 10000, ROUND_TRIPS_OF_A_RUNG = 4 };

typedef struct arguments {
    const char *file;
    long long rungs, from; /* 0: not given */
    bool equal;
} arguments;

static int usage_error(const char *format, const char *word)
{
    fputs("plugmc ladder: ", stderr);
    fprintf(stderr, format, word);
    fputs("; see --help\n", stderr);
    return EXIT_USAGE;
}

static int take_number(const char *word, const char *text, long long least, long long most,
                       long long *out)
{
    char *end = NULL;
    *out = text ? strtoll(text, &end, 10) : 0;
    if (text && *text && !*end && *out >= least && *out <= most) return 0;
    return usage_error("%s needs a whole number", word);
}

static int parse(int argc, char **argv, arguments *a)
{
    int code = 0;
    for (int i = 0; i < argc && !code; i++) {
        const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(word, "--rungs"))
            code = take_number(word, next, 2, MOST_RUNGS, &a->rungs), i++;
        else if (!strcmp(word, "--from"))
            code = take_number(word, next, 1, INT64_MAX, &a->from), i++;
        else if (!strcmp(word, "--equal"))
            a->equal = true;
        else if (word[0] == '-')
            return usage_error("unknown option '%s'", word);
        else if (a->file)
            return usage_error("one file, not also '%s'", word);
        else
            a->file = word;
    }
    return code || a->file ? code : usage_error("%s", "which file?");
}

/* ---- What a run tells ----------------------------------------------------------------------------------- */

static const quantity_record *find(const simulation *sim, const char *name, int32_t rung)
{
    char full[128], suffix[40];
    snprintf(full, sizeof full, "%s%s", name, ladder_suffix(&sim->ladder, rung, suffix));
    for (int i = 0; i < sim->output.quantity_count; i++)
        if (!strcmp(sim->output.quantities[i].name, full)) return &sim->output.quantities[i];
    return NULL;
}

/* Sweeps from one turn of exchanges to the next. */
static uint64_t turn_of_exchanges(const simulation *sim)
{
    for (int i = 0; i < sim->mover_count; i++)
        if (!strcmp(sim->output.moves[sim->movers[i].first_move].name, "exchange"))
            return sim->movers[i].every;
    return 1;
}

/* Shares on the way up, and round trips; none if they were not measured. */
static void take_flow(const simulation *sim, travelled *t)
{
    const quantity_record *ends = find(sim, "round_trips", 0);
    if (!ends || !find(sim, "upward", 0) || !ends->samples) return;
    t->upward = checked(calloc((size_t)t->rungs, sizeof *t->upward));
    t->error = checked(calloc((size_t)t->rungs, sizeof *t->error));
    t->round_trips = ends->found.scalar.mean * (double)(ends->samples * ends->walkers);
    t->current =
        2 * ends->found.scalar.mean * (double)turn_of_exchanges(sim) / (double)ends->period;
    for (int k = 0; k < t->rungs; k++) {
        const estimate *e = &find(sim, "upward", k)->found.scalar;
        t->upward[k] = e->mean;
        t->error[k] = e->error;
    }
}

/* Exchanges of neighbours, of all movers that make some. */
static int take_exchanges(const analysed *run, travelled *t)
{
    const output_data *out = &run->sim.output;
    bool any = false;
    t->accepted = checked(calloc((size_t)t->rungs, sizeof *t->accepted));
    t->trials = checked(calloc((size_t)t->rungs, sizeof *t->trials));
    for (int i = 0; i < out->move_count; i++) {
        const move_record *m = &out->moves[i];
        if (strcmp(m->name, "exchange") || m->rungs != t->rungs) continue;
        any = true;
        for (int k = 0; k + 1 < t->rungs; k++) {
            t->trials[k] += (double)m->counts[k].trials;
            t->accepted[k] += (double)m->counts[k].accepted;
        }
    }
    for (int k = 0; k < t->rungs; k++) t->accepted[k] /= t->trials[k];
    return any ? 0
               : report_error(run->sim.report, EXIT_INPUT, run->path, 0,
                              "has no [mover exchange]: walkers have stayed on their rungs");
}

static int take_ladder(const analysed *run, travelled *t)
{
    const ladder *l = &run->sim.ladder;
    report *r = run->sim.report;
    if (l->rank == 0) return report_error(r, EXIT_INPUT, run->path, 0, "has no ladder");
    if (l->rank > 1)
        return report_error(r, EXIT_INPUT, run->path, 0,
                            "has a ladder in two variables: proposals are for one");
    t->rungs = l->rungs;
    t->values = l->values;
    for (int k = 1; k < t->rungs; k++)
        if (!((t->values[k] - t->values[k - 1]) * (t->values[1] - t->values[0]) > 0))
            return report_error(r, EXIT_INPUT, run->path, 0,
                                "the values of its ladder neither rise nor fall");
    return 0;
}

/* ---- What is said ----------------------------------------------------------------------------------------- */

static void print_run(const analysed *run, const travelled *t)
{
    char text[64];
    printf("%s: %d rungs of %s", run->path, t->rungs, run->sim.ladder.keys[0]);
    if (t->upward) printf(", %.0f round trips", t->round_trips);
    printf("\n%-6s %-14s %-12s %s\n", "rung", "value", "acceptance", t->upward ? "upward" : "");
    for (int k = 0; k < t->rungs; k++) {
        printf("%-6d %-14.8g ", k, t->values[k]);
        if (k + 1 < t->rungs && t->trials[k] > 0)
            printf("%-12.4f ", t->accepted[k]);
        else
            printf("%-12s ", "");
        if (t->upward) printf("%s", with_error(t->upward[k], t->error[k], true, text));
        putchar('\n');
    }
}

static void print_proposal(const analysed *run, const travelled *t, const proposal *p, bool by_flow,
                           bool asked)
{
    const char *key = run->sim.ladder.keys[0];
    printf("\n; %s\n[ladder]\nvary = %s\nvalues =",
           by_flow ? "most round trips, by the flow of walkers"
                   : "equal acceptance of all neighbours",
           key);
    for (int k = 0; k < p->rungs; k++) printf(" %.6g", p->values[k]);
    printf("\n\n");
    if (by_flow)
        printf(
            "expected: %.2f times as many round trips as now, where walkers move along the ladder "
            "as they did\n",
            p->gain);
    else
        printf("expected: an acceptance of %s%.3f of each pair\n", p->bounded ? "at most " : "",
               p->acceptance);
    if (p->bounded)
        printf(
            "some neighbours have not exchanged once: more rungs or a longer run are needed, then "
            "this again\n");
    if (!by_flow && t->upward && !asked)
        printf("too few round trips to go by the flow of walkers: %.0f, and %d would do\n",
               t->round_trips, ROUND_TRIPS_OF_A_RUNG * t->rungs);
    if (!by_flow && !t->upward && !asked)
        printf("with [observable round_trips] it could go by the flow of walkers\n");
}

static int propose(const arguments *a, analysed *run, report *r)
{
    travelled t = {0};
    proposal p = {0};
    int code = analysed_open(run, a->file, r);
    if (!code && a->from) code = samples_cut(run, a->from);
    if (!code) code = take_ladder(run, &t);
    if (!code) code = take_exchanges(run, &t);
    if (!code) code = find_results(&run->sim);
    if (!code) {
        take_flow(&run->sim, &t);
        const int rungs = a->rungs ? (int)a->rungs : t.rungs;
        const bool by_flow =
            !a->equal && t.upward && t.round_trips >= ROUND_TRIPS_OF_A_RUNG * t.rungs;
        print_run(run, &t);
        if (by_flow)
            propose_by_flow(&t, rungs, &p);
        else
            propose_equal(&t, rungs, &p);
        print_proposal(run, &t, &p, by_flow, a->equal);
    }
    free(t.accepted), free(t.trials), free(t.upward), free(t.error), free(p.values);
    return code;
}

static int command(int argc, char **argv)
{
    arguments a = {0};
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            fputs(help, stdout);
            return EXIT_DONE;
        }
    int code = parse(argc - 1, argv + 1, &a);
    if (code) return code;
    report r = {0};
    analysed run = {0};
    code = propose(&a, &run, &r);
    analysed_close(&run);
    return code;
}

int main(int argc, char **argv)
{
    const int code = beside_begin();
    if (code) return code;
    crash_report();
    return standard_streams_end(command(argc, argv));
}
