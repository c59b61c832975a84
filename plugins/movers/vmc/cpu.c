/* Walkers on the CPU: memory, positions, matrices made anew. */
#include "../../determinants/blas.h"
#include "../../determinants/spin_table.h"
#include "vmc.h"

#include <math.h>
#include <string.h>

/* ---- Matrices anew --------------------------------------------------------------------------- */

static int invert_spin(vmc *v, const plugmc_host *host, int32_t first, int32_t n, int spin,
                       int compare)
{
    const int64_t electrons = vmc_electrons(v, spin), begin = v->system->first[spin];
    const int64_t row = v->wave.numbers;
    for (int32_t k = 0; k < n; k++) {
        const vmc_walker *walker = &v->walkers[first + k];
        for (int64_t e = 0; e < electrons; e++) {
            double *point = v->cpu.points + 3 * (k * electrons + e);
            point[0] = walker->x[begin + e];
            point[1] = walker->y[begin + e];
            point[2] = walker->z[begin + e];
        }
    }
    int code = vmc_evaluate(v, host, spin, n * electrons, v->cpu.points, v->cpu.values);
#pragma omp parallel for schedule(dynamic) num_threads(v->cpu.threads) if (v->cpu.threads > 1)
    for (int32_t k = 0; k < (code ? 0 : n); k++) {
        vmc_walker *walker = &v->walkers[first + k];
        slater *s = &walker->spin[spin];
        const double *values = v->cpu.values + k * electrons * row;
        const double before = s->ln_square;
        double drift = 0;
        const int good =
            v->keeps & VMC_KEEPS_INVERSE || v->wave.sum
                ? slater_invert(s, values, v->keeps & VMC_KEEPS_INVERSE ? &drift : NULL)
                : slater_determinant(s, values, &s->ln_square);
        if (!good) walker->singular = 1 + spin;
        if (compare) vmc_note_drift(walker, drift);
        if (compare && !v->wave.sum)
            vmc_note_drift(walker, fabs(s->ln_square - before) / (1 + fabs(before)));
        if (v->cpu.now)
            memcpy(v->cpu.now + ((first + k) * v->system->particles + begin) * row, values,
                   (size_t)(electrons * row) * sizeof *values);
    }
    return code;
}

/* ln |Psi|^2 of an expansion, which both spins make together. */
static void settle_sum(vmc_walker *walker, double before, int compare)
{
    slater *spin = walker->spin;
    if (walker->singular) return;
    if (!slater_settle(spin)) walker->singular = 1 + (spin[0].n == 0);
    const double now = spin[0].ln_square + spin[1].ln_square;
    if (compare) vmc_note_drift(walker, fabs(now - before) / (1 + fabs(before)));
}

static int anew(vmc *v, const plugmc_host *host, int compare)
{
    int code = PLUGMC_OK;
    for (int32_t w = 0; w < v->system->walkers; w++) {
        v->walkers[w].drift = 0;
        v->walkers[w].singular = v->walkers[w].no_numbers = v->walkers[w].not_a_number = 0;
        v->walkers[w].ln_before = v->walkers[w].spin[0].ln_square + v->walkers[w].spin[1].ln_square;
    }
    for (int spin = 0; spin < VMC_SPINS; spin++)
        for (int32_t w = 0; w < v->system->walkers && vmc_electrons(v, spin) && !code;
             w += v->cpu.group) {
            const int32_t left = v->system->walkers - w;
            code =
                invert_spin(v, host, w, left < v->cpu.group ? left : v->cpu.group, spin, compare);
        }
#pragma omp parallel for schedule(dynamic) num_threads(v->cpu.threads) if (v->cpu.threads > 1)
    for (int32_t w = 0; w < (code ? 0 : v->system->walkers); w++) {
        vmc_walker *walker = &v->walkers[w];
        double energy;
        if (v->wave.sum) settle_sum(walker, walker->ln_before, compare);
        if (!vmc_parts_energy(v, walker->x, walker->y, walker->z, &energy)) energy = INFINITY;
        if (compare) vmc_note_drift(walker, fabs(energy - walker->parts) / (1 + fabs(energy)));
        walker->parts = energy;
    }
    return code;
}

/* ---- Positions ------------------------------------------------------------------------------- */

static int give(const vmc *v, const plugmc_host *host, double *positions)
{
    (void)host;
    for (int32_t w = 0; w < v->system->walkers; w++)
        for (int64_t i = 0; i < v->system->particles; i++, positions += 3) {
            positions[0] = v->walkers[w].x[i];
            positions[1] = v->walkers[w].y[i];
            positions[2] = v->walkers[w].z[i];
        }
    return PLUGMC_OK;
}

static int take(vmc *v, const plugmc_host *host, const double *positions)
{
    (void)host;
    for (int32_t w = 0; w < v->system->walkers; w++)
        for (int64_t i = 0; i < v->system->particles; i++, positions += 3) {
            double r[3];
            memcpy(r, positions, sizeof r);
            plugmc_wrap(&v->system->box, r);
            vmc_move(&v->walkers[w], i, r);
        }
    return PLUGMC_OK;
}

static size_t bytes_of_positions(const vmc *v)
{
    return 3 * (size_t)(v->system->particles * v->system->walkers) * sizeof(double);
}

static int keep_base(vmc *v, const plugmc_host *host) { return give(v, host, v->cpu.base); }

static int give_base(vmc *v, const plugmc_host *host, double *positions)
{
    (void)host;
    memcpy(positions, v->cpu.base, bytes_of_positions(v));
    return PLUGMC_OK;
}

static int take_base(vmc *v, const plugmc_host *host, const double *positions)
{
    (void)host;
    memcpy(v->cpu.base, positions, bytes_of_positions(v));
    return PLUGMC_OK;
}

static const double *lend(const vmc *v, int spin, int32_t w)
{
    return v->walkers[w].spin[spin].inverse;
}

/* They are where they are wanted. */
static int report(vmc *v, const plugmc_host *host)
{
    (void)host;
    for (int32_t w = 0; w < v->system->walkers; w++)
        for (int spin = 0; spin < VMC_SPINS; spin++)
            v->walkers[w].ln_square[spin] = v->walkers[w].spin[spin].ln_square;
    return PLUGMC_OK;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

/* Bytes of orbitals that are evaluated together: enough for all threads to work on. */
enum { GROUP_BYTES = 64 << 20 };

static int take_memory(vmc *v, const plugmc_host *host)
{
    const plugmc_system *system = v->system;
    plugmc_context *context = host->context;
    const size_t walkers = (size_t)system->walkers, particles = (size_t)system->particles,
                 row = (size_t)v->wave.numbers, most = (size_t)v->wave.most;
    const size_t fits = GROUP_BYTES / (most * row * sizeof(double));
    size_t bytes = 0;
    v->cpu.group = fits < 1 ? 1 : fits < walkers ? (int32_t)fits : system->walkers;
    const size_t together = (size_t)v->cpu.group * most,
                 points = together > walkers ? together : walkers;
    for (int spin = 0; spin < VMC_SPINS && !v->wave.sum; spin++)
        if (vmc_electrons(v, spin))
            bytes += slater_bytes(vmc_electrons(v, spin), v->wave.is_complex, v->delayed);
    if (v->wave.sum)
        bytes = spin_tables_bytes(v->wave.sum, v->wave.pitch, v->wave.is_complex, v->delayed);
    char *matrices = host->allocate(context, walkers * bytes);
    double *place = host->allocate(context, 6 * walkers * particles * sizeof *place);
    v->cpu.proposals = host->allocate(context, 3 * walkers * particles * sizeof *v->cpu.proposals);
    v->cpu.base = host->allocate(context, bytes_of_positions(v));
    v->cpu.points = host->allocate(context, 3 * points * sizeof *v->cpu.points);
    v->cpu.values = host->allocate(context, points * row * sizeof *v->cpu.values);
    int good =
        matrices && place && v->cpu.proposals && v->cpu.base && v->cpu.points && v->cpu.values;
    if (v->is_single)
        good &=
            (v->cpu.single = host->allocate(context, points * row * sizeof *v->cpu.single)) != NULL;
    if (v->keeps & VMC_KEEPS_VALUES) {
        v->cpu.now = host->allocate(context, walkers * particles * row * sizeof *v->cpu.now);
        v->cpu.taken = host->allocate(context, walkers * particles);
        good &= v->cpu.now && v->cpu.taken;
    }
    if (!good)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY,
                          "no memory for %zu walkers of %zu electrons", walkers, particles);
    for (size_t w = 0; w < walkers; w++, place += 6 * particles) {
        vmc_walker *walker = &v->walkers[w];
        walker->x = place;
        walker->y = place + particles;
        walker->z = place + 2 * particles;
        walker->new_x = place + 3 * particles;
        walker->new_y = place + 4 * particles;
        walker->new_z = place + 5 * particles;
        if (v->wave.sum)
            spin_tables_prepare(walker->spin, matrices + w * bytes, v->wave.sum, v->wave.pitch,
                                v->wave.is_complex, v->delayed);
        for (int spin = 0; spin < VMC_SPINS && !v->wave.sum; spin++) {
            const int64_t n = vmc_electrons(v, spin);
            if (n)
                slater_prepare(&walker->spin[spin], matrices, n, v->wave.pitch, v->wave.is_complex,
                               v->delayed);
            if (n) matrices += slater_bytes(n, v->wave.is_complex, v->delayed);
        }
    }
    return PLUGMC_OK;
}

static int prepare(vmc *v, const plugmc_host *host)
{
    const plugmc_system *system = v->system;
    v->cpu.threads = system->threads > 0 ? system->threads : 1;
    blas_begin_mover(host, v->wave.most);
    /* tables of an expansion take each move at once, so that there is nothing to gain from blocks */
    if (!v->delayed || (v->wave.sum && v->block == 0)) v->delayed = 1;
    int code = wave_function_terms(&v->wave, host);
    if (!code) code = wave_function_electrons(&v->wave, host);
    return code ? code : take_memory(v, host);
}

const vmc_engine vmc_on_cpu = {
    .prepare = prepare,
    .take = take,
    .give = give,
    .anew = anew,
    .keep_base = keep_base,
    .give_base = give_base,
    .take_base = take_base,
    .lend = lend,
    .report = report,
};
