/* plugmc ladder: a better ladder, from how walkers have travelled along that of a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/beside.h"
#include "ladders.h"
#include "records/results.h"
#include "runs.h"

static const char help[] =
    "usage: plugmc ladder FILE.h5 [--rungs N[,N]] [--equal] [--from SWEEP]\n"
    "\n"
    "Proposes new values for the ladder of a run, with the same ends, as lines for an INI file. They\n"
    "maximise the number of round trips, if [observable round_trips] counted enough of them; else they\n"
    "equalise the acceptance of exchanges between neighbours. Prints the expected acceptance or number of\n"
    "round trips. For a ladder in two variables the acceptance is equalised along each of them.\n"
    "\n"
    "  --rungs N     number of rungs; N,N in two variables; default: that of the run\n"
    "  --equal       always equalise the acceptance\n"
    "  --from SWEEP  count only round trips after this sweep\n"
    "\n"
    "exit codes: 0 done, 2 command line, 3 input, 4 plugin, 5 output, 6 a file that cannot be read,\n"
    "8 memory\n";

enum { MOST_RUNGS = 10000, ROUND_TRIPS_OF_A_RUNG = 4 };

typedef struct arguments {
    const char *file;
    long long rungs[LADDER_RANK], from; /* 0: not given */
    int variables;                      /* that --rungs has numbers of */
    bool equal;
} arguments;

static void travelled_free(travelled *t)
{
    free(t->values), free(t->accepted), free(t->trials), free(t->upward), free(t->error);
}

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
    char sentence[96];
    snprintf(sentence, sizeof sentence, "%s needs a whole number from %lld to %lld", word, least,
             most);
    return usage_error("%s", sentence);
}

/* --rungs: a number, or one for each variable. */
static int take_rungs(const char *text, arguments *a)
{
    char first[32] = "";
    const char *comma = text ? strchr(text, ',') : NULL;
    if (!comma || (size_t)(comma - text) >= sizeof first) {
        a->variables = 1;
        return take_number("--rungs", text, 2, MOST_RUNGS, &a->rungs[0]);
    }
    memcpy(first, text, (size_t)(comma - text));
    a->variables = 2;
    const int code = take_number("--rungs", first, 2, MOST_RUNGS, &a->rungs[0]);
    return code ? code : take_number("--rungs", comma + 1, 2, MOST_RUNGS, &a->rungs[1]);
}

static int parse(int argc, char **argv, arguments *a)
{
    int code = 0;
    for (int i = 0; i < argc && !code; i++) {
        const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(word, "--rungs"))
            code = take_rungs(next, a), i++;
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

static const quantity_record *find(const session *session, const char *name, int32_t rung)
{
    char full[64 + LADDER_SUFFIX], suffix[LADDER_SUFFIX];
    snprintf(full, sizeof full, "%s%s", name, ladder_suffix(&session->engine.ladder, rung, suffix));
    for (int i = 0; i < session->records.output.quantity_count; i++)
        if (!strcmp(session->records.output.quantities[i].name, full))
            return &session->records.output.quantities[i];
    return NULL;
}

/* Sweeps from one turn of exchanges to the next. */
static uint64_t turn_of_exchanges(const session *session)
{
    for (int i = 0; i < session->engine.mover_count; i++)
        if (!strcmp(session->records.output.moves[session->engine.movers[i].first_move].name,
                    "exchange"))
            return session->engine.movers[i].every;
    return 1;
}

/* Shares on the way up, and round trips; none if they were not measured. */
static void take_flow(const session *session, travelled *t)
{
    const quantity_record *ends = find(session, "round_trips", 0);
    if (!ends || !find(session, "upward", 0) || !ends->samples) return;
    t->upward = checked(calloc((size_t)t->rungs, sizeof *t->upward));
    t->error = checked(calloc((size_t)t->rungs, sizeof *t->error));
    t->round_trips = ends->found.scalar.mean * (double)(ends->samples * ends->walkers);
    t->current =
        2 * ends->found.scalar.mean * (double)turn_of_exchanges(session) / (double)ends->period;
    for (int k = 0; k < t->rungs; k++) {
        const estimate *e = &find(session, "upward", k)->found.scalar;
        t->upward[k] = e->mean;
        t->error[k] = e->error;
    }
}

/* The variable that a section [mover exchange] keeps to, from 1; 0: both in turn. */
static int along_of(const mover_slot *m)
{
    const ini_entry *key = ini_get(m->instance->section->section, "along");
    return key ? atoi(key->value) : 0;
}

/* Adds the exchanges of one mover along variable `axis` to those of its intervals, over all values of the other one: who
 * is refused at one of them can go round by another. */
static void add_exchanges(const ladder *l, int axis, const move_record *m, travelled *t)
{
    const int stride = l->rank == 2 && axis == 0 ? l->shape[1] : 1;
    for (int rung = 0; rung < l->rungs; rung++) {
        const int k = rung / stride % t->rungs;
        if (k + 1 == t->rungs) continue;
        t->trials[k] += (double)m->counts[rung].trials;
        t->accepted[k] += (double)m->counts[rung].accepted;
    }
}

/* Exchanges of neighbours along a variable, of all movers that make some. */
static int take_exchanges(const analysed *run, int axis, travelled *t)
{
    const session *session = &run->session;
    bool any = false, mixed = false;
    t->accepted = checked(calloc((size_t)t->rungs, sizeof *t->accepted));
    t->trials = checked(calloc((size_t)t->rungs, sizeof *t->trials));
    for (int i = 0; i < session->engine.mover_count; i++) {
        const move_record *m = &session->records.output.moves[session->engine.movers[i].first_move];
        const int along = along_of(&session->engine.movers[i]);
        if (strcmp(m->name, "exchange") || m->rungs != session->engine.ladder.rungs) continue;
        any = true;
        if (session->engine.ladder.rank == 2 && !along) mixed = true;
        if (session->engine.ladder.rank == 1 || along == axis + 1)
            add_exchanges(&session->engine.ladder, axis, m, t);
    }
    double tried = 0;
    for (int k = 0; k + 1 < t->rungs; k++) {
        tried += t->trials[k];
        t->accepted[k] /= t->trials[k];
    }
    if (!any)
        return report_error(session->engine.report, EXIT_INPUT, run->path, 0,
                            "has no [mover exchange]: walkers stayed on their rungs");
    if (mixed || !(tried > 0))
        return report_error(session->engine.report, EXIT_INPUT, run->path, 0,
                            "has no separate exchanges along %s: two sections with plugin = "
                            "exchange, along = 1 and along = 2, count each variable "
                            "separately",
                            session->engine.ladder.keys[mixed ? 0 : axis]);
    return 0;
}

/* The values of one variable of the ladder, the first being 0. */
static int take_ladder(const analysed *run, int axis, travelled *t)
{
    const ladder *l = &run->session.engine.ladder;
    const int stride = l->rank == 2 && axis == 0 ? l->shape[1] : 1;
    t->key = l->keys[axis];
    t->rungs = l->shape[axis];
    t->values = checked(calloc((size_t)t->rungs, sizeof *t->values));
    for (int k = 0; k < t->rungs; k++) t->values[k] = l->values[k * stride * l->rank + axis];
    for (int k = 1; k < t->rungs; k++)
        if (!((t->values[k] - t->values[k - 1]) * (t->values[1] - t->values[0]) > 0))
            return report_error(run->session.engine.report, EXIT_INPUT, run->path, 0,
                                "the values of its ladder are not monotonic");
    return t->rungs > 1
               ? 0
               : report_error(run->session.engine.report, EXIT_INPUT, run->path, 0,
                              "has only one value of %s: there is nothing to propose", t->key);
}

/* ---- What is said ----------------------------------------------------------------------------------------- */

static void print_run(const analysed *run, const travelled *t)
{
    char text[64];
    printf("%s: %d rungs of %s", run->path, t->rungs, t->key);
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

/* Lines of [ladder] for one variable: those of the second end in _2. */
static void print_values(const travelled *t, int axis, const proposal *p)
{
    const char *end = axis ? "_2" : "";
    printf("vary%s = %s\nvalues%s =", end, t->key, end);
    for (int k = 0; k < p->rungs; k++) printf(" %.6g", p->values[k]);
    putchar('\n');
}

static void print_acceptance(const proposal *p, const char *of)
{
    printf("expected: an acceptance of %s%.3f of each pair%s%s\n", p->bounded ? "at most " : "",
           p->acceptance, *of ? " along " : "", of);
    if (p->bounded)
        printf("some neighbours have never exchanged: run longer or with more rungs, and "
               "repeat\n");
}

static void print_proposal(const travelled *t, const proposal *p, bool by_flow, bool asked)
{
    printf("\n; %s\n[ladder]\n", by_flow ? "most round trips, by the flow of walkers"
                                         : "equal acceptance of all neighbours");
    print_values(t, 0, p);
    putchar('\n');
    if (by_flow)
        printf("expected: %.2f times as many round trips as now, if walkers diffuse along the "
               "ladder as before\n",
               p->gain);
    else
        print_acceptance(p, "");
    if (!by_flow && t->upward && !asked)
        printf("too few round trips to use the flow of walkers: %.0f, but at least %d are "
               "needed\n",
               t->round_trips, ROUND_TRIPS_OF_A_RUNG * t->rungs);
    if (!by_flow && !t->upward && !asked)
        printf("[observable round_trips] would make it possible to use the flow of walkers\n");
}

static int propose_for_one(const arguments *a, analysed *run)
{
    travelled t = {0};
    proposal p = {0};
    int code = take_ladder(run, 0, &t);
    if (!code) code = take_exchanges(run, 0, &t);
    if (!code) code = find_results(&run->session.records);
    if (!code) {
        take_flow(&run->session, &t);
        const int rungs = a->variables ? (int)a->rungs[0] : t.rungs;
        const bool by_flow =
            !a->equal && t.upward && t.round_trips >= ROUND_TRIPS_OF_A_RUNG * t.rungs;
        print_run(run, &t);
        if (by_flow)
            propose_by_flow(&t, rungs, &p);
        else
            propose_equal(&t, rungs, &p);
        print_proposal(&t, &p, by_flow, a->equal);
    }
    travelled_free(&t), free(p.values);
    return code;
}

/* Along each variable as if it were alone. By acceptance: a flow from one corner to the other does not say which
 * variable holds walkers up. */
static int propose_for_two(const arguments *a, analysed *run)
{
    travelled t[LADDER_RANK] = {0};
    proposal p[LADDER_RANK] = {0};
    int code = 0;
    for (int axis = 0; axis < LADDER_RANK && !code; axis++) {
        code = take_ladder(run, axis, &t[axis]);
        if (!code) code = take_exchanges(run, axis, &t[axis]);
    }
    if (!code) {
        for (int axis = 0; axis < LADDER_RANK; axis++) {
            print_run(run, &t[axis]);
            propose_equal(&t[axis], a->variables ? (int)a->rungs[axis] : t[axis].rungs, &p[axis]);
        }
        printf("\n; equal acceptance of all neighbours along each variable\n[ladder]\n");
        for (int axis = 0; axis < LADDER_RANK; axis++) print_values(&t[axis], axis, &p[axis]);
        putchar('\n');
        for (int axis = 0; axis < LADDER_RANK; axis++) print_acceptance(&p[axis], t[axis].key);
    }
    for (int axis = 0; axis < LADDER_RANK; axis++) travelled_free(&t[axis]), free(p[axis].values);
    return code;
}

static int propose(const arguments *a, analysed *run, report *r)
{
    int code = analysed_open(run, a->file, r);
    if (!code && a->from) code = samples_cut(run, a->from);
    if (code) return code;
    const int rank = run->session.engine.ladder.rank;
    if (rank == 0) return report_error(r, EXIT_INPUT, run->path, 0, "has no ladder");
    if (a->variables && a->variables != rank)
        return report_error(r, EXIT_USAGE, run->path, 0,
                            rank == 2 ? "has a ladder in two variables: --rungs needs two numbers, "
                                        "as in 6,4"
                                      : "has a ladder in one variable: --rungs needs one number");
    return rank == 2 ? propose_for_two(a, run) : propose_for_one(a, run);
}

static int command(int argc, char **argv)
{
    arguments a = {0};
    int code = parse(argc, argv, &a);
    if (code) return code;
    report r = {0};
    analysed run = {0};
    code = propose(&a, &run, &r);
    analysed_close(&run);
    return code;
}

int main(int argc, char **argv) { return beside_main(argc, argv, help, command); }
