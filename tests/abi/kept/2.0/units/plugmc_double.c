/* Compiles the potential named by PLUGMC_SOURCE in double precision, with its entry. */
#define PLUGMC_REAL double
#include PLUGMC_SOURCE
