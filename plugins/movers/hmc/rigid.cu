/* rigid.cu: the motion of rigid molecules, and of particles in none beside them. Stands between hmc.cu and decide.cu. A
 * molecule is moved by the thread of its first site. */
#if HMC_RIGID

/* NULL: of no molecule. */
PLUGMC_FN const hmc_kind *hmc_kind_of(const hmc_task *t, uint32_t particle)
{
    const int32_t kind = t->member[particle].kind;
    return kind < 0 ? 0 : t->kind + kind;
}

/* As hmc_start. */
HMC_KERNEL hmc_start_rigid(const hmc_task t)
{
    HMC_PARTICLE
    hmc_draw_member(t.plan->seed, t.plan->sweep, walker, particle, t.member[particle].role,
                    hmc_kind_of(&t, particle), t.mass[t.species[particle]], HMC_KT(walker),
                    t.momentum + 3 * at);
    for (int d = 0; d < 3; d++) {
        t.place_before[3 * at + d] = t.place[3 * at + d];
        t.force_before[3 * at + d] = t.force[3 * at + d];
    }
    t.turned_before[at] = t.turned[at];
    if (particle == 0) t.out_of_shape[walker] = 0;
}

/* What step k of a trajectory asks of a walker. */
typedef struct hmc_stride {
    int kick, drift;
    double half_step;
} hmc_stride;

/* Of the half step; a force that is not a number stops everybody. */
PLUGMC_FN bool hmc_is_lost(const hmc_task &t, const hmc_stride &stride, const double force[3])
{
    const bool lost =
        stride.kick && (force[0] != force[0] || force[1] != force[1] || force[2] != force[2]);
    if (lost) t.plan->lost = t.plan->sweep + 1;
    return lost;
}

PLUGMC_FN void hmc_move_free(const hmc_task &t, const hmc_stride &stride, uint32_t walker,
                             uint32_t particle, uint64_t at)
{
    const double *force = t.force + 3 * at;
    if (hmc_is_lost(t, stride, force)) return;
    if (stride.kick)
        hmc_kick(PLUGMC_DIMENSION, stride.kick, stride.half_step, force, t.momentum + 3 * at);
    if (stride.drift)
        hmc_drift(HMC_BOX(walker), 2 * stride.half_step / t.mass[t.species[particle]],
                  t.momentum + 3 * at, t.place + 3 * at);
}

/* Of the molecule with this first site; its orientation comes to `o`. */
PLUGMC_FN void hmc_move_molecule(const hmc_task &t, const hmc_stride &stride, uint32_t walker,
                                 uint64_t at, const hmc_kind *kind, int64_t within,
                                 plugmc_orientation *o)
{
    const uint64_t others = (uint64_t)walker * t.particles;
    const uint64_t second = others + (uint64_t)plugmc_site_number(kind->sites, within, 1);
    int64_t momentum[3], turning[3];
    uint64_t place[3];
    double force[3], along[3];
    for (int d = 0; d < 3; d++) {
        momentum[d] = t.momentum[3 * at + d];
        turning[d] = t.momentum[3 * second + d];
        place[d] = t.place[3 * at + d];
    }
    hmc_sum_forces(kind, within, o, t.force + 3 * others, force, along);
    if (hmc_is_lost(t, stride, force) || hmc_is_lost(t, stride, along)) return;
    hmc_kick(3, stride.kick, stride.half_step, force, momentum);
    hmc_kick(3, stride.kick, stride.half_step, along, turning);
    if (stride.drift) {
        hmc_drift_molecule(kind, HMC_BOX(walker), 2 * stride.half_step, momentum, turning, o,
                           place);
        t.turned[at] = *o;
    }
    for (int d = 0; d < 3; d++) {
        t.momentum[3 * at + d] = momentum[d];
        t.momentum[3 * second + d] = turning[d];
        t.place[3 * at + d] = place[d];
    }
}

/* As hmc_move. */
HMC_KERNEL hmc_move_rigid(const hmc_task t, int k, int all, int bin)
{
    HMC_PARTICLE
    if (particle == 0 && bin) t.used[walker] = 0;
    const hmc_member member = t.member[particle];
    if (member.role != HMC_FREE && member.role != HMC_FIRST_SITE) return;
    const int64_t steps = HMC_STEPS(walker, all);
    hmc_stride stride;
    stride.kick = hmc_half_steps(steps, k);
    stride.drift = k >= 0 && k < steps;
    stride.half_step = HMC_HALF_STEP(walker);
    const bool moves = stride.kick && t.plan->lost == 0;
    if (member.role == HMC_FREE) {
        if (moves) hmc_move_free(t, stride, walker, particle, at);
        if (bin) {
            hmc_position(HMC_BOX(walker), t.place + 3 * at, t.positions + 3 * at);
            hmc_check_list(t, walker, at, k < 0);
        }
        return;
    }
    const hmc_kind *kind = t.kind + member.kind;
    plugmc_orientation o = t.turned[at];
    if (moves) hmc_move_molecule(t, stride, walker, at, kind, member.within, &o);
    if (!bin) {
        if (hmc_lost_shape(&o)) t.out_of_shape[walker] = 1;
        return;
    }
    const uint64_t others = (uint64_t)walker * t.particles;
    hmc_position(HMC_BOX(walker), t.place + 3 * at, t.positions + 3 * at);
    hmc_place_sites(kind, HMC_BOX(walker), member.within, &o, t.positions + 3 * others,
                    t.place + 3 * others);
    for (int32_t a = 0; a < kind->sites->sites; a++)
        hmc_check_list(t, walker,
                       others + (uint64_t)plugmc_site_number(kind->sites, member.within, a), k < 0);
}

/* As hmc_store; positions of sites are those that the core would find. */
HMC_KERNEL hmc_store_rigid(const hmc_task t, double *positions, plugmc_orientation *orientations)
{
    HMC_PARTICLE
    const hmc_member member = t.member[particle];
    if (member.role != HMC_FREE && member.role != HMC_FIRST_SITE) return;
    double *own = positions + 3 * at;
    hmc_position(HMC_BOX(walker), t.place + 3 * at, own);
    if (member.role == HMC_FREE) return;
    const plugmc_molecule *sites = t.kind[member.kind].sites;
    const plugmc_orientation o = t.turned[at];
    orientations[at] = o;
    for (int32_t a = 1; a < sites->sites; a++)
        plugmc_place_site(sites, &o, HMC_BOX(walker), own, a,
                          positions + 3 * ((uint64_t)walker * t.particles +
                                           (uint64_t)plugmc_site_number(sites, member.within, a)));
}
#endif
