/* Fused GPU source on the host: what lib/gpu/fuse.c writes around plugmc/fused.h is compiled by a C++ compiler, with the
 * few words of CUDA defined in front of it, and each function of fused.h is called. Needs neither NVRTC nor a GPU. */
#include "testing.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "fused_values.h"
#include "gpu/gpu.h"
#include "scratch.h"

static char folder[] = "/tmp/plugmc-test-XXXXXX";

static const char cuda[] =
    "#define __CUDACC_RTC__\n"
    "#define __device__\n"
    "#define __global__\n"
    "#define __forceinline__ inline __attribute__((unused))\n"
    "#define restrict __restrict__\n"
    "#define __fadd_rn(a, b) ((float)(a) + (float)(b))\n"
    "#define __dadd_rn(a, b) ((double)(a) + (double)(b))\n"
    "#define __umulhi(a, b) ((unsigned)(((unsigned long long)(a) * (b)) >> 32))\n"
    "#define __longlong_as_double(x) __builtin_bit_cast(double, (long long)(x))\n"
    "#define __int_as_float(x) __builtin_bit_cast(float, (int)(x))\n"
    "#define __float_as_int(x) __builtin_bit_cast(int, (float)(x))\n"
    "extern \"C\" { double sqrt(double), fma(double, double, double), floor(double), exp(double),\n"
    "    rsqrt(double), rint(double), fabs(double),\n"
    "    fmax(double, double);\n"
    "    float sqrtf(float), fmaf(float, float, float), floorf(float), rintf(float), fabsf(float); }\n";

/* Every function of fused.h that mover_text does not call. at: to (3), from (3); multipliers [PLUGMC_TERMS] */
static const char all_text[] =
    "extern \"C\" __global__ void all(const real *at, const double *multipliers, double *v)\n"
    "{\n"
    "    const plugmc_site a = plugmc_site_of_species(0), b = plugmc_site_of_species(1);\n"
    "    const plugmc_separation to = plugmc_separated(at[0], at[1], at[2]);\n"
    "    plugmc_sums s;\n"
    "    plugmc_sums_clear(&s);\n"
    "    plugmc_sums_add_energy(&s, to, a, b);\n"
    "    v[0] = plugmc_sums_weighted(&s, a, multipliers);\n"
    "    plugmc_double_sums d = {};\n"
    "    plugmc_sums_empty(&s, &d);\n"
    "    v[1] = plugmc_sums_total(&s, a);\n"
    "    v[2] = plugmc_double_sums_total(&d, a);\n"
    "    for (int t = 0; t < PLUGMC_TERMS; t++) v[3 + t] = 0;\n"
    "    plugmc_double_sums_by_term(&d, a, v + 3);\n"
    "    plugmc_position r = {at[0], at[1], at[2]};\n"
    "    int outside = 0;\n"
    "    v[7] = plugmc_fields_weighted(r, a, &outside, multipliers);\n"
    "    for (int t = 0; t < PLUGMC_TERMS; t++) v[8 + t] = 0;\n"
    "    plugmc_fields_by_term(r, a, &outside, v + 8);\n"
    "    v[12] = to.r2;\n"
    "    const plugmc_separation_at placed = plugmc_separate_at(at[0], at[1], at[2], to);\n"
    "    v[13] = placed.at.y + placed.r2;\n"
    "    real u, first, second, gradient[3], laplacian;\n"
    "    plugmc_pair_derivatives(to, a, b, &u, &first, &second);\n"
    "    v[14] = u, v[15] = first;\n"
    "    plugmc_pair_derivatives_weighted(to, a, b, multipliers, &u, &first, &second);\n"
    "    v[16] = u, v[17] = first;\n"
    "    plugmc_pair_derivatives_at(placed, a, b, gradient, &laplacian);\n"
    "    v[18] = gradient[0] + laplacian;\n"
    "    plugmc_fields_derivatives(r, a, gradient, &laplacian);\n"
    "    v[19] = gradient[2];\n"
    "    plugmc_fields_derivatives_weighted(r, a, multipliers, gradient, &laplacian);\n"
    "    v[20] = gradient[2];\n"
    "}\n";

/* The function `name` of what `kernel` is fused to, compiled for the host. */
static void *host_function(const plugmc_system *fused_system, const plugmc_gpu_source *kernel,
                           const char *name)
{
    static int number;
    char path[64], command[512];
    char *fused = fuse(fused_system, kernel);
    assert_non_null(fused);
    snprintf(path, sizeof path, "%s/%d", folder, number++);
    snprintf(command, sizeof command,
             "c++ -x c++ -std=c++17 -O1 -ffp-contract=off -shared -fPIC -I" TEST_INCLUDE
             " -o %s.so %s",
             path, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(cuda, file) >= 0 && fputs(fused, file) >= 0);
    assert_int_equal(fclose(file), 0);
    free(fused);
    assert_int_equal(system(command), 0);
    strcat(path, ".so");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail_msg("%s", dlerror());
    void *function = dlsym(library, name);
    assert_non_null(function);
    return function;
}

static void sums_over_potentials_are_the_hosts(void **state)
{
    (void)state;
    const plugmc_term terms[] = {LJ_TERM, CORE_TERM, LJ_TERM, SMALL_CORE_TERM};
    for (int in_double = 0; in_double < 2; in_double++)
        for (int species = 1; species <= 3; species++) {
            const plugmc_gpu_source mover = {sizeof mover,  "mover.cu", mover_text,
                                             mover_defines, 1,          in_double};
            plugmc_system s = make_system(3, species, PLUGMC_DOMAIN_PERIODIC, terms, 4);
            void *probe = host_function(&s, &mover, "probe");
            for (int pair = 0; pair < species * species; pair++) {
                const int a = pair / species, b = pair % species;
                float at[6], values[16];
                double v[16];
                for (int i = 0; i < 6; i++) at[i] = (float)fused_at[i];
                if (in_double)
                    ((void (*)(const double *, int, int, double *))probe)(fused_at, a, b, v);
                else
                    ((void (*)(const float *, int, int, float *))probe)(at, a, b, values);
                for (int i = 0; i < 16 && !in_double; i++) v[i] = (double)values[i];
                assert_fused_values(v, in_double, species, a, b);
            }
        }
}

static void every_function_of_fused_sources_gives_its_share(void **state)
{
    (void)state;
    const plugmc_term terms[] = {LJ_TERM, CORE_TERM, LJ_TERM, SMALL_CORE_TERM};
    const plugmc_gpu_source kernel = {sizeof kernel, "all.cu", all_text, NULL, 1, 1};
    const double multipliers[4] = {0.5, 7, 0, 7}, beyond[3] = {10.9, -1.1, 12.85};
    plugmc_system s = make_system(3, 2, PLUGMC_DOMAIN_PERIODIC, terms, 4);
    void (*all)(const double *, const double *, double *) =
        (void (*)(const double *, const double *, double *))host_function(&s, &kernel, "all");
    double v[21];
    all(beyond, multipliers, v);
    const double charge = three_species[0].charge;
    const double u = charge * three_species[1].charge * lj_energy(&lj_of_double, fused_to);
    const double field = 0.25 * 12.85, slope = charge * sqrt(fused_to);
    const double expected[21] = {
        0.5 * u,   0,         2 * u, u,         0, u,        0,
        field / 2, field,     0,     field,     0, fused_to, -1.1 + fused_to,
        2 * u,     2 * slope, u / 2, slope / 2, 0};
    for (int i = 0; i < 19; i++)
        if (!(fabs(v[i] - expected[i]) <= 1e-13 * (1 + fabs(expected[i]))))
            fail_msg("value %d is %.17g, not %.17g", i, v[i], expected[i]);
    /* the potential has no derivative of its field */
    assert_true(v[19] == 0 && v[20] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_over_potentials_are_the_hosts),
        cmocka_unit_test(every_function_of_fused_sources_gives_its_share),
    };
    if (!mkdtemp(folder)) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL) != 0;
    remove_folder(folder);
    return failed;
}
