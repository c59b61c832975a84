/* Insertions and removals. See insertions.h. */
#include "energy/insertions.h"

#include <math.h>
#include <string.h>

#include "energy/groups.h"
#include "energy/parts.h"
#include "energy/totals.h"
#include "system/molecule_kinds.h"

/* ---- What is proposed ---------------------------------------------------------------------------- */

static bool in_groups(const plugmc_changes *c)
{
    return c->kind >= PLUGMC_GROUP_INSERTED && c->kind <= PLUGMC_GROUP_DISPLACED;
}

static bool comes(int32_t kind)
{
    return kind == PLUGMC_INSERTED || kind == PLUGMC_IDENTITY || kind == PLUGMC_GROUP_INSERTED;
}

static bool leaves(int32_t kind)
{
    return kind == PLUGMC_REMOVED || kind == PLUGMC_IDENTITY || kind == PLUGMC_GROUP_REMOVED;
}

static bool of_molecule(const plugmc_changes *c)
{
    return c->kind == PLUGMC_MOLECULE_INSERTED || c->kind == PLUGMC_MOLECULE_REMOVED ||
           c->kind == PLUGMC_MOLECULE_IDENTITY;
}

int32_t together(const plugmc_changes *c) { return in_groups(c) ? c->group : 1; }

static void molecule_comes(insertions *x, const walker_energy *e, const plugmc_changes *c,
                           int64_t p)
{
    const plugmc_molecule *kind = plugmc_kind_of_molecule(e->now.system->molecules, c->species[p]);
    place_kind(kind, &e->now.box, c->position[p], &c->orientation[p], x->position);
    for (int32_t a = 0; a < kind->sites; a++) {
        x->species[a] = kind->species[a];
        x->orientation[a] = a ? plugmc_upright(3) : c->orientation[p];
    }
    x->of.inserted = kind->sites;
}

/* So that the sites of the last molecule get the numbers of these in their order, the largest number leaves first. */
static void molecule_leaves(insertions *x, const walker_energy *e, const plugmc_changes *c,
                            int64_t p)
{
    int64_t sites[PLUGMC_MOST_SITES];
    const int32_t n = sites_with(e->now.system, c->particle[p], sites);
    for (int32_t a = 0; a < n; a++) x->particle[a] = (int32_t)sites[n - 1 - a];
    x->of.removed = n;
}

void insertions_make(insertions *x, const walker_energy *e, const plugmc_changes *c, int64_t p)
{
    const int32_t n = together(c);
    x->of = (plugmc_insert_remove){.size = sizeof x->of};
    x->of.species = x->species, x->of.particle = x->particle;
    x->of.position = (const double(*)[3])x->position;
    x->molecule = of_molecule(c);
    if (x->molecule) {
        if (c->kind != PLUGMC_MOLECULE_REMOVED) molecule_comes(x, e, c, p);
        if (c->kind != PLUGMC_MOLECULE_INSERTED) molecule_leaves(x, e, c, p);
        return;
    }
    if (comes(c->kind)) x->of.inserted = n;
    if (leaves(c->kind)) x->of.removed = n;
    for (int32_t k = 0; k < n; k++) {
        if (leaves(c->kind)) x->particle[k] = c->particle[p * n + k];
        if (!comes(c->kind)) continue;
        x->species[k] = c->species[p * n + k];
        const bool stays = leaves(c->kind); /* it becomes another */
        if (stays)
            configuration_place(&e->now, x->particle[k], x->position[k]);
        else
            memcpy(x->position[k], c->position[p * n + k], sizeof x->position[k]);
        if (e->now.system->bodies)
            x->orientation[k] =
                stays ? e->now.all.orientation[x->particle[k]] : c->orientation[p * n + k];
        plugmc_wrap(&e->now.box, x->position[k]);
    }
    if (c->kind == PLUGMC_IDENTITY && x->species[0] == e->now.all.species[x->particle[0]])
        x->of.inserted = x->of.removed = 0;
}

bool goes_somewhere(int32_t kind) { return kind == PLUGMC_DISPLACED || kind == PLUGMC_INSERTED; }

const char *group_is_wrong(const hamiltonian *h, const walker_energy *e, const plugmc_changes *c,
                           int64_t p)
{
    const int32_t n = together(c);
    if (c->kind == PLUGMC_GROUP_DISPLACED) return displaced_group_is_wrong(h, e, c, p);
    if (!PLUGMC_HAS(c, group) || n < 1 || n > PLUGMC_MOST_TOGETHER)
        return "has a group without particles, or with too many";
    for (int32_t k = 0; k < n && c->kind == PLUGMC_GROUP_INSERTED; k++)
        if (c->species[p * n + k] >= h->system->species_count) return "has no such species";
    for (int32_t k = 0; k < n && c->kind == PLUGMC_GROUP_INSERTED; k++)
        if (c->species[p * n + k] >= 0 && !is_position(c->position[p * n + k]))
            return "has a position that is not a number";
    for (int32_t k = 0; k < n && c->kind == PLUGMC_GROUP_REMOVED; k++) {
        const int32_t i = c->particle[p * n + k];
        if (i >= h->system->particles) return "has no such particle";
        for (int32_t l = 0; l < k; l++)
            if (i >= 0 && c->particle[p * n + l] >= 0 && c->particle[p * n + l] <= i &&
                e->now.all.species[c->particle[p * n + l]] == e->now.all.species[i])
                return "does not list particles of a species in descending order";
    }
    return NULL;
}

const char *molecule_is_wrong(const hamiltonian *h, const walker_energy *e, const plugmc_changes *c,
                              int64_t p)
{
    const plugmc_molecules *all = h->system->molecules;
    int64_t m;
    if (!hamiltonian_is_proposed(c, p)) return NULL;
    if (!all) return "there are no rigid molecules";
    if (c->kind != PLUGMC_MOLECULE_REMOVED && (c->species[p] < 0 || c->species[p] >= all->kinds))
        return "there is no such kind of molecule";
    if (c->kind != PLUGMC_MOLECULE_INSERTED) {
        const int64_t i = c->particle[p];
        if (i >= e->now.n || isnan(e->now.all.x[i]) || !is_first_site(h->system, i))
            return "it is not the first site of a molecule that leaves";
        if (!molecule_with(h->system, i, &m)->changes)
            return "the number of such molecules does not change";
        if (c->kind == PLUGMC_MOLECULE_REMOVED) return NULL;
        if (molecule_with(h->system, i, &m) == plugmc_kind_of_molecule(all, c->species[p]))
            return "it is of the kind that it is to become";
    }
    if (!plugmc_kind_of_molecule(all, c->species[p])->changes)
        return "the number of such molecules does not change";
    if (!PLUGMC_HAS(c, orientation) || !c->orientation ||
        !is_orientation(&c->orientation[p], h->system->box.dimension))
        return "a molecule comes without an orientation";
    return is_position(c->position[p]) ? NULL : "its position is not a number";
}

static int64_t sites_of(const plugmc_molecule *kind, int32_t species)
{
    int64_t n = 0;
    for (int32_t a = 0; a < kind->sites; a++) n += kind->species[a] == species;
    return n;
}

/* Of a species in the molecules that come and leave. */
static int64_t sites_in_change(const plugmc_system *system, const plugmc_changes *c, int64_t p,
                               int32_t species)
{
    int64_t m, n = 0;
    if (c->kind != PLUGMC_MOLECULE_REMOVED)
        n += sites_of(plugmc_kind_of_molecule(system->molecules, c->species[p]), species);
    if (c->kind != PLUGMC_MOLECULE_INSERTED)
        n -= sites_of(c->particle[p] >= 0 ? molecule_with(system, c->particle[p], &m)
                                          : plugmc_kind_of_molecule(system->molecules, c->other[p]),
                      species);
    return n;
}

int64_t count_change(const hamiltonian *h, const plugmc_changes *c, int32_t walker, int64_t p,
                     int32_t species)
{
    if (of_molecule(c)) return sites_in_change(h->system, c, p, species);
    const int32_t n = together(c), *own = h->walkers[walker].now.all.species;
    int64_t sum = 0;
    for (int32_t k = 0; k < n; k++) {
        if (comes(c->kind)) sum += c->species[p * n + k] == species;
        if (!leaves(c->kind)) continue;
        const int32_t i = c->particle[p * n + k];
        const int32_t of = i >= 0 ? own[i] : in_groups(c) ? -1 - i : c->other[p];
        sum -= of == species;
    }
    return sum;
}

/* ---- What it does to the energy ------------------------------------------------------------------ */

/* Room for all who come; those who leave are of other species. */
static bool has_room(walker_energy *e, const plugmc_insert_remove *x)
{
    for (int32_t k = 0; k < x->inserted; k++) {
        const int64_t *first = &e->now.system->first[x->species[k]];
        int64_t n = e->now.counts[x->species[k]] + 1;
        for (int32_t l = 0; l < k; l++) n += x->species[l] == x->species[k];
        if (n <= first[1] - first[0]) continue;
        e->full = x->species[k] + 1;
        return false;
    }
    return true;
}

/* With those who are there, but for who leaves, and among each other. Returns whether they cannot come. */
static bool parts_that_come(const hamiltonian *h, walker_energy *e, const insertions *t,
                            double *change)
{
    const plugmc_insert_remove *x = &t->of;
    probe who[PLUGMC_MOST_SITES];
    for (int32_t k = 0; k < x->inserted; k++) {
        who[k] = (probe){x->removed && !t->molecule ? x->particle[0] : -1,
                         -1,
                         -1,
                         x->species[k],
                         x->position[k],
                         &t->orientation[k]};
        for (int32_t l = 0; l < k && !t->molecule; l++)
            if (parts_between(h, &e->now, &who[l], &who[k], change)) return true;
    }
    for (int32_t k = 0; k < x->inserted; k++)
        if (parts_of(h, e, &who[k], change)) return true;
    return false;
}

/* Each takes all its pairs along: those among the ones that leave twice. */
static void parts_that_leave(const hamiltonian *h, walker_energy *e, const plugmc_insert_remove *x,
                             double *change)
{
    double at[PLUGMC_MOST_TOGETHER][3];
    probe who[PLUGMC_MOST_TOGETHER];
    for (int32_t k = 0; k < x->removed; k++) {
        const int32_t i = x->particle[k];
        configuration_place(&e->now, i, at[k]);
        who[k] =
            (probe){i, -1, -1, e->now.all.species[i], at[k], configuration_orientation(&e->now, i)};
        take_parts_off(h, e, i, change);
        for (int32_t l = 0; l < k && (h->old_energies || h->has_far); l++)
            parts_between(h, &e->now, &who[l], &who[k], change);
    }
}

/* Energies of the sites of a molecule that leaves with all others, while it is hidden. */
static void sites_that_leave(const hamiltonian *h, walker_energy *e, const plugmc_insert_remove *x,
                             double *change)
{
    double *energy = e->proposed;
    if (!h->old_energies && !h->has_far) return;
    memset(energy, 0, sizeof *energy * (size_t)h->system->term_count);
    for (int32_t k = x->removed; k-- > 0;) {
        const int32_t i = x->particle[k];
        double at[3];
        configuration_place(&e->now, i, at);
        parts_of(h, e, &(probe){-1, -1, -1, e->now.all.species[i], at, NULL}, energy);
    }
    for (int t = 0; t < h->system->term_count; t++) change[t] -= energy[t];
}

/* Of molecules. One that becomes another is hidden from the one that comes. */
static bool molecules_pairs(const hamiltonian *h, walker_energy *e, const insertions *t,
                            double *change)
{
    const plugmc_insert_remove *x = &t->of;
    int64_t sorted[PLUGMC_MOST_SITES];
    if (!x->removed) return parts_that_come(h, e, t, change);
    for (int32_t k = 0; k < x->removed; k++) sorted[k] = x->particle[x->removed - 1 - k];
    configuration_hide(&e->now, sorted, x->removed);
    const bool forbidden = parts_that_come(h, e, t, change);
    if (!forbidden) sites_that_leave(h, e, x, change);
    configuration_show(&e->now);
    return forbidden;
}

/* Energies that depend on how many there are alone. */
static void counts_change(const hamiltonian *h, const walker_energy *e,
                          const plugmc_insert_remove *x, double *change)
{
    const int32_t species = h->system->species_count;
    int64_t count[species + 1];
    memcpy(count, e->now.counts, sizeof *count * (size_t)species);
    for (int32_t k = 0; k < x->inserted; k++) count[x->species[k]]++;
    for (int32_t k = 0; k < x->removed; k++) count[e->now.all.species[x->particle[k]]]--;
    for (int k = 0; k < h->count; k++) {
        const energy_term *t = &h->terms[k];
        if (t->total && !t->total_moves)
            change[t->index] += t->total->of_counts(t->of->instance, &e->now.box, count) -
                                t->total->of_counts(t->of->instance, &e->now.box, e->now.counts);
    }
}

bool insertions_pairs(const hamiltonian *h, walker_energy *e, const insertions *t, double *change)
{
    const plugmc_insert_remove *x = &t->of;
    if (!has_room(e, x)) return true;
    if (t->molecule) return molecules_pairs(h, e, t, change);
    if (parts_that_come(h, e, t, change)) return true;
    parts_that_leave(h, e, x, change);
    return false;
}

int insertions_totals(const hamiltonian *h, walker_energy *e, int32_t w, const insertions *t,
                      double *change)
{
    counts_change(h, e, &t->of, change);
    e->asked = h->has_totals;
    return e->asked ? totals_insert_remove(h, e, w, &t->of, change) : PLUGMC_OK;
}

int insertions_change(const hamiltonian *h, walker_energy *e, int32_t w, const insertions *t,
                      double *change, int32_t *forbidden)
{
    const plugmc_insert_remove *x = &t->of;
    if (!x->inserted && !x->removed) return PLUGMC_OK;
    *forbidden = insertions_pairs(h, e, t, change);
    return *forbidden ? PLUGMC_OK : insertions_totals(h, e, w, t, change);
}

void insertions_take(walker_energy *e, const insertions *x)
{
    for (int32_t k = 0; k < x->of.removed; k++) configuration_remove(&e->now, x->particle[k]);
    for (int32_t k = 0; k < x->of.inserted; k++)
        configuration_insert(&e->now, x->species[k], x->position[k], &x->orientation[k]);
    e->recounted = true;
}
