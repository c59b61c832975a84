/* The core's sections: defaults, what must be there how often, and the sentences if not. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "messages.h"
#include "input/config.h"

#define REQUIRED_SECTIONS                                                                          \
    "[run]\nsweeps = 1000\n[box]\ndimension = 2\n[species A]\ncount = 10\n[potential p]\n"         \
    "[mover m]\n"

static config read_good(const char *name, const char *text)
{
    config c = {0};
    report r = {0};
    assert_int_equal(ini_read_text(name, text, &c.ini, &r), 0);
    assert_int_equal(config_read(&c, &r), 0);
    assert_int_equal(r.errors, 0);
    return c;
}

static void assert_refused(const char *text, int errors, const char *expected)
{
    messages captured;
    config c = {0};
    report r = {0};
    messages_begin(&captured);
    ini_read_text("sim.ini", text, &c.ini, &r);
    config_read(&c, &r);
    const char *said = messages_end(&captured);
    assert_says(said, expected);
    if (r.errors != errors) fail_msg("%d errors, expected %d:\n%s", r.errors, errors, said);
    assert_int_equal(r.code, EXIT_INPUT);
    config_free(&c);
}

static void defaults_are_as_documented(void **state)
{
    (void)state;
    config c = read_good("dir/sim.ini", REQUIRED_SECTIONS "[observable o]\n");
    assert_int_equal(c.run.sweeps, 1000);
    assert_int_equal(c.run.equilibrate, 0);
    assert_int_equal(c.run.seed, 1);
    assert_int_equal(c.run.walkers, 1);
    assert_int_equal(c.run.threads, 0);
    assert_int_equal(c.run.gpu, 0);
    assert_int_equal(c.run.device, DEVICE_AUTO);
    assert_int_equal(c.run.fast_math, 0);
    assert_true(c.run.checkpoint == 600);
    assert_true(c.run.time_limit == 0);
    assert_string_equal(c.run.output, "dir/sim.h5");
    assert_string_equal(c.run.csv, "");
    assert_int_equal(c.box.dimension, 2);
    assert_int_equal(c.box.shape, 0);
    assert_true(c.box.packing_fraction == 0 && c.box.density == 0 && c.box.lx == 0);
    assert_int_equal(c.species_count, 1);
    assert_string_equal(c.species_names[0], "A");
    assert_int_equal(c.species[0].count, 10);
    assert_true(c.species[0].diameter == 1 && c.species[0].charge == 0);
    assert_int_equal(c.initial.state, 0);
    assert_int_equal(c.initial.lattice, 0);
    assert_string_equal(c.initial.file, "");
    assert_true(c.initial.random_fraction == 0.2);
    assert_int_equal(c.initial.attempts, 1000000);
    assert_int_equal(c.plugin_count, 3);
    assert_int_equal(c.plugins[0].sampled, 1);
    assert_int_equal(c.plugins[2].period, 100);
    config_free(&c);
}

static void plugin_sections_keep_their_order_and_own_keys(void **state)
{
    (void)state;
    config c = read_good("sim.ini", "[observable o]\nperiod = 1e3\nbins = 5\n"
                                    "[potential far]\nplugin = ./x/y.so\nrole = measured\n"
                                    "[species -]\ncount = 2\ncharge = -1/3\n"
                                    "[species +]\ncount = 1\ncharge = 2\n"
                                    "[mover m]\nd = 0.1\n[box]\ndimension = 3\nshape = sphere\n"
                                    "[run]\nsweeps = 5\ndevice = gpu\noutput = o.h5\n"
                                    "[potential b]\n");
    assert_int_equal(c.plugin_count, 4);
    assert_int_equal(c.plugins[0].kind, PLUGMC_OBSERVABLE);
    assert_int_equal(c.plugins[0].period, 1000);
    assert_string_equal(c.plugins[0].plugin, "o");
    assert_int_equal(c.plugins[1].kind, PLUGMC_POTENTIAL);
    assert_string_equal(c.plugins[1].plugin, "./x/y.so");
    assert_int_equal(c.plugins[1].sampled, 0);
    assert_int_equal(c.plugins[2].kind, PLUGMC_MOVER);
    assert_string_equal(c.plugins[2].section->name, "mover m");
    assert_string_equal(c.plugins[3].plugin, "b");
    assert_int_equal(c.plugins[3].sampled, 1);
    assert_false(ini_get(c.plugins[0].section, "bins")->used); /* left to the plugin's table */
    assert_true(ini_get(c.plugins[0].section, "period")->used);
    assert_string_equal(c.species_names[0], "-");
    assert_true(c.species[0].charge == -1.0 / 3 && c.species[1].charge == 2);
    assert_int_equal(c.box.shape, 3);
    assert_int_equal(c.run.device, DEVICE_GPU);
    assert_string_equal(c.run.output, "o.h5");
    config_free(&c);
}

static void output_goes_beside_the_ini(void **state)
{
    static const char *const cases[][2] = {{"sim.ini", "sim.h5"},
                                           {"/a.b/sim.ini", "/a.b/sim.h5"},
                                           {"sim.txt", "sim.txt.h5"},
                                           {"out.h5", "out.h5"}};
    (void)state;
    for (int i = 0; i < 4; i++) {
        config c = read_good(cases[i][0], REQUIRED_SECTIONS);
        assert_string_equal(c.run.output, cases[i][1]);
        config_free(&c);
    }
}

static void missing_sections_are_named(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "sim.ini: there is no section [run]\n", "there is no section [box]\n",
        "there is no section [species NAME]\n",
        "there is no section [potential NAME]; an ideal gas has one, too: hard cores with [species] diameter = 0\n",
        "there is no section [mover NAME]\n"};
    for (int i = 0; i < 5; i++) assert_refused("", 5, expected[i]);
}

static void missing_keys_are_named(void **state)
{
    (void)state;
    const char *text = "[run]\n[box]\n[species A]\n[potential p]\n[mover m]\n";
    assert_refused(text, 3, "sim.ini:1: [run] key 'sweeps' is missing: length of the run");
    assert_refused(text, 3, "sim.ini:2: [box] key 'dimension' is missing");
    assert_refused(text, 3, "sim.ini:3: [species A] key 'count' is missing");
}

static void superfluous_sections_are_refused(void **state)
{
    (void)state;
    assert_refused(REQUIRED_SECTIONS "[run fast]\n", 1,
                   "sim.ini:9: [run fast] must not have a name");
    assert_refused(REQUIRED_SECTIONS "[potential]\n", 1,
                   "sim.ini:9: [potential] needs a name: write [potential NAME]");
    assert_refused(REQUIRED_SECTIONS "[run]\nsweeps = 2\n", 1,
                   "sim.ini:9: [run] given twice, first in line 1");
}

static void unknown_sections_are_refused_with_the_nearest(void **state)
{
    (void)state;
    assert_refused(REQUIRED_SECTIONS "[potental q]\n", 1,
                   "sim.ini:9: unknown section [potental q]; did you mean [potential ...]?");
    assert_refused(REQUIRED_SECTIONS "[inital]\n", 1, "did you mean [initial]?");
    assert_refused(
        REQUIRED_SECTIONS "[output]\n", 1,
        "sim.ini:9: unknown section [output]; there are [run], [units], [box], [species NAME], "
        "[molecule NAME], "
        "[initial], [ladder], [potential NAME], [mover NAME], [observable NAME]\n");
}

static void labels_are_words(void **state)
{
    (void)state;
    assert_refused(REQUIRED_SECTIONS "[observable a b]\n", 1, "'a b' is not a valid name");
    assert_refused(REQUIRED_SECTIONS "[observable ..]\n", 1, "'..' is not a valid name");
    assert_refused(
        REQUIRED_SECTIONS "[potential ./x.so]\n", 1,
        "'./x.so' is not a valid name: use letters, digits, '_', '-', '+' and '.'; a path "
        "goes into the key 'plugin'");
}

static void bad_values_and_unknown_keys_are_refused(void **state)
{
    (void)state;
    const char *text = "[run]\nsweeps = 0\ncvs = x\n[box]\ndimension = 4\nshape = circle\n"
                       "[species A]\ncount = 1.5\ndiametr = 2\n[potential p]\nrole = sample\n"
                       "[mover m]\n[observable o]\nperiod = 0\n[initial]\nstat = file\n";
    static const char *const expected[] = {
        "sim.ini:2: [run] sweeps = 0: must be at least 1 and at most 1e14 (sweeps)",
        "sim.ini:3: [run] unknown key 'cvs'; did you mean 'csv'?",
        "sim.ini:5: [box] dimension = 4: must be at least 2 and at most 3",
        "sim.ini:6: [box] shape = circle: must be one of square, triangular, rectangle, sphere",
        "sim.ini:8: [species A] count = 1.5: is not a whole number",
        "sim.ini:9: [species A] unknown key 'diametr'; did you mean 'diameter'?",
        "sim.ini:11: [potential p] role = sample: must be one of sampled, measured; did you mean "
        "'sampled'?",
        "sim.ini:14: [observable o] period = 0: must be at least 1",
        "sim.ini:16: [initial] unknown key 'stat'; did you mean 'state'?"};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_refused(text, 9, expected[i]);
}

static void files_that_contradict_are_refused(void **state)
{
    (void)state;
#define WITH_RUN(keys)                                                                             \
    "[box]\ndimension = 2\n[species A]\ncount = 1\n[potential p]\n[mover m]\n[run]\nsweeps=1\n" keys
    assert_refused(WITH_RUN("[initial]\nstate = file\n"), 1,
                   "sim.ini:9: [initial] state = file: key 'file' must name it");
    assert_refused(WITH_RUN("[initial]\nfile = x.h5\n"), 1,
                   "sim.ini:10: [initial] file = x.h5: this key needs state = file");
    assert_refused(WITH_RUN("output = sim.ini\n"), 1,
                   "[run] output = sim.ini: this name would be read as an INI file");
    assert_refused(WITH_RUN("csv = a\noutput = a\n"), 1, "[run] output and csv are both 'a'");
}

static void too_many_species_are_refused(void **state)
{
    char *text;
    size_t length;
    (void)state;
    FILE *f = open_memstream(&text, &length);
    fputs("[run]\nsweeps = 1\n[box]\ndimension = 2\n[potential p]\n[mover m]\n", f);
    for (int i = 0; i < 256; i++) fprintf(f, "[species s%d]\ncount = 1\n", i);
    fclose(f);
    assert_refused(text, 1, "there are 256 sections [species NAME]: the limit is 255");
    free(text);
}

static void the_echo_reads_back_as_the_same_configuration(void **state)
{
    char *text, *again;
    size_t length;
    (void)state;
    config c = read_good("sim.ini", REQUIRED_SECTIONS
                         "[species B]\ncount = 3\ndiameter = 1/3\n[initial]\nstate = random\n"
                         "[potential q]\nrole = measured\nplugin = other\n[observable o]\n");
    for (int round = 0; round < 2; round++) {
        FILE *f = open_memstream(round ? &again : &text, &length);
        config_echo(f, &c);
        for (int i = 0; i < c.plugin_count; i++) plugin_section_echo(f, &c.plugins[i]);
        fclose(f);
        config_free(&c);
        if (round == 0) c = read_good("echo", text);
    }
    assert_says(text, "sweeps = 1000  ; sim.ini:2\n");
    assert_says(text, "seed = 1  ; default\n");
    assert_says(text, "diameter = 0.3333333333333333  ; sim.ini:11\n");
    assert_says(text, "[potential q]\nplugin = other  ; sim.ini:16\n"
                      "role = measured  ; sim.ini:15\n");
    assert_says(text, "[potential p]\nplugin = p  ; default\nrole = sampled  ; default\n");
    assert_says(text, "period = 100  ; default\n");
    /* The origins differ, the values do not. */
    char *a = text, *b = again;
    int lines = 0;
    for (; *a && *b; lines++) {
        size_t n = strcspn(a, ";\n"), m = strcspn(b, ";\n");
        if (n != m || strncmp(a, b, n) != 0) fail_msg("%.*s became %.*s", (int)n, a, (int)m, b);
        a += strcspn(a, "\n") + 1;
        b += strcspn(b, "\n") + 1;
    }
    assert_int_equal(*a, *b);
    assert_true(lines > 40);
    free(text);
    free(again);
}

/* The core's own tables are held to what is asked of a plugin's. */
static void tables_of_the_core_are_sound(void **state)
{
    static const size_t sizes[] = {sizeof(run_section),      sizeof(units_section),
                                   sizeof(box_section),      sizeof(species_section),
                                   sizeof(molecule_section), sizeof(initial_section),
                                   sizeof(ladder_section),   sizeof(plugin_section),
                                   sizeof(plugin_section),   sizeof(plugin_section)};
    const char *const *keys[] = {[PLUGMC_POTENTIAL] = potential_keys,
                                 [PLUGMC_MOVER] = mover_keys,
                                 [PLUGMC_OBSERVABLE] = observable_keys};
    char why[256];
    (void)state;
    assert_int_equal(section_kind_count, PLUGMC_COUNT(sizes));
    for (int i = 0; i < section_kind_count; i++) {
        const section_kind *s = &section_kinds[i];
        if (!parameters_sane(s->table, *s->count, sizeof(double), sizes[i], why, sizeof why))
            fail_msg("[%s] %s", s->name, why);
        for (int k = 0; s->plugin && k < *s->count; k++)
            assert_string_equal(s->table[k].name, keys[s->plugin][k]);
        if (s->plugin) assert_null(keys[s->plugin][*s->count]);
    }
}

TEST_MAIN(cmocka_unit_test(defaults_are_as_documented),
          cmocka_unit_test(plugin_sections_keep_their_order_and_own_keys),
          cmocka_unit_test(output_goes_beside_the_ini),
          cmocka_unit_test(missing_sections_are_named), cmocka_unit_test(missing_keys_are_named),
          cmocka_unit_test(superfluous_sections_are_refused),
          cmocka_unit_test(unknown_sections_are_refused_with_the_nearest),
          cmocka_unit_test(labels_are_words),
          cmocka_unit_test(bad_values_and_unknown_keys_are_refused),
          cmocka_unit_test(files_that_contradict_are_refused),
          cmocka_unit_test(too_many_species_are_refused),
          cmocka_unit_test(the_echo_reads_back_as_the_same_configuration),
          cmocka_unit_test(tables_of_the_core_are_sound))
