/* Fusion of GPU sources: every combination compiles for every architecture, parameters arrive
 * exactly, and errors point into the author's file. Needs NVRTC, no GPU. */
#include "testing.h"

#include <string.h>

#include "compiling.h"
#include "fused_system.h"

static const int architectures[] = {75, 80, 90, 100, 120};

static const plugmc_gpu_source mover = {sizeof mover, "mover.cu", mover_text, mover_defines, 1, 0};
static const plugmc_gpu_source mover_in_double = {sizeof mover,  "mover.cu", mover_text,
                                                  mover_defines, 1,          1};

static void assert_compiles(const plugmc_system *system, const plugmc_gpu_source *kernel)
{
    char *fused = fuse(system, kernel);
    assert_non_null(fused);
    for (size_t i = 0; i < sizeof architectures / sizeof architectures[0]; i++) {
        report r = {0};
        void *cubin = NULL;
        size_t bytes = 0;
        assert_int_equal(
            compile(compiler, fused, kernel->name, architectures[i], false, &cubin, &bytes, &r), 0);
        assert_true(bytes > 500);
        assert_memory_equal(cubin, "\177ELF", 4);
        free(cubin);
    }
    free(fused);
}

/* Compiles, expects it to fail, and returns what was said; freed by the caller. */
static char *message_of(const plugmc_system *system, const plugmc_gpu_source *kernel)
{
    report r = {0};
    void *cubin = NULL;
    size_t bytes;
    char *fused = fuse(system, kernel);
    assert_non_null(fused);
    capture c = capture_begin();
    int code = compile(compiler, fused, kernel->name, 90, false, &cubin, &bytes, &r);
    char *said = capture_end(&c);
    free(fused);
    assert_int_equal(code, EXIT_DEVICE);
    assert_int_equal(r.errors, 1);
    assert_null(cubin);
    return said;
}

static void assert_says(const char *said, const char *what)
{
    if (!strstr(said, what)) fail_msg("'%s' is not in: %s", what, said);
}

static void one_hard_core_compiles_in_two_and_three_dimensions(void **state)
{
    (void)state;
    const plugmc_term terms[] = {CORE_TERM};
    for (int dimension = 2; dimension <= 3; dimension++) {
        plugmc_system s = make_system(dimension, 1, PLUGMC_DOMAIN_PERIODIC, terms, 1);
        assert_compiles(&s, &mover);
    }
}

static void the_same_potential_twice_compiles_with_two_species(void **state)
{
    (void)state;
    const plugmc_term terms[] = {CORE_TERM, SMALL_CORE_TERM};
    plugmc_system s = make_system(3, 2, PLUGMC_DOMAIN_PERIODIC, terms, 2);
    assert_compiles(&s, &mover);
}

static void potentials_with_helpers_of_the_same_name_compile(void **state)
{
    (void)state;
    const plugmc_term terms[] = {LJ_TERM, CORE_TERM, LJ_TERM};
    for (int species = 1; species <= 3; species++) {
        plugmc_system s = make_system(2, species, PLUGMC_DOMAIN_PERIODIC, terms, 3);
        assert_compiles(&s, &mover);
    }
}

static void a_sphere_and_double_precision_compile(void **state)
{
    (void)state;
    const plugmc_term terms[] = {LJ_TERM, CORE_TERM};
    plugmc_system s = make_system(3, 2, PLUGMC_DOMAIN_SPHERE, terms, 2);
    assert_compiles(&s, &mover);
    assert_compiles(&s, &mover_in_double);
}

static void a_run_without_pair_terms_compiles(void **state)
{
    (void)state;
    plugmc_system s = make_system(3, 1, PLUGMC_DOMAIN_SPHERE, NULL, 0);
    assert_compiles(&s, &mover);
}

static void a_text_that_asks_for_no_fusion_gets_device_h_alone(void **state)
{
    (void)state;
    const plugmc_gpu_source plain = {
        sizeof plain,
        "plain.cu",
        "#ifdef PLUGMC_SPECIES\n#error fused\n#endif\n"
        "extern \"C\" __global__ void k(float *x, uint32_t *restrict n) {\n"
        "  plugmc_random w = plugmc_draw(plugmc_seed(), 2, 3, 4, PLUGMC_PURPOSE_TRIAL, 5);\n"
        "  float s, c; plugmc_sincos_turn(plugmc_uniform_float(w.word[0]), &s, &c);\n"
        "  x[0] = plugmc_exp(s * c); n[0] = plugmc_below(w.word[1], 7);\n"
        "  x[1] = (float)plugmc_uniform_double(w.word[2], w.word[3]); }\n",
        NULL,
        0,
        0};
    assert_compiles(NULL, &plain);
}

static void parameters_are_written_exactly(void **state)
{
    (void)state;
    lj_single odd = lj_of_single;
    lj_double odd_double = lj_of_double;
    odd.sigma = 0.1f;
    odd.cutoff = INFINITY;
    odd.slope = -0x1.234566p-140f; /* subnormal */
    odd.power = INT64_MIN;
    odd.mode = 0;
    odd_double.sigma = 0.1;
    odd_double.cutoff = -INFINITY;
    const plugmc_term terms[] = {{"odd", &lj_plugin, &odd_double, &lj_plugin_single, &odd, 1}};
    plugmc_system s = make_system(2, 1, PLUGMC_DOMAIN_PERIODIC, terms, 1);
    char *fused = fuse(&s, &mover), *in_double = fuse(&s, &mover_in_double);
    assert_says(fused, "p.sigma = (0x1.99999ap-4f);");
    assert_says(fused, "p.cutoff = __int_as_float(0x7f800000);");
    assert_says(fused, "p.power = (int64_t)9223372036854775808ULL;");
    assert_says(fused, "p.attractive = 1;");
    assert_says(fused, "p.mode = 0;");
    assert_null(strstr(fused, "p.note"));
    const char *slope = strstr(fused, "p.slope = (");
    assert_non_null(slope);
    assert_true(strtof(slope + strlen("p.slope = ("), NULL) == odd.slope);
    assert_says(in_double, "p.sigma = (0x1.999999999999ap-4);");
    assert_says(in_double, "p.cutoff = __longlong_as_double(0xfff0000000000000);");
    free(fused);
    free(in_double);
    assert_compiles(&s, &mover);
    assert_compiles(&s, &mover_in_double);
}

static void measured_terms_stay_out(void **state)
{
    (void)state;
    plugmc_term terms[] = {CORE_TERM, LJ_TERM};
    terms[1].sampled = 0;
    plugmc_system s = make_system(2, 1, PLUGMC_DOMAIN_PERIODIC, terms, 2);
    char *fused = fuse(&s, &mover);
    assert_null(strstr(fused, "epsilon"));
    assert_says(fused, "#define PLUGMC_ENERGY_TERMS 0\n#define PLUGMC_CONTACTS 1\n");
    free(fused);
    assert_compiles(&s, &mover);
}

static void an_error_in_a_potential_names_the_authors_file_and_line(void **state)
{
    (void)state;
    static const char broken[] = "#include <plugmc/potential.h>\n"
                                 "typedef struct parameters { real scale; } parameters;\n"
                                 "PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a,\n"
                                 "                            plugmc_site b)\n"
                                 "{ return p->scael; }\n"
                                 "#define PLUGMC_PAIR PLUGMC_PAIR_CONTACT\n"
                                 "#include <plugmc/pair.h>\n";
    plugmc_plugin plugin = core_plugin;
    plugin.source = broken;
    plugin.source_end = broken + sizeof broken - 1;
    plugin.source_name = "/home/author/my \"own\" core.c";
    const plugmc_term terms[] = {
        LJ_TERM, {"mine", &plugin, &core_of_double, &core_plugin_single, &core_of_single, 1, NULL}};
    plugmc_system s = make_system(2, 1, PLUGMC_DOMAIN_PERIODIC, terms, 2);
    char *said = message_of(&s, &mover);
    assert_true(strncmp(said, "/home/author/my \"own\" core.c:5: ", 32) == 0);
    assert_says(said, "scael");
    assert_says(said, "mover.cu");
    assert_says(said, ".failed.cu");

    /* the source that was kept can be read, and ends with the compiler's log */
    char *path = strrchr(said, ' ') + 1;
    path[strcspn(path, "\n")] = 0;
    FILE *kept = fopen(path, "r");
    assert_non_null(kept);
    static char text[1 << 16];
    text[fread(text, 1, sizeof text - 1, kept)] = 0;
    fclose(kept);
    assert_says(text, "plugmc_p1");
    assert_says(text, "what the compiler said");
    free(said);
}

static void an_error_in_a_mover_names_its_line(void **state)
{
    (void)state;
    const plugmc_term terms[] = {CORE_TERM};
    const plugmc_gpu_source kernel = {
        sizeof kernel, "wrong.cu", "\n\nextern \"C\" __global__ void k() { x = 1; }\n", NULL, 1, 0};
    plugmc_system s = make_system(2, 1, PLUGMC_DOMAIN_PERIODIC, terms, 1);
    char *said = message_of(&s, &kernel);
    assert_true(strncmp(said, "wrong.cu:3: ", 12) == 0);
    free(said);
}

static void a_potential_without_its_text_is_not_left_out(void **state)
{
    (void)state;
    plugmc_plugin plugin = core_plugin;
    plugin.source = plugin.source_end = NULL;
    const plugmc_term terms[] = {
        {"orphan", &plugin, &core_of_double, &core_plugin_single, &core_of_single, 1, NULL}};
    plugmc_system s = make_system(2, 1, PLUGMC_DOMAIN_PERIODIC, terms, 1);
    char *said = message_of(&s, &mover);
    assert_says(said, "[potential orphan] carries no GPU source");
    free(said);
}

static void fast_math_compiles_to_something_else(void **state)
{
    (void)state;
    const plugmc_gpu_source kernel = {
        sizeof kernel,
        "root.cu",
        "extern \"C\" __global__ void k(float *x) { x[0] = sqrtf(x[1]) / x[2]; }\n",
        NULL,
        0,
        0};
    char *fused = fuse(NULL, &kernel);
    void *cubin[2];
    size_t bytes[2];
    for (int fast = 0; fast < 2; fast++) {
        report r = {0};
        assert_int_equal(
            compile(compiler, fused, "root.cu", 90, fast, &cubin[fast], &bytes[fast], &r), 0);
    }
    assert_true(bytes[0] != bytes[1] || memcmp(cubin[0], cubin[1], bytes[0]) != 0);
    free(cubin[0]);
    free(cubin[1]);
    free(fused);
}

COMPILER_TEST_MAIN(cmocka_unit_test(one_hard_core_compiles_in_two_and_three_dimensions),
                   cmocka_unit_test(the_same_potential_twice_compiles_with_two_species),
                   cmocka_unit_test(potentials_with_helpers_of_the_same_name_compile),
                   cmocka_unit_test(a_sphere_and_double_precision_compile),
                   cmocka_unit_test(a_run_without_pair_terms_compiles),
                   cmocka_unit_test(a_text_that_asks_for_no_fusion_gets_device_h_alone),
                   cmocka_unit_test(parameters_are_written_exactly),
                   cmocka_unit_test(measured_terms_stay_out),
                   cmocka_unit_test(an_error_in_a_potential_names_the_authors_file_and_line),
                   cmocka_unit_test(an_error_in_a_mover_names_its_line),
                   cmocka_unit_test(a_potential_without_its_text_is_not_left_out),
                   cmocka_unit_test(fast_math_compiles_to_something_else))
