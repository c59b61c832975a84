#include "run/threads.h"

#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- What pays ----------------------------------------------------------------------------------- */

#define WINDOW 0.1   /* seconds that are timed for a comparison */
#define SHARE 0.01   /* of the time that may be lost in trying */
#define WORSE 1.25   /* so much slower than when last compared: look again */
#define BETTER 1.03  /* so much faster is worth a change */
#define LONGEST 60.0 /* seconds between tries */

void thread_choice_begin(thread_choice *c, int most, double clock)
{
    *c = (thread_choice){.most = most, .now = most, .pause = 1, .next = clock};
}

uint64_t thread_choice_sweeps(const thread_choice *c, uint64_t wanted)
{
    double known = c->rate[c->now > 1];
    if (c->most < 2 || (c->now == 1 && !c->trying)) return wanted;
    if (c->seconds > 0) known = c->seconds / c->sweeps;
    if (known == 0 || (c->trying && c->seconds == 0)) return 1;
    return (uint64_t)fmax(1, fmin((double)wanted, 0.2 * WINDOW / known));
}

static void begin_again(thread_choice *c) { c->sweeps = c->seconds = c->cpu_seconds = 0; }

static void change_to(thread_choice *c, int threads)
{
    c->now = threads;
    begin_again(c);
}

/* The other number has been timed long enough, or is so slow that there is no doubt. */
static void compare(thread_choice *c, double clock)
{
    const bool many = c->now > 1;
    const double tried = c->seconds / c->sweeps, before = c->rate[!many];
    double lost = c->seconds - c->sweeps * before;
    c->rate[many] = tried;
    c->trying = false;
    if (tried * BETTER < before) {
        c->pause = 1;
        c->best_rate = tried;
        lost =
            fmax(0.2 * WINDOW, before) * (1 - tried / before); /* by going back to try, at least */
        begin_again(c);
    } else {
        c->pause = fmin(LONGEST, 2 * c->pause);
        c->best_rate = before;
        change_to(c, many ? 1 : c->most);
    }
    c->next = clock + fmax(c->pause, fmax(lost, 0) / SHARE);
}

/* One thread takes no longer than all processors together now, waiting included. */
static bool can_afford(const thread_choice *c, double clock)
{
    const double since = clock - c->next + c->pause;
    return c->now == 1 || c->cpu <= 2.5 * WINDOW || c->cpu <= SHARE * since;
}

void thread_choice_took(thread_choice *c, uint64_t sweeps, double seconds, double cpu_seconds,
                        double clock)
{
    if (c->most < 2) return;
    c->sweeps_with[c->now > 1] += (double)sweeps;
    c->sweeps += (double)sweeps;
    c->seconds += seconds;
    c->cpu_seconds += cpu_seconds;
    const double rate = c->seconds / c->sweeps;
    if (c->trying) {
        const double before = c->rate[c->now == 1];
        if (c->seconds >= WINDOW || (c->seconds > 0.2 * WINDOW && rate > 2 * before))
            compare(c, clock);
        return;
    }
    if (c->seconds < (c->best_rate > 0 ? WINDOW : 0.2 * WINDOW)) return; /* soon, the first time */
    c->rate[c->now > 1] = rate;
    if (c->now > 1) c->cpu = c->cpu_seconds / c->sweeps;
    const bool slower =
        c->best_rate > 0 && rate > WORSE * c->best_rate && clock > c->next - c->pause + 0.5;
    begin_again(c);
    if ((clock < c->next && !slower) || !can_afford(c, clock)) return;
    if (slower) c->pause = 1;
    c->trying = true;
    change_to(c, c->now > 1 ? 1 : c->most);
}
