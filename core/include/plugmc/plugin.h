/* plugmc/plugin.h: the contract between the core and every plugin.
 *
 * A plugin is a shared object that exports one function, plugmc_plugin_entry. The function returns a constant
 * descriptor: the kind of plugin (potential, mover or observable), its parameters as a table, and its callbacks.
 * The core fills in the parameters from the INI file. A plugin never parses text, prints, exits or calls longjmp. A
 * callback returns PLUGMC_OK; on an error it calls host->fail with one sentence and returns the code. The core adds
 * the section and the file.
 *
 * Which header to include:
 *
 *     plugmc/potential.h    a potential
 *     plugmc/proposal.h     a mover that proposes trial moves and leaves the decision to the core
 *     plugmc/changes.h      a mover that asks the core for energies and decides by itself
 *     plugmc/driver.h       a mover with a configuration and kernels of its own
 *     plugmc/observable.h   an observable
 *     plugmc/everything.h   all of these and all extensions
 *
 * Rarely needed features are extensions: structs that a plugin offers (plugmc_plugin.extensions) or requests from
 * the core (plugmc_host.extension) by a name that ends in a version.
 *
 * Compatibility: the descriptor begins with magic, size and ABI version. The core checks them before it reads on. A
 * struct that begins with its size only grows at the end, so a plugin built against an older minor version still
 * works; PLUGMC_HAS tells whether the other side knows a member. All other structs are fixed within a major
 * version. docs/plugin-abi.md has the rules.
 *
 * Threads: the main thread calls every callback, one at a time, unless its comment says otherwise. The batch
 * functions of plugmc_pair and plugmc_field are called from many threads at once. */
#ifndef PLUGMC_PLUGIN_H
#define PLUGMC_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "plugmc/device.h"
#include "plugmc/parameter.h"

#define PLUGMC_MAGIC 0x434d4750u /* "PGMC" */
#define PLUGMC_ABI_MAJOR 2
#define PLUGMC_ABI_MINOR 1
/* The oldest minor version of the program that the plugin works with. A plugin that tests all newer members with
 * PLUGMC_HAS may define a smaller number before it includes this header. */
#ifndef PLUGMC_NEEDS_MINOR
#define PLUGMC_NEEDS_MINOR PLUGMC_ABI_MINOR
#endif

/* Return codes of callbacks. */
enum {
    PLUGMC_OK = 0,
    PLUGMC_ERROR_INPUT = 1,  /* the user's input cannot be used as it is */
    PLUGMC_ERROR_MEMORY = 2, /* host or device memory is short */
    PLUGMC_ERROR_DEVICE = 3, /* GPU, driver or kernel compiler */
    PLUGMC_ERROR_STATE = 4,  /* broken contract at run time: a bug, or a damaged state */
    PLUGMC_STOPPED = 5,      /* not an error: sweep abandoned because host->stopping returned 1 */
    PLUGMC_UNANSWERED = 6    /* not an error: declined; the core does it instead */
};

/* Whether the other side's struct is long enough to contain a member. */
#define PLUGMC_HAS(pointer, member)                                                                \
    ((pointer)->size >= (size_t)((const char *)&(pointer)->member - (const char *)(pointer)) +     \
                            sizeof(pointer)->member)

/* Number of entries of a table. */
#define PLUGMC_COUNT(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))

/* ---- The system that is sampled ----------------------------------------------------------- */

typedef struct plugmc_species {
    const char *name;
    int64_t count;    /* particles per walker when the run begins */
    double diameter;  /* length */
    double charge;    /* elementary charges */
    double mass;      /* for momenta of hybrid Monte Carlo; only mass ratios matter */
    int64_t capacity; /* particles that the arrays of a walker can hold */
    /* Chemical potential on the first rung, energy: mu / kT = ln(activity), the activity in length^-dimension. NaN
     * if not given. */
    double mu;
    /* 1: the user gave no maximum. `capacity` is then the current size; the core enlarges the arrays when they are
     * full. */
    int32_t grows;
} plugmc_species;

struct plugmc_molecules; /* plugmc/molecule.h */
struct plugmc_potential;
struct plugmc_plugin;

/* One potential of the run. It has an instance in each precision. */
typedef struct plugmc_term {
    const char *label;                  /* NAME in [potential NAME] */
    const struct plugmc_plugin *plugin; /* double precision */
    void *instance;
    const struct plugmc_plugin *plugin_single; /* float; NULL if the plugin has no pair or field */
    void *instance_single;
    int32_t sampled;                /* 1: part of -ln p; 0: only measured */
    const struct plugmc_host *host; /* of this potential; messages name its section */
} plugmc_term;

/* What stays fixed during a run. A walker is one of W independent replicas of the system. Particles are numbered
 * species by species: species s has the numbers first[s] ... first[s + 1] - 1. If a mover changes particle counts,
 * these are the numbers reserved for the species; the counts are in PLUGMC_STATE_COUNT. If a mover changes boxes,
 * `box` is the initial one. */
typedef struct plugmc_system {
    uint32_t size;
    plugmc_box box;
    int64_t particles; /* per walker: first[species_count] */
    int32_t walkers;   /* W, in this process */
    int32_t species_count;
    uint32_t species_size; /* stride of the array: see plugmc_species_at */
    const plugmc_species *species;
    const int64_t *first; /* [species_count + 1] */
    int32_t term_count;
    uint32_t term_size; /* stride of the array: see plugmc_term_at */
    const plugmc_term *terms;
    plugmc_seed seed; /* of the run; plugins use plugmc_host.seed */
    double range; /* largest range of the sampled pair potentials; INFINITY if one has no cutoff */
    int32_t threads; /* CPU threads; may temporarily be fewer after prepare, never more */
    int32_t rungs;   /* of the ladder (state.h: PLUGMC_STATE_RUNG); 1: no ladder */
    /* k_B T in the potentials' unit of energy: -ln p = U / kT. NaN if walkers differ; a mover then has to use
     * PLUGMC_STATE_MULTIPLIER. */
    double temperature;
    uint32_t changes; /* PLUGMC_CHANGED_*: what the movers of the run change besides positions */
    /* 0: each sampled term is multiplied by 1 / temperature, in all walkers and at all times. 1: by
     * PLUGMC_STATE_MULTIPLIER. */
    int32_t weighted;
    int32_t multipliers; /* per walker: length of a row of PLUGMC_STATE_MULTIPLIER */
    double of_charges;   /* e^2 / (4 pi epsilon_0), energy length, in the run's units; 0: reduced */
    const double *temperatures; /* [rungs] k_B T, energy */
    const double *of_rungs;     /* [rungs][multipliers] multipliers on each rung */
    /* [particles] as PLUGMC_STATE_MOLECULE, set once potentials are prepared; NULL: no molecules. */
    const int32_t *molecule;
    /* Number of variables of the ladder (0 without one) and number of values of each. Rungs are numbered with the
     * last variable running fastest: rung = i shape[1] + j. */
    int32_t ladder_rank, ladder_shape[4];
    /* 1: variational parameters of sampled potentials (plugmc/wave.h) change during the run, and GPU source reads
     * them from memory; 0: they are constants. Known before prepare. */
    int32_t parameters_change;
    /* The largest plugmc_mover.together of the run, at least 1. Walkers of such a group have to change rungs
     * together. Known before prepare. */
    int32_t together;
    /* Since 2.1. 1: particles have orientations, since a potential of the run is of bodies (plugmc/body.h), or since
     * there are rigid molecules. */
    int32_t bodies;
    /* Since 2.1. Rigid molecules (plugmc/molecule.h); NULL: none. Their sites are counted by the species. */
    const struct plugmc_molecules *molecules;
} plugmc_system;

/* Unit of reported energies: "kT" if that is the potentials' unit. */
static inline const char *plugmc_energy_unit(const plugmc_system *system)
{
    return system->temperature == 1 ? "kT" : "energy";
}

/* Species and terms may grow at the end, so these arrays are indexed by the stride of the program that made them.
 * Never index them as C arrays. */
static inline const plugmc_species *plugmc_species_at(const plugmc_system *system, int64_t s)
{
    return (const plugmc_species *)((const char *)system->species + s * system->species_size);
}

static inline const plugmc_term *plugmc_term_at(const plugmc_system *system, int64_t t)
{
    return (const plugmc_term *)((const char *)system->terms + t * system->term_size);
}

/* ---- Services of the core ------------------------------------------------------------------ */

typedef struct plugmc_context plugmc_context; /* opaque: the plugin that calls; messages name it */
struct plugmc_archive;                        /* plugmc/archive.h */
struct plugmc_gpu;                            /* plugmc/gpu.h, as plugmc_gpu_source */
struct plugmc_gpu_source;
struct plugmc_proposal; /* plugmc/proposal.h */
struct plugmc_state;    /* plugmc/state.h */
struct plugmc_view;     /* plugmc/view.h */

/* Where a mover met an energy, force or probability that is not a number. The mover fills in what it knows. */
typedef struct plugmc_not_a_number {
    uint32_t size;
    int32_t walker;   /* -1: unknown */
    int64_t particle; /* -1: unknown */
    uint64_t sweep;
    /* [3] trial position of the particle, length; NULL if the particle has already moved there or it is unknown. */
    const double *trial;
} plugmc_not_a_number;

typedef struct plugmc_host {
    uint32_t size;
    uint16_t abi_major, abi_minor;
    plugmc_context *context; /* first argument of the calls below */
    /* Reports an error: one sentence without "error:" and without a newline at the end. Returns `code`, so that a
     * callback can `return host->fail(...)`. */
    int (*fail)(plugmc_context *, int code, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
    /* Prints a warning: one sentence, as for `fail`. */
    void (*warn)(plugmc_context *, const char *format, ...) __attribute__((format(printf, 2, 3)));
    /* Memory: zeroed, aligned to 64 bytes, released by the core when the run ends. NULL if there is not enough. */
    void *(*allocate)(plugmc_context *, size_t bytes);
    const struct plugmc_gpu *gpu; /* NULL on the CPU */
    /* Complete once all plugins are configured. `configure` may read box, species, first, particles, walkers, seed,
     * threads, changes and of_charges; there temperature is 1 whatever the run says, and terms, range, rungs and what
     * follows from ladders are not known: read them in `prepare` or later. Potentials with orbitals are configured
     * before all others, which in `configure` may ask those among the terms for their ions (plugmc_orbitals.ions). */
    const plugmc_system *system;
    /* Makes a view (plugmc_view) of positions [walkers][particles][3] in host or device memory, for movers that
     * call many-body terms. The caller sets out->size to the size of its struct; on return it is the size that was
     * filled in. Cell lists of the view are valid until the next call of `view` or the end of the callback. */
    int (*view)(plugmc_context *, const double *positions, int32_t on_device,
                struct plugmc_view *out);
    /* Validates the file `path` in a child process, which calls `rehearse` of this plugin under limits on time and
     * memory that grow with the file. For file formats whose libraries crash on damaged files (HDF5). Returns
     * PLUGMC_OK, or an error that has already been reported. */
    int (*rehearse)(plugmc_context *, const char *path);
    /* Returns 1 when the run has to end. The mover then abandons its sweep at once and returns PLUGMC_STOPPED. Its
     * state is discarded, and a resumed run repeats the sweep. Call it wherever a fraction of a second may have
     * passed (between launches, tasks, groups of particles, steps of a trajectory), but not in inner loops: it
     * reads one number. On the CPU any thread may call it; on a GPU only the main thread. If sweeps are slow on a
     * GPU, it waits until everything launched before the previous call is done, so that launches do not queue up
     * for minutes. */
    int (*stopping)(plugmc_context *);
    /* Movers call it instead of `fail` when a value is not a number, and return its code. The core then evaluates
     * each sampled potential at the mover's current positions (it calls `store`) and at the trial position, and
     * reports the potential and the particles. A mover that does not know the trial position accepts the move and
     * stops, so that the core finds it. Plus infinity is not an error but a rejected move; minus infinity is an
     * error. */
    int (*not_a_number)(plugmc_context *, const plugmc_not_a_number *);
    /* Seed of this plugin's random numbers. Potentials, observables and the first mover have the run's seed. Each
     * further mover has its own, so that no mover changes the random numbers of another. */
    plugmc_seed seed;
    int64_t every; /* movers: acts in sweep s if this divides s + 1; others: 1 */
    /* The core's extension of this name; NULL if it has none. */
    const void *(*extension)(plugmc_context *, const char *name);
    /* The current state, for movers that ask the core for energies; valid while they sweep. They may write rungs
     * and multipliers; everything else changes through `settle` or `decide`. */
    const struct plugmc_state *state;
    /* Makes sweeps first ... first + n - 1 of trial moves (plugmc/proposal.h). Returns the code that `sweep` has to
     * return. The core counts these trial moves, in addition to the counts that the mover reports. */
    int (*trials)(plugmc_context *, const struct plugmc_proposal *, uint64_t first, uint64_t n);
    /* Called in prepare of a mover: it exchanges this species, or volume (-1), or since 2.1 molecules of kind k (species_count
     * + k), with a reservoir of given activity or pressure. The core refuses volume without [run] pressure. Once a mover has
     * called this for a species, the core also refuses activities of species for which none did. */
    void (*reservoir)(plugmc_context *, int32_t species);
} plugmc_host;

/* ---- The descriptor ------------------------------------------------------------------------- */

enum { PLUGMC_POTENTIAL = 1, PLUGMC_MOVER = 2, PLUGMC_OBSERVABLE = 3 };

typedef struct plugmc_extension {
    const char *name;  /* with its version: "plugmc.orbitals/1"; NULL after the last */
    const void *table; /* the struct that the name stands for */
} plugmc_extension;

typedef struct plugmc_plugin {
    uint32_t magic, size;
    uint16_t abi_major, abi_minor; /* of the oldest program that the plugin works with */
    uint32_t real_size;            /* sizeof(real) of this descriptor */
    int32_t kind;                  /* PLUGMC_POTENTIAL, ... */
    const char *name;
    const char *summary;   /* one line */
    const char *reference; /* paper or book, "" if none */
    size_t instance_size;  /* of the author's struct; zeroed before use */
    const plugmc_parameter *parameters;
    int32_t parameter_count;
    uint32_t parameter_size; /* sizeof(plugmc_parameter): stride of the table */
    /* Optional, called once after the parameters are read and before anything else. Checks the parameters against
     * each other and computes derived ones. host->gpu is not known yet. */
    int (*configure)(void *instance, const plugmc_host *);
    /* Optional, called when the run ends: frees what was not allocated with host->allocate. */
    void (*release)(void *instance);
    /* Exactly one of these, except that a mover may also be an observable. */
    const struct plugmc_potential *potential;   /* plugmc/facets.h */
    const struct plugmc_mover *mover;           /* plugmc/mover.h */
    const struct plugmc_observable *observable; /* plugmc/observable.h */
    /* Extensions that the plugin offers, ended by an entry without a name; NULL: none. */
    const plugmc_extension *extensions;
    /* The author's own source file, compiled into GPU kernels: of a potential, or of a mover that proposes trial
     * moves (plugmc/proposal.h). Set by PLUGMC_PLUGIN. */
    const char *source, *source_end, *source_name;
    const struct plugmc_plugin *single; /* float descriptor of the same potential */
    /* Optional, called after configure: GPU sources that prepare will compile. `index` counts from 0. Returns 1; 0
     * after the last and on failure. It has to work without a GPU, so that kernels can be compiled on any machine.
     * Strings live as long as the instance. A potential lists only its own kernels (many-body term, orbitals), and
     * only in the double precision descriptor. */
    int (*gpu_source)(void *instance, const plugmc_host *, int index,
                      struct plugmc_gpu_source *out);
    /* Optional: allocates memory and compiles kernels. Called for potentials first, then movers, then observables. */
    int (*prepare)(void *instance, const plugmc_host *);
    /* Optional: saves to the checkpoint, or restores from it, whatever a resumed run needs to continue exactly,
     * beyond the parameters, the configuration that a mover stores and the steps of its moves (the core saves
     * those). Called after `load` (movers) and `start` (potentials). */
    int (*archive)(void *instance, const plugmc_host *, struct plugmc_archive *);
    /* Optional: reads a file completely, as an instance would, and keeps nothing. Called in a child process
     * (plugmc_host.rehearse) without an instance; the host has only fail, warn and allocate. */
    int (*rehearse)(const plugmc_host *, const char *path);
} plugmc_plugin;

typedef const plugmc_plugin *plugmc_entry(void);

/* Parameter k of a plugin that may be built against another minor version. */
static inline const plugmc_parameter *plugmc_parameter_at(const plugmc_plugin *plugin, int32_t k)
{
    return (const plugmc_parameter *)((const char *)plugin->parameters +
                                      (size_t)k * plugin->parameter_size);
}

/* Defines the descriptor and the entry function. Arguments are designated initialisers of plugmc_plugin:
 *     PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "serial", ...)
 */
#define PLUGMC_EXPORT __attribute__((visibility("default")))
#define PLUGMC_PLUGIN_HEAD                                                                         \
    .magic = PLUGMC_MAGIC, .size = sizeof(plugmc_plugin), .abi_major = PLUGMC_ABI_MAJOR,           \
    .abi_minor = PLUGMC_NEEDS_MINOR, .real_size = sizeof(real),                                    \
    .parameter_size = sizeof(plugmc_parameter)

/* The author's struct and the table of its keys. */
#define PLUGMC_KEYS(type, table)                                                                   \
    .instance_size = sizeof(type), .parameters = table, .parameter_count = PLUGMC_COUNT(table)
/* Extensions: PLUGMC_OFFERS({PLUGMC_ORBITALS, &orbitals}, ...). */
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

/* Index of the species `name`, the value of `key` in the plugin's section. If there is no such species, it reports
 * that and returns PLUGMC_ERROR_INPUT. */
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

/* The table of the extension that a plugin offers under a name; NULL: none. */
static inline const void *plugmc_offered(const plugmc_plugin *plugin, const char *name)
{
    for (const plugmc_extension *e = plugin->extensions; e && e->name; e++)
        if (!__builtin_strcmp(e->name, name)) return e->table;
    return NULL;
}

/* Embeds the file `path` in the object as the string `symbol` ... `symbol`_end. */
#define PLUGMC_EMBED(symbol, path)                                                                 \
    __asm__(".pushsection .rodata\n.balign 16\n.hidden " #symbol "\n.hidden " #symbol "_end\n"     \
            ".globl " #symbol "\n.globl " #symbol "_end\n" #symbol ":\n.incbin \"" path            \
            "\"\n" #symbol "_end:\n.byte 0\n.popsection\n");                                       \
    extern const char symbol[] __attribute__((visibility("hidden")));                              \
    extern const char symbol##_end[] __attribute__((visibility("hidden")))

/* Compiles a function for several instruction sets; the best is chosen when the plugin is loaded. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12 &&           \
    !defined(PLUGMC_ONE_TARGET)
#define PLUGMC_TARGETS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PLUGMC_TARGETS
#endif

#endif
