/* Electrons around their ions, where a wave function is large: elsewhere, as in the vacuum beside a sheet, an electron
 * finds the way only at random, and equilibration takes thousands of sweeps. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "initial/near_ions.h"
#include "plugmc/device.h"
#include "system/system.h"

/* Draws of PLUGMC_PURPOSE_INITIAL for one particle, or one ion. */
enum { DRAW_ORDER = 254, DRAW_DISTANCE = 0, MOST_DRAWS = 126 };

bool near_ions_find(const plugmc_system *system, plugmc_ions *out)
{
    for (int32_t t = 0; t < system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_orbitals *orbitals = plugmc_orbitals_of(term->plugin);
        if (!orbitals || !PLUGMC_HAS(orbitals, ions) || !orbitals->ions) continue;
        *out = (plugmc_ions){.size = sizeof *out};
        if (!orbitals->ions(term->instance, out) && out->count > 0) return true;
    }
    return false;
}

/* ---- Who goes to which ion --------------------------------------------------------------------- */

/* An ion, in the order in which electrons are dealt. */
typedef struct turn {
    double
        left_over; /* of its share of electrons: a fraction, in steps that rounding does not reach */
    uint32_t chance; /* decides between equal ones */
    int32_t ion;
} turn;

static int by_left_over(const void *one, const void *other)
{
    const turn *a = one, *b = other;
    if (a->left_over != b->left_over) return a->left_over > b->left_over ? -1 : 1;
    return a->chance != b->chance ? (a->chance < b->chance ? -1 : 1) : a->ion - b->ion;
}

static double charge_of(const plugmc_ions *ions, int32_t i)
{
    const double charge = ions->valence ? ions->valence[i] : 0;
    return charge > 0 ? charge : ions->atomic_number[i];
}

/* How many electrons each ion gets: its share, rounded down, and one more where most is left over. */
static void share_out(const plugmc_system *system, const plugmc_ions *ions, uint32_t walker,
                      turn *turns, int64_t *count)
{
    double total = 0;
    int64_t left = system->particles;
    for (int32_t i = 0; i < ions->count; i++) total += charge_of(ions, i);
    for (int32_t i = 0; i < ions->count; i++) {
        const double share = (double)system->particles * charge_of(ions, i) / total;
        count[i] = (int64_t)(share + 1e-9);
        left -= count[i];
        turns[i] = (turn){
            rint(1e6 * (share - (double)count[i])),
            plugmc_draw(system->seed, 0, walker, (uint32_t)i, PLUGMC_PURPOSE_INITIAL, DRAW_ORDER)
                .word[0],
            i};
    }
    qsort(turns, (size_t)ions->count, sizeof *turns, by_left_over);
    for (int32_t k = 0; k < left; k++) count[turns[k % ions->count].ion]++;
}

static double square_between(const plugmc_box *box, const double a[3], const double b[3])
{
    double square = 0, part[3], apart[3];
    for (int d = 0; d < 3; d++) apart[d] = a[d] - b[d];
    for (int k = 0; k < 3; k++) {
        part[k] = 0;
        for (int d = 0; d < 3; d++) part[k] += apart[d] * box->inverse[d][k];
        part[k] -= rint(part[k]);
    }
    for (int d = 0; d < 3; d++) {
        double x = apart[d];
        if (box->domain == PLUGMC_DOMAIN_PERIODIC) {
            x = 0;
            for (int k = 0; k < box->dimension; k++) x += part[k] * box->vector[k][d];
        }
        square += x * x;
    }
    return square;
}

/* Entry `from` becomes entry `to`, and those between move up. */
static void bring(turn *turns, int32_t from, int32_t to)
{
    const turn brought = turns[from];
    memmove(&turns[to + 1], &turns[to], (size_t)(from - to) * sizeof *turns);
    turns[to] = brought;
}

/* Ions with an odd number of electrons come first, each behind its nearest one that is left: they get their first electrons one
 * after the other, so the two differ in spin. By chance the hydrogen atoms of a molecule would often be alike, those of another
 * one the other way round, and far from each other they would stay so. */
static void pair_neighbours(const plugmc_system *system, const plugmc_ions *ions,
                            const int64_t *count, turn *turns)
{
    const int32_t n = ions->count;
    for (int32_t paired = 0;; paired += 2) {
        int32_t one = paired, other = -1;
        double nearest = INFINITY;
        while (one < n && count[turns[one].ion] % 2 == 0) one++;
        for (int32_t k = one + 1; k < n; k++) {
            if (count[turns[k].ion] % 2 == 0) continue;
            const double square = square_between(&system->box, ions->positions[turns[one].ion],
                                                 ions->positions[turns[k].ion]);
            if (square < nearest) nearest = square, other = k;
        }
        if (other < 0) return;
        bring(turns, one, paired);
        bring(turns, other, paired + 1);
    }
}

/* The species with the fewest electrons at an ion (`here` [species]) and, of equal ones, with the most left. */
static int32_t next_species(int32_t species, const int64_t *here, const int64_t *left)
{
    int32_t best = -1;
    for (int32_t s = 0; s < species; s++) {
        if (!left[s]) continue;
        if (best < 0 || here[s] < here[best] || (here[s] == here[best] && left[s] > left[best]))
            best = s;
    }
    return best;
}

/* Ion of each particle. Each ion gets its first electron, then each its second one, so that neighbours differ in spin
 * and both spins are alike at each ion. */
static void deal(const plugmc_system *system, int32_t ions, const turn *turns, int64_t *count,
                 int64_t *here, int64_t *left, int32_t *ion_of)
{
    const int32_t species = system->species_count;
    int64_t dealt = 0;
    for (int32_t s = 0; s < species; s++) left[s] = system->first[s + 1] - system->first[s];
    while (dealt < system->particles)
        for (int32_t k = 0; k < ions; k++) {
            const int32_t ion = turns[k].ion;
            if (!count[ion]) continue;
            const int32_t s = next_species(species, here + (size_t)ion * (size_t)species, left);
            ion_of[system->first[s + 1] - left[s]--] = ion;
            here[ion * species + s]++;
            count[ion]--;
            dealt++;
        }
}

/* ---- Where they are --------------------------------------------------------------------------- */

/* Three independent numbers of variance 1 (G. E. P. Box, M. E. Muller, Ann. Math. Stat. 29, 610 (1958)). */
static void gaussians(const plugmc_system *system, uint32_t walker, uint32_t particle, int attempt,
                      double out[3])
{
    for (int half = 0; half < 2; half++) {
        const plugmc_random random =
            plugmc_draw(system->seed, 0, walker, particle, PLUGMC_PURPOSE_INITIAL,
                        (uint32_t)(DRAW_DISTANCE + 2 * attempt + half));
        const double radius =
                         sqrt(-2 * log(1 - plugmc_uniform_double(random.word[0], random.word[1]))),
                     angle = 2 * M_PI * plugmc_uniform_double(random.word[2], random.word[3]);
        out[2 * half] = radius * cos(angle);
        if (!half) out[1] = radius * sin(angle);
    }
}

/* Anew as long as it is outside of an open box; at the ion itself where that does not help. */
static void place(const plugmc_system *system, const double ion[3], double width, uint32_t walker,
                  int64_t particle, double out[3])
{
    const plugmc_box *box = &system->box;
    const int32_t dimension = box->dimension;
    for (int attempt = 0; attempt < MOST_DRAWS; attempt++) {
        double step[3], square = 0;
        gaussians(system, walker, (uint32_t)particle, attempt, step);
        for (int d = 0; d < 3; d++) {
            out[d] = d < dimension ? ion[d] + width * step[d] : 0;
            square += out[d] * out[d];
        }
        if (box->domain == PLUGMC_DOMAIN_PERIODIC || square < box->radius * box->radius) break;
        memcpy(out, ion, 3 * sizeof *out);
    }
    plugmc_wrap(box, out);
}

int near_ions_place(const plugmc_system *system, const plugmc_ions *ions, double width,
                    uint32_t walker, double *positions)
{
    const size_t n = (size_t)ions->count, species = (size_t)system->species_count;
    turn *turns = calloc(n, sizeof *turns);
    int64_t *count = calloc(n, sizeof *count), *here = calloc(n * species, sizeof *here),
            *left = calloc(species, sizeof *left);
    int32_t *ion_of = calloc((size_t)system->particles + 1, sizeof *ion_of);
    const int failed = !turns || !count || !here || !left || !ion_of;
    if (!failed) {
        share_out(system, ions, walker, turns, count);
        pair_neighbours(system, ions, count, turns);
        deal(system, ions->count, turns, count, here, left, ion_of);
    }
    for (int64_t i = 0; i < system->particles && !failed; i++)
        place(system, ions->positions[ion_of[i]], width, walker, i, positions + 3 * i);
    free(turns), free(count), free(here), free(left), free(ion_of);
    return failed;
}
