/* Frames of GSD files: see gsd.h for the layout.
 *
 * Nothing in the file is believed: places and sizes are compared with its length before anything is read or memory is
 * taken, so that a damaged file costs no more than it is long. */
#include "formats/gsd.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "formats/frame.h"
#include "formats/orientations.h"

typedef struct gsd_reader {
    char *path;
    report *report;
    file_frame *out;
    int fd;
    uint64_t bytes; /* of the file */
    gsd_header header;
    char *names;      /* [name_room][64] and a zero */
    gsd_entry *index; /* [entries] */
    uint64_t entries;
    bool sorted;     /* entries are in the order of their frames */
    uint64_t frames; /* that it has */
    uint64_t frame;  /* the one that is read */
    uint64_t n;      /* particles in it */
    int code;        /* of what went wrong; then nothing more is read */
} gsd;

#define refuse(g, ...)                                                                             \
    ((g)->code = report_error((g)->report, EXIT_INPUT, (g)->path, 0, __VA_ARGS__))

size_t gsd_size(uint8_t type)
{
    static const uint8_t sizes[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1};
    return type < sizeof sizes ? sizes[type] : 0;
}

gsd_box gsd_box_of(const plugmc_box *box, double largest_diameter)
{
    gsd_box out = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    double along[3][3] = {{0}}; /* vector d along axis e */
    if (box->domain == PLUGMC_DOMAIN_SPHERE) {
        for (int d = 0; d < box->dimension; d++) out.size[d] = 2 * box->radius + largest_diameter;
        return out;
    }
    for (int d = 0; d < 3; d++) {
        double *axis = out.axis[d], square = 0;
        if (!box->oblique) {
            along[d][d] = box->length[d];
        } else { /* what is perpendicular to the vectors before it */
            memcpy(axis, box->vector[d], sizeof out.axis[d]);
            for (int e = 0; e < d; e++) {
                for (int k = 0; k < 3; k++) along[d][e] += axis[k] * out.axis[e][k];
                for (int k = 0; k < 3; k++) axis[k] -= along[d][e] * out.axis[e][k];
            }
            for (int k = 0; k < 3; k++) square += axis[k] * axis[k];
            along[d][d] = sqrt(square);
            for (int k = 0; k < 3; k++) axis[k] /= along[d][d];
        }
        out.size[d] = d < box->dimension ? along[d][d] : 0;
        for (int k = 0; k < 3 && d < box->dimension; k++) out.centre[k] += 0.5 * box->vector[d][k];
    }
    out.size[3] = along[1][0] / along[1][1];
    out.size[4] = along[2][0] / along[2][2];
    out.size[5] = along[2][1] / along[2][2];
    return out;
}

/* ---- Pieces of the file --------------------------------------------------------------------- */

/* `bytes` bytes from `location` on; false with a sentence. */
static bool read_at(gsd *g, void *to, uint64_t location, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        const ssize_t got = pread(g->fd, (char *)to + done, bytes - done, (off_t)(location + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return refuse(g, "cannot be read: %s", got ? strerror(errno) : "it has become shorter"),
                   false;
        done += (uint64_t)got;
    }
    return true;
}

static bool lies_inside(const gsd *g, uint64_t location, uint64_t n, uint64_t size)
{
    uint64_t bytes;
    return !__builtin_mul_overflow(n, size, &bytes) && location <= g->bytes &&
           bytes <= g->bytes - location;
}

/* A piece of [n] times `size` bytes, and a zero byte behind it; NULL with a sentence about `what`. */
static void *read_piece(gsd *g, const char *what, uint64_t location, uint64_t n, uint64_t size)
{
    if (!lies_inside(g, location, n, size)) {
        refuse(g, "its %s would not lie inside the file: it is truncated or damaged", what);
        return NULL;
    }
    char *piece = malloc(n * size + 1);
    if (!piece)
        g->code = report_error(g->report, EXIT_MEMORY, g->path, 0, "not enough memory to read it");
    else
        piece[n * size] = 0;
    if (piece && read_at(g, piece, location, n * size)) return piece;
    free(piece);
    return NULL;
}

/* ---- Header, names and index ---------------------------------------------------------------- */

static void read_header(gsd *g)
{
    gsd_header *h = &g->header;
    if (g->bytes < sizeof *h) {
        refuse(g, "it is no GSD file: it has %llu bytes, its header alone would have 256",
               (unsigned long long)g->bytes);
        return;
    }
    if (!read_at(g, h, 0, sizeof *h)) return;
    if (h->magic != GSD_MAGIC)
        refuse(g, "it is no GSD file: it does not begin as they do");
    else if (h->version >> 16 != 1 && h->version >> 16 != 2)
        refuse(g, "it is of version %u.%u of GSD, plugmc reads 1 and 2", h->version >> 16,
               h->version & 0xffff);
    else if (strncmp(h->schema, "hoomd", sizeof h->schema))
        refuse(g, "its content is not of HOOMD's schema");
    else if (h->schema_version >> 16 != 1 && h->schema_version >> 16 != 2)
        refuse(g, "it is of version %u.%u of HOOMD's schema, plugmc reads 1 and 2",
               h->schema_version >> 16, h->schema_version & 0xffff);
}

static void read_index(gsd *g)
{
    const gsd_header *h = &g->header;
    uint64_t last = 0;
    g->names = read_piece(g, "list of names", h->name_location, h->name_room, GSD_NAME);
    if (g->names)
        g->index = read_piece(g, "index", h->index_location, h->index_room, sizeof *g->index);
    if (!g->index) return;
    g->sorted = true;
    while (g->entries < h->index_room && g->index[g->entries].location) {
        const uint64_t frame = g->index[g->entries++].frame;
        if (frame < last) g->sorted = false;
        if (frame > last) last = frame;
    }
    if (!g->entries)
        refuse(g, "it has no frame");
    else if (last >= INT64_MAX)
        refuse(g, "its index is damaged");
    else
        g->frames = last + 1;
}

static void choose_frame(gsd *g, int64_t which)
{
    char why[FRAME_WHY];
    const int64_t frame = frame_number(which, (int64_t)g->frames, why);
    if (frame < 0)
        refuse(g, "%s", why);
    else
        g->frame = (uint64_t)frame;
}

/* The number of a name; -1 if the file has not got it. */
static int number_of(const gsd *g, const char *name)
{
    const uint64_t room = g->header.name_room * GSD_NAME;
    const bool packed = g->header.version >> 16 == 2;
    int number = 0;
    for (uint64_t at = 0; at < room && g->names[at]; number++) {
        const size_t length = strlen(g->names + at);
        if (length == strlen(name) && !strcmp(g->names + at, name)) return number;
        at += packed ? length + 1 : GSD_NAME;
    }
    return -1;
}

static const gsd_entry *entry_of(const gsd *g, const char *name, uint64_t frame)
{
    const int number = number_of(g, name);
    uint64_t first = 0, end = g->entries; /* where entries of the frame may be */
    for (uint64_t above = g->entries; g->sorted && first < above;) {
        const uint64_t middle = first + (above - first) / 2;
        if (g->index[middle].frame < frame)
            first = middle + 1;
        else
            above = middle;
    }
    if (g->sorted)
        for (end = first; end < g->entries && g->index[end].frame == frame;) end++;
    for (uint64_t i = end; i-- > first;)
        if (g->index[i].name == number && g->index[i].frame == frame) return &g->index[i];
    return NULL;
}

/* ---- Chunks --------------------------------------------------------------------------------- */

/* Of the frame that is read, or of frame 0, [*n][*m], of one of two types. NULL if there is none, or with a sentence (g->code). */
static void *read_chunk(gsd *g, const char *name, uint8_t *type, uint8_t other, uint64_t *n,
                        uint32_t *m)
{
    const gsd_entry *entry = g->code ? NULL : entry_of(g, name, g->frame);
    if (!entry && !g->code) entry = entry_of(g, name, 0);
    if (!entry) return NULL;
    if (entry->type == other) *type = other;
    if (entry->type != *type) {
        refuse(g, "the numbers in its '%s' are not of the kind that they have in HOOMD's schema",
               name);
        return NULL;
    }
    if (entry->location < 0 || !entry->m) {
        refuse(g, "the entry of its '%s' is damaged", name);
        return NULL;
    }
    *n = entry->n;
    *m = entry->m;
    const uint64_t row = (uint64_t)entry->m * gsd_size(*type);
    char what[64];
    snprintf(what, sizeof what, "'%s'", name);
    return read_piece(g, what, (uint64_t)entry->location, entry->n, row);
}

/* Of this shape, as from frame 0 only if that has as many particles. */
static void *read_either(gsd *g, const char *name, uint8_t *type, uint8_t other, uint64_t n,
                         uint32_t m)
{
    uint64_t rows;
    uint32_t columns;
    const bool own = !g->code && entry_of(g, name, g->frame);
    void *chunk = read_chunk(g, name, type, other, &rows, &columns);
    if (!chunk || (rows == n && columns == m)) return chunk;
    free(chunk);
    if (own || columns != m)
        refuse(g, "its '%s' is an array of %llu times %u numbers, not of %llu times %u", name,
               (unsigned long long)rows, columns, (unsigned long long)n, m);
    return NULL;
}

static void *read_shaped(gsd *g, const char *name, uint8_t type, uint64_t n, uint32_t m)
{
    return read_either(g, name, &type, type, n, m);
}

static void *no_memory(gsd *g)
{
    g->code = report_error(g->report, EXIT_MEMORY, g->path, 0, "not enough memory to read it");
    return NULL;
}

/* Reals, which version 2 of the schema lets be of either kind, as double; NULL: there are none, or a sentence. */
static double *read_reals(gsd *g, const char *name, uint64_t n, uint32_t m)
{
    const uint8_t other = g->header.schema_version >> 16 == 2 ? GSD_DOUBLE : GSD_FLOAT;
    uint8_t type = GSD_FLOAT;
    void *chunk = read_either(g, name, &type, other, n, m);
    if (!chunk || type == GSD_DOUBLE) return chunk;
    double *reals = malloc((n * m + 1) * sizeof *reals);
    if (!reals) no_memory(g);
    for (uint64_t i = 0; i < n * m && reals; i++) reals[i] = ((float *)chunk)[i];
    free(chunk);
    return reals;
}

static void read_count(gsd *g)
{
    uint32_t *count = read_shaped(g, "particles/N", GSD_UINT32, 1, 1);
    if (count) g->n = *count;
    if (!count && !g->code) refuse(g, "it does not say how many particles there are");
    free(count);
}

/* ---- The box -------------------------------------------------------------------------------- */

void gsd_vectors(const double size[6], double out[3][3])
{
    const double vectors[3][3] = {{size[0], 0, 0},
                                  {size[3] * size[1], size[1], 0},
                                  {size[4] * size[2], size[5] * size[2], size[2]}};
    memcpy(out, vectors, sizeof vectors);
}

/* Ours is in the axes of the run that wrote it; whoever has changed HOOMD's and kept ours contradicts himself. */
static void take_our_box(gsd *g)
{
    double *ours = read_shaped(g, GSD_OUR_BOX, GSD_DOUBLE, 3, 3);
    double(*to)[3] = g->out->box[0], own[3][3];
    if (!ours) return;
    plugmc_box box = {.dimension = g->out->dimension, .oblique = 1};
    memcpy(box.vector, ours, sizeof box.vector);
    const gsd_box same = gsd_box_of(&box, 0);
    gsd_vectors(same.size, own);
    for (int d = 0; d < box.dimension && !g->code; d++)
        for (int e = 0; e <= d && !g->code; e++)
            if (!(fabs(own[d][e] - to[d][e]) <= 4e-6 * (fabs(to[d][d]) + fabs(to[d][e]))))
                refuse(g, "its 'configuration/box' and its '" GSD_OUR_BOX
                          "' differ: take the latter out if the box was changed");
    if (!g->code) memcpy(to, ours, (size_t)box.dimension * sizeof *to);
    free(ours);
}

static void read_box(gsd *g)
{
    double *size = read_reals(g, "configuration/box", 6, 1);
    if (!size && !g->code) refuse(g, "it has no box");
    uint8_t *given = read_shaped(g, "configuration/dimensions", GSD_UINT8, 1, 1);
    g->out->box = calloc(1, sizeof *g->out->box);
    g->out->boxes = 1;
    g->out->centred = true;
    if (!g->out->box && !g->code) no_memory(g);
    if (!g->code) {
        g->out->dimension = given ? *given : size[2] == 0 ? 2 : 3;
        if (g->out->dimension != 2 && g->out->dimension != 3)
            refuse(g, "it is in %d dimensions", g->out->dimension);
        gsd_vectors(size, g->out->box[0]);
        for (int k = 0; k < 6 && !g->code; k++)
            if (!isfinite(size[k])) refuse(g, "its box is not finite");
        if (g->out->dimension == 2) g->out->box[0][2][2] = 1;
    }
    if (!g->code) take_our_box(g);
    free(size);
    free(given);
}

/* ---- Particles ------------------------------------------------------------------------------ */

/* The names of types; as the schema has it, A where there are none. */
static void read_names(gsd *g)
{
    uint64_t types = 0;
    uint32_t width = 0;
    uint8_t type = GSD_INT8;
    char *names = read_chunk(g, "particles/types", &type, GSD_CHARACTER, &types, &width);
    if (g->code) return;
    if (types > INT32_MAX) refuse(g, "its 'particles/types' is damaged");
    if (!names) types = 1;
    g->out->name = g->code ? NULL : calloc(types + 1, sizeof *g->out->name);
    if (!g->code && !g->out->name) no_memory(g);
    for (uint64_t t = 0; t < types && !g->code; t++) {
        g->out->name[t] = names ? strndup(names + t * width, width) : strdup("A");
        if (!g->out->name[t])
            no_memory(g);
        else
            g->out->names = (int32_t)(t + 1);
    }
    free(names);
}

/* Type 0 where the file has none, which a list of names without one does not have either. */
static void read_species(gsd *g)
{
    const uint64_t types = (uint64_t)g->out->names;
    uint32_t *type = read_shaped(g, "particles/typeid", GSD_UINT32, g->n, 1);
    int32_t *species = g->out->species = g->code ? NULL : calloc(g->n + 1, sizeof *species);
    if (!g->code && !species) no_memory(g);
    for (uint64_t i = 0; i < g->n && !g->code; i++) {
        const uint32_t own = type ? type[i] : 0;
        if (own >= types)
            refuse(g, "particle %llu is of type %u, but there are %llu", (unsigned long long)i, own,
                   (unsigned long long)types);
        else
            species[i] = (int32_t)own;
    }
    free(type);
}

/* In the axes of HOOMD; in double and in ours beside them where they are there. */
static void read_places(gsd *g)
{
    double *found = g->out->positions = read_reals(g, "particles/position", g->n, 3);
    if (!found && !g->code && g->n) refuse(g, "it has no positions");
    for (uint64_t i = 0; i < 3 * g->n && !g->code; i++)
        if (!isfinite(found[i]))
            refuse(g, "the position of particle %llu is not finite", (unsigned long long)(i / 3));
    g->out->exact = read_shaped(g, GSD_OUR_POSITIONS, GSD_DOUBLE, g->n, 3);
    if (!found && !g->code && !(g->out->positions = calloc(1, sizeof *found))) no_memory(g);
}

/* Frames without one of these have what the schema says, which nobody has meant. */
static void read_properties(gsd *g)
{
    static const char *const names[FRAME_PROPERTIES] = {[FRAME_CHARGE] = "particles/charge",
                                                        [FRAME_MASS] = "particles/mass",
                                                        [FRAME_DIAMETER] = "particles/diameter"};
    for (int k = 0; k < FRAME_PROPERTIES; k++)
        g->out->property[k] = g->code ? NULL : read_reals(g, names[k], g->n, 1);
}

/* Ours are exact; whoever has turned HOOMD's and kept ours contradicts himself. Both are the same but for rounding. */
static void take_our_orientations(gsd *g, const double *theirs)
{
    int32_t(*ours)[4] = read_shaped(g, GSD_OUR_ORIENTATIONS, GSD_INT32, g->n, 4);
    double *out = ours ? malloc((4 * g->n + 1) * sizeof *out) : NULL;
    if (ours && !out) no_memory(g);
    for (uint64_t i = 0; i < g->n && out && !g->code; i++) {
        const double *q = out + 4 * i, *other = theirs ? theirs + 4 * i : q;
        quaternion_of((const plugmc_orientation *)ours[i], out + 4 * i);
        if (!same_orientation(q, other))
            refuse(g,
                   "the orientations of particle %llu in its 'particles/orientation' and in its "
                   "'" GSD_OUR_ORIENTATIONS
                   "' differ: take the latter out if particles were turned",
                   (unsigned long long)i);
    }
    g->out->orientations = out;
    free(ours);
}

static void read_orientations(gsd *g)
{
    double *theirs = read_reals(g, "particles/orientation", g->n, 4);
    if (!g->code) take_our_orientations(g, theirs);
    if (g->out->orientations)
        free(theirs);
    else
        g->out->orientations = theirs;
}

/* Only files of runs in which particles come and go have them. */
static void read_numbers(gsd *g)
{
    uint32_t *found = read_shaped(g, GSD_OUR_NUMBERS, GSD_UINT32, g->n, 1);
    g->out->number = found;
}

/* ---- A file ----------------------------------------------------------------------------------- */

int gsd_open(const char *path, gsd_reader **out, report *report)
{
    const char *why;
    struct stat info;
    gsd *g = *out = calloc(1, sizeof *g);
    if (g) *g = (gsd){.path = strdup(path), .report = report, .fd = -1};
    if (!g || !g->path) {
        gsd_close(g);
        *out = NULL;
        return report_error(report, EXIT_MEMORY, path, 0, "not enough memory to read it");
    }
    g->fd = open_regular(path, &why);
    if (g->fd < 0)
        refuse(g, "cannot be opened: %s", why);
    else if (fstat(g->fd, &info))
        refuse(g, "cannot be read: %s", strerror(errno));
    else
        g->bytes = (uint64_t)info.st_size;
    if (!g->code) read_header(g);
    if (!g->code) read_index(g);
    const int code = g->code;
    if (code) gsd_close(g), *out = NULL;
    return code;
}

void gsd_close(gsd_reader *g)
{
    if (!g) return;
    if (g->fd >= 0) close(g->fd);
    free(g->path), free(g->names), free(g->index);
    free(g);
}

int64_t gsd_frames(const gsd_reader *g) { return (int64_t)g->frames; }

int gsd_step(gsd_reader *g, int64_t frame, int64_t *step)
{
    g->frame = (uint64_t)frame;
    uint64_t *found = read_shaped(g, "configuration/step", GSD_UINT64, 1, 1);
    *step = found ? (int64_t)*found : 0;
    free(found);
    return g->code;
}

int gsd_frame_read(gsd_reader *g, int64_t which, file_frame *out, report *report)
{
    struct report *const before = g->report;
    g->report = report;
    g->out = out;
    g->n = 0;
    g->code = 0;
    *out = (file_frame){.walkers = 1};
    choose_frame(g, which);
    if (!g->code) read_box(g);
    if (!g->code) read_count(g);
    if (!g->code) read_places(g);
    if (!g->code) read_names(g);
    if (!g->code) read_species(g);
    if (!g->code) read_properties(g);
    if (!g->code) read_numbers(g);
    if (!g->code) read_orientations(g);
    out->count = (int64_t)g->n;
    const int code = g->code;
    if (code) frame_free(out);
    g->report = before;
    g->code = 0;
    return code;
}

int gsd_read(const char *path, int64_t which, file_frame *out, report *report)
{
    gsd_reader *g;
    *out = (file_frame){.walkers = 1};
    int code = gsd_open(path, &g, report);
    if (code) return code;
    code = gsd_frame_read(g, which, out, report);
    gsd_close(g);
    return code;
}
