/* What the CPU and the GPU calculate by the same text: splines of pseudopotentials, the sum over
 * near images of 1/r, quadratures around ions, and the energy of an electron there. On the GPU it
 * stands in front of local_energy.cu; pointers are to memory of whoever calculates. Hartree, bohr.
 */
#ifndef LOCAL_ENERGY_FORMULAS_H
#define LOCAL_ENERGY_FORMULAS_H

enum { MOST_POINTS = 26, MOST_RADII = 64, MOST_L = 4, MOST_PROJECTORS = 16 };

/* ---- The cell -------------------------------------------------------------------------------- */

/* Nothing is periodic in a sphere. */
typedef struct unit_cell {
    int32_t periodic, reserved;
    double vector[3][3], inverse[3][3]; /* as in plugmc_box */
} unit_cell;

PLUGMC_FN void fractional_of(const unit_cell *cell, const double r[3], double f[3])
{
    for (int d = 0; d < 3; d++)
        f[d] = r[0] * cell->inverse[0][d] + r[1] * cell->inverse[1][d] + r[2] * cell->inverse[2][d];
}

/* As plugmc_wrap; in a rectangular box the same place up to rounding. edges: how many of each edge r was away. */
PLUGMC_FN void wrap_into(const unit_cell *cell, double r[3], double edges[3])
{
    double f[3];
    int inside = 1;
    edges[0] = edges[1] = edges[2] = 0;
    if (!cell->periodic) return;
    fractional_of(cell, r, f);
    for (int d = 0; d < 3; d++) {
        inside = inside && f[d] >= 0 && f[d] < 1;
        edges[d] = floor(f[d]);
        f[d] -= edges[d];
        if (!(f[d] < 1))
            f[d] = 0, edges[d] += 1; /* a tiny negative one is rounded up to the face */
    }
    for (int d = 0; d < 3 && !inside; d++)
        r[d] = f[0] * cell->vector[0][d] + f[1] * cell->vector[1][d] + f[2] * cell->vector[2][d];
}

PLUGMC_FN double square_of_length(const double r[3])
{
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
}

/* ---- Coulomb energies: coulomb.h has the formulas -------------------------------------------- */

typedef struct coulomb {
    unit_cell cell;
    double kappa;      /* 1/length */
    double background; /* pi / (kappa^2 V) */
    double xi;
    int64_t vectors;
    double (*vector)[3];  /* [vectors] R, 0 first, length */
    double cutoff_square; /* of the sum over R */
    int32_t most[3];      /* largest index of a G in each direction */
    int32_t reserved;
    int64_t waves;
    int32_t (*index)[3]; /* [waves] G in reciprocal vectors, one of each pair G, -G */
    double *weight;      /* [waves] 2 w(G): both of the pair */
} coulomb;

/* The sum over R (all of 1/r with open boundaries) at a separation. */
PLUGMC_FN double coulomb_near(const coulomb *c, const double s[3])
{
    double r[3] = {s[0], s[1], s[2]}, f[3], sum = 0;
    if (!c->cell.periodic) return 1 / sqrt(square_of_length(s));
    fractional_of(&c->cell, s, f);
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) r[e] -= rint(f[d]) * c->cell.vector[d][e];
    for (int64_t v = 0; v < c->vectors; v++) {
        const double at[3] = {r[0] + c->vector[v][0], r[1] + c->vector[v][1],
                              r[2] + c->vector[v][2]};
        const double square = square_of_length(at);
        if (square > c->cutoff_square) continue;
        const double length = sqrt(square);
        sum += erfc(c->kappa * length) / length;
    }
    return sum;
}

/* ---- Pseudopotentials: pseudopotential.h says what they are ---------------------------------- */

/* A function of the distance as a cubic spline; constant before the first point, 0 beyond the last.
 */
typedef struct radial {
    int64_t n;
    double *r, *y, *curvature; /* [n] */
} radial;

PLUGMC_FN double radial_at(const radial *f, double r)
{
    if (!f->n || r > f->r[f->n - 1]) return 0;
    if (r <= f->r[0] || f->n == 1) return f->y[0];
    int64_t low = 0, high = f->n - 1;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (f->r[middle] > r)
            high = middle;
        else
            low = middle;
    }
    const double h = f->r[high] - f->r[low], b = (r - f->r[low]) / h, a = 1 - b;
    return a * f->y[low] + b * f->y[high] +
           ((a * a * a - a) * f->curvature[low] + (b * b * b - b) * f->curvature[high]) * h * h / 6;
}

typedef struct radial_projector {
    int32_t l, reserved;
    radial beta; /* r beta(r) as pseudopotential files have it: the radial function times r */
} radial_projector;

typedef struct pseudopotential {
    const char *path;
    int32_t atomic_number;
    double valence;
    radial local;               /* r v_loc(r) + Z, length * Hartree */
    int32_t channels;           /* with 0 ... channels - 1, semilocal; 0: none */
    radial channel[MOST_L + 1]; /* dv_l, Hartree; n = 0 for the local one */
    int32_t projectors;
    radial_projector projector[MOST_PROJECTORS];
    double strength[MOST_PROJECTORS][MOST_PROJECTORS]; /* D_ij, Hartree */
    const char *no_channels; /* why there are none although there are projectors */
} pseudopotential;

/* sum_i beta_i(r) D_ij over the projectors i of the same l. */
PLUGMC_FN double strength_at(const pseudopotential *p, int j, double r)
{
    double sum = 0;
    for (int i = 0; i < p->projectors; i++)
        if (p->projector[i].l == p->projector[j].l)
            sum += radial_at(&p->projector[i].beta, r) / r * p->strength[i][j];
    return sum;
}

/* ---- Spheres --------------------------------------------------------------------------------- */

typedef struct quadrature {
    int32_t points, reserved;
    double direction[MOST_POINTS][3], weight[MOST_POINTS]; /* weights add up to 1 */
} quadrature;

/* P_l. */
PLUGMC_FN double legendre(int l, double x)
{
    double p = 1, before = 0;
    for (int k = 1; k <= l; k++) {
        const double next = ((2 * k - 1) * x * p - (k - 1) * before) / k;
        before = p;
        p = next;
    }
    return p;
}

/* Real spherical harmonic, normalised on the sphere; direction is a unit vector. */
PLUGMC_FN double harmonic(int l, int m, const double direction[3])
{
    const double pi = 3.14159265358979323846;
    const int order = m < 0 ? -m : m;
    const double x = direction[2], rho = sqrt(x * x < 1 ? 1 - x * x : 0);
    double p = 1, before = 0, norm = (2 * l + 1) / (4 * pi);
    for (int k = 1; k <= order; k++) p *= (2 * k - 1) * rho;
    for (int k = order + 1; k <= l; k++) {
        const double next = ((2 * k - 1) * x * p - (k + order - 1) * before) / (k - order);
        before = p;
        p = next;
    }
    for (int k = l - order + 1; k <= l + order; k++) norm /= k;
    const double phi = atan2(direction[1], direction[0]);
    return sqrt(m ? 2 * norm : norm) * p * (m > 0 ? cos(m * phi) : m < 0 ? sin(order * phi) : 1);
}

/* A random rotation from three random numbers in [0, 1): K. Shoemake's uniform quaternion. */
PLUGMC_FN void random_rotation(const double u[3], double m[3][3])
{
    const double turn = 6.283185307179586476925;
    const double a = sqrt(1 - u[0]), b = sqrt(u[0]);
    const double w = b * cos(turn * u[2]), x = a * sin(turn * u[1]), y = a * cos(turn * u[1]),
                 z = b * sin(turn * u[2]);
    const double rows[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                               {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                               {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    for (int i = 0; i < 9; i++) m[i / 3][i % 3] = rows[i / 3][i % 3];
}

/* ---- An electron among the ions -------------------------------------------------------------- */

typedef struct ion_potentials {
    int32_t ions, separable;
    double (*position)[3];  /* [ions] */
    double *charge;         /* [ions] */
    int32_t *kind_of;       /* [ions], -1: a bare charge */
    pseudopotential *kind;  /* [kinds] */
    double *reach;          /* [kinds] of the local part beyond -Z/r */
    double *nonlocal_reach; /* [kinds] */
    int64_t centres;        /* images of ions near the cell */
    double (*centre)[3];    /* [centres] */
    int32_t *ion_of;        /* [centres] */
    quadrature sphere;
    int32_t radii;              /* of the quadrature: 1, at the electron's, unless separable */
    int32_t twisted;            /* 1: `twist` is not 0 */
    int32_t of_determinants;    /* 1: what depends on l acts on the determinants alone */
    double twist[3];            /* turns of the orbitals over the edges of the cell */
    double *node, *node_weight; /* [kinds][radii] of separable ones */
} ion_potentials;

/* An electron near an ion whose potential depends on l. */
typedef struct visit {
    int32_t walker, electron, ion, reserved; /* walker: of those that are measured together */
    double from[3];                          /* electron less ion (its nearest image), length */
} visit;

/* Energy of an electron at r with centre c, where the local potential is not -Z/r. */
PLUGMC_FN double short_ranged(const ion_potentials *v, int64_t c, const double r[3])
{
    const int32_t kind = v->kind_of[v->ion_of[c]];
    const double d[3] = {r[0] - v->centre[c][0], r[1] - v->centre[c][1], r[2] - v->centre[c][2]};
    const double square = square_of_length(d);
    if (kind < 0 || square >= v->reach[kind] * v->reach[kind]) return 0;
    const double distance = sqrt(square);
    return radial_at(&v->kind[kind].local, distance) / distance;
}

/* Whether centre c acts on an electron at r by what depends on l; `from` is then their distance. */
PLUGMC_FN int is_visited(const ion_potentials *v, int64_t c, const double r[3], double from[3])
{
    const int32_t kind = v->kind_of[v->ion_of[c]];
    for (int d = 0; d < 3; d++) from[d] = r[d] - v->centre[c][d];
    return kind >= 0 && square_of_length(from) < v->nonlocal_reach[kind] * v->nonlocal_reach[kind];
}

/* How the points around the ion of a visit are rotated; `walker` of the run. */
PLUGMC_FN void visit_rotation(const ion_potentials *v, plugmc_seed seed, uint64_t sweep,
                              int32_t walker, const visit *at, double m[3][3])
{
    const plugmc_random random =
        plugmc_draw(seed, sweep, (uint32_t)walker,
                    (uint32_t)at->electron * (uint32_t)v->ions + (uint32_t)at->ion,
                    PLUGMC_PURPOSE_OBSERVABLE, 0);
    double u[3];
    for (int d = 0; d < 3; d++) u[d] = ((double)random.word[d] + 0.5) * 0x1p-32;
    random_rotation(u, m);
}

/* Direction of point k. */
PLUGMC_FN void visit_direction(const ion_potentials *v, double m[3][3], int k, double out[3])
{
    const double *x = v->sphere.direction[k];
    for (int d = 0; d < 3; d++) out[d] = m[d][0] * x[0] + m[d][1] * x[1] + m[d][2] * x[2];
}

/* What orbitals in the cell are multiplied by to be those so many edges away: re, im. */
PLUGMC_FN void phase_over(const ion_potentials *v, const double edges[3], double phase[2])
{
    const double turns = v->twist[0] * edges[0] + v->twist[1] * edges[1] + v->twist[2] * edges[2],
                 angle = 6.283185307179586476925 * (turns - floor(turns));
    phase[0] = v->twisted ? cos(angle) : 1;
    phase[1] = v->twisted ? sin(angle) : 0;
}

/* Where the electron, now at r, is taken by point k at radius `radius_index`, and what orbitals at `out` are multiplied
 * by there. */
PLUGMC_FN void visit_place(const ion_potentials *v, const unit_cell *cell, const visit *at,
                           double m[3][3], const double r[3], int radius_index, int k,
                           double out[3], double phase[2])
{
    const double radius = v->separable ? v->node[v->kind_of[at->ion] * v->radii + radius_index]
                                       : sqrt(square_of_length(at->from));
    double direction[3], edges[3];
    visit_direction(v, m, k, direction);
    for (int d = 0; d < 3; d++) out[d] = r[d] - at->from[d] + radius * direction[d];
    wrap_into(cell, out, edges);
    phase_over(v, edges, phase);
}

/* What orbitals, and their projections, at the ion in the cell are multiplied by at its image that an electron at r
 * visits. */
PLUGMC_FN void phase_of_image(const ion_potentials *v, const unit_cell *cell, const visit *at,
                              const double r[3], double phase[2])
{
    double away[3], edges[3] = {0, 0, 0};
    for (int d = 0; d < 3; d++) away[d] = r[d] - at->from[d] - v->position[at->ion][d];
    if (cell->periodic) fractional_of(cell, away, edges);
    for (int d = 0; d < 3; d++) edges[d] = rint(edges[d]);
    phase_over(v, edges, phase);
}

/* (2l+1) sum_k w_k P_l q over the points of a radius. */
PLUGMC_FN double on_sphere(const ion_potentials *v, int l, const double *cosine, const double *q)
{
    double sum = 0;
    for (int k = 0; k < v->sphere.points; k++)
        sum += v->sphere.weight[k] * legendre(l, cosine[k]) * q[k];
    return (2 * l + 1) * sum;
}

/* Energy of a visit: q [radii][points] are the real parts of Psi(electron there) / Psi. */
PLUGMC_FN double visit_energy(const ion_potentials *v, const visit *at, double m[3][3],
                              const double *q)
{
    const int32_t kind = v->kind_of[at->ion];
    const pseudopotential *p = &v->kind[kind];
    const double r = sqrt(square_of_length(at->from));
    const double *node = v->node + kind * v->radii, *weight = v->node_weight + kind * v->radii;
    double cosine[MOST_POINTS], energy = 0;
    for (int k = 0; k < v->sphere.points; k++) {
        double x[3];
        visit_direction(v, m, k, x);
        cosine[k] = (at->from[0] * x[0] + at->from[1] * x[1] + at->from[2] * x[2]) / r;
    }
    for (int l = 0; l < p->channels && !v->separable; l++)
        if (p->channel[l].n) energy += radial_at(&p->channel[l], r) * on_sphere(v, l, cosine, q);
    for (int j = 0; j < p->projectors && v->separable; j++) {
        double integral = 0;
        for (int i = 0; i < v->radii; i++)
            integral += weight[i] * node[i] * radial_at(&p->projector[j].beta, node[i]) *
                        on_sphere(v, p->projector[j].l, cosine, q + i * v->sphere.points);
        energy += strength_at(p, j, r) * integral;
    }
    return energy;
}

/* What a point of a visit, number k of [radii][points], is multiplied by there: v(r, r') with its weights. */
PLUGMC_FN double visit_factor(const ion_potentials *v, const visit *at, double m[3][3], int k)
{
    const int32_t kind = v->kind_of[at->ion];
    const pseudopotential *p = &v->kind[kind];
    const int i = k / v->sphere.points, point = k % v->sphere.points;
    const double r = sqrt(square_of_length(at->from)), node = v->node[kind * v->radii + i],
                 weight = v->node_weight[kind * v->radii + i] * node;
    double x[3], factor = 0;
    visit_direction(v, m, point, x);
    const double cosine = (at->from[0] * x[0] + at->from[1] * x[1] + at->from[2] * x[2]) / r;
    for (int l = 0; l < p->channels && !v->separable; l++)
        if (p->channel[l].n)
            factor += (2 * l + 1) * radial_at(&p->channel[l], r) * legendre(l, cosine);
    for (int j = 0; j < p->projectors && v->separable; j++)
        factor += (2 * p->projector[j].l + 1) * strength_at(p, j, r) * weight *
                  radial_at(&p->projector[j].beta, node) * legendre(p->projector[j].l, cosine);
    return factor * v->sphere.weight[point];
}

/* ---- Handed to kernels ----------------------------------------------------------------------- */

enum { LE_WARP = 32, LE_THREADS = 128, LE_SCAN = 1024 /* threads that add up counts */ };

/* What the kernels find of one electron, and of one walker. */
enum { PARTS_GRADIENT, PARTS_LAPLACIAN = 3, PARTS_PAIRS, PARTS_FIELDS, PARTS };
enum {
    FOUND_KINETIC,
    FOUND_REPULSION,
    FOUND_LOCAL,
    FOUND_NONLOCAL,
    FOUND_LN_SQUARE,
    FOUND_SINGULAR, /* 1 + spin whose determinant is 0; 0: none */
    FOUND
};

/* Walkers that are measured together, and the electrons of one spin of them. */
typedef struct walkers_task {
    plugmc_seed seed;
    uint64_t sweep;
    int32_t first_walker, walkers;
    int32_t particles;             /* of a walker, both spins */
    int32_t down;                  /* number of the first electron of species 1 */
    int32_t first, electrons;      /* of the spin */
    int32_t repulsion, attraction; /* 1: electrons repel each other, ions attract them */
    int32_t parts;                 /* of a complex number: orbitals are real (1) or complex (2) */
    int32_t length; /* orbitals of a row of matrices: electrons, or those of an expansion */
    int64_t row;    /* numbers from one row of orbitals to the next */
    const double *positions; /* [walkers][particles][3] */
    const double *ion_wave;  /* [2][waves] structure factors of the ions */
    coulomb sums;
    ion_potentials v;
} walkers_task;

#endif
