/* The output file as a whole: may it be made, and replacing it. See output.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output/parts.h"
#include "output/replacement.h"

/* ---- Before a run begins -------------------------------------------------------------------- */

/* By making the file that the first checkpoint would make, and removing it. */
static int try_temporary(const char *path, const char *key, report *r)
{
    replacement file;
    char identity[IDENTITY_SIZE];
    identity_make(identity);
    int code = replacement_begin(&file, path, NULL, identity, false);
    if (!code) {
        replacement_abandon(&file);
        return EXIT_DONE;
    }
    const char *slash = strrchr(path, '/');
    int folder = slash == path ? 1 : slash ? (int)(slash - path) : 1;
    return report_error(r, code == ENOMEM ? EXIT_MEMORY : EXIT_OUTPUT, NULL, 0,
                        "cannot write %s: %s (in folder %.*s)%s%s%s", path, strerror(code), folder,
                        slash ? path : ".", key ? "; " : "", key ? key : "",
                        key ? " names another place" : "");
}

int output_probe(const char *path, const char *key, report *r)
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
    return try_temporary(path, key, r);
}

/* ---- Writing -------------------------------------------------------------------------------- */

bool output_names_clash(const output_data *data, const char **observable, const char **name)
{
    int quantities = data->quantity_count, count = quantities + data->derived_count;
    for (int i = 0; i < count; i++) {
        *observable = i < quantities ? data->quantities[i].observable
                                     : data->derived[i - quantities].observable;
        *name = i < quantities ? data->quantities[i].name : data->derived[i - quantities].name;
        for (int j = 0; j < i; j++) {
            const char *label = j < quantities ? data->quantities[j].observable
                                               : data->derived[j - quantities].observable;
            const char *other =
                j < quantities ? data->quantities[j].name : data->derived[j - quantities].name;
            if (strcmp(label, *observable) == 0 && strcmp(other, *name) == 0) return true;
        }
    }
    return false;
}

/* Is the file that is added to still the one that was written or read last? */
static int check_stamp(store *s, const char *from, const output_data *data)
{
    store reading;
    store_open_path_apart(&reading, from);
    const int fd = reading.fd; /* of the file, where no child process reads it */
    origin_check_stamp(&reading, data);
    const int failed = store_close(&reading);
    if (fd >= 0) close(fd);
    if (!failed) return 0;
    s->memory_short = reading.memory_short;
    store_fail(s, "%s", reading.reason);
    return 1;
}

/* 0, or non-zero with the reason in s->reason. What the file has already is that of `from`. keeps =
 * false: all is done but the last step, and the old file, or none, is there as before. */
static int write_file(store *s, const char *path, const char *from, bool keeps,
                      const output_data *data, const char *stamp)
{
    replacement file;
    const bool fresh = !from;
    *s = (store){.fd = -1};
    if (!fresh && check_stamp(s, from, data)) return 1;
    spare *spare = !fresh && !strcmp(path, from) ? data->spare : NULL;
    int code =
        spare ? replacement_begin_again(&file, path, data->identity, spare)
              : replacement_begin(&file, path, from, data->identity, fresh || !strcmp(path, from));
    if (code) {
        store_fail(s, "%s", replacement_words(code));
        s->memory_short = code == ENOMEM;
        return code;
    }
    store_open_apart(s, file.fd, fresh ? STORE_FRESH : STORE_CHANGE);
    int64_t before = fresh ? 0 : data->frames_written;
    if (fresh) h5md_write_header(s, data);
    h5md_write_frames(s, data, before);
    checkpoint_write(s, data, stamp, fresh, before + data->frame_count);
    touched touched;
    if (store_close_telling(s, &touched) || !keeps) {
        replacement_abandon(&file);
    } else {
        code = replacement_finish_keeping(&file, spare, &touched);
        if (code) store_fail(s, "%s", replacement_words(code));
    }
    touched_free(&touched);
    return s->failed ? s->failed : code;
}

/* What the rehearsal leaves free: sampling takes a little more memory, and the file must be written
 * after it all the same. */
enum { MARGIN = 4 << 20 };

static void tell_clash(const char *observable, const char *name, char why[OUTPUT_WHY])
{
    snprintf(why, OUTPUT_WHY, "observable '%.64s' gives two quantities named '%.64s'", observable,
             name);
}

int output_rehearse(const char *path, output_data *data, report *r)
{
    store s;
    char stamp[sizeof data->stamp], why[OUTPUT_WHY];
    const char *observable, *name;
    if (output_names_clash(data, &observable, &name)) {
        tell_clash(observable, name, why);
        return report_error(r, EXIT_INTERNAL, NULL, 0, "%s", why);
    }
    if (!data->identity[0]) identity_make(data->identity);
    snprintf(stamp, sizeof stamp, "%s 0", data->identity);
    void *margin = mmap(NULL, MARGIN, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (margin == MAP_FAILED)
        return report_error(r, EXIT_MEMORY, NULL, 0, "cannot write %s: %s (nothing was changed)",
                            path, strerror(ENOMEM));
    int failed = write_file(&s, path, NULL, false, data, stamp);
    munmap(margin, MARGIN);
    if (!failed) return EXIT_DONE;
    return report_error(r, s.memory_short ? EXIT_MEMORY : EXIT_OUTPUT, NULL, 0,
                        "cannot write %s: %s (nothing was changed)", path, s.reason);
}

int output_try(const char *path, const char *from, output_data *data, char why[OUTPUT_WHY])
{
    store s;
    const char *observable, *name;
    char stamp[sizeof data->stamp];
    if (output_names_clash(data, &observable, &name)) {
        tell_clash(observable, name, why);
        return EXIT_INTERNAL;
    }
    if (!data->identity[0]) identity_make(data->identity);
    snprintf(stamp, sizeof stamp, "%s %llu", data->identity, (unsigned long long)data->writes + 1);
    if (write_file(&s, path, from, true, data, stamp)) {
        snprintf(why, OUTPUT_WHY, "%s", s.reason);
        return s.memory_short ? EXIT_MEMORY : EXIT_OUTPUT;
    }
    data->writes++;
    strcpy(data->stamp, stamp);
    for (int i = 0; i < data->quantity_count; i++)
        data->quantities[i].written = data->quantities[i].samples;
    for (int f = 0; f < data->frame_count; f++) {
        free(data->frames[f].positions), free(data->frames[f].boxes);
        data->frames[f] = (frame){0};
    }
    data->frames_written = (from ? data->frames_written : 0) + data->frame_count;
    data->frame_count = 0;
    return EXIT_DONE;
}

const char *output_state(const char *path, bool fresh, const output_data *data)
{
    if (fresh) return "nothing was changed";
    if (access(path, F_OK)) return "the file from the last checkpoint is gone";
    if (!output_is_intact(path, data)) return "the file is not that from the last checkpoint";
    return "the file from the last checkpoint is intact";
}

int output_write(const char *path, bool fresh, output_data *data, report *r)
{
    char why[OUTPUT_WHY];
    int code = output_try(path, fresh ? NULL : path, data, why);
    if (code == EXIT_INTERNAL) return report_error(r, code, NULL, 0, "%s", why);
    if (code)
        return report_error(r, code, NULL, 0, "cannot write %s: %s (%s)", path, why,
                            output_state(path, fresh, data));
    return EXIT_DONE;
}
