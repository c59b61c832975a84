/* The INI file, up to the core's own sections; and that what is written back is read as the same. */
#include "fuzz.h"

#include "input/config.h"

static void same(const ini_file *a, const ini_file *b)
{
    require(a->count == b->count);
    for (int i = 0; i < a->count; i++) {
        const ini_section *s = &a->sections[i], *t = &b->sections[i];
        require(!strcmp(s->name, t->name) && !strcmp(s->kind, t->kind) &&
                !strcmp(s->label, t->label) && s->count == t->count);
        for (int k = 0; k < s->count; k++)
            require(!strcmp(s->entries[k].key, t->entries[k].key) &&
                    !strcmp(s->entries[k].value, t->entries[k].value));
    }
}

static void read_back(const ini_file *file)
{
    char *text = NULL;
    size_t bytes = 0;
    report r = {0};
    ini_file again;
    FILE *f = open_memstream(&text, &bytes);
    if (!f) abort();
    ini_write(f, file, NULL);
    fclose(f);
    require(ini_read_archived("archive.h5", text, &again, &r) == 0);
    same(file, &again);
    ini_free(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    report r = {0};
    config c = {0};
    /* The first line is a --set if it begins with an exclamation mark. */
    const uint8_t *line = size && data[0] == '!' ? memchr(data, '\n', size) : NULL;
    const size_t skip = line ? (size_t)(line + 1 - data) : 0;
    int code = ini_read(fuzz_write(data + skip, size - skip), &c.ini, &r);
    require((code != 0) == (r.errors > 0));
    if (line) {
        char *assignment = strndup((const char *)data + 1, skip - 2);
        if (!assignment) abort();
        ini_set(&c.ini, assignment, &r);
        free(assignment);
    }
    if (!code) read_back(&c.ini);
    if (!code) config_read(&c, &r);
    config_free(&c);
    return 0;
}
