/* HDF5 with failures that stick. See store.h; the driver is in store_driver.c. */
#include "archive/store_apart.h"
#include "base/sha256.h"
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Opening, closing, failing -------------------------------------------------------------- */

typedef struct cause {
    const char *description;
    bool memory;
} cause;

static herr_t find_cause(unsigned depth, const H5E_error2_t *error, void *out)
{
    cause *c = out;
    if (depth == 0 && error->desc && error->desc[0]) c->description = error->desc;
    if (error->min_num == H5E_NOSPACE) c->memory = true;
    return 0;
}

/* After a call of HDF5 that failed. */
static void fail_hdf5(store *s)
{
    cause c = {"no reason given", false};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, find_cause, &c);
    if (c.memory)
        store_short(s);
    else
        store_fail(s, s->reading ? "it is truncated or damaged (HDF5: %s)" : "HDF5: %s",
                   c.description);
}

void store_short(store *s)
{
    if (s->failed) return;
    store_fail(s,
               s->reading ? "there is not enough memory to read it" : "there is not enough memory");
    s->memory_short = true;
}

void store_fail(store *s, const char *format, ...)
{
    if (s->failed) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->reason, sizeof s->reason, format, arguments);
    va_end(arguments);
    s->failed = true;
}

bool store_good(store *s, hid_t result)
{
    if (result < 0) fail_hdf5(s);
    return !s->failed;
}

/* Object headers, indices and the superblock carry checksums from format 1.10 on. */
static hid_t access_list(store *s)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    store_good(s, list);
    store_good(s, H5Pset_driver(list, s->driver, &s));
    store_good(s, H5Pset_fclose_degree(list, H5F_CLOSE_STRONG));
    store_good(s, H5Pset_libver_bounds(list, H5F_LIBVER_V110, H5F_LIBVER_V110));
    return list;
}

/* Nothing may depend on the time of day, not even a header that nobody reads. */
static hid_t creation_list(hid_t list_class)
{
    hid_t list = H5Pcreate(list_class);
    H5Pset_obj_track_times(list, false);
    H5Pset_attr_phase_change(list, 32, 24); /* keeps attributes within the header */
    return list;
}

hid_t store_native(enum store_type type)
{
    switch (type) {
    case STORE_BYTE: return H5T_NATIVE_UCHAR;
    case STORE_INT: return H5T_NATIVE_INT;
    case STORE_INT32: return H5T_NATIVE_INT32;
    case STORE_INT64: return H5T_NATIVE_INT64;
    case STORE_UINT64: return H5T_NATIVE_UINT64;
    case STORE_DOUBLE: return H5T_NATIVE_DOUBLE;
    default: return H5I_INVALID_HID;
    }
}

void store_guard_hdf5(void)
{
    H5dont_atexit(); /* refused, harmlessly, once HDF5 is in use */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
    H5Lunregister(H5L_TYPE_EXTERNAL); /* fails the second time */
}

static void open_file(store *s, int fd, int below, enum store_mode mode)
{
    store_guard_hdf5();
    *s = (store){.file = H5I_INVALID_HID, .fd = fd, .below = below, .reading = mode == STORE_READ};
    s->driver = store_driver();
    if (!store_good(s, s->driver)) return;
    hid_t access = access_list(s);
    if (!s->failed && mode == STORE_FRESH) {
        hid_t creation = creation_list(H5P_FILE_CREATE);
        s->file = H5Fcreate("plugmc", H5F_ACC_TRUNC, creation, access);
        store_good(s, s->file);
        H5Pclose(creation);
    } else if (!s->failed) {
        s->file = H5Fopen("plugmc", mode == STORE_CHANGE ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
        store_good(s, s->file);
    }
    H5Pclose(access);
}

void store_open(store *s, int fd, enum store_mode mode) { open_file(s, fd, -1, mode); }

void store_open_over(store *s, int fd, int below) { open_file(s, fd, below, STORE_CHANGE); }

/* What HDF5 cannot open need not be damaged. */
static void explain(store *s)
{
    static const char signature[8] = "\211HDF\r\n\032\n";
    char begin[8];
    ssize_t n = pread(s->fd, begin, sizeof begin, 0);
    if (n == 0)
        snprintf(s->reason, sizeof s->reason, "it is empty");
    else if (n < (ssize_t)sizeof begin || memcmp(begin, signature, sizeof begin) != 0)
        snprintf(s->reason, sizeof s->reason, "it is not an HDF5 file");
}

int store_open_path(store *s, const char *path)
{
    *s = (store){.file = H5I_INVALID_HID, .driver = H5I_INVALID_HID, .fd = -1, .below = -1};
    const char *why;
    int fd = open_regular(path, &why);
    if (fd < 0) {
        store_fail(s, "%s", why);
    } else {
        store_open(s, fd, STORE_READ);
        if (s->failed && !s->error && !s->memory_short) explain(s);
    }
    return fd;
}

int store_close_telling(store *s, touched *touched)
{
    if (s->apart) return writer_close(s, touched);
    const bool here = s->driver >= 0; /* else there was no process for it */
    if (s->file >= 0 && H5Fclose(s->file) < 0) fail_hdf5(s);
    if (s->driver >= 0) store_driver_leave(s->driver);
    s->file = s->driver = H5I_INVALID_HID;
    *touched = s->touched; /* closing writes, too */
    s->touched = (struct touched){0};
    if (s->error && here) { /* the cause of whatever else went wrong */
        snprintf(s->reason, sizeof s->reason, "%s", strerror(s->error));
        s->failed = true;
    }
    return s->failed;
}

int store_close(store *s)
{
    touched touched;
    const int failed = store_close_telling(s, &touched);
    touched_free(&touched);
    return failed;
}

/* ---- Groups and links ----------------------------------------------------------------------- */

/* True, and of what kind it is. Most links that are asked for are there: a look at the link finds that out, and only
 * where it fails the other question is asked. */
static bool find_link(store *s, hid_t parent, const char *path, H5L_info_t *link)
{
    if (H5Lget_info(parent, path, link, H5P_DEFAULT) >= 0) return true;
    const htri_t found = H5Lexists(parent, path, H5P_DEFAULT);
    if (found < 0) fail_hdf5(s);
    return found > 0 && store_good(s, H5Lget_info(parent, path, link, H5P_DEFAULT));
}

bool store_has(store *s, hid_t parent, const char *path)
{
    char part[1024];
    H5L_info_t link;
    if (s->apart) return reader_has(s, parent, path);
    if (s->failed || strlen(path) >= sizeof part) return false;
    for (const char *end = path; *end; end++) {
        end = strchrnul(end + 1, '/');
        memcpy(part, path, (size_t)(end - path));
        part[end - path] = '\0';
        if (!find_link(s, parent, part, &link)) return false;
        if (link.type != H5L_TYPE_HARD && link.type != H5L_TYPE_SOFT) {
            store_fail(s, "its '%s' lies in another file", part);
            return false;
        }
        if (!*end) break;
    }
    return true;
}

bool store_is_group(store *s, hid_t parent, const char *path)
{
    const hid_t object = H5Oopen(parent, path, H5P_DEFAULT);
    if (object < 0) {
        fail_hdf5(s);
        return false;
    }
    const bool group = H5Iget_type(object) == H5I_GROUP;
    H5Oclose(object);
    return group;
}

hid_t store_enter(store *s, hid_t parent, const char *path)
{
    if (s->apart) return reader_enter(s, parent, path);
    if (s->reading && !store_has(s, parent, path)) store_fail(s, "it has no group '%s'", path);
    if (s->failed) return -1;
    hid_t group = H5Gopen2(parent, path, H5P_DEFAULT);
    return store_good(s, group) ? group : -1;
}

hid_t store_group(store *s, hid_t parent, const char *name)
{
    if (s->apart) return writer_enter(s, SEND_GROUP, parent, name);
    if (store_has(s, parent, name) || s->failed) return store_enter(s, parent, name);
    hid_t creation = creation_list(H5P_GROUP_CREATE);
    hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, creation, H5P_DEFAULT);
    store_good(s, group);
    H5Pclose(creation);
    return group;
}

void store_leave(store *s, hid_t group)
{
    if (s->apart)
        writer_send(s, SEND_LEAVE, group, NULL);
    else if (group >= 0)
        H5Gclose(group);
}

void store_remove(store *s, hid_t parent, const char *name)
{
    if (s->apart)
        writer_send(s, SEND_REMOVE, parent, name);
    else if (store_has(s, parent, name))
        store_good(s, H5Ldelete(parent, name, H5P_DEFAULT));
}

void store_link(store *s, hid_t old, const char *name, hid_t new, const char *new_name)
{
    if (s->failed) return;
    if (s->apart)
        writer_link(s, old, name, new, new_name);
    else
        store_good(s, H5Lcreate_hard(old, name, new, new_name, H5P_DEFAULT, H5P_DEFAULT));
}

/* ---- Attributes and texts ------------------------------------------------------------------- */

/* Opened, or made with this type and space. */
static hid_t attribute(store *s, hid_t object, const char *name, hid_t type, hid_t space)
{
    htri_t found = H5Aexists(object, name);
    if (!store_good(s, found)) return -1;
    hid_t out = found ? H5Aopen(object, name, H5P_DEFAULT)
                      : H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    return store_good(s, out) ? out : -1;
}

/* HDF5 takes as many numbers from memory as the attribute in the file has. */
static bool same_kind(hid_t attribute, hid_t type, hid_t space)
{
    hid_t found_type = H5Aget_type(attribute), found_space = H5Aget_space(attribute);
    bool same = H5Tget_class(found_type) == H5Tget_class(type) &&
                H5Tget_size(found_type) == H5Tget_size(type) &&
                H5Sextent_equal(found_space, space) > 0;
    H5Sclose(found_space);
    H5Tclose(found_type);
    return same;
}

static void write_attribute(store *s, hid_t object, const char *name, hid_t type, hid_t space,
                            const void *data)
{
    if (s->failed) return;
    hid_t out = attribute(s, object, name, type, space);
    if (out < 0) return;
    if (same_kind(out, type, space))
        store_good(s, H5Awrite(out, type, data));
    else
        store_fail(s, "its attribute '%s' is not of the kind that plugmc writes", name);
    H5Aclose(out);
}

void store_attribute(store *s, hid_t object, const char *name, enum store_type type,
                     const void *value)
{
    if (s->apart) {
        writer_attribute(s, object, name, type, -1, value);
        return;
    }
    hid_t space = H5Screate(H5S_SCALAR);
    write_attribute(s, object, name, store_native(type), space, value);
    H5Sclose(space);
}

void store_attributes(store *s, hid_t object, const char *name, enum store_type type, int count,
                      const void *values)
{
    if (s->apart) {
        writer_attribute(s, object, name, type, count, values);
        return;
    }
    hid_t space = H5Screate_simple(1, (hsize_t[]){(hsize_t)count}, NULL);
    write_attribute(s, object, name, store_native(type), space, values);
    H5Sclose(space);
}

void store_labels(store *s, hid_t object, const char *name, int count, int width, const void *texts)
{
    if (s->failed) return;
    if (s->apart) {
        writer_labels(s, object, name, count, width, texts);
        return;
    }
    hid_t space = H5Screate_simple(1, (hsize_t[]){(hsize_t)count}, NULL), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, (size_t)width);
    write_attribute(s, object, name, type, space, texts);
    H5Tclose(type);
    H5Sclose(space);
}

/* Of fixed length, final zero included: H5MD asks for it, and texts of variable length lie in a
 * heap without a checksum. */
static hid_t text_type(const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text) + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

void store_label(store *s, hid_t object, const char *name, const char *text)
{
    if (!text) text = "";
    if (s->apart) {
        writer_text(s, SEND_LABEL, object, name, text);
        return;
    }
    if (s->failed || H5Aexists(object, name) > 0) return;
    hid_t type = text_type(text), space = H5Screate(H5S_SCALAR);
    write_attribute(s, object, name, type, space, text);
    H5Sclose(space);
    H5Tclose(type);
}

static void write_array(store *, hid_t parent, const char *name, hid_t type, int rank,
                        const hsize_t *shape, const void *data);

void store_document(store *s, hid_t parent, const char *name, const char *text)
{
    if (s->failed) return;
    if (!text) text = "";
    if (s->apart) {
        writer_text(s, SEND_DOCUMENT, parent, name, text);
        return;
    }
    char sum[STORE_SUM];
    hid_t type = text_type(text);
    write_array(s, parent, name, type, 0, NULL, text);
    H5Tclose(type);
    hid_t array = store_open_array(s, parent, name);
    store_sum(text, sum);
    store_label(s, array, "sha256", sum);
    store_leave_array(s, array);
}

void store_sum(const char *text, char sum[STORE_SUM])
{
    uint8_t digest[32];
    sha256_of(text, strlen(text), digest);
    for (int i = 0; i < 32; i++) sprintf(sum + 2 * i, "%02x", digest[i]);
}

/* ---- Arrays --------------------------------------------------------------------------------- */

static bool same_shape(hid_t array, int rank, const hsize_t *shape)
{
    hsize_t found[H5S_MAX_RANK]; /* of whatever is in the file */
    hid_t space = H5Dget_space(array);
    bool same = H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, found, NULL) == rank;
    for (int i = 0; same && i < rank; i++) same = found[i] == shape[i];
    H5Sclose(space);
    return same;
}

static hsize_t elements(int rank, const hsize_t *shape)
{
    hsize_t n = 1;
    for (int i = 0; i < rank; i++) n *= shape[i];
    return n;
}

/* Rows of about 16 KiB, or an equal part of a long row: about 16 MiB, as HDF5 wants less than
 * 4 GiB. */
static void choose_chunk(hid_t type, int rank, const hsize_t *shape, hsize_t *chunk)
{
    const hsize_t few = 16 << 10, many = 16 << 20;
    hsize_t bytes = H5Tget_size(type);
    for (int i = rank - 1; i > 0; i--) {
        hsize_t parts = shape[i] * bytes / many + 1;
        chunk[i] = (shape[i] + parts - 1) / parts;
        bytes *= chunk[i];
    }
    chunk[0] = bytes < few ? few / bytes : 1;
}

/* In chunks with a checksum each, so that damage shows wherever it is. */
static hid_t make_array(store *s, hid_t parent, const char *name, hid_t type, int rank,
                        const hsize_t *shape, bool grows)
{
    if (s->failed) return -1;
    const int32_t nobody = -1;
    hsize_t largest[STORE_RANK], chunk[STORE_RANK];
    hid_t space = H5Screate(H5S_SCALAR), creation = creation_list(H5P_DATASET_CREATE);
    if (rank > 0) {
        memcpy(largest, shape, (size_t)rank * sizeof *shape);
        for (int d = 0; d < rank && d < 2 && grows; d++) largest[d] = H5S_UNLIMITED;
        store_good(s, H5Sset_extent_simple(space, rank, shape, largest));
    }
    if (rank > 0 && elements(rank, shape) > 0) {
        choose_chunk(type, rank, shape, chunk);
        if (!grows && chunk[0] > shape[0]) chunk[0] = shape[0];
        store_good(s, H5Pset_chunk(creation, rank, chunk));
        store_good(s, H5Pset_fletcher32(creation));
        if (grows && H5Tequal(type, store_native(STORE_INT32)) > 0)
            store_good(s, H5Pset_fill_value(creation, type, &nobody));
    }
    hid_t array = H5Dcreate2(parent, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    store_good(s, array);
    H5Pclose(creation);
    H5Sclose(space);
    return array;
}

static void write_array(store *s, hid_t parent, const char *name, hid_t type, int rank,
                        const hsize_t *shape, const void *data)
{
    hid_t array = store_has(s, parent, name) ? store_open_array(s, parent, name) : -1;
    if (array >= 0 && !same_shape(array, rank, shape)) {
        H5Dclose(array);
        array = -1;
        store_remove(s, parent, name);
    }
    if (array < 0) array = make_array(s, parent, name, type, rank, shape, false);
    if (array < 0) return;
    if (elements(rank, shape))
        store_good(s, H5Dwrite(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    H5Dclose(array);
}

void store_array(store *s, hid_t parent, const char *name, enum store_type type, int rank,
                 const hsize_t *shape, const void *data)
{
    if (s->apart)
        writer_array(s, parent, name, type, rank, shape, data);
    else
        write_array(s, parent, name, store_native(type), rank, shape, data);
}

/* Whether an array has `before` rows, or more, which are cut off, of at most this length. */
static bool cut_rows(store *s, hid_t array, int rank, const hsize_t *shape, hsize_t before)
{
    hsize_t found[H5S_MAX_RANK] = {0};
    hid_t space = H5Dget_space(array);
    bool good = H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, found, NULL) == rank && found[0] >= before;
    H5Sclose(space);
    for (int d = 1; d < rank && good; d++)
        good = d == 1 ? found[d] <= shape[d] : found[d] == shape[d];
    const bool more = good && found[0] > before;
    found[0] = before;
    return good && (!more || store_good(s, H5Dset_extent(array, found)));
}

hid_t store_grow(store *s, hid_t parent, const char *name, enum store_type kind, int rank,
                 const hsize_t *shape, hsize_t before)
{
    if (s->apart) return writer_grow(s, parent, name, kind, rank, shape, before);
    const hid_t type = store_native(kind);
    bool found = store_has(s, parent, name);
    if (s->failed) return -1;
    if (!found && before == 0) return make_array(s, parent, name, type, rank, shape, true);
    hid_t array = found ? store_open_array(s, parent, name) : -1;
    if (array < 0 || !cut_rows(s, array, rank, shape, before)) {
        store_fail(s, "its '%s' does not have the rows that this run wrote", name);
        store_leave_array(s, array);
        return -1;
    }
    store_good(s, H5Dset_extent(array, shape));
    return array;
}

void store_rows(store *s, hid_t array, enum store_type type, hsize_t first, hsize_t count,
                const void *data)
{
    hsize_t start[STORE_RANK] = {first}, shape[STORE_RANK];
    if (s->failed) return;
    if (s->apart) {
        writer_rows(s, array, type, first, count, data);
        return;
    }
    hid_t space = H5Dget_space(array);
    int rank = H5Sget_simple_extent_dims(space, shape, NULL);
    shape[0] = count;
    if (store_good(s, rank) && elements(rank, shape)) {
        hid_t rows = H5Screate_simple(rank, shape, NULL);
        store_good(s, H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, shape, NULL));
        store_good(s, H5Dwrite(array, store_native(type), rows, space, H5P_DEFAULT, data));
        H5Sclose(rows);
    }
    H5Sclose(space);
}

void store_leave_array(store *s, hid_t array)
{
    if (s->apart)
        writer_send(s, SEND_LEAVE, array, NULL);
    else if (array >= 0)
        H5Dclose(array);
}
