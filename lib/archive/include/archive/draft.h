/* What is written into an HDF5 file, in memory: groups, attributes and arrays in the order of writing. A child process
 * gets all of it at once and writes the file, since HDF5 crashes, or ends the program, where it gets no memory, and a run
 * whose file cannot be written still has its results.
 *
 * Each function appends to the group that was entered last. A shortage of memory shows in draft_write; nothing has to be
 * checked before. */
#ifndef PLUGMC_DRAFT_H
#define PLUGMC_DRAFT_H

#include <stdio.h>

#include "archive/store.h"

typedef struct draft {
    char *text; /* entries, names and small values */
    size_t bytes, capacity;
    struct draft_piece *pieces; /* large data, somewhere else */
    size_t piece_count, piece_capacity;
    uint64_t entries;
    bool memory_short;
} draft;

/* A group, made if it is missing, or an array that is there, for its attributes. */
void draft_enter(draft *, const char *name);
void draft_leave(draft *);

/* Attributes. `type` is in the file as in memory. */
void draft_number(draft *, const char *name, enum store_type type, const void *value);
void draft_numbers(draft *, const char *name, enum store_type type, int count, const void *values);
void draft_integer(draft *, const char *name, int64_t value);
void draft_real(draft *, const char *name, double value);
/* NULL is "". */
void draft_label(draft *, const char *name, const char *text);
/* `count` texts of `width` bytes each, final zeros included. */
void draft_labels(draft *, const char *name, int count, int width, const void *texts);

/* Data sets. A text has its SHA-256 as an attribute; NULL is "". */
void draft_text(draft *, const char *name, const char *text);
void draft_texts(draft *, const char *name, int64_t count, size_t width, const void *texts);
/* Of at most STORE_RANK dimensions. The data have to stay until draft_write. */
void draft_array(draft *, const char *name, enum store_type type, int rank, const hsize_t *shape,
                 const void *data);
/* The same with memory of the draft, to be filled. NULL: there is none. */
void *draft_new_array(draft *, const char *name, enum store_type type, int rank,
                      const hsize_t *shape);
/* An array that grows to shape[0] rows, made if `before` is 0. Else it must have `before` rows, or more, which are cut
 * off. Rows may become longer than they were; what earlier ones lack then is 0, or, of STORE_INT32, -1. No shape[i] is 0.
 * The new rows follow as pieces, which have to stay until draft_write. */
void draft_rows(draft *, const char *name, enum store_type type, int rank, const hsize_t *shape,
                hsize_t before);
void draft_piece(draft *, const void *data, size_t bytes);
/* The same with memory of the draft for the new rows, to be filled. NULL: there is none. */
void *draft_new_rows(draft *, const char *name, enum store_type type, int rank,
                     const hsize_t *shape, hsize_t before);
/* The object `path`, from the root, also as `name`. */
void draft_link(draft *, const char *path, const char *name);

/* Writes the empty file `fd` and frees the draft. `grown`: -1, or a file that is open for reading and writing and grows:
 * data that are new go behind its end, and `fd` gets the changes of the rest of it (archive/changes.h). */
void draft_write(draft *, int fd, int grown, outcome *);

/* ---- In whoever calls HDF5 -------------------------------------------------------------------- */

enum draft_kind {
    DRAFT_ENTER,
    DRAFT_LEAVE,
    DRAFT_NUMBERS, /* rank 0: one */
    DRAFT_LABELS,  /* rank 0: one */
    DRAFT_TEXTS,   /* rank 0: one */
    DRAFT_ARRAY,
    DRAFT_ROWS,
    DRAFT_LINK
};

/* A draft as it is sent: the number of its entries, then each of them, followed by its name with the final zero, and by
 * its data. */
typedef struct draft_entry {
    int32_t kind, type, rank;
    uint32_t name_bytes;
    hsize_t shape[STORE_RANK], before, bytes; /* bytes: of the data */
} draft_entry;

/* Writes what comes from `in`. After a failure the file stays open unless the process lives on: HDF5 may not bear to be
 * asked for more. */
void draft_carry_out(FILE *in, int fd, int grown, bool lives_on, outcome *);
/* The child: does that with what comes from `socket`, and answers with an outcome. The exit code. */
int draft_serve(int socket, int fd, int grown);
#endif
