/* Keys that had another name: read under both names, compared as equal, and told to people. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "input/comparison.h"
#include "input/former_keys.h"
#include "messages.h"

static ini_file read_good(const char *text)
{
    ini_file file;
    report r = {0};
    assert_int_equal(ini_read_text("sim.ini", text, &file, &r), 0);
    return file;
}

static void count_difference(void *argument, const char *section, const char *key, const char *one,
                             const char *other)
{
    (void)section, (void)key, (void)one, (void)other;
    ++*(int *)argument;
}

static int differences(const ini_file *one, const ini_file *other)
{
    int count = 0;
    ini_compare(one, other, count_difference, &count);
    return count;
}

static const char *warnings(const ini_file *file)
{
    static messages m;
    report r = {0};
    messages_begin(&m);
    for (int i = 0; i < file->count; i++) former_keys_warn(file, &file->sections[i], &r);
    return messages_end(&m);
}

static void a_former_name_is_read_as_the_present_one(void **state)
{
    (void)state;
    ini_file before = read_good("[species a]\ncount = 3\nmost = 7\n[potential a]\nmost = 1\n"),
             now = read_good("[species a]\ncount = 3\nmax_count = 7\n[potential a]\nmost = 1\n"),
             other = read_good("[species a]\ncount = 3\nmax_count = 8\n[potential a]\nmost = 1\n");
    assert_null(ini_get(&before.sections[0], "most"));
    assert_string_equal(ini_get(&before.sections[0], "max_count")->value, "7");
    assert_int_equal(ini_get(&before.sections[0], "max_count")->line, 3);
    /* a key of a plugin may have any name */
    assert_string_equal(ini_get(&before.sections[1], "most")->value, "1");
    assert_int_equal(differences(&before, &now), 0);
    assert_true(differences(&before, &other) > 0);
    assert_string_equal(ini_at(&now, "species a.most")->value, "7");
    assert_string_equal(warnings(&now), "");
    assert_string_equal(
        warnings(&before),
        "sim.ini:3: warning: [species a] the key 'most' is now called 'max_count'\n");
    ini_free(&before), ini_free(&now), ini_free(&other);
}

static void both_names_at_once_are_one_key_too_many(void **state)
{
    (void)state;
    messages m;
    ini_file file;
    report r = {0};
    messages_begin(&m);
    const int code = ini_read_text("sim.ini", "[species a]\nmost = 7\nmax_count = 7\n", &file, &r);
    assert_string_equal(messages_end(&m), "sim.ini:2: [species a] key 'max_count' given twice, as "
                                          "'most' too, which is its former name\n");
    assert_int_equal(code, EXIT_INPUT);
    ini_free(&file);
}

static void set_replaces_a_key_under_either_name(void **state)
{
    (void)state;
    report r = {0};
    ini_file old = read_good("[species a]\nmost = 7\n"),
             new = read_good("[species a]\nmax_count = 7\n");
    assert_int_equal(ini_set(&old, "species.max_count=8", &r), 0);
    assert_int_equal(ini_set(&new, "species.most=9", &r), 0);
    assert_int_equal(old.sections[0].count, 1);
    assert_string_equal(old.sections[0].entries[0].value, "8");
    assert_string_equal(warnings(&old), "");
    assert_int_equal(new.sections[0].count, 1);
    assert_string_equal(new.sections[0].entries[0].value, "9");
    assert_string_equal(warnings(&new),
                        "--set: warning: [species a] the key 'most' is now called 'max_count'\n");
    ini_free(&old), ini_free(&new);
}

/* What an output file has in its archive was written by an earlier program: nobody can change it. */
static void archives_are_renamed_in_silence(void **state)
{
    (void)state;
    report r = {0};
    ini_file file;
    assert_int_equal(ini_read_archived("sim.h5",
                                       "[species a]\nmost=7 ; sim.ini:5\ncount=2 ; sim.ini:6\n",
                                       &file, &r),
                     0);
    const ini_entry *entry = ini_get(&file.sections[0], "max_count");
    assert_string_equal(entry->value, "7");
    assert_string_equal(entry->origin, "sim.ini:5");
    assert_string_equal(ini_get(&file.sections[0], "count")->origin, "sim.ini:6");
    assert_string_equal(warnings(&file), "");
    ini_free(&file);
}

/* A plugin says its former keys when it is loaded, when its section has been read already. */
static void keys_of_plugins_are_known_once_it_is_loaded(void **state)
{
    (void)state;
    report r = {0};
    ini_file file = read_good("[mover x]\nplugin = m\nplaces = 4\nold = 1\n[mover y]\nold = 2\n");
    ini_section *x = &file.sections[0];
    assert_string_equal(ini_get(x, "places")->value, "4");
    assert_int_equal(ini_set(&file, "mover x.new=3", &r), 0);
    former_key_add(x, "places", "positions");
    former_key_add(x, "old", "new");
    assert_int_equal(former_keys_rename(&file, x, &r), 0);
    assert_string_equal(ini_get(x, "positions")->value, "4");
    assert_null(ini_get(x, "old"));
    assert_string_equal(ini_get(x, "new")->value, "3"); /* --set wins */
    assert_int_equal(former_keys_rename(&file, &file.sections[1], &r), 0);
    assert_non_null(ini_get(&file.sections[1], "old")); /* of another plugin */
    ini_file later = read_good("[mover z]\nplugin = m\nplaces = 4\n"),
             same = read_good("[mover z]\nplugin = m\npositions = 4\n");
    assert_int_equal(differences(&later, &same), 0);
    ini_free(&file), ini_free(&later), ini_free(&same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_former_name_is_read_as_the_present_one),
        cmocka_unit_test(both_names_at_once_are_one_key_too_many),
        cmocka_unit_test(set_replaces_a_key_under_either_name),
        cmocka_unit_test(archives_are_renamed_in_silence),
        cmocka_unit_test(keys_of_plugins_are_known_once_it_is_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
