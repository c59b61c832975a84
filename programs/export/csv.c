/* A table with a line for each particle of each frame, for spreadsheets, gnuplot and pandas. The box stands in every
 * line: edges, of an oblique box its vectors, of a sphere the radius. Numbers have all digits. */
#include "formats.h"

static void begin(exported *e)
{
    const plugmc_box *box = &e->run->system.box;
    fputs("frame,sweep,walker,particle,species,x,y,z", e->out);
    fputs(box->domain == PLUGMC_DOMAIN_SPHERE ? ",radius\n"
          : box->oblique                      ? ",ax,ay,az,bx,by,bz,cx,cy,cz\n"
                                              : ",lx,ly,lz\n",
          e->out);
}

static void put_box(FILE *out, const plugmc_box *box)
{
    const int count = box->domain == PLUGMC_DOMAIN_SPHERE ? 1 : box->oblique ? 9 : 3;
    const double *numbers = box->domain == PLUGMC_DOMAIN_SPHERE ? &box->radius
                            : box->oblique                      ? box->vector[0]
                                                                : box->length;
    for (int k = 0; k < count; k++) fprintf(out, ",%.17g", numbers[k]);
    fputc('\n', out);
}

static void put(exported *e, const snapshot *s)
{
    for (int64_t i = 0; i < s->state->count && !ferror(e->out); i++) {
        const double *r = &s->state->positions[3 * i];
        fprintf(e->out, "%lld,%llu,%d,%lld,%s,%.17g,%.17g,%.17g", (long long)s->frame,
                (unsigned long long)s->state->sweep, s->walker, (long long)s->state->number[i],
                plugmc_species_at(s->system, s->state->species[i])->name, r[0], r[1], r[2]);
        put_box(e->out, &s->state->box);
    }
}

const format csv_format = {.name = "csv", .endings = {".csv"}, .begin = begin, .put = put};
