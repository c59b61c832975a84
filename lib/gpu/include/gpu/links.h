/* Copies between the memory of GPUs of different processes, in the stream, by NCCL. The library is opened if it is
 * installed. */
#ifndef PLUGMC_GPU_LINKS_H
#define PLUGMC_GPU_LINKS_H

#include <stdbool.h>

#include "gpu/gpu.h"

/* Bytes of the identifier by which processes find each other. */
enum { LINKS_ID = 128 };

/* Opens NCCL. False, with the reason, if that fails. */
bool links_open(gpu *, char why[512]);
/* The first process makes the identifier for all. */
bool links_id(gpu *, char id[LINKS_ID], char why[512]);
/* Collective, after links_open. */
bool links_join(gpu *, const char id[LINKS_ID], int rank, int ranks, char why[512]);
bool links_are_there(const gpu *);
/* "NCCL 2.28.9" */
const char *links_words(const gpu *, char words[64]);
/* An identifier that is unique to this GPU. */
void links_identity(const gpu *, unsigned char identity[16]);
/* Sets the function to be called when this GPU has failed, after the error was reported. NULL: none. Other processes
 * wait in their streams for what this GPU would have sent or written into their memory, and no message of this
 * process can reach them there. */
void links_when_broken(gpu *, void (*broken)(void));
/* Disconnects from the other processes. gpu_close does this too. */
void links_close(gpu *);

/* Device memory to be sent to a rank, and to be received from it. 0 bytes: nothing. */
typedef struct links_parcel {
    int rank;
    const void *send;
    void *receive;
    size_t send_bytes, receive_bytes;
} links_parcel;

/* Delivers all messages at once, in the stream. Between two ranks they are matched in order. Returns a PLUGMC_*
 * code, already reported. */
int links_deliver(plugmc_context *, const links_parcel *, int n);

/* A line for plugmc doctor. */
void links_describe(FILE *);
#endif
