/* The file that was replaced is kept and becomes the next one: what it is brought up to date with, byte by byte, and
 * when it is not used. Changes that go over a file instead of into it. */
#include "testing.h"

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

static uint64_t draw(uint64_t below)
{
    static uint64_t seed = 5;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 24) % below;
}

/* ---- A file that is replaced again and again ---------------------------------------------------------------- */

enum { BYTES = 3 << 20 };

typedef struct chain {
    const char *path;
    replacement file;
    spare kept;
    touched touched;
    bool from_spare; /* what is being changed is the spare */
} chain;

/* Some file systems give the number of a file that is gone to the next one, which is born later. */
static bool is_one_file(const struct statx *a, const struct statx *b)
{
    const bool known = a->stx_mask & b->stx_mask & STATX_BTIME;
    return a->stx_ino == b->stx_ino &&
           (!known || !memcmp(&a->stx_btime, &b->stx_btime, sizeof a->stx_btime));
}

static void begin(chain *c)
{
    struct statx before = {0}, now;
    const unsigned what = STATX_INO | STATX_BTIME;
    if (c->kept.path && statx(AT_FDCWD, c->kept.path, 0, what, &before)) before.stx_ino = 0;
    assert_int_equal(replacement_begin_again(&c->file, c->path, identity, &c->kept), 0);
    assert_null(c->kept.path);
    assert_int_equal(statx(c->file.fd, "", AT_EMPTY_PATH, what, &now), 0);
    c->from_spare = is_one_file(&before, &now);
    assert_true(same_files(c->path, c->file.temporary));
}

static void put(chain *c, uint64_t at, uint64_t bytes)
{
    char *data = malloc(bytes);
    assert_non_null(data);
    for (uint64_t i = 0; i < bytes; i++) data[i] = (char)draw(256);
    assert_int_equal(pwrite(c->file.fd, data, bytes, (off_t)at), bytes);
    touched_add(&c->touched, at, at + bytes);
    free(data);
}

static void end(chain *c)
{
    assert_int_equal(replacement_finish_keeping(&c->file, &c->kept, &c->touched), 0);
    touched_free(&c->touched);
}

/* A file and one before it, which is kept. */
static void start(chain *c, const char *name)
{
    *c = (chain){.path = in_folder(name)};
    int fd = open(c->path, O_RDWR | O_CREAT | O_EXCL, 0640);
    assert_int_equal(ftruncate(fd, BYTES), 0);
    const bool leases = !fcntl(fd, F_SETLEASE, F_WRLCK);
    close(fd);
    if (!leases) skip(); /* then none is ever kept */
    begin(c);
    assert_false(c->from_spare);
    put(c, 1000, 5000);
    end(c);
    assert_non_null(c->kept.path);
}

static void finish(chain *c)
{
    spare_drop(&c->kept);
    unlink(c->path);
}

static void the_file_before_becomes_the_next_one(void **state)
{
    (void)state;
    chain c;
    start(&c, "again");
    for (int round = 0; round < 60; round++) {
        begin(&c); /* and is the same, byte by byte */
        assert_true(c.from_spare);
        for (uint64_t n = draw(6); n; n--) put(&c, draw(BYTES), 1 + draw(n % 2 ? 300000 : 100));
        if (round % 5 == 0) { /* shorter, and longer again */
            struct stat info;
            fstat(c.file.fd, &info);
            const uint64_t less = (uint64_t)info.st_size - draw(100000);
            touched_add(&c.touched, less, (uint64_t)info.st_size);
            assert_int_equal(ftruncate(c.file.fd, (off_t)less), 0);
            assert_int_equal(ftruncate(c.file.fd, (off_t)(less + draw(200000))), 0);
        }
        end(&c);
        assert_non_null(c.kept.path);
    }
    struct stat info;
    assert_int_equal(stat(c.path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    finish(&c);
}

static void a_file_that_somebody_reads_is_left_alone(void **state)
{
    (void)state;
    chain c;
    char before[6000], after[6000];
    start(&c, "read");
    begin(&c);
    assert_true(c.from_spare);
    put(&c, 70000, 100);
    const int reader = open(c.path, O_RDONLY);
    assert_int_equal(pread(reader, before, sizeof before, 0), sizeof before);
    end(&c); /* what is read has the name of the spare now */
    begin(&c);
    assert_false(c.from_spare);
    put(&c, 0, 6000);
    end(&c);
    begin(&c);
    assert_true(c.from_spare); /* it is another file */
    put(&c, 0, 6000);
    end(&c);
    assert_int_equal(pread(reader, after, sizeof after, 0), sizeof after);
    assert_memory_equal(before, after, sizeof before);
    close(reader);
    finish(&c);
}

static void a_file_with_another_name_is_left_alone(void **state)
{
    (void)state;
    chain c;
    start(&c, "named");
    const char *mine = in_folder("mine"), *copy = in_folder("copy");
    char command[300];
    assert_int_equal(link(c.kept.path, mine), 0);
    snprintf(command, sizeof command, "cp %s %s", mine, copy);
    assert_int_equal(system(command), 0);
    begin(&c);
    assert_false(c.from_spare);
    put(&c, 0, 6000);
    end(&c);
    assert_true(same_files(mine, copy));
    unlink(mine), unlink(copy);
    finish(&c);
}

static void write_into(const char *path, off_t at)
{
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "other", 5, at), 5);
    close(fd);
    usleep(20000); /* the clock of files is a coarse one */
}

static void files_that_others_changed_are_copied(void **state)
{
    (void)state;
    chain c;
    start(&c, "changed");
    usleep(20000);
    write_into(c.path, 2000000);
    begin(&c); /* as it is now */
    assert_false(c.from_spare);
    end(&c);
    usleep(20000);
    write_into(c.kept.path, 1000000);
    begin(&c);
    assert_false(c.from_spare);
    end(&c);
    assert_int_equal(unlink(c.kept.path), 0);
    begin(&c);
    assert_false(c.from_spare);
    put(&c, 5, 5);
    replacement_abandon(&c.file);
    touched_free(&c.touched);
    assert_null(c.kept.path);
    finish(&c);
}

static void small_files_and_unknown_changes_keep_nothing(void **state)
{
    (void)state;
    chain c;
    start(&c, "small");
    c.kept.least = 2 * BYTES;
    begin(&c);
    end(&c);
    assert_null(c.kept.path);
    c.kept.least = BYTES;
    begin(&c);
    c.touched.unknown = true;
    end(&c);
    assert_null(c.kept.path);
    begin(&c);
    end(&c);
    assert_non_null(c.kept.path);
    assert_int_equal(access(c.kept.path, F_OK), 0);
    char was[128];
    snprintf(was, sizeof was, "%s", c.kept.path);
    spare_drop(&c.kept);
    assert_int_equal(access(was, F_OK), -1);
    finish(&c);
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
        cmocka_unit_test(the_file_before_becomes_the_next_one),
        cmocka_unit_test(a_file_that_somebody_reads_is_left_alone),
        cmocka_unit_test(a_file_with_another_name_is_left_alone),
        cmocka_unit_test(files_that_others_changed_are_copied),
        cmocka_unit_test(small_files_and_unknown_changes_keep_nothing),
        cmocka_unit_test(changes_over_a_file_are_those_in_it),
    };
    return cmocka_run_group_tests(tests, prepare_folder, remove_folder);
}
