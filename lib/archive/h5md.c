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

#include "archive/parts.h"

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
    write_author(s, h5md, data->origin.author);
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

void h5md_walker_name(int walker, char name[H5MD_NAME])
{
    if (walker)
        snprintf(name, H5MD_NAME, "trajectory_%d", walker);
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
    hsize_t shape[1] = {(hsize_t)(before + data->trajectory.frame_count)};
    hid_t step = store_grow(s, position, "step", STORE_INT64, 1, shape, (hsize_t)before);
    hid_t time = store_grow(s, position, "time", STORE_DOUBLE, 1, shape, (hsize_t)before);
    for (int f = 0; f < data->trajectory.frame_count; f++) {
        int64_t sweep = (int64_t)data->trajectory.frames[f].sweep;
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
    hsize_t shape[3] = {(hsize_t)(before + data->trajectory.frame_count), 3, 3};
    hid_t value =
        store_grow(s, edges, "value", STORE_DOUBLE, oblique ? 3 : 2, shape, (hsize_t)before);
    for (int f = 0; f < data->trajectory.frame_count; f++) {
        const plugmc_box *boxes = data->trajectory.frames[f].boxes,
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
    hsize_t shape[3] = {(hsize_t)(before + data->trajectory.frame_count), (hsize_t)particles, 3};
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
    for (int f = 0; f < data->trajectory.frame_count; f++) {
        const hsize_t row = (hsize_t)(before + f);
        pack(&p, data->system, data->trajectory.frames[f].positions + walker * particles * 3);
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
    hsize_t shape[3] = {(hsize_t)(before + data->trajectory.frame_count), (hsize_t)particles, 3};
    hid_t value = store_grow(s, position, "value", STORE_DOUBLE, 3, shape, (hsize_t)before);
    for (int f = 0; f < data->trajectory.frame_count; f++)
        store_rows(s, value, STORE_DOUBLE, (hsize_t)(before + f), 1,
                   data->trajectory.frames[f].positions + walker * particles * 3);
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
        if (data->trajectory.note) store_label(s, group, "note", data->trajectory.note);
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
    const bool own_box = data->system->changes & PLUGMC_CHANGED_BOX;
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
    if (data->trajectory.frame_count == 0 && !data->trajectory.cut) return;
    hid_t particles = store_group(s, s->file, "particles");
    hid_t first = store_group(s, particles, "trajectory");
    write_first_walker(s, first, data, before);
    for (int walker = 1; walker < data->system->walkers; walker++) {
        char name[H5MD_NAME];
        h5md_walker_name(walker, name);
        hid_t group = store_group(s, particles, name);
        write_other_walker(s, group, first, data, walker, before);
        store_leave(s, group);
    }
    store_leave(s, first);
    store_leave(s, particles);
}
