/* Opening an engine and closing it. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "again.h"
#include "base/child.h"
#include "base/crash.h"
#include "base/leftovers.h"
#include "base/own_folder.h"
#include "base/stop.h"
#include "border.h"
#include "input/lists.h"
#include "parallel/team.h"
#include "session/same_input.h"

static plugmc_engine *open_engine; /* of this process */

const char *plugmc_engine_version(void) { return PLUGMC_VERSION; }

/* ---- Before it is opened ---------------------------------------------------------------------- */

plugmc_engine *plugmc_engine_new(void)
{
    plugmc_engine *e = calloc(1, sizeof *e);
    if (!e) return NULL;
    e->thread = pthread_self();
    border_hear(e);
    return e;
}

int plugmc_engine_messages_to(plugmc_engine *e, plugmc_engine_hears *hears, void *data)
{
    if (!e) return EXIT_USAGE;
    e->told.hears = hears;
    e->told.data = data;
    return 0;
}

static int keep_assignment(plugmc_engine *e, void *assignment)
{
    char **more = realloc(e->sets, (size_t)(e->asked.set_count + 1) * sizeof *more);
    if (more) e->sets = more;
    char *copy = more ? strdup(assignment) : NULL;
    if (!copy) return report_error(&e->report, EXIT_MEMORY, NULL, 0, "no memory for a key");
    e->sets[e->asked.set_count++] = copy;
    return 0;
}

int plugmc_engine_set(plugmc_engine *e, const char *assignment)
{
    return border_cross(e, NEW_ALONE, keep_assignment, (void *)assignment);
}

static int keep_processes(plugmc_engine *e, void *processes)
{
    e->processes = *(const host_processes *)processes;
    return 0;
}

int plugmc_engine_communicator(plugmc_engine *e, const void *mpi_comm)
{
    host_processes p = {.there = true, .communicator = mpi_comm};
    return border_cross(e, NEW_ALONE, keep_processes, &p);
}

int plugmc_engine_communicator_fortran(plugmc_engine *e, int32_t mpi_comm)
{
    host_processes p = {.there = true, .fortran = mpi_comm};
    return border_cross(e, NEW_ALONE, keep_processes, &p);
}

/* ---- Opening ---------------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* The program of this installation or build tree, which tries files and plugins before they are read here, and
 * calls HDF5. malloc'ed; NULL: it is not there. */
static char *find_program(void)
{
    static const char *const beside[] = {"../bin/plugmc", "../../bin/plugmc", "plugmc"};
    char *path;
    for (size_t k = 0; k < sizeof beside / sizeof *beside && own_folder(); k++) {
        if (asprintf(&path, "%s/%s", own_folder(), beside[k]) < 0) checked(NULL);
        if (is_program(path)) return path;
        free(path);
    }
    return is_program(PLUGMC_PROGRAM) ? checked(strdup(PLUGMC_PROGRAM)) : NULL;
}

static int find_children(plugmc_engine *e)
{
    child_program = find_program();
    if (child_program) return 0;
    return report_error(&e->report, EXIT_PLUGIN, NULL, 0,
                        "the program plugmc, which the library needs, is neither at %s nor beside "
                        "the library, in %s",
                        PLUGMC_PROGRAM, own_folder() ? own_folder() : "a folder that is not known");
}

static int meet_others(plugmc_engine *e)
{
    const host_processes *p = &e->processes;
    return p->there ? team_be_guest(&e->report, p->communicator, p->fortran) : 0;
}

/* From what is asked for to the first sweep, or the next one. */
static int begin(plugmc_engine *e)
{
    session *s = &e->session;
    origin from;
    int code = team_agree(starting_read(s, &e->asked, &e->found));
    if (!code) code = same_input(s);
    if (!code) code = starting_find(s, &e->asked, &e->found, &from);
    if (!code && from.there) code = starting_go_on(s, &e->asked, &e->found, &from);
    if (!code) code = again_keep_path(e, from.path);
    if (!code && from.there) code = again_lock(e, &from);
    if (!code && team_leads()) code = starting_log(s);
    if (!code) code = starting_make_state(s, &e->asked, &from);
    e->ini_sweeps = e->told_sweeps = s->engine.config.run.sweeps;
    return code ? code : session_begin(s);
}

int again_with_more_room(plugmc_engine *e)
{
    const origin from = {.path = e->path};
    int code = e->locked ? 0 : again_lock(e, &from);
    if (!code) code = session_save_to_enlarge(&e->session);
    if (code) return code;
    starting_unlock(&e->locks);
    e->locked = false;
    e->averaged = false;
    starting_again(&e->asked, &e->session, &e->found);
    return begin(e);
}

static int open_it(plugmc_engine *e, void *unused)
{
    (void)unused;
    if (open_engine)
        return report_error(&e->report, EXIT_USAGE, NULL, 0,
                            "another engine is open in this process: close it first");
    open_engine = e;
    e->condition = HAS_FAILED; /* until it has not */
    stop_forget();
    e->session = (session){.engine.report = &e->report,
                           .command = "libplugmc",
                           .tells = TELLS_LITTLE,
                           .embedded = true};
    e->asked.sets = (const char *const *)e->sets;
    int code = find_children(e);
    if (!code) code = meet_others(e);
    if (!code) code = begin(e);
    if (!code) e->condition = IS_OPEN;
    return code;
}

static int open_asked(plugmc_engine *e, const char *file, const char *text, bool resume)
{
    if (!e) return EXIT_USAGE;
    if (!file || (!text && !*file)) return border_say(e, EXIT_USAGE, "no file is named");
    if (e->condition == IS_NEW && !e->depth) {
        free(e->file), free(e->text);
        e->file = strdup(file);
        e->text = text ? strdup(text) : NULL;
        if (!e->file || (text && !e->text))
            return border_say(e, EXIT_MEMORY, "no memory for the name of a file");
        e->asked.file = e->file;
        e->asked.text = e->text;
        e->asked.resume = resume;
    }
    return border_cross(e, NEW_ALONE, open_it, NULL);
}

int plugmc_engine_open(plugmc_engine *e, const char *ini_path)
{
    return open_asked(e, ini_path, NULL, false);
}

int plugmc_engine_open_text(plugmc_engine *e, const char *name, const char *text)
{
    return open_asked(e, text ? name : NULL, text, false);
}

int plugmc_engine_resume(plugmc_engine *e, const char *output_path)
{
    return open_asked(e, output_path, NULL, true);
}

/* ---- Closing ---------------------------------------------------------------------------------- */

/* Of a torn one nothing is walked through: what it had stays where it is, but for files and locks. */
static int let_go(plugmc_engine *e, void *unused)
{
    (void)unused;
    FILE *log = e->report.log;
    e->report.log = NULL;
    if (log) fclose(log);
    if (e->condition == IS_TORN) {
        leftovers_clear();
    } else {
        session_close(&e->session);
        output_free(&e->found);
    }
    e->session.engine.device.gpu = NULL;
    starting_unlock(&e->locks);
    team_leave();
    return 0;
}

/* What one engine leaves in the process. */
static void forget_all(bool torn)
{
    free((char *)child_program);
    child_program = NULL;
    stop_forget();
    crash_called();
    if (torn) return;
    lists_forget();
    texts_forget();
}

void plugmc_engine_close(plugmc_engine *e)
{
    if (!e) return;
    if (open_engine == e) {
        const enum condition was = e->condition;
        if (border_cross(e, ANY_ALONE, let_go, NULL) && e->condition != IS_TORN) return;
        if (was != IS_TORN && e->condition == IS_TORN) border_cross(e, ANY_ALONE, let_go, NULL);
        forget_all(e->condition == IS_TORN);
        open_engine = NULL;
    }
    border_forget_messages(e);
    report_hold(&e->report, false);
    for (int k = 0; k < e->asked.set_count; k++) free(e->sets[k]);
    free(e->sets), free(e->file), free(e->text), free(e->path), free(e->asked.capacity);
    free(e->boxes), free(e->volumes), free(e->last);
    free(e);
}
