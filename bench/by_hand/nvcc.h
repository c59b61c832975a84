/* nvcc.h: lets nvcc compile texts that plugmc writes for NVRTC, plugmc/device.h and the movers' .cu
 * files. They ask for __CUDACC_RTC__, which only NVRTC defines; nvcc has read its own headers by
 * the time that it comes here and does not look at it again. NVRTC has no C library, so device.h
 * makes the integer types; those of 64 bits are long long there but long in the C library that
 * nvcc has read, so they get names of their own. */
#ifndef BY_HAND_NVCC_H
#define BY_HAND_NVCC_H

#ifndef __CUDACC_RTC__
#include <stdint.h>
#define __CUDACC_RTC__
#define int64_t by_hand_int64
#define uint64_t by_hand_uint64
#endif
#endif
