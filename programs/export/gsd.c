/* GSD with HOOMD's schema, by formats/gsd_writer.h. What was measured after the sweep of a frame is logged with it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "formats/gsd_writer.h"

typedef struct gsd_file {
    gsd_writer *writer;
    char **names; /* [scalar_count]: LABEL/NAME of the scalars */
} gsd_file;

static void begin(exported *e)
{
    const run_file *run = e->run;
    gsd_file *g = e->own = checked(calloc(1, sizeof *g));
    g->names = checked(calloc((size_t)run->scalar_count + 1, sizeof *g->names));
    for (int i = 0; i < run->scalar_count; i++)
        checked(
            asprintf(&g->names[i], "%s/%s", run->scalars[i]->observable, run->scalars[i]->name) < 0
                ? NULL
                : e);
    const gsd_content content = {.system = &run->system,
                                 .largest_diameter = run->largest_diameter,
                                 .exact = !e->single,
                                 .turned = run->turned,
                                 .shapes = run->turned ? run->shapes : NULL,
                                 .logged = run->scalar_count,
                                 .names = (const char *const *)g->names};
    g->writer = checked(gsd_writer_new(&content));
    e->error = gsd_writer_begin(g->writer, fileno(e->out), "plugmc " PLUGMC_VERSION);
}

static void put(exported *e, const snapshot *s)
{
    const gsd_file *g = e->own;
    if (e->error) return;
    e->error = gsd_writer_put(g->writer, fileno(e->out),
                              &(gsd_frame){.sweep = s->state->sweep,
                                           .box = &s->state->box,
                                           .count = s->state->count,
                                           .number = s->state->number,
                                           .species = s->state->species,
                                           .positions = s->state->positions,
                                           .orientations = s->state->orientations,
                                           .logged = s->scalars});
}

static void end(exported *e)
{
    gsd_file *g = e->own;
    if (!e->error) e->error = gsd_writer_flush(g->writer, fileno(e->out));
    for (int i = 0; i < e->run->scalar_count; i++) free(g->names[i]);
    free(g->names);
    gsd_writer_free(g->writer);
    free(g);
}

const format gsd_format = {
    .name = "gsd", .endings = {".gsd"}, .begin = begin, .put = put, .end = end};
