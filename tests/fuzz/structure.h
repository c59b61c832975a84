/* HDF5 files changed by structure: bits turned at random seldom get past the library, so the bytes
 * of a fuzzing program choose objects of a sound file and what is done to them through the library
 * itself. What the library then makes of its own file is not its crash but ours. */
#ifndef PLUGMC_FUZZ_STRUCTURE_H
#define PLUGMC_FUZZ_STRUCTURE_H

#include "fuzz.h"

#include <hdf5.h>

enum { MOST_OBJECTS = 400, MOST_CHANGES = 6, OBJECT_PATH = 256 };

/* ---- The objects of a file ------------------------------------------------------------------- */

typedef struct objects {
    int count;
    char path[MOST_OBJECTS][OBJECT_PATH];
} objects;

static inline herr_t list_object(hid_t root, const char *name, const H5L_info_t *info, void *list)
{
    objects *all = list;
    (void)root, (void)info;
    if (all->count < MOST_OBJECTS && strlen(name) < OBJECT_PATH)
        strcpy(all->path[all->count++], name);
    return 0;
}

/* ---- Types, shapes --------------------------------------------------------------------------- */

/* A type that has to be closed. */
static inline hid_t any_type(fuzz_bytes *b)
{
    hid_t type;
    switch (fuzz_below(b, 16)) {
    case 0: return H5Tcopy(H5T_NATIVE_INT8);
    case 1: return H5Tcopy(H5T_NATIVE_INT32);
    case 2: return H5Tcopy(H5T_NATIVE_INT64);
    case 3: return H5Tcopy(H5T_NATIVE_UINT64);
    case 4: return H5Tcopy(H5T_NATIVE_FLOAT);
    case 5: return H5Tcopy(H5T_NATIVE_DOUBLE);
    case 6: return H5Tcopy(H5T_IEEE_F64BE);
    case 7:
    case 8:
        type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, 1 + fuzz_below(b, 1000));
        H5Tset_strpad(type, fuzz_byte(b) & 1 ? H5T_STR_NULLTERM : H5T_STR_SPACEPAD);
        return type;
    case 9:
        type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, H5T_VARIABLE);
        return type;
    case 10: return H5Tvlen_create(H5T_NATIVE_DOUBLE);
    case 11:
        type = H5Tcreate(H5T_COMPOUND, 16);
        H5Tinsert(type, "r", 0, H5T_NATIVE_DOUBLE);
        H5Tinsert(type, "i", 8, H5T_NATIVE_DOUBLE);
        return type;
    case 12: {
        int8_t value = 0;
        type = H5Tenum_create(H5T_NATIVE_INT8);
        H5Tenum_insert(type, "FALSE", &value);
        value = 1;
        H5Tenum_insert(type, "TRUE", &value);
        return type;
    }
    case 13: return H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, (hsize_t[]){1 + fuzz_below(b, 64)});
    case 14: return H5Tcreate(H5T_OPAQUE, 1 + fuzz_below(b, 64));
    default: return H5Tcopy(H5T_STD_REF_OBJ);
    }
}

/* A space to be closed; `huge`: with extents that nobody has stored. */
static inline hid_t any_space(fuzz_bytes *b, int *huge, int *rank)
{
    static const hsize_t extents[] = {0, 1, 2, 3, 4, 5, 7, 64, 129, 1000};
    hsize_t dims[4];
    *huge = 0;
    *rank = 0;
    const uint32_t kind = fuzz_below(b, 12);
    if (kind == 0) return H5Screate(H5S_NULL);
    if (kind == 1) return H5Screate(H5S_SCALAR);
    hsize_t all = 1;
    *rank = 1 + (int)fuzz_below(b, 4);
    for (int d = 0; d < *rank; d++) {
        dims[d] = extents[fuzz_below(b, sizeof extents / sizeof extents[0])];
        if (all * dims[d] > 4096) dims[d] = 1;
        all *= dims[d];
    }
    if (kind == 2) {
        const uint32_t power = fuzz_below(b, 8); /* read as they are, or no memory holds them */
        dims[0] = (hsize_t)1 << (power < 5 ? 18 + power : 33 + power);
        *huge = 1;
    }
    return H5Screate_simple(*rank, dims, NULL);
}

/* Bytes of the input over all of a small data set or attribute. */
static inline void fill(hid_t object, int attribute, fuzz_bytes *b)
{
    hid_t type = attribute ? H5Aget_type(object) : H5Dget_type(object);
    hid_t space = attribute ? H5Aget_space(object) : H5Dget_space(object);
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    const size_t size = H5Tget_size(type);
    const int plain = H5Tdetect_class(type, H5T_VLEN) <= 0 && H5Tis_variable_str(type) <= 0 &&
                      H5Tdetect_class(type, H5T_REFERENCE) <= 0;
    if (plain && n > 0 && n <= 100000 && size <= 1024) {
        unsigned char *values = malloc((size_t)n * size);
        if (!values) abort();
        const uint8_t one[8] = {fuzz_byte(b), fuzz_byte(b), fuzz_byte(b), fuzz_byte(b),
                                fuzz_byte(b), fuzz_byte(b), fuzz_byte(b), fuzz_byte(b)};
        for (size_t i = 0; i < (size_t)n * size; i++)
            values[i] = b->at < b->end ? *b->at++ : one[i % 8];
        if (attribute)
            H5Awrite(object, type, values);
        else
            H5Dwrite(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        free(values);
    }
    H5Sclose(space);
    H5Tclose(type);
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* A data set of any type, shape and storage where there was an object. */
static inline void replace_set(hid_t file, const char *path, fuzz_bytes *b)
{
    int huge, rank;
    hid_t type = any_type(b), space = any_space(b, &huge, &rank);
    hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const uint32_t storage = fuzz_below(b, 8);
    hsize_t chunk[4] = {16, 16, 16, 16};
    if (rank && (huge || storage < 3)) H5Pset_chunk(creation, rank, chunk);
    if (rank && storage == 1) H5Pset_deflate(creation, 6);
    if (rank && storage == 2) H5Pset_filter(creation, 32000, H5Z_FLAG_OPTIONAL, 0, NULL);
    if (!huge && storage == 3) H5Pset_external(creation, "/dev/zero", 0, 1 << 20);
    if (rank && !huge && storage == 4) H5Pset_virtual(creation, space, ".", path, space);
    if (storage == 5) H5Pset_layout(creation, H5D_COMPACT);
    H5Ldelete(file, path, H5P_DEFAULT);
    hid_t set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (set >= 0) {
        if (!huge && storage != 3 && storage != 4 && fuzz_byte(b) & 1) fill(set, 0, b);
        H5Dclose(set);
    }
    H5Pclose(creation);
    H5Sclose(space);
    H5Tclose(type);
}

static inline void replace_link(hid_t file, const char *path, const char *other, fuzz_bytes *b)
{
    H5Ldelete(file, path, H5P_DEFAULT);
    switch (fuzz_below(b, 6)) {
    case 0: H5Lcreate_soft(path, file, path, H5P_DEFAULT, H5P_DEFAULT); break;
    case 1: H5Lcreate_soft("/", file, path, H5P_DEFAULT, H5P_DEFAULT); break;
    case 2: H5Lcreate_hard(file, "/", file, path, H5P_DEFAULT, H5P_DEFAULT); break;
    case 3: H5Lcreate_external("other.h5", "/", file, path, H5P_DEFAULT, H5P_DEFAULT); break;
    case 4: H5Lcreate_hard(file, other, file, path, H5P_DEFAULT, H5P_DEFAULT); break;
    default: H5Lcreate_soft(other, file, path, H5P_DEFAULT, H5P_DEFAULT); break;
    }
}

static inline void replace_attribute(hid_t file, const char *path, fuzz_bytes *b)
{
    char name[64] = "";
    hid_t object = H5Oopen(file, path, H5P_DEFAULT);
    if (object < 0) return;
    const int n = H5Aget_num_attrs(object);
    if (n > 0)
        H5Aget_name_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, fuzz_below(b, (uint32_t)n),
                           name, sizeof name, H5P_DEFAULT);
    if (name[0]) {
        const uint32_t how = fuzz_below(b, 4);
        if (how == 0) {
            hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
            fill(attribute, 1, b);
            H5Aclose(attribute);
        } else {
            H5Adelete(object, name);
        }
        if (how > 1) {
            int huge, rank;
            hid_t type = any_type(b), space = any_space(b, &huge, &rank);
            hid_t attribute =
                huge ? -1 : H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
            if (attribute >= 0) {
                fill(attribute, 1, b);
                H5Aclose(attribute);
            }
            H5Sclose(space);
            H5Tclose(type);
        }
    }
    H5Oclose(object);
}

/* Its data are in this file: writing to one that refers to itself has no end. */
static inline int is_stored_here(hid_t set)
{
    hid_t creation = H5Dget_create_plist(set);
    const int here = H5Pget_layout(creation) != H5D_VIRTUAL && H5Pget_external_count(creation) == 0;
    H5Pclose(creation);
    return here;
}

/* Other values, or another extent, of a data set that stays. */
static inline void change_values(hid_t file, const char *path, fuzz_bytes *b)
{
    hid_t object = H5Oopen(file, path, H5P_DEFAULT);
    if (object >= 0 && H5Iget_type(object) == H5I_DATASET && is_stored_here(object)) {
        hid_t space = H5Dget_space(object);
        hsize_t dims[32];
        const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
        H5Sclose(space);
        if (fuzz_byte(b) & 3 || rank < 1) {
            fill(object, 0, b);
        } else {
            dims[fuzz_below(b, (uint32_t)rank)] = fuzz_below(b, 5000);
            H5Dset_extent(object, dims);
        }
    }
    if (object >= 0) H5Oclose(object);
}

static inline void change(hid_t file, const objects *all, fuzz_bytes *b)
{
    const char *path = all->path[fuzz_below(b, (uint32_t)all->count)];
    const char *other = all->path[fuzz_below(b, (uint32_t)all->count)];
    switch (fuzz_below(b, 9)) {
    case 0: H5Ldelete(file, path, H5P_DEFAULT); break;
    case 1: replace_attribute(file, path, b); break;
    case 2: replace_link(file, path, other, b); break;
    case 3: {
        H5Ldelete(file, path, H5P_DEFAULT);
        hid_t group = H5Gcreate2(file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (group >= 0) H5Gclose(group);
        break;
    }
    case 4: {
        hid_t type = any_type(b);
        H5Ldelete(file, path, H5P_DEFAULT);
        H5Tcommit2(file, path, type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Tclose(type);
        break;
    }
    case 5:
    case 6: change_values(file, path, b); break;
    default: replace_set(file, path, b); break;
    }
}

/* After the reader: libhdf5 keeps what is left open where no search for leaks sees it. */
static inline void all_is_closed(void) { require(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 0); }

/* Changes the file as the bytes say. What libhdf5 then cannot write itself it keeps open, which would
 * pass for a handle that the reader forgot: it begins anew, and what it wrote is read. */
static inline void change_structure(const char *path, fuzz_bytes *b)
{
    static objects all;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    if (file < 0) abort(); /* the sound file is not sound */
    all.count = 0;
    H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, list_object, &all);
    for (int i = 0; i < MOST_CHANGES && b->at < b->end && all.count; i++) change(file, &all, b);
    if (H5Fclose(file) >= 0) return;
    H5close();
    H5open();
    all_is_closed();
}

#endif
