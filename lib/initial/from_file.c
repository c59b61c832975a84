/* Initial states from files: whether a state that a reader has found (frame.h) fits the run, by one rule for all
 * formats. Species go by their names, or, where a file has numbers alone, by these. Whatever does not fit is refused,
 * at its line where there are lines: nothing is guessed about a state that a long run starts from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "archive/output.h"
#include "formats/frame.h"
#include "system/geometry.h"
#include "formats/gsd.h"
#include "formats/orientations.h"
#include "conversion.h"
#include "initial/initial.h"
#include "system/skew.h"
#include "system/system.h"

typedef struct start {
    const config *config;
    const plugmc_system *system;
    int32_t before; /* walkers of the run that belong to processes before this one */
    double *positions;
    plugmc_orientation *orientations; /* [walkers][particles], upright; NULL: there are no bodies */
    plugmc_box *boxes;
    report *report;
    const char *path;
    file_frame frame;
    int32_t *species; /* [kinds]: of the run, by the numbers of the file; -1: it has none */
    int32_t kinds;
    bool boxes_change, numbers_change;
} start;

#define refuse(s, line, ...)                                                                       \
    report_error((s)->report, EXIT_INPUT, (s)->path, (int)(line), __VA_ARGS__)

static int no_memory(const start *s)
{
    return report_error(s->report, EXIT_MEMORY, s->path, 0, "not enough memory to read it");
}

/* ---- The file -------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *const *endings)
{
    const char *dot = strrchr(path, '.');
    while (dot && *endings && strcmp(dot, *endings)) endings++;
    return dot && *endings;
}

static int read_any(start *s)
{
    static const char *const xyz[] = {".xyz", ".extxyz", NULL}, *const gsd[] = {".gsd", NULL},
                             *const h5md[] = {".h5", ".h5md", ".hdf5", NULL},
                             *const pdb[] = {".pdb", ".ent", NULL}, *const gro[] = {".gro", NULL},
                             *const lammps[] = {".data", ".lmp", ".lammps", NULL};
    const int64_t which = s->config->initial.frame;
    if (ends_in(s->path, pdb)) return pdb_read(s->path, which, &s->frame, s->report);
    if (ends_in(s->path, gro)) return gro_read(s->path, which, &s->frame, s->report);
    if (ends_in(s->path, lammps))
        return lammps_read(s->path, which, (lammps_style)s->config->initial.atom_style, &s->frame,
                           s->report);
    if (ends_in(s->path, xyz)) return xyz_read(s->path, which, &s->frame, s->report);
    if (ends_in(s->path, gsd)) return gsd_read(s->path, which, &s->frame, s->report);
    if (ends_in(s->path, h5md))
        return h5md_read_frame(s->path, s->before + s->system->walkers, which, &s->frame,
                               s->report);
    return report_error(
        s->report, EXIT_INPUT, s->config->ini.path, config_line(s->config, "initial", "file"),
        "[initial] file: the name must end in .xyz, .extxyz, .gsd, .h5, .h5md, .hdf5, .pdb, .ent, "
        ".gro, .data, .lmp or .lammps");
}

static int read_frame(start *s)
{
    int code = read_any(s);
    if (code) return code;
    code = frame_convert(&s->frame, s->config, s->system->box.dimension, s->path, s->report);
    if (code) frame_free(&s->frame);
    return code;
}

/* ---- Species --------------------------------------------------------------------------------- */

static const char *name_of(const start *s, int32_t species)
{
    return plugmc_species_at(s->system, species)->name;
}

static int32_t species_named(const start *s, const char *name)
{
    for (int32_t k = 0; k < s->system->species_count; k++)
        if (!strcmp(name, name_of(s, k))) return k;
    return -1;
}

/* Numbers alone say nothing of what they mean; the run's own order is what is left. */
static void warn_of_numbers(const start *s)
{
    char list[256] = "";
    for (int32_t k = 0; k < s->kinds && strlen(list) < 200; k++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%d: %.40s", k ? ", " : "", k, name_of(s, k));
    }
    report_warning(s->report, s->path, 0,
                   "the file numbers its species without names: the order of the run's "
                   "species is used (%s%s)",
                   list, strlen(list) >= 200 ? ", ..." : "");
}

static int match_species(start *s)
{
    const file_frame *f = &s->frame;
    const int32_t own = s->system->species_count;
    if (!f->species && own > 1)
        return refuse(s, 0, "the file does not give the species of its particles");
    s->kinds = f->name ? f->names : own;
    s->species = malloc(((size_t)s->kinds + 1) * sizeof *s->species);
    if (!s->species) return no_memory(s);
    for (int32_t k = 0; k < s->kinds; k++)
        s->species[k] = f->name ? species_named(s, f->name[k]) : k;
    if (!f->name && own > 1) warn_of_numbers(s);
    return EXIT_DONE;
}

/* The species of a particle in the run; -1 after a sentence. */
static int32_t species_at(const start *s, int64_t row, int64_t i, int64_t line)
{
    const file_frame *f = &s->frame;
    const int32_t kind = f->species ? f->species[row] : 0;
    if (kind < 0 || kind >= s->kinds) {
        refuse(s, line, "particle %lld has species %d, but %s has species 0 to %d", (long long)i,
               kind, f->name ? "the file" : "the run", s->kinds - 1);
        return -1;
    }
    if (s->species[kind] < 0)
        refuse(s, line, "the run has no species '%s'", excerpt(f->name[kind]).text);
    return s->species[kind];
}

/* ---- The box --------------------------------------------------------------------------------- */

/* Vectors of a box in the axes in which a file's are compared: those of HOOMD, or as they are. */
static void vectors_of(const start *s, const plugmc_box *box, double out[3][3])
{
    memcpy(out, box->vector, sizeof box->vector);
    if (s->frame.centred) gsd_vectors(gsd_box_of(box, 0).size, out);
}

static void box_with(const plugmc_box *like, const double vectors[3][3], plugmc_box *box)
{
    *box = *like;
    for (int d = 0; d < box->dimension; d++)
        memcpy(box->vector[d], vectors[d], sizeof box->vector[d]);
    for (int d = 0; d < box->dimension; d++) {
        const double *v = box->vector[d];
        box->length[d] = box->oblique ? sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) : v[d];
    }
    if (!box->oblique) box->volume = box->length[0] * box->length[1] * box->length[2];
    box_finish(box);
}

/* Whether the file's box is the run's, within a millionth. */
static int check_box(const start *s, const double found[3][3])
{
    const plugmc_box *box = &s->system->box;
    const int64_t line = s->frame.head_line;
    plugmc_box same;
    double its[3][3], own[3][3];
    plugmc_box oblique = *box;
    oblique.oblique = 1;
    box_with(&oblique, found, &same);
    vectors_of(s, &same, its);
    vectors_of(s, box, own);
    for (int d = 0; d < box->dimension; d++)
        for (int e = 0; e < box->dimension; e++) {
            if (fabs(its[d][e] - own[d][e]) <=
                fmax(1e-6 * box->length[d], 1.01 * s->frame.box_error))
                continue;
            if (d != e || box->oblique)
                return refuse(s, line,
                              "vector %c of the file's box is (%.10g, %.10g, %.10g), the run's is "
                              "(%.10g, %.10g, %.10g)",
                              "abc"[d], its[d][0], its[d][1], its[d][2], own[d][0], own[d][1],
                              own[d][2]);
            return refuse(s, line, "the file's box is %.10g long in %c, the run's %.10g", its[d][d],
                          "xyz"[d], own[d][d]);
        }
    return EXIT_DONE;
}

/* In a run that changes boxes that of the file is the one that walkers begin in, if it is of the same kind. */
static int take_box(const start *s, const double found[3][3], plugmc_box *box)
{
    const plugmc_box *own = &s->system->box;
    const int64_t line = s->frame.head_line;
    for (int d = 0; d < own->dimension && !own->oblique; d++)
        for (int e = 0; e < own->dimension; e++)
            if (d != e && !(fabs(found[d][e]) <= 1e-6 * fabs(found[d][d])))
                return refuse(s, line,
                              "vector %c of the file's box is (%.10g, %.10g, %.10g), and the "
                              "run's box is rectangular",
                              "abc"[d], found[d][0], found[d][1], found[d][2]);
    double vectors[3][3] = {{0}};
    for (int d = 0; d < own->dimension; d++)
        for (int e = 0; e < own->dimension; e++)
            if (own->oblique || d == e) vectors[d][e] = found[d][e];
    box_with(own, vectors, box);
    for (int d = 0; d < own->dimension; d++)
        if (!(box->length[d] > 0 && isfinite(box->length[d])))
            return refuse(s, line, "the file's box is %g long in %c", box->length[d], "xyz"[d]);
    if (!(box->volume > 0 && isfinite(box->volume)))
        return refuse(s, line, "the file's box has a volume of %g", box->volume);
    if (finds_nearest_images(box)) return EXIT_DONE;
    return refuse(s, line, "the file's box is too skewed to find nearest images");
}

/* The box that a walker begins in. */
static int find_box(const start *s, int32_t found, plugmc_box *box)
{
    const file_frame *f = &s->frame;
    *box = s->system->box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC) return EXIT_DONE;
    for (int d = 0; d < box->dimension; d++)
        if (f->open[d])
            return refuse(s, f->head_line, "the file is not periodic in %c, the run is", "xyz"[d]);
    if (!f->boxes)
        return refuse(s, f->head_line,
                      f->line && !(f->metre > 0)
                          ? "there is no Lattice=\"...\" in the second line of the frame"
                          : "the file has no box");
    const double(*vectors)[3] = (const double(*)[3])f->box[f->boxes > 1 ? found : 0];
    return s->boxes_change ? take_box(s, vectors, box) : check_box(s, vectors);
}

/* Once, what walkers begin in instead of [box]. */
static void note_boxes(const start *s)
{
    double least = INFINITY, most = 0;
    bool others = false;
    for (int32_t w = 0; w < s->system->walkers; w++) {
        least = fmin(least, s->boxes[w].volume);
        most = fmax(most, s->boxes[w].volume);
        others |= memcmp(s->boxes[w].vector, s->system->box.vector, sizeof s->boxes[w].vector) != 0;
    }
    if (!others) return;
    char range[64];
    snprintf(range, sizeof range, least < most ? "%.6g to %.6g" : "%.6g", least, most);
    report_note(s->report, "walkers start in the boxes of %s, of volume %s; that of [box] is %.6g",
                s->path, range, s->system->box.volume);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Positions in double have to be those in float, but for what lies between: whoever has moved particles by another
 * program means the latter. Places differ by whole boxes at most. */
static int check_exact(const start *s, const plugmc_box *box, const double *ours,
                       const double floats[3], int64_t i)
{
    double square = 0, scale = 0, r[3];
    for (int d = 0; d < 3; d++) {
        r[d] = ours[d] - floats[d];
        scale = fmax(scale, fmax(box->length[d], fabs(floats[d])));
    }
    if (box->domain == PLUGMC_DOMAIN_PERIODIC) {
        double f[3];
        for (int d = 0; d < 3; d++) {
            f[d] =
                r[0] * box->inverse[0][d] + r[1] * box->inverse[1][d] + r[2] * box->inverse[2][d];
            if (d < box->dimension) f[d] -= rint(f[d]);
        }
        for (int d = 0; d < 3; d++)
            r[d] = f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
    }
    for (int d = 0; d < 3; d++) square += r[d] * r[d];
    if (!far_away(box, floats) && sqrt(square) <= 4e-6 * scale) return EXIT_DONE;
    return refuse(
        s, 0,
        "the positions of particle %lld in its 'particles/position' and in its '" GSD_OUR_POSITIONS
        "' differ: take the latter out if particles were moved",
        (long long)i);
}

/* A place of the file in the axes of the run. */
static int find_place(const start *s, const plugmc_box *box, const gsd_box *axes, int64_t row,
                      double out[3])
{
    const file_frame *f = &s->frame;
    const double *p = &f->positions[3 * row];
    memcpy(out, p, 3 * sizeof *out);
    if (!f->centred) return EXIT_DONE;
    for (int d = 0; d < 3; d++)
        out[d] = axes->centre[d] + p[0] * axes->axis[0][d] + p[1] * axes->axis[1][d] +
                 p[2] * axes->axis[2][d];
    if (!f->exact) return EXIT_DONE;
    const int code = check_exact(s, box, &f->exact[3 * row], out, row);
    memcpy(out, &f->exact[3 * row], 3 * sizeof *out);
    return code;
}

static int check_place(const start *s, const plugmc_box *box, const double at[3], int64_t i,
                       int64_t line)
{
    if (!isfinite(at[0]) || !isfinite(at[1]) || !isfinite(at[2]))
        return refuse(s, line, "the position of particle %lld is not finite", (long long)i);
    if (far_away(box, at))
        return refuse(
            s, line,
            "particle %lld, at (%g, %g, %g), is too far from the box to be wrapped into it",
            (long long)i, at[0], at[1], at[2]);
    if (box->dimension == 2 && at[2] != 0)
        return refuse(s, line, "z of particle %lld is %g, but the run is in two dimensions",
                      (long long)i, at[2]);
    return EXIT_DONE;
}

static bool is_absent(const double at[3]) { return isnan(at[0]) && isnan(at[1]) && isnan(at[2]); }

/* Charges decide what is sampled, so they have to be the run's. */
static int check_charge(const start *s, int32_t species, int64_t row, int64_t i, int64_t line)
{
    const double *charges = s->frame.property[FRAME_CHARGE];
    const double own = plugmc_species_at(s->system, species)->charge;
    if (!charges || fabs(charges[row] - own) <= 1e-6 * fmax(1, fabs(own))) return EXIT_DONE;
    return refuse(s, line, "the charge of particle %lld is %g, that of species %s in the run is %g",
                  (long long)i, charges[row], name_of(s, species), own);
}

/* How many particles somebody has to be there for; `walker` of the file. */
static int check_count(const start *s, int32_t walker)
{
    const file_frame *f = &s->frame;
    int64_t here = 0;
    for (int64_t i = 0; i < f->count; i++)
        here += !is_absent(&f->positions[3 * (walker * f->count + i)]);
    if (here == s->system->particles || s->numbers_change || f->count == s->system->particles)
        return EXIT_DONE;
    return refuse(s, f->head_line ? f->head_line - 1 : 0,
                  "the file has %lld particles, the run has %lld", (long long)here,
                  (long long)s->system->particles);
}

/* The orientation of a body. */
static int find_orientation(const start *s, int64_t row, int64_t i, int64_t line,
                            plugmc_orientation *out)
{
    const double *q = s->frame.orientations ? &s->frame.orientations[4 * row] : NULL;
    const char *wrong = q ? orientation_of_quaternion(q, s->system->box.dimension, out) : NULL;
    return wrong ? refuse(s, line, "the orientation of particle %lld %s", (long long)i, wrong)
                 : EXIT_DONE;
}

/* Particles, which may be in any order, into blocks of species; where numbers may change those without a place are not
 * there. to: [particles][3]; turned: [particles] of bodies, else NULL. */
static int place_all(const start *s, int32_t walker, const plugmc_box *box, double *to,
                     plugmc_orientation *turned)
{
    const plugmc_system *system = s->system;
    const file_frame *f = &s->frame;
    const gsd_box axes = gsd_box_of(box, 0);
    int64_t *next = malloc((size_t)(system->species_count + 1) * sizeof *next);
    int code = next ? EXIT_DONE : no_memory(s);
    if (next) memcpy(next, system->first, (size_t)(system->species_count + 1) * sizeof *next);
    for (int64_t i = 0; s->numbers_change && i < 3 * system->particles; i++) to[i] = NAN;
    for (int64_t i = 0; i < f->count && !code; i++) {
        const int64_t row = walker * f->count + i, line = f->line ? f->line[i] : 0;
        double at[3];
        if (is_absent(&f->positions[3 * row]) &&
            (s->numbers_change || f->count != system->particles))
            continue;
        const int32_t k = species_at(s, row, i, line);
        code = k < 0 ? EXIT_INPUT : find_place(s, box, &axes, row, at);
        if (!code) code = check_place(s, box, at, i, line);
        if (!code) code = check_charge(s, k, row, i, line);
        if (!code && next[k] == system->first[k + 1])
            code =
                refuse(s, line,
                       "the file has more than the %lld particles that species %s %s in the run%s",
                       (long long)(system->first[k + 1] - system->first[k]), name_of(s, k),
                       s->numbers_change ? "has room for" : "has",
                       plugmc_species_at(system, k)->grows
                           ? ": give it a `count` as large as the number in the file"
                       : s->numbers_change ? ": give it a `max_count` of at least that number"
                                           : "");
        if (!code && turned) code = find_orientation(s, row, i, line, &turned[next[k]]);
        if (!code) memcpy(&to[3 * next[k]++], at, sizeof at);
    }
    free(next);
    for (int64_t i = 0; i < system->particles && !code; i++)
        if (!isnan(to[3 * i])) plugmc_wrap(box, &to[3 * i]);
    return code;
}

/* Masses and diameters of the run are what counts, but whoever has others in the file may not know. Said once a
 * species. */
static void compare(const start *s, int property)
{
    static const char *const words[] = {[FRAME_MASS] = "mass", [FRAME_DIAMETER] = "diameter"};
    const file_frame *f = &s->frame;
    const double *values = f->property[property];
    bool *told = calloc((size_t)s->system->species_count, sizeof *told);
    for (int64_t row = 0; row < f->walkers * f->count && values && told; row++) {
        if (is_absent(&f->positions[3 * row])) continue;
        const int32_t kind = f->species ? f->species[row] : 0;
        const int32_t k = kind >= 0 && kind < s->kinds ? s->species[kind] : -1;
        if (k < 0) continue; /* of a walker that is not begun with here */
        const plugmc_species *species = plugmc_species_at(s->system, k);
        const double own = property == FRAME_MASS ? species->mass : species->diameter;
        if (told[k] || fabs(values[row] - own) <= 1e-6 * fabs(own)) continue;
        told[k] = true;
        report_warning(
            s->report, s->path, f->line ? (int)f->line[row] : 0,
            "the %s of particle %lld is %g, that of species %s in the run is %g, which counts",
            words[property], (long long)(row % f->count), values[row], species->name, own);
    }
    free(told);
}

static int fit(start *s)
{
    const plugmc_system *system = s->system;
    const int32_t own = s->frame.dimension;
    if (own && own != system->box.dimension)
        return refuse(s, 0, "it is in %d dimensions, the run in %d", own, system->box.dimension);
    int code = match_species(s);
    for (int32_t w = 0; w < system->walkers && !code; w++) {
        const int32_t found = (s->before + w) % s->frame.walkers;
        plugmc_box box;
        const int64_t first = system->particles * w;
        code = check_count(s, found);
        if (!code) code = find_box(s, found, &box);
        if (!code && s->boxes_change) s->boxes[w] = box;
        if (!code)
            code = place_all(s, found, &box, s->positions + 3 * first,
                             s->orientations ? s->orientations + first : NULL);
    }
    if (code) return code;
    compare(s, FRAME_MASS);
    compare(s, FRAME_DIAMETER);
    if (s->boxes_change) note_boxes(s);
    if (any_bodies(system) && !s->frame.orientations)
        report_warning(s->report, s->path, 0,
                       "the file does not give orientations: all bodies begin upright");
    return EXIT_DONE;
}

/* Random numbers are functions of the seed, the number of the sweep and that of the walker. */
static void warn_of_seed(const start *s)
{
    const plugmc_seed own = s->system->seed;
    if (s->frame.has_seed && s->frame.seed == own.key && !own.first_walker)
        report_warning(s->report, s->config->ini.path, config_line(s->config, "initial", "file"),
                       "[initial] file = %s is of a run with the same seed, %llu: the same random "
                       "numbers are drawn again, so choose another [run] seed",
                       s->path, (unsigned long long)own.key);
}

int state_from_file(const config *config, const plugmc_system *system, int32_t before,
                    double *positions, plugmc_orientation *orientations, plugmc_box *boxes,
                    report *report)
{
    start s = {.config = config,
               .system = system,
               .before = before,
               .positions = positions,
               .orientations = orientations,
               .boxes = boxes,
               .report = report,
               .path = config->initial.file,
               .boxes_change = boxes && system->changes & PLUGMC_CHANGED_BOX &&
                               system->box.domain == PLUGMC_DOMAIN_PERIODIC,
               .numbers_change = system->changes & PLUGMC_CHANGED_COUNT};
    if (!s.path || !*s.path)
        return report_error(report, EXIT_INPUT, config->ini.path,
                            config_line(config, "initial", "file"),
                            "[initial] state = file needs file = NAME.xyz, NAME.gsd or NAME.h5");
    int code = read_frame(&s);
    if (code) return code;
    warn_of_seed(&s);
    code = fit(&s);
    free(s.species);
    frame_free(&s.frame);
    return code;
}
