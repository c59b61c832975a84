/* Extended XYZ, as OVITO, ASE and plugmc read it:
 *
 *     2
 *     Lattice="10 0 0 0 10 0 0 0 10" Properties=species:S:1:pos:R:3:id:I:1:charge:R:1 pbc="T T T" sweep=400 walker=0
 *     A 0.5 1.0 2.0 0 1
 *     B 3.5 1.0 2.0 1 -1
 *
 * Numbers have all digits, so positions come back as they were; bodies also have orientation:R:4, quaternions x, y, z, w. Name and place come first, for readers of plain
 * XYZ. The lattice begins at the origin, as those of the run do; around a sphere there is none. */
#include <ctype.h>
#include <math.h>

#include "formats.h"
#include "formats/orientations.h"

/* Whether some species has one that is not 0. */
static bool any(const plugmc_system *system, bool charge)
{
    for (int32_t s = 0; s < system->species_count; s++) {
        const plugmc_species *species = plugmc_species_at(system, s);
        if ((charge ? species->charge : species->diameter) != 0) return true;
    }
    return false;
}

/* What was measured, as LABEL.NAME=VALUE; in names only what readers take without quotes. */
static void put_scalars(exported *e, const snapshot *s)
{
    for (int i = 0; i < e->run->scalar_count; i++) {
        const quantity_record *q = e->run->scalars[i];
        const char *const parts[] = {q->observable, ".", q->name};
        if (isnan(s->scalars[i])) continue;
        fputc(' ', e->out);
        for (int k = 0; k < 3; k++)
            for (const char *c = parts[k]; *c; c++)
                fputc(isalnum((unsigned char)*c) || *c == '.' ? *c : '_', e->out);
        fprintf(e->out, "=%.17g", s->scalars[i]);
    }
}

static void put_header(exported *e, const snapshot *s)
{
    FILE *out = e->out;
    const plugmc_box *box = &s->state->box;
    const bool periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    fprintf(out, "%lld\n", (long long)s->state->count);
    if (periodic) fputs("Lattice=\"", out);
    for (int k = 0; k < 9 && periodic; k++)
        fprintf(out, "%.17g%s", box->vector[k / 3][k % 3], k < 8 ? " " : "\" ");
    fprintf(out, "Properties=species:S:1:pos:R:3:id:I:1%s%s%s pbc=\"%s\" sweep=%llu walker=%d",
            any(s->system, true) ? ":charge:R:1" : "", any(s->system, false) ? ":radius:R:1" : "",
            s->state->turned ? ":orientation:R:4" : "",
            !periodic             ? "F F F"
            : box->dimension == 2 ? "T T F"
                                  : "T T T",
            (unsigned long long)s->state->sweep, s->walker);
    put_scalars(e, s);
    fputc('\n', out);
}

/* x, y, z, w, as OVITO has them. */
static void put_orientation(exported *e, const plugmc_orientation *o)
{
    double q[4];
    quaternion_of(o, q);
    fprintf(e->out, " %.17g %.17g %.17g %.17g", q[1], q[2], q[3], q[0]);
}

static void put(exported *e, const snapshot *s)
{
    const bool charges = any(s->system, true), radii = any(s->system, false);
    put_header(e, s);
    for (int64_t i = 0; i < s->state->count && !ferror(e->out); i++) {
        const plugmc_species *species = plugmc_species_at(s->system, s->state->species[i]);
        const double *r = &s->state->positions[3 * i];
        fprintf(e->out, "%s %.17g %.17g %.17g %lld", species->name, r[0], r[1], r[2],
                (long long)s->state->number[i]);
        if (charges) fprintf(e->out, " %.17g", species->charge);
        if (radii) fprintf(e->out, " %.17g", 0.5 * species->diameter);
        if (s->state->turned) put_orientation(e, &s->state->orientations[i]);
        fputc('\n', e->out);
    }
}

const format xyz_format = {.name = "xyz", .endings = {".xyz", ".extxyz"}, .put = put};
