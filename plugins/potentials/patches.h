/* Patches of bodies, all alike: included inside the PLUGMC_HOST part of a potential whose parameters have `directions`, as they are
 * given, `patches`, half_angle and its cosine. */
#ifndef PLUGMC_PATCHES_H
#define PLUGMC_PATCHES_H

#define PATCHES_KEYS(type)                                                                         \
    PLUGMC_LIST_KEY(type, directions, 0, "1 0 0", -1e6, 1e6, "",                                   \
                    "x, y and z of the direction of each patch, in the frame of the particle"),    \
        PLUGMC_REAL_KEY(                                                                           \
            type, half_angle, NULL, 0, 3.141592653589793, "rad",                                   \
            "largest angle between the direction of a patch and the line of the centres")

#define PATCHES_DERIVED(type)                                                                      \
    PLUGMC_LIST_DERIVED(type, patches, "directions as unit vectors"),                              \
        PLUGMC_REAL_DERIVED(type, cosine, "cos(half_angle)")

/* patches [patches][3]: unit vectors. Returns a PLUGMC_* code, already reported. */
static inline int patches_find(const plugmc_host *host, const plugmc_list *directions,
                               plugmc_list *patches)
{
    const int32_t n = directions->count;
    if (n < 3 || n % 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "directions has %d numbers: give x, y and z of each patch", n);
    real *unit = host->allocate(host->context, (size_t)n * sizeof *unit);
    if (!unit) return PLUGMC_ERROR_MEMORY;
    for (int32_t k = 0; k < n; k += 3) {
        const real *v = directions->values + k;
        const double length = sqrt((double)plugmc_dot(v, v));
        if (!(length > 0) || (host->system->box.dimension == 2 && v[2] != 0))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "direction %d (%g %g %g) is no direction in %d dimensions", k / 3 + 1,
                              (double)v[0], (double)v[1], (double)v[2],
                              host->system->box.dimension);
        for (int d = 0; d < 3; d++) unit[k + d] = (real)((double)v[d] / length);
    }
    *patches = (plugmc_list){unit, n};
    return PLUGMC_OK;
}
#endif
