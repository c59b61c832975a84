/* plugmc/near.h: neighbours of a position, for movers that propose by neighbourhood, in boxes of all kinds. In a periodic
 * box the nearest image of each particle counts. */
#ifndef PLUGMC_NEAR_H
#define PLUGMC_NEAR_H

#include "plugmc/proposal.h"

/* Whether particle i is within `radius` (length) of `place`. */
PLUGMC_FN int plugmc_is_near(const plugmc_trial *t, int64_t i, const double place[3], double radius)
{
    if (t->box->oblique || t->box->domain != PLUGMC_DOMAIN_PERIODIC) {
        plugmc_images images;
        const int mode =
            plugmc_images_of(t->box, t->box->domain == PLUGMC_DOMAIN_PERIODIC, &images);
        const plugmc_separation s =
            plugmc_separate((real)(t->x[i] - place[0]), (real)(t->y[i] - place[1]),
                            (real)(t->dimension == 3 ? t->z[i] - place[2] : 0), &images, mode);
        return s.r2 <= radius * radius;
    }
    const double *length = t->box->length;
    const double x = plugmc_nearest_image(t->x[i] - place[0], length[0]),
                 y = plugmc_nearest_image(t->y[i] - place[1], length[1]),
                 z = t->dimension == 3 ? plugmc_nearest_image(t->z[i] - place[2], length[2]) : 0;
    return x * x + y * y + z * z <= radius * radius;
}

/* Returns the number of particles of a species within `radius` (length) of `place`, without those in skip [skips]. If
 * there are more than `wanted`, *who becomes the one with index `wanted` among them, counted from 0 in the order of
 * particle numbers. On a GPU the threads of a warp share the work, so all of them have to make the same call. */
PLUGMC_FN int64_t plugmc_count_near(const plugmc_trial *t, int32_t species, const double place[3],
                                    double radius, const int32_t *skip, int32_t skips,
                                    int64_t wanted, int32_t *who)
{
    const int64_t end = t->first[species] + t->count[species];
    int64_t met = 0;
#ifdef __CUDACC_RTC__
    const int lanes = 32, lane = (int)(threadIdx.x % 32);
#else
    const int lanes = 1, lane = 0;
#endif
    for (int64_t begin = t->first[species]; begin < end; begin += lanes) {
        const int64_t i = begin + lane;
        int near = 0;
        if (i < end) {
            near = plugmc_is_near(t, i, place, radius);
            for (int32_t k = 0; k < skips; k++) near &= skip[k] != i;
        }
#ifdef __CUDACC_RTC__
        uint32_t all = __ballot_sync(0xffffffffu, near);
        const int64_t here = __popc(all);
        if (wanted >= met && wanted < met + here) {
            for (int64_t k = met; k < wanted; k++) all &= all - 1; /* clears the lowest bit */
            *who = (int32_t)(begin + __ffs(all) - 1);
        }
        met += here;
#else
        if (near && met == wanted) *who = (int32_t)i;
        met += near;
#endif
    }
    return met;
}

/* Writes the numbers of all particles, of any species, that are within `radius` (length) of `place` into `out`, in ascending order, and returns how many there are. If there are more than `capacity`,
 * only the first ones are written. On a GPU the threads of a warp share the work, so all of them have to make the same
 * call; each writes the whole list, to memory of its own or to the same. */
PLUGMC_FN int64_t plugmc_list_near(const plugmc_trial *t, int32_t species_count,
                                   const double place[3], double radius, int32_t *out,
                                   int32_t capacity)
{
    int64_t met = 0;
#ifdef __CUDACC_RTC__
    const int lanes = 32, lane = (int)(threadIdx.x % 32);
#else
    const int lanes = 1, lane = 0;
#endif
    for (int32_t s = 0; s < species_count; s++) {
        const int64_t end = t->first[s] + t->count[s];
        for (int64_t begin = t->first[s]; begin < end; begin += lanes) {
            const int64_t i = begin + lane;
            const int near = i < end && plugmc_is_near(t, i, place, radius);
#ifdef __CUDACC_RTC__
            for (uint32_t all = __ballot_sync(0xffffffffu, near); all; all &= all - 1, met++)
                if (met < capacity) out[met] = (int32_t)(begin + __ffs(all) - 1);
#else
            if (near && met < capacity) out[met] = (int32_t)i;
            met += near;
#endif
        }
    }
#ifdef __CUDACC_RTC__
    __syncwarp();
#endif
    return met;
}

#endif
