/* See advice.h. The messages are those of GNU ld, gold and lld in English; in other languages there is no advice. */
#include "advice.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 8, LONGEST = 200 };

/* A whole file; NULL: it cannot be read. */
static char *content(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    char *bytes = NULL;
    size_t room = 0;
    *size = 0;
    if (!in) return NULL;
    do {
        if (*size == room) bytes = checked(realloc(bytes, room = 2 * room + 65536));
        *size += fread(bytes + *size, 1, room - *size, in);
    } while (*size == room);
    fclose(in);
    return bytes;
}

/* Whether a file has this text between two bytes that are in no identifier, as tables of symbols have it. `open`: what follows
 * does not matter. */
static bool has_symbol(const char *bytes, size_t size, const char *symbol, bool open)
{
    const size_t n = strlen(symbol);
    for (const char *at = bytes; at && n < size - (size_t)(at - bytes); at++) {
        at = memmem(at, size - (size_t)(at - bytes), symbol, n);
        if (!at) return false;
        if ((at == bytes || !at[-1]) && (open || at + n == bytes + size || !at[n])) return true;
    }
    return false;
}

/* The file of a library of the order, in `path`; false: it is none, or it is not found in the folders that are given. */
static bool find_file(const order *o, const char *library, char *path, size_t size)
{
    static const char *const ends[] = {"so", "a"};
    if (*library != '-') return snprintf(path, size, "%s", library) < (int)size;
    for (const char *const *l = o->libraries; !strncmp(library, "-l", 2) && *l; l++)
        for (int k = 0; k < 2 && !strncmp(*l, "-L", 2); k++) {
            snprintf(path, size, "%s/lib%s.%s", *l + 2, library + 2, ends[k]);
            FILE *there = fopen(path, "rb");
            if (there) fclose(there);
            if (there) return true;
        }
    return false;
}

/* Who defines it in another language. */
static bool tell_language(const order *o, const char *name, report *r)
{
    char path[4096], in_cxx[LONGEST + 32], in_fortran[LONGEST + 32];
    size_t size;
    snprintf(in_cxx, sizeof in_cxx, "_Z%zu%.*s", strlen(name), LONGEST, name);
    snprintf(in_fortran, sizeof in_fortran, "%.*s_", LONGEST, name);
    for (const char *const *l = o->libraries; *l; l++) {
        char *bytes = find_file(o, *l, path, sizeof path) ? content(path, &size) : NULL;
        const bool cxx = bytes && has_symbol(bytes, size, in_cxx, true),
                   fortran = bytes && has_symbol(bytes, size, in_fortran, false);
        free(bytes);
        if (cxx)
            report_note(
                r,
                "%s has '%s' as a function of C++: declare it extern \"C\" there, also in the header "
                "that the C file includes (#ifdef __cplusplus)",
                path, name);
        else if (fortran)
            report_note(r, "%s has '%s' under the name of Fortran: write bind(c, name='%s') there",
                        path, name, name);
        if (cxx || fortran) return true;
    }
    return false;
}

static void tell_undefined(const order *o, const char *name, report *r)
{
    bool libraries = false;
    for (const char *const *l = o->libraries; *l; l++)
        libraries |= strncmp(*l, "-I", 2) && strncmp(*l, "-L", 2);
    if (tell_language(o, name, r)) return;
    if (strpbrk(name, "(:"))
        report_note(
            r,
            "'%s' is C++, and nothing defines it: another library is missing; name it behind the "
            "one that needs it",
            name);
    else
        report_note(
            r,
            "nothing defines '%s': is it spelt so? A library that has it stands behind the file: "
            "plugmc build %s %s, or -LFOLDER -lNAME%s",
            name, o->source, libraries ? "... LIBRARY.a" : "LIBRARY.a",
            libraries ? "; those that are given do not have it" : "");
}

/* The name between quotes of some kind behind `at`. */
static bool read_name(const char *at, char name[LONGEST])
{
    at += strspn(at, ": `'\"");
    size_t n = strcspn(at, "'\"\n");
    if (n == 0 || n >= LONGEST) return false;
    memcpy(name, at, n);
    name[n] = 0;
    return true;
}

void advise_on_linking(FILE *said, const order *o, report *r)
{
    static const char *const undefined[] = {"undefined reference to", "undefined symbol"};
    char *line = NULL, names[MOST_NAMES][LONGEST];
    size_t room = 0;
    int count = 0;
    bool told = false;
    rewind(said);
    while (getline(&line, &room, said) > 0) {
        if (!told && strstr(line, "recompile with -fPIC")) {
            report_note(r, "a plugin is a shared object: compile the library with -fPIC");
            told = true;
        }
        for (int k = 0; k < 2; k++) {
            const char *at = strstr(line, undefined[k]);
            bool known =
                count == MOST_NAMES || !at || !read_name(at + strlen(undefined[k]), names[count]);
            for (int i = 0; i < count && !known; i++) known = !strcmp(names[i], names[count]);
            if (!known) tell_undefined(o, names[count++], r);
        }
    }
    free(line);
}
