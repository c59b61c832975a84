/* sum_of_block.cu: stands in front of GPU sources that add up over the threads of a block. */
/* Sum over the threads of a block, a multiple of 32, in an order that is always the same. All of them
 * call it and know the result. */
template <int threads> PLUGMC_FN double sum_of_block(double mine)
{
    static_assert(threads % 32 == 0, "whole warps");
    __shared__ double parts[threads / 32];
    for (int half = 16; half > 0; half /= 2) mine += __shfl_xor_sync(~0u, mine, half);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads();
    double sum = 0;
    for (int warp = 0; warp < threads / 32; warp++) sum += parts[warp];
    __syncthreads();
    return sum;
}
