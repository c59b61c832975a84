/* sum_of_block.cu: stands in front of kernel texts that add up over the threads of a block. */
/* Sum over the threads of a block, a power of two, in an order that is always the same. All of them
 * call it and know the result. */
template <int threads> PLUGMC_FN double sum_of_block(double mine)
{
    __shared__ double parts[threads];
    parts[threadIdx.x] = mine;
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    __syncthreads();
    const double sum = parts[0];
    __syncthreads();
    return sum;
}
