/* plugmc/plugin.h: the base of the contract between the core and a plugin.
 *
 * A plugin is a shared object that exports one function, plugmc_plugin_entry, which returns a constant
 * descriptor: what the plugin is (a potential, a mover or an observable), its parameters as a table, and its
 * callbacks. The core fills the parameters from the INI file; a plugin never parses text, prints, exits or
 * longjmps. It returns PLUGMC_OK, or says what is wrong through host->fail and returns an error code; the
 * core adds where.
 *
 * Which header to include:
 *
 *     plugmc/potential.h    a potential
 *     plugmc/proposal.h     a mover that proposes trial moves, which the core decides
 *     plugmc/changes.h      a mover that asks the core for energies and decides by itself
 *     plugmc/driver.h       a mover with a configuration and kernels of its own
 *     plugmc/observable.h   an observable
 *     plugmc/everything.h   all of these, with all extensions
 *
 * What few need is an extension: a struct that a plugin offers (plugmc_plugin.extensions), or asks the core
 * for (plugmc_host.extension), by a name that ends in its version.
 *
 * Compatibility: the descriptor begins with magic, size and ABI version, which the core checks
 * before it reads on. Structs that begin with their size only grow at the end, so a plugin built
 * against an older minor version goes on working (PLUGMC_HAS asks whether the other side knows a
 * member); the others do not change within a major version. docs/plugin-abi.md has the rules.
 *
 * Threads: every callback is called from the main thread, one at a time, except the batch
 * functions of plugmc_pair and plugmc_field, which movers call from many threads at once.
 */
#ifndef PLUGMC_PLUGIN_H
#define PLUGMC_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "plugmc/device.h"
#include "plugmc/parameter.h"

#define PLUGMC_MAGIC 0x434d4750u /* "PGMC" */
#define PLUGMC_ABI_MAJOR 2
#define PLUGMC_ABI_MINOR 0
/* The oldest minor version of the program that a plugin can work with. One that asks with
 * PLUGMC_HAS for whatever came later may define a smaller number before it includes this. */
#ifndef PLUGMC_NEEDS_MINOR
#define PLUGMC_NEEDS_MINOR PLUGMC_ABI_MINOR
#endif

/* Codes a callback returns. */
enum {
    PLUGMC_OK = 0,
    PLUGMC_ERROR_INPUT = 1,  /* the user's input cannot be used as it is */
    PLUGMC_ERROR_MEMORY = 2, /* host or device memory is short */
    PLUGMC_ERROR_DEVICE = 3, /* GPU, driver or kernel compiler */
    PLUGMC_ERROR_STATE = 4,  /* a promise was broken while running: a bug, or a damaged state */
    PLUGMC_STOPPED = 5,      /* no error: a sweep given up because host->stopping said so */
    PLUGMC_UNANSWERED = 6    /* no error: a question that may be left to the core is */
};

/* Whether a struct from the other side is long enough to have a member. */
#define PLUGMC_HAS(pointer, member)                                                                \
    ((pointer)->size >= (size_t)((const char *)&(pointer)->member - (const char *)(pointer)) +     \
                            sizeof(pointer)->member)

/* Number of entries of a table. */
#define PLUGMC_COUNT(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))

/* ---- The system that is sampled ----------------------------------------------------------- */

typedef struct plugmc_species {
    const char *name;
    int64_t count;   /* particles a walker */
    double diameter; /* length */
    double charge;   /* elementary charges */
    double mass;     /* of the momenta of hybrid Monte Carlo; no unit but each other */
    int64_t
        capacity; /* particles that the arrays of a walker hold; `count` is the initial number */
    double
        mu; /* chemical potential, energy, in units in which ln of the activity (length^-dimension)
                        is mu / kT; of the first rung; NaN: none is given */
    int32_t
        grows; /* 1: nobody has given the largest number; `most` is the room of the moment, and the core sees
                      to it that nobody is kept out for want of room */
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
    int32_t sampled;                /* 1: part of -ln p; 0: only measured */
    const struct plugmc_host *host; /* the potential's own: messages name its section */
} plugmc_term;

/* What is fixed for a run. Particles are numbered species by species: those of species s are
 * first[s] ... first[s + 1] - 1. Where a mover changes how many there are, these are the numbers that
 * are laid out for them (PLUGMC_STATE_COUNT), and `box` is that at the start if one changes it. */
typedef struct plugmc_system {
    uint32_t size;
    plugmc_box box;
    int64_t particles; /* a walker: first[species_count] */
    int32_t walkers;   /* W */
    int32_t species_count;
    uint32_t species_size; /* bytes from one species to the next: see plugmc_species_at */
    const plugmc_species *species;
    const int64_t *first; /* [species_count + 1] */
    int32_t term_count;
    uint32_t term_size; /* bytes from one term to the next: see plugmc_term_at */
    const plugmc_term *terms;
    plugmc_seed seed; /* of the run; plugins use that of plugmc_host */
    double range;     /* largest range of the pair terms sampled; INFINITY if one has none */
    int32_t threads;  /* on the CPU; after prepare there may be fewer for a while, never more */
    int32_t rungs;    /* of the ladder; 1: there is none */
    /* k_B T in the unit of energy of the potentials, of which -ln p = U / kT; NaN where walkers differ
     * (state.h: PLUGMC_STATE_MULTIPLIER), which a mover has to follow. */
    double temperature;
    uint32_t changes; /* PLUGMC_CHANGED_*: what movers of the run change, beside positions */
    int32_t
        weighted; /* 0: each sampled term counts by 1 / temperature, in all walkers and for ever; 1:
                         by PLUGMC_STATE_MULTIPLIER */
    int32_t multipliers; /* of a walker, in a row of PLUGMC_STATE_MULTIPLIER */
    double
        of_charges; /* e^2 / (4 pi epsilon_0), energy length, of the units of the run; 0: they are reduced */
    const double *temperatures; /* [rungs]: k_B T, energy */
    const double
        *of_rungs; /* [rungs][multipliers]: PLUGMC_STATE_MULTIPLIER of a walker on each rung */
    /* [particles]: PLUGMC_STATE_MOLECULE, once potentials are prepared; NULL: there are none. */
    const int32_t *molecule;
    /* Variables of the ladder, 0 without one, and how many values each has; rungs are numbered with the last
     * variable first: rung = i shape[1] + j. */
    int32_t ladder_rank, ladder_shape[4];
    /* 1: variational parameters of sampled potentials (plugmc/wave.h) are set while the run goes on, and GPU source reads them
     * from memory; 0: they are constants. Known before anything is prepared. */
    int32_t parameters_change;
    /* The largest plugmc_mover.together of the run, at least 1. Walkers that share what they have are to change rungs
     * together. Known before anything is prepared. */
    int32_t together;
} plugmc_system;

/* What energies of this run are told in: "kT" where that is the unit of the potentials. */
static inline const char *plugmc_energy_unit(const plugmc_system *system)
{
    return system->temperature == 1 ? "kT" : "energy";
}

/* Species and terms grow at the end as all structs do, so their arrays are walked by the stride of
 * whoever made them, never by an index of C. */
static inline const plugmc_species *plugmc_species_at(const plugmc_system *system, int64_t s)
{
    return (const plugmc_species *)((const char *)system->species + s * system->species_size);
}

static inline const plugmc_term *plugmc_term_at(const plugmc_system *system, int64_t t)
{
    return (const plugmc_term *)((const char *)system->terms + t * system->term_size);
}

/* ---- Services of the core ------------------------------------------------------------------ */

typedef struct plugmc_context plugmc_context; /* opaque: whom a message comes from */
struct plugmc_archive;                        /* plugmc/archive.h */
struct plugmc_gpu;                            /* plugmc/gpu.h, as plugmc_gpu_source */
struct plugmc_gpu_source;
struct plugmc_proposal; /* plugmc/proposal.h */
struct plugmc_state;    /* plugmc/state.h */
struct plugmc_view;     /* plugmc/view.h */

/* Where a mover met an energy, a force or a probability that is not a number, as far as it knows. */
typedef struct plugmc_not_a_number {
    uint32_t size;
    int32_t walker;   /* -1: not known */
    int64_t particle; /* -1: not known */
    uint64_t sweep;
    const double *trial; /* [3] length: where the particle tried to go; NULL: it went there, or not
                            known */
} plugmc_not_a_number;

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
    const struct plugmc_gpu *gpu; /* NULL on the CPU */
    const plugmc_system *system;  /* complete once every plugin is configured */
    /* A view of positions [walkers][particles][3] as plugmc_view has them, in host or device
     * memory, for movers that call potentials with a total facet. out->size says how much room there is,
     * and afterwards how much of the view is there. Its cell lists live until the next call of `view` or the
     * end of the callback. */
    int (*view)(plugmc_context *, const double *positions, int32_t on_device,
                struct plugmc_view *out);
    /* Has `path` read by a child process that calls this plugin's `rehearse`, under limits on time
     * and memory that grow with the file: for formats whose libraries break down on damaged files
     * (HDF5). PLUGMC_OK if that ended well; else it has been said what is wrong. */
    int (*rehearse)(plugmc_context *, const char *path);
    /* 1 when the run has to end: the mover then gives up its sweep at once and returns
     * PLUGMC_STOPPED; its state is not used again, and the sweep is made again when the run is
     * resumed. Movers ask where a fraction of a second may have passed: between launches, tasks,
     * groups of particles, steps of a trajectory; not in inner loops. It reads one number, from any
     * thread. On a GPU it is for the main thread alone: when sweeps are slow it waits until what was
     * launched before the last call is done, so that launches do not queue for minutes. */
    int (*stopping)(plugmc_context *);
    /* For movers, which call it instead of `fail` and go no further: the core asks every sampled
     * potential by itself, where the mover's particles are by now (it calls `store`) and at the place
     * that was tried, and says which potential and which particles it was. A mover that cannot tell
     * the place lets the particle go there and then stops, so that it is found. Infinite energies
     * are rejected and not reported, minus infinity is. Returns the code that the callback returns. */
    int (*not_a_number)(plugmc_context *, const plugmc_not_a_number *);
    /* Seed of this plugin's random numbers. Of the first mover, of potentials and of observables it is
     * that of the run; further movers have others, so that none changes the numbers of another. */
    plugmc_seed seed;
    int64_t every; /* a mover's: it acts in sweeps s where this divides s + 1; else 1 */
    /* An extension that the core has; NULL: it has none of this name. */
    const void *(*extension)(plugmc_context *, const char *name);
    /* The state as it is by now, for movers that ask for energies, while they sweep: rungs and multipliers can be
     * written, the rest changes by what is settled or decided. */
    const struct plugmc_state *state;
    /* Sweeps first ... first + n - 1 of trial moves (plugmc/proposal.h); the mover returns what it returns. Counts of
     * the move are the core's then: they come on top of those that the mover gives. */
    int (*trials)(plugmc_context *, const struct plugmc_proposal *, uint64_t first, uint64_t n);
    /* In prepare of a mover: it takes this species, or volume (-1), from a reservoir, whose activity or pressure decides how
     * much. Refused: activities of species that nobody takes where a mover says so; volume without [run] pressure. */
    void (*reservoir)(plugmc_context *, int32_t species);
} plugmc_host;

/* ---- The descriptor ------------------------------------------------------------------------- */

enum { PLUGMC_POTENTIAL = 1, PLUGMC_MOVER = 2, PLUGMC_OBSERVABLE = 3 };

typedef struct plugmc_extension {
    const char *name;  /* "plugmc.orbitals/1": what it is, and a version; NULL behind the last */
    const void *table; /* the struct of that name */
} plugmc_extension;

typedef struct plugmc_plugin {
    uint32_t magic, size;
    uint16_t abi_major, abi_minor; /* of the oldest program that it can work with */
    uint32_t real_size;            /* sizeof(real) of this descriptor */
    int32_t kind;                  /* PLUGMC_POTENTIAL, ... */
    const char *name;
    const char *summary;   /* one line */
    const char *reference; /* paper or book, "" if none */
    size_t instance_size;  /* of the author's struct; zeroed before use */
    const plugmc_parameter *parameters;
    int32_t parameter_count;
    uint32_t parameter_size; /* sizeof(plugmc_parameter), the stride of the table */
    /* Optional: called once the parameters are read, before anything else; checks them against
     * each other and computes derived ones. host->gpu is not known yet. */
    int (*configure)(void *instance, const plugmc_host *);
    void (*release)(void *instance);
    /* What it is: one of them, or a mover that is an observable, too. */
    const struct plugmc_potential *potential;   /* plugmc/facets.h */
    const struct plugmc_mover *mover;           /* plugmc/mover.h */
    const struct plugmc_observable *observable; /* plugmc/observable.h */
    /* What it offers beside that; the last has no name. NULL: nothing. */
    const plugmc_extension *extensions;
    /* The author's own file, to be fused into kernels: a potential's, or a mover's that proposes
     * (plugmc/proposal.h). Set by PLUGMC_PLUGIN. */
    const char *source, *source_end, *source_name;
    const struct plugmc_plugin *single; /* the float descriptor of the same potential */
    /* Optional: GPU sources that prepare will ask for, number `index` from 0; returns 0 past the
     * last, and where it has to fail. Works without a GPU, so that they can be compiled on any
     * machine; called after configure. Strings live as long as the instance. Potentials: only those
     * of kernels of their own (total, orbitals), and only for the double precision descriptor. */
    int (*gpu_source)(void *instance, const plugmc_host *, int index,
                      struct plugmc_gpu_source *out);
    /* Optional: takes memory and compiles; potentials before movers before observables. */
    int (*prepare)(void *instance, const plugmc_host *);
    /* Saves to, or restores from, the checkpoint what a resumed run needs besides the parameters
     * and what a mover gives (and its steps, which are the core's), so that it goes on as if it had
     * never stopped. Optional. Called after take (movers) and start (potentials). */
    int (*archive)(void *instance, const plugmc_host *, struct plugmc_archive *);
    /* Optional: reads all of a file that an instance would read, and keeps nothing of it. Called in a
     * child process (plugmc_host.rehearse), without an instance; of the host there are only fail,
     * warn and allocate. */
    int (*rehearse)(const plugmc_host *, const char *path);
} plugmc_plugin;

typedef const plugmc_plugin *plugmc_entry(void);

/* Parameter k of a plugin, which may be built against another minor version. */
static inline const plugmc_parameter *plugmc_parameter_at(const plugmc_plugin *plugin, int32_t k)
{
    return (const plugmc_parameter *)((const char *)plugin->parameters +
                                      (size_t)k * plugin->parameter_size);
}

/* Writes the entry. Fields are designated initialisers of plugmc_plugin:
 *     PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "serial", ...)
 */
#define PLUGMC_EXPORT __attribute__((visibility("default")))
#define PLUGMC_PLUGIN_HEAD                                                                         \
    .magic = PLUGMC_MAGIC, .size = sizeof(plugmc_plugin), .abi_major = PLUGMC_ABI_MAJOR,           \
    .abi_minor = PLUGMC_NEEDS_MINOR, .real_size = sizeof(real),                                    \
    .parameter_size = sizeof(plugmc_parameter)

/* What an instance is: a struct, and the table of its keys. */
#define PLUGMC_KEYS(type, table)                                                                   \
    .instance_size = sizeof(type), .parameters = table, .parameter_count = PLUGMC_COUNT(table)
/* What a plugin offers: PLUGMC_OFFERS({PLUGMC_ORBITALS, &orbitals}, ...). */
#define PLUGMC_OFFERS(...)                                                                         \
    .extensions = (const plugmc_extension[])                                                       \
    {                                                                                              \
        __VA_ARGS__, { NULL, NULL }                                                                \
    }

#ifndef PLUGMC_PLUGIN /* plugmc/potential.h has its own */
#define PLUGMC_PLUGIN(...)                                                                         \
    static const plugmc_plugin plugmc_descriptor = {PLUGMC_PLUGIN_HEAD, __VA_ARGS__};              \
    PLUGMC_EXPORT const plugmc_plugin *plugmc_plugin_entry(void) { return &plugmc_descriptor; }
#endif

/* The number of a species that `key` of the plugin's section names. A code, with a sentence if there is none. */
static inline int plugmc_find_species(const plugmc_host *host, const char *key, const char *name,
                                      int32_t *number)
{
    const int32_t n = host->system->species_count;
    for (*number = 0; *number < n; ++*number)
        if (!__builtin_strcmp(plugmc_species_at(host->system, *number)->name, name))
            return PLUGMC_OK;
    return (host->fail)(host->context, PLUGMC_ERROR_INPUT, "%s = %s: there is no such species", key,
                        name);
}

/* What a plugin offers under a name; NULL: nothing. */
static inline const void *plugmc_offered(const plugmc_plugin *plugin, const char *name)
{
    for (const plugmc_extension *e = plugin->extensions; e && e->name; e++)
        if (!__builtin_strcmp(e->name, name)) return e->table;
    return NULL;
}

/* Carries the file `path` in the object as the text `symbol` ... `symbol`_end. */
#define PLUGMC_EMBED(symbol, path)                                                                 \
    __asm__(".pushsection .rodata\n.balign 16\n.hidden " #symbol "\n.hidden " #symbol "_end\n"     \
            ".globl " #symbol "\n.globl " #symbol "_end\n" #symbol ":\n.incbin \"" path            \
            "\"\n" #symbol "_end:\n.byte 0\n.popsection\n");                                       \
    extern const char symbol[] __attribute__((visibility("hidden")));                              \
    extern const char symbol##_end[] __attribute__((visibility("hidden")))

/* Compiled for several instruction sets, the best of which is chosen when the plugin is loaded. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 &&           \
    !defined(PLUGMC_ONE_TARGET)
#define PLUGMC_TARGETS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PLUGMC_TARGETS
#endif

#endif
