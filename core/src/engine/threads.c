#include "engine/threads.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- What is offered ----------------------------------------------------------------------------- */

static int affinity(void)
{
    for (int most = 1024; most <= 1 << 20; most *= 2) { /* machines may have more than cpu_set_t */
        cpu_set_t *set = CPU_ALLOC((size_t)most);
        const size_t bytes = CPU_ALLOC_SIZE((size_t)most);
        if (!set) break;
        const bool known = sched_getaffinity(0, bytes, set) == 0;
        const int count = known ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (count > 0) return count;
    }
    return omp_get_num_procs();
}

/* Two words of a file, or 0. */
static int read_words(const char *root, const char *folder, const char *group, const char *name,
                      char first[64], char second[64])
{
    char path[4096];
    first[0] = second[0] = 0;
    snprintf(path, sizeof path, "%s%s%s/%s", root, folder, group, name);
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    const int words = fscanf(f, "%63s %63s", first, second);
    fclose(f);
    return words > 0 ? words : 0;
}

/* Version 2: "max 100000" or "150000 100000", microseconds of each period. */
static double quota_of_group(const char *root, const char *folder, const char *group)
{
    char quota[64], period[64], unused[64];
    if (read_words(root, folder, group, "cpu.max", quota, period) == 2)
        return strcmp(quota, "max") && atof(period) > 0 ? atof(quota) / atof(period) : INFINITY;
    if (read_words(root, folder, group, "cpu.cfs_quota_us", quota, unused) &&
        read_words(root, folder, group, "cpu.cfs_period_us", period, unused) && atof(quota) > 0 &&
        atof(period) > 0)
        return atof(quota) / atof(period);
    return INFINITY;
}

/* The least of a group and those above it. In a container the path may be that of the machine
 * outside, of which only the root is there. */
static double quota_of_path(const char *root, const char *folder, const char *path)
{
    char group[2048];
    double least = INFINITY;
    snprintf(group, sizeof group, "%s", strcmp(path, "/") ? path : "");
    for (;;) {
        least = fmin(least, quota_of_group(root, folder, group));
        char *slash = strrchr(group, '/');
        if (!slash) return least;
        *slash = 0;
    }
}

/* Lines of /proc/self/cgroup: "0::/path" of version 2, "4:cpu,cpuacct:/path" of version 1. */
static double quota(const char *root)
{
    char path[4096], line[4096];
    double least = INFINITY;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "r");
    if (!f) return least;
    while (fgets(line, sizeof line, f)) {
        char *controllers = strchr(line, ':'),
             *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group) continue;
        *group++ = 0;
        group[strcspn(group, "\n")] = 0;
        controllers++;
        if (!*controllers) {
            least = fmin(least, quota_of_path(root, "/sys/fs/cgroup", group));
            least = fmin(least, quota_of_path(root, "/sys/fs/cgroup/unified", group));
        } else if (!strcmp(controllers, "cpu") || !strncmp(controllers, "cpu,", 4) ||
                   strstr(controllers, ",cpu")) {
            least = fmin(least, quota_of_path(root, "/sys/fs/cgroup/cpu,cpuacct", group));
            least = fmin(least, quota_of_path(root, "/sys/fs/cgroup/cpu", group));
        }
    }
    fclose(f);
    return least;
}

/* ---- What can be started ------------------------------------------------------------------------- */

static void *wait_for_others(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

int threads_startable(int wanted, int *error)
{
    /* threads of an OpenMP team that is given up may still end when the next one begins */
    enum { BESIDE = 2, TEAMS = 2 };
    const int most = TEAMS * (wanted - 1) + BESIDE;
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *others = malloc((size_t)most * sizeof *others);
    int started = 0;
    *error = others ? 0 : ENOMEM;
    pthread_mutex_lock(&gate);
    while (!*error && started < most) {
        *error = pthread_create(&others[started], NULL, wait_for_others, &gate);
        started += !*error;
    }
    pthread_mutex_unlock(&gate);
    for (int k = 0; k < started; k++) pthread_join(others[k], NULL);
    free(others);
    return !*error ? wanted : started > BESIDE ? (started - BESIDE) / TEAMS + 1 : 1;
}

thread_offer threads_offered(const char *root)
{
    const char *set = getenv("OMP_NUM_THREADS"), *limit = getenv("OMP_THREAD_LIMIT");
    thread_offer o = {.affinity = affinity(), .quota = quota(root)};
    if ((set && *set) || (limit && *limit)) {
        o.openmp = omp_get_max_threads() < omp_get_thread_limit() ? omp_get_max_threads()
                                                                  : omp_get_thread_limit();
    }
    o.threads = o.openmp ? o.openmp : o.affinity;
    if (ceil(o.quota) < o.threads) o.threads = (int)ceil(o.quota);
    if (o.threads < 1) o.threads = 1;
    return o;
}

const char *threads_why(const thread_offer *o, char words[160])
{
    int used = snprintf(words, 160, "%d processor%s", o->affinity, o->affinity == 1 ? "" : "s");
    if (isfinite(o->quota))
        used += snprintf(words + used, 160 - (size_t)used,
                         ", of which the control group may use %.3g", o->quota);
    if (o->openmp) snprintf(words + used, 160 - (size_t)used, ", OpenMP is set to %d", o->openmp);
    return words;
}

double threads_left(const char *root)
{
    char path[4096];
    long running = 0;
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(path, sizeof path, "%s/proc/loadavg", root);
    FILE *f = fopen(path, "r");
    if (!f) return NAN;
    const bool known = fscanf(f, "%*f %*f %*f %ld/", &running) == 1 && running > 0;
    fclose(f);
    return known && affinity() >= all ? (double)(all - running) : NAN;
}

/* ---- What pays ----------------------------------------------------------------------------------- */

#define WINDOW 0.1   /* seconds that are timed for a comparison, */
#define CLEAR 0.02   /* fewer where the number that is tried is slower by a fifth */
#define SETTLE 0.002 /* seconds that are not counted after a change: threads and caches wake up */
#define SHARE 0.02   /* of the time that may be lost in trying */
#define WORSE 1.25   /* so much slower than when last compared: look again */
#define BETTER 1.03  /* so much faster is worth a change */
#define LONGEST 60.0 /* seconds between tries */
#define TRIMMED 4    /* stretches of a comparison, at least, unless one takes WINDOW */
#define LOOKS 5      /* at who else runs before they are believed, CLEAR apart */

/* Processors that others left idle are tried at once, as long as no more has been lost in trying. */
#define LOST_AT_ONCE 0.05
#define LOST_LATER 0.05 /* of the time so far */

static void begin_again(thread_choice *c)
{
    c->sweeps = c->seconds = c->cpu_seconds = 0;
    c->stretches = 0;
    c->worst_sweeps = c->worst_seconds = 0;
}

/* Seconds a sweep. Of four stretches or more the slowest does not count: a processor may be away once
 * even where nobody else runs. */
static double rate_now(const thread_choice *c)
{
    return c->stretches < TRIMMED ? c->seconds / c->sweeps
                                  : (c->seconds - c->worst_seconds) / (c->sweeps - c->worst_sweeps);
}

static void add(thread_choice *c, double sweeps, double seconds, double cpu_seconds)
{
    if (c->stretches == 0 || seconds * c->worst_sweeps > c->worst_seconds * sweeps) {
        c->worst_sweeps = sweeps;
        c->worst_seconds = seconds;
    }
    c->sweeps += sweeps;
    c->seconds += seconds;
    c->cpu_seconds += cpu_seconds;
    c->stretches++;
}

static void change_to(thread_choice *c, int threads)
{
    c->now = threads;
    c->settling = SETTLE;
    c->looks = 0;
    begin_again(c);
}

/* Half of the threads find a processor. */
static bool are_left(const thread_choice *c) { return c->left >= 0.5 * (c->most - 1); }

void thread_choice_begin(thread_choice *c, int most, double left, double clock)
{
    *c = (thread_choice){.most = most, .pause = 1, .begin = clock, .next = clock, .left = left};
    change_to(c, most);
    if (most < 2 || isnan(left) || are_left(c)) return;
    change_to(c, 1);
    c->others = true;
    c->next = clock + 2 * CLEAR / SHARE; /* many will be slow */
}

uint64_t thread_choice_sweeps(const thread_choice *c, uint64_t wanted)
{
    double known = c->rate[c->now > 1];
    if (c->most < 2) return wanted;
    if (c->seconds > 0) known = rate_now(c);
    if (known == 0 || c->settling > 0 || (c->trying && c->seconds == 0)) return 1;
    return (uint64_t)fmax(1, fmin((double)wanted, (c->trying ? CLEAR / TRIMMED : CLEAR) / known));
}

bool thread_choice_looks(const thread_choice *c, double clock)
{
    return c->most > 1 && c->now == 1 && !c->trying && c->settling <= 0 &&
           clock >= c->looked + CLEAR;
}

void thread_choice_saw(thread_choice *c, double left, double clock)
{
    c->left = c->looks > 0 ? c->left + (left - c->left) / LOOKS : left;
    c->looks++;
    c->looked = clock;
}

/* The other number has been timed long enough, or is so slow that there is no doubt. */
static void compare(thread_choice *c, double clock)
{
    const bool many = c->now > 1;
    const double tried = rate_now(c), before = c->rate[!many];
    const bool better = tried * BETTER < before;
    /* and by going back to try, at least */
    const double lost = better ? fmax(CLEAR, before) * (1 - tried / before)
                               : fmax(0, c->seconds - c->sweeps * before);
    c->rate[many] = tried;
    c->trying = false;
    if (many != better) c->lost += lost;
    if (better) {
        c->pause = 1;
        c->best_rate = tried;
        c->others = !many; /* likely, as many were faster before */
        begin_again(c);
    } else {
        if (many && c->cpu_seconds < 0.8 * c->most * c->seconds)
            c->others = true; /* they had to wait */
        c->pause = fmin(LONGEST, 2 * c->pause);
        c->best_rate = before;
        change_to(c, many ? 1 : c->most);
    }
    c->next = clock + fmax(c->pause, lost / SHARE);
}

/* One thread takes no longer than all processors together now, waiting included. */
static bool can_afford(const thread_choice *c, double clock)
{
    const double since = clock - c->next + c->pause;
    return c->now == 1 || c->cpu <= 2.5 * WINDOW || c->cpu <= SHARE * since;
}

/* More may be lost now. */
static bool have_saved(const thread_choice *c, double clock)
{
    return c->lost + CLEAR <= LOST_AT_ONCE + LOST_LATER * (clock - c->begin);
}

/* Many lost while others used the processors, and these do so no longer. */
static bool are_left_again(const thread_choice *c, double clock)
{
    return c->now == 1 && c->others && c->looks >= LOOKS && are_left(c) && have_saved(c, clock);
}

/* Something has changed since the last comparison. One thread among others is slower at times. */
static bool is_slower(const thread_choice *c, double rate, double clock)
{
    if (c->now == 1 && !(isnan(c->left) || are_left(c))) return false;
    if (c->now == 1 && !have_saved(c, clock)) return false;
    return c->best_rate > 0 && rate > WORSE * c->best_rate && clock > c->next - c->pause + 0.5;
}

void thread_choice_took(thread_choice *c, uint64_t sweeps, double seconds, double cpu_seconds,
                        double clock)
{
    if (c->most < 2) return;
    c->sweeps_with[c->now > 1] += (double)sweeps;
    c->settling -= seconds;
    if (c->settling > 0) return;
    add(c, (double)sweeps, seconds, cpu_seconds);
    const double rate = rate_now(c);
    if (c->trying) {
        const double before = c->rate[c->now == 1];
        const bool clear = c->seconds >= CLEAR && c->stretches >= TRIMMED && rate > 1.2 * before;
        if (c->seconds >= WINDOW || clear) compare(c, clock);
        return;
    }
    if (c->seconds < (c->best_rate > 0 ? WINDOW : CLEAR)) return; /* soon, the first time */
    c->rate[c->now > 1] = rate;
    if (c->now > 1) c->cpu = c->cpu_seconds / c->sweeps;
    const bool slower = is_slower(c, rate, clock);
    begin_again(c);
    if ((clock < c->next && !slower && !are_left_again(c, clock)) || !can_afford(c, clock)) return;
    if (slower) c->pause = 1;
    c->trying = true;
    if (c->now == 1) c->others = !are_left(c);
    change_to(c, c->now > 1 ? 1 : c->most);
}
