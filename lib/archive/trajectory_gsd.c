/* A trajectory in GSD: a file for each walker. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/frames.h"
#include "archive/replacement.h"
#include "archive/shapes.h"
#include "archive/trajectory.h"
#include "formats/gsd_writer.h"

/* What is known of the files; NULL writers have not been looked at, or not since something failed. */
typedef struct trajectory_files {
    int walkers;
    gsd_writer **writers; /* [walkers] */
    ino_t *inodes;        /* [walkers] */
    read_frame one;       /* a configuration, as the writer takes it */
    char *shapes;         /* of the species of bodies; NULL: there are none */
} trajectory_files;

void gsd_trajectory_close(output_trajectory *t)
{
    trajectory_files *f = t->files;
    if (!f) return;
    for (int w = 0; w < f->walkers && f->writers; w++) gsd_writer_free(f->writers[w]);
    free(f->writers), free(f->inodes), free(f->shapes);
    read_frame_free(&f->one);
    free(f);
    t->files = NULL;
}

static trajectory_files *make_files(output_data *data)
{
    const size_t walkers = (size_t)data->system->walkers;
    trajectory_files *f = data->trajectory.files = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->walkers = data->system->walkers;
    f->writers = calloc(walkers, sizeof *f->writers);
    f->inodes = calloc(walkers, sizeof *f->inodes);
    if (data->system->bodies) f->shapes = shapes_of(data->system);
    if (read_frame_make(&f->one, data->system) && f->writers && f->inodes &&
        (f->shapes || !data->system->bodies))
        return f;
    gsd_trajectory_close(&data->trajectory);
    return NULL;
}

/* Files of more walkers than these are brought to the disk all at once, with whatever else is on its way to that file
 * system: 4,096 single ones took a minute. */
enum { ONE_BY_ONE = 16 };

/* Who writes, which says of which run a file is. */
static void application_of(const output_trajectory *t, char application[64])
{
    snprintf(application, 64, "plugmc %s run %s", PLUGMC_VERSION, t->run);
}

bool gsd_trajectory_is_of(const char *path, const char *run)
{
    gsd_header header;
    char application[64];
    output_trajectory t = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    snprintf(t.run, sizeof t.run, "%s", run);
    application_of(&t, application);
    const bool whole = pread(fd, &header, sizeof header, 0) == sizeof header;
    close(fd);
    return whole && !strncmp(header.application, application, sizeof header.application);
}

static gsd_writer *new_writer(const output_data *data)
{
    double largest = 0;
    for (int32_t s = 0; s < data->system->species_count; s++)
        largest = fmax(largest, plugmc_species_at(data->system, s)->diameter);
    const gsd_content content = {.system = data->system,
                                 .largest_diameter = largest,
                                 .exact = !data->trajectory.single,
                                 .turned = data->system->bodies,
                                 .shapes = data->trajectory.files->shapes,
                                 .numbered = (data->system->changes & PLUGMC_CHANGED_COUNT) != 0};
    return gsd_writer_new(&content);
}

/* A new file, or the one of this run with its first `frames` frames, or fewer: *kept. The descriptor, or -1 and an
 * errno. */
static int open_file(output_data *data, int walker, const char *path, int64_t frames, int64_t *kept,
                     int *error)
{
    trajectory_files *f = data->trajectory.files;
    char application[64];
    struct stat info;
    application_of(&data->trajectory, application);
    gsd_writer_free(f->writers[walker]);
    gsd_writer *g = f->writers[walker] = new_writer(data);
    *kept = 0;
    *error = g ? 0 : ENOMEM;
    if (!g) return -1;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    const bool there = fd >= 0;
    if (!there && errno == ENOENT && !frames)
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        *error = errno;
        return -1;
    }
    *error = there ? gsd_writer_open(g, fd, application, frames, kept)
                   : gsd_writer_begin(g, fd, application);
    if (!*error && fstat(fd, &info)) *error = errno;
    f->inodes[walker] = info.st_ino;
    if (!*error && !there && f->walkers <= ONE_BY_ONE) replacement_flush_folder(path);
    if (!*error) return fd;
    if (!there) unlink(path);
    close(fd);
    return -1;
}

/* A file that is known, if nobody has changed it. */
static int open_again(const trajectory_files *f, int walker, const char *path, int *error)
{
    struct stat info;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    *error = fd < 0 || fstat(fd, &info) ? errno : 0;
    if (!*error && ((uint64_t)info.st_size != gsd_writer_bytes(f->writers[walker]) ||
                    info.st_ino != f->inodes[walker]))
        *error = EBADMSG;
    if (!*error) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* ---- Appending -------------------------------------------------------------------------------- */

static int put(const output_data *data, trajectory_files *f, int walker, int fd, const frame *frame)
{
    const plugmc_system *system = data->system;
    read_frame *one = &f->one;
    const int64_t first = system->particles * walker;
    read_frame_take(one, system, frame->positions + 3 * first,
                    frame->orientations ? frame->orientations + first : NULL);
    return gsd_writer_put(f->writers[walker], fd,
                          &(gsd_frame){.sweep = frame->sweep,
                                       .box = frame->boxes ? &frame->boxes[walker] : &system->box,
                                       .count = one->count,
                                       .number = one->number,
                                       .species = one->species,
                                       .positions = one->positions,
                                       .orientations = one->orientations});
}

static int append_walker(output_data *data, int walker, const char *path, int *error)
{
    output_trajectory *t = &data->trajectory;
    trajectory_files *f = t->files;
    int64_t kept = t->written;
    const int fd = f->writers[walker] ? open_again(f, walker, path, error)
                                      : open_file(data, walker, path, t->written, &kept, error);
    if (fd < 0) return -1;
    if (kept != t->written) *error = EBADMSG;
    const off_t before = (off_t)gsd_writer_bytes(f->writers[walker]);
    for (int k = 0; k < t->frame_count && !*error; k++)
        *error = put(data, f, walker, fd, &t->frames[k]);
    if (!*error) *error = gsd_writer_flush(f->writers[walker], fd);
    const bool last = walker == f->walkers - 1;
    if (!*error && f->walkers <= ONE_BY_ONE && fdatasync(fd)) *error = errno;
    if (!*error && f->walkers > ONE_BY_ONE && last && syncfs(fd)) *error = errno;
    if (*error && kept == t->written && ftruncate(fd, before)) *error = errno; /* as it was */
    if (close(fd) && !*error) *error = errno;
    if (*error && !t->written) unlink(path); /* without frames it would be in the way */
    return *error ? -1 : 0;
}

int gsd_trajectory_append(output_data *data, char why[OUTPUT_WHY])
{
    const trajectory_files *f = data->trajectory.files ? data->trajectory.files : make_files(data);
    int code = f ? 0 : trajectory_failed(ENOMEM, data->trajectory.base, why);
    for (int w = 0; w < data->system->walkers && !code; w++) {
        int error = 0;
        char *path = trajectory_path(&data->trajectory, w, data->system->walkers);
        if (!path)
            code = trajectory_failed(ENOMEM, data->trajectory.base, why);
        else if (append_walker(data, w, path, &error))
            code = trajectory_failed(error, path, why), data->file.error = error > 0 ? error : 0;
        free(path);
    }
    return code;
}

/* ---- Going on --------------------------------------------------------------------------------- */

int gsd_trajectory_open(output_data *data, enum trajectory_found *found, int64_t *frames,
                        char why[OUTPUT_WHY])
{
    output_trajectory *t = &data->trajectory;
    const int walkers = data->system->walkers;
    int code = make_files(data) ? 0 : trajectory_failed(ENOMEM, t->base, why);
    *found = TRAJECTORY_NONE;
    *frames = t->inside ? 0 : t->written;
    for (int w = 0; w < walkers && !code; w++) {
        int error = 0;
        int64_t kept = 0;
        char *path = trajectory_path(t, w, walkers);
        if (!path) code = trajectory_failed(ENOMEM, t->base, why);
        const bool there = path && !access(path, F_OK);
        const int fd = there ? open_file(data, w, path, *frames, &kept, &error) : -1;
        if (fd >= 0) close(fd);
        if (there && error == EEXIST) *found = TRAJECTORY_OTHER;
        if (there && !error && *found == TRAJECTORY_NONE) *found = TRAJECTORY_OWN;
        if (error && error != EEXIST) code = trajectory_failed(error, path, why);
        if (kept < *frames) *frames = kept;
        free(path);
        if (*found == TRAJECTORY_OTHER) break;
    }
    gsd_trajectory_close(t);
    t->cut = *frames < t->written; /* when frames are appended all are cut to what each has */
    return code;
}
