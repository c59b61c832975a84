/* The trajectory in H5MD 1.1: P. de Buyl, P. H. Colberg, F. Hoefling, Comput. Phys. Commun. 185,
 * 1546 (2014), https://www.nongnu.org/h5md/h5md.html.
 *
 * Walker 0 is particles/trajectory, the name that MDAnalysis looks for, walker w > 0 is
 * particles/trajectory_w. Always three-dimensional, as readers expect. What all walkers share
 * (box, species, steps) is in the file once and linked. There are no units.
 *
 * Where numbers of particles change, rows are as long as the largest number that there may be, and grow with it. In
 * each frame those that are there stand first, in the order of their numbers; behind them id and species are -1, the
 * fill value of H5MD, and places 0. `count` says how many there are.
 *
 * H5MD has no element for orientations of bodies. Theirs is `orientation`, quaternions as formats/orientations.h makes them;
 * its attribute `components` says what the four numbers are.
 *
 * Where walkers have weights, observables/trajectory/weight, observables/trajectory_w/weight are those of each frame: averages
 * over frames are sum w x / sum w. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "archive/parts.h"
#include "formats/orientations.h"

/* ---- Writing -------------------------------------------------------------------------------- */

/* "NAME <MAIL>" as the two attributes of H5MD. */
static void write_author(draft *d, const char *author)
{
    draft_enter(d, "author");
    const char *open = author ? strchr(author, '<') : NULL,
               *close = open ? strchr(open, '>') : NULL;
    size_t length = open && close ? (size_t)(open - author) : author ? strlen(author) : 0;
    while (length && author[length - 1] == ' ') length--;
    char *name = strndup(author ? author : "", length);
    char *mail = close ? strndup(open + 1, (size_t)(close - open - 1)) : NULL;
    if (!name || (close && !mail)) d->memory_short = true;
    draft_label(d, "name", name && *name ? name : "not given");
    if (mail) draft_label(d, "email", mail);
    free(name), free(mail);
    draft_leave(d);
}

void h5md_write_header(draft *d, const output_data *data)
{
    draft_enter(d, "h5md");
    draft_numbers(d, "version", STORE_INT, 2, (int[]){1, 1});
    write_author(d, data->origin.author);
    draft_enter(d, "creator");
    draft_label(d, "name", "plugmc");
    draft_label(d, "version", PLUGMC_VERSION);
    draft_leave(d);
    draft_leave(d);
}

static bool numbers_change(const output_data *data)
{
    return data->system->changes & PLUGMC_CHANGED_COUNT;
}

void h5md_walker_name(int walker, char name[H5MD_NAME])
{
    if (walker)
        snprintf(name, H5MD_NAME, "trajectory_%d", walker);
    else
        strcpy(name, "trajectory");
}

/* ---- What all frames have in common ----------------------------------------------------------- */

/* Beside the numbers of species: attribute names, in the order of these numbers. */
static void write_species_names(draft *d, const plugmc_system *system)
{
    enum { LONGEST = 64 };
    char(*names)[LONGEST] = calloc((size_t)system->species_count, sizeof *names);
    if (!names) {
        d->memory_short = true;
        return;
    }
    for (int k = 0; k < system->species_count; k++)
        snprintf(names[k], LONGEST, "%s", plugmc_species_at(system, k)->name);
    draft_labels(d, "names", system->species_count, LONGEST, names);
    free(names);
}

/* One value a particle, the same in all frames. */
static void write_properties(draft *d, const output_data *data)
{
    const plugmc_system *system = data->system;
    const hsize_t n = (hsize_t)system->particles;
    int32_t *species = draft_new_array(d, "species", STORE_INT32, 1, &n);
    draft_enter(d, "species");
    write_species_names(d, system);
    draft_leave(d);
    int32_t *id = draft_new_array(d, "id", STORE_INT32, 1, &n);
    double *charge = draft_new_array(d, "charge", STORE_DOUBLE, 1, &n);
    draft_enter(d, "charge");
    draft_label(d, "type", "effective");
    draft_leave(d);
    double *diameter = draft_new_array(d, "diameter", STORE_DOUBLE, 1, &n);
    if (system->molecule) draft_array(d, "molecule", STORE_INT32, 1, &n, system->molecule);
    for (int32_t kind = 0; kind < system->species_count && !d->memory_short; kind++)
        for (int64_t i = system->first[kind]; i < system->first[kind + 1]; i++) {
            species[i] = kind;
            id[i] = (int32_t)i;
            charge[i] = plugmc_species_at(system, kind)->charge;
            diameter[i] = plugmc_species_at(system, kind)->diameter;
        }
}

/* "periodic" or "none" for each direction, as an array of texts of fixed length. */
static void write_boundary(draft *d, const plugmc_box *box)
{
    char boundary[3][9] = {"none", "none", "none"};
    for (int k = 0; k < box->dimension; k++)
        if (box->domain == PLUGMC_DOMAIN_PERIODIC) strcpy(boundary[k], "periodic");
    draft_labels(d, "boundary", 3, sizeof boundary[0], boundary);
    draft_number(d, "dimension", STORE_INT, &(int){3});
}

/* Charges and diameters of species, as attributes of the numbers of species. */
static void write_of_species(draft *d, const plugmc_system *system)
{
    const int n = system->species_count;
    double *values = malloc(((size_t)n + 1) * sizeof *values);
    if (!values) {
        d->memory_short = true;
        return;
    }
    write_species_names(d, system);
    for (int k = 0; k < n; k++) values[k] = plugmc_species_at(system, k)->charge;
    draft_numbers(d, "charges", STORE_DOUBLE, n, values);
    for (int k = 0; k < n; k++) values[k] = plugmc_species_at(system, k)->diameter;
    draft_numbers(d, "diameters", STORE_DOUBLE, n, values);
    free(values);
}

/* ---- What is new in each frame ---------------------------------------------------------------- */

/* Frames go behind the `before` ones that the file has. */
typedef struct appended {
    draft *draft;
    const output_data *data;
    int64_t before;
} appended;

static int count_of(const appended *a) { return a->data->trajectory.frame_count; }

/* A shape of all frames, each of as many numbers. */
typedef struct shape {
    hsize_t of[3];
} shape;

static shape all_frames(const appended *a, int64_t rows, int64_t columns)
{
    return (shape){{(hsize_t)(a->before + count_of(a)), (hsize_t)rows, (hsize_t)columns}};
}

static void *new_rows(const appended *a, const char *name, enum store_type type, int rank,
                      int64_t row)
{
    return draft_new_rows(a->draft, name, type, rank, all_frames(a, row, 3).of, (hsize_t)a->before);
}

/* Links to the steps and times, which are written once. */
static void link_steps(const appended *a)
{
    if (a->before) return;
    draft_link(a->draft, "particles/trajectory/position/step", "step");
    draft_link(a->draft, "particles/trajectory/position/time", "time");
}

static void write_steps(const appended *a)
{
    const frame *frames = a->data->trajectory.frames;
    int64_t *step = new_rows(a, "step", STORE_INT64, 1, 0);
    double *time = new_rows(a, "time", STORE_DOUBLE, 1, 0);
    for (int f = 0; f < count_of(a) && !a->draft->memory_short; f++) {
        step[f] = (int64_t)frames[f].sweep;
        time[f] = (double)step[f];
    }
}

/* The lengths of the edges; of an oblique box its vectors as rows. */
static void write_edges(const appended *a, int walker)
{
    const bool oblique = a->data->system->box.oblique;
    draft_rows(a->draft, "value", STORE_DOUBLE, oblique ? 3 : 2, all_frames(a, 3, 3).of,
               (hsize_t)a->before);
    for (int f = 0; f < count_of(a); f++) {
        const plugmc_box *boxes = a->data->trajectory.frames[f].boxes,
                         *box = boxes ? &boxes[walker] : &a->data->system->box;
        if (oblique)
            draft_piece(a->draft, box->vector, sizeof box->vector);
        else
            draft_piece(a->draft, box->length, sizeof box->length);
    }
}

static void write_positions(const appended *a, int walker)
{
    const int64_t particles = a->data->system->particles;
    draft_rows(a->draft, "value", STORE_DOUBLE, 3, all_frames(a, particles, 3).of,
               (hsize_t)a->before);
    for (int f = 0; f < count_of(a); f++)
        draft_piece(a->draft, a->data->trajectory.frames[f].positions + 3 * particles * walker,
                    3 * sizeof(double) * (size_t)particles);
}

/* Frames in which numbers change: [frames][particles]. */
typedef struct packed {
    int64_t *count; /* [frames] */
    int32_t *id, *species;
    double *places; /* [frames][particles][3] */
} packed;

/* Those that are there first. A rehearsal knows of no species. */
static void pack(const packed *p, int f, const plugmc_system *system, const double *places)
{
    const int64_t n = system->particles;
    int32_t kind = 0, *id = p->id + n * f, *species = p->species + n * f;
    double *to = p->places + 3 * n * f;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        while (kind < system->species_count && i >= system->first[kind + 1]) kind++;
        if (isnan(places[3 * i])) continue;
        id[count] = (int32_t)i;
        species[count] = kind;
        memcpy(&to[3 * count++], &places[3 * i], 3 * sizeof *places);
    }
    for (int64_t k = count; k < n; k++) id[k] = species[k] = -1;
    memset(&to[3 * count], 0, 3 * sizeof *to * (size_t)(n - count));
    p->count[f] = count;
}

/* The rows of an element of H5MD, to be filled. */
static void *write_element(const appended *a, const char *name, enum store_type type, int rank)
{
    draft_enter(a->draft, name);
    void *values = new_rows(a, "value", type, rank, a->data->system->particles);
    if (!a->before && !strcmp(name, "species")) write_of_species(a->draft, a->data->system);
    if (strcmp(name, "position")) link_steps(a);
    draft_leave(a->draft);
    return values;
}

/* Places, and who is there. */
static void write_varying(const appended *a, int walker)
{
    const plugmc_system *system = a->data->system;
    packed p;
    p.places = write_element(a, "position", STORE_DOUBLE, 3);
    p.id = write_element(a, "id", STORE_INT32, 2);
    p.species = write_element(a, "species", STORE_INT32, 2);
    p.count = write_element(a, "count", STORE_INT64, 1);
    for (int f = 0; f < count_of(a) && !a->draft->memory_short; f++)
        pack(&p, f, system,
             a->data->trajectory.frames[f].positions + 3 * system->particles * walker);
}

/* Whether particles have shapes. Molecules, which have orientations too, are all there in their sites. */
static bool has_bodies(const plugmc_system *system)
{
    for (int32_t t = 0; t < system->term_count; t++)
        if (plugmc_body_of(plugmc_term_at(system, t)->plugin)) return true;
    return false;
}

/* In the order of the positions. */
static void write_orientations(const appended *a, int walker)
{
    draft *d = a->draft;
    const int64_t n = a->data->system->particles;
    draft_enter(d, "orientation");
    if (!a->before) draft_label(d, "components", ORIENTATION_COMPONENTS);
    double *out =
        draft_new_rows(d, "value", STORE_DOUBLE, 3, all_frames(a, n, 4).of, (hsize_t)a->before);
    for (int f = 0; f < count_of(a) && !d->memory_short; f++) {
        const frame *frame = &a->data->trajectory.frames[f];
        const double *places = frame->positions + 3 * n * walker;
        int64_t count = 0;
        for (int64_t i = 0; i < n; i++)
            if (!isnan(places[3 * i]))
                quaternion_of(&frame->orientations[n * walker + i], &out[4 * (n * f + count++)]);
        memset(&out[4 * (n * f + count)], 0, 4 * sizeof *out * (size_t)(n - count));
    }
    link_steps(a);
    draft_leave(d);
}

static void write_places(const appended *a, int walker)
{
    if (has_bodies(a->data->system)) write_orientations(a, walker);
    if (numbers_change(a->data)) {
        write_varying(a, walker);
        return;
    }
    draft_enter(a->draft, "position");
    write_positions(a, walker);
    draft_leave(a->draft);
}

static void write_box(const appended *a, int walker)
{
    draft *d = a->draft;
    draft_enter(d, "box");
    if (!a->before) write_boundary(d, &a->data->system->box);
    draft_enter(d, "edges");
    link_steps(a);
    write_edges(a, walker);
    draft_leave(d);
    draft_leave(d);
}

static void write_first_walker(const appended *a)
{
    const output_data *data = a->data;
    draft *d = a->draft;
    if (!a->before) {
        if (!numbers_change(data)) write_properties(d, data);
        if (data->trajectory.note) draft_label(d, "note", data->trajectory.note);
        if (data->system->box.dimension == 2)
            draft_label(d, "two_dimensional",
                        "z is 0, and the edge of the box along z has no meaning");
    }
    draft_enter(d, "position");
    write_steps(a);
    draft_leave(d);
    write_box(a, 0);
    write_places(a, 0);
}

/* The object `name` of the first walker, shared. */
static void share(const appended *a, const char *name)
{
    char path[96];
    snprintf(path, sizeof path, "particles/trajectory/%s", name);
    draft_link(a->draft, path, name);
}

static void write_other_walker(const appended *a, int walker)
{
    static const char *const shared[] = {"species", "charge", "diameter", "id"};
    const plugmc_system *system = a->data->system;
    const bool own_box = system->changes & PLUGMC_CHANGED_BOX;
    draft_enter(a->draft, "position");
    link_steps(a);
    draft_leave(a->draft);
    for (int i = 0; i < 4 && !a->before && !numbers_change(a->data); i++) share(a, shared[i]);
    if (!a->before && !own_box) share(a, "box");
    if (!a->before && system->molecule) share(a, "molecule");
    if (own_box) write_box(a, walker);
    write_places(a, walker);
}

/* Of all walkers, where they have any. */
static void write_weights(const appended *a)
{
    draft *d = a->draft;
    draft_enter(d, "observables");
    for (int walker = 0; walker < a->data->system->walkers; walker++) {
        char name[H5MD_NAME];
        h5md_walker_name(walker, name);
        draft_enter(d, name);
        draft_enter(d, "weight");
        double *value = new_rows(a, "value", STORE_DOUBLE, 1, 0);
        for (int f = 0; f < count_of(a) && !d->memory_short; f++)
            value[f] = a->data->trajectory.frames[f].weights[walker];
        link_steps(a);
        draft_leave(d);
        draft_leave(d);
    }
    draft_leave(d);
}

void h5md_write_frames(draft *d, const output_data *data, int64_t before)
{
    const appended a = {d, data, before};
    draft_enter(d, "particles");
    for (int walker = 0; walker < data->system->walkers; walker++) {
        char name[H5MD_NAME];
        h5md_walker_name(walker, name);
        draft_enter(d, name);
        if (walker)
            write_other_walker(&a, walker);
        else
            write_first_walker(&a);
        draft_leave(d);
    }
    draft_leave(d);
    if (data->system->changes & PLUGMC_CHANGED_WALKER_WEIGHT) write_weights(&a);
}
