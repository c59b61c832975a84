/* Energies that are not numbers on a GPU: every mover ends the run with code 9, and the message names
 * the potential, and the particles where the state shows them. The program is run from outside;
 * test_hole and test_edge are NaN for near pairs and beyond a plane. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "on_gpu.h"

typedef struct attempt {
    const char *mover, *keys; /* of the mover's section */
    int dimension;
    int64_t count; /* a density of 1 */
    double cutoff;
    int field;         /* 1: the field has no number, and not the pairs */
    const char *said;  /* a part of what is said */
} attempt;

static void write_input(const char *path, const attempt *a)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out,
            "[run]\nsweeps = 2000\nseed = 1\ndevice = gpu\n[box]\ndimension = %d\nlx = 8\n"
            "[species point]\ncount = %lld\n[initial]\nstate = lattice\n"
            "[potential test_hole]\nplugin = %s/test_hole.so\nstrength = 0.1\ncutoff = %g\nhole = %g\n",
            a->dimension, (long long)a->count, TEST_OWN_PLUGINS, a->cutoff, a->field ? 0.0 : 0.5);
    if (a->field)
        fprintf(out, "[potential test_edge]\nplugin = %s/test_edge.so\nedge = 7.9\n",
                TEST_OWN_PLUGINS);
    fprintf(out, "[mover %s]\n%s\n", a->mover, a->keys);
    fclose(out);
}

/* Standard error of the program, to be freed; *code is its exit code. */
static char *run_program(const char *input, int *code)
{
    char command[1024], *text = NULL;
    size_t size = 0;
    snprintf(command, sizeof command, "'%s' run '%s' 2>&1 >/dev/null", TEST_PROGRAM, input);
    FILE *in = popen(command, "r"), *out = open_memstream(&text, &size);
    assert_non_null(in);
    assert_non_null(out);
    for (int c; (c = fgetc(in)) != EOF;) fputc(c, out);
    fclose(out);
    const int status = pclose(in);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return text;
}

static void expect(const attempt *a)
{
    char folder[] = "/tmp/plugmc-test-XXXXXX", input[64], command[128];
    int code;
    assert_non_null(mkdtemp(folder));
    snprintf(input, sizeof input, "%s/sim.ini", folder);
    write_input(input, a);
    char *said = run_program(input, &code);
    printf("%s: %s", a->mover, said);
    assert_int_equal(code, 9);
    assert_non_null(strstr(said, a->said));
    assert_non_null(strstr(said, "is not a number"));
    assert_non_null(strstr(said, "in sweep "));
    free(said);
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

#define HOLE "[potential test_hole] the "
#define EDGE "[potential test_edge] the "

static void a_thread_a_cell(void **state)
{
    (void)state;
    expect(&(attempt){"checkerboard", "step = 0.4", 2, 64, 1, 0, HOLE});
}

static void a_warp_a_cell(void **state)
{
    (void)state;
    expect(&(attempt){"checkerboard", "step = 0.5", 3, 512, 2, 0, HOLE});
}

static void trajectories(void **state)
{
    (void)state;
    expect(&(attempt){"hmc", "time_step = 0.05", 3, 64, 1, 0, HOLE});
    expect(&(attempt){"hmc", "time_step = 0.05\nprecision = double", 3, 64, 1, 0, HOLE});
    expect(&(attempt){"hmc", "time_step = 0.05", 3, 64, 1, 1, EDGE});
}

static void batches(void **state)
{
    (void)state;
    expect(&(attempt){"ewald_serial", "step = 0.5", 3, 64, 1, 0, HOLE});
}

/* These reject the move, so that the state has numbers: the mover and the sweep are named. */
static void sequential_sweeps(void **state)
{
    (void)state;
    expect(&(attempt){"brush", "step = 0.5", 3, 64, 1, 0, "[mover brush]"});
    expect(&(attempt){"parallel_reduction", "step = 0.5", 3, 64, 1, 0, "[mover parallel_reduction]"});
}

GPU_TEST_MAIN(cmocka_unit_test(a_thread_a_cell), cmocka_unit_test(a_warp_a_cell),
              cmocka_unit_test(trajectories), cmocka_unit_test(batches),
              cmocka_unit_test(sequential_sweeps))
