/* energies.cu: energies of whole configurations, term by term, in double precision. A thread takes one
 * particle, in the order of cells: its fields, and its pairs with those that come later in that order. Where
 * everyone is met several threads share a particle, since small systems are bound by how long a thread takes.
 * Sums are added in an order that depends on the numbers of particles and cells alone. */

PLUGMC_FN double energies_sum(double mine, double *parts, uint32_t threads)
{
    parts[threadIdx.x] = mine;
    for (uint32_t half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    __syncthreads();
    const double sum = parts[0];
    __syncthreads();
    return sum;
}

/* Cells around k in one direction, each once: from *first on, this many. */
PLUGMC_FN int32_t energies_around(int32_t k, int32_t count, int32_t *first)
{
    if (PLUGMC_PERIODIC && count >= 3) {
        *first = k - 1 + count;
        return 3;
    }
    *first = k > 0 ? k - 1 : 0;
    return (k + 1 < count ? k + 1 : count - 1) - *first + 1;
}

/* Who asks: a particle and what it is. */
typedef struct energies_probe {
    double x, y, z;
    int32_t species, molecule; /* less than 0: in none */
    plugmc_images images;
#if PLUGMC_BODIES
    plugmc_placed body;
#endif
} energies_probe;

/* Energies of pairs, each potential's. */
typedef struct energies_pairs {
    plugmc_sums pairs;
#if PLUGMC_BODIES
    plugmc_body_sums bodies;
#endif
} energies_pairs;

/* The number of the particle in slot k. */
PLUGMC_FN uint32_t energies_number(const energies_task *t, uint64_t row, uint32_t k)
{
    return t->all_pairs || t->no_pairs ? k : t->order[row + k];
}

PLUGMC_FN int32_t energies_species(const energies_task *t, uint64_t row, uint32_t k)
{
    return PLUGMC_SPECIES == 1 ? 0 : t->species[row + energies_number(t, row, k)];
}

PLUGMC_FN int32_t energies_molecule(const energies_task *t, uint64_t row, uint32_t k)
{
    return t->molecule ? t->molecule[energies_number(t, row, k)] : -1;
}

/* The particle in slot k. */
PLUGMC_FN energies_probe energies_probe_of(const energies_task *t, uint64_t row, uint32_t k,
                                           plugmc_images images)
{
    const double *r = t->positions + 3 * (row + k);
    energies_probe p = {
        r[0], r[1], r[2], energies_species(t, row, k), energies_molecule(t, row, k), images};
#if PLUGMC_BODIES
    p.body.site = plugmc_site_of_species(p.species);
    p.body.orientation = t->orientations[row + energies_number(t, row, k)];
    p.body.pose = plugmc_pose_of(&p.body.orientation, PLUGMC_DIMENSION);
#endif
    return p;
}

/* Adds the pair with slot k, unless both are of one molecule; returns whether they overlap. */
PLUGMC_FN int energies_meet(const energies_task *t, uint64_t row, const energies_probe *p,
                            uint32_t k, energies_pairs *sums)
{
    const double *r = t->positions + 3 * (row + k);
    if (t->some && isnan(r[0])) return 0;
    if (p->molecule >= 0 && p->molecule == energies_molecule(t, row, k)) return 0;
    const int32_t other = energies_species(t, row, k);
    const plugmc_separation s = plugmc_separated(p->x - r[0], p->y - r[1], p->z - r[2], p->images);
    int overlap = PLUGMC_CONTACTS && s.r2 < plugmc_contact_square(p->species, other);
    plugmc_sums_add_energy(&sums->pairs, plugmc_separate_at(p->x, p->y, p->z, s),
                           plugmc_site_of_species(p->species), plugmc_site_of_species(other));
#if PLUGMC_BODIES
    plugmc_placed body = {};
    body.site = plugmc_site_of_species(other);
    body.orientation = t->orientations[row + energies_number(t, row, k)];
    overlap |= plugmc_meet(s, &p->body, &body, &sums->bodies);
#endif
    return overlap;
}

/* Those after slot k in the cells around its own. */
PLUGMC_FN int energies_near(const energies_task *t, const uint32_t *start, uint64_t row,
                            const energies_probe *p, uint32_t k, energies_pairs *sums)
{
    const uint32_t cell = plugmc_cell_of_entry(start, t->cells, k);
    const int32_t nx = t->count[0], ny = t->count[1], nz = t->count[2];
    const int32_t cx = cell % nx, cy = cell / nx % ny, cz = cell / nx / ny;
    int32_t x0, y0, z0;
    const int32_t x = energies_around(cx, nx, &x0), y = energies_around(cy, ny, &y0),
                  z = energies_around(cz, nz, &z0);
    int overlap = 0;
    for (int32_t c = 0; c < x * y * z; c++) {
        const uint32_t other =
            (x0 + c % x) % nx + nx * ((y0 + c / x % y) % ny + ny * ((z0 + c / x / y) % nz));
        const uint32_t begin = start[other];
        for (uint32_t j = begin > k ? begin : k + 1; j < start[other + 1]; j++)
            overlap |= energies_meet(t, row, p, j, sums);
    }
    return overlap;
}

/* A share of half of the others, on a circle: every pair is met once, and all threads have the same work. */
PLUGMC_FN int energies_half(const energies_task *t, uint64_t row, const energies_probe *p,
                            uint32_t k, uint32_t share, energies_pairs *sums)
{
    const uint32_t n = t->particles, each = (n / 2 + t->shares - 1) / t->shares,
                   end = (share + 1) * each;
    int overlap = 0;
    for (uint32_t ahead = share * each + 1; ahead <= end && 2 * ahead <= n; ahead++) {
        const uint32_t other = k + ahead < n ? k + ahead : k + ahead - n;
        if (2 * ahead < n || k < ahead) overlap |= energies_meet(t, row, p, other, sums);
    }
    return overlap;
}
