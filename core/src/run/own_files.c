/* See own_files.h. */
#include "run/own_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/paths.h"

/* An initial state is read once, and what was there is kept under another name. */
static bool may_be_output(const ini_section *section, const char *key)
{
    return !strcmp(section->kind, "initial") && !strcmp(key, "output");
}

static int check_file(const simulation *sim, const ini_section *reader, const char *key,
                      const char *read)
{
    const ini_section *run = ini_find(&sim->config.ini, "run");
    const char *const keys[] = {"output", "csv", "log"}, *const files[] = {sim->config.run.output,
                                                                           sim->config.run.csv,
                                                                           sim->config.run.log};
    for (int i = 0; i < 3; i++) {
        if (!files[i] || !*files[i] || may_be_output(reader, keys[i]) ||
            !path_is_same_file(files[i], read))
            continue;
        return report_error(sim->report, EXIT_INPUT, ini_source(&sim->config.ini, run), run->line,
                            "[run] %s = %s: this file is read, by [%s] %s", keys[i], files[i],
                            reader->name, key);
    }
    return 0;
}

int own_files_check(const simulation *sim)
{
    int code = 0;
    for (int i = 0; i < sim->config.ini.count && !code; i++) {
        const ini_section *s = &sim->config.ini.sections[i];
        for (int k = 0; k < s->count && strcmp(s->kind, "run") && !code; k++) {
            if (!s->entries[k].file) continue;
            char *copy = checked(strdup(s->entries[k].file)), *rest = copy, *path;
            while (!code && (path = strsep(&rest, "\n")))
                if (*path) code = check_file(sim, s, s->entries[k].key, path);
            free(copy);
        }
    }
    return code;
}
