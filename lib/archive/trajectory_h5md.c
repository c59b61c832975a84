/* A trajectory in H5MD: one file for all walkers.
 *
 * HDF5 changes a file in several places when an array grows; who is killed between two of them leaves neither the old
 * file nor the new one. So what is to be written goes into a file of changes beside it first, NAME.h5md.changes, which
 * is complete once it has this name. Then it is applied, which can be done again from the beginning as often as wanted. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/changes.h"
#include "archive/parts.h"
#include "archive/replacement.h"
#include "archive/trajectory.h"

static char *changes_name(const char *path)
{
    char *name;
    return asprintf(&name, "%s.changes", path) < 0 ? NULL : name;
}

/* ---- Appending -------------------------------------------------------------------------------- */

static int writing_failed(output_data *data, const outcome *end, const char *path,
                          char why[OUTPUT_WHY])
{
    snprintf(why, OUTPUT_WHY, "%s: %.900s", path, end->reason);
    data->file.error = end->error;
    return end->memory_short ? EXIT_MEMORY : EXIT_OUTPUT;
}

static void write_header(draft *d, const output_data *data)
{
    h5md_write_header(d, data);
    draft_enter(d, "parameters");
    draft_label(d, "run", data->trajectory.run);
    draft_leave(d);
}

/* The first frames: a new file, under another name until it is whole. */
static int begin(output_data *data, const char *path, char why[OUTPUT_WHY])
{
    replacement file;
    draft d = {0};
    outcome end;
    int code = replacement_begin(&file, path, data->file.identity, REPLACES_ANY);
    if (code) return trajectory_failed(code, path, why);
    write_header(&d, data);
    h5md_write_frames(&d, data, 0);
    draft_write(&d, file.fd, -1, &end);
    if (end.failed) {
        replacement_abandon(&file);
        return writing_failed(data, &end, path, why);
    }
    code = replacement_finish(&file);
    return code ? trajectory_failed(code, path, why) : EXIT_DONE;
}

/* Gives a file of changes its name, when it and what is new are on the disk, and applies it. */
static int complete(const replacement *file, int grown, const char *changes, const char *path)
{
    if (fsync(grown) || fsync(file->fd) || rename(file->temporary, changes)) return errno;
    replacement_flush_folder(changes);
    return changes_apply(changes, path);
}

/* Why what another process has left could not be completed. */
static int tell_changes(int error, const char *changes, const char *path, char why[OUTPUT_WHY])
{
    const int version = error == EBADMSG ? changes_version(changes) : 0;
    if (!version || version == changes_own_version()) return trajectory_failed(error, path, why);
    snprintf(why, OUTPUT_WHY,
             "%s: %s is of version %d of plugmc's files of changes, and this program reads version "
             "%d: go on with the program that has written it",
             path, changes, version, changes_own_version());
    return EXIT_OUTPUT;
}

/* What could not be completed goes from the end of the file. */
static int grow(output_data *data, const char *path, const char *changes, char why[OUTPUT_WHY])
{
    replacement file;
    draft d = {0};
    outcome end;
    struct stat before;
    const int grown = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    int code = grown < 0 || fstat(grown, &before) ? errno : 0;
    if (!code) code = replacement_begin(&file, path, data->file.identity, REPLACES_ANY);
    if (code) {
        if (grown >= 0) close(grown);
        return trajectory_failed(code, path, why);
    }
    h5md_write_frames(&d, data, data->trajectory.written);
    draft_write(&d, file.fd, grown, &end);
    if (end.failed) code = writing_failed(data, &end, path, why);
    if (!code && (code = complete(&file, grown, changes, path)))
        code = trajectory_failed(code, path, why);
    if (code && access(changes, F_OK) && ftruncate(grown, before.st_size))
        code = trajectory_failed(errno, path, why);
    close(grown);
    replacement_abandon(&file);
    return code;
}

int h5md_trajectory_append(output_data *data, char why[OUTPUT_WHY])
{
    const output_trajectory *t = &data->trajectory;
    char *path = trajectory_path(t, 0, 1), *changes = path ? changes_name(path) : NULL;
    int code = EXIT_DONE;
    if (!changes) {
        code = trajectory_failed(ENOMEM, t->base, why);
    } else if (t->written) {
        if (!access(changes, F_OK)) code = changes_apply(changes, path);
        code = code ? tell_changes(code, changes, path, why) : grow(data, path, changes, why);
    } else if (t->frame_count) { /* else the next ones replace what is there */
        code = begin(data, path, why);
    }
    free(path), free(changes);
    return code;
}

/* ---- Going on --------------------------------------------------------------------------------- */

/* The run that a file is of, and how many frames it has. */
static int look(const char *path, char run[IDENTITY_SIZE], int64_t *frames, char why[OUTPUT_WHY])
{
    store s;
    hsize_t count = 0;
    run[0] = 0;
    store_open_path_apart(&s, path);
    const int fd = s.fd;
    const bool whole = store_has(&s, s.file, "particles/trajectory/position/step") &&
                       store_has(&s, s.file, "parameters");
    hid_t group = whole ? store_enter(&s, s.file, "parameters") : -1;
    char *text = whole ? store_get_label(&s, group, "run") : NULL;
    if (text) snprintf(run, IDENTITY_SIZE, "%s", text);
    if (whole) store_leave(&s, group);
    if (text)
        free(store_get_array(&s, s.file, "particles/trajectory/position/step", STORE_INT64, 1,
                             &count));
    const bool of_another = !text;
    free(text);
    *frames = (int64_t)count;
    const int damaged = store_close(&s);
    if (fd >= 0) close(fd);
    if (damaged) snprintf(why, OUTPUT_WHY, "%.1000s", s.reason);
    return damaged && !of_another ? EXIT_OUTPUT : EXIT_DONE;
}

bool h5md_trajectory_is_of(const char *path, const char *run)
{
    char found[IDENTITY_SIZE], why[OUTPUT_WHY];
    int64_t frames;
    return !access(path, F_OK) && !look(path, found, &frames, why) && !strcmp(found, run);
}

int h5md_trajectory_open(output_data *data, enum trajectory_found *found, int64_t *frames,
                         char why[OUTPUT_WHY])
{
    output_trajectory *t = &data->trajectory;
    char *path = trajectory_path(t, 0, 1), *changes = path ? changes_name(path) : NULL;
    char run[IDENTITY_SIZE];
    int64_t there = 0;
    int code = changes ? 0 : trajectory_failed(ENOMEM, t->base, why);
    *found = TRAJECTORY_NONE;
    *frames = 0;
    if (!code) lock_remove_strays(path);
    if (!code && !access(changes, F_OK)) {
        code = changes_apply(changes, path);
        if (code) code = tell_changes(code, changes, path, why);
    }
    if (!code && !access(path, F_OK)) {
        code = look(path, run, &there, why);
        *found = strcmp(run, t->run) ? TRAJECTORY_OTHER : TRAJECTORY_OWN;
    }
    if (!t->inside && *found == TRAJECTORY_OWN) {
        *frames = there < t->written ? there : t->written;
        t->cut = there > t->written;
    }
    free(path), free(changes);
    return code;
}
