/* by_formula.cu: orbitals that a formula gives, one thread an orbital of a point. Stands behind a
 * text that has the type `orbital` and
 *
 *     orbital_values(const orbital *, const double inverse[3][3], const double *r, double out[5])
 *
 * value, gradient and Laplacian at r, with the inverse of the box. */
typedef struct orbital_task {
    double inverse[3][3];    /* of the box */
    const orbital *orbitals; /* [count] */
    const double *positions; /* [points][3] */
    int64_t points, count, pitch;
    void *values, *gradients, *laplacians; /* as in plugmc_orbital_request */
} orbital_task;

#ifdef __CUDACC_RTC__
extern "C" __global__ void orbitals(const __grid_constant__ orbital_task task)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t point = i / task.count, l = i - point * task.count;
    double v[5];
    if (point >= task.points) return;
    orbital_values(task.orbitals + l, task.inverse, task.positions + 3 * point, v);
    const int64_t at = point * task.pitch + l;
    if (task.values) ((real *)task.values)[at] = (real)v[0];
    if (task.gradients)
        for (int e = 0; e < 3; e++)
            ((real *)task.gradients)[(3 * point + e) * task.pitch + l] = (real)v[1 + e];
    if (task.laplacians) ((real *)task.laplacians)[at] = (real)v[4];
}
#endif
