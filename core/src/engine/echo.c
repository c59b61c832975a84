#include "engine/echo.h"

#include <stdio.h>

#include "engine/pair_table.h"
#include "engine/reservoirs.h"

static char *effective(const engine *engine, bool pairs)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    config_echo(out, &engine->config);
    for (int i = 0; i < engine->instance_count; i++) {
        const instance *instance = &engine->instances[i];
        plugin_section_echo(out, instance->section);
        parameters_echo(out, instance->plugin->parameters, instance->plugin->parameter_count,
                        instance->plugin->real_size, instance->data, instance->section->section);
        if (instance->plugin->kind == PLUGMC_OBSERVABLE &&
            instance->plugin->observable->writes_trajectory)
            parameters_echo(out, trajectory_table, trajectory_count, sizeof(real),
                            &instance->trajectory, instance->section->section);
    }
    if (pairs) pair_table_write(out, engine, "; ");
    if (pairs) reservoirs_write(out, engine, "; ");
    fclose(out);
    return text;
}

char *effective_ini(const engine *engine) { return effective(engine, true); }
char *effective_keys(const engine *engine) { return effective(engine, false); }

char *ini_as_text(const ini_file *ini, const char *archive)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    ini_write(out, ini, archive);
    fclose(out);
    return text;
}
