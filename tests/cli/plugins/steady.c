/* steady: an observable of numbers that are the same in every sample, but for rounding. */
#include <math.h>

#include <plugmc/everything.h>

typedef struct steady {
    char nothing;
} steady;

static const double value = 10.0810599204;

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    if (index == 0) return plugmc_scalar(out, "same", "", "the number itself");
    if (index == 1) return plugmc_scalar(out, "rounded", "", "it, or the double after it");
    if (index == 2)
        return plugmc_scalar(out, "summed", "", "it, with the rounding of many additions");
    if (index == 3)
        return plugmc_scalar(out, "nothing", "", "what is left of that without the number");
    return index == 4 && plugmc_scalar(out, "rough", "", "it with the third decimal changing");
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    (void)instance;
    return index == 0 && plugmc_scalar(out, "thousandfold", "", "of the summed one");
}

static int derive(void *instance, const double *means, double *out)
{
    (void)instance;
    out[0] = 1000 * means[2];
    return PLUGMC_OK;
}

/* Without a pattern that samples a few sweeps apart could share. */
static int coin(uint64_t sweep)
{
    return (int)((sweep * 0x9e3779b97f4a7c15u ^ sweep * sweep * 0xbf58476d1ce4e5b9u) >> 63);
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    const double next = nextafter(value, 11), above = value + 64 * (next - value);
    const int heads = coin(view->sweep);
    (void)instance;
    for (int32_t w = 0; w < host->system->walkers; w++) {
        values[5 * w] = value;
        values[5 * w + 1] = heads ? next : value;
        values[5 * w + 2] = heads ? above : value;
        values[5 * w + 3] = heads ? above - value : 0;
        values[5 * w + 4] = heads ? value + 0.001 : value - 0.001;
    }
    return PLUGMC_OK;
}

PLUGMC_PLUGIN(.name = "steady", .summary = "the same number in every sample", .reference = "",
              .instance_size = sizeof(steady),
              PLUGMC_OBSERVABLE_WITH(.quantity = quantity, .measure = measure, .derived = derived,
                                     .derive = derive))
