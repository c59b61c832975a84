#include "engine/on_host.h"

#include <stdio.h>

#include "base/report.h"
#include "energy/on_device.h"

static const char made_there[] = "makes its trial moves on the host, not on the GPU: ";

static bool weighs_energies(const engine *engine)
{
    return engine->macrostates && engine->macrostates->of_energy > 0;
}

bool made_on_host(const engine *engine, int k, char words[ON_HOST_WORDS])
{
    const mover_slot *m = &engine->movers[k];
    char why[ON_HOST_WORDS / 2] = "";
    if (!engine->device.gpu || !m->by_core) return false;
    if (!(m->mover->needs & PLUGMC_RUNS_ON_GPU)) {
        snprintf(words, ON_HOST_WORDS, "works on the host, not on the GPU: it knows the CPU alone");
        return true;
    }
    if (!m->instance->plugin->source) {
        snprintf(words, ON_HOST_WORDS, "%sit has no GPU source", made_there);
        return m->mover->changes &
               PLUGMC_CHANGED_COUNT; /* boxes and the like are of whole energies, found there */
    }
    const on_device_obstacle what =
        on_device_in_the_way(&engine->system, weighs_energies(engine), why, sizeof why);
    snprintf(words, ON_HOST_WORDS, "%s%s", made_there, why);
    return what == FOR_ALL_TRIALS;
}

static void say(engine *engine, mover_slot *m, const char *words)
{
    m->said_on_host = true;
    report_note(engine->report, "[%s] %s", m->instance->section->section->name, words);
}

void note_all_made_on_host(engine *engine)
{
    char words[ON_HOST_WORDS];
    for (int k = 0; k < engine->mover_count; k++)
        if (made_on_host(engine, k, words)) say(engine, &engine->movers[k], words);
}

void note_made_on_host(engine *engine, mover_slot *m, const plugmc_proposal *proposal)
{
    char words[ON_HOST_WORDS], why[ON_HOST_WORDS / 2] = "";
    if (!engine->device.gpu || m->said_on_host) return;
    if (!PLUGMC_HAS(proposal, parameters_size) || !proposal->parameters_size)
        snprintf(why, sizeof why, "it proposes what a GPU does not move");
    else if (!on_device_in_the_way(&engine->system, weighs_energies(engine), why, sizeof why))
        snprintf(why, sizeof why,
                 "a block of the GPU has too little shared memory, or too many kinds of move");
    snprintf(words, sizeof words, "%s%s", made_there, why);
    say(engine, m, words);
}
