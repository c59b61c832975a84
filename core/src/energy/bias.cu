/* bias.cu: the transitions of all walkers together: sums [entries] of transitions [walkers][entries], which are cleared.
 * One thread an entry, walkers one after the other. */
extern "C" __global__ void __launch_bounds__(256)
    bias_gather(double *transitions, uint64_t entries, uint32_t walkers, double *sums)
{
    const uint64_t k = (uint64_t)blockIdx.x * 256 + threadIdx.x;
    double sum = 0;
    if (k >= entries) return;
    for (uint64_t w = 0; w < walkers; w++) {
        sum += transitions[w * entries + k];
        transitions[w * entries + k] = 0;
    }
    sums[k] = sum;
}
