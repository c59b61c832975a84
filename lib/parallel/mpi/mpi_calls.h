/* What the core asks of MPI. mpi_calls.c is compiled once for each ABI of MPI (Open MPI's libmpi.so.40, and
 * libmpi.so.12 of MPICH, Intel and Cray) into an object of its own; the core opens the one that fits the
 * launcher, or the MPI of a host program, so that plugmc itself runs where there is no MPI. All calls but `join` are collective: made by
 * every process, in the same order, from the main thread. They return 0, or 1 if MPI has failed. */
#ifndef PLUGMC_MPI_CALLS_H
#define PLUGMC_MPI_CALLS_H

#include <stddef.h>
#include <stdint.h>

enum { PLUGMC_MPI_CALLS = 3 }; /* the version of this list */

/* What goes to another rank, and what comes from it; 0 bytes: nothing does. */
typedef struct mpi_parcel {
    int32_t rank;
    const void *send;
    void *receive;
    size_t send_bytes, receive_bytes;
} mpi_parcel;

/* The communicator of a program that has initialised MPI itself. */
typedef struct mpi_host {
    const void *communicator; /* MPI_Comm *; NULL: it is */
    int32_t fortran;          /* this one, as Fortran has it */
} mpi_host;

typedef struct mpi_calls {
    int32_t version;
    const char *library; /* what MPI says that it is; after join */
    /* Rank, how many there are; the same among the processes of this host. NULL: of all processes, MPI is initialised
     * here, and ended by `leave`. */
    int (*join)(const mpi_host *, int32_t *rank, int32_t *ranks, int32_t *local_rank,
                int32_t *local_ranks);
    /* Each of n numbers becomes the largest, or the sum, of those of all processes, everywhere. */
    int (*largest)(int64_t *values, int n);
    int (*sum)(int64_t *values, int n);
    /* Bytes of rank 0 to all. */
    int (*spread)(void *data, size_t bytes);
    /* bytes[rank] bytes of each rank to rank 0, one after the other in `all` (there alone, else NULL). `bytes`
     * [ranks] is the same everywhere. */
    int (*gather)(const void *mine, const size_t *bytes, void *all);
    /* All parcels at once; between two ranks they are matched in their order. */
    int (*deliver)(const mpi_parcel *, int n);
    int (*leave)(void);
} mpi_calls;

typedef const mpi_calls *mpi_calls_entry(void); /* the object's only name: plugmc_mpi_calls */

#endif
