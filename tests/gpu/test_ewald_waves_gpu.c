/* The waves of coulomb_ewald on a GPU against the CPU: energies, forces and virials in double precision, in walkers with boxes and
 * numbers of their own; bits from run to run, in graphs and for any number of walkers. Skipped without a GPU. */
#include "testing.h"

#include "place.h"

enum { WALKERS = 3, MANY = 1000, ROOM = 700, SPECIES = 3 };

#define SETTINGS "bjerrum_length=2 cutoff=4 tolerance=1e-5"

/* Of a system in an oblique box: positions of all walkers, and what they are asked with. */
typedef struct charges {
    bench b;
    const plugmc_total *total;
    void *instance;
    double positions[3 * MANY * ROOM];
    plugmc_box boxes[MANY];
    int64_t counts[MANY * SPECIES];
} charges;

/* What a call adds to nothing. */
typedef struct found {
    double energy[MANY], virial[3 * MANY], forces[3 * MANY * ROOM];
} found;

static void place_charges(charges *c)
{
    uint64_t number = 0;
    for (int64_t k = 0; k < 3 * WALKERS * ROOM; k += 3) {
        const plugmc_random r = plugmc_draw((plugmc_seed){17}, ++number, 0, 0, 0, 0);
        for (int d = 0; d < 3; d++) {
            double f[3];
            for (int e = 0; e < 3; e++) f[e] = ldexp(r.word[e], -32);
            c->positions[k + d] = 0;
            for (int e = 0; e < 3; e++) c->positions[k + d] += f[e] * c->b.system.box.vector[e][d];
        }
    }
}

static void begin(charges *c, int walkers, uint32_t changes)
{
    bench *b = &c->b;
    bench_begin(b, 3, (double[3]){1, 1, 1}, walkers, 3);
    bench_vectors(b, (double[3][3]){{9, 0, 0}, {1, 10, 0}, {-0.5, 1.5, 11}});
    bench_species(b, "a", 400, 0, 1);
    bench_species(b, "b", 200, 0, -2.5); /* the box is charged */
    bench_species(b, "c", 100, 0, 0);
    b->system.changes = changes;
    bench_potential(b, "coulomb_ewald", SETTINGS);
    onto_core(b, 1);
    b->terms[0].sampled = 0; /* nothing has to keep charges apart */
    const plugmc_term *term = &b->terms[0];
    c->total = term->plugin->potential->total;
    c->instance = term->instance;
    assert_int_equal(term->plugin->configure(term->instance, &b->host), PLUGMC_OK);
    assert_int_equal(term->plugin->prepare(term->instance, &b->host), PLUGMC_OK);
    place_charges(c);
    for (int w = 0; w < walkers; w++) {
        c->boxes[w] = b->system.box;
        for (int s = 0; s < SPECIES; s++)
            c->counts[w * SPECIES + s] = b->first[s + 1] - b->first[s];
    }
}

/* Walker w gets a box of other edges, to which its positions are stretched, and loses some of each species. */
static void change_walkers(charges *c, const double factor[WALKERS][3], const int64_t *fewer)
{
    const bench *b = &c->b;
    for (int w = 0; w < b->system.walkers; w++) {
        double *r = c->positions + 3 * w * ROOM;
        plugmc_scale_box(&c->boxes[w], factor[w]);
        for (int k = 0; k < 3 * ROOM; k++) r[k] *= factor[w][k % 3];
        for (int s = 0; s < SPECIES; s++) {
            int64_t *count = &c->counts[w * SPECIES + s];
            *count -= w * fewer[s];
            for (int64_t i = b->first[s] + *count; i < b->first[s + 1]; i++)
                for (int d = 0; d < 3; d++) r[3 * i + d] = NAN;
        }
    }
}

static void on_host(charges *c, found *out)
{
    plugmc_view view = {
        .size = sizeof view, .positions = c->positions, .box = c->boxes, .count = c->counts};
    memset(out, 0, sizeof *out);
    const plugmc_total_request request = {sizeof request, &view, out->energy, out->forces,
                                          out->virial};
    assert_int_equal(c->total->energy(c->instance, &request), PLUGMC_OK);
}

static plugmc_device_pointer to_device(charges *c, const void *from, size_t bytes)
{
    const plugmc_gpu *gpu = c->b.host.gpu;
    plugmc_device_pointer at = 0;
    assert_int_equal(gpu->allocate(c->b.host.context, bytes, &at), PLUGMC_OK);
    assert_int_equal(gpu->upload(c->b.host.context, at, from, bytes), PLUGMC_OK);
    return at;
}

static void *address(plugmc_device_pointer at) { return (void *)(uintptr_t)at; }

/* `replays`: how often the launches, recorded in a graph, are made; 0: launched once, as they come. */
static void on_device(charges *c, int replays, found *out)
{
    const plugmc_gpu *gpu = c->b.host.gpu;
    plugmc_context *context = c->b.host.context;
    memset(out, 0, sizeof *out);
    const plugmc_device_pointer places = to_device(c, c->positions, sizeof c->positions),
                                boxes = to_device(c, c->boxes, sizeof c->boxes),
                                sums = to_device(c, out, sizeof *out);
    found *there = address(sums);
    plugmc_view view = {.size = sizeof view,
                        .on_device = 1,
                        .positions = address(places),
                        .box = c->boxes,
                        .device_box = address(boxes),
                        .count = c->counts};
    const plugmc_total_request request = {sizeof request, &view, there->energy, there->forces,
                                          there->virial};
    plugmc_graph *graph = NULL;
    if (replays) assert_int_equal(gpu->graph_begin(context), PLUGMC_OK);
    assert_int_equal(c->total->energy(c->instance, &request), PLUGMC_OK);
    if (replays) assert_int_equal(gpu->graph_end(context, &graph), PLUGMC_OK);
    for (int k = 0; k < replays; k++)
        assert_int_equal(gpu->graph_launch(context, graph), PLUGMC_OK);
    assert_int_equal(gpu->download(context, out, sums, sizeof *out), PLUGMC_OK);
    for (int k = 0; k < 3; k++)
        gpu->release(context, (plugmc_device_pointer[]){places, boxes, sums}[k]);
}

static void end(charges *c)
{
    context_release(&c->b.context);
    bench_end(&c->b);
}

static double largest(const double *a, const double *b, int64_t n)
{
    double most = 0;
    for (int64_t k = 0; k < n; k++) most = fmax(most, fabs(a[k] - (b ? b[k] : 0)));
    return most;
}

static found host, device_found, again;

static void compare(const char *name, charges *c)
{
    on_host(c, &host);
    on_device(c, 0, &device_found);
    on_device(c, 0, &again);
    const int64_t n = 3 * (int64_t)c->b.system.walkers * ROOM;
    const double size = largest(host.forces, NULL, n),
                 forces = largest(host.forces, device_found.forces, n) / size,
                 energy = largest(host.energy, device_found.energy, WALKERS) /
                          largest(host.energy, NULL, WALKERS),
                 virial = largest(host.virial, device_found.virial, 3 * WALKERS) /
                          largest(host.virial, NULL, 3 * WALKERS);
    printf("%s: forces of up to %.3g differ by %.1e of that, energy %.1e, virial %.1e\n", name,
           size, forces, energy, virial);
    assert_true(size > 1 && forces < 1e-12 && energy < 1e-12 && virial < 1e-12);
    assert_memory_equal(&again, &device_found, sizeof again);
}

static const double same[WALKERS][3] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
                    others[WALKERS][3] = {{1, 1, 1}, {1.04, 1.04, 1.04}, {0.95, 1.02, 0.9}};

static void waves_agree_with_the_cpu(void **state)
{
    static charges c;
    (void)state;
    begin(&c, WALKERS, 0);
    compare("boxes and numbers of the start", &c);
    end(&c);
}

static void waves_follow_boxes(void **state)
{
    static charges c;
    (void)state;
    begin(&c, WALKERS, PLUGMC_CHANGED_BOX);
    change_walkers(&c, others, (int64_t[SPECIES]){0, 0, 0});
    compare("other boxes", &c);
    end(&c);
}

static void waves_follow_numbers(void **state)
{
    static charges c;
    (void)state;
    begin(&c, WALKERS, PLUGMC_CHANGED_COUNT);
    change_walkers(&c, same, (int64_t[SPECIES]){30, 40, 50});
    compare("other numbers", &c);
    end(&c);
    begin(&c, WALKERS, PLUGMC_CHANGED_COUNT | PLUGMC_CHANGED_BOX);
    change_walkers(&c, others, (int64_t[SPECIES]){30, 40, 50});
    compare("other boxes and numbers", &c);
    end(&c);
}

/* The first walker of several is the only one of a run with one. */
static void results_do_not_depend_on_the_number_of_walkers(void **state)
{
    static charges c;
    (void)state;
    begin(&c, WALKERS, 0);
    on_device(&c, 0, &again);
    end(&c);
    begin(&c, 1, 0);
    on_device(&c, 0, &device_found);
    end(&c);
    assert_memory_equal(again.energy, device_found.energy, sizeof(double));
    assert_memory_equal(again.virial, device_found.virial, 3 * sizeof(double));
    assert_memory_equal(again.forces, device_found.forces, 3 * ROOM * sizeof(double));
}

/* More walkers than are found at a time, all alike. */
static void many_walkers_are_found_in_turn(void **state)
{
    static charges c;
    (void)state;
    begin(&c, MANY, 0);
    for (int w = 1; w < MANY; w++)
        memcpy(c.positions + 3 * w * ROOM, c.positions, 3 * ROOM * sizeof(double));
    on_device(&c, 0, &again);
    assert_true(fabs(again.energy[0]) > 1);
    for (int w = 1; w < MANY; w++) {
        assert_true(again.energy[w] == again.energy[0]);
        assert_memory_equal(again.virial + 3 * w, again.virial, 3 * sizeof(double));
        assert_memory_equal(again.forces + 3 * w * ROOM, again.forces, 3 * ROOM * sizeof(double));
    }
    end(&c);
}

static void a_recorded_evaluation_is_the_same_each_time(void **state)
{
    static charges c;
    (void)state;
    begin(&c, WALKERS, 0);
    assert_true(c.total->recordable(c.instance));
    on_device(&c, 0, &device_found); /* which prepares it */
    on_device(&c, 2, &again);
    for (int w = 0; w < WALKERS; w++)
        assert_true(again.energy[w] == device_found.energy[w] + device_found.energy[w]);
    for (int k = 0; k < 3 * WALKERS * ROOM; k++)
        assert_true(again.forces[k] == device_found.forces[k] + device_found.forces[k]);
    end(&c);
    begin(&c, WALKERS, PLUGMC_CHANGED_BOX);
    assert_false(c.total->recordable(c.instance));
    end(&c);
}

GPU_TEST_MAIN(cmocka_unit_test(waves_agree_with_the_cpu), cmocka_unit_test(waves_follow_boxes),
              cmocka_unit_test(waves_follow_numbers),
              cmocka_unit_test(results_do_not_depend_on_the_number_of_walkers),
              cmocka_unit_test(many_walkers_are_found_in_turn),
              cmocka_unit_test(a_recorded_evaluation_is_the_same_each_time))
