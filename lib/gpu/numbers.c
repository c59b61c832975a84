/* Variational parameters of potentials (plugmc/wave.h) in the memory of loaded texts, whose tables fuse.c has left without
 * values. */
#include "gpu/device.h"

static int write_table(gpu *g, const gpu_module *m, const changing_table *table)
{
    driver_pointer at = 0;
    size_t bytes = 0;
    const driver_result result = g->api.module_variable(&at, &bytes, m->handle, table->name);
    if (result) return gpu_checked(g, result, "looking up variational parameters");
    if (bytes != table->bytes)
        return gpu_fail(g, PLUGMC_ERROR_STATE, "'%s' has %zu bytes on the GPU and %zu here",
                        table->name, bytes, table->bytes);
    const void *staged = gpu_stage(g, table->numbers, bytes);
    const int code =
        gpu_checked(g, g->api.upload(at, staged ? staged : table->numbers, bytes, g->stream),
                    "a copy of variational parameters to the GPU");
    if (code || staged) return code;
    return gpu_checked(g, g->api.stream_synchronize(g->stream), "waiting for the GPU");
}

int gpu_fill_numbers(gpu *g, const gpu_module *m)
{
    changing_table table;
    int code = PLUGMC_OK;
    for (int32_t t = 0, p = 0;
         m->is_fused && !code && fuse_tables(g->system, m->in_double, &t, &p, &table);)
        code = write_table(g, m, &table);
    return code;
}

int gpu_write_numbers(plugmc_context *context)
{
    gpu *g = context->gpu;
    int code = PLUGMC_OK;
    g->caller = context;
    if (g->broken) return PLUGMC_ERROR_DEVICE;
    for (const gpu_module *m = g->code.modules; m && !code; m = m->next)
        code = gpu_fill_numbers(g, m);
    return code;
}
