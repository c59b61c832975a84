/* libplugmc: plugmc inside another program. docs/embedding.md tells how to use it.
 *
 * An engine is opened from an INI file and makes sweeps when it is told to. Between sweeps the host program can read
 * the configuration and replace it. The Markov chain is the one that `plugmc run` makes of the same file, bit for bit,
 * however the sweeps are divided among calls.
 *
 * The library prints nothing, installs no signal handlers and never ends the process. Functions of type int return 0,
 * or one of enum plugmc_engine_code; these are the exit codes of the program. plugmc_engine_error then gives the reason
 * as a sentence.
 *
 * Only one engine at a time can be open in a process. All calls for an engine must come from the thread that created
 * it. The exception is plugmc_engine_stop, which may be called from any thread and from signal handlers.
 *
 * A pointer returned by a call is valid until the next call for this engine. */
#ifndef PLUGMC_ENGINE_LIBRARY_H
#define PLUGMC_ENGINE_LIBRARY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

typedef struct plugmc_engine plugmc_engine;

enum plugmc_engine_code {
    PLUGMC_ENGINE_DONE = 0,
    /* The call is not allowed now, or not with these arguments. */
    PLUGMC_ENGINE_USAGE = 2,
    /* The INI file or the configuration is wrong, or the combination cannot run. */
    PLUGMC_ENGINE_INPUT = 3,
    /* A plugin is missing or damaged, or violates the interface. */
    PLUGMC_ENGINE_PLUGIN = 4,
    /* The output file cannot be written. */
    PLUGMC_ENGINE_OUTPUT = 5,
    /* The checkpoint is damaged, is not one of plugmc, or does not fit this run. */
    PLUGMC_ENGINE_CHECKPOINT = 6,
    /* GPU, driver or kernel compiler. */
    PLUGMC_ENGINE_DEVICE = 7,
    PLUGMC_ENGINE_MEMORY = 8,
    /* A bug in plugmc or in a plugin. */
    PLUGMC_ENGINE_INTERNAL = 9,
    /* plugmc_engine_stop ended the call early. The sweeps made are complete, but fewer than requested. */
    PLUGMC_ENGINE_STOPPED = 10,
    /* [run] time_limit ended the call early, likewise after a complete sweep. */
    PLUGMC_ENGINE_TIME_LIMIT = 11,
    /* MPI has failed. */
    PLUGMC_ENGINE_PEER = 12
};

/* ---- Opening and closing ---------------------------------------------------------------------- */

/* For example "0.1.0". */
const char *plugmc_engine_version(void);

/* Creates an engine that is not open yet. NULL: no memory. */
plugmc_engine *plugmc_engine_new(void);

/* Before opening: overrides a key of the INI file, "SECTION.KEY=VALUE", as --set of the program does. The string is
 * copied. */
int plugmc_engine_set(plugmc_engine *, const char *assignment);

/* Before opening: the processes of this communicator make one run together. Each of them must make the same calls. The
 * host program initialises MPI, and finalises it after the engine is closed. In C the argument points to an MPI_Comm;
 * in Fortran it is the integer handle. */
int plugmc_engine_communicator(plugmc_engine *, const void *mpi_comm);
int plugmc_engine_communicator_fortran(plugmc_engine *, int32_t mpi_comm);

/* Opens an engine. After a failure it is not open, and can only be closed. */

/* From an INI file. */
int plugmc_engine_open(plugmc_engine *, const char *ini_path);
/* From the contents of an INI file, as a string. Messages show `name` as its file name. File names in the text are
 * relative to the working directory. */
int plugmc_engine_open_text(plugmc_engine *, const char *name, const char *text);
/* From the output file of a run that is to be continued. The program or this library may have written it. */
int plugmc_engine_resume(plugmc_engine *, const char *output_path);

/* Closes the engine and frees its memory. NULL is allowed. Nothing is written: call plugmc_engine_checkpoint before. */
void plugmc_engine_close(plugmc_engine *);

/* ---- Messages --------------------------------------------------------------------------------- */

enum plugmc_engine_message_kind { PLUGMC_ENGINE_NOTE, PLUGMC_ENGINE_WARNING, PLUGMC_ENGINE_ERROR };

/* The code of the last call that returned one. */
int plugmc_engine_last_code(const plugmc_engine *);
/* Why that call failed, for example "sim.ini:12: ...". "" if it did not fail. */
const char *plugmc_engine_error(const plugmc_engine *);
/* Message number k, from 0, of the last call that returned a code. NULL after the last one. `kind` may be NULL. */
const char *plugmc_engine_message(const plugmc_engine *, int32_t k, int32_t *kind);

/* A function of the host program that receives each message as it is made. It must not call the engine. */
typedef void plugmc_engine_hears(void *data, int32_t kind, const char *message);
int plugmc_engine_messages_to(plugmc_engine *, plugmc_engine_hears *, void *data);

/* ---- Sweeps ----------------------------------------------------------------------------------- */

/* Makes `sweeps` more sweeps, with everything that the INI file requests on the way: steps are tuned during
 * equilibration, and observables measure in production. The run may become longer than [run] sweeps.
 * After PLUGMC_ENGINE_STOPPED the next call continues the run. After PLUGMC_ENGINE_TIME_LIMIT no more sweeps can be
 * made, but all other calls still work. */
int plugmc_engine_sweep(plugmc_engine *, int64_t sweeps);
/* Number of sweeps made so far, equilibration included. */
int64_t plugmc_engine_sweeps(const plugmc_engine *);
/* How many sweeps are equilibration: [run] equilibrate. */
int64_t plugmc_engine_equilibration(const plugmc_engine *);

/* Makes plugmc_engine_sweep return after the current batch of sweeps. If no such call is active, the next one returns
 * early. Safe in signal handlers. */
void plugmc_engine_stop(void);

/* A function of the host program, called between sweeps. It may make any call for the engine except those that open,
 * close, set or sweep. If it returns non-zero, plugmc_engine_sweep returns PLUGMC_ENGINE_STOPPED. */
typedef int plugmc_engine_callback(plugmc_engine *, void *data);
/* Calls it after each sweep whose number is a multiple of `sweeps`. 0 removes the callback. */
int plugmc_engine_call_every(plugmc_engine *, int64_t sweeps, plugmc_engine_callback *, void *data);

/* Writes the current state to [run] output, or to the file from which the run was resumed. `plugmc run --resume` and
 * plugmc_engine_resume continue from it. From then on the file is locked until the engine is closed: nobody else may
 * write it. Frames of a trajectory stay in memory until this call. */
int plugmc_engine_checkpoint(plugmc_engine *);

/* ---- The configuration ------------------------------------------------------------------------ */

enum plugmc_engine_type { PLUGMC_ENGINE_DOUBLE, PLUGMC_ENGINE_INT32, PLUGMC_ENGINE_INT64 };

typedef struct plugmc_engine_array {
    /* In row-major order: the last index is the fastest. */
    const void *data;
    /* enum plugmc_engine_type */
    int32_t type;
    int32_t rank;
    /* The first `rank` entries are used. */
    int64_t shape[4];
} plugmc_engine_array;

/* An array of the walkers of this process, by name:
 *
 *   positions    double [walkers][particles][3], length. NaN in unused slots, where the number of particles varies.
 *   boxes        double [walkers][3][3]. Rows are lattice vectors. For a spherical domain: diameter times unit matrix.
 *   volumes      double [walkers]
 *   counts       int64 [walkers][species]: numbers of particles. The particles of a species fill its first slots.
 *   species      int32 [walkers][particles], numbered from 0 in the order of the INI file
 *   multipliers  double [walkers][terms + 1 + species]: the factors of each energy, of the volume, and of each particle
 *                count in -ln p
 *   rungs        int32 [walkers]: rung of the ladder
 *   molecules    int32 [walkers][particles]: number of the molecule, or -1
 *   weights      double [walkers]: ln of the weight in averages */
int plugmc_engine_get(plugmc_engine *, const char *name, plugmc_engine_array *out);

/* Names by number, from 0: of the arrays, of the species, and of the terms (potentials). NULL after the last one.
 * Species and terms are in the order of the INI file. */
const char *plugmc_engine_array_name(int32_t k);
const char *plugmc_engine_species(const plugmc_engine *, int32_t k);
const char *plugmc_engine_term(const plugmc_engine *, int32_t k);

/* Replaces "positions" or "boxes". The layout is that of plugmc_engine_get, and `numbers` is the total number of
 * doubles.
 * The new configuration is checked as an initial one is, and the sweeps continue from it. If it is refused, the old one
 * stays. Where movers change particle numbers, NaN marks unused slots.
 * Boxes can be replaced where movers change rectangular boxes. Particles keep their fractional coordinates. */
int plugmc_engine_replace(plugmc_engine *, const char *name, const double *data, int64_t numbers);

/* ---- Energies and measurements ---------------------------------------------------------------- */

/* Energies of the current configuration, summed from scratch. Either pointer may be NULL.
 *   of_terms  [walkers][terms], in the unit of energy of the INI file
 *   sums      [walkers]: the part of -ln p due to the sampled terms. It is the sum of their energies times their
 *             multipliers. */
int plugmc_engine_energies(plugmc_engine *, double *of_terms, double *sums);

/* A quantity measured by an observable, or a result derived from such quantities. */
typedef struct plugmc_engine_quantity {
    const char *observable, *name, *unit, *meaning;
    /* 0: a scalar. */
    int32_t rank;
    int32_t error_is_lower_bound;
    /* Shape of one measurement, and its number of elements. */
    int64_t shape[4], length;
    /* 0 for derived results. */
    int64_t samples;
    /* How many walkers are measured. */
    int64_t walkers;
    /* The last measurement [walkers][length]. NULL if there is none, or if it is not kept. Arrays are not kept on
     * ladders, for example. */
    const double *last;
    /* [length]; NULL: not known yet. */
    const double *mean, *error;
    /* Of a scalar, in sweeps. NaN: not known. */
    double correlation_time;
} plugmc_engine_quantity;

/* How many quantities there are; and quantity number k, from 0. Averages are over all production samples so far. With
 * several processes only the first one has the averages, but all of them must make the call. */
int plugmc_engine_quantities(plugmc_engine *, int32_t *count);
int plugmc_engine_quantity_at(plugmc_engine *, int32_t k, plugmc_engine_quantity *out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
