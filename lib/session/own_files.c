/* See own_files.h. */
#include "session/own_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/paths.h"

/* An initial state is read once, and what was there is kept under another name. */
static bool may_be_output(const ini_section *section, const char *key)
{
    return !strcmp(section->kind, "initial") && !strcmp(key, "output");
}

static int check_file(const session *session, const ini_section *reader, const char *key,
                      const char *read)
{
    const ini_section *run = ini_find(&session->engine.config.ini, "run");
    const char *const keys[] = {"output", "csv", "log"}, *const files[] = {
                                                             session->engine.config.run.output,
                                                             session->engine.config.run.csv,
                                                             session->engine.config.run.log};
    for (int i = 0; i < 3; i++) {
        if (!files[i] || !*files[i] || may_be_output(reader, keys[i]) ||
            !path_is_same_file(files[i], read))
            continue;
        return report_error(session->engine.report, EXIT_INPUT,
                            ini_source(&session->engine.config.ini, run), run->line,
                            "[run] %s = %s: this file is read, by [%s] %s", keys[i], files[i],
                            reader->name, key);
    }
    return 0;
}

int own_files_check(const session *session)
{
    int code = 0;
    for (int i = 0; i < session->engine.config.ini.count && !code; i++) {
        const ini_section *s = &session->engine.config.ini.sections[i];
        for (int k = 0; k < s->count && strcmp(s->kind, "run") && !code; k++) {
            if (!s->entries[k].file) continue;
            char *copy = checked(strdup(s->entries[k].file)), *rest = copy, *path;
            while (!code && (path = strsep(&rest, "\n")))
                if (*path) code = check_file(session, s, s->entries[k].key, path);
            free(copy);
        }
    }
    return code;
}
