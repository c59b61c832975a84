/* plugmc run on a file that an earlier run has written. See resume.h. */
#include "session/resume.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/comparison.h"
#include "archive/lock.h"
#include "archive/averages.h"
#include "engine/mover_choice.h"
#include "session/history.h"
#include "records/json.h"
#include "records/results.h"

/* Keys of [run] that do not change the chain. */
static const char *const free_keys[] = {"sweeps", "time_limit", "checkpoint", "threads", "device",
                                        "gpu",    "csv",        "show",       "log"};

bool resume_may_set(const char *assignment)
{
    static const char section[] = "run.";
    if (strncmp(assignment, section, strlen(section)) != 0) return false;
    const char *key = assignment + strlen(section);
    for (int i = 0; i < PLUGMC_COUNT(free_keys); i++) {
        size_t n = strlen(free_keys[i]);
        if (!strncmp(key, free_keys[i], n) && key[n] == '=') return true;
    }
    return false;
}

/* ---- The configuration then and now --------------------------------------------------------- */

/* Names of files and plugins may change: what is in them is compared. */
static bool may_differ(const session *session, const char *section, const char *key)
{
    const bool run = strcmp(section, "run") == 0;
    for (int i = 0; run && i < PLUGMC_COUNT(free_keys); i++)
        if (strcmp(key, free_keys[i]) == 0) return true;
    if (run && (!strcmp(key, "output") || !strcmp(key, "author"))) return true;
    const ini_section *asked = ini_section_named(&session->engine.config.ini, section);
    const ini_entry *entry = asked ? ini_get(asked, key) : NULL;
    return entry && entry->file;
}

/* A key that the program of then did not know and that nobody gives: its default is what that program did. */
static bool is_new_default(const session *session, const char *section, const char *key,
                           const char *was)
{
    const ini_section *asked = ini_section_named(&session->engine.config.ini, section);
    return !was && *key && !(asked && ini_get(asked, key));
}

typedef struct resumption {
    const session *session;
    const char *path;
    int code; /* of the first difference */
} resumption;

static void differs(void *argument, const char *section, const char *key, const char *was,
                    const char *is)
{
    resumption *r = argument;
    if (may_differ(r->session, section, key) || is_new_default(r->session, section, key, was))
        return;
    const int code = report_error(
        r->session->engine.report, EXIT_CHECKPOINT, r->session->engine.config.ini.path, 0,
        "cannot resume from %s: [%s]%s%s was %s and is %s now; another [run] output begins another "
        "run",
        r->path, section, *key ? " " : "", key, was ? excerpt(was).text : "not there",
        is ? excerpt(is).text : "not there");
    if (!r->code) r->code = code;
}

static int compare_configuration(const session *session, const char *path, const char *before)
{
    ini_file then, now;
    report unheard = *session->engine.report;
    char *effective = checked(effective_keys(&session->engine));
    int code = ini_read_text(path, before ? before : "", &then, &unheard);
    if (!code) code = ini_read_text(path, effective, &now, &unheard);
    free(effective);
    if (code)
        return report_error(session->engine.report, EXIT_CHECKPOINT, NULL, 0,
                            "cannot resume from %s: the configuration in it cannot be read", path);
    resumption r = {session, path, 0};
    ini_compare(&then, &now, differs, &r);
    ini_free(&then);
    ini_free(&now);
    return r.code;
}

static int compare_all(session *session, const output_data *found, bool accept)
{
    const char *path = session->engine.config.run.output;
    const int code = compare_configuration(session, path, found->origin.effective_ini);
    const char *before = found->origin.history ? found->origin.history : found->origin.provenance;
    if (code || accept || !before || !resume_is_finished(session, found)) return code;
    return history_compare_files(session, path, before);
}

int resume_look(session *session, output_data *found, bool accept, bool *there)
{
    const char *path = session->engine.config.run.output;
    *there = access(path, F_OK) == 0;
    if (!*there) return 0;
    const int code = output_read(path, found, session->engine.report);
    return code ? code : compare_all(session, found, accept);
}

static void hear_nothing(void *listener, const report_message *m) { (void)listener, (void)m; }

int resume_glance(session *session, bool numbers, output_data *found, bool accept, bool *there)
{
    report unheard = {.hear = hear_nothing}, *heard = session->engine.report;
    const char *path = session->engine.config.run.output;
    *there = access(path, F_OK) == 0;
    if (!*there) return 0;
    session->engine.report = &unheard;
    int code = output_read_found(path, numbers, found);
    if (!code) code = compare_all(session, found, accept);
    session->engine.report = heard;
    return code;
}

/* ---- Movers that were chosen ---------------------------------------------------------------- */

static void take_choice(plugin_section *p, const ini_file *then)
{
    const ini_section *section = ini_section_named(then, p->section->name);
    const ini_entry *entry = section ? ini_get(section, "plugin") : NULL;
    if (entry) p->plugin = ini_decide(p->section, "plugin", entry->value);
}

void resume_choice(config *config)
{
    report unheard = {.hear = hear_nothing};
    ini_file then = {0};
    char *text = NULL;
    bool any = false;
    for (int i = 0; i < config->plugin_count; i++) any |= is_left_to_choice(&config->plugins[i]);
    const char *path = config->run.output;
    if (!any || !path || access(path, F_OK) || output_read_ini(path, &text, &unheard)) return;
    if (!ini_read_archived(path, text, &then, &unheard))
        for (int i = 0; i < config->plugin_count; i++)
            if (is_left_to_choice(&config->plugins[i])) take_choice(&config->plugins[i], &then);
    ini_free(&then);
    free(text);
}

/* ---- A finished run ------------------------------------------------------------------------- */

bool resume_is_finished(const session *session, const output_data *found)
{
    const run_section *run = &session->engine.config.run;
    return found->finished && found->sweep == (uint64_t)(run->equilibrate + run->sweeps);
}

/* [run] csv that was asked for since, is gone, or that a process killed in its last write left as it was before. */
static int write_missing_table(session *session)
{
    const char *csv = session->engine.config.run.csv;
    if (!csv || !*csv || !output_csv_is_short(csv, &session->records.output)) return EXIT_DONE;
    identity_make(session->records.output.file.identity);
    return output_csv(csv, &session->records.output, session->engine.report);
}

int resume_print_again(session *session, const char *path, const output_data *found)
{
    report_note(session->engine.report,
                "%s: this run is finished, %llu of %llu sweeps; nothing is left to do", path,
                (unsigned long long)found->sweep, (unsigned long long)found->sweep);
    const output_data own = session->records.output;
    session->records.output = *found;
    session->records.output.system = &session->engine.system;
    session->records.output.joined = own.joined;
    session->output_path = path;
    int code = averages_find(&session->records.output);
    if (code)
        report_error(session->engine.report, EXIT_MEMORY, NULL, 0,
                     "no memory for the averages of the run");
    else if (session->tells == TELLS_JSON)
        json_results(&session->records, path);
    else
        print_results(&session->records, path);
    code = code ? EXIT_MEMORY : write_missing_table(session);
    session->records.output = own;
    return code;
}

/* ---- The command line ----------------------------------------------------------------------- */

static void put_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_@%+=:,./-";
    if (*word && strspn(word, plain) == strlen(word)) {
        fprintf(out, " %s", word);
        return;
    }
    fputs(" '", out);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", out);
        else
            fputc((unsigned char)*word < ' ' ? ' ' : *word, out); /* one line in the file */
    }
    fputc('\'', out);
}

char *resume_command_line(int argc, char **argv)
{
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    fputs("plugmc run", out);
    for (int i = 0; i < argc; i++) put_word(out, argv[i]);
    fclose(out);
    return checked(text);
}
