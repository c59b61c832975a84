/* Files of runs: opened as a resumed run opens its own, but on the CPU and without going on. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runs.h"
#include "input/comparison.h"
#include "base/regular_file.h"
#include "session/blobs.h"
#include "session/history.h"

int analysed_open(analysed *run, const char *path, report *r)
{
    session *session = &run->session;
    output_data found = {0};
    const char *refused;
    run->path = path;
    *session = (struct session){.engine.report = r, .output_path = path};
    const int fd = open_regular(path, &refused); /* a run may put another file in its place */
    if (fd < 0)
        return report_error(r, EXIT_CHECKPOINT, NULL, 0, "cannot read %s: %s", path, refused);
    int code = output_read_open(fd, path, &found, r);
    if (!code)
        code = ini_read_archived(path, found.origin.user_ini, &session->engine.config.ini, r);
    if (!code) code = ini_set(&session->engine.config.ini, "run.device=cpu", r);
    if (!code) code = config_read(&session->engine.config, r);
    if (!code) code = session_open(session);
    if (!code) code = session_prepare(session);
    if (!code) {
        run->configuration =
            checked(strdup(found.origin.effective_ini ? found.origin.effective_ini : ""));
        run->provenance = checked(strdup(found.origin.provenance ? found.origin.provenance : ""));
        code = output_read_open(fd, path, &session->records.output, r);
    }
    close(fd);
    if (!code) code = blobs_take_weights(session);
    output_free(&found);
    return code;
}

void analysed_close(analysed *run)
{
    output_data *out = &run->session.records.output;
    if (!run->session.engine.report) return; /* it was never opened */
    free((void *)out->positions);
    out->positions = NULL;
    for (int i = 0; i < out->blob_count; i++) free(out->blobs[i].name), free(out->blobs[i].data);
    free((void *)out->blobs);
    session_close(&run->session);
    free(run->configuration);
    free(run->provenance);
}

/* ---- Several files ---------------------------------------------------------------------------------- */

/* What may differ between runs that are taken together: their random numbers, their lengths, where and how
 * they ran, and where they began. Names of files may, too: what is in them is compared. */
static bool may_differ(const analysed *run, const char *section, const char *key)
{
    static const char *const keys[] = {
        "seed",       "first_walker", "sweeps",     "equilibrate", "output",  "csv", "author",
        "time_limit", "device",       "checkpoint", "gpu",         "threads", "log", "show"};
    if (!strcmp(section, "initial")) return true;
    for (int i = 0; !strcmp(section, "run") && i < PLUGMC_COUNT(keys); i++)
        if (!strcmp(key, keys[i])) return true;
    const ini_section *s = ini_section_named(&run->session.engine.config.ini, section);
    const ini_entry *entry = s ? ini_get(s, key) : NULL;
    return entry && entry->file;
}

typedef struct fitting {
    const analysed *first, *other;
    int code; /* of the first difference */
} fitting;

static void differs(void *argument, const char *section, const char *key, const char *one,
                    const char *other)
{
    fitting *f = argument;
    if (may_differ(f->first, section, key)) return;
    const int code = report_error(
        f->first->session.engine.report, EXIT_INPUT, f->other->path, 0,
        "cannot be combined with %s: [%s]%s%s is %s there but %s here; --compare compares "
        "them",
        f->first->path, section, *key ? " " : "", key, one ? excerpt(one).text : "not there",
        other ? excerpt(other).text : "not there");
    if (!f->code) f->code = code;
}

/* Files that plugins read, by what was in them when the runs were made. Others than those of potentials only say how
 * something was sampled or measured. */
typedef struct read_files {
    const char *of; /* what the words of those that count begin with */
    char *first;    /* one that was another; NULL: none */
} read_files;

static void file_differs(void *argument, const char *what, const char *one, const char *other)
{
    read_files *f = argument;
    (void)one, (void)other;
    if (!f->first && !strncmp(what, f->of, strlen(f->of))) f->first = checked(strdup(what));
}

char *analysed_other_file(const analysed *first, const analysed *other, bool of_potentials)
{
    read_files f = {of_potentials ? "file of [potential " : "file of ", NULL};
    history_differences(first->provenance, other->provenance, file_differs, &f);
    return f.first;
}

static int files_differ(const analysed *first, const analysed *other)
{
    char *what = analysed_other_file(first, other, false);
    if (!what) return EXIT_DONE;
    const int code = report_error(
        first->session.engine.report, EXIT_INPUT, other->path, 0,
        "cannot be combined with %s: the %s was a different one there; --compare compares "
        "them",
        first->path, what);
    free(what);
    return code;
}

bool analysed_same_chain(const analysed *one, const analysed *other)
{
    const run_section *a = &one->session.engine.config.run, *b = &other->session.engine.config.run;
    return a->seed == b->seed && a->first_walker < b->first_walker + b->walkers &&
           b->first_walker < a->first_walker + a->walkers;
}

int analysed_fits(const analysed *first, const analysed *other)
{
    ini_file one = {0}, two = {0};
    report unheard = {0}, *r = first->session.engine.report;
    fitting f = {first, other, 0};
    f.code = ini_read_archived(first->path, first->configuration, &one, &unheard);
    if (!f.code) f.code = ini_read_archived(other->path, other->configuration, &two, &unheard);
    if (!f.code) ini_compare(&one, &two, differs, &f);
    ini_free(&one);
    ini_free(&two);
    if (!f.code) f.code = files_differ(first, other);
    if (f.code) return f.code;
    if (!analysed_same_chain(first, other)) return EXIT_DONE;
    return report_error(
        r, EXIT_INPUT, other->path, 0,
        "cannot be combined with %s: both have [run] seed = %lld, so they are the same chain",
        first->path, (long long)first->session.engine.config.run.seed);
}
