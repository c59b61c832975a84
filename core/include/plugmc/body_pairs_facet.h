/* plugmc/body_pairs_facet.h: makes plugmc_body_pairs (plugmc/body_pairs.h) from the author's functions. Part of plugmc/body.h,
 * in host code. */

#if PLUGMC_BODY & PLUGMC_BODY_OVERLAP && !(PLUGMC_BODY & PLUGMC_BODY_ENERGY)

PLUGMC_FN plugmc_site plugmc_site_in_pair(const plugmc_pairs_of_bodies *pairs,
                                          const uint8_t *species, int64_t k)
{
    const int32_t s = species ? species[k] : 0;
    return (plugmc_site){(real)pairs->charge[s], (real)pairs->diameter[s], s};
}

PLUGMC_FN int plugmc_pair_overlaps(const parameters *p, const plugmc_pairs_of_bodies *pairs,
                                   int64_t k)
{
    const int dimension = pairs->dimension;
    const real x = (real)pairs->x[k], y = (real)pairs->y[k],
               z = dimension == 3 ? (real)pairs->z[k] : 0;
    const plugmc_separation s = {x, y, z, x * x + y * y + z * z};
    plugmc_placed a = {plugmc_site_in_pair(pairs, pairs->species_a, k), {{0}}, {{0}, {0}, {0}}},
                  b = {plugmc_site_in_pair(pairs, pairs->species_b, k), {{0}}, {{0}, {0}, {0}}};
    real none = 0;
    for (int d = 0; d < (dimension == 3 ? 4 : 1); d++) {
        a.orientation.part[d] = pairs->turned_a[d][k];
        b.orientation.part[d] = pairs->turned_b[d][k];
    }
    if (!(body_reach(p, a.site) > 0)) return 0;
    a.pose = plugmc_pose_of(&a.orientation, dimension);
    return plugmc_bodies_meet(p, s, &a, &b, dimension, &none);
}

#if PLUGMC_BODY & PLUGMC_BODY_LANES
/* Lanes of pairs `first` ... of one species in two dimensions, in the order of plugmc_ordered; *meet is that of
 * plugmc_spheres_meet. */
PLUGMC_FN void plugmc_lanes_in_order(const parameters *p, const plugmc_pairs_of_bodies *pairs,
                                     int64_t first, plugmc_body_lanes *out,
                                     int32_t meet[PLUGMC_LANE_BLOCK])
{
    const float *x = pairs->x + first, *y = pairs->y + first;
    const int32_t *turned_a = pairs->turned_a[0] + first, *turned_b = pairs->turned_b[0] + first;
    const plugmc_site site = plugmc_site_in_pair(pairs, NULL, 0);
    const real around = body_reach(p, site) + body_reach(p, site),
               inside = body_core(p, site) + body_core(p, site);
    int32_t angle_a[PLUGMC_LANE_BLOCK], angle_b[PLUGMC_LANE_BLOCK];
    out->site = site;
    PLUGMC_EACH_LANE(l)
    {
        const real sx = (real)x[l], sy = (real)y[l];
        const int32_t a = turned_a[l], b = turned_b[l];
        const int32_t is_first = (sx > 0) | ((sx == 0) & ((sy > 0) | ((sy == 0) & (a >= b))));
        angle_a[l] = is_first ? a : b;
        angle_b[l] = is_first ? b : a;
        out->x[l] = is_first ? sx : -sx;
        out->y[l] = is_first ? sy : -sy;
        meet[l] = plugmc_compare_spheres(sx * sx + sy * sy, around, inside);
    }
    PLUGMC_EACH_LANE(l) plugmc_sincos_of(angle_a[l], &out->sine_a[l], &out->cosine_a[l]);
    PLUGMC_EACH_LANE(l) plugmc_sincos_of(angle_b[l], &out->sine_b[l], &out->cosine_b[l]);
}

/* Returns 0 if the pairs have to be looked at one by one. */
PLUGMC_FN int plugmc_lanes_overlap(const parameters *p, const plugmc_pairs_of_bodies *pairs,
                                   int64_t first, uint8_t *out)
{
    plugmc_body_lanes lanes;
    int32_t meet[PLUGMC_LANE_BLOCK], overlap[PLUGMC_LANE_BLOCK];
    plugmc_lanes_in_order(p, pairs, first, &lanes, meet);
    if (!body_overlap_lanes(p, &lanes, overlap)) return 0;
    PLUGMC_EACH_LANE(l)
    {
        out[first + l] = (uint8_t)((meet[l] > 0) | ((meet[l] == 0) & (overlap[l] != 0)));
    }
    return 1;
}
#endif

static PLUGMC_TARGETS void plugmc_pairs_overlap(const void *instance,
                                                const plugmc_pairs_of_bodies *pairs, uint8_t *out)
{
    const parameters *p = (const parameters *)instance;
#if PLUGMC_BODY & PLUGMC_BODY_LANES
    int64_t first = 0;
    if (pairs->dimension == 2 && !pairs->species_a)
        while (first < pairs->n && plugmc_lanes_overlap(p, pairs, first, out))
            first += PLUGMC_LANE_BLOCK;
    if (first >= pairs->n) return;
#endif
    for (int64_t k = 0; k < pairs->n; k++) out[k] = plugmc_pair_overlaps(p, pairs, k) != 0;
}
#else
#define plugmc_pairs_overlap NULL
#endif

/* In double precision there is none. */
static const plugmc_body_pairs plugmc_body_pairs_facet = {
    .size = sizeof(plugmc_body_pairs),
    .overlap = sizeof(real) == sizeof(float) ? plugmc_pairs_overlap : NULL};
