/* Writing the output file and the table of scalars. See saving.h. */
#include "run/saving.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/paths.h"
#include "run/writing.h"

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
    code = output_try(path, NULL, data, w->why);
    if (code && w->kept[0] && !rename(w->kept, path)) w->kept[0] = 0;
    return code;
}

/* ---- Further ones --------------------------------------------------------------------------- */

/* The series of scalars and the averages are all in memory, frames only since the last write. */
static int write_anew(const char *path, output_data *data, written *w)
{
    const int64_t lost = data->frames_written;
    int code = output_try(path, NULL, data, w->why);
    w->anew = !code;
    w->lost = lost;
    return code;
}

static int write_output(const char *path, bool in_file, output_data *data, written *w)
{
    if (!in_file) return write_fresh(path, data, w);
    int code = output_try(path, path, data, w->why);
    bool gone = code == EXIT_OUTPUT && access(path, F_OK) && errno == ENOENT;
    return gone ? write_anew(path, data, w) : code;
}

static void write_all(const char *path, const char *csv_path, bool in_file, output_data *data,
                      written *w)
{
    *w = (written){0};
    w->code = write_output(path, in_file, data, w);
    if (csv_path && *csv_path) w->table_code = output_csv_try(csv_path, data, w->why_table);
}

/* ---- When it fails at the end --------------------------------------------------------------- */

/* FOLDER/sim.rescued-1a2b3c4d.h5; the digits are those of the process, so the name is free. */
static char *rescue_name(const simulation *sim, const char *folder)
{
    const char *slash = strrchr(sim->output_path, '/');
    const char *name = slash ? slash + 1 : sim->output_path, *end = strrchr(name, '.');
    const int stem = end && end > name ? (int)(end - name) : (int)strlen(name);
    char *file, *path;
    if (asprintf(&file, "%.*s.rescued-%.8s.h5", stem, name, sim->output.identity) < 0)
        checked(NULL);
    path = path_join(folder, file);
    free(file);
    return path;
}

/* Beside the output, here, or among temporary files: the first place that takes it. */
static bool rescue(simulation *sim, char words[1024])
{
    const char *temporary = getenv("TMPDIR");
    char *beside = path_folder(sim->output_path), why[OUTPUT_WHY];
    const char *const folders[] = {beside, "", temporary && *temporary ? temporary : "/tmp"};
    const bool kept = sim->in_file && output_is_intact(sim->output_path, &sim->output);
    bool saved = false;
    for (int i = 0; i < 3 && !saved; i++) {
        if (i && strcmp(folders[i], folders[i - 1]) == 0) continue;
        char *path = rescue_name(sim, folders[i]);
        saved = !output_try(path, kept ? sim->output_path : NULL, &sim->output, why);
        if (saved) {
            snprintf(words, 1024, "the run is in %s: go on with plugmc run --resume %s", path,
                     path);
            sim->output_path = keep_text(path);
        }
        free(path);
    }
    free(beside);
    return saved;
}

static int give_up(simulation *sim, const char *why)
{
    char words[1024];
    const char *path = sim->output_path, *state = output_state(path, !sim->in_file, &sim->output);
    if (rescue(sim, words))
        return report_error(sim->report, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s (%s); %s", path,
                            why, state, words);
    return report_error(sim->report, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s (%s%s)", path, why,
                        state, sim->in_file ? ": mend this and resume from it" : "");
}

/* ---- All of it ------------------------------------------------------------------------------ */

static int conclude_table(simulation *sim, const written *w, bool last)
{
    if (!w->table_code) return 0;
    if (last)
        return report_error(sim->report, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s", sim->csv_path,
                            w->why_table);
    const char *kept = keep_text(w->why_table);
    if (sim->why_table_failed == kept) return 0;
    sim->why_table_failed = kept;
    report_warning(sim->report, sim->csv_path, 0,
                   "cannot be written: %s; the run goes on and tries again at the next checkpoint",
                   w->why_table);
    return 0;
}

/* Once for each reason. */
static void say_failed(simulation *sim, const char *why)
{
    const char *kept = keep_text(why);
    if (sim->failed_writes && sim->why_failed == kept) return;
    sim->why_failed = kept;
    report_warning(sim->report, sim->output_path, 0,
                   "cannot be written: %s (%s); the run goes on and tries again at the next "
                   "checkpoint",
                   why, output_state(sim->output_path, !sim->in_file, &sim->output));
}

static void say_what_was_there(const simulation *sim, const written *w)
{
    if (w->kept[0])
        report_warning(sim->report, sim->output_path, 0, "was there already and is now %s",
                       w->kept);
    if (w->anew && w->lost)
        report_warning(sim->report, sim->output_path, 0,
                       "was gone and is written anew, without the %lld frames that were in it",
                       (long long)w->lost);
    else if (w->anew)
        report_warning(sim->report, sim->output_path, 0, "was gone and is written anew");
}

/* What a write that has ended means for the run. */
static int conclude(simulation *sim, const written *w, bool last)
{
    int code = w->code;
    if (code == EXIT_INTERNAL) return report_error(sim->report, code, NULL, 0, "%s", w->why);
    say_what_was_there(sim, w);
    if (!code) {
        if (sim->failed_writes) report_note(sim->report, "%s: written again", sim->output_path);
        sim->in_file = true;
        sim->failed_writes = 0;
    } else if (last) {
        code = give_up(sim, w->why);
    } else {
        say_failed(sim, w->why);
        sim->failed_writes++;
        code = 0;
    }
    int table = conclude_table(sim, w, last);
    return code ? code : table;
}

int save(simulation *sim, bool last)
{
    written w;
    int code = saving_wait(sim);
    if (code || (!last && writing_begin(sim, write_all))) return code;
    write_all(sim->output_path, sim->csv_path, sim->in_file, &sim->output, &w);
    return conclude(sim, &w, last);
}

static int look_after_writing(simulation *sim, bool wait)
{
    written w;
    return writing_end(sim, wait, &w) ? conclude(sim, &w, false) : 0;
}

int saving_look(simulation *sim) { return look_after_writing(sim, false); }

int saving_wait(simulation *sim) { return look_after_writing(sim, true); }
