/* What the movers of variational Monte Carlo share: |Psi|^2 of Slater determinants (the orbitals of
 * one potential) times whatever pair and field terms are sampled (a Jastrow factor), of many
 * walkers.
 *
 * p = |det_up|^2 |det_down|^2 exp(-sum of pair and field energies). Spins up and down are the
 * species 0 and 1; electron e is number e of the system.
 *
 * Random numbers, the same in all movers. Electron e of walker w in sweep s uses, with
 * D(purpose, draw) = plugmc_draw(seed, s, w, e, purpose, draw) and words u of it:
 *   displacement  step * v.
 *                 gaussian: v = (R cos a, R sin a, R' cos a'), R = sqrt(-2 ln((u0 + 1/2) / 2^32)),
 *                 a = 2 pi u1 / 2^32, R' and a' likewise of u2, u3, from D(TRIAL, 0)
 *                 ball: the first of draw = 0, 1, ... 255 with v * v <= 1 of
 *                 v[d] = (u_d + 0.5) / 2^31 - 1 from D(TRIAL, draw)
 *                 cube: that of draw 0, whatever v * v is
 *   acceptance    U = plugmc_uniform_double(u0, u1) of D(ACCEPT, 0); accepted if
 *                 U < p(new) / p(old), and never outside of the domain, or where a field or a hard
 *                 core forbids it
 * A displacement depends on nothing but these numbers, so that all of a sweep can be drawn before
 * the first decision. */
#ifndef PLUGMC_VMC_H
#define PLUGMC_VMC_H

#include <math.h>
#include <plugmc/former_keys.h>

#include "../../determinants/slater.h"
#include "../../determinants/wave_function.h"

#include "../../determinants/draws.h"

enum { VMC_AUTO, VMC_DOUBLE, VMC_SINGLE };
enum { VMC_SEQUENTIAL, VMC_SIMULTANEOUS };
enum { VMC_SPINS = 2 };

enum { VMC_KEEPS_INVERSE = 1, VMC_KEEPS_VALUES = 2 };

/* A walker as the host knows it. On a GPU the numbers are brought here when they are asked for. */
typedef struct vmc_walker {
    int32_t index;
    double parts;                /* kT: energy of the pair and field terms */
    double ln_square[VMC_SPINS]; /* ln |det|^2 */
    uint64_t trials, accepted;   /* since the beginning */
    double drift;                /* of the matrices and of ln |Psi|^2, at the last refresh */
    int singular;                /* 1 + spin whose determinant is 0, or no number: */
    int no_numbers;              /* some orbital gave none; of which electron is not known */
    int not_a_number;
    uint64_t sweep; /* where that was */
    int64_t electron;

    /* On the CPU alone. */
    double *x, *y, *z;             /* [particles], length */
    double *new_x, *new_y, *new_z; /* [particles], where all electrons would go */
    slater spin[VMC_SPINS];
    double ln_before; /* ln |Psi|^2 of determinants when matrices began to be made anew */
} vmc_walker;

/* What is not a number is noted as INFINITY, which stays the largest. */
static inline void vmc_note_drift(vmc_walker *walker, double drift)
{
    if (!(drift <= walker->drift)) walker->drift = isnan(drift) ? INFINITY : drift;
}

struct vmc;

/* Where walkers live. Positions are [walkers][particles][3]. */
typedef struct vmc_engine {
    int (*prepare)(struct vmc *, const plugmc_host *);
    int (*take)(struct vmc *, const plugmc_host *, const double *positions);
    /* On a GPU to device memory. */
    int (*give)(const struct vmc *, const plugmc_host *, double *positions);
    /* Matrices and energies anew from the positions; what was kept is compared with them if asked.
     */
    int (*anew)(struct vmc *, const plugmc_host *, int compare);
    /* Positions are remembered; and given to, or taken from, host memory. */
    int (*keep_base)(struct vmc *, const plugmc_host *);
    int (*give_base)(struct vmc *, const plugmc_host *, double *positions);
    int (*take_base)(struct vmc *, const plugmc_host *, const double *positions);
    /* The inverse matrix of a walker as it is, for others to look at. */
    const double *(*lend)(const struct vmc *, int spin, int32_t walker);
    /* Numbers of the walkers are brought up to date. */
    int (*report)(struct vmc *, const plugmc_host *);
    void (*release)(struct vmc *);
} vmc_engine;

extern const vmc_engine vmc_on_cpu, vmc_on_gpu;

/* The chain since the last refresh can be run again: that is the checkpoint. */
typedef struct vmc_since_refresh {
    int fresh; /* matrices belong to positions that were loaded */
    int warned;
    uint64_t base_sweep, since; /* sweeps made from base_sweep on; since = 0: none */
    double *steps;              /* [refresh] step of each sweep since */
} vmc_since_refresh;

/* What sweeps on the CPU work with. */
typedef struct vmc_cpu {
    int32_t threads;
    int32_t group;        /* walkers whose orbitals are evaluated together */
    double *proposals;    /* [walkers][particles][3], length */
    double *points;       /* [group * most][3] */
    double *values;       /* [group][most][pitch], real or complex */
    float *single;        /* the same, as evaluated */
    double *now;          /* [walkers][particles][pitch]: where electrons are, if it is kept */
    unsigned char *taken; /* [walkers][particles]: moves accepted, likewise */
    double *base;         /* [walkers][particles][3] positions before base_sweep */
} vmc_cpu;

typedef struct vmc {
    /* parameters */
    int32_t moves, precision, acceptance;
    real step, target_acceptance, max_error;
    int64_t block, refresh;
    int64_t gather; /* blocks; of quasi_simultaneous on a GPU */

    int64_t delayed; /* electrons of a block: `block`, or what 0 stands for */
    const plugmc_system *system;
    plugmc_seed seed; /* of its random draws */
    const vmc_engine *engine;
    int (*one_sweep)(struct vmc *, const plugmc_host *, uint64_t sweep);
    wave_function wave;    /* terms and electrons on the CPU alone */
    int is_single, keeps;  /* keeps: VMC_KEEPS_* */
    double tolerated;      /* drift: max_error, or what stands for 0 */
    vmc_walker *walkers;   /* [walkers] */
    plugmc_counts cleared; /* counts when they were last cleared */
    vmc_since_refresh last;
    vmc_cpu cpu;

    const double **lent[VMC_SPINS];    /* [walkers] inverse matrices, for whoever asks */
    double *lent_ln_square[VMC_SPINS]; /* [walkers] */

    struct vmc_gpu *gpu;
} vmc;

/* Numbers of a real or complex array of orbitals. */
static inline int64_t vmc_numbers(const vmc *v, int64_t count)
{
    return v->wave.is_complex ? 2 * count : count;
}

static inline int64_t vmc_electrons(const vmc *v, int spin)
{
    return spin < v->system->species_count ? plugmc_species_at(v->system, spin)->count : 0;
}

/* `keeps` VMC_KEEPS_*; the sweep of the mover on the CPU and on a GPU. */
int vmc_prepare(vmc *, const plugmc_host *, int keeps,
                int (*on_cpu)(vmc *, const plugmc_host *, uint64_t),
                int (*on_gpu)(vmc *, const plugmc_host *, uint64_t));
/* `delayed`, before vmc_prepare. */
void vmc_choose_block(vmc *, const plugmc_host *);
int vmc_sweeps(vmc *, const plugmc_host *, uint64_t first, uint64_t n);
vmc_draws vmc_draws_of(const vmc *, uint64_t sweep);

/* ---- On the CPU: wave.c ---------------------------------------------------------------------- */

/* Where electron e would go. */
void vmc_propose(const vmc *, const vmc_walker *, uint64_t sweep, int64_t e, double to[3]);
/* v->proposals of all electrons of a spin, in walkers first ... first + n - 1. */
void vmc_propose_all(const vmc *, int32_t first, int32_t n, int spin, uint64_t sweep);
/* v->values [walkers][electrons][pitch] of these walkers at their proposals. */
int vmc_evaluate_proposals(const vmc *, const plugmc_host *, int32_t first, int32_t n, int spin);
/* Orbitals of a spin at positions [points][3] to values [points][pitch]. */
int vmc_evaluate(const vmc *, const plugmc_host *, int spin, int64_t points,
                 const double *positions, double *values);

/* Whether a move is accepted whose ratio of determinants is q and whose other energies change by
 * `change`. */
int vmc_accepts(const vmc *, vmc_walker *, uint64_t sweep, int64_t e, double square_of_q,
                double change);
/* Change of pair and field energies; returns 0 where the electron cannot be. */
int vmc_parts_change(const vmc *, const vmc_walker *, int64_t e, const double to[3],
                     double *change);
/* Pair and field energies of all electrons at x, y, z [particles]; returns 0 likewise. */
int vmc_parts_energy(const vmc *, const double *x, const double *y, const double *z,
                     double *energy);
/* A trial move with the determinant's block begun: what there is to decide, and to do. */
void vmc_try(const vmc *, vmc_walker *, int spin, uint64_t sweep, int64_t e, const double to[3],
             const double *values);
void vmc_move(vmc_walker *, int64_t e, const double to[3]);

/* ---- On a GPU: gpu.c ------------------------------------------------------------------------- */

int vmc_gpu_quasi_simultaneous(vmc *, const plugmc_host *, uint64_t sweep);
int vmc_gpu_particle_by_particle(vmc *, const plugmc_host *, uint64_t sweep);
int vmc_gpu_simultaneous(vmc *, const plugmc_host *, uint64_t sweep);
int vmc_gpu_configuration(vmc *, const plugmc_host *, uint64_t sweep);
extern const char vmc_text_name[]; /* of the mover, for messages */
extern const char vmc_good_for[];  /* of each mover, as plugmc_mover.good_for */
int vmc_gpu_source(void *instance, const plugmc_host *, int index, plugmc_gpu_source *out);

/* Callbacks of plugin.h that are the same in all movers. */
extern const plugmc_mover vmc_callbacks;
extern const plugmc_lends_inverses vmc_lends;
extern const plugmc_former_keys vmc_former_keys;
int vmc_archive(void *instance, const plugmc_host *, plugmc_archive *);
void vmc_release(void *instance);

#define VMC_PARAMETERS                                                                              \
    PLUGMC_CHOICE_KEY(vmc, moves, "gaussian", "gaussian|ball|cube",                                 \
                      "displacements: normal of width step, uniform in the ball of radius step, "   \
                      "or in the cube of edge 2 step"),                                             \
        PLUGMC_REAL_KEY(vmc, step, "0.5", 1e-12, 1e12, "length",                                    \
                        "width or largest size of a displacement, "                                 \
                        "see moves"),                                                               \
        PLUGMC_REAL_KEY(                                                                            \
            vmc, target_acceptance, "0.5", 0, 1, "",                                                \
            "target acceptance of the tuning of step during equilibration; 0: fixed step"),         \
        PLUGMC_CHOICE_KEY(                                                                          \
            vmc, precision, "auto", "auto|double|single",                                           \
            "precision of orbitals; auto: single on a GPU, double on the CPU; determinants "        \
            "are always in double precision"),                                                      \
        PLUGMC_INTEGER_KEY(                                                                         \
            vmc, refresh, "64", 1, 1000000, "sweeps",                                               \
            "how often inverse matrices are recomputed, and compared with the updated ones"),       \
        PLUGMC_REAL_KEY(                                                                            \
            vmc, max_error, "0", 0, 1, "",                                                          \
            "largest relative error of an updated matrix, or of ln |Psi|^2, found there; a larger " \
            "one ends the run; 0: 1e-5, or 1e-3 with orbitals in single precision")
#define VMC_OFFERS                                                                                 \
    PLUGMC_OFFERS({PLUGMC_LENDS_INVERSES, &vmc_lends}, {PLUGMC_FORMER_KEYS, &vmc_former_keys})
#define VMC_BLOCK                                                                                  \
    PLUGMC_INTEGER_KEY(                                                                            \
        vmc, block, "0", 0, 1024, "",                                                              \
        "number of electrons whose accepted moves update the inverse matrix together "             \
        "(delayed update); 0: 32, on a GPU 64, the limit there, or 1 if electrons move one "       \
        "by one")
#endif
