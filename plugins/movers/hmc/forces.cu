/* forces.cu: forces and energies of pairs and fields, and the lists of neighbours. Its text follows that of hmc.cu.
 *
 * Particles are sorted by cells into entries, and each of them has its neighbours listed, up to a distance beyond their reach.
 * Both hold until somebody has moved too far (hmc_check_list), some ten to forty steps. Sums are of integers, so lists do not
 * change results: a pair that is listed and out of reach adds nothing. */

/* HMC_LONG: 1 if this text computes in double. */
#if HMC_LONG
typedef hmc_long_entry hmc_neighbour;
#define HMC_ENTRIES(t) ((t).long_entry)
#else
typedef hmc_entry hmc_neighbour;
#define HMC_ENTRIES(t) ((t).entry)
#endif

/* Species beside the particle's number where both find room in 32 bits. */
PLUGMC_FN void hmc_pack(const hmc_task *t, const uint64_t *place, uint32_t particle,
                        hmc_neighbour *out)
{
#if HMC_LONG
    out->x = place[0];
    out->y = place[1];
    out->z = place[2];
    out->particle = particle;
    out->species = t->species[particle];
#else
    out->x = (uint32_t)(place[0] >> 32);
    out->y = (uint32_t)(place[1] >> 32);
    out->z = (uint32_t)(place[2] >> 32);
    out->particle = particle | (PLUGMC_SPECIES > 1 ? t->species[particle] << 28 : 0u);
#endif
}

PLUGMC_FN uint32_t hmc_particle_of(hmc_neighbour e)
{
#if HMC_LONG
    return e.particle;
#else
    return PLUGMC_SPECIES > 1 ? e.particle & 0xfffffffu : e.particle;
#endif
}

PLUGMC_FN plugmc_site hmc_site_of(hmc_neighbour e)
{
#if HMC_LONG
    return plugmc_site_of_species((int)e.species);
#else
    return plugmc_site_of_species(PLUGMC_SPECIES > 1 ? (int)(e.particle >> 28) : 0);
#endif
}

/* To its place among the entries, which it keeps until lists are stale. */
HMC_KERNEL hmc_sort(const hmc_task t)
{
    HMC_PARTICLE
    if (t.stale[walker]) {
        const uint32_t cell = t.cell[at], row = cell / t.count[0], x = cell % t.count[0];
        t.slot[at] = t.start[((uint64_t)walker * t.rows + row) * (t.count[0] + 1) + x] + t.rank[at];
        for (int d = 0; d < 3; d++) t.listed[3 * at + d] = t.place[3 * at + d];
    }
    hmc_neighbour own;
    hmc_pack(&t, t.place + 3 * at, particle, &own);
    HMC_ENTRIES(t)[(uint64_t)walker * t.particles + t.slot[at]] = own;
}

/* The box in the precision of the text; constants where nobody changes it. */
#if PLUGMC_OBLIQUE
typedef plugmc_images hmc_edges;
#else
typedef struct hmc_edges {
    real length[3];
} hmc_edges;
#endif

PLUGMC_FN hmc_edges hmc_edges_of(const plugmc_box *boxes, uint32_t walker)
{
#if PLUGMC_OBLIQUE
    return plugmc_images_of_walker(boxes, (int)walker);
#else
    hmc_edges m;
    for (int d = 0; d < 3; d++)
#if PLUGMC_BOX_CHANGES
        m.length[d] = (real)boxes[walker].length[d];
#else
        m.length[d] = plugmc_edge[d];
#endif
    return m;
#endif
}

/* b seen from a, by the nearest image: differences of positions wrap around as the box does. */
PLUGMC_FN plugmc_separation hmc_separation(hmc_neighbour a, hmc_neighbour b, const hmc_edges &m)
{
#if HMC_LONG
    const real unit = (real)0x1p-64;
    const real x = (real)(int64_t)(a.x - b.x), y = (real)(int64_t)(a.y - b.y),
               z = (real)(int64_t)(a.z - b.z);
#else
    const real unit = (real)0x1p-32;
    const real x = (real)(int32_t)(a.x - b.x), y = (real)(int32_t)(a.y - b.y),
               z = (real)(int32_t)(a.z - b.z);
#endif
#if PLUGMC_OBLIQUE
    return plugmc_separated(unit * (x * m.vector[0][0] + y * m.vector[1][0] + z * m.vector[2][0]),
                            unit * (x * m.vector[0][1] + y * m.vector[1][1] + z * m.vector[2][1]),
                            unit * (x * m.vector[0][2] + y * m.vector[1][2] + z * m.vector[2][2]),
                            m);
#else
    plugmc_separation s;
    s.x = x * (unit * m.length[0]);
    s.y = y * (unit * m.length[1]);
    s.z = PLUGMC_DIMENSION == 3 ? z * (unit * m.length[2]) : (real)0;
    s.r2 = s.x * s.x + s.y * s.y + s.z * s.z;
    return s;
#endif
}

/* Energies stay where 512 of them cannot overflow; beyond, Boltzmann's factor is 0 anyway. */
PLUGMC_FN int64_t hmc_energy_quanta(real u)
{
    const double most = 4194304.0;
    double y = (double)u;
    return hmc_nearest((y < most ? (y > -most ? y : -most) : most) * HMC_ENERGY_UNIT);
}

PLUGMC_FN int64_t hmc_force_quanta(real f)
{
#if HMC_LONG
    return hmc_nearest(f * HMC_ENERGY_UNIT);
#else
    return __float2ll_rn(f * (float)HMC_ENERGY_UNIT);
#endif
}

/* In units of 1 / HMC_ENERGY_UNIT. */
typedef struct hmc_sum {
    int64_t force[3], energy;
    /* Plain sum of the same, no number or minus infinity if one of them is that: integers cannot say. */
    real known;
} hmc_sum;

PLUGMC_FN void hmc_add_pair(plugmc_separation s, plugmc_site a, plugmc_site b, int with_energy,
                            const double *weight, hmc_sum *sum)
{
    if (with_energy) {
        plugmc_sums energies;
        plugmc_sums_clear(&energies);
        plugmc_sums_add_energy(&energies, s, a, b);
#if PLUGMC_WEIGHTED
        const real energy = plugmc_sums_weighted(&energies, a, weight);
#else
        const real energy = plugmc_sums_total(&energies, a);
#endif
        sum->energy += hmc_energy_quanta(energy);
        sum->known += energy;
    } else {
        real energy, first, second;
#if PLUGMC_WEIGHTED
        plugmc_pair_derivatives_weighted(s, a, b, weight, &energy, &first, &second);
#else
        plugmc_pair_derivatives(s, a, b, &energy, &first, &second);
#endif
        sum->force[0] -= hmc_force_quanta(first * s.x);
        sum->force[1] -= hmc_force_quanta(first * s.y);
        if (PLUGMC_DIMENSION == 3) sum->force[2] -= hmc_force_quanta(first * s.z);
        sum->known += first;
    }
}

/* Cells to look at along one edge: `n` of them from `first`, modulo the count. */
PLUGMC_FN void hmc_around(int32_t cell, int32_t span, int32_t count, int32_t *first, int32_t *n)
{
    const int32_t whole = count < 2 * span + 1;
    *n = whole ? count : 2 * span + 1;
    *first = whole ? 0 : cell - span + (cell < span ? count : 0);
}

/* Number of no entry. */
#define HMC_NONE 0xffffffffu

/* A search through the cells around an entry, of which a thread of the team looks at its share. In each layer there are rows of
 * cells; in each row cells x ... x + n - 1, and `beyond` of them at its other end. Where the search has come to: entry k of those
 * up to `end` in a piece of a row. */
typedef struct hmc_search {
    const hmc_neighbour *entry; /* of the walker */
    hmc_neighbour me;
    hmc_edges edges;
    real square, within_square; /* of the longest distance; of one between sites of a molecule */
    int32_t molecule;           /* -1: none */
    const uint32_t *start;      /* of row 0 of the walker; of row 0 of the layer */
    const uint32_t *layer;
    int32_t x, n, beyond, y, ny, z, nz;
    int32_t piece; /* 2 a row */
    uint32_t own, lane, k, end;
} hmc_search;

PLUGMC_FN void hmc_next_layer(const hmc_task *t, hmc_search *s)
{
    const int32_t z = s->z < t->count[2] ? s->z : s->z - t->count[2];
    s->layer = s->start + z * t->count[1] * (t->count[0] + 1);
    s->z++, s->nz--;
    s->piece = -1;
    s->k = s->end = 0;
}

PLUGMC_FN void hmc_next_piece(const hmc_task *t, hmc_search *s)
{
    const int32_t i = ++s->piece / 2, y = s->y + i, behind = s->piece % 2;
    if (i >= s->ny) return;
    const uint32_t *start = s->layer + (y < t->count[1] ? y : y - t->count[1]) * (t->count[0] + 1);
    s->k = start[behind ? 0 : s->x] + s->lane;
    s->end = start[behind          ? (s->beyond > 0 ? s->beyond : 0)
                   : s->beyond > 0 ? t->count[0]
                                   : s->x + s->n];
}

PLUGMC_FN void hmc_begin_search(const hmc_task *t, uint32_t walker, uint32_t own, uint32_t lane,
                                hmc_search *s)
{
    const uint32_t particle = hmc_particle_of(s->me);
#if HMC_RIGID
    s->molecule = t->member[particle].molecule;
    s->within_square = (real)t->within_square;
#endif
    const uint32_t cell = t->cell[(uint64_t)walker * t->particles + particle];
    const int32_t row = (int32_t)(cell / t->count[0]);
    hmc_around((int32_t)(cell % t->count[0]), t->span[0], t->count[0], &s->x, &s->n);
    hmc_around(row % t->count[1], t->span[1], t->count[1], &s->y, &s->ny);
    hmc_around(row / t->count[1], t->span[2], t->count[2], &s->z, &s->nz);
    s->beyond = s->x + s->n - t->count[0];
    s->start = t->start + (uint64_t)walker * t->rows * (t->count[0] + 1);
    s->own = own;
    s->lane = lane;
    hmc_next_layer(t, s);
    hmc_next_piece(t, s);
}

/* Whether an entry at this distance is a site of the molecule of the one that searches. */
PLUGMC_FN bool hmc_together(const hmc_task *t, const hmc_search *s, real r2, hmc_neighbour other)
{
#if HMC_RIGID
    return r2 < s->within_square && s->molecule >= 0 &&
           t->member[hmc_particle_of(other)].molecule == s->molecule;
#else
    return false;
#endif
}

PLUGMC_FN hmc_search hmc_search_of(const hmc_task *t, uint32_t walker, uint32_t own, double square)
{
    hmc_search s;
    s.entry = HMC_ENTRIES(*t) + (uint64_t)walker * t->particles;
    s.me = s.entry[own];
    s.edges = hmc_edges_of(t->boxes, walker);
    s.square = (real)square;
    return s;
}

/* To the next piece, in the next layer if need be; false after the last. */
PLUGMC_FN bool hmc_advance(const hmc_task *t, hmc_search *s)
{
    hmc_next_piece(t, s);
    if (s->piece < 2 * s->ny) return true;
    if (s->nz == 0) return false;
    hmc_next_layer(t, s);
    hmc_next_piece(t, s);
    return true;
}

/* Whether entry k, which is `other`, is close enough. */
PLUGMC_FN bool hmc_is_near(const hmc_task *t, const hmc_search *s, uint32_t k, hmc_neighbour other)
{
    const real r2 = hmc_separation(s->me, other, s->edges).r2;
    return r2 < s->square && k != s->own && !hmc_together(t, s, r2, other);
}

/* The next entry that is close enough; HMC_NONE after the last. */
PLUGMC_FN uint32_t hmc_next(const hmc_task *t, hmc_search *s)
{
    do {
        while (s->k < s->end) {
            const uint32_t k = s->k;
            s->k += HMC_TEAM;
            if (hmc_is_near(t, s, k, s->entry[k])) return k;
        }
    } while (hmc_advance(t, s));
    return HMC_NONE;
}

/* Of the thread: the entry that its team looks at, and its number in the team. */
#define HMC_ENTRY_OF_TEAM                                                                          \
    const uint32_t walker = blockIdx.y, thread = blockIdx.x * HMC_THREADS + threadIdx.x,           \
                   own = thread / HMC_TEAM, lane = thread % HMC_TEAM;                              \
    const bool there = own < t.particles;

/* Entry k of the thread's list: threads of a warp have theirs side by side. */
PLUGMC_FN uint64_t hmc_list_at(const hmc_task *t, uint32_t walker, uint32_t own, uint32_t lane,
                               uint32_t k)
{
    const uint64_t row = (uint64_t)walker * t->list_rows + k;
    return (row * t->particles + own) * HMC_TEAM + lane;
}

PLUGMC_FN uint64_t hmc_list_n_at(const hmc_task *t, uint32_t walker, uint32_t own, uint32_t lane)
{
    return ((uint64_t)walker * t->particles + own) * HMC_TEAM + lane;
}

/* Makes stale lists anew. Entries are fetched some at a time, so that their latencies overlap. */
HMC_KERNEL hmc_list(const hmc_task t)
{
    enum { AT_A_TIME = 4 };
    HMC_ENTRY_OF_TEAM
    if (!there || !t.stale[walker]) return;
    hmc_search search = hmc_search_of(&t, walker, own, t.listed_square);
    hmc_begin_search(&t, walker, own, lane, &search);
    uint32_t n = 0;
    do {
        for (uint32_t first = search.k; first < search.end; first += AT_A_TIME * HMC_TEAM) {
            hmc_neighbour other[AT_A_TIME];
#pragma unroll
            for (uint32_t q = 0; q < AT_A_TIME; q++)
                other[q] = search.entry[min(first + q * HMC_TEAM, search.end - 1)];
#pragma unroll
            for (uint32_t q = 0; q < AT_A_TIME; q++) {
                const uint32_t k = first + q * HMC_TEAM;
                if (k >= search.end || !hmc_is_near(&t, &search, k, other[q])) continue;
                if (n < t.list_rows) t.list[hmc_list_at(&t, walker, own, lane, n)] = k;
                n++;
            }
        }
    } while (hmc_advance(&t, &search));
    t.list_n[hmc_list_n_at(&t, walker, own, lane)] = n;
}

/* The entry there, if the list of `n` has one. */
PLUGMC_FN uint32_t hmc_listed(const hmc_task *t, uint32_t walker, uint32_t own, uint32_t lane,
                              uint32_t k, uint32_t n)
{
    return k < n ? t->list[hmc_list_at(t, walker, own, lane, k)] : HMC_NONE;
}

/* Sums over the thread's share of neighbours: those of its list, or, where they found no room there, all that are near. What a
 * pair does stands once, and its loop is not unrolled: of two copies the compiler may contract the products in two ways, and the
 * force of a pair would depend on which of them computes it. */
PLUGMC_FN void hmc_add_neighbours(const hmc_task *t, uint32_t walker, uint32_t own, uint32_t lane,
                                  int with_energy, hmc_sum *sum)
{
    const uint32_t n = t->list_rows ? t->list_n[hmc_list_n_at(t, walker, own, lane)] : HMC_NONE;
    const bool listed = n <= t->list_rows;
    hmc_search search = hmc_search_of(t, walker, own, t->reach_square);
    if (!listed) hmc_begin_search(t, walker, own, lane, &search);
    const plugmc_site a = hmc_site_of(search.me);
    /* what comes two rounds later, and the neighbour of the next round, are on their way */
    uint32_t ahead = hmc_listed(t, walker, own, lane, 1, listed ? n : 0);
    hmc_neighbour next = search.me;
    if (listed && n > 0) next = search.entry[hmc_listed(t, walker, own, lane, 0, n)];
#pragma unroll 1
    for (uint32_t k = 0; !listed || k < n; k++) {
        hmc_neighbour other = next;
        if (listed) {
            if (ahead != HMC_NONE) next = search.entry[ahead];
            ahead = hmc_listed(t, walker, own, lane, k + 2, n);
        } else {
            const uint32_t found = hmc_next(t, &search);
            if (found == HMC_NONE) break;
            other = search.entry[found];
        }
        const plugmc_separation s = hmc_separation(search.me, other, search.edges);
        if (s.r2 < search.square)
            hmc_add_pair(s, a, hmc_site_of(other), with_energy, HMC_WEIGHT(*t, walker), sum);
    }
}

/* Adds those of the team to those of its first thread. All threads of a warp call it. */
PLUGMC_FN void hmc_sum_team(hmc_sum *sum)
{
    for (uint32_t half = HMC_TEAM / 2; half > 0; half /= 2) {
        for (int d = 0; d < 3; d++)
            sum->force[d] += __shfl_down_sync(0xffffffffu, sum->force[d], half);
        sum->energy += __shfl_down_sync(0xffffffffu, sum->energy, half);
        sum->known += __shfl_down_sync(0xffffffffu, sum->known, half);
    }
}

PLUGMC_FN plugmc_position hmc_field_position(const double r[3])
{
    plugmc_position out;
    out.x = (real)r[0];
    out.y = (real)r[1];
    out.z = (real)r[2];
    return out;
}

/* One team an entry, so that the threads of a warp look at the same cells. */
HMC_KERNEL hmc_forces(const hmc_task t)
{
    HMC_ENTRY_OF_TEAM
    hmc_sum sum = {{0, 0, 0}, 0, 0};
    if (PLUGMC_ENERGY_TERMS > 0 && there) hmc_add_neighbours(&t, walker, own, lane, 0, &sum);
    hmc_sum_team(&sum);
    if (!there || lane > 0) return;
    if (own == 0) t.stale[walker] = 0;
    const hmc_neighbour me = HMC_ENTRIES(t)[(uint64_t)walker * t.particles + own];
    const uint64_t at = (uint64_t)walker * t.particles + hmc_particle_of(me);
    if (sum.known != sum.known) t.plan->lost = t.plan->sweep + 1;
    real gradient[3] = {0, 0, 0}, laplacian;
    const plugmc_position place = hmc_field_position(t.positions + 3 * at);
    if (PLUGMC_FIELDS > 0)
#if PLUGMC_WEIGHTED
        plugmc_fields_derivatives_weighted(place, hmc_site_of(me), HMC_WEIGHT(t, walker), gradient,
                                           &laplacian);
#else
        plugmc_fields_derivatives(place, hmc_site_of(me), gradient, &laplacian);
#endif
    for (int d = 0; d < 3; d++)
        t.force[3 * at + d] = (double)sum.force[d] / HMC_ENERGY_UNIT - (double)gradient[d];
}

/* Half of the energies of a particle's pairs, and its energy in the fields; infinite where it may
 * not be. */
HMC_KERNEL hmc_energies(const hmc_task t)
{
    HMC_ENTRY_OF_TEAM
    hmc_sum sum = {{0, 0, 0}, 0, 0};
    int outside = 0;
    if (PLUGMC_ENERGY_TERMS > 0 && there) hmc_add_neighbours(&t, walker, own, lane, 1, &sum);
    hmc_sum_team(&sum);
    if (!there || lane > 0) return;
    const hmc_neighbour me = HMC_ENTRIES(t)[(uint64_t)walker * t.particles + own];
    const uint64_t at = (uint64_t)walker * t.particles + hmc_particle_of(me);
    if (!(sum.known > -PLUGMC_NO_RANGE)) t.plan->lost = t.plan->sweep + 1;
    double energy = 0.5 * (double)sum.energy / HMC_ENERGY_UNIT;
    const plugmc_position place = hmc_field_position(t.positions + 3 * at);
    if (PLUGMC_FIELDS > 0)
#if PLUGMC_WEIGHTED
        energy +=
            (double)plugmc_fields_weighted(place, hmc_site_of(me), &outside, HMC_WEIGHT(t, walker));
#else
        energy += (double)plugmc_fields(place, hmc_site_of(me), &outside);
#endif
    t.share[at] = outside ? (double)PLUGMC_NO_RANGE : energy;
}

#if PLUGMC_WEIGHTED
/* What total facet number `term` has written apart, by what it counts in each walker. */
HMC_KERNEL hmc_add_total(const hmc_task t, int term, int with_energy)
{
    HMC_PARTICLE
    const double weight = HMC_WEIGHT(t, walker)[term];
    if (weight == 0) return;
    for (int d = 0; d < 3; d++) t.force[3 * at + d] += weight * t.own_force[3 * at + d];
    if (particle == 0 && with_energy) t.others[walker] += weight * t.own_energy[walker];
}
#endif
