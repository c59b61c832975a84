/* plugmc export: the trajectory of a run, or its last state, in a format of others: a file for each walker. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/beside.h"
#include "base/paths.h"
#include "formats.h"
#include "archive/lock.h"
#include "archive/replacement.h"
#include "archive/trajectory.h"
#include "base/stop.h"

static const char help[] =
    "usage: plugmc export FILE.h5 --to NAME.gsd|NAME.xyz|NAME.csv|NAME.pdb|NAME.gro|NAME.data\n"
    "                     [--walker K|all] [--from SWEEP] [--until SWEEP] [--every N] [--last]\n"
    "                     [--single] [--format gsd|xyz|csv|pdb|gro|lammps] [--force]\n"
    "       plugmc export FILE.h5 --to NAME.s000.scalar.dat [--block N] [--from SWEEP]\n"
    "                     [--until SWEEP] [--force]\n\n"
    "Writes the trajectory of a run for other programs: GSD (HOOMD's schema), extended XYZ (also\n"
    ".extxyz), PDB (Angstrom), GRO (nm), a data file of LAMMPS (one configuration; also .lmp) or a\n"
    "table. Walker 0 if none is given; of all walkers each has a file of its own,\n"
    "NAME_0.gsd, NAME_1.gsd, ...\n\n"
    "  --from, --until  frames after these sweeps and those between (as the run counts them)\n"
    "  --every N        the first of these frames and each Nth after it\n"
    "  --last           the state at the end of the run alone, which needs no trajectory\n"
    "  --single         GSD without positions in double beside those in single precision\n"
    "  --format         where the name does not end in one\n"
    "  --force          replaces files that are there\n\n"
    "A name that ends in .dat is a table of local energies, as QMCPACK writes and its qmca reads it: a\n"
    "line a block, which is a mean over all walkers and N measurements (--block; if not given, as many\n"
    "as make 1000 lines at most), Hartree. Such a run needs no trajectory.\n\n"
    "exit codes: 0 done, 2 command line, 3 input, 5 output, 6 a file that cannot be read, or only a part\n"
    "of its frames (it is said which ones cannot, and the others are written), 8 memory, 10 interrupted\n"
    "(the file at hand is not there then)\n";

enum { EACH = -1 }; /* walker: all of them */

typedef struct arguments {
    const char *file, *to;
    const format *format;
    int walker;
    int64_t from, until, every, block;
    bool last, single, force, picks; /* picks: some frames alone */
} arguments;

/* ---- The command line ------------------------------------------------------------------------- */

static const format *const formats[] = {&gsd_format, &xyz_format,    &csv_format,   &pdb_format,
                                        &gro_format, &lammps_format, &scalar_format};

static int usage_error(const char *text, const char *word)
{
    fputs("plugmc export: ", stderr);
    fprintf(stderr, text, word);
    fputs("; see --help\n", stderr);
    return EXIT_USAGE;
}

static const format *format_named(const char *name)
{
    for (int i = 0; i < PLUGMC_COUNT(formats); i++)
        if (!strcmp(name, formats[i]->name)) return formats[i];
    return NULL;
}

static const char *ending_of(const char *path)
{
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? dot : path + strlen(path);
}

static const format *format_of_file(const char *path)
{
    for (int i = 0; i < PLUGMC_COUNT(formats); i++)
        for (int k = 0; k < 3 && formats[i]->endings[k]; k++)
            if (!strcmp(ending_of(path), formats[i]->endings[k])) return formats[i];
    return NULL;
}

/* A whole number, also as 4e4. */
static bool read_number(const char *word, int64_t least, int64_t *out)
{
    char *end;
    const double number = strtod(word, &end);
    *out = number >= 0 && number < 9e15 ? (int64_t)number : -1;
    return *word && !*end && (double)*out == number && *out >= least;
}

static int take_number(const char *option, const char *word, int64_t least, int64_t *out)
{
    if (read_number(word, least, out)) return EXIT_DONE;
    fprintf(stderr, "plugmc export: %s %s: a whole number from %lld on is needed; see --help\n",
            option, word, (long long)least);
    return EXIT_USAGE;
}

/* An option with a value. */
static int take_option(arguments *a, const char *option, const char *word)
{
    int64_t walker = EACH;
    int code = EXIT_DONE;
    a->picks |=
        !strcmp(option, "--from") || !strcmp(option, "--until") || !strcmp(option, "--every");
    if (!strcmp(option, "--to")) a->to = word;
    if (!strcmp(option, "--from")) return take_number(option, word, 0, &a->from);
    if (!strcmp(option, "--until")) return take_number(option, word, 0, &a->until);
    if (!strcmp(option, "--every")) return take_number(option, word, 1, &a->every);
    if (!strcmp(option, "--block")) return take_number(option, word, 1, &a->block);
    if (!strcmp(option, "--format") && !(a->format = format_named(word)))
        return usage_error("there is no format '%s'", word);
    if (strcmp(option, "--walker")) return EXIT_DONE;
    if (strcmp(word, "all")) code = take_number(option, word, 0, &walker);
    a->walker = walker > INT32_MAX ? INT32_MAX : (int)walker;
    return code;
}

static int check(arguments *a)
{
    if (!a->file) return usage_error("%s", "which file?");
    if (!a->to) return usage_error("%s", "where to? --to NAME.gsd, NAME.xyz or NAME.csv");
    if (!a->format) a->format = format_of_file(a->to);
    if (!a->format)
        return usage_error(
            "%s ends in none of .gsd, .xyz, .extxyz, .csv, .pdb, .gro, .data, .lmp and .dat: --format "
            "says which",
            a->to);
    if (a->last && a->picks)
        return usage_error("%s", "--last is one state: without --from, --until and --every");
    if (a->format->samples && (a->last || a->walker || a->every != 1))
        return usage_error(
            "%s", "a table of samples is of all walkers: without --walker, --last and --every");
    if (a->block && !a->format->samples)
        return usage_error("%s", "--block is for tables of samples, NAME.scalar.dat");
    return EXIT_DONE;
}

static int parse(int argc, char **argv, arguments *a)
{
    static const char *const with_value[] = {"--to",    "--walker", "--from",  "--until",
                                             "--every", "--format", "--block", NULL};
    *a = (arguments){.until = INT64_MAX, .every = 1};
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        int k = 0, code = EXIT_DONE;
        while (with_value[k] && strcmp(word, with_value[k])) k++;
        if (with_value[k])
            code = i + 1 == argc ? usage_error("%s needs a value", word)
                                 : take_option(a, word, argv[i + 1]);
        if (code) return code;
        if (with_value[k])
            i++;
        else if (!strcmp(word, "--last"))
            a->last = true;
        else if (!strcmp(word, "--single"))
            a->single = true;
        else if (!strcmp(word, "--force"))
            a->force = true;
        else if (word[0] == '-')
            return usage_error("unknown option '%s'", word);
        else if (a->file)
            return usage_error("%s: one file at a time", word);
        else
            a->file = word;
    }
    return check(a);
}

/* ---- Where to --------------------------------------------------------------------------------- */

/* The name for a walker, to be freed. */
static char *target(const arguments *a, int walker)
{
    const char *ending = ending_of(a->to);
    char *name;
    if (a->walker != EACH) return checked(strdup(a->to));
    return checked(asprintf(&name, "%.*s_%d%s", (int)(ending - a->to), a->to, walker, ending) < 0
                       ? NULL
                       : name);
}

/* Before anything is read: what is there stays. */
static int check_target(const arguments *a, const char *path, report *r)
{
    if (access(path, F_OK)) return EXIT_DONE;
    if (path_is_same_file(path, a->file))
        return report_error(r, EXIT_USAGE, NULL, 0, "%s is the file to be exported", path);
    if (a->force) return EXIT_DONE;
    return report_error(r, EXIT_OUTPUT, NULL, 0, "%s is there already; --force replaces it", path);
}

/* ---- Writing ---------------------------------------------------------------------------------- */

/* The frames that are wanted: `first`, first + every, ... below `end`. */
typedef struct selection {
    int64_t first, end;
} selection;

/* Sweeps only grow. */
static selection select_frames(const arguments *a, const run_file *run)
{
    selection s = {0, run->data.trajectory.written};
    while (s.first < s.end && run->frames.sweeps[s.first] < a->from) s.first++;
    while (s.end > s.first && run->frames.sweeps[s.end - 1] > a->until) s.end--;
    return s;
}

static int interrupted(const char *path, report *r)
{
    return report_error(r, EXIT_INTERRUPTED, NULL, 0, "stopped by signal %d; %s was not written",
                        stop_signal(), path);
}

/* Frames of a walker that cannot be read, the sweeps of the first and the last one of a row of them. */
typedef struct losses {
    int64_t count, now, sweeps[2];
    char why[256]; /* of the first one */
} losses;

/* The row of lost frames that has come to its end. */
static void tell_losses(losses *l, const run_file *run, int walker, report *r)
{
    char sweeps[64];
    if (!l->now) return;
    if (l->now == 1)
        snprintf(sweeps, sizeof sweeps, " after sweep %lld", (long long)l->sweeps[0]);
    else
        snprintf(sweeps, sizeof sweeps, "s of sweeps %lld to %lld", (long long)l->sweeps[0],
                 (long long)l->sweeps[1]);
    report_error(r, EXIT_CHECKPOINT, run->path, 0, "%lld frame%s of walker %d cannot be read: %s",
                 (long long)l->now, sweeps, walker, l->why);
    l->now = 0;
}

static void note_loss(losses *l, const run_file *run, int64_t k)
{
    if (!l->now) snprintf(l->why, sizeof l->why, "%.255s", run->frames.why);
    if (!l->now) l->sweeps[0] = run->frames.sweeps[k];
    l->sweeps[1] = run->frames.sweeps[k];
    l->count++;
    l->now++;
}

/* 0 or an exit code; *frames: how many were written. Those that are lost have been told. */
static int put_frames(const arguments *a, run_file *run, exported *e, const char *path, int walker,
                      int64_t *frames, int64_t *lost, report *r)
{
    const selection s = a->last ? (selection){0, 1} : select_frames(a, run);
    losses l = {0};
    int code = EXIT_DONE;
    if (a->format->begin) a->format->begin(e);
    for (int64_t k = s.first; k < s.end && !code && !ferror(e->out) && !e->error && !*e->why;
         k += a->every) {
        bool damaged = false;
        code = a->last ? run_read_last(run, walker, r)
                       : run_read_frame(run, walker, k, a->every, &damaged, r);
        if (!code && stop_signal()) code = interrupted(path, r);
        run->now.frame = *frames;
        if (damaged)
            note_loss(&l, run, k);
        else
            tell_losses(&l, run, walker, r);
        if (!code && !damaged) a->format->put(e, &run->now);
        if (!code && *e->why) code = report_error(r, EXIT_INPUT, run->path, 0, "%s", e->why);
        if (!code && !damaged) ++*frames;
        if (a->every >= s.end - k) break; /* the sum might not fit */
    }
    tell_losses(&l, run, walker, r);
    if (a->format->end) a->format->end(e);
    *lost += l.count;
    return !code && l.count && !*frames ? EXIT_CHECKPOINT : code;
}

static int cannot_write(const char *path, int error, report *r)
{
    return report_error(r, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s", path,
                        replacement_words(error));
}

/* Under another name first: a file is there whole or not at all. */
static int write_locked(const arguments *a, run_file *run, int walker, const char *path,
                        int64_t *lost, report *r)
{
    replacement file;
    char identity[IDENTITY_SIZE];
    int64_t frames = 0;
    identity_make(identity);
    int error = replacement_begin(&file, path, identity, REPLACES_ANY);
    if (error) return cannot_write(path, error, r);
    const int fd = dup(file.fd);
    exported e = {.run = run, .out = fd < 0 ? NULL : fdopen(fd, "w"), .single = a->single};
    if (!e.out) {
        error = errno;
        if (fd >= 0) close(fd);
        replacement_abandon(&file);
        return cannot_write(path, error, r);
    }
    errno = 0;
    int code = a->format->samples ? a->format->samples(&e, a->from, a->until, a->block, &frames, r)
                                  : put_frames(a, run, &e, path, walker, &frames, lost, r);
    if (ferror(e.out) | fclose(e.out)) error = errno ? errno : EIO;
    if (e.error) error = e.error;
    if (!code && !error && stop_signal()) code = interrupted(path, r);
    if (code || error)
        replacement_abandon(&file);
    else
        error = replacement_finish(&file);
    if (!code && error) code = cannot_write(path, error, r);
    if (!code && a->format->samples)
        printf("%s: %lld block%s\n", path, (long long)frames, frames == 1 ? "" : "s");
    else if (!code)
        printf("%s: walker %d, %lld frame%s\n", path, walker, (long long)frames,
               frames == 1 ? "" : "s");
    return code;
}

/* Nobody else writes it meanwhile, and it is looked for again: it may have come since the command began. */
static int write_walker(const arguments *a, run_file *run, int walker, const char *path,
                        int64_t *lost, report *r)
{
    output_lock lock = {0};
    int code = output_lock_take_plain(&lock, path, r);
    if (!code) code = check_target(a, path, r);
    if (!code) code = write_locked(a, run, walker, path, lost, r);
    output_lock_release(&lock);
    return code;
}

/* The run's own trajectory is not replaced by what is read from it. */
static int check_own(const run_file *run, const char *path, report *r)
{
    const output_trajectory *t = &run->data.trajectory;
    bool own = false;
    for (int w = 0; w < run->data.walkers && t->base && !own; w++) {
        char *file = trajectory_path(t, w, run->data.walkers);
        own = path_is_same_file(checked(file), path);
        free(file);
    }
    if (!own) return EXIT_DONE;
    return report_error(r, EXIT_USAGE, NULL, 0,
                        "%s is the trajectory of this run: --to needs another name", path);
}

static int check_run(const arguments *a, const run_file *run, report *r)
{
    if (a->walker >= run->data.walkers)
        return report_error(r, EXIT_USAGE, NULL, 0, "there is no walker %d: %s has walkers 0 to %d",
                            a->walker, run->path, run->data.walkers - 1);
    if (a->last || a->format->samples || run->data.trajectory.written) return EXIT_DONE;
    if (run->data.trajectory.wanted)
        return report_error(
            r, EXIT_INPUT, run->path, 0,
            "its trajectory has no frame yet; --last exports the state that it has");
    return report_error(r, EXIT_INPUT, run->path, 0,
                        "there is no trajectory in it, as there was no [observable trajectory]; "
                        "--last exports the state at the end");
}

static int check_selection(const arguments *a, const run_file *run, report *r)
{
    if (a->last || a->format->samples) return EXIT_DONE;
    const selection s = select_frames(a, run);
    if (s.first < s.end) return EXIT_DONE;
    return report_error(r, EXIT_USAGE, run->path, 0,
                        "there is no such frame; they are from sweeps %lld to %lld",
                        (long long)run->frames.sweeps[0],
                        (long long)run->frames.sweeps[run->data.trajectory.written - 1]);
}

static int export(const arguments *a, run_file *run, report *r)
{
    int code = run_open(run, a->file, r);
    if (!code) code = check_run(a, run, r);
    if (!code && !a->last && !a->format->samples) code = run_open_trajectory(run, r);
    if (!code) code = check_selection(a, run, r);
    if (code) return code;
    const int first = a->walker == EACH ? 0 : a->walker,
              last = a->walker == EACH ? run->data.walkers - 1 : a->walker;
    char **paths = checked(calloc((size_t)(last - first) + 1, sizeof *paths));
    int64_t lost = 0;
    for (int w = first; w <= last; w++) {
        paths[w - first] = target(a, w);
        if (!code) code = check_own(run, paths[w - first], r);
        if (!code) code = check_target(a, paths[w - first], r);
    }
    stop_take_signals();
    for (int w = first; w <= last && !code; w++)
        code = write_walker(a, run, w, paths[w - first], &lost, r);
    for (int w = first; w <= last; w++) free(paths[w - first]);
    free(paths);
    return !code && lost ? EXIT_CHECKPOINT : code;
}

static int command(int argc, char **argv)
{
    arguments a;
    int code = parse(argc, argv, &a);
    if (code) return code;
    report r = {0};
    run_file run = {.fd = -1, .frames = {.walker = -1}};
    code = export(&a, &run, &r);
    run_close(&run);
    return code;
}

int main(int argc, char **argv) { return beside_main(argc, argv, help, command); }
