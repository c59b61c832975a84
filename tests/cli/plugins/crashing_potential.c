/* crashing_potential: a potential of no energy with pairs, a field and a total, see crashing.h. */
#include <plugmc/potential.h>

#if PLUGMC_HOST
#include <plugmc/everything.h>
#include "crashing.h"
#define HERE(callback) here("potential." callback)
#else
#define HERE(callback)
#endif

typedef struct parameters {
    real nothing;
} parameters;

PLUGMC_FN real pair_range(const parameters *p)
{
    (void)p;
    HERE("range");
    return (real)1.2;
}

PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
    (void)p, (void)a, (void)b;
    HERE("contact");
    return (real)0.5;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)p, (void)s, (void)a, (void)b;
    HERE("pair_energy");
    return 0;
}

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    (void)p, (void)r, (void)a, (void)outside;
    HERE("field_energy");
    return 0;
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_CONTACT)
#include <plugmc/pair.h>
#include <plugmc/field.h>

#if PLUGMC_HOST
static int total_energy(void *instance, const plugmc_total_request *q)
{
    (void)instance, (void)q;
    HERE("total_energy");
    return PLUGMC_OK;
}

static int start(void *instance, const plugmc_view *view)
{
    (void)instance, (void)view;
    HERE("start");
    return PLUGMC_OK;
}

static int change(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *out)
{
    (void)instance, (void)walker, (void)particle, (void)position, (void)out;
    HERE("change");
    return PLUGMC_OK;
}

static int settle(void *instance, int32_t walker, int accepted)
{
    (void)instance, (void)walker, (void)accepted;
    HERE("settle");
    return PLUGMC_OK;
}

static int waves(const void *instance, plugmc_waves *out)
{
    (void)instance, (void)out;
    HERE("waves");
    return PLUGMC_OK;
}

static int32_t molecules(const void *instance)
{
    (void)instance;
    HERE("molecules");
    return PLUGMC_MOLECULES_NONE;
}

static int configure(void *instance, const plugmc_host *host)
{
    (void)instance, (void)host;
    HERE("configure");
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    (void)instance, (void)host;
    HERE("prepare");
    return PLUGMC_OK;
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance, (void)host, (void)index, (void)out;
    HERE("gpu_source");
    return 0;
}

static int archive(void *instance, const plugmc_host *host, plugmc_archive *a)
{
    (void)instance, (void)host, (void)a;
    HERE("archive");
    return PLUGMC_OK;
}

static void release(void *instance)
{
    (void)instance;
    HERE("release");
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, nothing, "0", 0, 1, "", "of no use"),
};

static const plugmc_total total = {.size = sizeof total,
                                   .beside_parts = 1,
                                   .energy = total_energy,
                                   .start = start,
                                   .change = change,
                                   .settle = settle,
                                   .waves = waves,
                                   .molecules = molecules};

static const plugmc_potential potential = {.size = sizeof potential,
                                           .pair = &plugmc_pair_facet,
                                           .field = &plugmc_field_facet,
                                           .total = &total};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "crashing_potential", .summary = "crashes",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential,
              .configure = configure, .prepare = prepare, .gpu_source = gpu_source,
              .archive = archive, .release = release);
#endif
