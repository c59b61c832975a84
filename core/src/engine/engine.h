/* Makes the Markov chain: it loads and matches plugins, and holds the system, its configuration, and the movers and
 * their sweeps. It knows nothing of output files, of what is recorded, or of who asks for sweeps. */
#ifndef PLUGMC_ENGINE_H
#define PLUGMC_ENGINE_H

#include "base/context.h"
#include "gpu/gpu.h"
#include "input/config.h"
#include "energy/hamiltonian.h"
#include "base/move_record.h"
#include "plugin/loader.h"
#include "engine/ladder.h"
#include "engine/state.h"
#include "engine/threads.h"

/* One plugin of the run with its parameters. */
typedef struct instance {
    const plugin_section *section;
    loaded loaded;
    const plugmc_plugin *plugin;
    /* The struct of the plugin's author, with parameters filled in. */
    void *data;
    /* The same for plugin->single; NULL: there is none. */
    void *data_single;
    /* Of an observable that writes the trajectory. */
    trajectory_keys trajectory;
    plugmc_context context;
    plugmc_host host;
} instance;

/* A mover of the run. Movers act in the order of the file. This one acts in sweep s (from 0, equilibration included) if
 * `every` divides s + 1. */
typedef struct mover_slot {
    instance *instance;
    const plugmc_mover *mover;
    uint64_t every;
    /* It has no configuration of its own. The Hamiltonian keeps one for it. */
    bool by_core;
    /* It takes volume from a reservoir, so [run] pressure must be given. */
    bool takes_volume;
    /* Versions of the arrays of the state that it has loaded. */
    uint64_t seen[STATE_ARRAYS];
    /* Index in engine.moves. */
    int first_move;
    /* [moves][rungs]: trials that the core has made for it since its counts were last read. */
    plugmc_counts *made;
    /* [moves][rungs]: buffer for one answer. */
    plugmc_counts *counted;
    /* [moves][rungs]: steps as they are passed to the mover. */
    double *told;
    /* It was said that the host of the GPU makes its trial moves: engine/on_host.h. */
    bool said_on_host;
} mover_slot;

/* Walkers are divided among processes: engine/share.h. */
typedef struct processes {
    /* Number of walkers of all processes, and how many of them come before those of this process. */
    int32_t all_walkers, first_walker;
    /* The system with all walkers, for the output file. */
    plugmc_system whole;
    struct replica_table *replica_table; /* engine/replica_table.h */
    int32_t *by_rung;                    /* plugmc_rungs.by_rung */
} processes;

/* Where sweeps are made (engine/device_choice.h), and by which mover, if that is chosen (engine/mover_choice.h). */
typedef struct device_choice {
    gpu *gpu; /* NULL on the CPU */
    char why_no_gpu[512];
    /* Estimated ratio of trial moves per second on the GPU and on the CPU. 0: not known. */
    double gain_on_gpu;
    /* Movers that are to be chosen are left out: the potentials are only configured to choose them, or cannot be. */
    bool leaves_out_choice;
    /* What was chosen and why, a sentence; or why nothing could be. NULL: nothing had to be chosen. malloc'ed. */
    char *choice;
    /* Threads that the machine offers. */
    thread_offer offer;
} device_choice;

/* The configuration and which mover holds it: engine/sync.h. */
typedef struct current_state {
    /* With this the state takes its memory. */
    plugmc_host state_host;
    state state;
    /* For movers without a configuration of their own. */
    hamiltonian hamiltonian;
    uint64_t hamiltonian_seen[STATE_ARRAYS];
    /* The mover that may hold a newer configuration than the state. NULL: the Hamiltonian may hold one. */
    mover_slot *ahead;
    /* The mover that was asked last about other boxes. */
    mover_slot *rescaling;
    /* The Hamiltonian is writing into the state. */
    bool giving;
    /* Positions [particles][3], if each process measures a share of the particles. NULL: not allocated. */
    double *of_share;
} current_state;

typedef struct engine {
    report *report;
    /* Pair energies have been checked already. Set by programs that open many engines which differ only in their random
     * numbers and lengths. */
    bool pairs_known;
    /* This process may crash: it is a child that tries plugins, so they are not tried in another one (engine/apart.h); or
     * they have been, with the same INI file. */
    bool in_child;
    /* A plugin is tested by itself, so that energies without a lower bound (engine/floors.h) and many-body terms
     * (engine/total_check.h) are not checked here. */
    bool tests_plugin;
    /* A plugin has failed and given the reason: plugmc_context.any_failed. */
    bool plugin_failed;
    config config;
    /* With the walkers of this process only. */
    plugmc_system system;
    processes processes;
    device_choice device;
    current_state current;
    plugmc_term *terms;
    ladder ladder;
    instance *instances;
    int instance_count;
    mover_slot *movers;
    /* 0 with config.without_mover: a benchmark of potentials only. */
    int mover_count;
    /* Steps and counts, mover after mover: engine/moves.h. */
    move_record *moves;
    int move_count;
    /* By this process since it began, as of the last time that counts were read. */
    double trials_made;
    /* Last sweep at which steps were tuned. */
    uint64_t tuned_at;
    /* The mover that has declared macrostates; NULL: none. */
    mover_slot *weighing;
    plugmc_macrostates *macrostates;
    int32_t *molecule; /* plugmc_system.molecule */
    /* [species]: those whose reservoir a mover has named. NULL: none has. */
    unsigned char *reservoirs;
    /* effective_ini before plugins were prepared. */
    char *keys;
} engine;

/* Loads the plugins of `config`, which has been read, fills in their parameters and matches facets. Reports every error
 * it finds. If there are errors already, it only checks the plugins' own keys. Returns 0 or an exit code. */
int engine_open(engine *);
/* The first part of it, up to the plugins' own checks of their parameters. */
int engine_configure(engine *);
/* Chooses the device, allocates memory and compiles kernels. */
int engine_prepare(engine *);
/* Makes sweeps first ... first + n - 1, and nothing else. With `waits` it returns when a GPU has finished them.
 * SWEEP_GIVEN_UP: the mover was told to abandon them (base/stop.h), and its state can no longer be used. */
enum { SWEEP_GIVEN_UP = -1 };
int engine_sweep(engine *, uint64_t first, uint64_t n, bool waits);
/* engine_release lets plugins free what they hold; engine_close then closes their files. Anything that points into
 * plugins must be dropped between the two calls. */
void engine_release(engine *);
void engine_close(engine *);

/* The instance in whose name messages about the whole run are made: the first mover or, without movers, the first
 * plugin. In a run on a GPU it is one that uses the GPU. */
instance *engine_asking(engine *);
#endif
