/* A run's state between the mover, the other plugins and the output file: checkpoints, and taking
 * them up again. */
#include "run/checkpointing.h"

#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "run/borrowing.h"
#include "run/moves.h"
#include "run/results.h"
#include "run/room.h"
#include "run/saving.h"
#include "run/snapshot.h"
#include "parallel/team.h"

/* ---- What plugins hold ----------------------------------------------------------------------------- */

/* plugmc_archive over a list of named blobs. */
typedef struct blob_archive {
    plugmc_archive base;
    simulation *sim;
    instance *owner;
    blob *blobs;
    int count;
} blob_archive;

/* Behind the section of its plugin: "potential ewald/k". malloc'ed. */
static char *blob_name(const blob_archive *archive, const char *name)
{
    char *full;
    const char *section = archive->owner ? archive->owner->section->section->name : "run";
    return asprintf(&full, "%s/%s", section, name) < 0 ? NULL : full;
}

static const char *owner_of(const blob_archive *archive)
{
    return archive->owner ? archive->owner->section->section->name : "run";
}

/* The blob of this name, row and size; NULL if there is none. */
static blob *find_blob(const blob_archive *archive, const char *full, size_t row, size_t bytes)
{
    for (int i = 0; i < archive->count; i++) {
        blob *b = &archive->blobs[i];
        if (!strcmp(b->name, full)) return b->row == row && b->bytes == bytes ? b : NULL;
    }
    return NULL;
}

/* A new one, of zeros; takes the name. */
static blob *add_blob(blob_archive *archive, char *full, size_t row, size_t bytes)
{
    blob *blobs = realloc(archive->blobs, sizeof *blobs * (size_t)(archive->count + 1));
    if (blobs) archive->blobs = blobs;
    void *data = blobs ? calloc(bytes ? bytes : 1, 1) : NULL;
    if (!data) {
        free(full);
        return NULL;
    }
    blobs[archive->count] = (blob){full, data, bytes, row, 0, 0};
    return &blobs[archive->count++];
}

static int not_in_checkpoint(blob_archive *archive, const char *name, size_t bytes)
{
    report_error(archive->sim->report, EXIT_CHECKPOINT, NULL, 0,
                 "the checkpoint does not hold %zu bytes of '%s' for [%s]", bytes, name,
                 owner_of(archive));
    if (archive->owner) context_failed(&archive->owner->context);
    return PLUGMC_ERROR_STATE;
}

/* `bytes` bytes from `from` on, of `whole`. */
static int archive_part(blob_archive *archive, const char *name, void *data, size_t row,
                        size_t from, size_t bytes, size_t whole)
{
    char *full = blob_name(archive, name);
    if (!full) return PLUGMC_ERROR_MEMORY;
    blob *b = find_blob(archive, full, row, whole);
    if (archive->base.reading || b)
        free(full);
    else
        b = add_blob(archive, full, row, whole);
    if (!b)
        return archive->base.reading ? not_in_checkpoint(archive, name, whole)
                                     : PLUGMC_ERROR_MEMORY;
    if (archive->base.reading)
        memcpy(data, (const char *)b->data + from, bytes);
    else
        memcpy((char *)b->data + from, data, bytes);
    if (row && (!b->have || (int64_t)(from / row) < b->first)) b->first = (int64_t)(from / row);
    if (row) b->have += (int64_t)(bytes / row);
    return PLUGMC_OK;
}

static int archive_bytes(plugmc_archive *base, const char *name, void *data, size_t bytes)
{
    return archive_part((blob_archive *)base, name, data, 0, 0, bytes, bytes);
}

static int archive_rows(plugmc_archive *base, const char *name, void *data, size_t row,
                        int64_t first, int64_t n, int64_t all)
{
    blob_archive *archive = (blob_archive *)base;
    if (!row || first < 0 || n < 0 || all < n || first > all - n) {
        report_error(archive->sim->report, EXIT_INTERNAL, NULL, 0,
                     "[%s] archives %lld rows of %zu bytes, from %lld on, of the %lld of '%s'",
                     owner_of(archive), (long long)n, row, (long long)first, (long long)all, name);
        if (archive->owner) context_failed(&archive->owner->context);
        return PLUGMC_ERROR_STATE;
    }
    return archive_part(archive, name, data, row, row * (size_t)first, row * (size_t)n,
                        row * (size_t)all);
}

static blob_archive archive_of(simulation *sim, int reading)
{
    const int32_t walkers = sim->system.walkers;
    return (blob_archive){.base = {.size = sizeof(plugmc_archive),
                                   .reading = reading,
                                   .bytes = archive_bytes,
                                   .rows = archive_rows,
                                   .first_walker = sim->first_walker,
                                   .walkers = walkers,
                                   .all_walkers = sim->all_walkers},
                          .sim = sim};
}

/* Rows that nobody has saved would be zeros for whoever goes on from them. */
static int check_rows(const simulation *sim, const blob *blobs, int count)
{
    for (int i = 0; i < count; i++) {
        const blob *b = &blobs[i];
        const long long all = b->row ? (long long)(b->bytes / b->row) : 0;
        if (b->have != all)
            return report_error(sim->report, EXIT_INTERNAL, NULL, 0,
                                "%lld of %lld rows of '%s' were saved", (long long)b->have, all,
                                b->name);
    }
    return 0;
}

/* One array of the state beside positions, which have a place of their own. */
static int archive_array(simulation *sim, blob_archive *archive, int what, const char *name)
{
    const int access = archive->base.reading ? PLUGMC_WRITE : PLUGMC_READ;
    void *out;
    size_t row;
    int code = sim->state.face.array(&sim->state.face, what, PLUGMC_ON_HOST, access, &out, &row);
    if (code) return context_exit_code(&simulation_asking(sim)->context, code, "saving its state");
    archive->owner = NULL;
    code = plugmc_archive_walkers(&archive->base, name, out, row);
    return code == PLUGMC_ERROR_MEMORY ? EXIT_MEMORY : code ? EXIT_CHECKPOINT : 0;
}

/* Where room grows: how the positions of the file are laid out. */
static int archive_room(simulation *sim, blob_archive *archive)
{
    const int32_t n = sim->system.species_count;
    int64_t room[n + 1];
    bool grows = false;
    for (int32_t s = 0; s < n; s++) {
        grows |= plugmc_species_at(&sim->system, s)->grows != 0;
        room[s] = plugmc_species_at(&sim->system, s)->most;
    }
    if (!grows || archive->base.reading) return 0;
    archive->owner = NULL;
    return archive_bytes(&archive->base, "room", room, (size_t)n * sizeof *room) ? EXIT_MEMORY : 0;
}

/* What of the state some mover changes, and positions are not. */
static int archive_state(simulation *sim, blob_archive *archive)
{
    uint32_t changes = 0;
    int code = 0;
    for (int k = 0; k < sim->mover_count; k++) changes |= sim->movers[k].mover->changes;
    if (changes & PLUGMC_CHANGED_BOX) code = archive_array(sim, archive, PLUGMC_STATE_BOX, "boxes");
    if (!code && changes & PLUGMC_CHANGED_COUNT)
        code = archive_array(sim, archive, PLUGMC_STATE_COUNT, "counts");
    if (!code) code = archive_room(sim, archive);
    if (!code && changes & PLUGMC_CHANGED_RUNG)
        code = archive_array(sim, archive, PLUGMC_STATE_RUNG, "rungs");
    if (!code && changes & PLUGMC_CHANGED_MULTIPLIER)
        code = archive_array(sim, archive, PLUGMC_STATE_MULTIPLIER, "multipliers");
    if (!code && changes & PLUGMC_CHANGED_WALKER_WEIGHT)
        code = archive_array(sim, archive, PLUGMC_STATE_WEIGHT, "weights");
    return code;
}

/* Of macrostates: what was not gathered yet. */
static int archive_books(simulation *sim, blob_archive *archive)
{
    hamiltonian *h = &sim->hamiltonian;
    const size_t numbers = bias_books(h);
    instance *asking = simulation_asking(sim);
    double *books = numbers ? checked(calloc(numbers, sizeof *books)) : NULL;
    int code = PLUGMC_OK;
    if (!numbers) return 0;
    archive->owner = NULL;
    if (!archive->base.reading) code = bias_read(h, &asking->host, books);
    if (!code) code = archive_bytes(&archive->base, "books", books, numbers * sizeof *books);
    if (!code && archive->base.reading) code = bias_write(h, &asking->host, books);
    free(books);
    return code == PLUGMC_ERROR_MEMORY ? EXIT_MEMORY : code ? EXIT_CHECKPOINT : 0;
}

/* Which movers hold what the state is: PLUGMC_CHANGED_* for each, of what it lacks. */
static int archive_changed(simulation *sim, blob_archive *archive, uint32_t *changed)
{
    archive->owner = NULL;
    const int code = archive_bytes(&archive->base, "changed", changed,
                                   (size_t)sim->mover_count * sizeof *changed);
    return code == PLUGMC_ERROR_MEMORY ? EXIT_MEMORY : code ? EXIT_CHECKPOINT : 0;
}

static uint32_t changed_of(const simulation *sim, const instance *instance, const uint32_t *changed)
{
    for (int k = 0; k < sim->mover_count; k++)
        if (sim->movers[k].instance == instance) return changed[k];
    return 0;
}

static int archive_instance(instance *instance, blob_archive *archive)
{
    if (!instance->plugin->archive) return 0;
    archive->owner = instance;
    context_calling(&instance->context, "archive");
    return context_exit_code(
        &instance->context,
        instance->plugin->archive(instance->data, &instance->host, &archive->base),
        archive->base.reading ? "taking up the checkpoint" : "saving its state");
}

/* All plugins' states to, or from, the blobs. When a run is resumed, movers that lack something of the state take it
 * before they go on, as they would have. */
static int archive_instances(simulation *sim, blob_archive *archive)
{
    const int reading = archive->base.reading;
    uint32_t *changed = checked(calloc((size_t)sim->mover_count + 1, sizeof *changed));
    int code = reading ? archive_changed(sim, archive, changed) : 0;
    for (int i = 0; i < sim->instance_count && !code; i++) {
        archive->base.changed = changed_of(sim, &sim->instances[i], changed);
        code = archive_instance(&sim->instances[i], archive);
    }
    archive->base.changed = 0;
    if (!code) code = archive_books(sim, archive);
    for (int k = 0; k < sim->mover_count && !code; k++)
        if (reading)
            borrowing_resume(sim, &sim->movers[k], changed[k]);
        else
            changed[k] = borrowing_changes(sim, &sim->movers[k]);
    if (!code && !reading) code = archive_changed(sim, archive, changed);
    free(changed);
    return code;
}

int checkpoint_weights(simulation *sim)
{
    blob_archive archive = archive_of(sim, 1);
    archive.blobs = (blob *)sim->output.blobs;
    archive.count = sim->output.blob_count;
    return sim->weighing ? archive_instance(sim->weighing->instance, &archive) : 0;
}

/* Totals that wait to look at new places or boxes do so now, as they would before the next trial move: what they
 * archive is then what a resumed run begins with. */
static int refresh_totals(simulation *sim)
{
    hamiltonian *h = &sim->hamiltonian;
    instance *asking = simulation_asking(sim);
    int code = PLUGMC_OK;
    if (h->has_totals && h->left_out)
        code = hamiltonian_bring(h, &asking->host);
    else if (h->boxes_taken)
        code = hamiltonian_start_totals(h, &asking->host);
    return context_exit_code(&asking->context, code, "saving its state");
}

int checkpoint_blobs(simulation *sim, blob **blobs, int *count)
{
    blob_archive archive = archive_of(sim, 0);
    int code = archive_state(sim, &archive);
    if (!code) code = refresh_totals(sim);
    if (!code) code = archive_instances(sim, &archive);
    if (!code && team_now()->ranks == 1) code = check_rows(sim, archive.blobs, archive.count);
    *blobs = archive.blobs;
    *count = archive.count;
    return code;
}

void checkpoint_free_blobs(blob *blobs, int count)
{
    for (int i = 0; i < count; i++) {
        free(blobs[i].name);
        free(blobs[i].data);
    }
    free(blobs);
}

/* ---- Writing --------------------------------------------------------------------------------------- */

/* Rows of blobs that other processes have, in the order of blobs: first row and how many, then these. */
static size_t bytes_of_rows(const blob *blobs, int count)
{
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        if (blobs[i].row) bytes += 2 * sizeof(int64_t) + (size_t)blobs[i].have * blobs[i].row;
    return bytes;
}

static void pack_rows(const blob *blobs, int count, char *out)
{
    for (int i = 0; i < count; i++) {
        const blob *b = &blobs[i];
        if (!b->row) continue;
        const int64_t range[2] = {b->first, b->have};
        memcpy(out, range, sizeof range), out += sizeof range;
        memcpy(out, (const char *)b->data + b->first * (int64_t)b->row, (size_t)b->have * b->row);
        out += (size_t)b->have * b->row;
    }
}

/* What one process has packed. Rows that all have, as of one system, are the same everywhere. */
static const char *unpack_rows(blob *blobs, int count, bool **known, const char *from)
{
    for (int i = 0; i < count; i++) {
        blob *b = &blobs[i];
        int64_t range[2];
        if (!b->row) continue;
        memcpy(range, from, sizeof range), from += sizeof range;
        memcpy((char *)b->data + range[0] * (int64_t)b->row, from, (size_t)range[1] * b->row);
        from += (size_t)range[1] * b->row;
        for (int64_t k = range[0]; k < range[0] + range[1]; k++) {
            if (!known[i][k]) b->have++;
            known[i][k] = true;
        }
    }
    return from;
}

static int join_rows(simulation *sim)
{
    output_data *out = &sim->output;
    blob *blobs = (blob *)out->blobs;
    const int count = out->blob_count;
    const size_t bytes = team_now()->part ? 0 : bytes_of_rows(blobs, count);
    char *mine = checked(malloc(bytes + 1));
    void *all;
    if (bytes) pack_rows(blobs, count, mine);
    int code = team_gather(0, mine, bytes, &all);
    free(mine);
    if (code || !all) return code;
    bool **known = checked(calloc((size_t)count + 1, sizeof *known));
    for (int i = 0; i < count; i++) {
        blobs[i].have = 0;
        if (blobs[i].row) known[i] = checked(calloc(blobs[i].bytes / blobs[i].row + 1, 1));
    }
    const char *from = all;
    for (int32_t rank = 0; rank < team_now()->ranks; rank += team_now()->parts)
        from = unpack_rows(blobs, count, known, from);
    for (int i = 0; i < count; i++) free(known[i]);
    free(known), free(all);
    return check_rows(sim, blobs, count);
}

/* All: of the walkers of all processes, at rank 0. */
static int join_snapshots(simulation *sim, void **positions)
{
    const plugmc_system *system = &sim->system;
    const size_t bytes = 3 * sizeof(double) * (size_t)system->walkers * (size_t)system->particles;
    if (team_now()->parts == team_now()->ranks) /* all have the same */
        return check_rows(sim, (blob *)sim->output.blobs, sim->output.blob_count);
    int code = team_gather(0, sim->output.positions, bytes, positions);
    if (*positions) sim->output.positions = *positions;
    return code ? code : join_rows(sim);
}

int checkpoint_snapshot(simulation *sim, bool last)
{
    output_data *out = &sim->output;
    void *positions = NULL;
    snapshot_publish(sim);
    int code = team_now()->ranks > 1 ? join_snapshots(sim, &positions) : 0;
    if (!code && team_leads()) code = save(sim, last);
    free(positions);
    out->positions = NULL;
    out->blobs = NULL;
    out->blob_count = 0;
    return code;
}

int checkpoint(simulation *sim, uint64_t sweep, double seconds)
{
    int code = snapshot_take(sim, sweep, seconds);
    if (!code) code = saving_wait(sim); /* it reads results that are found anew */
    sim->output.sweep = sweep;
    if (!code && team_leads()) code = find_results(sim);
    return code ? code : checkpoint_snapshot(sim, false);
}

int checkpoint_last(simulation *sim, uint64_t sweep, double seconds)
{
    sim->output.sweep = sweep;
    int code = saving_wait(sim);
    /* Whether errors are known depends on what was accepted. */
    const int uncounted = code ? 0 : moves_refresh(sim);
    if (!code && team_leads())
        code = find_results(sim); /* for the table, should there be no checkpoint */
    if (!code) code = uncounted;
    if (!code) code = snapshot_take(sim, sweep, seconds);
    return code ? code : checkpoint_snapshot(sim, true);
}

int checkpoint_given_up(simulation *sim)
{
    int code = saving_wait(sim);
    if (!code && team_leads()) code = find_results(sim);
    return code ? code : checkpoint_snapshot(sim, true);
}

/* ---- Resuming -------------------------------------------------------------------------------------- */

/* A run can be made longer when it is resumed, not shorter than it is. */
static int enough_left(const simulation *sim, const char *path)
{
    const run_section *run = &sim->config.run;
    const long long asked = run->equilibrate + run->sweeps;
    if (sim->output.sweep <= (uint64_t)asked) return 0;
    return report_error(
        sim->report, EXIT_INPUT, NULL, 0,
        "cannot resume from %s with [run] sweeps = %lld: with equilibration these are "
        "%lld, and it has made %lld already",
        path, (long long)run->sweeps, asked, (long long)sim->output.sweep);
}

int simulation_resume(simulation *sim, const char *path)
{
    output_data *out = &sim->output;
    sim->output_path = path;
    int code = output_read(path, out, sim->report);
    if (code) return code;
    double *positions;
    code = borrowing_write(sim, &positions);
    if (code) return code;
    code = room_spread(sim, out, positions);
    if (code) return code;
    blob_archive archive = archive_of(sim, 1);
    archive.blobs = (blob *)out->blobs;
    archive.count = out->blob_count;
    code = archive_state(sim, &archive);
    if (!code) code = borrowing_take_up(sim);
    if (!code) code = archive_instances(sim, &archive);
    if (!code) code = moves_take_up(sim);
    sim->seconds_base = out->seconds;
    checkpoint_free_blobs((blob *)out->blobs, out->blob_count);
    free((void *)out->positions);
    out->positions = NULL;
    out->blobs = NULL;
    out->blob_count = 0;
    if (code) return code;
    sim->in_file = true;
    return enough_left(sim, path);
}
