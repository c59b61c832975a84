/* The loader against plugins that are compiled here: good ones, and one for every way in which a
 * file can fail to be a plugin that this program may trust. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"
#include "plugin/search.h"

static char folder[64]; /* of this run's plugins, the only one in the search path */

static void path_of(char path[256], const char *name)
{
    snprintf(path, 256, "%s/%s", folder, name);
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    path_of(path, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* The public headers are beside tests/, in which TEST_DATA is a folder that need not exist. */
static void compile(const char *name, const char *source)
{
    int tests = (int)(strrchr(TEST_DATA, '/') - TEST_DATA);
    char command[1024];
    write_file("source.c", source);
    snprintf(command, sizeof command,
             "cc -std=gnu17 -shared -fPIC -I'%.*s/../core/include' -o '%s/%s.so' '%s/source.c'",
             tests, TEST_DATA, folder, name, folder);
    if (system(command) != 0) fail_msg("this failed: %s", command);
}

/* An observable with two functions that are never called. FIELDS: more of the descriptor, which
 * may override what stands before. */
#define HEAD                                                                                       \
    "#include <plugmc/everything.h>\n"                                                             \
    "typedef struct thing { double a; int64_t period; } thing;\n"                                  \
    "static int quantity(void *i, int k, plugmc_quantity *q)\n"                                    \
    "{ (void)i, (void)k, (void)q; return 0; }\n"                                                   \
    "static int measure(void *i, const plugmc_host *h, const plugmc_view *v, double *x)\n"         \
    "{ (void)i, (void)h, (void)v, (void)x; return 0; }\n"                                          \
    "static const plugmc_parameter table[] = {\n"                                                  \
    "    PLUGMC_REAL_KEY(thing, a, \"1\", 0, 2, \"\", \"a\")};\n"                                  \
    "static const plugmc_parameter wide[] = {\n"                                                   \
    "    PLUGMC_REAL_KEY(thing, period, \"1\", 0, 2, \"\", \"p\")};\n"                             \
    "static const plugmc_observable half = {.size = sizeof half, .quantity = quantity};\n"         \
    "static const plugmc_observable small = {.size = 8, .quantity = quantity,\n"                   \
    "                                        .measure = measure};\n"                               \
    "static const plugmc_observable both = {.size = sizeof both, .quantity = quantity,\n"          \
    "                                       .measure = measure};\n"                                \
    "static const plugmc_observable moody = {.size = sizeof moody, .quantity = quantity,\n"        \
    "                                        .measure = measure, .depends_on = 3};\n"
#define OBSERVABLE                                                                                 \
    ".kind = PLUGMC_OBSERVABLE, .name = \"good\", .summary = \"s\", .reference = \"\","            \
    ".instance_size = sizeof(thing), .parameters = table, .parameter_count = PLUGMC_COUNT(table)," \
    ".observable = &both"
#define PLUGIN(fields) HEAD "PLUGMC_PLUGIN(" OBSERVABLE fields ")\n"

/* A potential with a field facet in both precisions; `single` is that of the float one. */
#define POTENTIAL(fields, single_fields)                                                                   \
    HEAD                                                                                                   \
        "static int64_t energy(const void *i, const plugmc_particles *p, double *e)\n"                     \
        "{ (void)i, (void)p, (void)e; return 0; }\n"                                                       \
        "static const plugmc_field field = {.size = sizeof field, .energy = energy};\n"                    \
        "static const plugmc_potential potential = {.size = sizeof potential,\n"                           \
        "                                           .field = &field};\n"                                   \
        "static const plugmc_potential empty = {.size = sizeof empty};\n"                                  \
        "#define ANY(member) .member = (void *)energy\n"                                                   \
        "static const plugmc_variational sumless = {.size = sizeof sumless, .functions = 1, ANY(count),\n" \
        "    ANY(number), ANY(get), ANY(set), ANY(derivatives), ANY(at_points)};\n"                        \
        "static const plugmc_plugin single = {PLUGMC_PLUGIN_HEAD, .kind = PLUGMC_POTENTIAL,\n"             \
        "    .name = \"p\", .potential = &potential " single_fields "};\n"                                 \
        "PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = \"p\", .potential = &potential " fields           \
        ")\n"

/* Refused: by name, at sim.ini:12, with `expected` in the sentence. */
static void assert_refused(const char *name, int kind, const char *expected)
{
    messages m;
    report r = {0};
    loaded l;
    messages_begin(&m);
    int code = plugin_load(name, kind, "sim.ini", 12, &l, &r);
    const char *said = messages_end(&m);
    assert_says(said, expected);
    assert_int_equal(strncmp(said, "sim.ini:12: ", 12), 0);
    assert_int_equal(code, EXIT_PLUGIN);
    assert_int_equal(r.code, EXIT_PLUGIN);
    assert_int_equal(r.errors, 1);
    assert_null(l.plugin);
    assert_null(l.handle);
    plugin_unload(&l);
}

static loaded load_good(const char *name, int kind)
{
    report r = {0};
    loaded l;
    assert_int_equal(plugin_load(name, kind, "sim.ini", 1, &l, &r), 0);
    assert_int_equal(r.errors, 0);
    return l;
}

static void opens_a_plugin_by_name_and_by_path(void **state)
{
    (void)state;
    char path[256];
    path_of(path, "good.so");
    loaded l = load_good("good", PLUGMC_OBSERVABLE);
    assert_string_equal(l.name, "good");
    assert_string_equal(l.path, path);
    assert_string_equal(l.plugin->name, "good");
    assert_int_equal(strlen(l.hash), 16);
    loaded again = load_good(path, 0);
    assert_string_equal(again.path, path);
    assert_string_equal(again.hash, l.hash);
    plugin_unload(&again);
    plugin_unload(&l);
    assert_null(l.plugin);
}

/* The FNV-1a of the file's bytes, counted here once more. */
static void the_hash_is_that_of_the_file(void **state)
{
    (void)state;
    char path[256], hash[17];
    uint64_t h = 14695981039346656037u;
    path_of(path, "good.so");
    FILE *f = fopen(path, "rb");
    for (int c; (c = getc(f)) != EOF;) h = (h ^ (uint64_t)c) * 1099511628211u;
    fclose(f);
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)h);
    loaded l = load_good("good", 0);
    assert_string_equal(l.hash, hash);
    plugin_unload(&l);
}

static void opens_a_potential_with_its_single_precision_half(void **state)
{
    (void)state;
    compile("p", POTENTIAL(", .single = &single", ", .real_size = 4"));
    loaded l = load_good("p", PLUGMC_POTENTIAL);
    assert_int_equal(l.plugin->single->real_size, 4);
    plugin_unload(&l);
}

static void a_link_is_followed(void **state)
{
    (void)state;
    char path[256];
    path_of(path, "alias.so");
    assert_int_equal(symlink("good.so", path), 0);
    loaded l = load_good("alias", 0);
    assert_string_equal(l.name, "alias");
    assert_string_equal(l.plugin->name, "good");
    plugin_unload(&l);
    unlink(path);
}

static void unknown_names_get_a_suggestion_and_the_search_path(void **state)
{
    (void)state;
    assert_refused("godo", 0, "there is no plugin 'godo'; did you mean 'good'? (searched /");
    assert_refused("godo", 0, folder);
    assert_refused("entirely_else", 0, "there is no plugin 'entirely_else' (searched");
    assert_refused("/no/such.so", 0, "/no/such.so cannot be opened: No such file or directory");
}

static void the_kind_must_be_the_one_expected(void **state)
{
    (void)state;
    assert_refused("good", PLUGMC_MOVER,
                   "is of kind observable ('good'), but kind mover is expected here");
}

static void files_that_are_no_plugin_are_refused(void **state)
{
    (void)state;
    char path[256];
    write_file("text.so", "this is no shared object, whatever its name\n");
    assert_refused("text", 0, "text.so is no shared object, as plugins are");
    write_file("text.so", "");
    assert_refused("text", 0, "text.so is empty");
    compile("library", "int f(void) { return 1; }\n");
    assert_refused("library", 0, "is not a plugmc plugin: it has no function plugmc_plugin_entry");
    compile("open", "extern int missing(void); int f(void) { return missing(); }\n");
    assert_refused("open", 0, "undefined symbol: missing");
    compile("null", "const void *plugmc_plugin_entry(void) { return 0; }\n");
    assert_refused("null", 0, "is not a plugmc plugin: plugmc_plugin_entry returns NULL");
    path_of(path, "directory.so");
    assert_int_equal(mkdir(path, 0700), 0);
    assert_refused("directory", 0, "directory.so cannot be opened: it is a folder");
    rmdir(path);
}

static void heads_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *fields, *expected;
    } cases[] = {
        {", .magic = 7", "its magic number is 0x00000007, expected 0x434d4750"},
        {", .size = 20", "has a descriptor of 20 bytes: expected at least"},
        {", .size = 8", "has a descriptor of 8 bytes: expected at least"},
        {", .abi_major = 1", "was built for plugin ABI 1.1, but this plugmc has 2.1"},
        {", .abi_minor = 9", "was built for plugin ABI 2.9, but this plugmc has 2.1"},
        {", .real_size = 4", "has reals of 4 bytes, expected 8"},
        {", .kind = 9", "is of kind 9, expected 1 (potential), 2 (mover) or 3 (observable)"},
        {", .name = NULL", "has no name in its descriptor"},
    };
    char source[8192];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(source, sizeof source, HEAD "PLUGMC_PLUGIN(" OBSERVABLE "%s)\n", cases[i].fields);
        compile("head", source);
        assert_refused("head", 0, cases[i].expected);
    }
}

static void bodies_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *fields, *expected;
    } cases[] = {
        {", .instance_size = 4", "its parameter 'a' lies outside its struct"},
        {", .parameters = NULL", "its table of parameters has 1 entries"},
        {", .parameters = wide", "has a parameter 'period', which is a key of the core"},
        {", .observable = NULL", "has no observable functions"},
        {", .observable = &half", "lacks the observable function 'measure'"},
        {", .observable = &small", "has a table of observable functions of 8 bytes"},
        {", .observable = &moody", "dependences that this plugmc does not know (depends_on = 3)"},
        {", .kind = PLUGMC_MOVER", "has no mover functions"},
        {", .kind = PLUGMC_POTENTIAL", "has no potential functions"},
    };
    char source[8192];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(source, sizeof source, HEAD "PLUGMC_PLUGIN(" OBSERVABLE "%s)\n", cases[i].fields);
        compile("body", source);
        assert_refused("body", 0, cases[i].expected);
    }
}

static void potentials_need_facets_and_a_single_precision_half(void **state)
{
    (void)state;
    compile("q", POTENTIAL("", ""));
    assert_refused("q", 0, "lacks its single-precision half");
    compile("q", POTENTIAL(", .single = &single", ""));
    assert_refused("q", 0, "in its single-precision half has reals of 8 bytes, expected 4");
    compile("q", POTENTIAL(", .single = &single", ", .real_size = 4, .parameter_count = 2"));
    assert_refused("q", 0, "in its single-precision half cannot be used: its table of parameters");
    compile("q", POTENTIAL(", .single = &single, .parameters = table, .parameter_count = 1,"
                           ".instance_size = 8",
                           ", .real_size = 4"));
    assert_refused("q", 0, "a potential with 0 parameters for a potential with 1");
    compile("q", POTENTIAL(", .potential = &empty", ""));
    assert_refused("q", 0, "is a potential without a facet");
    compile("q", POTENTIAL(", PLUGMC_OFFERS({PLUGMC_VARIATIONAL_PARAMETERS, &sumless})", ""));
    assert_refused("q", 0, "lacks the free function 'sums'");
}

static void what_others_can_change_is_refused(void **state)
{
    (void)state;
    char path[256], expected[600];
    path_of(path, "good.so");
    static const mode_t modes[] = {0666, 0757};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        snprintf(expected, sizeof expected,
                 "%s can be changed by others (mode %04o): run chmod go-w '%s'", path,
                 (unsigned)modes[i], path);
        assert_refused("good", 0, expected);
    }
    chmod(path, 0755);
    chmod(folder, 0777);
    snprintf(expected, sizeof expected, "%s can be changed by others (mode 0777)", folder);
    assert_refused("good", 0, expected);
    chmod(folder, 0700);
    loaded l = load_good("good", 0);
    plugin_unload(&l);
}

/* A link in a safe folder to a file in an unsafe one. */
static void the_folder_behind_a_link_counts(void **state)
{
    (void)state;
    char open_folder[256], path[300], link[256], command[1024];
    path_of(open_folder, "open");
    path_of(link, "link.so");
    snprintf(path, sizeof path, "%s/good.so", open_folder);
    snprintf(command, sizeof command, "mkdir '%s' && cp '%s/good.so' '%s' && chmod 777 '%s'",
             open_folder, folder, path, open_folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(symlink(path, link), 0);
    assert_refused("link", 0, "can be changed by others (mode 0777)");
    unlink(link);
    unlink(path);
    rmdir(open_folder);
}

static void files_of_other_users_are_refused(void **state)
{
    (void)state;
    char path[256];
    if (geteuid() != 0) {
        printf("only root can give a file away\n");
        skip();
    }
    path_of(path, "good.so");
    assert_int_equal(chown(path, 54321, 0), 0);
    assert_refused("good", 0,
                   "good.so belongs to user unknown (54321): what is loaded, and its "
                   "folder, must belong to you (0), to root");
    assert_int_equal(chown(path, 0, 0), 0);
}

static int has_name(const plugin_names *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->names[i], name) == 0) return 1;
    return 0;
}

static void the_first_of_the_search_path_wins_and_the_list_is_sorted(void **state)
{
    (void)state;
    char second[256], variable[600], command[1600];
    path_of(second, "second");
    snprintf(command, sizeof command,
             "mkdir '%s' && cp '%s/good.so' '%s/good.so' && cp '%s/good.so' '%s/another.so' && "
             "cp '%s/good.so' '%s/.hidden.so'",
             second, folder, second, folder, second, folder, second);
    assert_int_equal(system(command), 0);
    snprintf(variable, sizeof variable, "::%s:%s:/nowhere", folder, second);
    setenv("PLUGMC_PLUGIN_PATH", variable, 1);

    loaded l = load_good("good", 0);
    assert_int_equal(strncmp(l.path, folder, strlen(folder)), 0);
    assert_null(strstr(l.path, "second"));
    plugin_unload(&l);
    plugin_names all = plugin_list(0), observables = plugin_list(PLUGMC_OBSERVABLE);
    int good = 0;
    for (int i = 0; i < all.count; i++) {
        if (i > 0) assert_true(strcmp(all.names[i - 1], all.names[i]) < 0);
        good += strcmp(all.names[i], "good") == 0;
        assert_true(all.names[i][0] != '.');
    }
    assert_int_equal(good, 1);
    assert_true(has_name(&all, "another") && has_name(&all, "text") && has_name(&all, "p"));
    assert_true(has_name(&observables, "another") && has_name(&observables, "good"));
    assert_false(has_name(&observables, "text")); /* a file of text */
    assert_false(has_name(&observables, "p"));    /* a potential */
    plugin_names_free(&all);
    plugin_names_free(&observables);
    setenv("PLUGMC_PLUGIN_PATH", folder, 1);
    snprintf(command, sizeof command, "rm -r '%s'", second);
    assert_int_equal(system(command), 0);
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/plugmc-test-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    umask(022);
    setenv("PLUGMC_PLUGIN_PATH", folder, 1);
    compile("good", PLUGIN(""));
    return 0;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_a_plugin_by_name_and_by_path),
        cmocka_unit_test(the_hash_is_that_of_the_file),
        cmocka_unit_test(opens_a_potential_with_its_single_precision_half),
        cmocka_unit_test(a_link_is_followed),
        cmocka_unit_test(unknown_names_get_a_suggestion_and_the_search_path),
        cmocka_unit_test(the_kind_must_be_the_one_expected),
        cmocka_unit_test(files_that_are_no_plugin_are_refused),
        cmocka_unit_test(heads_that_do_not_fit_are_refused),
        cmocka_unit_test(bodies_that_do_not_fit_are_refused),
        cmocka_unit_test(potentials_need_facets_and_a_single_precision_half),
        cmocka_unit_test(what_others_can_change_is_refused),
        cmocka_unit_test(the_folder_behind_a_link_counts),
        cmocka_unit_test(files_of_other_users_are_refused),
        cmocka_unit_test(the_first_of_the_search_path_wins_and_the_list_is_sorted),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder) != 0;
}
