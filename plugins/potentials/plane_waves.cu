/* plane_waves.cu: values and derivatives of real plane waves at a point, the same text on the CPU
 * and on the GPU. */

/* cos and sin of 2 pi n.s for the orbitals of one wave. */
typedef struct plane_wave {
    int32_t n[3];   /* G = sum_d n_d b_d, b the reciprocal vectors of the box */
    int32_t sine;   /* 0: cosine */
    double g[3];    /* 1/length */
    double square;  /* of g */
    double factor;  /* sqrt(2), or 1 for the constant: the mean of the square is 1 */
} plane_wave;

typedef struct plane_task {
    double inverse[3][3];    /* of the box */
    const plane_wave *waves; /* [orbitals] */
    const double *positions; /* [points][3] */
    int64_t points, orbitals, pitch;
    void *values, *gradients, *laplacians;
} plane_task;

/* out: value, gradient, Laplacian. */
PLUGMC_FN void plane_orbital(const plane_wave *w, const double inverse[3][3], const double *r,
                             double out[5])
{
    double turns = 0;
    for (int d = 0; d < 3; d++)
        turns += w->n[d] * (r[0] * inverse[0][d] + r[1] * inverse[1][d] + r[2] * inverse[2][d]);
    const double phase = 6.283185307179586476925 * (turns - floor(turns));
    const double c = w->factor * cos(phase), s = w->factor * sin(phase);
    const double value = w->sine ? s : c, slope = w->sine ? c : -s;
    out[0] = value;
    for (int e = 0; e < 3; e++) out[1 + e] = slope * w->g[e];
    out[4] = -w->square * value;
}

#ifdef __CUDACC_RTC__
/* One thread an orbital of a point. */
extern "C" __global__ void orbitals(const __grid_constant__ plane_task task)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t point = i / task.orbitals, l = i - point * task.orbitals;
    double v[5];
    if (point >= task.points) return;
    plane_orbital(task.waves + l, task.inverse, task.positions + 3 * point, v);
    const int64_t at = point * task.pitch + l;
    if (task.values) ((real *)task.values)[at] = (real)v[0];
    if (task.gradients)
        for (int e = 0; e < 3; e++)
            ((real *)task.gradients)[(3 * point + e) * task.pitch + l] = (real)v[1 + e];
    if (task.laplacians) ((real *)task.laplacians)[at] = (real)v[4];
}
#endif
