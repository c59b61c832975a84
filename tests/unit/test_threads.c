/* How many threads a machine offers, and the choice between one and many while others use it: a
 * clock of our own, and sweeps that take as long as a case says. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/threads.h"
#include "testing.h"

/* ---- The choice ---- */

typedef struct machine {
    int threads;
    double one, many;  /* seconds a sweep at first */
    double later;      /* from this second on ... */
    double many_later; /* ... with many threads */
    double cpu;        /* seconds of all processors a sweep, with many */
    bool seen;         /* the machine says who else runs: */
    int others, others_later;
    double waits; /* seconds of the first sweep with many threads, at least */
} machine;

typedef struct outcome {
    double sweeps_first, sweeps_later; /* made before `later`, and after */
} outcome;

static double sweep_of(const machine *m, int threads, double clock)
{
    return threads < 2 ? m->one : clock < m->later ? m->many : m->many_later;
}

static double left_at(const machine *m, double clock)
{
    return m->seen ? m->threads - 1 - (clock < m->later ? m->others : m->others_later) : NAN;
}

/* The loop of a run for so many seconds, as session/loop.c has it. */
static outcome run_for(const machine *m, double seconds)
{
    thread_choice c;
    outcome o = {0, 0};
    double clock = 1000, begin = clock; /* as of a machine that has been up */
    uint64_t stretch = 1;
    bool first = true;
    thread_choice_begin(&c, m->threads, left_at(m, 0), clock);
    while (clock - begin < seconds) {
        const uint64_t n = thread_choice_sweeps(&c, stretch);
        double took = (double)n * sweep_of(m, c.now, clock - begin);
        if (first && c.now > 1) took = fmax(took, m->waits);
        first = first && c.now == 1;
        *(clock - begin < m->later ? &o.sweeps_first : &o.sweeps_later) += (double)n;
        clock += took;
        thread_choice_took(&c, n, took, (double)n * (c.now > 1 ? m->cpu : m->one), clock);
        if (thread_choice_looks(&c, clock)) thread_choice_saw(&c, left_at(m, clock - begin), clock);
        if (took < 0.25 && n == stretch && stretch < 1 << 30) stretch *= 2;
        if (took > 0.5 && stretch > 1) stretch /= 2;
    }
    return o;
}

static void lose_at_most(const machine *m, double seconds, double share)
{
    const outcome o = run_for(m, seconds);
    const double first = fmin(m->later, seconds), best_first = fmin(m->one, m->many),
                 best_later = fmin(m->one, m->many_later);
    if (o.sweeps_first * best_first < (1 - share) * first)
        fail_msg("%g of %g sweeps at first", o.sweeps_first, first / best_first);
    if (seconds > m->later && o.sweeps_later * best_later < (1 - share) * (seconds - m->later))
        fail_msg("%g of %g sweeps later", o.sweeps_later, (seconds - m->later) / best_later);
}

static void idle_processors_lose_three_per_cent(void **state)
{
    (void)state;
    const machine two = {2, 1.4e-3, 0.8e-3, INFINITY, 0, 1.6e-3};
    const machine many = {64, 64e-3, 1.2e-3, INFINITY, 0, 70e-3};
    const machine fast = {4, 4e-5, 1.1e-5, INFINITY, 0, 4.4e-5};
    const machine slow = {64, 100, 2, INFINITY, 0, 110};
    lose_at_most(&two, 10, 0.03);
    lose_at_most(&two, 100, 0.03);
    lose_at_most(&many, 20, 0.03);
    lose_at_most(&fast, 20, 0.03);
    lose_at_most(&slow, 3600, 0.05); /* the sweep at the end is not counted whole */
}

static void busy_processors_lose_ten_per_cent(void **state)
{
    (void)state;
    const machine waits = {2, 1.4e-3, 0.1, INFINITY, 0, 3e-3};     /* 9.9 sweeps/s for 707 */
    const machine shares = {2, 0.9e-3, 2.0e-3, INFINITY, 0, 4e-3}; /* 493 for 1,110 */
    const machine spins = {8, 2e-3, 0.05, INFINITY, 0, 0.2};
    lose_at_most(&waits, 20, 0.1);
    lose_at_most(&shares, 10, 0.1);
    lose_at_most(&spins, 30, 0.1);
}

/* What a run of seconds loses, where the machine says who else runs. */
static void short_runs_lose_no_more(void **state)
{
    (void)state;
    const machine idle = {2, 0.27e-3, 0.18e-3, INFINITY, 0, 0.36e-3, true, 0, 0, 0};
    const machine many_idle = {64, 64e-3, 1.2e-3, INFINITY, 0, 70e-3, true, 3, 0, 0};
    const machine waits = {2, 1.4e-3, 0.1, INFINITY, 0, 3e-3, true, 2, 0, 0};
    const machine shares = {2, 0.39e-3, 0.75e-3, INFINITY, 0, 1e-3, true, 2, 0, 0};
    const machine small = {8, 1e-5, 3e-5, INFINITY, 0, 2e-4, true, 0, 0, 0};
    lose_at_most(&idle, 1, 0.02);
    lose_at_most(&idle, 3, 0.02);
    lose_at_most(&many_idle, 3, 0.05);
    lose_at_most(&many_idle, 10, 0.03);
    lose_at_most(&small, 1, 0.05);
    lose_at_most(&small, 3, 0.03);
    for (int seconds = 1; seconds <= 10; seconds++) {
        lose_at_most(&waits, seconds, 0.1);
        lose_at_most(&shares, seconds, 0.05);
    }
}

/* A sweep at the start that waited for somebody does not decide about the seconds behind it. */
static void a_slow_start_is_not_believed_for_long(void **state)
{
    (void)state;
    const machine m = {2, 0.27e-3, 0.18e-3, INFINITY, 0, 0.36e-3, true, 0, 0, 0.037};
    lose_at_most(&m, 3, 0.07);
    lose_at_most(&m, 10, 0.03);
}

/* At once, and not when so much time has gone by that a try is cheap. */
static void others_that_leave_are_noticed(void **state)
{
    (void)state;
    const machine m = {2, 1.4e-3, 0.1, 5, 0.8e-3, 1.6e-3, true, 2, 0, 0};
    const outcome o = run_for(&m, 6);
    if (o.sweeps_later * 0.8e-3 < 0.85) fail_msg("%g of %g sweeps", o.sweeps_later, 1 / 0.8e-3);
}

static void processors_that_become_busy_or_idle(void **state)
{
    (void)state;
    const machine busy = {2, 1.4e-3, 0.8e-3, 60, 0.1, 3e-3};
    const machine idle = {2, 1.4e-3, 0.1, 60, 0.8e-3, 3e-3};
    lose_at_most(&busy, 120, 0.1);
    const outcome o = run_for(&idle, 600);
    assert_true(o.sweeps_later * 0.8e-3 > 0.85 * 540);
}

static void one_thread_has_no_choice(void **state)
{
    (void)state;
    thread_choice c;
    thread_choice_begin(&c, 1, 0, 0);
    assert_int_equal(thread_choice_sweeps(&c, 1000), 1000);
    thread_choice_took(&c, 1000, 1, 1, 1);
    assert_int_equal(c.now, 1);
}

/* ---- What is offered ---- */

static char root[64];

static void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(full, 0755);
        *slash = '/';
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/plugmc-threads-XXXXXX");
    unsetenv("OMP_NUM_THREADS");
    return mkdtemp(root) == NULL;
}

static int remove_root(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void no_control_group(void **state)
{
    (void)state;
    const thread_offer o = threads_offered(root);
    assert_true(isinf(o.quota));
    assert_int_equal(o.threads, o.affinity);
}

static void quota_of_version_2(void **state)
{
    (void)state;
    char words[160];
    put("/proc/self/cgroup", "0::/jobs/mine\n");
    put("/sys/fs/cgroup/jobs/mine/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/jobs/cpu.max", "50000 100000\n"); /* of the group above */
    const thread_offer o = threads_offered(root);
    assert_true(o.quota == 0.5);
    assert_int_equal(o.threads, 1);
    assert_non_null(strstr(threads_why(&o, words), "of which the control group may use 0.5"));
}

/* "0.21 0.10 0.03 3/174 4242": two run besides this one. */
static void processors_that_others_leave(void **state)
{
    (void)state;
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    const thread_offer o = threads_offered(root);
    put("/proc/loadavg", "0.21 0.10 0.03 3/174 4242\n");
    const double left = threads_left(root);
    if (o.affinity < all)
        assert_true(isnan(left));
    else
        assert_true(left == (double)all - 3);
    put("/proc/loadavg", "no numbers\n");
    assert_true(isnan(threads_left(root)));
}

static void quota_in_a_container(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/docker/not-seen-from-here\n");
    put("/sys/fs/cgroup/cpu.max", "150000 100000\n");
    assert_true(threads_offered(root).quota == 1.5);
}

static void quota_of_version_1(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "5:memory:/jobs\n4:cpu,cpuacct:/jobs\n3:cpuset:/\n");
    put("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "75000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n");
    assert_true(threads_offered(root).quota == 0.75);
    put("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "-1\n");
    assert_true(isinf(threads_offered(root).quota));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_processors_lose_three_per_cent),
        cmocka_unit_test(busy_processors_lose_ten_per_cent),
        cmocka_unit_test(short_runs_lose_no_more),
        cmocka_unit_test(a_slow_start_is_not_believed_for_long),
        cmocka_unit_test(others_that_leave_are_noticed),
        cmocka_unit_test(processors_that_become_busy_or_idle),
        cmocka_unit_test(one_thread_has_no_choice),
        cmocka_unit_test_setup_teardown(no_control_group, make_root, remove_root),
        cmocka_unit_test_setup_teardown(processors_that_others_leave, make_root, remove_root),
        cmocka_unit_test_setup_teardown(quota_of_version_2, make_root, remove_root),
        cmocka_unit_test_setup_teardown(quota_in_a_container, make_root, remove_root),
        cmocka_unit_test_setup_teardown(quota_of_version_1, make_root, remove_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
