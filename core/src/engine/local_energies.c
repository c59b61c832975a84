/* Local energies: the one plugin of the run that gives them answers whoever asks. */
#include "engine/local_energies.h"

#include <stdio.h>

#include "base/crash.h"
#include "plugin/loader.h"
#include "plugin/search.h"
#include "engine/engine.h"

/* ": add [observable NAME]", one in the search path that gives them; "" if none does. */
static const char *who_would(char words[128])
{
    plugin_names names = plugin_list(PLUGMC_OBSERVABLE);
    words[0] = 0;
    for (int i = 0; i < names.count && !words[0]; i++) {
        loaded one;
        char why[1024];
        if (!plugin_open(names.paths[i], PLUGMC_OBSERVABLE, &one, why, sizeof why)) continue;
        if (plugmc_local_energy_of(one.plugin))
            snprintf(words, 128, ": add [observable %s]", names.names[i]);
        plugin_unload(&one);
    }
    plugin_names_free(&names);
    return words;
}

/* The only one, with the right sentence where there is none, or another. */
static int find(plugmc_context *asking, const plugmc_host *host, instance **out)
{
    struct engine *engine = asking->engine;
    char words[128];
    *out = NULL;
    for (int i = 0; engine && i < engine->instance_count; i++) {
        instance *one = &engine->instances[i];
        if (!plugmc_local_energy_of(one->plugin)) continue;
        if (*out)
            return host->fail(
                asking, PLUGMC_ERROR_INPUT,
                "it needs local energies, and both '%s' and '%s' provide them: remove one",
                (*out)->context.section, one->context.section);
        *out = one;
    }
    return *out ? PLUGMC_OK
                : host->fail(asking, PLUGMC_ERROR_INPUT,
                             "it needs local energies, which no plugin of the run provides%s",
                             who_would(words));
}

int local_energies(const plugmc_host *host, const plugmc_local_energy_request *request)
{
    plugmc_context *asking = host->context;
    instance *giving;
    int code = find(asking, host, &giving);
    if (code || !request) return code;
    if (request->view->on_device && !plugmc_local_energy_of(giving->plugin)->on_device)
        return host->fail(
            asking, PLUGMC_ERROR_STATE,
            "it needs local energies of positions on the GPU, where '%s' provides none",
            giving->context.section);
    const crash_record outer = crash_calling(giving->context.section, "local_energy");
    code = plugmc_local_energy_of(giving->plugin)->evaluate(giving->data, &giving->host, request);
    crash_called_within(outer);
    return code;
}
