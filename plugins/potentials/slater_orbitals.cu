/* slater_orbitals.cu: values and derivatives of exp(-zeta |r - R|), the same text on the CPU and on
 * the GPU. */
typedef struct slater_orbital {
    double centre[3]; /* R */
    double zeta;      /* 1/length */
} slater_orbital;

typedef struct slater_task {
    const slater_orbital *orbitals; /* [count] */
    const double *positions;        /* [points][3] */
    int64_t points, count, pitch;
    void *values, *gradients, *laplacians;
} slater_task;

/* out: value, gradient, Laplacian. With d the distance: exp(-zeta d), -zeta (r - R)/d times it, and
 * zeta (zeta - 2/d) times it. On the nucleus itself d is taken as a tiny number. */
PLUGMC_FN void slater_values(const slater_orbital *o, const double *r, double out[5])
{
    const double x = r[0] - o->centre[0], y = r[1] - o->centre[1], z = r[2] - o->centre[2];
    const double square = x * x + y * y + z * z, d = sqrt(square > 1e-24 ? square : 1e-24);
    const double value = exp(-o->zeta * d), slope = -o->zeta * value / d;
    out[0] = value;
    out[1] = slope * x;
    out[2] = slope * y;
    out[3] = slope * z;
    out[4] = o->zeta * (o->zeta - 2 / d) * value;
}

#ifdef __CUDACC_RTC__
/* One thread an orbital of a point. */
extern "C" __global__ void orbitals(const __grid_constant__ slater_task task)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t point = i / task.count, l = i - point * task.count;
    double v[5];
    if (point >= task.points) return;
    slater_values(task.orbitals + l, task.positions + 3 * point, v);
    const int64_t at = point * task.pitch + l;
    if (task.values) ((real *)task.values)[at] = (real)v[0];
    if (task.gradients)
        for (int e = 0; e < 3; e++)
            ((real *)task.gradients)[(3 * point + e) * task.pitch + l] = (real)v[1 + e];
    if (task.laplacians) ((real *)task.laplacians)[at] = (real)v[4];
}
#endif
