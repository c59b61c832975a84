/* Sums over whole configurations in walkers whose boxes have changed: against the same sums prepared
 * in a box that stays, their own derivatives, and what single moves make of them. */
#include "boxes.h"
#include "testing.h"

#include "movers.h"
#include "forces.h"

#include "gpu/gpu.h"
#include "gpu/nvrtc.h"

enum { IONS = 12, WALKERS = 4, NUMBERS = 3 * IONS };

/* A sum and how it is set up; a grid makes it particle-mesh Ewald. */
typedef struct kind {
    const char *name, *settings, *grid;
    double box[3][3];
} kind;

#define BRICK                                                                                      \
    {                                                                                              \
        {3, 0, 0}, {0, 3.5, 0}, { 0, 0, 4 }                                                        \
    }
static const kind kinds[] = {
    {"coulomb_ewald", "bjerrum_length=0.7 alpha=3 cutoff=1.2 k_max=7", NULL, BRICK},
    {"coulomb_ewald",
     "bjerrum_length=0.7 alpha=3 cutoff=1.2 tolerance=1e-3 growth=1",
     NULL,
     {{3, 0, 0}, {1, 3.2, 0}, {-0.8, 0.7, 3.6}}},
    {"coulomb_spme", "bjerrum_length=0.7 alpha=3 cutoff=1.2 order=6 tolerance=0.1", "20,24,24",
     BRICK},
    {"coulomb_spme",
     "bjerrum_length=0.7 alpha=3 cutoff=1.2 order=5 tolerance=0.1 influence=optimal", "21,24,27",
     BRICK},
    {"coulomb_spme", "bjerrum_length=0.7 alpha=3 cutoff=1.2 order=4 tolerance=0.1", "30,32,40",
     BRICK},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct sum {
    bench bench;
    const plugmc_plugin *plugin;
    const plugmc_total *total;
    void *instance;
} sum;

/* ---- Sums ------------------------------------------------------------------------------------ */

/* Up to what comes before `configure`: ions with a net charge of 2, so that there is a background. */
static void sum_begin(sum *s, const kind *k, const plugmc_box *box, int walkers, uint32_t changes)
{
    bench *b = &s->bench;
    bench_begin(b, 3, (double[3]){1, 1, 1}, walkers, 7);
    if (box)
        b->system.box = *box;
    else
        bench_vectors(b, k->box);
    b->system.changes = changes;
    bench_species(b, "A", 4, 1e-3, 2.5);
    bench_species(b, "B", 8, 1e-3, -1);
    bench_potential(b, "hard_disk", "");
    bench_potential(b, k->name, k->settings);
    const plugmc_term *term = &b->terms[b->system.term_count - 1];
    s->plugin = term->plugin;
    s->total = term->plugin->potential->total;
    s->instance = term->instance;
    if (k->grid) set_list(b, s->plugin, s->instance, "grid", k->grid);
}

static void sum_new(sum *s, const kind *k, const plugmc_box *box, int walkers, uint32_t changes)
{
    sum_begin(s, k, box, walkers, changes);
    bench_expect(&s->bench, s->plugin->configure(s->instance, &s->bench.host));
    bench_expect(&s->bench, s->plugin->prepare(s->instance, &s->bench.host));
}

static void sum_end(sum *s)
{
    if (s->plugin->release) s->plugin->release(s->instance);
    bench_end(&s->bench);
}

/* What is found for some walkers. */
typedef struct found {
    double energy[WALKERS], virial[WALKERS][3], forces[WALKERS][NUMBERS];
} found;

static int try_sum(const sum *s, const plugmc_box *boxes, const double *positions, found *out)
{
    const plugmc_view view = {.size = sizeof view, .positions = positions, .box = boxes};
    const plugmc_total_request request = {.size = sizeof request,
                                          .view = &view,
                                          .energy = out->energy,
                                          .forces = out->forces[0],
                                          .virial = out->virial[0]};
    memset(out, 0, sizeof *out);
    return s->total->energy(s->instance, &request);
}

static found find(sum *s, const plugmc_box *boxes, const double *positions)
{
    found out;
    bench_expect(&s->bench, try_sum(s, boxes, positions, &out));
    return out;
}

/* ---- Boxes and places ------------------------------------------------------------------------ */

static plugmc_box scaled(const plugmc_box *box, double x, double y, double z)
{
    plugmc_box out = *box;
    plugmc_scale_box(&out, (double[3]){x, y, z});
    return out;
}

/* The first box is that of the start; all but one become smaller or as large. */
static void make_boxes(const sum *s, plugmc_box boxes[WALKERS])
{
    const plugmc_box *box = &s->bench.system.box;
    boxes[0] = *box;
    boxes[1] = scaled(box, 0.96, 0.96, 0.96);
    boxes[2] = scaled(box, 0.93, 1.01, 0.97);
    boxes[3] = scaled(box, 1.01, 1.01, 1.01);
}

static double uniform(uint64_t *state)
{
    plugmc_random r =
        plugmc_draw((plugmc_seed){20240607}, ++*state, 0, 0, PLUGMC_PURPOSE_INITIAL, 0);
    return plugmc_uniform_double(r.word[0], r.word[1]);
}

static void random_place(const plugmc_box *box, uint64_t *state, double r[3])
{
    const double f[3] = {uniform(state), uniform(state), uniform(state)};
    for (int d = 0; d < 3; d++)
        r[d] = f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
}

static void random_places(const plugmc_box *boxes, uint64_t seed, double *positions)
{
    for (int i = 0; i < WALKERS * IONS; i++)
        random_place(&boxes[i / IONS], &seed, &positions[3 * i]);
}

/* The same fractional coordinates in another box. */
static void rescale(const plugmc_box *from, const plugmc_box *to, const double *r, double *out)
{
    for (int i = 0; i < IONS; i++) {
        double f[3] = {0};
        for (int a = 0; a < 9; a++) f[a / 3] += r[3 * i + a % 3] * from->inverse[a % 3][a / 3];
        for (int d = 0; d < 3; d++)
            out[3 * i + d] =
                f[0] * to->vector[0][d] + f[1] * to->vector[1][d] + f[2] * to->vector[2][d];
    }
}

/* ---- Walkers --------------------------------------------------------------------------------- */

/* The tuned sum has other waves in another box: they are given by k_max there. So only the sums whose
 * waves are the same are compared. */
static int same_waves(const kind *k) { return k->grid || strstr(k->settings, "k_max"); }

static void assert_same(const found *many, int w, const found *one, int exactly)
{
    double square = 0;
    for (int i = 0; i < NUMBERS; i++) square += one->forces[0][i] * one->forces[0][i];
    const double scale = sqrt(square / IONS), tolerance = exactly ? 0 : 1e-12;
    assert_close(many->energy[w], one->energy[0], tolerance, 0);
    for (int d = 0; d < 3; d++)
        assert_close(many->virial[w][d], one->virial[0][d], 0, tolerance * fabs(one->energy[0]));
    for (int i = 0; i < NUMBERS; i++)
        assert_close(many->forces[w][i], one->forces[0][i], 0, 10 * tolerance * scale);
}

/* And that of the start is the same, bit for bit. */
static void walkers_have_the_sums_of_their_boxes(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        sum s;
        plugmc_box boxes[WALKERS];
        double r[WALKERS * NUMBERS];
        sum_new(&s, &kinds[k], NULL, WALKERS, PLUGMC_CHANGED_BOX);
        assert_true(s.total->follows & PLUGMC_CHANGED_BOX);
        make_boxes(&s, boxes);
        random_places(boxes, 3, r);
        for (int threads = 1; threads < 4; threads++) {
            s.bench.system.threads = threads;
            const found all = find(&s, boxes, r);
            for (int w = 0; w < (same_waves(&kinds[k]) ? WALKERS : 1); w++) {
                sum alone;
                sum_new(&alone, &kinds[k], &boxes[w], 1, 0);
                const found one = find(&alone, &boxes[w], r + w * NUMBERS);
                assert_same(&all, w, &one, w == 0);
                assert_true(w == 0 || fabs(all.energy[w] - all.energy[0]) > 1e-3);
                sum_end(&alone);
            }
        }
        sum_end(&s);
    }
}

/* ---- Derivatives ----------------------------------------------------------------------------- */

/* Of boxes that have changed before, by a prepared sum that follows them; a factor that is left as it
 * was at the start shows here. */
static void the_virial_is_the_change_with_the_box(void **state)
{
    (void)state;
    static const double step[4] = {-2, -1, 1, 2}, share[4] = {1. / 12, -8. / 12, 8. / 12, -1. / 12};
    const double h = 1e-4;
    for (int k = 0; k < KINDS; k++) {
        sum s;
        plugmc_box boxes[WALKERS], others[WALKERS];
        double r[WALKERS * NUMBERS], moved[WALKERS * NUMBERS], slope[WALKERS][3] = {{0}};
        sum_new(&s, &kinds[k], NULL, WALKERS, PLUGMC_CHANGED_BOX);
        make_boxes(&s, boxes);
        random_places(boxes, 5, r);
        const found here = find(&s, boxes, r);
        for (int i = 0; i < 12; i++) {
            double factor[3] = {1, 1, 1};
            factor[i / 4] += h * step[i % 4];
            for (int w = 0; w < WALKERS; w++) {
                others[w] = scaled(&boxes[w], factor[0], factor[1], factor[2]);
                rescale(&boxes[w], &others[w], r + w * NUMBERS, moved + w * NUMBERS);
            }
            const found there = find(&s, others, moved);
            for (int w = 0; w < WALKERS; w++) slope[w][i / 4] += share[i % 4] * there.energy[w] / h;
        }
        /* along lattice vectors, which are the axes in a rectangular box; in all an oblique one, too */
        double worst = 0;
        for (int w = 0; w < WALKERS; w++) {
            const double sum_of[2] = {slope[w][0] + slope[w][1] + slope[w][2],
                                      here.virial[w][0] + here.virial[w][1] + here.virial[w][2]};
            worst = fmax(worst, fabs(sum_of[0] + sum_of[1]) / fabs(here.energy[w]));
            for (int d = 0; d < 3 && !boxes[w].oblique; d++)
                worst = fmax(worst, fabs(slope[w][d] + here.virial[w][d]) / fabs(here.energy[w]));
        }
        printf("%s %d: virials off by %.1e of the energy\n", kinds[k].name, k, worst);
        assert_true(worst < 1e-9);
        sum_end(&s);
    }
}

static void forces_are_the_gradient(void **state)
{
    (void)state;
    static const double step[4] = {-2, -1, 1, 2}, share[4] = {1. / 12, -8. / 12, 8. / 12, -1. / 12};
    const double h = 2e-4;
    for (int k = 0; k < KINDS; k++) {
        sum s;
        plugmc_box boxes[WALKERS];
        double r[WALKERS * NUMBERS], slope[WALKERS] = {0};
        sum_new(&s, &kinds[k], NULL, WALKERS, PLUGMC_CHANGED_BOX);
        make_boxes(&s, boxes);
        random_places(boxes, 9, r);
        const found here = find(&s, boxes, r);
        const int number = 7;
        for (int i = 0; i < 4; i++) {
            double moved[WALKERS * NUMBERS];
            memcpy(moved, r, sizeof r);
            for (int w = 0; w < WALKERS; w++) moved[w * NUMBERS + number] += h * step[i];
            const found there = find(&s, boxes, moved);
            for (int w = 0; w < WALKERS; w++) slope[w] += share[i] * there.energy[w] / h;
        }
        for (int w = 0; w < WALKERS; w++)
            assert_close(here.forces[w][number], -slope[w], 1e-8, 1e-8);
        sum_end(&s);
    }
}

/* ---- Single moves ---------------------------------------------------------------------------- */

/* Tries moves of all walkers, of which every other one is taken; r follows. */
static void try_moves(sum *s, const plugmc_box *boxes, uint64_t *state, double *r)
{
    for (int m = 0; m < 40; m++) {
        const int w = m % WALKERS, i = (int)(IONS * uniform(state)), taken = m / WALKERS % 2;
        double to[3], change = 0, moved[WALKERS * NUMBERS];
        random_place(&boxes[w], state, to);
        memcpy(moved, r, sizeof moved);
        memcpy(&moved[w * NUMBERS + 3 * i], to, sizeof to);
        const double before = find(s, boxes, r).energy[w], after = find(s, boxes, moved).energy[w];
        bench_expect(&s->bench, s->total->change(s->instance, w, i, to, &change));
        assert_close(change, after - before, 1e-10, 1e-10 * fabs(before));
        bench_expect(&s->bench, s->total->settle(s->instance, w, taken));
        if (taken) memcpy(r, moved, sizeof moved);
    }
    assert_int_not_equal(s->total->settle(s->instance, 0, 1), PLUGMC_OK); /* nothing has moved */
}

static void moves_go_on_in_a_new_box(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        sum s;
        uint64_t sequence = 11;
        plugmc_box boxes[WALKERS], others[WALKERS];
        double r[WALKERS * NUMBERS], moved[WALKERS * NUMBERS];
        sum_new(&s, &kinds[k], NULL, WALKERS, PLUGMC_CHANGED_BOX);
        make_boxes(&s, boxes);
        random_places(boxes, 13, r);
        const plugmc_view view = {.size = sizeof view, .positions = r, .box = boxes};
        bench_expect(&s.bench, s.total->start(s.instance, &view));
        try_moves(&s, boxes, &sequence, r);
        for (int w = 0; w < WALKERS; w++) { /* the first one's is new, the second's old again */
            others[w] = boxes[(w + WALKERS - 1) % WALKERS];
            rescale(&boxes[w], &others[w], r + w * NUMBERS, moved + w * NUMBERS);
        }
        const plugmc_view next = {.size = sizeof next, .positions = moved, .box = others};
        bench_expect(&s.bench, s.total->start(s.instance, &next));
        try_moves(&s, others, &sequence, moved);
        sum_end(&s);
    }
}

/* Every walker has the same bits, those of trial moves too, whether a thread has walkers to itself, as up to four
 * threads have of four walkers, or all threads look at one. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        sum s;
        plugmc_box boxes[WALKERS];
        double r[WALKERS * NUMBERS], first[WALKERS], place[3] = {0.3, 0.2, 0.1};
        found by_one;
        if (kinds[k].grid) continue;
        sum_new(&s, &kinds[k], NULL, WALKERS, PLUGMC_CHANGED_BOX);
        make_boxes(&s, boxes);
        random_places(boxes, 19, r);
        const plugmc_view view = {.size = sizeof view, .positions = r, .box = boxes};
        for (int threads = 1; threads < 7; threads++) {
            s.bench.system.threads = threads;
            const found all = find(&s, boxes, r);
            if (threads == 1) by_one = all;
            assert_memory_equal(&all, &by_one, sizeof all);
            bench_expect(&s.bench, s.total->start(s.instance, &view));
            for (int w = 0; w < WALKERS; w++) {
                double change = 0;
                bench_expect(&s.bench, s.total->change(s.instance, w, 5, place, &change));
                bench_expect(&s.bench, s.total->settle(s.instance, w, 0));
                if (threads == 1) first[w] = change;
                assert_memory_equal(&change, &first[w], sizeof change);
                assert_true(fabs(change) > 1e-6);
            }
        }
        sum_end(&s);
    }
}

/* ---- Accuracy -------------------------------------------------------------------------------- */

/* The largest box that is taken, in units of the start's edges. */
static double largest_taken(const sum *s, const double *r)
{
    double low = 1, high = 3;
    for (int i = 0; i < 30; i++) {
        const double middle = (low + high) / 2;
        const plugmc_box *start = &s->bench.system.box;
        const plugmc_box box = scaled(start, middle, middle, middle);
        double moved[NUMBERS];
        found out;
        rescale(start, &box, r, moved);
        *(try_sum(s, &box, moved, &out) ? &high : &low) = middle;
    }
    return low;
}

/* By the waves: pairs stay as they are. */
static double wave_error(sum *s, const kind *exact, double scale, const double *r)
{
    const plugmc_box box = scaled(&s->bench.system.box, scale, scale, scale);
    double moved[NUMBERS], square = 0;
    rescale(&s->bench.system.box, &box, r, moved);
    const found here = find(s, &box, moved);
    sum other;
    sum_new(&other, exact, &box, 1, 0);
    const found there = find(&other, &box, moved);
    for (int i = 0; i < NUMBERS; i++) square += pow(here.forces[0][i] - there.forces[0][i], 2);
    sum_end(&other);
    return sqrt(square / IONS);
}

/* Errors by the waves, which are left out where the box is larger, over those at the start. */
static void a_box_that_is_too_large_ends_the_run(void **state)
{
    (void)state;
    static const struct {
        kind follows, exact;
        const char *says;
    } cases[] = {
        {{"coulomb_ewald", "bjerrum_length=1 cutoff=1.4 tolerance=1e-3 growth=1", NULL, BRICK},
         {"coulomb_ewald", "bjerrum_length=1 cutoff=1.4 alpha=1.7806 k_max=16", NULL, BRICK},
         "set growth = 2.05 or more"},
        {{"coulomb_ewald", "bjerrum_length=1 cutoff=1.4 alpha=1.7806 tolerance=1e-3 k_cutoff=9",
          NULL, BRICK},
         {"coulomb_ewald", "bjerrum_length=1 cutoff=1.4 alpha=1.7806 k_max=16", NULL, BRICK},
         "set k_max = "},
        {{"coulomb_spme", "bjerrum_length=1 cutoff=1.4 tolerance=1e-3 alpha=2", NULL, BRICK},
         {"coulomb_spme", "bjerrum_length=1 cutoff=1.4 tolerance=1e-3 alpha=2 order=8", "64,64,64",
          BRICK},
         "set a finer grid"}};
    for (int c = 0; c < PLUGMC_COUNT(cases); c++) {
        sum s;
        double r[WALKERS * NUMBERS];
        sum_new(&s, &cases[c].follows, NULL, 1, PLUGMC_CHANGED_BOX);
        const plugmc_box boxes[WALKERS] = {s.bench.system.box, s.bench.system.box,
                                           s.bench.system.box, s.bench.system.box};
        random_places(boxes, 17, r);
        const double limit = largest_taken(&s, r);
        const double grown =
            wave_error(&s, &cases[c].exact, limit, r) / wave_error(&s, &cases[c].exact, 1, r);
        printf("%s: boxes up to %.3f times as long, errors %.2f times as large\n",
               cases[c].follows.name, limit, grown);
        assert_true(limit > 1.005 && limit < 1.5);
        assert_true(grown > 0.7 && grown < 4);
        const plugmc_box large = scaled(&s.bench.system.box, 1, 1, 2);
        const plugmc_view view = {.size = sizeof view, .positions = r, .box = &large};
        found out;
        assert_int_equal(try_sum(&s, &large, r, &out), PLUGMC_ERROR_INPUT);
        if (!strstr(s.bench.message, cases[c].says)) fail_msg("%s", s.bench.message);
        assert_non_null(strstr(s.bench.message, "box of walker 0"));
        printf("%s\n", s.bench.message);
        double change = 0; /* a mesh looks at it when it is asked for energies */
        int code = s.total->start(s.instance, &view);
        if (!code) code = s.total->change(s.instance, 0, 1, (double[3]){1, 1, 1}, &change);
        assert_int_equal(code, PLUGMC_ERROR_INPUT);
        sum_end(&s);
    }
}

/* With `growth` the error in a box that is so many times as long is what it is at the start without it, and boxes are taken up to
 * there and not much further. */
static void waves_suffice_for_boxes_that_grow(void **state)
{
    (void)state;
    const kind exact = {"coulomb_ewald", "bjerrum_length=1 cutoff=1.4 alpha=1.7806 k_max=40", NULL,
                        BRICK};
    double r[WALKERS * NUMBERS], least = 0;
    for (int c = 0; c < 3; c++) {
        const double growths[] = {1, 1.3, 2};
        char settings[128];
        const kind grows = {"coulomb_ewald", settings, NULL, BRICK};
        snprintf(settings, sizeof settings, "bjerrum_length=1 cutoff=1.4 tolerance=1e-3 growth=%g",
                 growths[c]);
        sum s;
        sum_new(&s, &grows, NULL, 1, PLUGMC_CHANGED_BOX);
        const plugmc_box boxes[WALKERS] = {s.bench.system.box, s.bench.system.box,
                                           s.bench.system.box, s.bench.system.box};
        random_places(boxes, 17, r);
        const double limit = largest_taken(&s, r), error = wave_error(&s, &exact, growths[c], r),
                     start = wave_error(&s, &exact, 1, r);
        printf("growth %g: boxes up to %.3f times as long; errors there %.2e, at the start %.2e\n",
               growths[c], limit, error, start);
        assert_true(limit > growths[c] && limit < 1.25 * growths[c]);
        if (c == 0) least = start;
        if (c > 0) assert_true(error < 1.5 * least && start < 0.5 * least);
        sum_end(&s);
    }
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static void kernels_for_boxes_of_walkers_compile(void **state)
{
    (void)state;
    static const int architectures[] = {75, 90, 120};
    char why[512];
    nvrtc *compiler = nvrtc_open(why);
    if (!compiler) {
        printf("skipped: %s\n", why);
        skip();
    }
    for (int i = 0; i < 3; i++) {
        kind k = kinds[2];
        char settings[256];
        sum s;
        report said = {0};
        snprintf(settings, sizeof settings, "%s precision=%s spreading=%s", k.settings,
                 i ? "double" : "single", i == 2 ? "gather" : "sorted");
        k.settings = settings;
        sum_begin(&s, &k, NULL, 2, PLUGMC_CHANGED_BOX);
        bench_expect(&s.bench, s.plugin->configure(s.instance, &s.bench.host));
        plugmc_gpu_source text = {.size = sizeof text};
        assert_true(s.plugin->gpu_source(s.instance, &s.bench.host, 0, &text));
        for (int a = 0; a < 3; a++) {
            void *image = NULL;
            size_t bytes = 0;
            char *fused = fuse(&s.bench.system, &text);
            assert_int_equal(compile(compiler, fused, text.name, architectures[a],
                                     arithmetic_of(&text, false), &image, &bytes, &said),
                             0);
            if (!memmem(image, bytes, "fill_tables", 11)) fail_msg("no tables for boxes");
            free(image);
            free(fused);
        }
        sum_end(&s);
    }
    nvrtc_close(compiler);
}

TEST_MAIN(cmocka_unit_test(walkers_have_the_sums_of_their_boxes),
          cmocka_unit_test(the_virial_is_the_change_with_the_box),
          cmocka_unit_test(forces_are_the_gradient), cmocka_unit_test(moves_go_on_in_a_new_box),
          cmocka_unit_test(threads_do_not_matter),
          cmocka_unit_test(a_box_that_is_too_large_ends_the_run),
          cmocka_unit_test(waves_suffice_for_boxes_that_grow),
          cmocka_unit_test(kernels_for_boxes_of_walkers_compile))
