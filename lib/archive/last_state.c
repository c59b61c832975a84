/* The state of a checkpoint as a frame, for runs that begin with it. */
#include <stdlib.h>
#include <string.h>

#include "archive/parts.h"
#include "formats/orientations.h"

/* Names, one a line. */
static void read_names(store *s, file_frame *out, int32_t species)
{
    hid_t group = store_enter(s, s->file, "parameters");
    char *text = store_get_document(s, group, "species"), *rest = text;
    store_leave(s, group);
    out->name = s->failed ? NULL : calloc((size_t)species + 1, sizeof *out->name);
    if (!s->failed && !out->name) store_short(s);
    for (int32_t k = 0; k < species && !s->failed; k++) {
        const char *name = strsep(&rest, "\n");
        out->name[k] = name ? strdup(name) : NULL;
        if (out->name[k])
            out->names++;
        else
            store_fail(s, "it has no names of its species");
    }
    free(text);
}

/* The species of each particle, from how many there may be of each. */
static void read_species(store *s, hid_t checkpoint, file_frame *out)
{
    hsize_t kinds = 0;
    int64_t *capacity = store_get_array(s, checkpoint, "species", STORE_INT64, 1, &kinds), sum = 0;
    for (hsize_t k = 0; k < kinds && !s->failed; k++) {
        if (capacity[k] < 0 || capacity[k] > out->count - sum) break;
        sum += capacity[k];
    }
    if (!s->failed && sum != out->count)
        store_fail(s, "its species are not those of its positions");
    const size_t rows = (size_t)out->walkers * (size_t)out->count;
    out->species = s->failed ? NULL : malloc((rows + 1) * sizeof *out->species);
    if (!s->failed && !out->species) store_short(s);
    int64_t i = 0;
    for (hsize_t k = 0; k < kinds && !s->failed; k++)
        for (int64_t n = 0; n < capacity[k]; n++) out->species[i++] = (int32_t)k;
    for (int32_t w = 1; w < out->walkers && !s->failed; w++)
        memcpy(out->species + w * out->count, out->species,
               (size_t)out->count * sizeof *out->species);
    free(capacity);
    if (!s->failed) read_names(s, out, (int32_t)kinds);
}

/* One for all walkers, or one each. */
static void read_boxes(store *s, hid_t checkpoint, file_frame *out)
{
    hsize_t shape[3] = {0};
    double *found = store_get_array(s, checkpoint, "boxes", STORE_DOUBLE, 3, shape);
    if (!s->failed &&
        (shape[1] != 3 || shape[2] != 3 || (shape[0] != 1 && shape[0] < (hsize_t)out->walkers)))
        store_fail(s, "its boxes have a wrong shape");
    out->box = (double(*)[3][3])found;
    out->boxes = s->failed ? 0 : shape[0] == 1 ? 1 : out->walkers;
}

/* Of bodies: what the checkpoint has beside positions, in two or three dimensions. */
static void read_orientations(store *s, hid_t checkpoint, file_frame *out)
{
    const hsize_t row = (hsize_t)out->count * sizeof(plugmc_orientation);
    hid_t group = store_enter(s, checkpoint, "plugins");
    const int64_t count = read_integer(s, group, "count");
    for (int64_t i = 0; i < count && !s->failed && !out->orientations; i++) {
        char number[24];
        hsize_t shape[2] = {0};
        snprintf(number, sizeof number, "%lld", (long long)i);
        hid_t one = store_enter(s, group, number);
        char *name = store_get_document(s, one, "name");
        if (!s->failed && !strcmp(name, "run/orientations")) {
            plugmc_orientation *found = store_get_array(s, one, "data", STORE_BYTE, 2, shape);
            if (!s->failed && (shape[0] < (hsize_t)out->walkers || shape[1] != row))
                store_fail(s, "its orientations are not those of its positions");
            const int64_t n = out->walkers * out->count;
            out->orientations =
                s->failed ? NULL : malloc((4 * (size_t)n + 1) * sizeof *out->orientations);
            if (!s->failed && !out->orientations) store_short(s);
            for (int64_t k = 0; k < n && !s->failed; k++)
                quaternion_of(&found[k], &out->orientations[4 * k]);
            free(found);
        }
        free(name);
        store_leave(s, one);
    }
    store_leave(s, group);
}

static void read_seed(store *s, file_frame *out)
{
    hid_t group = store_enter(s, s->file, "parameters");
    if (!s->failed && H5Aexists(group, "seed") > 0) {
        store_get_attribute(s, group, "seed", STORE_UINT64, &out->seed);
        out->has_seed = !s->failed;
    }
    store_leave(s, group);
}

void last_state_read(store *s, int most, int64_t which, file_frame *out)
{
    hsize_t shape[3] = {0};
    if (which != -1 && which != 0) {
        store_fail(
            s, "it has the last state of its run alone: frames are in the trajectory beside it");
        return;
    }
    hid_t checkpoint = store_enter(s, s->file, "plugmc/checkpoint");
    out->positions = store_get_array(s, checkpoint, "positions", STORE_DOUBLE, 3, shape);
    if (!s->failed && (shape[2] != 3 || shape[0] < 1 || shape[0] > INT32_MAX))
        store_fail(s, "its positions have a wrong shape");
    if (!s->failed) {
        out->walkers = shape[0] < (hsize_t)most ? (int32_t)shape[0] : most;
        out->count = (int64_t)shape[1];
    }
    if (!s->failed) read_species(s, checkpoint, out);
    if (!s->failed && store_has(s, checkpoint, "boxes")) read_boxes(s, checkpoint, out);
    if (!s->failed && store_has(s, checkpoint, "plugins")) read_orientations(s, checkpoint, out);
    store_leave(s, checkpoint);
    if (!s->failed) read_seed(s, out);
}
