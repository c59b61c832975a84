/* plugmc/body_facet.h: what a potential of bodies offers; plugmc/body.h makes it. */
#ifndef PLUGMC_BODY_FACET_H
#define PLUGMC_BODY_FACET_H

#include "plugmc/facets.h"

/* Body facet, made by plugmc/body.h: pairs of particles that have an orientation. It is an extension that a potential
 * offers. In a run with such a potential every particle has an orientation. A particle whose reach is 0 does not belong to
 * the potential. */
#define PLUGMC_BODY_FACET "plugmc.body/1"
enum { PLUGMC_MOST_STEPS = 256 }; /* of two bodies along a line */
typedef struct plugmc_body {
    uint32_t size;
    int32_t functions; /* PLUGMC_BODY_*: functions that the author wrote */
    /* Radius of the smallest sphere around the centre that holds the body; of the largest one inside of it (0: not
     * known); volume, area in two dimensions. Length, length^dimension. */
    double (*reach)(const void *instance, const plugmc_particle *);
    double (*core)(const void *instance, const plugmc_particle *);
    double (*volume)(const void *instance, const plugmc_particle *);
    /* Distance of centres from which the energy is exactly 0; 0 without an energy. */
    double (*range)(const void *instance);
    /* Adds the energy of the probe with n others to *energy. Returns how many of them overlap with the probe; if any,
     * the energy is meaningless. The answer for a pair is the same, to the bit, whichever of the two is the probe.
     * `turned` is the orientation of the probe, orientations [n] those of the others. */
    int64_t (*energy)(const void *instance, const plugmc_box *box, int periodic,
                      const plugmc_particle *probe, const plugmc_orientation *turned,
                      const plugmc_particles *others, const plugmc_orientation *orientations,
                      double *energy);
    /* How far the probe can go along +axis (0, 1, 2) before it touches each of n others, out [n], length; INFINITY: it
     * does not meet it. The others are where they are, without images. NULL without PLUGMC_BODY_PATH. */
    void (*paths)(const void *instance, int32_t dimension, int32_t axis,
                  const plugmc_particle *probe, const plugmc_orientation *turned,
                  const plugmc_particles *others, const plugmc_orientation *orientations,
                  double *out);
    /* The body as programs that draw it know it: JSON by GSD's schema (particles/type_shapes), e.g. {"type": "Polygon",
     * "rounding_radius": 0, "vertices": [[x, y], ...]}, "Ellipsoid" with radii a, b, c, "ConvexPolyhedron" or "Sphere",
     * in the axes of plugmc_pose and from the centre on. Written to json [size] as snprintf does: returns the length of the
     * text, which does not fit if that is `size` or more. NULL without PLUGMC_BODY_SHAPE. */
    int (*shape)(const void *instance, const plugmc_particle *, char *json, size_t size);
    /* Since 2.1. For movers that keep bodies in cells: x, y, z of the others (real[n]) are separations probe - other, as they
     * are, without images. Returns 1 if one of them overlaps with the probe; else 0, and their energies are added to
     * *energy (real), one after the other. */
    int (*meet)(const void *instance, int32_t dimension, const plugmc_particle *probe,
                const plugmc_orientation *turned, const plugmc_particles *others,
                const plugmc_orientation *orientations, void *energy);
    /* Since 2.1. Whether a overlaps with b by the author's test alone, without the spheres around them and inside: so that
     * those can be tested. apart [3]: a - b, length. NULL without PLUGMC_BODY_OVERLAP. */
    int (*overlap)(const void *instance, int32_t dimension, const double *apart,
                   const plugmc_particle *a, const plugmc_orientation *turned_a,
                   const plugmc_particle *b, const plugmc_orientation *turned_b);
    /* Since 2.1. Where the energy of a and b can change while a goes along +axis (0, 1, 2), where it may be from the
     * beginning, out [PLUGMC_MOST_STEPS], length, negative ones behind it. apart [3]: a - b, length. Returns how many. NULL
     * without PLUGMC_BODY_STEPS. */
    int32_t (*steps)(const void *instance, int32_t dimension, int32_t axis, const double *apart,
                     const plugmc_particle *a, const plugmc_orientation *turned_a,
                     const plugmc_particle *b, const plugmc_orientation *turned_b, double *out);
    /* Since 2.1. The width of an empty slab between a and b, and its normal, a unit vector from a to b: however a goes, it cannot
     * touch b before it has crossed the slab. 0: none is known. apart [3]: a - b, length. NULL without PLUGMC_BODY_GAP. */
    double (*slab)(const void *instance, int32_t dimension, const double *apart,
                   const plugmc_particle *a, const plugmc_orientation *turned_a,
                   const plugmc_particle *b, const plugmc_orientation *turned_b, double normal[3]);
} plugmc_body;

/* The body facet that a potential offers; NULL: none. */
static inline const plugmc_body *plugmc_body_of(const plugmc_plugin *potential)
{
    return (const plugmc_body *)plugmc_offered(potential, PLUGMC_BODY_FACET);
}

#endif
