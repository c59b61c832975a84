/* Several positions and orientations to choose from: see molecule_trials.h.
 *
 * A molecule that comes is tried at k positions, with m random orientations at each. With g_j the change of -ln p by pairs and
 * fields of choice j, choice j is selected with probability exp(-g_j) / sum. With w = sum / (k m) and D the change of -ln p
 * by the selected one, many-body terms and the activity included, the trial is decided as if -ln p changed by D - g_j - ln w. So
 * many-body terms, as the Fourier part of an Ewald sum, are asked once. A molecule that leaves is put back in thought, into a
 * configuration without it: its own position and orientation with m - 1 others, and k - 1 other positions with m each, are the
 * choices of the way back, of which its own is the one selected (D. Frenkel, B. Smit, Understanding Molecular Simulation,
 * section 13.2). Of a molecule that becomes another one m orientations of both kinds are weighed where it is, while it is hidden:
 * with w and w' the means of exp(-g) of the new and of the old kind, the old one's own orientation among them, -ln p
 * changes by D - (g_new - g_old) - ln (w / w'). */
#include "energy/molecule_trials.h"

#include <math.h>
#include <string.h>

#include "energy/insertions.h"
#include "energy/parts.h"
#include "energy/trial_positions.h"
#include "system/molecule_kinds.h"

/* Choice a of position j has the number j m + a. delta: g; INFINITY if it is forbidden. */
typedef struct choices {
    const plugmc_molecule *kind;
    int32_t positions, orientations;
    double delta[PLUGMC_MOST_TRIAL_POSITIONS];
} choices;

bool is_molecule_trial(const plugmc_trial *t)
{
    return t->kind == PLUGMC_MOLECULE_INSERTED || t->kind == PLUGMC_MOLECULE_REMOVED ||
           t->kind == PLUGMC_MOLECULE_IDENTITY;
}

static int32_t at_least_one(int32_t n) { return n > 1 ? n : 1; }

int32_t molecule_choices(const plugmc_trial *t)
{
    return at_least_one(t->trial_positions) * at_least_one(t->trial_orientations);
}

/* Change of -ln p by energies [terms] of pairs and fields. */
static double weigh(const hamiltonian *h, int32_t w, const double *energy)
{
    const double *multiplier = &h->multipliers[(int64_t)w * h->width];
    double sum = 0;
    for (int k = 0; k < h->count; k++) {
        const int t = h->terms[k].index;
        if (multiplier[t] != 0) sum += multiplier[t] * energy[t];
    }
    return sum;
}

/* Adds energies of sites first ... last - 1 at `at`. Returns whether that is forbidden. */
static bool sites_at(const hamiltonian *h, walker_energy *e, const plugmc_molecule *kind,
                     int32_t first, int32_t last, const double (*at)[3], double *energy)
{
    for (int32_t a = first; a < last; a++)
        if (parts_of(h, e, &(probe){-1, -1, -1, kind->species[a], at[a], NULL}, energy))
            return true;
    return false;
}

/* Choices first ... m - 1 of position j, at `position`. The first site has the same energy with all orientations. */
static void weigh_position(const hamiltonian *h, const plugmc_trial *t, choices *c, int32_t j,
                           int32_t first, const double position[3])
{
    const int32_t w = (int32_t)t->walker;
    const size_t bytes = sizeof(double) * (size_t)h->system->term_count;
    walker_energy *e = &h->walkers[w];
    double at[PLUGMC_MOST_SITES][3], one[h->system->term_count + 1], all[h->system->term_count + 1];
    bool forbidden = false;
    memset(one, 0, sizeof one);
    for (int32_t a = first; a < c->orientations; a++) {
        const int32_t k = j * c->orientations + a;
        const plugmc_orientation o = trial_orientation(t, k);
        place_kind(c->kind, &e->now.box, position, &o, at);
        if (a == first) forbidden = sites_at(h, e, c->kind, 0, 1, (const double(*)[3])at, one);
        memcpy(all, one, bytes);
        c->delta[k] =
            forbidden || sites_at(h, e, c->kind, 1, c->kind->sites, (const double(*)[3])at, all)
                ? INFINITY
                : weigh(h, w, all);
    }
}

/* The selected one, by its weight; `least` is the smallest delta, `sum` that of exp(least - delta). */
static int32_t select_one(const plugmc_trial *t, const choices *c, int32_t n, double least,
                          double sum)
{
    const plugmc_random random =
        plugmc_draw(t->seed, t->sweep, t->walker, t->number, PLUGMC_PURPOSE_ACCEPT, 1);
    const double u = plugmc_uniform_double(random.word[0], random.word[1]) * sum;
    double below = 0;
    int32_t chosen = 0;
    for (int32_t k = 0; k < n; k++) {
        if (c->delta[k] == INFINITY) continue;
        chosen = k;
        below += exp(least - c->delta[k]);
        if (u < below) break;
    }
    return chosen;
}

/* Energies of all terms by the change that c says, into c->change; c->forbidden; change of -ln p by pairs and fields. */
static int ask_all(const hamiltonian *h, const plugmc_changes *c, double *pairs)
{
    walker_energy *e = &h->walkers[c->first];
    insertions x;
    memset(c->change, 0, sizeof(double) * (size_t)h->system->term_count);
    insertions_make(&x, e, c, 0);
    c->forbidden[0] = insertions_pairs(h, e, &x, c->change);
    if (c->forbidden[0]) return PLUGMC_OK;
    *pairs = weigh(h, c->first, c->change);
    const int code = insertions_totals(h, e, c->first, &x, c->change);
    if (!code) changes_weigh(h, c, c->first, 0, 0);
    return code;
}

/* One of n choices, which have been weighed: its number, -1 if all are forbidden. */
typedef struct selected {
    int32_t number;
    /* Smallest delta; sum of exp(least - delta). */
    double least, sum;
    /* Its delta is not above -infinity: the molecule goes there, so that it is found. */
    bool lost;
} selected;

static selected select_of(const plugmc_trial *t, const choices *c, int32_t n)
{
    selected s = {.number = -1, .least = INFINITY};
    for (int32_t k = 0; k < n && s.number < 0; k++) {
        if (!(c->delta[k] > -INFINITY)) s.number = k;
        s.least = fmin(s.least, c->delta[k]);
    }
    s.lost = s.number >= 0;
    if (s.lost || s.least == INFINITY) return s;
    for (int32_t k = 0; k < n; k++) s.sum += exp(s.least - c->delta[k]);
    s.number = select_one(t, c, n, s.least, s.sum);
    return s;
}

int molecule_comes_to_one(hamiltonian *h, const plugmc_trial *t, const plugmc_changes *c,
                          double position[3], plugmc_orientation *orientation, double *delta)
{
    choices all = {.kind = plugmc_kind_of_molecule(h->system->molecules, t->species),
                   .positions = at_least_one(t->trial_positions),
                   .orientations = at_least_one(t->trial_orientations)};
    const int32_t n = all.positions * all.orientations;
    double pairs = 0;
    for (int32_t j = 0; j < all.positions; j++) {
        plugmc_draw_trial_position(t, j, position);
        weigh_position(h, t, &all, j, 0, position);
    }
    const selected s = select_of(t, &all, n);
    c->forbidden[0] = s.number < 0;
    if (c->forbidden[0]) return PLUGMC_OK;
    plugmc_draw_trial_position(t, s.number / all.orientations, position);
    *orientation = trial_orientation(t, s.number);
    const int code = ask_all(h, c, &pairs);
    if (code || c->forbidden[0]) return code;
    *delta = s.lost ? all.delta[s.number]
                    : c->delta[0] - all.delta[s.number] + s.least - log(s.sum / (double)n);
    return PLUGMC_OK;
}

int molecule_leaves_one(hamiltonian *h, const plugmc_trial *t, const plugmc_changes *c,
                        double *delta)
{
    walker_energy *e = &h->walkers[t->walker];
    int64_t m, sites[PLUGMC_MOST_SITES];
    double position[3], pairs = 0, sum = 1;
    choices all = {.kind = molecule_with(h->system, t->particle, &m),
                   .positions = at_least_one(t->trial_positions),
                   .orientations = at_least_one(t->trial_orientations)};
    const int code = ask_all(h, c, &pairs);
    if (code || c->forbidden[0]) return code;
    configuration_hide(&e->now, sites, sites_with(h->system, t->particle, sites));
    configuration_place(&e->now, t->particle, position);
    for (int32_t j = 0; j < all.positions; j++) {
        if (j) plugmc_draw_trial_position(t, j, position);
        weigh_position(h, t, &all, j, j == 0, position);
    }
    configuration_show(&e->now);
    for (int32_t k = 1; k < all.positions * all.orientations; k++)
        sum += exp(-(all.delta[k] + pairs)); /* its own has -pairs */
    *delta = c->delta[0] + log(sum / (double)(all.positions * all.orientations));
    return PLUGMC_OK;
}

/* Orientations of the molecule that leaves are those of a position number 1, at the same place. */
int molecule_becomes_one(hamiltonian *h, const plugmc_trial *t, const plugmc_changes *c,
                         plugmc_orientation *orientation, double *delta)
{
    walker_energy *e = &h->walkers[t->walker];
    const int32_t m = at_least_one(t->trial_orientations);
    int64_t within, sites[PLUGMC_MOST_SITES];
    double pairs = 0, sum = 1;
    choices comes = {.kind = plugmc_kind_of_molecule(h->system->molecules, t->species),
                     .positions = 1,
                     .orientations = m},
            leaves = {.kind = molecule_with(h->system, t->particle, &within),
                      .positions = 2,
                      .orientations = m};
    configuration_hide(&e->now, sites, sites_with(h->system, t->particle, sites));
    weigh_position(h, t, &comes, 0, 0, t->position);
    weigh_position(h, t, &leaves, 1, 1, t->position);
    configuration_show(&e->now);
    const selected s = select_of(t, &comes, m);
    c->forbidden[0] = s.number < 0;
    if (c->forbidden[0]) return PLUGMC_OK;
    *orientation = trial_orientation(t, s.number);
    const int code = ask_all(h, c, &pairs);
    if (code || c->forbidden[0]) return code;
    const double chosen = comes.delta[s.number], own = chosen - pairs;
    for (int32_t a = 1; a < m; a++) sum += exp(own - leaves.delta[m + a]);
    *delta = s.lost
                 ? chosen
                 : c->delta[0] - chosen + s.least - log(s.sum / (double)m) + log(sum / (double)m);
    return PLUGMC_OK;
}

double molecule_energy(hamiltonian *h, int32_t w, int64_t i)
{
    walker_energy *e = &h->walkers[w];
    int64_t within, sites[PLUGMC_MOST_SITES];
    double position[3], at[PLUGMC_MOST_SITES][3], energy[h->system->term_count + 1];
    const plugmc_molecule *kind = molecule_with(h->system, i, &within);
    memset(energy, 0, sizeof energy);
    configuration_place(&e->now, i, position);
    place_kind(kind, &e->now.box, position, &e->now.all.orientation[i], at);
    configuration_hide(&e->now, sites, sites_with(h->system, i, sites));
    const bool forbidden = sites_at(h, e, kind, 0, kind->sites, (const double(*)[3])at, energy);
    configuration_show(&e->now);
    return forbidden ? INFINITY : weigh(h, w, energy);
}

/* ---- Proposals of movers that decide by themselves ------------------------------------------------ */

bool changes_choose(const plugmc_changes *c)
{
    return PLUGMC_HAS(c, choices) && c->choices &&
           at_least_one(c->choices->positions) * at_least_one(c->choices->orientations) > 1;
}

const char *choices_are_wrong(const plugmc_changes *c)
{
    if (!PLUGMC_HAS(c, choices) || !c->choices) return NULL;
    const plugmc_choices *of = c->choices;
    if (c->kind != PLUGMC_MOLECULE_INSERTED && c->kind != PLUGMC_MOLECULE_REMOVED)
        return "several positions are those of molecules that come or leave";
    if (c->per_walker != 1 || !PLUGMC_HAS(c, delta) || !c->delta)
        return "of several positions there is one proposal a walker, with its `delta`";
    if (c->kind == PLUGMC_MOLECULE_INSERTED &&
        (c->position != (const double(*)[3])of->position || c->orientation != of->orientation))
        return "what is selected has to become the proposal";
    return (int64_t)at_least_one(of->positions) * at_least_one(of->orientations) <=
                   PLUGMC_MOST_TRIAL_POSITIONS
               ? NULL
               : "it has too many trial positions and orientations";
}

int molecule_of_choices(hamiltonian *h, const plugmc_changes *c, int32_t w, int64_t p)
{
    const plugmc_choices *of = c->choices;
    const bool inserted = c->kind == PLUGMC_MOLECULE_INSERTED;
    const plugmc_trial t = {.size = sizeof t,
                            .walker = (uint32_t)w,
                            .seed = of->seed,
                            .sweep = of->sweep,
                            .number = of->number,
                            .dimension = h->walkers[w].now.box.dimension,
                            .box = &h->walkers[w].now.box,
                            .kind = c->kind,
                            .particle = inserted ? -1 : c->particle[p],
                            .species = inserted ? c->species[p] : -1,
                            .trial_positions = of->positions,
                            .trial_orientations = of->orientations};
    plugmc_changes one = *c;
    one.first = w, one.walkers = 1;
    one.change = &c->change[p * h->system->term_count];
    one.forbidden = &c->forbidden[p], one.delta = &c->delta[p];
    if (!inserted) {
        one.particle = &c->particle[p];
        return molecule_leaves_one(h, &t, &one, one.delta);
    }
    one.species = &c->species[p], one.position = &c->position[p];
    one.orientation = &c->orientation[p];
    return molecule_comes_to_one(h, &t, &one, of->position[p], &of->orientation[p], one.delta);
}
