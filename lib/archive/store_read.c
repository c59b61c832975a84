/* Reading HDF5 files that may have been damaged or made to do harm. See store.h. */
#include <stdlib.h>
#include <string.h>

#include "archive/store_apart.h"

enum { MOST_BYTES_OF_NUMBER = 16, MOST_FILTERS = 32 };

/* ---- What could not be read ----------------------------------------------------------------- */

bool store_forgive(store *s)
{
    if (!s->reading || s->error || s->memory_short || s->file < 0) return false;
    s->failed = false;
    s->reason[0] = 0;
    return true;
}

/* ---- What is read at all -------------------------------------------------------------------- */

/* Filters from this number on are libraries that HDF5 would have to look for. */
static bool only_own_filters(hid_t creation)
{
    int filters = H5Pget_nfilters(creation);
    bool own = filters >= 0 && filters <= MOST_FILTERS;
    for (int i = 0; own && i < filters; i++) {
        unsigned flags, config;
        size_t values = 0;
        H5Z_filter_t filter =
            H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
        own = filter >= 0 && filter < H5Z_FILTER_RESERVED;
    }
    return own;
}

/* Data that lie in this file, and nowhere else. */
static void check_storage(store *s, hid_t array, const char *name)
{
    hid_t creation = H5Dget_create_plist(array);
    if (!store_good(s, creation)) return;
    if (H5Pget_layout(creation) == H5D_VIRTUAL)
        store_fail(s, "its '%s' is a virtual data set, which plugmc does not read", name);
    else if (H5Pget_external_count(creation) != 0)
        store_fail(s, "its '%s' lies in another file", name);
    else if (!only_own_filters(creation))
        store_fail(s, "its '%s' needs a filter that is not part of HDF5", name);
    H5Pclose(creation);
}

static bool is_number(hid_t type)
{
    H5T_class_t found = H5Tget_class(type);
    size_t bytes = H5Tget_size(type);
    return (found == H5T_INTEGER || found == H5T_FLOAT || found == H5T_ENUM ||
            found == H5T_BITFIELD) &&
           bytes > 0 && bytes <= MOST_BYTES_OF_NUMBER;
}

static bool holds_numbers(hid_t array)
{
    hid_t type = H5Dget_type(array);
    bool numbers = type >= 0 && is_number(type);
    if (type >= 0) H5Tclose(type);
    return numbers;
}

hid_t store_open_array(store *s, hid_t parent, const char *name)
{
    if (!store_has(s, parent, name)) {
        store_fail(s, "it has no '%s'", name);
        return -1;
    }
    hid_t array = H5Oopen(parent, name, H5P_DEFAULT);
    if (!store_good(s, array)) return -1;
    if (H5Iget_type(array) == H5I_DATASET)
        check_storage(s, array, name);
    else
        store_fail(s, "its '%s' is no data set", name);
    if (!s->failed) return array;
    H5Oclose(array);
    return -1;
}

/* ---- Attributes and texts ------------------------------------------------------------------- */

static hid_t open_attribute(store *s, hid_t object, const char *name)
{
    if (s->failed) return -1;
    /* most that are asked for are there */
    hid_t in = H5Aopen(object, name, H5P_DEFAULT);
    if (in < 0 && H5Aexists(object, name) == 0) store_fail(s, "it has no attribute '%s'", name);
    return store_good(s, in) ? in : -1;
}

void store_get_attribute(store *s, hid_t object, const char *name, enum store_type type,
                         void *value)
{
    if (s->apart) {
        reader_attribute(s, object, name, type, value);
        return;
    }
    hid_t in = open_attribute(s, object, name);
    if (in < 0) return;
    hid_t space = H5Aget_space(in), found = H5Aget_type(in);
    if (is_number(found) && H5Sget_simple_extent_npoints(space) == 1)
        store_good(s, H5Aread(in, store_native(type), value));
    else
        store_fail(s, "its attribute '%s' is not one number", name);
    H5Tclose(found);
    H5Sclose(space);
    H5Aclose(in);
}

/* Room for a text of this type, or NULL with a failure. */
static char *new_text(store *s, hid_t type, const char *name)
{
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0) {
        store_fail(s, "its '%s' is not a text of fixed length", name);
        return NULL;
    }
    char *text = calloc(H5Tget_size(type) + 1, 1);
    if (!text) store_short(s);
    return text;
}

char *store_get_label(store *s, hid_t object, const char *name)
{
    if (s->apart) return reader_text(s, ASK_LABEL, object, name);
    hid_t in = open_attribute(s, object, name);
    if (in < 0) return NULL;
    hid_t type = H5Aget_type(in), space = H5Aget_space(in);
    if (H5Sget_simple_extent_npoints(space) != 1) store_fail(s, "its '%s' is not one text", name);
    char *text = s->failed ? NULL : new_text(s, type, name);
    if (text) store_good(s, H5Aread(in, type, text));
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(in);
    return text;
}

/* Arrays have checksums of HDF5, texts have one of ours, but for those of format 3 (parts.h). */
static void check_sum(store *s, hid_t in, const char *name, const char *text)
{
    char sum[STORE_SUM];
    if (H5Aexists(in, "sha256") <= 0) return;
    char *expected = store_get_label(s, in, "sha256");
    store_sum(text, sum);
    if (expected && strcmp(expected, sum)) store_fail(s, "its '%s' is damaged", name);
    free(expected);
}

char *store_get_document(store *s, hid_t parent, const char *name)
{
    if (s->apart) return reader_text(s, ASK_DOCUMENT, parent, name);
    hid_t in = store_open_array(s, parent, name);
    if (in < 0) return NULL;
    hid_t type = H5Dget_type(in), space = H5Dget_space(in);
    if (H5Sget_simple_extent_npoints(space) != 1) store_fail(s, "its '%s' is not one text", name);
    char *text = s->failed ? NULL : new_text(s, type, name);
    if (text) store_good(s, H5Dread(in, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text));
    if (text && !s->failed) check_sum(s, in, name, text);
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(in);
    return text;
}

/* ---- Arrays --------------------------------------------------------------------------------- */

/* Room for that many numbers, whose product need not fit into 64 bits. */
static void *new_array(store *s, hid_t type, int rank, const hsize_t *shape, hsize_t *elements)
{
    size_t bytes = H5Tget_size(type);
    bool fits = true;
    *elements = 1;
    for (int i = 0; i < rank; i++) {
        fits = fits && !__builtin_mul_overflow(bytes, shape[i], &bytes);
        *elements *= shape[i];
    }
    void *data = fits && bytes <= SIZE_MAX / 2 ? malloc(bytes ? bytes : 1) : NULL;
    if (!data) store_short(s);
    return data;
}

void *store_get_array(store *s, hid_t parent, const char *name, enum store_type type, int rank,
                      hsize_t *shape)
{
    return store_get_rows(s, parent, name, type, rank, 0, STORE_ALL, shape);
}

/* The shape of an array, if it is made of numbers and has these rows. */
static bool check_rows(store *s, hid_t space, const char *name, int rank, hsize_t first,
                       hsize_t count, hsize_t *shape)
{
    if (rank < 1 || rank > STORE_RANK || H5Sget_simple_extent_ndims(space) != rank)
        store_fail(s, "its '%s' does not have %d dimensions", name, rank);
    else if (store_good(s, H5Sget_simple_extent_dims(space, shape, NULL)) && count != STORE_ALL &&
             (first > shape[0] || count > shape[0] - first))
        store_fail(s, "its '%s' has %llu rows, not %llu", name, (unsigned long long)shape[0],
                   (unsigned long long)first + count);
    return !s->failed;
}

void *store_get_rows(store *s, hid_t parent, const char *name, enum store_type type, int rank,
                     hsize_t first, hsize_t count, hsize_t *shape)
{
    hsize_t part[STORE_RANK], start[STORE_RANK] = {first}, elements = 0;
    if (s->apart) return reader_rows(s, parent, name, type, rank, first, count, shape);
    hid_t in = store_open_array(s, parent, name);
    if (in < 0) return NULL;
    hid_t space = H5Dget_space(in);
    void *data = NULL;
    if (!holds_numbers(in)) store_fail(s, "its '%s' is not made of numbers", name);
    if (!s->failed && check_rows(s, space, name, rank, first, count, shape)) {
        memcpy(part, shape, (size_t)rank * sizeof *part);
        if (count != STORE_ALL) part[0] = count;
        data = new_array(s, store_native(type), rank, part, &elements);
    }
    if (data && elements &&
        store_good(s, H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, part, NULL))) {
        hid_t memory = H5Screate_simple(1, &elements, NULL);
        store_good(s, H5Dread(in, store_native(type), memory, space, H5P_DEFAULT, data));
        H5Sclose(memory);
    }
    H5Sclose(space);
    H5Dclose(in);
    return data;
}

int64_t store_count_rows(store *s, hid_t array)
{
    hsize_t shape[H5S_MAX_RANK] = {0};
    if (s->failed) return 0;
    hid_t space = H5Dget_space(array);
    if (!store_good(s, space)) return 0;
    const int rank = H5Sget_simple_extent_dims(space, shape, NULL);
    H5Sclose(space);
    return rank > 0 ? (int64_t)shape[0] : 0;
}

void *store_get_row(store *s, hid_t array, const char *name, enum store_type type, int64_t row,
                    int *rank, hsize_t shape[2])
{
    const bool in_time = row >= 0;
    hsize_t full[3] = {0}, start[3] = {0}, elements = 0, *own = in_time ? full + 1 : full;
    if (s->failed) return NULL;
    hid_t space = H5Dget_space(array);
    const int all = H5Sget_simple_extent_ndims(space);
    void *data = NULL;
    *rank = all - in_time;
    if (!holds_numbers(array) || *rank < 1 || *rank > 2 ||
        H5Sget_simple_extent_dims(space, full, NULL) != all)
        store_fail(s, "its '%s' is not an array of numbers that H5MD knows", name);
    else if (in_time && full[0] <= (hsize_t)row)
        store_fail(s, "its '%s' has no frame %lld", name, (long long)row);
    if (!s->failed && in_time) {
        start[0] = (hsize_t)row;
        full[0] = 1;
        store_good(s, H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, full, NULL));
    }
    if (!s->failed) {
        shape[0] = own[0];
        shape[1] = *rank == 2 ? own[1] : 1;
        data = new_array(s, store_native(type), 2, shape, &elements);
    }
    if (data && elements) {
        hid_t memory = H5Screate_simple(1, &elements, NULL);
        store_good(s, H5Dread(array, store_native(type), memory, space, H5P_DEFAULT, data));
        H5Sclose(memory);
    }
    H5Sclose(space);
    return data;
}

/* ---- Attributes that may be missing ---------------------------------------------------------- */

enum { MOST_VALUES = 65536, LONGEST_LABEL = 4096 };

/* Of how many values it is; -1: there is none, or a failure. */
static int find_attribute(store *s, hid_t object, const char *name, hid_t *in, hid_t *type)
{
    const htri_t found = s->failed ? 0 : H5Aexists(object, name);
    if (found <= 0) return -1;
    *in = H5Aopen(object, name, H5P_DEFAULT);
    if (!store_good(s, *in)) return -1;
    *type = H5Aget_type(*in);
    hid_t space = H5Aget_space(*in);
    const hssize_t n = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    if (space >= 0) H5Sclose(space);
    if (*type >= 0 && n >= 1 && n <= MOST_VALUES) return (int)n;
    if (*type >= 0) H5Tclose(*type);
    H5Aclose(*in);
    return -1;
}

/* Texts of any length each, as those of a fixed one. */
static char *variable_labels(store *s, hid_t in, hid_t type, int count, int *width)
{
    char **found = calloc((size_t)count, sizeof *found), *texts = NULL;
    hid_t space = H5Aget_space(in);
    size_t most = 0;
    if (!found) store_short(s);
    if (found && store_good(s, H5Aread(in, type, found))) {
        for (int k = 0; k < count; k++) {
            const size_t length = found[k] ? strnlen(found[k], LONGEST_LABEL) : 0;
            if (length >= most) most = length + 1;
        }
        texts = calloc((size_t)count, most);
        if (!texts) store_short(s);
        for (int k = 0; k < count && texts; k++)
            if (found[k]) memcpy(texts + (size_t)k * most, found[k], strnlen(found[k], most - 1));
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, found);
    }
    *width = (int)most;
    H5Sclose(space);
    free(found);
    return texts;
}

char *store_get_labels(store *s, hid_t object, const char *name, int *count, int *width)
{
    hid_t in, type;
    char *texts = NULL;
    *count = find_attribute(s, object, name, &in, &type);
    if (*count < 0) return NULL;
    const bool text = H5Tget_class(type) == H5T_STRING;
    const size_t bytes = text ? H5Tget_size(type) : 0;
    if (text && H5Tis_variable_str(type) > 0) {
        texts = variable_labels(s, in, type, *count, width);
    } else if (bytes && bytes <= LONGEST_LABEL) {
        texts = calloc((size_t)*count, bytes);
        if (!texts) store_short(s);
        if (texts) store_good(s, H5Aread(in, type, texts));
        *width = (int)bytes;
    }
    H5Tclose(type);
    H5Aclose(in);
    return texts;
}

int32_t *store_get_members(store *s, hid_t array, int *count, char ***names)
{
    hid_t type = s->failed ? -1 : H5Dget_type(array);
    const int members = type >= 0 && H5Tget_class(type) == H5T_ENUM ? H5Tget_nmembers(type) : -1;
    const bool sound = members > 0 && members <= MOST_VALUES && is_number(type);
    int32_t *values = sound ? calloc((size_t)members, sizeof *values) : NULL;
    *names = sound ? calloc((size_t)members, sizeof **names) : NULL;
    *count = 0;
    if (sound && (!values || !*names)) store_short(s);
    for (int k = 0; sound && k < members && !s->failed; k++) {
        union {
            int32_t number;
            char bytes[MOST_BYTES_OF_NUMBER];
        } value = {.bytes = {0}};
        hid_t super = H5Tget_super(type);
        char *name = H5Tget_member_name(type, (unsigned)k);
        if (store_good(s, super) &&
            store_good(s, H5Tget_member_value(type, (unsigned)k, value.bytes)) &&
            store_good(s, H5Tconvert(super, H5T_NATIVE_INT32, 1, value.bytes, NULL, H5P_DEFAULT)))
            values[k] = value.number;
        (*names)[k] = name ? strdup(name) : NULL;
        if (!(*names)[k]) store_short(s);
        H5free_memory(name);
        if (super >= 0) H5Tclose(super);
        (*count)++;
    }
    if (type >= 0) H5Tclose(type);
    return values;
}

double *store_get_numbers(store *s, hid_t object, const char *name, int *count)
{
    hid_t in, type;
    double *numbers = NULL;
    *count = find_attribute(s, object, name, &in, &type);
    if (*count < 0) return NULL;
    if (is_number(type)) {
        numbers = calloc((size_t)*count, sizeof *numbers);
        if (!numbers) store_short(s);
        if (numbers) store_good(s, H5Aread(in, H5T_NATIVE_DOUBLE, numbers));
    }
    H5Tclose(type);
    H5Aclose(in);
    return numbers;
}
