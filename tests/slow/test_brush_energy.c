/* The running energy of brush on a GPU, in double precision, after 10,000 sweeps of 8,192 ions with
 * moves of a third of the sphere: it is a fresh sum to a relative 1e-9. Fixed seed. */
#include "testing.h"

#include "movers.h"
#include "forces.h"
#include "brush.h"
#include "brush_gpu.h"

enum { SWEEPS = 10000 };

/* That of bench/brush.ini. */
static const electrolyte salt = {
    .name = "3:-1 electrolyte",
    .dimension = 3,
    .radius = 753.09,
    .species = {{2048, 7.5, 3}, {6144, 7.5, -1}},
    .potential = {{"hard_disk", ""}, {"coulomb", "bjerrum_length=7.117"}},
    .step = 251.03};

static void the_running_energy_is_a_fresh_sum_after_many_sweeps(void **state)
{
    (void)state;
    static place gpu;
    double running, before;
    start_electrolyte(&gpu, &salt, 1, "brush", "double", salt.step);
    double *x = random_places(&gpu.b);
    mover_load(&gpu.b, &gpu.mover, x);
    energy_of(&gpu, &before);
    mover_sweep(&gpu.b, &gpu.mover, 0, SWEEPS);
    energy_of(&gpu, &running);
    fetch(&gpu, x);
    const plugmc_counts counts = counts_of(&gpu);
    const double fresh = energy_of_places(&gpu.b, x);
    printf("%d sweeps of %lld ions, %.3f accepted: %.12g kT at first, now %.12g, a fresh sum %+.1e "
           "more, relative %.1e\n",
           SWEEPS, (long long)gpu.b.system.particles,
           (double)counts.accepted / (double)counts.trials, before, running, fresh - running,
           fabs(fresh / running - 1));
    assert_int_equal(counts.trials, SWEEPS * gpu.b.system.particles);
    assert_true(counts.accepted > counts.trials / 10);
    assert_close(running, fresh, 1e-9, 0);
    free(x);
    finish(&gpu);
}

GPU_TEST_MAIN(cmocka_unit_test(the_running_energy_is_a_fresh_sum_after_many_sweeps))
