/* What plugins archive, and what of the state is not positions, as named blobs. See blobs.h. */
#include "session/blobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "engine/sync.h"
#include "session/enlarging.h"
#include "parallel/team.h"
#include "energy/bias.h"
#include "archive/shapes.h"

/* plugmc_archive over a list of named blobs. */
typedef struct blob_archive {
    plugmc_archive base;
    session *session;
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
    report_error(archive->session->engine.report, EXIT_CHECKPOINT, NULL, 0,
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
        report_error(archive->session->engine.report, EXIT_INTERNAL, NULL, 0,
                     "[%s] archives %lld rows of %zu bytes, from %lld on, of the %lld of '%s'",
                     owner_of(archive), (long long)n, row, (long long)first, (long long)all, name);
        if (archive->owner) context_failed(&archive->owner->context);
        return PLUGMC_ERROR_STATE;
    }
    return archive_part(archive, name, data, row, row * (size_t)first, row * (size_t)n,
                        row * (size_t)all);
}

static int archive_has(plugmc_archive *base, const char *name)
{
    const blob_archive *archive = (blob_archive *)base;
    char *full = blob_name(archive, name);
    bool found = false;
    for (int i = 0; i < archive->count && full; i++) found |= !strcmp(archive->blobs[i].name, full);
    free(full);
    return found;
}

static blob_archive archive_of(session *session, int reading)
{
    const int32_t walkers = session->engine.system.walkers;
    return (blob_archive){.base = {.size = sizeof(plugmc_archive),
                                   .reading = reading,
                                   .bytes = archive_bytes,
                                   .rows = archive_rows,
                                   .has = archive_has,
                                   .state = &session->engine.current.state.face,
                                   .first_walker = session->engine.processes.first_walker,
                                   .walkers = walkers,
                                   .all_walkers = session->engine.processes.all_walkers},
                          .session = session};
}

/* Rows that nobody has saved would be zeros for whoever goes on from them. */
int blobs_check_rows(const session *session, const blob *blobs, int count)
{
    for (int i = 0; i < count; i++) {
        const blob *b = &blobs[i];
        const long long all = b->row ? (long long)(b->bytes / b->row) : 0;
        if (b->have != all)
            return report_error(session->engine.report, EXIT_INTERNAL, NULL, 0,
                                "%lld of %lld rows of '%s' were saved", (long long)b->have, all,
                                b->name);
    }
    return 0;
}

/* One array of the state beside positions, which have a place of their own. */
static int archive_array(session *session, blob_archive *archive, int what, const char *name)
{
    const int access = archive->base.reading ? PLUGMC_WRITE : PLUGMC_READ;
    void *out;
    size_t row;
    int code = session->engine.current.state.face.array(&session->engine.current.state.face, what,
                                                        PLUGMC_ON_HOST, access, &out, &row);
    if (code)
        return context_exit_code(&engine_asking(&session->engine)->context, code,
                                 "saving its state");
    archive->owner = NULL;
    code = plugmc_archive_walkers(&archive->base, name, out, row);
    return code == PLUGMC_ERROR_MEMORY ? EXIT_MEMORY : code ? EXIT_CHECKPOINT : 0;
}

/* Orientations of bodies. Those of a file that has room for other numbers of particles are taken apart by its blocks. */
static int archive_orientations(session *session, blob_archive *archive)
{
    const char *name = "orientations";
    const output_data *data = &session->records.output;
    const size_t row = (size_t)data->particles * sizeof(plugmc_orientation),
                 all = row * (size_t)session->engine.processes.all_walkers;
    if (!archive->base.reading || data->particles == session->engine.system.particles)
        return archive_array(session, archive, PLUGMC_STATE_ORIENTATION, name);
    archive->owner = NULL;
    char *full = blob_name(archive, name);
    const blob *found = full ? find_blob(archive, full, row, all) : NULL;
    void *out;
    free(full);
    if (!found) return not_in_checkpoint(archive, name, all) ? EXIT_CHECKPOINT : 0;
    const plugmc_state *state = &session->engine.current.state.face;
    const int code =
        state->array(state, PLUGMC_STATE_ORIENTATION, PLUGMC_ON_HOST, PLUGMC_WRITE, &out, NULL);
    return code ? context_exit_code(&engine_asking(&session->engine)->context, code,
                                    "taking up the checkpoint")
                : spread_orientations(session, data, found->data, out);
}

/* Where room grows: how the positions of the file are laid out. */
static int archive_room(session *session, blob_archive *archive)
{
    const int32_t n = session->engine.system.species_count;
    int64_t room[n + 1];
    bool grows = false;
    for (int32_t s = 0; s < n; s++) {
        grows |= plugmc_species_at(&session->engine.system, s)->grows != 0;
        room[s] = plugmc_species_at(&session->engine.system, s)->capacity;
    }
    if (!grows || archive->base.reading) return 0;
    archive->owner = NULL;
    return archive_bytes(&archive->base, "room", room, (size_t)n * sizeof *room) ? EXIT_MEMORY : 0;
}

/* How bodies are drawn, for plugmc export, which loads no potentials. */
static int archive_shapes(session *session, blob_archive *archive)
{
    if (!session->engine.system.bodies || archive->base.reading) return 0;
    char *shapes = shapes_of(&session->engine.system);
    archive->owner = NULL;
    const int code =
        shapes ? archive_bytes(&archive->base, "shapes", shapes, strlen(shapes) + 1) : 1;
    free(shapes);
    return code ? EXIT_MEMORY : 0;
}

/* What of the state some mover changes, and positions are not. */
static int archive_state(session *session, blob_archive *archive)
{
    uint32_t changes = 0;
    int code = 0;
    for (int k = 0; k < session->engine.mover_count; k++)
        changes |= session->engine.movers[k].mover->changes;
    if (changes & PLUGMC_CHANGED_BOX)
        code = archive_array(session, archive, PLUGMC_STATE_BOX, "boxes");
    if (!code && changes & PLUGMC_CHANGED_COUNT)
        code = archive_array(session, archive, PLUGMC_STATE_COUNT, "counts");
    if (!code) code = archive_room(session, archive);
    if (!code && changes & PLUGMC_CHANGED_RUNG)
        code = archive_array(session, archive, PLUGMC_STATE_RUNG, "rungs");
    if (!code && changes & PLUGMC_CHANGED_MULTIPLIER)
        code = archive_array(session, archive, PLUGMC_STATE_MULTIPLIER, "multipliers");
    if (!code && changes & PLUGMC_CHANGED_WALKER_WEIGHT)
        code = archive_array(session, archive, PLUGMC_STATE_WEIGHT, "weights");
    if (!code && session->engine.system.bodies) code = archive_orientations(session, archive);
    if (!code) code = archive_shapes(session, archive);
    return code;
}

/* Of macrostates: what was not gathered yet. */
static int archive_transitions(session *session, blob_archive *archive)
{
    hamiltonian *h = &session->engine.current.hamiltonian;
    const size_t numbers = bias_transitions(h);
    instance *asking = engine_asking(&session->engine);
    double *counts = numbers ? checked(calloc(numbers, sizeof *counts)) : NULL;
    int code = PLUGMC_OK;
    if (!numbers) return 0;
    archive->owner = NULL;
    if (!archive->base.reading) code = bias_read(h, &asking->host, counts);
    if (!code) code = archive_bytes(&archive->base, "books", counts, numbers * sizeof *counts);
    if (!code && archive->base.reading) code = bias_write(h, &asking->host, counts);
    free(counts);
    return code == PLUGMC_ERROR_MEMORY ? EXIT_MEMORY : code ? EXIT_CHECKPOINT : 0;
}

/* Which movers hold what the state is: PLUGMC_CHANGED_* for each, of what it lacks. */
static int archive_changed(session *session, blob_archive *archive, uint32_t *changed)
{
    archive->owner = NULL;
    const int code = archive_bytes(&archive->base, "changed", changed,
                                   (size_t)session->engine.mover_count * sizeof *changed);
    return code == PLUGMC_ERROR_MEMORY ? EXIT_MEMORY : code ? EXIT_CHECKPOINT : 0;
}

static uint32_t changed_of(const session *session, const instance *instance,
                           const uint32_t *changed)
{
    for (int k = 0; k < session->engine.mover_count; k++)
        if (session->engine.movers[k].instance == instance) return changed[k];
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
static int archive_instances(session *session, blob_archive *archive)
{
    const int reading = archive->base.reading;
    uint32_t *changed = checked(calloc((size_t)session->engine.mover_count + 1, sizeof *changed));
    int code = reading ? archive_changed(session, archive, changed) : 0;
    for (int i = 0; i < session->engine.instance_count && !code; i++) {
        archive->base.changed = changed_of(session, &session->engine.instances[i], changed);
        code = archive_instance(&session->engine.instances[i], archive);
    }
    archive->base.changed = 0;
    if (!code) code = archive_transitions(session, archive);
    for (int k = 0; k < session->engine.mover_count && !code; k++)
        if (reading)
            sync_resumed(&session->engine, &session->engine.movers[k], changed[k]);
        else
            changed[k] = sync_changes(&session->engine, &session->engine.movers[k]);
    if (!code && !reading) code = archive_changed(session, archive, changed);
    free(changed);
    return code;
}

int blobs_take_weights(session *session)
{
    blob_archive archive = archive_of(session, 1);
    archive.blobs = (blob *)session->records.output.blobs;
    archive.count = session->records.output.blob_count;
    return session->engine.weighing ? archive_instance(session->engine.weighing->instance, &archive)
                                    : 0;
}

/* Totals that wait to look at new places or boxes do so now, as they would before the next trial move: what they
 * archive is then what a resumed run begins with. */
static int refresh_totals(session *session)
{
    hamiltonian *h = &session->engine.current.hamiltonian;
    instance *asking = engine_asking(&session->engine);
    int code = PLUGMC_OK;
    if (h->has_totals && h->stale)
        code = hamiltonian_refresh(h, &asking->host);
    else if (h->boxes_taken)
        code = hamiltonian_start_totals(h, &asking->host);
    return context_exit_code(&asking->context, code, "saving its state");
}

int blobs_save(session *session, blob **blobs, int *count)
{
    blob_archive archive = archive_of(session, 0);
    int code = archive_state(session, &archive);
    if (!code) code = refresh_totals(session);
    if (!code) code = archive_instances(session, &archive);
    if (!code && team_now()->ranks == 1)
        code = blobs_check_rows(session, archive.blobs, archive.count);
    *blobs = archive.blobs;
    *count = archive.count;
    return code;
}

void blobs_free(blob *blobs, int count)
{
    for (int i = 0; i < count; i++) {
        free(blobs[i].name);
        free(blobs[i].data);
    }
    free(blobs);
}

int blobs_take_up(session *session)
{
    blob_archive archive = archive_of(session, 1);
    archive.blobs = (blob *)session->records.output.blobs;
    archive.count = session->records.output.blob_count;
    int code = archive_state(session, &archive);
    if (!code) code = sync_load_checkpoint(&session->engine);
    return code ? code : archive_instances(session, &archive);
}
