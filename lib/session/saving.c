/* Writing the output file and the table of scalars. See saving.h. */
#include "session/saving.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/paths.h"
#include "writing.h"

/* ---- The first write ------------------------------------------------------------------------ */

/* A file that is in the way of a new run is kept under another name, "" if there is none. */
static int move_aside(const char *path, char kept[KEPT], char why[OUTPUT_WHY])
{
    kept[0] = 0;
    if (access(path, F_OK)) return 0;
    for (int k = 1; k < 10000; k++) {
        snprintf(kept, KEPT, "%s.%d", path, k);
        if (access(kept, F_OK) == 0) continue;
        if (rename(path, kept)) break;
        return 0;
    }
    kept[0] = 0;
    snprintf(why, OUTPUT_WHY, "it is there already and cannot be moved aside");
    return EXIT_OUTPUT;
}

/* If it fails, what was there is there again. */
static int write_fresh(const char *path, output_data *data, written *w)
{
    int code = move_aside(path, w->kept, w->why);
    if (code) return code;
    code = output_try(path, true, data, &w->lost, w->why);
    if (code && w->kept[0] && !rename(w->kept, path)) w->kept[0] = 0;
    return code;
}

/* ---- Further ones --------------------------------------------------------------------------- */

/* All that is in the file is in memory, too. */
static int write_anew(const char *path, output_data *data, written *w)
{
    char why[OUTPUT_WHY];
    lost_frames lost;
    int code = output_try(path, true, data, &lost, why);
    if (lost.count) w->lost = lost;
    w->anew = !code;
    return code;
}

/* What is in it may be worth something to somebody. */
static int write_for_damaged(const char *path, output_data *data, written *w)
{
    char why[OUTPUT_WHY];
    int code = move_aside(path, w->kept, why);
    if (!code) code = write_anew(path, data, w);
    if (code && w->kept[0] && !rename(w->kept, path)) w->kept[0] = 0;
    return code;
}

/* FOLDER/session.rescued-1a2b3c4d.h5; the digits are those of the process, so the name is free. */
static char *rescue_name(const char *path, const char *identity, const char *folder)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *end = strrchr(name, '.');
    const int stem = end && end > name ? (int)(end - name) : (int)strlen(name);
    char *file, *whole;
    if (asprintf(&file, "%.*s.rescued-%.8s.h5", stem, name, identity) < 0) checked(NULL);
    whole = path_join(folder, file);
    free(file);
    return whole;
}

/* The file of somebody else is left as it is. */
static int write_beside(const char *path, output_data *data, written *w)
{
    char *folder = path_folder(path), *place = rescue_name(path, data->file.identity, folder);
    int code = strlen(place) < sizeof w->elsewhere ? write_anew(place, data, w) : EXIT_OUTPUT;
    if (!code) strcpy(w->elsewhere, place);
    free(place), free(folder);
    return code;
}

static int write_output(const char *path, bool in_file, output_data *data, written *w)
{
    int again = EXIT_OUTPUT;
    if (!in_file) return write_fresh(path, data, w);
    const int code = output_try(path, false, data, &w->lost, w->why);
    if (code != EXIT_OUTPUT && code != EXIT_MEMORY) return code;
    w->found = output_look(path, data, w->why_found);
    if (w->found == FOUND_NOTHING) again = write_anew(path, data, w);
    if (w->found == FOUND_DAMAGED) again = write_for_damaged(path, data, w);
    if (w->found == FOUND_OTHER) again = write_beside(path, data, w);
    return w->anew ? again : code;
}

static void write_all(const char *path, const char *csv_path, bool in_file, output_data *data,
                      written *w)
{
    *w = (written){0};
    w->code = write_output(path, in_file, data, w);
    if (csv_path && *csv_path) w->table_code = output_csv_try(csv_path, data, w->why_table);
}

/* ---- When it fails at the end --------------------------------------------------------------- */

static bool is_short(const session *session, const written *w)
{
    return w->code && child_is_shortage(session->records.output.file.error);
}

/* The last write. Others may give back in a moment what it lacks. Without another process for it HDF5 is called in
 * this one; where memory is short it would end the program. */
static void write_last(session *session, written *w)
{
    const char *const program = child_program;
    write_all(session->output_path, session->csv_path, session->in_file, &session->records.output,
              w);
    if (is_short(session, w))
        report_warning(session->engine.report, session->output_path, 0,
                       "cannot be written: %s; it is tried again for 15 seconds", w->why);
    for (unsigned pause = 1; pause <= 8 && is_short(session, w); pause *= 2) {
        sleep(pause);
        write_all(session->output_path, session->csv_path, session->in_file,
                  &session->records.output, w);
    }
    if (!is_short(session, w) || session->records.output.file.error == ENOMEM) return;
    child_program = NULL;
    write_all(session->output_path, session->csv_path, session->in_file, &session->records.output,
              w);
    child_program = program;
}

/* ", without the 48 frames of sweeps 5 to 240"; "" if there are none. */
static const char *frames_words(const lost_frames *lost, char words[128])
{
    words[0] = 0;
    if (lost->count)
        snprintf(words, 128, ", without the %lld frame%s of sweeps %llu to %llu",
                 (long long)lost->count, lost->count == 1 ? "" : "s",
                 (unsigned long long)lost->from, (unsigned long long)lost->until);
    return words;
}

/* The trajectory goes on where it is, or, if it can no longer be written there, beside the file. */
static bool rescue_to(session *session, const char *path, bool moves, const lost_frames *left,
                      char words[1024])
{
    output_data *out = &session->records.output;
    char why[OUTPUT_WHY], frames[128];
    lost_frames lost;
    if (moves) trajectory_move(&out->trajectory, path);
    if (output_try(path, true, out, &lost, why)) return false;
    frames_words(moves ? left : &lost, frames);
    snprintf(words, 1024, "the run is in %s%s: go on with plugmc run --resume %s", path, frames,
             path);
    session->output_path = keep_text(path);
    return true;
}

/* Beside the output, here, or among temporary files: the first place that takes it. */
static bool rescue(session *session, char words[1024])
{
    const char *temporary = getenv("TMPDIR");
    char *beside = path_folder(session->output_path);
    const char *const folders[] = {beside, "", temporary && *temporary ? temporary : "/tmp"};
    const output_trajectory *t = &session->records.output.trajectory;
    const lost_frames left = {t->written, t->from, t->until};
    bool saved = false;
    for (int i = 0; i < 6 && !saved; i++) {
        const char *folder = folders[i % 3];
        const bool moves = i >= 3;
        if ((i % 3 && !strcmp(folder, folders[i % 3 - 1])) || (moves && !t->frame_count)) continue;
        char *path = rescue_name(session->output_path, session->records.output.file.identity, folder);
        saved = rescue_to(session, path, moves, &left, words);
        free(path);
    }
    free(beside);
    return saved;
}

static int give_up(session *session, const written *w)
{
    char words[1024], state_words[OUTPUT_WHY];
    const bool resumable =
        session->in_file && (w->found == FOUND_WHOLE || w->found == FOUND_UNKNOWN);
    const char *path = session->output_path,
               *state = output_state(!session->in_file, w->found, w->why_found, state_words);
    if (rescue(session, words))
        return report_error(session->engine.report, EXIT_OUTPUT, NULL, 0,
                            "cannot write %s: %s (%s); %s", path, w->why, state, words);
    return report_error(session->engine.report, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s (%s%s)",
                        path, w->why, state, resumable ? ": mend this and resume from it" : "");
}

/* ---- All of it ------------------------------------------------------------------------------ */

static int conclude_table(session *session, const written *w, bool last)
{
    if (!w->table_code) return 0;
    if (last)
        return report_error(session->engine.report, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s",
                            session->csv_path, w->why_table);
    const char *kept = keep_text(w->why_table);
    if (session->why_table_failed == kept) return 0;
    session->why_table_failed = kept;
    report_warning(session->engine.report, session->csv_path, 0,
                   "cannot be written: %s; the run goes on and tries again at the next checkpoint",
                   w->why_table);
    return 0;
}

/* Once for each reason. */
static void say_failed(session *session, const written *w)
{
    const char *kept = keep_text(w->why);
    char words[OUTPUT_WHY];
    if (session->failed_writes && session->why_failed == kept) return;
    session->why_failed = kept;
    report_warning(session->engine.report, session->output_path, 0,
                   "cannot be written: %s (%s); the run goes on and tries again at the next "
                   "checkpoint",
                   w->why, output_state(!session->in_file, w->found, w->why_found, words));
}

static void say_what_was_there(const session *session, const written *w)
{
    char frames[128];
    const char *path = session->output_path;
    if (w->lost.count)
        report_warning(session->engine.report, path, 0, "its trajectory was gone and begins anew%s",
                       frames_words(&w->lost, frames));
    if (w->anew && w->found == FOUND_NOTHING)
        report_warning(session->engine.report, path, 0, "was gone and is written anew");
    else if (w->anew && w->found == FOUND_DAMAGED)
        report_warning(session->engine.report, path, 0,
                       "is damaged: %s; it is now %s, and what the run has is written anew",
                       w->why_found, w->kept);
    else if (w->anew)
        report_warning(session->engine.report, path, 0,
                       "is another file now, which is left as it is; the run goes on in %s",
                       w->elsewhere);
    else if (w->kept[0])
        report_warning(session->engine.report, path, 0, "was there already and is now %s", w->kept);
}

static int tell_displaced(const session *session)
{
    return report_error(
        session->engine.report, EXIT_OUTPUT, NULL, 0,
        "cannot write %s: another file has taken its place; the run is in %s: go on "
        "with plugmc run --resume %s",
        session->displaced, session->output_path, session->output_path);
}

/* What a write that has ended means for the run. */
static int conclude(session *session, const written *w, bool last)
{
    int code = w->code;
    if (code == EXIT_INTERNAL)
        return report_error(session->engine.report, code, NULL, 0, "%s", w->why);
    say_what_was_there(session, w);
    if (!code && w->elsewhere[0]) {
        if (!session->displaced) session->displaced = session->output_path;
        session->output_path = keep_text(w->elsewhere);
    }
    if (!code) {
        if (session->failed_writes)
            report_note(session->engine.report, "%s: written again", session->output_path);
        session->in_file = true;
        session->failed_writes = 0;
        if (last && session->displaced) code = tell_displaced(session);
    } else if (last) {
        code = give_up(session, w);
    } else {
        say_failed(session, w);
        session->failed_writes++;
        code = 0;
    }
    int table = conclude_table(session, w, last);
    return code ? code : table;
}

/* Somebody asks for it, and hears at once what has become of it. */
static int save_for_host(session *session)
{
    written w;
    char words[OUTPUT_WHY];
    write_all(session->output_path, session->csv_path, session->in_file, &session->records.output,
              &w);
    if (!w.code) return conclude(session, &w, true);
    if (w.code == EXIT_INTERNAL)
        return report_error(session->engine.report, w.code, NULL, 0, "%s", w.why);
    say_what_was_there(session, &w);
    return report_error(session->engine.report, w.code, NULL, 0, "cannot write %s: %s (%s)",
                        session->output_path, w.why,
                        output_state(!session->in_file, w.found, w.why_found, words));
}

int save(session *session, bool last)
{
    written w;
    if (session->embedded) return save_for_host(session);
    int code = saving_wait(session);
    if (code || (!last && writing_begin(session, write_all))) return code;
    if (last)
        write_last(session, &w);
    else
        write_all(session->output_path, session->csv_path, session->in_file,
                  &session->records.output, &w);
    return conclude(session, &w, last);
}

static int look_after_writing(session *session, bool wait)
{
    written w;
    return writing_end(session, wait, &w) ? conclude(session, &w, false) : 0;
}

int saving_look(session *session) { return look_after_writing(session, false); }

int saving_wait(session *session) { return look_after_writing(session, true); }
