/* plugmc scan: the runs of a study, an INI file with a section [scan] (study.h), and one table of what
 * they have found.
 *
 * A survey first looks at every point (survey.c): all errors of the study are told before anything runs.
 * What is not finished is then run (jobs.c), each point by `plugmc run FOLDER/NAME.ini
 * --resume-if-there`, and a second survey takes the averages from the output files for the tables
 * (tables.c). Nothing is kept but what the runs have written, so the same command goes on after
 * whatever has happened. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "program/beside.h"
#include "jobs.h"
#include "slurm.h"
#include "survey.h"
#include "tables.h"
#include "twists.h"

static const char help[] =
    "usage: plugmc scan STUDY.ini [--list | --table | --slurm | --job K] [--accept-changed-plugins]\n"
    "\n"
    "Runs all points of a study, which is the INI file of a run with the additional section\n"
    "\n"
    "  [scan]\n"
    "  SECTION.KEY = VALUE VALUE...   one run for each value; SECTION as in --set of plugmc run.\n"
    "                                 Several such lines give all combinations. Put values that\n"
    "                                 contain blanks in \"quotes\"\n"
    "  zip = SECTION.KEY...           vary these keys together, value by value\n"
    "  jobs = N                       simultaneous runs; default: one for each GPU, or 1\n"
    "  folder = FOLDER                folder of the files NAME.ini, .h5 and .log of the runs, and of\n"
    "                                 the tables summary.csv and summary.h5; default: STUDY\n"
    "  names = values | numbers       what NAME is made of\n"
    "\n"
    "A section [twists] repeats each point with several twists of the boundary conditions, and averages\n"
    "over them:\n"
    "\n"
    "  [twists]\n"
    "  potential = LABEL              label of the [potential] that has the key twist\n"
    "  grid = N N N                   Monkhorst-Pack grid, with one of theta and -theta; gamma = yes: a\n"
    "                                 grid that contains twist 0; or list = \"0 0 0\" \"0.5 0 0\"...\n"
    "  weights = W W...               weights of the list; default: equal\n"
    "  fermi_energy = E               free electrons: each twist is occupied up to k^2/2 = E\n"
    "  missing = refuse | leave_out   whether to average although a twist is missing\n"
    "\n"
    "Finished points are skipped, interrupted ones continue: repeat the same command to go on.\n"
    "\n"
    "  --list    lists the points with their states and runs nothing\n"
    "  --table   writes the tables of the finished points and runs nothing\n"
    "  --slurm   prints a job script, an array with a task for each point\n"
    "  --job K   runs only point K, counted from 0, and writes no tables\n"
    "  --accept-changed-plugins   is passed on to the runs; finished points count even if plugins\n"
    "                             have changed\n"
    "\n"
    "exit codes: 0 all points are finished; else the code of the first point (by number) that failed;\n"
    "else 10 stopped by a signal, 11 some have reached [run] time_limit (10 and 11: repeat the same\n"
    "command); 2 command line, 3 an error in the study (nothing was run), 5 the tables cannot be\n"
    "written. --table, --list and --slurm: 0 even if points are missing\n";

enum mode { MODE_RUN, MODE_LIST, MODE_TABLE, MODE_SLURM, MODE_JOB };

typedef struct arguments {
    const char *file;
    enum mode mode;
    int64_t job;
    bool accept_changes;
} arguments;

static int usage_error(const char *format, const char *word)
{
    fputs("plugmc scan: ", stderr);
    fprintf(stderr, format, word);
    fputs("; see --help\n", stderr);
    return EXIT_USAGE;
}

static int parse_mode(arguments *a, const char *word, const char *next)
{
    static const char *const words[] = {"", "--list", "--table", "--slurm", "--job"};
    int mode = MODE_LIST;
    while (mode <= MODE_JOB && strcmp(word, words[mode])) mode++;
    if (mode > MODE_JOB) return usage_error("unknown option '%s'", word);
    if (a->mode)
        return usage_error("--list, --table, --slurm and --job exclude each other: "
                           "'%s'",
                           word);
    a->mode = (enum mode)mode;
    if (mode != MODE_JOB) return 0;
    char *end = NULL;
    errno = 0;
    a->job = next ? strtoll(next, &end, 10) : 0;
    if (!next || end == next || *end || errno || a->job < 0)
        return usage_error("%s needs the number of a point", word);
    return 0;
}

static int parse(int argc, char **argv, arguments *a)
{
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!strcmp(word, "--accept-changed-plugins")) {
            a->accept_changes = true;
        } else if (word[0] == '-') {
            if (parse_mode(a, word, argv[i + 1])) return EXIT_USAGE;
            i += a->mode == MODE_JOB;
        } else if (a->file) {
            return usage_error("more than one file: '%s'", word);
        } else {
            a->file = word;
        }
    }
    return a->file ? 0 : usage_error("%s", "which file?");
}

static int make_tables(study *s, bool *joined, report *r)
{
    const int code = survey(s, 0, s->point_count, true, r);
    return code ? code : tables_make(s, joined, r);
}

/* A failed run is told of by jobs_run; the tables are made in any case. Twists that are missing, and that
 * the study leaves out, are no failure as long as there are others to join. */
static int run(study *s, const arguments *a, report *r)
{
    bool leave = false, joined = false;
    const bool one = a->mode == MODE_JOB;
    const int64_t first = one ? a->job : 0, end = one ? a->job + 1 : s->point_count;
    const int code = jobs_run(s, first, end, r, &leave);
    if (one || leave) return code;
    const int tables = make_tables(s, &joined, r);
    const bool stopped = code == EXIT_INTERRUPTED || code == EXIT_TIME_LIMIT;
    return code && (stopped || !s->twists.leave_out || !joined) ? code : tables;
}

static int scan(const arguments *a, study *s, report *r)
{
    int code = study_read(a->file, s, r);
    s->accept_changes = a->accept_changes;
    if (code) return code;
    const bool one = a->mode == MODE_JOB;
    if (one && a->job >= s->point_count)
        return report_error(r, EXIT_USAGE, a->file, 0,
                            "--job %lld: there are %lld points, the first one is 0",
                            (long long)a->job, (long long)s->point_count);
    bool joined;
    if (a->mode == MODE_TABLE) return make_tables(s, &joined, r);
    code = survey(s, one ? a->job : 0, one ? a->job + 1 : s->point_count, false, r);
    if (code) return code;
    if (a->mode == MODE_LIST) tables_list(s);
    if (a->mode == MODE_SLURM) slurm_print(s, child_program);
    return a->mode == MODE_LIST || a->mode == MODE_SLURM ? EXIT_DONE : run(s, a, r);
}

/* For plugmc info and plugmc manual. */
static int describe(const char *section)
{
    const bool manual = !strcmp(section, "manual");
    if (manual) fputs("## Sections of studies\n\n", stdout);
    if (manual || !strcmp(section, "scan")) study_describe(stdout, manual);
    if (manual || !strcmp(section, "twists")) twists_describe(stdout, manual);
    return EXIT_DONE;
}

static int command(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[0], "--keys")) return describe(argv[1]);
    arguments a = {0};
    int code = parse(argc, argv, &a);
    if (code) return code;
    study s = {0};
    report r = {0};
    signal(SIGPIPE, SIG_IGN); /* output that cannot be written is an error with a code of its own */
    code = scan(&a, &s, &r);
    study_free(&s);
    return code;
}

int main(int argc, char **argv) { return beside_main(argc, argv, help, command); }
