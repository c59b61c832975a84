/* The output file as a whole: may it be made, and replacing it. See output.h. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/parts.h"
#include "archive/replacement.h"
#include "archive/trajectory.h"
#include "base/child.h"

/* ---- Before a run begins -------------------------------------------------------------------- */

/* Why the file of this name may not be replaced though others can be made beside it; NULL: it may be, or is not
 * there. */
static const char *irreplaceable(const char *path)
{
    char *target = replacement_target(path), *folder = target ? strdup(target) : NULL;
    struct statx file = {0}, around = {0};
    const bool there = target && !statx(AT_FDCWD, target, 0, STATX_BASIC_STATS, &file);
    const bool known = folder && !statx(AT_FDCWD, dirname(folder), 0, STATX_BASIC_STATS, &around);
    const uid_t user = geteuid();
    free(target), free(folder);
    if (known && around.stx_attributes & STATX_ATTR_APPEND)
        return "files of its folder can be made, but not replaced (attribute a)";
    if (!there) return NULL;
    if (file.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND))
        return "this file may not be replaced (attribute a or i)";
    if (file.stx_attributes & STATX_ATTR_MOUNT_ROOT && S_ISREG(file.stx_mode))
        return "this file is mounted by itself, so that it cannot be replaced: mount its folder";
    if (known && around.stx_mode & S_ISVTX && user && file.stx_uid != user &&
        around.stx_uid != user)
        return "it belongs to another user, who alone may replace it in this folder";
    return NULL;
}

/* By making the file that the first checkpoint would make, and another one for it to replace. errno, and whether it was
 * the replacing that failed. */
static int try_files(const char *path, bool *replacing)
{
    replacement first, second;
    char identity[IDENTITY_SIZE];
    *replacing = false;
    identity_make(identity);
    int code = replacement_begin(&first, path, identity, REPLACES_ANY);
    if (code) return code;
    identity_make(identity);
    code = replacement_begin(&second, path, identity, REPLACES_ANY);
    if (!code && rename(second.temporary, first.temporary)) {
        code = errno;
        *replacing = true;
    }
    if (!code || *replacing) replacement_abandon(&second);
    replacement_abandon(&first);
    return code;
}

static int try_temporary(const char *path, const char *key, report *r)
{
    bool replacing;
    const int code = try_files(path, &replacing);
    if (!code) return EXIT_DONE;
    const char *slash = strrchr(path, '/');
    int folder = slash == path ? 1 : slash ? (int)(slash - path) : 1;
    return report_error(r, child_is_shortage(code) ? EXIT_MEMORY : EXIT_OUTPUT, NULL, 0,
                        "cannot write %s: %s%s (in folder %.*s)%s%s%s", path,
                        replacing ? "files can be made, but not replaced: " : "", strerror(code),
                        folder, slash ? path : ".", key ? "; " : "", key ? key : "",
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
    const char *why = irreplaceable(path);
    if (why) return report_error(r, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s", path, why);
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

/* Whether it is the very file that this process left, to which nobody has written since. It is opened for that, so that
 * a network file system asks its server. */
static bool is_as_left(const char *path, const output_file *file)
{
    struct stat now;
    const struct stat *left = &file->left;
    const int fd = left->st_nlink ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    const bool same = fd >= 0 && !fstat(fd, &now) && now.st_dev == left->st_dev &&
                      now.st_ino == left->st_ino && now.st_size == left->st_size &&
                      now.st_mtim.tv_sec == left->st_mtim.tv_sec &&
                      now.st_mtim.tv_nsec == left->st_mtim.tv_nsec;
    if (fd >= 0) close(fd);
    return same;
}

/* Is the file that is replaced still the one that was written or read last? A process that reads its stamp is started only
 * where that is not plain. */
static outcome check_stamp(const char *from, const output_data *data)
{
    store reading;
    if (is_as_left(from, &data->file)) return (outcome){0};
    store_open_path_apart(&reading, from);
    const int fd = reading.fd; /* of the file, where no child process reads it */
    origin_check_stamp(&reading, data);
    store_close(&reading);
    if (fd >= 0) close(fd);
    return store_outcome(&reading);
}

static outcome failure(int code)
{
    outcome end = {.failed = true, .memory_short = child_is_shortage(code)};
    end.error = code > 0 ? code : 0;
    snprintf(end.reason, sizeof end.reason, "%s", replacement_words(code));
    return end;
}

/* made: NULL: all is done but the last step, and the old file, or none, is there as before; else the new file. */
static outcome write_file(const char *path, bool fresh, struct stat *made, const output_data *data,
                          const char *stamp)
{
    replacement file;
    draft d = {0};
    outcome end = {0};
    if (!fresh) end = check_stamp(path, data);
    if (end.failed) return end;
    char *base = trajectory_seen_from(&data->trajectory, path);
    if (!base) return failure(ENOMEM);
    int code = replacement_begin(&file, path, data->file.identity,
                                 fresh ? REPLACES_NOTHING : REPLACES_PRESENT);
    if (!code) {
        checkpoint_write(&d, data, stamp, base);
        draft_write(&d, file.fd, -1, &end);
    }
    free(base);
    if (code) return failure(code);
    if (made && fstat(file.fd, made)) made->st_nlink = 0;
    if (end.failed || !made)
        replacement_abandon(&file);
    else if ((code = replacement_finish(&file)))
        return failure(code);
    return end;
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
    char stamp[sizeof data->file.stamp], why[OUTPUT_WHY];
    const char *observable, *name;
    if (output_names_clash(data, &observable, &name)) {
        tell_clash(observable, name, why);
        return report_error(r, EXIT_INTERNAL, NULL, 0, "%s", why);
    }
    if (!data->file.identity[0]) identity_make(data->file.identity);
    snprintf(stamp, sizeof stamp, "%s 0", data->file.identity);
    void *margin = mmap(NULL, MARGIN, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (margin == MAP_FAILED)
        return report_error(r, EXIT_MEMORY, NULL, 0, "cannot write %s: %s (nothing was changed)",
                            path, strerror(ENOMEM));
    const outcome end = write_file(path, true, NULL, data, stamp);
    munmap(margin, MARGIN);
    if (!end.failed) return EXIT_DONE;
    return report_error(r, end.memory_short ? EXIT_MEMORY : EXIT_OUTPUT, NULL, 0,
                        "cannot write %s: %s (nothing was changed)", path, end.reason);
}

/* All of `data` is in the file now. */
static void note_written(const char *path, output_data *data, const char *stamp,
                         const struct stat *made)
{
    struct stat info;
    data->file.error = 0;
    data->file.writes++;
    data->file.left = *made;
    strcpy(data->file.stamp, stamp);
    data->file.device = stat(path, &info) ? 0 : info.st_dev;
    data->file.inode = data->file.device ? info.st_ino : 0;
}

int output_try(const char *path, bool fresh, output_data *data, lost_frames *lost,
               char why[OUTPUT_WHY])
{
    const char *observable, *name;
    char stamp[sizeof data->file.stamp];
    if (output_names_clash(data, &observable, &name)) {
        tell_clash(observable, name, why);
        return EXIT_INTERNAL;
    }
    if (!data->file.identity[0]) identity_make(data->file.identity);
    output_trajectory *t = &data->trajectory;
    if (t->wanted && !t->base && !(t->base = trajectory_base(path))) {
        snprintf(why, OUTPUT_WHY, "there is not enough memory");
        return EXIT_MEMORY;
    }
    const int code = trajectory_append(data, lost, why);
    if (code) return code;
    snprintf(stamp, sizeof stamp, "%s %llu", data->file.identity,
             (unsigned long long)data->file.writes + 1);
    struct stat made = {0};
    const outcome end = write_file(path, fresh, &made, data, stamp);
    if (end.failed) {
        snprintf(why, OUTPUT_WHY, "%s", end.reason);
        data->file.error = end.error;
        return end.memory_short ? EXIT_MEMORY : EXIT_OUTPUT;
    }
    note_written(path, data, stamp, &made);
    return EXIT_DONE;
}

int output_write(const char *path, bool fresh, output_data *data, report *r)
{
    char why[OUTPUT_WHY], seen[OUTPUT_WHY], words[OUTPUT_WHY];
    lost_frames lost;
    int code = output_try(path, fresh, data, &lost, why);
    if (code == EXIT_INTERNAL) return report_error(r, code, NULL, 0, "%s", why);
    if (code)
        return report_error(r, code, NULL, 0, "cannot write %s: %s (%s)", path, why,
                            output_state(fresh, output_look(path, data, seen), seen, words));
    return EXIT_DONE;
}
