/* Reading an output file back: rehearsed, read, checked, and handed over to the run that resumes. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/parts.h"
#include "rehearsal.h"
#include "run/averages.h"

/* ---- As a whole ----------------------------------------------------------------------------- */

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

static int read_checked(const char *path, output_data *data, report *r)
{
    store s = {.failed = true};
    *data = (output_data){0};
    int code = rehearse("checkpoint", path, "", EXIT_CHECKPOINT, NULL, s.reason);
    if (!code) code = read_whole(&s, path, data);
    if (!code) return EXIT_DONE;
    return report_error(r, code, NULL, 0, "cannot read %s: %s", path, s.reason);
}

bool output_is_intact(const char *path, const output_data *data)
{
    store s;
    output_data found = {0};
    char reason[REHEARSAL_REASON];
    int code = rehearse("checkpoint", path, "", EXIT_CHECKPOINT, NULL, reason);
    if (code && code != EXIT_OUTPUT) return false; /* that is: whole, but nothing can be added */
    if (read_whole(&s, path, &found)) return false;
    bool same = strcmp(found.stamp, data->stamp) == 0;
    output_free(&found);
    return same;
}

int output_read_ini(const char *path, char **user_ini, report *r)
{
    output_data data;
    *user_ini = NULL;
    int code = read_checked(path, &data, r);
    if (code) return code;
    *user_ini = (char *)data.user_ini;
    data.user_ini = NULL;
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
    to->written = from->written;
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

static void hand_over(output_data *found, output_data *data)
{
    take_text(&data->effective_ini, &found->effective_ini);
    take_text(&data->user_ini, &found->user_ini);
    take_text(&data->provenance, &found->provenance);
    take_text(&data->history, &found->history);
    strcpy(data->stamp, found->stamp);
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
    data->frames_written = found->frames_written;
    data->sweep = found->sweep;
    data->seconds = found->seconds;
    data->pace = found->pace;
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

/* Where room for particles has grown they are laid out anew: run/room.h. */
static bool has_room(const output_data *data)
{
    bool room = false;
    for (int i = 0; i < data->blob_count; i++) room |= !strcmp(data->blobs[i].name, "run/room");
    return room;
}

int output_read(const char *path, output_data *data, report *r)
{
    output_data found;
    int code = read_checked(path, &found, r);
    if (code) return code;
    const plugmc_system *system = data->system;
    if (system && (system->walkers != found.walkers ||
                   (system->particles != found.particles && !has_room(&found))))
        code = report_error(r, EXIT_CHECKPOINT, NULL, 0,
                            "cannot resume from %s: it has %d walkers of %lld particles, the run "
                            "has %d of %lld",
                            path, found.walkers, (long long)found.particles, system->walkers,
                            (long long)system->particles);
    if (!code && data->quantities) code = fit_quantities(path, &found, data, r);
    if (!code && data->moves) code = fit_moves(path, &found, data, r);
    if (!code) hand_over(&found, data);
    output_free(&found);
    return code;
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
    move_records_free(data);
    free(data->quantities);
    free(data->derived);
    free((void *)data->blobs);
    free((void *)data->positions);
    free((void *)data->effective_ini);
    free((void *)data->user_ini);
    free((void *)data->provenance);
    free((void *)data->history);
    *data = (output_data){0};
}
