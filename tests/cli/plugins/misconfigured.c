/* misconfigured: an observable whose configure does what its key says. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <plugmc/everything.h>

enum { WELL, CRASHES, ABORTS, LEAVES, LEAVES_AT_ONCE, LOOPS, STUBBORN, TAKES_MEMORY, SHORT, WARNS };

typedef struct misconfigured {
    int32_t how;
} misconfigured;

static volatile int never;

static void loop(void)
{
    while (!never) {}
}

static int take_all(void)
{
    while (malloc(1 << 20)) {}
    return PLUGMC_ERROR_MEMORY;
}

static int configure(void *instance, const plugmc_host *host)
{
    const misconfigured *m = instance;
    volatile int *nowhere = NULL;
    switch (m->how) {
    case CRASHES: *nowhere = 1; break;
    case ABORTS: abort();
    case LEAVES: exit(0);
    case LEAVES_AT_ONCE: _exit(0);
    case STUBBORN:
        signal(SIGXCPU, SIG_IGN);
        loop();
        break;
    case LOOPS: loop(); break;
    case TAKES_MEMORY: return take_all();
    case SHORT:
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "a table of 8 TB is too large");
    case WARNS: host->warn(host->context, "it has been configured"); break;
    default: break;
    }
    return PLUGMC_OK;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 && plugmc_scalar(out, "one", "", "the number 1");
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    (void)instance, (void)view;
    for (int32_t w = 0; w < host->system->walkers; w++) values[w] = 1;
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_CHOICE_KEY(misconfigured, how, "none",
                      "none|crashes|aborts|leaves|leaves_at_once|loops|stubborn|takes_memory|"
                      "short|warns",
                      "what becomes of configure"),
};

PLUGMC_PLUGIN(.name = "misconfigured", .summary = "checks its parameters badly", .reference = "",
              PLUGMC_KEYS(misconfigured, table), .configure = configure,
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure))
