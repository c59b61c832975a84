/* A run's state between the mover, the other plugins and the output file: checkpoints, and taking
 * them up again. */
#include "checkpointing.h"

#include <stdlib.h>
#include <string.h>

#include "archive/trajectory_resume.h"
#include "engine/sync.h"
#include "engine/moves.h"
#include "records/results.h"
#include "session/blobs.h"
#include "session/enlarging.h"
#include "session/own_files.h"
#include "session/saving.h"
#include "snapshot.h"
#include "parallel/team.h"

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

static int join_rows(session *session)
{
    output_data *out = &session->records.output;
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
    return blobs_check_rows(session, blobs, count);
}

/* All: of the walkers of all processes, at rank 0. */
static int join_snapshots(session *session, void **positions)
{
    const plugmc_system *system = &session->engine.system;
    const size_t bytes = 3 * sizeof(double) * (size_t)system->walkers * (size_t)system->particles;
    if (team_now()->parts == team_now()->ranks) /* all have the same */
        return blobs_check_rows(session, (blob *)session->records.output.blobs,
                                session->records.output.blob_count);
    int code = team_gather(0, session->records.output.positions, bytes, positions);
    if (*positions) session->records.output.positions = *positions;
    return code ? code : join_rows(session);
}

int checkpoint_snapshot(session *session, bool last)
{
    output_data *out = &session->records.output;
    void *positions = NULL;
    snapshot_publish(session);
    int code = team_now()->ranks > 1 ? join_snapshots(session, &positions) : 0;
    if (!code && team_leads()) code = save(session, last);
    free(positions);
    out->positions = NULL;
    out->blobs = NULL;
    out->blob_count = 0;
    return code;
}

int checkpoint(session *session, uint64_t sweep, double seconds)
{
    int code = snapshot_take(session, sweep, seconds);
    if (!code) code = saving_wait(session); /* it reads results that are found anew */
    session->records.output.sweep = sweep;
    if (!code && team_leads()) code = find_results(&session->records);
    return code ? code : checkpoint_snapshot(session, false);
}

int checkpoint_last(session *session, uint64_t sweep, double seconds)
{
    session->records.output.sweep = sweep;
    int code = saving_wait(session);
    /* Whether errors are known depends on what was accepted. */
    const int uncounted = code ? 0 : moves_refresh(&session->engine);
    if (!code && team_leads())
        code = find_results(&session->records); /* for the table, should there be no checkpoint */
    if (!code) code = uncounted;
    if (!code) code = snapshot_take(session, sweep, seconds);
    return code ? code : checkpoint_snapshot(session, true);
}

int checkpoint_given_up(session *session)
{
    int code = saving_wait(session);
    if (!code && team_leads()) code = find_results(&session->records);
    return code ? code : checkpoint_snapshot(session, true);
}

/* ---- Resuming -------------------------------------------------------------------------------------- */

/* A run can be made longer when it is resumed, not shorter than it is. */
static int enough_left(const session *session, const char *path)
{
    const run_section *run = &session->engine.config.run;
    const long long asked = run->equilibrate + run->sweeps;
    if (session->records.output.sweep <= (uint64_t)asked) return 0;
    return report_error(
        session->engine.report, EXIT_INPUT, NULL, 0,
        "cannot resume from %s with [run] sweeps = %lld: with equilibration these are "
        "%lld, and it has made %lld already",
        path, (long long)run->sweeps, asked, (long long)session->records.output.sweep);
}

int session_resume(session *session, const char *path)
{
    output_data *out = &session->records.output;
    session->output_path = path;
    int code = output_read(path, out, session->engine.report);
    if (code) return code;
    double *positions;
    code = sync_write(&session->engine, &positions);
    if (code) return code;
    code = spread_over_capacity(session, out, positions);
    if (code) return code;
    code = blobs_take_up(session);
    if (!code) code = moves_take_up(&session->engine);
    session->seconds_base = out->seconds;
    blobs_free((blob *)out->blobs, out->blob_count);
    free((void *)out->positions);
    out->positions = NULL;
    out->blobs = NULL;
    out->blob_count = 0;
    if (!code) code = enough_left(session, path);
    if (!code && team_leads()) code = trajectory_take_up(out, path, session->engine.report);
    /* of a file that was moved it may be elsewhere than beside it */
    if (!code && team_leads()) code = own_files_check_trajectory(session);
    session->in_file = !code;
    return code;
}
