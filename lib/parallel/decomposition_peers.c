/* Memory of the GPUs of one machine for kernels that write into each other's while they run (plugmc_decomposition.memory). */
#include <stdlib.h>
#include <string.h>

#include "gpu/links.h"
#include "base/context.h"
#include "liveness.h"
#include "parallel/decomposition.h"
#include "decomposition_calls.h"
#include "parallel/team.h"

/* Whether this could work at all; an exit code. */
static int look(gpu *g, bool *possible, char *why)
{
    const int code = spread_own_gpus(g, possible, why);
    if (!spread_is_near(why)) *possible = false;
    return code;
}

static bool open_all(gpu *g, const gpu_key *keys, plugmc_device_pointer *of_parts, char *why)
{
    const team *t = team_now();
    for (int32_t part = 0; part < t->parts; part++)
        if (part != t->part && !gpu_borrow(g, &keys[spread_rank_of(part)], &of_parts[part], why))
            return false;
    return true;
}

/* The same in all processes: whether one is without what it needs. */
static int refuse_if_lost(plugmc_context *context, int own, bool possible, const char *why)
{
    int64_t lost = !possible;
    const int code = team_largest(spread_for_all(context, own), &lost, 1);
    if (code) return spread_for_plugin(context, own, code);
    if (!lost) return PLUGMC_OK;
    context_failed(context);
    report_error(context->report, EXIT_DEVICE, context->file, context->line,
                 "[%s] %d GPUs can sweep one system only if each can write into the memory of the "
                 "others, but here %s%s",
                 context->section, team_now()->parts,
                 possible ? "another process cannot do that" : "that is not possible: ",
                 possible ? "" : why);
    return PLUGMC_ERROR_DEVICE;
}

/* Nobody writes before all memory is zeroed, which it is once its key is told. */
static int meet(plugmc_context *context, size_t bytes, plugmc_device_pointer *of_parts)
{
    const team *t = team_now();
    gpu *g = context->gpu;
    char why[512] = "";
    bool possible = false;
    gpu_key mine = {0}, *keys = checked(calloc((size_t)t->ranks, sizeof *keys));
    int code = look(g, &possible, why);
    int own = code ? spread_for_plugin(context, PLUGMC_OK, code)
                   : refuse_if_lost(context, PLUGMC_OK, possible, why);
    if (own) {
        free(keys);
        return own;
    }
    own = gpu_lend(g, bytes, &of_parts[t->part], &mine);
    if (!own) own = gpu_services(g)->synchronize(context);
    code = team_share(spread_for_all(context, own), &mine, sizeof mine, keys,
                      (size_t)t->ranks * sizeof *keys);
    if (code)
        own = spread_for_plugin(context, own, code);
    else
        own = refuse_if_lost(context, own, open_all(g, keys, of_parts, why), why);
    free(keys);
    if (!own) links_when_broken(g, team_fall);
    return own;
}

int spread_memory(plugmc_context *context, int own, size_t bytes, plugmc_device_pointer *of_parts,
                  plugmc_device_pointer *lost)
{
    const team *t = team_now();
    gpu *g = context->gpu;
    volatile uint32_t *word = own ? NULL : gpu_word(g);
    *lost = (plugmc_device_pointer)(uintptr_t)word;
    if (!own && !word) own = PLUGMC_ERROR_MEMORY;
    if (team_has_met()) {
        const int code = team_agree(spread_for_all(context, own));
        if (code) return spread_for_plugin(context, own, code);
        liveness_tells(word);
        return meet(context, bytes, of_parts);
    }
    if (!own) own = gpu_services(g)->allocate(context, bytes, &of_parts[0]);
    for (int32_t part = 1; part < t->parts; part++) of_parts[part] = of_parts[0]; /* plugmc check */
    return own;
}

void spread_end(void) { liveness_tells(NULL); }
