/* What the files of plugmc optimise share. Hartree atomic units. */
#ifndef OPTIMISE_H
#define OPTIMISE_H

#include <stdio.h>

#include "quantum/variational.h"
#include "session/session.h"

enum method { LINEAR, RECONFIGURATION };

/* What the command line says. */
typedef struct choices {
    enum method method;
    int64_t loops, samples;
    double variance_weight;    /* of the variance in the cost; the energy has the rest */
    double least_effective;    /* N_eff / N of a correlated sample */
    double identity, overlap;  /* shifts of the linear method at level 0 */
    double time_step, damping; /* of stochastic reconfiguration */
} choices;

/* ---- The command line: arguments.c ------------------------------------------------------------ */

enum { MOST_SETS = 64 };

typedef struct arguments {
    const char *file, *output;
    const char *sets[MOST_SETS];
    int set_count;
    bool resume, derivatives, check;
    const char *only; /* potentials; NULL: all */
    choices choices;
} arguments;

extern const char optimise_help[];
/* An exit code, after a message. */
int arguments_parse(int argc, char **argv, arguments *);

/* ---- Samples: samples.c ----------------------------------------------------------------------- */

/* Where the time of an optimisation goes, seconds. */
typedef struct spent {
    double sweeps, energies, derivatives, again; /* again: the same samples with other numbers */
} spent;

/* Configurations of |Psi|^2 and what was found of them, record after record of all walkers. */
typedef struct samples {
    int64_t records, count; /* count = records * walkers */
    int32_t walkers;
    int64_t numbers;     /* variational parameters K */
    uint64_t *sweep;     /* [records]: fixes the quadratures of nonlocal potentials */
    double *positions;   /* [records][walkers][particles][3] */
    double *energy;      /* [count] */
    double *ln_psi;      /* [count] */
    double *derivatives; /* [count][K] O_k */
    double *energies;    /* [count][K] dE_L/dp_k */
    const plugmc_host *host;
    /* [walkers][particles][3] of the record at hand, on the GPU; 0: the run is on the CPU. */
    plugmc_device_pointer positions_there, drift_there;
    spent *spent; /* added to */
} samples;

/* A run of its own, from [initial], with the present numbers: it depends on them, on the seed and on the number of
 * the loop alone. EXIT_INTERRUPTED and EXIT_TIME_LIMIT: it was given up. */
int samples_take(session *, const variational_parameters *, double *first_steps, int64_t loop,
                 int64_t wanted, spent *, samples *);
/* Sizes of trial moves as the INI file has them, with which each loop begins; after prepare, to be freed. */
double *samples_first_steps(session *);
void samples_free(samples *);
/* The same configurations with the present numbers: energy and ln |Psi| [count]; *finite: 0 where Psi has no
 * number or is 0, which is no error here. */
int samples_again(session *, const samples *, double *energy, double *ln_psi, int *finite);

/* ---- Cost: cost.c ------------------------------------------------------------------------------ */

typedef struct cost {
    double energy, energy_error, variance, variance_error; /* Hartree, Hartree^2, of the cell */
    double value, error;                                   /* (1 - w) energy + w variance */
    double effective;                                      /* N_eff / N, 1 without weights */
} cost;

/* Of samples as they are. Errors by a jackknife over groups of walkers or stretches. */
cost cost_of(const samples *, const choices *);
/* Of the same samples with weights |Psi'/Psi|^2 and the energies of Psi'; *change, *error: of the cost against
 * that of the samples as they are, whose fluctuations are the same. */
cost cost_reweighted(const samples *, const choices *, const double *energy, const double *ln_psi,
                     double *change, double *error);

/* Of a jackknife: which of the groups sample i belongs to, and the error from the sum of squared deviations of G
 * leave-one-out values. */
enum { GROUPS = 32 };
int group_of(const samples *, int64_t i);
double error_left_out(double squared, int groups);

/* ---- Derivatives: derivatives.c --------------------------------------------------------------- */

/* A line a parameter: its name, dE/dp = 2 cov(E_L, d ln |Psi| / dp) and the error of that. */
void derivatives_print(FILE *, const samples *, const variational_parameters *);
/* A line a parameter, whose present value is in values: the largest deviations of d ln |Psi| / dp and dE_L/dp in a sample
 * from central differences, over their root mean squares. An exit code: EXIT_PLUGIN, after a sentence, if one is larger
 * than 1e-3. */
int derivatives_check(FILE *, session *, const samples *, const variational_parameters *,
                      double *values);

/* ---- Steps: steps.c ---------------------------------------------------------------------------- */

/* Matrices of the linear method, [K + 1][K + 1] with psi_0 = 1, psi_k = O_k - <O_k>, and the gradient of the
 * cost over 2. */
typedef struct matrices {
    int64_t n;                /* K + 1 */
    double *h, *s, *gradient; /* [n][n], [n][n], [K] */
    double lowest;            /* eigenvalues below are none of the wave function's */
} matrices;

int matrices_make(const samples *, const choices *, matrices *, report *);
void matrices_free(matrices *);
/* The step at a level of caution: shifts, or 1 / time step, grow by 10 a level. 0: there is none. */
int step_at(const matrices *, const choices *, double level, double *step);

/* ---- Loops: loops.c ------------------------------------------------------------------------ */

/* One loop. */
typedef struct entry {
    int64_t loop;
    cost cost;
    int64_t level; /* for the next loop */
    int64_t good;  /* 0: worse than the loop before, beyond its error */
    int64_t idle;  /* loops up to this one, one after the other, without a step that helps */
    double *sampled, *next; /* [K]: with which it was sampled; what comes next */
} entry;

typedef struct history {
    int64_t numbers, count;
    entry *entries;
} history;

/* Appends a copy. */
void loops_append(history *, const entry *);
/* A table of all loops; read, with what they cost now, as the weight of the variance may have changed. Exit codes. */
int loops_write(const history *, const variational_parameters *, const choices *, const ini_file *,
                const char *path, report *);
int loops_read(history *, const variational_parameters *, const choices *, const ini_file *,
               const char *path, report *);
/* A file of which there is the old one or the whole new one, whatever happens. An exit code. */
int replace_file(const char *path, void (*write)(FILE *, const void *what), const void *what,
                 report *);
/* What an earlier optimisation has written is kept as PATH.1, PATH.2, ...; 0 where there is nothing. An exit code. */
int keep_former(const char *path, report *report);
void loops_free(history *);
#endif
