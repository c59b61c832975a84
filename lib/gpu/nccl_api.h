/* The part of NCCL that plugmc uses, declared here as that of CUDA is (cuda_api.h). Facts of the public API of
 * NCCL 2.7 and later. */
#ifndef PLUGMC_NCCL_API_H
#define PLUGMC_NCCL_API_H

#include <stddef.h>

typedef int nccl_result; /* ncclResult_t; 0 is success */
typedef struct nccl_communicator_handle *nccl_communicator;
typedef struct nccl_id { /* ncclUniqueId */
    char bytes[128];
} nccl_id;
enum { NCCL_BYTE = 0 }; /* ncclInt8 */

/* X(our name, exported name, arguments) */
#define NCCL_FUNCTIONS(X)                                                                          \
    X(version, "ncclGetVersion", (int *version))                                                   \
    X(get_id, "ncclGetUniqueId", (nccl_id *))                                                      \
    X(join, "ncclCommInitRank", (nccl_communicator *, int ranks, nccl_id, int rank))               \
    X(abort, "ncclCommAbort", (nccl_communicator))                                                 \
    X(group_begin, "ncclGroupStart", (void))                                                       \
    X(group_end, "ncclGroupEnd", (void))                                                           \
    X(send, "ncclSend",                                                                            \
      (const void *from, size_t n, int type, int to_rank, nccl_communicator, void *stream))        \
    X(receive, "ncclRecv",                                                                         \
      (void *to, size_t n, int type, int from_rank, nccl_communicator, void *stream))

#define NCCL_API_FIELD(field, symbol, arguments) nccl_result(*field) arguments;
typedef struct nccl_api {
    NCCL_FUNCTIONS(NCCL_API_FIELD)
    const char *(*error_text)(nccl_result);
} nccl_api;
#undef NCCL_API_FIELD
#endif
