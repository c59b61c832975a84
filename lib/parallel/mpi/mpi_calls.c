/* MPI as the core uses it: see mpi_calls.h. Compiled by mpicc, whatever MPI that is of. */
#include "mpi_calls.h"

#include <stdbool.h>
#include <stdlib.h>

#include <mpi.h>

enum { PIECE = 1 << 30 }; /* bytes a message: MPI counts in int */
enum { TAG = 0x504d };

static char library[MPI_MAX_LIBRARY_VERSION_STRING];
static mpi_calls calls;
static int own_rank, rank_count;

static MPI_Comm all = MPI_COMM_NULL; /* the processes of the run */
static bool is_guest;                /* in a program that has initialised MPI itself */

/* A communicator of our own, in which no message of the host's is met. */
static int join_host(const mpi_host *host)
{
    int begun = 0, ended = 0;
    if (MPI_Initialized(&begun) || !begun || MPI_Finalized(&ended) || ended) return 1;
    const MPI_Comm theirs = host->communicator ? *(const MPI_Comm *)host->communicator
                                               : MPI_Comm_f2c((MPI_Fint)host->fortran);
    if (theirs == MPI_COMM_NULL) return 1;
    return MPI_Comm_dup(theirs, &all) != 0;
}

static int join_world(void)
{
    int provided;
    all = MPI_COMM_WORLD;
    return MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != 0;
}

static int join(const mpi_host *host, int32_t *rank, int32_t *ranks, int32_t *local_rank,
                int32_t *local_ranks)
{
    MPI_Comm here;
    int length, at, of;
    is_guest = host != NULL;
    if (host ? join_host(host) : join_world()) return 1;
    if (MPI_Get_library_version(library, &length)) return 1;
    for (char *c = library; *c; c++)
        if (*c == '\n' || *c == ',') *c = 0; /* the rest tells of its building */
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    if (MPI_Comm_rank(all, &own_rank) || MPI_Comm_size(all, &rank_count)) return 1;
    if (MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, own_rank, MPI_INFO_NULL, &here)) return 1;
    if (MPI_Comm_rank(here, &at) || MPI_Comm_size(here, &of) || MPI_Comm_free(&here)) return 1;
    *rank = own_rank, *ranks = rank_count, *local_rank = at, *local_ranks = of;
    return 0;
}

static int reduce(int64_t *values, int n, MPI_Op operation)
{
    return MPI_Allreduce(MPI_IN_PLACE, values, n, MPI_INT64_T, operation, all) != 0;
}

static int largest(int64_t *values, int n) { return reduce(values, n, MPI_MAX); }
static int sum(int64_t *values, int n) { return reduce(values, n, MPI_SUM); }

static int spread(void *data, size_t bytes)
{
    for (char *at = data; bytes;) {
        const int piece = bytes < PIECE ? (int)bytes : PIECE;
        if (MPI_Bcast(at, piece, MPI_BYTE, 0, all)) return 1;
        at += piece, bytes -= (size_t)piece;
    }
    return 0;
}

static int send(const char *at, size_t bytes)
{
    while (bytes) {
        const int piece = bytes < PIECE ? (int)bytes : PIECE;
        if (MPI_Send(at, piece, MPI_BYTE, 0, TAG, all)) return 1;
        at += piece, bytes -= (size_t)piece;
    }
    return 0;
}

static int receive(char *at, size_t bytes, int from)
{
    while (bytes) {
        const int piece = bytes < PIECE ? (int)bytes : PIECE;
        if (MPI_Recv(at, piece, MPI_BYTE, from, TAG, all, MPI_STATUS_IGNORE)) return 1;
        at += piece, bytes -= (size_t)piece;
    }
    return 0;
}

static int gather(const void *mine, const size_t *bytes, void *all)
{
    if (own_rank) return send(mine, bytes[own_rank]);
    char *at = all;
    for (size_t k = 0; k < bytes[0]; k++) at[k] = ((const char *)mine)[k];
    for (int rank = 1; rank < rank_count; rank++) {
        at += bytes[rank - 1];
        if (receive(at, bytes[rank], rank)) return 1;
    }
    return 0;
}

static int pieces_of(size_t bytes) { return (int)((bytes + PIECE - 1) / PIECE); }

/* Begins to send to a rank, or to receive from it; returns the place behind the requests. NULL: MPI has failed. */
static MPI_Request *begin(MPI_Request *request, int rank, const void *send, void *receive,
                          size_t bytes)
{
    for (size_t done = 0; done < bytes; done += PIECE) {
        const int piece = bytes - done < PIECE ? (int)(bytes - done) : PIECE;
        const int failed =
            send ? MPI_Isend((const char *)send + done, piece, MPI_BYTE, rank, TAG, all, request)
                 : MPI_Irecv((char *)receive + done, piece, MPI_BYTE, rank, TAG, all, request);
        if (failed) return NULL;
        request++;
    }
    return request;
}

static int deliver(const mpi_parcel *parcels, int n)
{
    int count = 0;
    for (int k = 0; k < n; k++)
        count += pieces_of(parcels[k].send_bytes) + pieces_of(parcels[k].receive_bytes);
    MPI_Request *requests = malloc((size_t)(count + 1) * sizeof *requests), *next = requests;
    for (int k = 0; k < n && next; k++)
        next = begin(next, parcels[k].rank, NULL, parcels[k].receive, parcels[k].receive_bytes);
    for (int k = 0; k < n && next; k++)
        next = begin(next, parcels[k].rank, parcels[k].send, NULL, parcels[k].send_bytes);
    const int failed = !next || MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    free(requests);
    return failed;
}

static int leave(void) { return (is_guest ? MPI_Comm_free(&all) : MPI_Finalize()) != 0; }

__attribute__((visibility("default"))) const mpi_calls *plugmc_mpi_calls(void)
{
    calls = (mpi_calls){.version = PLUGMC_MPI_CALLS,
                        .library = library,
                        .join = join,
                        .largest = largest,
                        .sum = sum,
                        .spread = spread,
                        .gather = gather,
                        .deliver = deliver,
                        .leave = leave};
    return &calls;
}
