/* A run: plugins loaded and matched, a system, a mover, observables, and the loop over them. */
#ifndef PLUGMC_SIMULATION_H
#define PLUGMC_SIMULATION_H

#include "input/config.h"
#include "energy/hamiltonian.h"
#include "archive/output.h"
#include "plugin/loader.h"
#include "run/services.h"
#include "run/state.h"
#include "run/threads.h"

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
    int first_move;              /* in output_data.moves */
    plugmc_counts *made;         /* [moves][rungs]: by the core for it, since they were asked for */
    plugmc_counts *counted;      /* [moves][rungs]: one answer */
} moving;

/* An observable of the run with what it has measured so far. */
typedef struct measurement {
    instance *instance;
    int64_t period;
    int first_quantity,
        quantity_count; /* in output_data.quantities: of the first rung; then as many of
                                           the next one */
    int first_derived, derived_count; /* in output_data.derived, likewise */
    int weight;    /* in output_data.quantities: the weights of its samples; -1: they count alike */
    int64_t width; /* sum of the lengths of its quantities */
    double *values; /* [walkers][width]: one sample */
    /* From what the plugin tells to the units of the run: [width], and of all that is derived. */
    double *scales, *derived_scales;
    int64_t derived_width;
    bool scaled; /* some are not 1 */
} measurement;

/* What a run says of itself: all; errors, warnings and the table alone; progress and results as JSON. */
enum { TELLS_ALL, TELLS_LITTLE, TELLS_JSON };

typedef struct simulation {
    report *report;
    /* Set by who opens many that differ in their random numbers and lengths alone: pair energies were probed already. */
    bool pairs_known;
    bool plugin_failed; /* a plugin has said why it fails: plugmc_context.any_failed */
    int tells;          /* TELLS_* */
    config config;
    plugmc_system system; /* of the walkers of this process */
    int32_t all_walkers,
        first_walker;    /* of all processes; how many of them come before those here */
    plugmc_system whole; /* the system with all walkers, for the file */
    plugmc_term *terms;
    ladder ladder;
    instance *instances;
    int instance_count;
    moving *movers;
    int mover_count; /* 0 with config.without_mover: potentials alone, for a benchmark */
    measurement *measurements;
    int measurement_count;
    uint64_t
        launched; /* production sweep after which they were launched and not looked at yet; 0: none */
    gpu *gpu;     /* NULL on the CPU */
    char why_no_gpu[512];
    double gain_on_gpu; /* trial moves a second there over those here, estimated; 0: not known */
    plugmc_host state_host;  /* of whoever asks for memory for the state */
    state state;             /* the configuration: run/borrowing.h */
    hamiltonian hamiltonian; /* of movers without a configuration of their own */
    uint64_t hamiltonian_seen[STATE_ARRAYS];
    moving
        *ahead; /* the mover that may hold another configuration than the state, or NULL: then the
                      Hamiltonian may */
    moving *rescaling; /* the mover that was asked about other boxes last */
    moving *weighing;  /* the mover that has declared macrostates; NULL: none */
    plugmc_macrostates *macrostates;
    int32_t *by_rung;    /* plugmc_host.by_rung */
    struct board *board; /* run/board.h */
    int32_t *molecule;   /* plugmc_system.molecule */
    bool giving;         /* the Hamiltonian writes into the state */
    double
        *of_share; /* positions [particles][3] where they are measured in shares; NULL: not yet */
    output_data output;
    spare spare; /* of the output file; output.spare is it while the file is locked */
    const char *output_path, *csv_path; /* output: of the file that is resumed, or by [run] */
    thread_offer offer;                 /* threads of the machine */
    struct snapshot *snapshot;          /* the state to go back to: run/snapshot.h */
    struct writing *writing;            /* of a checkpoint, at work: run/writing.h; NULL: none is */
    bool averaged;                      /* the averages in `output` are there: run/results.h */
    const char *displaced; /* the output whose place another file has taken; NULL: none */
    bool in_file;      /* the file at output_path is this run's: what is written is added to it */
    int failed_writes; /* one after the other, up to now */
    const char *why_failed, *why_table_failed; /* of the last one that did; texts are kept once */
    const char *command;                       /* the command line, for the file */
    const char *before;        /* history of the file that is resumed; NULL: none is */
    uint64_t resumed_at;       /* sweeps done when this process began */
    double trials_made;        /* by this process since it began, as far as they were asked for */
    uint64_t tuned_at;         /* last sweep at which steps were tuned */
    unsigned char *reservoirs; /* [species] that a mover has named; NULL: none has */
    double limit_from; /* stop_clock from which [run] time_limit counts; 0: when the sweeps begin */
    double seconds_base; /* wall time of the stretches before a resume */
} simulation;

/* Loads the plugins of config (already read), fills their parameters, matches facets. Reports
 * everything it finds wrong; 0 or an exit code. If there are errors already, only the plugins'
 * own keys are checked. */
int simulation_open(simulation *);
/* Chooses the device, takes memory and compiles kernels. */
int simulation_prepare(simulation *);
/* Whom what is said of the whole run comes from: the first mover or, where there is none, the first
 * plugin. */
instance *simulation_asking(simulation *);
/* Positions from [initial], or from the file of a run that is resumed. */
int simulation_begin(simulation *);
int simulation_resume(simulation *, const char *path);
/* Sweeps first ... first + n - 1, nothing else; `waits` until a GPU has made them. SWEEP_GIVEN_UP: the
 * mover was told to give them up (run/stop.h), and its state is of no more use. */
enum { SWEEP_GIVEN_UP = -1 };
int simulation_sweep(simulation *, uint64_t first, uint64_t n, bool waits);
/* The loop until the end, the time limit or a signal. Prints progress to stderr and the table of
 * results to stdout. */
int simulation_run(simulation *);
void simulation_close(simulation *);

/* All keys with the values that they have, and where these come from. Known once the plugins are
 * configured. malloc'ed. */
char *effective_ini(const simulation *);
/* The same without the comments on pairs of species, which cost more than all the rest: for comparisons. */
char *effective_keys(const simulation *);
/* The --set's and the file as one INI text that reads back the same from the file `archive`.
 * malloc'ed. */
char *ini_as_text(const ini_file *, const char *archive);
#endif
