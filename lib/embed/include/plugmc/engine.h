/* plugmc inside another program: libplugmc. docs/embedding.md tells how to use it.
 *
 * An engine is opened from an INI file, makes sweeps when it is told to, and shows and takes the configuration between
 * them. It makes the chain that `plugmc run` makes of the same file, bit for bit, whatever the calls are by which the
 * sweeps are asked for.
 *
 * Nothing is printed, no signal handler is installed and the process is never ended. Calls return a code: 0, or one of
 * enum plugmc_engine_code, which are the exit codes of the program; then plugmc_engine_error tells why, in a
 * sentence. One engine at a time is open in a process, and its calls are made by the thread that has opened it;
 * plugmc_engine_stop is for any thread and for handlers of signals.
 *
 * Pointers that a call hands out hold until the next call of the engine. */
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
    PLUGMC_ENGINE_USAGE = 2,      /* a call that cannot be made now, or with these arguments */
    PLUGMC_ENGINE_INPUT = 3,      /* INI, configuration, or a combination that cannot run */
    PLUGMC_ENGINE_PLUGIN = 4,     /* a plugin that is missing, damaged, or breaks its word */
    PLUGMC_ENGINE_OUTPUT = 5,     /* the output file cannot be written */
    PLUGMC_ENGINE_CHECKPOINT = 6, /* a checkpoint that is damaged, foreign or does not fit */
    PLUGMC_ENGINE_DEVICE = 7,     /* GPU, driver, kernel compiler */
    PLUGMC_ENGINE_MEMORY = 8,
    PLUGMC_ENGINE_INTERNAL = 9, /* a bug in plugmc or a plugin */
    PLUGMC_ENGINE_STOPPED = 10, /* by plugmc_engine_stop: whole sweeps have been made, but fewer */
    PLUGMC_ENGINE_TIME_LIMIT = 11, /* the same by [run] time_limit */
    PLUGMC_ENGINE_PEER = 12        /* MPI has failed */
};

/* ---- Opening and closing ---------------------------------------------------------------------- */

/* "0.1.0" */
const char *plugmc_engine_version(void);

/* An engine that is not open yet; NULL: no memory. */
plugmc_engine *plugmc_engine_new(void);
/* Before it is opened: another value of a key, "SECTION.KEY=VALUE", as --set of the program. The text is copied. */
int plugmc_engine_set(plugmc_engine *, const char *assignment);
/* Before it is opened: the engine's processes are those of a communicator, each of which makes the same calls. The
 * program has initialised MPI, and ends it after the engine is closed. A pointer to an MPI_Comm, or the number that it
 * has in Fortran. */
int plugmc_engine_communicator(plugmc_engine *, const void *mpi_comm);
int plugmc_engine_communicator_fortran(plugmc_engine *, int32_t mpi_comm);

/* From an INI file; from its text, whose `name` messages show, and file names in which are relative to the working
 * directory; from the output file of a run that goes on, by the program or by this library. After a failure the engine
 * is not open and can only be closed. */
int plugmc_engine_open(plugmc_engine *, const char *ini_path);
int plugmc_engine_open_text(plugmc_engine *, const char *name, const char *text);
int plugmc_engine_resume(plugmc_engine *, const char *output_path);
/* Gives all back; NULL: nothing. Nothing is written: see plugmc_engine_checkpoint. */
void plugmc_engine_close(plugmc_engine *);

/* ---- Messages --------------------------------------------------------------------------------- */

enum plugmc_engine_message_kind { PLUGMC_ENGINE_NOTE, PLUGMC_ENGINE_WARNING, PLUGMC_ENGINE_ERROR };

/* The code of the last call that returned one, and why it failed: "sim.ini:12: ..."; "" if it has not. */
int plugmc_engine_last_code(const plugmc_engine *);
const char *plugmc_engine_error(const plugmc_engine *);
/* All messages of the last call that returned a code; NULL beyond the last. *kind may be NULL. */
const char *plugmc_engine_message(const plugmc_engine *, int32_t k, int32_t *kind);
/* Hears each message when it is made. It may call nothing of the engine. */
typedef void plugmc_engine_hears(void *data, int32_t kind, const char *message);
int plugmc_engine_messages_to(plugmc_engine *, plugmc_engine_hears *, void *data);

/* ---- Sweeps ----------------------------------------------------------------------------------- */

/* So many more, with what the INI file asks for at their sweeps: steps are tuned in the equilibration, observables
 * measure. The run may become longer than [run] sweeps says. After PLUGMC_ENGINE_STOPPED it goes on with the next call;
 * after PLUGMC_ENGINE_TIME_LIMIT there are no more sweeps, and all else can be asked for. */
int plugmc_engine_sweep(plugmc_engine *, int64_t sweeps);
/* That are done, equilibration included; and how many of them are equilibration, by [run] equilibrate. */
int64_t plugmc_engine_sweeps(const plugmc_engine *);
int64_t plugmc_engine_equilibration(const plugmc_engine *);
/* The call that sweeps, or the next one, ends after the sweeps at hand. Safe in a handler of signals. */
void plugmc_engine_stop(void);
/* Called after each sweep whose number is a multiple of `sweeps`, 0: no longer. It may make all calls of the
 * engine but those that sweep, open or close; other than 0, it ends the call that sweeps, which returns
 * PLUGMC_ENGINE_STOPPED. */
typedef int plugmc_engine_callback(plugmc_engine *, void *data);
int plugmc_engine_call_every(plugmc_engine *, int64_t sweeps, plugmc_engine_callback *, void *data);

/* Writes [run] output, or the file that was resumed, as it is now: `plugmc run --resume` and plugmc_engine_resume go
 * on with it. Nobody else may write it from then on until the engine is closed. Frames of a
 * trajectory are kept in memory until it is called. */
int plugmc_engine_checkpoint(plugmc_engine *);

/* ---- The configuration ------------------------------------------------------------------------ */

enum plugmc_engine_type { PLUGMC_ENGINE_DOUBLE, PLUGMC_ENGINE_INT32, PLUGMC_ENGINE_INT64 };

typedef struct plugmc_engine_array {
    const void *data; /* the last index of `shape` is the fastest */
    int32_t type;     /* enum plugmc_engine_type */
    int32_t rank;
    int64_t shape[4]; /* [rank] */
} plugmc_engine_array;

/* Of the walkers of this process. By name:
 *
 *   positions    double [walkers][particles][3], length; NaN where there is room and nobody
 *   boxes        double [walkers][3][3]: rows are lattice vectors; of a sphere, its diameter times the unit matrix
 *   volumes      double [walkers]
 *   counts       int64 [walkers][species]: of species s they are the first ones of their places
 *   species      int32 [walkers][particles], from 0 in the order of the INI file
 *   multipliers  double [walkers][terms + 1 + species]: what multiplies each energy, the volume and the counts in -ln p
 *   rungs        int32 [walkers], of the ladder
 *   molecules    int32 [walkers][particles]; -1: none
 *   weights      double [walkers]: ln of the weight in averages */
int plugmc_engine_get(plugmc_engine *, const char *name, plugmc_engine_array *out);
/* The names, from 0; NULL beyond the last. Of species and of terms, the potentials, in the order of the INI file. */
const char *plugmc_engine_array_name(int32_t k);
const char *plugmc_engine_species(const plugmc_engine *, int32_t k);
const char *plugmc_engine_term(const plugmc_engine *, int32_t k);
/* Other positions, or other boxes where movers change rectangular ones: `numbers` in all, as plugmc_engine_get
 * shows them. They are checked as initial states are, and the engine goes on from them; where they are refused,
 * those that there were stay. Where movers change the numbers of particles, NaN says where nobody is. In another
 * box particles keep their fractional coordinates. */
int plugmc_engine_replace(plugmc_engine *, const char *name, const double *data, int64_t numbers);

/* ---- Energies and measurements ---------------------------------------------------------------- */

/* Energies as they are now, added up anew: of each term [walkers][terms], in the unit of energy of the INI file; and
 * -ln p of each walker by its sampled terms [walkers], the sum of these times their multipliers. Either may be NULL. */
int plugmc_engine_energies(plugmc_engine *, double *of_terms, double *sums);

/* What observables measure, and what is derived from that. */
typedef struct plugmc_engine_quantity {
    const char *observable, *name, *unit, *meaning;
    int32_t rank; /* 0: a number */
    int32_t error_is_lower_bound;
    int64_t shape[4], length; /* of one measurement; numbers of it */
    int64_t samples;          /* 0 of what is derived */
    int64_t walkers;          /* that are measured */
    /* The last measurement [walkers][length]; NULL: there is none, or it is not kept, as of arrays on ladders. */
    const double *last;
    const double *mean, *error; /* [length]; NULL: not known yet */
    double correlation_time;    /* of a number, in sweeps; NaN: not known */
} plugmc_engine_quantity;

/* How many; k: from 0. Averages are over all samples so far, in production. Of many processes the first one has them,
 * and all make the call. */
int plugmc_engine_quantities(plugmc_engine *, int32_t *count);
int plugmc_engine_quantity_at(plugmc_engine *, int32_t k, plugmc_engine_quantity *out);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
