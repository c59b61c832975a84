/* See archive/trajectory_resume.h. */
#include "archive/trajectory_resume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "archive/frames.h"
#include "archive/trajectory.h"

static int no_memory(const char *output, report *r)
{
    return report_error(r, EXIT_MEMORY, NULL, 0, "no memory for the trajectory of %s", output);
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
    *to =
        (frame){.positions = malloc(3 * sizeof(double) * walkers * (size_t)system->particles + 1)};
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
                                "cannot write the frames of %s into a file of their own: %s",
                                output, why);
    }
    trajectory_go_back(t, t->written); /* what could not be written */
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
    if (!t->inside)
        trajectory_find(t, output, data->system->walkers);
    else if (data->file.stamp[0]) /* the same if this is interrupted and done again */
        snprintf(t->run, sizeof t->run, "%.*s", IDENTITY_SIZE - 1, data->file.stamp);
    int code = trajectory_open(data, &found, &frames, why);
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
