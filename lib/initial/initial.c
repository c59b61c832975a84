/* Initial states: a lattice, a random state, a file or electrons near ions; checked for overlaps whatever they are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "system/geometry.h"
#include "initial/initial.h"
#include "initial/near_ions.h"
#include "system/molecule_kinds.h"
#include "system/system.h"

typedef struct source {
    const config *config;
    const plugmc_system *system;
    int32_t first; /* walkers of the run that belong to processes before this one */
    const contacts *contacts;
    double *positions;                /* [walkers][particles][3] */
    plugmc_orientation *orientations; /* [walkers][particles]; NULL: no bodies */
    plugmc_box *boxes;                /* [walkers]; NULL: the system's */
    report *report;
    bool given; /* by a host program: nothing of the INI file is about them */
} source;

static int from_lattice(const source *);
static int from_random(const source *);
static int from_file(const source *);
static int from_ions(const source *);
static int check_overlaps(const source *);
static int refuse(const source *, const char *key, const char *sentence);

/* In the order of the choices of [initial] state. */
static int (*const states[])(const source *) = {from_lattice, from_random, from_file, from_ions};

static int initial_places(const config *, const plugmc_system *, int32_t first, double *positions,
                          plugmc_orientation *orientations, plugmc_box *boxes, report *);

/* A frame of a file says how many there are, where that may change. */
static bool from_frame(const config *config, const plugmc_system *system)
{
    return config->initial.state == INITIAL_FILE && system->changes & PLUGMC_CHANGED_COUNT;
}

/* From positions packed by `packed` to those of the run, which has more room. */
static void spread(const plugmc_system *packed, const double *from, const plugmc_system *system,
                   double *to)
{
    const size_t row = 3 * (size_t)system->particles;
    for (size_t i = 0; i < row * (size_t)system->walkers; i++) to[i] = NAN;
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t s = 0; s < system->species_count; s++) {
            const int64_t n = packed->first[s + 1] - packed->first[s];
            memcpy(to + row * (size_t)w + 3 * system->first[s],
                   from + 3 * (w * packed->particles + packed->first[s]),
                   3 * (size_t)n * sizeof *to);
        }
}

static void spread_orientations(const plugmc_system *packed, const plugmc_orientation *from,
                                const plugmc_system *system, plugmc_orientation *to)
{
    for (int64_t i = 0; i < system->particles * system->walkers; i++)
        to[i] = plugmc_upright(system->box.dimension);
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t s = 0; s < system->species_count; s++)
            memcpy(to + w * system->particles + system->first[s],
                   from + w * packed->particles + packed->first[s],
                   (size_t)(packed->first[s + 1] - packed->first[s]) * sizeof *to);
}

/* Where there is room for more than a run begins with, a system of those alone is made first. */
int initial_state(const config *config, const plugmc_system *system, int32_t before,
                  double *positions, plugmc_orientation *orientations, plugmc_box *boxes,
                  report *report)
{
    int64_t first[system->species_count + 1], count[system->species_count + 1];
    plugmc_system packed = *system;
    first[0] = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        first[s + 1] = first[s] + (count[s] = plugmc_species_at(system, s)->count);
    packed.first = first;
    packed.particles = first[system->species_count];
    if (packed.particles == system->particles || from_frame(config, system))
        return initial_places(config, system, before, positions, orientations, boxes, report);
    const size_t all = (size_t)(packed.particles * packed.walkers);
    double *places = malloc(3 * all * sizeof *places + 1);
    plugmc_orientation *turned = orientations ? calloc(all + 1, sizeof *turned) : NULL;
    int code = places && (turned || !orientations) ? EXIT_DONE : EXIT_MEMORY;
    if (molecule_kinds_pack(&packed, count)) code = EXIT_MEMORY;
    if (code) report_error(report, code, NULL, 0, "not enough memory for the initial state");
    if (!code && packed.particles)
        code = initial_places(config, &packed, before, places, turned, boxes, report);
    if (!code) spread(&packed, places, system, positions);
    if (!code && turned) spread_orientations(&packed, turned, system, orientations);
    molecule_kinds_free(&packed);
    free(places), free(turned);
    return code;
}

static int initial_places(const config *config, const plugmc_system *system, int32_t before,
                          double *positions, plugmc_orientation *orientations, plugmc_box *boxes,
                          report *report)
{
    contacts contacts;
    source source = {config,       system, before, &contacts, positions,
                     orientations, boxes,  report, false};
    for (int64_t i = 0; orientations && i < system->walkers * system->particles; i++)
        orientations[i] = plugmc_upright(system->box.dimension);
    if (contacts_make(system, &contacts))
        return report_error(report, EXIT_MEMORY, NULL, 0,
                            "not enough memory for the initial state");
    int code = EXIT_DONE;
    if (system->box.oblique && contacts.largest > 0)
        code = refuse(&source, "state", "hard cores are not supported in an oblique box");
    if (!code) code = states[config->initial.state](&source);
    if (!code) code = check_overlaps(&source);
    contacts_free(&contacts);
    return code;
}

static double *walker_positions(const source *s, int32_t walker)
{
    return s->positions + 3 * s->system->particles * walker;
}

int long_ranged(const plugmc_system *system)
{
    for (int32_t s = 0; s < system->species_count; s++)
        if (plugmc_species_at(system, s)->charge != 0) return 1;
    return isinf(system->range);
}

static plugmc_orientation *walker_orientations(const source *s, int32_t walker)
{
    return s->orientations ? s->orientations + s->system->particles * walker : NULL;
}

static int refuse(const source *s, const char *key, const char *sentence)
{
    return report_error(s->report, EXIT_INPUT, s->config->ini.path,
                        config_line(s->config, "initial", key), "[initial] %s", sentence);
}

/* ---- Lattice ---- */

/* Packing fraction, by the volumes of bodies and the diameters of other particles. */
static double packing_fraction(const plugmc_system *system)
{
    double volume = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        volume += (double)plugmc_species_at(system, s)->count * particle_volume(system, s);
    return volume / system->box.volume;
}

/* Sites in random order (R. A. Fisher, F. Yates; R. Durstenfeld, 1964): species, which are numbered
 * one after another, are mixed, and numbers do not follow positions. */
static void shuffle(const plugmc_system *system, int32_t walker, double *positions)
{
    for (int64_t i = system->particles - 1; i > 0; i--) {
        plugmc_random random =
            plugmc_draw(system->seed, 0, (uint32_t)walker, (uint32_t)i, PLUGMC_PURPOSE_INITIAL, 0);
        int64_t j = plugmc_below(random.word[0], (uint32_t)i + 1);
        double keep[3];
        memcpy(keep, &positions[3 * i], sizeof keep);
        memcpy(&positions[3 * i], &positions[3 * j], sizeof keep);
        memcpy(&positions[3 * j], keep, sizeof keep);
    }
}

/* Reference points of molecules and free particles on a lattice, orientations at random, as far as sites then have room. */
static int molecules_from_lattice(const source *s)
{
    plugmc_system centres = *s->system;
    cores cores;
    double nearest;
    centres.particles = centres_in(s->system);
    double *sites = malloc(3 * (size_t)centres.particles * sizeof *sites),
           *own = malloc(3 * (size_t)centres.particles * sizeof *own);
    int code = !sites || !own ||
                       lattice_sites(&centres.box, s->config->initial.lattice, centres.particles,
                                     sites, &nearest)
                   ? EXIT_MEMORY
                   : EXIT_DONE;
    if (cores_make(s->system, s->contacts, &cores) && !code) code = EXIT_MEMORY;
    for (int32_t w = 0; w < s->system->walkers && !code; w++) {
        memcpy(own, sites, 3 * (size_t)centres.particles * sizeof *own);
        shuffle(&centres, w, own);
        molecules_at(s->system, (uint32_t)w, own, walker_positions(s, w),
                     walker_orientations(s, w));
        code = lattice_apart(s->system, &cores, s->config->initial.random_fraction, (uint32_t)w,
                             walker_positions(s, w), walker_orientations(s, w));
    }
    cores_free(&cores);
    free(sites), free(own);
    return code ? report_error(s->report, code, NULL, 0, "not enough memory for a lattice")
                : EXIT_DONE;
}

static int from_lattice(const source *s)
{
    const plugmc_system *system = s->system;
    const int kind = s->config->initial.lattice, dimension = system->box.dimension;
    const int flat = kind == LATTICE_SQUARE || kind == LATTICE_TRIANGULAR;
    double nearest;
    if (kind != LATTICE_AUTO && flat != (dimension == 2))
        return refuse(s, "lattice",
                      dimension == 2 ? "lattice: in two dimensions auto, square or triangular"
                                     : "lattice: in three dimensions auto, sc or fcc");
    if (system->molecules) return molecules_from_lattice(s);
    if (lattice_sites(&system->box, kind, system->particles, s->positions, &nearest) ||
        (s->orientations && kind == LATTICE_AUTO &&
         body_lattice(system, s->orientations, s->positions, nearest)))
        return report_error(s->report, EXIT_MEMORY, NULL, 0, "not enough memory for a lattice");
    if (system->particles > 1 && nearest < s->contacts->largest) {
        char sentence[512];
        snprintf(sentence, sizeof sentence,
                 "state = lattice: neighbours would overlap, with a distance of %.6g and a "
                 "contact distance of %.6g; %lld particles fit on a lattice in this box up "
                 "to packing fraction %.4f (now %.4f): use state = random",
                 nearest, s->contacts->largest, (long long)system->particles,
                 packing_fraction(system) * pow(nearest / s->contacts->largest, dimension),
                 packing_fraction(system));
        return refuse(s, "state", sentence);
    }
    for (int32_t w = 1; w < system->walkers; w++)
        memcpy(walker_positions(s, w), s->positions,
               3 * (size_t)system->particles * sizeof(double));
    if (system->species_count > 1 || long_ranged(system))
        for (int32_t w = 0; w < system->walkers; w++) shuffle(system, w, walker_positions(s, w));
    return EXIT_DONE;
}

/* ---- Random ---- */

/* Walkers side by side if they are enough, or small: threads that share one wait for each other thousands of
 * times, and each time takes milliseconds where other programs use the processors. Else all of them work on
 * one walker after the other. */
static bool side_by_side(const plugmc_system *system)
{
    const bool small = system->particles < 100000 && system->walkers > 1;
    return small || system->walkers >= system->threads;
}

/* A random state of each walker. *worst is the outcome of the first one that failed, or of one that did not. */
static int make_random(const source *s, const cores *cores, random_outcome *worst)
{
    const plugmc_system *system = s->system;
    const initial_section *in = &s->config->initial;
    random_outcome *outcomes = calloc((size_t)system->walkers, sizeof *outcomes);
    if (!outcomes) return EXIT_MEMORY;
#pragma omp parallel for schedule(dynamic) num_threads(system->threads) if (side_by_side(system))
    for (int32_t w = 0; w < system->walkers; w++)
        outcomes[w] =
            system->molecules
                ? random_molecules(system, cores, in->random_fraction, in->attempts, (uint32_t)w,
                                   walker_positions(s, w), walker_orientations(s, w))
            : s->orientations
                ? random_bodies(system, in->random_fraction, in->attempts, (uint32_t)w,
                                walker_positions(s, w), walker_orientations(s, w))
                : random_state(system, s->contacts, in->random_fraction, in->attempts, (uint32_t)w,
                               walker_positions(s, w));
    *worst = outcomes[0];
    for (int32_t w = 1; w < system->walkers && worst->code == EXIT_DONE; w++) *worst = outcomes[w];
    free(outcomes);
    return worst->code;
}

/* Why there is no random state. `energy`: of the smallest cores of molecules, kT; INFINITY if they are hard. */
static int refuse_random(const source *s, const random_outcome *worst, double energy)
{
    const plugmc_system *system = s->system;
    const initial_section *in = &s->config->initial;
    const double fraction = packing_fraction(system),
                 reached = pow(worst->scale, system->box.dimension);
    char sentence[512], soft[128] = "";
    if (system->molecules && isfinite(energy))
        snprintf(soft, sizeof soft, ", with up to %g kT for a pair of sites without its charges",
                 energy);
    if (worst->inserted < system->particles && system->molecules)
        snprintf(sentence, sizeof sentence,
                 "state = random: only %lld of %lld sites and particles were inserted within %lld "
                 "attempts each: use state = lattice, or a file",
                 (long long)worst->inserted, (long long)system->particles, (long long)in->attempts);
    else if (system->molecules)
        snprintf(sentence, sizeof sentence,
                 "state = random: molecules jammed at %.4f of the density of the run%s: use state "
                 "= lattice or a file",
                 reached, soft);
    else if (worst->inserted < system->particles)
        snprintf(sentence, sizeof sentence,
                 "state = random: only %lld of %lld particles were inserted within %lld "
                 "attempts each at packing fraction %.4f: decrease random_fraction or "
                 "increase attempts",
                 (long long)worst->inserted, (long long)system->particles, (long long)in->attempts,
                 worst->fraction);
    else
        snprintf(sentence, sizeof sentence,
                 "state = random: compression jammed at packing fraction %.4f, below the "
                 "requested %.4f: use state = lattice or a file",
                 fraction * reached, fraction);
    return refuse(s, worst->inserted < system->particles ? "attempts" : "state", sentence);
}

static int from_random(const source *s)
{
    random_outcome worst = {0};
    cores cores = {0};
    int code = s->system->molecules ? cores_make(s->system, s->contacts, &cores) : EXIT_DONE;
    const double energy = cores.levels > 1 ? cores.energy[cores.levels - 1] : INFINITY;
    if (!code) code = make_random(s, &cores, &worst);
    cores_free(&cores);
    if (code == EXIT_DONE) return EXIT_DONE;
    if (code == EXIT_MEMORY)
        return report_error(s->report, EXIT_MEMORY, NULL, 0, "not enough memory for random states");
    return refuse_random(s, &worst, energy);
}

/* ---- File ---- */

/* Where numbers may change a file says how many there are: of each site as many as of the others. */
static int check_numbers_of_file(const source *s, int32_t walker)
{
    const plugmc_system *system = s->system;
    const double *at = walker_positions(s, walker);
    int64_t count[system->species_count + 1], sites[system->species_count + 1];
    if (!(system->changes & PLUGMC_CHANGED_COUNT)) return EXIT_DONE;
    for (int32_t k = 0; k < system->species_count; k++) {
        sites[k] = plugmc_species_at(system, k)->count - sites_of_species(system, k);
        count[k] = 0;
        for (int64_t i = system->first[k]; i < system->first[k + 1]; i++)
            count[k] += !isnan(at[3 * i]);
    }
    for (int32_t k = 0; k < system->molecules->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(system->molecules, k);
        for (int32_t a = 0; a < kind->sites; a++)
            sites[kind->species[a]] += plugmc_molecules_of_kind(kind, count);
    }
    for (int32_t k = 0; k < system->species_count; k++)
        if (has_sites(system, k) && sites[k] != count[k])
            return report_error(
                s->report, EXIT_INPUT, s->config->initial.file, 0,
                "the file has %lld particles of species %s, which do not make whole molecules with "
                "the others: they would be %lld",
                (long long)count[k], plugmc_species_at(system, k)->name, (long long)sites[k]);
    return EXIT_DONE;
}

static int from_file(const source *s)
{
    int code = state_from_file(s->config, s->system, s->first, s->positions, s->orientations,
                               s->boxes, s->report);
    for (int32_t w = 0; w < s->system->walkers && s->system->molecules && !code; w++) {
        double misfit;
        const plugmc_box *box = s->boxes ? &s->boxes[w] : &s->system->box;
        code = check_numbers_of_file(s, w);
        if (code) break;
        const int64_t m = fit_molecules(s->system, box, walker_positions(s, w),
                                        walker_orientations(s, w), &misfit);
        int64_t within = m;
        if (m >= 0)
            code = report_error(
                s->report, EXIT_INPUT, s->config->initial.file, 0,
                "sites of molecule %lld are up to %.3g away from where they are at rest in [molecule %s]: "
                "each species must have its sites molecule by molecule, in the order of `sites`, and "
                "free particles behind them",
                (long long)m, misfit, plugmc_molecule_at(s->system->molecules, m, &within)->name);
    }
    return code;
}

/* ---- Near ions ---- */

static int from_ions(const source *s)
{
    const plugmc_system *system = s->system;
    plugmc_ions ions;
    int failed = 0;
    if (system->molecules)
        return refuse(s, "state", "state = near_ions is for electrons, not for molecules");
    if (!near_ions_find(system, &ions))
        return refuse(s, "state",
                      "state = near_ions: no potential of the run has ions: it needs the "
                      "orbitals of a wave function of atoms");
#pragma omp parallel for schedule(dynamic) num_threads(system->threads) reduction(| : failed)
    for (int32_t w = 0; w < system->walkers; w++)
        failed |= near_ions_place(system, &ions, s->config->initial.ion_width, (uint32_t)w,
                                  walker_positions(s, w));
    return failed ? report_error(s->report, EXIT_MEMORY, NULL, 0,
                                 "not enough memory for electrons near ions")
                  : EXIT_DONE;
}

/* ---- Check ---- */

/* Of hard cores first, then of bodies: their contact distance depends on how they are turned, and is given as NaN. */
static int overlap_of(const plugmc_system *system, const double *positions,
                      const plugmc_orientation *orientations, overlap *out)
{
    int64_t pair[2];
    int found = find_overlap(system, positions, out);
    if (found || !orientations || !any_bodies(system)) return found;
    found = find_bodies_overlap(system, positions, orientations, pair);
    if (found == 1) *out = (overlap){pair[0], pair[1], NAN, NAN};
    return found;
}

/* As overlap_of, of those that are there. */
static int find_overlap_of(const source *s, int32_t walker, overlap *out)
{
    plugmc_system own = *s->system, *system = &own;
    if (s->boxes) own.box = s->boxes[walker];
    const double *from = walker_positions(s, walker);
    const plugmc_orientation *turned = walker_orientations(s, walker);
    int64_t first[system->species_count + 1], count[system->species_count + 1], n = 0;
    if (!(system->changes & PLUGMC_CHANGED_COUNT)) return overlap_of(system, from, turned, out);
    int64_t *who = malloc((size_t)(system->particles + 1) * sizeof *who);
    double *places = malloc((3 * (size_t)system->particles + 1) * sizeof *places);
    plugmc_orientation *turns = malloc((size_t)(system->particles + 1) * sizeof *turns);
    plugmc_system here = *system;
    int found = who && places && turns ? 0 : -1;
    for (int32_t k = 0; k < system->species_count && !found; k++) {
        first[k] = n;
        for (int64_t i = system->first[k]; i < system->first[k + 1]; i++) {
            if (isnan(from[3 * i])) continue;
            memcpy(places + 3 * n, from + 3 * i, 3 * sizeof *from);
            if (turned) turns[n] = turned[i];
            who[n++] = i;
        }
        count[k] = n - first[k];
    }
    first[system->species_count] = n;
    here.first = first;
    here.particles = n;
    const bool packed = !found;
    if (packed && molecule_kinds_pack(&here, count)) found = -1;
    if (!found && n) found = overlap_of(&here, places, turned ? turns : NULL, out);
    if (found == 1) out->i = who[out->i], out->j = out->j >= 0 ? who[out->j] : -1;
    if (packed) molecule_kinds_free(&here);
    free(who), free(places), free(turns);
    return found;
}

static int check_overlaps(const source *s)
{
    const plugmc_system *system = s->system;
    const char *path = s->given ? NULL : s->config->ini.path,
               *what = s->given ? "positions:" : "[initial]";
    const int line = config_line(s->config, "initial", "state");
    overlap *found = calloc((size_t)system->walkers, sizeof *found);
    int *result = calloc((size_t)system->walkers, sizeof *result);
    int code = found && result ? EXIT_DONE : EXIT_MEMORY;
#pragma omp parallel for schedule(dynamic)                                                         \
    num_threads(system->threads) if (!code && side_by_side(system))
    for (int32_t w = 0; w < (code ? 0 : system->walkers); w++)
        result[w] = find_overlap_of(s, w, &found[w]);
    for (int32_t w = 0; w < system->walkers && !code; w++) {
        const overlap *o = &found[w];
        if (result[w] < 0) code = EXIT_MEMORY;
        if (result[w] == 1 && o->j >= 0 && isnan(o->contact))
            code = report_error(
                s->report, EXIT_INPUT, path, line,
                "%s bodies %lld (%s) and %lld (%s) of walker %d overlap", what, (long long)o->i,
                plugmc_species_at(system, species_of(system, o->i))->name, (long long)o->j,
                plugmc_species_at(system, species_of(system, o->j))->name, s->first + w);
        else if (result[w] == 1 && o->j >= 0)
            code = report_error(
                s->report, EXIT_INPUT, path, line,
                "%s particles %lld (%s) and %lld (%s) of walker %d overlap: "
                "they are %.10g apart, their contact distance is %.10g",
                what, (long long)o->i, plugmc_species_at(system, species_of(system, o->i))->name,
                (long long)o->j, plugmc_species_at(system, species_of(system, o->j))->name,
                s->first + w, o->distance, o->contact);
        else if (result[w] == 1) {
            const double *at = walker_positions(s, w) + 3 * o->i;
            code = report_error(s->report, EXIT_INPUT, path, line,
                                "%s particle %lld (%s) of walker %d is at (%g, %g, %g), "
                                "outside the domain or in a region that a potential forbids",
                                what, (long long)o->i,
                                plugmc_species_at(system, species_of(system, o->i))->name,
                                s->first + w, at[0], at[1], at[2]);
        }
    }
    free(found);
    free(result);
    if (code == EXIT_MEMORY)
        report_error(s->report, EXIT_MEMORY, NULL, 0, "not enough memory to look for overlaps");
    return code;
}

/* ---- Given by a host program ---- */

/* Where nobody has to be, a place is NaN; where numbers change, somebody may be. */
static int check_place(const source *s, int32_t walker, int64_t i, const plugmc_box *box)
{
    const plugmc_system *system = s->system;
    double *at = walker_positions(s, walker) + 3 * i;
    const bool finite = isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]),
               nobody = isnan(at[0]) && isnan(at[1]) && isnan(at[2]);
    if (nobody && system->changes & PLUGMC_CHANGED_COUNT) return 0;
    if (!finite || far_away(box, at))
        return report_error(s->report, EXIT_INPUT, NULL, 0,
                            "positions: particle %lld (%s) of walker %d is at (%g, %g, %g), "
                            "which is not in its box",
                            (long long)i, plugmc_species_at(system, species_of(system, i))->name,
                            s->first + walker, at[0], at[1], at[2]);
    if (box->dimension == 2 && at[2] != 0)
        return report_error(s->report, EXIT_INPUT, NULL, 0,
                            "positions: particle %lld of walker %d has z = %g: in two dimensions "
                            "it is 0",
                            (long long)i, s->first + walker, at[2]);
    if (box->domain == PLUGMC_DOMAIN_PERIODIC) plugmc_wrap(box, at);
    return 0;
}

/* Of each species those who are there come first. */
static int check_order(const source *s, int32_t walker)
{
    const plugmc_system *system = s->system;
    const double *at = walker_positions(s, walker);
    for (int32_t k = 0; k < system->species_count; k++)
        for (int64_t i = system->first[k] + 1; i < system->first[k + 1]; i++)
            if (isnan(at[3 * (i - 1)]) && !isnan(at[3 * i]))
                return report_error(s->report, EXIT_INPUT, NULL, 0,
                                    "positions: particle %lld (%s) of walker %d is present, "
                                    "but %lld before it is not: present particles must come "
                                    "first",
                                    (long long)i, plugmc_species_at(system, k)->name,
                                    s->first + walker, (long long)(i - 1));
    return 0;
}

int initial_check(const config *config, const plugmc_system *system, int32_t first,
                  double *positions, const plugmc_orientation *orientations, plugmc_box *boxes,
                  report *report)
{
    const source s = {config, system, first, NULL, positions, (plugmc_orientation *)orientations,
                      boxes,  report, true};
    int code = 0;
    for (int32_t w = 0; w < system->walkers && !code; w++) {
        for (int64_t i = 0; i < system->particles && !code; i++)
            code = check_place(&s, w, i, &boxes[w]);
        if (!code) code = check_order(&s, w);
    }
    return code ? code : check_overlaps(&s);
}
