/* Memory of one GPU to that of another process's, in the stream, by NCCL, which is opened if it is there. */
#ifndef PLUGMC_GPU_LINKS_H
#define PLUGMC_GPU_LINKS_H

#include <stdbool.h>

#include "gpu/gpu.h"

enum { LINKS_ID = 128 }; /* bytes by which processes find each other */

/* Opens NCCL; false with the reason. */
bool links_open(gpu *, char why[512]);
/* By the first process, for all. */
bool links_id(gpu *, char id[LINKS_ID], char why[512]);
/* All, after links_open. */
bool links_join(gpu *, const char id[LINKS_ID], int rank, int ranks, char why[512]);
bool links_are_there(const gpu *);
/* "NCCL 2.28.9" */
const char *links_words(const gpu *, char words[64]);
/* No other GPU has it. */
void links_identity(const gpu *, unsigned char identity[16]);
/* What is done, once it has been said, when this GPU fails; NULL: nothing. What it would have sent, or written into
 * memory of others, is waited for in the streams of these, where no word of this process reaches them. */
void links_when_broken(gpu *, void (*broken)(void));
/* Leaves the others; done by gpu_close, too. */
void links_close(gpu *);

/* Device memory for a rank, and from it; 0 bytes: none. */
typedef struct links_parcel {
    int rank;
    const void *send;
    void *receive;
    size_t send_bytes, receive_bytes;
} links_parcel;

/* All parcels at once, in the stream; between two ranks they are matched in their order. PLUGMC_* code, reported. */
int links_deliver(plugmc_context *, const links_parcel *, int n);

/* A line for plugmc doctor. */
void links_describe(FILE *);
#endif
