/* Carrying out a draft: what it has becomes calls of HDF5. See archive/draft.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/draft.h"
#include "base/bytes.h"
#include "base/report.h"

enum { MOST_DEPTH = 16 };

typedef struct writer {
    store store;
    FILE *in;
    hid_t
        within[MOST_DEPTH]; /* groups (or an array) that have been entered; the first is the file */
    int depth;
} writer;

static hid_t here(const writer *w) { return w->within[w->depth]; }

/* The next bytes, to be freed, with a zero behind them; NULL with a failure. */
static void *take(writer *w, size_t bytes)
{
    char *data = bytes_take(bytes + 1);
    if (!data) store_short(&w->store);
    if (data && fread(data, 1, bytes, w->in) != bytes) {
        store_fail(&w->store, "what is to be written ends too early");
        free(data);
        return NULL;
    }
    if (data) data[bytes] = 0;
    return data;
}

/* ---- Groups and attributes -------------------------------------------------------------------- */

static void enter(writer *w, const char *name)
{
    store *s = &w->store;
    hid_t object = -1;
    if (w->depth + 1 == MOST_DEPTH) {
        store_fail(s, "its groups are nested too deeply");
    } else if (store_has(s, here(w), name)) {
        object = H5Oopen(here(w), name, H5P_DEFAULT);
    } else if (!s->failed) {
        hid_t creation = store_creation_list(H5P_GROUP_CREATE);
        object = H5Gcreate2(here(w), name, H5P_DEFAULT, creation, H5P_DEFAULT);
        H5Pclose(creation);
    }
    if (!s->failed && store_good(s, object)) w->within[++w->depth] = object;
}

static void leave(writer *w)
{
    if (w->depth) H5Oclose(w->within[w->depth--]);
}

static void write_attribute(writer *w, const draft_entry *e, const char *name, hid_t type)
{
    store *s = &w->store;
    void *data = take(w, e->bytes);
    if (!data) return;
    hid_t space = e->rank ? H5Screate_simple(1, e->shape, NULL) : H5Screate(H5S_SCALAR);
    hid_t out = H5Acreate2(here(w), name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (store_good(s, out)) {
        store_good(s, H5Awrite(out, type, data));
        H5Aclose(out);
    }
    H5Sclose(space);
    free(data);
}

/* Of fixed length, final zero included: H5MD asks for it, and texts of variable length lie in a
 * heap without a checksum. */
static hid_t text_type(size_t bytes, H5T_cset_t set)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, bytes);
    H5Tset_cset(type, set);
    return type;
}

static size_t width_of(const draft_entry *e) { return e->bytes / (e->rank ? e->shape[0] : 1); }

static void write_labels(writer *w, const draft_entry *e, const char *name)
{
    hid_t type = text_type(width_of(e), e->rank ? H5T_CSET_ASCII : H5T_CSET_UTF8);
    write_attribute(w, e, name, type);
    H5Tclose(type);
}

/* ---- Arrays ----------------------------------------------------------------------------------- */

static hsize_t elements(int rank, const hsize_t *shape)
{
    hsize_t n = 1;
    for (int i = 0; i < rank; i++) n *= shape[i];
    return n;
}

/* Rows of about 16 KiB, or an equal part of a long row: about a MiB, since HDF5 takes new memory for each chunk if they
 * are large, and fetching that costs more than the checksum. */
static void choose_chunk(hid_t type, int rank, const hsize_t *shape, hsize_t *chunk)
{
    const hsize_t few = 16 << 10, many = 1 << 20;
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
    hid_t space = H5Screate(H5S_SCALAR), creation = store_creation_list(H5P_DATASET_CREATE);
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

/* What was written, to be freed. */
static void *write_array(writer *w, const draft_entry *e, const char *name, hid_t type,
                         hid_t *array)
{
    store *s = &w->store;
    void *data = take(w, e->bytes);
    *array = data ? make_array(s, here(w), name, type, e->rank, e->shape, false) : -1;
    if (*array >= 0 && e->bytes)
        store_good(s, H5Dwrite(*array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    return data;
}

static void write_numbers(writer *w, const draft_entry *e, const char *name)
{
    hid_t array;
    free(write_array(w, e, name, store_native((enum store_type)e->type), &array));
    if (array >= 0) H5Dclose(array);
}

static void write_sum(store *s, hid_t array, const char *text)
{
    char sum[STORE_SUM];
    store_sum(text, sum);
    hid_t type = text_type(sizeof sum, H5T_CSET_UTF8), space = H5Screate(H5S_SCALAR);
    hid_t out = H5Acreate2(array, "sha256", type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (store_good(s, out)) {
        store_good(s, H5Awrite(out, type, sum));
        H5Aclose(out);
    }
    H5Sclose(space);
    H5Tclose(type);
}

static void write_texts(writer *w, const draft_entry *e, const char *name)
{
    hid_t array, type = text_type(width_of(e), H5T_CSET_UTF8);
    char *text = write_array(w, e, name, type, &array);
    H5Tclose(type);
    if (array >= 0 && !e->rank && !w->store.failed) write_sum(&w->store, array, text);
    if (array >= 0) H5Dclose(array);
    free(text);
}

/* ---- Arrays that grow ------------------------------------------------------------------------- */

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

static hid_t open_rows(store *s, hid_t parent, const char *name, const draft_entry *e)
{
    if (!e->before)
        return make_array(s, parent, name, store_native((enum store_type)e->type), e->rank,
                          e->shape, true);
    hid_t array = store_has(s, parent, name) ? store_open_array(s, parent, name) : -1;
    if (array < 0 || !cut_rows(s, array, e->rank, e->shape, e->before))
        store_fail(s, "its '%s' does not have the rows that this run wrote", name);
    else
        store_good(s, H5Dset_extent(array, e->shape));
    return array;
}

/* `count` rows from `first` on. */
static void write_some(store *s, hid_t array, const draft_entry *e, hsize_t first, hsize_t count,
                       const void *data)
{
    hsize_t start[STORE_RANK] = {first}, shape[STORE_RANK];
    memcpy(shape, e->shape, sizeof shape);
    shape[0] = count;
    hid_t all = H5Dget_space(array), rows = H5Screate_simple(e->rank, shape, NULL);
    if (store_good(s, all) && store_good(s, rows))
        store_good(s, H5Sselect_hyperslab(all, H5S_SELECT_SET, start, NULL, shape, NULL));
    if (!s->failed)
        store_good(s, H5Dwrite(array, store_native((enum store_type)e->type), rows, all,
                               H5P_DEFAULT, data));
    H5Sclose(rows);
    H5Sclose(all);
}

/* Some rows at once: together they may be more than fits into memory twice. */
static void write_rows(writer *w, const draft_entry *e, const char *name)
{
    enum { AT_ONCE = 16 << 20 };
    store *s = &w->store;
    const hsize_t all = e->shape[0], row = all > e->before ? e->bytes / (all - e->before) : 1;
    hid_t array = open_rows(s, here(w), name, e);
    for (hsize_t first = e->before, count; first < all && !s->failed; first += count) {
        count = row < AT_ONCE ? AT_ONCE / row : 1;
        if (count > all - first) count = all - first;
        void *data = take(w, count * row);
        if (data) write_some(s, array, e, first, count, data);
        free(data);
    }
    if (array >= 0) H5Dclose(array);
}

/* ---- All of it -------------------------------------------------------------------------------- */

static void link_to(writer *w, const draft_entry *e, const char *name)
{
    store *s = &w->store;
    char *path = take(w, e->bytes);
    if (path) store_good(s, H5Lcreate_hard(s->file, path, here(w), name, H5P_DEFAULT, H5P_DEFAULT));
    free(path);
}

static void carry_out(writer *w, const draft_entry *e, const char *name)
{
    switch ((enum draft_kind)e->kind) {
    case DRAFT_ENTER: enter(w, name); break;
    case DRAFT_LEAVE: leave(w); break;
    case DRAFT_NUMBERS: write_attribute(w, e, name, store_native((enum store_type)e->type)); break;
    case DRAFT_LABELS: write_labels(w, e, name); break;
    case DRAFT_TEXTS: write_texts(w, e, name); break;
    case DRAFT_ARRAY: write_numbers(w, e, name); break;
    case DRAFT_ROWS: write_rows(w, e, name); break;
    case DRAFT_LINK: link_to(w, e, name); break;
    default: store_fail(&w->store, "an unknown entry (%d) of what is to be written", e->kind);
    }
}

static void write_entry(writer *w)
{
    draft_entry e;
    if (fread(&e, sizeof e, 1, w->in) != 1) {
        store_fail(&w->store, "what is to be written ends too early");
        return;
    }
    char *name = take(w, e.name_bytes);
    if (name) carry_out(w, &e, name);
    free(name);
}

static void finish(store *s, int fd)
{
    store_close(s);
    const int code = s->failed || !s->changes.blocks ? 0 : changes_write(&s->changes, fd, s->size);
    if (code) store_fail(s, "%s", strerror(s->error = code));
    changes_free(&s->changes);
}

void draft_carry_out(FILE *in, int fd, int grown, bool lives_on, outcome *end)
{
    writer w = {.in = in};
    uint64_t entries = 0;
    store_open(&w.store, grown < 0 ? fd : grown, grown < 0 ? STORE_NEW : STORE_GROWN);
    w.within[0] = w.store.file;
    if (!w.store.failed && fread(&entries, sizeof entries, 1, in) != 1)
        store_fail(&w.store, "what is to be written has no beginning");
    while (entries-- && !w.store.failed) write_entry(&w);
    if (lives_on || !w.store.failed) finish(&w.store, fd);
    if (w.store.error) /* the cause of whatever else went wrong */
        snprintf(w.store.reason, sizeof w.store.reason, "%s", strerror(w.store.error));
    *end = store_outcome(&w.store);
}

int draft_serve(int socket, int fd, int grown)
{
    outcome end;
    FILE *in = fdopen(socket, "r");
    if (!in) return EXIT_INTERNAL;
    draft_carry_out(in, fd, grown, false, &end);
    return bytes_write(socket, &end, sizeof end) ? EXIT_DONE : EXIT_INTERNAL;
}
