/* See former_keys.h. */
#include "input/former_keys.h"

#include <stdlib.h>
#include <string.h>

typedef struct former_key {
    char *kind, *plugin; /* of the section; plugin "" in those of the core */
    char *before, *now;
} former_key;

/* Keys of the core and of the program scan. */
static const former_key of_core[] = {
    {"species", "", "most", "max_count"},
    {"twists", "", "of", "potential"},
};

static former_key *of_plugins;
static int plugin_keys;

/* A plugin as the section names it. */
static const char *plugin_of(const ini_section *s)
{
    const ini_entry *entry = ini_get(s, "plugin");
    return entry && *entry->value ? entry->value : s->label;
}

static const char *present_name(const former_key *keys, int count, const ini_section *s,
                                const char *plugin, const char *key)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(keys[i].before, key) && !strcmp(keys[i].kind, s->kind) &&
            !strcmp(keys[i].plugin, plugin))
            return keys[i].now;
    return NULL;
}

const char *former_key_now(const ini_section *s, const char *key)
{
    const char *now = present_name(of_core, sizeof of_core / sizeof *of_core, s, "", key);
    return now ? now : present_name(of_plugins, plugin_keys, s, plugin_of(s), key);
}

void former_key_add(const ini_section *s, const char *before, const char *now)
{
    if (present_name(of_plugins, plugin_keys, s, plugin_of(s), before)) return;
    of_plugins = checked(realloc(of_plugins, ((size_t)plugin_keys + 1) * sizeof *of_plugins));
    of_plugins[plugin_keys++] = (former_key){.kind = checked(strdup(s->kind)),
                                             .plugin = checked(strdup(plugin_of(s))),
                                             .before = checked(strdup(before)),
                                             .now = checked(strdup(now))};
}

static void remove_entry(ini_section *s, int index)
{
    ini_entry *entry = &s->entries[index];
    free(entry->key), free(entry->value), free(entry->origin), free(entry->file);
    free(entry->before);
    s->count--;
    memmove(entry, entry + 1, (size_t)(s->count - index) * sizeof *entry);
}

/* The entry at `index` has an old name, and `other` the new one. */
static int choose(const ini_file *file, ini_section *s, int index, const ini_entry *other,
                  report *r)
{
    const ini_entry *old = &s->entries[index];
    const int at = (int)(other - s->entries);
    if (old->assigned == other->assigned)
        return report_error(r, EXIT_INPUT, old->line ? file->path : "--set", old->line,
                            "[%s] key '%s' given twice, as '%s' too, which is its former name",
                            s->name, other->key, old->key);
    remove_entry(s, old->assigned ? at : index);
    return 0;
}

int former_keys_rename(const ini_file *file, ini_section *s, report *r)
{
    int first_error = 0;
    for (int k = 0; k < s->count; k++) {
        const char *now = former_key_now(s, s->entries[k].key);
        const ini_entry *other = now ? ini_get(s, now) : NULL;
        if (other) {
            const int code = choose(file, s, k, other, r);
            if (!first_error) first_error = code;
            if (!code) k = -1; /* entries have moved */
        } else if (now) {
            free(s->entries[k].before);
            s->entries[k].before = s->entries[k].key;
            s->entries[k].key = checked(strdup(now));
        }
    }
    return first_error;
}

void former_keys_warn(const ini_file *file, const ini_section *s, report *r)
{
    for (int k = 0; k < s->count; k++) {
        const ini_entry *entry = &s->entries[k];
        if (!entry->before || (file->archive && entry->line)) continue;
        report_warning(r, entry->line ? file->path : "--set", entry->line,
                       "[%s] the key '%s' is now called '%s'", s->name, entry->before, entry->key);
    }
}
