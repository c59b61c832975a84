/* Compiles the potential named by PLUGMC_SOURCE a second time, in single precision. */
#define PLUGMC_REAL float
#define PLUGMC_FLOAT_UNIT
#include PLUGMC_SOURCE
