/* plugmc report: one HTML page about a run, or about several beside each other. It needs no network and no
 * scripts: styles, figures (gnuplot's SVG) and pictures are in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/beside.h"
#include "base/paths.h"
#include "page.h"
#include "archive/averages.h"
#include "style.h"
#include "session/enlarging.h"
#include "system/system.h"

static const char help[] =
    "usage: plugmc report FILE.h5... [--output FILE.html] [--force]\n"
    "       plugmc report STUDY/summary.csv [--output FILE.html] [--force]\n"
    "\n"
    "Writes a page about a run, by default FILE.html beside it: the input, results with errors, traces,\n"
    "autocorrelation, functions such as g(r), acceptance, a picture of the last configuration, warnings\n"
    "and what to cite. Several files (at most 8) are plotted together. For a study, given by the table of\n"
    "plugmc scan: its results against the scanned key. --force replaces an existing page. The figures need\n"
    "gnuplot.\n"
    "\n"
    "exit codes: 0 done, 2 command line, 3 input, 5 output or gnuplot, 6 a file that cannot be read,\n"
    "8 memory\n";

typedef struct arguments {
    char **files;
    int count;
    const char *output;
    bool force;
} arguments;

static int usage_error(const char *format, const char *word)
{
    fputs("plugmc report: ", stderr);
    fprintf(stderr, format, word);
    fputs("; see --help\n", stderr);
    return EXIT_USAGE;
}

/* Files are moved to the front of argv. */
static int parse(int argc, char **argv, arguments *a)
{
    *a = (arguments){.files = argv};
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!strcmp(word, "--output")) {
            if (i + 1 == argc) return usage_error("%s needs a file name", word);
            a->output = argv[++i];
        } else if (!strcmp(word, "--force")) {
            a->force = true;
        } else if (word[0] == '-') {
            return usage_error("unknown option '%s'", word);
        } else {
            argv[a->count++] = argv[i];
        }
    }
    if (!a->count) return usage_error("%s", "which file?");
    return a->count > MOST_RUNS ? usage_error("%s", "at most eight files") : 0;
}

/* ---- Reading ------------------------------------------------------------------------------------------ */

static int open_run(shown *run, char *path, report *r)
{
    const char *slash = strrchr(path, '/');
    run->path = path;
    run->name = checked(strdup(slash ? slash + 1 : path));
    int code = output_read(path, &run->data, r);
    if (!code) code = ini_read_archived(path, run->data.origin.user_ini, &run->config.ini, r);
    if (!code) code = config_read(&run->config, r);
    if (!code) capacity_of_file(&run->config, &run->data);
    if (!code) code = system_build(&run->config, &run->system, r);
    if (code) return code;
    run->data.system = &run->system;
    if (run->data.particles != run->system.particles || run->data.walkers != run->system.walkers)
        return report_error(r, EXIT_CHECKPOINT, path, 0,
                            "its configuration belongs to another system than its samples");
    return averages_find(&run->data)
               ? report_error(r, EXIT_MEMORY, NULL, 0, "no memory for the averages of the run")
               : EXIT_DONE;
}

static void close_run(shown *run)
{
    output_free(&run->data);
    system_free(&run->system);
    config_free(&run->config);
    free(run->name);
}

/* ---- The page ------------------------------------------------------------------------------------------ */

static void put_runs(page *p)
{
    put_summary(p);
    put_warnings(p);
    put_results(p);
    put_configuration(p);
    put_series(p);
    put_arrays(p);
    put_moves(p);
    put_tuning(p);
    put_speed(p);
    put_origin(p);
}

static void put_page(page *p)
{
    put_html(
        p,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
        "style-src 'unsafe-inline'\">\n<link rel=\"icon\" href=\"data:,\">\n<title>");
    for (int r = 0; r < p->count; r++) put_text(p, r ? ", %s" : "%s", p->runs[r].name);
    if (p->study) put_text(p, "%s", p->study);
    put_html(p, "</title>\n<style>");
    put_html(p, report_style);
    put_html(p, "</style></head>\n<body><main>\n");
    if (p->study)
        put_study(p, p->study);
    else
        put_runs(p);
    put_html(p, "</main></body></html>\n");
}

static char *default_output(const char *file)
{
    const char *dot = strrchr(file, '.'), *slash = strrchr(file, '/');
    const int length = dot && (!slash || dot > slash) ? (int)(dot - file) : (int)strlen(file);
    char *name;
    return checked(asprintf(&name, "%.*s.html", length, file) < 0 ? NULL : name);
}

/* Under another name first: a page is there whole or not at all. */
static int write_page(const shown *runs, int count, const char *study, const char *path, report *r)
{
    char *beside;
    checked(asprintf(&beside, "%s.XXXXXX", path) < 0 ? NULL : beside);
    const int fd = mkstemp(beside);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    page p = {.out = out, .runs = runs, .count = count, .study = study, .report = r};
    if (out) put_page(&p);
    bool failed = !out || ferror(out) || fchmod(fd, 0644) < 0;
    if (out) failed = fclose(out) != 0 || failed;
    if (!failed && !p.code) failed = rename(beside, path) != 0;
    if (failed && !p.code)
        p.code =
            report_error(r, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s", path, strerror(errno));
    if (p.code && fd >= 0) unlink(beside);
    free(beside);
    return p.code;
}

/* What is there already stays, unless --force is given. */
static int check_place(const arguments *a, const char *path, report *r)
{
    if (a->force || access(path, F_OK)) return EXIT_DONE;
    return report_error(
        r, EXIT_OUTPUT, NULL, 0,
        "%s exists already: --force replaces it, --output FILE.html writes another file", path);
}

/* Nobody else writes it meanwhile, and it is looked for again: it may have come since the command began. */
static int write_alone(const arguments *a, const shown *runs, const char *study, const char *path,
                       report *r)
{
    output_lock lock = {0};
    int code = output_lock_take_plain(&lock, path, r);
    if (!code) code = check_place(a, path, r);
    if (!code) code = write_page(runs, study ? 0 : a->count, study, path, r);
    output_lock_release(&lock);
    return code;
}

static int make(const arguments *a, shown *runs, report *r)
{
    char *path = a->output ? checked(strdup(a->output)) : default_output(a->files[0]);
    const char *study = is_study(a->files[0]) ? a->files[0] : NULL;
    int code = study && a->count > 1 ? usage_error("%s: a study cannot be combined with other "
                                                   "files",
                                                   study)
                                     : 0;
    if (!code) code = check_place(a, path, r);
    if (!code && study && access(study, F_OK))
        code = report_error(r, EXIT_INPUT, NULL, 0, "cannot read %s: %s", study, strerror(errno));
    for (int i = 0; i < a->count && !code; i++) {
        if (!strcmp(path, a->files[i]) || path_is_same_file(path, a->files[i]))
            code = report_error(r, EXIT_USAGE, NULL, 0, "%s is the file to be reported on", path);
        if (!code && !study) code = open_run(&runs[i], a->files[i], r);
    }
    if (!code) code = write_alone(a, runs, study, path, r);
    if (!code) printf("%s\n", path);
    free(path);
    return code;
}

static int command(int argc, char **argv)
{
    arguments a;
    int code = parse(argc, argv, &a);
    if (code) return code;
    report r = {0};
    shown *runs = checked(calloc((size_t)a.count, sizeof *runs));
    code = make(&a, runs, &r);
    for (int i = 0; i < a.count; i++) close_run(&runs[i]);
    free(runs);
    return code;
}

int main(int argc, char **argv) { return beside_main(argc, argv, help, command); }
