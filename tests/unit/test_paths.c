/* Names of files relative to an INI file and to an output file; names with gaps in listings. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/parameters.h"
#include "base/paths.h"
#include "engine/listing.h"

#define ASSERT_PATH(expression, expected)                                                          \
    do {                                                                                           \
        char *found = expression;                                                                  \
        assert_string_equal(found, expected);                                                      \
        free(found);                                                                               \
    } while (0)

static void names_are_joined_to_folders(void **state)
{
    (void)state;
    ASSERT_PATH(path_folder("sim.ini"), "");
    ASSERT_PATH(path_folder("a/b/sim.ini"), "a/b");
    ASSERT_PATH(path_folder("/sim.ini"), "/");
    ASSERT_PATH(path_join("", "x"), "x");
    ASSERT_PATH(path_join("a b", "./x"), "a b/./x");
    ASSERT_PATH(path_join("/", "x"), "/x");
    ASSERT_PATH(path_join("a", "/x"), "/x");
    ASSERT_PATH(path_join("a", ""), "");
}

static void files_below_a_folder_are_relative_to_it(void **state)
{
    (void)state;
    char folder[] = "/tmp/plugmc-test-paths-XXXXXX", above[256];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("in", 0700), 0);
    assert_int_equal(mkdir("in/deep", 0700), 0);
    assert_int_equal(mkdir("inner", 0700), 0);
    snprintf(above, sizeof above, "%s/x", folder);
    ASSERT_PATH(path_beside("in", "in/x"), "./x");
    ASSERT_PATH(path_beside("", "x"), "x");
    ASSERT_PATH(path_beside("in", "in/deep/x"), "deep/x");
    ASSERT_PATH(path_beside("in", "in/deep/../x"), "./x");
    ASSERT_PATH(path_beside("in", "x"), above);
    ASSERT_PATH(path_beside("in/deep", "in/deep/../../x"), above);
    ASSERT_PATH(path_beside("in", "/etc/none"), "/etc/none");
    ASSERT_PATH(path_beside("in", ""), "");
    snprintf(above, sizeof above, "%s/inner/x", folder); /* "in" begins the name, no more */
    ASSERT_PATH(path_beside("in", "inner/x"), above);
    rmdir("in/deep"), rmdir("in"), rmdir("inner");
    assert_int_equal(chdir("/"), 0);
    rmdir(folder);
}

typedef struct files {
    const char *one, *many;
} files;

static const plugmc_parameter table[] = {
    PLUGMC_FILE_KEY(files, one, "", "a file"),
    PLUGMC_FILES_KEY(files, many, "", "files"),
};

static void keys_that_name_files_give_paths(void **state)
{
    (void)state;
    report r = {0};
    files f = {0};
    ini_file ini;
    assert_int_equal(ini_read_text("a b/sim.ini", "[run]\none = x y\nmany = p  /q\n", &ini, &r), 0);
    assert_int_equal(parameters_fill(table, 2, 8, &f, ini.path, ini.sections, &r), 0);
    assert_string_equal(f.one, "a b/x y");
    assert_string_equal(f.many, "a b/p\n/q");
    assert_int_equal(ini_set(&ini, "run.one=z", &r), 0);
    assert_int_equal(parameters_fill(table, 2, 8, &f, ini.path, ini.sections, &r), 0);
    assert_string_equal(f.one, "z"); /* --set: from the working directory */
    ini_free(&ini);
    assert_int_equal(parameters_fill(table, 2, 8, &f, "sim.ini", NULL, &r), 0);
    assert_string_equal(f.one, "");
    assert_string_equal(f.many, "");
}

static void words_in_angle_brackets_stand_for_any_text(void **state)
{
    (void)state;
    assert_true(listing_fits("pressure", "pressure"));
    assert_false(listing_fits("pressure", "pressure_x"));
    assert_true(listing_fits("pressure_<axis>", "pressure_x"));
    assert_false(listing_fits("pressure_<axis>", "pressure_"));
    assert_true(listing_fits("<species>-<species>", "A-B"));
    assert_false(listing_fits("<species>-<species>", "A-"));
    assert_true(listing_fits("q_<a>_around_<b>", "q_x_y_around_z"));
    assert_false(listing_fits("q_<a>_around_<b>", "q_x_about_z"));
    assert_true(listing_fits("", ""));
    assert_false(listing_fits("", "kT"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_joined_to_folders),
        cmocka_unit_test(files_below_a_folder_are_relative_to_it),
        cmocka_unit_test(keys_that_name_files_give_paths),
        cmocka_unit_test(words_in_angle_brackets_stand_for_any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
