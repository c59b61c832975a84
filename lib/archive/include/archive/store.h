/* An HDF5 file as the output code wants it: groups, attributes, arrays, rows that are appended.
 *
 * Failures stick: after the first one every call does nothing (and returns -1, NULL or false), so
 * that callers check once, at the end. The first reason is kept as text.
 *
 * HDF5 reads and writes through a driver of ours on a file descriptor of the caller's. HDF5 is
 * left with open objects and half a file if a write fails in H5Fclose, as it does on a full disk.
 * So the driver keeps errno, drops that write and all further ones, and tells HDF5 that all is
 * well; store_close then says that it was not. */
#ifndef PLUGMC_STORE_H
#define PLUGMC_STORE_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>

#include "archive/touched.h"

enum { STORE_REASON = 1024, STORE_RANK = 4 }; /* the most dimensions */

/* Numbers, of this machine's kind. */
enum store_type {
    STORE_BYTE,
    STORE_INT,
    STORE_INT32,
    STORE_INT64,
    STORE_UINT64,
    STORE_DOUBLE,
    STORE_TYPES
};

struct store_child;

typedef struct store {
    hid_t file, driver;
    int fd;
    int below; /* a file that stands for what has not been written; -1: there is none */
    int error; /* errno of the first read or write that failed, or 0 */
    bool reading, failed;
    bool memory_short; /* the reason why it failed */
    char reason[STORE_REASON];
    touched touched; /* of the file, since it was opened, where HDF5 is called in this process */
    struct store_child *apart; /* NULL: it is */
} store;

/* Before HDF5 is used in any other way: it prints nothing, loads no library that a file asks for
 * (filters), and follows no link into another file. */
void store_guard_hdf5(void);

enum store_mode { STORE_FRESH, STORE_CHANGE, STORE_READ };

void store_open(store *, int fd, enum store_mode);
/* Changes that go into the empty file `fd`, over what is in the file `below`, which is only read. */
void store_open_over(store *, int fd, int below);
/* The same for writing through a child process, which HDF5 may break down in: what is written is sent
 * there. Only what writes may be called until store_close. The child's failures show in
 * store_close. */
void store_open_apart(store *, int fd);
void store_open_over_apart(store *, int fd, int below);
/* Reading through a child; only store_has, store_enter and what gets attributes, texts, whole
 * arrays and rows may be called. The descriptor in `fd`, unless it is -1, is to be closed after store_close. */
void store_open_path_apart(store *, const char *path);
/* The same for reading `path`, with reasons in words for what is no HDF5 file. Returns the
 * descriptor, to be closed after store_close, or -1. */
int store_open_path(store *, const char *path);
/* Non-zero if anything failed since store_open. The descriptor stays open. */
int store_close(store *);
/* The same; where the file was written goes to *touched, to be freed. */
int store_close_telling(store *, touched *touched);
/* After an array or rows of it could not be read: forgets that, so that others can be read. False: this is not enough,
 * and the file has to be opened again. */
bool store_forgive(store *);
/* Lets all that follows fail, for a reason that the caller has found. */
void store_fail(store *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* ... because memory is short. */
void store_short(store *);
/* Of a call of HDF5: true if all is well so far. */
bool store_good(store *, hid_t result);

/* A group, made if it is missing (or: opened, "a/b/c"). Closed by store_leave. */
hid_t store_group(store *, hid_t parent, const char *name);
hid_t store_enter(store *, hid_t parent, const char *path);
void store_leave(store *, hid_t group);
/* Is there such a link? Each part of "a/b/c" is looked for. */
bool store_has(store *, hid_t parent, const char *path);
/* Whether something that is there is a group, not an array. */
bool store_is_group(store *, hid_t parent, const char *path);
/* Removes a link if there is one. */
void store_remove(store *, hid_t parent, const char *name);
/* The object old/name also as new/new_name. */
void store_link(store *, hid_t old, const char *name, hid_t new, const char *new_name);

/* `type` is in the file as in memory. */
void store_attribute(store *, hid_t object, const char *name, enum store_type type,
                     const void *value);
void store_attributes(store *, hid_t object, const char *name, enum store_type type, int count,
                      const void *values);
/* An attribute of `count` texts of `width` bytes each, final zeros included. */
void store_labels(store *, hid_t object, const char *name, int count, int width, const void *texts);
/* Texts: an attribute that never changes, or a dataset that may. NULL is "". */
void store_label(store *, hid_t object, const char *name, const char *text);
void store_document(store *, hid_t parent, const char *name, const char *text);
/* Of fixed shape, at most 4 dimensions; written over. */
void store_array(store *, hid_t parent, const char *name, enum store_type type, int rank,
                 const hsize_t *shape, const void *data);
/* Opens (or makes) an array, which must have `before` rows, or more, which are cut off, and lets it grow to shape[0] rows,
 * which store_rows then writes. Rows may become longer than they were; what earlier ones lack then is 0, or, of
 * STORE_INT32, -1. No shape[i] is 0. Closed by store_leave_array. */
hid_t store_grow(store *, hid_t parent, const char *name, enum store_type type, int rank,
                 const hsize_t *shape, hsize_t before);
void store_rows(store *, hid_t array, enum store_type type, hsize_t first, hsize_t count,
                const void *data);
void store_leave_array(store *, hid_t array);

/* Reading. What is returned is to be freed. Nothing is believed: types, numbers of dimensions and
 * sizes are compared before memory is written, and data must lie in this very file, behind no
 * filter but those that are part of HDF5. */
void store_get_attribute(store *, hid_t object, const char *name, enum store_type type,
                         void *value);
char *store_get_label(store *, hid_t object, const char *name);
char *store_get_document(store *, hid_t parent, const char *name);
/* A data set of any type, or -1. Closed by store_leave_array. */
hid_t store_open_array(store *, hid_t parent, const char *name);
/* Fails unless the array is one of numbers and has this rank; its shape is returned. */
void *store_get_array(store *, hid_t parent, const char *name, enum store_type type, int rank,
                      hsize_t *shape);
/* Rows `first` to first + count - 1 alone of an array of this rank; fails if it has fewer. The shape returned is that
 * of the whole array. */
void *store_get_rows(store *, hid_t parent, const char *name, enum store_type type, int rank,
                     hsize_t first, hsize_t count, hsize_t *shape);
/* Rows of an open array, which are its first dimension; 0 with a failure. */
int64_t store_count_rows(store *, hid_t array);
/* One row of an open array whose first dimension is time, or (row = -1) all of it, as numbers of `type`. rank (1 or 2)
 * and shape are those of the row. */
void *store_get_row(store *, hid_t array, const char *name, enum store_type type, int64_t row,
                    int *rank, hsize_t shape[2]);
/* An attribute that may be missing: texts, [*count][*width] without final zeros for certain, or numbers.
 * NULL: there is none of this kind, or a failure. */
char *store_get_labels(store *, hid_t object, const char *name, int *count, int *width);
/* The values of the enumeration that an open array is of, and their names. NULL: it is of no such type, or a failure; of
 * names there may be *count all the same. */
int32_t *store_get_members(store *, hid_t array, int *count, char ***names);
double *store_get_numbers(store *, hid_t object, const char *name, int *count);
#endif
