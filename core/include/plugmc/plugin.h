/* plugmc/plugin.h: the contract between the core and a plugin.
 *
 * A plugin is a shared object that exports one function, plugmc_plugin_entry, which returns a
 * constant descriptor: what the plugin is (a potential, a mover or an observable), its
 * parameters as a table, and its callbacks.  The core fills the parameters from the INI file;
 * a plugin never parses text, prints, exits or longjmps.  It returns PLUGMC_OK, or says what is
 * wrong through host->fail and returns an error code; the core adds where.
 *
 * A potential includes plugmc/potential.h, which includes this header and says how the physics
 * is written.  Movers and observables include this header.
 *
 * Compatibility: the descriptor begins with magic, size and ABI version, which the core checks
 * before it reads on.  Structs only grow at the end, so a plugin built against an older minor
 * version goes on working.
 *
 * Threads: every callback is called from the main thread, one at a time, except the batch
 * functions of plugmc_pair and plugmc_field, which movers call from many threads at once.
 */
#ifndef PLUGMC_PLUGIN_H
#define PLUGMC_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "plugmc/device.h"

#define PLUGMC_MAGIC 0x434d4750u /* "PGMC" */
#define PLUGMC_ABI_MAJOR 1
#define PLUGMC_ABI_MINOR 0

/* Codes a callback returns. */
enum {
    PLUGMC_OK = 0,
    PLUGMC_ERROR_INPUT = 1,  /* the user's input cannot be used as it is */
    PLUGMC_ERROR_MEMORY = 2, /* host or device memory is short */
    PLUGMC_ERROR_DEVICE = 3, /* GPU, driver or kernel compiler */
    PLUGMC_ERROR_STATE = 4   /* a promise was broken while running: a bug, or a damaged state */
};

/* ---- Parameters --------------------------------------------------------------------------- */

enum plugmc_type {
    PLUGMC_TYPE_REAL,    /* real, the plugin's own precision */
    PLUGMC_TYPE_INTEGER, /* int64_t */
    PLUGMC_TYPE_FLAG,    /* int32_t, yes or no */
    PLUGMC_TYPE_CHOICE,  /* int32_t, index into the words of `choices` */
    PLUGMC_TYPE_TEXT     /* const char *, owned by the core */
};

/* One parameter. The table of these feeds the INI reader, range errors, `plugmc info`, the echo
 * of the effective configuration, the constants folded into kernels and the reference manual. */
typedef struct plugmc_parameter {
    const char *name;     /* INI key, and name of the field in the struct */
    int32_t type;         /* enum plugmc_type */
    int32_t derived;      /* 1: not read from the INI but computed by configure; still folded
                             into kernels */
    size_t offset;        /* of the field in the instance */
    const char *fallback; /* default as text; NULL: must be given */
    double minimum, maximum;
    const char *unit;    /* "length", "kT", ...; "" if none */
    const char *choices; /* PLUGMC_TYPE_CHOICE: words separated by '|' */
    const char *doc;     /* one line */
} plugmc_parameter;

#define PLUGMC_REAL_KEY(type, field, fallback, minimum, maximum, unit, doc)                        \
    {#field, PLUGMC_TYPE_REAL, 0, offsetof(type, field), fallback, minimum, maximum, unit, NULL, doc}
#define PLUGMC_INTEGER_KEY(type, field, fallback, minimum, maximum, unit, doc)                     \
    {#field, PLUGMC_TYPE_INTEGER, 0, offsetof(type, field), fallback, minimum, maximum, unit, NULL, doc}
#define PLUGMC_FLAG_KEY(type, field, fallback, doc)                                                \
    {#field, PLUGMC_TYPE_FLAG, 0, offsetof(type, field), fallback, 0, 1, "", NULL, doc}
#define PLUGMC_CHOICE_KEY(type, field, fallback, choices, doc)                                     \
    {#field, PLUGMC_TYPE_CHOICE, 0, offsetof(type, field), fallback, 0, 0, "", choices, doc}
#define PLUGMC_TEXT_KEY(type, field, fallback, doc)                                                \
    {#field, PLUGMC_TYPE_TEXT, 0, offsetof(type, field), fallback, 0, 0, "", NULL, doc}
/* A number that configure computes from the others and that device text needs. */
#define PLUGMC_REAL_DERIVED(type, field, doc)                                                      \
    {#field, PLUGMC_TYPE_REAL, 1, offsetof(type, field), NULL, 0, 0, "", NULL, doc}

/* ---- The system that is sampled ----------------------------------------------------------- */

enum plugmc_domain {
    PLUGMC_DOMAIN_PERIODIC, /* rectangular, [0, length) in each direction */
    PLUGMC_DOMAIN_SPHERE    /* particle centres within `radius` of the origin */
};

typedef struct plugmc_box {
    int32_t domain;    /* enum plugmc_domain */
    int32_t dimension; /* 2 or 3 */
    double length[3];  /* periodic: edges; length[2] is 1 in two dimensions. sphere: 2 radius */
    double radius;     /* sphere; 0 else */
    double volume;     /* area in two dimensions */
} plugmc_box;

typedef struct plugmc_species {
    const char *name;
    int64_t count;   /* particles a walker */
    double diameter; /* length */
    double charge;   /* elementary charges */
} plugmc_species;

struct plugmc_potential;
struct plugmc_plugin;

/* One potential of the run, its parameters filled in both precisions. */
typedef struct plugmc_term {
    const char *label;                  /* second word of its section */
    const struct plugmc_plugin *plugin; /* double precision */
    void *instance;
    const struct plugmc_plugin *plugin_single; /* float; NULL if the plugin has no pair or field */
    void *instance_single;
    int32_t sampled; /* 1: part of -ln p; 0: only measured */
} plugmc_term;

/* What is fixed for a run. Particles are numbered species by species: those of species s are
 * first[s] ... first[s + 1] - 1. */
typedef struct plugmc_system {
    uint32_t size;
    plugmc_box box;
    int64_t particles; /* N, a walker */
    int32_t walkers;   /* W */
    int32_t species_count;
    const plugmc_species *species;
    const int64_t *first; /* [species_count + 1] */
    int32_t term_count;
    const plugmc_term *terms;
    uint64_t seed;
    double range; /* largest range of the pair terms sampled; INFINITY if one has none */
    int32_t threads;
} plugmc_system;

/* ---- Services of the core ------------------------------------------------------------------ */

typedef uint64_t plugmc_device_pointer;
typedef struct plugmc_context plugmc_context; /* opaque: whom a message comes from */
typedef struct plugmc_graph plugmc_graph;     /* opaque: a recorded sequence of launches */
typedef struct plugmc_kernel plugmc_kernel;   /* opaque: one __global__ function */

/* Device text to be joined with all sampled potentials and compiled for the GPU found. */
typedef struct plugmc_kernel_text {
    const char *name; /* shown in messages, e.g. "mover.cu" */
    const char *text;
    const char *const *defines; /* "NAME=VALUE", NULL at the end */
    int32_t fuse;               /* 1: put the sampled potentials in front, see docs */
    int32_t double_precision;   /* 1: real is double on the device */
    int32_t overlap;            /* 1: every kernel of the text calls plugmc_wait before it touches
                                   memory, so it may be launched before the one before it ends */
} plugmc_kernel_text;

/* The GPU, or NULL in plugmc_host when the run is on the CPU. All calls are asynchronous on the
 * run's one stream unless said otherwise; all return a PLUGMC_* code and have already reported
 * what went wrong. Memory is released by the core when the run ends. */
typedef struct plugmc_gpu {
    uint32_t size;
    const char *name;
    int32_t multiprocessors, shared_per_block, architecture; /* 90 for sm_90 */
    int (*allocate)(plugmc_context *, size_t bytes, plugmc_device_pointer *out); /* zeroed */
    int (*release)(plugmc_context *, plugmc_device_pointer);
    int (*upload)(plugmc_context *, plugmc_device_pointer to, const void *from, size_t bytes);
    /* Waits until the data is there. */
    int (*download)(plugmc_context *, void *to, plugmc_device_pointer from, size_t bytes);
    int (*copy)(plugmc_context *, plugmc_device_pointer to, plugmc_device_pointer from, size_t bytes);
    int (*fill)(plugmc_context *, plugmc_device_pointer, unsigned char value, size_t bytes);
    /* The function `name` of a text, compiled (or from the cache) and loaded. */
    int (*kernel)(plugmc_context *, const plugmc_kernel_text *, const char *name, plugmc_kernel **);
    int (*launch)(plugmc_context *, plugmc_kernel *, const uint32_t grid[3], const uint32_t block[3],
                  uint32_t dynamic_shared, void **arguments);
    /* Launches between begin and end are recorded, not run. */
    int (*graph_begin)(plugmc_context *);
    int (*graph_end)(plugmc_context *, plugmc_graph **);
    int (*graph_launch)(plugmc_context *, plugmc_graph *);
    int (*synchronize)(plugmc_context *);
} plugmc_gpu;

/* Particles sorted by cell, for observables and movers that look for neighbours. Within a cell
 * particles are in order of their index. Pointers are host or device memory, as the view's. */
typedef struct plugmc_cells {
    uint32_t size;
    int32_t count[3];        /* cells in each direction, at least 1 */
    double width[3];         /* length; at least the range asked for where count >= 3 */
    int64_t cells;           /* product of count */
    const uint32_t *start;   /* [walkers][cells + 1]: first entry of each cell */
    const uint32_t *order;   /* [walkers][particles]: particle index, sorted by cell */
    const double *positions; /* [walkers][particles][3], in that order, wrapped into the box */
} plugmc_cells;

/* A configuration as observables see it. */
typedef struct plugmc_view {
    uint32_t size;
    uint64_t sweep;
    /* [walkers][particles][3], length, periodic ones wrapped into [0, length); z = 0 in two
     * dimensions. Device memory if the observable measures on the GPU, host memory else. */
    const double *positions;
    int32_t on_device;
    /* Sorted by cells at least `range` wide; built once a view and range. */
    int (*cells)(const struct plugmc_view *, double range, plugmc_cells *out);
    void *core;
} plugmc_view;

/* A place for a mover's own state in the checkpoint, or one to read it from. */
typedef struct plugmc_archive {
    uint32_t size;
    int32_t reading;
    /* Saves, or restores, `bytes` bytes under a name. Fails if the size differs. */
    int (*bytes)(struct plugmc_archive *, const char *name, void *data, size_t bytes);
} plugmc_archive;

typedef struct plugmc_host {
    uint32_t size;
    uint16_t abi_major, abi_minor;
    plugmc_context *context; /* first argument of the calls below */
    /* Says what is wrong, as one sentence without "error:" or a final newline. Returns its
     * code, so that a callback can `return host->fail(...)`. */
    int (*fail)(plugmc_context *, int code, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
    void (*warn)(plugmc_context *, const char *format, ...) __attribute__((format(printf, 2, 3)));
    /* Zeroed, aligned to 64 bytes, released by the core when the run ends; NULL if short. */
    void *(*allocate)(plugmc_context *, size_t bytes);
    const plugmc_gpu *gpu;       /* NULL on the CPU */
    const plugmc_system *system; /* complete once every plugin is configured */
} plugmc_host;

/* ---- Potentials ---------------------------------------------------------------------------- */

/* One particle as batch functions take it, whatever the precision of the descriptor. */
typedef struct plugmc_particle {
    double x, y, z, charge, diameter;
    int32_t species;
} plugmc_particle;

/* Particles as structure of arrays. Arrays of real of the descriptor's precision. */
typedef struct plugmc_particles {
    int64_t n;
    const void *x, *y, *z;         /* real[n] */
    const void *charge, *diameter; /* real[n] */
    const int32_t *species;        /* [n] */
} plugmc_particles;

/* Batches of independent trial moves, one a lane, in cell coordinates: multiples of the cell
 * edge, relative to the centre of the cell that the probe is in. The neighbour of lane l in
 * slot s is at x[s][l] + offset[s]; an empty slot holds PLUGMC_NOWHERE in x. The separation in
 * units of length is (probe - neighbour) * ratio * scale, component by component. Only float. */
typedef struct plugmc_lanes {
    uint32_t size;
    int32_t lanes; /* a multiple of PLUGMC_LANE_BLOCK */
    int32_t slots;
    float scale;    /* edge of a cell in x, length */
    float ratio[3]; /* edges of a cell over that in x */
    const float *const *x, *const *y, *const *z; /* [slots], each float[lanes] */
    const float (*offset)[3];                    /* [slots] */
    const uint8_t *const *species;               /* [slots], each [lanes]; NULL with one species */
    const float *charge, *diameter;              /* [number of species] */
    const float *old_x, *old_y, *old_z;          /* [lanes] */
    const float *new_x, *new_y, *new_z;          /* [lanes] */
    const uint8_t *probe_species;                /* [lanes]; NULL with one species */
    float *change; /* [lanes]: out, energy(new) - energy(old) summed slot by slot */
} plugmc_lanes;

enum { PLUGMC_LANE_BLOCK = 16 };

/* Pair facet, written by plugmc/pair.h from the author's functions. */
typedef struct plugmc_pair {
    uint32_t size;
    int32_t functions; /* PLUGMC_PAIR_* that the author gives */
    /* Separation beyond which the energy is exactly 0; INFINITY if there is none, 0 without an
     * energy. */
    double (*range)(const void *instance);
    /* Distance below which two such particles overlap; 0 without a hard core. */
    double (*contact)(const void *instance, const plugmc_particle *a, const plugmc_particle *b);
    /* Energy over kT of a probe with n others is added to *energy; returns how many overlap with
     * it (the energy is then meaningless). With `periodic` the minimum image is taken. */
    int64_t (*energy)(const void *instance, const plugmc_box *box, int periodic,
                      const plugmc_particle *probe, const plugmc_particles *others, double *energy);
    /* Energy of `probe` moved to `moved` less that before is added to *change; returns how many
     * overlap at the new position. */
    int64_t (*change)(const void *instance, const plugmc_box *box, int periodic,
                      const plugmc_particle *probe, const double moved[3],
                      const plugmc_particles *others, double *change);
    /* NULL in the double precision facet, and without an energy. */
    void (*lanes)(const void *instance, const plugmc_lanes *);
} plugmc_pair;

/* Field facet: one-body energies, written by plugmc/field.h. */
typedef struct plugmc_field {
    uint32_t size;
    /* Energy of n particles is added to *energy; returns how many are where they may not be. */
    int64_t (*energy)(const void *instance, const plugmc_particles *, double *energy);
} plugmc_field;

/* Energy of whole configurations. Positions as in plugmc_view, on host or device. */
typedef struct plugmc_total {
    uint32_t size;
    int32_t on_device; /* 1: can also take device memory */
    /* energy [walkers]; forces [walkers][particles][3] in kT/length, virial [walkers]: NULL if
     * not wanted. */
    int (*energy)(void *instance, const plugmc_host *, const plugmc_view *, double *energy,
                  double *forces, double *virial);
    /* Optional, host only: the change when one particle moves; then settle with accepted or not.
     * start is called once before, and after positions changed by other means. */
    int (*start)(void *instance, const plugmc_host *, const plugmc_view *);
    int (*change)(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *change);
    int (*settle)(void *instance, int32_t walker, int accepted);
} plugmc_total;

/* Values of one-electron orbitals at many points, on host or device. */
typedef struct plugmc_orbitals {
    uint32_t size;
    int32_t on_device;
    int64_t (*count)(const void *instance, int32_t species);
    int32_t (*complex_valued)(const void *instance);
    /* out [points][count] (real or complex of the descriptor's precision); gradients
     * [points][3][count] and laplacians [points][count] are NULL if not wanted. */
    int (*evaluate)(void *instance, const plugmc_host *, int32_t species, int64_t points,
                    const double *positions, void *values, void *gradients, void *laplacians);
} plugmc_orbitals;

typedef struct plugmc_potential {
    uint32_t size;
    const plugmc_pair *pair; /* NULL where it does not apply, as for the others */
    const plugmc_field *field;
    const plugmc_total *total;
    const plugmc_orbitals *orbitals;
} plugmc_potential;

/* ---- Movers -------------------------------------------------------------------------------- */

/* Which facets and systems a mover can work with. */
enum {
    PLUGMC_USES_PAIR = 1,
    PLUGMC_USES_FIELD = 2,
    PLUGMC_USES_TOTAL = 4,
    PLUGMC_USES_ORBITALS = 8,
    PLUGMC_NEEDS_FINITE_RANGE = 16,
    PLUGMC_NEEDS_PERIODIC = 32,
    PLUGMC_RUNS_ON_CPU = 64,
    PLUGMC_RUNS_ON_GPU = 128
};

/* Numbers of trial moves since the counters were last cleared, all walkers. */
typedef struct plugmc_counts {
    uint64_t trials, accepted;
} plugmc_counts;

typedef struct plugmc_mover {
    uint32_t size;
    uint32_t needs; /* PLUGMC_USES_* | PLUGMC_NEEDS_* | PLUGMC_RUNS_ON_* */
    /* Device texts that prepare will ask for, number `index` from 0; returns 0 past the last.
     * Works without a GPU, so that they can be compiled on any machine; called after
     * configure. Strings live as long as the instance. */
    int (*kernel_text)(void *instance, const plugmc_host *, int index, plugmc_kernel_text *out);
    /* Takes memory and compiles. */
    int (*prepare)(void *instance, const plugmc_host *);
    /* Takes over positions [walkers][particles][3] in host memory, as in plugmc_view. */
    int (*load)(void *instance, const plugmc_host *, const double *positions);
    /* Sweeps number first ... first + n - 1 of every walker. */
    int (*sweep)(void *instance, const plugmc_host *, uint64_t first, uint64_t n);
    /* Writes positions [walkers][particles][3] to host memory, or to device memory on a GPU. */
    int (*store)(void *instance, const plugmc_host *, double *positions);
    /* Counts since `clear`. */
    int (*counts)(void *instance, const plugmc_host *, plugmc_counts *out, int clear);
    /* Everything that store and the parameters do not say. */
    int (*archive)(void *instance, const plugmc_host *, plugmc_archive *);
    /* Optional: the size of the trial move in units of length, and how to set it. The core tunes
     * it during equilibration towards the target acceptance and then leaves it alone. */
    double (*step)(const void *instance);
    int (*set_step)(void *instance, const plugmc_host *, double step);
    double (*target_acceptance)(const void *instance); /* 0: no tuning */
} plugmc_mover;

/* ---- Observables ---------------------------------------------------------------------------- */

/* Something that is measured: a scalar (length 1) or an array. Its samples are averaged by the
 * core. */
typedef struct plugmc_quantity {
    const char *name;
    int64_t length;
    const char *unit;
    const char *doc;
    const double *abscissa; /* [length] values of the axis; NULL for scalars */
    const char *axis;       /* what the axis is, e.g. "r"; NULL for scalars */
} plugmc_quantity;

typedef struct plugmc_observable {
    uint32_t size;
    int32_t on_device; /* 1: measure can take a view in device memory */
    int (*prepare)(void *instance, const plugmc_host *);
    /* What one measurement gives, number `index` from 0; returns 0 past the last. Called after
     * prepare. */
    int (*quantity)(void *instance, int index, plugmc_quantity *out);
    /* values [walkers][sum of lengths]: the quantities one after another. Always host memory. */
    int (*measure)(void *instance, const plugmc_host *, const plugmc_view *, double *values);
    /* Optional: numbers computed from averages, e.g. from a fit to g(r); the core finds their
     * errors by a jackknife over blocks. derived as quantity; derive gets the means
     * [sum of lengths] and writes [sum of derived lengths]; it fails without a message by
     * returning non-zero where the data do not suffice. */
    int (*derived)(void *instance, int index, plugmc_quantity *out);
    int (*derive)(void *instance, const double *means, double *out);
    /* 1: the positions of this view belong into the trajectory. */
    int32_t writes_trajectory;
    int (*kernel_text)(void *instance, const plugmc_host *, int index, plugmc_kernel_text *out);
} plugmc_observable;

/* ---- The descriptor ------------------------------------------------------------------------- */

enum { PLUGMC_POTENTIAL = 1, PLUGMC_MOVER = 2, PLUGMC_OBSERVABLE = 3 };

typedef struct plugmc_plugin {
    uint32_t magic, size;
    uint16_t abi_major, abi_minor;
    uint32_t real_size; /* sizeof(real) of this descriptor */
    int32_t kind;       /* PLUGMC_POTENTIAL, ... */
    const char *name;
    const char *summary;   /* one line */
    const char *reference; /* paper or book, "" if none */
    size_t instance_size;  /* of the author's struct; zeroed before use */
    const plugmc_parameter *parameters;
    int32_t parameter_count;
    /* Optional: called once the parameters are read, before anything else; checks them against
     * each other and computes derived ones. host->gpu is not known yet. */
    int (*configure)(void *instance, const plugmc_host *);
    void (*release)(void *instance);
    const plugmc_potential *potential;
    const plugmc_mover *mover;
    const plugmc_observable *observable;
    /* Potentials: the author's own file, to be fused into kernels. Set by PLUGMC_PLUGIN. */
    const char *text, *text_end, *text_name;
    const struct plugmc_plugin *single; /* the float descriptor of the same potential */
} plugmc_plugin;

typedef const plugmc_plugin *plugmc_entry(void);

/* Writes the entry. Fields are designated initialisers of plugmc_plugin:
 *     PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "serial", ...)
 */
#define PLUGMC_EXPORT __attribute__((visibility("default")))
#define PLUGMC_PLUGIN_HEAD                                                                         \
    .magic = PLUGMC_MAGIC, .size = sizeof(plugmc_plugin), .abi_major = PLUGMC_ABI_MAJOR,           \
    .abi_minor = PLUGMC_ABI_MINOR, .real_size = sizeof(real)

#ifndef PLUGMC_PLUGIN /* plugmc/potential.h has its own */
#define PLUGMC_PLUGIN(...)                                                                         \
    static const plugmc_plugin plugmc_descriptor = {PLUGMC_PLUGIN_HEAD, __VA_ARGS__};              \
    PLUGMC_EXPORT const plugmc_plugin *plugmc_plugin_entry(void) { return &plugmc_descriptor; }
#endif

/* Number of entries of a table. */
#define PLUGMC_COUNT(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))

/* Carries the file `path` in the object as the text `symbol` ... `symbol`_end. */
#define PLUGMC_EMBED(symbol, path)                                                                 \
    __asm__(".pushsection .rodata\n.balign 16\n.hidden " #symbol "\n.hidden " #symbol "_end\n"      \
            ".globl " #symbol "\n.globl " #symbol "_end\n" #symbol ":\n.incbin \"" path "\"\n"      \
            #symbol "_end:\n.byte 0\n.popsection\n");                                               \
    extern const char symbol[] __attribute__((visibility("hidden")));                              \
    extern const char symbol##_end[] __attribute__((visibility("hidden")))

/* Compiled for several instruction sets, the best of which is chosen when the plugin is loaded. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 &&           \
    !defined(PLUGMC_ONE_TARGET)
#define PLUGMC_TARGETS                                                                             \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PLUGMC_TARGETS
#endif

#endif
