/* Which system a plugin is tested in, and checks that are made in an oblique box as well. */
#include <math.h>
#include <string.h>

#include "checks.h"

static const char *missing_key(const target *t)
{
    const plugmc_plugin *plugin = t->loaded.plugin;
    for (int32_t k = 0; k < plugin->parameter_count && !t->file; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(plugin, k);
        if (!p->derived && !p->fallback && p->type != PLUGMC_TYPE_NUMBERS) return p->name;
    }
    return NULL;
}

static int tell_that_file_is_needed(const target *t, const char *key, const char *heard)
{
    report r = {0};
    if (key)
        return report_error(
            &r, EXIT_INPUT, NULL, 0,
            "%s: key '%s' has no default: give FILE.ini with a section of the plugin "
            "as second argument; plugmc info %s prints one",
            t->name, key, t->name);
    return report_error(&r, EXIT_INPUT, t->file, 0,
                        t->file ? "%s" : "%s; give FILE.ini with a system that suits the plugin",
                        heard);
}

/* A failure of the plugin, not of its input, is a finding. */
static int conclude(const target *t, findings *f, int code, const char *why)
{
    if (code != EXIT_PLUGIN && code != EXIT_INTERNAL && code != EXIT_MEMORY)
        return tell_that_file_is_needed(t, NULL, why);
    check_begin(f, "opens", NAN, "the plugin can be configured and prepared in a run");
    check_fail(f, "%s", why);
    check_end(f);
    return 0;
}

int find_system(const target *t, findings *f, apart_work *open, void *task, int *number,
                const heard *heard, int *system)
{
    const char *key = missing_key(t);
    char first[sizeof heard->text] = "";
    int first_code = 0;
    *system = -1;
    if (key) return tell_that_file_is_needed(t, key, NULL);
    for (int k = 0; stand_system(k); k++) {
        const int before = f->count;
        *number = k;
        const int code = apart(t, f, "opens", apart_patience(t), open, task);
        if (code == 0) *system = k;
        if (code == 0 && !t->file) snprintf(f->box, sizeof f->box, "%s", stand_system(k));
        if (code == 0 || code == APART_DIED) return 0;
        f->count = before;
        if (k == 0) {
            first_code = code;
            snprintf(first, sizeof first, "%s",
                     heard_or(heard, "it failed without a sentence, which host->fail takes"));
        }
        if (t->file && (k == 1 || t->loaded.plugin->kind != PLUGMC_POTENTIAL)) break;
    }
    return conclude(t, f, first_code, first);
}

bool apart_leaning(const target *t, findings *f, const char *name, apart_work *work, void *task,
                   bool *leans)
{
    const int first = f->count;
    *leans = true;
    strcpy(f->where, ", oblique box");
    const bool died = apart(t, f, name, apart_patience(t), work, task) == APART_DIED;
    *leans = false;
    *f->where = 0;
    for (int k = first; k < f->count; k++) {
        finding *now = &f->list[k];
        const size_t used = strlen(now->sentence);
        if (now->verdict == CHECK_FAILED)
            snprintf(
                now->sentence + used, sizeof now->sentence - used,
                ". This is in [box] shape = oblique; a plugin that is not for it has to refuse it in "
                "'configure' or 'prepare' (host->system->box.oblique)");
    }
    return died;
}
