/* plugmc/body_pairs.h: many pairs of hard bodies at a time, for movers that make trial moves of several cells side by side.
 * Part of plugmc/body.h.
 *
 * Every hard body without an energy offers it. A potential may have, beside body_overlap, a function that looks at a pair in each
 * lane of a vector, for bodies in two dimensions:
 *
 *     PLUGMC_BODY_LANES       int body_overlap_lanes(const parameters *p, const plugmc_body_lanes *lanes,
 *                                                    int32_t overlap[PLUGMC_LANE_BLOCK])
 *                                 under #if PLUGMC_HOST: what body_overlap answers, to the bit, for each lane; or 0, and
 *                                 body_overlap is asked, pair by pair
 *
 * It is called for one species, which all bodies belong to. */
#ifndef PLUGMC_BODY_PAIRS_H
#define PLUGMC_BODY_PAIRS_H

#include "plugmc/body_facet.h"
#include "plugmc/placed.h"

#define PLUGMC_BODY_LANES 64 /* beside the other functions of a body, which plugmc/device.h has */

/* Pairs of bodies a and b as a structure of arrays [n], which can be read up to the next multiple of PLUGMC_LANE_BLOCK.
 * Float only. */
typedef struct plugmc_pairs_of_bodies {
    uint32_t size;
    int32_t dimension;
    int64_t n;
    const float *x, *y, *z; /* separations a - b, length, without images; z in three dimensions */
    const int32_t *turned_a[4],
        *turned_b[4]; /* parts of orientations; in two dimensions the first alone */
    const uint8_t *species_a, *species_b; /* NULL with one species */
    const float *charge, *diameter;       /* [species] */
} plugmc_pairs_of_bodies;

/* The extension of a potential. */
#define PLUGMC_BODY_PAIRS "plugmc.body_pairs/1"
typedef struct plugmc_body_pairs {
    uint32_t size;
    /* overlap [n], up to the next multiple of PLUGMC_LANE_BLOCK: 1 where two bodies overlap, else 0, as plugmc_body.meet
     * finds it. NULL in double precision, and for bodies with an energy. */
    void (*overlap)(const void *instance, const plugmc_pairs_of_bodies *, uint8_t *overlap);
} plugmc_body_pairs;

/* What a potential offers; NULL: nothing, or it cannot. */
static inline const plugmc_body_pairs *plugmc_body_pairs_of(const plugmc_plugin *potential)
{
    const plugmc_body_pairs *pairs =
        (const plugmc_body_pairs *)plugmc_offered(potential, PLUGMC_BODY_PAIRS);
    return pairs && pairs->overlap ? pairs : NULL;
}

/* Pairs in the lanes of a vector, each in the order in which body_overlap gets them, in two dimensions. */
typedef struct plugmc_body_lanes {
    plugmc_site site;                                /* of all */
    real x[PLUGMC_LANE_BLOCK], y[PLUGMC_LANE_BLOCK]; /* a - b, length */
    real cosine_a[PLUGMC_LANE_BLOCK],
        sine_a[PLUGMC_LANE_BLOCK]; /* of the angle by which a is turned */
    real cosine_b[PLUGMC_LANE_BLOCK], sine_b[PLUGMC_LANE_BLOCK];
} plugmc_body_lanes;

/* A loop over the lanes, of which compilers make vectors if the lanes share nothing that is written. */
#define PLUGMC_EACH_LANE(l) for (int l = 0; l < PLUGMC_LANE_BLOCK; l++)

#endif
