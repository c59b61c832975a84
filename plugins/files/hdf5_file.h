/* Data sets of an HDF5 file that nobody vouches for: each is read by its path, after its type and size have been compared
 * with what is expected. What is wrong is said by the host, as "FILE: PATH: sentence". */
#ifndef PLUGINS_HDF5_FILE_H
#define PLUGINS_HDF5_FILE_H

#include <stdbool.h>

#include <hdf5.h>

#include <plugmc/everything.h>

enum { LONGEST_HDF5_PATH = 128 };

typedef struct hdf5_file {
    const plugmc_host *host;
    const char *path;
    hid_t id; /* below 0: not open */
} hdf5_file;

/* HDF5 prints what goes wrong unless told not to. Between these two it is quiet. */
typedef struct hdf5_silence {
    H5E_auto2_t function;
    void *data;
} hdf5_silence;

hdf5_silence hdf5_silence_begin(void);
void hdf5_silence_end(hdf5_silence);

/* Says what is wrong with the file; returns the code. */
int hdf5_damaged(const hdf5_file *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether there is an object at an absolute path; whether the object `group` has an attribute. */
bool hdf5_exists(const hdf5_file *, const char *path);
bool hdf5_has_attribute(const hdf5_file *, const char *group, const char *name);

/* Exactly `count` numbers. Integers may be stored as reals that are whole. */
int hdf5_integers(const hdf5_file *, const char *path, int64_t count, int32_t *out);
int hdf5_reals(const hdf5_file *, const char *path, int64_t count, double *out);
/* One number that is an integer or a real. */
int hdf5_number(const hdf5_file *, const char *path, double *out);
/* One integer from least to most. */
int hdf5_count(const hdf5_file *, const char *path, int64_t least, int64_t most, int32_t *out);
/* A truth value: an integer, or the enumeration as which h5py stores it. */
int hdf5_flag(const hdf5_file *, const char *path, bool *out);
/* A text of fixed or of variable length into [size], cut off there. */
int hdf5_text(const hdf5_file *, const char *path, char *out, size_t size);
/* Extents of a data set of rank 2: rows, columns. */
int hdf5_extents(const hdf5_file *, const char *path, int64_t extents[2]);

/* An attribute of a group: one integer from least to most, or a text. */
int hdf5_attribute_count(const hdf5_file *, const char *group, const char *name, int64_t least,
                         int64_t most, int32_t *out);
int hdf5_attribute_text(const hdf5_file *, const char *group, const char *name, char *out,
                        size_t size);
#endif
