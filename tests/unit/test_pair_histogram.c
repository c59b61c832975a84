/* Pair counts, g(r) and charge densities in boxes and spheres: against plain loops, lattices, two
 * ions, and independent particles, for which g = 1.
 *
 * The statistical tests have a fixed seed; |z| <= 4, a false alarm in 16 000 each. */
#include "observing.h"

#include "statistics/statistics.h"

enum { AUTO, CELLS, ALL };

static bench *sphere(int dimension, double radius, int walkers)
{
    const double edge = 2 * radius;
    bench *b = bench_new(dimension, edge, edge, dimension == 3 ? edge : 1, walkers);
    b->system.box.domain = PLUGMC_DOMAIN_SPHERE;
    b->system.box.radius = radius;
    b->system.box.volume =
        dimension == 2 ? M_PI * radius * radius : 4 * M_PI / 3 * radius * radius * radius;
    return b;
}

/* A box with these lattice vectors. */
static bench *oblique(const double vector[3][3], int walkers)
{
    bench *b = bench_new(3, 1, 1, 1, walkers);
    plugmc_box *box = &b->system.box;
    double determinant = 0;
    memcpy(box->vector, vector, sizeof box->vector);
    box->oblique = 1;
    for (int i = 0; i < 3; i++) {
        box->length[i] = sqrt(vector[i][0] * vector[i][0] + vector[i][1] * vector[i][1] +
                              vector[i][2] * vector[i][2]);
        determinant += vector[0][i] * (vector[1][(i + 1) % 3] * vector[2][(i + 2) % 3] -
                                       vector[1][(i + 2) % 3] * vector[2][(i + 1) % 3]);
    }
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++)
            box->inverse[i][d] =
                (vector[(d + 1) % 3][(i + 1) % 3] * vector[(d + 2) % 3][(i + 2) % 3] -
                 vector[(d + 1) % 3][(i + 2) % 3] * vector[(d + 2) % 3][(i + 1) % 3]) /
                determinant;
    box->volume = determinant;
    return b;
}

static void place_in_sphere(bench *b)
{
    const double radius = b->system.box.radius;
    for (int64_t i = 0; i < b->system.walkers * b->system.particles; i++) {
        double *r = b->positions + 3 * i, square;
        do {
            square = 0;
            for (int d = 0; d < b->system.box.dimension; d++) {
                r[d] = radius * (2 * uniform(b) - 1);
                square += r[d] * r[d];
            }
        } while (square > radius * radius);
    }
}

static void place_in_oblique(bench *b)
{
    for (int64_t i = 0; i < b->system.walkers * b->system.particles; i++) {
        double f[3] = {uniform(b), uniform(b), uniform(b)}, *r = b->positions + 3 * i;
        for (int d = 0; d < 3; d++)
            r[d] = f[0] * b->system.box.vector[0][d] + f[1] * b->system.box.vector[1][d] +
                   f[2] * b->system.box.vector[2][d];
    }
}

/* charge_density gives the counts as they are, whatever the box. */
static void count_with(bench *b, int method, double r_max, double margin, int64_t bins)
{
    observe(b, "charge_density");
    *(int32_t *)parameter(b, "method") = method;
    *(double *)parameter(b, "r_max") = r_max;
    *(double *)parameter(b, "margin") = margin;
    *(int64_t *)parameter(b, "bins") = bins;
    ready(b);
}

static double *counts_of(bench *b)
{
    double *values = calloc((size_t)(b->system.walkers * place(b, NULL, NULL)), sizeof *values);
    measure(b, values);
    return values;
}

/* ---- Against a plain loop -------------------------------------------------------------------- */

static double nearest(const bench *b, const double *p, const double *q)
{
    const plugmc_box *box = &b->system.box;
    double least = INFINITY;
    for (int image = 0; image < 27; image++) {
        const int n[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
        double square = 0;
        for (int d = 0; d < 3; d++) {
            double x = p[d] - q[d];
            for (int i = 0; i < 3; i++)
                x += n[i] * (box->oblique ? box->vector[i][d] : i == d ? box->length[d] : 0);
            square += x * x;
        }
        least = fmin(least, square);
        if (box->domain == PLUGMC_DOMAIN_SPHERE) {
            least = pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2);
            break;
        }
    }
    return sqrt(least);
}

static int reference(const bench *b, const double *r, double margin)
{
    const double most = b->system.box.radius - margin;
    return b->system.box.domain == PLUGMC_DOMAIN_PERIODIC ||
           r[0] * r[0] + r[1] * r[1] + r[2] * r[2] <= most * most;
}

/* Pairs within 5e-6 bins of an edge may be counted on its other side: each moves one count. */
static void assert_plain(bench *b, const double *values, double r_max, double margin, int64_t bins)
{
    static const char *const names[2][2] = {{"pairs_A-A", "pairs_A-B"}, {"pairs_A-B", "pairs_B-B"}};
    const int64_t n = b->system.particles, width = place(b, NULL, NULL);
    for (int w = 0; w < b->system.walkers; w++) {
        double *plain = calloc((size_t)width, sizeof *plain), differences = 0;
        int doubtful = 0;
        const double *r = b->positions + 3 * n * w;
        for (int64_t i = 0; i < n; i++) {
            const int a = species_at(b, i);
            plain[place(b, a ? "references_B" : "references_A", NULL)] +=
                reference(b, r + 3 * i, margin);
            for (int64_t j = 0; j < n; j++) {
                const double at = nearest(b, r + 3 * i, r + 3 * j) / r_max * (double)bins;
                if (i == j || !reference(b, r + 3 * i, margin)) continue;
                doubtful += fabs(at - rint(at)) < 5e-6;
                if (at >= (double)bins) continue;
                plain[place(b, names[a][species_at(b, j)], NULL) + (int64_t)at]++;
            }
        }
        for (int64_t k = 0; k < width; k++) differences += fabs(plain[k] - values[w * width + k]);
        assert_true(differences <= 2 * doubtful && doubtful < 10);
        free(plain);
    }
}

static const double cells[][3][3] = {{{7, 0, 0}, {2, 6, 0}, {-1, 1.5, 8}},
                                     {{5, 5, 0}, {5, 0, 5}, {0, 5, 5}}};

static void counts_are_those_of_a_loop_over_all_pairs(void **state)
{
    (void)state;
    enum { PERIODIC, FLAT, SPHERE, DISK, OBLIQUE, BOXES = OBLIQUE + 2 };
    const double reach[] = {0.6, 1.4, 2.4};
    for (int kind = 0; kind < BOXES; kind++)
        for (int k = 0; k < 3; k++)
            for (int method = AUTO; method <= ALL; method++) {
                bench *b = kind == PERIODIC ? bench_new(3, 5.5, 6, 7, 2)
                           : kind == FLAT   ? bench_new(2, 5.5, 6, 1, 2)
                           : kind == SPHERE ? sphere(3, 4, 2)
                           : kind == DISK   ? sphere(2, 5, 2)
                                            : oblique(cells[kind - OBLIQUE], 2);
                const int wall = kind == SPHERE || kind == DISK;
                const double margin = wall ? reach[k] + 0.3 * k : 0;
                add_species(b, "A", 150, 1, 1);
                add_species(b, "B", 170, 1, -1);
                b->random = 1; /* the same for all methods */
                count_with(b, method, reach[k], margin, 20);
                if (wall)
                    place_in_sphere(b);
                else if (kind >= OBLIQUE)
                    place_in_oblique(b);
                else
                    place_at_random(b, 0);
                b->system.threads = 1 + k % 2;
                double *values = counts_of(b);
                assert_plain(b, values, reach[k], margin, 20);
                free(values);
                bench_free(b);
            }
}

/* Where particles come and go, places without anybody count for nothing, and pairs are compared with those of
 * independent particles in the same numbers. */
static void who_is_not_there_has_no_pairs(void **state)
{
    (void)state;
    enum { BINS = 8 };
    static const char *const names[2][2] = {{"pairs_A-A", "pairs_A-B"}, {"pairs_A-B", "pairs_B-B"}};
    static const int64_t count[2][2] = {{20, 13}, {31, 0}};
    bench *b = bench_new(3, 5, 6, 7, 2);
    add_species(b, "A", 40, 1, 1);
    add_species(b, "B", 25, 1, -1);
    b->system.changes = PLUGMC_CHANGED_COUNT;
    observe(b, "rdf");
    *(double *)parameter(b, "r_max") = 2.4;
    *(int64_t *)parameter(b, "bins") = BINS;
    ready(b);
    place_at_random(b, 0);
    b->view.count = count[0];
    const int64_t n = b->system.particles, width = place(b, NULL, NULL);
    assert_int_equal(width, 3 * BINS + 3);
    for (int64_t i = 0; i < 2 * n; i++) {
        const int s = species_at(b, i % n);
        for (int d = 0; d < 3 && i % n - b->first[s] >= count[i / n][s]; d++)
            b->positions[3 * i + d] = NAN;
    }
    double *values = calloc((size_t)(2 * width), sizeof *values), *plain = calloc((size_t)width, 8);
    measure(b, values);
    for (int w = 0; w < 2; w++) {
        const double *r = b->positions + 3 * n * w, A = (double)count[w][0],
                     B = (double)count[w][1], V = 5 * 6 * 7;
        double differences = 0;
        int doubtful = 0;
        memset(plain, 0, (size_t)width * sizeof *plain);
        plain[place(b, "ideal_A-A", NULL)] = A * (A - 1) / V;
        plain[place(b, "ideal_A-B", NULL)] = 2 * A * B / V;
        plain[place(b, "ideal_B-B", NULL)] = B * (B - 1) / V;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                const double at = distance(b, r + 3 * i, r + 3 * j) / 2.4 * BINS;
                if (i == j || isnan(at)) continue;
                doubtful += fabs(at - rint(at)) < 5e-6;
                if (at < BINS)
                    plain[place(b, names[species_at(b, i)][species_at(b, j)], NULL) +
                          (int64_t)at]++;
            }
        for (int64_t k = 0; k < width; k++) differences += fabs(plain[k] - values[w * width + k]);
        assert_true(differences <= 1e-12 + 2 * doubtful && doubtful < 3);
    }
    free(values), free(plain);
    bench_free(b);
}

/* Many cells, none of the plain loop: both methods, some 1e6 pairs. */
static void methods_agree_to_the_count(void **state)
{
    (void)state;
    for (int wall = 0; wall < 2; wall++) {
        double *values[2];
        size_t bytes = 0;
        for (int method = CELLS; method <= ALL; method++) {
            bench *b = wall ? sphere(3, 20, 1) : bench_new(3, 30, 31, 33, 1);
            add_species(b, "A", 2000, 1, 1);
            add_species(b, "B", 3000, 1, -1);
            count_with(b, method, 3.3, wall ? 4 : 0, 500);
            if (wall)
                place_in_sphere(b);
            else
                place_at_random(b, 0);
            values[method - CELLS] = counts_of(b);
            bytes = (size_t)place(b, NULL, NULL) * sizeof(double);
            bench_free(b);
        }
        double sum = 0;
        for (size_t i = 0; i < bytes / sizeof(double); i++) sum += values[0][i];
        printf("%.0f pairs and references\n", sum);
        assert_true(sum > 2e4);
        assert_memory_equal(values[0], values[1], bytes);
        free(values[0]);
        free(values[1]);
    }
}

/* ---- Cases that are known -------------------------------------------------------------------- */

static void two_ions_count_once_for_each_that_is_far_from_the_wall(void **state)
{
    (void)state;
    /* margin 3 in a sphere of radius 10: references are within 7 */
    const struct {
        double a, b;
        int pairs, references[2];
    } cases[] = {{1, -1, 2, {1, 1}},
                 {6.5, 8.5, 1, {1, 0}},
                 {-8.5, -6.5, 1, {0, 1}},
                 {7.5, 9.5, 0, {0, 0}},
                 {1, 4, 0, {1, 1}} /* 3 apart, r_max = 2.5 */};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int method = CELLS; method <= ALL; method++) {
            bench *b = sphere(3, 10, 1);
            double values[8];
            add_species(b, "A", 1, 1, 1);
            add_species(b, "B", 1, 1, -1);
            count_with(b, method, 2.5, 3, 5);
            b->positions[0] = cases[k].a;
            b->positions[3] = cases[k].b;
            assert_int_equal(7, place(b, NULL, NULL)); /* one row: no pairs of one ion */
            measure(b, values);
            for (int bin = 0; bin < 5; bin++)
                assert_true(values[bin] == (bin == 4 ? cases[k].pairs : 0));
            assert_true(values[5] == cases[k].references[0] && values[6] == cases[k].references[1]);
            bench_free(b);
        }
}

/* Rock salt, neighbours 1 apart: 6 of the other kind at 1, 12 of the same at sqrt(2), 8 of the
 * other at sqrt(3), 6 of the same at 2. */
static void a_crystal_has_its_coordination_numbers(void **state)
{
    (void)state;
    for (int wall = 0; wall < 2; wall++) {
        bench *b = wall ? sphere(3, 6.3, 1) : bench_new(3, 8, 8, 8, 1);
        double rows[2][4096][3];
        int64_t count[2] = {0, 0};
        for (int x = wall ? -6 : 0; x <= (wall ? 6 : 7); x++)
            for (int y = wall ? -6 : 0; y <= (wall ? 6 : 7); y++)
                for (int z = wall ? -6 : 0; z <= (wall ? 6 : 7); z++) {
                    if (wall && x * x + y * y + z * z > 6.3 * 6.3) continue;
                    double *r = rows[(x + y + z) & 1][count[(x + y + z) & 1]++];
                    r[0] = x, r[1] = y, r[2] = z;
                }
        add_species(b, "A", count[0], 1, 1);
        add_species(b, "B", count[1], 1, -1);
        count_with(b, AUTO, 2.2, wall ? 2.5 : 0, 22);
        memcpy(b->positions, rows[0], (size_t)count[0] * sizeof rows[0][0]);
        memcpy(b->positions + 3 * count[0], rows[1], (size_t)count[1] * sizeof rows[0][0]);
        for (int i = 0; i < 3 * (count[0] + count[1]); i++) b->positions[i] += wall ? 0 : 0.3;
        double *values = counts_of(b), derived[2 * 22];
        const double *aa = values + place(b, "pairs_A-A", NULL);
        const double *ab = values + place(b, "pairs_A-B", NULL);
        const double na = values[place(b, "references_A", NULL)];
        const double nb = values[place(b, "references_B", NULL)];
        assert_true(wall ? na > 50 && na < (double)count[0] : na == (double)count[0]);
        for (int bin = 0; bin < 22; bin++) {
            /* bins are 0.1 wide; edges of bins at 1 and 2 are lattice distances, so both sides
             * count */
            const double others = bin == 9 || bin == 10 ? -1 : bin == 17 ? 8 : 0;
            const double same = bin == 14 ? 12 : bin == 19 || bin == 20 ? -1 : 0;
            if (others >= 0) assert_true(ab[bin] == others * (na + nb));
            if (same >= 0) assert_true(aa[bin] == same * na);
        }
        assert_true(ab[9] + ab[10] == 6 * (na + nb) && aa[19] + aa[20] == 6 * na);

        /* charge in a shell around A: q_b times coordination, N / (N - 1) */
        const double all = (double)(count[0] + count[1]), factor = all / (all - 1);
        assert_int_equal(0, b->observable->derive(b->instance, values, derived));
        const double volume = 4 * M_PI / 3 * (pow(1.8, 3) - pow(1.7, 3));
        const double around = wall ? 4 * (na + nb) / na : 8;
        assert_close(derived[17] * volume, -around * factor, 1e-9, 0);
        const double second = 4 * M_PI / 3 * (pow(1.5, 3) - pow(1.4, 3));
        assert_close(derived[14] * second, 12 * factor, 1e-9, 0);
        free(values);
        bench_free(b);
    }
}

/* ---- Independent particles ------------------------------------------------------------------- */

enum { GAS_WALKERS = 20000, GAS_BINS = 3, GROUPS = 50 };

/* g from the means of all walkers, errors by leaving out groups of them. */
static void an_ideal_gas_in_a_sphere_has_g_of_one(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        bench *b = sphere(dimension, 5, GAS_WALKERS);
        add_species(b, "A", 7, 1, 0);
        add_species(b, "B", 11, 1, 0);
        observe(b, "rdf");
        *(double *)parameter(b, "r_max") = 1.5;
        *(int64_t *)parameter(b, "bins") = GAS_BINS;
        ready(b);
        place_in_sphere(b);
        double *values = counts_of(b);
        const int64_t width = place(b, NULL, NULL);
        block_average blocks;
        double g[3 * GAS_BINS], error[3 * GAS_BINS];
        bool converged[3 * GAS_BINS];
        assert_int_equal(0, block_average_init(&blocks, width));
        blocks.per_block = GAS_WALKERS / GROUPS;
        for (int w = 0; w < GAS_WALKERS; w++) block_average_add(&blocks, values + w * width);
        assert_int_equal(0, block_average_jackknife(&blocks, b->observable->derive, b->instance,
                                                    3 * GAS_BINS, g, error, converged));
        for (int k = 0; k < 3 * GAS_BINS; k++) {
            plugmc_quantity q = {.size = sizeof q};
            char name[64];
            assert_int_equal(1, b->observable->derived(b->instance, k / GAS_BINS, &q));
            snprintf(name, sizeof name, "ideal gas, %d dimensions, g of %s, r = %.2f", dimension,
                     q.name, q.abscissa[0][k % GAS_BINS]);
            assert_z(name, g[k], error[k], 1, 4);
        }
        block_average_free(&blocks);
        free(values);
        bench_free(b);
    }
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void what_would_cut_shells_is_refused(void **state)
{
    (void)state;
    const struct {
        int wall;
        double r_max, margin;
        const char *reason;
    } cases[] = {{1, 3, 2, "the wall would cut shells"},
                 {1, 3, 10, "leaves nothing of a sphere of radius 10"},
                 {1, 11, 0, "leaves nothing"},
                 {0, 3, 4, "but the box is periodic"},
                 {0, 5.5, 0, "exceeds half the smallest edge of the box"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bench *b = cases[k].wall ? sphere(3, 10, 1) : bench_new(3, 10, 12, 14, 1);
        add_species(b, "A", 2, 1, 0);
        observe(b, "rdf");
        *(double *)parameter(b, "r_max") = cases[k].r_max;
        *(double *)parameter(b, "margin") = cases[k].margin;
        assert_int_equal(PLUGMC_ERROR_INPUT, prepare(b));
        if (!strstr(b->context.message, cases[k].reason))
            fail_msg("'%s' is not in: %s", cases[k].reason, b->context.message);
        bench_free(b);
    }
    bench *b = sphere(3, 10, 1);
    add_species(b, "A", 2, 1, 0);
    observe(b, "charge_density");
    assert_int_equal(PLUGMC_ERROR_INPUT, prepare(b));
    assert_non_null(strstr(b->context.message, "no species has a charge"));
    bench_free(b);
}

TEST_MAIN(cmocka_unit_test(counts_are_those_of_a_loop_over_all_pairs),
          cmocka_unit_test(who_is_not_there_has_no_pairs),
          cmocka_unit_test(methods_agree_to_the_count),
          cmocka_unit_test(two_ions_count_once_for_each_that_is_far_from_the_wall),
          cmocka_unit_test(a_crystal_has_its_coordination_numbers),
          cmocka_unit_test(an_ideal_gas_in_a_sphere_has_g_of_one),
          cmocka_unit_test(what_would_cut_shells_is_refused))
