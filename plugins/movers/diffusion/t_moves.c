/* T-moves: a nonlocal potential moves electrons.
 *
 * The part of -tau V(r', r) Psi(r') / Psi(r) that is positive is a probability to go from r to r', and leaves an
 * upper bound of the energy (M. Casula, Phys. Rev. B 74, 161102 (2006)). It is used electron by electron: each chooses
 * by a heat bath between staying, with weight 1, and the places of its quadratures, as Psi is after those before it
 * have moved. So in a large system as many move as in its parts: the first of the size-consistent versions of M.
 * Casula, S. Moroni, S. Sorella, C. Filippi, J. Chem. Phys. 132, 154113 (2010).
 *
 * ONE_T_MOVE is the algorithm of 2006: one heat bath for the places of all electrons of a walker, of which one moves at most.
 * In a larger system a smaller part of the electrons does.
 *
 * NEAR_T_MOVES leaves the ratios of an electron as they were before anybody of the walker moved, unless one that moved has
 * quadratures at an ion where it has some, too: less work in large systems. (QMCPACK calls it v3; there ions count that the
 * electron has come near to, as well.)
 *
 * Few move. So the ratios that local energies are made of anyway serve until somebody of the walker has moved, and
 * only those of the electrons behind it are found again. */
#include "diffusion.h"

#include <stdlib.h>
#include <string.h>

/* Places of a walker, and those whose electrons have not chosen yet. */
typedef struct turn {
    int64_t first, next, end;
} turn;

/* The place of the first electron that leaves, or -1 when all have chosen. Those of all electrons are chosen from at once
 * if only one may move. */
static int64_t choose(const diffusion *d, walker *w, uint64_t sweep,
                      const plugmc_nonlocal_point *places, const double *energy, turn *t)
{
    while (t->next < t->end) {
        const int64_t first = t->next;
        const int32_t e = places[first].electron;
        int64_t end = first;
        double all = 1;
        const int at_once = d->set.nonlocal == ONE_T_MOVE;
        for (; end < t->end && (at_once || places[end].electron == e); end++)
            all += fmax(0, -d->set.tau * energy[end]);
        const plugmc_random u =
            plugmc_draw(d->seed, sweep, (uint32_t)w->index, (uint32_t)e, PLUGMC_PURPOSE_ACCEPT, 1);
        double left = all * plugmc_uniform_double(u.word[0], u.word[1]) - 1;
        t->next = end;
        w->counts[T_MOVE].trials++;
        for (int64_t k = first; k < end && left >= 0; k++) {
            left -= fmax(0, -d->set.tau * energy[k]);
            if (left < 0) return k;
        }
    }
    return -1;
}

/* Re Psi(r') / Psi of a place; values are the orbitals there. */
static double ratio_at(const diffusion *d, const plugmc_nonlocal_point *place, int spin,
                       const double *values)
{
    const walker *w = &d->walkers[place->walker];
    const int64_t e = place->electron, n = d->system->particles;
    const double r[3] = {w->x[e], w->y[e], w->z[e]};
    plugmc_derivatives there, here;
    walk_parts(d, w, e, place->position, n, &there);
    walk_parts(d, w, e, r, n, &here);
    return creal((place->phase[0] + I * place->phase[1]) *
                 slater_product(&w->spin[spin], e - d->system->first[spin], values)) *
           exp(-0.5 * (there.energy - here.energy));
}

/* energy of n places of a spin, numbers of them in `which`. */
static int find_energies(diffusion *d, const plugmc_host *host, int spin,
                         const plugmc_nonlocal_point *places, const int64_t *which, int64_t n,
                         double *energy)
{
    for (int64_t k = 0; k < n; k++)
        memcpy(d->batch.points + 3 * k, places[which[k]].position, sizeof places->position);
    const int code = n ? walk_orbitals(d, host, spin, n, 0) : PLUGMC_OK;
    for (int64_t k = 0; k < n && d->wave.sum; k++)
        slater_rows(&d->walkers[places[which[k]].walker].spin[spin]);
#pragma omp parallel for schedule(static) num_threads(d->threads) if (d->threads > 1)
    for (int64_t k = 0; k < (code ? 0 : n); k++) {
        const plugmc_nonlocal_point *place = &places[which[k]];
        energy[which[k]] =
            place->factor * ratio_at(d, place, spin, d->batch.values + k * d->wave.numbers);
    }
    return code;
}

/* Which electrons [electrons] of a walker notice that one has moved: all, or those with places at an ion of its own. */
static void find_near(const diffusion *d, const plugmc_nonlocal_point *places, const turn *t,
                      int32_t moved, unsigned char *near)
{
    const int32_t *ions = d->population.ions;
    const int all = d->set.nonlocal != NEAR_T_MOVES;
    memset(near, all, (size_t)d->system->particles);
    for (int64_t m = t->first; m < t->end && !all; m++) {
        if (places[m].electron != moved) continue;
        if (m > t->first && places[m - 1].electron == moved && ions[m - 1] == ions[m]) continue;
        for (int64_t k = t->next; k < t->end; k++)
            if (ions[k] == ions[m]) near[places[k].electron] = 1;
    }
}

/* Energies of the places to come of walkers in which an electron has moved. */
static int find_again(diffusion *d, const plugmc_host *host, const plugmc_nonlocal_point *places,
                      const turn *turns, const int32_t *moved, double *energy)
{
    int64_t *which = malloc((size_t)d->batch.room * sizeof *which);
    const int64_t electrons = d->system->particles;
    unsigned char *near = malloc((size_t)(d->system->walkers * electrons));
    int code = which && near
                   ? PLUGMC_OK
                   : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for T-moves");
    for (int32_t w = 0; w < d->system->walkers && !code; w++)
        if (moved[w] >= 0) find_near(d, places, &turns[w], moved[w], near + w * electrons);
    for (int spin = 0; spin < d->system->species_count && !code; spin++) {
        int64_t n = 0;
        for (int32_t w = 0; w < d->system->walkers && !code; w++)
            for (int64_t k = turns[w].next; moved[w] >= 0 && k < turns[w].end && !code; k++) {
                const int64_t e = places[k].electron;
                if (e < d->system->first[spin] || e >= d->system->first[spin + 1] ||
                    !near[w * electrons + e])
                    continue;
                which[n++] = k;
                if (n < d->batch.room) continue;
                code = find_energies(d, host, spin, places, which, n, energy);
                n = 0;
            }
        if (!code) code = find_energies(d, host, spin, places, which, n, energy);
    }
    free(which);
    free(near);
    return code;
}

static void take_turns(const diffusion *d, const plugmc_nonlocal_point *places, int64_t count,
                       turn *turns)
{
    int64_t k = 0;
    for (int32_t w = 0; w < d->system->walkers; w++) {
        turns[w].first = turns[w].next = k;
        while (k < count && places[k].walker == w) k++;
        turns[w].end = k;
    }
}

int t_moves_here(diffusion *d, const plugmc_host *host, uint64_t sweep,
                 const plugmc_nonlocal_point *places, int64_t count)
{
    const int32_t walkers = d->system->walkers;
    int32_t *electron = d->population.copies; /* which the comb needs later */
    turn *turns = malloc((size_t)walkers * sizeof *turns);
    double *energy = malloc((size_t)count * sizeof *energy);
    int code = turns && energy
                   ? PLUGMC_OK
                   : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for T-moves");
    if (!code) take_turns(d, places, count, turns);
    for (int64_t k = 0; k < count && !code; k++) energy[k] = places[k].energy;
    for (int moved = 1; moved && !code;) {
        moved = 0;
        for (int32_t w = 0; w < walkers; w++) {
            const int64_t k = choose(d, &d->walkers[w], sweep, places, energy, &turns[w]);
            electron[w] = k < 0 ? -1 : places[k].electron;
            if (k < 0) continue;
            memcpy(d->walkers[w].there, places[k].position, sizeof places->position);
            d->walkers[w].counts[T_MOVE].accepted++;
            d->walkers[w].age = 0;
            moved = 1;
        }
        if (moved) code = walk_put(d, host, electron);
        if (moved && !code) code = find_again(d, host, places, turns, electron, energy);
    }
    free(turns);
    free(energy);
    return code;
}
