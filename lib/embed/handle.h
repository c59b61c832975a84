/* What is behind a plugmc_engine. */
#ifndef PLUGMC_EMBED_HANDLE_H
#define PLUGMC_EMBED_HANDLE_H

#include <pthread.h>
#include <stdbool.h>

#include "plugmc/engine.h"
#include "session/starting.h"

/* Not open yet; open; a call has failed that leaves nothing to go on with; a failed allocation has left a call in
 * the middle of its work, so that nothing of it can be touched any more. */
enum condition { IS_NEW, IS_OPEN, HAS_FAILED, IS_TORN };

typedef struct heard {
    char *text;
    int32_t kind;
} heard;

/* Messages of a call. */
typedef struct told {
    plugmc_engine_hears *hears;
    void *data;
    heard *messages;
    int count, passed; /* to `hears` */
    int code;          /* of the last call */
    char error[1024];  /* its first error, cut off where the room ends; "" */
} told;

typedef struct host_callback {
    plugmc_engine_callback *function; /* NULL: none */
    void *data;
    uint64_t every;
} host_callback;

/* The communicator of the host program, if it has given one. */
typedef struct host_processes {
    bool there;
    const void *communicator;
    int32_t fortran;
} host_processes;

struct plugmc_engine {
    session session;
    report report;
    asked asked;
    char **sets; /* [asked.set_count] */
    char *file, *text;
    char *path; /* of the output; NULL before it is known */
    own_locks locks;
    bool locked;
    output_data found;
    host_processes processes;
    enum condition condition;
    pthread_t thread;
    int depth; /* calls that the thread is in: 2 where a callback makes one */
    told told;
    host_callback callback;
    int64_t ini_sweeps,
        told_sweeps;      /* [run] sweeps as it was read, and as the output file has it */
    uint64_t averaged_at; /* sweep of the averages there are */
    bool averaged;
    double *boxes, *volumes, *last; /* room for what is shown */
};
#endif
