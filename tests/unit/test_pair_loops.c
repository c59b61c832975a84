/* The loops of plugmc/pair.h against plain ones. */
#include "testing.h"

#include "input/parameters.h"
#include "movers.h"

/* ---- A potential of our own, with energy, core, factor and derivative ------------------------ */

typedef struct parameters {
    double strength, cutoff;
} parameters;

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a;
    return s.r2 < p->cutoff * p->cutoff ? b.charge / (1 + s.r2) : 0;
}
PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }
PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
    (void)p;
    return 0.5 * (a.diameter + b.diameter);
}
PLUGMC_FN real pair_factor(const parameters *p, plugmc_site a) { return p->strength * a.charge; }
PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)a;
    double over = 1 / (1 + s.r2), near = s.r2 < p->cutoff * p->cutoff;
    *first = -2 * near * b.charge * over * over;
    *second = near * b.charge * (8 * s.r2 * over - 2) * over * over;
}
#define PLUGMC_PAIR                                                                                \
    (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_CONTACT | PLUGMC_PAIR_FACTOR | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

#include "potential_formulas.h"

/* ---- The loops of plugmc/pair.h -------------------------------------------------------------- */

enum { OPEN, CUBOID, FLAT, OBLIQUE, BOXES };

/* Edges as rows, length; lattice vectors that are reduced. */
static plugmc_box box_of(int kind)
{
    static const double edges[BOXES][3][3] = {
        [OPEN] = {{9, 0, 0}, {0, 9, 0}, {0, 0, 9}},
        [CUBOID] = {{6.1, 0, 0}, {0, 7.3, 0}, {0, 0, 9.2}},
        [FLAT] = {{6.1, 0, 0}, {0, 7.3, 0}, {0, 0, 1}},
        [OBLIQUE] = {{8, 0, 0}, {-3.9, 7.5, 0}, {2.4, -3, 7}},
    };
    plugmc_box box = {.domain = kind == OPEN ? PLUGMC_DOMAIN_SPHERE : PLUGMC_DOMAIN_PERIODIC,
                      .dimension = kind == FLAT ? 2 : 3,
                      .oblique = kind == OBLIQUE,
                      .radius = 9};
    const double(*v)[3] = edges[kind];
    memcpy(box.vector, v, sizeof box.vector);
    double determinant = 0;
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        box.length[k] = sqrt(v[k][0] * v[k][0] + v[k][1] * v[k][1] + v[k][2] * v[k][2]);
        determinant += v[0][k] * (v[1][l] * v[2][m] - v[1][m] * v[2][l]);
    }
    for (int d = 0; d < 3; d++) /* cofactors: fractional d of r is sum_e r_e inverse[e][d] */
        for (int e = 0; e < 3; e++) {
            int d1 = (d + 1) % 3, d2 = (d + 2) % 3, e1 = (e + 1) % 3, e2 = (e + 2) % 3;
            box.inverse[e][d] = (v[d1][e1] * v[d2][e2] - v[d1][e2] * v[d2][e1]) / determinant;
        }
    box.volume = fabs(determinant);
    return box;
}

/* The shortest of the images of a - b, looked for four boxes far. */
static double nearest_image(const plugmc_box *box, const double a[3], const double b[3],
                            double out[3])
{
    double best = INFINITY;
    const int far = box->domain == PLUGMC_DOMAIN_PERIODIC ? 4 : 0;
    for (int i = -far; i <= far; i++)
        for (int j = -far; j <= far; j++)
            for (int k = -far; k <= far; k++) {
                double s[3], r2 = 0;
                if (box->dimension == 2 && k) continue;
                for (int d = 0; d < 3; d++) {
                    s[d] = a[d] - b[d] + i * box->vector[0][d] + j * box->vector[1][d] +
                           k * box->vector[2][d];
                    r2 += s[d] * s[d];
                }
                if (r2 < best) {
                    best = r2;
                    memcpy(out, s, 3 * sizeof *s);
                }
            }
    return sqrt(best);
}

/* Anywhere in the box, or in the ball of radius 9. */
static void place(const plugmc_box *box, double r[3])
{
    double f[3] = {uniform(), uniform(), box->dimension == 2 ? 0 : uniform()};
    for (int d = 0; d < 3; d++)
        r[d] = box->domain == PLUGMC_DOMAIN_SPHERE
                   ? 10 * f[d] - 5
                   : f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
}

/* What a plain loop over the pairs of one particle gives. */
typedef struct plain {
    double energy, magnitude; /* of the energies, and of their absolute values */
    double gradient[3], virial[3], laplacian, slopes, bends; /* likewise */
    int64_t overlaps;
} plain;

/* Energy, u'/r and u'' of a pair, a potential's by its own functions for two particles alone. */
typedef void one_pair(const void *, double r, int a, int b, double *energy, double *first,
                      double *second);

static void pair_of_potential(const void *potential, double r, int a, int b, double *energy,
                              double *first, double *second)
{
    plugmc_derivatives d;
    *energy = at_distance(potential, DOUBLE, r, a, b, &d);
    *first = d.gradient[0] / (0.48 * r);
    *second = d.laplacian - 2 * *first;
}

/* One pair: the probe of a species at a place and other particle j. */
static plain plain_pair(const plugmc_box *box, const void *potential, one_pair *pair, double core,
                        const particles *p, int64_t j, const double at[3], int species)
{
    const double b[3] = {p->d[0][j], p->d[1][j], p->d[2][j]};
    double s[3], r = nearest_image(box, at, b, s), energy, first, second;
    pair(potential, r, species, p->species[j], &energy, &first, &second);
    plain one = {.energy = energy, .magnitude = fabs(energy)};
    for (int d = 0; d < 3; d++) {
        one.gradient[d] = first * s[d];
        one.virial[d] = -first * s[d] * s[d];
    }
    one.laplacian = second + (box->dimension - 1) * first;
    one.slopes = fabs(first * r);
    one.bends = fabs(second) + 2 * fabs(first);
    one.overlaps = r < core * (diameter_of[species] + diameter_of[p->species[j]]) / 2;
    return one;
}

static void plain_add(plain *sum, const plain *one)
{
    sum->energy += one->energy;
    sum->magnitude += one->magnitude;
    for (int d = 0; d < 3; d++) {
        sum->gradient[d] += one->gradient[d];
        sum->virial[d] += one->virial[d];
    }
    sum->laplacian += one->laplacian;
    sum->slopes += one->slopes;
    sum->bends += one->bends;
    sum->overlaps += one->overlaps;
}

static plain plainly(const plugmc_box *box, const void *potential, one_pair *pair, double core,
                     const particles *p, int64_t n, const double at[3], int species)
{
    plain sum = {0};
    for (int64_t j = 0; j < n; j++) {
        plain one = plain_pair(box, potential, pair, core, p, j, at, species);
        plain_add(&sum, &one);
    }
    return sum;
}

/* Numbers of others around the sizes of the blocks that the loops are cut into. */
static const int64_t sizes[] = {0, 1, 2, 15, 16, 17, 33, 255, 256, 257, 600};

/* Others that are not so near that one energy outweighs all. */
static particles others_for(const plugmc_box *box, const double at[2][3], double least, int one)
{
    particles p = random_particles(1, one);
    for (int j = 0; j < MANY; j++) {
        double r[3], s[3];
        do place(box, r);
        while (nearest_image(box, at[0], r, s) < least || nearest_image(box, at[1], r, s) < least);
        for (int d = 0; d < 3; d++) p.d[d][j] = r[d];
    }
    in_single(&p);
    return p;
}

typedef struct tolerance {
    double energy, slope, bend; /* relative to the sums of magnitudes */
    double place;               /* error of a separation, length; and of an energy, kT */
} tolerance;

/* Pairs of the probe with n others one by one, species by species. */
static void compare_slopes(const plugmc_pair *pair, const void *instance, int precision,
                           const plugmc_box *box, const void *potential, one_pair *one, double core,
                           const particles *p, int64_t n, const double at[3], int species,
                           tolerance t)
{
    const plugmc_particle probe = probe_at(0, 0, 0, species);
    static double s[MANY][3];
    static union {
        double in_double[MANY + 1];
        float single[MANY + 1];
    } way[3], first, energy;
    for (int b = 0; b < 3; b++) {
        const plugmc_particle other = probe_at(0, 0, 0, b);
        int64_t found = 0;
        static int64_t who[MANY];
        for (int64_t j = 0; j < n; j++) {
            const double place[3] = {p->d[0][j], p->d[1][j], p->d[2][j]};
            if (p->species[j] != b) continue;
            nearest_image(box, at, place, s[found]);
            for (int d = 0; d < 3; d++)
                if (precision == SINGLE)
                    way[d].single[found] = (float)s[found][d];
                else
                    way[d].in_double[found] = s[found][d];
            who[found++] = j;
        }
        first.in_double[found] = 12345; /* for numbers of either size */
        if (precision == SINGLE) first.single[found] = 12345;
        pair->slopes(instance, &probe, &other, found, &way[0], &way[1], &way[2], &first, &energy);
        assert_true(precision == SINGLE ? first.single[found] == 12345
                                        : first.in_double[found] == 12345);
        for (int64_t k = 0; k < found; k++) {
            const plain expected = plain_pair(box, potential, one, core, p, who[k], at, species);
            const double slope = precision == SINGLE ? (double)first.single[k] : first.in_double[k],
                         u = precision == SINGLE ? (double)energy.single[k] : energy.in_double[k];
            assert_int_equal(u == INFINITY, expected.overlaps);
            if (!expected.overlaps)
                assert_close(u, expected.energy, 0,
                             t.energy * expected.magnitude + t.place * (1 + expected.slopes));
            for (int d = 0; d < 3; d++)
                assert_close(slope * s[k][d], expected.gradient[d], 0,
                             t.slope * expected.slopes + t.place * (1 + expected.bends));
        }
        pair->slopes(instance, &probe, &other, found, &way[0], &way[1], &way[2], &energy, NULL);
        assert_memory_equal(&energy, &first,
                            (size_t)found * (precision == SINGLE ? sizeof(float) : sizeof(double)));
    }
}

/* All batch functions of one precision. */
static void compare_loops(const plugmc_pair *pair, const void *instance, int precision,
                          const plugmc_box *box, const void *potential, one_pair *one, double core,
                          const particles *p, int64_t n, const double at[2][3], int species,
                          tolerance t)
{
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    const plugmc_particle probe = probe_at(at[0][0], at[0][1], at[0][2], species);
    const plugmc_particles others = first_of(p, precision, n);
    static plain old[MANY], new[MANY];
    plain before = {0}, after = {0};
    for (int64_t j = 0; j < n; j++) {
        old[j] = plain_pair(box, potential, one, core, p, j, at[0], species);
        new[j] = plain_pair(box, potential, one, core, p, j, at[1], species);
        plain_add(&before, &old[j]);
        plain_add(&after, &new[j]);
    }
    const double slack = t.place * (1 + before.slopes + after.slopes);
    double energy = 0.25, change = 0.5; /* all add to what is there */

    assert_int_equal(pair->energy(instance, box, periodic, &probe, &others, &energy),
                     before.overlaps);
    assert_close(energy - 0.25, before.energy, 0, t.energy * before.magnitude + slack);
    assert_int_equal(pair->change(instance, box, periodic, &probe, at[1], &others, &change),
                     after.overlaps);
    assert_close(change - 0.5, after.energy - before.energy, 0,
                 t.energy * (before.magnitude + after.magnitude) + slack);

    double each[MANY + 1], sum = 0;
    float single[MANY + 1];
    each[n] = single[n] = 12345;
    pair->changes(instance, box, periodic, &probe, at[1], &others,
                  precision == SINGLE ? (void *)single : (void *)each);
    assert_true(precision == SINGLE ? single[n] == 12345 : each[n] == 12345);
    int64_t infinite = 0;
    for (int64_t j = 0; j < n; j++) {
        if (precision == SINGLE) each[j] = (double)single[j];
        infinite += each[j] == INFINITY;
        assert_int_equal(new[j].overlaps, each[j] == INFINITY);
        if (!new[j].overlaps)
            assert_close(each[j], new[j].energy - old[j].energy, 0,
                         t.energy * (old[j].magnitude + new[j].magnitude) +
                             t.place * (1 + old[j].slopes + new[j].slopes));
        sum += each[j];
    }
    assert_int_equal(infinite, after.overlaps);
    if (!infinite)
        assert_close(sum, change - 0.5, 0,
                     2 * (t.energy * (before.magnitude + after.magnitude) + slack));

    if (PLUGMC_HAS(pair, slopes) && pair->slopes)
        compare_slopes(pair, instance, precision, box, potential, one, core, p, n, at[0], species,
                       t);
    for (int second = 0; pair->derivatives && second < 2; second++) {
        plugmc_derivatives d = {
            .energy = 1, .gradient = {1, 2, 3}, .laplacian = 4, .virial = {5, 6, 7}};
        assert_int_equal(pair->derivatives(instance, box, periodic, second, &probe, &others, &d),
                         before.overlaps);
        assert_close(d.energy - 1, before.energy, 0, t.energy * before.magnitude + slack);
        for (int k = 0; k < 3; k++) {
            const double slope = t.slope * before.slopes + t.place * (1 + before.bends);
            assert_close(d.gradient[k] - 1 - k, before.gradient[k], 0, slope);
            assert_close(d.virial[k] - 5 - k, before.virial[k], 0, 9 * slope); /* r is below 9 */
        }
        if (second)
            assert_close(d.laplacian - 4, before.laplacian, 0, t.bend * before.bends + t.place);
        else
            assert_true(d.laplacian == 4);
    }
}

/* Moves that cross the box, and in a periodic one may end in a neighbouring image of it. */
static void both_ends(const plugmc_box *box, double at[2][3])
{
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    for (int k = 0; k < 2; k++) {
        place(box, at[k]);
        for (int v = 0; periodic && v < box->dimension; v++) {
            int image = (int)(3 * uniform()) - 1;
            for (int d = 0; d < 3; d++) at[k][d] += image * box->vector[v][d];
        }
        for (int d = 0; d < 3; d++) at[k][d] = (float)at[k][d];
    }
}

static void loops_agree_with_plain_ones(void **state)
{
    (void)state;
    random_state = 3;
    for (int i = 0; i < PLUGMC_COUNT(formulas); i++) {
        bench b;
        pair_potential p = formula_new(&b, &formulas[i]);
        for (int kind = 0; kind < BOXES; kind++)
            for (int k = 0; k < PLUGMC_COUNT(sizes); k++) {
                const plugmc_box box = box_of(kind);
                double at[2][3];
                both_ends(&box, at);
                particles others = others_for(&box, at, 0.7, k % 4 == 3);
                compare_loops(p.pair[DOUBLE], p.instance[DOUBLE], DOUBLE, &box, &p,
                              pair_of_potential, 0, &others, sizes[k], at, k % 3,
                              (tolerance){1e-12, 1e-11, 1e-11, 1e-14});
                /* separations are good to some 1e-6 in boxes this large */
                compare_loops(p.pair[SINGLE], p.instance[SINGLE], SINGLE, &box, &p,
                              pair_of_potential, 0, &others, sizes[k], at, k % 3,
                              (tolerance){1e-6, 1e-5, 2e-4, 4e-6});
            }
        bench_end(&b);
    }
}

/* Our own potential: overlaps counted beside energies. */
static void pair_of_ours(const void *potential, double r, int a, int b, double *energy,
                         double *first, double *second)
{
    const parameters *p = potential;
    double factor = p->strength * charge_of[a] * charge_of[b], over = 1 / (1 + r * r);
    double near = r < p->cutoff ? factor : 0;
    *energy = near * over;
    *first = -2 * near * over * over;
    *second = near * (8 * r * r * over - 2) * over * over;
}

static void loops_count_overlaps_beside_energies(void **state)
{
    (void)state;
    random_state = 4;
    const parameters p = {1.3, 3.0};
    int64_t seen = 0;
    for (int kind = 0; kind < BOXES; kind++)
        for (int repeat = 0; repeat < 5; repeat++)
            for (int k = 0; k < PLUGMC_COUNT(sizes); k++) {
                const plugmc_box box = box_of(kind);
                double at[2][3];
                both_ends(&box, at);
                particles others = others_for(&box, at, 0, 0);
                seen +=
                    plainly(&box, &p, pair_of_ours, 1, &others, sizes[k], at[1], k % 3).overlaps;
                compare_loops(&plugmc_pair_facet, &p, DOUBLE, &box, &p, pair_of_ours, 1, &others,
                              sizes[k], at, k % 3, (tolerance){1e-12, 1e-11, 1e-11, 1e-14});
            }
    printf("%lld overlaps\n", (long long)seen);
    assert_true(seen > 100);
}

/* Only cores: nothing is added to the energy. */
static void loops_count_overlaps_of_hard_cores(void **state)
{
    (void)state;
    random_state = 5;
    bench b;
    three_species(&b, (const double[]){20, 20, 20});
    pair_potential p = potential_new(&b, "hard_disk", "");
    int64_t seen = 0;
    for (int kind = 0; kind < BOXES; kind++)
        for (int k = 0; k < 3 * PLUGMC_COUNT(sizes); k++) {
            const plugmc_box box = box_of(kind);
            const int64_t n = sizes[k / 3];
            double at[2][3], energy = 0.25, change = 0.5;
            both_ends(&box, at);
            particles others = others_for(&box, at, 0, 0);
            const parameters none = {0, 0};
            plain before = plainly(&box, &none, pair_of_ours, 1, &others, n, at[0], k % 3);
            plain after = plainly(&box, &none, pair_of_ours, 1, &others, n, at[1], k % 3);
            for (int precision = 0; precision < 2; precision++) {
                plugmc_particle probe = probe_at(at[0][0], at[0][1], at[0][2], k % 3);
                plugmc_particles list = first_of(&others, precision, n);
                const void *instance = p.instance[precision];
                assert_int_equal(
                    p.pair[precision]->energy(instance, &box, kind != OPEN, &probe, &list, &energy),
                    before.overlaps);
                assert_int_equal(p.pair[precision]->change(instance, &box, kind != OPEN, &probe,
                                                           at[1], &list, &change),
                                 after.overlaps);
                assert_true(energy == 0.25 && change == 0.5);
            }
            seen += before.overlaps;
        }
    assert_true(seen > 100);
    bench_end(&b);
}

TEST_MAIN(cmocka_unit_test(loops_agree_with_plain_ones),
          cmocka_unit_test(loops_count_overlaps_beside_energies),
          cmocka_unit_test(loops_count_overlaps_of_hard_cores))
