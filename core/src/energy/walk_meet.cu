/* walk_meet.cu: what the move of one particle does to the energy, and how it is carried out. A block takes a walker; its
 * warps share the particles that one meets at its old and its new position.
 *
 * Stands behind energies.cu and behind the mover's own source, before walk_groups.cu and walk.cu. */

/* One particle goes from one place, where it was of one species, comes to another place, or both. */
typedef struct walk_part {
    int32_t was, comes; /* species; -1: nobody goes, or comes */
    double from[3], to[3];
    int64_t skip[2]; /* numbers of those that are not met */
} walk_part;

/* What a thread has summed. */
typedef struct walk_sums {
    plugmc_sums gone, come;
    int overlap;
} walk_sums;

/* Adds the energies with particle k. */
PLUGMC_FN void walk_meet_one(const walk_around *a, const walk_part *p, plugmc_site was,
                             plugmc_site comes, int64_t k, walk_sums *sums)
{
    const double x = a->x[k], y = a->y[k], z = a->z[k];
    const int s = PLUGMC_SPECIES == 1 ? 0 : a->species[k];
    const plugmc_site site = plugmc_site_of_species(s);
    if (p->was >= 0)
        plugmc_sums_add_energy(&sums->gone,
                               plugmc_separate_at(p->from[0], p->from[1], p->from[2],
                                                  plugmc_separated(p->from[0] - x, p->from[1] - y,
                                                                   p->from[2] - z, a->images)),
                               was, site);
    if (p->comes < 0) return;
    const plugmc_separation to =
        plugmc_separated(p->to[0] - x, p->to[1] - y, p->to[2] - z, a->images);
    plugmc_sums_add_energy(&sums->come, plugmc_separate_at(p->to[0], p->to[1], p->to[2], to), comes,
                           site);
    sums->overlap |= PLUGMC_CONTACTS && to.r2 < plugmc_contact_square(p->comes, s);
}

/* Neighbours are picked by distances in single precision, and are in reach of the one position or the other only if they
 * are within `square` of `centre`. */
typedef struct walk_sphere {
    float centre[3], length[3], inverse_length[3], square;
} walk_sphere;

PLUGMC_FN walk_sphere walk_sphere_of(const walk_task *t, const walk_around *a, const walk_part *p)
{
    const double *centre = p->was >= 0 ? p->from : p->to;
    const plugmc_separation step = plugmc_separated(p->to[0] - p->from[0], p->to[1] - p->from[1],
                                                    p->to[2] - p->from[2], a->images);
    walk_sphere s = {};
    float size = 0; /* for the margin, as coordinates are rounded */
    for (int d = 0; d < 3; d++) {
        s.centre[d] = (float)centre[d];
        s.length[d] = PLUGMC_PERIODIC ? (float)a->images.length[d] : 0;
        s.inverse_length[d] = PLUGMC_PERIODIC ? (float)a->images.inverse_length[d] : 0;
        size += PLUGMC_PERIODIC ? s.length[d] : 2 * (float)plugmc_radius;
    }
    const float reach = t->reach + (p->was >= 0 && p->comes >= 0 ? sqrtf((float)step.r2) : 0);
    const float radius = reach + 1e-6f * (size + reach);
    s.square = PLUGMC_OBLIQUE ? PLUGMC_NO_RANGE : radius * radius;
    return s;
}

/* The nearest integer. Adding 1.5 * 2^23 leaves it in the last bits; rintf takes four times as long. */
PLUGMC_FN float walk_round(float x) { return __fsub_rn(__fadd_rn(x, 12582912.0f), 12582912.0f); }

PLUGMC_FN bool walk_is_near(const walk_sphere *s, float4 at)
{
    float x = at.x - s->centre[0], y = at.y - s->centre[1], z = at.z - s->centre[2];
    if (PLUGMC_OBLIQUE) return true;
    if (PLUGMC_PERIODIC) {
        x -= s->length[0] * walk_round(x * s->inverse_length[0]);
        y -= s->length[1] * walk_round(y * s->inverse_length[1]);
        z -= s->length[2] * walk_round(z * s->inverse_length[2]);
    }
    return fmaf(x, x, fmaf(y, y, z * z)) < s->square;
}

/* A warp picks neighbours among 32 particles at a time and meets them as soon as it has 32. ALONE: only those that are
 * in no group. */
template <bool ALONE>
PLUGMC_FN void walk_meet_near(const walk_task *t, const walk_around *a, const walk_part *p,
                              plugmc_site was, plugmc_site comes, walk_sums *sums)
{
    __shared__ uint32_t picked[WALK_THREADS / 32][64];
    uint32_t *mine = picked[threadIdx.x / 32];
    const uint32_t lane = threadIdx.x % 32, below = (1u << lane) - 1;
    const uint32_t skip = (uint32_t)p->skip[0], also = (uint32_t)p->skip[1];
    const walk_sphere sphere = walk_sphere_of(t, a, p);
    uint32_t n = 0;
    for (int s = 0; s < PLUGMC_SPECIES; s++) {
        const uint32_t first = (uint32_t)a->first[s], end = first + (uint32_t)a->count[s];
        for (uint32_t base = first + threadIdx.x - lane; base < end; base += blockDim.x) {
            const uint32_t k = base + lane;
            const bool near = k < end && walk_is_near(&sphere, a->rounded[k]) && k != skip &&
                              k != also && !(ALONE && a->grouped[k]);
            const uint32_t those = __ballot_sync(0xffffffffu, near);
            if (near) mine[n + __popc(those & below)] = k;
            n += __popc(those);
            __syncwarp();
            if (n < 32) continue;
            walk_meet_one(a, p, was, comes, mine[lane], sums);
            n -= 32;
            __syncwarp();
            if (lane < n) mine[lane] = mine[32 + lane];
        }
    }
    __syncwarp();
    if (lane < n) walk_meet_one(a, p, was, comes, mine[lane], sums);
    __syncwarp();
}

/* The share of a thread in the changes of all terms, added to change [PLUGMC_TERMS]; returns whether the
 * one that comes overlaps or may not be there. ALONE: with those alone that are in no group. */
template <bool ALONE>
PLUGMC_FN int walk_meet(const walk_task *t, const walk_around *a, const walk_part *p,
                        double *change)
{
    const plugmc_site was = plugmc_site_of_species(p->was < 0 ? 0 : p->was),
                      comes = plugmc_site_of_species(p->comes < 0 ? 0 : p->comes);
    walk_sums sums = {};
    plugmc_double_sums all = {}, gone = {};
    double energy[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {},
                                                    lost[PLUGMC_TERMS > 0 ? PLUGMC_TERMS : 1] = {};
    if (!t->no_pairs) walk_meet_near<ALONE>(t, a, p, was, comes, &sums);
    int overlap = sums.overlap;
    plugmc_sums_empty(&sums.come, &all);
    plugmc_sums_empty(&sums.gone, &gone);
    if (p->comes >= 0) plugmc_double_sums_by_term(&all, comes, energy);
    if (p->was >= 0) plugmc_double_sums_by_term(&gone, was, lost);
    if (threadIdx.x == 0) {
        const plugmc_position to = {p->to[0], p->to[1], p->to[2]},
                              from = {p->from[0], p->from[1], p->from[2]};
        int unused = 0;
        if (p->comes >= 0) {
            plugmc_fields_by_term(to, comes, &overlap, energy);
            overlap |= PLUGMC_IN_SPHERE &&
                       p->to[0] * p->to[0] + p->to[1] * p->to[1] + p->to[2] * p->to[2] >
                           plugmc_radius * plugmc_radius;
        }
        if (p->was >= 0) plugmc_fields_by_term(from, was, &unused, lost);
    }
    for (int term = 0; term < PLUGMC_TERMS; term++) change[term] += energy[term] - lost[term];
    return overlap;
}

/* Terms that depend on how many there are alone; asked of one species only. */
PLUGMC_FN double walk_by_count(const walk_task *t, const double *multipliers, int64_t before,
                               int64_t after)
{
    double delta = 0;
    for (int term = 0; term < PLUGMC_TERMS && t->by_count; term++) {
        const double *energy = t->by_count + (uint64_t)term * (t->particles + 1);
        if (multipliers[term] != 0) delta += multipliers[term] * (energy[after] - energy[before]);
    }
    return delta;
}

/* Sum over the block, in an order that depends on its size alone. */
PLUGMC_FN double walk_sum(double mine, double *room)
{
    for (int apart = 16; apart > 0; apart /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, apart);
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = mine;
    __syncthreads();
    double sum = 0;
    for (uint32_t k = 0; k < blockDim.x / 32; k++) sum += room[k];
    __syncthreads();
    return sum;
}

/* ---- A trial ------------------------------------------------------------------------------------- */

/* What is to be met, part by part; returns how many there are. */
PLUGMC_FN int walk_parts(const plugmc_trial *trial, const walk_around *a, walk_part part[2])
{
    const int64_t i = trial->particle, j = trial->other;
    part[0].skip[0] = part[0].skip[1] = -1;
    part[0].was = part[0].comes = -1;
    for (int d = 0; d < 3; d++) part[0].from[d] = part[0].to[d] = trial->position[d];
    if (trial->kind == PLUGMC_INSERTED) {
        part[0].comes = trial->species;
        return 1;
    }
    part[0].from[0] = a->x[i], part[0].from[1] = a->y[i], part[0].from[2] = a->z[i];
    part[0].was = a->species[i];
    part[0].skip[0] = i;
    if (trial->kind == PLUGMC_DISPLACED) part[0].comes = part[0].was;
    if (trial->kind == PLUGMC_DISPLACED || trial->kind == PLUGMC_REMOVED) return 1;
    for (int d = 0; d < 3; d++) part[0].to[d] = part[0].from[d];
    part[0].comes = trial->kind == PLUGMC_SWAPPED ? a->species[j] : trial->species;
    if (trial->kind == PLUGMC_IDENTITY) return 1;
    part[0].skip[1] = j;
    part[1].was = part[0].comes, part[1].comes = part[0].was;
    part[1].skip[0] = i, part[1].skip[1] = j;
    part[1].from[0] = part[1].to[0] = a->x[j];
    part[1].from[1] = part[1].to[1] = a->y[j];
    part[1].from[2] = part[1].to[2] = a->z[j];
    return 2;
}

PLUGMC_FN void walk_put(const walk_around *a, int64_t k, const double r[3])
{
    a->x[k] = r[0], a->y[k] = r[1], a->z[k] = r[2];
    a->rounded[k] = make_float4((float)r[0], (float)r[1], (float)r[2], 0);
}

PLUGMC_FN void walk_remove(const walk_around *a, int64_t i)
{
    const int32_t species = a->species[i];
    const int64_t last = a->first[species] + --a->count[species];
    const double at[3] = {a->x[last], a->y[last], a->z[last]}, nan = __longlong_as_double(~0ull);
    const double nowhere[3] = {nan, nan, nan};
    walk_put(a, i, at);
    walk_put(a, last, nowhere);
}

PLUGMC_FN void walk_take(const plugmc_trial *trial, const walk_around *a, const walk_part part[2])
{
    if (trial->kind == PLUGMC_IDENTITY && part[0].was == part[0].comes) return;
    if (trial->kind == PLUGMC_DISPLACED) walk_put(a, trial->particle, part[0].to);
    if (trial->kind == PLUGMC_SWAPPED) {
        walk_put(a, trial->particle, part[1].from);
        walk_put(a, trial->other, part[0].from);
    }
    if (trial->kind == PLUGMC_REMOVED || trial->kind == PLUGMC_IDENTITY)
        walk_remove(a, trial->particle);
    if (trial->kind == PLUGMC_INSERTED || trial->kind == PLUGMC_IDENTITY)
        walk_put(a, a->first[trial->species] + a->count[trial->species]++, part[0].to);
}
