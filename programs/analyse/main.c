/* plugmc analyse: the table of a run again, of a part of it, or of several runs together; and runs beside one
 * another. Means, errors and derived numbers are made by the code that made the first table, with the plugins
 * that are named in the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "program/beside.h"
#include "records/results.h"

static const char help[] =
    "usage: plugmc analyse FILE.h5... [--from SWEEP] [--blocks N] [--compare | --csv | --print NAME]\n"
    "\n"
    "Prints the table of results of a run. Several files that differ only in seed, first walker and\n"
    "length are combined.\n"
    "\n"
    "  --from SWEEP   use only measurements after this sweep (counted from the first sweep of\n"
    "                 equilibration). Arrays are stored in blocks of samples: they start with the\n"
    "                 first whole block after it\n"
    "  --blocks N     errors from N blocks per walker, 2 to 64, assumed to be independent; without it\n"
    "                 the block length follows from the correlation time\n"
    "  --compare      compares files, also of different systems: differences in standard errors\n"
    "  --csv          prints the table as CSV\n"
    "  --print NAME   prints one quantity (OBSERVABLE.NAME of the table): an array with its axes and\n"
    "                 errors, or the samples of a scalar\n"
    "\n"
    "exit codes: 0 done, 2 command line, 3 input, 4 plugin, 5 output, 6 a file that cannot be read,\n"
    "8 memory\n";

enum { MOST_BLOCKS = 64 };

typedef struct arguments {
    char **files;
    int count;
    long long from, blocks; /* 0: not given */
    const char *print;
    bool compare, csv;
} arguments;

static int usage_error(const char *format, const char *word)
{
    fputs("plugmc analyse: ", stderr);
    fprintf(stderr, format, word);
    fputs("; see --help\n", stderr);
    return EXIT_USAGE;
}

static int number(const char *option, const char *word, long long least, long long most,
                  long long *out)
{
    char *end;
    *out = word ? strtoll(word, &end, 10) : 0;
    if (word && *word && !*end && *out >= least && *out <= most) return 0;
    fprintf(stderr, "plugmc analyse: %s needs a whole number from %lld to %lld; see --help\n",
            option, least, most);
    return EXIT_USAGE;
}

/* Files are moved to the front of argv. */
static int parse(int argc, char **argv, arguments *a)
{
    int code = 0;
    *a = (arguments){.files = argv};
    for (int i = 0; i < argc && !code; i++) {
        const char *word = argv[i], *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(word, "--from"))
            code = number(word, next, 1, INT64_MAX, &a->from), i++;
        else if (!strcmp(word, "--blocks"))
            code = number(word, next, 2, MOST_BLOCKS, &a->blocks), i++;
        else if (!strcmp(word, "--print")) {
            a->print = next;
            if (!next) return usage_error("%s needs the name of a quantity", word);
            i++;
        } else if (!strcmp(word, "--compare"))
            a->compare = true;
        else if (!strcmp(word, "--csv"))
            a->csv = true;
        else if (word[0] == '-')
            return usage_error("unknown option '%s'", word);
        else
            argv[a->count++] = argv[i];
    }
    if (code) return code;
    if (!a->count) return usage_error("%s", "which file?");
    if (a->compare + a->csv + (a->print != NULL) > 1)
        return usage_error("%s", "--compare, --csv and --print are different tables");
    if (a->compare && a->count < 2) return usage_error("%s needs two files", "--compare");
    return 0;
}

/* What the table is of. */
static void say_of_what(const analysed *run)
{
    const output_data *out = &run->session.records.output;
    int64_t first, last;
    samples_range(out, &first, &last);
    if (last >= first)
        printf("%s: sweeps %lld to %lld\n", run->path, (long long)first, (long long)last);
    else
        printf("%s: no samples\n", run->path);
    if (!out->finished) printf("UNFINISHED: the run did not reach its end\n");
}

static int find_all(analysed *runs, int count, int64_t blocks)
{
    int code = 0;
    for (int i = 0; i < count && !code; i++) {
        runs[i].session.records.output.blocks = blocks;
        code = find_results(&runs[i].session.records);
    }
    return code;
}

static int analyse(const arguments *a, analysed *runs, report *r)
{
    int code = 0;
    for (int i = 0; i < a->count && !code; i++) {
        code = analysed_open(&runs[i], a->files[i], r);
        for (int k = 0; k < i && !code && !a->compare; k++)
            code = analysed_fits(&runs[k], &runs[i]);
        if (!code && a->from) code = samples_cut(&runs[i], a->from);
    }
    if (code) return code;
    if (!a->csv && !a->print)
        for (int i = 0; i < a->count; i++) say_of_what(&runs[i]);
    if (!a->compare && a->count > 1) code = samples_join(runs, a->count);
    if (!code) code = find_all(runs, a->compare ? a->count : 1, a->blocks);
    if (code) return code;
    const session *session = &runs[0].session;
    if (a->compare) return compare_runs(runs, a->count);
    if (a->print) return list_values(&session->records.output, a->print, r);
    if (a->csv)
        list_numbers(&session->records.output);
    else {
        print_table(&session->records, "by --print");
        print_efficiency(&session->records.output);
    }
    return EXIT_DONE;
}

static int command(int argc, char **argv)
{
    arguments a;
    int code = parse(argc, argv, &a);
    if (code) return code;
    report r = {0};
    analysed *runs = checked(calloc((size_t)a.count, sizeof *runs));
    code = analyse(&a, runs, &r);
    for (int i = 0; i < a.count; i++) analysed_close(&runs[i]);
    free(runs);
    return code;
}

int main(int argc, char **argv) { return beside_main(argc, argv, help, command); }
