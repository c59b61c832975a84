/* What is wrong with changes that a mover proposes. */
#include <math.h>

#include "energy/insertions.h"
#include "energy/molecule_trials.h"
#include "energy/parts.h"
#include "system/molecule_kinds.h"

/* The new orientation of a particle, or of one that comes; NULL: none is given. */
static const plugmc_orientation *changed_orientation(const plugmc_changes *c, int64_t p)
{
    return PLUGMC_HAS(c, orientation) && c->orientation ? &c->orientation[p] : NULL;
}

/* Whether a single particle that is displaced, swapped or taken away is in a molecule. */
static bool moves_site(const hamiltonian *h, const plugmc_changes *c, int64_t p)
{
    const int32_t *molecule = h->system->molecule;
    if (c->kind == PLUGMC_INSERTED) return false;
    return molecule[c->particle[p]] >= 0 ||
           (c->kind == PLUGMC_SWAPPED && molecule[c->other[p]] >= 0);
}

/* What is wrong with proposal p, of one particle; NULL if nothing is, or nothing is proposed. */
static const char *one_is_wrong(const hamiltonian *h, const plugmc_changes *c, int64_t p)
{
    if (!hamiltonian_is_proposed(c, p)) return NULL;
    const bool comes = c->kind == PLUGMC_INSERTED, another = c->kind == PLUGMC_IDENTITY;
    if ((comes || another) && c->species[p] >= h->system->species_count)
        return "there is no such species";
    if ((!comes && c->particle[p] >= h->system->particles) ||
        (c->kind == PLUGMC_SWAPPED && (c->other[p] < 0 || c->other[p] >= h->system->particles)))
        return "there is no such particle";
    if (h->system->molecules && moves_site(h, c, p)) return "it moves a site of a rigid molecule";
    if ((comes || another) && has_sites(h->system, c->species[p]))
        return "particles of this species are sites of rigid molecules";
    const plugmc_orientation *turn = changed_orientation(c, p);
    if (h->system->bodies && turn && goes_somewhere(c->kind) &&
        !is_orientation(turn, h->system->box.dimension))
        return "its orientation is none";
    return goes_somewhere(c->kind) && !is_position(c->position[p]) ? "its position is not a number"
                                                                   : NULL;
}

const char *changes_refused(const hamiltonian *h, const plugmc_changes *c)
{
    const bool molecules =
        c->kind == PLUGMC_MOLECULE_INSERTED || c->kind == PLUGMC_MOLECULE_REMOVED;
    const bool counts =
        molecules || (c->kind >= PLUGMC_INSERTED && c->kind <= PLUGMC_GROUP_REMOVED);
    const bool displaced = c->kind == PLUGMC_DISPLACED || c->kind == PLUGMC_GROUP_DISPLACED;
    if (!counts && !displaced && c->kind != PLUGMC_SWAPPED) return "its kind is unknown";
    if (counts && !(h->system->changes & PLUGMC_CHANGED_COUNT))
        return "it changes the number of particles, which no mover of the run declares";
    const bool comes = c->kind == PLUGMC_INSERTED || c->kind == PLUGMC_GROUP_INSERTED ||
                       c->kind == PLUGMC_MOLECULE_INSERTED;
    if (h->system->bodies && comes && !changed_orientation(c, 0))
        return "bodies come without an orientation";
    if (!h->system->bodies && changed_orientation(c, 0)) return "there are no bodies to turn";
    if (h->system->molecules && c->kind >= PLUGMC_GROUP_INSERTED &&
        c->kind <= PLUGMC_GROUP_DISPLACED)
        return "groups do not move, come or leave beside rigid molecules";
    const char *why = choices_are_wrong(c);
    for (int64_t p = 0; p < c->walkers * c->per_walker && !why; p++) {
        const walker_energy *e = &h->walkers[c->first + p / c->per_walker];
        why = molecules                          ? molecule_is_wrong(h, e, c, p)
              : c->kind >= PLUGMC_GROUP_INSERTED ? group_is_wrong(h, e, c, p)
                                                 : one_is_wrong(h, c, p);
    }
    return why;
}
