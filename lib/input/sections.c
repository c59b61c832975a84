/* See sections.h. */
#include "input/sections.h"

#include <stdlib.h>
#include <string.h>

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
