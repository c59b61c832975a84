/* gaussian_orbitals.cu: orbitals of Gaussian functions at many points on the GPU, and what both sides read.
 *
 * Orbitals are a product of matrices, functions at points times coefficients. A block of threads has some points and up to
 * GAUSSIAN_WIDE columns. Chunks of shells are dealt with one after the other: each thread works out the functions of
 * shells at one point and puts them into shared memory (kernel.cu), then each warp adds them, times their coefficients, to
 * GAUSSIAN_STRIP columns of all points, which it keeps in registers (product.cu). With more columns than a block has, the
 * functions are worked out again by the next one. Displacements are subtracted in double, all else is in the precision of
 * the results, but for the neighbourhood of nuclei. */
enum {
    GAUSSIAN_WARPS = 8,
    GAUSSIAN_THREADS = 32 * GAUSSIAN_WARPS,
    GAUSSIAN_STRIP = 16,
    GAUSSIAN_WIDE = GAUSSIAN_WARPS * GAUSSIAN_STRIP,
    /* of a block, values alone */
    GAUSSIAN_POINTS = 32,
    /* of a block, with gradients and Laplacians in single and in double precision */
    GAUSSIAN_POINTS_ALL = 16,
    GAUSSIAN_POINTS_ALL_DOUBLE = 8,
    /* rows that are multiplied at once */
    GAUSSIAN_STEP = 8,
    /* of a chunk, at most */
    GAUSSIAN_ROWS = 80,
    GAUSSIAN_MOST_L = 5,
    GAUSSIAN_MOST_S = 64 /* shells of s functions at a nucleus with a cusp */
};

/* A shell, in order of l. Rows are functions, or their real and imaginary parts one after the other. */
typedef struct gaussian_entry {
    double reach2; /* beyond this square of a distance the shell is 0; length^2 */
    double inner2; /* s at a nucleus with a cusp: below this it is left to gaussian_near; else 0 */
    int32_t nucleus, l, cartesian, first, primitives, images, row, reserved;
} gaussian_entry;

/* Consecutive shells whose functions are worked out at once. */
typedef struct gaussian_chunk {
    int32_t shell, shells, row, rows;
} gaussian_chunk;

/* shift + sign exp(p0 + p1 r + ... + p4 r^4) in place of the s functions of one orbital at one nucleus, r < radius. */
typedef struct gaussian_cusp {
    double radius, shift, sign, p[5];
} gaussian_cusp;

/* A nucleus with cusps: those of orbital o are cusp[o]. */
typedef struct gaussian_corrected {
    double reach2; /* square of the largest radius */
    int32_t nucleus, shells;
    int32_t shell[GAUSSIAN_MOST_S]; /* of s functions, indices of entries */
} gaussian_corrected;

/* All that evaluation reads, apart from points. Host or device pointers. */
typedef struct gaussian_tables {
    double vector[3][3], inverse[3][3]; /* of a periodic box */
    double turns[3];
    int32_t periodic, parts, chi_parts; /* real numbers of an orbital, of a function: 1 or 2 */
    int32_t nuclei, shells, chunks, corrected;
    const double (*position)[3];  /* [nuclei] */
    const double (*primitive)[2]; /* exponent a, coefficient c */
    const void *radial; /* on the GPU: -a / ln 2, c, -2 a, 4 a^2 in the precision of the results */
    const double (*image)[5]; /* lattice vector, and cos and sin of its phase; the first is 0 */
    const gaussian_entry *shell;
    const gaussian_chunk *chunk;
    const gaussian_corrected *correction; /* [corrected] */
} gaussian_tables;

/* Of one spin. */
typedef struct gaussian_spin {
    int64_t columns, pitch;    /* numbers of a row: of all orbitals; padded */
    const double *coefficient; /* [rows][pitch] */
    const void *rounded;       /* on the GPU: the same in the precision of the results */
    const gaussian_cusp *cusp; /* [corrected][columns] */
} gaussian_spin;

/* Displacement from a nucleus, of the nearest image by coordinates; n: lattice vectors that were subtracted. */
PLUGMC_FN void gaussian_displacement(const gaussian_tables *t, int32_t nucleus, const double *r,
                                     double d[3], double n[3])
{
    for (int e = 0; e < 3; e++) {
        d[e] = r[e] - t->position[nucleus][e];
        n[e] = 0;
    }
    if (!t->periodic) return;
    for (int k = 0; k < 3; k++)
        n[k] = floor(d[0] * t->inverse[0][k] + d[1] * t->inverse[1][k] + d[2] * t->inverse[2][k] +
                     0.5);
    for (int e = 0; e < 3; e++)
        d[e] -= n[0] * t->vector[0][e] + n[1] * t->vector[1][e] + n[2] * t->vector[2][e];
}

/* Radial sums of an s shell: value, and R1, R2 of shell.cu. */
PLUGMC_FN void gaussian_s(const gaussian_tables *t, const gaussian_entry *s, double r2,
                          double sum[3])
{
    sum[0] = sum[1] = sum[2] = 0;
    for (int32_t k = s->first; k < s->first + s->primitives; k++) {
        const double a = t->primitive[k][0], e = t->primitive[k][1] * exp(-a * r2);
        sum[0] += e;
        sum[1] -= 2 * a * e;
        sum[2] += 4 * a * a * e;
    }
}

/* One orbital near a nucleus: what its s functions there are, or what stands in their place. sums: of the shells of
 * `c`; out: value, slope along r over r, Laplacian. */
PLUGMC_FN void gaussian_near(const gaussian_tables *t, const gaussian_spin *spin,
                             const gaussian_corrected *c, const gaussian_cusp *cusp, int64_t column,
                             double r2, const double (*sums)[3], double out[3])
{
    const double r = sqrt(r2 > 1e-24 ? r2 : 1e-24);
    if (r < cusp->radius) {
        const double *p = cusp->p;
        const double e = cusp->sign * exp(p[0] + r * (p[1] + r * (p[2] + r * (p[3] + r * p[4]))));
        const double slope = p[1] + r * (2 * p[2] + r * (3 * p[3] + r * 4 * p[4]));
        const double bent = 2 * p[2] + r * (6 * p[3] + r * 12 * p[4]);
        out[0] = cusp->shift + e;
        out[1] = e * slope / r;
        out[2] = e * (bent + slope * slope + 2 * slope / r);
        return;
    }
    out[0] = out[1] = out[2] = 0;
    for (int32_t k = 0; k < c->shells; k++) {
        const double a = spin->coefficient[t->shell[c->shell[k]].row * spin->pitch + column];
        out[0] += a * sums[k][0];
        out[1] += a * sums[k][1];
        out[2] += a * (3 * sums[k][1] + r2 * sums[k][2]);
    }
}

typedef struct gaussian_task {
    gaussian_tables tables;
    gaussian_spin spin;
    const double *positions; /* [points][3] */
    int64_t points, pitch;   /* pitch: of the results, real numbers */
    void *values, *gradients, *laplacians;
} gaussian_task;

#ifdef __CUDACC_RTC__
typedef real number;
typedef real scalar;
#define GAUSSIAN_INLINE static __device__ __forceinline__
#define GAUSSIAN_UNROLL _Pragma("unroll")
#endif
