/* See groups.h. */
#include "energy/groups.h"

#include <math.h>
#include <string.h>

#include "energy/parts.h"
#include "energy/totals.h"
#include "system/molecule_kinds.h"

/* Particle number k goes from at[k] to to[k], which is in the box. */
typedef struct group {
    int32_t n;
    const int32_t *member;
    double at[PLUGMC_MOST_DISPLACED][3], to[PLUGMC_MOST_DISPLACED][3];
    int64_t sorted[PLUGMC_MOST_DISPLACED];
} group;

static int32_t size_of(const plugmc_changes *c, int64_t p)
{
    int32_t n = 0;
    while (n < c->group && c->particle[p * c->group + n] >= 0) n++;
    return n;
}

/* Groups are small, and mostly sorted already. */
static void sort_members(const int32_t *member, int32_t n, int64_t *sorted)
{
    for (int32_t k = 0; k < n; k++) {
        int32_t l = k;
        for (; l > 0 && sorted[l - 1] > member[k]; l--) sorted[l] = sorted[l - 1];
        sorted[l] = member[k];
    }
}

const char *displaced_group_is_wrong(const hamiltonian *h, const walker_energy *e,
                                     const plugmc_changes *c, int64_t p)
{
    int64_t sorted[PLUGMC_MOST_DISPLACED];
    if (!PLUGMC_HAS(c, group) || c->group < 1 || c->group > PLUGMC_MOST_DISPLACED)
        return "has a group without particles, or with too many";
    const int32_t n = size_of(c, p), *member = &c->particle[p * c->group];
    for (int32_t k = 0; k < n; k++) {
        if (member[k] >= h->system->particles || isnan(e->now.all.x[member[k]]))
            return "has no such particle";
        if (!is_position(c->position[p * c->group + k]))
            return "has a position that is not a number";
    }
    sort_members(member, n, sorted);
    for (int32_t k = 1; k < n; k++)
        if (sorted[k] == sorted[k - 1]) return "has the same particle twice in a group";
    return NULL;
}

static void make_group(group *g, const walker_energy *e, const plugmc_changes *c, int64_t p)
{
    g->n = size_of(c, p);
    g->member = &c->particle[p * c->group];
    for (int32_t k = 0; k < g->n; k++) {
        configuration_place(&e->now, g->member[k], g->at[k]);
        memcpy(g->to[k], c->position[p * c->group + k], sizeof g->to[k]);
        plugmc_wrap(&e->now.box, g->to[k]);
    }
    sort_members(g->member, g->n, g->sorted);
}

/* Energies of the members at positions with each other, and with all other particles while the group is hidden. Returns
 * whether that is forbidden. */
static bool parts_at(const hamiltonian *h, walker_energy *e, const group *g, const double (*at)[3],
                     double *energy)
{
    const int32_t *species = e->now.all.species;
    for (int32_t k = 1; k < g->n; k++) {
        const probe one = {-1,    -1,
                           -1,    species[g->member[k]],
                           at[k], configuration_orientation(&e->now, g->member[k])};
        for (int32_t l = 0; l < k; l++) {
            const probe other = {-1,    -1,
                                 -1,    species[g->member[l]],
                                 at[l], configuration_orientation(&e->now, g->member[l])};
            if (parts_between(h, &e->now, &other, &one, energy)) return true;
        }
    }
    for (int32_t k = 0; k < g->n; k++) {
        const probe one = {-1,    -1,
                           -1,    species[g->member[k]],
                           at[k], configuration_orientation(&e->now, g->member[k])};
        if (parts_of(h, e, &one, energy)) return true;
    }
    return false;
}

/* Energies of sites with those of the other molecule, where two swap. Returns whether that is forbidden. */
static bool between_molecules(const hamiltonian *h, walker_energy *e, const group *g,
                              const double (*at)[3], double *energy)
{
    const int32_t *species = e->now.all.species;
    for (int32_t k = 1; k < g->n; k++) {
        const probe one = {-1, -1, -1, species[g->member[k]], at[k], NULL};
        for (int32_t l = 0; l < k; l++) {
            const probe other = {-1, -1, -1, species[g->member[l]], at[l], NULL};
            if (!in_same_molecule(h->system, g->member[k], g->member[l]) &&
                parts_between(h, &e->now, &other, &one, energy))
                return true;
        }
    }
    return false;
}

/* The sites of a rigid molecule have no energy with each other: each one's neighbours at both positions are found at once. */
static bool sites_displaced(const hamiltonian *h, walker_energy *e, const group *g, double *change)
{
    bool forbidden = false;
    if (!in_same_molecule(h->system, g->member[0], g->member[g->n - 1])) {
        double *before = e->proposed;
        memset(before, 0, sizeof *before * (size_t)h->system->term_count);
        between_molecules(h, e, g, g->at, before);
        for (int t = 0; t < h->system->term_count; t++) change[t] -= before[t];
        forbidden = between_molecules(h, e, g, g->to, change);
    }
    configuration_hide(&e->now, g->sorted, g->n);
    for (int32_t k = 0; k < g->n && !forbidden; k++) {
        const probe p = {-1, -1, -1, e->now.all.species[g->member[k]], g->at[k], NULL};
        forbidden = close_change(h, e, &p, g->to[k], NULL, change) ||
                    (h->has_far && far_energy(h, &e->now, &p, g->to[k], change));
    }
    configuration_show(&e->now);
    return forbidden;
}

/* All members leave before the first one arrives, so nobody is in the way of another. */
static bool parts_displaced(const hamiltonian *h, walker_energy *e, const group *g, double *change)
{
    const int terms = h->system->term_count;
    configuration_hide(&e->now, g->sorted, g->n);
    const bool forbidden = parts_at(h, e, g, g->to, change);
    if (!forbidden && (h->old_energies || h->has_far)) {
        double *before = e->proposed;
        memset(before, 0, sizeof *before * (size_t)terms);
        parts_at(h, e, g, g->at, before);
        for (int t = 0; t < terms; t++) change[t] -= before[t];
    }
    configuration_show(&e->now);
    return forbidden;
}

/* Many-body terms that do not take a group at once see one particle after the other move. They are asked about the last one. */
static int totals_of_group(const hamiltonian *h, walker_energy *e, int32_t w, const group *g,
                           double *change)
{
    int code = PLUGMC_OK;
    const plugmc_displacements all = {.size = sizeof all,
                                      .n = g->n,
                                      .particle = g->member,
                                      .position = (const double(*)[3])g->to};
    if (totals_displace_together(h)) return totals_displaced_together(h, e, w, &all, change);
    for (int32_t k = 0; k < g->n && !code; k++) {
        code = totals_displaced(h, e, w, g->member[k], g->to[k], change);
        if (!code && k + 1 < g->n) code = totals_settle(h, e, w, 1);
    }
    return code;
}

int group_displaced(const hamiltonian *h, walker_energy *e, int32_t w, const plugmc_changes *c,
                    int64_t p, double *change, int32_t *forbidden)
{
    group g;
    make_group(&g, e, c, p);
    *forbidden = h->system->molecules ? sites_displaced(h, e, &g, change)
                                      : parts_displaced(h, e, &g, change);
    e->asked = h->has_totals && !*forbidden;
    return e->asked ? totals_of_group(h, e, w, &g, change) : PLUGMC_OK;
}

int take_group(const hamiltonian *h, walker_energy *e, int32_t w, const plugmc_changes *c,
               int64_t p, bool taken)
{
    double unused[1 + h->system->term_count];
    group g;
    make_group(&g, e, c, p);
    int code = e->asked ? totals_settle(h, e, w, taken) : PLUGMC_OK;
    for (int32_t k = 0; k < g.n && taken && !code; k++)
        configuration_move(&e->now, g.member[k], g.to[k]);
    if (taken && !code && PLUGMC_HAS(c, orientation) && c->orientation) /* of a molecule */
        configuration_turn(&e->now, g.member[0], &c->orientation[p]);
    if (taken || !e->asked || totals_displace_together(h)) return code;
    for (int32_t k = g.n - 2; k >= 0 && !code; k--) { /* the others go back */
        code = totals_displaced(h, e, w, g.member[k], g.at[k], unused);
        if (!code) code = totals_settle(h, e, w, 1);
    }
    return code;
}
