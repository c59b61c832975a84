/* quasi_simultaneous: the proposals of all electrons are drawn first and the orbitals at all of
 * them evaluated in one call, which is where a GPU gains; then electrons are accepted or rejected.
 *
 * Y. Uejima, R. Maezono, J. Comput. Chem. 34, 83 (2013), section IV.A.
 *
 * acceptance = sequential (default): one electron after the other, each against the configuration
 * that those before it have left. Orbitals at r'_e depend on r'_e alone and proposals on no other
 * electron, so this is particle_by_particle with its evaluations made in advance: the same
 * decisions, exact.
 *
 * acceptance = simultaneous, equation (11) of the paper: all electrons against the old
 * configuration, p(r_1, ..., r'_e, ..., r_N) / p(r_1, ..., r_e, ..., r_N). This does not leave
 * |Psi|^2 unchanged: two electrons that may each go to the same place both do. It is BIASED, by
 * more for larger steps, and is here to reproduce what has been published.
 */
#include "vmc.h"

#include <string.h>

typedef void decide(const vmc *, vmc_walker *, int spin, uint64_t sweep, const double *values);

/* Decides about all electrons of walkers first ... first + n - 1, spin by spin, with the orbitals
 * [electrons][row] at all places proposed. */
static int decide_spins(vmc *v, const plugmc_host *host, int32_t first, int32_t n, uint64_t sweep,
                        decide *about)
{
    int code = PLUGMC_OK;
    for (int spin = 0; spin < v->system->species_count && !code; spin++) {
        const int64_t size = vmc_electrons(v, spin) * v->wave.numbers;
        if (!size) continue;
        vmc_propose_all(v, first, n, spin, sweep);
        code = vmc_evaluate_proposals(v, host, first, n, spin);
#pragma omp parallel for schedule(dynamic) num_threads(v->cpu.threads) if (v->cpu.threads > 1)
        for (int32_t k = 0; k < (code ? 0 : n); k++)
            about(v, &v->walkers[first + k], spin, sweep, v->cpu.values + k * size);
    }
    return code;
}

/* ---- Accepted one after the other ------------------------------------------------------------ */

static void chain(const vmc *v, vmc_walker *walker, int spin, uint64_t sweep, const double *values)
{
    const int64_t n = vmc_electrons(v, spin), begin = v->system->first[spin];
    const int64_t row = v->wave.numbers;
    const double *to = v->cpu.proposals + 3 * (walker->index * v->system->particles + begin);
    for (int64_t first = 0; first < n; first += v->delayed) {
        const int64_t size = n - first < v->delayed ? n - first : v->delayed;
        slater_begin(&walker->spin[spin], first, size);
        for (int64_t e = first; e < first + size; e++)
            vmc_try(v, walker, spin, sweep, begin + e, to + 3 * e, values + e * row);
        slater_end(&walker->spin[spin]);
    }
}

/* ---- All against the old configuration ------------------------------------------------------- */

/* Positions and matrices stay; what is accepted is only noted, with its orbitals. */
static void judge(const vmc *v, vmc_walker *walker, int spin, uint64_t sweep, const double *values)
{
    const int64_t row = v->wave.numbers, particles = v->system->particles;
    for (int64_t e = v->system->first[spin]; e < v->system->first[spin + 1]; e++, values += row) {
        const int64_t at = walker->index * particles + e, own = e - v->system->first[spin];
        double change = 0;
        walker->trials++;
        v->cpu.taken[at] = 0;
        if (walker->not_a_number) continue;
        if (!vmc_parts_change(v, walker, e, v->cpu.proposals + 3 * at, &change)) continue;
        const double complex q = slater_product(&walker->spin[spin], own, values);
        if (!vmc_accepts(v, walker, sweep, e, creal(q) * creal(q) + cimag(q) * cimag(q), change))
            continue;
        v->cpu.taken[at] = 1;
        memcpy(v->cpu.now + at * row, values, (size_t)row * sizeof *values);
        walker->accepted++;
    }
}

static void move_those_taken(const vmc *v, vmc_walker *walker)
{
    const int64_t particles = v->system->particles, base = walker->index * particles;
    const double *to = v->cpu.proposals + 3 * base;
    /* a move that is lost was judged with all others where they were */
    if (walker->not_a_number) {
        vmc_move(walker, walker->electron, to + 3 * walker->electron);
        return;
    }
    for (int64_t e = 0; e < particles; e++)
        if (v->cpu.taken[base + e]) vmc_move(walker, e, to + 3 * e);
    for (int spin = 0; spin < v->system->species_count; spin++) {
        const double *now = v->cpu.now + (base + v->system->first[spin]) * v->wave.numbers;
        if (vmc_electrons(v, spin) && !slater_invert(&walker->spin[spin], now, NULL))
            walker->singular = 1 + spin;
    }
    if (!walker->singular && !slater_settle(walker->spin)) walker->singular = 1;
    if (!vmc_parts_energy(v, walker->x, walker->y, walker->z, &walker->parts))
        walker->parts = INFINITY; /* two that have moved overlap */
}

static int simultaneous(vmc *v, const plugmc_host *host, int32_t first, int32_t n, uint64_t sweep)
{
    const int code = decide_spins(v, host, first, n, sweep, judge);
#pragma omp parallel for schedule(dynamic) num_threads(v->cpu.threads) if (v->cpu.threads > 1)
    for (int32_t k = 0; k < (code ? 0 : n); k++) move_those_taken(v, &v->walkers[first + k]);
    return code;
}

/* ---- The mover ------------------------------------------------------------------------------- */

static int on_cpu(vmc *v, const plugmc_host *host, uint64_t sweep)
{
    int code = PLUGMC_OK;
    for (int32_t w = 0; w < v->system->walkers && !code; w += v->cpu.group) {
        const int32_t left = v->system->walkers - w, n = left < v->cpu.group ? left : v->cpu.group;
        if (host->stopping(host->context)) return PLUGMC_STOPPED;
        code = v->acceptance == VMC_SEQUENTIAL ? decide_spins(v, host, w, n, sweep, chain)
                                               : simultaneous(v, host, w, n, sweep);
    }
    return code;
}

static int prepare(void *instance, const plugmc_host *host)
{
    vmc *v = instance;
    vmc_choose_block(v, host);
    if (v->acceptance == VMC_SEQUENTIAL)
        return vmc_prepare(v, host, VMC_KEEPS_INVERSE, on_cpu, vmc_gpu_quasi_simultaneous);
    host->warn(host->context,
               "acceptance = simultaneous does not sample |Psi|^2: energies have a bias that "
               "grows with the step");
    return vmc_prepare(v, host, VMC_KEEPS_INVERSE | VMC_KEEPS_VALUES, on_cpu, vmc_gpu_simultaneous);
}

const char vmc_text_name[] = "quasi_simultaneous.cu";
const char vmc_good_for[] = "electrons in general, and many of them on a GPU";

static const plugmc_parameter table[] = {
    VMC_PARAMETERS,
    VMC_BLOCK,
    PLUGMC_INTEGER_KEY(
        vmc, gather, "0", 0, 64, "",
        "on a GPU: number of blocks whose changes are gathered before the inverse matrices "
        "are updated; 0: 1, or 192 electrons if a spin has 256 or more"),
    PLUGMC_CHOICE_KEY(vmc, acceptance, "sequential", "sequential|simultaneous",
                      "sequential: one electron after the other, which is exact; "
                      "simultaneous: all compared with the old configuration, which is biased"),
};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "quasi_simultaneous",
              .summary = "variational Monte Carlo, the orbitals at all proposals evaluated at once",
              .reference = "Uejima, Maezono, J. Comput. Chem. 34, 83 (2013)",
              PLUGMC_KEYS(vmc, table), VMC_OFFERS, .mover = &vmc_callbacks, .prepare = prepare,
              .gpu_source = vmc_gpu_source, .archive = vmc_archive, .release = vmc_release)
