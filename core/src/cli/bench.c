/* plugmc bench NAME: a benchmark is an INI file with a section [bench], found in the folder bench
 * beside the program or installed with it. Keys of the configuration take several values; for each
 * case the time of a number of sweeps is measured, after warm-up, several times. A benchmark may
 * have several [mover] sections: all are timed on the same system, and set beside those before
 * them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "run/simulation.h"

static const char bench_help[] =
    "usage: plugmc bench NAME|FILE.ini [--set SECTION.KEY=VALUE]...\n\n"
    "Times the sweeps of a standard benchmark and prints a table: NAME.ini is looked for in\n"
    "$PLUGMC_BENCH_PATH, then beside the program, then where plugmc is installed.\n\n";

/* [bench] of a benchmark's INI file. */
typedef struct bench_section {
    const char *vary;   /* section.key, ... that take the values; "" for none */
    const char *values; /* of one key: separated by blanks; of several: cases separated by commas */
    const char *one_core; /* labels of movers */
    int32_t pairs;
    int64_t warmup, sweeps, repeat;
    double limit; /* seconds */
} bench_section;

static const plugmc_parameter bench_table[] = {
    PLUGMC_TEXT_KEY(bench_section, vary, "",
                    "section.key that takes the values, or several with commas between them"),
    PLUGMC_TEXT_KEY(
        bench_section, values, "",
        "its values with blanks between them; of several keys: cases with commas between them"),
    PLUGMC_INTEGER_KEY(bench_section, warmup, "100", 0, 1e9, "sweeps",
                       "sweeps before the clock runs"),
    PLUGMC_INTEGER_KEY(bench_section, sweeps, "100", 1, 1e9, "sweeps", "sweeps timed at once"),
    PLUGMC_INTEGER_KEY(bench_section, repeat, "11", 1, 1000, "",
                       "timings, of which the median counts"),
    PLUGMC_REAL_KEY(
        bench_section, limit, "0", 0, 1e9, "seconds",
        "for a case: fewer sweeps are timed where it would take longer, and where a sweep "
        "would, it is extrapolated from fewer particles; 0: none"),
    PLUGMC_FLAG_KEY(bench_section, pairs, "no", "also ordered pairs a second: N (N - 1) a sweep"),
    PLUGMC_TEXT_KEY(bench_section, one_core, "",
                    "labels of movers that are timed on one core of the CPU, blanks between them"),
};

enum { MOST_MOVERS = 8, MOST_KEYS = 8, MOST_CASES = 64 };

/* What is timed: one mover of the file. */
typedef struct subject {
    const char *label; /* "" if there is only one */
    bool one_core;
    const char *unable; /* why it cannot be timed here; NULL */
    struct {
        double particles, seconds;
    } done[2]; /* the last two cases that were timed, the last one first; seconds a sweep */
} subject;

/* How long the sweeps of a case take. */
typedef struct timing {
    long long particles;
    int walkers;
    bool on_gpu;
    int64_t sweeps, repeat;    /* as many as there was time for */
    double seconds;            /* a sweep, median */
    double trials, acceptance; /* a second; of them accepted */
    double spread;             /* of the timings, of the median */
    double prepare, first;     /* seconds: until kernels are ready; the first sweep */
    double extrapolated_from;  /* particles; 0 if it was timed */
} timing;

/* One line of the table: a value for every key that varies. */
typedef struct bench_case {
    char *value[MOST_KEYS];
} bench_case;

typedef struct benchmark {
    const char *path;
    char **sets;
    int set_count;
    bench_section section;
    char *keys[MOST_KEYS];
    int key_count;
    bench_case cases[MOST_CASES];
    int case_count;
    subject subjects[MOST_MOVERS];
    int subject_count;
    report *report;
} benchmark;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- The file -------------------------------------------------------------------------------- */

static void drop_section(ini_file *ini, ini_section *section)
{
    const int index = (int)(section - ini->sections);
    memmove(section, section + 1, sizeof *section * (size_t)(ini->count - index - 1));
    ini->count--;
}

/* Takes [bench] out of the file, which the configuration does not know. */
static int take_bench_section(ini_file *ini, bench_section *bench, report *report)
{
    ini_section *section = ini_find(ini, "bench");
    if (!section)
        return report_error(report, EXIT_INPUT, ini->path, 0,
                            "has no [bench] section: it is no benchmark");
    int code = parameters_fill(bench_table, PLUGMC_COUNT(bench_table), sizeof(double), bench,
                               ini->path, section, report);
    if (!code)
        code = parameters_unused(bench_table, PLUGMC_COUNT(bench_table), NULL, ini->path, section,
                                 report);
    drop_section(ini, section);
    return code;
}

/* Leaves one mover in the file. */
static void keep_mover(ini_file *ini, const char *label)
{
    for (int k = ini->count - 1; k >= 0; k--)
        if (!strcmp(ini->sections[k].kind, "mover") && strcmp(ini->sections[k].label, label))
            drop_section(ini, &ini->sections[k]);
}

static char *trimmed(char *text)
{
    while (*text == ' ' || *text == '\t') text++;
    for (char *end = text + strlen(text); end > text && (end[-1] == ' ' || end[-1] == '\t');)
        *--end = 0;
    return text;
}

/* The values of one case, separated by blanks. */
static int read_case(benchmark *b, char *text)
{
    bench_case *c = &b->cases[b->case_count];
    int count = 0;
    for (char *value; (value = strsep(&text, " \t"));)
        if (*value && count++ < b->key_count) c->value[count - 1] = value;
    if (!count) return EXIT_DONE;
    if (count != b->key_count)
        return report_error(b->report, EXIT_INPUT, b->path, 0,
                            "[bench] values: a case has %d values, but %d keys vary", count,
                            b->key_count);
    b->case_count++;
    return EXIT_DONE;
}

/* Keys and cases. The texts are cut up where they are, copies that live until the end. */
static int read_cases(benchmark *b)
{
    char *keys = strdup(b->section.vary), *values = strdup(b->section.values), *part;
    const char *between = strchr(keys, ',') ? "," : " \t";
    int code = EXIT_DONE;
    while ((part = strsep(&keys, ",")) && b->key_count < MOST_KEYS)
        if (*trimmed(part)) b->keys[b->key_count++] = trimmed(part);
    if (b->key_count == 0) {
        b->case_count = 1;
        return EXIT_DONE;
    }
    while (!code && (part = strsep(&values, between)) && b->case_count < MOST_CASES)
        code = read_case(b, part);
    return code;
}

/* The movers of the file; with one alone it has no name. */
static void read_subjects(benchmark *b, const ini_file *ini)
{
    for (int k = 0; k < ini->count && b->subject_count < MOST_MOVERS; k++)
        if (!strcmp(ini->sections[k].kind, "mover"))
            b->subjects[b->subject_count++].label = strdup(ini->sections[k].label);
    for (int k = 0; k < b->subject_count; k++) {
        char *labels = strdup(b->section.one_core), *rest = labels, *label;
        while ((label = strsep(&rest, " \t")))
            b->subjects[k].one_core |= !strcmp(label, b->subjects[k].label);
        free(labels);
    }
}

static int read_benchmark(benchmark *b)
{
    ini_file ini = {0};
    int code = ini_read(b->path, &ini, b->report);
    for (int i = 0; i < b->set_count && !code; i++) code = ini_set(&ini, b->sets[i], b->report);
    if (!code) code = take_bench_section(&ini, &b->section, b->report);
    if (!code) code = read_cases(b);
    if (!code) read_subjects(b, &ini);
    ini_free(&ini);
    return code;
}

/* ---- One case -------------------------------------------------------------------------------- */

/* The configuration of one case and mover. */
static int configure_case(const benchmark *b, const bench_case *c, const subject *s, config *config)
{
    bench_section unused;
    char assignment[512];
    int code = ini_read(b->path, &config->ini, b->report);
    for (int i = 0; i < b->set_count && !code; i++)
        code = ini_set(&config->ini, b->sets[i], b->report);
    if (!code) code = take_bench_section(&config->ini, &unused, b->report);
    if (!code && b->subject_count > 1) keep_mover(&config->ini, s->label);
    for (int k = 0; k < b->key_count && !code; k++) {
        snprintf(assignment, sizeof assignment, "%s=%s", b->keys[k], c->value[k]);
        code = ini_set(&config->ini, assignment, b->report);
    }
    if (!code && s->one_core) code = ini_set(&config->ini, "run.device=cpu", b->report);
    if (!code && s->one_core) code = ini_set(&config->ini, "run.threads=1", b->report);
    return code ? code : config_read(config, b->report);
}

/* Seconds that a sweep of this many particles will take, by the last two cases. Work grows no
 * faster than the number of pairs. 0: not known. */
static double expected(const subject *s, double particles)
{
    double power = 2;
    if (s->done[0].seconds <= 0) return 0;
    if (s->done[1].seconds > 0 && s->done[0].particles > s->done[1].particles)
        power = log(s->done[0].seconds / s->done[1].seconds) /
                log(s->done[0].particles / s->done[1].particles);
    return s->done[0].seconds * pow(particles / s->done[0].particles, power < 2 ? power : 2);
}

/* As many warm-up sweeps, sweeps and timings as there is time for, by the first sweep. */
static void fit_into_limit(const bench_section *bench, double first, int64_t *warmup, timing *t)
{
    const double most = bench->limit > 0 ? bench->limit / first : INFINITY; /* sweeps */
    *warmup = bench->warmup;
    t->sweeps = bench->sweeps;
    t->repeat = bench->repeat;
    if ((double)(*warmup + t->sweeps * t->repeat) <= most) return;
    *warmup = (int64_t)fmin((double)*warmup, floor(most / 8));
    t->sweeps = (int64_t)fmax(1, fmin((double)t->sweeps, floor(most / (double)t->repeat)));
    t->repeat = (int64_t)fmax(1, fmin((double)t->repeat, floor(most / (double)t->sweeps)));
}

static int time_sweeps(simulation *sim, const bench_section *bench, double first, timing *t)
{
    const plugmc_mover *mover = sim->mover->plugin->mover;
    plugmc_counts counts = {0, 0};
    int64_t warmup;
    uint64_t sweep = 1;
    int code = EXIT_DONE;
    fit_into_limit(bench, first, &warmup, t);
    if (2 * first > bench->limit && bench->limit > 0) { /* no second one: the first is the timing */
        t->seconds = first;
        if (mover->counts(sim->mover->data, &sim->mover->host, &counts, 0)) return EXIT_INTERNAL;
    } else {
        double *seconds = checked(calloc((size_t)t->repeat, sizeof *seconds));
        if (warmup) code = simulation_sweep(sim, sweep, (uint64_t)warmup);
        sweep += (uint64_t)warmup;
        for (int64_t r = 0; r < t->repeat && !code; r++) {
            code = mover->counts(sim->mover->data, &sim->mover->host, &counts, 1);
            const double begin = now();
            if (!code) code = simulation_sweep(sim, sweep, (uint64_t)t->sweeps);
            seconds[r] = now() - begin;
            sweep += (uint64_t)t->sweeps;
            if (!code) code = mover->counts(sim->mover->data, &sim->mover->host, &counts, 0);
        }
        qsort(seconds, (size_t)t->repeat, sizeof(double), compare);
        const double median = seconds[t->repeat / 2];
        t->spread = (seconds[t->repeat - 1] - seconds[0]) / median;
        t->seconds = median / (double)t->sweeps;
        free(seconds);
    }
    t->trials = (double)counts.trials / (t->seconds * (double)t->sweeps);
    t->acceptance = counts.trials ? (double)counts.accepted / (double)counts.trials : 0;
    return code;
}

/* Times one mover in one case, or extrapolates where a sweep would take longer than there is time.
 */
static int time_case(const benchmark *b, const bench_case *c, subject *s, timing *t)
{
    simulation sim = {.report = b->report};
    const double begin = now();
    int code = configure_case(b, c, s, &sim.config);
    if (!code) code = simulation_open(&sim);
    t->particles = (long long)sim.system.particles;
    t->walkers = sim.system.walkers;
    const double particles = (double)t->particles;
    const bool too_long =
        !code && b->section.limit > 0 && expected(s, particles) > b->section.limit;
    if (too_long) {
        t->extrapolated_from = s->done[0].particles;
        t->seconds = s->done[0].seconds * pow(particles / s->done[0].particles, 2);
    } else {
        if (!code) code = simulation_prepare(&sim);
        t->prepare = now() - begin;
        t->on_gpu = sim.gpu != NULL;
        if (!code) code = simulation_begin(&sim);
        const double started = now();
        if (!code) code = simulation_sweep(&sim, 0, 1);
        t->first = now() - started;
        if (!code) code = time_sweeps(&sim, &b->section, t->first, t);
        s->done[1] = s->done[0];
        s->done[0].particles = particles;
        s->done[0].seconds = t->seconds;
    }
    simulation_close(&sim);
    return code;
}

/* ---- The table ------------------------------------------------------------------------------- */

static void print_head(const benchmark *b)
{
    if (b->subject_count > 1) printf("%-20s ", "mover");
    printf("%12s %8s %8s %14s %14s ", "N", "walkers", "device", "ms/sweep", "trials/s");
    if (b->section.pairs) printf("%12s ", "pairs/s");
    printf("%10s %9s %10s %10s", "acceptance", "spread", "prepare/s", "first/s");
    if (b->subject_count > 1) printf("  %-10s speedup over", "timed");
    putchar('\n');
}

/* How many times slower those before it were, at the same number of particles. */
static void print_speedups(const benchmark *b, const timing *all, int k)
{
    char timed[64];
    snprintf(timed, sizeof timed, "%lldx%lld", (long long)all[k].repeat, (long long)all[k].sweeps);
    printf("  %-10s", all[k].extrapolated_from > 0 ? "no" : timed);
    for (int other = 0; other < k; other++)
        if (all[other].seconds > 0)
            printf(" %s %.4g", b->subjects[other].label, all[other].seconds / all[k].seconds);
    if (all[k].extrapolated_from > 0)
        printf("  extrapolated from N = %.0f as N^2", all[k].extrapolated_from);
}

static void print_timing(const benchmark *b, const timing *all, int k)
{
    const timing *t = &all[k];
    const bool timed = t->extrapolated_from == 0;
    const double particles = (double)t->particles;
    if (b->subject_count > 1) printf("%-20s ", b->subjects[k].label);
    printf("%12lld %8d %8s %14.6g ", t->particles, t->walkers,
           !timed      ? "-"
           : t->on_gpu ? "gpu"
                       : "cpu",
           1e3 * t->seconds);
    printf("%14.4g ", timed ? t->trials : t->walkers * particles / t->seconds);
    if (b->section.pairs) printf("%12.4g ", t->walkers * particles * (particles - 1) / t->seconds);
    if (timed)
        printf("%10.4f %8.1f%% %10.3f %10.3f", t->acceptance, 100 * t->spread, t->prepare,
               t->first);
    else
        printf("%10s %9s %10s %10s", "-", "-", "-", "-");
    if (b->subject_count > 1) print_speedups(b, all, k);
    putchar('\n');
    fflush(stdout);
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

static bool find_bench(const char *name, char *path, size_t room)
{
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    if (strrchr(program, '/')) *strrchr(program, '/') = 0;
    char build_tree[4200], installed[4200];
    snprintf(build_tree, sizeof build_tree, "%s/bench", program);
    snprintf(installed, sizeof installed, "%s/../share/plugmc/bench", program);
    const char *folders[] = {getenv("PLUGMC_BENCH_PATH"), build_tree, installed,
                             PLUGMC_BENCH_FOLDER};
    snprintf(path, room, "%s", name);
    if (strchr(name, '/') || strstr(name, ".ini")) return access(path, R_OK) == 0;
    for (int i = 0; i < 4; i++) {
        if (!folders[i]) continue;
        snprintf(path, room, "%s/%s.ini", folders[i], name);
        if (access(path, R_OK) == 0) return true;
    }
    return false;
}

/* Movers for GPUs alone are left out where there is none, if there are others. */
static int find_unable(benchmark *b, bool there_is_a_gpu)
{
    int code = EXIT_DONE;
    for (int k = 0; k < b->subject_count && b->subject_count > 1 && !there_is_a_gpu && !code; k++) {
        simulation sim = {.report = b->report};
        code = configure_case(b, &b->cases[0], &b->subjects[k], &sim.config);
        if (!code) code = simulation_open(&sim);
        if (!code && !(sim.mover->plugin->mover->needs & PLUGMC_RUNS_ON_CPU)) {
            b->subjects[k].unable = "it runs on a GPU only";
            printf("# %s is not timed: %s\n", b->subjects[k].label, b->subjects[k].unable);
        }
        simulation_close(&sim);
    }
    return code;
}

static int run_benchmark(benchmark *b, const char *name)
{
    int code = read_benchmark(b);
    if (code) return code;
    const bool there_is_a_gpu = print_machine(stdout);
    printf("# %s, median of %lld timings of %lld sweeps after %lld", name,
           (long long)b->section.repeat, (long long)b->section.sweeps,
           (long long)b->section.warmup);
    if (b->section.limit > 0) printf("; fewer where that takes longer than %g s", b->section.limit);
    putchar('\n');
    code = find_unable(b, there_is_a_gpu);
    if (!code) print_head(b);
    for (int c = 0; c < b->case_count && !code; c++) {
        timing all[MOST_MOVERS] = {0};
        for (int k = 0; k < b->subject_count && !code; k++) {
            if (b->subjects[k].unable) continue;
            code = time_case(b, &b->cases[c], &b->subjects[k], &all[k]);
            if (!code) print_timing(b, all, k);
        }
    }
    return code;
}

int command_bench(int argc, char **argv)
{
    char path[8192], *sets[64];
    const char *name = NULL;
    int set_count = 0;
    for (int i = 0; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            printf("%s%s", bench_help, exit_code_help);
            return EXIT_DONE;
        }
        if (!strcmp(argv[i], "--set") && i + 1 < argc && set_count < 64) {
            sets[set_count++] = argv[++i];
        } else if (argv[i][0] == '-' || name) {
            fprintf(stderr, "plugmc: '%s' is not understood; see plugmc bench --help\n", argv[i]);
            return EXIT_USAGE;
        } else {
            name = argv[i];
        }
    }
    if (!name) {
        fputs(bench_help, stderr);
        return EXIT_USAGE;
    }
    if (!find_bench(name, path, sizeof path)) {
        fprintf(stderr, "plugmc: no benchmark '%s': there is no %s\n", name, path);
        return EXIT_USAGE;
    }
    report report = {0};
    benchmark b = {.path = path, .sets = sets, .set_count = set_count, .report = &report};
    return run_benchmark(&b, name);
}
