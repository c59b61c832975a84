/* Files that must not be left behind: those in the list, and no others, are removed. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/leftovers.h"

static char folder[] = "/tmp/plugmc-test-XXXXXX";

static char *make(const char *name)
{
    char *path;
    assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    return path;
}

static void what_is_listed_is_removed(void **state)
{
    (void)state;
    enum { FILES = 5 };
    char *path[FILES], name[8];
    int status;
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "%d", i);
        leftovers_hold();
        path[i] = make(name);
        assert_true(leftovers_add(path[i]));
        leftovers_let_go();
    }
    leftovers_forget(path[3]);
    leftovers_forget(path[0]);
    leftovers_forget("never listed");
    const pid_t child = fork(); /* since nothing can be listed afterwards */
    if (!child) {
        leftovers_remove();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    for (int i = 0; i < FILES; i++) {
        const int kept = i == 0 || i == 3;
        assert_int_equal(access(path[i], F_OK), kept ? 0 : -1);
        if (kept) unlink(path[i]);
        leftovers_forget(path[i]);
        free(path[i]);
    }
    assert_int_equal(rmdir(folder), 0);
}

TEST_MAIN(cmocka_unit_test(what_is_listed_is_removed))
