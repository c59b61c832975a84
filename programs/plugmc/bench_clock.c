/* The clock of `plugmc bench`: calls are timed in groups, and the median of the groups counts. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "bench.h"

double bench_now(void)
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

/* As many warm-up calls, calls and timings as there is time for, by the first call. */
static void fit_into_limit(const bench_section *bench, double first, int64_t *warmup,
                           bench_clock *clock)
{
    const double most = bench->limit > 0 ? bench->limit / first : INFINITY; /* calls */
    *warmup = bench->warmup;
    clock->calls = bench->sweeps;
    clock->repeat = bench->repeat;
    if ((double)(*warmup + clock->calls * clock->repeat) <= most) return;
    *warmup = (int64_t)fmin((double)*warmup, floor(most / 8));
    clock->calls =
        (int64_t)fmax(1, fmin((double)clock->calls, floor(most / (double)clock->repeat)));
    clock->repeat =
        (int64_t)fmax(1, fmin((double)clock->repeat, floor(most / (double)clock->calls)));
}

int bench_measure(const bench_section *bench, double first, bench_calls *call, void *what,
                  bench_clock *clock)
{
    int64_t warmup;
    int code = EXIT_DONE;
    fit_into_limit(bench, first, &warmup, clock);
    clock->spread = 0;
    clock->seconds = first;
    clock->timed = 1;
    if (2 * first > bench->limit && bench->limit > 0) return code; /* no second call */
    double *seconds = checked(calloc((size_t)clock->repeat, sizeof *seconds));
    if (warmup) code = call(what, clock->next, (uint64_t)warmup);
    clock->next += (uint64_t)warmup;
    clock->timed = clock->calls * clock->repeat;
    if (!code && clock->ready) code = clock->ready(what);
    for (int64_t r = 0; r < clock->repeat && !code; r++) {
        const double begin = bench_now();
        code = call(what, clock->next, (uint64_t)clock->calls);
        seconds[r] = bench_now() - begin;
        clock->next += (uint64_t)clock->calls;
    }
    qsort(seconds, (size_t)clock->repeat, sizeof(double), compare);
    const double median = seconds[clock->repeat / 2];
    clock->spread = (seconds[clock->repeat - 1] - seconds[0]) / median;
    clock->seconds = median / (double)clock->calls;
    free(seconds);
    return code;
}

/* ---- Where the time of a GPU goes ------------------------------------------------------------ */

int bench_profile(const bench_section *bench, gpu *gpu, bench_calls *call, void *what,
                  bench_clock *clock, timing *t)
{
    enum { PROFILED = 16 };
    if (!bench->profile || !gpu) return EXIT_DONE;
    t->share_calls = clock->calls < PROFILED ? clock->calls : PROFILED;
    if (gpu_profile_begin(gpu)) return EXIT_DEVICE;
    int code = call(what, clock->next, (uint64_t)t->share_calls);
    clock->next += (uint64_t)t->share_calls;
    if (gpu_profile_end(gpu, &t->shares, &t->share_count) && !code) code = EXIT_DEVICE;
    for (int i = 0; i < t->share_count; i++) t->shares[i].name = keep_text(t->shares[i].name);
    return code;
}

static void print_share(const timing *t, const char *what, const char *name, double launches,
                        double seconds, double all)
{
    char text[64], count[32] = "";
    const double calls = (double)t->share_calls;
    snprintf(text, sizeof text, "%s%s", what, name);
    if (launches > 0) snprintf(count, sizeof count, "%.4g x", launches / calls);
    printf("#   %-36s %10s %12.2f us %6.1f %%\n", text, count, 1e6 * seconds / calls,
           100 * seconds / all);
}

/* Kernels in the order of their first launches; what lies behind the launches of one is shown if
 * it is more than launches alone leave between them. */
void bench_print_profile(const timing *t)
{
    const double small = 0.02;
    double all = 0, rest = 0;
    for (int i = 0; i < t->share_count; i++) all += t->shares[i].seconds + t->shares[i].behind;
    for (int i = 0; i < t->share_count; i++) {
        const gpu_share *s = &t->shares[i];
        print_share(t, "", s->name, (double)s->launches, s->seconds, all);
        if (s->behind > small * all)
            print_share(t, "  behind ", s->name, 0, s->behind, all);
        else
            rest += s->behind;
    }
    if (t->share_count) print_share(t, "between the other kernels", "", 0, rest, all);
}
