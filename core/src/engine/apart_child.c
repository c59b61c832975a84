/* The child that loads and configures plugins. See apart.h. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/paths.h"
#include "base/rehearsal.h"
#include "engine/apart.h"
#include "parallel/team.h"

static int parent = -1;     /* the socket; -1: this process is no such child */
static const char *program; /* what it is a child of */
static const engine *configured;
static timer_t
    stopwatches[2]; /* the second one for a plugin that is not ended by the signal of the first */
static char why[1024]; /* the first error */
static int seconds_to_load;

/* ---- Limits ---------------------------------------------------------------------------------- */

#ifdef PLUGMC_SANITIZED
enum { LIMITS_MEMORY = 0 }; /* they map more than any limit */
#else
enum { LIMITS_MEMORY = 1 };
#endif

enum { CONFIGURES = APART_SECONDS, BYTES_A_SECOND = 5000000 };

/* Processor time of this thread from now on. Threads of the plugin are not counted: a machine has many. */
static void allow_seconds(long seconds)
{
    for (int k = 0; k < 2; k++) {
        const struct itimerspec time = {.it_value.tv_sec = seconds + k};
        timer_settime(stopwatches[k], 0, &time, NULL);
    }
}

static void start_stopwatches(void)
{
    static const int numbers[] = {SIGXCPU, SIGKILL};
    for (int k = 0; k < 2; k++) {
        struct sigevent ends = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = numbers[k]};
        if (timer_create(CLOCK_THREAD_CPUTIME_ID, &ends, &stopwatches[k])) _exit(EXIT_MEMORY);
    }
}

/* A number in a file of the system, behind a word if that is not "". INFINITY: it is not there. */
static double number_in(const char *path, const char *word)
{
    char line[256];
    double found = INFINITY;
    FILE *in = fopen(path, "r");
    while (in && isinf(found) && fgets(line, sizeof line, in))
        if (!strncmp(line, word, strlen(word))) sscanf(line + strlen(word), "%lf", &found);
    if (in) fclose(in);
    return found;
}

/* What is free, on this machine and in its container, less a tenth: whoever takes more than that ends the run anyway.
 * Where the system runs out of memory before, it ends this process first. */
static void limit_memory(void)
{
    const double free = fmin(1024 * number_in("/proc/meminfo", "MemAvailable:"),
                             number_in("/sys/fs/cgroup/memory.max", "") -
                                 number_in("/sys/fs/cgroup/memory.current", ""));
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    FILE *first = fopen("/proc/self/oom_score_adj", "w");
    if (first) fputs("1000", first), fclose(first);
    getrlimit(RLIMIT_DATA, &limit);
    if (LIMITS_MEMORY && free > 0 && 0.9 * free < (double)limit.rlim_cur) {
        limit.rlim_cur = (rlim_t)(0.9 * free);
        setrlimit(RLIMIT_DATA, &limit);
    }
    if (limit.rlim_cur != RLIM_INFINITY) apart_tell(APART_LIMIT, (long long)limit.rlim_cur);
}

/* Of all files that the values of a section may name. */
static int64_t bytes_of_files(const ini_section *section)
{
    int64_t sum = 0;
    for (int i = 0; i < section->count; i++) {
        struct stat info;
        const char *value = section->entries[i].value;
        char *beside = path_join(section->folder ? section->folder : "", value);
        if ((!stat(value, &info) || !stat(beside, &info)) && S_ISREG(info.st_mode))
            sum += (int64_t)info.st_size;
        free(beside);
    }
    return sum;
}

/* ---- What it tells --------------------------------------------------------------------------- */

static void tell_text(int letter, const char *text)
{
    char line[4200];
    const int bytes = snprintf(line, sizeof line, "%c%s", letter, text) + 1;
    if (bytes > (int)sizeof line || send(parent, line, (size_t)bytes, MSG_NOSIGNAL) != bytes)
        _exit(EXIT_INTERNAL);
}

void apart_tell(int letter, long long number)
{
    char digits[24];
    if (parent < 0) return;
    snprintf(digits, sizeof digits, "%lld", number);
    if (letter == APART_LOADS) allow_seconds(seconds_to_load);
    if (letter == APART_CONFIGURES) {
        const ini_section *section = configured->config.plugins[number].section;
        allow_seconds(CONFIGURES + bytes_of_files(section) / BYTES_A_SECOND);
    }
    tell_text(letter, digits);
}

void apart_loaded(const loaded *l)
{
    if (parent < 0) return;
    plugin_read_texts(l->plugin);
    tell_text(APART_LOADED, l->path);
}

/* Plugins are loaded without a child here, but not files of libraries that may want all memory for them. */
int apart_rehearse(const char *path, const char *plugin, char *reason)
{
    if (parent < 0) return rehearse("plugin", path, plugin, EXIT_INPUT, NULL, reason);
    child_program = program;
    const int code = rehearse("plugin", path, plugin, EXIT_INPUT, NULL, reason);
    child_program = NULL;
    if (!code) tell_text(APART_READS, path), tell_text(APART_READER, plugin);
    return code;
}

/* ---- What is asked for ----------------------------------------------------------------------- */

static void hear(void *listener, const report_message *m)
{
    (void)listener;
    if (m->kind == REPORT_ERROR && m->text && !*why)
        snprintf(why, sizeof why, "%d %s", m->line, m->text);
}

static bool get(FILE *in, void *out, size_t bytes) { return fread(out, bytes, 1, in) == 1; }

/* As apart.c writes it. */
static bool read_asked(FILE *in, engine *engine, int64_t **capacities, int32_t *species)
{
    int32_t rank, ranks, without_mover, leaves_out_choice;
    if (!get(in, &seconds_to_load, sizeof seconds_to_load) || !get(in, &rank, sizeof rank) ||
        !get(in, &ranks, sizeof ranks) || !get(in, &without_mover, sizeof without_mover) ||
        !get(in, species, sizeof *species) ||
        !get(in, &leaves_out_choice, sizeof leaves_out_choice))
        return false;
    team_imagine(rank, ranks);
    engine->config.without_mover = without_mover;
    engine->device.leaves_out_choice = leaves_out_choice;
    *capacities = checked(calloc((size_t)*species + 1, sizeof **capacities));
    for (int32_t s = 0; s < *species; s++)
        if (!get(in, *capacities + s, sizeof **capacities)) return false;
    return ini_unpack(in, &engine->config.ini);
}

int apart_serve(int socket)
{
    static report report = {.hear = hear};
    static engine engine = {.report = &report, .in_child = true};
    int64_t *capacities;
    int32_t species;
    FILE *in = checked(fdopen(dup(socket), "r"));
    if (!read_asked(in, &engine, &capacities, &species)) return EXIT_INTERNAL;
    fclose(in);
    parent = socket;
    program = child_program;
    child_program = NULL;
    configured = &engine;
    limit_memory();
    start_stopwatches();
    config_read(&engine.config, &report);
    for (int32_t s = 0; s < species && s < engine.config.species_count; s++)
        engine.config.species[s].capacity = capacities[s];
    free(capacities);
    const int code = engine_configure(&engine);
    allow_seconds(seconds_to_load);
    if (code == EXIT_MEMORY) tell_text(APART_SHORT, why);
    apart_tell(APART_END, code);
    return EXIT_DONE;
}
