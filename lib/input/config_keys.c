/* Keys of the core's sections, with units, ranges and defaults. */
#include "input/config.h"

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

/* Keys of a reservoir, in [species NAME] and [molecule NAME]. */
#define RESERVOIR_KEYS(section)                                                                      \
    PLUGMC_REAL_KEY(section, activity, "0", 0, 1e300, "length^-D",                                   \
                    "activity z of the reservoir, which is given by this key or one of mu, "         \
                    "chemical_potential, fugacity and pressure; 0: not given"),                      \
        PLUGMC_LIST_KEY(                                                                             \
            section, mu, 0, "", -1e300, 1e300, "energy",                                             \
            "chemical potential of the reservoir without the de Broglie factor: mu = kT ln z"),      \
        PLUGMC_LIST_KEY(                                                                             \
            section, chemical_potential, 0, "", -1e300, 1e300, "energy",                             \
            "chemical potential of the reservoir with the de Broglie factor, kT ln(z Lambda^D); "    \
            "it needs thermal_wavelength"),                                                          \
        PLUGMC_TEXT_KEY(                                                                             \
            section, thermal_wavelength, "",                                                         \
            "thermal de Broglie wavelength Lambda: a length, or mass: h / sqrt(2 pi m kT) with the " \
            "mass in u, which needs [units]"),                                                       \
        PLUGMC_REAL_KEY(                                                                             \
            section, fugacity, "0", 0, 1e300, "energy/length^D",                                     \
            "fugacity f of the reservoir, z = f / kT; with [units] in their unit of pressure; 0: "   \
            "not given"),                                                                            \
        PLUGMC_REAL_KEY(                                                                             \
            section, pressure, "0", 0, 1e300, "energy/length^D",                                     \
            "pressure P of the reservoir, z = phi P / kT with the fugacity coefficient phi; with "   \
            "[units] in their unit of pressure; 0: not given"),                                      \
        PLUGMC_TEXT_KEY(                                                                             \
            section, fugacity_coefficient, "",                                                       \
            "phi for pressure: a number, or peng_robinson: by the equation of state of Peng and "    \
            "Robinson from the three keys below; if empty, 1"),                                      \
        PLUGMC_REAL_KEY(                                                                             \
            section, critical_temperature, "0", 0, 1e300, "energy",                                  \
            "of the fluid in the reservoir, in the unit of [run] temperature; 0: not given"),        \
        PLUGMC_REAL_KEY(section, critical_pressure, "0", 0, 1e300, "energy/length^3",                \
                        "of the fluid in the reservoir, in the unit of pressure; 0: not given"),     \
        PLUGMC_LIST_KEY(section, acentric_factor, 0, "", -1, 2, "",                                  \
                        "of the fluid in the reservoir")

const plugmc_parameter species_table[] = {
    PLUGMC_INTEGER_KEY(
        species_section, count, "0", 0, 2e9, "",
        "number of particles in each walker, without sites of molecules; the initial number, where a "
        "mover changes it. Not needed if a molecule has sites of the species, or if it has a reservoir"),
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
    RESERVOIR_KEYS(species_section),
};

const plugmc_parameter molecule_table[] = {
    PLUGMC_TEXT_KEY(molecule_section, sites, NULL,
                    "species of the sites, at most 64, with blanks between them: O H H"),
    PLUGMC_LIST_KEY(
        molecule_section, places, 0, "", -1e30, 1e30, "length",
        "x y z of each site of the molecule at rest, about any origin. The first site is its "
        "reference point"),
    PLUGMC_FILE_KEY(
        molecule_section, places_file, "",
        "file with the sites of one molecule, in place of `places`: XYZ, in the unit of length of "
        "the run, PDB or GRO; its names are those of `sites`"),
    PLUGMC_INTEGER_KEY(
        molecule_section, count, "0", 0, 2e9, "",
        "number of molecules in each walker; the initial number, where a mover changes it; not needed if the "
        "molecule has a reservoir, or where numbers that change come from a file"),
    PLUGMC_INTEGER_KEY(
        molecule_section, max_count, "0", 0, 2e9, "",
        "largest number in a walker, where a mover changes the number; 0: no limit if the molecule "
        "has a reservoir, else `count`"),
    PLUGMC_LIST_KEY(molecule_section, centre, 0, "", -1e30, 1e30, "length",
                    "x y z of the point about which trial rotations turn, in the coordinates of "
                    "`places`; not given: the first site"),
    RESERVOIR_KEYS(molecule_section),
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
                    "SPECIES.mu, MOLECULE.mu or LABEL.coupling of a sampled potential"),
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
