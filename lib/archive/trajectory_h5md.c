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

#include "archive/parts.h"
#include "archive/replacement.h"
#include "archive/trajectory.h"

static int failed(int error, const char *path, char why[OUTPUT_WHY])
{
    snprintf(why, OUTPUT_WHY, "%s: %s", path,
             error == EBADMSG ? "it is damaged" : replacement_words(error));
    return error == ENOMEM ? EXIT_MEMORY : EXIT_OUTPUT;
}

static int store_failed(output_data *data, const store *s, const char *path, char why[OUTPUT_WHY])
{
    snprintf(why, OUTPUT_WHY, "%s: %.900s", path, s->reason);
    data->file.error = s->error;
    return s->memory_short ? EXIT_MEMORY : EXIT_OUTPUT;
}

/* ---- Changes ---------------------------------------------------------------------------------- */

/* At the end of a file of changes, which is as long as the file that it changes and has blocks in their places there;
 * before it are the bits of `touched`. */
typedef struct changes_end {
    char magic[8];
    uint64_t size;  /* of the file with these changes */
    uint64_t bytes; /* of the bits */
} changes_end;

static const char magic[8] = "h5mdchg";

static char *changes_name(const char *path)
{
    char *name;
    return asprintf(&name, "%s.changes", path) < 0 ? NULL : name;
}

static int move_bytes(int fd, void *data, size_t bytes, uint64_t at, bool writing)
{
    for (char *p = data; bytes;) {
        const ssize_t n =
            writing ? pwrite(fd, p, bytes, (off_t)at) : pread(fd, p, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n ? errno : writing ? ENOSPC : EBADMSG;
        p += n, at += (uint64_t)n, bytes -= (size_t)n;
    }
    return 0;
}

/* Completes a file of changes that is open, and gives it its name. */
static int complete(replacement *file, const char *name, touched *touched)
{
    struct stat info;
    if (touched->unknown) return ENOMEM;
    int code = fstat(file->fd, &info) ? errno : 0;
    changes_end end = {.size = (uint64_t)info.st_size, .bytes = touched->bytes};
    memcpy(end.magic, magic, sizeof end.magic);
    if (!code) code = move_bytes(file->fd, touched->bits, touched->bytes, end.size, true);
    if (!code) code = move_bytes(file->fd, &end, sizeof end, end.size + end.bytes, true);
    if (!code && fsync(file->fd)) code = errno;
    if (!code && rename(file->temporary, name)) code = errno;
    if (!code) replacement_flush_folder(name);
    return code;
}

static int copy_range(int from, int to, uint64_t at, uint64_t end)
{
    enum { PIECE = 1 << 20 };
    char *piece = malloc(PIECE);
    int code = piece ? 0 : ENOMEM;
    while (at < end && !code) {
        const size_t n = end - at < PIECE ? (size_t)(end - at) : PIECE;
        code = move_bytes(from, piece, n, at, false);
        if (!code) code = move_bytes(to, piece, n, at, true);
        at += n;
    }
    free(piece);
    return code;
}

static int read_end(int fd, changes_end *end, touched *touched)
{
    struct stat info;
    if (fstat(fd, &info)) return errno;
    const uint64_t bytes = (uint64_t)info.st_size;
    if (bytes < sizeof *end) return EBADMSG;
    int code = move_bytes(fd, end, sizeof *end, bytes - sizeof *end, false);
    if (!code && (memcmp(end->magic, magic, sizeof magic) || end->size > bytes ||
                  end->bytes != bytes - end->size - sizeof *end))
        code = EBADMSG;
    if (code) return code;
    touched->bits = malloc((size_t)end->bytes + 1);
    touched->bytes = (size_t)end->bytes;
    return touched->bits ? move_bytes(fd, touched->bits, touched->bytes, end->size, false) : ENOMEM;
}

/* Applies a file of changes, and removes it when what was changed is on the disk. */
static int apply(const char *name, const char *path)
{
    changes_end end;
    touched touched = {0};
    const int from = open(name, O_RDONLY | O_CLOEXEC);
    if (from < 0) return errno;
    const int to = open(path, O_WRONLY | O_CLOEXEC);
    int code = to < 0 ? errno : read_end(from, &end, &touched);
    for (uint64_t at = 0, until = 0; !code && touched_next(&touched, &at, &until);)
        code = copy_range(from, to, at, until < end.size ? until : end.size);
    if (!code && ftruncate(to, (off_t)end.size)) code = errno;
    if (!code && fsync(to)) code = errno;
    if (!code && unlink(name)) code = errno;
    touched_free(&touched);
    close(from);
    if (to >= 0) close(to);
    return code;
}

/* ---- Appending -------------------------------------------------------------------------------- */

static void write_header(store *s, const output_data *data)
{
    h5md_write_header(s, data);
    hid_t group = store_group(s, s->file, "parameters");
    store_label(s, group, "run", data->trajectory.run);
    store_leave(s, group);
}

/* The first frames: a new file, under another name until it is whole. */
static int begin(output_data *data, const char *path, char why[OUTPUT_WHY])
{
    replacement file;
    store s;
    int code = replacement_begin(&file, path, data->file.identity, REPLACES_ANY);
    if (code) return failed(code, path, why);
    store_open_apart(&s, file.fd);
    write_header(&s, data);
    h5md_write_frames(&s, data, 0);
    if (store_close(&s)) {
        replacement_abandon(&file);
        return store_failed(data, &s, path, why);
    }
    code = replacement_finish(&file);
    return code ? failed(code, path, why) : EXIT_DONE;
}

static int change(output_data *data, const char *path, const char *changes, char why[OUTPUT_WHY])
{
    replacement file;
    store s;
    touched touched = {0};
    const int below = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (below < 0) return failed(errno, path, why);
    int code = replacement_begin(&file, path, data->file.identity, REPLACES_ANY);
    if (code) {
        close(below);
        return failed(code, path, why);
    }
    store_open_over_apart(&s, file.fd, below);
    h5md_write_frames(&s, data, data->trajectory.written);
    if (store_close_telling(&s, &touched)) {
        code = store_failed(data, &s, path, why);
    } else {
        code = complete(&file, changes, &touched);
        if (!code) code = apply(changes, path);
        if (code) code = failed(code, path, why);
    }
    touched_free(&touched);
    close(below);
    replacement_abandon(&file);
    return code;
}

int h5md_trajectory_append(output_data *data, char why[OUTPUT_WHY])
{
    char *path = trajectory_path(&data->trajectory, 0, 1),
         *changes = path ? changes_name(path) : NULL;
    int code = EXIT_DONE;
    if (!changes)
        code = failed(ENOMEM, data->trajectory.base, why);
    else if (!data->trajectory.written)
        code = begin(data, path, why);
    else {
        if (!access(changes, F_OK)) code = apply(changes, path);
        code = code ? failed(code, path, why) : change(data, path, changes, why);
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
    int code = changes ? 0 : failed(ENOMEM, t->base, why);
    *found = TRAJECTORY_NONE;
    *frames = 0;
    if (!code) lock_remove_strays(path);
    if (!code && !access(changes, F_OK)) {
        code = apply(changes, path);
        if (code) code = failed(code, path, why);
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
