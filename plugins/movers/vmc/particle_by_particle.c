/* particle_by_particle: one electron moves and is accepted or not, then the next one.
 *
 * The sequential updating of D. Ceperley, G. V. Chester, M. H. Kalos, Phys. Rev. B 16, 3081 (1977).
 * All walkers move their electron e together, so that the orbitals at W places are evaluated in one
 * call. The numbers drawn and what is kept of the determinants: vmc.h and slater.h. The mover to
 * compare others with; quasi_simultaneous takes the same decisions with fewer calls.
 */
#include "vmc.h"

static int try_electron(vmc *v, const plugmc_host *host, int spin, uint64_t sweep, int64_t e)
{
    const int64_t row = v->wave.numbers;
    const int32_t walkers = v->system->walkers;
    for (int32_t w = 0; w < walkers; w++)
        vmc_propose(v, &v->walkers[w], sweep, e, v->cpu.points + 3 * w);
    int code = vmc_evaluate(v, host, spin, walkers, v->cpu.points, v->cpu.values);
    if (code) return code;
#pragma omp parallel for schedule(static) num_threads(v->cpu.threads) if (v->cpu.threads > 1)
    for (int32_t w = 0; w < walkers; w++)
        vmc_try(v, &v->walkers[w], spin, sweep, e, v->cpu.points + 3 * w, v->cpu.values + w * row);
    return PLUGMC_OK;
}

static int on_cpu(vmc *v, const plugmc_host *host, uint64_t sweep)
{
    int code = PLUGMC_OK;
    for (int spin = 0; spin < v->system->species_count; spin++) {
        const int64_t n = vmc_electrons(v, spin), begin = v->system->first[spin];
        for (int64_t first = 0; first < n && !code; first += v->delayed) {
            if (host->stopping(host->context)) return PLUGMC_STOPPED;
            const int64_t size = n - first < v->delayed ? n - first : v->delayed;
            for (int32_t w = 0; w < v->system->walkers; w++)
                slater_begin(&v->walkers[w].spin[spin], first, size);
            for (int64_t e = first; e < first + size && !code; e++)
                code = try_electron(v, host, spin, sweep, begin + e);
#pragma omp parallel for schedule(static) num_threads(v->cpu.threads) if (v->cpu.threads > 1)
            for (int32_t w = 0; w < v->system->walkers; w++) slater_end(&v->walkers[w].spin[spin]);
        }
    }
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    vmc_choose_block(instance, host);
    return vmc_prepare(instance, host, VMC_KEEPS_INVERSE, on_cpu, vmc_gpu_particle_by_particle);
}

const char vmc_text_name[] = "particle_by_particle.cu";
const char vmc_good_for[] = "comparisons: quasi_simultaneous makes the same chain faster on a GPU";

static const plugmc_parameter table[] = {VMC_PARAMETERS, VMC_BLOCK};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "particle_by_particle",
              .summary = "variational Monte Carlo, one electron after the other",
              .reference = "Ceperley, Chester, Kalos, Phys. Rev. B 16, 3081 (1977)",
              PLUGMC_KEYS(vmc, table), VMC_OFFERS, .mover = &vmc_callbacks, .prepare = prepare,
              .gpu_source = vmc_gpu_source, .archive = vmc_archive, .release = vmc_release)
