/* See molecule_places.h. */
#include "input/molecule_places.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/frame.h"
#include "input/parameters.h"

/* The only reader that needs no box. */
static int read_frame(const char *path, file_frame *frame, report *r)
{
    const char *ending = strrchr(path, '.');
    if (ending && !strcasecmp(ending, ".xyz")) return xyz_read(path, 0, frame, r);
    if (ending && !strcasecmp(ending, ".pdb")) return pdb_read(path, 0, frame, r);
    if (ending && !strcasecmp(ending, ".gro")) return gro_read(path, 0, frame, r);
    return report_error(
        r, EXIT_INPUT, path, 0,
        "the sites of a molecule are read from files whose names end in .xyz, .pdb or .gro");
}

/* Whether the particles of the file are the sites of the section, one after the other. */
static int compare_names(const ini_section *s, const char *path, const file_frame *frame,
                         const char *sites, report *r)
{
    int64_t k = 0;
    const char *blanks = " \t";
    for (sites += strspn(sites, blanks); *sites; sites += strspn(sites, blanks), k++) {
        const size_t length = strcspn(sites, blanks);
        const char *name = k < frame->count && frame->name ? frame->name[frame->species[k]] : NULL;
        if (name && (strlen(name) != length || strncmp(name, sites, length)))
            return report_error(r, EXIT_INPUT, path, frame->line ? (int)frame->line[k] : 0,
                                "'%s' is site %lld of the file, but sites of [%s] has %.*s there",
                                name, (long long)k + 1, s->name, (int)length, sites);
        sites += length;
    }
    return k == frame->count
               ? EXIT_DONE
               : report_error(r, EXIT_INPUT, path, 0,
                              "the file has %lld particles, but sites of [%s] has %lld names",
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
    const char *path = parameters_path(s, named);
    if (read_frame(path, &frame, r)) return;
    if (!compare_names(s, path, &frame, sites->value, r)) {
        free(named->key), free(named->value), free(named->file);
        named->key = checked(strdup("places"));
        named->value = places_as_text(&frame, units);
        named->file = NULL;
    }
    frame_free(&frame);
}
