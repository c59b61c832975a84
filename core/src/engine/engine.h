/* What makes the chain: plugins loaded and matched, a system, its configuration, movers, and their sweeps. Knows
 * nothing of files, of what is recorded and of the one who asks for sweeps. */
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
    void *data;        /* the author's struct, parameters filled */
    void *data_single; /* of plugin->single; NULL without */
    plugmc_context context;
    plugmc_host host;
} instance;

/* A mover of the run. In sweep s (from 0, equilibration included) it acts if `every` divides s + 1, in
 * the order of the file. */
typedef struct moving {
    instance *instance;
    const plugmc_mover *mover;
    uint64_t every;
    bool by_core;                /* it has no configuration of its own: the Hamiltonian keeps one */
    bool takes_volume;           /* from a reservoir: [run] pressure has to be given */
    uint64_t seen[STATE_ARRAYS]; /* versions of the state's arrays that it knows */
    int first_move;              /* in engine.moves */
    plugmc_counts *made;         /* [moves][rungs]: by the core for it, since they were asked for */
    plugmc_counts *counted;      /* [moves][rungs]: one answer */
    double *told;                /* [moves][rungs] steps, as they are told to it */
} moving;

/* Walkers are spread over processes: engine/share.h. */
typedef struct processes {
    int32_t all_walkers, first_walker; /* of all; how many of them come before those of this one */
    plugmc_system whole;               /* the system with all walkers, for the file */
    struct board *board;               /* engine/board.h */
    int32_t *by_rung;                  /* plugmc_rungs.by_rung */
} processes;

/* Where sweeps are made: engine/device_choice.h. */
typedef struct device_choice {
    gpu *gpu; /* NULL on the CPU */
    char why_no_gpu[512];
    double gain_on_gpu; /* trial moves a second there over those here, estimated; 0: not known */
    thread_offer offer; /* threads of the machine */
} device_choice;

/* The configuration and who holds it: engine/borrowing.h. */
typedef struct current_state {
    plugmc_host state_host; /* of whoever asks for memory for the state */
    state state;
    hamiltonian hamiltonian; /* of movers without a configuration of their own */
    uint64_t hamiltonian_seen[STATE_ARRAYS];
    /* The mover that may hold another configuration than the state, or NULL: then the Hamiltonian may. */
    moving *ahead;
    moving *rescaling; /* the mover that was asked about other boxes last */
    bool giving;       /* the Hamiltonian writes into the state */
    /* Positions [particles][3] where they are measured in shares; NULL: not yet. */
    double *of_share;
} current_state;

typedef struct engine {
    report *report;
    /* Set by who opens many that differ in their random numbers and lengths alone: pair energies were probed already. */
    bool pairs_known;
    bool plugin_failed; /* a plugin has said why it fails: plugmc_context.any_failed */
    config config;
    plugmc_system system; /* of the walkers of this process */
    processes processes;
    device_choice device;
    current_state current;
    plugmc_term *terms;
    ladder ladder;
    instance *instances;
    int instance_count;
    moving *movers;
    int mover_count;    /* 0 with config.without_mover: potentials alone, for a benchmark */
    move_record *moves; /* steps and counts, mover after mover: engine/moves.h */
    int move_count;
    double trials_made; /* by this process since it began, as far as they were asked for */
    uint64_t tuned_at;  /* last sweep at which steps were tuned */
    moving *weighing;   /* the mover that has declared macrostates; NULL: none */
    plugmc_macrostates *macrostates;
    int32_t *molecule;         /* plugmc_system.molecule */
    unsigned char *reservoirs; /* [species] that a mover has named; NULL: none has */
    char *keys;                /* effective_ini before plugins were prepared */
} engine;

/* Loads the plugins of config (already read), fills their parameters, matches facets. Reports
 * everything it finds wrong; 0 or an exit code. If there are errors already, only the plugins'
 * own keys are checked. */
int engine_open(engine *);
/* Chooses the device, takes memory and compiles kernels. */
int engine_prepare(engine *);
/* Sweeps first ... first + n - 1, nothing else; `waits` until a GPU has made them. SWEEP_GIVEN_UP: the
 * mover was told to give them up (base/stop.h), and its state is of no more use. */
enum { SWEEP_GIVEN_UP = -1 };
int engine_sweep(engine *, uint64_t first, uint64_t n, bool waits);
/* Plugins release what they have; then their files are closed. Whoever holds answers of plugins lets go of them between
 * the two. */
void engine_release(engine *);
void engine_close(engine *);

/* Whom what is said of the whole run comes from: the first mover or, where there is none, the first
 * plugin. In a run on a GPU one that knows it. */
instance *engine_asking(engine *);
#endif
