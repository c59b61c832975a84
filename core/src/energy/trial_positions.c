/* Several places to choose from: see trial_positions.h.
 *
 * Who comes is tried at k places. With g_j the delta of -ln p at place j, place j is chosen with probability
 * exp(-g_j) / sum, and the trial is decided as if -ln p grew by -ln (sum / k). Who leaves is put back in thought: its
 * own place and k - 1 others are weighed as the way back would weigh them, when it is gone. If -ln p grows by g as it
 * leaves, and by d_j as it goes to place j instead, it would come there with g_j = d_j - g, and at its own with -g, so
 * the trial is decided as if -ln p grew by g + ln ((1 + sum_j exp(-d_j)) / k). K. Esselink, L. D. J. C. Loyens,
 * B. Smit, Phys. Rev. E 51, 1560 (1995). */
#include "energy/trial_positions.h"

#include <math.h>
#include <string.h>

plugmc_orientation trial_orientation(const plugmc_trial *t, int32_t j)
{
    plugmc_seed seed = t->seed;
    seed.key += (uint64_t)j * 0x9e3779b97f4a7c15u;
    return plugmc_draw_orientation(seed, t->sweep, t->walker, t->number, t->dimension);
}

/* Places first ... first + n - 1 of a trial for one kind of change. */
static int weigh(hamiltonian *h, const plugmc_trial *t, several_places *s, int32_t kind,
                 int32_t first, int32_t n, double *change)
{
    for (int32_t j = 0; j < n; j++) {
        plugmc_draw_trial_position(t, first + j, s->place[j]);
        if (h->system->bodies)
            s->orientation[j] =
                h->system->molecules ? plugmc_upright(3) : trial_orientation(t, first + j);
        s->particle[j] = t->particle;
        s->species[j] = t->species;
    }
    s->changes = (plugmc_changes){.size = sizeof s->changes,
                                  .kind = kind,
                                  .first = (int32_t)t->walker,
                                  .walkers = 1,
                                  .per_walker = n,
                                  .particle = s->particle,
                                  .position = (const double(*)[3])s->place,
                                  .species = s->species,
                                  .change = change,
                                  .forbidden = s->forbidden,
                                  .delta = s->delta,
                                  .orientation = h->system->bodies ? s->orientation : NULL};
    return hamiltonian_changes(h, &s->changes);
}

int places_to_come(hamiltonian *h, const plugmc_trial *t, several_places *s, double *change,
                   int64_t *chosen, int32_t *forbidden, double *delta)
{
    const int32_t k = t->trial_positions;
    double least = INFINITY, sum = 0, below = 0;
    const int code = weigh(h, t, s, PLUGMC_INSERTED, 0, k, change);
    *forbidden = 1;
    for (int32_t j = 0; j < k && !code; j++) {
        if (s->forbidden[j]) continue;
        *forbidden = 0;
        if (!(s->delta[j] > -INFINITY)) { /* goes there, so that it is found */
            *chosen = j;
            *delta = s->delta[j];
            return PLUGMC_OK;
        }
        least = fmin(least, s->delta[j]);
    }
    if (code || *forbidden) return code;
    if (least == INFINITY) { /* no place has any weight */
        *forbidden = 1;
        return PLUGMC_OK;
    }
    for (int32_t j = 0; j < k; j++)
        if (!s->forbidden[j]) sum += exp(least - s->delta[j]);
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ACCEPT, 1);
    const double u = plugmc_uniform_double(random.word[0], random.word[1]) * sum;
    for (int32_t j = 0; j < k; j++) {
        if (s->forbidden[j] || s->delta[j] == INFINITY) continue;
        *chosen = j;
        below += exp(least - s->delta[j]);
        if (u < below) break;
    }
    *delta = least - log(sum / k);
    return PLUGMC_OK;
}

int places_to_leave(hamiltonian *h, const plugmc_trial *t, several_places *s, double *change,
                    double *delta)
{
    const int32_t k = t->trial_positions;
    double sum = 1;
    const int code = weigh(h, t, s, PLUGMC_DISPLACED, 1, k - 1, change);
    for (int32_t j = 0; j < k - 1 && !code; j++) {
        if (s->forbidden[j]) continue;
        sum += exp(-s->delta[j]);
    }
    *delta += log(sum / k);
    return code;
}
