/* Reading through a child process: HDF5 crashes on damaged files. The calls of store.h become messages, which the child
 * makes calls of again and answers. Groups have numbers, from 0 (the file), which the parent gives them in the order in
 * which they are opened. */
#ifndef PLUGMC_STORE_APART_H
#define PLUGMC_STORE_APART_H

#include <stdint.h>

#include "archive/store.h"

enum ask {
    ASK_HAS,       /* object, name: value */
    ASK_ENTER,     /* object, name -> a new number */
    ASK_ATTRIBUTE, /* object, name, type: data */
    ASK_LABEL,     /* object, name: data, a text with its final zero */
    ASK_DOCUMENT,  /* the same */
    ASK_ROWS,      /* object, name, type, rank, first, count: shape and data */
    TELL_LEAVE     /* object; without an answer */
};

/* Followed by the name, with its final zero. */
typedef struct message {
    int32_t what, type, rank;
    uint32_t name_bytes;
    int64_t object;
    hsize_t first, count;
} message;

/* Followed by data. */
typedef struct verdict {
    outcome outcome;
    int32_t value;
    hsize_t shape[STORE_RANK];
    uint64_t data_bytes;
} verdict;

/* ---- In the parent: what store.h does where s->apart is set -------------------------------- */

bool reader_has(store *, hid_t parent, const char *path);
hid_t reader_enter(store *, hid_t parent, const char *path);
void reader_leave(store *, hid_t object);
void reader_attribute(store *, hid_t object, const char *name, enum store_type, void *value);
char *reader_text(store *, enum ask, hid_t object, const char *name);
void *reader_rows(store *, hid_t parent, const char *name, enum store_type, int rank, hsize_t first,
                  hsize_t count, hsize_t *shape);
int reader_close(store *);

/* ---- In the child --------------------------------------------------------------------------- */

/* Answers what comes from `socket` about the file at `path` until there is nothing more. The exit code. */
int store_serve_reader(int socket, const char *path);
#endif
