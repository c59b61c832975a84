/* The INI reader: what it accepts, and that what inih would cut, join or pass over is refused
 * with its line. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"
#include "input/ini.h"

/* Reads a text that must be in order. */
static ini_file read_good(const char *text)
{
    ini_file file;
    report r = {0};
    assert_int_equal(ini_read_text("sim.ini", text, &file, &r), 0);
    assert_int_equal(r.errors, 0);
    return file;
}

/* Reads a text with `errors` errors; one of them must read as expected. */
static void assert_refused(const char *text, int errors, const char *expected)
{
    messages c;
    ini_file file;
    report r = {0};
    messages_begin(&c);
    int code = ini_read_text("sim.ini", text, &file, &r);
    const char *said = messages_end(&c);
    assert_says(said, expected);
    assert_int_equal(code, EXIT_INPUT);
    assert_int_equal(r.code, EXIT_INPUT);
    if (r.errors != errors) fail_msg("%d errors, expected %d:\n%s", r.errors, errors, said);
    ini_free(&file);
}

static void keeps_sections_keys_and_lines(void **state)
{
    (void)state;
    ini_file f = read_good("; head\n\n[run]\nsweeps = 10 ; inline\n  # indented comment\n"
                           "[mover  some thing]\ntrials: 4\n[observable empty]\n");
    assert_int_equal(f.count, 3);
    assert_string_equal(f.sections[0].kind, "run");
    assert_string_equal(f.sections[0].label, "");
    assert_int_equal(f.sections[0].line, 3);
    assert_string_equal(f.sections[1].name, "mover  some thing");
    assert_string_equal(f.sections[1].kind, "mover");
    assert_string_equal(f.sections[1].label, "some thing");
    assert_string_equal(ini_get(&f.sections[1], "trials")->value, "4");
    assert_string_equal(f.sections[2].label, "empty");
    assert_int_equal(f.sections[2].count, 0);

    const ini_entry *sweeps = ini_get(ini_find(&f, "run"), "sweeps");
    assert_string_equal(sweeps->value, "10");
    assert_string_equal(sweeps->origin, "sim.ini:4");
    assert_int_equal(sweeps->line, 4);
    assert_false(sweeps->used);
    assert_null(ini_find(&f, "box"));
    assert_null(ini_get(ini_find(&f, "run"), "seed"));
    ini_free(&f);
}

static void accepts_byte_order_mark_and_crlf(void **state)
{
    (void)state;
    ini_file f = read_good("\xef\xbb\xbf[run]\r\noutput = \xc3\xa4.h5\r\n\r\ncsv =\r\n");
    assert_string_equal(ini_get(&f.sections[0], "output")->value, "\xc3\xa4.h5");
    assert_string_equal(ini_get(&f.sections[0], "csv")->value, "");
    assert_int_equal(ini_get(&f.sections[0], "csv")->line, 4);
    ini_free(&f);
}

static void accepts_an_empty_file(void **state)
{
    (void)state;
    ini_file f = read_good("");
    assert_int_equal(f.count, 0);
    ini_free(&f);
}

/* A text with `length` letters n in the middle, in memory for one at a time. */
static const char *padded(const char *before, size_t length, const char *after)
{
    static char text[16384];
    const size_t first = strlen(before);
    assert_true(first + length + strlen(after) < sizeof text);
    strcpy(text, before);
    memset(text + first, 'n', length);
    strcpy(text + first + length, after);
    return text;
}

/* Reads a line of a key between others. */
static void assert_line_is_read(const char *before, size_t length, const char *after,
                                const char *value)
{
    char above[400], below[400];
    snprintf(above, sizeof above, "[s]\na = 1\n%s", before);
    snprintf(below, sizeof below, "%s\nb = 2\n[t]\nkey = 3\n", after);
    ini_file f = read_good(padded(above, length, below));
    assert_int_equal(f.sections[0].count, 3);
    assert_string_equal(ini_get(&f.sections[0], "a")->value, "1");
    assert_string_equal(ini_get(&f.sections[0], "key")->value,
                        value ? value : padded("", length, ""));
    assert_string_equal(ini_get(&f.sections[0], "key")->origin, "sim.ini:3");
    assert_string_equal(ini_get(&f.sections[0], "b")->value, "2");
    assert_string_equal(ini_get(&f.sections[1], "key")->value, "3");
    ini_free(&f);
}

/* inih takes 199 bytes of a line. */
static void accepts_lines_of_any_length(void **state)
{
    (void)state;
    const size_t lengths[] = {150, 194, 195, 196, 197, 198, 199, 200, 201, 391, 4000, 16000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        assert_line_is_read("key=", lengths[i], "", NULL);
        assert_line_is_read("key  :\t ", lengths[i], "  ; a comment = 1 [y]", NULL);
        assert_line_is_read("key = 1  2\t3 ; ", lengths[i], "", "1  2\t3");
        assert_line_is_read("key = ; ", lengths[i], "", "");
    }
    ini_file f = read_good(padded("; ", 300, "\n[s]\nkey = 1\n"));
    assert_int_equal(ini_get(&f.sections[0], "key")->line, 3);
    ini_free(&f);
    f = read_good(padded("[s] ; ", 300, "\nkey = 1\n"));
    assert_string_equal(ini_get(&f.sections[0], "key")->value, "1");
    ini_free(&f);
}

static void accepts_names_of_the_greatest_length(void **state)
{
    (void)state;
    ini_file f = read_good(padded("[", 49, "]\nkey = 1\n"));
    assert_int_equal(strlen(f.sections[0].name), 49);
    ini_free(&f);
    f = read_good(padded("[s]\n", 49, " = 1\n"));
    assert_int_equal(strlen(f.sections[0].entries[0].key), 49);
    assert_string_equal(f.sections[0].entries[0].value, "1");
    ini_free(&f);
}

static void refuses_what_inih_would_cut(void **state)
{
    (void)state;
    assert_refused(padded("[run]\na = 1\n\n[", 50, "]\na = 2"), 1,
                   "n] is 50 bytes long: the limit for names of sections is 49");
    assert_refused(padded("[run]\n", 50, " = 1\n"), 1,
                   "n' is 50 bytes long: the limit for keys is 49");
    assert_refused(padded("[run]\n", 300, " = 1\n"), 1, "sim.ini:2: key 'nnn");
    assert_refused(padded("[run]\n", 300, " = 1\n"), 1,
                   "nnn...' is 300 bytes long: the limit for keys is 49");
    assert_refused(padded("[run]\na = 1\n[box ; ", 196, "]\na = 2"), 1,
                   "sim.ini:3: section '[box' has no ']'");
}

static void long_lines_are_refused_like_short_ones(void **state)
{
    (void)state;
    assert_refused(padded("[run]\na = 1\na = ", 300, "\n"), 1,
                   "sim.ini:3: [run] key 'a' given twice, first in line 2");
    assert_refused(padded("[run]\na =;", 300, "\n"), 1,
                   "sim.ini:2: [run] the value of 'a' begins with ';'");
    assert_refused(padded("[run]\na = 1\n  ", 300, "\n"), 1, "sim.ini:3: this line is indented");
    assert_refused(padded("[run]\n", 300, "\n"), 1, "nnn...' is neither 'key = value'");
    assert_refused(padded("[run]\n[run]\na = ", 300, "\n"), 1, "sim.ini:2: [run] given twice");
}

static void refuses_indented_keys_and_sections(void **state)
{
    (void)state;
    assert_refused("[run]\nsweeps = 1\n  seed = 2\n", 1, "sim.ini:3: this line is indented");
    assert_refused("[run]\nsweeps = 1\n\t[box]\nsweeps = 2\n", 1,
                   "sim.ini:3: this line is indented");
}

static void refuses_what_is_no_text(void **state)
{
    (void)state;
    assert_refused("[run]\nsweeps = 1\x01\n", 1,
                   "sim.ini:2: character 0x01 is a control character");
    assert_refused("[run]\n# \x1b[31m\n", 1, "sim.ini:2: character 0x1b is a control character");
    assert_refused("[run]\na = \xe4\n", 1, "sim.ini:2: character 0xe4 is not UTF-8 text");
    assert_refused("[run]\na = \xc0\xaf\n", 1, "is not UTF-8 text");     /* overlong */
    assert_refused("[run]\na = \xed\xa0\x80\n", 1, "is not UTF-8 text"); /* surrogate */
    assert_refused("[run]\na = \xc2\x85\n", 1, "0x85 is a control character");
    assert_refused("[run]\na = \xe2\x82", 1, "is not UTF-8 text"); /* cut at the end */
}

static void refuses_lines_that_are_nothing(void **state)
{
    (void)state;
    assert_refused("[run]\nsweeps 10\n", 1,
                   "sim.ini:2: 'sweeps 10' is neither 'key = value' nor '[section]' nor a comment");
    assert_refused("[run]\nsweeps ; = 10\n", 1, "sim.ini:2: 'sweeps ; = 10' is neither");
    assert_refused("[run]\n= 10\n", 1, "sim.ini:2: there is no key in front of '='");
    assert_refused("sweeps = 10\n[run]\n", 1, "sim.ini:1: this key is not in a section");
    assert_refused("[run]\ncsv =;none\n", 1, "sim.ini:2: [run] the value of 'csv' begins with ';'");
}

static void refuses_broken_sections(void **state)
{
    (void)state;
    assert_refused("[run\nsweeps = 10\n", 1, "sim.ini:1: section '[run' has no ']'");
    assert_refused("[run]\nx = 1\n[]\nx = 10\n", 1, "sim.ini:3: section without a name");
    assert_refused("[run] sweeps = 10\n", 1, "sim.ini:1: [run] is followed by 'sweeps = 10'");
    assert_refused("[run ; x]\n", 1, "has no ']'");
}

static void names_both_lines_of_doubled_sections_and_keys(void **state)
{
    (void)state;
    assert_refused("[mover x]\nd = 1\n\nd = 2\n", 1,
                   "sim.ini:4: [mover x] key 'd' given twice, first in line 2");
    assert_refused("[mover x]\nd = 1\n[mover   x]\nd = 2\n", 1,
                   "sim.ini:3: [mover   x] given twice, first in line 1");
}

static void reports_every_error_of_a_file(void **state)
{
    (void)state;
    const char *text = "lost = 1\n[run\nsweeps\n seed = 1\n[box]\nx = 1\nx = 2\n[box]\nx = 3\ny\n";
    const char *lines[] = {"sim.ini:1:", "sim.ini:2:", "sim.ini:3:", "sim.ini:4:",
                           "sim.ini:7:", "sim.ini:8:", "sim.ini:10:"};
    for (int i = 0; i < 7; i++) assert_refused(text, 7, lines[i]);
}

/* A folder for the files of a test. */
static void make_folder(char folder[64])
{
    strcpy(folder, "/tmp/plugmc-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static void assert_file_refused(const char *path, const char *expected)
{
    messages c;
    ini_file file;
    report r = {0};
    messages_begin(&c);
    int code = ini_read(path, &file, &r);
    assert_says(messages_end(&c), expected);
    assert_int_equal(code, EXIT_INPUT);
    assert_int_equal(r.errors, 1);
    ini_free(&file);
}

static void write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static void refuses_files_that_are_no_ini(void **state)
{
    (void)state;
    char folder[64], path[128];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/x.ini", folder);
    assert_file_refused(path, "x.ini: cannot open this file: No such file or directory");
    assert_file_refused(folder, ": this is a folder, not an INI file");
    write_bytes(path, "[run]\nx\0y = 1\n", 14);
    assert_file_refused(path, "x.ini: this is not a text file: it has NUL bytes");
    write_bytes(path, "\x89HDF\r\n\x1a\n\0\0", 10);
    assert_file_refused(path, "x.ini: this is an HDF5 file");
    char *large = malloc(2 << 20);
    memset(large, '\n', 2 << 20);
    write_bytes(path, large, 2 << 20);
    free(large);
    assert_file_refused(path, "x.ini: this is not an INI file: it is larger than 1 MiB");
    if (geteuid() != 0) { /* root may read everything */
        assert_int_equal(chmod(path, 0), 0);
        assert_file_refused(path, "cannot open this file: Permission denied");
    }
    unlink(path);
    rmdir(folder);
}

static void reads_a_file_without_final_newline(void **state)
{
    (void)state;
    char folder[64], path[128], origin[160];
    ini_file f;
    report r = {0};
    make_folder(folder);
    snprintf(path, sizeof path, "%s/x.ini", folder);
    write_bytes(path, "[run]\nseed = 3", 14);
    assert_int_equal(ini_read(path, &f, &r), 0);
    snprintf(origin, sizeof origin, "%s:2", path);
    assert_string_equal(ini_get(&f.sections[0], "seed")->value, "3");
    assert_string_equal(ini_get(&f.sections[0], "seed")->origin, origin);
    assert_string_equal(f.path, path);
    ini_free(&f);
    unlink(path);
    rmdir(folder);
}

static void set_replaces_makes_keys_and_sections(void **state)
{
    (void)state;
    report r = {0};
    ini_file f = read_good("[run]\nsweeps = 1\n[mover x]\nd = 1\n[potential a]\n[potential b]\n");
    assert_int_equal(ini_set(&f, "run.sweeps=7", &r), 0);
    assert_int_equal(ini_set(&f, " run.seed = 8 ", &r), 0);
    assert_int_equal(ini_set(&f, "mover.d=2", &r), 0);
    assert_int_equal(ini_set(&f, "mover x.e=a=b.c", &r), 0);
    assert_int_equal(ini_set(&f, "potential b.k=3", &r), 0);
    assert_int_equal(ini_set(&f, "initial.state=random", &r), 0);
    assert_int_equal(ini_set(&f, "observable v1.2.period=4", &r), 0);

    const ini_entry *sweeps = ini_get(ini_find(&f, "run"), "sweeps");
    assert_string_equal(sweeps->value, "7");
    assert_string_equal(sweeps->origin, "--set");
    assert_int_equal(sweeps->line, 0);
    assert_string_equal(ini_get(ini_find(&f, "run"), "seed")->value, "8");
    assert_string_equal(ini_get(ini_find(&f, "mover"), "d")->value, "2");
    assert_string_equal(ini_get(ini_find(&f, "mover"), "e")->value, "a=b.c");
    assert_null(ini_get(&f.sections[2], "k"));
    assert_string_equal(ini_get(&f.sections[3], "k")->value, "3");
    assert_string_equal(ini_get(ini_find(&f, "initial"), "state")->value, "random");
    assert_string_equal(ini_find(&f, "observable")->label, "v1.2");
    assert_int_equal(f.count, 6);
    assert_int_equal(r.errors, 0);
    ini_free(&f);
}

static void set_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"run", "'run' must read SECTION.KEY=VALUE"},
        {"run=1", "must read SECTION.KEY=VALUE"},
        {".sweeps=1", "must read SECTION.KEY=VALUE"},
        {"run.=1", "the key is missing"},
        {"run.a:b=1", "the key is missing, or is none"},
        {"run.csv=a ;b", "';' would begin a comment"},
        {"run.csv=;b", "';' would begin a comment"},
        {"run.csv=a\nb", "characters that are not text"},
        {"potential.k=1", "there are 2 [potential ...] sections: name one"},
        {"mover a]b.k=1", "cannot be the name of a section"},
        {"mover a\nb.k=1", "cannot be the name of a section"},
    };
    ini_file f = read_good("[run]\n[potential a]\n[potential b]\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        messages c;
        report r = {0};
        messages_begin(&c);
        int code = ini_set(&f, cases[i][0], &r);
        assert_says(messages_end(&c), cases[i][1]);
        assert_int_equal(code, EXIT_USAGE);
        assert_int_equal(r.code, EXIT_USAGE);
    }
    assert_int_equal(f.count, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(f.sections[i].count, 0);
    ini_free(&f);
}

static void assert_same(const ini_file *a, const ini_file *b)
{
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        assert_string_equal(a->sections[i].name, b->sections[i].name);
        assert_int_equal(a->sections[i].count, b->sections[i].count);
        for (int k = 0; k < a->sections[i].count; k++) {
            assert_string_equal(a->sections[i].entries[k].key, b->sections[i].entries[k].key);
            assert_string_equal(a->sections[i].entries[k].value, b->sections[i].entries[k].value);
        }
    }
}

static void assert_round_trip(const ini_file *f)
{
    char *text;
    size_t length;
    ini_file again;
    report r = {0};
    FILE *out = open_memstream(&text, &length);
    ini_write(out, f, NULL);
    fclose(out);
    if (ini_read_text("again", text, &again, &r) != 0) fail_msg("written, not read:\n%s", text);
    assert_same(f, &again);
    ini_free(&again);
    assert_int_equal(ini_read_archived("archive", text, &again, &r), 0);
    assert_same(f, &again);
    assert_string_equal(again.archive, "archive");
    assert_string_equal(again.path, f->path);
    for (int i = 0; i < f->count; i++) {
        assert_int_equal(f->sections[i].line, again.sections[i].line);
        for (int k = 0; k < f->sections[i].count; k++) {
            const ini_entry *a = &f->sections[i].entries[k], *b = &again.sections[i].entries[k];
            assert_string_equal(a->origin, b->origin);
            assert_int_equal(a->line, b->line);
        }
    }
    ini_free(&again);
    free(text);
}

/* 20,000 texts from pieces that matter to the syntax, fixed seed: none may crash the reader, and
 * what is accepted must survive being written and read again. */
static void written_files_read_back_the_same(void **state)
{
    static const char *const pieces[] = {
        "[",  "]",        "=",       ":",       ";",       "#",    " ",    "\t",
        "\n", "\n",       "\n",      "\r",      "a",       "b",    "run",  ".",
        "1",  "\xc3\xa4", "[run]\n", "k = v\n", "[p q]\n", "\xff", "\x02", "="};
    uint32_t random = 12345;
    int accepted = 0;
    (void)state;
    for (int trial = 0; trial < 20000; trial++) {
        char text[256] = "[s]\n";
        random = random * 1664525u + 1013904223u;
        for (unsigned n = (random >> 16) % 24; n > 0; n--) {
            random = random * 1664525u + 1013904223u;
            strcat(text, pieces[(random >> 16) % (sizeof pieces / sizeof pieces[0])]);
        }
        ini_file f;
        report r = {0};
        messages c;
        messages_begin(&c);
        int code = ini_read_text("x", text, &f, &r);
        messages_end(&c);
        if (code == 0) {
            accepted++;
            assert_round_trip(&f);
        }
        ini_free(&f);
    }
    assert_true(accepted > 1000);
}

/* What older programs wrote had no origins: they are those in the archived text. */
static void archived_files_keep_their_origins(void **state)
{
    (void)state;
    report r = {0};
    ini_file f, old;
    assert_int_equal(
        ini_read_text("a ;b: c.ini", "; comment\n[run]\nempty =\n\nseed = 3\n", &f, &r), 0);
    assert_int_equal(ini_set(&f, "run.seed=4", &r), 0);
    assert_int_equal(ini_set(&f, "mover x.step=1", &r), 0);
    assert_round_trip(&f);
    assert_string_equal(f.sections[0].entries[0].origin, "a ;b: c.ini:3");
    ini_free(&f);
    assert_int_equal(ini_read_archived("sim.h5", "[run]\nseed=3\n", &old, &r), 0);
    assert_string_equal(old.path, "sim.h5");
    assert_string_equal(old.sections[0].entries[0].origin, "sim.h5:2");
    ini_free(&old);
}

static void reports_count_and_keep_the_first_code(void **state)
{
    (void)state;
    report r = {0};
    messages m;
    messages_begin(&m);
    report_warning(&r, "a.ini", 3, "odd %s", "thing");
    int before = r.code;
    int code = report_error(&r, EXIT_DEVICE, NULL, 0, "no %s", "GPU");
    report_error(&r, EXIT_INPUT, "a.ini", 0, "wrong");
    const char *said = messages_end(&m);
    assert_string_equal(said, "a.ini:3: warning: odd thing\nno GPU\na.ini: wrong\n");
    assert_int_equal(before, EXIT_DONE);
    assert_int_equal(code, EXIT_DEVICE);
    assert_int_equal(r.code, EXIT_DEVICE);
    assert_int_equal(r.errors, 2);
    assert_int_equal(r.warnings, 1);
}

static void nearest_name_allows_a_third_of_the_length(void **state)
{
    (void)state;
    static const char *const names[] = {"diameter", "charge", "count", "lx", "ly"};
    assert_string_equal(nearest_name("diametr", names, 5), "diameter");
    assert_string_equal(nearest_name("Diameter", names, 5), "diameter");
    assert_string_equal(nearest_name("cahrge", names, 5), "charge");
    assert_string_equal(nearest_name("cuont", names, 5), "count");
    assert_null(nearest_name("dmtr", names, 5));
    assert_null(nearest_name("lw", names, 5)); /* half of it is wrong */
    assert_null(nearest_name("diameter", names, 0));
}

TEST_MAIN(cmocka_unit_test(keeps_sections_keys_and_lines),
          cmocka_unit_test(accepts_byte_order_mark_and_crlf),
          cmocka_unit_test(accepts_an_empty_file), cmocka_unit_test(accepts_lines_of_any_length),
          cmocka_unit_test(accepts_names_of_the_greatest_length),
          cmocka_unit_test(refuses_what_inih_would_cut),
          cmocka_unit_test(long_lines_are_refused_like_short_ones),
          cmocka_unit_test(refuses_indented_keys_and_sections),
          cmocka_unit_test(refuses_what_is_no_text),
          cmocka_unit_test(refuses_lines_that_are_nothing),
          cmocka_unit_test(refuses_broken_sections),
          cmocka_unit_test(names_both_lines_of_doubled_sections_and_keys),
          cmocka_unit_test(reports_every_error_of_a_file),
          cmocka_unit_test(refuses_files_that_are_no_ini),
          cmocka_unit_test(reads_a_file_without_final_newline),
          cmocka_unit_test(set_replaces_makes_keys_and_sections),
          cmocka_unit_test(set_refuses_what_it_cannot_do),
          cmocka_unit_test(written_files_read_back_the_same),
          cmocka_unit_test(archived_files_keep_their_origins),
          cmocka_unit_test(reports_count_and_keep_the_first_code),
          cmocka_unit_test(nearest_name_allows_a_third_of_the_length))
