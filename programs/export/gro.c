/* GRO, as lib/formats/gro.c reads it. Lengths are in nm with six digits behind the point, three more than GROMACS has by
 * default; readers find that by the distance of the points. Without [units] numbers stay as they are. Each particle is a
 * residue of its own. */
#include <math.h>

#include "standard_axes.h"

static void put_box(const exported *e, const standard_axes *a)
{
    const double(*v)[3] = a->vector;
    if (!a->periodic) {
        fputs("   0.0000000   0.0000000   0.0000000\n", e->out);
        return;
    }
    fprintf(e->out, "%12.7f%12.7f%12.7f", v[0][0], v[1][1], v[2][2]);
    if (a->leaning)
        fprintf(e->out, "%12.7f%12.7f%12.7f%12.7f%12.7f%12.7f", v[0][1], v[0][2], v[1][0], v[1][2],
                v[2][0], v[2][1]);
    fputs("\n", e->out);
}

static void put(exported *e, const snapshot *s)
{
    const standard_axes a = standard_axes_of(e, s, 1e-9);
    if (*e->why || !standard_holds(e, "GRO", 5)) return;
    for (int d = 0; d < 3; d++)
        if (fabs(a.vector[d][0]) + fabs(a.vector[d][1]) + fabs(a.vector[d][2]) > 999)
            snprintf(e->why, sizeof e->why,
                     "coordinates in GRO have eleven columns here, too few for this box");
    if (*e->why) return;
    fprintf(e->out, "plugmc, walker %d, sweep %llu\n%lld\n", s->walker,
            (unsigned long long)s->state->sweep, (long long)s->state->count);
    for (int64_t i = 0; i < s->state->count && !ferror(e->out); i++) {
        const char *residue, *name = plugmc_species_at(s->system, s->state->species[i])->name;
        const long long of = residue_of(s, i, &residue) % 100000,
                        number = ((long long)s->state->number[i] + 1) % 100000;
        double r[3];
        standard_position(&a, s, i, r);
        fprintf(e->out, "%5lld%-5.5s%5s%5lld%11.6f%11.6f%11.6f\n", of, residue, name, number, r[0],
                r[1], r[2]);
    }
    put_box(e, &a);
}

const format gro_format = {.name = "gro", .endings = {".gro"}, .put = put};
