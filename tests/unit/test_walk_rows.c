/* Entries of the table of energies that depend on numbers alone (walk_setup.c): each combination of numbers has one of its own,
 * and one particle or molecule more is as many entries on as walk.cu adds. */
#include "testing.h"

#include "molecules.h"

#include "energy/walk_setup.h"

/* A kind whose number stays, one whose first species occurs twice, one of two alike; both share a species with the first kind. And free
 * particles. */
enum { SPECIES = 4 };
static const species_of_test species[SPECIES] = {
    {"a", 0, 0}, {"b", 0, 0}, {"c", 0, 0}, {"free", 5, 0}};
static const kind_of_test kinds[] = {{"b c", 4, {0, 0, 0, 1, 0, 0}, 6},
                                     {"a b a", 3, {0, 0, 0, 1, 0, 0, 0, 1, 0}, 9, 6},
                                     {"c c", 2, {0, 0, 0, 1, 0, 0}, 6, 4}};

static void begin(bench *b)
{
    bench_begin(b, 3, (double[3]){20, 20, 20}, 1, 5);
    bench_molecules(b, species, SPECIES, kinds, 3);
    for (int s = 0; s < SPECIES; s++) {
        b->species[s].capacity = b->species[s].count;
        b->species[s].mu = s == 3 ? -1 : NAN;
    }
}

static int64_t entry_of(const int64_t *row, const int64_t *fixed, const int64_t *count)
{
    int64_t entry = 0;
    for (int s = 0; s < SPECIES; s++) entry += row[s] * (count[s] - fixed[s]);
    return entry;
}

static void each_combination_of_numbers_has_an_entry(void **state)
{
    bench b;
    int64_t row[SPECIES], fixed[SPECIES], count[SPECIES], found = 0;
    (void)state;
    begin(&b);
    const int64_t entries = walk_rows(&b.system, row, fixed);
    /* free particles, molecules by their one b, by their two c */
    assert_int_equal(entries, (5 + 1) * (6 + 1) * (2 * 4 + 1));
    for (int64_t n = 0; n < entries; n++) {
        if (!walk_counts_of(&b.system, row, n, count)) continue;
        found++;
        assert_int_equal(entry_of(row, fixed, count), n);
        assert_int_equal(count[0], 2 * (count[1] - 4)); /* a b a, beside four of b c */
        assert_int_equal((count[2] - 4) % 2, 0);
    }
    assert_int_equal(found, (5 + 1) * (6 + 1) * (4 + 1));
    molecule_kinds_free(&b.system);
    bench_end(&b);
}

static void too_many_combinations_have_none(void **state)
{
    bench b;
    int64_t row[3], fixed[3];
    (void)state;
    bench_begin(&b, 3, (double[3]){20, 20, 20}, 1, 5);
    for (int s = 0; s < 3; s++) {
        bench_species(&b, "a", 200, 1, 0);
        b.species[s].capacity = 200;
        b.species[s].mu = -1;
    }
    assert_int_equal(walk_rows(&b.system, row, fixed), 0);
    b.species[2].mu = NAN;
    assert_int_equal(walk_rows(&b.system, row, fixed), 201 * 201);
    bench_end(&b);
}

TEST_MAIN(cmocka_unit_test(each_combination_of_numbers_has_an_entry),
          cmocka_unit_test(too_many_combinations_have_none))
