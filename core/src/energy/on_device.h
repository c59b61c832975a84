/* The Hamiltonian on a GPU: energies of all walkers at their positions and in other boxes, and trial moves. What a GPU does
 * not do is done on the host (changes.c, trials.c). */
#ifndef PLUGMC_ENERGY_ON_DEVICE_H
#define PLUGMC_ENERGY_ON_DEVICE_H

#include "energy/hamiltonian.h"

/* What trials on the device have to know of, besides pairs and fields: bits. BESIDE_RESERVOIR: molecules come and leave;
 * BESIDE_BODIES: particles have orientations, and there are no molecules. With any of BESIDE_ONE_BY_ONE a trial is shared by
 * all threads of a block. */
enum {
    BESIDE_MOLECULES = 1,
    BESIDE_WAVES = 2,
    BESIDE_RESERVOIR = 4,
    BESIDE_BODIES = 8,
    BESIDE_ONE_BY_ONE = BESIDE_MOLECULES | BESIDE_WAVES | BESIDE_RESERVOIR
};
uint32_t on_device_beside(const plugmc_system *);
/* The many-body term of the run if it is the only one that depends on positions, and is a sum over waves; NULL: there is none. */
const plugmc_term *on_device_waves(const plugmc_system *);
/* The GPU source of energies, followed by that of a mover that proposes, if there is one (else NULL). *out points into
 * *joined, which the caller frees. */
int on_device_text(const plugmc_plugin *mover, uint32_t beside, plugmc_gpu_source *out,
                   char **joined);
/* Compiles kernels and allocates memory. Only the first call does anything. Failures are reported by `host`. */
int on_device_open(hamiltonian *, const plugmc_host *host);
void on_device_close(hamiltonian *);

/* Current energies of all walkers, into walker_energy.energy. */
int on_device_find(hamiltonian *, const plugmc_host *);
/* Energies of all walkers in other boxes [walkers], into walker_energy.proposed. forbidden [walkers] is set too. */
int on_device_rescale(hamiltonian *, const plugmc_host *, const plugmc_box *boxes,
                      int32_t *forbidden);
/* Puts the walkers with taken >= 0 into their new boxes, also in the state. */
int on_device_take_boxes(hamiltonian *, const plugmc_host *, const plugmc_box *boxes,
                         const int64_t *taken);
/* Adds the counts of trials made on the device, summed over walkers, to sums [bins][BIAS_TRANSITIONS]. Resets them on the
 * device. */
int on_device_gather(hamiltonian *, const plugmc_host *, double *sums);
/* Copy these counts [walkers][bins][BIAS_TRANSITIONS] from the device and to it. */
int on_device_read_transitions(hamiltonian *, const plugmc_host *, double *transitions);
int on_device_write_transitions(hamiltonian *, const plugmc_host *, const double *transitions);
/* Makes trials on the device, as hamiltonian_trials. PLUGMC_UNANSWERED if the host is the better place. */
int on_device_trials(hamiltonian *, const plugmc_host *, const plugmc_plugin *mover,
                     const plugmc_proposal *, uint64_t first, uint64_t n);

/* ---- Between on_device.c, trials_on_device.c and walk_on_device.c ------------------------------------- */

typedef struct plugmc_kernel plugmc_kernel;
typedef struct trials_memory trials_memory;
typedef struct walk_memory walk_memory;

/* walk.cu with the GPU source of a mover, and the mover's parameters on the device. */
typedef struct walk_kernels {
    plugmc_kernel *begin, *make, *total, *end;
    plugmc_device_pointer parameters;
} walk_kernels;

typedef struct device_energies {
    plugmc_kernel *whole, *sum_tiles, *rescale, *take;
    /* Blocks per walker, with one thread for each particle. */
    uint32_t tiles;
    plugmc_device_pointer parts, sums, taken;
    plugmc_device_pointer molecule,
        molecules; /* on_device_molecules, on_device_kinds; 0: none are rigid */
    /* [walkers][terms], followed by forbidden, int32_t [walkers]. */
    plugmc_device_pointer energy;
    /* Proposed positions and boxes. 0: not allocated. */
    plugmc_device_pointer places, boxes;
    /* Host copy of `energy`. */
    double *host_energy;
    /* NULL: not allocated. */
    trials_memory *trials;
    walk_memory *walk;
} device_energies;

struct energies_task;
/* Kernel arguments for a view, whose particles are sorted into cells if `cells_wanted`. */
int on_device_task(hamiltonian *, const plugmc_host *, const plugmc_view *, bool cells_wanted,
                   struct energies_task *);
/* A view on the device, after everything that was accepted has been stored in the state. The state can then be read and
 * written on the device. */
int on_device_view(hamiltonian *, const plugmc_host *, plugmc_view *);
/* Launches a kernel in `blocks` blocks of `threads` threads. */
int on_device_launch(const plugmc_host *, plugmc_kernel *, uint64_t blocks, uint32_t threads,
                     void **arguments);
/* The same with `shared` bytes of dynamic shared memory. */
int on_device_launch_with(const plugmc_host *, plugmc_kernel *, uint64_t blocks, uint32_t threads,
                          uint32_t shared, void **arguments);
static inline void *at_device(plugmc_device_pointer p) { return (void *)(uintptr_t)p; }
void on_device_close_trials(hamiltonian *);
/* Trials of any kind, each with a sum over all particles: whether that pays, and the trials themselves. */
bool on_device_walks(const hamiltonian *, const plugmc_mover *, const plugmc_proposal *);
/* What keeps trial moves on the host: of all kinds, or of all but swaps of particles; `words` say what it is. */
typedef enum on_device_obstacle {
    NO_OBSTACLE,
    FOR_ALL_BUT_SWAPS,
    FOR_ALL_TRIALS
} on_device_obstacle;
on_device_obstacle on_device_in_the_way(const plugmc_system *, bool weighs_energies, char *words,
                                        size_t bytes);
/* Walkers are so few that no trial move is made there, whatever is known only after `prepare`. */
bool on_device_has_few(const plugmc_system *);
/* Estimated seconds for one trial move of all walkers on the device. Nothing needs to be prepared. INFINITY: trials are
 * made one by one, so a GPU is not faster. */
double on_device_walk_seconds(const plugmc_system *);
/* PLUGMC_UNANSWERED: a block has not enough shared memory. */
int on_device_walk(hamiltonian *, const plugmc_host *, const plugmc_mover *, const walk_kernels *,
                   const plugmc_proposal *, uint64_t first, uint64_t n);
void on_device_close_walk(hamiltonian *);
/* plugmc_system.molecule in device memory; 0: no molecules. */
int on_device_molecules(const plugmc_host *, plugmc_device_pointer *out);
/* Likewise plugmc_system.molecules, with its kinds. */
int on_device_kinds(const plugmc_host *, plugmc_device_pointer *out);
/* Arguments of walk.cu about macrostates, for the trials of a mover. */
struct walk_bias;
int on_device_bias(hamiltonian *, const plugmc_host *, const plugmc_mover *, struct walk_bias *);
#endif
