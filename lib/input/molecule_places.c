/* See molecule_places.h. */
#include "input/molecule_places.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "formats/frame.h"
#include "input/parameters.h"

/* Where the INI file names a file that cannot be used. */
typedef struct place {
    const ini_file *ini;
    const ini_section *section;
    const ini_entry *named;
    report *report;
} place;

__attribute__((format(printf, 2, 3))) static int refuse(const place *at, const char *format, ...)
{
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return report_error(at->report, EXIT_INPUT, at->named->line ? at->ini->path : "--set",
                        at->named->line, "[%s] places_file = %s: %s", at->section->name,
                        at->named->value, why);
}

/* The only readers that need no box. What is wrong within the file they report at its own lines. */
static int read_frame(const place *at, const char *path, file_frame *frame)
{
    const char *ending = strrchr(path, '.'), *why;
    int (*read)(const char *, int64_t, file_frame *, report *) = NULL;
    if (ending && !strcasecmp(ending, ".xyz")) read = xyz_read;
    if (ending && !strcasecmp(ending, ".pdb")) read = pdb_read;
    if (ending && !strcasecmp(ending, ".gro")) read = gro_read;
    if (!read)
        return refuse(at, "the sites of a molecule are read from files whose names end in .xyz, "
                          ".pdb or .gro");
    const int fd = open_regular(path, &why);
    if (fd < 0) return refuse(at, "cannot be opened: %s", why);
    close(fd);
    return read(path, 0, frame, at->report);
}

/* Whether the particles of the file are the sites of the section, one after the other. */
static int compare_names(const place *at, const char *path, const file_frame *frame,
                         const char *sites)
{
    const ini_section *s = at->section;
    int64_t k = 0;
    const char *blanks = " \t";
    for (sites += strspn(sites, blanks); *sites; sites += strspn(sites, blanks), k++) {
        const size_t length = strcspn(sites, blanks);
        const char *name = k < frame->count && frame->name ? frame->name[frame->species[k]] : NULL;
        if (name && (strlen(name) != length || strncmp(name, sites, length)))
            return report_error(at->report, EXIT_INPUT, path, frame->line ? (int)frame->line[k] : 0,
                                "'%s' is site %lld of the file, but sites of [%s] has %.*s there",
                                name, (long long)k + 1, s->name, (int)length, sites);
        sites += length;
    }
    return k == frame->count
               ? EXIT_DONE
               : refuse(at, "the file has %lld particles, but sites of [%s] has %lld names",
                        (long long)frame->count, s->name, (long long)k);
}

/* In the run's unit of length, about the origin of the file, which `centre` refers to. */
static char *places_as_text(const file_frame *frame, const units *units)
{
    const double factor = frame->metre > 0 && units->given ? frame->metre / units->metre : 1;
    char *text = NULL;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    for (int64_t k = 0; k < 3 * frame->count; k++)
        fprintf(out, k ? " %.17g" : "%.17g", factor * frame->positions[k]);
    fclose(out);
    return checked(text);
}

void molecule_places_from_file(const ini_file *ini, ini_section *s, const units *units, report *r)
{
    ini_entry *named = ini_get(s, "places_file"), *sites = ini_get(s, "sites");
    file_frame frame;
    if (!named || !sites) return; /* the latter is told where it is missed */
    if (ini_get(s, "places")) {
        report_error(
            r, EXIT_INPUT, ini->path, named->line,
            "[%s] places and places_file are two ways to say where sites are: give one of them",
            s->name);
        return;
    }
    const place at = {ini, s, named, r};
    const char *path = parameters_path(s, named);
    if (read_frame(&at, path, &frame)) return;
    if (!compare_names(&at, path, &frame, sites->value)) {
        free(named->key), free(named->value), free(named->file);
        named->key = checked(strdup("places"));
        named->value = places_as_text(&frame, units);
        named->file = NULL;
    }
    frame_free(&frame);
}
