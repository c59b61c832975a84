/* plugmc/placed.h: a body at its place, for plugmc/body.h and for GPU source that looks at pairs of bodies. */
#ifndef PLUGMC_PLACED_H
#define PLUGMC_PLACED_H

/* One of two bodies. */
typedef struct plugmc_placed {
    plugmc_site site;
    plugmc_orientation orientation;
    plugmc_pose pose;
} plugmc_placed;

/* Whether a is the first of the two. */
PLUGMC_FN int plugmc_is_first(plugmc_separation s, const plugmc_placed *a, const plugmc_placed *b)
{
    if (a->site.species != b->site.species) return a->site.species < b->site.species;
    if (s.x != 0) return s.x > 0;
    if (s.y != 0) return s.y > 0;
    if (s.z != 0) return s.z > 0;
    for (int k = 0; k < 4; k++)
        if (a->orientation.part[k] != b->orientation.part[k])
            return a->orientation.part[k] > b->orientation.part[k];
    return 1;
}

/* Two bodies and their separation a - b, so that it does not depend on which of them is called a. */
typedef struct plugmc_in_order {
    plugmc_separation s;
    plugmc_placed a, b;
} plugmc_in_order;

/* Values are chosen, not branches: threads of a GPU stay together. */
PLUGMC_FN plugmc_in_order plugmc_ordered(plugmc_separation s, const plugmc_placed *a,
                                         const plugmc_placed *b)
{
    const int first = plugmc_is_first(s, a, b);
    plugmc_in_order o = {s, *a, *b};
    if (first) return o;
    o.s.x = -s.x;
    o.s.y = -s.y;
    o.s.z = -s.z;
    o.a = *b;
    o.b = *a;
    return o;
}
#endif
