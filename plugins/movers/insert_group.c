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
 * plugmc_trial.log_factor. There are never more than `most` of [species]: the ensemble ends there.
 *
 * Trial t of sweep s in walker w draws with D(k) = plugmc_draw(seed, s, w, t, PLUGMC_PURPOSE_ORDER, k): the
 * highest bit of word 3 of D(0) says whether a group comes, word 0 of D(1 + k) who leaves as number k of the
 * group. The place of number k is that of a trial 8 t + k, as plugmc_draw_place says.
 */
#include <math.h>
#include <plugmc/plugin.h>
#include <stdio.h>
#include <string.h>

#include "reservoir.h"

enum { COMES, GOES }; /* in the table of moves */

typedef struct insert_group {
    const char *group; /* "Ca Cl Cl" */
    int64_t trials;
    int32_t members;
    int32_t species[PLUGMC_MOST_TOGETHER]; /* [members] in ascending order */
} insert_group;

static void draw_places(const insert_group *g, plugmc_trial *t)
{
    plugmc_trial one = *t;
    for (int32_t k = 0; k < g->members; k++) {
        one.number = t->number * PLUGMC_MOST_TOGETHER + (uint32_t)k;
        plugmc_draw_place(&one, t->group->places[k]);
    }
}

/* Somebody of the species of member k who is not among those before it, `n` of whom are of it: numbers in
 * descending order. -1 - species where too few are there. */
static void draw_leaver(const insert_group *g, plugmc_trial *t, int32_t k, int32_t n)
{
    const int32_t s = g->species[k], *chosen = &t->group->members[k - n];
    const int64_t left = t->count[s] - n;
    if (left <= 0) {
        t->group->members[k] = -1 - s;
        return;
    }
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 1 + (uint32_t)k);
    int32_t i = (int32_t)(t->first[s] + plugmc_below(random.word[0], (uint32_t)left)), at = n;
    while (at > 0 && i >= chosen[at - 1]) i++, at--; /* past those chosen, the smallest first */
    memmove(&t->group->members[k - n + at + 1], &t->group->members[k - n + at],
            (size_t)(n - at) * sizeof *chosen);
    t->group->members[k - n + at] = i;
}

static int propose(const void *parameters, plugmc_trial *t)
{
    const insert_group *g = parameters;
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ORDER, 0);
    const int comes = (int)(random.word[3] >> 31);
    t->move = comes ? COMES : GOES;
    t->kind = comes ? PLUGMC_GROUP_INSERTED : PLUGMC_GROUP_REMOVED;
    t->group->n = g->members;
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
    return 1;
}

static int sweep(void *instance, const plugmc_host *host, uint64_t first, uint64_t n)
{
    const insert_group *g = instance;
    const plugmc_proposal proposal = {
        .size = sizeof proposal, .trials = g->trials, .parameters = g, .propose = propose};
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
                              "group = %s: there can be %d particles in a group", g->group,
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
                          "group = %s: it has a charge of %g, and a group must be neutral",
                          g->group, charge);
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_TEXT_KEY(insert_group, group, NULL, "species of all that come together: Ca Cl Cl"),
    PLUGMC_INTEGER_KEY(insert_group, trials, "100", 1, 1e8, "", "trial moves a walker and sweep"),
};

static const plugmc_move moves[] = {{"insertion", "a group comes in, at random places", NULL},
                                    {"removal", "a random group leaves", NULL}};

static const plugmc_mover mover = {
    .size = sizeof mover,
    .needs = PLUGMC_RUNS_ON_CPU | PLUGMC_RUNS_ON_GPU,
    .changes = PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_POSITION,
    .follows = PLUGMC_CHANGED_COUNT,
    .sweep = sweep,
    .moves = moves,
    .move_count = PLUGMC_COUNT(moves),
    .move_size = sizeof(plugmc_move),
};

PLUGMC_PLUGIN(.kind = PLUGMC_MOVER, .name = "insert_group",
              .summary =
                  "grand-canonical: neutral groups of ions come from a reservoir and go back",
              .reference = "Valleau, Cohen, J. Chem. Phys. 72, 5935 (1980)",
              .instance_size = sizeof(insert_group), .parameters = table,
              .parameter_count = PLUGMC_COUNT(table), .mover = &mover, .prepare = prepare)
