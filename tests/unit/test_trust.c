/* Whose files are opened: owner and mode of a file and of its folder, and what each refusal says. */
#include "testing.h"

#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/trust.h"
#include "unit/scratch.h"

/* top/middle/folder/file, all of the user's; names change the current folder to top. */
static char top[PATH_MAX];
static char why[1024];

static int make_folders(void **state)
{
    char made[] = "/tmp/plugmc-trust-XXXXXX";
    (void)state;
    umask(022);
    unsetenv("PLUGMC_TRUST_GROUP");
    if (!mkdtemp(made) || !realpath(made, top) || chdir(top)) return -1;
    if (chmod(".", 0755) || mkdir("middle", 0755) || mkdir("middle/folder", 0755)) return -1;
    FILE *f = fopen("middle/folder/file", "w");
    return !f || fputs("text", f) < 0 || fclose(f);
}

static int remove_folders(void **state)
{
    (void)state;
    unsetenv("PLUGMC_TRUST_GROUP");
    if (chdir("/")) return -1;
    remove_folder(top);
    return 0;
}

static bool opens(const char *path)
{
    trusted t;
    *why = 0;
    bool good = trusted_open(path, &t, (sentence){why, sizeof why});
    assert_int_equal(good, t.file >= 0);
    trusted_close(&t);
    return good;
}

static void assert_refused(const char *path, const char *expected)
{
    assert_false(opens(path));
    if (!strstr(why, expected)) fail_msg("'%s' instead of '%s'", why, expected);
}

static void need_root(void)
{
    if (geteuid() == 0) return;
    printf("only root can give files away\n");
    skip();
}

static void the_path_is_absolute_and_without_links(void **state)
{
    (void)state;
    trusted t;
    char text[8] = "", expected[PATH_MAX + 64];
    assert_int_equal(symlink("middle/./folder", "link"), 0);
    assert_int_equal(symlink("../middle/../link/file", "middle/other"), 0);
    assert_true(trusted_open("middle//other", &t, (sentence){why, sizeof why}));
    snprintf(expected, sizeof expected, "%s/middle/folder/file", top);
    assert_string_equal(t.path, expected);
    assert_int_equal(read(t.file, text, sizeof text), 4);
    assert_string_equal(text, "text");
    assert_true(trusted_unchanged(&t));
    assert_int_equal(rename("middle/folder/file", "middle/folder/old"), 0);
    assert_false(trusted_unchanged(&t));
    trusted_close(&t);
}

static void what_is_no_file_is_refused_without_waiting(void **state)
{
    (void)state;
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(symlink("two", "one"), 0);
    assert_int_equal(symlink("one", "two"), 0);
    assert_refused("pipe", "pipe cannot be opened: it is not a regular file");
    assert_refused("/dev/null", "/dev/null cannot be opened: it is not a regular file");
    assert_refused("middle/folder", "middle/folder cannot be opened: it is a folder");
    assert_refused("one", "Too many levels of symbolic links");
    assert_refused("none", "none cannot be opened: No such file or directory");
    assert_refused("middle/folder/file/more", "Not a directory");
}

static void file_and_folder_count(void **state)
{
    (void)state;
    char expected[PATH_MAX + 128], folder[PATH_MAX + 32];
    snprintf(folder, sizeof folder, "%s/middle/folder", top);
    assert_int_equal(chmod("middle/folder/file", 0646), 0);
    assert_refused("middle/folder/file",
                   "middle/folder/file can be changed by others (mode 0646): run chmod go-w");
    assert_int_equal(chmod("middle/folder/file", 0644), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    snprintf(expected, sizeof expected, "%s can be changed by others (mode 0777): run chmod go-w",
             folder);
    assert_refused("middle/folder/file", expected);
    /* as /tmp: libraries that the file needs may be put there */
    assert_int_equal(chmod(folder, 01777), 0);
    snprintf(expected, sizeof expected, "others can put files into %s (mode 1777): move", folder);
    assert_refused("middle/folder/file", expected);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod("middle", 0777), 0); /* no further */
    assert_true(opens("middle/folder/file"));
}

static void what_belongs_to_others_is_refused(void **state)
{
    (void)state;
    need_root();
    static const char *const names[] = {"middle/folder", "middle/folder/file"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(chown(names[i], 54321, 0), 0);
        assert_refused("middle/folder/file", "belongs to user unknown (54321): what is loaded, and "
                                             "its folder, must belong to you (0)");
        assert_int_equal(chown(names[i], 0, 0), 0);
    }
    assert_true(opens("middle/folder/file"));
}

/* What a link leads to counts, in whose folder ever it is. */
static void links_are_followed_first(void **state)
{
    (void)state;
    assert_int_equal(mkdir("open", 0700), 0);
    assert_int_equal(chmod("open", 0777), 0);
    assert_int_equal(symlink("../middle/folder/file", "open/link"), 0);
    assert_true(opens("open/link"));
    assert_int_equal(rename("middle/folder/file", "open/file"), 0);
    assert_int_equal(symlink("../../open/file", "middle/folder/file"), 0);
    assert_refused("middle/folder/file", "/open can be changed by others (mode 0777)");
}

/* A group of the system whose only use here is that it has members of its own: daemon. */
static void a_group_may_write_only_if_it_is_named(void **state)
{
    (void)state;
    const struct group *group = getgrnam("daemon");
    need_root();
    if (!group) {
        printf("there is no group 'daemon' on this machine\n");
        skip();
    }
    assert_int_equal(chown("middle/folder", 0, group->gr_gid), 0);
    assert_int_equal(chmod("middle/folder", 02775), 0);
    assert_refused("middle/folder/file",
                   "/middle/folder can be changed by others (mode 2775): run chmod "
                   "go-w '");
    assert_refused("middle/folder/file", ", or set PLUGMC_TRUST_GROUP=daemon if you trust every "
                                         "member "
                                         "of that group with your account");
    setenv("PLUGMC_TRUST_GROUP", "nobodys:daemon", 1);
    assert_true(opens("middle/folder/file"));
    assert_int_equal(chmod("middle/folder", 02777), 0); /* that is everybody */
    assert_refused("middle/folder/file", "can be changed by others (mode 2777)");
    setenv("PLUGMC_TRUST_GROUP", "root", 1);
    assert_int_equal(chmod("middle/folder", 02775), 0);
    assert_refused("middle/folder/file", "PLUGMC_TRUST_GROUP=daemon");
}

static void members_of_a_named_group_are_trusted(void **state)
{
    (void)state;
    need_root();
    assert_int_equal(chown("middle/folder/file", 1, 0), 0); /* user daemon, of group daemon */
    assert_refused("middle/folder/file", "in PLUGMC_TRUST_GROUP");
    setenv("PLUGMC_TRUST_GROUP", "daemon", 1);
    assert_true(opens("middle/folder/file"));
    assert_int_equal(chown("middle/folder/file", 2, 0), 0); /* bin */
    assert_refused("middle/folder/file", "in PLUGMC_TRUST_GROUP");
}

/* Many systems give each user a group of his own, and let it write. */
static void a_group_without_others_may_write(void **state)
{
    (void)state;
    need_root();
    assert_int_equal(chown("middle/folder", 0, 0), 0);
    assert_int_equal(chmod("middle/folder", 0775), 0);
    assert_true(opens("middle/folder/file"));
}

#define IN_FOLDERS(test) cmocka_unit_test_setup_teardown(test, make_folders, remove_folders)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDERS(the_path_is_absolute_and_without_links),
        IN_FOLDERS(what_is_no_file_is_refused_without_waiting),
        IN_FOLDERS(file_and_folder_count),
        IN_FOLDERS(what_belongs_to_others_is_refused),
        IN_FOLDERS(links_are_followed_first),
        IN_FOLDERS(a_group_may_write_only_if_it_is_named),
        IN_FOLDERS(members_of_a_named_group_are_trusted),
        IN_FOLDERS(a_group_without_others_may_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
