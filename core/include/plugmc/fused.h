/* plugmc/fused.h: functions for GPU source that is compiled together with potentials (plugmc_gpu_source.fuse).
 *
 * The core compiles this header after the potentials, each of which is in a namespace of its own, and before that
 * source. Its contents keep their meaning within a major version of the plugin interface. Additions increase
 * PLUGMC_FUSED, which GPU source may test.
 *
 * Macros that the core defines before:
 *
 *     PLUGMC_FUSED          1
 *     PLUGMC_DIMENSION      2 or 3
 *     PLUGMC_PERIODIC       1 or 0
 *     PLUGMC_OBLIQUE        1: the box is not rectangular
 *     PLUGMC_IN_SPHERE      1: particles are in a sphere
 *     PLUGMC_BOX_CHANGES    1: a mover of the run changes boxes
 *     PLUGMC_SPECIES        number of species
 *     PLUGMC_TERMS          number of potentials
 *     PLUGMC_ENERGY_TERMS   number of pair potentials with an energy
 *     PLUGMC_POSITION_DEPENDENT
 *                           number of those with PLUGMC_PAIR_POSITIONS
 *     PLUGMC_CONTACTS       1: a pair potential has a hard core
 *     PLUGMC_FIELDS         number of one-body potentials
 *     PLUGMC_BODIES         number of potentials of bodies (plugmc/body.h)
 *     PLUGMC_BODY_ENERGIES  number of those with an energy
 *     PLUGMC_REAL           float or double
 *     PLUGMC_KT             double: k_B T in the potentials' unit of energy
 *     PLUGMC_OVER_KT        double: 1 / (k_B T)
 *     PLUGMC_WEIGHTED       1: each potential has its own multiplier, which may differ between walkers
 *                           (PLUGMC_STATE_MULTIPLIER); 0: all have PLUGMC_OVER_KT
 *
 * Macros for this header only: PLUGMC_EDGES, PLUGMC_INVERSE_EDGES, PLUGMC_VECTORS, PLUGMC_INVERSES, PLUGMC_RADIUS
 * (dimensions of the box); the functions plugmc_species_charge(k), plugmc_species_diameter(k) and
 * plugmc_species_contact(a * PLUGMC_SPECIES + b); and lists that call their argument once per potential:
 *
 *     PLUGMC_FOR_ENERGIES(DO)      DO(k, term, ns): pair potentials with an energy; k counts them, `term` is the
 *                                  index among all potentials, `ns` the namespace
 *     PLUGMC_FOR_FIELDS(DO)        DO(term, ns): one-body potentials
 *     PLUGMC_FOR_BODIES(DO)        DO(k, term, ns): potentials of bodies; k counts them
 *     PLUGMC_FOR_PAIR_VARIATIONAL(DO), PLUGMC_FOR_FIELD_VARIATIONAL(DO)
 *                                  DO(first, ns): potentials with sums of variational parameters; `first` is the
 *                                  index of the potential's first sum
 */
#ifndef PLUGMC_FUSED_H
#define PLUGMC_FUSED_H

/* ---- The box ------------------------------------------------------------------------------- */

static constexpr real plugmc_radius = PLUGMC_RADIUS; /* of the sphere; length */
#if !PLUGMC_BOX_CHANGES
static constexpr real plugmc_edge[3] = {PLUGMC_EDGES}, /* length */
    plugmc_inverse_edge[3] = {PLUGMC_INVERSE_EDGES};   /* 1/length */
#endif

/* Data for the minimum image in walker w; boxes [walkers], device memory. If no mover changes boxes, they are
 * constants and `boxes` is not read. */
PLUGMC_FN plugmc_images plugmc_images_of_walker(const plugmc_box *boxes, int w)
{
    plugmc_images m = {};
#if PLUGMC_BOX_CHANGES
    plugmc_images_of(boxes + w, 1, &m);
#elif PLUGMC_PERIODIC
    constexpr real vectors[9] = {PLUGMC_VECTORS}, inverses[9] = {PLUGMC_INVERSES};
    PLUGMC_UNROLL
    for (int d = 0; d < 3; d++) {
        m.length[d] = plugmc_edge[d];
        m.inverse_length[d] = plugmc_inverse_edge[d];
        for (int e = 0; e < 3; e++) {
            m.vector[d][e] = vectors[3 * d + e];
            m.inverse[d][e] = inverses[3 * d + e];
        }
    }
#endif
    (void)boxes, (void)w;
    return m;
}

/* The separation (x, y, z) as minimum image. */
PLUGMC_FN plugmc_separation plugmc_separated(real x, real y, real z, plugmc_images m)
{
    return plugmc_separate(x, y, z, &m,
                           !PLUGMC_PERIODIC ? PLUGMC_IMAGES_NONE
                           : PLUGMC_OBLIQUE ? PLUGMC_IMAGES_OBLIQUE
                                            : PLUGMC_IMAGES_RECTANGULAR);
}
#if !PLUGMC_BOX_CHANGES
PLUGMC_FN plugmc_separation plugmc_separated(real x, real y, real z)
{
    return plugmc_separated(x, y, z, plugmc_images_of_walker(0, 0));
}
#endif

/* ---- Species ------------------------------------------------------------------------------- */

/* Properties of a species; constants if there is only one. */
PLUGMC_FN plugmc_site plugmc_site_of_species(int species)
{
    plugmc_site a;
    a.charge = plugmc_species_charge(species);
    a.diameter = plugmc_species_diameter(species);
    a.species = PLUGMC_SPECIES == 1 ? 0 : species;
    return a;
}

/* Square of the distance below which species a and b overlap: the largest of all potentials. */
PLUGMC_FN real plugmc_contact_square(int a, int b)
{
    return plugmc_species_contact(a * PLUGMC_SPECIES + b);
}

/* ---- Pairs --------------------------------------------------------------------------------- */

/* A separation a - b with the position of a. It can be used like a separation. It is required if
 * PLUGMC_POSITION_DEPENDENT is not 0; such runs have only movers with PLUGMC_USES_POSITIONS and observables that
 * support it. */
struct plugmc_separation_at : plugmc_separation {
    plugmc_position at;
};
PLUGMC_FN plugmc_separation_at plugmc_separate_at(real x, real y, real z, plugmc_separation s)
{
    plugmc_separation_at r;
    (plugmc_separation &)r = s;
    r.at.x = x;
    r.at.y = y;
    r.at.z = z;
    return r;
}

/* Argument of the pair functions below, and the functions of a potential that they call. */
#if PLUGMC_POSITION_DEPENDENT
typedef plugmc_separation_at plugmc_pair_of;
#define PLUGMC_ENERGY_OF(ns, p, r) ns::plugmc_pair_term_at(p, (r).at, r, a, b)
#define PLUGMC_CHANGE_OF(ns, p) ns::plugmc_pair_difference_at(p, from.at, from, to.at, to, a, b)
#else
typedef plugmc_separation plugmc_pair_of;
#define PLUGMC_ENERGY_OF(ns, p, r) ns::plugmc_pair_term(p, r, a, b)
#define PLUGMC_CHANGE_OF(ns, p) ns::plugmc_pair_difference(p, from, to, a, b)
#endif

/* Sums of pair energies, one per potential, so that the probe's factor is applied only once and the order of
 * additions is that of the CPU. */
typedef struct plugmc_sums {
    real term[PLUGMC_ENERGY_TERMS > 0 ? PLUGMC_ENERGY_TERMS : 1];
} plugmc_sums;

PLUGMC_FN void plugmc_sums_clear(plugmc_sums *s) { *s = plugmc_sums(); }

PLUGMC_FN void plugmc_sums_add_energy(plugmc_sums *s, plugmc_pair_of r, plugmc_site a,
                                      plugmc_site b){
#define PLUGMC_DO(k, t, ns)                                                                        \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        s->term[k] += PLUGMC_ENERGY_OF(ns, &p, r);                                                 \
    }
    PLUGMC_FOR_ENERGIES(PLUGMC_DO)
#undef PLUGMC_DO
}

PLUGMC_FN void plugmc_sums_add_change(plugmc_sums *s, plugmc_pair_of from, plugmc_pair_of to,
                                      plugmc_site a, plugmc_site b){
#define PLUGMC_DO(k, t, ns)                                                                        \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        s->term[k] += PLUGMC_CHANGE_OF(ns, &p);                                                    \
    }
    PLUGMC_FOR_ENERGIES(PLUGMC_DO)
#undef PLUGMC_DO
}

/* Sum over potentials, each with its factor of the probe a. */
PLUGMC_FN real plugmc_sums_total(const plugmc_sums *s, plugmc_site a)
{
    real total = 0;
#define PLUGMC_DO(k, t, ns)                                                                        \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        total += s->term[k] * ns::plugmc_probe_factor(&p, a);                                      \
    }
    PLUGMC_FOR_ENERGIES(PLUGMC_DO)
#undef PLUGMC_DO
    return total;
}

/* The same, each also with its multiplier: [PLUGMC_TERMS], the walker's row of PLUGMC_STATE_MULTIPLIER. A potential
 * with multiplier 0 is skipped; its sum may be infinite. */
PLUGMC_FN real plugmc_sums_weighted(const plugmc_sums *s, plugmc_site a, const double *multipliers)
{
    real total = 0;
#define PLUGMC_DO(k, t, ns)                                                                        \
    if (multipliers[t] != 0) {                                                                     \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        total += s->term[k] * ns::plugmc_probe_factor(&p, a) * (real)multipliers[t];               \
    }
    PLUGMC_FOR_ENERGIES(PLUGMC_DO)
#undef PLUGMC_DO
    return total;
}

/* Double precision sums for many pairs. plugmc_sums_empty adds `from` to `to` and clears `from`. */
typedef struct plugmc_double_sums {
    double term[PLUGMC_ENERGY_TERMS > 0 ? PLUGMC_ENERGY_TERMS : 1];
} plugmc_double_sums;

PLUGMC_FN void plugmc_sums_empty(plugmc_sums *from, plugmc_double_sums *to)
{
    PLUGMC_UNROLL
    for (int k = 0; k < PLUGMC_ENERGY_TERMS; k++) {
        to->term[k] += (double)from->term[k];
        from->term[k] = 0;
    }
}

PLUGMC_FN double plugmc_double_sums_total(const plugmc_double_sums *s, plugmc_site a)
{
    double total = 0;
#define PLUGMC_DO(k, t, ns)                                                                        \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        total += s->term[k] * (double)ns::plugmc_probe_factor(&p, a);                              \
    }
    PLUGMC_FOR_ENERGIES(PLUGMC_DO)
#undef PLUGMC_DO
    return total;
}

/* The same per potential: each sum is added to its entry of energy [PLUGMC_TERMS]. */
PLUGMC_FN void plugmc_double_sums_by_term(const plugmc_double_sums *s, plugmc_site a,
                                          double *energy){
#define PLUGMC_DO(k, t, ns)                                                                        \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        energy[t] += s->term[k] * (double)ns::plugmc_probe_factor(&p, a);                          \
    }
    PLUGMC_FOR_ENERGIES(PLUGMC_DO)
#undef PLUGMC_DO
}

/* Energy u of one pair, summed over potentials, and its derivatives du/dr / r and d2u/dr2. The derivatives are 0
 * for potentials without PLUGMC_PAIR_DERIVATIVE; a mover that needs them has PLUGMC_NEEDS_FORCES. */
PLUGMC_FN void plugmc_pair_derivatives(plugmc_pair_of r, plugmc_site a, plugmc_site b, real *energy,
                                       real *first, real *second)
{
    *energy = *first = *second = 0;
#define PLUGMC_DO(k, t, ns)                                                                        \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        const real f = ns::plugmc_probe_factor(&p, a);                                             \
        real u, v;                                                                                 \
        ns::plugmc_pair_slopes(&p, r, a, b, &u, &v);                                               \
        *energy += f * PLUGMC_ENERGY_OF(ns, &p, r);                                                \
        *first += f * u;                                                                           \
        *second += f * v;                                                                          \
    }
    PLUGMC_FOR_ENERGIES(PLUGMC_DO)
#undef PLUGMC_DO
}

/* The same, each potential with its multiplier. */
PLUGMC_FN void plugmc_pair_derivatives_weighted(plugmc_pair_of r, plugmc_site a, plugmc_site b,
                                                const double *multipliers, real *energy,
                                                real *first, real *second)
{
    *energy = *first = *second = 0;
#define PLUGMC_DO(k, t, ns)                                                                        \
    if (multipliers[t] != 0) {                                                                     \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        const real f = ns::plugmc_probe_factor(&p, a) * (real)multipliers[t];                      \
        real u, v;                                                                                 \
        ns::plugmc_pair_slopes(&p, r, a, b, &u, &v);                                               \
        *energy += f * PLUGMC_ENERGY_OF(ns, &p, r);                                                \
        *first += f * u;                                                                           \
        *second += f * v;                                                                          \
    }
    PLUGMC_FOR_ENERGIES(PLUGMC_DO)
#undef PLUGMC_DO
}

/* What both leave out: gradient with respect to the position of a, and Laplacian, of potentials with
 * PLUGMC_PAIR_POSITIONS. */
PLUGMC_FN void plugmc_pair_derivatives_at(plugmc_separation_at r, plugmc_site a, plugmc_site b,
                                          real gradient[3], real *laplacian)
{
    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;
#if PLUGMC_POSITION_DEPENDENT
#define PLUGMC_DO(k, t, ns)                                                                        \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        real g[3], l;                                                                              \
        ns::plugmc_pair_slopes_at(&p, r.at, r, a, b, g, &l);                                       \
        for (int d = 0; d < 3; d++) gradient[d] += g[d];                                           \
        *laplacian += l;                                                                           \
    }
    PLUGMC_FOR_ENERGIES(PLUGMC_DO)
#undef PLUGMC_DO
#endif
}

/* If a potential needs positions, GPU source that passes separations alone does not compile. */
#if PLUGMC_POSITION_DEPENDENT
PLUGMC_FN void plugmc_sums_add_energy(plugmc_sums *, plugmc_separation, plugmc_site,
                                      plugmc_site) = delete;
PLUGMC_FN void plugmc_sums_add_change(plugmc_sums *, plugmc_separation, plugmc_separation,
                                      plugmc_site, plugmc_site) = delete;
PLUGMC_FN void plugmc_pair_derivatives(plugmc_separation, plugmc_site, plugmc_site, real *, real *,
                                       real *) = delete;
PLUGMC_FN void plugmc_pair_derivatives_weighted(plugmc_separation, plugmc_site, plugmc_site,
                                                const double *, real *, real *, real *) = delete;
#endif

/* ---- Bodies -------------------------------------------------------------------------------- */

#if PLUGMC_BODIES
/* Sums of energies of bodies, one per potential. */
typedef struct plugmc_body_sums {
    real term[PLUGMC_BODIES];
} plugmc_body_sums;

/* Separation a - b of two bodies, of which the pose of a is known; that of b is set if it is needed. Returns 1 if they
 * overlap by any potential, else 0, and their energies are added to the sums. */
PLUGMC_FN int plugmc_meet(plugmc_separation s, const plugmc_placed *a, plugmc_placed *b,
                          plugmc_body_sums *sums)
{
    int overlap = 0;
#define PLUGMC_DO(k, t, ns)                                                                        \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        if (!overlap && ns::body_reach(&p, a->site) > 0)                                           \
            overlap = ns::plugmc_bodies_meet(&p, s, a, b, PLUGMC_DIMENSION, &sums->term[k]);       \
    }
    PLUGMC_FOR_BODIES(PLUGMC_DO)
#undef PLUGMC_DO
    return overlap;
}

/* For potentials without PLUGMC_BODY_APART, and those that were built before there was one; others have functions of these names
 * in their namespaces, which are preferred. */
template <class P> static __host__ __device__ constexpr int plugmc_looks_quickly(const P *)
{
    return 0;
}
template <class P>
PLUGMC_FN int plugmc_quickly_apart(const P *, plugmc_separation, const real *, const real *,
                                   plugmc_site, plugmc_site)
{
    return 0;
}

/* Whether a potential finds hard bodies to be apart by a quick look. */
#define PLUGMC_DO(k, t, ns) | plugmc_looks_quickly((const ns::parameters *)0)
static constexpr int plugmc_any_quick_look = 0 PLUGMC_FOR_BODIES(PLUGMC_DO);
#undef PLUGMC_DO

/* Whether a quick look at the axes x of two hard bodies, separation a - b, shows that plugmc_meet would return 0. */
PLUGMC_FN bool plugmc_surely_apart(plugmc_separation s, const real *x_a, const real *x_b,
                                   plugmc_site a, plugmc_site b)
{
    bool apart = true;
#define PLUGMC_DO(k, t, ns)                                                                        \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        const bool both = ns::body_reach(&p, a) > 0 && ns::body_reach(&p, b) > 0;                  \
        const int meet = ns::plugmc_spheres_meet(&p, s, a, b);                                     \
        apart = apart &&                                                                           \
                (!both || meet < 0 || (meet == 0 && plugmc_quickly_apart(&p, s, x_a, x_b, a, b))); \
    }
    PLUGMC_FOR_BODIES(PLUGMC_DO)
#undef PLUGMC_DO
    return apart;
}

/* Change of the energy, each potential's; with multipliers [PLUGMC_TERMS], of -ln p. */
PLUGMC_FN real plugmc_body_change(const plugmc_body_sums *from, const plugmc_body_sums *to)
{
    real total = 0;
#define PLUGMC_DO(k, t, ns) total += to->term[k] - from->term[k];
    PLUGMC_FOR_BODIES(PLUGMC_DO)
#undef PLUGMC_DO
    return total;
}

PLUGMC_FN real plugmc_body_change_weighted(const plugmc_body_sums *from, const plugmc_body_sums *to,
                                           const double *multipliers)
{
    real total = 0;
#define PLUGMC_DO(k, t, ns)                                                                        \
    if (multipliers[t] != 0) total += (to->term[k] - from->term[k]) * (real)multipliers[t];
    PLUGMC_FOR_BODIES(PLUGMC_DO)
#undef PLUGMC_DO
    return total;
}
#endif

/* ---- One-body potentials ------------------------------------------------------------------- */

/* Energy of one particle, summed over potentials. Sets *outside to 1 if the position is forbidden, else leaves it
 * unchanged. The boundary of a sphere is not tested. */
PLUGMC_FN real plugmc_fields(plugmc_position r, plugmc_site a, int *outside)
{
    real total = 0;
#define PLUGMC_DO(t, ns)                                                                           \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        total += ns::plugmc_field_term(&p, r, a, outside);                                         \
    }
    PLUGMC_FOR_FIELDS(PLUGMC_DO)
#undef PLUGMC_DO
    return total;
}

/* The same, each potential with its multiplier. */
PLUGMC_FN real plugmc_fields_weighted(plugmc_position r, plugmc_site a, int *outside,
                                      const double *multipliers)
{
    real total = 0;
#define PLUGMC_DO(t, ns)                                                                           \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        const real u = ns::plugmc_field_term(&p, r, a, outside);                                   \
        if (multipliers[t] != 0) total += u * (real)multipliers[t];                                \
    }
    PLUGMC_FOR_FIELDS(PLUGMC_DO)
#undef PLUGMC_DO
    return total;
}

/* The same per potential: each energy is added to its entry of energy [PLUGMC_TERMS]. */
PLUGMC_FN void plugmc_fields_by_term(plugmc_position r, plugmc_site a, int *outside,
                                     double *energy){
#define PLUGMC_DO(t, ns)                                                                           \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        energy[t] += (double)ns::plugmc_field_term(&p, r, a, outside);                             \
    }
    PLUGMC_FOR_FIELDS(PLUGMC_DO)
#undef PLUGMC_DO
}

/* Gradient and Laplacian of plugmc_fields. */
PLUGMC_FN void plugmc_fields_derivatives(plugmc_position r, plugmc_site a, real gradient[3],
                                         real *laplacian)
{
    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;
#define PLUGMC_DO(t, ns)                                                                           \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        real g[3], l;                                                                              \
        ns::plugmc_field_slopes(&p, r, a, g, &l);                                                  \
        for (int d = 0; d < 3; d++) gradient[d] += g[d];                                           \
        *laplacian += l;                                                                           \
    }
    PLUGMC_FOR_FIELDS(PLUGMC_DO)
#undef PLUGMC_DO
}

/* The same, each potential with its multiplier. */
PLUGMC_FN void plugmc_fields_derivatives_weighted(plugmc_position r, plugmc_site a,
                                                  const double *multipliers, real gradient[3],
                                                  real *laplacian)
{
    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;
#define PLUGMC_DO(t, ns)                                                                           \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        real g[3], l;                                                                              \
        ns::plugmc_field_slopes(&p, r, a, g, &l);                                                  \
        const real m = (real)multipliers[t];                                                       \
        if (m != 0) {                                                                              \
            for (int d = 0; d < 3; d++) gradient[d] += m * g[d];                                   \
            *laplacian += m * l;                                                                   \
        }                                                                                          \
    }
    PLUGMC_FOR_FIELDS(PLUGMC_DO)
#undef PLUGMC_DO
}

/* ---- Variational parameters: with PLUGMC_FUSE_VARIATIONAL ----------------------------------- */

#ifdef PLUGMC_FOR_PAIR_VARIATIONAL
PLUGMC_FN plugmc_tally plugmc_tally_from(plugmc_tally t, int32_t first)
{
    if (t.values) t.values += first * t.stride;
    if (t.kinetic) t.kinetic += first * t.stride;
    return t;
}

/* Contributions of a pair, or of one electron, to the sums of variational parameters (plugmc/variational.h). The
 * sums of each potential follow those of the previous one. */
PLUGMC_FN void plugmc_pair_variational(plugmc_separation_at s, plugmc_site a, plugmc_site b,
                                       const plugmc_tally &t){
#define PLUGMC_DO(first, ns)                                                                       \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        const plugmc_tally own = plugmc_tally_from(t, first);                                      \
        ns::pair_variational(&p, s.at, s, a, b, &own);                                             \
    }
    PLUGMC_FOR_PAIR_VARIATIONAL(PLUGMC_DO)
#undef PLUGMC_DO
}

PLUGMC_FN void plugmc_field_variational(plugmc_position r, plugmc_site a, const plugmc_tally &t)
{
#define PLUGMC_DO(first, ns)                                                                       \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        const plugmc_tally own = plugmc_tally_from(t, first);                                      \
        ns::field_variational(&p, r, a, &own);                                                     \
    }
    PLUGMC_FOR_FIELD_VARIATIONAL(PLUGMC_DO)
#undef PLUGMC_DO
}
#endif

#undef PLUGMC_ENERGY_OF
#undef PLUGMC_CHANGE_OF
#endif
