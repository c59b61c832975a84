/* The system from the configuration: how large the box is, and who is in it. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "input/reservoir.h"
#include "system/geometry.h"
#include "system/molecule_kinds.h"
#include "system/skew.h"
#include "system/system.h"

/* Order of the choices of [box] shape. */
enum { SHAPE_SQUARE, SHAPE_TRIANGULAR, SHAPE_RECTANGLE, SHAPE_SPHERE, SHAPE_OBLIQUE };

/* Keys of [box] that say how large it is. */
enum {
    BY_PACKING = 1,
    BY_DENSITY = 2,
    BY_LX = 4,
    BY_LY = 8,
    BY_LZ = 16,
    BY_RADIUS = 32,
    BY_A = 64,
    BY_B = 128,
    BY_C = 256
};

/* Sets of keys that say it, for two and three dimensions. */
static const struct shape {
    const char *name, *needs[2];
    int ways[2][3];
} shapes[] = {
    [SHAPE_SQUARE] = {"square",
                      {"exactly one of packing_fraction, density, lx",
                       "exactly one of packing_fraction, density, lx"},
                      {{BY_PACKING, BY_DENSITY, BY_LX}, {BY_PACKING, BY_DENSITY, BY_LX}}},
    [SHAPE_TRIANGULAR] = {"triangular",
                          {"exactly one of packing_fraction, density",
                           "exactly one of packing_fraction, density"},
                          {{BY_PACKING, BY_DENSITY}, {BY_PACKING, BY_DENSITY}}},
    [SHAPE_RECTANGLE] = {"rectangle",
                         {"lx and ly, and nothing else", "lx, ly and lz, and nothing else"},
                         {{BY_LX | BY_LY}, {BY_LX | BY_LY | BY_LZ}}},
    [SHAPE_SPHERE] = {"sphere",
                      {"exactly one of packing_fraction, density, radius",
                       "exactly one of packing_fraction, density, radius"},
                      {{BY_PACKING, BY_DENSITY, BY_RADIUS}, {BY_PACKING, BY_DENSITY, BY_RADIUS}}},
    [SHAPE_OBLIQUE] = {"oblique",
                       {"three dimensions", "a, b and c, and nothing else"},
                       {{-1}, {BY_A | BY_B | BY_C}}},
};

static int box_build(const config *, plugmc_system *, report *);
static int species_build(const config *, plugmc_system *, report *);

int system_build(const config *config, plugmc_system *system, report *report)
{
    *system = (plugmc_system){
        .size = sizeof *system,
        .walkers = (int32_t)config->run.walkers,
        .seed = {.key = (uint64_t)config->run.seed,
                 .first_walker = (uint32_t)config->run.first_walker},
        .threads = config->run.threads > 0 ? (int32_t)config->run.threads : omp_get_max_threads(),
        .rungs = 1,
        .temperature = 1,
        .of_charges = config->units.of_charges,
    };
    if (config->run.walkers < 1 || config->run.walkers > INT32_MAX)
        return report_error(report, EXIT_INPUT, config->ini.path,
                            config_line(config, "run", "walkers"),
                            "[run] walkers = %lld: between 1 and %d walkers are possible",
                            (long long)config->run.walkers, INT32_MAX);
    int code = species_build(config, system, report);
    if (!code) code = molecule_kinds_number(system, report);
    if (!code) code = box_build(config, system, report);
    if (!code) code = molecule_kinds_check_box(config, system, report);
    if (code) system_free(system);
    return code;
}

void system_free(plugmc_system *system)
{
    free((void *)system->species);
    free((void *)system->first);
    molecule_kinds_free(system);
    *system = (plugmc_system){.size = sizeof *system};
}

/* Whether there may be any number of them: they have a reservoir, and no largest number. */
static bool is_unlimited(const config *config, int s)
{
    return !config->species[s].max_count && reservoir_is_given(config, s);
}

/* The kind that has most sites of species s where there is room for all molecules; -1: none has any. */
static int32_t kind_with_most(const plugmc_system *system, int32_t s)
{
    int64_t most = 0;
    int32_t found = -1;
    for (int32_t k = 0; system->molecules && k < system->molecules->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(system->molecules, k);
        int64_t sites = 0;
        for (int32_t a = 0; a < kind->sites; a++)
            if (kind->species[a] == s) sites += kind->capacity;
        if (sites > most) found = k;
        most = sites > most ? sites : most;
    }
    return found;
}

/* Of the particles of species s there are too many: `most`, of which `sites` are those of molecules. */
static int refuse_number(const config *config, const plugmc_system *system, int32_t s, int64_t most,
                         int64_t sites, report *report)
{
    const species_section *own = &config->species[s];
    const int32_t k = sites > most / 2 ? kind_with_most(system, s) : -1;
    const char *key =
        (k < 0 ? own->max_count : config->molecules[k].max_count) ? "max_count" : "count";
    if (k < 0)
        return report_error(report, EXIT_INPUT, config->ini.path,
                            config_line_of_species(config, s, key),
                            "[species %s] %s = %lld: a run can have between 1 and %d particles",
                            plugmc_species_at(system, s)->name, key, (long long)most, INT32_MAX);
    const plugmc_molecule *kind = plugmc_kind_of_molecule(system->molecules, k);
    return report_error(
        report, EXIT_INPUT, config->ini.path, config_line_of_molecule(config, k, key),
        "[molecule %s] %s = %lld: a run can have between 1 and %d particles, and each of "
        "these molecules has %d",
        kind->name, key, (long long)kind->capacity, INT32_MAX, kind->sites);
}

static int refuse_empty(const config *config, report *report)
{
    if (config->molecule_count)
        return report_error(report, EXIT_INPUT, config->ini.path,
                            config_line_of_molecule(config, 0, "count"),
                            "[molecule %s] there are no particles: give these molecules "
                            "count = 1 or more, or a reservoir with an activity above 0",
                            config->molecule_names[0]);
    return report_error(report, EXIT_INPUT, config->ini.path,
                        config_line(config, "species", "count"),
                        "there are no particles: give a [species NAME] with count = 1 or more");
}

/* Particles are numbered with 32 bits, in cells and in the counters of random numbers. */
static int species_build(const config *config, plugmc_system *system, report *report)
{
    const int n = config->species_count;
    plugmc_species *species = calloc((size_t)n + 1, sizeof *species);
    int64_t *first = calloc((size_t)n + 1, sizeof *first);
    system->species = species;
    system->species_size = sizeof *species;
    system->first = first;
    system->species_count = n;
    if (!species || !first)
        return report_error(report, EXIT_MEMORY, NULL, 0, "not enough memory for %d species", n);
    int64_t sites[n], room[n]; /* initial ones, and those that there is room for */
    memset(sites, 0, sizeof sites);
    memset(room, 0, sizeof room);
    const int code = molecule_kinds_read(config, system, sites, room, report);
    if (code) return code;
    for (int s = 0; s < n; s++) {
        const species_section *from = &config->species[s];
        species[s] = (plugmc_species){.name = config->species_names[s],
                                      .count = from->count + sites[s],
                                      .diameter = from->diameter,
                                      .charge = from->charge,
                                      .mass = from->mass,
                                      .grows = is_unlimited(config, s),
                                      .mu = NAN};
        species[s].capacity = room[s] + (from->max_count    ? from->max_count
                                         : species[s].grows ? room_for(from->count, from->capacity)
                                                            : from->count);
        species[s].grows |= molecule_kinds_grow(system, s);
        const int64_t most = species[s].capacity;
        if (most < 0 || most > INT32_MAX - first[s])
            return refuse_number(config, system, s, most, room[s], report);
        if (from->max_count && from->count > from->max_count)
            return report_error(report, EXIT_INPUT, config->ini.path,
                                config_line_of_species(config, s, "count"),
                                "[species %s] count = %lld is more than max_count = %lld",
                                species[s].name, (long long)from->count, (long long)most);
        first[s + 1] = first[s] + most;
    }
    system->particles = first[n];
    return system->particles ? EXIT_DONE : refuse_empty(config, report);
}

/* Volume of the box by its density or packing fraction; 0 where it follows from its lengths. */
static double wanted_volume(const box_section *box, double particles, double particle_volume)
{
    if (box->packing_fraction > 0) return particle_volume / box->packing_fraction;
    if (box->density > 0) return particles / box->density;
    return 0;
}

static void edges_square(const box_section *in, double volume, plugmc_box *box)
{
    double edge = volume > 0 ? pow(volume, 1.0 / box->dimension) : in->lx;
    for (int d = 0; d < box->dimension; d++) box->length[d] = edge;
}

static void edges_triangular(const box_section *in, double volume, plugmc_box *box)
{
    (void)in;
    double edge = pow(volume / sqrt(0.75), 1.0 / box->dimension);
    for (int d = 0; d < box->dimension; d++) box->length[d] = edge;
    box->length[1] = edge * sqrt(0.75);
}

static void edges_rectangle(const box_section *in, double volume, plugmc_box *box)
{
    (void)volume;
    const double lengths[3] = {in->lx, in->ly, in->lz};
    for (int d = 0; d < box->dimension; d++) box->length[d] = lengths[d];
}

static void edges_sphere(const box_section *in, double volume, plugmc_box *box)
{
    box->domain = PLUGMC_DOMAIN_SPHERE;
    box->radius = in->radius;
    if (volume > 0)
        box->radius = 0.5 * pow(volume / ball_volume(box->dimension, 1), 1.0 / box->dimension);
    for (int d = 0; d < box->dimension; d++) box->length[d] = 2 * box->radius;
}

/* Rows are the lattice vectors; a matrix that cannot be inverted leaves a volume of 0. */
static void edges_oblique(const box_section *in, double volume, plugmc_box *box)
{
    const plugmc_list *rows[3] = {&in->a, &in->b, &in->c};
    (void)volume;
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++)
            box->vector[i][d] = rows[i]->count == 3 ? rows[i]->values[d] : 0;
    for (int i = 0; i < 3; i++)
        box->length[i] =
            sqrt(box->vector[i][0] * box->vector[i][0] + box->vector[i][1] * box->vector[i][1] +
                 box->vector[i][2] * box->vector[i][2]);
    box->oblique = 1;
}

void box_finish(plugmc_box *box)
{
    double(*v)[3] = box->vector;
    for (int d = 0; d < 3 && !box->oblique; d++) v[d][d] = box->length[d];
    double determinant = 0;
    for (int i = 0; i < 3; i++)
        determinant += v[0][i] * (v[1][(i + 1) % 3] * v[2][(i + 2) % 3] -
                                  v[1][(i + 2) % 3] * v[2][(i + 1) % 3]);
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++)
            box->inverse[i][d] = (v[(d + 1) % 3][(i + 1) % 3] * v[(d + 2) % 3][(i + 2) % 3] -
                                  v[(d + 1) % 3][(i + 2) % 3] * v[(d + 2) % 3][(i + 1) % 3]) /
                                 determinant;
    if (box->oblique) box->volume = fabs(determinant);
}

static void (*const edges[])(const box_section *, double volume, plugmc_box *) = {
    [SHAPE_SQUARE] = edges_square,       [SHAPE_TRIANGULAR] = edges_triangular,
    [SHAPE_RECTANGLE] = edges_rectangle, [SHAPE_SPHERE] = edges_sphere,
    [SHAPE_OBLIQUE] = edges_oblique,
};

static int refuse_skew(const config *, const plugmc_box *, report *);

/* The shape that these keys are for; NULL: none, or several. */
static const char *shape_of(int given, int dimension)
{
    const char *name = NULL;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (int w = 0; w < 3 && given; w++)
            if (shapes[k].ways[dimension - 2][w] == given) {
                if (name) return NULL;
                name = shapes[k].name;
                break;
            }
    return name;
}

static int box_build(const config *config, plugmc_system *system, report *report)
{
    const box_section *in = &config->box;
    const char *path = config->ini.path;
    plugmc_box *box = &system->box;
    const struct shape *shape = &shapes[in->shape];
    if (in->dimension != 2 && in->dimension != 3)
        return report_error(report, EXIT_INPUT, path, config_line(config, "box", "dimension"),
                            "[box] dimension = %lld: must be 2 or 3", (long long)in->dimension);
    const int given = (in->packing_fraction != 0) * BY_PACKING + (in->density != 0) * BY_DENSITY +
                      (in->lx != 0) * BY_LX + (in->ly != 0) * BY_LY + (in->lz != 0) * BY_LZ +
                      (in->radius != 0) * BY_RADIUS + (in->a.count != 0) * BY_A +
                      (in->b.count != 0) * BY_B + (in->c.count != 0) * BY_C;
    const int *ways = shape->ways[in->dimension - 2];
    if (!given || (given != ways[0] && given != ways[1] && given != ways[2])) {
        static const char *const keys[] = {"packing_fraction", "density", "lx", "ly", "lz",
                                           "radius",           "a",       "b",  "c"};
        char list[128] = "";
        for (int k = 0; k < 9; k++)
            if (given >> k & 1) strcat(strcat(list, *list ? ", " : ""), keys[k]);
        const char *other = shape_of(given, (int)in->dimension);
        return report_error(report, EXIT_INPUT, path, config_line(config, "box", "shape"),
                            "[box] shape %s in %lld dimensions needs %s; given: %s%s%s",
                            shape->name, (long long)in->dimension, shape->needs[in->dimension - 2],
                            *list ? list : "none of them", other ? ", which is shape = " : "",
                            other ? other : "");
    }

    double particle_volume = 0, particles = 0;
    for (int s = 0; s < system->species_count; s++) {
        const plugmc_species *species = plugmc_species_at(system, s);
        const double free = (double)(species->count - sites_of_species(system, s));
        particles += free;
        particle_volume += free * ball_volume((int)in->dimension, species->diameter);
    }
    if (system->molecules) particles += (double)system->molecules->count;
    if (given == BY_PACKING && system->molecules)
        return report_error(report, EXIT_INPUT, path,
                            config_line(config, "box", "packing_fraction"),
                            "[box] packing_fraction has no meaning for molecules, whose sites may "
                            "overlap: give density or edges instead");
    if (given == BY_PACKING && particle_volume == 0)
        return report_error(report, EXIT_INPUT, path,
                            config_line(config, "box", "packing_fraction"),
                            "[box] packing_fraction needs particles with a diameter: give "
                            "density instead");

    *box = (plugmc_box){.dimension = (int32_t)in->dimension, .length = {1, 1, 1}};
    edges[in->shape](in, wanted_volume(in, particles, particle_volume), box);
    if (box->oblique && (in->a.count != 3 || in->b.count != 3 || in->c.count != 3))
        return report_error(report, EXIT_INPUT, path, config_line(config, "box", "shape"),
                            "[box] a, b and c need three numbers each: x, y and z");
    box->volume = box->domain == PLUGMC_DOMAIN_SPHERE
                      ? ball_volume(box->dimension, 2 * box->radius)
                      : box->length[0] * box->length[1] * box->length[2];
    if (box->domain == PLUGMC_DOMAIN_PERIODIC) box_finish(box);
    if (!(box->volume > 0 && isfinite(box->volume)))
        return report_error(report, EXIT_INPUT, path, config_line(config, "box", "shape"),
                            "[box] the volume of this box would be %g", box->volume);
    if (!finds_nearest_images(box)) return refuse_skew(config, box, report);
    return EXIT_DONE;
}

static int refuse_skew(const config *config, const plugmc_box *box, report *report)
{
    double v[3][3];
    memcpy(v, box->vector, sizeof v);
    reduce_vectors(v);
    return report_error(
        report, EXIT_INPUT, config->ini.path, config_line(config, "box", "a"),
        "[box] this box is too skewed to find nearest images; the same lattice is described "
        "by a = %.9g %.9g %.9g, b = %.9g %.9g %.9g, c = %.9g %.9g %.9g",
        v[0][0], v[0][1], v[0][2], v[1][0], v[1][1], v[1][2], v[2][0], v[2][1], v[2][2]);
}

/* Equal particles cannot be denser than close packing, mixtures not denser than full. In a sphere
 * that holds the centres, the particles themselves have half a diameter more. */
int check_density_of_spheres(const config *config, const plugmc_system *system, report *report)
{
    const plugmc_box *box = &system->box;
    double largest = 0, smallest = INFINITY, particle_volume = 0;
    for (int s = 0; s < system->species_count; s++) {
        const plugmc_species *species = plugmc_species_at(system, s);
        const double free = (double)(species->count - sites_of_species(system, s));
        if (free == 0) continue;
        largest = fmax(largest, species->diameter);
        smallest = fmin(smallest, species->diameter);
        particle_volume += free * ball_volume(box->dimension, species->diameter);
    }
    double room = box->domain == PLUGMC_DOMAIN_SPHERE
                      ? ball_volume(box->dimension, 2 * box->radius + largest)
                      : box->volume;
    double limit = largest == smallest ? close_packing(box->dimension) : 1;
    double fraction = particle_volume / room;
    if (fraction <= limit * (1 + 1e-9)) return EXIT_DONE;
    return report_error(report, EXIT_INPUT, config->ini.path,
                        config_line(config, "box", "packing_fraction"),
                        "[box] packing fraction %.6g exceeds the maximum %s%.6g; give "
                        "particles without a hard core diameter = 0",
                        fraction,
                        limit == 1            ? ""
                        : box->dimension == 2 ? "pi/(2 sqrt 3) = "
                                              : "pi/(3 sqrt 2) = ",
                        limit);
}

bool any_bodies(const plugmc_system *system)
{
    for (int32_t t = 0; t < system->term_count; t++)
        if (plugmc_body_of(plugmc_term_at(system, t)->plugin)) return true;
    return false;
}

bool is_constant(const plugmc_plugin *plugin)
{
    const plugmc_potential *p = plugin->potential;
    return p->total && !p->pair && !p->field && !plugmc_orbitals_of(plugin) &&
           !plugmc_follows_positions(p->total);
}
