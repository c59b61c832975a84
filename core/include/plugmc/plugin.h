/* plugmc/plugin.h: the contract between the core and a plugin.
 *
 * A plugin is a shared object that exports one function, plugmc_plugin_entry, which returns a constant
 * descriptor: what the plugin is (a potential, a mover or an observable), its parameters as a table, and its
 * callbacks.  The core fills the parameters from the INI file; a plugin never parses text, prints, exits or
 * longjmps.  It returns PLUGMC_OK, or says what is wrong through host->fail and returns an error code; the
 * core adds where. A potential includes plugmc/potential.h, which includes this header and says how the
 * physics is written.  Movers and observables include this header.
 *
 * Compatibility: the descriptor begins with magic, size and ABI version, which the core checks
 * before it reads on.  Structs that begin with their size only grow at the end, so a plugin built
 * against an older minor version goes on working (PLUGMC_HAS asks whether the other side knows a
 * member); the others do not change within a major version.  docs/plugin-abi.md has the rules.
 *
 * Threads: every callback is called from the main thread, one at a time, except the batch
 * functions of plugmc_pair and plugmc_field, which movers call from many threads at once.
 */
#ifndef PLUGMC_PLUGIN_H
#define PLUGMC_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#include "plugmc/device.h"
#include "plugmc/energies.h"
#include "plugmc/gpu.h"
#include "plugmc/macrostates.h"
#include "plugmc/parameter.h"
#include "plugmc/spread.h"
#include "plugmc/state.h"
#include "plugmc/wave.h"

#define PLUGMC_MAGIC 0x434d4750u /* "PGMC" */
#define PLUGMC_ABI_MAJOR 1
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

/* ---- The system that is sampled ----------------------------------------------------------- */

typedef struct plugmc_species {
    const char *name;
    int64_t count;   /* particles a walker */
    double diameter; /* length */
    double charge;   /* elementary charges */
    double mass;     /* of the momenta of hybrid Monte Carlo; no unit but each other */
    int64_t most;    /* particles that a walker has room for; `count` is with how many it begins */
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
    uint64_t seed;   /* of the run; plugins use that of plugmc_host */
    double range;    /* largest range of the pair terms sampled; INFINITY if one has none */
    int32_t threads; /* on the CPU; after prepare there may be fewer for a while, never more */
    int32_t rungs;   /* of the ladder; 1: there is none */
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
    /* 1: free numbers of sampled potentials (plugmc/wave.h) are set while the run goes on, and device text reads them
     * from memory; 0: they are constants. Known before anything is prepared. */
    int32_t numbers_change;
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
    const plugmc_gpu *gpu;       /* NULL on the CPU */
    const plugmc_system *system; /* complete once every plugin is configured */
    /* A view of positions [walkers][particles][3] as plugmc_view has them, in host or device
     * memory, for movers that call potentials with a total facet. out->size says how much room there is,
     * and afterwards how much of the view is there. Its cell lists live until the next call of `view` or the
     * end of the callback. */
    int (*view)(plugmc_context *, const double *positions, int32_t on_device, plugmc_view *out);
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
     * potential by itself, where the mover's particles are by now (it calls `give`) and at the place
     * that was tried, and says which potential and which particles it was. A mover that cannot tell
     * the place lets the particle go there and then stops, so that it is found. Infinite energies
     * are rejected and not reported, minus infinity is. Returns the code that the callback returns. */
    int (*not_a_number)(plugmc_context *, const plugmc_not_a_number *);
    /* Seed of this plugin's random numbers. Of the first mover, of potentials and of observables it is
     * that of the run; further movers have others, so that none changes the numbers of another. */
    uint64_t seed;
    int64_t every; /* a mover's: it acts in sweeps s where this divides s + 1; else 1 */
    /* What changes of configurations do to the energy (plugmc/energies.h), for movers without `take`
     * and `give`. `energies` fills in what is wanted. Until `settle` is called with the
     * number of the proposal that was taken in each walker [walkers], -1 for none, these walkers are
     * asked nothing else. Both are called from several threads, for different walkers, unless a sampled
     * potential has a total. */
    int (*energies)(plugmc_context *, const plugmc_changes *);
    int (*settle)(plugmc_context *, const plugmc_changes *, const int64_t *taken);
    /* Sweeps first ... first + n - 1 of trial moves; the mover returns what it returns. Counts of the
     * move are the core's then: they come on top of those that the mover gives. */
    int (*trials)(plugmc_context *, const plugmc_proposal *, uint64_t first, uint64_t n);
    /* What the multipliers of a walker multiply, in their order: the energy of each term as it is, the
     * volume, how many particles there are of each species; valid until they change. */
    int (*energy)(plugmc_context *, int32_t walker, const double **out);
    /* The step of a kind of move on the rung of a walker, as it is tuned; and a trial move that was made
     * there, for movers that ask for energies themselves: counts are the core's then. */
    double (*step)(plugmc_context *, int32_t move, int32_t walker);
    void (*count)(plugmc_context *, int32_t move, int32_t walker, int taken);
    /* The state, for movers without `take` and `give`, while they sweep: as it is by now. Rungs and
     * multipliers can be written; the rest is changed by `settle` and `decide`. */
    const plugmc_state *state;
    /* Draws, counts and settles (plugmc/energies.h), with the weights of macrostates. */
    int (*decide)(plugmc_context *, const plugmc_decision *);
    /* All walkers [walkers]: those of rung 0 in the order of their numbers, those of rung 1, ...; valid until
     * rungs change. NULL: it failed, which has been said. For a mover with PLUGMC_GLOBAL_WALKERS these are the walkers
     * of all processes [plugmc_state.of_run], by their number in the run, and so are a and b below; it makes
     * the same calls in all of them, and returns what one of these returns at once. */
    const int32_t *(*by_rung)(plugmc_context *);
    /* In prepare: weights for the movers of the run (plugmc/macrostates.h). One mover of a run may. */
    int (*declare)(plugmc_context *, plugmc_macrostates *);
    /* For movers without `take` and `give`: how much -ln p of two walkers together grows if they take each other's
     * rung, with all that belongs to a rung; and they do. Configurations stay where they are. */
    int (*exchange_growth)(plugmc_context *, int32_t a, int32_t b, double *growth);
    int (*exchange_rungs)(plugmc_context *, int32_t a, int32_t b);
    /* In prepare of a mover: it takes this species, or volume (-1), from a reservoir, whose activity or pressure decides how
     * much. Refused: activities of species that nobody takes where a mover says so; volume without [run] pressure. */
    void (*reservoir)(plugmc_context *, int32_t species);
    /* Local energies of the wave function, by the one plugin of the run that gives them (plugmc/wave.h). Main
     * thread, once all plugins are prepared. With NULL it only asks, in `prepare`, whether there is one. */
    int (*local_energy)(plugmc_context *, const plugmc_local_energy_request *);
    /* Other processes that have the same walkers (plugmc/spread.h), from prepare on; NULL: there are none. */
    const plugmc_spread *spread;
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
    float scale;                                 /* edge of a cell in x, length */
    float ratio[3];                              /* edges of a cell over that in x */
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

/* Derivatives of an energy by the position of one particle. */
typedef struct plugmc_derivatives {
    double energy;      /* kT */
    double gradient[3]; /* kT/length; the force is minus this */
    double laplacian;   /* kT/length^2 */
    double virial[3];   /* kT: sum over pairs of -s_d du/ds_d, of the probe's pairs */
} plugmc_derivatives;

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
    /* As `change`, but the change of each pair apart: out[j] (real of the descriptor's precision)
     * for others j, times the probe's factor, INFINITY where the new position overlaps. */
    void (*changes)(const void *instance, const plugmc_box *box, int periodic,
                    const plugmc_particle *probe, const double moved[3],
                    const plugmc_particles *others, void *out);
    /* Energy of a probe with n others and its derivatives are added to *out; the Laplacian only if
     * `second`. Returns how many overlap. NULL without PLUGMC_PAIR_DERIVATIVE. */
    int64_t (*derivatives)(const void *instance, const plugmc_box *box, int periodic, int second,
                           const plugmc_particle *probe, const plugmc_particles *others,
                           plugmc_derivatives *out);
} plugmc_pair;

/* Field facet: one-body energies, written by plugmc/field.h. */
typedef struct plugmc_field {
    uint32_t size;
    int32_t functions; /* PLUGMC_FIELD_* that the author gives */
    /* Energy of n particles is added to *energy; returns how many are where they may not be. */
    int64_t (*energy)(const void *instance, const plugmc_particles *, double *energy);
    /* Energy of one particle and its derivatives are added to *out; returns 1 where it may not be.
     * NULL without PLUGMC_FIELD_DERIVATIVE. */
    int (*derivatives)(const void *instance, const plugmc_particle *, plugmc_derivatives *out);
} plugmc_field;

/* What is asked of a total facet. All pointers are host memory, or all device memory, as the view's
 * positions; what is found is ADDED to what is there. On a device the call returns without waiting.
 * NULL: not wanted. */
typedef struct plugmc_total_request {
    uint32_t size;
    const plugmc_view *view;
    double *energy; /* [walkers], kT */
    double *forces; /* [walkers][particles][3], kT/length */
    double *virial; /* [walkers][3], kT: sum over particles of r_d f_d, by the periodic images */
} plugmc_total_request;

/* An energy that is a sum over waves, in kT, for movers that sum them by themselves:
 *
 *     U = constant + sum_k weight_k |S_k|^2,    S_k = sum_i z_i exp(2 pi i n_k.f_i)
 *
 * with the charges z and the fractional coordinates f (plugmc_box.inverse) of the particles. When
 * one particle moves, S_k changes by z (exp(2 pi i n_k.f') - exp(2 pi i n_k.f)). */
typedef struct plugmc_waves {
    uint32_t size;
    int64_t count;
    const int32_t (*n)[3]; /* [count] */
    const double *weight;  /* [count] kT */
    double constant;       /* kT, of a configuration */
} plugmc_waves;

/* What a potential has to do with molecules. */
enum {
    PLUGMC_MOLECULES_NONE,  /* it knows of none */
    PLUGMC_MOLECULES_LOOSE, /* it leaves out pairs within a molecule, which something else has to
                               hold together */
    PLUGMC_MOLECULES_BOUND  /* it holds them together */
};

/* Particles that come and leave at once, one or a group. Those who leave go first, one after the other, and
 * each time the last one of the species takes the number; then the others come, behind the last of their
 * species. */
typedef struct plugmc_turnover {
    uint32_t size;
    int32_t comes, leaves;
    const int32_t *species;      /* [comes] */
    const double (*position)[3]; /* [comes], length, in the box */
    const int32_t *particle;     /* [leaves] */
} plugmc_turnover;

/* Energy of whole configurations. The potential's own `prepare` takes memory and compiles. */
typedef struct plugmc_total {
    uint32_t size;
    int32_t on_device;    /* 1: can also take device memory */
    int32_t beside_parts; /* 1: to be added to the pair and field facets of the same potential (the
                             reciprocal part of an Ewald sum); 0: it is the whole, instead of them */
    int (*energy)(void *instance, const plugmc_total_request *);
    /* Optional, host only: the change when one particle moves; then settle with accepted or not.
     * start is called once before, with all walkers' positions on the host, and after positions
     * changed by other means. change adds to *change. */
    int (*start)(void *instance, const plugmc_view *);
    int (*change)(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *change);
    int (*settle)(void *instance, int32_t walker, int accepted);
    /* Optional, after prepare: the energy as a sum over waves, where it is one. The caller has
     * cleared *out and set its size; arrays live as long as the instance. */
    int (*waves)(const void *instance, plugmc_waves *out);
    /* Changes that leave energy and virial as they are, as bits PLUGMC_CHANGED_*; 0: each may change
     * them. A total that positions do not change, of a potential without other facets, goes with
     * every mover: movers leave it out (plugmc_follows_positions), and `energy` may be asked of a
     * view that has boxes and no positions (NULL). */
    uint32_t unchanged_by;
    /* Optional, after configure: PLUGMC_MOLECULES_*. */
    int32_t (*molecules)(const void *instance);
    /* PLUGMC_CHANGED_BOX: it takes the boxes of a view. PLUGMC_CHANGED_COUNT: its counts. Else no mover of
     * the run may change them. */
    uint32_t follows;
    /* The energy of a total that positions do not change, in a box with these counts [species]; from many
     * threads. It is asked for, too, where it follows counts. */
    double (*of_counts)(const void *instance, const plugmc_box *, const int64_t *count);
    /* As `change`, when particles come and leave; settle follows. Without it a total that positions change
     * cannot be where numbers of particles change. */
    int (*turnover)(void *instance, int32_t walker, const plugmc_turnover *, double *change);
    /* Optional, once, after prepare: the molecule [particles] of each particle of any walker, numbers from 0 up, or
     * less than 0: none; for PLUGMC_STATE_MOLECULE and trajectories. */
    int (*molecule_of)(void *instance, int32_t *molecule);
} plugmc_total;

/* Orbitals to be evaluated at points, of one species (spin). */
typedef struct plugmc_orbital_request {
    uint32_t size;
    int32_t on_device; /* where all pointers are */
    int32_t species;
    int32_t real_size; /* of the results: sizeof(float) or sizeof(double) */
    int64_t points;
    const double *positions; /* [points][3] */
    int64_t pitch;           /* orbitals from one row to the next, at least the count */
    void *values;            /* [points][pitch], real or complex (re, im) */
    void *gradients;         /* [points][3][pitch], 1/length; NULL if not wanted */
    void *laplacians;        /* [points][pitch], 1/length^2; NULL if not wanted */
} plugmc_orbital_request;

/* The solid or molecule that the orbitals belong to, in the simulation cell. */
typedef struct plugmc_ions {
    uint32_t size;
    int32_t count;
    const double (*positions)[3]; /* [count], length */
    const int32_t *atomic_number; /* [count] */
    const double *valence;        /* [count], elementary charges */
    int32_t primitive_cells;      /* in the simulation cell */
    /* Energies that the file gives, a primitive cell, Hartree; to be set beside what is found. */
    int32_t energy_count;
    const char *const *energy_names;
    const double *energies;
} plugmc_ions;

/* Values of one-electron orbitals at many points, on host or device. */
typedef struct plugmc_orbitals {
    uint32_t size;
    int32_t on_device; /* 1: can also take device memory */
    int64_t (*count)(const void *instance, int32_t species);
    int32_t (*complex_valued)(const void *instance);
    /* On a device it returns without waiting. */
    int (*evaluate)(void *instance, const plugmc_orbital_request *);
    /* Optional. Pointers live as long as the instance. */
    int (*ions)(const void *instance, plugmc_ions *out);
    /* Optional, after prepare: turns that orbitals make over each edge of the box, psi(r + a_d) =
     * exp(2 pi i turns_d) psi(r). NULL: none. */
    void (*twist)(const void *instance, double turns[3]);
} plugmc_orbitals;

typedef struct plugmc_potential {
    uint32_t size;
    const plugmc_pair *pair; /* NULL where it does not apply, as for the others */
    const plugmc_field *field;
    const plugmc_total *total;
    const plugmc_orbitals *orbitals;
    const plugmc_free *free; /* beside the others: numbers that may be optimised (plugmc/wave.h) */
} plugmc_potential;

#include "plugmc/mover.h"

/* ---- Observables ---------------------------------------------------------------------------- */

enum { PLUGMC_MOST_RANK = 4 };

/* Something that is measured: a scalar (rank 0) or an array, whose last index runs fastest. Its
 * samples are averaged by the core, which clears it and sets its size before it asks; a plugin sets
 * members one by one or by the two functions below, and never assigns the whole struct, which may be
 * shorter on the other side. */
typedef struct plugmc_quantity {
    uint32_t size;
    int32_t rank;
    const char *name;
    const char *unit;                         /* "" if none */
    const char *doc;                          /* one line */
    int64_t shape[PLUGMC_MOST_RANK];          /* [rank], each at least 1 */
    const double *abscissa[PLUGMC_MOST_RANK]; /* [rank][shape]: values along each axis, or NULL */
    const char *axis[PLUGMC_MOST_RANK];       /* [rank]: what each axis is, e.g. "r" */
} plugmc_quantity;

/* Both return 1, so that `quantity` can return them. */
static inline int plugmc_scalar(plugmc_quantity *out, const char *name, const char *unit,
                                const char *doc)
{
    out->rank = 0;
    out->name = name;
    out->unit = unit;
    out->doc = doc;
    return 1;
}

/* One axis of n values. */
static inline int plugmc_array(plugmc_quantity *out, const char *name, const char *unit,
                               const char *doc, int64_t n, const char *axis, const double *abscissa)
{
    plugmc_scalar(out, name, unit, doc);
    out->rank = 1;
    out->shape[0] = n;
    out->axis[0] = axis;
    out->abscissa[0] = abscissa;
    return 1;
}

/* How many numbers it has. */
static inline int64_t plugmc_quantity_length(const plugmc_quantity *q)
{
    int64_t length = 1;
    for (int32_t d = 0; d < q->rank; d++) length *= q->shape[d];
    return length;
}
/* One line of what an observable can give in any run, for people who have no run yet. <word> in a
 * name or unit stands for what parameters or system put there: "<species>-<species>". */
typedef struct plugmc_listing {
    const char *name, *unit, *doc;
    int32_t array;   /* 1: more than one value */
    int32_t derived; /* 1: computed from averages */
} plugmc_listing;

/* What a sample hangs on. `plugmc reweight` leaves out what hangs on more than the configuration. */
enum {
    PLUGMC_ON_CONFIGURATION = 0, /* on the configuration alone */
    PLUGMC_ON_MULTIPLIERS = 1,   /* on 1/kT or couplings, too: a Boltzmann factor, a virial */
    PLUGMC_ON_HISTORY = 2        /* on the way of walkers, such as their rungs before */
};

/* A mover that has this facet, too, is measured under its own section, with the key `period`, and once when
 * production begins: that is thrown away, so that it may tell what has happened since it was asked last. */
typedef struct plugmc_observable {
    uint32_t size;
    int32_t on_device; /* 1: measure can take a view in device memory */
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
    /* Optional: what these means lack where derive fails or leaves numbers NaN, and what would help;
     * said once below the results. One sentence without a full stop, in memory of the instance;
     * NULL if there is nothing to say. */
    const char *(*lacking)(void *instance, const double *means);
    /* Optional: all that `quantity` and `derived` can give, whatever the parameters; the core
     * refuses what they give and is not here. */
    const plugmc_listing *listing;
    int32_t listing_count;
    uint32_t listing_size; /* sizeof(plugmc_listing), the stride of the table */
    /* PLUGMC_CHANGED_*: beside positions, what may not be as the run began: it takes the boxes, or the
     * counts, of the view. Refused beside a mover that changes something else. */
    uint32_t follows;
    /* Optional, where on_device is 1: launches what a measurement of this view needs (plugmc_gpu.download_later
     * for its results) and does not wait. `measure` comes after it, once, perhaps when the sweeps
     * that follow are launched: then its view has no positions and no cells, and the boxes are those
     * that they were, since none changes in such a run. */
    int (*launch)(void *instance, const plugmc_host *, const plugmc_view *);
    /* 1: of a view in device memory it reads cells, boxes and counts alone, and of the order in cells the species; within
     * a cell particles may then be in any order, which may not change what it gives (sums of integers do not hang on
     * it), and the view's positions may be NULL. That saves a mover that can sort (plugmc_mover.fill_cells) giving
     * them. */
    int32_t reads_cells_alone;
    /* Optional: `values` are sums over particles, so that processes that have one walker together can measure a
     * share each (plugmc_view.share), which the core adds up. Returns how far from its share a process has to see
     * others, length; INFINITY: it cannot be done here, and each measures all. Asked before a measurement. Where
     * that was not far enough, launch and measure return PLUGMC_UNANSWERED, without a message, and are called again
     * for all particles. Pairs belong to the process of the one that comes first in cells. */
    double (*reach)(void *instance);
    /* Optional: what follows from these sums, once they are those of all particles, in their place. Called after
     * every `measure`, with its view. */
    void (*complete)(void *instance, const plugmc_view *, double *values);
    int32_t hangs_on; /* PLUGMC_ON_*: what a sample hangs on */
} plugmc_observable;

/* ---- The descriptor ------------------------------------------------------------------------- */

enum { PLUGMC_POTENTIAL = 1, PLUGMC_MOVER = 2, PLUGMC_OBSERVABLE = 3 };

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
    const plugmc_potential *potential;
    const plugmc_mover *mover;
    const plugmc_observable *observable;
    /* The author's own file, to be fused into kernels: a potential's, or a mover's that proposes
     * (plugmc/proposal.h). Set by PLUGMC_PLUGIN. */
    const char *text, *text_end, *text_name;
    const struct plugmc_plugin *single; /* the float descriptor of the same potential */
    /* Optional: device texts that prepare will ask for, number `index` from 0; returns 0 past the
     * last, and where it has to fail. Works without a GPU, so that they can be compiled on any
     * machine; called after configure. Strings live as long as the instance. Potentials: only those
     * of kernels of their own (total, orbitals), and only for the double precision descriptor. */
    int (*kernel_text)(void *instance, const plugmc_host *, int index, plugmc_kernel_text *out);
    /* Optional: takes memory and compiles; potentials before movers before observables. */
    int (*prepare)(void *instance, const plugmc_host *);
    /* Saves to, or restores from, the checkpoint what a resumed run needs besides the parameters
     * and what a mover gives (and its steps, which are the core's), so that it goes on as if it had
     * never stopped. Optional. Called after take (movers) and start (potentials). */
    int (*archive)(void *instance, const plugmc_host *, plugmc_archive *);
    /* Optional: reads all of a file that an instance would read, and keeps nothing of it. Called in a
     * child process (plugmc_host.rehearse), without an instance; of the host there are only fail,
     * warn and allocate. */
    int (*rehearse)(const plugmc_host *, const char *path);
    uint32_t *first_walker; /* what plugmc_draw adds to walkers. Set by PLUGMC_PLUGIN. */
    const plugmc_local_energy *local_energy; /* optional, of a plugin of any kind */
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
    .parameter_size = sizeof(plugmc_parameter), .first_walker = &plugmc_first_walker

#ifndef PLUGMC_PLUGIN /* plugmc/potential.h has its own */
#define PLUGMC_PLUGIN(...)                                                                         \
    static const plugmc_plugin plugmc_descriptor = {PLUGMC_PLUGIN_HEAD, __VA_ARGS__};              \
    PLUGMC_EXPORT const plugmc_plugin *plugmc_plugin_entry(void) { return &plugmc_descriptor; }
#endif

/* Walkers that a total facet is asked about: plugmc_view.walkers, of a program that knows it. */
static inline int32_t plugmc_walkers_of(const plugmc_view *view, const plugmc_system *system)
{
    return PLUGMC_HAS(view, walkers) && view->walkers > 0 ? view->walkers : system->walkers;
}

/* Whether moves of particles change the energy of a total facet. */
static inline int plugmc_follows_positions(const plugmc_total *total)
{
    return !(PLUGMC_HAS(total, unchanged_by) && total->unchanged_by & PLUGMC_CHANGED_POSITION);
}

/* Number of entries of a table. */
#define PLUGMC_COUNT(table) ((int32_t)(sizeof(table) / sizeof((table)[0])))

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
