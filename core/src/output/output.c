/* The output file as a whole: may it be made, and replacing it. See output.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/parts.h"
#include "output/replacement.h"

/* ---- Before a run begins -------------------------------------------------------------------- */

/* By making the file that the first checkpoint would make, and removing it. */
static int try_temporary(const char *path, report *r)
{
    replacement file;
    int code = replacement_begin(&file, path, false);
    if (!code) {
        replacement_abandon(&file);
        return EXIT_DONE;
    }
    const char *slash = strrchr(path, '/');
    int folder = slash == path ? 1 : slash ? (int)(slash - path) : 1;
    return report_error(r, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s (in folder %.*s)", path,
                        strerror(code), folder, slash ? path : ".");
}

int output_probe(const char *path, report *r)
{
    struct stat info;
    if (!path[0]) return report_error(r, EXIT_OUTPUT, NULL, 0, "the output file has no name");
    if (stat(path, &info) == 0) {
        if (!S_ISREG(info.st_mode))
            return report_error(r, EXIT_OUTPUT, NULL, 0, "cannot write %s: it is %s", path,
                                S_ISDIR(info.st_mode) ? "a folder" : "not a regular file");
    } else if (errno != ENOENT) {
        return report_error(r, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s", path, strerror(errno));
    }
    return try_temporary(path, r);
}

/* ---- Writing -------------------------------------------------------------------------------- */

/* Two records that would share a group. */
static bool names_clash(const output_data *data, const char **observable, const char **name)
{
    int quantities = data->quantity_count, count = quantities + data->derived_count;
    for (int i = 0; i < count; i++) {
        *observable = i < quantities ? data->quantities[i].observable
                                     : data->derived[i - quantities].observable;
        *name = i < quantities ? data->quantities[i].name : data->derived[i - quantities].name;
        for (int j = 0; j < i; j++) {
            const char *label = j < quantities ? data->quantities[j].observable
                                               : data->derived[j - quantities].observable;
            const char *other = j < quantities ? data->quantities[j].name
                                               : data->derived[j - quantities].name;
            if (strcmp(label, *observable) == 0 && strcmp(other, *name) == 0) return true;
        }
    }
    return false;
}

/* 0, or non-zero with the reason in s->reason. keeps = false: all is done but the last step, and the
 * old file, or none, is there as before. */
static int write_file(store *s, const char *path, bool fresh, bool keeps, const output_data *data)
{
    replacement file;
    *s = (store){.fd = -1};
    int code = replacement_begin(&file, path, !fresh);
    if (code) {
        store_fail(s, "%s", strerror(code));
        return code;
    }
    store_open_apart(s, file.fd, fresh ? STORE_FRESH : STORE_CHANGE);
    int64_t before = fresh ? 0 : data->frames_written;
    if (fresh) h5md_write_header(s);
    h5md_write_frames(s, data, before);
    checkpoint_write(s, data, fresh, before + data->frame_count);
    if (store_close(s) || !keeps) {
        replacement_abandon(&file);
        return s->failed;
    }
    code = replacement_finish(&file);
    if (code) store_fail(s, "%s", strerror(code));
    return code;
}

static const char *advice(const char *path, bool fresh)
{
    if (fresh) return "nothing was changed";
    if (access(path, F_OK)) return "the file from the last checkpoint is gone";
    return "the file from the last checkpoint is intact: mend this and resume from it";
}

int output_rehearse(const char *path, const output_data *data, report *r)
{
    store s;
    if (!write_file(&s, path, true, false, data)) return EXIT_DONE;
    return report_error(r, s.memory_short ? EXIT_MEMORY : EXIT_OUTPUT, NULL, 0,
                        "cannot write %s: %s (nothing was changed)", path, s.reason);
}

int output_write(const char *path, bool fresh, output_data *data, report *r)
{
    store s;
    const char *observable, *name;
    if (names_clash(data, &observable, &name))
        return report_error(r, EXIT_INTERNAL, NULL, 0,
                            "observable '%s' gives two quantities named '%s'", observable, name);
    if (write_file(&s, path, fresh, true, data))
        return report_error(r, s.memory_short ? EXIT_MEMORY : EXIT_OUTPUT, NULL, 0, "cannot write %s: %s (%s)", path, s.reason,
                            advice(path, fresh));
    for (int i = 0; i < data->quantity_count; i++)
        data->quantities[i].written = data->quantities[i].samples;
    for (int f = 0; f < data->frame_count; f++) {
        free(data->frames[f].positions);
        data->frames[f].positions = NULL;
    }
    data->frames_written = (fresh ? 0 : data->frames_written) + data->frame_count;
    data->frame_count = 0;
    return EXIT_DONE;
}
