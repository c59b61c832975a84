/* Whether all processes of a run have the same input. See same_input.h. */
#include "session/same_input.h"

#include <stdlib.h>
#include <string.h>

#include "input/comparison.h"
#include "session/history.h"
#include "parallel/team.h"

/* What the leader decides, or each process for itself. */
static const char *const own_keys[] = {"threads",    "gpu",        "device", "log",   "csv",
                                       "time_limit", "checkpoint", "show",   "author"};

/* Files are compared by what is in them. */
static bool may_differ(const session *session, const char *section, const char *key)
{
    const bool run = strcmp(section, "run") == 0;
    for (int i = 0; run && i < PLUGMC_COUNT(own_keys); i++)
        if (strcmp(key, own_keys[i]) == 0) return true;
    const ini_section *asked = ini_section_named(&session->engine.config.ini, section);
    const ini_entry *entry = asked ? ini_get(asked, key) : NULL;
    return entry && entry->file;
}

typedef struct comparison {
    const session *session;
    int code; /* of the first difference */
} comparison;

static void say(comparison *c, const char *what, const char *here, const char *there)
{
    const int code = report_error(
        c->session->engine.report, EXIT_INPUT, c->session->engine.config.ini.path, 0,
        "%s is %s, and %s in rank 0: all processes need the same input", what, here, there);
    if (!c->code) c->code = code;
}

static void keys_differ(void *argument, const char *section, const char *key, const char *there,
                        const char *here)
{
    comparison *c = argument;
    char what[256];
    if (may_differ(c->session, section, key)) return;
    snprintf(what, sizeof what, "[%.100s]%s%.100s", section, *key ? " " : "", key);
    say(c, what, here ? excerpt(here).text : "not there",
        there ? excerpt(there).text : "not there");
}

static void parts_differ(void *argument, const char *what, const char *there, const char *here)
{
    say(argument, what, here ? here : "not there", there ? there : "not there");
}

/* A text of rank 0, malloc'ed. */
static int spread_text(const char *own, char **text)
{
    int64_t bytes = (int64_t)strlen(own) + 1;
    int code = team_spread(0, &bytes, sizeof bytes);
    *text = checked(calloc((size_t)bytes, 1));
    if (team_leads()) memcpy(*text, own, (size_t)bytes);
    return code ? code : team_spread(0, *text, (size_t)bytes);
}

static int compare_configuration(comparison *c, const char *of_first, const char *own)
{
    ini_file there, here;
    report unheard = *c->session->engine.report;
    const char *path = c->session->engine.config.ini.path;
    int code = ini_read_text(path, of_first, &there, &unheard);
    if (!code) code = ini_read_text(path, own, &here, &unheard);
    if (code)
        return report_error(c->session->engine.report, EXIT_INTERNAL, path, 0,
                            "the configuration of rank 0 cannot be read");
    ini_compare(&there, &here, keys_differ, c);
    ini_free(&there);
    ini_free(&here);
    return 0;
}

int same_input(const session *session)
{
    comparison c = {.session = session};
    if (team_now()->ranks == 1) return 0;
    char *ini = checked(effective_ini(&session->engine)), *parts = history_parts(session, true),
         *first_ini = NULL, *first_parts = NULL;
    int code = spread_text(ini, &first_ini);
    if (!code) code = spread_text(parts, &first_parts);
    if (!code) {
        code = compare_configuration(&c, first_ini, ini);
        if (!code) history_differences(first_parts, parts, parts_differ, &c);
        code = team_agree(code ? code : c.code);
    }
    free(ini), free(parts), free(first_ini), free(first_parts);
    return code;
}
