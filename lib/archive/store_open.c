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

hid_t store_creation_list(hid_t list_class)
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

size_t store_size_of(enum store_type type)
{
    static const size_t sizes[STORE_TYPES] = {
        [STORE_BYTE] = 1,  [STORE_INT] = sizeof(int), [STORE_INT32] = 4,
        [STORE_INT64] = 8, [STORE_UINT64] = 8,        [STORE_DOUBLE] = sizeof(double)};
    return sizes[type];
}

void store_guard_hdf5(void)
{
    H5dont_atexit(); /* refused, harmlessly, once HDF5 is in use */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
    H5Lunregister(H5L_TYPE_EXTERNAL); /* fails the second time */
}

static void begin_changes(store *s)
{
    struct stat info;
    if (fstat(s->fd, &info))
        store_fail(s, "%s", strerror(s->error = errno));
    else if (!changes_begin(&s->changes, (uint64_t)info.st_size))
        store_short(s);
}

void store_open(store *s, int fd, enum store_mode mode)
{
    store_guard_hdf5();
    *s = (store){.file = H5I_INVALID_HID, .fd = fd, .reading = mode == STORE_READ};
    s->driver = store_driver();
    if (!store_good(s, s->driver)) return;
    if (mode == STORE_GROWN) begin_changes(s);
    hid_t access = access_list(s);
    if (!s->failed && mode == STORE_NEW) {
        hid_t creation = store_creation_list(H5P_FILE_CREATE);
        s->file = H5Fcreate("plugmc", H5F_ACC_TRUNC, creation, access);
        store_good(s, s->file);
        H5Pclose(creation);
    } else if (!s->failed) {
        s->file = H5Fopen("plugmc", mode == STORE_GROWN ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
        store_good(s, s->file);
    }
    H5Pclose(access);
}

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
    *s = (store){.file = H5I_INVALID_HID, .driver = H5I_INVALID_HID, .fd = -1};
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

int store_close(store *s)
{
    if (s->apart) return reader_close(s);
    const bool here = s->driver >= 0; /* else there was no process for it */
    if (s->file >= 0 && H5Fclose(s->file) < 0) fail_hdf5(s);
    if (s->driver >= 0) store_driver_leave(s->driver);
    s->file = s->driver = H5I_INVALID_HID;
    if (s->error && here) { /* the cause of whatever else went wrong */
        snprintf(s->reason, sizeof s->reason, "%s", strerror(s->error));
        s->failed = true;
    }
    return s->failed;
}

outcome store_outcome(const store *s)
{
    outcome end = {.failed = s->failed, .memory_short = s->memory_short, .error = s->error};
    memcpy(end.reason, s->reason, sizeof end.reason);
    return end;
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

void store_leave(store *s, hid_t group)
{
    if (s->apart)
        reader_leave(s, group);
    else if (group >= 0)
        H5Gclose(group);
}

void store_leave_array(store *s, hid_t array)
{
    (void)s;
    if (array >= 0) H5Dclose(array);
}

void store_sum(const char *text, char sum[STORE_SUM])
{
    uint8_t digest[32];
    sha256_of(text, strlen(text), digest);
    for (int i = 0; i < 32; i++) sprintf(sum + 2 * i, "%02x", digest[i]);
}
