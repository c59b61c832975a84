/* plugmc run on a file that an earlier run has written. See resume.h. */
#include "cli/resume.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/averages.h"
#include "run/results.h"

/* Keys of [run] that do not change the chain. */
static const char *const free_keys[] = {"sweeps", "time_limit", "checkpoint", "threads",
                                        "device", "gpu",        "csv"};

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

static ini_section *section_named(const ini_file *file, const char *name)
{
    for (int i = 0; i < file->count; i++)
        if (strcmp(file->sections[i].name, name) == 0) return &file->sections[i];
    return NULL;
}

/* Names of files and plugins may change: what is in them is compared. */
static bool may_differ(const simulation *sim, const char *section, const char *key)
{
    const bool run = strcmp(section, "run") == 0;
    for (int i = 0; run && i < PLUGMC_COUNT(free_keys); i++)
        if (strcmp(key, free_keys[i]) == 0) return true;
    if (run && (!strcmp(key, "output") || !strcmp(key, "author"))) return true;
    const ini_section *asked = section_named(&sim->config.ini, section);
    const ini_entry *entry = asked ? ini_get(asked, key) : NULL;
    return entry && entry->file;
}

static int differs(const simulation *sim, const char *path, const char *section, const char *key,
                   const char *was, const char *is)
{
    return report_error(sim->report, EXIT_CHECKPOINT, sim->config.ini.path, 0,
                        "cannot resume from %s: [%s]%s%s was %s and is %s now; another [run] "
                        "output begins another run",
                        path, section, *key ? " " : "", key, was ? excerpt(was).text : "not there",
                        is ? excerpt(is).text : "not there");
}

/* All of `one` that is not, or not the same, in `other`; `forward`: one is then, other now. */
static int compare_one_way(const simulation *sim, const char *path, const ini_file *one,
                           const ini_file *other, bool forward)
{
    int code = 0;
    for (int i = 0; i < one->count; i++) {
        const ini_section *s = &one->sections[i], *t = section_named(other, s->name);
        if (!t) {
            int wrong =
                differs(sim, path, s->name, "", forward ? "there" : NULL, forward ? NULL : "there");
            if (!code) code = wrong;
            continue;
        }
        for (int k = 0; k < s->count; k++) {
            const ini_entry *a = &s->entries[k], *b = ini_get(t, a->key);
            if (may_differ(sim, s->name, a->key)) continue;
            if (b && (!forward || !strcmp(a->value, b->value))) continue;
            const char *there = a->value, *here = b ? b->value : NULL;
            int wrong =
                differs(sim, path, s->name, a->key, forward ? there : here, forward ? here : there);
            if (!code) code = wrong;
        }
    }
    return code;
}

static int compare_configuration(const simulation *sim, const char *path, const char *before)
{
    ini_file then, now;
    report unheard = *sim->report;
    char *effective = checked(effective_ini(sim));
    int code = ini_read_text(path, before ? before : "", &then, &unheard);
    if (!code) code = ini_read_text(path, effective, &now, &unheard);
    free(effective);
    if (code)
        return report_error(sim->report, EXIT_CHECKPOINT, NULL, 0,
                            "cannot resume from %s: the configuration in it cannot be read", path);
    code = compare_one_way(sim, path, &then, &now, true);
    int back = compare_one_way(sim, path, &now, &then, false);
    ini_free(&then);
    ini_free(&now);
    return code ? code : back;
}

int resume_look(simulation *sim, output_data *found, bool *there)
{
    const char *path = sim->config.run.output;
    *there = access(path, F_OK) == 0;
    if (!*there) return 0;
    int code = output_read(path, found, sim->report);
    return code ? code : compare_configuration(sim, path, found->effective_ini);
}

/* ---- A finished run ------------------------------------------------------------------------- */

bool resume_is_finished(const simulation *sim, const output_data *found)
{
    const run_section *run = &sim->config.run;
    return found->finished && found->sweep == (uint64_t)(run->equilibrate + run->sweeps);
}

int resume_print_again(simulation *sim, const char *path, const output_data *found)
{
    fprintf(stderr, "%s: this run is finished, %llu of %llu sweeps; nothing is left to do\n", path,
            (unsigned long long)found->sweep, (unsigned long long)found->sweep);
    const output_data own = sim->output;
    sim->output = *found;
    sim->output.system = &sim->system;
    sim->output_path = path;
    int code = averages_find(&sim->output);
    if (code)
        report_error(sim->report, EXIT_MEMORY, NULL, 0, "no memory for the averages of the run");
    else
        print_results(sim);
    sim->output = own;
    return code ? EXIT_MEMORY : EXIT_DONE;
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
