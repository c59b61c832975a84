/* configuration: all electrons of a walker move at once, and are accepted or rejected together.
 *
 * The simultaneous updating of W. L. McMillan, Phys. Rev. 138, A442 (1965). One decision a sweep
 * and walker, with the acceptance number of electron 0: U < |Psi(R')|^2 / |Psi(R)|^2. Exact, but
 * steps have to shrink as 1/sqrt(N), so that it pays only for few electrons. Trial moves are
 * counted as one a sweep.
 */
#include "vmc.h"

#include <math.h>
#include <string.h>

/* ln |det|^2 of the walkers' proposals is left in proposed [n]. */
static int determinants(vmc *v, const plugmc_host *host, int32_t first, int32_t n, int spin,
                        uint64_t sweep)
{
    const int64_t size = vmc_electrons(v, spin) * v->wave.numbers;
    vmc_propose_all(v, first, n, spin, sweep);
    int code = vmc_evaluate_proposals(v, host, first, n, spin);
#pragma omp parallel for schedule(dynamic) num_threads(v->cpu.threads) if (v->cpu.threads > 1)
    for (int32_t k = 0; k < (code ? 0 : n); k++) {
        slater *s = &v->walkers[first + k].spin[spin];
        double ln_square = 0;
        /* of an expansion, once both spins are there */
        const int good = s->sum ? slater_invert(s, v->cpu.values + k * size, NULL)
                                : slater_determinant(s, v->cpu.values + k * size, &ln_square);
        s->ln_proposed = good || isnan(ln_square) ? ln_square : -INFINITY;
    }
    return code;
}

/* ln |Psi|^2 of an expansion at the proposals; what there is of the configuration as it is are these numbers alone. */
static void settle_proposal(slater spin[VMC_SPINS])
{
    const double now[VMC_SPINS] = {spin[0].ln_square, spin[1].ln_square};
    const int possible =
        spin[0].ln_proposed > -INFINITY && spin[1].ln_proposed > -INFINITY && slater_settle(spin);
    for (int k = 0; k < VMC_SPINS; k++) {
        spin[k].ln_proposed = possible ? spin[k].ln_square : -INFINITY;
        spin[k].ln_square = now[k];
    }
}

static void decide(const vmc *v, vmc_walker *walker, uint64_t sweep)
{
    const double *to = v->cpu.proposals + 3 * walker->index * v->system->particles;
    double parts, ln_ratio = 0;
    if (walker->not_a_number) return;
    walker->trials++;
    for (int64_t e = 0; e < v->system->particles; e++) {
        walker->new_x[e] = to[3 * e];
        walker->new_y[e] = to[3 * e + 1];
        walker->new_z[e] = to[3 * e + 2];
    }
    if (!vmc_parts_energy(v, walker->new_x, walker->new_y, walker->new_z, &parts)) return;
    if (v->wave.sum) settle_proposal(walker->spin);
    for (int spin = 0; spin < v->system->species_count; spin++)
        if (vmc_electrons(v, spin))
            ln_ratio += walker->spin[spin].ln_proposed - walker->spin[spin].ln_square;
    if (!vmc_accepts(v, walker, sweep, 0, 1, parts - walker->parts - ln_ratio)) return;
    for (int64_t e = 0; e < v->system->particles; e++) vmc_move(walker, e, to + 3 * e);
    for (int spin = 0; spin < v->system->species_count; spin++)
        walker->spin[spin].ln_square = walker->spin[spin].ln_proposed;
    walker->parts = parts;
    walker->accepted++;
}

static int on_cpu(vmc *v, const plugmc_host *host, uint64_t sweep)
{
    int code = PLUGMC_OK;
    for (int32_t w = 0; w < v->system->walkers && !code; w += v->cpu.group) {
        const int32_t left = v->system->walkers - w, n = left < v->cpu.group ? left : v->cpu.group;
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        for (int spin = 0; spin < v->system->species_count && !code; spin++)
            if (vmc_electrons(v, spin)) code = determinants(v, host, w, n, spin, sweep);
#pragma omp parallel for schedule(dynamic) num_threads(v->cpu.threads) if (v->cpu.threads > 1)
        for (int32_t k = w; k < (code ? w : w + n); k++) decide(v, &v->walkers[k], sweep);
    }
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    return vmc_prepare(instance, host, 0, on_cpu, vmc_gpu_configuration);
}

const char vmc_text_name[] = "configuration.cu";
const char vmc_good_for[] = "few electrons, since the step decreases with their number";

static const plugmc_parameter table[] = {VMC_PARAMETERS};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "configuration",
              .summary = "variational Monte Carlo, all electrons of a walker moved at once",
              .reference = "McMillan, Phys. Rev. 138, A442 (1965)", PLUGMC_KEYS(vmc, table),
              VMC_OFFERS, .mover = &vmc_callbacks, .prepare = prepare, .gpu_source = vmc_gpu_source,
              .archive = vmc_archive, .release = vmc_release)
