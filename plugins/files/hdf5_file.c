/* hdf5_file.c: data sets of HDF5 files, read with distrust. */
#include "hdf5_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

hdf5_silence hdf5_silence_begin(void)
{
    hdf5_silence s;
    H5Eget_auto2(H5E_DEFAULT, &s.function, &s.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return s;
}

void hdf5_silence_end(hdf5_silence s) { H5Eset_auto2(H5E_DEFAULT, s.function, s.data); }

int hdf5_damaged(const hdf5_file *f, const char *format, ...)
{
    char sentence[800];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return f->host->fail(f->host->context, PLUGMC_ERROR_INPUT, "%s: %s", f->path, sentence);
}

static int no_memory(const hdf5_file *f, int64_t count)
{
    return f->host->fail(f->host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld numbers",
                         (long long)count);
}

/* ---- Data sets ----------------------------------------------------------------------------- */

bool hdf5_exists(const hdf5_file *f, const char *path)
{
    char part[LONGEST_HDF5_PATH];
    for (const char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
        size_t n = slash ? (size_t)(slash - path) : strlen(path);
        snprintf(part, sizeof part, "%.*s", (int)n, path);
        if (H5Lexists(f->id, part, H5P_DEFAULT) <= 0) return false;
        if (!slash) return true;
    }
}

/* Numbers in an open data set; -1 if that cannot be told. */
static int64_t size_of(hid_t set)
{
    hid_t space = H5Dget_space(set);
    int64_t n = space < 0 ? -1 : (int64_t)H5Sget_simple_extent_npoints(space);
    if (space >= 0) H5Sclose(space);
    return n;
}

static bool has_class(hid_t set, H5T_class_t wanted)
{
    hid_t type = H5Dget_type(set);
    H5T_class_t found = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    size_t bytes = type < 0 ? 0 : H5Tget_size(type);
    if (type >= 0) H5Tclose(type);
    return found == wanted && bytes >= 1 && (wanted == H5T_STRING || bytes <= 16);
}

/* Data in this very file, behind filters that are part of HDF5. */
static bool is_plain(hid_t set)
{
    hid_t creation = H5Dget_create_plist(set);
    int filters = creation < 0 ? -1 : H5Pget_nfilters(creation);
    bool plain = filters >= 0 && H5Pget_layout(creation) != H5D_VIRTUAL &&
                 H5Pget_external_count(creation) == 0;
    for (int i = 0; plain && i < filters; i++) {
        unsigned flags, config;
        size_t values = 0;
        H5Z_filter_t filter =
            H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, 0, NULL, &config);
        plain = filter >= 0 && filter < H5Z_FILTER_RESERVED;
    }
    if (creation >= 0) H5Pclose(creation);
    return plain;
}

/* A data set that may be read, or -1 with a code, told. */
static hid_t open_set(const hdf5_file *f, const char *path, int *code)
{
    hid_t set = hdf5_exists(f, path) ? H5Oopen(f->id, path, H5P_DEFAULT) : -1;
    *code = PLUGMC_OK;
    if (set < 0)
        *code = hdf5_damaged(f, "%s: there is no such data set", path);
    else if (H5Iget_type(set) != H5I_DATASET)
        *code = hdf5_damaged(f, "%s: it is no data set", path);
    else if (!is_plain(set))
        *code = hdf5_damaged(
            f, "%s: its data lie in another place or behind a filter that is not part of HDF5",
            path);
    if (*code && set >= 0) H5Oclose(set);
    return *code ? -1 : set;
}

/* `count` numbers of a data set, which must have just as many; integers or reals. */
static int read_set(const hdf5_file *f, const char *path, H5T_class_t class, int64_t count,
                    void *out)
{
    int code;
    hid_t set = open_set(f, path, &code);
    if (code) return code;
    int64_t found = size_of(set);
    if (!has_class(set, class))
        code = hdf5_damaged(f, "%s: it does not hold %s", path,
                            class == H5T_INTEGER ? "integers" : "reals");
    else if (found != count)
        code = hdf5_damaged(f, "%s: it has %lld numbers instead of %lld", path, (long long)found,
                            (long long)count);
    else if (H5Dread(set, class == H5T_INTEGER ? H5T_NATIVE_INT32 : H5T_NATIVE_DOUBLE, H5S_ALL,
                     H5S_ALL, H5P_DEFAULT, out) < 0)
        code = hdf5_damaged(f, "%s: it cannot be read", path);
    H5Dclose(set);
    return code;
}

/* Some programs write counts as reals: whole ones count. */
static int read_whole(const hdf5_file *f, const char *path, int64_t count, int32_t *out)
{
    double *real = malloc((size_t)count * sizeof *real);
    int code = real ? read_set(f, path, H5T_FLOAT, count, real) : no_memory(f, count);
    for (int64_t i = 0; i < count && !code; i++) {
        if (fabs(real[i]) <= INT32_MAX && real[i] == rint(real[i]))
            out[i] = (int32_t)real[i];
        else
            code = hdf5_damaged(f, "%s: %g is not a whole number, or too large", path, real[i]);
    }
    free(real);
    return code;
}

int hdf5_integers(const hdf5_file *f, const char *path, int64_t count, int32_t *out)
{
    int code;
    hid_t set = open_set(f, path, &code);
    if (code) return code;
    const bool real = has_class(set, H5T_FLOAT) && size_of(set) == count;
    H5Dclose(set);
    return real ? read_whole(f, path, count, out) : read_set(f, path, H5T_INTEGER, count, out);
}

int hdf5_reals(const hdf5_file *f, const char *path, int64_t count, double *out)
{
    return read_set(f, path, H5T_FLOAT, count, out);
}

int hdf5_number(const hdf5_file *f, const char *path, double *out)
{
    int32_t integer = 0;
    int code;
    hid_t set = open_set(f, path, &code);
    if (code) return code;
    bool whole = has_class(set, H5T_INTEGER);
    H5Dclose(set);
    code = whole ? hdf5_integers(f, path, 1, &integer) : hdf5_reals(f, path, 1, out);
    if (whole) *out = integer;
    return code;
}

static int check_count(const hdf5_file *f, const char *path, int64_t value, int64_t least,
                       int64_t most)
{
    if (value >= least && value <= most) return PLUGMC_OK;
    return hdf5_damaged(f, "%s: it is %lld, which is not between %lld and %lld", path,
                        (long long)value, (long long)least, (long long)most);
}

int hdf5_count(const hdf5_file *f, const char *path, int64_t least, int64_t most, int32_t *out)
{
    int code = hdf5_integers(f, path, 1, out);
    return code ? code : check_count(f, path, *out, least, most);
}

int hdf5_flag(const hdf5_file *f, const char *path, bool *out)
{
    int code;
    int64_t value = 0;
    *out = false;
    hid_t set = open_set(f, path, &code);
    if (code) return code;
    /* the type of the file, since enumerations are not converted to integers */
    hid_t type = H5Dget_type(set);
    const H5T_class_t class = type < 0 ? H5T_NO_CLASS : H5Tget_class(type);
    if ((class != H5T_INTEGER && class != H5T_ENUM) || H5Tget_size(type) > sizeof value ||
        size_of(set) != 1 || H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) < 0)
        code = hdf5_damaged(f, "%s: it is not true or false", path);
    if (type >= 0) H5Tclose(type);
    H5Dclose(set);
    *out = value != 0;
    return code;
}

int hdf5_extents(const hdf5_file *f, const char *path, int64_t extents[2])
{
    int code;
    hid_t set = open_set(f, path, &code);
    if (code) return code;
    hsize_t dims[2] = {0, 0};
    hid_t space = H5Dget_space(set);
    const int rank = space < 0 ? -1 : H5Sget_simple_extent_ndims(space);
    if (rank != 2 || H5Sget_simple_extent_dims(space, dims, NULL) != 2 || dims[0] > INT32_MAX ||
        dims[1] > INT32_MAX)
        code = hdf5_damaged(f, "%s: it is no matrix", path);
    for (int d = 0; d < 2; d++) extents[d] = (int64_t)dims[d];
    if (space >= 0) H5Sclose(space);
    H5Dclose(set);
    return code;
}

/* ---- Texts --------------------------------------------------------------------------------- */

/* The one text of a data set or of an attribute. */
static int read_text(const hdf5_file *f, const char *path, hid_t object, bool attribute, char *out,
                     size_t size)
{
    char *text = NULL, *variable = NULL;
    int code = PLUGMC_OK, failed = 1;
    hid_t type = attribute ? H5Aget_type(object) : H5Dget_type(object);
    hid_t space = attribute ? H5Aget_space(object) : H5Dget_space(object);
    const bool one = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
    const bool is_text = one && type >= 0 && H5Tget_class(type) == H5T_STRING;
    const bool varies = is_text && H5Tis_variable_str(type) > 0;
    const size_t bytes = is_text && !varies ? H5Tget_size(type) : 0;
    void *into = &variable;
    if (bytes && bytes <= 4096) into = text = calloc(bytes + 1, 1);
    if (varies || text)
        failed = attribute ? H5Aread(object, type, into) < 0
                           : H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, into) < 0;
    if (failed || (varies && !variable))
        code = hdf5_damaged(f, "%s: it cannot be read", path);
    else
        snprintf(out, size, "%s", varies ? variable : text);
    if (variable) H5free_memory(variable);
    free(text);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    return code;
}

int hdf5_text(const hdf5_file *f, const char *path, char *out, size_t size)
{
    int code;
    *out = 0;
    hid_t set = open_set(f, path, &code);
    if (code) return code;
    code = read_text(f, path, set, false, out, size);
    H5Dclose(set);
    return code;
}

/* ---- Attributes ---------------------------------------------------------------------------- */

bool hdf5_has_attribute(const hdf5_file *f, const char *group, const char *name)
{
    return hdf5_exists(f, group) && H5Aexists_by_name(f->id, group, name, H5P_DEFAULT) > 0;
}

/* An attribute, or -1 with a code, told; `where` becomes its name in messages. */
static hid_t open_attribute(const hdf5_file *f, const char *group, const char *name,
                            char where[LONGEST_HDF5_PATH], int *code)
{
    snprintf(where, LONGEST_HDF5_PATH, "%s, attribute %s", group, name);
    hid_t attribute = hdf5_has_attribute(f, group, name)
                          ? H5Aopen_by_name(f->id, group, name, H5P_DEFAULT, H5P_DEFAULT)
                          : -1;
    *code = attribute >= 0 ? PLUGMC_OK : hdf5_damaged(f, "%s: there is none", where);
    return attribute;
}

int hdf5_attribute_count(const hdf5_file *f, const char *group, const char *name, int64_t least,
                         int64_t most, int32_t *out)
{
    char where[LONGEST_HDF5_PATH];
    int code;
    hid_t attribute = open_attribute(f, group, name, where, &code);
    if (code) return code;
    int64_t value = 0;
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    if (type < 0 || space < 0 || H5Tget_class(type) != H5T_INTEGER || H5Tget_size(type) > 8 ||
        H5Sget_simple_extent_npoints(space) != 1 ||
        H5Aread(attribute, H5T_NATIVE_INT64, &value) < 0)
        code = hdf5_damaged(f, "%s: it is not one integer", where);
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    H5Aclose(attribute);
    if (!code) code = check_count(f, where, value, least, most);
    *out = code ? 0 : (int32_t)value;
    return code;
}

int hdf5_attribute_text(const hdf5_file *f, const char *group, const char *name, char *out,
                        size_t size)
{
    char where[LONGEST_HDF5_PATH];
    int code;
    *out = 0;
    hid_t attribute = open_attribute(f, group, name, where, &code);
    if (code) return code;
    code = read_text(f, where, attribute, true, out, size);
    H5Aclose(attribute);
    return code;
}
