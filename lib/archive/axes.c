/* Shapes and axes of arrays, from a plugin's quantity to the output file and back. */
#include "archive/axes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int axes_copy(axes *a, const plugmc_quantity *q)
{
    *a = (axes){.rank = q->rank};
    for (int d = 0; d < q->rank; d++) {
        const size_t bytes = (size_t)q->shape[d] * sizeof(double);
        a->shape[d] = q->shape[d];
        if (q->axis[d] && !(a->names[d] = strdup(q->axis[d]))) return -1;
        if (!q->abscissa[d]) continue;
        a->values[d] = malloc(bytes);
        if (!a->values[d]) return -1;
        memcpy(a->values[d], q->abscissa[d], bytes);
    }
    return 0;
}

int64_t axes_length(const axes *a)
{
    int64_t length = 1;
    for (int d = 0; d < a->rank; d++) length *= a->shape[d];
    return length;
}

const char *axes_words(const axes *a, char *words, size_t size)
{
    size_t used = 0;
    snprintf(words, size, "index");
    for (int d = 0; d < a->rank && used < size; d++)
        used += (size_t)snprintf(words + used, size - used, "%s%s", d ? ", " : "",
                                 a->names[d] ? a->names[d] : "index");
    return words;
}

void axes_free(axes *a)
{
    for (int d = 0; d < PLUGMC_MOST_RANK; d++) {
        free(a->names[d]);
        free(a->values[d]);
    }
    *a = (axes){0};
}

/* ---- In the file ----------------------------------------------------------------------------- */

/* "abscissa", "abscissa_2", ... */
static const char *numbered(char name[32], const char *stem, int d)
{
    snprintf(name, 32, d ? "%s_%d" : "%s", stem, d + 1);
    return name;
}

void axes_write(draft *to, const axes *a)
{
    char name[32];
    if (a->rank > 1)
        draft_array(to, "shape", STORE_INT64, 1, &(hsize_t){(hsize_t)a->rank}, a->shape);
    for (int d = 0; d < a->rank; d++) {
        draft_label(to, numbered(name, "axis", d), a->names[d]);
        if (a->values[d])
            draft_array(to, numbered(name, "abscissa", d), STORE_DOUBLE, 1,
                        &(hsize_t){(hsize_t)a->shape[d]}, a->values[d]);
    }
}

static void read_shape(store *s, hid_t group, int64_t length, axes *a)
{
    hsize_t rank;
    *a = (axes){.rank = 1, .shape = {length}};
    if (!store_has(s, group, "shape")) return;
    int64_t *shape = store_get_array(s, group, "shape", STORE_INT64, 1, &rank);
    if (!s->failed && (rank < 2 || rank > PLUGMC_MOST_RANK))
        store_fail(s, "an array in it has %llu dimensions", (unsigned long long)rank);
    int64_t left = length;
    for (hsize_t d = 0; !s->failed && d < rank; d++) {
        if (shape[d] < 1 || left % shape[d]) {
            store_fail(s, "an array in it has a wrong shape");
            break;
        }
        a->shape[d] = shape[d];
        left /= shape[d];
    }
    if (!s->failed && left != 1) store_fail(s, "an array in it has a wrong shape");
    if (!s->failed) a->rank = (int)rank;
    free(shape);
}

void axes_read(store *s, hid_t group, int64_t length, axes *a)
{
    char name[32];
    read_shape(s, group, length, a);
    for (int d = 0; d < a->rank && !s->failed; d++) {
        hsize_t found;
        a->names[d] = store_get_label(s, group, numbered(name, "axis", d));
        if (!store_has(s, group, numbered(name, "abscissa", d))) continue;
        a->values[d] = store_get_array(s, group, name, STORE_DOUBLE, 1, &found);
        if (!s->failed && found != (hsize_t)a->shape[d])
            store_fail(s, "an abscissa in it has a wrong length");
    }
}

void axes_write_array(draft *to, const char *name, enum store_type type, const axes *a,
                      const void *data)
{
    hsize_t shape[PLUGMC_MOST_RANK];
    for (int d = 0; d < a->rank; d++) shape[d] = (hsize_t)a->shape[d];
    draft_array(to, name, type, a->rank, shape, data);
}

void *axes_read_array(store *s, hid_t group, const char *name, enum store_type type, const axes *a)
{
    hsize_t shape[PLUGMC_MOST_RANK] = {0};
    void *data = store_get_array(s, group, name, type, a->rank, shape);
    for (int d = 0; d < a->rank && !s->failed; d++)
        if (shape[d] != (hsize_t)a->shape[d])
            store_fail(s, "its '%s' of a derived array has a wrong length", name);
    return data;
}
