/* Writing and reading through a child process. The calls of store.h become messages, which the child
 * makes calls of again: HDF5 crashes, or ends the program, where it gets no memory, and a run whose
 * file cannot be written still has its results.
 *
 * Where a file is written messages go one way, and the child answers once, when the store is closed;
 * each message that reads is answered. Groups and arrays have numbers, from 0 (the file), which the
 * parent gives them in the order in which they are opened. */
#ifndef PLUGMC_STORE_APART_H
#define PLUGMC_STORE_APART_H

#include <stdint.h>

#include "archive/store.h"

enum send {
    SEND_GROUP,      /* object, name -> a new number */
    SEND_OPEN_ARRAY, /* the same */
    SEND_LEAVE,      /* object */
    SEND_REMOVE,     /* object, name */
    SEND_LINK,       /* object, name, other; data: the new name */
    SEND_ATTRIBUTE,  /* object, name, type; count: -1 or how many; data */
    SEND_LABELS,     /* object, name, count; first: their width; data */
    SEND_LABEL,      /* object, name; data: the text with its final zero, as all texts */
    SEND_DOCUMENT,   /* the same */
    SEND_ARRAY,      /* object, name, type, rank, shape; data */
    SEND_GROW,       /* object, name, type, rank, shape; first: rows before -> a new number */
    SEND_ROWS,       /* object, type, first, count; data */
    SEND_CLOSE,
    ASK_HAS,       /* object, name: value */
    ASK_ENTER,     /* object, name -> a new number */
    ASK_ATTRIBUTE, /* object, name, type: data */
    ASK_LABEL,     /* object, name: data, a text with its final zero */
    ASK_DOCUMENT,  /* the same */
    ASK_ARRAY,     /* object, name, type, rank: shape and data */
    ASK_ROWS,      /* the same; first, count */
    ASK_FORGIVE    /* nothing: a failure is forgotten if store_forgive can */
};

/* Followed by the name, with its final zero, and data. */
typedef struct message {
    int32_t what, type, rank;
    uint32_t name_bytes;
    int64_t object, other, first, count;
    uint64_t shape[STORE_RANK], data_bytes;
} message;

/* The answer to what asks, followed by data, and to SEND_CLOSE, followed by the blocks that were written
 * (value: whether they are known). */
typedef struct verdict {
    int32_t failed, memory_short, error, value;
    uint64_t shape[STORE_RANK], data_bytes;
    char reason[STORE_REASON];
} verdict;

/* ---- In the parent: what store.h does where s->apart is set -------------------------------- */

void writer_send(store *, enum send, hid_t object, const char *name);
hid_t writer_enter(store *, enum send, hid_t parent, const char *name);
void writer_link(store *, hid_t old, const char *name, hid_t new, const char *new_name);
void writer_attribute(store *, hid_t object, const char *name, enum store_type, int count,
                      const void *values);
void writer_labels(store *, hid_t object, const char *name, int count, int width,
                   const void *texts);
void writer_text(store *, enum send, hid_t object, const char *name, const char *text);
void writer_array(store *, hid_t parent, const char *name, enum store_type, int rank,
                  const hsize_t *shape, const void *data);
hid_t writer_grow(store *, hid_t parent, const char *name, enum store_type, int rank,
                  const hsize_t *shape, hsize_t before);
void writer_rows(store *, hid_t array, enum store_type, hsize_t first, hsize_t count,
                 const void *data);
int writer_close(store *, touched *);
bool reader_has(store *, hid_t parent, const char *path);
hid_t reader_enter(store *, hid_t parent, const char *path);
void reader_attribute(store *, hid_t object, const char *name, enum store_type, void *value);
char *reader_text(store *, enum send, hid_t object, const char *name);
void *reader_array(store *, hid_t parent, const char *name, enum store_type, int rank,
                   hsize_t *shape);
void *reader_rows(store *, hid_t parent, const char *name, enum store_type, int rank, hsize_t first,
                  hsize_t count, hsize_t *shape);
bool reader_forgive(store *);

/* ---- In the child --------------------------------------------------------------------------- */

/* Does what comes from `socket` with the file `fd` until it is closed. The exit code. */
int store_serve(int socket, int fd);
/* The same for changes of the file `below`: store_open_over. */
int store_serve_over(int socket, int fd, int below);
int store_serve_reader(int socket, const char *path);

/* ---- Checksums of texts --------------------------------------------------------------------- */

enum { STORE_SUM = 65 };
void store_sum(const char *text, char sum[STORE_SUM]);

/* ---- In whoever calls HDF5 ------------------------------------------------------------------ */

/* The driver that survives failures. */
hid_t store_driver(void);
void store_driver_leave(hid_t driver);
/* The type in HDF5; what is no store_type is none there either. */
hid_t store_native(enum store_type);
#endif
