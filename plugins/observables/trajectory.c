/* trajectory: the positions at its period go into the trajectory of the output file.
 *
 * There is nothing to measure; the core writes the positions of the views it makes for this
 * observable.
 */
#include <plugmc/plugin.h>

typedef struct trajectory {
    char none;
} trajectory;

static int prepare(void *instance, const plugmc_host *host)
{
    (void)instance, (void)host;
    return PLUGMC_OK;
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    (void)instance, (void)index, (void)out;
    return 0;
}

static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    (void)instance, (void)host, (void)view, (void)values;
    return PLUGMC_OK;
}

static const plugmc_observable observable = {
    .size = sizeof observable,
    .on_device = 1,
    .quantity = quantity,
    .measure = measure,
    .writes_trajectory = 1,
    .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT,
};

PLUGMC_PLUGIN(.kind = PLUGMC_OBSERVABLE, .name = "trajectory",
              .summary = "writes positions into the trajectory of the output file", .reference = "",
              .instance_size = sizeof(trajectory), .observable = &observable, .prepare = prepare)
