/* plugmc bench NAME: a benchmark is an INI file with a section [bench], found in the folder bench
 * beside the program or installed with it. One key of the configuration takes several values; for
 * each the time of a number of sweeps is measured, after warm-up, several times. */
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
    const char *vary;   /* section.key that takes the values; "" for none */
    const char *values; /* separated by blanks */
    int64_t warmup, sweeps, repeat;
} bench_section;

static const plugmc_parameter bench_table[] = {
    PLUGMC_TEXT_KEY(bench_section, vary, "", "section.key that takes the values"),
    PLUGMC_TEXT_KEY(bench_section, values, "", "its values, separated by blanks"),
    PLUGMC_INTEGER_KEY(bench_section, warmup, "100", 0, 1e9, "sweeps", "sweeps before the clock runs"),
    PLUGMC_INTEGER_KEY(bench_section, sweeps, "100", 1, 1e9, "sweeps", "sweeps timed at once"),
    PLUGMC_INTEGER_KEY(bench_section, repeat, "11", 1, 1000, "", "timings, of which the median counts"),
};

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

/* Takes [bench] out of the file, which the configuration does not know. */
static int take_bench_section(ini_file *ini, bench_section *bench, report *report)
{
    ini_section *section = ini_find(ini, "bench");
    if (!section)
        return report_error(report, EXIT_INPUT, ini->path, 0, "has no [bench] section: it is no benchmark");
    int code = parameters_fill(bench_table, PLUGMC_COUNT(bench_table), sizeof(double), bench, ini->path,
                               section, report);
    if (!code)
        code = parameters_unused(bench_table, PLUGMC_COUNT(bench_table), NULL, ini->path, section, report);
    int index = (int)(section - ini->sections);
    memmove(section, section + 1, sizeof *section * (size_t)(ini->count - index - 1));
    ini->count--;
    return code;
}

/* Times one case and prints its line. */
static int time_case(const char *path, char **sets, int set_count, const char *vary,
                     const char *value, const bench_section *bench, report *report)
{
    simulation sim = {.report = report};
    bench_section unused;
    char assignment[256];
    double begin = now();
    int code = ini_read(path, &sim.config.ini, report);
    for (int i = 0; i < set_count && !code; i++) code = ini_set(&sim.config.ini, sets[i], report);
    if (!code) code = take_bench_section(&sim.config.ini, &unused, report);
    if (!code && *vary) {
        snprintf(assignment, sizeof assignment, "%s=%s", vary, value);
        code = ini_set(&sim.config.ini, assignment, report);
    }
    if (!code) code = config_read(&sim.config, report);
    if (!code) code = simulation_open(&sim);
    if (!code) code = simulation_prepare(&sim);
    double prepared = now();
    if (!code) code = simulation_begin(&sim);
    double started = now();
    if (!code) code = simulation_sweep(&sim, 0, 1);
    double first = now();
    uint64_t sweep = 1;
    if (!code && bench->warmup) code = simulation_sweep(&sim, sweep, (uint64_t)bench->warmup);
    sweep += (uint64_t)bench->warmup;
    double *seconds = calloc((size_t)bench->repeat, sizeof(double));
    plugmc_counts counts = {0, 0};
    for (int64_t r = 0; r < bench->repeat && !code; r++) {
        const plugmc_mover *mover = sim.mover->plugin->mover;
        code = mover->counts(sim.mover->data, &sim.mover->host, &counts, 1);
        double t = now();
        if (!code) code = simulation_sweep(&sim, sweep, (uint64_t)bench->sweeps);
        seconds[r] = now() - t;
        sweep += (uint64_t)bench->sweeps;
        if (!code) code = mover->counts(sim.mover->data, &sim.mover->host, &counts, 0);
    }
    if (!code) {
        qsort(seconds, (size_t)bench->repeat, sizeof(double), compare);
        double median = seconds[bench->repeat / 2];
        double spread = (seconds[bench->repeat - 1] - seconds[0]) / median;
        printf("%12lld %8d %8s %14.6g %14.4g %10.4f %8.1f%% %10.3f %10.3f\n",
               (long long)sim.system.particles, sim.system.walkers, sim.gpu ? "gpu" : "cpu",
               1e3 * median / (double)bench->sweeps, (double)counts.trials / median,
               counts.trials ? (double)counts.accepted / (double)counts.trials : 0, 100 * spread,
               prepared - begin, first - started);
        fflush(stdout);
    }
    free(seconds);
    simulation_close(&sim);
    return code;
}

static void print_machine(FILE *out)
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
    fprintf(out, "# plugmc %s, commit %s\n# %s, %ld CPUs, %s %s\n", PLUGMC_VERSION, PLUGMC_COMMIT, model,
            sysconf(_SC_NPROCESSORS_ONLN), machine.sysname, machine.release);
    char why[512];
    gpu *gpu = gpu_open(0, false, why);
    if (gpu) {
        fputs("# ", out);
        gpu_describe(out, gpu);
        gpu_close(gpu);
    } else {
        fprintf(out, "# no GPU: %s\n", why);
    }
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
    const char *folders[] = {getenv("PLUGMC_BENCH_PATH"), build_tree, installed, PLUGMC_BENCH_FOLDER};
    snprintf(path, room, "%s", name);
    if (strchr(name, '/') || strstr(name, ".ini")) return access(path, R_OK) == 0;
    for (int i = 0; i < 4; i++) {
        if (!folders[i]) continue;
        snprintf(path, room, "%s/%s.ini", folders[i], name);
        if (access(path, R_OK) == 0) return true;
    }
    return false;
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
    ini_file ini = {0};
    bench_section bench = {0};
    int code = ini_read(path, &ini, &report);
    for (int i = 0; i < set_count && !code; i++) code = ini_set(&ini, sets[i], &report);
    if (!code) code = take_bench_section(&ini, &bench, &report);
    ini_free(&ini);
    if (code) return code;
    print_machine(stdout);
    printf("# %s, median of %lld timings of %lld sweeps after %lld\n", name, (long long)bench.repeat,
           (long long)bench.sweeps, (long long)bench.warmup);
    printf("%12s %8s %8s %14s %14s %10s %9s %10s %10s\n", "N", "walkers", "device", "ms/sweep", "trials/s",
           "acceptance", "spread", "prepare/s", "first/s");
    char *values = strdup(*bench.vary ? bench.values : "-"), *rest = values, *value;
    while (!code && (value = strsep(&rest, " \t")))
        if (*value) code = time_case(path, sets, set_count, bench.vary, value, &bench, &report);
    free(values);
    return code;
}
