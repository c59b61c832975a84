/* An Ewald sum of ions that come and go, one by one and in groups. */
#include "boxes.h"
#include "testing.h"

#include "movers.h"
#include "forces.h"

typedef struct sum {
    const plugmc_plugin *plugin;
    const plugmc_total *total;
    void *instance;
} sum;

/* A box that is no cube, with room for so many of each species, or with so many. */
static sum ions(bench *b, int64_t cations, int64_t anions, uint32_t changes)
{
    const char *settings = "bjerrum_length=0.7 cutoff=1.2 alpha=3 k_max=9";
    bench_begin(b, 3, (double[3]){1, 1, 1}, 1, 7);
    bench_vectors(b, (double[3][3]){{2.5, 0, 0}, {0, 2.7, 0}, {0, 0, 3.1}});
    bench_species(b, "A", cations, 1e-3, 2);
    bench_species(b, "B", anions, 1e-3, -1);
    b->system.changes |= changes;
    bench_potential(b, "hard_disk", "");
    bench_potential(b, "coulomb_ewald", settings);
    const plugmc_term *term = &b->terms[b->system.term_count - 1];
    bench_expect(b, term->plugin->configure(term->instance, &b->host));
    bench_expect(b, term->plugin->prepare(term->instance, &b->host));
    return (sum){term->plugin, term->plugin->potential->total, term->instance};
}

static double uniform_of(uint64_t *state)
{
    plugmc_random r =
        plugmc_draw((plugmc_seed){20261123}, ++*state, 0, 0, PLUGMC_PURPOSE_INITIAL, 0);
    return plugmc_uniform_double(r.word[0], r.word[1]);
}

enum { CATIONS = 6, ANIONS = 12, ROOM = CATIONS + ANIONS };

static double energy_of(const bench *b, const sum *s, const double *places, const int64_t *count)
{
    double energy = 0;
    plugmc_view view = {
        .size = sizeof view, .positions = places, .box = boxes_of(&b->system), .count = count};
    plugmc_total_request request = {sizeof request, &view, &energy, NULL, NULL};
    assert_int_equal(s->total->energy(s->instance, &request), PLUGMC_OK);
    return energy;
}

/* Of a system that has just these ions. */
static double energy_of_those(const double *places, const int64_t *count)
{
    bench b;
    double packed[3 * ROOM];
    const sum s = ions(&b, count[0], count[1], 0);
    memcpy(packed, places, sizeof *packed * 3 * (size_t)count[0]);
    memcpy(packed + 3 * count[0], places + 3 * CATIONS, sizeof *packed * 3 * (size_t)count[1]);
    const double energy = energy_of(&b, &s, packed, count);
    bench_end(&b);
    return energy;
}

static void somewhere(const bench *b, uint64_t *sequence, double place[3])
{
    for (int d = 0; d < 3; d++) place[d] = b->system.box.length[d] * uniform_of(sequence);
}

/* By the rules of plugmc_insert_remove. */
static void turn_over(double *places, int64_t *count, const plugmc_insert_remove *x)
{
    static const int64_t first[2] = {0, CATIONS};
    for (int32_t k = 0; k < x->removed; k++) {
        const int a = x->particle[k] >= CATIONS;
        const int64_t last = first[a] + --count[a];
        memmove(places + 3 * x->particle[k], places + 3 * last, 3 * sizeof *places);
        places[3 * last] = places[3 * last + 1] = places[3 * last + 2] = NAN;
    }
    for (int32_t k = 0; k < x->inserted; k++)
        memcpy(places + 3 * (first[x->species[k]] + count[x->species[k]]++), x->position[k],
               3 * sizeof *places);
}

/* One comes, one leaves, one becomes another, two anions and a cation come or leave. */
static plugmc_insert_remove draw(const bench *b, uint64_t *sequence, const double *places,
                                 const int64_t *count, int32_t *species, double (*position)[3],
                                 int32_t *particle)
{
    const int kind = (int)(5 * uniform_of(sequence)), a = uniform_of(sequence) < 0.5;
    plugmc_insert_remove x = {.size = sizeof x,
                              .species = species,
                              .position = (const double(*)[3])position,
                              .particle = particle};
    const int64_t first = a ? CATIONS : 0, room = a ? ANIONS : CATIONS;
    species[0] = kind == 2 ? !a : a, species[1] = species[2] = 1;
    if (kind == 3) species[0] = 0;
    for (int k = 0; k < 3; k++) somewhere(b, sequence, position[k]);
    particle[0] = (int32_t)(first + (int64_t)((double)count[a] * uniform_of(sequence)));
    if (kind == 0 && count[a] < room) x.inserted = 1;
    if (kind == 1 && count[a] > 0) x.removed = 1;
    if (kind == 2 && count[a] > 0 && count[!a] < (a ? CATIONS : ANIONS)) {
        x.removed = x.inserted = 1;
        memcpy(position[0], places + 3 * particle[0], sizeof position[0]);
    }
    if (kind == 3 && count[0] < CATIONS && count[1] + 2 <= ANIONS) x.inserted = 3;
    if (kind == 4 && count[0] > 0 && count[1] >= 2) {
        x.removed = 3;
        particle[0] = (int32_t)((double)count[0] * uniform_of(sequence));
        particle[2] = (int32_t)(CATIONS + (int64_t)((double)(count[1] - 1) * uniform_of(sequence)));
        particle[1] =
            particle[2] + 1 +
            (int32_t)((double)(CATIONS + count[1] - 1 - particle[2]) * uniform_of(sequence));
    }
    return x;
}

/* With single moves between them. */
static void kept_energy_of_ions_that_come_and_go(void **state)
{
    (void)state;
    enum { TRIALS = 20000 };
    bench b;
    const sum s = ions(&b, CATIONS, ANIONS, PLUGMC_CHANGED_COUNT);
    uint64_t sequence = 5;
    int64_t count[2] = {3, 6}, taken = 0;
    int32_t species[3], particle[3];
    double places[3 * ROOM], position[3][3], kept;
    for (int i = 0; i < 3 * ROOM; i++) places[i] = NAN;
    for (int i = 0; i < 3; i++) somewhere(&b, &sequence, places + 3 * i);
    for (int i = 0; i < 6; i++) somewhere(&b, &sequence, places + 3 * (CATIONS + i));
    plugmc_view view = {
        .size = sizeof view, .positions = places, .box = boxes_of(&b.system), .count = count};
    assert_int_equal(s.total->start(s.instance, &view), PLUGMC_OK);
    kept = energy_of(&b, &s, places, count);
    for (int t = 0; t < TRIALS; t++) {
        const plugmc_insert_remove x =
            draw(&b, &sequence, places, count, species, position, particle);
        const int moves = !x.inserted && !x.removed && count[0] > 0;
        double change = 0, to[3];
        somewhere(&b, &sequence, to);
        if (!moves && !x.inserted && !x.removed) continue;
        assert_int_equal(moves ? s.total->change(s.instance, 0, 0, to, &change)
                               : s.total->insert_remove(s.instance, 0, &x, &change),
                         PLUGMC_OK);
        const int accepted = uniform_of(&sequence) < 0.6;
        assert_int_equal(s.total->settle(s.instance, 0, accepted), PLUGMC_OK);
        if (!accepted) continue;
        kept += change, taken++;
        if (moves)
            memcpy(places, to, sizeof to);
        else
            turn_over(places, count, &x);
        if (t % 500 == 0 && count[0] && count[1])
            assert_close(kept, energy_of_those(places, count), 1e-9, 1e-9);
    }
    printf("%lld changes taken: %.15g kept, %.15g fresh; %lld and %lld ions\n", (long long)taken,
           kept, energy_of(&b, &s, places, count), (long long)count[0], (long long)count[1]);
    assert_true(taken > TRIALS / 4);
    assert_close(kept, energy_of(&b, &s, places, count), 1e-9, 1e-9);
    bench_end(&b);
}

TEST_MAIN(cmocka_unit_test(kept_energy_of_ions_that_come_and_go))
