/* libplugmc from outside: all that a host program can ask for, with the header that it has. */
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <cmocka.h>

#include "hosting.h"

static int64_t numbers;

#define good(e, call)                                                                              \
    do {                                                                                           \
        if (call) fail_msg("%s: %s", #call, plugmc_engine_error(e));                               \
    } while (0)

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static plugmc_engine *opened(const char *text)
{
    plugmc_engine *e = plugmc_engine_new();
    assert_non_null(e);
    good(e, plugmc_engine_open_text(e, "text", text));
    return e;
}

static plugmc_engine *resumed(const char *path)
{
    plugmc_engine *e = plugmc_engine_new();
    good(e, plugmc_engine_resume(e, path));
    return e;
}

/* Positions after so many more sweeps. */
static double *after(plugmc_engine *e, int64_t sweeps)
{
    good(e, plugmc_engine_sweep(e, sweeps));
    double *p = positions_of(e, &numbers);
    assert_non_null(p);
    return p;
}

static void assert_same(const double *a, const double *b)
{
    assert_memory_equal(a, b, (size_t)numbers * sizeof *a);
}

static double mean_of(plugmc_engine *e, int64_t *samples)
{
    plugmc_engine_quantity q;
    good(e, plugmc_engine_quantity_at(e, 0, &q));
    assert_string_equal(q.observable, "energy");
    assert_non_null(q.mean);
    *samples = q.samples;
    return *q.mean;
}

/* ---- The same chain --------------------------------------------------------------------------- */

static const char *const movers[] = {"serial", "checkerboard", "brush"};

static void chain_is_that_of_the_program(void **state)
{
    (void)state;
    for (int m = 0; m < 3; m++) {
        unlink("run.h5");
        const char *text = liquid_text("cpu", movers[m], m ? "" : ENERGY);
        write_text("sim.ini", text);
        assert_int_equal(system(PLUGMC " run sim.ini >/dev/null 2>&1"), 0);
        plugmc_engine *e = resumed("run.h5");
        assert_int_equal(plugmc_engine_sweeps(e), 180);
        double *theirs = positions_of(e, &numbers);
        plugmc_engine_close(e);
        e = opened(text);
        assert_int_equal(plugmc_engine_equilibration(e), 60);
        double *whole = after(e, 180);
        plugmc_engine_close(e);
        assert_same(whole, theirs);
        e = opened(text);
        static const int64_t pieces[] = {1, 0, 2, 56, 1, 3, 7, 30, 80};
        double *last = NULL;
        for (int k = 0; k < 9; k++) free(last), last = after(e, pieces[k]);
        plugmc_engine_close(e);
        assert_same(last, theirs);
        free(last), free(whole), free(theirs);
    }
}

static void averages_do_not_depend_on_calls(void **state)
{
    int64_t samples, again;
    (void)state;
    plugmc_engine *e = opened(liquid_text("cpu", "serial", ENERGY));
    free(after(e, 180));
    const double mean = mean_of(e, &samples);
    plugmc_engine_close(e);
    assert_int_equal(samples, 12);
    e = opened(liquid_text("cpu", "serial", ENERGY));
    for (int k = 0; k < 12; k++) free(after(e, 15));
    const double in_pieces = mean_of(e, &again);
    plugmc_engine_close(e);
    assert_int_equal(again, samples);
    assert_memory_equal(&mean, &in_pieces, sizeof mean);
}

static void checkpoint_goes_on(void **state)
{
    int64_t samples;
    (void)state;
    const char *text = liquid_text("cpu", "serial", ENERGY);
    plugmc_engine *e = opened(text);
    double *whole = after(e, 180);
    const double mean = mean_of(e, &samples);
    plugmc_engine_close(e);
    unlink("run.h5");
    e = opened(text);
    free(after(e, 77));
    good(e, plugmc_engine_checkpoint(e));
    free(after(e, 20)); /* which nobody writes */
    plugmc_engine_close(e);
    assert_int_equal(system("cp run.h5 other.h5"), 0);
    e = resumed("run.h5");
    assert_int_equal(plugmc_engine_sweeps(e), 77);
    double *rest = after(e, 103);
    assert_same(rest, whole);
    const double found = mean_of(e, &samples);
    assert_memory_equal(&found, &mean, sizeof mean);
    good(e, plugmc_engine_checkpoint(e));
    plugmc_engine_close(e);
    assert_int_equal(system(PLUGMC " run --resume other.h5 >/dev/null 2>&1"),
                     0); /* the program, too */
    e = resumed("other.h5");
    double *theirs = positions_of(e, &numbers);
    assert_int_equal(plugmc_engine_sweeps(e), 180);
    assert_same(theirs, whole);
    plugmc_engine_close(e);
    free(whole), free(rest), free(theirs);
}

static void run_becomes_longer(void **state)
{
    (void)state;
    unlink("run.h5");
    plugmc_engine *e = opened(liquid_text("cpu", "serial", ENERGY));
    free(after(e, 300));
    good(e, plugmc_engine_checkpoint(e));
    double *whole = after(e, 50);
    plugmc_engine_close(e);
    e = resumed("run.h5");
    assert_int_equal(plugmc_engine_sweeps(e), 300);
    double *rest = after(e, 50);
    assert_same(rest, whole);
    plugmc_engine_close(e);
    free(whole), free(rest);
}

/* ---- The configuration ------------------------------------------------------------------------ */

static void arrays_have_shapes(void **state)
{
    plugmc_engine_array a;
    (void)state;
    plugmc_engine *e = opened(liquid_text("cpu", "serial", ENERGY));
    for (int32_t k = 0; plugmc_engine_array_name(k); k++) {
        good(e, plugmc_engine_get(e, plugmc_engine_array_name(k), &a));
        assert_non_null(a.data);
        assert_int_equal(a.shape[0], 2);
    }
    good(e, plugmc_engine_get(e, "counts", &a));
    assert_int_equal(a.type, PLUGMC_ENGINE_INT64);
    assert_int_equal(((const int64_t *)a.data)[1], 150);
    good(e, plugmc_engine_get(e, "boxes", &a));
    const double edge = ((const double *)a.data)[0];
    assert_true(fabs(edge - cbrt(250)) < 1e-12);
    good(e, plugmc_engine_get(e, "volumes", &a));
    assert_true(fabs(*(const double *)a.data - 250) < 1e-9);
    assert_string_equal(plugmc_engine_species(e, 0), "a");
    assert_string_equal(plugmc_engine_term(e, 0), "lennard_jones");
    assert_null(plugmc_engine_term(e, 1));
    assert_int_equal(plugmc_engine_get(e, "position", &a), PLUGMC_ENGINE_USAGE);
    assert_non_null(strstr(plugmc_engine_error(e), "did you mean 'positions'?"));
    plugmc_engine_close(e);
}

static void energies_are_those_that_are_measured(void **state)
{
    plugmc_engine_quantity q;
    double terms[2], sums[2];
    (void)state;
    plugmc_engine *e =
        opened(liquid_text("cpu", "checkerboard", "[observable energy]\nperiod = 10\n"));
    free(after(e, 120));
    good(e, plugmc_engine_energies(e, terms, sums));
    good(e, plugmc_engine_quantity_at(e, 0, &q));
    assert_int_equal(q.walkers, 2);
    for (int w = 0; w < 2; w++) {
        assert_true(fabs(terms[w] - 150 * q.last[w]) < 1e-9 * fabs(terms[w]));
        assert_true(fabs(sums[w] - terms[w]) < 1e-9 * fabs(sums[w]));
    }
    plugmc_engine_close(e);
}

/* Whole walkers are exchanged: chains are those of the other walker's places with the own random numbers. */
static void replaced_positions_are_gone_on_from(void **state)
{
    (void)state;
    for (int m = 0; m < 3; m++) {
        const char *text = liquid_text("cpu", movers[m], "");
        plugmc_engine *e = opened(text);
        double *at = after(e, 100), before[2], then[2];
        good(e, plugmc_engine_energies(e, NULL, before));
        const size_t half = (size_t)numbers / 2;
        double *other = malloc((size_t)numbers * sizeof *other);
        memcpy(other, at + half, half * sizeof *other);
        memcpy(other + half, at, half * sizeof *other);
        good(e, plugmc_engine_replace(e, "positions", other, numbers));
        good(e, plugmc_engine_energies(e, NULL, then));
        assert_true(fabs(before[0] - then[1]) < 1e-9 * fabs(then[1]));
        assert_true(fabs(before[1] - then[0]) < 1e-9 * fabs(then[0]));
        double *on = after(e, 50);
        double *end = after(e, 30);
        plugmc_engine_close(e);
        e = opened(text);
        free(after(e, 100));
        good(e, plugmc_engine_replace(e, "positions", other, numbers));
        double *again = after(e, 80);
        plugmc_engine_close(e);
        assert_same(again, end);
        free(at), free(other), free(on), free(end), free(again);
    }
}

static void wrong_positions_are_refused(void **state)
{
    static const char disks[] =
        "[run]\nsweeps = 10\nseed = 3\ndevice = cpu\n[box]\ndimension = 2\npacking_fraction = 0.3\n"
        "[species disk]\ncount = 64\n[potential hard_disk]\n[mover serial]\nstep = 0.1\n";
    (void)state;
    plugmc_engine *e = opened(disks);
    double *at = after(e, 10), *wrong = malloc((size_t)numbers * sizeof *wrong);
    memcpy(wrong, at, (size_t)numbers * sizeof *at);
    memcpy(wrong + 9, wrong, 2 * sizeof *wrong);
    assert_int_equal(plugmc_engine_replace(e, "positions", wrong, numbers), PLUGMC_ENGINE_INPUT);
    assert_non_null(strstr(plugmc_engine_error(e),
                           "positions: particles 0 (disk) and 3 (disk) of walker 0 overlap"));
    wrong[9] = NAN;
    assert_int_equal(plugmc_engine_replace(e, "positions", wrong, numbers), PLUGMC_ENGINE_INPUT);
    assert_non_null(strstr(plugmc_engine_error(e), "particle 3 (disk) of walker 0 is at (nan"));
    assert_int_equal(plugmc_engine_replace(e, "positions", wrong, 5), PLUGMC_ENGINE_USAGE);
    assert_int_equal(plugmc_engine_replace(e, "species", wrong, 9), PLUGMC_ENGINE_USAGE);
    double *still = positions_of(e, &numbers);
    assert_same(still, at);
    for (int64_t i = 0; i < numbers; i++) wrong[i] = at[i] + (i % 3 == 0 ? 1000 : 0); /* an image */
    wrong[0] = 1e300;
    assert_int_equal(plugmc_engine_replace(e, "positions", wrong, numbers), PLUGMC_ENGINE_INPUT);
    good(e, plugmc_engine_sweep(e, 5));
    plugmc_engine_close(e);
    free(at), free(wrong), free(still);
}

static const char changing[] =
    "[run]\nsweeps = 40\nseed = 3\nwalkers = 2\nthreads = 1\ndevice = cpu\npressure = 1\n"
    "temperature = 1\n[box]\ndimension = 3\nlx = 7\n[species a]\ncount = 100\n"
    "[potential lennard_jones]\nepsilon = 1\nsigma = 1\ncutoff = 2.5\n"
    "[mover serial]\nstep = 0.2\n[mover volume]\nstep = 0.05\n";

/* The volume of each walker is that which was given, and energies are those of places that go along. */
static void boxes_are_replaced(void **state)
{
    plugmc_engine_array a;
    double terms[2], vectors[18], then[2];
    (void)state;
    plugmc_engine *e = opened(changing);
    free(after(e, 20));
    good(e, plugmc_engine_get(e, "boxes", &a));
    memcpy(vectors, a.data, sizeof vectors);
    good(e, plugmc_engine_energies(e, terms, NULL));
    for (int k = 0; k < 18; k++) vectors[k] *= 1.1;
    good(e, plugmc_engine_replace(e, "boxes", vectors, 18));
    good(e, plugmc_engine_get(e, "volumes", &a));
    assert_true(fabs(((const double *)a.data)[1] - pow(vectors[9], 3)) < 1e-9);
    good(e, plugmc_engine_energies(e, then, NULL));
    assert_true(fabs(then[0] - terms[0]) > 1);
    for (int k = 0; k < 18; k++) vectors[k] /= 1.1;
    good(e, plugmc_engine_replace(e, "boxes", vectors, 18));
    good(e, plugmc_engine_energies(e, then, NULL));
    for (int w = 0; w < 2; w++) assert_true(fabs(then[w] - terms[w]) < 1e-6 * fabs(terms[w]));
    vectors[0] = 4; /* below twice the range */
    assert_int_equal(plugmc_engine_replace(e, "boxes", vectors, 18), PLUGMC_ENGINE_INPUT);
    assert_non_null(strstr(plugmc_engine_error(e), "boxes: that of walker 0 is too small"));
    vectors[1] = 1;
    assert_int_equal(plugmc_engine_replace(e, "boxes", vectors, 18), PLUGMC_ENGINE_INPUT);
    good(e, plugmc_engine_sweep(e, 20));
    plugmc_engine_close(e);
    e = opened(liquid_text("cpu", "serial", ""));
    assert_int_equal(plugmc_engine_replace(e, "boxes", vectors, 18), PLUGMC_ENGINE_INPUT);
    assert_non_null(strstr(plugmc_engine_error(e), "no mover of this run changes them"));
    plugmc_engine_close(e);
}

static const char condensing[] =
    "[run]\nsweeps = 400\nequilibrate = 100\nseed = 3\nwalkers = 3\nthreads = 1\ndevice = cpu\n"
    "temperature = 1.5\noutput = run.h5\n[box]\ndimension = 3\nlx = 7\n"
    "[species a]\ncount = 5\nactivity = 0.15\n[initial]\nstate = random\n"
    "[potential lennard_jones]\nepsilon = 1\nsigma = 1\ncutoff = 2.5\n[mover serial]\nstep = 0.5\n"
    "[mover insert]\nspecies = a\ntrials = 60\n[observable numbers]\nperiod = 10\n";

static void count_growing(void *times, int32_t kind, const char *message)
{
    (void)kind;
    *(int *)times += strstr(message, "was not enough") != NULL;
}

/* Numbers grow beyond the room there is, several times: the chain is that of the program. */
static void room_grows(void **state)
{
    int times = 0;
    (void)state;
    unlink("run.h5");
    write_text("sim.ini", condensing);
    assert_int_equal(system(PLUGMC " run sim.ini >/dev/null 2>&1"), 0);
    plugmc_engine *e = resumed("run.h5");
    double *theirs = positions_of(e, &numbers);
    plugmc_engine_close(e);
    unlink("run.h5");
    e = opened(condensing);
    plugmc_engine_messages_to(e, count_growing, &times);
    good(e, plugmc_engine_sweep(e, 33));
    good(e, plugmc_engine_sweep(e, 467));
    const int64_t before = numbers;
    double *ours = positions_of(e, &numbers);
    plugmc_engine_close(e);
    assert_int_equal(numbers, before);
    assert_same(ours, theirs);
    assert_true(times > 1);
    free(ours), free(theirs);
}

/* ---- What is said ----------------------------------------------------------------------------- */

static int kinds[3];
static char heard_last[1024];

static void listen(void *data, int32_t kind, const char *message)
{
    assert_ptr_equal(data, kinds);
    kinds[kind]++;
    snprintf(heard_last, sizeof heard_last, "%s", message);
}

static void failures_are_told_not_printed(void **state)
{
    int32_t kind;
    (void)state;
    write_text("bad.ini", liquid_text("cpu", "serial", "steps = 2\n"));
    fflush(NULL);
    const int out = dup(1), err = dup(2), file = open("printed", O_CREAT | O_TRUNC | O_RDWR, 0600);
    dup2(file, 1), dup2(file, 2);
    plugmc_engine *e = plugmc_engine_new();
    plugmc_engine_messages_to(e, listen, kinds);
    const int code = plugmc_engine_open(e, "bad.ini"), again = plugmc_engine_sweep(e, 1);
    plugmc_engine_close(e);
    e = plugmc_engine_new();
    plugmc_engine_messages_to(e, listen, kinds);
    const int bad = plugmc_engine_open(e, "bad.ini");
    char sentence[512], *first = strdup(plugmc_engine_message(e, 0, &kind));
    snprintf(sentence, sizeof sentence, "%s", plugmc_engine_error(e));
    plugmc_engine_close(e);
    e = plugmc_engine_new();
    const int done = plugmc_engine_open_text(e, "text", liquid_text("cpu", "serial", ENERGY)),
              swept = plugmc_engine_sweep(e, 180);
    plugmc_engine_close(e);
    fflush(NULL);
    dup2(out, 1), dup2(err, 2);
    close(out), close(err);
    assert_int_equal(lseek(file, 0, SEEK_END), 0);
    close(file);
    assert_int_equal(code, PLUGMC_ENGINE_INPUT);
    assert_int_equal(bad, PLUGMC_ENGINE_INPUT);
    assert_int_equal(again, PLUGMC_ENGINE_USAGE);
    assert_int_equal(done + swept, 0);
    assert_non_null(strstr(sentence, "bad.ini:20: "));
    assert_string_equal(first, sentence);
    assert_int_equal(kind, PLUGMC_ENGINE_ERROR);
    assert_true(kinds[PLUGMC_ENGINE_ERROR] > 2);
    free(first);
}

static void other_failures_have_their_codes(void **state)
{
    (void)state;
    plugmc_engine *e = plugmc_engine_new();
    assert_int_equal(plugmc_engine_resume(e, "nowhere.h5"), PLUGMC_ENGINE_CHECKPOINT);
    plugmc_engine_close(e);
    e = plugmc_engine_new();
    assert_int_equal(plugmc_engine_open_text(e, "text", liquid_text("cpu", "seriel", "")),
                     PLUGMC_ENGINE_PLUGIN);
    assert_non_null(strstr(plugmc_engine_error(e), "text:18: there is no plugin 'seriel'; did you "
                                                   "mean 'serial'?"));
    plugmc_engine_close(e);
    e = plugmc_engine_new();
    good(e, plugmc_engine_set(e, "run.output=/nowhere/run.h5"));
    good(e, plugmc_engine_set(e, "run.seed=12"));
    good(e, plugmc_engine_open_text(e, "text", liquid_text("cpu", "serial", "")));
    assert_int_equal(plugmc_engine_checkpoint(e), PLUGMC_ENGINE_OUTPUT);
    assert_non_null(strstr(plugmc_engine_error(e), "/nowhere/run.h5"));
    good(e, plugmc_engine_sweep(e, 10));
    plugmc_engine_close(e);
}

/* In a child of this process, which goes on. */
static void plugin_that_breaks_down_leaves_the_host(void **state)
{
    (void)state;
    static const char *const ends[] = {"crashes", "aborts", "leaves", "leaves_at_once"};
    char observable[1024];
    const int before = descriptors();
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        plugmc_engine *e = plugmc_engine_new();
        snprintf(observable, sizeof observable,
                 "[observable misconfigured]\nplugin = %s/misconfigured.so\nhow = %s\n",
                 TEST_CLI_PLUGINS, ends[k]);
        assert_int_equal(
            plugmc_engine_open_text(e, "text", liquid_text("cpu", "serial", observable)),
            PLUGMC_ENGINE_INTERNAL);
        assert_non_null(strstr(plugmc_engine_error(e),
                               "text:20: [observable misconfigured] its callback 'configure' "));
        plugmc_engine_close(e);
    }
    assert_int_equal(descriptors(), before);
    plugmc_engine *e = opened(liquid_text("cpu", "serial", ENERGY));
    free(after(e, 2));
    plugmc_engine_close(e);
}

static void one_at_a_time(void **state)
{
    (void)state;
    plugmc_engine *e = opened(liquid_text("cpu", "serial", "")), *second = plugmc_engine_new();
    assert_int_equal(plugmc_engine_open_text(second, "text", liquid_text("cpu", "serial", "")),
                     PLUGMC_ENGINE_USAGE);
    assert_non_null(strstr(plugmc_engine_error(second), "another engine is open in this process"));
    plugmc_engine_close(second);
    free(after(e, 10));
    plugmc_engine_close(e);
    e = opened(liquid_text("cpu", "serial", ""));
    plugmc_engine_close(e);
    plugmc_engine_close(NULL);
}

static void *call_from_elsewhere(void *e) { return (void *)(intptr_t)plugmc_engine_sweep(e, 1); }

static void other_threads_are_refused(void **state)
{
    pthread_t thread;
    void *code;
    (void)state;
    plugmc_engine *e = opened(liquid_text("cpu", "serial", ""));
    assert_int_equal(pthread_create(&thread, NULL, call_from_elsewhere, e), 0);
    pthread_join(thread, &code);
    assert_int_equal((intptr_t)code, PLUGMC_ENGINE_USAGE);
    plugmc_engine_close(e);
}

/* ---- Callbacks and stopping ------------------------------------------------------------------- */

typedef struct visits {
    int64_t sweeps[16];
    int count, ends_at;
} visits;

static int visit(plugmc_engine *e, void *data)
{
    plugmc_engine_array a;
    visits *v = data;
    v->sweeps[v->count++] = plugmc_engine_sweeps(e);
    good(e, plugmc_engine_get(e, "positions", &a));
    assert_int_equal(plugmc_engine_sweep(e, 1), PLUGMC_ENGINE_USAGE);
    return v->count == v->ends_at;
}

static void callback_comes_in_time(void **state)
{
    visits v = {.count = 0};
    (void)state;
    plugmc_engine *e = opened(liquid_text("cpu", "serial", ENERGY));
    double *whole = after(e, 180);
    plugmc_engine_close(e);
    e = opened(liquid_text("cpu", "serial", ENERGY));
    good(e, plugmc_engine_call_every(e, 25, visit, &v));
    free(after(e, 60));
    double *end = after(e, 120);
    assert_same(end, whole);
    assert_int_equal(v.count, 7);
    for (int k = 0; k < 7; k++) assert_int_equal(v.sweeps[k], 25 * (k + 1));
    v.ends_at = 8;
    assert_int_equal(plugmc_engine_sweep(e, 100), PLUGMC_ENGINE_STOPPED);
    assert_int_equal(plugmc_engine_sweeps(e), 200);
    plugmc_engine_close(e);
    free(whole), free(end);
}

static void interrupted(int number)
{
    (void)number;
    plugmc_engine_stop();
}

/* Ctrl-C in a program that has a handler of its own, as all its others stay what they were. */
static void host_is_interrupted(void **state)
{
    struct sigaction action = {.sa_handler = interrupted}, before[32], now;
    const struct itimerval soon = {.it_value = {.tv_usec = 300000}};
    (void)state;
    sigaction(SIGALRM, &action, NULL);
    for (int s = 1; s < 32; s++) sigaction(s, NULL, &before[s]);
    plugmc_engine *e = opened(liquid_text("cpu", "serial", ENERGY));
    free(after(e, 180)); /* all that [run] asks for */
    setitimer(ITIMER_REAL, &soon, NULL);
    assert_int_equal(plugmc_engine_sweep(e, 100000000), PLUGMC_ENGINE_STOPPED);
    const int64_t sweeps = plugmc_engine_sweeps(e);
    assert_true(sweeps > 0 && sweeps < 100000000);
    unlink("run.h5");
    good(e, plugmc_engine_checkpoint(
                e)); /* of a run of so many sweeps, not of those that were asked for */
    double *stopped = after(e, 0), *then = after(e, 20);
    plugmc_engine_close(e);
    assert_int_equal(system(PLUGMC " run --resume run.h5 2>&1 | grep -q 'this run is finished'"),
                     0);
    for (int s = 1; s < 32; s++) {
        sigaction(s, NULL, &now);
        assert_ptr_equal((void *)now.sa_handler, (void *)before[s].sa_handler);
    }
    e = opened(liquid_text("cpu", "serial", ENERGY));
    double *again = after(e, sweeps);
    assert_same(again, stopped);
    free(again), again = after(e, 20);
    assert_same(again, then);
    plugmc_engine_close(e);
    free(again), free(stopped), free(then);
}

/* Numbers of the host have a comma, its arithmetic traps, its teams have five threads, and plugmc minds none of it. */
static void settings_of_the_host_stay(void **state)
{
    sigset_t before, now;
    (void)state;
    plugmc_engine *e = opened(liquid_text("cpu", "serial", ENERGY));
    double *plain = after(e, 70);
    plugmc_engine_close(e);
    /* where Debian has not made it */
    const int made = system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 >/dev/null 2>&1");
    if (made >= 0) setenv("LOCPATH", ".", 1);
    const char *comma = setlocale(LC_ALL, "de_DE.UTF-8");
    printf("%s\n", comma ? "with commas" : "there is no German here: points it is");
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    fesetround(FE_UPWARD);
    omp_set_num_threads(5);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    e = opened(liquid_text("cpu", "serial", ENERGY));
    double *found = after(e, 70);
    good(e, plugmc_engine_checkpoint(e));
    plugmc_engine_close(e);
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    assert_int_equal(fegetexcept(), FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    assert_int_equal(fegetround(), FE_UPWARD);
    assert_int_equal(omp_get_max_threads(), 5);
    for (int s = 1; s < 32; s++) assert_int_equal(sigismember(&now, s), sigismember(&before, s));
    assert_string_equal(setlocale(LC_ALL, NULL), comma ? comma : "C");
    fedisableexcept(FE_ALL_EXCEPT);
    fesetround(FE_TONEAREST);
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    assert_same(found, plain);
    free(found), free(plain);
}

/* A signal that would end the host is an error, and the engine goes on. */
static void files_that_may_not_grow(void **state)
{
    struct rlimit before, small;
    (void)state;
    plugmc_engine *e = plugmc_engine_new();
    good(e, plugmc_engine_set(e, "run.csv=table.csv"));
    good(e, plugmc_engine_set(e, "observable energy.period=1"));
    good(e, plugmc_engine_open_text(e, "text", liquid_text("cpu", "serial", ENERGY)));
    good(e, plugmc_engine_sweep(e, 180));
    good(e, plugmc_engine_checkpoint(e));
    good(e, plugmc_engine_sweep(e, 10));
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 2000;
    setrlimit(RLIMIT_FSIZE, &small);
    const int code = plugmc_engine_checkpoint(e);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(code, PLUGMC_ENGINE_OUTPUT);
    assert_non_null(strstr(plugmc_engine_error(e), "File too large"));
    good(e, plugmc_engine_sweep(e, 10));
    good(e, plugmc_engine_checkpoint(e));
    plugmc_engine_close(e);
    e = resumed("run.h5");
    assert_int_equal(plugmc_engine_sweeps(e), 200);
    plugmc_engine_close(e);
}

int main(void)
{
    char folder[] = "/tmp/plugmc-engine-XXXXXX", command[64];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain_is_that_of_the_program),
        cmocka_unit_test(averages_do_not_depend_on_calls),
        cmocka_unit_test(checkpoint_goes_on),
        cmocka_unit_test(run_becomes_longer),
        cmocka_unit_test(arrays_have_shapes),
        cmocka_unit_test(energies_are_those_that_are_measured),
        cmocka_unit_test(replaced_positions_are_gone_on_from),
        cmocka_unit_test(wrong_positions_are_refused),
        cmocka_unit_test(boxes_are_replaced),
        cmocka_unit_test(room_grows),
        cmocka_unit_test(failures_are_told_not_printed),
        cmocka_unit_test(other_failures_have_their_codes),
        cmocka_unit_test(plugin_that_breaks_down_leaves_the_host),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(other_threads_are_refused),
        cmocka_unit_test(callback_comes_in_time),
        cmocka_unit_test(host_is_interrupted),
        cmocka_unit_test(settings_of_the_host_stay),
        cmocka_unit_test(files_that_may_not_grow),
    };
    if (!mkdtemp(folder) || chdir(folder)) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) || failed;
}
