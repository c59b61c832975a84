/* walk_bodies.cu: particles with orientations (plugmc/body.h), which trials displace and turn.
 *
 * Stands behind energies.cu and before walk_meet.cu. */

/* Whether particles have orientations; in runs with rigid molecules those belong to molecules. */
enum { WALK_ORIENTED = WALK_BODIES || WALK_MOLECULES };
/* Whether bodies have energies that are sampled. */
#define WALK_MEETS_BODIES (WALK_BODIES && PLUGMC_BODIES)

/* A particle as it goes from one position and comes to another: each species, and each pose of a body. */
typedef struct walk_ends {
    plugmc_site was, comes;
#if WALK_MEETS_BODIES
    plugmc_placed gone, come;
#endif
} walk_ends;

/* Orientation number j of a trial: see trial_orientation in trial_positions.c. */
PLUGMC_FN plugmc_orientation walk_orientation(const plugmc_trial *trial, int32_t j)
{
    plugmc_seed seed = trial->seed;
    seed.key += (uint64_t)j * 0x9e3779b97f4a7c15u;
    return plugmc_draw_orientation(seed, trial->sweep, trial->walker, trial->number,
                                   trial->dimension);
}

/* As is_orientation of parts.c. */
PLUGMC_FN bool walk_is_orientation(const plugmc_orientation *o)
{
    double square = 0;
    for (int k = 0; k < 4; k++) square += (double)o->part[k] * o->part[k] * 0x1p-60;
    if (PLUGMC_DIMENSION == 3) return square > 0.98 && square < 1.02;
    return o->part[0] >= 0 && o->part[0] < PLUGMC_WHOLE_TURN && !o->part[1] && !o->part[2] &&
           !o->part[3];
}

/* Whether a trial that turns a body can be. */
PLUGMC_FN bool walk_turns_rightly(const plugmc_trial *trial)
{
    return !trial->turns || (WALK_BODIES && trial->kind == PLUGMC_DISPLACED &&
                             walk_is_orientation(&trial->orientation));
}

#if WALK_MEETS_BODIES
PLUGMC_FN plugmc_placed walk_placed(plugmc_site site, plugmc_orientation o)
{
    plugmc_placed b = {};
    b.site = site;
    b.orientation = o;
    b.pose = plugmc_pose_of(&o, PLUGMC_DIMENSION);
    return b;
}

/* plugmc_meet where it is not called for most pairs: compiled once, as shapes may be long. */
static __device__ __noinline__ int walk_meet_two(plugmc_separation s, const plugmc_placed *one,
                                                 plugmc_placed *other, plugmc_body_sums *sums)
{
    return plugmc_meet(s, one, other, sums);
}

/* Adds the energies of two bodies, separation one - other, also those that overlap by another potential. */
PLUGMC_FN void walk_add_bodies(plugmc_separation s, const plugmc_placed *one, plugmc_placed *other,
                               plugmc_body_sums *sums){
#define WALK_DO(k, t, ns)                                                                          \
    {                                                                                              \
        const ns::parameters p = ns::plugmc_parameters();                                          \
        if (ns::plugmc_range_of_bodies(&p) > 0 && ns::body_reach(&p, one->site) > 0)               \
            ns::plugmc_bodies_meet(&p, s, one, other, PLUGMC_DIMENSION, &sums->term[k]);           \
    }
    PLUGMC_FOR_BODIES(WALK_DO)
#undef WALK_DO
}

/* Each sum, to its entry of energy [PLUGMC_TERMS]. */
PLUGMC_FN void walk_bodies_by_term(const plugmc_body_sums *sums, double *energy)
{
#define WALK_DO(k, t, ns) energy[t] += sums->term[k];
    PLUGMC_FOR_BODIES(WALK_DO)
#undef WALK_DO
}
#endif
