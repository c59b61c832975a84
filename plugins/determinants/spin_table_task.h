/* What is handed to the kernels of spin_table.cu: one text for C and CUDA. */
#ifndef PLUGMC_SPIN_TABLE_TASK_H
#define PLUGMC_SPIN_TABLE_TASK_H

/* Orbitals that may differ between two determinants of a spin. */
enum { EXPANSION_MOST_DEGREE = 16 };

/* Functions that are long and rarely called: one copy for all kernels, which otherwise take most of a minute to compile. */
#ifdef __CUDACC_RTC__
#define SUM_ONE_COPY static __device__ __noinline__
#else
#define SUM_ONE_COPY PLUGMC_FN
#endif

/* Threads of a block, which has a walker; a power of two. */
enum { SUM_THREADS = 128 };

/* The determinants of one spin in all walkers, as spin_table has them of one. Numbers are double or pairs of them. Arrays
 * of walkers begin at walker 0 of all. */
typedef struct sum_task {
    int32_t n, m, determinants, stride; /* stride: of lists */
    int32_t walker;                     /* first one of the launch */
    int32_t reserved;
    int64_t pitch;           /* orbitals from one row of values to the next */
    const int32_t *column;   /* [n + m] */
    const int32_t *occupied; /* [determinants][n] */
    /* Terms sorted by the determinant of this spin: where those of each begin [determinants + 1], their numbers and the
     * other spin's determinants [terms]. */
    const int32_t *begin, *term, *partner;
    const double *coefficients; /* [terms] c_k in the order of the expansion */
    const double *imaginary;    /* [terms] imaginary parts; or NULL */

    int32_t *chosen, *order;         /* [walkers], [walkers][2][n + m] */
    int32_t *degree, *sign, *places; /* [walkers][determinants], .. [2][stride] */
    double *inverse, *table;         /* M [walkers][n][n], T [walkers][n][m] */
    double *values;                  /* [walkers][n][n + m] */
    double *minors, *weights;        /* [walkers][determinants] */
    double *work;                    /* [walkers][SUM_WORK] */
    double *sum;                     /* S [walkers] */
    double *ln_reference;            /* ln |D|^2 of the reference [walkers]; NaN: all are zero */
} sum_task;

/* Numbers of work memory of a walker: x, y, v, p, a matrix beside its inverse, and G. */
#define SUM_WORK(n, m) (3 * (n) + 2 * (m) + 2 * (n) * (n) + (n) * (m))

#endif
