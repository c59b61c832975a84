/* See frame.h. */
#include "formats/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void frame_free(file_frame *f)
{
    for (int32_t k = 0; k < f->names && f->name; k++) free(f->name[k]);
    for (int k = 0; k < FRAME_PROPERTIES; k++) free(f->property[k]);
    free(f->name);
    free(f->positions);
    free(f->orientations);
    free(f->species);
    free(f->box);
    free(f->exact);
    free(f->number);
    free(f->line);
    *f = (file_frame){0};
}

int64_t frame_number(int64_t which, int64_t count, char why[FRAME_WHY])
{
    const int64_t number = which < 0 ? count + which : which;
    if (number >= 0 && number < count) return number;
    snprintf(why, FRAME_WHY,
             "there is no frame %lld: the file has %lld, 0 to %lld, or -%lld to -1 from the end",
             (long long)which, (long long)count, (long long)count - 1, (long long)count);
    return -1;
}

/* ---- As bytes -------------------------------------------------------------------------------- */

typedef struct frame_head {
    int64_t count;
    int32_t walkers, boxes, names;
    uint32_t has; /* bit 0: species, then the properties, then orientations */
    bool open[3], has_seed;
    uint64_t seed;
} frame_head;

void *frame_pack(const file_frame *f, size_t *bytes)
{
    char *packed = NULL;
    const size_t n = (size_t)f->walkers * (size_t)f->count;
    frame_head head = {.count = f->count,
                       .walkers = f->walkers,
                       .boxes = f->boxes,
                       .names = f->names,
                       .has = f->species != NULL,
                       .has_seed = f->has_seed,
                       .seed = f->seed};
    memcpy(head.open, f->open, sizeof head.open);
    for (int k = 0; k < FRAME_PROPERTIES; k++) head.has |= (f->property[k] != NULL) << (k + 1);
    head.has |= (f->orientations != NULL) << (FRAME_PROPERTIES + 1);
    FILE *out = open_memstream(&packed, bytes);
    if (!out) return NULL;
    fwrite(&head, sizeof head, 1, out);
    fwrite(f->positions, sizeof *f->positions, 3 * n, out);
    if (f->species) fwrite(f->species, sizeof *f->species, n, out);
    for (int k = 0; k < FRAME_PROPERTIES; k++)
        if (f->property[k]) fwrite(f->property[k], sizeof(double), n, out);
    if (f->orientations) fwrite(f->orientations, sizeof *f->orientations, 4 * n, out);
    if (f->boxes) fwrite(f->box, sizeof *f->box, (size_t)f->boxes, out);
    for (int32_t k = 0; k < f->names; k++) fwrite(f->name[k], strlen(f->name[k]) + 1, 1, out);
    const bool good = !ferror(out);
    if (!fclose(out) && good) return packed;
    free(packed);
    return NULL;
}

/* `bytes` of what is left, copied; NULL: there are not so many, or memory is short. */
static void *take_bytes(const char **from, const char *end, size_t bytes)
{
    void *out = (size_t)(end - *from) < bytes ? NULL : malloc(bytes + 1);
    if (out) memcpy(out, *from, bytes);
    if (out) *from += bytes;
    return out;
}

bool frame_unpack(file_frame *f, const void *packed, size_t bytes)
{
    const char *from = packed, *end = from + bytes;
    frame_head head;
    *f = (file_frame){0};
    if (bytes < sizeof head) return false;
    memcpy(&head, from, sizeof head);
    from += sizeof head;
    const size_t n = (size_t)head.walkers * (size_t)head.count;
    f->walkers = head.walkers;
    f->count = head.count;
    f->boxes = head.boxes;
    memcpy(f->open, head.open, sizeof f->open);
    f->has_seed = head.has_seed;
    f->seed = head.seed;
    bool good = (f->positions = take_bytes(&from, end, 3 * n * sizeof(double))) != NULL;
    if (good && head.has & 1)
        good = (f->species = take_bytes(&from, end, n * sizeof(int32_t))) != NULL;
    for (int k = 0; k < FRAME_PROPERTIES && good; k++)
        if (head.has >> (k + 1) & 1)
            good = (f->property[k] = take_bytes(&from, end, n * sizeof(double))) != NULL;
    if (good && head.has >> (FRAME_PROPERTIES + 1) & 1)
        good = (f->orientations = take_bytes(&from, end, 4 * n * sizeof(double))) != NULL;
    if (good && f->boxes)
        good = (f->box = take_bytes(&from, end, (size_t)f->boxes * sizeof *f->box)) != NULL;
    if (good && head.names) good = (f->name = calloc((size_t)head.names, sizeof *f->name)) != NULL;
    for (int32_t k = 0; k < head.names && good; k++) {
        const size_t length = strnlen(from, (size_t)(end - from));
        good = from + length < end && (f->name[k] = take_bytes(&from, end, length + 1)) != NULL;
        if (good) f->names++;
    }
    if (!good) frame_free(f);
    return good;
}
