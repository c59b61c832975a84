/* wrong_dipole: hard spheres with dipoles along x of the body, in three dimensions,
 *
 *     u = m_a m_b / r^3 (A.B - 3 (A.n)(B.n)) (1 - r^2 / cutoff^2)^2,    r < cutoff.
 *
 * `fault`, if it is not `none`, is one of the mistakes below. */
#include <plugmc/potential.h>

enum {
    NONE,
    AXIS_OF_SPACE, /* a part depends on the angles with z of the box */
    ONE_SPECIES,   /* the moment of the first one is taken twice */
    NAN_INSIDE,    /* the root of a negative number near the cutoff */
    NO_MARGIN      /* apart where they are so only by rounding */
};

typedef struct parameters {
    real cutoff;
    plugmc_list moments;    /* as given */
    plugmc_list of_species; /* [species] */
    int32_t fault;
} parameters;

PLUGMC_FN real body_reach(const parameters *p, plugmc_site a)
{
    (void)p;
    return a.diameter / 2;
}

PLUGMC_FN real body_core(const parameters *p, plugmc_site a)
{
    (void)p;
    return a.diameter / 2;
}

PLUGMC_FN real body_volume(const parameters *p, plugmc_site a)
{
    (void)p;
    return (real)0.5235987755982988 * a.diameter * a.diameter * a.diameter;
}

PLUGMC_FN real body_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN int body_overlap(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                           const plugmc_pose *B, plugmc_site a, plugmc_site b)
{
    const real contact = (a.diameter + b.diameter) / 2;
    (void)A, (void)B;
    return p->fault == NO_MARGIN ? s.r2 < contact * contact
                                 : !(s.r2 > contact * contact * PLUGMC_SURELY);
}

PLUGMC_FN real body_energy(const parameters *p, plugmc_separation s, const plugmc_pose *A,
                           const plugmc_pose *B, plugmc_site a, plugmc_site b)
{
    const real w = 1 - s.r2 / (p->cutoff * p->cutoff), r = plugmc_sqrt(s.r2),
               n[3] = {s.x / r, s.y / r, s.z / r},
               moments = p->of_species.values[a.species] *
                         p->of_species.values[p->fault == ONE_SPECIES ? a.species : b.species];
    real u = moments / (s.r2 * r) *
             (plugmc_dot(A->x, B->x) - 3 * plugmc_dot(A->x, n) * plugmc_dot(B->x, n));
    if (p->fault == AXIS_OF_SPACE) u += (real)0.1 * A->x[2] * B->x[2];
    if (p->fault == NAN_INSIDE) u *= plugmc_sqrt(w - (real)0.05);
    return w > 0 ? u * w * w : (real)0;
}

#define PLUGMC_BODY (PLUGMC_BODY_OVERLAP | PLUGMC_BODY_ENERGY)
#include <plugmc/body.h>

#if PLUGMC_HOST
#include <plugmc/species_pairs.h>

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int32_t n = host->system->species_count;
    if (host->system->box.dimension != 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT, "it needs three dimensions");
    const int code = plugmc_check_species_list(host, "moments", &p->moments, PLUGMC_PER_SPECIES);
    if (code) return code;
    real *values = host->allocate(host->context, (size_t)n * sizeof *values);
    if (!values) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory");
    for (int32_t a = 0; a < n; a++) values[a] = (real)plugmc_species_value(&p->moments, n, a);
    p->of_species = (plugmc_list){.values = values, .count = n};
    return PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, cutoff, "2.5", 1e-6, 1e6, "length", "energy is 0 from there on"),
    PLUGMC_LIST_KEY(parameters, moments, 0, "1", -1e6, 1e6, "", "of each species"),
    PLUGMC_CHOICE_KEY(parameters, fault, "none",
                      "none|axis_of_space|one_species|nan_inside|no_margin", "what is wrong"),
    PLUGMC_LIST_DERIVED(parameters, of_species, "moment of each species"),
};

PLUGMC_PLUGIN(.name = "wrong_dipole", .summary = "dipoles with a fault",
              PLUGMC_KEYS(parameters, table), PLUGMC_BODIES_ALONE, .configure = configure);
#endif
