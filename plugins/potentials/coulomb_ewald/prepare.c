/* Which waves an Ewald sum has, and memory for them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../rigid_exclusions.h"
#include "sum_parts.h"

/* A growth of edges below which a warning is given: a liquid that starts a tenth too dense needs 1.035. */
#define ROOM 1.05

static int is_summed(const plugmc_box *box, const ewald_waves *waves, const int32_t n[3])
{
    double k[3];
    if (waves->n_square > 0 && n[0] * n[0] + n[1] * n[1] + n[2] * n[2] > waves->n_square) return 0;
    wave_vector(box, n, k);
    return square(k) <= waves->cutoff * waves->cutoff;
}

/* k.a_d = 2 pi n_d, so |n_d| <= |k| |a_d| / 2 pi. */
static int find_limits(ewald_sum *s, const ewald_waves *waves)
{
    for (int d = 0; d < 3; d++) {
        double most = floor(waves->cutoff * sqrt(square(s->system->box.vector[d])) / (2 * M_PI));
        if (waves->k_max > 0) most = fmin(most, (double)waves->k_max);
        if (most > MOST)
            return s->host->fail(s->host->context, PLUGMC_ERROR_INPUT,
                                 "%s needs %.0f waves along an edge, but the limit is %d: use a %s",
                                 waves->k_cutoff > 0 ? "k_cutoff" : "the tolerance at this cutoff",
                                 most, MOST, waves->k_cutoff > 0 ? "smaller one" : "larger cutoff");
        s->most[d] = (int32_t)most;
    }
    return PLUGMC_OK;
}

/* Rows of the half that begins with (0, 0, 1); with rows == NULL they are only counted. */
static void list_rows(const ewald_sum *s, const ewald_waves *waves, row *rows, int32_t *count,
                      int64_t *total)
{
    *count = 0;
    *total = 0;
    for (int32_t x = 0; x <= s->most[0]; x++)
        for (int32_t y = x ? -s->most[1] : 0; y <= s->most[1]; y++) {
            row row = {.x = x, .y = y, .first = *total};
            for (int32_t z = x || y ? -s->most[2] : 1; z <= s->most[2]; z++) {
                if (!is_summed(&s->system->box, waves, (int32_t[3]){x, y, z})) continue;
                if (row.n == 0) row.low = z;
                row.n++;
            }
            if (row.n == 0) continue;
            if (rows) rows[*count] = row;
            ++*count;
            *total += row.n;
        }
}

static void number_waves(ewald_sum *s)
{
    for (int32_t r = 0; r < s->row_count; r++)
        for (int32_t w = 0; w < s->rows[r].n; w++) {
            const int32_t n[3] = {s->rows[r].x, s->rows[r].y, s->rows[r].low + w};
            memcpy(s->wave[s->rows[r].first + w], n, sizeof n);
        }
}

static void take_charges(ewald_sum *s)
{
    const int32_t species = s->system->species_count;
    int64_t count[species + 1];
    double squares;
    for (int32_t a = 0; a < s->system->species_count; a++) {
        const plugmc_species *species = plugmc_species_at(s->system, a);
        for (int64_t i = s->system->first[a]; i < s->system->first[a + 1]; i++)
            s->charge[i] = species->charge;
        count[a] = species->count;
    }
    charges_of(s, count, &squares, &s->net);
    s->self = self_energy(s, squares);
}

/* What the waves have of the pairs within rigid molecules. */
static int exclude_molecules(ewald_sum *s)
{
    const plugmc_molecules *all = s->system->molecules;
    if (!all) return PLUGMC_OK;
    s->excluded = s->host->allocate(s->host->context, (size_t)all->kinds * sizeof *s->excluded);
    if (!s->excluded)
        return s->host->fail(s->host->context, PLUGMC_ERROR_MEMORY, "no memory for molecules");
    for (int32_t k = 0; k < all->kinds; k++)
        s->excluded[k] = smooth_part_within(s->system, plugmc_kind_of_molecule(all, k), s->alpha);
    return PLUGMC_OK;
}

/* Of all waves left out, the first that is longer than those summed: what a larger box loses. */
static double shortest_left_out(const ewald_sum *s, const ewald_waves *waves)
{
    double least = INFINITY, k[3];
    for (int32_t x = 0; x <= s->most[0] + 1; x++)
        for (int32_t y = -s->most[1] - 1; y <= s->most[1] + 1; y++)
            for (int32_t z = -s->most[2] - 1; z <= s->most[2] + 1; z++) {
                const int32_t n[3] = {x, y, z};
                const int within = x <= s->most[0] && abs(y) <= s->most[1] && abs(z) <= s->most[2];
                if (within && is_summed(&s->system->box, waves, n)) continue;
                wave_vector(&s->system->box, n, k);
                least = fmin(least, square(k));
            }
    return sqrt(least);
}

/* How many times as long the edges can be until the waves do not suffice: check_accuracy in sum.c. No error is above 1/2. */
static double largest_growth(const ewald_sum *s)
{
    if (4 * s->other.allowed >= 1) return INFINITY;
    return s->other.shortest / (2 * s->alpha * sqrt(-log(4 * s->other.allowed)));
}

/* Little room is worth a word before hours have passed. */
static void tell_room(const ewald_sum *s)
{
    const double most = largest_growth(s);
    if (most >= ROOM) return;
    s->host->warn(
        s->host->context,
        "the waves suffice while no edge of the box is more than %.3f times as long as at the "
        "start, at this shape a volume of %.6g; a larger box ends the run: %s",
        most, most * most * most * s->system->box.volume,
        s->other.follow    ? "set growth"
        : s->other.limited ? "increase k_max, n_square or k_cutoff"
                           : "increase k_max");
}

/* Settings that were worse than what is wanted from the beginning are the user's. */
static int follow_boxes(ewald_sum *s, const ewald_waves *waves)
{
    s->other.box =
        s->host->allocate(s->host->context, (size_t)s->system->walkers * sizeof *s->other.box);
    if (!s->other.box)
        return s->host->fail(s->host->context, PLUGMC_ERROR_MEMORY, "no memory for boxes");
    for (int32_t w = 0; w < s->system->walkers; w++) s->other.box[w] = s->system->box;
    s->other.follow = waves->follow;
    s->other.limited = waves->n_square > 0 || waves->k_cutoff > 0;
    s->other.shortest = shortest_left_out(s, waves);
    s->other.wanted = waves->wanted;
    s->other.allowed = fmax(waves->wanted, error_beyond(s, s->other.shortest));
    tell_room(s);
    return PLUGMC_OK;
}

/* Numbers of doubles that each array holds. */
static int allocate(ewald_sum *s)
{
    const size_t n = (size_t)s->system->particles, walkers = (size_t)s->system->walkers,
                 waves = (size_t)s->waves,
                 others = s->system->changes & PLUGMC_CHANGED_BOX ? waves : 0;
    const struct {
        double **array;
        size_t numbers;
    } arrays[] = {
        {&s->common.weight, waves},
        {&s->common.k[0], waves},
        {&s->common.k[1], waves},
        {&s->common.k[2], waves},
        {&s->common.virial[0], waves},
        {&s->common.virial[1], waves},
        {&s->common.virial[2], waves},
        {&s->other.spectrum.weight, others},
        {&s->other.spectrum.k[0], others},
        {&s->other.spectrum.k[1], others},
        {&s->other.spectrum.k[2], others},
        {&s->other.spectrum.virial[0], others},
        {&s->other.spectrum.virial[1], others},
        {&s->other.spectrum.virial[2], others},
        {&s->other.own_weight, others * walkers},
        {&s->fresh.re, waves},
        {&s->fresh.im, waves},
        {&s->single.shift, 2 * waves},
        {&s->single.structure, 2 * waves * walkers},
        {&s->single.positions, 3 * n * walkers},
        {&s->charge, n},
        {&s->phase[0].re, n * (size_t)(s->most[0] + 1)},
        {&s->phase[0].im, n * (size_t)(s->most[0] + 1)},
        {&s->phase[1].re, n * (size_t)(s->most[1] + 1)},
        {&s->phase[1].im, n * (size_t)(s->most[1] + 1)},
        {&s->phase[2].re, n * (size_t)(s->most[2] + 1)},
        {&s->phase[2].im, n * (size_t)(s->most[2] + 1)},
    };
    for (int i = 0; i < PLUGMC_COUNT(arrays); i++) {
        if (arrays[i].numbers == 0) continue;
        *arrays[i].array = s->host->allocate(s->host->context, arrays[i].numbers * sizeof(double));
        if (!*arrays[i].array)
            return s->host->fail(s->host->context, PLUGMC_ERROR_MEMORY,
                                 "no memory for %zu waves of %zu particles", waves, n);
    }
    return PLUGMC_OK;
}

int ewald_sum_prepare(const plugmc_host *host, double bjerrum_length, double alpha,
                      const ewald_waves *waves, ewald_sum **out)
{
    ewald_sum *s = *out = host->allocate(host->context, sizeof *s);
    if (!s) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for an Ewald sum");
    s->host = host;
    s->system = host->system;
    s->bjerrum_length = bjerrum_length;
    s->alpha = alpha;
    s->single.trial.walker = -1;
    s->numbers_change = (s->system->changes & PLUGMC_CHANGED_COUNT) != 0;
    int code = find_limits(s, waves);
    if (code) return code;
    list_rows(s, waves, NULL, &s->row_count, &s->waves);
    if (s->waves == 0)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "no wave is shorter than %g: use a larger k_cutoff", waves->cutoff);
    s->rows = host->allocate(host->context, (size_t)s->row_count * sizeof *s->rows);
    if (!s->rows) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the waves");
    list_rows(s, waves, s->rows, &s->row_count, &s->waves);
    s->wave = host->allocate(host->context, (size_t)s->waves * sizeof *s->wave);
    if (!s->wave) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the waves");
    code = allocate(s);
    if (code) return code;
    if (s->numbers_change) {
        s->single.count =
            host->allocate(host->context, (size_t)(s->system->walkers * s->system->species_count) *
                                              sizeof *s->single.count);
        if (!s->single.count)
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for numbers");
    }
    number_waves(s);
    take_charges(s);
    code = exclude_molecules(s);
    if (code) return code;
    weigh_waves(s, &s->system->box, &s->common);
    return s->system->changes & PLUGMC_CHANGED_BOX ? follow_boxes(s, waves) : PLUGMC_OK;
}
