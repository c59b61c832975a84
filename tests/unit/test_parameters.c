/* Parameter tables: text to numbers with ranges and units, and back without loss. */
#include "testing.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "input/parameters.h"

typedef struct thing {
    double cutoff, ratio, reach, twice;
    int64_t trials, seed;
    int32_t flag, shape;
    const char *file;
} thing;

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(thing, cutoff, "2.5", 0, 10, "length", "where the energy ends"),
    PLUGMC_REAL_KEY(thing, ratio, "1/3", -INFINITY, 1, "", "of a | b"),
    PLUGMC_REAL_KEY(thing, reach, "inf", 0, INFINITY, "length", "may be infinite"),
    PLUGMC_REAL_DERIVED(thing, twice, "cutoff times two"),
    PLUGMC_INTEGER_KEY(thing, trials, NULL, 1, 1000000, "", "trials a cell"),
    PLUGMC_INTEGER_KEY(thing, seed, "1", 0, 0x1p63, "", "any"),
    PLUGMC_FLAG_KEY(thing, flag, "no", "yes or no"),
    PLUGMC_CHOICE_KEY(thing, shape, "square", "square|triangular|sphere", "of the box"),
    PLUGMC_TEXT_KEY(thing, file, "", "to read"),
};
enum { COUNT = PLUGMC_COUNT(table) };

/* One key of a section [potential x] in sim.ini, line 2; `trials` is given as well. */
static ini_file one_key(const char *key, const char *value)
{
    ini_file f;
    report r = {0};
    char text[400];
    snprintf(text, sizeof text, "[potential x]\n%s = %s\n%s", key, value,
             strcmp(key, "trials") ? "trials = 4\n" : "");
    assert_int_equal(ini_read_text("sim.ini", text, &f, &r), 0);
    return f;
}

static thing fill(const char *key, const char *value)
{
    thing t = {0};
    report r = {0};
    ini_file f = one_key(key, value);
    if (parameters_fill(table, COUNT, 8, &t, "sim.ini", &f.sections[0], &r) != 0)
        fail_msg("%s = %s was refused", key, value);
    assert_true(ini_get(&f.sections[0], key)->used);
    ini_free(&f);
    return t;
}

static void assert_refused(const char *key, const char *value, const char *expected)
{
    thing t = {0};
    report r = {0};
    messages c;
    ini_file f = one_key(key, value);
    messages_begin(&c);
    int code = parameters_fill(table, COUNT, 8, &t, "sim.ini", &f.sections[0], &r);
    assert_says(messages_end(&c), expected);
    assert_int_equal(code, EXIT_INPUT);
    assert_int_equal(r.errors, 1);
    ini_free(&f);
}

static void defaults_fill_what_is_not_given(void **state)
{
    (void)state;
    thing t = fill("trials", "7");
    assert_true(t.cutoff == 2.5);
    assert_true(t.ratio == 1.0 / 3);
    assert_true(isinf(t.reach));
    assert_int_equal(t.trials, 7);
    assert_int_equal(t.seed, 1);
    assert_int_equal(t.flag, 0);
    assert_int_equal(t.shape, 0);
    assert_string_equal(t.file, "");
}

#define assert_reads(key, value, field, expected)                                                  \
    do {                                                                                           \
        thing read = fill(key, value);                                                             \
        if (!(read.field == (expected)))                                                           \
            fail_msg("%s = %s gives %.17g", key, value, (double)read.field);                       \
    } while (0)

static void numbers_are_read_in_c_notation(void **state)
{
    (void)state;
    assert_reads("cutoff", "1", cutoff, 1.0);
    assert_reads("cutoff", "1e-3", cutoff, 1e-3);
    assert_reads("cutoff", "0x1p-3", cutoff, 0.125);
    assert_reads("cutoff", "2/3", cutoff, 2.0 / 3);
    assert_reads("ratio", "-1.5/2", ratio, -0.75);
    assert_reads("cutoff", "10", cutoff, 10.0);
    assert_reads("cutoff", "0", cutoff, 0.0);
    assert_reads("cutoff", "4.9406564584124654e-324", cutoff, 4.9406564584124654e-324);
    assert_reads("reach", "inf", reach, INFINITY);
    assert_reads("trials", "1e6", trials, 1000000);
    assert_reads("trials", "010", trials, 10);
    assert_reads("trials", "2.5e1", trials, 25);
    assert_reads("seed", "9223372036854775807", seed, INT64_MAX);
    assert_reads("flag", "Yes", flag, 1);
    assert_reads("flag", "on", flag, 1);
    assert_reads("flag", "0", flag, 0);
    assert_reads("flag", "false", flag, 0);
    assert_reads("shape", "sphere", shape, 2);
}

static void texts_are_copied(void **state)
{
    (void)state;
    thing t = fill("file", "a b/c.h5");
    assert_string_equal(t.file, "a b/c.h5"); /* the INI is freed by now */
}

static void the_decimal_point_does_not_depend_on_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) {
        printf("this machine has no locale with a decimal comma\n");
        skip();
    }
    thing t = fill("cutoff", "0.125");
    char *text;
    size_t length;
    FILE *f = open_memstream(&text, &length);
    parameters_echo(f, table, 1, 8, &t, NULL);
    fclose(f);
    setlocale(LC_ALL, "C");
    assert_true(t.cutoff == 0.125);
    assert_string_equal(text, "cutoff = 0.125  ; default\n");
    free(text);
}

static void bad_values_are_refused_with_line_range_and_unit(void **state)
{
    (void)state;
    assert_refused("cutoff", "-1",
                   "sim.ini:2: [potential x] cutoff = -1: must be at least 0 and at most 10 "
                   "(length)");
    assert_refused("cutoff", "10.000001", "must be at least 0 and at most 10 (length)");
    assert_refused("ratio", "2", "[potential x] ratio = 2: must be at most 1\n");
    assert_refused("reach", "-1", "must be at least 0 (length)");
    assert_refused("trials", "0", "trials = 0: must be at least 1 and at most 1e6\n");
    assert_refused("seed", "-1", "seed = -1: must be at least 0\n");
}

static void what_is_no_number_is_refused(void **state)
{
    (void)state;
    static const char *const reals[] = {"abc", "1,5", "2.5 nm", "1e",  "--1", "1/2/3",
                                        "1/",  "/2",  "1/ 2",   "nan", "0x"};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        assert_refused("cutoff", reals[i], ": is not a number");
    static const char *const integers[] = {"4.5", "1/2", "four", "1e-1", "nan", "4x"};
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        assert_refused("trials", integers[i], ": is not a whole number");
    assert_refused("cutoff", "", "a number is missing");
    assert_refused("trials", "", "a whole number is missing");
    assert_refused("cutoff", "inf", "must be finite");
    assert_refused("reach", "nan", "is not a number");
    assert_refused("reach", "1e999", "is beyond the range of double precision");
    assert_refused("reach", "1e-999", "is beyond the range of double precision");
    assert_refused("cutoff", "1/0", "is not a fraction of finite numbers");
    assert_refused("seed", "9223372036854775808",
                   "seed = 9223372036854775808: is beyond the range of 64 bits");
    assert_refused("seed", "1e30", "is beyond the range of 64 bits");
    assert_refused("trials", "99999999999999999999", "must be at least 1 and at most 1e6");
    assert_refused("trials", "-99999999999999999999", "must be at least 1 and at most 1e6");
}

static void words_are_refused_with_the_nearest(void **state)
{
    (void)state;
    assert_refused("shape", "squre",
                   "shape = squre: must be one of square, triangular, sphere; did you mean "
                   "'square'?");
    assert_refused("shape", "cube", "must be one of square, triangular, sphere\n");
    assert_refused("shape", "", "must be one of square");
    assert_refused("flag", "2", "flag = 2: must be yes or no");
    assert_refused("flag", "", "must be yes or no");
}

static void a_missing_key_is_reported_at_its_section(void **state)
{
    (void)state;
    thing t = {0};
    report r = {0};
    messages c;
    ini_file f;
    assert_int_equal(ini_read_text("sim.ini", "\n[potential x]\n", &f, &r), 0);
    messages_begin(&c);
    int code = parameters_fill(table, COUNT, 8, &t, "sim.ini", &f.sections[0], &r);
    assert_says(messages_end(&c),
                "sim.ini:2: [potential x] key 'trials' is missing: trials a cell");
    assert_int_equal(code, EXIT_INPUT);
    ini_free(&f);
}

static void values_of_the_command_line_are_reported_as_such(void **state)
{
    (void)state;
    thing t = {0};
    report r = {0};
    messages c;
    ini_file f = one_key("seed", "1");
    assert_int_equal(ini_set(&f, "potential.cutoff=-1", &r), 0);
    assert_int_equal(ini_set(&f, "potential.cutof=1", &r), 0);
    messages_begin(&c);
    parameters_fill(table, COUNT, 8, &t, "sim.ini", &f.sections[0], &r);
    parameters_unused(table, COUNT, NULL, "sim.ini", &f.sections[0], &r);
    const char *said = messages_end(&c);
    assert_says(said, "--set: [potential x] cutoff = -1: must be");
    assert_says(said, "--set: [potential x] unknown key 'cutof'; did you mean 'cutoff'?");
    ini_free(&f);
}

static void single_precision_takes_what_fits(void **state)
{
    typedef struct {
        float a;
    } small;
    static const plugmc_parameter one[] = {
        PLUGMC_REAL_KEY(small, a, NULL, 0, 1e300, "", "a number")};
    static const struct {
        const char *text;
        float expected;
    } good[] = {{"0.1", 0.1f}, {"0", 0}, {"3e38", 3e38f}, {"1/3", 1.0f / 3}};
    (void)state;
    for (int i = 0; i < 4; i++) {
        small s = {-1};
        report r = {0};
        ini_file f = one_key("a", good[i].text);
        assert_int_equal(parameters_fill(one, 1, 4, &s, "sim.ini", &f.sections[0], &r), 0);
        assert_true(s.a == good[i].expected);
        ini_free(&f);
    }
    for (int i = 0; i < 2; i++) {
        small s = {-1};
        report r = {0};
        messages c;
        ini_file f = one_key("a", i ? "1e39" : "1e-60");
        messages_begin(&c);
        parameters_fill(one, 1, 4, &s, "sim.ini", &f.sections[0], &r);
        assert_says(messages_end(&c), "is beyond the range of single precision");
        ini_free(&f);
    }
}

static void unknown_keys_are_reported_with_the_nearest(void **state)
{
    (void)state;
    static const char *const extra[] = {"plugin", "role", NULL};
    report r = {0};
    messages c;
    ini_file f;
    const char *text = "[potential x]\nroll = a\ncutof = 1\ntwice = 2\nqqqq = 1\nplugin = x\n";
    assert_int_equal(ini_read_text("sim.ini", text, &f, &r), 0);
    messages_begin(&c);
    int code = parameters_unused(table, COUNT, extra, "sim.ini", &f.sections[0], &r);
    const char *said = messages_end(&c);
    assert_says(said, "sim.ini:2: [potential x] unknown key 'roll'; did you mean 'role'?\n");
    assert_says(said, "sim.ini:3: [potential x] unknown key 'cutof'; did you mean 'cutoff'?\n");
    assert_says(said, "sim.ini:4: [potential x] unknown key 'twice'\n"); /* computed, not read */
    assert_says(said, "sim.ini:5: [potential x] unknown key 'qqqq'\n");
    assert_int_equal(r.errors, 4);
    assert_int_equal(code, EXIT_INPUT);
    ini_free(&f);
}

/* 20,000 doubles and floats of random bits (fixed seed): read back, each is the same. */
static void echoed_reals_read_back_bit_for_bit(void **state)
{
    typedef struct {
        double a;
    } wide;
    typedef struct {
        float a;
    } narrow;
    static const plugmc_parameter in_wide[] = {
        PLUGMC_REAL_KEY(wide, a, NULL, -INFINITY, INFINITY, "", "")};
    static const plugmc_parameter in_narrow[] = {
        PLUGMC_REAL_KEY(narrow, a, NULL, -INFINITY, INFINITY, "", "")};
    uint64_t bits = 88172645463325252u;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        int single = i % 2;
        wide w, w2;
        narrow n, n2;
        char *text;
        size_t length;
        ini_file f;
        report r = {0};
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        memcpy(&w.a, &bits, 8);
        memcpy(&n.a, &bits, 4);
        if (single ? isnan(n.a) : isnan(w.a)) continue;
        FILE *out = open_memstream(&text, &length);
        fputs("[x]\n", out);
        parameters_echo(out, single ? in_narrow : in_wide, 1, single ? 4 : 8,
                        single ? (void *)&n : (void *)&w, NULL);
        fclose(out);
        assert_int_equal(ini_read_text("echo", text, &f, &r), 0);
        parameters_fill(single ? in_narrow : in_wide, 1, single ? 4 : 8,
                        single ? (void *)&n2 : (void *)&w2, "echo", f.sections, &r);
        assert_int_equal(r.errors, 0);
        if (single ? memcmp(&n, &n2, 4) : memcmp(&w, &w2, 8)) fail_msg("not the same: %s", text);
        ini_free(&f);
        free(text);
    }
}

static void the_echo_names_origins_and_comments_out_what_is_computed(void **state)
{
    (void)state;
    char *text;
    size_t length;
    thing t = {0};
    report r = {0};
    ini_file f = one_key("ratio", "1/3");
    assert_int_equal(ini_set(&f, "potential.flag=on", &r), 0);
    assert_int_equal(parameters_fill(table, COUNT, 8, &t, "sim.ini", &f.sections[0], &r), 0);
    t.twice = 5;
    FILE *out = open_memstream(&text, &length);
    parameters_echo(out, table, COUNT, 8, &t, &f.sections[0]);
    fclose(out);
    assert_string_equal(text, "cutoff = 2.5  ; default\n"
                              "ratio = 0.3333333333333333  ; sim.ini:2\n"
                              "reach = inf  ; default\n"
                              "; twice = 5  ; computed\n"
                              "trials = 4  ; sim.ini:3\n"
                              "seed = 1  ; default\n"
                              "flag = yes  ; --set\n"
                              "shape = square  ; default\n"
                              "file =   ; default\n");
    free(text);
    ini_free(&f);
}

static void descriptions_show_defaults_ranges_and_units(void **state)
{
    (void)state;
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    parameters_describe(out, table, COUNT, 1);
    fclose(out);
    assert_says(text, "| key | default | range | unit | meaning |\n|---|---|---|---|---|\n");
    assert_says(text, "| cutoff | 2.5 | 0 ... 10 | length | where the energy ends |\n");
    assert_says(text, "| ratio | 1/3 | at most 1 |  | of a \\| b |\n");
    assert_says(text, "| trials | required | 1 ... 1e6 |  | trials a cell |\n");
    assert_says(text, "| shape | square | square, triangular, sphere |  | of the box |\n");
    assert_null(strstr(text, "twice"));
    free(text);
    out = open_memstream(&text, &length);
    parameters_describe(out, table, COUNT, 0);
    fclose(out);
    assert_says(text, "  cutoff  2.5       0 ... 10                    length  where the energy "
                      "ends\n");
    free(text);
}

static void bounds_are_written_for_people(void **state)
{
    (void)state;
    static const struct {
        double bound;
        const char *expected;
    } cases[] = {{0.5, "at most 0.5\n"},         {1000, "at most 1000\n"},
                 {1e14, "at most 1e14\n"},       {1e-6, "at most 1e-6\n"},
                 {-2.5e-9, "at most -2.5e-9\n"}, {1048576, "at most 1.048576e6\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        plugmc_parameter p = {"a", 0, 0, 0, NULL, -INFINITY, cases[i].bound, "", NULL, ""};
        double a;
        report r = {0};
        messages m;
        ini_file f = one_key("a", "1e20");
        messages_begin(&m);
        parameters_fill(&p, 1, 8, &a, "sim.ini", &f.sections[0], &r);
        assert_says(messages_end(&m), cases[i].expected);
        ini_free(&f);
    }
}

/* What `plugmc info` offers for pasting must be accepted, once the required keys are filled in. */
static void the_ini_block_is_an_ini(void **state)
{
    (void)state;
    char *text, doc[1000];
    size_t length;
    ini_file f;
    report r = {0};
    thing t = {0};
    for (size_t i = 0; i < sizeof doc - 1; i++) doc[i] = i % 7 == 6 ? ' ' : 'd';
    doc[sizeof doc - 1] = 0;
    plugmc_parameter copy[COUNT];
    memcpy(copy, table, sizeof copy);
    copy[0].doc = doc;
    copy[4].fallback = "3";
    FILE *out = open_memstream(&text, &length);
    parameters_ini_block(out, "potential x", copy, COUNT);
    fclose(out);
    assert_int_equal(ini_read_text("block", text, &f, &r), 0);
    assert_string_equal(f.sections[0].name, "potential x");
    assert_int_equal(f.sections[0].count, COUNT - 1);
    assert_int_equal(parameters_fill(copy, COUNT, 8, &t, "block", f.sections, &r), 0);
    assert_int_equal(t.trials, 3);
    assert_true(t.ratio == 1.0 / 3);
    free(text);
    ini_free(&f);
}

static void unsound_tables_are_found(void **state)
{
    (void)state;
    static const struct {
        plugmc_parameter entry;
        const char *expected;
    } cases[] = {
        {{"a", 9, 0, 0, "1", 0, 1, "", NULL, ""}, "'a' has an unknown type"},
        {{"a", 0, 0, sizeof(thing) - 4, "1", 0, 1, "", NULL, ""}, "'a' lies outside its struct"},
        {{"a", 0, 0, (size_t)-8, "1", 0, 1, "", NULL, ""}, "'a' lies outside its struct"},
        {{"a", 0, 0, 4, "1", 0, 1, "", NULL, ""}, "'a' is not aligned"},
        {{"a", 0, 0, 0, "1", 2, 1, "", NULL, ""}, "'a' has an empty range"},
        {{"a", 0, 0, 0, "1", NAN, 1, "", NULL, ""}, "'a' has an empty range"},
        {{"a", 0, 0, 0, "3", 0, 1, "", NULL, ""}, "'a' has a bad default"},
        {{"a", 3, 0, 0, "1", 0, 1, "", NULL, ""}, "'a' has no choices"},
        {{"a", 3, 1, 8, NULL, 0, 1, "", NULL, ""}, "'a' has no choices"},
        {{"a", 2, 0, 4, "1", 0, 1, "", NULL, ""}, "'a' overlaps with another in its struct"},
        {{"a", 0, 0, 0, "1", 0, 1, NULL, NULL, ""}, "'a' has no doc or no unit"},
        {{"cutoff", 0, 0, 0, "1", 0, 1, "", NULL, ""}, "'cutoff' is defined twice"},
        {{NULL, 0, 0, 0, "1", 0, 1, "", NULL, ""}, "parameter number 2 has no name"},
    };
    char why[256];
    assert_true(parameters_sane(table, COUNT, 8, sizeof(thing), why, sizeof why));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        plugmc_parameter two[2] = {table[0], cases[i].entry};
        assert_false(parameters_sane(two, 2, 8, sizeof(thing), why, sizeof why));
        assert_says(why, cases[i].expected);
    }
    assert_false(parameters_sane(NULL, 1, 8, 8, why, sizeof why));
    assert_false(parameters_sane(table, -1, 8, 8, why, sizeof why));
    assert_true(parameters_sane(NULL, 0, 8, 0, why, sizeof why));
}

TEST_MAIN(cmocka_unit_test(defaults_fill_what_is_not_given),
          cmocka_unit_test(numbers_are_read_in_c_notation), cmocka_unit_test(texts_are_copied),
          cmocka_unit_test(the_decimal_point_does_not_depend_on_the_locale),
          cmocka_unit_test(bad_values_are_refused_with_line_range_and_unit),
          cmocka_unit_test(what_is_no_number_is_refused),
          cmocka_unit_test(words_are_refused_with_the_nearest),
          cmocka_unit_test(a_missing_key_is_reported_at_its_section),
          cmocka_unit_test(values_of_the_command_line_are_reported_as_such),
          cmocka_unit_test(single_precision_takes_what_fits),
          cmocka_unit_test(unknown_keys_are_reported_with_the_nearest),
          cmocka_unit_test(echoed_reals_read_back_bit_for_bit),
          cmocka_unit_test(the_echo_names_origins_and_comments_out_what_is_computed),
          cmocka_unit_test(descriptions_show_defaults_ranges_and_units),
          cmocka_unit_test(bounds_are_written_for_people),
          cmocka_unit_test(the_ini_block_is_an_ini), cmocka_unit_test(unsound_tables_are_found))
