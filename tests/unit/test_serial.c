/* The serial mover against exact distributions, against a second writing-down of its documented
 * chain, and against itself: threads, restarts, ways to say the same energy. */
#include "testing.h"

#include "movers.h"

/* ---- A soft potential: Gaussian repulsion, zero from the cutoff on --------------------------- */

typedef struct parameters {
    double strength, width, cutoff; /* kT, length, length */
    int long_range;                 /* claims to have no range, energies being the same */
    /* Not 0: the energy within the cutoff is noise / divisor times the other's charge times divisor r^2. Two of these
     * with opposite noise and other divisors cancel but for rounding. */
    double noise, divisor;
} parameters;

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a;
    if (s.r2 >= p->cutoff * p->cutoff) return 0;
    if (p->noise != 0) return p->noise / p->divisor * b.charge * (p->divisor * s.r2);
    return p->strength * exp(-0.5 * s.r2 / (p->width * p->width));
}

PLUGMC_FN real pair_range(const parameters *p) { return p->long_range ? INFINITY : p->cutoff; }

#define PLUGMC_PAIR PLUGMC_PAIR_ENERGY
#include <plugmc/pair.h>

static const plugmc_potential gauss_potential = {.size = sizeof(plugmc_potential),
                                                 .pair = &plugmc_pair_facet};
static const plugmc_plugin gauss = {
    .size = sizeof gauss, .kind = PLUGMC_POTENTIAL, .name = "gauss", .potential = &gauss_potential};

/* The same as the energy of the whole configuration, one walker, with its own positions. */
typedef struct whole {
    parameters p;
    const plugmc_system *system;
    double x[64][3], trial[3];
    int64_t moving;
    int pending, mistakes;
} whole;

static double whole_energy(const whole *w, int64_t i, const double at[3])
{
    const plugmc_box *box = &w->system->box;
    double sum = 0;
    for (int64_t j = 0; j < w->system->particles; j++) {
        double r2 = 0;
        for (int d = 0; d < box->dimension; d++) {
            double x = at[d] - w->x[j][d];
            x -= box->length[d] * rint(x / box->length[d]);
            r2 += x * x;
        }
        if (j != i && r2 < w->p.cutoff * w->p.cutoff)
            sum += w->p.strength * exp(-0.5 * r2 / (w->p.width * w->p.width));
    }
    return sum;
}

static int whole_start(void *instance, const plugmc_view *view)
{
    whole *w = instance;
    memcpy(w->x, view->positions, (size_t)w->system->particles * sizeof w->x[0]);
    return PLUGMC_OK;
}

static int whole_change(void *instance, int32_t walker, int64_t i, const double at[3],
                        double *change)
{
    whole *w = instance;
    w->mistakes += w->pending || walker != 0;
    w->pending = 1;
    w->moving = i;
    memcpy(w->trial, at, sizeof w->trial);
    *change = whole_energy(w, i, at) - whole_energy(w, i, w->x[i]);
    return PLUGMC_OK;
}

static int whole_settle(void *instance, int32_t walker, int accepted)
{
    whole *w = instance;
    w->mistakes += !w->pending || walker != 0;
    w->pending = 0;
    if (accepted) memcpy(w->x[w->moving], w->trial, sizeof w->trial);
    return PLUGMC_OK;
}

static const plugmc_total whole_total = {.size = sizeof whole_total,
                                         .start = whole_start,
                                         .change = whole_change,
                                         .settle = whole_settle};
/* Energies of whole configurations alone: the core finds what a move changes. */
static int whole_configuration(void *instance, const plugmc_total_request *request)
{
    whole *w = instance;
    const double(*x)[3] = (const double(*)[3])request->view->positions;
    w->mistakes += request->view->walkers > 1;
    memcpy(w->x, x, (size_t)w->system->particles * sizeof w->x[0]);
    for (int64_t i = 0; i < w->system->particles; i++)
        request->energy[0] += whole_energy(w, i, w->x[i]) / 2;
    return PLUGMC_OK;
}

static const plugmc_total energy_alone = {.size = sizeof energy_alone,
                                          .energy = whole_configuration};
static const plugmc_potential energy_potential = {.size = sizeof(plugmc_potential),
                                                  .total = &energy_alone};
static const plugmc_plugin energy_plugin = {.size = sizeof energy_plugin,
                                            .kind = PLUGMC_POTENTIAL,
                                            .name = "energy",
                                            .potential = &energy_potential};

static const plugmc_potential whole_potential = {.size = sizeof(plugmc_potential),
                                                 .total = &whole_total};
static const plugmc_plugin whole_plugin = {.size = sizeof whole_plugin,
                                           .kind = PLUGMC_POTENTIAL,
                                           .name = "whole",
                                           .potential = &whole_potential};

static void add_term(bench *b, const plugmc_plugin *plugin, void *instance)
{
    b->terms[b->system.term_count++] =
        (plugmc_term){.label = plugin->name, .plugin = plugin, .instance = instance, .sampled = 1};
}

static test_mover serial_new(bench *b, int sequential, const char *settings)
{
    test_mover mover = {.plugin = open_plugin("serial")};
    mover.calls = mover.plugin->mover;
    mover.instance = bench_allocate(b->host.context, mover.plugin->instance_size);
    set_parameters(mover.plugin, mover.instance, settings);
    const plugmc_parameter *order = &mover.plugin->parameters[0];
    assert_string_equal(order->name, "order");
    assert_string_equal(order->choices, "random|sequential");
    *(int32_t *)((char *)mover.instance + order->offset) = sequential;
    bench_expect(b, mover_prepare(b, &mover));
    return mover;
}

static plugmc_counts count(bench *b, test_mover *mover)
{
    plugmc_counts counts;
    bench_expect(b, mover_counts(mover, &b->host, &counts, 1));
    return counts;
}

/* Particles in rows, in every walker: no overlap as long as the spacing is above contact. */
static double *rows(const bench *b, int64_t columns, double spacing)
{
    double *positions = bench_positions(b);
    for (int64_t k = 0; k < b->system.particles * b->system.walkers; k++) {
        int64_t i = k % b->system.particles;
        positions[3 * k] = spacing * (double)(i % columns);
        positions[3 * k + 1] = spacing * (double)(i / columns % columns);
        positions[3 * k + 2] = spacing * (double)(i / columns / columns);
    }
    return positions;
}

/* ---- Exact distributions --------------------------------------------------------------------- */

enum { BINS = 20, WALKERS = 64 };

/* Histograms of independent walkers against the exact probabilities. With 20 bins and 64 walkers
 * some |z| is above 4.5 in one of 1500 seeds; chi^2 / bins is near 1. */
static void compare(const char *name, double counts[WALKERS][BINS], const double exact[BINS])
{
    double total = 0, sum = 0, chi2 = 0, worst = 0;
    int used = 0;
    for (int k = 0; k < BINS; k++) sum += exact[k];
    for (int k = 0; k < BINS; k++) total += counts[0][k];
    for (int k = 0; k < BINS; k++) {
        double mean = 0, square = 0;
        for (int w = 0; w < WALKERS; w++) {
            mean += counts[w][k] / total / WALKERS;
            square += counts[w][k] / total * counts[w][k] / total / WALKERS;
        }
        double error = sqrt((square - mean * mean) / (WALKERS - 1));
        if (exact[k] == 0) assert_true(mean == 0);
        if (exact[k] / sum < 1e-4) continue;
        double z = (mean - exact[k] / sum) / error;
        chi2 += z * z;
        used++;
        if (fabs(z) > fabs(worst)) worst = z;
    }
    printf("z = %+.2f at most, chi^2 = %.1f in %d bins  %s\n", worst, chi2, used, name);
    if (!(fabs(worst) < 4.5) || !(chi2 < 2.5 * used)) fail_msg("%s is not as it should be", name);
}

/* Bin of a distance in a square of this edge. */
static int distance_bin(double square, double edge)
{
    return (int)(sqrt(square) / (sqrt(0.5) * edge) * BINS);
}

/* Runs, and counts the distances of all pairs. */
static void sample_distances(bench *b, test_mover *mover, int samples, double counts[WALKERS][BINS])
{
    const int64_t n = b->system.particles;
    double *x = bench_positions(b);
    memset(counts, 0, WALKERS * sizeof counts[0]);
    mover_sweep(b, mover, 0, 200);
    for (int k = 0; k < samples; k++) {
        mover_sweep(b, mover, 200 + 5 * (uint64_t)k, 5);
        mover_store(b, mover, x);
        for (int w = 0; w < WALKERS; w++)
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < i; j++) {
                    double r2 = 0, edge = b->system.box.length[0];
                    for (int d = 0; d < 2; d++) {
                        double r = x[3 * (w * n + i) + d] - x[3 * (w * n + j) + d];
                        r -= edge * rint(r / edge);
                        r2 += r * r;
                    }
                    counts[w][distance_bin(r2, edge)]++;
                }
    }
    free(x);
}

/* Probability of distance bins of two particles in a square, up to a factor: the weight of
 * separation (x, y), summed over a fine grid of one quadrant. */
static void exact_distances(double edge, double (*weight)(const void *, double, double, double),
                            const void *argument, double exact[BINS])
{
    const int grid = 1500;
    memset(exact, 0, BINS * sizeof *exact);
    for (int i = 0; i < grid; i++)
        for (int j = 0; j < grid; j++) {
            double x = 0.5 * edge * (i + 0.5) / grid, y = 0.5 * edge * (j + 0.5) / grid;
            exact[distance_bin(x * x + y * y, edge)] += weight(argument, edge, x, y);
        }
}

/* Three hard disks of diameter 1: the third centre may be anywhere outside of two disks of radius
 * 1 around the first two and their images; in a box of edge above 2 only lenses of images of
 * different disks overlap. */
static double free_area(const void *argument, double edge, double x, double y)
{
    (void)argument;
    if (x * x + y * y < 1) return 0;
    double area = edge * edge - 2 * M_PI;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) {
            double r = hypot(x + i * edge, y + j * edge);
            if (r < 2) area += 2 * acos(0.5 * r) - r * sqrt(1 - 0.25 * r * r);
        }
    return area;
}

static void three_hard_disks_have_the_exact_distances(void **state)
{
    (void)state;
    for (int sequential = 0; sequential < 2; sequential++) {
        static double counts[WALKERS][BINS], exact[BINS];
        const double edge = 2.6;
        bench b;
        bench_begin(&b, 2, (double[]){edge, edge, 1}, WALKERS, 11);
        bench_species(&b, "disk", 3, 1, 0);
        bench_potential(&b, "hard_disk", "");
        test_mover mover = serial_new(&b, sequential, "step=0.6");
        double *x = rows(&b, 2, 1.3);
        mover_load(&b, &mover, x);
        sample_distances(&b, &mover, 2000, counts);
        exact_distances(edge, free_area, NULL, exact);
        compare(sequential ? "three disks, sequential" : "three disks, random", counts, exact);
        free(x);
        bench_end(&b);
    }
}

static double boltzmann(const void *argument, double edge, double x, double y)
{
    const parameters *p = argument;
    (void)edge;
    return exp(-pair_energy(p, (plugmc_separation){x, y, 0, x * x + y * y}, (plugmc_site){0},
                            (plugmc_site){0}));
}

static void two_soft_particles_have_the_exact_distances(void **state)
{
    (void)state;
    const parameters cases[] = {{2.5, 0.5, 1.1, 0, 0},
                                {-1.5, 0.4, 4, 0, 0},
                                {2, 0.7, INFINITY, 0, 0},
                                {-2, 0.3, INFINITY, 1, 0}};
    for (int k = 0; k < 4; k++) {
        static double counts[WALKERS][BINS], exact[BINS];
        parameters p = cases[k];
        bench b;
        bench_begin(&b, 2, (double[]){3.5, 3.5, 1}, WALKERS, 12);
        bench_species(&b, "soft", 2, 0, 0);
        add_term(&b, &gauss, &p);
        test_mover mover = serial_new(&b, k & 1, "step=1.2");
        double *x = rows(&b, 2, 1);
        mover_load(&b, &mover, x);
        sample_distances(&b, &mover, 3000, counts);
        exact_distances(3.5, boltzmann, &p, exact);
        compare(p.strength > 0 ? "two soft particles, repelling" : "two soft particles, attracting",
                counts, exact);
        free(x);
        bench_end(&b);
    }
}

/* exp(-3 x) above x = 0.5: a field and a wall at once. */
static int64_t slope_energy(const void *instance, const plugmc_particles *particles, double *energy)
{
    const double *x = particles->x;
    int64_t outside = 0;
    (void)instance;
    for (int64_t i = 0; i < particles->n; i++) {
        *energy += 3 * x[i];
        outside += x[i] < 0.5;
    }
    return outside;
}
static const plugmc_field slope_field = {.size = sizeof slope_field, .energy = slope_energy};
static const plugmc_potential slope_potential = {.size = sizeof(plugmc_potential),
                                                 .field = &slope_field};
static const plugmc_plugin slope = {
    .size = sizeof slope, .kind = PLUGMC_POTENTIAL, .name = "slope", .potential = &slope_potential};

static void a_field_gives_the_barometric_law(void **state)
{
    (void)state;
    static double counts[WALKERS][BINS], exact[BINS];
    bench b;
    bench_begin(&b, 3, (double[]){2, 1, 1}, WALKERS, 13);
    bench_species(&b, "point", 10, 0, 0);
    add_term(&b, &slope, NULL);
    test_mover mover = serial_new(&b, 0, "step=0.4");
    double *x = bench_positions(&b);
    for (int64_t i = 0; i < 10 * WALKERS; i++) x[3 * i] = 0.6;
    mover_load(&b, &mover, x);
    mover_sweep(&b, &mover, 0, 100);
    for (uint64_t k = 0; k < 400; k++) {
        mover_sweep(&b, &mover, 100 + 5 * k, 5);
        mover_store(&b, &mover, x);
        for (int i = 0; i < 10 * WALKERS; i++) counts[i / 10][(int)(0.5 * x[3 * i] * BINS)]++;
    }
    for (int k = 5; k < BINS; k++) exact[k] = exp(-0.3 * k);
    compare("barometric law above a wall", counts, exact);
    free(x);
    bench_end(&b);
}

static void an_ideal_gas_fills_the_sphere(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        static double counts[WALKERS][BINS], exact[BINS];
        bench b;
        bench_begin(&b, dimension, (double[]){4, 4, 4}, WALKERS, 14);
        b.system.box.domain = PLUGMC_DOMAIN_SPHERE;
        b.system.box.radius = 2;
        bench_species(&b, "point", 5, 0, 0);
        test_mover mover = serial_new(&b, 1, "step=1.5");
        double *x = bench_positions(&b);
        memset(counts, 0, sizeof counts);
        mover_load(&b, &mover, x);
        mover_sweep(&b, &mover, 0, 50);
        for (uint64_t k = 0; k < 1000; k++) {
            mover_sweep(&b, &mover, 50 + 2 * k, 2);
            mover_store(&b, &mover, x);
            for (int i = 0; i < 5 * WALKERS; i++) {
                const double *r = &x[3 * i];
                double distance = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
                assert_true(distance <= 2 && (dimension == 3 || r[2] == 0));
                counts[i / 5][(int)fmin(distance / 2 * BINS, BINS - 1)]++;
            }
        }
        for (int k = 0; k < BINS; k++) exact[k] = pow(k + 1, dimension) - pow(k, dimension);
        compare(dimension == 2 ? "ideal gas in a disk" : "ideal gas in a sphere", counts, exact);
        free(x);
        bench_end(&b);
    }
}

/* ---- The chain itself ------------------------------------------------------------------------ */

static void every_move_of_an_ideal_gas_is_accepted(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b, 3, (double[]){3, 4, 5}, 3, 1);
    bench_species(&b, "point", 20, 0, 0);
    test_mover mover = serial_new(&b, 0, "step=1");
    double *x = rows(&b, 3, 1);
    mover_load(&b, &mover, x);
    mover_sweep(&b, &mover, 0, 50);
    plugmc_counts counts = count(&b, &mover);
    assert_int_equal(counts.trials, 3 * 20 * 50);
    assert_int_equal(counts.accepted, counts.trials);
    assert_int_equal(count(&b, &mover).trials, 0);
    mover_store(&b, &mover, x);
    for (int i = 0; i < 180; i++) assert_true(x[i] >= 0 && x[i] < b.system.box.length[i % 3]);
    free(x);
    bench_end(&b);
}

/* The documented chain of hard disks, written a second time: all pairs, no cells. */
static void replay(const plugmc_system *system, double step, int sequential, double *x,
                   uint64_t sweeps)
{
    const uint32_t n = (uint32_t)system->particles;
    const double *length = system->box.length;
    for (uint64_t s = 0; s < sweeps; s++)
        for (uint32_t t = 0; t < n; t++) {
            uint32_t i = t;
            plugmc_random random = plugmc_draw(system->seed, s, 0, t, PLUGMC_PURPOSE_ORDER, 0);
            if (!sequential) i = plugmc_below(random.word[0], n);
            double v[2], to[2];
            for (uint32_t draw = 0;; draw++) {
                random = plugmc_draw(system->seed, s, 0, t, PLUGMC_PURPOSE_TRIAL, draw);
                for (int d = 0; d < 2; d++) v[d] = (random.word[d] + 0.5) / 2147483648.0 - 1;
                if (v[0] * v[0] + v[1] * v[1] <= 1) break;
            }
            int overlaps = 0;
            for (int d = 0; d < 2; d++) {
                to[d] = x[3 * i + d] + step * v[d];
                if (to[d] < 0) to[d] += length[d];
                if (to[d] >= length[d]) to[d] -= length[d];
            }
            for (uint32_t j = 0; j < n; j++) {
                double r2 = 0;
                for (int d = 0; d < 2; d++) {
                    double r = to[d] - x[3 * j + d];
                    r -= length[d] * rint(r / length[d]);
                    r2 += r * r;
                }
                overlaps += j != i && r2 < 1;
            }
            if (!overlaps) memcpy(&x[3 * i], to, sizeof to);
        }
}

static void hard_disks_follow_the_documented_chain(void **state)
{
    (void)state;
    for (int sequential = 0; sequential < 2; sequential++) {
        bench b;
        bench_begin(&b, 2, (double[]){11, 12, 1}, 1, 0x123456789abcdef);
        bench_species(&b, "disk", 100, 1, 0);
        bench_potential(&b, "hard_disk", "");
        test_mover mover = serial_new(&b, sequential, "step=0.3");
        double *x = rows(&b, 10, 1.05), *y = bench_positions(&b);
        mover_load(&b, &mover, x);
        mover_sweep(&b, &mover, 0, 200);
        mover_store(&b, &mover, y);
        replay(&b.system, 0.3, sequential, x, 200);
        assert_memory_equal(x, y, 300 * sizeof(double));
        double closest = closest_pair(&b, y);
        assert_true(closest >= 1 && closest < 1.05);
        plugmc_counts counts = count(&b, &mover);
        assert_true(counts.accepted > counts.trials / 10 && counts.accepted < counts.trials);
        free(x), free(y);
        bench_end(&b);
    }
}

/* Particles whose moves are decided by rounding alone: two large energies that cancel up to the last
 * bits of sums over neighbours. Whatever changes the order of a sum changes the chain. */
static void noise_begin(bench *b, parameters p[2], int walkers)
{
    p[0] = (parameters){.cutoff = 1.8, .noise = 1e15, .divisor = 1};
    p[1] = (parameters){.cutoff = 1.8, .noise = -1e15, .divisor = 3};
    bench_begin(b, 3, (double[]){5.7, 5.9, 7.1}, walkers, 99);
    bench_species(b, "first", 100, 0, 1.0 / 3);
    bench_species(b, "second", 100, 0, -1.0 / 7);
    bench_species(b, "third", 100, 0, 0.01);
    add_term(b, &gauss, &p[0]);
    add_term(b, &gauss, &p[1]);
}

static void the_chain_does_not_depend_on_threads_or_calls(void **state)
{
    (void)state;
    parameters p[2];
    bench b;
    noise_begin(&b, p, 5);
    double *start = rows(&b, 8, 0.7), *x = bench_positions(&b), *y = bench_positions(&b);
    test_mover mover = serial_new(&b, 0, "step=0.5");
    mover_load(&b, &mover, start);
    mover_sweep(&b, &mover, 0, 20);
    mover_store(&b, &mover, x);
    for (int w = 1; w < 5; w++) assert_memory_not_equal(x, x + 900 * w, 900 * sizeof(double));
    plugmc_counts counts = count(&b, &mover);
    printf("%.3f accepted by noise\n", (double)counts.accepted / (double)counts.trials);
    assert_true(counts.accepted > 0.05 * counts.trials && counts.accepted < 0.95 * counts.trials);
    b.system.threads = 3;
    mover = serial_new(&b, 0, "step=0.5");
    mover_load(&b, &mover, start);
    mover_sweep(&b, &mover, 0, 1);
    mover_sweep(&b, &mover, 1, 12);
    mover_sweep(&b, &mover, 13, 7);
    mover_store(&b, &mover, y);
    assert_memory_equal(x, y, 5 * 900 * sizeof(double));
    free(start), free(x), free(y);
    bench_end(&b);
}

static void a_resumed_chain_is_the_one_never_stopped(void **state)
{
    (void)state;
    parameters p[2];
    bench b;
    noise_begin(&b, p, 2);
    double *x = rows(&b, 8, 0.7), *y = bench_positions(&b);
    test_mover mover = serial_new(&b, 0, "step=0.1"), other = serial_new(&b, 0, "step=0.1");
    test_archive archive;
    mover_load(&b, &mover, x);
    mover_set_step(&b, &mover, 0.55);
    for (uint64_t stop = 3; stop < 30; stop += 9) {
        mover_sweep(&b, &mover, stop - 3, 3);
        mover_store(&b, &mover, x);
        mover_save(&b, &mover, &archive);
        mover_load(&b, &other, x);
        mover_restore(&b, &other, &archive);
        mover_sweep(&b, &mover, stop, 6);
        mover_sweep(&b, &other, stop, 6);
        mover_store(&b, &mover, x);
        mover_store(&b, &other, y);
        assert_memory_equal(x, y, 2 * 900 * sizeof(double));
        assert_true(other.steps[0] == 0.55);
        archive_end(&archive);
    }
    free(x), free(y);
    bench_end(&b);
}

/* The same energy as a pair term of finite range, of no range, as a total, and as one that gives energies of whole
 * configurations alone: the same chain, as long as no decision depends on the last bit. */
static void pairs_near_and_far_and_totals_give_one_chain(void **state)
{
    (void)state;
    double result[4][64 * 3];
    for (int way = 0; way < 4; way++) {
        parameters p = {2.1, 0.5, 1.2, way == 1, 0};
        whole w = {.p = p};
        bench b;
        bench_begin(&b, 3, (double[]){4, 3.7, 5}, 1, 5);
        bench_species(&b, "soft", 64, 0.4, 0);
        bench_potential(&b, "hard_disk", "");
        w.system = &b.system;
        if (way >= 2)
            add_term(&b, way == 2 ? &whole_plugin : &energy_plugin, &w);
        else
            add_term(&b, &gauss, &p);
        test_mover mover = serial_new(&b, 0, "step=0.4");
        double *x = rows(&b, 4, 0.9);
        mover_load(&b, &mover, x);
        mover_sweep(&b, &mover, 0, 300);
        mover_store(&b, &mover, result[way]);
        assert_int_equal(w.mistakes, 0);
        if (way == 2) assert_memory_equal(w.x, result[way], sizeof w.x);
        plugmc_counts counts = count(&b, &mover);
        assert_true(counts.accepted > 0.1 * counts.trials && counts.accepted < 0.9 * counts.trials);
        free(x);
        bench_end(&b);
    }
    assert_memory_equal(result[0], result[1], sizeof result[0]);
    assert_memory_equal(result[0], result[2], sizeof result[0]);
    assert_memory_equal(result[0], result[3], sizeof result[0]);
}

static void cells_serve_the_sphere_too(void **state)
{
    (void)state;
    double result[2][80 * 3];
    for (int way = 0; way < 2; way++) {
        parameters p = {2.1, 0.5, 1.2, way, 0};
        bench b;
        bench_begin(&b, 3, (double[]){6, 6, 6}, 1, 6);
        b.system.box.domain = PLUGMC_DOMAIN_SPHERE;
        b.system.box.radius = 3;
        bench_species(&b, "soft", 80, 0, 0);
        add_term(&b, &gauss, &p);
        test_mover mover = serial_new(&b, 1, "step=0.7");
        double *x = bench_positions(&b);
        for (int i = 0; i < 80; i++) x[3 * i + i % 3] = 0.03 * i;
        mover_load(&b, &mover, x);
        mover_sweep(&b, &mover, 0, 200);
        mover_store(&b, &mover, result[way]);
        free(x);
        bench_end(&b);
    }
    assert_memory_equal(result[0], result[1], sizeof result[0]);
}

/* ---- What it refuses ------------------------------------------------------------------------- */

static void an_energy_that_is_no_number_ends_the_run(void **state)
{
    (void)state;
    parameters p = {NAN, 1, 1, 0, 0};
    bench b;
    bench_begin(&b, 2, (double[]){3, 4, 5}, 2, 1);
    bench_species(&b, "soft", 20, 0, 0);
    add_term(&b, &gauss, &p);
    test_mover mover = serial_new(&b, 1, "step=1");
    double *x = rows(&b, 5, 0.5);
    mover_load(&b, &mover, x);
    assert_int_equal(mover_sweeps(&mover, &b.host, 7, 2), PLUGMC_ERROR_STATE);
    assert_string_equal(b.message, "not a number: walker 0, particle 0, sweep 7");
    free(x);
    bench_end(&b);
}

static void the_step_stays_within_the_box(void **state)
{
    (void)state;
    bench b;
    bench_begin(&b, 2, (double[]){3, 4, 5}, 1, 1);
    bench_species(&b, "point", 2, 0, 0);
    test_mover mover = serial_new(&b, 1, "step=1");
    mover_set_step(&b, &mover, 100);
    assert_true(mover.steps[0] == 2);
    assert_true(parameter_real(mover.plugin, mover.instance, "target_acceptance") == 0);
    bench_end(&b);
}

TEST_MAIN(cmocka_unit_test(three_hard_disks_have_the_exact_distances),
          cmocka_unit_test(two_soft_particles_have_the_exact_distances),
          cmocka_unit_test(a_field_gives_the_barometric_law),
          cmocka_unit_test(an_ideal_gas_fills_the_sphere),
          cmocka_unit_test(every_move_of_an_ideal_gas_is_accepted),
          cmocka_unit_test(hard_disks_follow_the_documented_chain),
          cmocka_unit_test(the_chain_does_not_depend_on_threads_or_calls),
          cmocka_unit_test(a_resumed_chain_is_the_one_never_stopped),
          cmocka_unit_test(pairs_near_and_far_and_totals_give_one_chain),
          cmocka_unit_test(cells_serve_the_sphere_too),
          cmocka_unit_test(an_energy_that_is_no_number_ends_the_run),
          cmocka_unit_test(the_step_stays_within_the_box))
