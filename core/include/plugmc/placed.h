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
#endif
