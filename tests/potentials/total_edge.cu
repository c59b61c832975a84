/* total_edge.cu: one thread a particle. Included by total_edge.c as well. */
typedef struct edge_task {
    double edge;
    const double *positions; /* [walkers][particles][3] */
    double *energy;          /* [walkers]; NULL: not wanted */
    double *forces;          /* [walkers][particles][3]; NULL: not wanted */
    int64_t particles, all;  /* of a walker; of all */
    int32_t infinite;
} edge_task;

/* What a particle at x adds. */
PLUGMC_FN double at_place(const edge_task *t, double x)
{
    if (x < t->edge) return 0;
    return t->infinite ? 1e308 * (1e10 + x * x) : (x - x) / (x - x);
}

#ifdef __CUDACC_RTC__
extern "C" __global__ void edge_energy(const edge_task t)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= t.all) return;
    const double u = at_place(&t, t.positions[3 * i]);
    if (t.energy) atomicAdd(&t.energy[i / t.particles], u);
    if (t.forces) t.forces[3 * i] += u;
}
#endif
