/* Molten sodium chloride, twice: hybrid Monte Carlo with particle-mesh Ewald, single moves with the
 * plain Ewald sum. Energies and pressures agree. Of 64 ions, at 3000 K, where the crystal that both
 * begin with is gone at once. Fixed seeds; 4 standard errors raise a false alarm in 1 of 16,000
 * cases. */
#include "own_state.h"
#include "testing.h"

#include "movers.h"
#include "forces.h"
#include "base/report.h"
#include "engine/services.h"

enum { IONS = 64, BLOCKS = 20 };

typedef struct blocks {
    double mean[2], error[2]; /* energy in kT an ion, pressure in kT/Angstrom^3 */
} blocks;

/* Rock salt, 4 sites an edge. */
static void place_salt(const bench *b, double *r)
{
    int next[2] = {0, IONS / 2};
    for (int site = 0; site < IONS; site++) {
        const int at[3] = {site % 4, site / 4 % 4, site / 16};
        const int i = next[(at[0] + at[1] + at[2]) % 2]++;
        for (int d = 0; d < 3; d++) r[3 * i + d] = b->system.box.length[d] * (at[d] + 0.5) / 4;
    }
}

static blocks sample(const char *charges, const char *charge_settings, const char *mover_name,
                     const char *settings, int skip, int sweeps, int every)
{
    static report messages;
    static plugmc_context context;
    static const double masses[2] = {22.99, 35.453};
    bench b;
    double r[3 * IONS], sums[2] = {0}, squares[2] = {0};
    bench_begin(&b, 3, (double[3]){1, 1, 1}, 1, 3000);
    bench_cube(&b, 12.63);
    bench_species(&b, "Na", IONS / 2, 0, 1);
    bench_species(&b, "Cl", IONS / 2, 0, -1);
    bench_masses(&b, masses);
    bench_expect(&b,
                 bench_configured(&b, "born_mayer",
                                  "a=1.02005,0.816039,0.612029 b=3.1546 sigma=2.34,2.755,3.17 "
                                  "c=4.05607,27.0404,280.061 d=1.93146,33.5591,562.536 cutoff=6.3 "
                                  "truncation=shift"));
    bench_expect(&b, bench_configured(&b, charges, charge_settings));
    test_mover mover = {.plugin = open_plugin(mover_name)};
    mover.calls = mover.plugin->mover;
    mover.instance = bench_allocate(b.host.context, mover.plugin->instance_size);
    set_all(&b, mover.plugin, mover.instance, settings);
    context = (plugmc_context){.report = &messages, .file = "test", .section = "test"};
    b.host = context_host(&context, &b.system);
    own_state(&context, &b.host); /* with cells, which the mesh may ask for */
    bench_expect(&b, bench_prepare(&b));
    bench_expect(&b, mover_prepare(&b, &mover));
    place_salt(&b, r);
    mover_load(&b, &mover, r);
    mover_sweep(&b, &mover, 0, (uint64_t)skip);
    const int samples = sweeps / every / BLOCKS;
    uint64_t at = (uint64_t)skip;
    for (int block = 0; block < BLOCKS; block++) {
        double sum[2] = {0};
        for (int s = 0; s < samples; s++, at += (uint64_t)every) {
            double virial[3] = {0};
            mover_sweep(&b, &mover, at, (uint64_t)every);
            mover_store(&b, &mover, r);
            sum[0] += bench_energy(&b, r, NULL, virial) / IONS / samples;
            sum[1] +=
                (IONS + (virial[0] + virial[1] + virial[2]) / 3) / b.system.box.volume / samples;
        }
        for (int q = 0; q < 2; q++) {
            sums[q] += sum[q] / BLOCKS;
            squares[q] += sum[q] * sum[q] / BLOCKS;
        }
    }
    blocks out;
    for (int q = 0; q < 2; q++) {
        out.mean[q] = sums[q];
        out.error[q] = sqrt((squares[q] - sums[q] * sums[q]) / (BLOCKS - 1));
    }
    plugmc_counts counts;
    bench_expect(&b, mover_counts(&mover, &b.host, &counts, 0));
    printf("%s, %s: energy %.4f(%.0f) kT an ion, pressure %.5f(%.0f) kT/A^3, acceptance %.2f\n",
           mover_name, charges, out.mean[0], 1e4 * out.error[0], out.mean[1], 1e5 * out.error[1],
           (double)counts.accepted / (double)counts.trials);
    for (int t = 0; t < b.system.term_count; t++)
        if (b.terms[t].plugin->release) b.terms[t].plugin->release(b.terms[t].instance);
    context_release(&context);
    bench_end(&b);
    return out;
}

static void energies_and_pressures_agree(void **state)
{
    (void)state;
    const blocks all = sample("coulomb_spme", "bjerrum_length=55.70 cutoff=6.3 tolerance=1e-5",
                              "hmc", "time_step=0.3 steps=8", 100, 1600, 2),
                 one = sample("coulomb_ewald", "bjerrum_length=55.70 cutoff=6.3 tolerance=1e-5",
                              "serial", "step=0.7", 1000, 20000, 20);
    for (int q = 0; q < 2; q++)
        assert_z(q ? "pressure" : "energy", all.mean[q], hypot(all.error[q], one.error[q]),
                 one.mean[q], 4);
}

TEST_MAIN(cmocka_unit_test(energies_and_pressures_agree))
