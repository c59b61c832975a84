/* plugmc bench NAME: a benchmark is an INI file with a section [bench], found in the folder bench
 * beside the program or installed with it. Keys of the configuration take several values; for each
 * case the time of a number of sweeps, or of evaluations of a potential, is measured, after warm-up,
 * several times. Several movers or potentials are timed on the same system, and set beside those
 * before them. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"
#include "program/beside.h"
#include "cli.h"

static const char bench_help[] =
    "usage: plugmc bench NAME|FILE.ini [TABLE] [--set SECTION.KEY=VALUE]...\n"
    "\n"
    "Times sweeps or evaluations of a standard benchmark, and prints a table for each section\n"
    "[bench] or [bench TABLE], or only for TABLE. NAME.ini is searched in $PLUGMC_BENCH_PATH, then\n"
    "beside the program, then where plugmc is installed. A script NAME.sh is run instead, with the\n"
    "remaining arguments, and with this program in the variable PLUGMC. Without a name the\n"
    "benchmarks are listed.\n"
    "\n";

/* ---- Tables ---------------------------------------------------------------------------------- */

/* What is common to the lines of all tables, behind their own columns. */
static void print_head_end(const benchmark *b)
{
    printf("%9s %10s %10s", "spread", "prepare/s", "first/s");
    if (b->subject_count > 1) printf("  %-10s", "timed");
    if (b->section.time != TIME_SWEEPS && b->key_count) printf("  %-32s", "case");
    if (b->subject_count > 1) printf("  speedup over");
    putchar('\n');
}

static void print_head(const benchmark *b)
{
    const int many = b->subject_count > 1;
    if (many) printf("%-20s ", b->section.time == TIME_SWEEPS ? "mover" : "potential");
    if (b->section.time == TIME_SWEEPS) {
        printf("%12s %8s %8s %14s %14s ", "N", "walkers", "device", "ms/sweep", "trials/s");
        if (b->section.pairs) printf("%12s ", "pairs/s");
        printf("%10s ", "acceptance");
    } else if (b->section.time == TIME_TOTAL) {
        printf("%12s %8s %8s %14s %12s %12s %7s ", "N", "walkers", "device", "both/us", "forces/us",
               "energy/us", "share");
    } else {
        printf("%12s %8s %8s %8s %14s %14s ", "places", "orbitals", "walkers", "device",
               "values/ms", "all/ms");
    }
    print_head_end(b);
}

static const char *device_name(const timing *t)
{
    return t->too_long > 0 ? "-" : t->on_gpu ? "gpu" : "cpu";
}

static void print_sweeps(const benchmark *b, const timing *t)
{
    const double particles = (double)t->particles;
    printf("%12lld %8d %8s ", t->particles, t->walkers, device_name(t));
    if (t->too_long > 0) {
        printf("%14s %14s ", "-", "-");
        if (b->section.pairs) printf("%12s ", "-");
        printf("%10s ", "-");
        return;
    }
    printf("%14.6g %14.4g ", 1e3 * t->seconds, t->trials);
    if (b->section.pairs) printf("%12.4g ", t->walkers * particles * (particles - 1) / t->seconds);
    printf("%10.4f ", t->acceptance);
}

/* Of a configuration. */
static void print_total(const timing *t)
{
    const double us = 1e6 / t->walkers;
    printf("%12lld %8d %8s %14.6g %12.6g %12.6g %6.1f%% ", t->particles, t->walkers, device_name(t),
           us * t->seconds, us * t->forces, us * t->energy, 100 * t->energy / t->seconds);
}

/* Of a walker. */
static void print_orbitals(const timing *t)
{
    const double ms = 1e3 / t->walkers;
    printf("%12lld %8lld %8d %8s %14.6g %14.6g ", t->particles, t->orbitals, t->walkers,
           device_name(t), ms * t->seconds, ms * t->derivatives);
}

static void print_case(const benchmark *b, const bench_case *c)
{
    char text[256] = "";
    if (b->section.time == TIME_SWEEPS || !b->key_count) return;
    for (int k = 0; k < b->key_count; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", k ? " " : "",
                 c->value[k]);
    printf("  %-32s", text);
}

/* How many times slower those before it were, on the same system. */
static void print_speedups(const benchmark *b, const timing *all, int k)
{
    if (all[k].too_long > 0) printf("  a sweep would take some %.2g s", all[k].too_long);
    for (int other = 0; other < k && all[k].seconds > 0; other++)
        if (all[other].seconds > 0)
            printf(" %s %.4g", b->subjects[other].label, all[other].seconds / all[k].seconds);
}

static void print_line(const benchmark *b, const bench_case *c, const timing *all, int k)
{
    const timing *t = &all[k];
    const bool timed = t->too_long == 0;
    char calls[64];
    if (b->subject_count > 1) printf("%-20s ", b->subjects[k].label);
    if (b->section.time == TIME_SWEEPS)
        print_sweeps(b, t);
    else if (b->section.time == TIME_TOTAL)
        print_total(t);
    else
        print_orbitals(t);
    if (timed)
        printf("%8.1f%% %10.3f %10.3f", 100 * t->spread, t->prepare, t->first);
    else
        printf("%9s %10s %10s", "-", "-", "-");
    snprintf(calls, sizeof calls, "%lldx%lld", (long long)t->repeat, (long long)t->calls);
    if (b->subject_count > 1) printf("  %-10s", timed ? calls : "no");
    print_case(b, c);
    if (b->subject_count > 1) print_speedups(b, all, k);
    putchar('\n');
    if (t->share_count) bench_print_profile(t);
    fflush(stdout);
}

/* ---- Running --------------------------------------------------------------------------------- */

/* Movers for GPUs alone are left out where there is none, if there are others. */
static int find_unable(benchmark *b, bool there_is_a_gpu)
{
    int code = EXIT_DONE;
    if (b->section.time != TIME_SWEEPS || b->subject_count < 2 || there_is_a_gpu) return code;
    for (int k = 0; k < b->subject_count && !code; k++) {
        session session = {.engine.report = b->report};
        bench_section unused;
        code = bench_configure(b, &b->cases[0], &b->subjects[k], &unused, &session.engine.config);
        if (!code) code = session_open(&session);
        for (int m = 0; m < session.engine.mover_count && !code; m++) {
            if (session.engine.movers[m].mover->needs & PLUGMC_RUNS_ON_CPU) continue;
            b->subjects[k].unable = "it runs on a GPU only";
            printf("# %s is not timed: %s\n", b->subjects[k].label, b->subjects[k].unable);
        }
        session_close(&session);
    }
    return code;
}

static int time_table(benchmark *b, const char *name, bool there_is_a_gpu)
{
    int (*const time_case[])(const benchmark *, const bench_case *, subject *,
                             timing *) = {bench_time_mover, bench_time_total, bench_time_orbitals};
    printf("# %s%s%s, median of %lld timings of %lld %s after %lld", name, *b->table ? ", " : "",
           b->table, (long long)b->section.repeat, (long long)b->section.sweeps,
           b->section.time == TIME_SWEEPS ? "sweeps" : "evaluations", (long long)b->section.warmup);
    if (b->section.limit > 0) printf("; fewer where that takes longer than %g s", b->section.limit);
    putchar('\n');
    int code = find_unable(b, there_is_a_gpu);
    if (!code) print_head(b);
    fflush(stdout);
    for (int c = 0; c < b->case_count && !code; c++) {
        timing all[MOST_SUBJECTS] = {0};
        for (int k = 0; k < b->subject_count && !code; k++) {
            if (b->subjects[k].unable) continue;
            code = time_case[b->section.time](b, &b->cases[c], &b->subjects[k], &all[k]);
            if (!code) print_line(b, &b->cases[c], all, k);
            free(all[k].shares);
        }
    }
    return code;
}

/* Returns whether there is a GPU. */
static bool print_machine(FILE *out)
{
    char line[256], model[256] = "";
    struct utsname machine;
    FILE *cpu = fopen("/proc/cpuinfo", "r");
    while (cpu && fgets(line, sizeof line, cpu))
        if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
            snprintf(model, sizeof model, "%s", strchr(line, ':') + 2);
            model[strcspn(model, "\n")] = 0;
            break;
        }
    if (cpu) fclose(cpu);
    uname(&machine);
    fprintf(out, "# plugmc %s, commit %s\n# %s, %ld CPUs, %s %s\n", PLUGMC_VERSION, PLUGMC_COMMIT,
            model, sysconf(_SC_NPROCESSORS_ONLN), machine.sysname, machine.release);
    char why[512];
    gpu *gpu = gpu_open(0, false, why);
    if (gpu) {
        fputs("# ", out);
        gpu_describe(out, gpu);
        gpu_close(gpu);
    } else {
        fprintf(out, "# no GPU: %s\n", why);
    }
    return gpu != NULL;
}

/* All tables are read before the first is timed. */
static int run_benchmark(const char *path, const char *name, const char *table, char **sets,
                         int set_count)
{
    enum { MOST_TABLES = 16 };
    static benchmark tables[MOST_TABLES];
    char *labels[MOST_TABLES], *section;
    report report = {0};
    int count, chosen = 0;
    int code = bench_tables(path, sets, set_count, &report, labels, MOST_TABLES, &count);
    for (int i = 0; i < count && !code; i++) {
        if (table && strcmp(table, labels[i])) continue;
        if (asprintf(&section, "bench%s%s", *labels[i] ? " " : "", labels[i]) < 0) checked(NULL);
        tables[chosen] = (benchmark){.path = path,
                                     .table = labels[i],
                                     .name = section,
                                     .sets = sets,
                                     .set_count = set_count,
                                     .report = &report};
        code = bench_read(&tables[chosen++]);
    }
    if (!code && !chosen)
        code = report_error(&report, EXIT_USAGE, path, 0, "has no section [bench %s]", table);
    const bool there_is_a_gpu = !code && print_machine(stdout);
    for (int i = 0; i < chosen && !code; i++) code = time_table(&tables[i], name, there_is_a_gpu);
    return code;
}

/* ---- The command ----------------------------------------------------------------------------- */

enum { FOLDERS = 4, FOLDER_ROOM = 4200 };

/* Where benchmarks are looked for, in order; "" where there is no such folder. */
static void find_folders(char folders[FOLDERS][FOLDER_ROOM])
{
    char program[4096];
    const char *first = getenv("PLUGMC_BENCH_PATH");
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    if (strrchr(program, '/')) *strrchr(program, '/') = 0;
    snprintf(folders[0], FOLDER_ROOM, "%s", first ? first : "");
    snprintf(folders[1], FOLDER_ROOM, "%s/bench", program);
    snprintf(folders[2], FOLDER_ROOM, "%s/../share/plugmc/bench", program);
    snprintf(folders[3], FOLDER_ROOM, "%s", PLUGMC_BENCH_FOLDER);
}

static bool find_bench(const char *name, char *path, size_t room)
{
    char folders[FOLDERS][FOLDER_ROOM];
    find_folders(folders);
    snprintf(path, room, "%s", name);
    if (strchr(name, '/') || strstr(name, ".ini")) return access(path, R_OK) == 0;
    for (int i = 0; i < FOLDERS; i++) {
        static const char *const endings[] = {"ini", "sh"};
        for (int k = 0; k < 2 && *folders[i]; k++) {
            if (snprintf(path, room, "%s/%s.%s", folders[i], name, endings[k]) >= (int)room)
                continue;
            if (access(path, k ? X_OK : R_OK) == 0) return true;
        }
    }
    if (snprintf(path, room, "%s/%s.ini", folders[FOLDERS - 1], name) >= (int)room) *path = 0;
    return false;
}

static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n > m && !strcmp(name + n - m, end);
}

/* Comes back only if it cannot be started. */
static int run_script(const char *path, int argc, char **argv)
{
    char *program = beside_path("plugmc"), **all = calloc((size_t)argc + 1, sizeof *all);
    if (!program || !all || setenv("PLUGMC", program, 1)) {
        fprintf(stderr, "plugmc: no memory\n");
        free(program);
        free(all);
        return EXIT_MEMORY;
    }
    free(program);
    all[0] = (char *)path;
    memcpy(all + 1, argv + 1, (size_t)(argc - 1) * sizeof *all);
    fflush(stdout);
    execv(path, all);
    fprintf(stderr, "plugmc: %s cannot be started: %s\n", path, strerror(errno));
    free(all);
    return EXIT_USAGE;
}

/* Its name, and its first line that is a comment and no shebang, which says what it times. */
static void list_file(const char *folder, const char *file)
{
    char path[8192], line[512] = "";
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "r");
    if (!f) return;
    do
        if (!fgets(line, sizeof line, f)) *line = 0;
    while (!strncmp(line, "#!", 2));
    fclose(f);
    line[strcspn(line, "\n")] = 0;
    const char *text = line + strspn(line, "#; ");
    printf("  %-16.*s %s\n", (int)(strrchr(file, '.') - file), file,
           *line == ';' || *line == '#' ? text : "");
}

static int is_benchmark(const struct dirent *entry)
{
    return ends_in(entry->d_name, ".ini") || ends_in(entry->d_name, ".sh");
}

/* What sources the other scripts is none, nor is one that prepares NAME.ini. */
static bool is_listed(const char *folder, const char *file)
{
    char path[8192];
    if (ends_in(file, ".ini")) return true;
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (access(path, X_OK)) return false;
    strcpy(strrchr(path, '.'), ".ini");
    return access(path, R_OK) != 0;
}

/* Of each folder once, whatever it is called. */
static int list_benchmarks(void)
{
    char folders[FOLDERS][4200], *seen[FOLDERS];
    int found = 0;
    find_folders(folders);
    for (int i = 0; i < FOLDERS; i++) {
        struct dirent **files;
        seen[i] = *folders[i] ? realpath(folders[i], NULL) : NULL;
        bool again = !seen[i];
        for (int k = 0; k < i && !again; k++) again = seen[k] && !strcmp(seen[k], seen[i]);
        const int n = again ? 0 : scandir(seen[i], &files, is_benchmark, alphasort);
        if (n > 0) printf("benchmarks in %s:\n", folders[i]);
        for (int k = 0; k < n; k++) {
            if (is_listed(seen[i], files[k]->d_name)) list_file(seen[i], files[k]->d_name);
            free(files[k]);
        }
        if (n > 0) free(files);
        found += n > 0 ? n : 0;
    }
    for (int i = 0; i < FOLDERS; i++) free(seen[i]);
    if (found) printf("plugmc bench NAME times one of them.\n");
    if (!found) fprintf(stderr, "plugmc: there are no benchmarks; see plugmc bench --help\n");
    return found ? EXIT_DONE : EXIT_USAGE;
}

int command_bench(int argc, char **argv)
{
    char path[8192], *sets[64];
    const char *name = NULL, *table = NULL;
    int set_count = 0;
    if (argc && *argv[0] != '-' && find_bench(argv[0], path, sizeof path) && ends_in(path, ".sh"))
        return run_script(path, argc, argv);
    for (int i = 0; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            printf("%s%s", bench_help, exit_code_help);
            return EXIT_DONE;
        }
        if (!strcmp(argv[i], "--set") && i + 1 < argc && set_count < 64) {
            sets[set_count++] = argv[++i];
        } else if (argv[i][0] == '-' || table) {
            fprintf(stderr, "plugmc: '%s' is not understood; see plugmc bench --help\n", argv[i]);
            return EXIT_USAGE;
        } else if (name) {
            table = argv[i];
        } else {
            name = argv[i];
        }
    }
    if (!name) return list_benchmarks();
    if (!find_bench(name, path, sizeof path)) {
        fprintf(stderr, "plugmc: no benchmark '%s': there is no %s\n", name, path);
        return EXIT_USAGE;
    }
    const int code = beside_check_alone("bench");
    return code ? code : run_benchmark(path, name, table, sets, set_count);
}
