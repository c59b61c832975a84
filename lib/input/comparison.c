/* Two configurations, key by key. See comparison.h. */
#include "input/comparison.h"

#include <stddef.h>
#include <string.h>

ini_section *ini_section_named(const ini_file *file, const char *name)
{
    for (int i = 0; i < file->count; i++)
        if (strcmp(file->sections[i].name, name) == 0) return &file->sections[i];
    return NULL;
}

void ini_compare(const ini_file *one, const ini_file *other, ini_differs *tell, void *argument)
{
    for (int back = 0; back < 2; back++) {
        const ini_file *from = back ? other : one, *to = back ? one : other;
        for (int i = 0; i < from->count; i++) {
            const ini_section *s = &from->sections[i], *t = ini_section_named(to, s->name);
            if (!t) tell(argument, s->name, "", back ? NULL : "there", back ? "there" : NULL);
            for (int k = 0; t && k < s->count; k++) {
                const ini_entry *a = &s->entries[k], *b = ini_get(t, a->key);
                if (b && (back || !strcmp(a->value, b->value))) continue;
                const char *there = a->value, *here = b ? b->value : NULL;
                tell(argument, s->name, a->key, back ? here : there, back ? there : here);
            }
        }
    }
}
