/* Files that are replaced as a whole, and those that others have written meanwhile, which are not. Changes that go over a
 * file instead of into it. */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/replacement.h"
#include "archive/store.h"

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

/* In memory, where the file system shares no blocks, wherever there is one. */
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

/* ---- Changes over a file ------------------------------------------------------------------------------------ */

enum { ROW = 50000, ROWS = 20 };

/* Rows that are added and written over, an array that is replaced, one that goes. */
static void change(store *s, int before, int rows)
{
    double *row = malloc(ROW * sizeof *row);
    assert_non_null(row);
    for (int i = 0; i < ROW; i++) row[i] = i + 0.5 * before;
    hid_t group = store_group(s, s->file, "group");
    hid_t array = store_grow(s, group, "rows", STORE_DOUBLE, 2,
                             (hsize_t[]){(hsize_t)(before + rows), ROW}, (hsize_t)before);
    for (int r = before ? before - 1 : 0; r < before + rows; r++)
        store_rows(s, array, STORE_DOUBLE, (hsize_t)r, 1, row);
    store_leave_array(s, array);
    store_array(s, group, "all", STORE_DOUBLE, 1, (hsize_t[]){(hsize_t)(ROW - 7 * before)}, row);
    if (before)
        store_remove(s, group, "first");
    else
        store_array(s, group, "first", STORE_DOUBLE, 1, (hsize_t[]){ROW}, row);
    store_attribute(s, group, "rows", STORE_INT, &(int){before + rows});
    store_leave(s, group);
    free(row);
}

static void changes_over_a_file_are_those_in_it(void **state)
{
    (void)state;
    const char *direct = in_folder("direct.h5"), *below = in_folder("below.h5"),
               *over = in_folder("over");
    char command[300];
    store s;
    int fd = open(direct, O_RDWR | O_CREAT | O_TRUNC, 0600);
    store_open(&s, fd, STORE_FRESH);
    change(&s, 0, ROWS);
    assert_int_equal(store_close(&s), 0);
    close(fd);
    snprintf(command, sizeof command, "cp %s %s", direct, below);
    assert_int_equal(system(command), 0);
    fd = open(direct, O_RDWR);
    store_open(&s, fd, STORE_CHANGE);
    change(&s, ROWS, 3);
    assert_int_equal(store_close(&s), 0);
    close(fd);

    touched touched;
    size_t bytes, old, more;
    char *text = slurp(direct, &bytes), *was = slurp(below, &old);
    fd = open(over, O_RDWR | O_CREAT | O_TRUNC, 0600);
    const int reading = open(below, O_RDONLY);
    store_open_over(&s, fd, reading);
    change(&s, ROWS, 3);
    assert_int_equal(store_close_telling(&s, &touched), 0);
    close(reading);
    close(fd);
    char *new = slurp(over, &more);
    size_t from_below = 0;
    for (size_t i = 0; i < bytes; i++) {
        const bool own = touched_has(&touched, i);
        from_below += !own;
        assert_true(text[i] == (own ? i < more ? new[i] : 0 : i < old ? was[i] : 0));
    }
    assert_true(from_below > ROWS * ROW * sizeof(double) / 2); /* most of it was not copied */
    free(text), free(was), free(new);
    touched_free(&touched);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_replaced_as_a_whole),
        cmocka_unit_test(what_others_have_written_is_not_replaced),
        cmocka_unit_test(changes_over_a_file_are_those_in_it),
    };
    return cmocka_run_group_tests(tests, prepare_folder, remove_folder);
}
