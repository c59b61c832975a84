/* Reading an output file back: rehearsed, read, checked, and handed over to the run that resumes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/parts.h"
#include "base/paths.h"
#include "base/regular_file.h"
#include "base/rehearsal.h"
#include "archive/averages.h"
#include "base/child.h"

/* ---- As a whole ----------------------------------------------------------------------------- */

void output_path_of(int fd, char path[OUTPUT_PATH])
{
    snprintf(path, OUTPUT_PATH, "/proc/%d/fd/%d", (int)getpid(), fd);
}

/* An exit code, with the reason in s->reason, and data all zero, if it cannot be read or trusted. */
static int read_whole(store *s, const char *path, output_data *data)
{
    store_open_path_apart(s, path);
    const int fd = s->fd;
    if (!s->failed) checkpoint_read(s, data);
    int code = !store_close(s) ? EXIT_DONE : s->memory_short ? EXIT_MEMORY : EXIT_CHECKPOINT;
    if (fd >= 0) close(fd);
    if (code) output_free(data);
    return code;
}

/* The checkpoint has the place of the trajectory as seen from its own folder. */
static int resolve_trajectory(output_trajectory *t, const char *path, char why[OUTPUT_WHY])
{
    if (!t->base) return EXIT_DONE;
    char *folder = path_folder(path), *base = folder ? path_join(folder, t->base) : NULL;
    free(folder);
    free(t->base);
    t->base = base;
    if (base) return EXIT_DONE;
    snprintf(why, OUTPUT_WHY, "there is not enough memory");
    return EXIT_MEMORY;
}

/* Rehearsed and read is one file, even if another one is put in its place meanwhile. `always`: even if this file was the
 * last one that was good. */
static int read_open(int fd, const char *path, bool always, output_data *data, char why[OUTPUT_WHY])
{
    store s;
    char held[OUTPUT_PATH];
    struct stat info;
    findings none = {0};
    *data = (output_data){0};
    output_path_of(fd, held);
    int code = rehearse("checkpoint", held, "", EXIT_CHECKPOINT, always ? &none : NULL, why);
    free(none.data);
    if (code) return code;
    code = read_whole(&s, held, data);
    if (code) snprintf(why, OUTPUT_WHY, "%s", s.reason);
    if (!code) code = resolve_trajectory(&data->trajectory, path, why);
    if (code || fstat(fd, &info)) return code;
    data->file.device = info.st_dev;
    data->file.inode = info.st_ino;
    return EXIT_DONE;
}

/* The same for a file that is not open yet. */
static int read_path(const char *path, bool always, output_data *data, char why[OUTPUT_WHY])
{
    const char *refused;
    *data = (output_data){0};
    errno = 0;
    const int fd = open_regular(path, &refused);
    if (fd < 0) {
        const bool shortage = child_is_shortage(errno);
        snprintf(why, OUTPUT_WHY, "%s", refused);
        return shortage ? EXIT_MEMORY : EXIT_CHECKPOINT;
    }
    const int code = read_open(fd, path, always, data, why);
    close(fd);
    return code;
}

static int tell(int code, const char *path, const char *why, report *r)
{
    return code ? report_error(r, code, NULL, 0, "cannot read %s: %s", path, why) : EXIT_DONE;
}

static int read_checked(const char *path, output_data *data, report *r)
{
    char why[OUTPUT_WHY];
    return tell(read_path(path, false, data, why), path, why, r);
}

/* Whether the file at `path` is the one that was written or read last: by its stamp, and where that cannot be read
 * by the place on the disk. */
static bool is_ours(const char *path, const output_data *data)
{
    store s;
    struct stat info;
    store_open_path_apart(&s, path);
    const int fd = s.fd;
    const bool same = origin_has_stamp(&s, data);
    const bool read = !store_close(&s);
    if (fd >= 0) close(fd);
    if (read) return same;
    return !stat(path, &info) && data->file.inode && info.st_dev == data->file.device &&
           info.st_ino == data->file.inode;
}

enum output_found output_look(const char *path, const output_data *data, char why[OUTPUT_WHY])
{
    output_data found;
    why[0] = 0;
    if (access(path, F_OK) && errno == ENOENT) return FOUND_NOTHING;
    const int code = read_path(path, true, &found, why);
    if (code == EXIT_OUTPUT) /* it can be read, and there is no room for more */
        return is_ours(path, data) ? FOUND_WHOLE : FOUND_OTHER;
    const bool same = !code && strcmp(found.file.stamp, data->file.stamp) == 0;
    if (!code) output_free(&found);
    if (code == EXIT_MEMORY || code == EXIT_INTERNAL) return FOUND_UNKNOWN;
    if (!code) return same ? FOUND_WHOLE : FOUND_OTHER;
    return is_ours(path, data) ? FOUND_DAMAGED : FOUND_OTHER;
}

bool output_is_intact(const char *path, const output_data *data)
{
    char why[OUTPUT_WHY];
    return output_look(path, data, why) == FOUND_WHOLE;
}

const char *output_state(bool fresh, enum output_found found, const char *why,
                         char words[OUTPUT_WHY])
{
    static const char *const state[] = {
        [FOUND_WHOLE] = "the file from the last checkpoint is intact",
        [FOUND_NOTHING] = "the file from the last checkpoint is gone",
        [FOUND_DAMAGED] = "the file from the last checkpoint is damaged: ",
        [FOUND_OTHER] = "the file is not that from the last checkpoint",
        [FOUND_UNKNOWN] = "whether the file from the last checkpoint is intact is not known: "};
    if (fresh) return "nothing was changed";
    if (found != FOUND_DAMAGED && found != FOUND_UNKNOWN) return state[found];
    snprintf(words, OUTPUT_WHY, "%s%.*s", state[found], OUTPUT_WHY - 80, why);
    return words;
}

int output_read_ini(const char *path, char **user_ini, report *r)
{
    output_data data;
    *user_ini = NULL;
    int code = read_checked(path, &data, r);
    if (code) return code;
    *user_ini = (char *)data.origin.user_ini;
    data.origin.user_ini = NULL;
    output_free(&data);
    return EXIT_DONE;
}

/* ---- Handing over what was read ------------------------------------------------------------- */

/* A series has the walkers of its record: they are the columns that it is read by. */
static bool has_walkers_of(const quantity_record *q, const quantity_record *like)
{
    return q->length > 1 || !q->series || q->walkers == like->walkers;
}

static quantity_record *find_quantity(output_data *data, const quantity_record *like)
{
    for (int i = 0; i < data->quantity_count; i++) {
        quantity_record *q = &data->quantities[i];
        if (strcmp(q->observable, like->observable) == 0 && strcmp(q->name, like->name) == 0 &&
            q->length == like->length && q->period == like->period && has_walkers_of(q, like))
            return q;
    }
    return NULL;
}

/* Samples go from one record to another, which keeps its texts. */
static void move_samples(quantity_record *from, quantity_record *to)
{
    free(to->series);
    block_average_free(&to->blocks);
    to->series = from->series;
    to->blocks = from->blocks;
    to->samples = from->samples;
    to->capacity = from->capacity;
    from->series = NULL;
    from->blocks = (block_average){0};
}

static int fit_quantities(const char *path, output_data *found, output_data *data, report *r)
{
    if (found->quantity_count != data->quantity_count)
        return report_error(r, EXIT_CHECKPOINT, NULL, 0,
                            "cannot resume from %s: it has %d observed quantities, the run has %d",
                            path, found->quantity_count, data->quantity_count);
    for (int i = 0; i < data->quantity_count; i++)
        if (!find_quantity(found, &data->quantities[i]))
            return report_error(r, EXIT_CHECKPOINT, NULL, 0,
                                "cannot resume from %s: it has no '%s' of observable '%s' of that "
                                "length, period and number of walkers",
                                path, data->quantities[i].name, data->quantities[i].observable);
    for (int i = 0; i < data->quantity_count; i++)
        move_samples(find_quantity(found, &data->quantities[i]), &data->quantities[i]);
    return EXIT_DONE;
}

/* Counts and steps go from the file to the records of the run, which must have the same moves. */
static int fit_moves(const char *path, output_data *found, output_data *data, report *r)
{
    bool same = found->move_count == data->move_count;
    for (int i = 0; same && i < data->move_count; i++) {
        move_record *from = &found->moves[i], *to = &data->moves[i];
        same = !strcmp(from->mover, to->mover) && !strcmp(from->name, to->name) &&
               from->rungs == to->rungs;
        if (!same) break;
        memcpy(to->counts, from->counts, (size_t)to->rungs * sizeof *to->counts);
        memcpy(to->steps, from->steps, (size_t)to->rungs * sizeof *to->steps);
        free(to->tunings);
        to->tunings = from->tunings;
        to->tuning_count = from->tuning_count;
        from->tunings = NULL;
        from->tuning_count = 0;
    }
    return same
               ? EXIT_DONE
               : report_error(r, EXIT_CHECKPOINT, NULL, 0,
                              "cannot resume from %s: it has other movers or another order of them "
                              "than the run",
                              path);
}

static void take_text(const char **to, const char **from)
{
    if (*to) return;
    *to = *from;
    *from = NULL;
}

/* What the run says of it stands, and its frames are those of the file. */
static void take_trajectory(output_trajectory *from, output_trajectory *to)
{
    const output_trajectory run = *to;
    if (!from->wanted) return;
    *to = *from;
    from->base = NULL;
    to->note = run.note;
    to->frames = run.frames;
    to->frame_count = run.frame_count;
    if (run.wanted) to->format = run.format, to->single = run.single;
    if (to->inside) strcpy(to->run, run.run);
    if (to->inside && !to->base) to->base = run.base;
    if (to->base != run.base) free(run.base);
}

static void hand_over(output_data *found, output_data *data)
{
    take_text(&data->origin.effective_ini, &found->origin.effective_ini);
    take_text(&data->origin.user_ini, &found->origin.user_ini);
    take_text(&data->origin.provenance, &found->origin.provenance);
    take_text(&data->origin.history, &found->origin.history);
    strcpy(data->file.stamp, found->file.stamp);
    if (!data->quantities) {
        data->quantities = found->quantities;
        data->quantity_count = found->quantity_count;
        found->quantities = NULL;
        found->quantity_count = 0;
    }
    if (!data->derived) {
        data->derived = found->derived;
        data->derived_count = found->derived_count;
        found->derived = NULL;
        found->derived_count = 0;
    }
    if (!data->moves) {
        data->moves = found->moves;
        data->move_count = found->move_count;
        found->moves = NULL;
        found->move_count = 0;
    }
    data->equilibrate = found->equilibrate;
    take_trajectory(&found->trajectory, &data->trajectory);
    data->file.device = found->file.device;
    data->file.inode = found->file.inode;
    data->sweep = found->sweep;
    data->seconds = found->seconds;
    data->speed = found->speed;
    data->finished = found->finished;
    data->joined = data->joined || found->joined;
    data->walkers = found->walkers;
    data->particles = found->particles;
    data->positions = found->positions;
    data->blobs = found->blobs;
    data->blob_count = found->blob_count;
    found->positions = NULL;
    found->blobs = NULL;
    found->blob_count = 0;
}

/* Where room for particles has grown they are laid out anew: session/enlarging.h. */
static bool has_capacities(const output_data *data)
{
    bool found = false;
    for (int i = 0; i < data->blob_count; i++) found |= !strcmp(data->blobs[i].name, "run/room");
    return found;
}

/* `found` is freed. */
static int fit(const char *path, output_data *found, output_data *data, report *r)
{
    int code = EXIT_DONE;
    const plugmc_system *system = data->system;
    if (system && (system->walkers != found->walkers ||
                   (system->particles != found->particles && !has_capacities(found))))
        code = report_error(r, EXIT_CHECKPOINT, NULL, 0,
                            "cannot resume from %s: it has %d walkers of %lld particles, the run "
                            "has %d of %lld",
                            path, found->walkers, (long long)found->particles, system->walkers,
                            (long long)system->particles);
    if (!code && data->quantities) code = fit_quantities(path, found, data, r);
    if (!code && data->moves) code = fit_moves(path, found, data, r);
    if (!code) hand_over(found, data);
    output_free(found);
    return code;
}

int output_read(const char *path, output_data *data, report *r)
{
    output_data found;
    const int code = read_checked(path, &found, r);
    return code ? code : fit(path, &found, data, r);
}

int output_read_open(int fd, const char *path, output_data *data, report *r)
{
    output_data found;
    char why[OUTPUT_WHY];
    const int code = tell(read_open(fd, path, false, &found, why), path, why, r);
    return code ? code : fit(path, &found, data, r);
}

void output_free(output_data *data)
{
    for (int i = 0; i < data->quantity_count; i++) {
        quantity_record *q = &data->quantities[i];
        free(q->observable), free(q->name), free(q->unit), free(q->doc), free(q->series);
        axes_free(&q->axes);
        block_average_free(&q->blocks);
        averages_free(q);
    }
    for (int i = 0; i < data->derived_count; i++) {
        derived_record *d = &data->derived[i];
        free(d->observable), free(d->name), free(d->unit), free(d->doc);
        free(d->values), free(d->errors), free(d->each_converged);
        axes_free(&d->axes);
    }
    for (int i = 0; i < data->blob_count; i++) {
        free(data->blobs[i].name);
        free(data->blobs[i].data);
    }
    move_records_free(data->moves, data->move_count);
    free(data->quantities);
    free(data->derived);
    free((void *)data->blobs);
    free((void *)data->positions);
    free((void *)data->origin.effective_ini);
    free((void *)data->origin.user_ini);
    free((void *)data->origin.provenance);
    free((void *)data->origin.history);
    free(data->trajectory.base);
    *data = (output_data){0};
}
