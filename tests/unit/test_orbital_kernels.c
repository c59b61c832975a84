/* The GPU sources of potentials with orbitals, compiled for GPUs old and new. Needs NVRTC, but no
 * GPU; skipped without NVRTC. */
#include "testing.h"

#include "orbitals.h"

#include "orbital_files.h"

#include "compiling.h"

/* Every text of an opened potential, for some architectures. */
static void compile_texts(orbital_bench *b, const char *name, int texts)
{
    static const int architectures[] = {75, 80, 90, 100, 120};
    int found = 0;
    plugmc_gpu_source text = {.size = sizeof text};
    for (; b->plugin->gpu_source(b->instance, &b->host, found, &text); found++)
        for (int i = 0; i < 5; i++) {
            void *cubin = NULL;
            size_t bytes = 0;
            char *fused = fuse(&b->system, &text);
            assert_non_null(fused);
            /* both texts for the GPU at hand, the others by turns: each takes half a second */
            if (architectures[i] == 90 || (i + found) % 2)
                assert_int_equal(compile(compiler, fused, text.name, architectures[i],
                                         arithmetic_of(&text, false), &cubin, &bytes, &b->report),
                                 0);
            free(cubin);
            free(fused);
        }
    if (found != texts) fail_msg("%s has %d texts instead of %d", name, found, texts);
    bench_free(b);
}

static void kernels_of_splines_compile(void **state)
{
    (void)state;
    static const int grid[3] = {6, 5, 8};
    char path[256], settings[512];
    snprintf(path, sizeof path, "%s/made.data", folder);
    for (int real = 0; real < 2; real++) {
        made_file m = made_random(grid, real, 1, 1, NULL, 2, 4, 1);
        made_write(&m, path, 0);
        snprintf(settings, sizeof settings, "file = %s\nprecision = %s", path,
                 real ? "double" : "float");
        orbital_bench *b = bench_new((const double(*)[3])m.lattice, 2, 2, 1, NULL);
        bench_open(b, "bspline_orbitals", settings);
        compile_texts(b, "bspline_orbitals", 2);
        made_free(&m);
    }
}

static void kernels_of_plane_waves_compile(void **state)
{
    (void)state;
    const double a[3][3] = {{5, 0.4, 0}, {-0.7, 6, 0.3}, {0.2, 0.5, 7}};
    orbital_bench *b = bench_new(a, 7, 7, 1, NULL);
    bench_open(b, "plane_waves", "");
    compile_texts(b, "plane_waves", 2);
}

static void kernels_of_slater_functions_compile(void **state)
{
    (void)state;
    orbital_bench *b = bench_new(NULL, 1, 1, 1, NULL);
    bench_open(b, "slater_orbitals", "nuclei = 0 0 0 2\nzeta = 1.6875 2\nl = 0 1");
    compile_texts(b, "slater_orbitals", 2);
}

/* The same text for molecules and solids. */
static void kernels_of_gaussians_compile(void **state)
{
    (void)state;
    orbital_bench *b = bench_new(NULL, 5, 5, 1, NULL);
    bench_open(b, "gaussian_orbitals", "file = " TEST_DATA "/lcao/water.h5");
    compile_texts(b, "gaussian_orbitals", 2);
}

COMPILER_TEST_MAIN(cmocka_unit_test(kernels_of_splines_compile),
                   cmocka_unit_test(kernels_of_plane_waves_compile),
                   cmocka_unit_test(kernels_of_slater_functions_compile),
                   cmocka_unit_test(kernels_of_gaussians_compile))
