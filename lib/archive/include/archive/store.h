/* An HDF5 file that is read, and what writing (archive/draft.h) has in common with that.
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
#include <stdint.h>

#include "archive/changes.h"

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
    int error; /* errno of the first read or write that failed, or 0 */
    bool reading, failed;
    bool memory_short; /* the reason why it failed */
    char reason[STORE_REASON];
    changes changes;           /* of a file that grows */
    uint64_t size;             /* after store_close: bytes of the file */
    struct store_child *apart; /* NULL: HDF5 is called in this process */
} store;

/* Before HDF5 is used in any other way: it prints nothing, loads no library that a file asks for
 * (filters), and follows no link into another file. */
void store_guard_hdf5(void);

/* What is written before the end of a file that grows goes to `changes`. */
enum store_mode { STORE_NEW, STORE_GROWN, STORE_READ };

void store_open(store *, int fd, enum store_mode);
/* Reading through a child; only store_has, store_enter and what gets attributes, texts, whole
 * arrays and rows may be called. The descriptor in `fd`, unless it is -1, is to be closed after store_close. */
void store_open_path_apart(store *, const char *path);
/* The same for reading `path`, with reasons in words for what is no HDF5 file. Returns the
 * descriptor, to be closed after store_close, or -1. */
int store_open_path(store *, const char *path);
/* Non-zero if anything failed since store_open. The descriptor stays open. */
int store_close(store *);
/* How what was done with a store has ended. */
typedef struct outcome {
    bool failed, memory_short; /* memory_short: the reason why it failed */
    int error;                 /* errno of the first read or write that failed, or 0 */
    char reason[STORE_REASON];
} outcome;
outcome store_outcome(const store *);
/* After an array or rows of it could not be read: forgets that, so that others can be read. False: this is not enough,
 * and the file has to be opened again. */
bool store_forgive(store *);
/* Lets all that follows fail, for a reason that the caller has found. */
void store_fail(store *, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* ... because memory is short. */
void store_short(store *);
/* Of a call of HDF5: true if all is well so far. */
bool store_good(store *, hid_t result);
/* The type in HDF5; what is no store_type is none there either. */
hid_t store_native(enum store_type);
size_t store_size_of(enum store_type);
/* A list of properties for what is made: nothing depends on the time of day, attributes stay in the header. */
hid_t store_creation_list(hid_t list_class);
/* The driver that survives failures. */
hid_t store_driver(void);
void store_driver_leave(hid_t driver);
/* The SHA-256 of a text. */
enum { STORE_SUM = 65 };
void store_sum(const char *text, char sum[STORE_SUM]);

/* A group "a/b/c". Closed by store_leave. */
hid_t store_enter(store *, hid_t parent, const char *path);
void store_leave(store *, hid_t group);
/* Is there such a link? Each part of "a/b/c" is looked for. */
bool store_has(store *, hid_t parent, const char *path);
/* Whether something that is there is a group, not an array. */
bool store_is_group(store *, hid_t parent, const char *path);
/* Reading. What is returned is to be freed. Nothing is believed: types, numbers of dimensions and
 * sizes are compared before memory is written, and data must lie in this very file, behind no
 * filter but those that are part of HDF5. */
void store_get_attribute(store *, hid_t object, const char *name, enum store_type type,
                         void *value);
char *store_get_label(store *, hid_t object, const char *name);
char *store_get_document(store *, hid_t parent, const char *name);
/* A data set of any type, or -1. Closed by store_leave_array. */
hid_t store_open_array(store *, hid_t parent, const char *name);
void store_leave_array(store *, hid_t array);
/* Fails unless the array is one of numbers and has this rank; its shape is returned. */
void *store_get_array(store *, hid_t parent, const char *name, enum store_type type, int rank,
                      hsize_t *shape);
/* Rows `first` to first + count - 1 alone of an array of this rank, or, from 0, STORE_ALL; fails if it has fewer. The shape
 * returned is that of the whole array. */
#define STORE_ALL ((hsize_t)-1)
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
