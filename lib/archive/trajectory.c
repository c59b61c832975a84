/* See archive/trajectory.h. */
#include "archive/trajectory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/frames.h"
#include "base/paths.h"

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
                     : walkers > 1 ? asprintf(&path, "%s_%d.gsd", t->base, walker)
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
    if (own == folder_length(output) && !strncmp(t->base, output, own)) return strdup(t->base + own);
    char *folder = own ? strndup(t->base, own) : strdup("."), *real = NULL, *seen;
    if (folder) real = realpath(folder, NULL);
    const int code = real     ? asprintf(&seen, "%s/%s", real, t->base + own)
                     : folder ? asprintf(&seen, "%s", t->base)
                              : -1;
    free(folder), free(real);
    return code < 0 ? NULL : seen;
}

/* ---- Appending -------------------------------------------------------------------------------- */

static void free_frames(output_trajectory *t)
{
    for (int f = 0; f < t->frame_count; f++) {
        free(t->frames[f].positions), free(t->frames[f].boxes);
        t->frames[f] = (frame){0};
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
        t->frame_count--;
        free(t->frames[t->frame_count].positions), free(t->frames[t->frame_count].boxes);
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

int trajectory_probe(const output_trajectory *t, int walkers, report *r)
{
    for (int w = 0; w < (t->format == TRAJECTORY_OF_H5MD ? 1 : walkers); w++) {
        char *path = trajectory_path(t, w, walkers);
        if (!path) return report_error(r, EXIT_MEMORY, NULL, 0, "no memory for names of files");
        const bool there = !access(path, F_OK);
        if (there)
            report_error(r, EXIT_OUTPUT, NULL, 0,
                         "cannot write %s: it is there already; move it, or give another [run] "
                         "output, from which it has its name",
                         path);
        free(path);
        if (there) return EXIT_OUTPUT;
    }
    return EXIT_DONE;
}

/* ---- Going on --------------------------------------------------------------------------------- */

static int no_memory(const char *output, report *r)
{
    return report_error(r, EXIT_MEMORY, NULL, 0, "no memory for the trajectory of %s", output);
}

/* If output and trajectory have been given another name together, they are still found. */
static void find_base(output_data *data, const char *output)
{
    output_trajectory *t = &data->trajectory;
    char *beside = trajectory_base(output), *first = trajectory_path(t, 0, data->system->walkers);
    const bool there = first && !access(first, F_OK);
    free(first);
    if (there || !beside) {
        free(beside);
        return;
    }
    free(t->base);
    t->base = beside;
}

static int open_files(output_data *data, enum trajectory_found *found, int64_t *frames,
                      char why[OUTPUT_WHY])
{
    return data->trajectory.format == TRAJECTORY_OF_H5MD
               ? h5md_trajectory_open(data, found, frames, why)
               : gsd_trajectory_open(data, found, frames, why);
}

/* What a frame that was read is in memory between two checkpoints, for one walker of it. Particles that come and go may
 * have had other numbers, as there was less room for them. */
static void put_in_place(const read_frame *from, const plugmc_system *system, int walker, frame *to)
{
    double *row = to->positions + 3 * system->particles * walker;
    int32_t species = 0;
    int64_t next = 0;
    for (int64_t i = 0; i < 3 * system->particles; i++) row[i] = NAN;
    for (int64_t i = 0; i < from->count; i++) {
        if (from->species[i] != species) next = system->first[species = from->species[i]];
        memcpy(&row[3 * next++], &from->positions[3 * i], 3 * sizeof *row);
    }
    if (to->boxes) to->boxes[walker] = from->box;
}

static int copy_frame(run_frames *from, output_data *data, int64_t k, frame *to, report *r)
{
    const plugmc_system *system = data->system;
    const size_t walkers = (size_t)system->walkers;
    *to = (frame){.positions =
                      malloc(3 * sizeof(double) * walkers * (size_t)system->particles + 1)};
    if (system->changes & PLUGMC_CHANGED_BOX) to->boxes = malloc(walkers * sizeof *to->boxes);
    if (!to->positions || (system->changes & PLUGMC_CHANGED_BOX && !to->boxes))
        return no_memory(from->path, r);
    int code = EXIT_DONE;
    for (int w = 0; w < system->walkers && !code; w++) {
        bool lost;
        code = frames_read(from, w, k, 1, &lost, r);
        if (!code && lost)
            code = report_error(r, EXIT_CHECKPOINT, from->path, 0,
                                "frame %lld of its trajectory cannot be read: %s; plugmc export "
                                "writes the others",
                                (long long)k, from->why);
        if (!code) put_in_place(&from->now, system, w, to);
        to->sweep = from->now.sweep;
    }
    return code;
}

/* Frames in the output file come into files of their own; the next checkpoint has them no more. */
static int bring_out(output_data *data, const char *output, report *r)
{
    output_trajectory *t = &data->trajectory;
    run_frames from = {.walker = -1};
    output_data inside = *data;
    char why[OUTPUT_WHY];
    lost_frames none;
    frame one;
    const int64_t count = t->written;
    int code = frames_open(&from, output, output, &inside, data->system, r);
    t->inside = false;
    t->written = 0;
    t->frames = malloc(sizeof *t->frames);
    if (!t->frames && !code) code = no_memory(output, r);
    for (int64_t k = 0; k < count && !code; k++) {
        /* one by one: there is no more memory for them than for a state */
        code = copy_frame(&from, data, k, &one, r);
        t->frames[0] = one;
        t->frame_count = 1;
        if (!code && trajectory_append(data, &none, why))
            code = report_error(r, EXIT_OUTPUT, NULL, 0,
                                "cannot write the frames of %s into a file of their own: %s", output,
                                why);
    }
    free_frames(t);
    frames_close(&from);
    if (!code && count)
        report_note(r, "%s: its %lld frames are in files of their own now, %s.%s", output,
                    (long long)count, t->base, t->format == TRAJECTORY_OF_H5MD ? "h5md" : "gsd");
    return code;
}

static int tell_gone(output_trajectory *t, int64_t frames, const char *path, report *r)
{
    if (frames == t->written) return EXIT_DONE;
    if (frames)
        report_warning(r, path, 0, "has the first %lld of %lld frames alone; the others are gone",
                       (long long)frames, (long long)t->written);
    else
        report_warning(r, path, 0,
                       "is gone, with the %lld frames of sweeps %llu to %llu; a new one begins "
                       "with the next frame",
                       (long long)t->written, (unsigned long long)t->from,
                       (unsigned long long)t->until);
    t->written = frames;
    return EXIT_DONE;
}

int trajectory_take_up(output_data *data, const char *output, report *r)
{
    output_trajectory *t = &data->trajectory;
    enum trajectory_found found = TRAJECTORY_NONE;
    int64_t frames = 0;
    char why[OUTPUT_WHY] = "";
    if (!t->wanted) return EXIT_DONE;
    if (!t->base && !(t->base = trajectory_base(output))) return no_memory(output, r);
    if (!t->inside) find_base(data, output);
    int code = open_files(data, &found, &frames, why);
    char *path = trajectory_path(t, 0, data->system->walkers);
    if (!path) code = code ? code : no_memory(output, r);
    if (code && path)
        report_error(r, code, NULL, 0, "cannot go on with the trajectory %s: %s", path, why);
    else if (!code && found == TRAJECTORY_OTHER)
        code = report_error(r, EXIT_OUTPUT, NULL, 0,
                            "cannot write %s: it is not the trajectory of this run; move it to go "
                            "on without the frames that it should have",
                            path);
    else if (!code && !t->inside)
        code = tell_gone(t, frames, path, r);
    free(path);
    return !code && t->inside ? bring_out(data, output, r) : code;
}
