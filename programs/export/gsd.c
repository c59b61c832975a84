/* GSD with HOOMD's schema; formats/gsd.h has the layout.
 *
 * Chunks are written as they come, names and index behind them, the header at the end, into its room at the
 * beginning. What a frame has as frame 0 has it is left out, as the schema wants it, but not what is logged: readers
 * would take that of frame 0 where it is missing. So a number that was not measured is NaN. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats.h"
#include "formats/gsd.h"

/* Numbers of names, in the order of chunks in a frame. Scalars come behind them. */
enum {
    STEP,
    DIMENSIONS,
    BOX,
    COUNT,
    TYPES,
    TYPE,
    CHARGE,
    DIAMETER,
    POSITION,
    OUR_BOX,
    OUR_POSITION,
    FIRST_SCALAR
};
static const char *const names[FIRST_SCALAR] = {
    "configuration/step", "configuration/dimensions", "configuration/box",
    "particles/N",        "particles/types",          "particles/typeid",
    "particles/charge",   "particles/diameter",       "particles/position",
    GSD_OUR_BOX,          GSD_OUR_POSITIONS};

typedef struct gsd_file {
    uint64_t at;      /* bytes so far */
    gsd_entry *index; /* [entries] */
    size_t entries, room;
    int64_t *counts;                   /* [species] in frame 0 */
    float box[6];                      /* in frame 0 */
    uint16_t number[FIRST_SCALAR + 1]; /* in the list of names */
    bool listed[FIRST_SCALAR];
    void *particles; /* [capacity] numbers of a chunk, three for each */
} gsd_file;

static void put_bytes(exported *e, const void *bytes, size_t count)
{
    gsd_file *g = e->own;
    if (count && !ferror(e->out)) fwrite(bytes, 1, count, e->out);
    g->at += count;
}

/* An array [n][m]. */
static void put_chunk(exported *e, int64_t frame, int name, uint8_t type, int64_t n, uint32_t m,
                      const void *data)
{
    gsd_file *g = e->own;
    const int number =
        name < FIRST_SCALAR ? g->number[name] : g->number[FIRST_SCALAR] + name - FIRST_SCALAR;
    if (g->entries == g->room) {
        g->room = 2 * g->room + 64;
        g->index = checked(realloc(g->index, g->room * sizeof *g->index));
    }
    g->index[g->entries++] = (gsd_entry){
        (uint64_t)frame, (uint64_t)n, (int64_t)g->at, m, (uint16_t)number, (uint8_t)type, 0};
    put_bytes(e, data, (size_t)n * m * gsd_size(type));
}

/* Readers expect what has a name, and begins with "log/", to be there. */
static void number_names(exported *e)
{
    gsd_file *g = e->own;
    const bool periodic = e->run->system.box.domain == PLUGMC_DOMAIN_PERIODIC;
    uint16_t next = 0;
    for (int i = 0; i < FIRST_SCALAR; i++) {
        g->listed[i] = i < OUR_BOX || (!e->single && (i == OUR_POSITION || periodic));
        g->number[i] = next;
        next = (uint16_t)(next + g->listed[i]);
    }
    g->number[FIRST_SCALAR] = next;
}

static void begin(exported *e)
{
    const gsd_header room = {0};
    const plugmc_system *system = &e->run->system;
    gsd_file *g = e->own = checked(calloc(1, sizeof *g));
    g->counts = checked(calloc((size_t)system->species_count, sizeof *g->counts));
    g->particles = checked(malloc(3 * sizeof(float) * ((size_t)system->particles + 1)));
    number_names(e);
    put_bytes(e, &room, sizeof room);
}

/* ---- A frame ---------------------------------------------------------------------------------- */

/* Names of species, all as long as the longest one with its final zero. */
static void put_types(exported *e, int64_t frame)
{
    const plugmc_system *system = &e->run->system;
    size_t longest = 0;
    for (int32_t s = 0; s < system->species_count; s++) {
        const size_t length = strlen(plugmc_species_at(system, s)->name) + 1;
        if (length > longest) longest = length;
    }
    char *all = checked(calloc((size_t)system->species_count, longest));
    for (int32_t s = 0; s < system->species_count; s++)
        strcpy(all + (size_t)s * longest, plugmc_species_at(system, s)->name);
    put_chunk(e, frame, TYPES, GSD_INT8, system->species_count, (uint32_t)longest, all);
    free(all);
}

/* Whether there are as many of each species as in frame 0, which it notes. */
static bool as_in_first(gsd_file *g, const snapshot *s)
{
    const int32_t kinds = s->system->species_count;
    int64_t counts[kinds];
    memset(counts, 0, sizeof counts);
    for (int64_t i = 0; i < s->count; i++) counts[s->species[i]]++;
    const bool same = s->frame && !memcmp(counts, g->counts, sizeof counts);
    if (!s->frame) memcpy(g->counts, counts, sizeof counts);
    return same;
}

/* What particles have by their species, where it is not what readers take for it: no charge, diameter 1. */
static void put_by_species(exported *e, const snapshot *s, int name)
{
    float *values = ((gsd_file *)e->own)->particles;
    const plugmc_system *system = s->system;
    bool common = true;
    for (int32_t k = 0; k < system->species_count; k++) {
        const plugmc_species *species = plugmc_species_at(system, k);
        common = common && (name == CHARGE ? species->charge == 0 : species->diameter == 1);
    }
    if (common) return;
    for (int64_t i = 0; i < s->count; i++) {
        const plugmc_species *species = plugmc_species_at(system, s->species[i]);
        values[i] = (float)(name == CHARGE ? species->charge : species->diameter);
    }
    put_chunk(e, s->frame, name, GSD_FLOAT, s->count, 1, values);
}

static void put_particles(exported *e, const snapshot *s)
{
    gsd_file *g = e->own;
    uint32_t *type = g->particles;
    if (as_in_first(g, s)) return;
    put_chunk(e, s->frame, COUNT, GSD_UINT32, 1, 1, &(uint32_t){(uint32_t)s->count});
    if (!s->frame) put_types(e, s->frame);
    for (int64_t i = 0; i < s->count; i++) type[i] = (uint32_t)s->species[i];
    put_chunk(e, s->frame, TYPE, GSD_UINT32, s->count, 1, type);
    put_by_species(e, s, CHARGE);
    put_by_species(e, s, DIAMETER);
}

/* Rounding may lead to the upper edge, which belongs to the next box. */
static void put_positions(exported *e, const snapshot *s, const gsd_box *box)
{
    float *to = ((gsd_file *)e->own)->particles;
    const bool edges = s->box.domain == PLUGMC_DOMAIN_PERIODIC && !s->box.oblique;
    for (int64_t i = 0; i < 3 * s->count; i++) {
        const double *r = &s->places[i / 3 * 3], *axis = box->axis[i % 3];
        const float length = (float)box->size[i % 3];
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += (r[k] - box->centre[k]) * axis[k];
        to[i] = (float)sum;
        if (edges && length > 0 && to[i] >= 0.5f * length) to[i] -= length;
    }
    put_chunk(e, s->frame, POSITION, GSD_FLOAT, s->count, 3, to);
}

static void put(exported *e, const snapshot *s)
{
    gsd_file *g = e->own;
    const gsd_box box = gsd_box_of(&s->box, e->run->largest_diameter);
    float size[6];
    for (int k = 0; k < 6; k++) size[k] = (float)box.size[k];
    put_chunk(e, s->frame, STEP, GSD_UINT64, 1, 1, &s->sweep);
    if (!s->frame)
        put_chunk(e, 0, DIMENSIONS, GSD_UINT8, 1, 1, &(uint8_t){(uint8_t)s->box.dimension});
    if (!s->frame || memcmp(size, g->box, sizeof size))
        put_chunk(e, s->frame, BOX, GSD_FLOAT, 6, 1, size);
    if (!s->frame) memcpy(g->box, size, sizeof size);
    put_particles(e, s);
    put_positions(e, s, &box);
    if (g->listed[OUR_BOX]) put_chunk(e, s->frame, OUR_BOX, GSD_DOUBLE, 3, 3, s->box.vector);
    if (g->listed[OUR_POSITION])
        put_chunk(e, s->frame, OUR_POSITION, GSD_DOUBLE, s->count, 3, s->places);
    for (int i = 0; i < e->run->scalar_count; i++)
        put_chunk(e, s->frame, FIRST_SCALAR + i, GSD_DOUBLE, 1, 1, &s->scalars[i]);
}

/* ---- The end ---------------------------------------------------------------------------------- */

/* One behind the other, each with a final zero, up to a multiple of 64 bytes. The room that they have taken. */
static uint64_t put_names(exported *e)
{
    static const char zeros[GSD_NAME];
    gsd_file *g = e->own;
    const uint64_t first = g->at;
    for (int i = 0; i < FIRST_SCALAR; i++)
        if (g->listed[i]) put_bytes(e, names[i], strlen(names[i]) + 1);
    for (int i = 0; i < e->run->scalar_count; i++) {
        const quantity_record *q = e->run->scalars[i];
        char *name;
        checked(asprintf(&name, "log/%s/%s", q->observable, q->name) < 0 ? NULL : e);
        put_bytes(e, name, strlen(name) + 1);
        free(name);
    }
    put_bytes(e, zeros, GSD_NAME - (g->at - first) % GSD_NAME);
    return (g->at - first) / GSD_NAME;
}

static void end(exported *e)
{
    gsd_file *g = e->own;
    gsd_header header = {.magic = GSD_MAGIC,
                         .name_location = g->at,
                         .index_room = g->entries,
                         .schema_version = GSD_SCHEMA_VERSION,
                         .version = GSD_VERSION,
                         .application = "plugmc " PLUGMC_VERSION,
                         .schema = "hoomd"};
    header.name_room = put_names(e);
    header.index_location = g->at;
    put_bytes(e, g->index, g->entries * sizeof *g->index);
    if (!fflush(e->out) && !fseeko(e->out, 0, SEEK_SET)) put_bytes(e, &header, sizeof header);
    free(g->index);
    free(g->counts);
    free(g->particles);
    free(g);
}

const format gsd_format = {
    .name = "gsd", .endings = {".gsd"}, .begin = begin, .put = put, .end = end};
