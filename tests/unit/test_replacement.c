/* Files that are replaced as a whole, and those that others have written meanwhile, which are not. Files that
 * grow as a whole. */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/draft.h"
#include "archive/replacement.h"

static char folder[64];
static const char identity[] = "0123456789abcdef0123456789abcdef";

static const char *in_folder(const char *name)
{
    static char paths[16][128];
    static int next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int prepare_folder(void **state)
{
    (void)state;
    strcpy(folder, access("/dev/shm", W_OK) ? "/tmp/plugmc-test-replacement-XXXXXX"
                                            : "/dev/shm/plugmc-test-replacement-XXXXXX");
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static char *slurp(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    struct stat info;
    assert_int_equal(fstat(fileno(f), &info), 0);
    *bytes = (size_t)info.st_size;
    char *text = malloc(*bytes + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *bytes, f), *bytes);
    fclose(f);
    return text;
}

static bool same_files(const char *a, const char *b)
{
    size_t bytes[2];
    char *text[2] = {slurp(a, &bytes[0]), slurp(b, &bytes[1])};
    const bool same = bytes[0] == bytes[1] && !memcmp(text[0], text[1], bytes[0]);
    free(text[0]), free(text[1]);
    return same;
}

static void spill(const char *path, const char *text, mode_t mode)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void put(const replacement *file, const char *text)
{
    assert_int_equal(write(file->fd, text, strlen(text)), strlen(text));
}

/* ---- Replacing ---------------------------------------------------------------------------------------------- */

static void a_file_is_replaced_as_a_whole(void **state)
{
    (void)state;
    const char *path = in_folder("file"), *like = in_folder("like");
    replacement file;
    struct stat info;
    spill(path, "old", 0640);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(replacement_begin(&file, path, identity, REPLACES_PRESENT), 0);
    put(&file, "new");
    spill(like, "old", 0600);
    assert_true(same_files(path, like));
    assert_int_equal(replacement_finish(&file), 0);
    spill(like, "new", 0600);
    assert_true(same_files(path, like));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(replacement_begin(&file, path, identity, REPLACES_PRESENT), 0);
    replacement_abandon(&file);
    assert_true(same_files(path, like));
}

static void what_others_have_written_is_not_replaced(void **state)
{
    (void)state;
    const char *path = in_folder("theirs"), *new = in_folder("new");
    replacement file;
    spill(path, "old", 0600);
    assert_int_equal(replacement_begin(&file, path, identity, REPLACES_PRESENT), 0);
    usleep(20000); /* the clock of files is a coarse one */
    spill(path, "theirs", 0600);
    assert_int_equal(replacement_finish(&file), REPLACEMENT_CHANGED);
    assert_int_equal(replacement_begin(&file, new, identity, REPLACES_NOTHING), 0);
    spill(new, "theirs", 0600);
    assert_int_equal(replacement_finish(&file), REPLACEMENT_CHANGED);
    assert_true(same_files(path, new));
    assert_int_equal(replacement_begin(&file, in_folder("none"), identity, REPLACES_PRESENT),
                     ENOENT);
    assert_int_equal(replacement_begin(&file, new, identity, REPLACES_ANY), 0);
    assert_int_equal(replacement_finish(&file), 0);
}

/* ---- Files that grow ---------------------------------------------------------------------------------------- */

enum { ROW = 50000, ROWS = 20, MORE = 3 };

/* Row k has k, k + 0.5, ..., in a group with something else. */
static void write_rows(const char *path, const char *changes, int before, int end)
{
    draft d = {0};
    outcome out;
    const hsize_t shape[2] = {(hsize_t)end, ROW};
    draft_enter(&d, "group");
    double *rows = draft_new_rows(&d, "rows", STORE_DOUBLE, 2, shape, (hsize_t)before);
    assert_non_null(rows);
    for (int k = before; k < end; k++)
        for (int i = 0; i < ROW; i++) *rows++ = k + 0.5 * i;
    if (!before) draft_integer(&d, "number", 7);
    draft_leave(&d);
    const int fd = open(path, O_RDWR | (before ? 0 : O_CREAT | O_TRUNC), 0600);
    const int of_changes = before ? open(changes, O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    assert_true(fd >= 0 && (!before || of_changes >= 0));
    draft_write(&d, before ? of_changes : fd, before ? fd : -1, &out);
    assert_string_equal(out.reason, "");
    assert_false(out.failed);
    close(fd);
    if (before) close(of_changes);
}

static void assert_has_rows(const char *path, int rows)
{
    store s;
    hsize_t shape[2] = {0};
    const int fd = store_open_path(&s, path);
    hid_t group = store_enter(&s, s.file, "group");
    double *found = store_get_array(&s, group, "rows", STORE_DOUBLE, 2, shape);
    int64_t number = 0;
    store_get_attribute(&s, group, "number", STORE_INT64, &number);
    store_leave(&s, group);
    assert_int_equal(store_close(&s), 0);
    close(fd);
    assert_int_equal(number, 7);
    assert_int_equal(shape[0], rows);
    assert_int_equal(shape[1], ROW);
    for (int k = 0; k < rows; k++)
        for (int i = 0; i < ROW; i++) assert_true(found[k * ROW + i] == k + 0.5 * i);
    free(found);
}

static void copy(const char *from, const char *to)
{
    char command[300];
    snprintf(command, sizeof command, "cp %s %s", from, to);
    assert_int_equal(system(command), 0);
}

/* Until the changes are applied readers find the old file; applying them can be done again from the beginning. */
static void a_file_grows_as_a_whole(void **state)
{
    (void)state;
    const char *path = in_folder("grown.h5"), *changes = in_folder("changes"),
               *kept = in_folder("kept"), *half = in_folder("half");
    size_t old, now, bytes;
    write_rows(path, changes, 0, ROWS);
    char *was = slurp(path, &old);
    write_rows(path, changes, ROWS, ROWS + MORE);
    char *is = slurp(path, &now);
    assert_true(now > old && !memcmp(was, is, old));
    assert_has_rows(path, ROWS);
    free(slurp(changes, &bytes));
    assert_true(bytes < 20 * CHANGES_BLOCK);
    copy(changes, kept);
    copy(path, half);
    assert_int_equal(changes_apply(changes, path), 0);
    assert_has_rows(path, ROWS + MORE);
    assert_int_equal(access(changes, F_OK), -1);
    copy(kept, changes);
    assert_int_equal(changes_apply(changes, path), 0);
    assert_has_rows(path, ROWS + MORE);
    assert_int_equal(changes_apply(kept, half), 0);
    assert_true(same_files(path, half));
    free(was), free(is);
}

/* A run that is resumed writes over the rows that came after its checkpoint; rows that nobody counts any more are cut. */
static void rows_behind_those_that_count_are_cut(void **state)
{
    (void)state;
    const char *path = in_folder("cut.h5"), *changes = in_folder("changes");
    write_rows(path, changes, 0, ROWS);
    write_rows(path, changes, ROWS - 5, ROWS + MORE);
    assert_int_equal(changes_apply(changes, path), 0);
    assert_has_rows(path, ROWS + MORE);
    write_rows(path, changes, 2, 2);
    assert_int_equal(changes_apply(changes, path), 0);
    assert_has_rows(path, 2);
}

static void changes_that_are_cut_short_are_not_applied(void **state)
{
    (void)state;
    const char *path = in_folder("short.h5"), *changes = in_folder("changes"),
               *like = in_folder("like.h5"), *part = in_folder("part");
    size_t bytes;
    write_rows(path, changes, 0, ROWS);
    write_rows(path, changes, ROWS, ROWS + MORE);
    copy(path, like);
    free(slurp(changes, &bytes));
    for (size_t left = 0; left < bytes; left += left < 64 ? 1 : 1000) {
        copy(changes, part);
        assert_int_equal(truncate(part, (off_t)left), 0);
        assert_int_equal(changes_apply(part, path), EBADMSG);
    }
    assert_true(same_files(path, like));
}

/* Rows that the file does not have, and a full disk. */
static void what_cannot_grow_stays_as_it_was(void **state)
{
    (void)state;
    const char *path = in_folder("stays.h5"), *changes = in_folder("changes"),
               *like = in_folder("like.h5");
    draft d = {0};
    outcome out;
    const double rows[ROW] = {0};
    write_rows(path, changes, 0, ROWS);
    copy(path, like);
    for (int k = 0; k < 2;
         k++) { /* one row behind those that are there; no place for the changes */
        const hsize_t before = k ? ROWS : ROWS + 1;
        const int fd = open(path, O_RDWR),
                  of_changes = k ? open("/dev/full", O_RDWR)
                                 : open(changes, O_RDWR | O_CREAT | O_TRUNC, 0600);
        draft_enter(&d, "group");
        draft_rows(&d, "rows", STORE_DOUBLE, 2, (hsize_t[]){before + 1, ROW}, before);
        draft_piece(&d, rows, sizeof rows);
        draft_leave(&d);
        draft_write(&d, of_changes, fd, &out);
        assert_true(out.failed);
        assert_string_equal(out.reason,
                            k ? "No space left on device"
                              : "its 'rows' does not have the rows that this run wrote");
        assert_int_equal(out.error, k ? ENOSPC : 0);
        close(fd), close(of_changes);
        assert_has_rows(path, ROWS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_replaced_as_a_whole),
        cmocka_unit_test(what_others_have_written_is_not_replaced),
        cmocka_unit_test(a_file_grows_as_a_whole),
        cmocka_unit_test(rows_behind_those_that_count_are_cut),
        cmocka_unit_test(changes_that_are_cut_short_are_not_applied),
        cmocka_unit_test(what_cannot_grow_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, prepare_folder, remove_folder);
}
