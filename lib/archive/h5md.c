/* The trajectory in H5MD 1.1: P. de Buyl, P. H. Colberg, F. Hoefling, Comput. Phys. Commun. 185,
 * 1546 (2014), https://www.nongnu.org/h5md/h5md.html.
 *
 * Walker 0 is particles/trajectory, the name that MDAnalysis looks for, walker w > 0 is
 * particles/trajectory_w. Always three-dimensional, as readers expect. What all walkers share
 * (box, species, steps) is in the file once and linked. There are no units.
 *
 * Where numbers of particles change, rows are as long as the largest number that there may be, and grow with it. In
 * each frame those that are there stand first, in the order of their numbers; behind them id and species are -1, the
 * fill value of H5MD, and places 0. `count` says how many there are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parts.h"
#include "archive/rehearsal_child.h"

/* ---- Writing -------------------------------------------------------------------------------- */

/* "NAME <MAIL>" as the two attributes of H5MD. */
static void write_author(store *s, hid_t h5md, const char *author)
{
    hid_t group = store_group(s, h5md, "author");
    const char *open = author ? strchr(author, '<') : NULL,
               *close = open ? strchr(open, '>') : NULL;
    size_t length = open && close ? (size_t)(open - author) : author ? strlen(author) : 0;
    while (length && author[length - 1] == ' ') length--;
    char *name = strndup(author ? author : "", length);
    char *mail = close ? strndup(open + 1, (size_t)(close - open - 1)) : NULL;
    if (!name || (close && !mail)) store_fail(s, "there is not enough memory");
    store_label(s, group, "name", name && *name ? name : "not given");
    if (mail) store_label(s, group, "email", mail);
    free(name), free(mail);
    store_leave(s, group);
}

void h5md_write_header(store *s, const output_data *data)
{
    hid_t h5md = store_group(s, s->file, "h5md");
    store_attributes(s, h5md, "version", STORE_INT, 2, (int[]){1, 1});
    write_author(s, h5md, data->author);
    hid_t creator = store_group(s, h5md, "creator");
    store_label(s, creator, "name", "plugmc");
    store_label(s, creator, "version", PLUGMC_VERSION);
    store_leave(s, creator);
    store_leave(s, h5md);
}

static bool numbers_change(const output_data *data)
{
    return data->system->changes & PLUGMC_CHANGED_COUNT;
}

/* Arrays of a frame in which numbers change, [particles] each. */
typedef struct packed {
    int64_t count;
    int32_t *id, *species;
    double *places; /* [particles][3] */
} packed;

static bool packed_make(store *s, packed *p, int64_t particles)
{
    const size_t n = (size_t)particles;
    *p = (packed){0, malloc(n * sizeof *p->id), malloc(n * sizeof *p->species),
                  malloc(3 * n * sizeof *p->places)};
    if (!p->id || !p->species || !p->places) store_short(s);
    return !s->failed;
}

static void packed_free(packed *p) { free(p->id), free(p->species), free(p->places); }

/* Those that are there first. A rehearsal knows of no species. */
static void pack(packed *p, const plugmc_system *system, const double *places)
{
    int32_t kind = 0;
    p->count = 0;
    for (int64_t i = 0; i < system->particles; i++) {
        while (kind < system->species_count && i >= system->first[kind + 1]) kind++;
        if (isnan(places[3 * i])) continue;
        p->id[p->count] = (int32_t)i;
        p->species[p->count] = kind;
        memcpy(&p->places[3 * p->count++], &places[3 * i], 3 * sizeof *places);
    }
    for (int64_t k = p->count; k < system->particles; k++) {
        p->id[k] = p->species[k] = -1;
        p->places[3 * k] = p->places[3 * k + 1] = p->places[3 * k + 2] = 0;
    }
}

static void walker_name(int walker, char name[32])
{
    if (walker)
        snprintf(name, 32, "trajectory_%d", walker);
    else
        strcpy(name, "trajectory");
}

/* Beside the numbers of species in `species`: attribute names, in the order of these numbers. */
static void write_species_names(store *s, hid_t species, const plugmc_system *system)
{
    enum { LONGEST = 64 };
    char(*names)[LONGEST] = calloc((size_t)system->species_count, sizeof *names);
    if (!names) {
        store_short(s);
        return;
    }
    for (int k = 0; k < system->species_count; k++)
        snprintf(names[k], LONGEST, "%s", plugmc_species_at(system, k)->name);
    store_labels(s, species, "names", system->species_count, LONGEST, names);
    free(names);
}

/* One value a particle, the same in all frames. */
static void write_properties(store *s, hid_t group, const output_data *data)
{
    const plugmc_system *system = data->system;
    hsize_t n = (hsize_t)system->particles;
    int32_t *species = malloc(n * sizeof *species), *id = malloc(n * sizeof *id);
    double *charge = malloc(n * sizeof *charge), *diameter = malloc(n * sizeof *diameter);
    if (!species || !id || !charge || !diameter) {
        store_short(s);
    } else {
        for (int32_t kind = 0; kind < system->species_count; kind++)
            for (int64_t i = system->first[kind]; i < system->first[kind + 1]; i++) {
                species[i] = kind;
                id[i] = (int32_t)i;
                charge[i] = plugmc_species_at(system, kind)->charge;
                diameter[i] = plugmc_species_at(system, kind)->diameter;
            }
        store_array(s, group, "species", STORE_INT32, 1, &n, species);
        hid_t kinds = store_open_array(s, group, "species");
        write_species_names(s, kinds, system);
        store_leave_array(s, kinds);
        store_array(s, group, "id", STORE_INT32, 1, &n, id);
        store_array(s, group, "charge", STORE_DOUBLE, 1, &n, charge);
        store_array(s, group, "diameter", STORE_DOUBLE, 1, &n, diameter);
        hid_t array = store_open_array(s, group, "charge");
        store_label(s, array, "type", "effective");
        store_leave_array(s, array);
    }
    if (system->molecule) store_array(s, group, "molecule", STORE_INT32, 1, &n, system->molecule);
    free(species), free(id), free(charge), free(diameter);
}

/* "periodic" or "none" for each direction, as an array of texts of fixed length. */
static void write_boundary(store *s, hid_t box, const plugmc_box *system)
{
    char boundary[3][9] = {"none", "none", "none"};
    for (int d = 0; d < system->dimension; d++)
        if (system->domain == PLUGMC_DOMAIN_PERIODIC) strcpy(boundary[d], "periodic");
    store_labels(s, box, "boundary", 3, sizeof boundary[0], boundary);
    store_attribute(s, box, "dimension", STORE_INT, &(int){3});
}

/* Steps and times of position, and links to them in box/edges. */
static void write_steps(store *s, hid_t position, hid_t edges, const output_data *data,
                        int64_t before)
{
    hsize_t shape[1] = {(hsize_t)(before + data->frame_count)};
    hid_t step = store_grow(s, position, "step", STORE_INT64, 1, shape, (hsize_t)before);
    hid_t time = store_grow(s, position, "time", STORE_DOUBLE, 1, shape, (hsize_t)before);
    for (int f = 0; f < data->frame_count; f++) {
        int64_t sweep = (int64_t)data->frames[f].sweep;
        hsize_t row = (hsize_t)(before + f);
        store_rows(s, step, STORE_INT64, row, 1, &sweep);
        store_rows(s, time, STORE_DOUBLE, row, 1, &(double){(double)sweep});
    }
    store_leave_array(s, step);
    store_leave_array(s, time);
    if (before > 0) return;
    store_link(s, position, "step", edges, "step");
    store_link(s, position, "time", edges, "time");
}

/* The lengths of the edges; of an oblique box its vectors as rows. */
static void write_edges(store *s, hid_t edges, const output_data *data, int walker, int64_t before)
{
    const bool oblique = data->system->box.oblique;
    hsize_t shape[3] = {(hsize_t)(before + data->frame_count), 3, 3};
    hid_t value =
        store_grow(s, edges, "value", STORE_DOUBLE, oblique ? 3 : 2, shape, (hsize_t)before);
    for (int f = 0; f < data->frame_count; f++) {
        const plugmc_box *boxes = data->frames[f].boxes,
                         *box = boxes ? &boxes[walker] : &data->system->box;
        store_rows(s, value, STORE_DOUBLE, (hsize_t)(before + f), 1,
                   oblique ? box->vector[0] : box->length);
    }
    store_leave_array(s, value);
}

/* Frames in which numbers change: an element of H5MD each. */
typedef struct varying {
    hid_t id, species, count;
} varying;

static const char *const varying_names[] = {"id", "species", "count"};

/* Charges and diameters of species, as attributes of `species`. */
static void write_of_species(store *s, hid_t element, const plugmc_system *system)
{
    const int n = system->species_count;
    double *values = malloc(((size_t)n + 1) * sizeof *values);
    if (!values) {
        store_short(s);
        return;
    }
    write_species_names(s, element, system);
    for (int k = 0; k < n; k++) values[k] = plugmc_species_at(system, k)->charge;
    store_attributes(s, element, "charges", STORE_DOUBLE, n, values);
    for (int k = 0; k < n; k++) values[k] = plugmc_species_at(system, k)->diameter;
    store_attributes(s, element, "diameters", STORE_DOUBLE, n, values);
    free(values);
}

static void write_varying(store *s, hid_t group, hid_t position, const output_data *data,
                          int walker, int64_t before)
{
    const int64_t particles = data->system->particles;
    hsize_t shape[3] = {(hsize_t)(before + data->frame_count), (hsize_t)particles, 3};
    hid_t element[3], value[3];
    packed p;
    if (!packed_make(s, &p, particles)) {
        packed_free(&p);
        return;
    }
    hid_t places = store_grow(s, position, "value", STORE_DOUBLE, 3, shape, (hsize_t)before);
    for (int k = 0; k < 3; k++) {
        element[k] = store_group(s, group, varying_names[k]);
        value[k] = store_grow(s, element[k], "value", k < 2 ? STORE_INT32 : STORE_INT64,
                              k < 2 ? 2 : 1, shape, (hsize_t)before);
    }
    for (int f = 0; f < data->frame_count; f++) {
        const hsize_t row = (hsize_t)(before + f);
        pack(&p, data->system, data->frames[f].positions + walker * particles * 3);
        store_rows(s, places, STORE_DOUBLE, row, 1, p.places);
        store_rows(s, value[0], STORE_INT32, row, 1, p.id);
        store_rows(s, value[1], STORE_INT32, row, 1, p.species);
        store_rows(s, value[2], STORE_INT64, row, 1, &p.count);
    }
    store_leave_array(s, places);
    if (before == 0) write_of_species(s, element[1], data->system);
    for (int k = 0; k < 3; k++) {
        store_leave_array(s, value[k]);
        if (before == 0) {
            store_link(s, position, "step", element[k], "step");
            store_link(s, position, "time", element[k], "time");
        }
        store_leave(s, element[k]);
    }
    packed_free(&p);
}

static void write_positions(store *s, hid_t position, const output_data *data, int walker,
                            int64_t before)
{
    int64_t particles = data->system->particles;
    hsize_t shape[3] = {(hsize_t)(before + data->frame_count), (hsize_t)particles, 3};
    hid_t value = store_grow(s, position, "value", STORE_DOUBLE, 3, shape, (hsize_t)before);
    for (int f = 0; f < data->frame_count; f++)
        store_rows(s, value, STORE_DOUBLE, (hsize_t)(before + f), 1,
                   data->frames[f].positions + walker * particles * 3);
    store_leave_array(s, value);
}

/* Places, and where numbers change who is there. */
static void write_places(store *s, hid_t group, hid_t position, const output_data *data, int walker,
                         int64_t before)
{
    if (numbers_change(data))
        write_varying(s, group, position, data, walker, before);
    else
        write_positions(s, position, data, walker, before);
}

static void write_first_walker(store *s, hid_t group, const output_data *data, int64_t before)
{
    hid_t position = store_group(s, group, "position"), box = store_group(s, group, "box");
    hid_t edges = store_group(s, box, "edges");
    if (before == 0) {
        if (!numbers_change(data)) write_properties(s, group, data);
        write_boundary(s, box, &data->system->box);
        if (data->trajectory_note) store_label(s, group, "note", data->trajectory_note);
        if (data->system->box.dimension == 2)
            store_label(s, group, "two_dimensional",
                        "z is 0, and the edge of the box along z has no meaning");
    }
    write_steps(s, position, edges, data, before);
    write_edges(s, edges, data, 0, before);
    write_places(s, group, position, data, 0, before);
    store_leave(s, edges);
    store_leave(s, box);
    store_leave(s, position);
}

/* The box of a walker that is not the first one, where boxes change. */
static void write_own_box(store *s, hid_t group, hid_t position, const output_data *data,
                          int walker, int64_t before)
{
    hid_t box = store_group(s, group, "box"), edges = store_group(s, box, "edges");
    if (before == 0) {
        write_boundary(s, box, &data->system->box);
        store_link(s, position, "step", edges, "step");
        store_link(s, position, "time", edges, "time");
    }
    write_edges(s, edges, data, walker, before);
    store_leave(s, edges);
    store_leave(s, box);
}

static void write_other_walker(store *s, hid_t group, hid_t first, const output_data *data,
                               int walker, int64_t before)
{
    static const char *const shared[] = {"species", "charge", "diameter", "id"};
    const size_t shares = numbers_change(data) ? 0 : 4;
    const bool own_box = data->frames[0].boxes != NULL;
    hid_t position = store_group(s, group, "position");
    if (before == 0) {
        for (size_t i = 0; i < shares; i++) store_link(s, first, shared[i], group, shared[i]);
        store_link(s, first, "position/step", position, "step");
        store_link(s, first, "position/time", position, "time");
        if (!own_box) store_link(s, first, "box", group, "box");
        if (data->system->molecule) store_link(s, first, "molecule", group, "molecule");
    }
    if (own_box) write_own_box(s, group, position, data, walker, before);
    write_places(s, group, position, data, walker, before);
    store_leave(s, position);
}

void h5md_write_frames(store *s, const output_data *data, int64_t before)
{
    if (data->frame_count == 0) return;
    hid_t particles = store_group(s, s->file, "particles");
    hid_t first = store_group(s, particles, "trajectory");
    write_first_walker(s, first, data, before);
    for (int walker = 1; walker < data->system->walkers; walker++) {
        char name[32];
        walker_name(walker, name);
        hid_t group = store_group(s, particles, name);
        write_other_walker(s, group, first, data, walker, before);
        store_leave(s, group);
    }
    store_leave(s, first);
    store_leave(s, particles);
}

/* ---- Reading the last frame ----------------------------------------------------------------- */

/* Last row of an array that changes in time (name/value [T][...]), or a fixed array (name [...]),
 * as `type`; rank and shape without T. */
static void *last_row(store *s, hid_t group, const char *name, enum store_type type, int *rank,
                      hsize_t shape[2])
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
    void *data = store_get_last_row(s, array, name, type, in_time, rank, shape);
    store_leave_array(s, array);
    return data;
}

/* particles/trajectory, or the only group there. */
static hid_t enter_particles(store *s)
{
    if (!store_has(s, s->file, "particles")) {
        store_fail(s, "it has no group 'particles', so it is not an H5MD file");
        return -1;
    }
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
static void read_edges(store *s, hid_t group, double edges[3][3])
{
    int rank;
    hsize_t shape[2];
    for (int i = 0; i < 9; i++) edges[i / 3][i % 3] = 0;
    if (!store_has(s, group, "box/edges")) return;
    double *found = last_row(s, group, "box/edges", STORE_DOUBLE, &rank, shape);
    if (!s->failed && (shape[0] < 2 || shape[0] > 3 || (rank == 2 && shape[1] != shape[0])))
        store_fail(s, "its box has %d dimensions", (int)shape[0]);
    for (hsize_t i = 0; !s->failed && i < shape[0] * shape[1]; i++)
        edges[i / shape[1]][rank == 1 ? i : i % shape[1]] = found[i];
    if (!s->failed && shape[0] == 2) edges[2][2] = 1;
    free(found);
}

static double *read_positions(store *s, hid_t group, int64_t *count)
{
    int rank;
    hsize_t shape[2];
    double *found = last_row(s, group, "position", STORE_DOUBLE, &rank, shape);
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
static void take_absent_away(store *s, hid_t group, int64_t count, double *positions)
{
    int rank;
    hsize_t shape[2];
    if (s->failed || !store_has(s, group, "id") || !store_is_group(s, group, "id")) return;
    int32_t *id = last_row(s, group, "id", STORE_INT32, &rank, shape);
    if (!s->failed && (rank != 1 || shape[0] != (hsize_t)count))
        store_fail(s, "its ids are not one number a particle");
    for (int64_t i = 0; i < count && !s->failed; i++)
        if (id[i] == -1) positions[3 * i] = positions[3 * i + 1] = positions[3 * i + 2] = NAN;
    free(id);
}

static int32_t *read_species(store *s, hid_t group, int64_t count)
{
    if (s->failed) return NULL;
    if (!store_has(s, group, "species")) {
        int32_t *zero = calloc((size_t)count, sizeof *zero);
        if (!zero) store_short(s);
        return zero;
    }
    int rank;
    hsize_t shape[2];
    int32_t *species = last_row(s, group, "species", STORE_INT32, &rank, shape);
    if (!s->failed && (rank != 1 || shape[0] != (hsize_t)count))
        store_fail(s, "its species are not one number a particle");
    return species;
}

/* Positions and species of one walker; what was there of an array is replaced by a longer one. */
static void append(store *s, void **all, size_t before, void *more, size_t bytes)
{
    char *longer = s->failed ? NULL : realloc(*all, before + bytes);
    if (!s->failed && !longer) store_short(s);
    if (longer) {
        memcpy(longer + before, more, bytes);
        *all = longer;
    }
    free(more);
}

/* [walkers][count][3] and [walkers][count]: of the first walker and those after it, as many as there are up to
 * `most`. A walker whose group says no species has those of the first. */
static double *read_walkers(store *s, hid_t first, int most, int *walkers, int64_t *count,
                            int32_t **species)
{
    double *positions = read_positions(s, first, count);
    *species = read_species(s, first, *count);
    take_absent_away(s, first, *count, positions);
    for (*walkers = 1; *walkers < most; ++*walkers) {
        char path[48] = "particles/";
        int64_t own = 0;
        walker_name(*walkers, path + strlen(path));
        if (!store_has(s, s->file, path)) break;
        hid_t group = store_enter(s, s->file, path);
        double *more = read_positions(s, group, &own);
        if (more && own != *count) store_fail(s, "its walkers have different numbers of particles");
        const bool named = !s->failed && store_has(s, group, "species");
        int32_t *kinds = read_species(s, group, *count);
        take_absent_away(s, group, *count, more);
        store_leave(s, group);
        const size_t n = (size_t)*count, w = (size_t)*walkers;
        if (kinds && !named) memcpy(kinds, *species, n * sizeof *kinds);
        append(s, (void **)&positions, 3 * n * w * sizeof *more, more, 3 * n * sizeof *more);
        append(s, (void **)species, n * w * sizeof *kinds, kinds, n * sizeof *kinds);
        if (s->failed) break;
    }
    return positions;
}

void h5md_read(store *s, const char *path, int most, int *walkers, int64_t *count,
               double **positions, int32_t **species, double edges[3][3])
{
    *positions = NULL;
    *species = NULL;
    int fd = store_open_path(s, path);
    hid_t group = s->failed ? -1 : enter_particles(s);
    if (group >= 0) {
        *positions = read_walkers(s, group, most, walkers, count, species);
        read_edges(s, group, edges);
        store_leave(s, group);
    }
    int failed = store_close(s);
    if (fd >= 0) close(fd);
    if (!failed) return;
    free(*positions);
    free(*species);
    *positions = NULL;
    *species = NULL;
}

/* What a child has read, as h5md_read gives it. */
static void unpack(store *s, const findings *found, int *walkers, int64_t *count,
                   double **positions, int32_t **species, double edges[3][3])
{
    found_positions head;
    memcpy(&head, found->data, sizeof head);
    const char *from = found->data + sizeof head;
    const size_t n = (size_t)head.count * (size_t)head.walkers, numbers = 3 * n;
    *positions = malloc(numbers * sizeof **positions);
    *species = malloc(n * sizeof **species);
    if (!*positions || !*species) {
        store_short(s);
        return;
    }
    memcpy(*positions, from, numbers * sizeof **positions);
    memcpy(*species, from + numbers * sizeof **positions, n * sizeof **species);
    memcpy(edges, head.edges, sizeof head.edges);
    *walkers = head.walkers;
    *count = head.count;
}

int h5md_read_positions(const char *path, int most, int *walkers, int64_t *count,
                        double **positions, int32_t **species, double edges[3][3], report *r)
{
    store s = {.reading = true};
    char limit[16];
    int32_t *kinds = NULL;
    findings found = {0};
    *positions = NULL;
    snprintf(limit, sizeof limit, "%d", most);
    int code = rehearse("positions", path, limit, EXIT_INPUT, &found, s.reason);
    if (!code && found.data)
        unpack(&s, &found, walkers, count, positions, &kinds, edges);
    else if (!code)
        h5md_read(&s, path, most, walkers, count, positions, &kinds, edges);
    if (!code && s.failed) code = s.memory_short ? EXIT_MEMORY : EXIT_INPUT;
    free(found.data);
    if (species && !code)
        *species = kinds;
    else
        free(kinds);
    if (!code) return EXIT_DONE;
    free(*positions);
    *positions = NULL;
    if (species) *species = NULL;
    return report_error(r, code, NULL, 0, "cannot read positions from %s: %s", path, s.reason);
}
