/* The objects with calls of MPI (core/mpi), one for each ABI. */
#ifndef PLUGMC_TEAM_OBJECTS_H
#define PLUGMC_TEAM_OBJECTS_H

#include <stdio.h>

#include "mpi/mpi_calls.h"

enum { ABI_OPEN_MPI, ABI_MPICH, ABIS };

/* Opens libmpi, for all to see, and the object that belongs to it: those of `first`, or else of the other ABI.
 * NULL with the reason. They stay open. */
const mpi_calls *objects_open(int first, char *why, size_t size);
/* The same for the libmpi that this process has loaded already. */
const mpi_calls *objects_open_loaded(char *why, size_t size);
void objects_describe(FILE *);
#endif
