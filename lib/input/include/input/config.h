/* What the INI file says, checked: the core's own sections as structs, the plugins' sections
 * left to their tables. */
#ifndef PLUGMC_CONFIG_H
#define PLUGMC_CONFIG_H

#include "input/ini.h"
#include "input/parameters.h"
#include "input/units.h"

enum { DEVICE_AUTO, DEVICE_CPU, DEVICE_GPU };
enum { INITIAL_LATTICE, INITIAL_RANDOM, INITIAL_FILE, INITIAL_NEAR_IONS };

typedef struct run_section {     /* [run] */
    int64_t sweeps, equilibrate; /* numbers of sweeps */
    int64_t seed;
    int64_t walkers, first_walker;
    int64_t threads; /* 0: what the machine offers and pays */
    int64_t gpu;     /* index of the GPU */
    int32_t device;  /* choice auto|cpu|gpu: DEVICE_* */
    int32_t fast_math;
    const char *output; /* HDF5 file; default: the INI's name with .h5 */
    const char *csv;    /* table of the scalars; "" for none */
    const char *show;   /* names of quantities beside the progress, with blanks between; or "" */
    const char *log;    /* file for messages and progress with their times; "" for none */
    const char *author; /* "NAME" or "NAME <MAIL>", for the output file */
    plugmc_list temperature; /* kT, in the unit of energy; one, or one a walker */
    double pressure;         /* energy/length^dimension */
    double checkpoint;       /* seconds between checkpoints; 0: only at the end */
    double time_limit;       /* seconds; 0: none */
} run_section;

typedef struct box_section { /* [box] */
    int64_t dimension;
    int32_t shape; /* choice square|triangular|rectangle|sphere|oblique. square: equal edges;
                                 triangular: edges 1 : sqrt(3)/2 (and 1 in 3D) */
    double packing_fraction; /* 0: not given. One of packing_fraction, density, lx(,ly,lz) or
                                 radius must be given */
    double density;          /* particles per volume */
    double lx, ly, lz, radius;
    plugmc_list a, b, c; /* lattice vectors of an oblique box */
} box_section;

typedef struct species_section { /* [species NAME] */
    int64_t count, max_count;
    double diameter, charge, mass;
    /* Its reservoir, by one of activity, mu, chemical_potential, fugacity and pressure (input/reservoir.h); 0 and empty
     * lists: not given. Lists have one number at most. */
    double activity, fugacity, pressure;
    plugmc_list mu, chemical_potential;
    const char *thermal_wavelength;   /* a length, "mass", or "" */
    const char *fugacity_coefficient; /* a number, "peng_robinson", or "" */
    double critical_temperature, critical_pressure;
    plugmc_list acentric_factor;
    /* No key: what it has become in a run that goes on, where `max_count` is not given. */
    int64_t capacity;
} species_section;

typedef struct molecule_section { /* [molecule NAME] */
    const char *sites;            /* names of species, with blanks between */
    plugmc_list places;           /* [sites][3], at rest */
    const char *places_file;      /* "", as `places` stands in its place */
    int64_t count, max_count;
    plugmc_list centre; /* none, or three: about which trial rotations turn */
    /* As in species_section. */
    double activity, fugacity, pressure;
    plugmc_list mu, chemical_potential;
    const char *thermal_wavelength;
    const char *fugacity_coefficient;
    double critical_temperature, critical_pressure;
    plugmc_list acentric_factor;
} molecule_section;

typedef struct initial_section { /* [initial] */
    int32_t state;               /* choice lattice|random|file|near_ions: INITIAL_* */
    int32_t lattice;             /* choice auto|square|triangular|sc|fcc */
    const char *file;            /* H5MD, GSD, extended XYZ, PDB, GRO or LAMMPS data */
    const char *types;           /* names of species with blanks between, or "" */
    int32_t atom_style;          /* choice of_file|atomic|charge|molecular|full, as lammps_style */
    int64_t frame;               /* of it, from 0; negative: from the end */
    double random_fraction;      /* packing fraction of the random insertion before compression */
    int64_t attempts;            /* insertion attempts a particle */
    double ion_width;            /* of electrons around an ion */
} initial_section;

typedef struct ladder_section { /* [ladder] */
    const char *vary, *vary_2;  /* the second one, or "" */
    plugmc_list values, values_2;
} ladder_section;

/* Keys of the core in the section of an observable that writes the trajectory. */
enum { TRAJECTORY_GSD, TRAJECTORY_H5MD };
enum { TRAJECTORY_DOUBLE, TRAJECTORY_SINGLE };
typedef struct trajectory_keys {
    int32_t format;    /* TRAJECTORY_GSD, ... */
    int32_t precision; /* TRAJECTORY_DOUBLE, ... */
} trajectory_keys;
extern const plugmc_parameter trajectory_table[];
extern const int trajectory_count;

extern const plugmc_parameter run_table[], box_table[], species_table[], molecule_table[],
    initial_table[], ladder_table[];
extern const int run_count, box_count, species_count, molecule_count, initial_count, ladder_count;

/* One [potential L], [mover L] or [observable L]. Core keys beside the plugin's own: `plugin`
 * (default: the label), `role` (potentials: sampled|measured), `period` (observables and movers that
 * measure: sweeps), `every` (movers: sweeps). */
typedef struct plugin_section {
    ini_section *section;
    int kind;           /* PLUGMC_POTENTIAL, ... */
    const char *plugin; /* name or path */
    int32_t sampled;
    int64_t period;
    int64_t every;
    double coupling;
} plugin_section;

/* Words of the key `role` of [potential]. */
enum { ROLE_SAMPLED, ROLE_MEASURED };

/* The kinds of section there are, with the tables of the keys that the core reads in them, for
 * `plugmc info` and the manual. */
typedef struct section_kind {
    const char *name, *summary;
    int plugin;      /* PLUGMC_POTENTIAL, ...; 0: a section of the core */
    int labelled;    /* 1: [name LABEL] */
    int least, most; /* how often it may be there */
    const plugmc_parameter *table;
    const int *count;
} section_kind;
extern const section_kind section_kinds[];
extern const int section_kind_count;

typedef struct config {
    ini_file ini;
    units_section units_section;
    units units;
    run_section run;
    box_section box;
    initial_section initial;
    ladder_section ladder;
    int species_count;
    species_section *species;
    const char **species_names;
    int molecule_count;
    molecule_section *molecules;
    const char **molecule_names;
    int plugin_count;
    plugin_section *plugins; /* in the order of the file */
    bool without_mover;      /* set by the caller: [mover] may be missing */
} config;

/* The core keys of plugin sections, for parameters_unused and the manual; NULL at the end. */
extern const char *const potential_keys[], *const mover_keys[], *const observable_keys[],
                                                                    *const writer_keys[];

/* Interprets an INI that has been read (config->ini). Reports every error: unknown or doubled
 * sections, exactly one [run] and [box], at least one [species NAME], [mover NAME] and
 * [potential NAME]. Does not load plugins. */
int config_read(config *, report *);
/* The effective configuration of the core's sections as INI text with origins. */
void config_echo(FILE *, const config *);
/* The header and the core's keys of one plugin section; parameters_echo writes the others. */
void plugin_section_echo(FILE *, const plugin_section *);
void config_free(config *);

/* Line of a key in the INI file: of the key, else of its section, else 0. */
int config_line(const config *, const char *section, const char *key);
/* Likewise in the section of species number s, or of the molecules number k. */
int config_line_of_species(const config *, int32_t s, const char *key);
int config_line_of_molecule(const config *, int32_t k, const char *key);
#endif
