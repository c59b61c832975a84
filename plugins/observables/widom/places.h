/* places: where test particles are tried, and which cells are around them; the same in C and on the GPU.
 *
 * Place k of a walker comes from one block of random numbers, u_d = (word[d] + 1/2) / 2^32 of
 *
 *     plugmc_draw(seed, sweep, walker, k, PLUGMC_PURPOSE_OBSERVABLE, 0).
 *
 * Uniform: these are its fractional coordinates. In a sphere it is radius (2 u - 1), drawn anew (draw 1,
 * 2, ... of the same k) until it is inside. Cell by cell: each cell is cut into strata, and u is a place in
 * stratum k % per_cell of cell k / per_cell, so that no region is tried more often than another. */

/* Rows of squares of distances: within the first a place is as good as taken, within the second it is. */
enum { WIDOM_HOPELESS, WIDOM_OVERLAP, WIDOM_SQUARES };

typedef struct widom_places {
    plugmc_seed seed;
    uint64_t sweep;
    double reach;      /* of what is near, length; 0: there is nothing near */
    int32_t count[3];  /* cells, as in plugmc_cells */
    int32_t strata[3]; /* of a cell, along each direction */
    uint32_t per_cell; /* strata of a cell, which is its number of places; 0: places are uniform */
    uint32_t cells;    /* product of count */
    uint32_t places;   /* of a walker */
} widom_places;

/* A cell: its middle, and half of its edges. */
typedef struct widom_cell {
    int32_t at[3];
    double middle[3], half[3]; /* length */
} widom_cell;

/* Cells first[d] ... first[d] + n[d] - 1 along each direction, modulo the number of cells. */
typedef struct widom_range {
    int32_t first[3], n[3];
} widom_range;

PLUGMC_FN double widom_uniform(uint32_t word) { return ((double)word + 0.5) * 0x1p-32; }

PLUGMC_FN plugmc_random widom_random(const widom_places *p, uint32_t walker, uint32_t k,
                                     uint32_t draw)
{
    return plugmc_draw(p->seed, p->sweep, walker, k, PLUGMC_PURPOSE_OBSERVABLE, draw);
}

/* Fractional coordinates of place k. */
PLUGMC_FN void widom_fractions(const widom_places *p, uint32_t walker, uint32_t k, double f[3])
{
    const plugmc_random random = widom_random(p, walker, k, 0);
    for (int d = 0; d < 3; d++) f[d] = widom_uniform(random.word[d]);
    if (!p->per_cell) return;
    const uint32_t cell = k / p->per_cell, stratum = k % p->per_cell;
    const uint32_t nx = (uint32_t)p->count[0], ny = (uint32_t)p->count[1],
                   qx = (uint32_t)p->strata[0], qy = (uint32_t)p->strata[1];
    const uint32_t c[3] = {cell % nx, cell / nx % ny, cell / nx / ny};
    const uint32_t s[3] = {stratum % qx, stratum / qx % qy, stratum / qx / qy};
    for (int d = 0; d < 3; d++) f[d] = (c[d] + (s[d] + f[d]) / p->strata[d]) / (double)p->count[d];
}

/* Place k in length, and fractions of what the cells divide: the box, or the cube around a sphere. */
PLUGMC_FN void widom_place(const widom_places *p, const plugmc_box *box, uint32_t walker,
                           uint32_t k, double r[3], double f[3])
{
    r[0] = r[1] = r[2] = 0;
    if (box->domain == PLUGMC_DOMAIN_SPHERE) {
        double square = 2;
        for (uint32_t draw = 0; draw < 256 && square > 1; draw++) {
            const plugmc_random random = widom_random(p, walker, k, draw);
            square = 0;
            for (int d = 0; d < box->dimension; d++) {
                f[d] = widom_uniform(random.word[d]);
                r[d] = 2 * f[d] - 1;
                square += r[d] * r[d];
            }
        }
        for (int d = 0; d < 3; d++) r[d] *= box->radius;
        if (box->dimension == 2) f[2] = 0;
        return;
    }
    widom_fractions(p, walker, k, f);
    for (int d = 0; d < box->dimension; d++) r[d] = f[d] * box->length[d];
    if (!box->oblique) return;
    for (int e = 0; e < 3; e++)
        r[e] = f[0] * box->vector[0][e] + f[1] * box->vector[1][e] + f[2] * box->vector[2][e];
}

/* The cell of a place. One in an oblique box, whose cells would be oblique too. */
PLUGMC_FN uint32_t widom_cell_of(const widom_places *p, const double f[3])
{
    int32_t c[3];
    for (int d = 0; d < 3; d++) {
        c[d] = p->count[d] > 1 ? (int32_t)(f[d] * p->count[d]) : 0;
        if (c[d] >= p->count[d]) c[d] = p->count[d] - 1;
    }
    return (uint32_t)(c[0] + p->count[0] * (c[1] + p->count[1] * c[2]));
}

PLUGMC_FN widom_cell widom_cell_at(const widom_places *p, const plugmc_box *box, uint32_t cell)
{
    const uint32_t nx = (uint32_t)p->count[0], ny = (uint32_t)p->count[1];
    widom_cell out;
    out.at[0] = (int32_t)(cell % nx);
    out.at[1] = (int32_t)(cell / nx % ny);
    out.at[2] = (int32_t)(cell / nx / ny);
    for (int d = 0; d < 3; d++) {
        const double width = box->length[d] / p->count[d];
        out.half[d] = 0.5 * width;
        out.middle[d] = (out.at[d] + 0.5) * width;
        if (box->domain == PLUGMC_DOMAIN_SPHERE) out.middle[d] -= box->radius;
    }
    return out;
}

/* The cells in which a particle may lie within reach of a place in this one, each once. The hair is for
 * rounding, where a reach is a whole number of cells. */
PLUGMC_FN widom_range widom_around(const widom_places *p, const plugmc_box *box,
                                   const widom_cell *cell)
{
    widom_range out;
    for (int d = 0; d < 3; d++) {
        const int32_t count = p->count[d],
                      n = (int32_t)fmin(ceil(p->reach * (1 + 1e-9) / (2 * cell->half[d])), 1e6);
        int32_t low = cell->at[d] - n, high = cell->at[d] + n;
        const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
        if (periodic && high - low + 1 >= count) low = 0, high = count - 1;
        if (!periodic && low < 0) low = 0;
        if (!periodic && high >= count) high = count - 1;
        out.first[d] = low < 0 ? low + count : low;
        out.n[d] = high - low + 1;
    }
    return out;
}

/* Number i of them, x fastest. */
PLUGMC_FN uint32_t widom_cell_around(const widom_places *p, const widom_range *a, int32_t i)
{
    const int32_t x = (a->first[0] + i % a->n[0]) % p->count[0],
                  y = (a->first[1] + i / a->n[0] % a->n[1]) % p->count[1],
                  z = (a->first[2] + i / a->n[0] / a->n[1]) % p->count[2];
    return (uint32_t)(x + p->count[0] * (y + p->count[1] * z));
}

/* No place in the cell is nearer to r than the root of this. In an oblique box nothing is known. */
PLUGMC_FN double widom_square_from(const plugmc_box *box, const widom_cell *cell, const double r[3])
{
    double square = 0;
    if (box->oblique) return 0;
    for (int d = 0; d < box->dimension; d++) {
        double x = r[d] - cell->middle[d];
        if (box->domain == PLUGMC_DOMAIN_PERIODIC) x -= box->length[d] * rint(x / box->length[d]);
        x = fabs(x) - cell->half[d];
        if (!(x <= 0)) square += x * x; /* NaN, where nobody is, stays NaN */
    }
    return square;
}

/* ---- What widom.cu is told: pointers are device memory ---------------------------------------- */

enum {
    WIDOM_THREADS = 128, /* of a block, which is a cell */
    WIDOM_NEAR = 768,    /* particles that a block keeps at hand */
    WIDOM_ADDING = 256   /* threads of the blocks that draw, count and add up */
};

typedef struct widom_task {
    widom_places places;
    const plugmc_box *boxes;    /* [walkers] */
    const uint32_t *start;      /* [walkers][cells + 1], as in plugmc_cells */
    const uint32_t *order;      /* [walkers][particles] */
    const double *positions;    /* [walkers][particles][3] */
    const uint16_t *species;    /* [particles] */
    const double *square;       /* [WIDOM_SQUARES][species] length^2 */
    const uint8_t *multipliers; /* rows of the state; NULL: all have 1 / temperature */
    uint64_t row;               /* bytes from one to the next */
    double widest;              /* largest of square [WIDOM_HOPELESS], length^2 */
    int64_t near_limit;         /* WIDOM_HOPELESS holds where no more are near */
    uint32_t particles;         /* a walker */
    int32_t species_count, inserted;
    int32_t all;    /* 1: test particles meet all others, and not those in cells around alone */
    uint32_t first; /* walker of the first row of what follows */
    uint32_t *begin, *next; /* [rows][cells + 1]: of list */
    uint32_t *list; /* [rows][places]: uniform places sorted by cell, in any order within one */
    double *value;  /* [rows][places]: exp(-dU/kT) without totals */
} widom_task;
