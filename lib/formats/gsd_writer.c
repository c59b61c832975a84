/* See gsd_writer.h, and gsd.h for the layout. */
#include "formats/gsd_writer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/orientations.h"

/* Numbers of names, in the order of chunks in a frame. Those that are logged come behind them. */
enum {
    STEP,
    DIMENSIONS,
    BOX,
    COUNT,
    TYPES,
    SHAPES,
    TYPE,
    CHARGE,
    DIAMETER,
    POSITION,
    ORIENTATION,
    OUR_BOX,
    OUR_POSITION,
    OUR_ORIENTATION,
    OUR_NUMBER,
    FIRST_LOGGED
};
static const char *const names[FIRST_LOGGED] = {
    "configuration/step", "configuration/dimensions", "configuration/box",     "particles/N",
    "particles/types",    "particles/type_shapes",    "particles/typeid",      "particles/charge",
    "particles/diameter", "particles/position",       "particles/orientation", GSD_OUR_BOX,
    GSD_OUR_POSITIONS,    GSD_OUR_ORIENTATIONS,       GSD_OUR_NUMBERS};

/* Entries that a new file has room for. */
enum { FIRST_ROOM = 128 };

struct gsd_writer {
    gsd_content content;
    uint16_t number[FIRST_LOGGED + 1]; /* in the list of names */
    bool listed[FIRST_LOGGED];
    gsd_header header;    /* as it is in the file */
    uint64_t end;         /* of what has a place in the file */
    uint64_t index, room; /* where the entries go, and how many fit there */
    gsd_entry *entries;   /* [count] */
    uint64_t count, held; /* held: that there is memory for */
    uint64_t flushed;     /* of them, that readers see */
    uint64_t frame;       /* the next one */
    float box[6];         /* in frame 0 */
    int64_t *counts;      /* [species] in frame 0 */
    void *particles;      /* [capacity] numbers of a chunk, four for each */
    int64_t capacity;
};

/* Readers expect what has a name that begins with "log/" to be there. */
static void number_names(gsd_writer *g)
{
    const gsd_content *c = &g->content;
    const bool periodic = c->system->box.domain == PLUGMC_DOMAIN_PERIODIC;
    uint16_t next = 0;
    for (int i = 0; i < FIRST_LOGGED; i++) {
        g->listed[i] = true;
        if (i == SHAPES) g->listed[i] = c->shapes != NULL;
        if (i == ORIENTATION) g->listed[i] = c->turned;
        if (i == OUR_BOX) g->listed[i] = c->exact && periodic;
        if (i == OUR_POSITION) g->listed[i] = c->exact;
        if (i == OUR_ORIENTATION) g->listed[i] = c->exact && c->turned;
        if (i == OUR_NUMBER) g->listed[i] = c->numbered;
        g->number[i] = next;
        next = (uint16_t)(next + g->listed[i]);
    }
    g->number[FIRST_LOGGED] = next;
}

gsd_writer *gsd_writer_new(const gsd_content *content)
{
    gsd_writer *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    g->content = *content;
    g->counts = calloc((size_t)content->system->species_count + 1, sizeof *g->counts);
    number_names(g);
    if (g->counts) return g;
    gsd_writer_free(g);
    return NULL;
}

void gsd_writer_free(gsd_writer *g)
{
    if (!g) return;
    free(g->entries), free(g->counts), free(g->particles);
    free(g);
}

uint64_t gsd_writer_bytes(const gsd_writer *g) { return g->end; }

/* ---- Pieces of the file ----------------------------------------------------------------------- */

static int write_at(int fd, uint64_t at, const void *data, size_t bytes)
{
    for (const char *from = data; bytes;) {
        const ssize_t n = pwrite(fd, from, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n ? errno : ENOSPC;
        from += n, at += (uint64_t)n, bytes -= (size_t)n;
    }
    return 0;
}

static int read_at(int fd, uint64_t at, void *data, size_t bytes)
{
    for (char *to = data; bytes;) {
        const ssize_t n = pread(fd, to, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n ? errno : EBADMSG;
        to += n, at += (uint64_t)n, bytes -= (size_t)n;
    }
    return 0;
}

static int zeros_at(int fd, uint64_t at, size_t bytes)
{
    void *zeros = calloc(1, bytes);
    const int code = zeros ? write_at(fd, at, zeros, bytes) : ENOMEM;
    free(zeros);
    return code;
}

/* ---- The beginning ---------------------------------------------------------------------------- */

/* One behind the other, each with a final zero, up to a multiple of 64 bytes. */
static char *list_names(const gsd_writer *g, uint64_t *room)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return NULL;
    for (int i = 0; i < FIRST_LOGGED; i++)
        if (g->listed[i]) fwrite(names[i], 1, strlen(names[i]) + 1, out);
    for (int i = 0; i < g->content.logged; i++) {
        fprintf(out, "log/%s", g->content.names[i]);
        fputc(0, out);
    }
    const size_t used = (size_t)ftell(out);
    for (size_t k = used; k < used / GSD_NAME * GSD_NAME + GSD_NAME; k++) fputc(0, out);
    *room = used / GSD_NAME + 1;
    if (!fclose(out)) return text;
    free(text);
    return NULL;
}

int gsd_writer_begin(gsd_writer *g, int fd, const char *application)
{
    gsd_header *h = &g->header;
    *h = (gsd_header){.magic = GSD_MAGIC,
                      .name_location = sizeof *h,
                      .index_room = FIRST_ROOM,
                      .schema_version = GSD_SCHEMA_VERSION,
                      .version = GSD_VERSION,
                      .schema = "hoomd"};
    strncpy(h->application, application, sizeof h->application - 1);
    char *list = list_names(g, &h->name_room);
    if (!list) return ENOMEM;
    const size_t bytes = (size_t)h->name_room * GSD_NAME;
    h->index_location = h->name_location + bytes;
    g->index = h->index_location;
    g->room = h->index_room;
    g->end = g->index + g->room * sizeof *g->entries;
    int code = zeros_at(fd, g->index, g->room * sizeof *g->entries);
    if (!code) code = write_at(fd, h->name_location, list, bytes);
    if (!code) code = write_at(fd, 0, h, sizeof *h);
    free(list);
    return code;
}

/* ---- A file that is there --------------------------------------------------------------------- */

static const gsd_entry *entry_in_first(const gsd_writer *g, int name)
{
    for (uint64_t i = 0; i < g->count && g->entries[i].frame == 0; i++)
        if (g->entries[i].name == g->number[name]) return &g->entries[i];
    return NULL;
}

/* What later frames are compared with. */
static int read_first_frame(gsd_writer *g, int fd)
{
    const gsd_entry *box = entry_in_first(g, BOX), *type = entry_in_first(g, TYPE);
    const int32_t kinds = g->content.system->species_count;
    if (!g->count) return 0;
    if (!box || box->n != 6 || box->m != 1 || box->type != GSD_FLOAT || !type || type->m != 1 ||
        type->type != GSD_UINT32)
        return EBADMSG;
    int code = read_at(fd, (uint64_t)box->location, g->box, sizeof g->box);
    for (uint64_t i = 0; i < type->n && !code; i++) {
        uint32_t some[4096];
        const uint64_t n = type->n - i < 4096 ? type->n - i : 4096;
        code = read_at(fd, (uint64_t)type->location + i * sizeof *some, some, n * sizeof *some);
        for (uint64_t k = 0; k < n && !code; k++)
            if (some[k] < (uint32_t)kinds)
                g->counts[some[k]]++;
            else
                code = EBADMSG;
        i += n - 1;
    }
    return code;
}

/* A size of an array that lies inside the file, or EBADMSG. */
static int check_entry(const gsd_entry *e, uint64_t bytes, uint64_t *end)
{
    uint64_t size;
    if (e->location < 0 ||
        __builtin_mul_overflow(e->n, (uint64_t)e->m * gsd_size(e->type), &size) ||
        (uint64_t)e->location > bytes || size > bytes - (uint64_t)e->location)
        return EBADMSG;
    *end = (uint64_t)e->location + size;
    return 0;
}

/* The entries of the first `frames` frames that are whole: those that have the last of the chunks that all have. */
static void keep_frames(gsd_writer *g, uint64_t bytes, uint64_t frames)
{
    const int last = g->number[FIRST_LOGGED] + g->content.logged - 1;
    uint64_t whole = 0, end = g->index + g->room * sizeof *g->entries;
    if (g->header.name_location + g->header.name_room * GSD_NAME > end)
        end = g->header.name_location + g->header.name_room * GSD_NAME;
    g->end = end;
    for (uint64_t i = 0; i < g->room && g->entries[i].location; i++) {
        const gsd_entry *e = &g->entries[i];
        uint64_t there;
        if (e->frame >= frames || check_entry(e, bytes, &there)) break;
        if (e->frame != g->frame && e->frame != g->frame - 1) break;
        if (there > end) end = there;
        g->frame = e->frame + 1;
        if (e->name == last) whole = i + 1, g->end = end;
    }
    g->count = whole;
    g->frame = whole ? g->entries[whole - 1].frame + 1 : 0;
    memset(g->entries + whole, 0, (g->held - whole) * sizeof *g->entries);
}

static bool is_sound(const gsd_header *h, uint64_t bytes)
{
    return h->magic == GSD_MAGIC && h->version == GSD_VERSION &&
           h->schema_version == GSD_SCHEMA_VERSION && !strcmp(h->schema, "hoomd") &&
           h->name_location >= sizeof *h && h->name_location <= bytes &&
           h->name_room <= (bytes - h->name_location) / GSD_NAME && h->name_room &&
           h->index_location >= sizeof *h && h->index_location <= bytes && h->index_room &&
           h->index_room <= (bytes - h->index_location) / sizeof(gsd_entry);
}

/* Its names are those that this writer would give. */
static int check_names(const gsd_writer *g, int fd)
{
    uint64_t room;
    char *wanted = list_names(g, &room), *there = malloc((size_t)room * GSD_NAME);
    int code = wanted && there ? 0 : ENOMEM;
    if (!code && room != g->header.name_room) code = EBADMSG;
    if (!code) code = read_at(fd, g->header.name_location, there, (size_t)room * GSD_NAME);
    if (!code && memcmp(wanted, there, (size_t)room * GSD_NAME)) code = EBADMSG;
    free(wanted), free(there);
    return code;
}

int gsd_writer_open(gsd_writer *g, int fd, const char *application, int64_t frames, int64_t *kept)
{
    struct stat info;
    int code = fstat(fd, &info) ? errno : read_at(fd, 0, &g->header, sizeof g->header);
    g->header.application[sizeof g->header.application - 1] = 0;
    if (code == EBADMSG || (!code && strcmp(g->header.application, application))) code = EEXIST;
    if (!code && !is_sound(&g->header, (uint64_t)info.st_size)) code = EBADMSG;
    if (!code) code = check_names(g, fd);
    if (code) return code;
    g->index = g->header.index_location;
    g->room = g->held = g->header.index_room;
    free(g->entries);
    g->entries = malloc(g->held * sizeof *g->entries);
    if (!g->entries) return ENOMEM;
    code = read_at(fd, g->index, g->entries, g->room * sizeof *g->entries);
    if (code) return code;
    keep_frames(g, (uint64_t)info.st_size, (uint64_t)frames);
    *kept = (int64_t)g->frame;
    g->flushed = g->count;
    code = write_at(fd, g->index + g->count * sizeof *g->entries, g->entries + g->count,
                    (g->room - g->count) * sizeof *g->entries);
    if (!code && ftruncate(fd, (off_t)g->end)) code = errno;
    return code ? code : read_first_frame(g, fd);
}

/* ---- A frame ---------------------------------------------------------------------------------- */

/* An array [n][m]. */
static int put_chunk(gsd_writer *g, int fd, int name, uint8_t type, int64_t n, uint32_t m,
                     const void *data)
{
    const int number =
        name < FIRST_LOGGED ? g->number[name] : g->number[FIRST_LOGGED] + name - FIRST_LOGGED;
    const size_t bytes = (size_t)n * m * gsd_size(type);
    g->entries[g->count++] =
        (gsd_entry){g->frame, (uint64_t)n, (int64_t)g->end, m, (uint16_t)number, type, 0};
    const int code = write_at(fd, g->end, data, bytes);
    g->end += bytes;
    return code;
}

/* The lines of a text, one for each species, all as long as the longest one with its final zero. */
static int put_lines(gsd_writer *g, int fd, int name, const char *lines)
{
    const size_t kinds = (size_t)g->content.system->species_count;
    size_t longest = 0;
    for (const char *line = lines; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") + 1 > longest) longest = strcspn(line, "\n") + 1;
    char *all = calloc(kinds, longest + 1);
    if (!all) return ENOMEM;
    for (size_t s = 0; s < kinds && *lines; s++, lines += strcspn(lines, "\n") + 1)
        memcpy(all + s * longest, lines, strcspn(lines, "\n"));
    const int code = put_chunk(g, fd, name, GSD_INT8, (int64_t)kinds, (uint32_t)longest, all);
    free(all);
    return code;
}

static int put_types(gsd_writer *g, int fd)
{
    const plugmc_system *system = g->content.system;
    char *names_of_species = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&names_of_species, &bytes);
    if (!out) return ENOMEM;
    for (int32_t s = 0; s < system->species_count; s++)
        fprintf(out, "%s\n", plugmc_species_at(system, s)->name);
    int code = fclose(out) ? ENOMEM : put_lines(g, fd, TYPES, names_of_species);
    if (!code && g->listed[SHAPES]) code = put_lines(g, fd, SHAPES, g->content.shapes);
    free(names_of_species);
    return code;
}

/* Whether there are as many of each species as in frame 0, which it notes. */
static bool as_in_first(gsd_writer *g, const gsd_frame *f)
{
    const int32_t kinds = g->content.system->species_count;
    int64_t counts[kinds];
    memset(counts, 0, sizeof counts);
    for (int64_t i = 0; i < f->count; i++) counts[f->species[i]]++;
    const bool same = g->frame && !memcmp(counts, g->counts, sizeof counts);
    if (!g->frame) memcpy(g->counts, counts, sizeof counts);
    return same;
}

/* What particles have by their species, where it is not what readers take for it: no charge, diameter 1. */
static int put_by_species(gsd_writer *g, int fd, const gsd_frame *f, int name)
{
    float *values = g->particles;
    const plugmc_system *system = g->content.system;
    bool common = true;
    for (int32_t k = 0; k < system->species_count; k++) {
        const plugmc_species *species = plugmc_species_at(system, k);
        common = common && (name == CHARGE ? species->charge == 0 : species->diameter == 1);
    }
    if (common) return 0;
    for (int64_t i = 0; i < f->count; i++) {
        const plugmc_species *species = plugmc_species_at(system, f->species[i]);
        values[i] = (float)(name == CHARGE ? species->charge : species->diameter);
    }
    return put_chunk(g, fd, name, GSD_FLOAT, f->count, 1, values);
}

static int put_particles(gsd_writer *g, int fd, const gsd_frame *f)
{
    uint32_t *type = g->particles;
    if (as_in_first(g, f)) return 0;
    int code = put_chunk(g, fd, COUNT, GSD_UINT32, 1, 1, &(uint32_t){(uint32_t)f->count});
    if (!code && !g->frame) code = put_types(g, fd);
    for (int64_t i = 0; i < f->count; i++) type[i] = (uint32_t)f->species[i];
    if (!code) code = put_chunk(g, fd, TYPE, GSD_UINT32, f->count, 1, type);
    if (!code) code = put_by_species(g, fd, f, CHARGE);
    return code ? code : put_by_species(g, fd, f, DIAMETER);
}

/* Rounding may lead to the upper edge, which belongs to the next box. */
static int put_positions(gsd_writer *g, int fd, const gsd_frame *f, const gsd_box *box)
{
    float *to = g->particles;
    const bool edges = f->box->domain == PLUGMC_DOMAIN_PERIODIC && !f->box->oblique;
    for (int64_t i = 0; i < 3 * f->count; i++) {
        const double *r = &f->positions[i / 3 * 3], *axis = box->axis[i % 3];
        const float length = (float)box->size[i % 3];
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += (r[k] - box->centre[k]) * axis[k];
        to[i] = (float)sum;
        if (edges && length > 0 && to[i] >= 0.5f * length) to[i] -= length;
    }
    return put_chunk(g, fd, POSITION, GSD_FLOAT, f->count, 3, to);
}

/* Unit quaternions w, x, y, z. */
static int put_orientations(gsd_writer *g, int fd, const gsd_frame *f)
{
    float *to = g->particles;
    if (!g->listed[ORIENTATION]) return 0;
    for (int64_t i = 0; i < f->count; i++) {
        double q[4];
        quaternion_of(&f->orientations[i], q);
        const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int k = 0; k < 4; k++) to[4 * i + k] = (float)(length > 0 ? q[k] / length : k == 0);
    }
    return put_chunk(g, fd, ORIENTATION, GSD_FLOAT, f->count, 4, to);
}

static int put_ours(gsd_writer *g, int fd, const gsd_frame *f)
{
    uint32_t *number = g->particles;
    int code = 0;
    if (g->listed[OUR_BOX]) code = put_chunk(g, fd, OUR_BOX, GSD_DOUBLE, 3, 3, f->box->vector);
    if (!code && g->listed[OUR_POSITION])
        code = put_chunk(g, fd, OUR_POSITION, GSD_DOUBLE, f->count, 3, f->positions);
    if (!code && g->listed[OUR_ORIENTATION])
        code = put_chunk(g, fd, OUR_ORIENTATION, GSD_INT32, f->count, 4, f->orientations);
    if (code || !g->listed[OUR_NUMBER]) return code;
    for (int64_t i = 0; i < f->count; i++) number[i] = (uint32_t)f->number[i];
    return put_chunk(g, fd, OUR_NUMBER, GSD_UINT32, f->count, 1, number);
}

static int put_configuration(gsd_writer *g, int fd, const gsd_frame *f, const gsd_box *box)
{
    float size[6];
    for (int k = 0; k < 6; k++) size[k] = (float)box->size[k];
    int code = put_chunk(g, fd, STEP, GSD_UINT64, 1, 1, &f->sweep);
    if (!code && !g->frame)
        code =
            put_chunk(g, fd, DIMENSIONS, GSD_UINT8, 1, 1, &(uint8_t){(uint8_t)f->box->dimension});
    if (!code && (!g->frame || memcmp(size, g->box, sizeof size)))
        code = put_chunk(g, fd, BOX, GSD_FLOAT, 6, 1, size);
    if (!g->frame) memcpy(g->box, size, sizeof size);
    return code;
}

/* Memory for the entries of another frame and for a chunk of it; a place for these entries in the file. */
static int make_room(gsd_writer *g, int64_t particles)
{
    const uint64_t most = g->count + FIRST_LOGGED + (uint64_t)g->content.logged;
    if (particles > g->capacity || !g->particles) {
        void *more = realloc(g->particles, 4 * sizeof(float) * ((size_t)particles + 1));
        if (!more) return ENOMEM;
        g->particles = more;
        g->capacity = particles;
    }
    if (most > g->held) {
        gsd_entry *more = realloc(g->entries, 2 * most * sizeof *more);
        if (!more) return ENOMEM;
        memset(more + g->held, 0, (2 * most - g->held) * sizeof *more);
        g->entries = more;
        g->held = 2 * most;
    }
    if (most <= g->room) return 0;
    while (g->room < most) g->room *= 2;
    g->index = g->end;
    g->end += g->room * sizeof *g->entries;
    return 0;
}

int gsd_writer_put(gsd_writer *g, int fd, const gsd_frame *f)
{
    const gsd_writer before = *g;
    const gsd_box box = gsd_box_of(f->box, g->content.largest_diameter);
    int code = make_room(g, f->count);
    if (!code) code = put_configuration(g, fd, f, &box);
    if (!code) code = put_particles(g, fd, f);
    if (!code) code = put_positions(g, fd, f, &box);
    if (!code) code = put_orientations(g, fd, f);
    if (!code) code = put_ours(g, fd, f);
    for (int i = 0; i < g->content.logged && !code; i++)
        code = put_chunk(g, fd, FIRST_LOGGED + i, GSD_DOUBLE, 1, 1, &f->logged[i]);
    if (!code) {
        g->frame++;
        return 0;
    }
    g->count = before.count;
    g->end = before.end;
    g->index = before.index;
    g->room = before.room;
    return code;
}

int gsd_writer_flush(gsd_writer *g, int fd)
{
    const bool moves = g->index != g->header.index_location;
    const uint64_t first = moves ? 0 : g->flushed;
    int code = 0;
    if (moves)
        code = zeros_at(fd, g->index + g->count * sizeof *g->entries,
                        (g->room - g->count) * sizeof *g->entries);
    if (!code && g->count > first)
        code = write_at(fd, g->index + first * sizeof *g->entries, g->entries + first,
                        (g->count - first) * sizeof *g->entries);
    if (code) return code;
    if (moves) { /* in one write: readers find the old index or the new one */
        gsd_header next = g->header;
        next.index_location = g->index;
        next.index_room = g->room;
        code = write_at(fd, 0, &next, sizeof next);
        if (code) return code;
        g->header = next;
    }
    g->flushed = g->count;
    return 0;
}
