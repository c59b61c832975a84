/* See own_files.h. */
#include "session/own_files.h"

#include <stdlib.h>
#include <string.h>

#include "archive/trajectory.h"
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

/* What is appended to a trajectory would be lost with the next table, and a log among its frames would spoil them. */
static int check_trajectory(const session *session, const output_trajectory *t, int walkers)
{
    const config *config = &session->engine.config;
    const ini_section *run = ini_find(&config->ini, "run");
    const char *const keys[] = {"csv", "log"}, *const files[] = {config->run.csv, config->run.log};
    int code = 0;
    for (int w = 0; w < (t->format == TRAJECTORY_OF_H5MD ? 1 : walkers) && !code; w++) {
        char *path = checked(trajectory_path(t, w, walkers));
        for (int i = 0; i < 2 && !code; i++)
            if (files[i] && *files[i] && path_will_be_same_file(files[i], path))
                code = report_error(
                    session->engine.report, EXIT_INPUT, ini_source(&config->ini, run), run->line,
                    "[run] %s = %s: this is a file of the run's trajectory", keys[i], files[i]);
        free(path);
    }
    return code;
}

/* Before it is there, and before the log is opened. */
static int check_trajectory_to_come(const session *session, const char *output)
{
    const engine *engine = &session->engine;
    int code = 0;
    for (int i = 0; i < engine->instance_count && !code; i++) {
        const instance *one = &engine->instances[i];
        if (one->plugin->kind != PLUGMC_OBSERVABLE || !one->plugin->observable->writes_trajectory)
            continue;
        output_trajectory t = {.base = checked(trajectory_base(output)),
                               .format = one->trajectory.format == TRAJECTORY_H5MD
                                             ? TRAJECTORY_OF_H5MD
                                             : TRAJECTORY_OF_GSD};
        code = check_trajectory(session, &t, (int)engine->config.run.walkers);
        free(t.base);
    }
    return code;
}

int own_files_check(const session *session, const char *output)
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
    return code ? code : check_trajectory_to_come(session, output);
}

int own_files_check_trajectory(const session *session)
{
    const output_data *out = &session->records.output;
    return out->trajectory.wanted
               ? check_trajectory(session, &out->trajectory, out->system->walkers)
               : 0;
}
