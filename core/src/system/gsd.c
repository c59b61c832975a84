/* The last frame of a GSD file as an initial state: see gsd.h for the layout.
 *
 * Nothing in the file is believed: places and sizes are compared with its length before anything is read or memory is
 * taken, so that a damaged file costs no more than it is long. */
#include "system/gsd.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "system/initial.h"

typedef struct gsd {
    const char *path;
    const plugmc_system *system;
    report *report;
    int fd;
    uint64_t bytes; /* of the file */
    gsd_header header;
    char *names;      /* [name_room][64] and a zero */
    gsd_entry *index; /* [entries] */
    uint64_t entries;
    uint64_t frame; /* the last one */
    uint64_t n;     /* particles in it */
    int code;       /* of what went wrong; then nothing more is read */
} gsd;

#define refuse(g, ...)                                                                             \
    ((g)->code = report_error((g)->report, EXIT_INPUT, (g)->path, 0, __VA_ARGS__))

size_t gsd_size(uint8_t type)
{
    static const uint8_t sizes[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
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
    else if (strncmp(h->schema, "hoomd", sizeof h->schema) || h->schema_version >> 16 != 1)
        refuse(g, "its content is not of HOOMD's schema, version 1");
}

static void read_index(gsd *g)
{
    const gsd_header *h = &g->header;
    g->names = read_piece(g, "list of names", h->name_location, h->name_room, GSD_NAME);
    if (g->names)
        g->index = read_piece(g, "index", h->index_location, h->index_room, sizeof *g->index);
    if (!g->index) return;
    while (g->entries < h->index_room && g->index[g->entries].location) {
        const uint64_t frame = g->index[g->entries++].frame;
        if (frame > g->frame) g->frame = frame;
    }
    if (!g->entries) refuse(g, "it has no frame");
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
    for (uint64_t i = g->entries; i-- > 0;)
        if (g->index[i].name == number && g->index[i].frame == frame) return &g->index[i];
    return NULL;
}

/* ---- Chunks --------------------------------------------------------------------------------- */

/* Of the last frame, or of frame 0, [*n][*m]. NULL if there is none, or with a sentence (g->code). */
static void *read_chunk(gsd *g, const char *name, uint8_t type, uint64_t *n, uint32_t *m)
{
    const gsd_entry *entry = g->code ? NULL : entry_of(g, name, g->frame);
    if (!entry && !g->code) entry = entry_of(g, name, 0);
    if (!entry) return NULL;
    if (entry->type != type) {
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
    const uint64_t row = (uint64_t)entry->m * gsd_size(type);
    char what[64];
    snprintf(what, sizeof what, "'%s'", name);
    return read_piece(g, what, (uint64_t)entry->location, entry->n, row);
}

/* Of this shape, as from frame 0 only if that has as many particles. */
static void *read_shaped(gsd *g, const char *name, uint8_t type, uint64_t n, uint32_t m)
{
    uint64_t rows;
    uint32_t columns;
    const bool own = !g->code && entry_of(g, name, g->frame);
    void *chunk = read_chunk(g, name, type, &rows, &columns);
    if (!chunk || (rows == n && columns == m)) return chunk;
    free(chunk);
    if (own || columns != m)
        refuse(g, "its '%s' is an array of %llu times %u numbers, not of %llu times %u", name,
               (unsigned long long)rows, columns, (unsigned long long)n, m);
    return NULL;
}

static void read_count(gsd *g)
{
    uint32_t *count = read_shaped(g, "particles/N", GSD_UINT32, 1, 1);
    if (count) g->n = *count;
    if (!count && !g->code) refuse(g, "it does not say how many particles there are");
    free(count);
}

/* ---- The box -------------------------------------------------------------------------------- */

static void check_dimension(gsd *g, const float box[6])
{
    const int own = g->system->box.dimension;
    uint8_t *given = read_shaped(g, "configuration/dimensions", GSD_UINT8, 1, 1);
    const int found = given ? *given : box[2] == 0 ? 2 : 3;
    free(given);
    if (!g->code && found != own) refuse(g, "it is in %d dimensions, the run in %d", found, own);
}

/* Lengths to six digits, tilts likewise; in a sphere the box says nothing. */
static void check_box(gsd *g)
{
    const plugmc_box *box = &g->system->box;
    float *found = read_shaped(g, "configuration/box", GSD_FLOAT, 6, 1);
    if (!found && !g->code) refuse(g, "it has no box");
    if (found) check_dimension(g, found);
    const gsd_box own = gsd_box_of(box, 0);
    for (int d = 0; d < box->dimension && !g->code; d++)
        if (box->domain == PLUGMC_DOMAIN_PERIODIC &&
            !(fabs(found[d] - own.size[d]) <= 1e-6 * own.size[d]))
            refuse(g, "the file's box is L%c = %.10g, the run's %.10g", "xyz"[d], found[d],
                   own.size[d]);
    for (int k = 3; k < (box->dimension == 2 ? 4 : 6) && !g->code; k++)
        if (box->domain == PLUGMC_DOMAIN_PERIODIC &&
            !(fabs(found[k] - own.size[k]) <= 1e-6 * (1 + fabs(own.size[k]))))
            refuse(g, "the file's box has the tilt %s = %.7g, the run's %.7g",
                   (const char *[]){"xy", "xz", "yz"}[k - 3], found[k], own.size[k]);
    free(found);
}

/* ---- Particles ------------------------------------------------------------------------------ */

/* The species of each type, -1 where the run has none of its name; [*types], NULL with a sentence. */
static int32_t *match_types(gsd *g, uint64_t *types, char **names, uint32_t *width)
{
    *names = read_chunk(g, "particles/types", GSD_INT8, types, width);
    if (g->code) return NULL;
    if (!*names) { /* as the schema has it */
        *names = checked(strdup("A"));
        *types = *width = 1;
    }
    int32_t *kinds = checked(malloc((*types + 1) * sizeof *kinds));
    for (uint64_t t = 0; t < *types; t++) {
        const char *name = *names + t * *width;
        const size_t length = strnlen(name, *width);
        kinds[t] = -1;
        for (int32_t s = 0; s < g->system->species_count; s++) {
            const char *own = plugmc_species_at(g->system, s)->name;
            if (strlen(own) == length && !memcmp(own, name, length)) kinds[t] = s;
        }
    }
    return kinds;
}

/* [n], to be freed; NULL with a sentence. */
static int32_t *read_species(gsd *g)
{
    uint64_t types = 0;
    uint32_t width = 0;
    char *names = NULL;
    int32_t *kinds = match_types(g, &types, &names, &width);
    uint32_t *type = read_shaped(g, "particles/typeid", GSD_UINT32, g->n, 1);
    int32_t *species = g->code ? NULL : malloc((g->n + 1) * sizeof *species);
    if (!g->code && !species)
        g->code = report_error(g->report, EXIT_MEMORY, g->path, 0, "not enough memory to read it");
    for (uint64_t i = 0; i < g->n && !g->code; i++) {
        const uint32_t t = type ? type[i] : 0;
        if (t >= types)
            refuse(g, "particle %llu is of type %u, but there are %llu", (unsigned long long)i, t,
                   (unsigned long long)types);
        else if (kinds[t] < 0)
            refuse(g, "the run has no species '%.*s'", (int)(width < 80 ? width : 80),
                   names + (uint64_t)t * width);
        else
            species[i] = kinds[t];
    }
    free(names);
    free(kinds);
    free(type);
    if (!g->code) return species;
    free(species);
    return NULL;
}

static void check_charges(gsd *g, const int32_t *species)
{
    float *charge = read_shaped(g, "particles/charge", GSD_FLOAT, g->n, 1);
    for (uint64_t i = 0; i < g->n && charge && !g->code; i++) {
        const plugmc_species *own = plugmc_species_at(g->system, species[i]);
        if (!(fabs(charge[i] - own->charge) <= 1e-6 * fmax(1, fabs(own->charge))))
            refuse(g, "the charge of particle %llu is %g, that of species %s in the run is %g",
                   (unsigned long long)i, charge[i], own->name, own->charge);
    }
    free(charge);
}

/* Positions in double have to be those in float, but for what lies between: whoever has moved particles by another
 * program means the latter. Places differ by whole boxes at most. */
static void check_doubles(gsd *g, const double *ours, const double *floats)
{
    const plugmc_box *box = &g->system->box;
    for (uint64_t i = 0; i < g->n && !g->code; i++) {
        double square = 0, scale = 0, r[3];
        for (int d = 0; d < 3; d++) {
            r[d] = ours[3 * i + d] - floats[3 * i + d];
            scale = fmax(scale, fmax(box->length[d], fabs(floats[3 * i + d])));
        }
        if (box->domain == PLUGMC_DOMAIN_PERIODIC) {
            double f[3];
            for (int d = 0; d < 3; d++) {
                f[d] = r[0] * box->inverse[0][d] + r[1] * box->inverse[1][d] +
                       r[2] * box->inverse[2][d];
                if (d < box->dimension) f[d] -= rint(f[d]);
            }
            for (int d = 0; d < 3; d++)
                r[d] =
                    f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
        }
        for (int d = 0; d < 3; d++) square += r[d] * r[d];
        if (far_away(box, &floats[3 * i]) || !(sqrt(square) <= 4e-6 * scale))
            refuse(g,
                   "the places of particle %llu in its 'particles/position' and in its "
                   "'" GSD_OUR_POSITIONS "' differ: take the latter out if particles were moved",
                   (unsigned long long)i);
    }
}

/* [n][3] in our axes, not wrapped; in double where they are there. NULL with a sentence. */
static double *read_places(gsd *g)
{
    const gsd_box box = gsd_box_of(&g->system->box, 0);
    float *found = read_shaped(g, "particles/position", GSD_FLOAT, g->n, 3);
    if (!found && !g->code && g->n) refuse(g, "it has no positions");
    double *places = g->code ? NULL : malloc((3 * g->n + 1) * sizeof *places);
    if (!g->code && !places)
        g->code = report_error(g->report, EXIT_MEMORY, g->path, 0, "not enough memory to read it");
    for (uint64_t i = 0; i < 3 * g->n && !g->code; i++) {
        const float *p = found + i / 3 * 3;
        const int d = (int)(i % 3);
        places[i] =
            box.centre[d] + p[0] * box.axis[0][d] + p[1] * box.axis[1][d] + p[2] * box.axis[2][d];
        if (!isfinite(places[i]))
            refuse(g, "the position of particle %llu is not finite", (unsigned long long)(i / 3));
    }
    double *ours = read_shaped(g, GSD_OUR_POSITIONS, GSD_DOUBLE, g->n, 3);
    if (ours) check_doubles(g, ours, places);
    free(found);
    if (!g->code && !ours) return places;
    free(places);
    if (!g->code) return ours;
    free(ours);
    return NULL;
}

int gsd_read(const char *path, const plugmc_system *system, int64_t *count, double **positions,
             int32_t **species, report *report)
{
    gsd g = {.path = path, .system = system, .report = report};
    const char *why;
    struct stat info;
    *positions = NULL;
    *species = NULL;
    g.fd = open_regular(path, &why);
    if (g.fd < 0) return refuse(&g, "cannot be opened: %s", why);
    if (fstat(g.fd, &info))
        refuse(&g, "cannot be read: %s", strerror(errno));
    else
        g.bytes = (uint64_t)info.st_size;
    if (!g.code) read_header(&g);
    if (!g.code) read_index(&g);
    if (!g.code) check_box(&g);
    if (!g.code) read_count(&g);
    if (!g.code) *positions = read_places(&g);
    if (!g.code) *species = read_species(&g);
    if (!g.code) check_charges(&g, *species);
    *count = (int64_t)g.n;
    close(g.fd);
    free(g.names);
    free(g.index);
    if (!g.code) return EXIT_DONE;
    free(*positions);
    free(*species);
    *positions = NULL;
    *species = NULL;
    return g.code;
}
