/* See archive/trajectory.h. */
#include "archive/trajectory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/replacement.h"

/* ---- Names ------------------------------------------------------------------------------------ */

char *trajectory_base(const char *output)
{
    const char *slash = strrchr(output, '/'), *dot = strrchr(slash ? slash : output, '.');
    const bool known = dot && (!strcmp(dot, ".h5") || !strcmp(dot, ".hdf5"));
    return strndup(output, known ? (size_t)(dot - output) : strlen(output));
}

char *trajectory_path(const output_trajectory *t, int walker, int walkers)
{
    char *path;
    if (!t->base) return NULL;
    const int code = t->format == TRAJECTORY_OF_H5MD ? asprintf(&path, "%s.h5md", t->base)
                     : walkers > 1                   ? asprintf(&path, "%s_%d.gsd", t->base, walker)
                                                     : asprintf(&path, "%s.gsd", t->base);
    return code < 0 ? NULL : path;
}

static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

char *trajectory_seen_from(const output_trajectory *t, const char *output)
{
    if (!t->base) return strdup("");
    const size_t own = folder_length(t->base);
    if (own == folder_length(output) && !strncmp(t->base, output, own))
        return strdup(t->base + own);
    char *folder = own ? strndup(t->base, own) : strdup("."), *real = NULL, *seen;
    if (folder) real = realpath(folder, NULL);
    const int code = real     ? asprintf(&seen, "%s/%s", real, t->base + own)
                     : folder ? asprintf(&seen, "%s", t->base)
                              : -1;
    free(folder), free(real);
    return code < 0 ? NULL : seen;
}

int trajectory_failed(int error, const char *path, char why[OUTPUT_WHY])
{
    snprintf(why, OUTPUT_WHY, "%s: %s", path,
             error == EEXIST    ? "it is there already, and is not the trajectory of this run"
             : error == EBADMSG ? "it is damaged, or another program has changed it"
                                : replacement_words(error));
    return error == ENOMEM ? EXIT_MEMORY : EXIT_OUTPUT;
}

/* ---- Appending -------------------------------------------------------------------------------- */

static void free_frame(frame *f)
{
    free(f->positions), free(f->boxes), free(f->orientations), free(f->weights);
    *f = (frame){0};
}

static void free_frames(output_trajectory *t)
{
    for (int f = 0; f < t->frame_count; f++) {
        free_frame(&t->frames[f]);
    }
    t->frame_count = 0;
}

static int append(output_data *data, char why[OUTPUT_WHY])
{
    return data->trajectory.format == TRAJECTORY_OF_H5MD ? h5md_trajectory_append(data, why)
                                                         : gsd_trajectory_append(data, why);
}

/* Whether the files that had frames are gone: at least the first one. */
static bool are_gone(const output_data *data)
{
    const output_trajectory *t = &data->trajectory;
    char *first = t->written ? trajectory_path(t, 0, data->system->walkers) : NULL;
    const bool gone = first && access(first, F_OK) && errno == ENOENT;
    free(first);
    return gone;
}

int trajectory_append(output_data *data, lost_frames *lost, char why[OUTPUT_WHY])
{
    output_trajectory *t = &data->trajectory;
    const int count = t->frame_count;
    *lost = (lost_frames){0};
    if (!count && !t->cut) return EXIT_DONE;
    if (are_gone(data)) {
        *lost = (lost_frames){t->written, t->from, t->until};
        t->written = 0;
        gsd_trajectory_close(t);
    }
    const int code = append(data, why);
    if (code) {
        gsd_trajectory_close(t);
        return code;
    }
    if (!t->written && count) t->from = t->frames[0].sweep;
    if (count) t->until = t->frames[count - 1].sweep;
    t->written += count;
    t->cut = false;
    free_frames(t);
    return EXIT_DONE;
}

void trajectory_go_back(output_trajectory *t, int64_t frames)
{
    while (t->frame_count && t->written + t->frame_count > frames) {
        free_frame(&t->frames[--t->frame_count]);
    }
    if (t->written <= frames) return;
    t->written = frames;
    t->cut = true;
    gsd_trajectory_close(t);
}

void trajectory_move(output_trajectory *t, const char *output)
{
    gsd_trajectory_close(t);
    free(t->base);
    t->base = trajectory_base(output);
    t->written = 0;
    t->cut = false;
}

void trajectory_free(output_trajectory *t)
{
    gsd_trajectory_close(t);
    free_frames(t);
    free(t->frames), free(t->base);
    *t = (output_trajectory){0};
}

/* ---- Before a run ----------------------------------------------------------------------------- */

int trajectory_open(output_data *data, enum trajectory_found *found, int64_t *frames,
                    char why[OUTPUT_WHY])
{
    return data->trajectory.format == TRAJECTORY_OF_H5MD
               ? h5md_trajectory_open(data, found, frames, why)
               : gsd_trajectory_open(data, found, frames, why);
}

/* All files of the trajectory that are there, from one base to another; *any: there is one at the first. */
static int rename_files(const output_data *data, const char *from, const char *to, bool *any)
{
    output_trajectory one = data->trajectory, other = data->trajectory;
    const int walkers = data->system->walkers;
    int code = 0;
    one.base = (char *)from;
    other.base = (char *)to;
    for (int w = 0; w < (one.format == TRAJECTORY_OF_H5MD ? 1 : walkers) && !code; w++) {
        char *path = trajectory_path(&one, w, walkers),
             *new = to ? trajectory_path(&other, w, walkers) : NULL;
        if (!path || (to && !new)) code = ENOMEM;
        const bool there = !code && !access(path, F_OK);
        *any |= there;
        if (there && to && (!access(new, F_OK) ? (errno = EEXIST) : rename(path, new)))
            code = errno;
        free(path), free(new);
    }
    return code;
}

/* A base under which there are no files: of the output that was in the way, or with a number. */
static char *free_base(const output_data *data, const char *output)
{
    char *base = *output ? trajectory_base(output) : NULL;
    bool there = false;
    if (*output) return base;
    for (int k = 1; k < 10000; k++) {
        if (asprintf(&base, "%s.%d", data->trajectory.base, k) < 0) return NULL;
        there = false;
        rename_files(data, base, NULL, &there);
        if (!there) return base;
        free(base);
    }
    return NULL;
}

int trajectory_move_aside(output_data *data, const char *output, char **base, char why[OUTPUT_WHY])
{
    enum trajectory_found found = TRAJECTORY_NONE;
    int64_t none;
    bool any = false;
    *base = NULL;
    if (!data->trajectory.wanted || data->trajectory.written) return EXIT_DONE;
    const int code = trajectory_open(data, &found, &none, why);
    if (!code && found != TRAJECTORY_OTHER) return EXIT_DONE;
    char *free_one = free_base(data, output);
    const int error = free_one ? rename_files(data, data->trajectory.base, free_one, &any) : ENOMEM;
    if (!error) {
        *base = free_one;
        return EXIT_DONE;
    }
    free(free_one);
    snprintf(why, OUTPUT_WHY,
             "the trajectory %.900s is there already and cannot be moved aside: %s",
             data->trajectory.base, strerror(error));
    return error == ENOMEM ? EXIT_MEMORY : EXIT_OUTPUT;
}

void trajectory_put_back(const output_data *data, const char *base)
{
    bool any = false;
    if (base) rename_files(data, base, data->trajectory.base, &any);
}

/* ---- Whose it is --------------------------------------------------------------------------------- */

static bool is_own(const output_trajectory *t, const char *base, int walkers)
{
    output_trajectory there = *t;
    there.base = (char *)base;
    char *first = trajectory_path(&there, 0, walkers);
    const bool own =
        first && (t->format == TRAJECTORY_OF_H5MD ? h5md_trajectory_is_of(first, t->run)
                                                  : gsd_trajectory_is_of(first, t->run));
    free(first);
    return own;
}

bool trajectory_find(output_trajectory *t, const char *output, int walkers)
{
    if (t->base && is_own(t, t->base, walkers)) return true;
    char *beside = trajectory_base(output);
    if (!beside || !is_own(t, beside, walkers)) {
        free(beside);
        return false;
    }
    free(t->base);
    t->base = beside;
    return true;
}
