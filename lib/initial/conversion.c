/* See conversion.h. */
#include "conversion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Into the unit of length of the run, if it has one. */
static void convert_lengths(file_frame *f, const config *c)
{
    const double factor = f->metre > 0 && c->units.given ? f->metre / c->units.metre : 1;
    if (fabs(factor - 1) < 1e-12) return;
    for (int64_t k = 0; k < 3 * f->walkers * f->count; k++) f->positions[k] *= factor;
    for (int32_t b = 0; b < f->boxes; b++)
        for (int k = 0; k < 9; k++) f->box[b][k / 3][k % 3] *= factor;
    f->box_error *= factor;
    for (int d = 0; d < 3; d++) f->origin[d] *= factor;
}

/* Positions from the corner of the box, and in a leaning one from its centre. */
static void shift_positions(file_frame *f, int dimension)
{
    double shift[3] = {0};
    for (int d = 0; d < dimension; d++) {
        shift[d] += f->origin[d];
        for (int e = 0; e < 3 && f->from_corner; e++) shift[e] += 0.5 * f->box[0][d][e];
    }
    for (int64_t k = 0; k < 3 * f->walkers * f->count; k++)
        if (shift[k % 3] != 0) f->positions[k] -= shift[k % 3];
    f->centred |= f->from_corner;
}

/* The names in [initial] types. */
static int take_names(file_frame *f, const config *c, const char *at, const char *path, report *r)
{
    const int line = config_line(c, "initial", "types");
    char name[256];
    f->name = calloc((size_t)f->types, sizeof *f->name);
    if (!f->name) return report_error(r, EXIT_MEMORY, path, 0, "not enough memory to read it");
    for (int used = 0; sscanf(at, " %255s%n", name, &used) == 1; at += used, f->names++) {
        if (f->names == f->types)
            return report_error(r, EXIT_INPUT, c->ini.path, line,
                                "[initial] types names more than the %d types of the file",
                                f->types);
        f->name[f->names] = strdup(name);
        if (!f->name[f->names])
            return report_error(r, EXIT_MEMORY, path, 0, "not enough memory to read it");
    }
    if (f->names == f->types) return EXIT_DONE;
    return report_error(r, EXIT_INPUT, c->ini.path, line,
                        "[initial] types has %d names for the %d types of the file", f->names,
                        f->types);
}

/* Numbers of types need names, unless there is but one of them and one species. */
static int name_types(file_frame *f, const config *c, const char *path, report *r)
{
    const char *names = c->initial.types;
    const bool given = names && *names, numbered = f->types && !f->names;
    if (given && !numbered)
        return report_error(
            r, EXIT_INPUT, c->ini.path, config_line(c, "initial", "types"),
            "[initial] types is for data files of LAMMPS whose types have no labels");
    if (given) return take_names(f, c, names, path, r);
    if (!numbered || (f->types == 1 && c->species_count == 1)) return EXIT_DONE;
    return report_error(
        r, EXIT_INPUT, path, 0,
        "the file has %d atom types without labels: [initial] types must give their "
        "species",
        f->types);
}

int frame_convert(file_frame *f, const config *c, int dimension, const char *path, report *r)
{
    convert_lengths(f, c);
    shift_positions(f, dimension);
    return name_types(f, c, path, r);
}
