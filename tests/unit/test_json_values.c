/* JSON: texts come back as they were, whatever is in them, and what is no JSON is refused. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_values.h"

static char *written(const char *text)
{
    char *json;
    size_t size;
    FILE *out = open_memstream(&json, &size);
    json_put(out, text);
    fclose(out);
    return json;
}

static void texts_come_back(void **state)
{
    static const char *const texts[] = {
        "", "a \"b\" \\ / \t \n \x01", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
        "latin \xe4, cut off \xe2\x82", "\xed\xa0\x80 \xc0\x80 \xff"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_value v;
        char *json = written(texts[i]);
        assert_null(json_parse(json, &v));
        assert_int_equal(v.kind, JSON_TEXT);
        assert_string_equal(v.text, texts[i]);
        json_release(&v);
        free(json);
    }
    char *json = written("\xe4\n");
    assert_string_equal(json, "\"\\udce4\\u000a\"");
    free(json);
}

static void values_are_read(void **state)
{
    json_value v;
    (void)state;
    assert_null(json_parse(
        " {\"a\": [1, -2.5e3, {}], \"b\" : true,\"c\":null, \"a b\": \"\\u00e4\\ud83d\\ude00\", "
        "\"b\": false} ",
        &v));
    assert_int_equal(v.count, 5);
    assert_int_equal(json_member(&v, "a")->count, 3);
    assert_string_equal(json_member(&v, "a")->members[1].text, "-2.5e3");
    assert_false(json_member_flag(&v, "b")); /* the last one counts */
    assert_int_equal(json_member(&v, "c")->kind, JSON_NULL);
    assert_string_equal(json_member_text(&v, "a b"), "\xc3\xa4\xf0\x9f\x98\x80");
    assert_string_equal(json_member_text(&v, "nothing"), "");
    assert_true(isnan(json_member_number(&v, "a b")));
    json_release(&v);
}

static void what_is_no_json_is_refused(void **state)
{
    static const char *const texts[] = {
        "",       "{",           "[1,]",    "{\"a\" 1}",  "{1: 2}",
        "01",     "1.",          ".5",      "1e",         "-",
        "nul",    "\"a",         "\"\\x\"", "\"\\u12\"",  "\"\\ud800\"",
        "\"\t\"", "\"\\u0000\"", "1 2",     "{\"a\": 1]", "'a'"};
    char deep[200];
    json_value v;
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_non_null(json_parse(texts[i], &v));
        json_release(&v);
    }
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    assert_non_null(json_parse(deep, &v));
    json_release(&v);
}

TEST_MAIN(cmocka_unit_test(texts_come_back), cmocka_unit_test(values_are_read),
          cmocka_unit_test(what_is_no_json_is_refused))
