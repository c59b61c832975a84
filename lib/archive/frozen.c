/* Chains that stand still. See frozen.h. */
#include "archive/frozen.h"

#include <math.h>
#include <stdlib.h>

/* An acceptance below which it is asked how many were accepted in all of production. */
static const double FEW_ACCEPTED = 0.01;
/* Of boxes, numbers of particles and rungs; particles have to be moved once each, which takes a sweep. */
static const double ENOUGH_ACCEPTED = 16;
/* Differences of this share of a mean are rounding errors. */
static const double ROUNDING = 1e-10;
/* Chance leaves a walker as it was less often than this. */
static const double HARDLY = 1e-4;

/* ---- Trial moves ----------------------------------------------------------------------------------------- */

/* Files of earlier versions do not say what moves change: such a kind is taken for itself. */
static bool moves_particles_alone(const move_record *m)
{
    return m->changes &&
           !(m->changes & ~(uint32_t)(PLUGMC_CHANGED_POSITION | PLUGMC_CHANGED_WALKER_WEIGHT));
}

static bool is_frozen(double trials, double accepted, double enough)
{
    return trials > 0 && (accepted == 0 || (accepted < FEW_ACCEPTED * trials && accepted < enough));
}

static void add_rung(frozen_moves *f, int32_t rung, double trials, double accepted)
{
    if (!f->rungs++) f->first = rung;
    f->trials += trials;
    f->accepted += accepted;
}

static frozen_moves of_kind(const move_record *m)
{
    frozen_moves out = {.move = m};
    for (int32_t r = 0; r < m->rungs; r++) {
        const double trials = (double)m->counts[r].trials, accepted = (double)m->counts[r].accepted;
        if (is_frozen(trials, accepted, ENOUGH_ACCEPTED)) add_rung(&out, r, trials, accepted);
    }
    return out;
}

static double all_trials(const move_record *m)
{
    double sum = 0;
    for (int32_t r = 0; r < m->rungs; r++) sum += (double)m->counts[r].trials;
    return sum;
}

/* Of all kinds that move particles alone, which have the same rungs. */
static frozen_moves of_particles(const output_data *out, double sweeps)
{
    frozen_moves found = {0};
    int32_t rungs = 0;
    for (int i = 0; i < out->move_count; i++) {
        const move_record *m = &out->moves[i];
        if (!moves_particles_alone(m)) continue;
        if (!found.move || all_trials(m) > all_trials(found.move)) found.move = m;
        if (m->rungs > rungs) rungs = m->rungs;
    }
    for (int32_t r = 0; r < rungs; r++) {
        double trials = 0, accepted = 0;
        for (int i = 0; i < out->move_count; i++) {
            const move_record *m = &out->moves[i];
            if (!moves_particles_alone(m) || r >= m->rungs) continue;
            trials += (double)m->counts[r].trials;
            accepted += (double)m->counts[r].accepted;
        }
        if (is_frozen(trials, accepted, trials / sweeps)) add_rung(&found, r, trials, accepted);
    }
    return found;
}

frozen_moves *frozen_find(const output_data *out, int *count)
{
    frozen_moves *all = checked(calloc((size_t)out->move_count + 1, sizeof *all));
    const double sweeps = (double)(out->sweep - out->equilibrate);
    *count = 0;
    if (out->sweep <= out->equilibrate) return all;
    const frozen_moves together = of_particles(out, sweeps);
    if (together.rungs) all[(*count)++] = together;
    for (int i = 0; i < out->move_count; i++) {
        const frozen_moves one = of_kind(&out->moves[i]);
        if (!moves_particles_alone(&out->moves[i]) && one.rungs) all[(*count)++] = one;
    }
    return all;
}

/* ", on rung 3" or ", on 2 of 8 rungs"; of exchanges the pair. */
static void put_rungs(const frozen_moves *f, char *text, size_t size)
{
    const bool pairs = f->move->changes & PLUGMC_CHANGED_RUNG;
    *text = 0;
    if (f->move->rungs < 2 || f->rungs >= f->move->rungs - pairs) return;
    if (f->rungs > 1)
        snprintf(text, size,
                 pairs ? " between %d pairs of rungs, the first with rung %d,"
                       : " on %d rungs, the first of them %d,",
                 f->rungs, f->first);
    else
        snprintf(text, size, pairs ? " between rung %d and the next" : " on rung %d", f->first);
}

const char *frozen_words(const frozen_moves *f, char text[FROZEN_WORDS])
{
    char where[96];
    put_rungs(f, where, sizeof where);
    if (f->accepted > 0)
        snprintf(text, FROZEN_WORDS,
                 "only %.4g of the %.4g trial moves of %.100s.%.100s%s %s accepted in production%s",
                 f->accepted, f->trials, f->move->mover, f->move->name, where,
                 f->accepted > 1 ? "were" : "was",
                 moves_particles_alone(f->move) ? ", fewer than one sweep makes" : "");
    else
        snprintf(text, FROZEN_WORDS,
                 "none of the %.4g trial moves of %.100s.%.100s%s was accepted in production",
                 f->trials, f->move->mover, f->move->name, where);
    return text;
}

/* ---- Errors ---------------------------------------------------------------------------------------------- */

bool frozen_any(const output_data *out)
{
    int count;
    free(frozen_find(out, &count));
    return count > 0;
}

void frozen_doubt(double mean, double *error, bool *converged)
{
    if (!(*error > ROUNDING * fabs(mean))) *error = NAN;
    *converged = false;
}

/* ---- Walkers --------------------------------------------------------------------------------------------- */

int32_t frozen_walkers(const double *series, int64_t samples, int32_t walkers)
{
    int32_t still = 0;
    int64_t same = 0, pairs = 0;
    double least = 0, most = 0, largest = 0;
    for (int32_t w = 0; w < walkers && samples > 1; w++) {
        int64_t unchanged = 0;
        for (int64_t i = 1; i < samples; i++)
            unchanged += series[i * walkers + w] == series[(i - 1) * walkers + w];
        const double first = series[w];
        if (unchanged < samples - 1) {
            same += unchanged;
            pairs += samples - 1;
            continue;
        }
        still++;
        least = still == 1 ? first : fmin(least, first);
        most = still == 1 ? first : fmax(most, first);
        largest = fmax(largest, fabs(first));
    }
    if (!pairs) return most - least > ROUNDING * largest ? still : 0;
    const double by_chance = walkers * pow((double)same / (double)pairs, (double)(samples - 1));
    return by_chance < HARDLY ? still : 0;
}
