/* plugmc/pair.h: included after the pair functions of a potential, makes the pair facet.
 *
 * PLUGMC_PAIR says which of these the author has written (PLUGMC_FN, `p` the parameters, `s` the
 * separation a - b, energies over kT):
 *
 *     PLUGMC_PAIR_ENERGY      real pair_energy(const parameters *p, plugmc_separation s,
 *                                              plugmc_site a, plugmc_site b)
 *                             real pair_range(const parameters *p)
 *                                 the separation from which the energy is exactly 0, or
 *                                 PLUGMC_NO_RANGE
 *     PLUGMC_PAIR_CONTACT     real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
 *                                 the distance below which a and b overlap
 *     PLUGMC_PAIR_CHANGE      real pair_change(const parameters *p, plugmc_separation from,
 *                                              plugmc_separation to, plugmc_site a, plugmc_site b)
 *                                 energy(to) - energy(from), where that saves work
 *     PLUGMC_PAIR_FACTOR      real pair_factor(const parameters *p, plugmc_site a)
 *                                 a factor of the energy (and change) that depends on the probe a
 *                                 alone, which the functions above then leave out
 *     PLUGMC_PAIR_DERIVATIVE  void pair_derivative(const parameters *p, plugmc_separation s,
 *                                 plugmc_site a, plugmc_site b, real *first, real *second)
 *                                 du/dr / r and d2u/dr2, without the factor
 *
 * Only ENERGY or CONTACT is needed. On the CPU this header compiles the loops over neighbours
 * right here, so that the author's functions are inlined and vectorised; on the GPU it gives the
 * core names to call.
 */
PLUGMC_FN real plugmc_pair_term(const parameters *p, plugmc_separation s, plugmc_site a,
                                plugmc_site b)
{
#if PLUGMC_PAIR & 1
    return pair_energy(p, s, a, b);
#else
    (void)p, (void)s, (void)a, (void)b;
    return 0;
#endif
}

PLUGMC_FN real plugmc_pair_difference(const parameters *p, plugmc_separation from,
                                      plugmc_separation to, plugmc_site a, plugmc_site b)
{
#if PLUGMC_PAIR & 4
    return pair_change(p, from, to, a, b);
#else
    return plugmc_pair_term(p, to, a, b) - plugmc_pair_term(p, from, a, b);
#endif
}

PLUGMC_FN real plugmc_probe_factor(const parameters *p, plugmc_site a)
{
#if PLUGMC_PAIR & 8
    return pair_factor(p, a);
#else
    (void)p, (void)a;
    return 1;
#endif
}

PLUGMC_FN real plugmc_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
#if PLUGMC_PAIR & 2
    return pair_contact(p, a, b);
#else
    (void)p, (void)a, (void)b;
    return 0;
#endif
}

#if PLUGMC_HOST
enum { PLUGMC_BLOCK = 16, PLUGMC_FLUSH = 256 };

PLUGMC_FN plugmc_site plugmc_site_of(const plugmc_particle *a)
{
    return (plugmc_site){(real)a->charge, (real)a->diameter, a->species};
}

PLUGMC_FN plugmc_separation plugmc_separate(real x, real y, real z, const real length[3],
                                            const real inverse[3], int periodic)
{
    if (periodic) {
        x -= length[0] * (sizeof(real) == 4 ? (real)rintf((float)(x * inverse[0])) : (real)rint(x * inverse[0]));
        y -= length[1] * (sizeof(real) == 4 ? (real)rintf((float)(y * inverse[1])) : (real)rint(y * inverse[1]));
        z -= length[2] * (sizeof(real) == 4 ? (real)rintf((float)(z * inverse[2])) : (real)rint(z * inverse[2]));
    }
    return (plugmc_separation){x, y, z, x * x + y * y + z * z};
}

/* The loop behind energy and change: `moving` and `periodic` are constants once inlined. Sums
 * are kept in PLUGMC_BLOCK partial sums and flushed to double every PLUGMC_FLUSH neighbours, so
 * that the result does not depend on the instruction set. */
PLUGMC_FN int64_t plugmc_pair_sum(const parameters *p, const plugmc_box *box, int periodic,
                                  int moving, const plugmc_particle *probe, const double moved[3],
                                  const plugmc_particles *others, double *energy)
{
    const real *x = (const real *)others->x, *y = (const real *)others->y,
               *z = (const real *)others->z, *charge = (const real *)others->charge,
               *diameter = (const real *)others->diameter;
    const real length[3] = {(real)box->length[0], (real)box->length[1], (real)box->length[2]};
    const real inverse[3] = {1 / length[0], 1 / length[1], 1 / length[2]};
    const plugmc_site a = plugmc_site_of(probe);
    const real ox = (real)probe->x, oy = (real)probe->y, oz = (real)probe->z;
    const real nx = moving ? (real)moved[0] : ox, ny = moving ? (real)moved[1] : oy,
               nz = moving ? (real)moved[2] : oz;
    double total[PLUGMC_BLOCK] = {0};
    int32_t overlaps[PLUGMC_BLOCK] = {0};

    for (int64_t begin = 0; begin < others->n; begin += PLUGMC_FLUSH) {
        int64_t end = begin + PLUGMC_FLUSH < others->n ? begin + PLUGMC_FLUSH : others->n;
        real sum[PLUGMC_BLOCK] = {0};
        for (int64_t i = begin; i < end; i += PLUGMC_BLOCK) {
            int block = end - i < PLUGMC_BLOCK ? (int)(end - i) : PLUGMC_BLOCK;
            for (int l = 0; l < block; l++) {
                int64_t j = i + l;
                plugmc_site b = {charge[j], diameter[j], others->species[j]};
                plugmc_separation to =
                    plugmc_separate(nx - x[j], ny - y[j], nz - z[j], length, inverse, periodic);
                real contact = plugmc_contact(p, a, b);
                overlaps[l] += to.r2 < contact * contact;
                if (moving) {
                    plugmc_separation from = plugmc_separate(ox - x[j], oy - y[j], oz - z[j],
                                                             length, inverse, periodic);
                    sum[l] += plugmc_pair_difference(p, from, to, a, b);
                } else {
                    sum[l] += plugmc_pair_term(p, to, a, b);
                }
            }
        }
        for (int l = 0; l < PLUGMC_BLOCK; l++) total[l] += (double)sum[l];
    }
    double all = 0;
    int64_t hits = 0;
    for (int l = 0; l < PLUGMC_BLOCK; l++) {
        all += total[l];
        hits += overlaps[l];
    }
    *energy += all * (double)plugmc_probe_factor(p, a);
    return hits;
}

static PLUGMC_TARGETS int64_t plugmc_pair_energy(const void *instance, const plugmc_box *box,
                                                 int periodic, const plugmc_particle *probe,
                                                 const plugmc_particles *others, double *energy)
{
    const parameters p = *(const parameters *)instance;
    return periodic ? plugmc_pair_sum(&p, box, 1, 0, probe, NULL, others, energy)
                    : plugmc_pair_sum(&p, box, 0, 0, probe, NULL, others, energy);
}

static PLUGMC_TARGETS int64_t plugmc_pair_change(const void *instance, const plugmc_box *box,
                                                 int periodic, const plugmc_particle *probe,
                                                 const double moved[3],
                                                 const plugmc_particles *others, double *change)
{
    const parameters p = *(const parameters *)instance;
    return periodic ? plugmc_pair_sum(&p, box, 1, 1, probe, moved, others, change)
                    : plugmc_pair_sum(&p, box, 0, 1, probe, moved, others, change);
}

static double plugmc_pair_range(const void *instance)
{
#if PLUGMC_PAIR & 1
    return (double)pair_range((const parameters *)instance);
#else
    (void)instance;
    return 0;
#endif
}

static double plugmc_pair_contact(const void *instance, const plugmc_particle *a,
                                  const plugmc_particle *b)
{
    return (double)plugmc_contact((const parameters *)instance, plugmc_site_of(a),
                                  plugmc_site_of(b));
}

#if defined(PLUGMC_FLOAT_UNIT) && (PLUGMC_PAIR & 1)
/* The slots of one separation are added in order and the factor applied last, as in device
 * text: the same float on CPU and GPU. */
PLUGMC_FN void plugmc_lanes_sum(const parameters *p, const plugmc_lanes *b, int many_species)
{
    for (int l0 = 0; l0 < b->lanes; l0 += PLUGMC_LANE_BLOCK) {
        float sum[PLUGMC_LANE_BLOCK] = {0};
        for (int s = 0; s < b->slots; s++) {
            const float *x = b->x[s] + l0, *y = b->y[s] + l0, *z = b->z[s] + l0;
            for (int l = 0; l < PLUGMC_LANE_BLOCK; l++) {
                int ka = many_species ? b->probe_species[l0 + l] : 0;
                int kb = many_species ? b->species[s][l0 + l] : 0;
                plugmc_site sa = {b->charge[ka], b->diameter[ka], ka};
                plugmc_site sb = {b->charge[kb], b->diameter[kb], kb};
                plugmc_separation to, from;
                to.x = ((b->new_x[l0 + l] - b->offset[s][0]) - x[l]) * b->scale;
                to.y = ((b->new_y[l0 + l] - b->offset[s][1]) - y[l]) * b->ratio[1] * b->scale;
                to.z = ((b->new_z[l0 + l] - b->offset[s][2]) - z[l]) * b->ratio[2] * b->scale;
                to.r2 = fmaf(to.z, to.z, fmaf(to.y, to.y, to.x * to.x));
                from.x = ((b->old_x[l0 + l] - b->offset[s][0]) - x[l]) * b->scale;
                from.y = ((b->old_y[l0 + l] - b->offset[s][1]) - y[l]) * b->ratio[1] * b->scale;
                from.z = ((b->old_z[l0 + l] - b->offset[s][2]) - z[l]) * b->ratio[2] * b->scale;
                from.r2 = fmaf(from.z, from.z, fmaf(from.y, from.y, from.x * from.x));
                float d = plugmc_pair_difference(p, from, to, sa, sb);
                sum[l] += x[l] < PLUGMC_NOWHERE ? d : 0.0f;
            }
        }
        for (int l = 0; l < PLUGMC_LANE_BLOCK; l++) {
            int ka = many_species ? b->probe_species[l0 + l] : 0;
            plugmc_site sa = {b->charge[ka], b->diameter[ka], ka};
            b->change[l0 + l] += sum[l] * plugmc_probe_factor(p, sa);
        }
    }
}

static PLUGMC_TARGETS void plugmc_pair_lanes(const void *instance, const plugmc_lanes *b)
{
    const parameters p = *(const parameters *)instance;
    if (b->species)
        plugmc_lanes_sum(&p, b, 1);
    else
        plugmc_lanes_sum(&p, b, 0);
}
#define PLUGMC_PAIR_LANES plugmc_pair_lanes
#else
#define PLUGMC_PAIR_LANES NULL
#endif

static const plugmc_pair plugmc_pair_facet = {
    .size = sizeof(plugmc_pair),
    .functions = PLUGMC_PAIR,
    .range = plugmc_pair_range,
    .contact = plugmc_pair_contact,
    .energy = plugmc_pair_energy,
    .change = plugmc_pair_change,
    .lanes = PLUGMC_PAIR_LANES,
};
#endif
