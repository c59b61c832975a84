/* The Hamiltonian on a GPU: energies of all walkers where their positions are, in other boxes, and swaps.
 * What is asked otherwise is answered on the host (changes.c, trials.c). */
#ifndef PLUGMC_ENERGY_ON_DEVICE_H
#define PLUGMC_ENERGY_ON_DEVICE_H

#include "energy/hamiltonian.h"

/* The GPU source of energies, with that of a mover that proposes behind it; NULL: of none. *out is
 * joined in memory that the caller frees. */
int on_device_text(const plugmc_plugin *mover, plugmc_gpu_source *out, char **joined);
/* Compiles and takes memory, once; called again it does nothing. Codes are reported by `host`. */
int on_device_open(hamiltonian *, const plugmc_host *host);
void on_device_close(hamiltonian *);

/* Energies of all walkers as they are: walker_energy.energy. */
int on_device_find(hamiltonian *, const plugmc_host *);
/* Boxes [walkers] for all walkers: walker_energy.proposed, and what is forbidden [walkers]. */
int on_device_rescale(hamiltonian *, const plugmc_host *, const plugmc_box *boxes,
                      int32_t *forbidden);
/* Walkers with taken >= 0 are in their new boxes now, and the state says so. */
int on_device_take_boxes(hamiltonian *, const plugmc_host *, const plugmc_box *boxes,
                         const int64_t *taken);
/* Sums over walkers [bins][BIAS_BOOKS] of the books of trials made there are added; they are cleared there. */
int on_device_gather(hamiltonian *, const plugmc_host *, double *sums);
/* These books [walkers][bins][BIAS_BOOKS] themselves, from there and to there. */
int on_device_read_books(hamiltonian *, const plugmc_host *, double *books);
int on_device_write_books(hamiltonian *, const plugmc_host *, const double *books);
/* Makes trials there, as hamiltonian_trials; PLUGMC_UNANSWERED if they are better made on the host. */
int on_device_trials(hamiltonian *, const plugmc_host *, const plugmc_plugin *mover,
                     const plugmc_proposal *, uint64_t first, uint64_t n);

/* ---- Between on_device.c, trials_on_device.c and walk_on_device.c ------------------------------------- */

typedef struct plugmc_kernel plugmc_kernel;
typedef struct trials_memory trials_memory;
typedef struct walk_memory walk_memory;

/* walk.cu with the text of a mover; its parameters on the device. */
typedef struct walk_kernels {
    plugmc_kernel *begin, *make, *end;
    plugmc_device_pointer parameters;
} walk_kernels;

typedef struct device_energies {
    plugmc_kernel *whole, *sum_tiles, *rescale, *take;
    uint32_t tiles; /* blocks a walker, a thread a particle */
    plugmc_device_pointer parts, sums, taken;
    plugmc_device_pointer
        energy; /* [walkers][terms], and behind them forbidden, int32_t [walkers] */
    plugmc_device_pointer places, boxes; /* of what is proposed; 0: never was */
    double *host_energy;                 /* as `energy` */
    trials_memory *trials;               /* NULL: none were made */
    walk_memory *walk;                   /* likewise */
} device_energies;

struct energies_task;
/* What kernels are told of a view: sorted into cells, unless those are not `wanted`. */
int on_device_task(hamiltonian *, const plugmc_host *, const plugmc_view *, bool cells_wanted,
                   struct energies_task *);
/* The state holds all that was taken, and can be read and written on the device. */
int on_device_view(hamiltonian *, const plugmc_host *, plugmc_view *);
/* A kernel in `blocks` blocks of `threads`. */
int on_device_launch(const plugmc_host *, plugmc_kernel *, uint64_t blocks, uint32_t threads,
                     void **arguments);
static inline void *at_device(plugmc_device_pointer p) { return (void *)(uintptr_t)p; }
void on_device_close_trials(hamiltonian *);
/* Trials of any kind, each of which meets all particles: whether that pays, and making them. */
bool on_device_walks(const hamiltonian *, const plugmc_mover *, const plugmc_proposal *);
/* About how long a trial move takes there, from one to the next of all walkers, before anything is prepared. INFINITY:
 * they are made one by one, and a GPU is no faster. */
double on_device_walk_seconds(const plugmc_system *);
int on_device_walk(hamiltonian *, const plugmc_host *, const plugmc_mover *, const walk_kernels *,
                   const plugmc_proposal *, uint64_t first, uint64_t n);
void on_device_close_walk(hamiltonian *);
/* What walk.cu is told of macrostates, for the trials of a mover. */
struct walk_bias;
int on_device_bias(hamiltonian *, const plugmc_host *, const plugmc_mover *, struct walk_bias *);
#endif
