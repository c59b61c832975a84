/* insert_group: neutral groups of ions come from a reservoir and go back there, all of a group at once.
 *
 * The grand-canonical ensemble of a salt: a single ion would charge the box. With nu_s particles of species s
 * in a group, each of them at a random place of its own, a group comes and goes, tried with equal probability,
 * with
 *
 *     min(1, prod_s (z_s V)^nu_s N_s! / (N_s + nu_s)! exp(-dU / kT))    and
 *     min(1, prod_s (z_s V)^-nu_s N_s! / (N_s - nu_s)! exp(-dU / kT)),
 *
 * N before the move and z the activities of [species] (J. P. Valleau, L. K. Cohen, J. Chem. Phys. 72, 5935 (1980)).
 * Of z only the product over a group counts: the mean activity. The core has z and dU, see
 * plugmc_trial.log_factor. There are never more than `max_count` of [species]: the ensemble ends there.
 *
 * Where ions are bound to each other, hardly any that are put anywhere are accepted. With `max_distance` the first one of a
 * group comes to a random place, and the others into the ball of that radius around it, of volume v; who leaves is
 * one at random and some of those in the ball around it. So for each of the others v stands in place of V, and the
 * number of its species that are in that ball, without the first one, in place of N (as G. Orkoulas, A. Z.
 * Panagiotopoulos, J. Chem. Phys. 101, 1452 (1994) have for pairs). Ions that are farther apart leave together only
 * by another section without `max_distance`, or when they have met others.
 *
 * Trial t of sweep s in walker w draws with D(k) = plugmc_draw(seed, s, w, t, PLUGMC_PURPOSE_ORDER, k): the
 * highest bit of word 3 of D(0) says whether a group comes, word 0 of D(1 + k) who leaves as number k of the
 * group. The place of number k is that of a trial 8 t + k, as plugmc_draw_position says, or plugmc_draw_in_ball.
 */
#include <plugmc/proposal.h>
#include <plugmc/near.h>

#define PLUGMC_GROUPS 8

enum { COMES, GOES }; /* in the table of moves */

typedef struct insert_group {
    const char *group; /* "Ca Cl Cl" */
    int64_t trials;
    real max_distance; /* length; 0: anywhere */
    int32_t members;
    int32_t species[PLUGMC_MOST_TOGETHER]; /* [members] in ascending order */
} insert_group;

PLUGMC_FN void draw_places(const insert_group *g, plugmc_trial *t)
{
    double(*places)[3] = t->group->positions;
    const uint32_t number = t->number;
    for (int32_t k = 0; k < g->members; k++) {
        t->number = number * PLUGMC_MOST_TOGETHER + (uint32_t)k;
        if (k == 0 || g->max_distance == 0) {
            plugmc_draw_position(t, places[k]);
            continue;
        }
        plugmc_draw_in_ball(t->seed, t->sweep, t->walker, t->number, t->dimension, places[k]);
        for (int d = 0; d < 3; d++) places[k][d] = places[0][d] + g->max_distance * places[k][d];
    }
    t->number = number;
}

/* Somebody of the species of member k who is not among those before it, `n` of whom are of it: numbers in
 * descending order. -1 - species where too few are there. */
PLUGMC_FN void draw_leaver(const insert_group *g, plugmc_trial *t, int32_t k, int32_t n)
{
    const int32_t s = g->species[k];
    int32_t *chosen = &t->group->members[k - n];
    const int64_t left = t->count[s] - n;
    if (left <= 0) {
        t->group->members[k] = -1 - s;
        return;
    }
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 1 + (uint32_t)k);
    int32_t i = (int32_t)(t->first[s] + plugmc_below(random.word[0], (uint32_t)left)), at = n;
    while (at > 0 && i >= chosen[at - 1]) i++, at--; /* past those chosen, the smallest first */
    for (int32_t l = n; l > at; l--) chosen[l] = chosen[l - 1];
    chosen[at] = i;
}

/* Anywhere in the box. */
PLUGMC_FN void come_or_go_anywhere(const insert_group *g, plugmc_trial *t, int comes)
{
    for (int32_t k = 0, n = 0; k < g->members; k++) {
        n = k && g->species[k] == g->species[k - 1] ? n + 1 : 0; /* of this species before */
        const double there = (double)t->count[g->species[k]];
        if (comes) {
            t->group->members[k] = g->species[k];
            t->log_factor += log(t->box->volume / (there + n + 1));
        } else {
            draw_leaver(g, t, k, n);
            if (there > n) t->log_factor += log((there - n) / t->box->volume);
        }
    }
    if (comes) draw_places(g, t);
}

/* ---- Near the first one ------------------------------------------------------------------------------ */

PLUGMC_FN double volume_near(const insert_group *g, const plugmc_trial *t)
{
    const double r = g->max_distance, pi = 3.14159265358979323846;
    return t->dimension == 3 ? 4 * pi / 3 * r * r * r : pi * r * r;
}

PLUGMC_FN void come_near(const insert_group *g, plugmc_trial *t)
{
    double place[3];
    draw_places(g, t);
    for (int d = 0; d < 3; d++) place[d] = t->group->positions[0][d];
    plugmc_wrap(t->box, place);
    int32_t n = 0; /* of this species that come around the first one before */
    for (int32_t k = 0; k < g->members; k++) {
        const int32_t s = t->group->members[k] = g->species[k];
        if (k == 0) continue;
        n = s == g->species[k - 1] && k > 1 ? n + 1 : 0;
        const int64_t there = plugmc_count_near(t, s, place, g->max_distance, 0, 0, -1, 0);
        t->log_factor += log(volume_near(g, t) / (double)(there + n + 1));
    }
    int32_t like = 0; /* the first one may be any of those of its species */
    while (like < g->members && g->species[like] == g->species[0]) like++;
    t->log_factor += log(t->box->volume / (double)(t->count[g->species[0]] + like));
}

/* Of a species the largest number first. */
PLUGMC_FN void put_in_order(const insert_group *g, int32_t *members)
{
    for (int32_t k = 1; k < g->members; k++)
        for (int32_t l = k;
             l > 0 && g->species[l] == g->species[l - 1] && members[l] > members[l - 1]; l--) {
            const int32_t other = members[l];
            members[l] = members[l - 1];
            members[l - 1] = other;
        }
}

PLUGMC_FN void nobody_goes(const insert_group *g, plugmc_trial *t)
{
    for (int32_t k = 0; k < g->members; k++) t->group->members[k] = -1 - g->species[k];
}

PLUGMC_FN void go_from_near(const insert_group *g, plugmc_trial *t)
{
    int32_t *members = t->group->members;
    draw_leaver(g, t, 0, 0);
    if (members[0] < 0) {
        nobody_goes(g, t);
        return;
    }
    const double place[3] = {t->x[members[0]], t->y[members[0]], t->z[members[0]]};
    t->log_factor += log((double)t->count[g->species[0]] / t->box->volume);
    for (int32_t k = 1; k < g->members; k++) {
        const int32_t s = g->species[k];
        const int64_t left = plugmc_count_near(t, s, place, g->max_distance, members, k, -1, 0);
        if (left == 0) {
            nobody_goes(g, t);
            return;
        }
        const plugmc_random random = plugmc_draw(t->seed, t->sweep, t->walker, t->number,
                                                 PLUGMC_PURPOSE_ORDER, 1 + (uint32_t)k);
        int32_t chosen = -1;
        plugmc_count_near(t, s, place, g->max_distance, members, k,
                          plugmc_below(random.word[0], (uint32_t)left), &chosen);
        members[k] = chosen;
        t->log_factor += log((double)left / volume_near(g, t));
    }
    put_in_order(g, members);
}

/* ---- The move ---------------------------------------------------------------------------------------- */

PLUGMC_FN int propose(const insert_group *g, plugmc_trial *t)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const int comes = (int)(random.word[3] >> 31);
    t->move = comes ? COMES : GOES;
    t->kind = comes ? PLUGMC_GROUP_INSERTED : PLUGMC_GROUP_REMOVED;
    t->group->n = g->members;
    if (g->max_distance == 0)
        come_or_go_anywhere(g, t, comes);
    else if (comes)
        come_near(g, t);
    else
        go_from_near(g, t);
    return 1;
}

PLUGMC_PROPOSES(insert_group, propose)

#if PLUGMC_HOST
#include <plugmc/former_keys.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reservoir.h"

static int sweep(void *instance, const plugmc_host *host, const plugmc_sweeps *sweeps)
{
    const uint64_t first = sweeps->first, n = sweeps->n;
    const insert_group *g = instance;
    const plugmc_proposal proposal = {.size = sizeof proposal,
                                      .trials = g->trials,
                                      .parameters = g,
                                      .propose = plugmc_propose,
                                      .parameters_size = sizeof *g,
                                      .together = g->members};
    return host->trials(host->context, &proposal, first, n);
}

/* ---- Preparation ------------------------------------------------------------------------------------ */

/* Into ascending order, so that those of one species stand together. */
static void add_member(insert_group *g, int32_t species)
{
    int32_t at = g->members++;
    while (at > 0 && g->species[at - 1] > species) {
        g->species[at] = g->species[at - 1];
        at--;
    }
    g->species[at] = species;
}

/* The ball around the first one must not meet its own images. */
static int check_near(const insert_group *g, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const plugmc_box *box = &system->box;
    if (g->max_distance == 0) return PLUGMC_OK;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC || box->oblique ||
        system->changes & PLUGMC_CHANGED_BOX)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "max_distance: needs a periodic, rectangular box of fixed size");
    for (int d = 0; d < box->dimension; d++)
        if (!(g->max_distance <= 0.5 * box->length[d]))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "max_distance = %g must be at most half of each edge of the "
                              "box, here %g",
                              g->max_distance, 0.5 * box->length[d]);
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    insert_group *g = instance;
    double charge = 0;
    char name[256];
    int used = 0, code = PLUGMC_OK;
    for (const char *at = g->group; sscanf(at, " %255s%n", name, &used) == 1; at += used) {
        int32_t species;
        if (g->members == PLUGMC_MOST_TOGETHER)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "group = %s: the limit is %d particles in a group", g->group,
                              PLUGMC_MOST_TOGETHER);
        code = find_reservoir(host, "group", name, &species);
        if (code) return code;
        charge += plugmc_species_at(host->system, species)->charge;
        add_member(g, species);
    }
    if (!g->members)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "group: names no species");
    if (fabs(charge) > 1e-9)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "group = %s: its charge is %g, but a group must be neutral", g->group,
                          charge);
    return check_near(g, host);
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(insert_group, group, NULL, "species of all particles of the group: Ca Cl Cl"),
    PLUGMC_INTEGER_KEY(insert_group, trials, "100", 1, 1e8, "", "trial moves per walker and sweep"),
    PLUGMC_REAL_KEY(insert_group, max_distance, "0", 0, 1e9, "length",
                    "largest distance of the others of a group from its first one; 0: anywhere"),
};

static const plugmc_former_keys former_keys = {
    sizeof former_keys, (const plugmc_former_key[]){{"near", "max_distance"}, {NULL, NULL}}};

static const plugmc_move moves[] = {
    {.name = "insertion", .doc = "inserts a group at random positions"},
    {.name = "removal", .doc = "removes a random group"}};

PLUGMC_PLUGIN(.name = "insert_group",
              .summary = "grand-canonical: insertion and removal of neutral groups of ions",
              .reference = "Valleau, Cohen, J. Chem. Phys. 72, 5935 (1980)",
              PLUGMC_KEYS(insert_group, table), PLUGMC_OFFERS({PLUGMC_FORMER_KEYS, &former_keys}),
              PLUGMC_MOVER_WITH(
                  moves, .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
                  .changes = PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION,
                  .follows = PLUGMC_CHANGED_COUNT, .sweep = sweep,
                  .good_for =
                      "electrolytes in contact with a reservoir of salt; combine it with a mover "
                      "that displaces"),
              .prepare = prepare)
#endif
