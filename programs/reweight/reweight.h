/* What the parts of plugmc reweight share. */
#ifndef PLUGMC_REWEIGHT_H
#define PLUGMC_REWEIGHT_H

#include "runs.h"

/* Key and values: another point than those that were run. */
enum { MOST_KEYS = 8 };
typedef struct point {
    int count;
    const char *key[MOST_KEYS];
    double value[MOST_KEYS];
    double *multipliers; /* [width] */
    double kT;
} point;

/* A scalar that all files have measured. */
typedef struct measured {
    char *name, *unit; /* "energy.energy" */
    double *value;     /* [samples] */
} measured;

/* What is known of each configuration that was measured, of all files. A stratum is a rung of a file; a state
 * is what strata with the same multipliers have in common. A slice is one time of one file. */
typedef struct samples {
    int64_t count;
    int width;           /* what multipliers multiply: energies of terms, the volume, numbers */
    double *extensive;   /* [count][width]; 0 where all states have the same multiplier */
    int32_t *stratum;    /* [count] */
    int64_t *slice;      /* [count] */
    double *weight;      /* [count]: 1 / statistical inefficiency of the stratum */
    int strata, states;  /* strata of file 0 first */
    int *state;          /* [strata] */
    double *multipliers; /* [states][width] */
    char **names;        /* [states] "run.temperature = 0.7", for people */
    int files;
    int64_t *first_slice; /* [files + 1] */
    measured *quantities;
    int quantity_count;
    bool frozen; /* trial moves of a run were never accepted: no error is more than a lower bound */
} samples;

/* Whether that is so of a run; said. */
bool reweight_is_frozen(const analysed *);

/* Reads the samples of runs after sweep `from` (0: all). `points`: where else multipliers are asked for.
 * An exit code, after a sentence. */
int samples_gather(samples *, analysed *runs, int count, point *points, int point_count,
                   int64_t from, report *);
void samples_free(samples *);
/* Multipliers of the points, by the configuration of a run. */
int points_fill(const session *, point *points, int count, report *);
/* Number of a quantity, or -1 after a sentence. */
int samples_find(const samples *, const char *name, report *);

/* The mixture of all states that the samples are from, as MBAR has it (mbar.c). */
typedef struct mixture {
    const samples *of;
    int states;
    double *count;    /* [states]: sums of weights of samples */
    double *f;        /* [states]: -ln of their partition functions, 0 for the first */
    double *share;    /* [samples][states]: p_kn = exp(f_k - u_kn) / D_n */
    double *ln_mixed; /* [samples]: ln D_n */
    double *hessian;  /* [states - 1][states - 1], factorised: of all but the first */
    double overlap;   /* 1 - the second eigenvalue of the overlap matrix */
} mixture;

int mixture_solve(mixture *, const samples *, report *);
void mixture_free(mixture *);

typedef struct answer {
    double value, error;
    bool converged; /* false: the error is a lower bound */
} answer;

/* The samples as if they were from a point. */
typedef struct reweighted {
    const mixture *from;
    double *pi;       /* [samples]: normalised weights */
    double ln_z;      /* ln of the partition function over that of the first state */
    double effective; /* samples, 1 / sum pi^2 */
} reweighted;

int reweighted_make(reweighted *, const mixture *, const double *multipliers, report *);
void reweighted_free(reweighted *);
answer reweighted_free_energy(const reweighted *);
/* Mean of a [samples]; influence [samples], or NULL, gets what each sample adds to first order. */
answer reweighted_mean(const reweighted *, const double *a, double *influence);
/* The error of a number with this influence, which is overwritten. */
answer influence_error(const mixture *, double value, double *influence);

/* Columns of a distribution as text. */
int print_histogram(const reweighted *, const measured *, int bins, report *);
/* Where two phases have the same weight, found along `key`: runs, samples and mixture as they are. */
int print_coexistence(
    const analysed *first, const mixture *, const measured *, const char *key, const point *at,
    bool csv,
    report
        *); /* A run with weights of macrostates: free energy, mean and variance of what it weighs at points (none: where it was
 * run), or its distribution. */
int reweigh_histogram(const analysed *, const point *points, int count, bool bins, bool csv,
                      report *);
#endif
