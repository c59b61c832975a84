/* Reading a frame of an H5MD file, of a run's or of another program: see h5md.c for the layout. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/parts.h"
#include "base/rehearsal.h"

/* Which row of the elements is read: those that are written as often as places have a row of the same time. */
typedef struct moment {
    int64_t which; /* as formats/frame.h counts them */
    int64_t rows;  /* of places; 0: not known yet */
    int64_t row;
} moment;

/* The row of an element with `rows` of them; -1 with a failure. */
static int64_t row_of(store *s, const char *name, moment *m, int64_t rows)
{
    char why[FRAME_WHY];
    if (!m->rows) {
        m->rows = rows;
        m->row = frame_number(m->which, rows, why);
        if (m->row < 0) store_fail(s, "%s", why);
        return m->row;
    }
    if (rows == m->rows) return m->row;
    if (m->row == m->rows - 1 && rows > 0) return rows - 1;
    store_fail(s,
               "its '%s' has %lld frames, its positions have %lld, so it is not clear which "
               "belong together",
               name, (long long)rows, (long long)m->rows);
    return -1;
}

/* A row of an element that changes in time (name/value [T][...]), or a fixed array (name [...]), as `type`; rank and
 * shape without T. */
static void *read_element(store *s, hid_t group, const char *name, enum store_type type, moment *m,
                          int *rank, hsize_t shape[2])
{
    char value[64];
    snprintf(value, sizeof value, "%s/value", name);
    bool there = store_has(s, group, name);
    hid_t object = there ? H5Oopen(group, name, H5P_DEFAULT) : -1;
    bool in_time = object >= 0 && H5Iget_type(object) == H5I_GROUP;
    if (object >= 0) H5Oclose(object);
    if (object < 0) {
        store_fail(s, "it has no readable '%s'", name);
        return NULL;
    }
    hid_t array = store_open_array(s, group, in_time ? value : name);
    const int64_t rows = in_time ? store_count_rows(s, array) : 1;
    if (!s->failed && in_time && !rows) store_fail(s, "it has no frame");
    int64_t row = -1;
    if (!s->failed && (in_time || !m->rows)) row = row_of(s, name, m, rows);
    void *data = store_get_row(s, array, name, type, in_time ? row : -1, rank, shape);
    store_leave_array(s, array);
    return data;
}

/* One number a particle. */
static void *read_numbers(store *s, hid_t group, const char *name, enum store_type type, moment *m,
                          int64_t count)
{
    int rank;
    hsize_t shape[2];
    void *numbers = read_element(s, group, name, type, m, &rank, shape);
    if (!s->failed && (rank != 1 || shape[0] != (hsize_t)count))
        store_fail(s, "its '%s' is not one number a particle", name);
    return numbers;
}

/* particles/trajectory, or the only group there. */
static hid_t enter_particles(store *s)
{
    if (store_has(s, s->file, "particles/trajectory"))
        return store_enter(s, s->file, "particles/trajectory");
    hid_t particles = store_enter(s, s->file, "particles");
    H5G_info_t info = {0};
    char name[256] = "";
    if (!s->failed && (H5Gget_info(particles, &info) < 0 || info.nlinks != 1))
        store_fail(s, "it has %d groups below 'particles' and none is called 'trajectory'",
                   (int)info.nlinks);
    if (!s->failed && H5Lget_name_by_idx(particles, ".", H5_INDEX_NAME, H5_ITER_INC, 0, name,
                                         sizeof name, H5P_DEFAULT) < 0)
        store_fail(s, "its group 'particles' cannot be read");
    hid_t group = store_enter(s, particles, name);
    store_leave(s, particles);
    return group;
}

/* Lengths of edges, or vectors as rows. */
static void read_edges(store *s, hid_t group, moment *m, double edges[3][3])
{
    int rank;
    hsize_t shape[2];
    double *found = read_element(s, group, "box/edges", STORE_DOUBLE, m, &rank, shape);
    for (int i = 0; i < 9; i++) edges[i / 3][i % 3] = 0;
    if (!s->failed && (shape[0] < 2 || shape[0] > 3 || (rank == 2 && shape[1] != shape[0])))
        store_fail(s, "its box has %d dimensions", (int)shape[0]);
    for (hsize_t i = 0; !s->failed && i < shape[0] * shape[1]; i++)
        edges[i / shape[1]][rank == 1 ? i : i % shape[1]] = found[i];
    if (!s->failed && shape[0] == 2) edges[2][2] = 1;
    free(found);
}

/* Directions in which the box has walls or no end. */
static void read_boundary(store *s, hid_t group, file_frame *out)
{
    int count, width;
    hid_t box = s->failed ? -1 : H5Oopen(group, "box", H5P_DEFAULT);
    if (box < 0) return;
    char *words = store_get_labels(s, box, "boundary", &count, &width);
    for (int d = 0; words && d < count && d < 3; d++)
        out->open[d] = !strncmp(words + (size_t)d * (size_t)width, "none", (size_t)width);
    free(words);
    H5Oclose(box);
}

static double *read_positions(store *s, hid_t group, moment *m, int64_t *count)
{
    int rank;
    hsize_t shape[2];
    double *found = read_element(s, group, "position", STORE_DOUBLE, m, &rank, shape);
    if (!s->failed && (rank != 2 || shape[1] < 2 || shape[1] > 3 || shape[0] == 0))
        store_fail(s, "its positions are not those of particles in 2 or 3 dimensions");
    double *positions = s->failed ? NULL : calloc(shape[0], 3 * sizeof *positions);
    if (!s->failed && !positions) store_short(s);
    for (hsize_t i = 0; positions && i < shape[0]; i++)
        for (hsize_t d = 0; d < shape[1]; d++) positions[3 * i + d] = found[shape[1] * i + d];
    if (positions) *count = (int64_t)shape[0];
    free(found);
    return positions;
}

/* Particles that a frame does not have, with an id of -1, get no place (NaN). Of frames that do not change in
 * number all are there. */
static void take_absent_away(store *s, hid_t group, moment *m, int64_t count, double *positions)
{
    if (s->failed || !store_has(s, group, "id") || !store_is_group(s, group, "id")) return;
    int32_t *id = read_numbers(s, group, "id", STORE_INT32, m, count);
    for (int64_t i = 0; i < count && !s->failed; i++)
        if (id[i] == -1) positions[3 * i] = positions[3 * i + 1] = positions[3 * i + 2] = NAN;
    free(id);
}

/* Quaternions, of files that say what their components are; NULL: there are none. */
static double *read_orientations(store *s, hid_t group, moment *m, int64_t count)
{
    if (s->failed || !store_has(s, group, "orientation") ||
        !store_is_group(s, group, "orientation"))
        return NULL;
    hid_t element = store_enter(s, group, "orientation");
    char *components = s->failed ? NULL : store_get_label(s, element, "components");
    const bool known = components && !strcmp(components, ORIENTATION_COMPONENTS);
    int rank;
    hsize_t shape[2];
    free(components);
    store_leave(s, element);
    if (s->failed || !known) return NULL;
    double *found = read_element(s, group, "orientation", STORE_DOUBLE, m, &rank, shape);
    if (!s->failed && (rank != 2 || shape[0] != (hsize_t)count || shape[1] != 4))
        store_fail(s, "its 'orientation' is not four numbers a particle");
    return found;
}

/* ---- Species --------------------------------------------------------------------------------- */

static const char *const elements[FRAME_PROPERTIES] = {
    [FRAME_CHARGE] = "charge", [FRAME_MASS] = "mass", [FRAME_DIAMETER] = "diameter"};
/* What plugmc writes once for each species where numbers of particles change. */
static const char *const of_species[FRAME_PROPERTIES] = {
    [FRAME_CHARGE] = "charges", [FRAME_DIAMETER] = "diameters"};

/* The names of species that plugmc writes beside their numbers. */
static void read_labels(store *s, hid_t species, file_frame *out)
{
    int count, width;
    char *names = store_get_labels(s, species, "names", &count, &width);
    if (!names || s->failed) return;
    out->name = calloc((size_t)count, sizeof *out->name);
    if (!out->name) store_short(s);
    for (int k = 0; k < count && out->name && !s->failed; k++) {
        out->name[k] = strndup(names + (size_t)k * (size_t)width, (size_t)width);
        if (out->name[k])
            out->names++;
        else
            store_short(s);
    }
    free(names);
}

/* Those of H5MD itself, where species are an enumeration; its values become their places among the names. */
static bool read_members(store *s, hid_t array, int64_t count, int32_t *kinds, file_frame *out)
{
    char **names;
    int members;
    int32_t *values = store_get_members(s, array, &members, &names);
    for (int64_t i = 0; values && i < count && !s->failed; i++) {
        int k = 0;
        while (k < members && values[k] != kinds[i]) k++;
        if (k == members) store_fail(s, "its enumeration of species has no name for %d", kinds[i]);
        kinds[i] = k;
    }
    if (values && !out->name) {
        out->name = names;
        out->names = members;
    } else {
        for (int k = 0; k < members; k++) free(names[k]);
        free(names);
    }
    free(values);
    return values != NULL;
}

/* In an element that changes in time they may be at the group or at what is in it. */
static void read_names(store *s, hid_t group, hid_t species, int64_t count, int32_t *kinds,
                       file_frame *out)
{
    const bool in_time = store_is_group(s, group, "species");
    hid_t array = store_open_array(s, group, in_time ? "species/value" : "species");
    if (!s->failed && !read_members(s, array, count, kinds, out) && !out->name) {
        read_labels(s, species, out);
        if (!out->name) read_labels(s, array, out);
    }
    store_leave_array(s, array);
}

/* One number a particle from one number a species. */
static double *by_species(store *s, hid_t species, const char *name, const int32_t *kinds,
                          int64_t count)
{
    int known = 0;
    double *numbers = store_get_numbers(s, species, name, &known);
    double *out = numbers ? malloc((size_t)count * sizeof *out) : NULL;
    if (numbers && !out) store_short(s);
    for (int64_t i = 0; i < count && out; i++)
        out[i] = kinds[i] >= 0 && kinds[i] < known ? numbers[kinds[i]] : NAN;
    free(numbers);
    return out;
}

/* ---- Walkers --------------------------------------------------------------------------------- */

/* What is read of one walker; NULL: the file does not have it. */
typedef struct one_walker {
    double *positions, *orientations, *property[FRAME_PROPERTIES];
    int32_t *species;
} one_walker;

static void free_walker(one_walker *w)
{
    free(w->positions), free(w->orientations), free(w->species);
    for (int k = 0; k < FRAME_PROPERTIES; k++) free(w->property[k]);
}

static void read_species(store *s, hid_t group, moment *m, int64_t count, one_walker *w,
                         file_frame *out)
{
    if (s->failed || !store_has(s, group, "species")) return;
    w->species = read_numbers(s, group, "species", STORE_INT32, m, count);
    hid_t species = s->failed ? -1 : H5Oopen(group, "species", H5P_DEFAULT);
    if (species < 0) return;
    read_names(s, group, species, count, w->species, out);
    for (int k = 0; k < FRAME_PROPERTIES && !s->failed; k++)
        if (of_species[k])
            w->property[k] = by_species(s, species, of_species[k], w->species, count);
    H5Oclose(species);
}

static void read_walker(store *s, hid_t group, moment *m, int64_t *count, one_walker *w,
                        file_frame *out)
{
    w->positions = read_positions(s, group, m, count);
    w->orientations = read_orientations(s, group, m, *count);
    read_species(s, group, m, *count, w, out);
    for (int k = 0; k < FRAME_PROPERTIES && !s->failed; k++)
        if (!w->property[k] && store_has(s, group, elements[k]))
            w->property[k] = read_numbers(s, group, elements[k], STORE_DOUBLE, m, *count);
    if (!s->failed) take_absent_away(s, group, m, *count, w->positions);
}

/* Behind what there is of `walkers` others; what this one does not have is as in the first. */
static void append(store *s, void **all, void *more, size_t bytes, int32_t walkers)
{
    if (s->failed || (walkers && !*all)) return;
    const void *from = more ? more : *all;
    if (!from) return;
    char *longer = realloc(*all, bytes * ((size_t)walkers + 1));
    if (!longer) {
        store_short(s);
        return;
    }
    memcpy(longer + bytes * (size_t)walkers, more ? more : longer, bytes);
    *all = longer;
}

static void add_walker(store *s, hid_t group, moment *m, file_frame *out)
{
    one_walker w = {0};
    int64_t count = 0;
    read_walker(s, group, m, &count, &w, out);
    if (!s->failed && out->walkers && count != out->count)
        store_fail(s, "its walkers have different numbers of particles");
    const size_t n = (size_t)count;
    append(s, (void **)&out->positions, w.positions, 3 * n * sizeof(double), out->walkers);
    append(s, (void **)&out->orientations, w.orientations, 4 * n * sizeof(double), out->walkers);
    append(s, (void **)&out->species, w.species, n * sizeof(int32_t), out->walkers);
    for (int k = 0; k < FRAME_PROPERTIES; k++)
        append(s, (void **)&out->property[k], w.property[k], n * sizeof(double), out->walkers);
    if (!s->failed && store_has(s, group, "box/edges")) {
        double edges[3][3];
        read_edges(s, group, m, edges);
        read_boundary(s, group, out);
        if (out->boxes == out->walkers) {
            append(s, (void **)&out->box, edges, sizeof edges, out->walkers);
            out->boxes += !s->failed;
        }
    }
    out->count = count;
    out->walkers += !s->failed;
    free_walker(&w);
}

void h5md_read(store *s, const char *path, int most, int64_t which, file_frame *out)
{
    *out = (file_frame){0};
    moment m = {.which = which};
    int fd = store_open_path(s, path);
    const bool frames = !s->failed && store_has(s, s->file, "particles");
    if (!s->failed && !frames && store_has(s, s->file, "plugmc/checkpoint/species"))
        last_state_read(s, most, which, out);
    else if (!s->failed && !frames)
        store_fail(s, "it has no group 'particles', so it is not an H5MD file");
    hid_t group = s->failed || !frames ? -1 : enter_particles(s);
    while (group >= 0 && !s->failed) {
        char next[16 + H5MD_NAME] = "particles/";
        add_walker(s, group, &m, out);
        store_leave(s, group);
        group = -1;
        h5md_walker_name(out->walkers, next + strlen(next));
        if (s->failed || out->walkers >= most || !store_has(s, s->file, next)) break;
        group = store_enter(s, s->file, next);
    }
    if (group >= 0) store_leave(s, group);
    if (frames && out->boxes < out->walkers)
        out->boxes = out->boxes > 0; /* that of the first for all */
    int failed = store_close(s);
    if (fd >= 0) close(fd);
    if (failed) frame_free(out);
}

int h5md_read_frame(const char *path, int most, int64_t which, file_frame *out, report *r)
{
    store s = {.reading = true};
    char detail[48];
    findings found = {0};
    *out = (file_frame){0};
    snprintf(detail, sizeof detail, "%d %lld", most, (long long)which);
    int code = rehearse("positions", path, detail, EXIT_INPUT, &found, s.reason);
    if (!code && found.data && !frame_unpack(out, found.data, found.bytes))
        store_short(&s);
    else if (!code && !found.data)
        h5md_read(&s, path, most, which, out);
    if (!code && s.failed) code = s.memory_short ? EXIT_MEMORY : EXIT_INPUT;
    free(found.data);
    if (!code) return EXIT_DONE;
    frame_free(out);
    return report_error(r, code, NULL, 0, "cannot read positions from %s: %s", path, s.reason);
}
