/* PDB, as lib/formats/pdb.c reads it: each frame is a MODEL behind its CRYST1. There is no END, as in the files of GROMACS:
 * some readers take it for one more frame. Lengths are in Angstrom with three digits behind the point; without [units]
 * numbers stay as they are. Each particle is a residue of its own. */
#include <math.h>
#include <string.h>

#include "standard_axes.h"

static double length_of(const double v[3]) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Between two vectors, degrees. */
static double angle(const double a[3], const double b[3])
{
    const double cosine = (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) / (length_of(a) * length_of(b));
    return acos(fmax(-1, fmin(1, cosine))) * 57.29577951308232;
}

static void put_box(const exported *e, const standard_axes *a)
{
    const double(*v)[3] = a->vector;
    fprintf(e->out, "CRYST1%9.3f%9.3f%9.3f%7.2f%7.2f%7.2f P 1           1\n", length_of(v[0]),
            length_of(v[1]), length_of(v[2]), a->leaning ? angle(v[1], v[2]) : 90,
            a->leaning ? angle(v[0], v[2]) : 90, a->leaning ? angle(v[0], v[1]) : 90);
}

static void put(exported *e, const snapshot *s)
{
    const standard_axes a = standard_axes_of(e, s, 1e-10);
    if (*e->why || !standard_holds(e, "PDB", 4)) return;
    if (s->frame == 0) fprintf(e->out, "REMARK   plugmc, walker %d\n", s->walker);
    if (a.periodic) put_box(e, &a);
    fprintf(e->out, "MODEL     %4lld\n", (long long)(s->frame + 1) % 10000);
    for (int64_t i = 0; i < s->state->count && !ferror(e->out); i++) {
        const char *residue, *name = plugmc_species_at(s->system, s->state->species[i])->name;
        const long long of = residue_of(s, i, &residue),
                        number = (long long)s->state->number[i] + 1;
        char columns[8];
        double r[3];
        standard_position(&a, s, i, r);
        for (int d = 0; d < 3; d++)
            if (!(r[d] > -999.9994 && r[d] < 9999.9994)) {
                snprintf(e->why, sizeof e->why,
                         "coordinates in PDB have eight columns, and one is %g", r[d]);
                return;
            }
        /* Short names begin in the second of the four columns. */
        snprintf(columns, sizeof columns, strlen(name) < 4 ? " %s" : "%s", name);
        fprintf(e->out, "ATOM  %5lld %-4s %3.3s  %4lld    %8.3f%8.3f%8.3f  1.00  0.00\n",
                number % 100000, columns, residue, of % 10000, r[0], r[1], r[2]);
    }
    fputs("ENDMDL\n", e->out);
}

const format pdb_format = {.name = "pdb", .endings = {".pdb", ".ent"}, .put = put};
