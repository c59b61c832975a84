/* The core's sections: their keys with units, ranges and defaults, and what must hold between
 * them. Sizes of box and particles are checked against each other where the system is built.
 */
#include "input/config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "input/former_keys.h"

/* ---- Keys ------------------------------------------------------------------------------------ */

/* Sweeps are counted below 2^48, see plugmc_draw: 1e14 before and 1e14 after equilibration. */
const plugmc_parameter run_table[] = {
    PLUGMC_INTEGER_KEY(run_section, sweeps, NULL, 1, 1e14, "sweeps",
                       "length of the run after equilibration; the mover defines the trial "
                       "moves in a sweep"),
    PLUGMC_INTEGER_KEY(run_section, equilibrate, "0", 0, 1e14, "sweeps",
                       "sweeps before measurements begin; steps of trial moves are tuned in "
                       "them"),
    PLUGMC_INTEGER_KEY(run_section, seed, "1", 0, 0x1p63, "",
                       "key of the random numbers: the same seed gives the same chain"),
    PLUGMC_INTEGER_KEY(run_section, walkers, "1", 1, 1e6, "",
                       "independent replicas, each with its own Markov chain"),
    PLUGMC_INTEGER_KEY(run_section, first_walker, "0", 0, 2e9, "",
                       "number of the first walker: runs with the same seed and different "
                       "walker numbers are parts of one run"),
    PLUGMC_INTEGER_KEY(
        run_section, threads, "0", 0, 4096, "",
        "threads on the CPU; 0: all that the machine offers, or one if that is faster"),
    PLUGMC_CHOICE_KEY(
        run_section, device, "auto", "auto|cpu|gpu",
        "where to run; auto: on a GPU, if there is one, the mover supports it and says "
        "that it is clearly faster there"),
    PLUGMC_INTEGER_KEY(run_section, gpu, "0", 0, 1023, "", "index of the GPU to run on"),
    PLUGMC_FLAG_KEY(run_section, fast_math, "no",
                    "approximate functions in GPU kernels: faster, but the chain differs "
                    "from that on a CPU"),
    PLUGMC_FILE_KEY(run_section, output, "",
                    "HDF5 file to write; if empty, the INI file's path with .h5 for .ini"),
    PLUGMC_FILE_KEY(run_section, csv, "",
                    "text file with a table of the scalar results; if empty, none"),
    PLUGMC_FILE_KEY(run_section, log, "",
                    "file to which messages and progress are appended, with times; if empty, none"),
    PLUGMC_TEXT_KEY(
        run_section, show, "",
        "up to two quantities, OBSERVABLE.NAME, whose averages and errors are shown with the "
        "progress"),
    PLUGMC_TEXT_KEY(run_section, author, "",
                    "author of the run, NAME or NAME <MAIL>, for the output file"),
    PLUGMC_LIST_KEY(
        run_section, temperature, 0, "1", 1e-300, 1e300, "energy",
        "k_B T in the energy unit of the potentials, or in the unit of [units]; one value, "
        "or one for each walker, with separate results"),
    PLUGMC_REAL_KEY(run_section, pressure, "0", -1e30, 1e30, "energy/length^D",
                    "required by movers that change the volume; or in the unit of [units]"),
    PLUGMC_REAL_KEY(run_section, checkpoint, "600", 0, 1e9, "s",
                    "wall time between checkpoints; 0: only at the end"),
    PLUGMC_REAL_KEY(run_section, time_limit, "0", 0, 1e9, "s",
                    "wall time from the first sweep of a command, after which the run writes a "
                    "checkpoint and stops; 0: no limit"),
};

const plugmc_parameter box_table[] = {
    PLUGMC_INTEGER_KEY(box_section, dimension, NULL, 2, 3, "", "of space"),
    PLUGMC_CHOICE_KEY(box_section, shape, "square", "square|triangular|rectangle|sphere|oblique",
                      "square: periodic, equal edges; triangular: periodic, edges 1 : sqrt(3)/2 "
                      "(: 1), which a triangular lattice fits; rectangle: periodic, edges lx, ly, "
                      "lz; sphere: particle centres within the radius; oblique: periodic, lattice "
                      "vectors a, b, c"),
    PLUGMC_REAL_KEY(box_section, packing_fraction, "0", 0, 1, "",
                    "fraction of the volume (area in 2D) inside particles, which sets the "
                    "size of the box; 0: not given"),
    PLUGMC_REAL_KEY(
        box_section, density, "0", 0, 1e30, "length^-D",
        "particles per volume (area in 2D), a molecule counted as one, which sets the size "
        "of the box; 0: not given"),
    PLUGMC_REAL_KEY(box_section, lx, "0", 0, 1e30, "length", "edge of the box; 0: not given"),
    PLUGMC_REAL_KEY(box_section, ly, "0", 0, 1e30, "length", "edge of the box; 0: not given"),
    PLUGMC_REAL_KEY(box_section, lz, "0", 0, 1e30, "length", "edge of the box; 0: not given"),
    PLUGMC_REAL_KEY(box_section, radius, "0", 0, 1e30, "length",
                    "radius of the sphere; 0: not given"),
    PLUGMC_LIST_KEY(box_section, a, 0, "", -1e30, 1e30, "length",
                    "lattice vector of an oblique box: x, y and z with blanks between them"),
    PLUGMC_LIST_KEY(box_section, b, 0, "", -1e30, 1e30, "length", "second lattice vector"),
    PLUGMC_LIST_KEY(box_section, c, 0, "", -1e30, 1e30, "length", "third lattice vector"),
};

const plugmc_parameter species_table[] = {
    PLUGMC_INTEGER_KEY(
        species_section, count, "0", 0, 2e9, "",
        "number of particles in each walker, without sites of molecules; the initial number, where a "
        "mover changes it. Required unless a molecule has sites of the species"),
    PLUGMC_INTEGER_KEY(
        species_section, max_count, "0", 0, 2e9, "",
        "largest number in a walker, where a mover changes the number; 0: no limit if the species "
        "has a reservoir, else `count`"),
    PLUGMC_REAL_KEY(
        species_section, diameter, "1", 0, 1e30, "length",
        "diameter of a particle, for hard cores and packing fractions; with [units] hard "
        "cores need it"),
    PLUGMC_REAL_KEY(species_section, charge, "0", -1e6, 1e6, "e", "charge of a particle"),
    PLUGMC_REAL_KEY(species_section, mass, "1", 1e-30, 1e30, "",
                    "mass of a particle, for movers with momenta"),
    PLUGMC_REAL_KEY(species_section, activity, "0", 0, 1e300, "length^-D",
                    "activity z of the reservoir, which is given by this key or one of mu, "
                    "chemical_potential, fugacity and pressure; 0: not given"),
    PLUGMC_LIST_KEY(
        species_section, mu, 0, "", -1e300, 1e300, "energy",
        "chemical potential of the reservoir without the de Broglie factor: mu = kT ln z"),
    PLUGMC_LIST_KEY(
        species_section, chemical_potential, 0, "", -1e300, 1e300, "energy",
        "chemical potential of the reservoir with the de Broglie factor, kT ln(z Lambda^D); "
        "it needs thermal_wavelength"),
    PLUGMC_TEXT_KEY(
        species_section, thermal_wavelength, "",
        "thermal de Broglie wavelength Lambda: a length, or mass: h / sqrt(2 pi m kT) with the "
        "mass in u, which needs [units]"),
    PLUGMC_REAL_KEY(
        species_section, fugacity, "0", 0, 1e300, "energy/length^D",
        "fugacity f of the reservoir, z = f / kT; with [units] in their unit of pressure; 0: "
        "not given"),
    PLUGMC_REAL_KEY(
        species_section, pressure, "0", 0, 1e300, "energy/length^D",
        "pressure P of the reservoir, z = phi P / kT with the fugacity coefficient phi; with "
        "[units] in their unit of pressure; 0: not given"),
    PLUGMC_TEXT_KEY(
        species_section, fugacity_coefficient, "",
        "phi for pressure: a number, or peng_robinson: by the equation of state of Peng and "
        "Robinson from the three keys below; if empty, 1"),
    PLUGMC_REAL_KEY(
        species_section, critical_temperature, "0", 0, 1e300, "energy",
        "of the fluid in the reservoir, in the unit of [run] temperature; 0: not given"),
    PLUGMC_REAL_KEY(species_section, critical_pressure, "0", 0, 1e300, "energy/length^3",
                    "of the fluid in the reservoir, in the unit of pressure; 0: not given"),
    PLUGMC_LIST_KEY(species_section, acentric_factor, 0, "", -1, 2, "",
                    "of the fluid in the reservoir"),
};

const plugmc_parameter molecule_table[] = {
    PLUGMC_TEXT_KEY(molecule_section, sites, NULL,
                    "species of the sites, at most 64, with blanks between them: O H H"),
    PLUGMC_LIST_KEY(
        molecule_section, places, 0, NULL, -1e30, 1e30, "length",
        "x y z of each site of the molecule at rest, about any origin. The first site is its "
        "reference point"),
    PLUGMC_INTEGER_KEY(molecule_section, count, NULL, 1, 2e9, "",
                       "number of molecules in each walker"),
    PLUGMC_LIST_KEY(molecule_section, centre, 0, "", -1e30, 1e30, "length",
                    "x y z of the point about which trial rotations turn, in the coordinates of "
                    "`places`; not given: the first site"),
};

const plugmc_parameter initial_table[] = {
    PLUGMC_CHOICE_KEY(initial_section, state, "lattice", "lattice|random|file|near_ions",
                      "lattice: species mixed at random over its sites; random: inserted at random "
                      "and compressed; file: read from one; near_ions: electrons around the ions "
                      "of a wave function, as many as their charges"),
    PLUGMC_CHOICE_KEY(initial_section, lattice, "auto", "auto|square|triangular|sc|fcc",
                      "type of lattice for state = lattice; auto: the densest one that fits "
                      "the box"),
    PLUGMC_FILE_KEY(
        initial_section, file, "",
        "for state = file: H5MD, with a configuration for each walker, or GSD, extended XYZ, PDB, GRO or "
        "LAMMPS data, with one for all. A run with changing boxes or numbers of particles starts "
        "with those of the file"),
    PLUGMC_INTEGER_KEY(
        initial_section, frame, "-1", -1e15, 1e15, "",
        "for state = file: number of the frame, from 0; -1: the last, -2: the one before"),
    PLUGMC_TEXT_KEY(initial_section, types, "",
                    "for LAMMPS data whose types have no labels: the species of types 1, 2, ..."),
    PLUGMC_CHOICE_KEY(
        initial_section, atom_style, "of_file", "of_file|atomic|charge|molecular|full",
        "for LAMMPS data: columns of its section Atoms; of_file: as its comment says"),
    PLUGMC_REAL_KEY(initial_section, random_fraction, "0.2", 1e-6, 1, "",
                    "for state = random: packing fraction of the insertion, before compression"),
    PLUGMC_INTEGER_KEY(initial_section, attempts, "1000000", 1, 1e12, "",
                       "for state = random: largest number of attempts to insert a particle"),
    PLUGMC_REAL_KEY(initial_section, ion_width, "1", 1e-6, 1e6, "length",
                    "for state = near_ions: standard deviation of an electron's distance "
                    "from its ion in each direction"),
};

#define PLUGIN_KEY                                                                                 \
    PLUGMC_TEXT_KEY(plugin_section, plugin, "",                                                    \
                    "name of the plugin, or path of its .so (with a '/'); if empty, the "          \
                    "section's label")

enum { ROLE_SAMPLED, ROLE_MEASURED };

/* `role` is read into `sampled`, which is then turned from a choice into a truth. */
static const plugmc_parameter potential_table[] = {
    PLUGIN_KEY,
    {"role", PLUGMC_TYPE_CHOICE, 0, offsetof(plugin_section, sampled), "sampled", 0, 0, "",
     "sampled|measured",
     "sampled: part of the energy that is sampled, a term of -ln p; measured: only observables see it",
     0},
    PLUGMC_REAL_KEY(
        plugin_section, coupling, "1", -1e30, 1e30, "",
        "factor of its energy in -ln p, which a ladder may vary; hard cores are unaffected"),
};
const plugmc_parameter ladder_table[] = {
    PLUGMC_TEXT_KEY(ladder_section, vary, NULL,
                    "key that varies along the ladder: run.temperature, run.pressure, "
                    "SPECIES.mu or LABEL.coupling of a sampled potential"),
    PLUGMC_LIST_KEY(ladder_section, values, 0, NULL, -1e300, 1e300, "",
                    "its values, one for each rung; all rungs have the same number of walkers"),
    PLUGMC_TEXT_KEY(ladder_section, vary_2, "",
                    "a second key: the ladder then has a rung for each pair of values"),
    PLUGMC_LIST_KEY(ladder_section, values_2, 0, "", -1e300, 1e300, "", "its values"),
};
static const plugmc_parameter mover_table[] = {
    PLUGMC_TEXT_KEY(plugin_section, plugin, "",
                    "name of the plugin, or path of its .so (with a '/'); if empty, the section's "
                    "label; auto: the mover of single particles that says to be the fastest for "
                    "this system, with the keys step and target_acceptance"),
    PLUGMC_INTEGER_KEY(
        plugin_section, every, "1", 1, 1e14, "sweeps",
        "the mover acts in every n-th sweep; several movers act in the order of their "
        "sections"),
    PLUGMC_INTEGER_KEY(plugin_section, period, "100", 1, 1e14, "sweeps",
                       "sweeps between measurements, for movers that measure"),
};
static const plugmc_parameter observable_table[] = {
    PLUGIN_KEY,
    PLUGMC_INTEGER_KEY(plugin_section, period, "100", 1, 1e14, "sweeps",
                       "sweeps between measurements"),
};

const plugmc_parameter trajectory_table[] = {
    PLUGMC_CHOICE_KEY(
        trajectory_keys, format, "gsd", "gsd|h5md",
        "format of the trajectory, which is a file beside the output: gsd, one file a walker, NAME.gsd; "
        "h5md, one for all walkers, NAME.h5md"),
    PLUGMC_CHOICE_KEY(
        trajectory_keys, precision, "double", "double|single",
        "of positions in GSD files: double adds them in double precision to those in single precision "
        "that the format has; single leaves them out"),
};

const int trajectory_count = PLUGMC_COUNT(trajectory_table);
const int run_count = PLUGMC_COUNT(run_table), box_count = PLUGMC_COUNT(box_table),
          species_count = PLUGMC_COUNT(species_table),
          molecule_count = PLUGMC_COUNT(molecule_table),
          initial_count = PLUGMC_COUNT(initial_table), ladder_count = PLUGMC_COUNT(ladder_table);
static const int potential_count = PLUGMC_COUNT(potential_table),
                 mover_count = PLUGMC_COUNT(mover_table),
                 observable_count = PLUGMC_COUNT(observable_table);

const char *const potential_keys[] = {"plugin", "role", "coupling", NULL};
const char *const mover_keys[] = {"plugin", "every", "period", NULL};
const char *const observable_keys[] = {"plugin", "period", NULL};
const char *const writer_keys[] = {"plugin", "period", "format", "precision", NULL};

enum { ANY = 1 << 20, MOST_SPECIES = 255 /* movers keep the index in a byte */, MOST_MOVERS = 64 };

const section_kind section_kinds[] = {
    {"run", "length of the run, hardware and output", 0, 0, 1, 1, run_table, &run_count},
    {"units", "units of input and results; without it the unit of energy is that of k_B T", 0, 0, 0,
     1, units_table, &units_count},
    {"box", "simulation box; its size follows from packing_fraction, density, edges or radius", 0,
     0, 1, 1, box_table, &box_count},
    {"species", "particle species, numbered in the order of their sections", 0, 1, 1, MOST_SPECIES,
     species_table, &species_count},
    {"molecule", "rigid molecules of one kind, whose sites are particles", 0, 1, 0, MOST_SPECIES,
     molecule_table, &molecule_count},
    {"initial", "initial configuration", 0, 0, 0, 1, initial_table, &initial_count},
    {"ladder", "values of one or two keys for the rungs of a ladder", 0, 0, 0, 1, ladder_table,
     &ladder_count},
    {"potential", "term of -ln p, which is the sum of all of them", PLUGMC_POTENTIAL, 1, 1, ANY,
     potential_table, &potential_count},
    {"mover", "trial moves", PLUGMC_MOVER, 1, 1, MOST_MOVERS, mover_table, &mover_count},
    {"observable", "measured quantities", PLUGMC_OBSERVABLE, 1, 0, ANY, observable_table,
     &observable_count},
};
const int section_kind_count = PLUGMC_COUNT(section_kinds);

/* ---- Reading --------------------------------------------------------------------------------- */

static void check_sections(config *, report *);
static void read_run(config *, report *);
static void read_units(config *, report *);
static void read_initial(config *, report *);
static void read_species(config *, report *);
static void read_molecules(config *, report *);
static void read_plugins(config *, report *);

/* One section of the core into its struct. */
static void read_section(config *c, ini_section *s, const plugmc_parameter *table, int count,
                         void *instance, report *r)
{
    parameters_fill(table, count, sizeof(real), instance, c->ini.path, s, r);
    if (s) former_keys_warn(&c->ini, s, r);
    if (s) parameters_unused(table, count, NULL, c->ini.path, s, r);
}

int config_read(config *c, report *r)
{
    int before = r->errors;
    check_sections(c, r);
    read_run(c, r);
    ini_section *box = ini_find(&c->ini, "box");
    if (box) read_section(c, box, box_table, box_count, &c->box, r);
    read_species(c, r);
    read_molecules(c, r);
    read_initial(c, r);
    if (ini_find(&c->ini, "ladder"))
        read_section(c, ini_find(&c->ini, "ladder"), ladder_table, ladder_count, &c->ladder, r);
    read_units(c, r);
    read_plugins(c, r);
    return r->errors > before ? r->code : 0;
}

static const section_kind *find_kind(const char *name)
{
    for (int i = 0; i < section_kind_count; i++)
        if (strcmp(section_kinds[i].name, name) == 0) return &section_kinds[i];
    return NULL;
}

static int count_kind(const config *c, const char *kind)
{
    int count = 0;
    for (int i = 0; i < c->ini.count; i++) count += strcmp(c->ini.sections[i].kind, kind) == 0;
    return count;
}

/* Labels name datasets, columns and files, so they are words. */
static bool is_word(const char *label)
{
    for (const unsigned char *s = (const unsigned char *)label; *s; s++)
        if (*s < 0x80 && !isalnum(*s) && !strchr("_-+.", *s)) return false;
    return strcmp(label, ".") != 0 && strcmp(label, "..") != 0;
}

static void unknown_section(const config *c, const ini_section *s, report *r)
{
    const char *names[PLUGMC_COUNT(section_kinds)];
    for (int i = 0; i < section_kind_count; i++) names[i] = section_kinds[i].name;
    if (!strcmp(s->name, "scan") || !strcmp(s->name, "twists")) {
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "a file with a section [%s] is a study of several runs: use plugmc scan",
                     s->name);
        return;
    }
    const char *nearest = nearest_name(s->kind, names, section_kind_count);
    if (!nearest) {
        char kinds[256] = "";
        for (int i = 0; i < section_kind_count; i++) {
            size_t used = strlen(kinds);
            snprintf(kinds + used, sizeof kinds - used, "%s[%s%s]", used ? ", " : "",
                     section_kinds[i].name, section_kinds[i].labelled ? " NAME" : "");
        }
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "unknown section [%s]; there are %s", s->name, kinds);
        return;
    }
    report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                 "unknown section [%s]; did you mean [%s%s]?", s->name, nearest,
                 find_kind(nearest)->labelled ? " ..." : "");
}

static void check_section(const config *c, const ini_section *s, report *r)
{
    const section_kind *kind = find_kind(s->kind);
    const ini_section *first = ini_find(&c->ini, s->kind);
    if (!kind)
        unknown_section(c, s, r);
    else if (!kind->labelled && *s->label)
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[%s] must not have a name: write [%s]", s->name, s->kind);
    else if (kind->labelled && !*s->label)
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[%s] needs a name: write [%s NAME]", s->name, s->kind);
    else if (!is_word(s->label))
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[%s] '%s' is not a valid name: use letters, digits, '_', '-', '+' and "
                     "'.'%s",
                     s->name, s->label, kind->plugin ? "; a path goes into the key 'plugin'" : "");
    else if (kind->most == 1 && s != first)
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[%s] is a second [%s]: a run has only one, and [%s] is in line %d", s->name,
                     s->kind, first->name, first->line);
}

static void check_sections(config *c, report *r)
{
    for (int i = 0; i < c->ini.count; i++) check_section(c, &c->ini.sections[i], r);
    for (int i = 0; i < section_kind_count; i++) {
        const section_kind *kind = &section_kinds[i];
        int count = count_kind(c, kind->name);
        if (kind->plugin == PLUGMC_MOVER && c->without_mover) continue;
        if (count < kind->least)
            report_error(r, EXIT_INPUT, c->ini.path, 0, "there is no section [%s%s]%s", kind->name,
                         kind->labelled ? " NAME" : "",
                         kind->plugin == PLUGMC_POTENTIAL
                             ? "; an ideal gas has one, too: hard cores with [species] diameter = 0"
                             : "");
        else if (kind->labelled && kind->most > 1 && count > kind->most)
            report_error(r, EXIT_INPUT, c->ini.path, 0,
                         "there are %d sections [%s NAME]: the limit is %d", count, kind->name,
                         kind->most);
    }
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* dir/sim.ini writes dir/sim.h5, and so does a run resumed from dir/sim.h5. */
static const char *default_output(const char *path)
{
    char *output = NULL;
    size_t length = strlen(path);
    if (ends_in(path, ".h5")) return keep_text(path);
    if (ends_in(path, ".ini")) length -= strlen(".ini");
    if (asprintf(&output, "%.*s.h5", (int)length, path) < 0) checked(NULL);
    const char *kept = keep_text(output);
    free(output);
    return kept;
}

static void read_run(config *c, report *r)
{
    ini_section *s = ini_find(&c->ini, "run");
    if (!s) return;
    read_section(c, s, run_table, run_count, &c->run, r);
    const char *read = c->ini.archive ? c->ini.archive : c->ini.path;
    if (!c->run.output || !*c->run.output) c->run.output = default_output(read);

    const char *const keys[] = {"output", "csv", "log"}, *const files[] = {c->run.output,
                                                                           c->run.csv, c->run.log};
    for (int i = 0; i < 3; i++)
        if (files[i] && ends_in(files[i], ".ini"))
            report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                         "[run] %s = %s: this name would be read as an INI file", keys[i],
                         files[i]);
    if (c->run.csv && strcmp(c->run.csv, c->run.output) == 0)
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[run] output and csv are both '%s'", c->run.csv);
    else if (c->run.csv && strcmp(c->run.csv, read) == 0 && !ends_in(c->run.csv, ".ini"))
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[run] csv = %s: this is the input file", c->run.csv);
    if (c->run.log && *c->run.log &&
        (!strcmp(c->run.log, c->run.output) || !strcmp(c->run.log, c->run.csv)))
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[run] log = %s: this is also another output of the run", c->run.log);
}

static void read_units(config *c, report *r)
{
    const int before = r->errors;
    ini_section *s = ini_find(&c->ini, "units");
    c->units = units_reduced();
    if (!s) return;
    read_section(c, s, units_table, units_count, &c->units_section, r);
    if (r->errors == before) c->units = units_of(&c->units_section);
}

static void read_species(config *c, report *r)
{
    c->species_count = 0;
    c->species = checked(calloc((size_t)c->ini.count + 1, sizeof *c->species));
    c->species_names = checked(calloc((size_t)c->ini.count + 1, sizeof *c->species_names));
    for (int i = 0; i < c->ini.count; i++) {
        ini_section *s = &c->ini.sections[i];
        if (strcmp(s->kind, "species") != 0) continue;
        c->species_names[c->species_count] = s->label;
        read_section(c, s, species_table, species_count, &c->species[c->species_count++], r);
    }
}

/* Whether a word is among those of a text. */
static bool has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = text; at && *at; at += strcspn(at, " \t")) {
        at += strspn(at, " \t");
        if (!strncmp(at, word, n) && strchr(" \t", at[n])) return true;
    }
    return false;
}

/* A species without a `count` is one of molecules alone. */
static void check_count(const config *c, const ini_section *s, report *r)
{
    if (ini_get(s, "count")) return;
    for (int k = 0; k < c->molecule_count; k++)
        if (has_word(c->molecules[k].sites, s->label)) return;
    report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                 "[%s] key 'count' is missing: number of particles in each walker", s->name);
}

static void read_molecules(config *c, report *r)
{
    c->molecule_count = 0;
    c->molecules = checked(calloc((size_t)c->ini.count + 1, sizeof *c->molecules));
    c->molecule_names = checked(calloc((size_t)c->ini.count + 1, sizeof *c->molecule_names));
    for (int i = 0; i < c->ini.count; i++) {
        ini_section *s = &c->ini.sections[i];
        if (strcmp(s->kind, "molecule") != 0) continue;
        c->molecule_names[c->molecule_count] = s->label;
        read_section(c, s, molecule_table, molecule_count, &c->molecules[c->molecule_count++], r);
    }
    for (int i = 0; i < c->ini.count; i++)
        if (!strcmp(c->ini.sections[i].kind, "species")) check_count(c, &c->ini.sections[i], r);
}

static void read_initial(config *c, report *r)
{
    ini_section *s = ini_find(&c->ini, "initial");
    read_section(c, s, initial_table, initial_count, &c->initial, r);
    if (!c->initial.file) return;
    bool from_file = c->initial.state == INITIAL_FILE, named = *c->initial.file != 0;
    if (from_file && !named)
        report_error(r, EXIT_INPUT, ini_source(&c->ini, s), s->line,
                     "[initial] state = file: key 'file' must name it");
    if (!from_file && named && ini_get(s, "file"))
        report_error(r, EXIT_INPUT, c->ini.path, ini_get(s, "file")->line,
                     "[initial] file = %s: this key needs state = file", c->initial.file);
}

static void read_plugins(config *c, report *r)
{
    c->plugin_count = 0;
    c->plugins = checked(calloc((size_t)c->ini.count + 1, sizeof *c->plugins));
    for (int i = 0; i < c->ini.count; i++) {
        ini_section *s = &c->ini.sections[i];
        const section_kind *kind = find_kind(s->kind);
        if (!kind || !kind->plugin) continue;
        plugin_section *p = &c->plugins[c->plugin_count++];
        parameters_fill(kind->table, *kind->count, sizeof(real), p, c->ini.path, s, r);
        p->section = s;
        p->kind = kind->plugin;
        p->sampled = p->kind == PLUGMC_POTENTIAL && p->sampled == ROLE_SAMPLED;
        ini_entry *plugin = ini_get(s, "plugin");
        if (!p->plugin || !*p->plugin)
            p->plugin = s->label;
        else if (strchr(p->plugin, '/') && plugin)
            p->plugin = keep_text(parameters_path(s, plugin));
    }
}

/* ---- Echo ------------------------------------------------------------------------------------ */

static void echo_section(FILE *f, const char *name, const plugmc_parameter *table, int count,
                         const void *instance, const ini_section *s)
{
    fprintf(f, "[%s]\n", name);
    parameters_echo(f, table, count, sizeof(real), instance, s);
    fputs("\n", f);
}

void config_echo(FILE *f, const config *c)
{
    int species = 0, molecules = 0;
    echo_section(f, "run", run_table, run_count, &c->run, ini_find(&c->ini, "run"));
    echo_section(f, "box", box_table, box_count, &c->box, ini_find(&c->ini, "box"));
    for (int i = 0; i < c->ini.count; i++) {
        const ini_section *s = &c->ini.sections[i];
        if (strcmp(s->kind, "species") == 0)
            echo_section(f, s->name, species_table, species_count, &c->species[species++], s);
    }
    for (int i = 0; i < c->ini.count; i++) {
        const ini_section *s = &c->ini.sections[i];
        if (strcmp(s->kind, "molecule") == 0)
            echo_section(f, s->name, molecule_table, molecule_count, &c->molecules[molecules++], s);
    }
    echo_section(f, "initial", initial_table, initial_count, &c->initial,
                 ini_find(&c->ini, "initial"));
    if (ini_find(&c->ini, "units"))
        echo_section(f, "units", units_table, units_count, &c->units_section,
                     ini_find(&c->ini, "units"));
    if (ini_find(&c->ini, "ladder"))
        echo_section(f, "ladder", ladder_table, ladder_count, &c->ladder,
                     ini_find(&c->ini, "ladder"));
}

void plugin_section_echo(FILE *f, const plugin_section *p)
{
    const section_kind *kind = find_kind(p->section->kind);
    plugin_section written = *p;
    written.sampled = p->sampled ? ROLE_SAMPLED : ROLE_MEASURED;
    fprintf(f, "[%s]\n", p->section->name);
    parameters_echo(f, kind->table, *kind->count, sizeof(real), &written, p->section);
}

void config_free(config *c)
{
    free(c->species);
    free(c->species_names);
    free(c->molecules);
    free(c->molecule_names);
    free(c->plugins);
    ini_free(&c->ini);
    *c = (config){0};
}

static int line_in(const ini_section *section, const char *key)
{
    const ini_entry *entry = section ? ini_get(section, key) : NULL;
    return entry && entry->line ? entry->line : section ? section->line : 0;
}

int config_line(const config *config, const char *section, const char *key)
{
    return line_in(ini_find(&config->ini, section), key);
}

/* In the n-th section of a kind. */
static int line_in_nth(const config *config, const char *kind, int32_t n, const char *key)
{
    for (int i = 0; i < config->ini.count; i++) {
        const ini_section *section = &config->ini.sections[i];
        if (!strcmp(section->kind, kind) && n-- == 0) return line_in(section, key);
    }
    return 0;
}

int config_line_of_species(const config *config, int32_t s, const char *key)
{
    return line_in_nth(config, "species", s, key);
}

int config_line_of_molecule(const config *config, int32_t k, const char *key)
{
    return line_in_nth(config, "molecule", k, key);
}
