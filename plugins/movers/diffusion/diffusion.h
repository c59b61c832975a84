/* What the files of the mover share; diffusion.c says what it does. */
#ifndef PLUGMC_DIFFUSION_H
#define PLUGMC_DIFFUSION_H

#include <math.h>

#include "../../determinants/slater.h"
#include "../../determinants/wave_function.h"

#include "../../determinants/draws.h"

enum { SPINS = 2 };
enum { LOCALITY, T_MOVES, ONE_T_MOVE, NEAR_T_MOVES };
enum { STEP, T_MOVE, KINDS };

/* A walker. */
typedef struct walker {
    int32_t index;
    slater *spin;      /* [SPINS], elsewhere: loops over walkers ask for the rest */
    double *x, *y, *z; /* [particles], length */
    double *slopes; /* [particles][3][numbers] gradients of the orbitals where the electrons are */
    double parts;   /* kT: energy of the pair and field terms, -2 ln of the Jastrow factor */
    double energy;  /* Hartree: local energy after the last generation */
    double ln_weight;          /* since the last comb */
    int64_t age;               /* generations since it last moved */
    double proposed, accepted; /* length^2: squares of random displacements, of a generation */
    double all_proposed, all_accepted; /* the same since they were last reported */
    plugmc_counts counts[KINDS];       /* since they were cleared */
    double drift;                      /* of the matrices and of ln |Psi|^2, at the last refresh */
    double ln_before; /* ln |Psi|^2 of determinants when matrices began to be made anew */
    int singular;     /* 1 + spin whose determinant is 0 */
    int64_t lost;     /* 1 + electron where a probability was no number; 0: none */

    /* of the move at hand */
    double here[3], random[3], there[3]; /* drift and random part, length; place */
    const double *row;                   /* of the inverse */
    double share;                        /* kT: of the electron in `parts`, where it is */
} walker;

struct diffusion;

/* Where walkers live: cpu.c and gpu.c. Places are [walkers][particles][3]. */
typedef struct diffusion_engine {
    int (*prepare)(struct diffusion *, const plugmc_host *);
    int (*take)(struct diffusion *, const plugmc_host *, const double *positions); /* host memory */
    int (*give)(const struct diffusion *, const plugmc_host *,
                double *positions); /* on their side */
    int (*fetch)(const struct diffusion *, const plugmc_host *,
                 double *positions); /* to the host */
    /* Matrices, slopes and energies of the Jastrow factor anew from the positions; `compare` with what was kept. */
    int (*anew)(struct diffusion *, const plugmc_host *, int compare);
    /* All electrons of all walkers once, with `tau`; real wave functions do not change their sign unless
     * `crosses`. */
    int (*moves)(struct diffusion *, const plugmc_host *, uint64_t sweep, double tau, int crosses);
    /* What is kept of walker w becomes that of from[w]. */
    int (*copies)(struct diffusion *, const plugmc_host *);
    /* Positions are remembered; and given to the host. */
    int (*keep_base)(struct diffusion *, const plugmc_host *);
    int (*fetch_base)(const struct diffusion *, const plugmc_host *, double *positions);
    int (*view)(struct diffusion *, const plugmc_host *, plugmc_view *out);
    int (*t_moves)(struct diffusion *, const plugmc_host *, uint64_t sweep,
                   const plugmc_nonlocal_point *places, int64_t count);
    /* Into `lent`, with ln_square of the walkers brought up to date; *out says where they are. */
    int (*lend)(struct diffusion *, const plugmc_host *, plugmc_inverses *out);
    /* `parts` and ln_square of the walkers are brought up to date. */
    int (*report)(struct diffusion *, const plugmc_host *);
    void (*release)(struct diffusion *);
} diffusion_engine;

extern const diffusion_engine diffusion_on_cpu, diffusion_on_gpu;

/* Parameters. */
typedef struct diffusion_settings {
    real tau, drift_limit, energy_limit, correction, variational_tau, max_error;
    int64_t variational, warm_up, max_age, refresh, block;
    int32_t nonlocal;
} diffusion_settings;

/* Points at which orbitals are found together. */
typedef struct diffusion_batch {
    int32_t group;                    /* walkers whose matrices are made together */
    int64_t room;                     /* of the next, points */
    double *points, *values, *slopes; /* [.][3], [.][numbers], [.][3][numbers] */
} diffusion_batch;

/* Weights, and what they are told of. */
typedef struct diffusion_population {
    int know_energies;
    /* T-moves that are still to be made: after so many sweeps, and where they lead, while nobody else has asked for local
     * energies (places NULL: somebody may have). */
    int pending;
    uint64_t pending_sweep;
    const plugmc_nonlocal_point *pending_places;
    const int32_t *ions; /* of these places, on the CPU */
    int64_t pending_count;
    uint64_t generations;   /* with weights so far */
    double best;            /* Hartree: mean energy of late */
    double trial;           /* Hartree: E_T, fixed once it is warm */
    double start;           /* Hartree: mean energy of this process's first generation */
    double spread;          /* Hartree: of energies then; < 0: there was none yet */
    int64_t kept;           /* generations whose mean weights averages are multiplied by */
    int64_t filled, next;   /* of the ring */
    double *ring;           /* [kept] ln of mean weights */
    double *found, *share;  /* [walkers] local energies; weights in some unit */
    int32_t *from, *copies; /* [walkers] of the comb */
    int64_t survivors;      /* walkers of the last generation that have descendants */
    int warned;
} diffusion_population;

/* The chain since the last refresh can be run again: that is the checkpoint. */
typedef struct diffusion_since_refresh {
    int fresh;                  /* matrices belong to positions that were loaded */
    uint64_t base_sweep, since; /* sweeps made from base_sweep on */
    struct population *before;  /* what there was then */
} diffusion_since_refresh;

typedef struct diffusion {
    diffusion_settings set; /* first: the table of keys counts from here */

    const plugmc_system *system;
    plugmc_seed seed;
    int32_t threads;
    wave_function wave; /* electrons on the CPU alone */
    walker *walkers;    /* [walkers] */
    slater *slaters;    /* [walkers][SPINS] of them */
    const diffusion_engine *engine;
    double tolerated; /* drift */
    int64_t capacity; /* electrons of a block, whose moves are worked into the inverse together */
    diffusion_batch batch;
    double *places, *base;      /* [walkers][particles][3] for others to look at; remembered */
    const double **lent[SPINS]; /* [walkers] inverse matrices */
    double *ln_lent[SPINS];     /* [walkers] */
    diffusion_population population;
    diffusion_since_refresh last;
    struct diffusion_gpu *gpu;
} diffusion;

static inline int64_t electrons_of(const diffusion *d, int spin)
{
    return spin < d->system->species_count ? plugmc_species_at(d->system, spin)->count : 0;
}

/* What is not a number is noted as INFINITY, which stays the largest. */
static inline void note_drift(walker *w, double drift)
{
    if (!(drift <= w->drift)) w->drift = isnan(drift) ? INFINITY : drift;
}

/* Sweep number s: a generation, or one of the sweeps without weights before them. */
int diffusion_sweep(diffusion *, const plugmc_host *, uint64_t s);
/* Walkers at these places [walkers][particles][3] of the host, and matrices that belong to them. */
int diffusion_take(diffusion *, const plugmc_host *, const double *positions);
/* Inverse matrices of all walkers, which are valid until something moves. */
int diffusion_lend(diffusion *, const plugmc_host *, plugmc_inverses *out);

/* ---- Moves on the CPU: walk.c ---------------------------------------------------------------- */

/* As the engine's. */
int walk(diffusion *, const plugmc_host *, uint64_t sweep, double tau, int crosses);
int walk_anew(diffusion *, const plugmc_host *, int compare);
/* An electron of each walker [walkers], -1 for none, goes to there[3] of it, whatever that does to Psi. */
int walk_put(diffusion *, const plugmc_host *, const int32_t *electron);
/* Orbitals at d->points to d->values, and d->slopes if wanted; from the main thread. */
int walk_orbitals(const diffusion *, const plugmc_host *, int spin, int64_t points, int slopes);
/* Energy of electron e at r with all others before `end`, and its gradient; returns how many overlap. */
int64_t walk_parts(const diffusion *, const walker *, int64_t e, const double r[3], int64_t end,
                   plugmc_derivatives *out);

/* ---- T-moves: t_moves.c, gpu_t_moves.c ------------------------------------------------------- */

/* After `sweep` sweeps, from where nonlocal potentials lead to, in the order of walkers and electrons; on a GPU in
 * device memory, where walkers and species may come in any order. */
int t_moves_here(diffusion *, const plugmc_host *, uint64_t sweep,
                 const plugmc_nonlocal_point *places, int64_t count);
int t_moves_there(diffusion *, const plugmc_host *, uint64_t sweep,
                  const plugmc_nonlocal_point *places, int64_t count);

/* ---- Checkpoints: checkpoint.c --------------------------------------------------------------- */

/* Memory; and what there is before a sweep from which the chain may be run again. */
int checkpoint_prepare(diffusion *, const plugmc_host *);
int checkpoint_begin(diffusion *, const plugmc_host *, uint64_t sweep);
int checkpoint_archive(void *instance, const plugmc_host *, plugmc_archive *);

/* ---- On a GPU: gpu.c ------------------------------------------------------------------------- */

int diffusion_gpu_source(void *instance, const plugmc_host *, int index, plugmc_gpu_source *out);

/* ---- Weights: population.c ------------------------------------------------------------------- */

/* As many walkers as there are, each as often as its weight says on average, of weight 1. */
int population_comb(diffusion *, const plugmc_host *, uint64_t sweep);
/* Local energies where walkers are after `sweep` sweeps; the first ones, or with weights. */
int population_look(diffusion *, const plugmc_host *, uint64_t sweep);
int population_weigh(diffusion *, const plugmc_host *, uint64_t sweep);
/* The T-moves of the generation before, if they are still to be made. */
int population_t_moves(diffusion *, const plugmc_host *);
/* ln of what averages are multiplied by. */
double population_correction(const diffusion *);

#endif
