/* crashing_observable: 1, of which nothing can be derived, see crashing.h. */
#include <plugmc/everything.h>

#include "crashing.h"

typedef struct crashing_observable {
    int32_t nothing;
} crashing_observable;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    here("observable.quantity");
    return index == 0 ? plugmc_scalar(out, "one", "", "1") : 0;
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    here("observable.derived");
    return index == 0 ? plugmc_scalar(out, "two", "", "2") : 0;
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    (void)instance, (void)view;
    here("observable.measure");
    for (int32_t w = 0; w < host->system->walkers; w++) values[w] = 1;
    return PLUGMC_OK;
}

static int derive(void *instance, const double *means, double *out)
{
    (void)instance, (void)means, (void)out;
    here("observable.derive");
    return 1;
}

static const char *lacking(void *instance, const double *means)
{
    (void)instance, (void)means;
    here("observable.lacking");
    return "nothing is enough";
}

static int configure(void *instance, const plugmc_host *host)
{
    (void)instance, (void)host;
    here("observable.configure");
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    (void)instance, (void)host;
    here("observable.prepare");
    return PLUGMC_OK;
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance, (void)host, (void)index, (void)out;
    here("observable.gpu_source");
    return 0;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    (void)instance, (void)host, (void)a;
    here("observable.archive");
    return PLUGMC_OK;
}

static void release(void *instance)
{
    (void)instance;
    here("observable.release");
}

PLUGMC_PLUGIN(.name = "crashing_observable", .summary = "crashes", .reference = "",
              .instance_size = sizeof(crashing_observable),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .derived = derived,
                                     .derive = derive, .lacking = lacking),
              .configure = configure, .prepare = prepare, .gpu_source = gpu_source,
              .archive = archive, .release = release)
