/* plugmc/molecule.h: rigid molecules of [molecule NAME], for C and CUDA C++. Part of plugmc/trial.h. Since 2.1.
 *
 * Each site of a molecule is a particle of the state. The first site is the reference point; its position and the
 * orientation of the molecule, which PLUGMC_STATE_ORIENTATION has at the number of the first site, determine the
 * positions of all others (docs/architecture/molecules.md). */
#ifndef PLUGMC_MOLECULE_H
#define PLUGMC_MOLECULE_H

#include "plugmc/device.h"

enum { PLUGMC_MOST_SITES = 64 };

/* Molecules of one kind. */
typedef struct plugmc_molecule {
    const char *name;
    int64_t count;  /* per walker when the run begins */
    int64_t number; /* of the first one among those that there is room for, of all kinds */
    int32_t sites;  /* of each */
    int32_t species[PLUGMC_MOST_SITES]; /* [sites] */
    /* [sites] places at rest, seen from the first site, length. */
    double place[PLUGMC_MOST_SITES][3];
    /* The point about which trial rotations turn, likewise. */
    double centre[3];
    /* [sites] site a of molecule m, counted within its kind, is particle first[a] + m stride[a]. */
    int64_t first[PLUGMC_MOST_SITES], stride[PLUGMC_MOST_SITES];
    /* Molecules that the arrays of a walker can hold. */
    int64_t capacity;
    /* 1: movers may insert and remove molecules: see plugmc_molecules_of_kind. Nothing else is then behind its sites in the
     * blocks of their species. 0: there are `count` in each walker. */
    int32_t changes;
    /* As in plugmc_species: the user gave no maximum. */
    int32_t grows;
    /* Particles of the species of the first site that are sites of other kinds; those are numbered before. */
    int64_t others;
    /* Chemical potential of the molecules on the first rung, as in plugmc_species; NaN: there is no reservoir. The row of
     * PLUGMC_STATE_MULTIPLIER has -ln z / stride[0] for the species of the first site, so that all of a molecule have -ln z. */
    double mu;
} plugmc_molecule;

/* All of them. */
typedef struct plugmc_molecules {
    uint32_t size;
    int32_t kinds;
    uint32_t kind_size; /* stride of the array: see plugmc_kind_of_molecule */
    const plugmc_molecule *kind;
    int64_t count;    /* molecules of all kinds per walker when the run begins */
    int64_t sites;    /* particles per walker that are sites then */
    int64_t capacity; /* molecules of all kinds that there is room for */
} plugmc_molecules;

PLUGMC_FN const plugmc_molecule *plugmc_kind_of_molecule(const plugmc_molecules *all, int32_t k)
{
    return (const plugmc_molecule *)((const char *)all->kind + k * (int64_t)all->kind_size);
}

/* Number of the particle that is site a of molecule m, counted within its kind. */
PLUGMC_FN int64_t plugmc_site_number(const plugmc_molecule *kind, int64_t m, int32_t a)
{
    return kind->first[a] + m * kind->stride[a];
}

/* How many molecules of a kind a walker has that has `count` [species] particles of each species. */
PLUGMC_FN int64_t plugmc_molecules_of_kind(const plugmc_molecule *kind, const int64_t *count)
{
    return kind->changes ? (count[kind->species[0]] - kind->others) / kind->stride[0] : kind->count;
}

/* Likewise of all kinds. *sites, unless NULL, becomes how many sites they have together. */
PLUGMC_FN int64_t plugmc_molecules_present(const plugmc_molecules *all, const int64_t *count,
                                           int64_t *sites)
{
    int64_t n = 0, of_all = 0;
    for (int32_t k = 0; k < all->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(all, k);
        const int64_t there = plugmc_molecules_of_kind(kind, count);
        n += there;
        of_all += there * kind->sites;
    }
    if (sites) *sites = of_all;
    return n;
}

/* The kind of molecule m, counted through all that there is room for; *within becomes its number within the kind. */
PLUGMC_FN const plugmc_molecule *plugmc_molecule_at(const plugmc_molecules *all, int64_t m,
                                                    int64_t *within)
{
    int32_t k = 0;
    const plugmc_molecule *kind = plugmc_kind_of_molecule(all, 0);
    while (k + 1 < all->kinds && m >= kind->number + kind->capacity)
        kind = plugmc_kind_of_molecule(all, ++k);
    *within = m - kind->number;
    return kind;
}

/* The kind of molecule m of those that are present, kind by kind, in a walker with `count` [species] particles. */
PLUGMC_FN const plugmc_molecule *plugmc_present_molecule(const plugmc_molecules *all,
                                                         const int64_t *count, int64_t m,
                                                         int64_t *within)
{
    int32_t k = 0;
    const plugmc_molecule *kind = plugmc_kind_of_molecule(all, 0);
    while (k + 1 < all->kinds && m >= plugmc_molecules_of_kind(kind, count)) {
        m -= plugmc_molecules_of_kind(kind, count);
        kind = plugmc_kind_of_molecule(all, ++k);
    }
    *within = m;
    return kind;
}

/* A vector of the molecule at rest, turned into space. In double precision also where `real` is float. */
PLUGMC_FN void plugmc_turn_vector(const plugmc_orientation *o, const double v[3], double out[3])
{
    const double w = (double)o->part[0] * 0x1p-30, x = (double)o->part[1] * 0x1p-30,
                 y = (double)o->part[2] * 0x1p-30, z = (double)o->part[3] * 0x1p-30;
    const double over = 1 / (w * w + x * x + y * y + z * z), two = 2 * over;
    out[0] = (w * w + x * x - y * y - z * z) * over * v[0] + (x * y - w * z) * two * v[1] +
             (x * z + w * y) * two * v[2];
    out[1] = (x * y + w * z) * two * v[0] + (w * w - x * x + y * y - z * z) * over * v[1] +
             (y * z - w * x) * two * v[2];
    out[2] = (x * z - w * y) * two * v[0] + (y * z + w * x) * two * v[1] +
             (w * w - x * x - y * y + z * z) * over * v[2];
}

/* Position of site a of a molecule with its first site at `first`, length, wrapped. */
PLUGMC_FN void plugmc_place_site(const plugmc_molecule *kind, const plugmc_orientation *o,
                                 const plugmc_box *box, const double first[3], int32_t a,
                                 double out[3])
{
    double offset[3];
    plugmc_turn_vector(o, kind->place[a], offset);
    for (int d = 0; d < 3; d++) out[d] = a ? first[d] + offset[d] : first[d];
    plugmc_wrap(box, out);
}

#endif
