/* faulty: a field (in faulty_pair.c, a pair potential) of no energy that takes its time, comes to a stop or crashes when it is told to,
 * so that a test knows what the program has to cope with. */
#include <plugmc/potential.h>

typedef struct parameters {
    real delay, prepare;        /* s */
    int64_t quick, loop, crash; /* calls */
    int32_t how;
} parameters;

#if PLUGMC_HOST
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { BY_POINTER, BY_DIVISION, BY_ABORT };

static _Atomic int64_t calls;
static volatile int zero;
static int *volatile nowhere;

static void misbehave(const parameters *p)
{
    const int64_t call = ++calls;
    const struct timespec delay = {(time_t)p->delay, (long)(1e9 * fmod((double)p->delay, 1))};
    if (p->delay > 0 && call > p->quick) nanosleep(&delay, NULL);
    while (p->loop && call >= p->loop) {}
    if (!p->crash || call < p->crash) return;
    if (p->how == BY_POINTER) *nowhere = 1;
    if (p->how == BY_DIVISION) zero = 7 / zero;
    abort();
}
#endif

#ifdef FAULTY_PAIR
PLUGMC_FN real pair_range(const parameters *p)
{
    (void)p;
    return (real)1.2;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)s, (void)a, (void)b;
#if PLUGMC_HOST
    misbehave(p);
#endif
    return 0;
}

#define PLUGMC_PAIR PLUGMC_PAIR_ENERGY
#include <plugmc/pair.h>
#else
PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    (void)r, (void)a, (void)outside;
#if PLUGMC_HOST
    misbehave(p);
#endif
    return 0;
}

#include <plugmc/field.h>
#endif

#if PLUGMC_HOST
static double now(void) /* s */
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whatever signals come. */
static int prepare(void *instance, const plugmc_host *host)
{
    const struct timespec pause = {0, 10000000};
    const double until = now() + (double)((const parameters *)instance)->prepare;
    (void)host;
    while (now() < until) nanosleep(&pause, NULL);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, prepare, "0", 0, 1e3, "s", "that its preparation takes"),
    PLUGMC_REAL_KEY(parameters, delay, "0", 0, 1e3, "s", "of a call"),
    PLUGMC_INTEGER_KEY(parameters, quick, "0", 0, 1e15, "", "first calls, without that delay"),
    PLUGMC_INTEGER_KEY(parameters, loop, "0", 0, 1e15, "", "call that does not come back; 0: none"),
    PLUGMC_INTEGER_KEY(parameters, crash, "0", 0, 1e15, "", "call that crashes; 0: none"),
    PLUGMC_CHOICE_KEY(parameters, how, "pointer", "pointer|division|abort", "how it crashes"),
};

#ifdef FAULTY_PAIR
#define FAULTY_NAME "faulty_pair"
static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};
#else
#define FAULTY_NAME "faulty"
static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};
#endif

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = FAULTY_NAME, .summary = "does what it should not",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential,
              .prepare = prepare);
#endif
