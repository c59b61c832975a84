/* Complex numbers from their parts: CMPLX of C11, which clang does not have with the headers of glibc. */
#ifndef PLUGMC_COMPLEX_NUMBERS_H
#define PLUGMC_COMPLEX_NUMBERS_H

#include <complex.h>

#ifndef CMPLX
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#endif

#endif
