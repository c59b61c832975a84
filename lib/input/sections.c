/* See sections.h. */
#include "input/sections.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"

ini_section *ini_find(const ini_file *file, const char *kind)
{
    for (int i = 0; i < file->count; i++)
        if (strcmp(file->sections[i].kind, kind) == 0) return &file->sections[i];
    return NULL;
}

ini_entry *ini_get(const ini_section *s, const char *key)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->entries[i].key, key) == 0) return &s->entries[i];
    return NULL;
}

const char *ini_decide(ini_section *s, const char *key, const char *value)
{
    ini_entry *entry = ini_get(s, key);
    if (!entry) {
        s->entries = checked(realloc(s->entries, ((size_t)s->count + 1) * sizeof *s->entries));
        entry = &s->entries[s->count++];
        *entry = (ini_entry){.key = checked(strdup(key))};
    }
    free(entry->value);
    free(entry->origin);
    entry->value = checked(strdup(value));
    entry->origin = checked(strdup("chosen"));
    entry->line = 0;
    entry->used = true;
    return entry->value;
}

void ini_section_free(ini_section *s)
{
    for (int i = 0; i < s->count; i++) {
        free(s->entries[i].key);
        free(s->entries[i].before);
        free(s->entries[i].value);
        free(s->entries[i].origin);
        free(s->entries[i].file);
    }
    free(s->entries);
    free(s->name);
    free(s->kind);
    free(s->label);
}

void ini_drop(ini_file *file, const char *kind)
{
    int kept = 0;
    for (int i = 0; i < file->count; i++)
        if (strcmp(file->sections[i].kind, kind) != 0)
            file->sections[kept++] = file->sections[i];
        else
            ini_section_free(&file->sections[i]);
    file->count = kept;
}

const char *ini_source(const ini_file *file, const ini_section *s)
{
    return s && s->line == 0 ? "--set" : file->path;
}

void ini_free(ini_file *file)
{
    for (int i = 0; i < file->count; i++) ini_section_free(&file->sections[i]);
    free(file->sections);
    free(file->path);
    free(file->archive);
    free(file->folder);
    *file = (ini_file){0};
}

/* ---- To another process ---------------------------------------------------------------------- */

static void put_text(FILE *out, const char *text)
{
    fputc(text != NULL, out);
    if (text) fwrite(text, 1, strlen(text) + 1, out);
}

static void put_number(FILE *out, int number) { fwrite(&number, sizeof number, 1, out); }

static void put_entry(FILE *out, const ini_entry *e)
{
    const char *const texts[] = {e->key, e->value, e->before, e->origin};
    const int numbers[] = {e->line, e->assigned, e->here};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) put_text(out, texts[k]);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) put_number(out, numbers[k]);
}

void ini_pack(FILE *out, const ini_file *file)
{
    put_text(out, file->path), put_text(out, file->archive), put_text(out, file->folder);
    put_number(out, file->count);
    for (const ini_section *s = file->sections; s < file->sections + file->count; s++) {
        put_text(out, s->name), put_text(out, s->kind), put_text(out, s->label);
        put_number(out, s->line), put_number(out, s->archived), put_number(out, s->count);
        for (int i = 0; i < s->count; i++) put_entry(out, &s->entries[i]);
    }
}

static bool get_text(FILE *in, char **text)
{
    size_t size = 0;
    *text = NULL;
    const int there = getc(in);
    return there == 0 || (there == 1 && getdelim(text, &size, 0, in) > 0);
}

static bool get_number(FILE *in, int *number) { return fread(number, sizeof *number, 1, in) == 1; }

static bool get_entry(FILE *in, ini_entry *e)
{
    char **const texts[] = {&e->key, &e->value, &e->before, &e->origin};
    int assigned = 0, here = 0;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (!get_text(in, texts[k])) return false;
    if (!get_number(in, &e->line) || !get_number(in, &assigned) || !get_number(in, &here))
        return false;
    e->assigned = assigned, e->here = here;
    return true;
}

static bool get_section(FILE *in, ini_section *s, const char *folder)
{
    int archived, count;
    if (!get_text(in, &s->name) || !get_text(in, &s->kind) || !get_text(in, &s->label) ||
        !get_number(in, &s->line) || !get_number(in, &archived) || !get_number(in, &count))
        return false;
    s->archived = archived;
    s->folder = folder;
    s->entries = calloc((size_t)count + 1, sizeof *s->entries);
    for (; s->entries && s->count < count; s->count++)
        if (!get_entry(in, &s->entries[s->count])) return false;
    return s->entries != NULL;
}

bool ini_unpack(FILE *in, ini_file *out)
{
    int count;
    *out = (ini_file){0};
    if (!get_text(in, &out->path) || !get_text(in, &out->archive) || !get_text(in, &out->folder) ||
        !get_number(in, &count))
        return false;
    out->sections = calloc((size_t)count + 1, sizeof *out->sections);
    for (; out->sections && out->count < count; out->count++)
        if (!get_section(in, &out->sections[out->count], out->folder)) return false;
    return out->sections != NULL;
}
