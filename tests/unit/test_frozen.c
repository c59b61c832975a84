/* Which chains stand still: by the counts of their trial moves, and by walkers whose series do not vary. */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "archive/frozen.h"

/* ---- Trial moves ------------------------------------------------------------------------------------------ */

enum { PARTICLES = PLUGMC_CHANGED_POSITION, BOX = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_POSITION };

/* A run of 1000 production sweeps with these kinds of moves. */
static int frozen_of(move_record *moves, int count, char words[FROZEN_WORDS])
{
    const output_data out = {
        .equilibrate = 100, .sweep = 1100, .moves = moves, .move_count = count};
    int found;
    frozen_moves *all = frozen_find(&out, &found);
    assert_int_equal(frozen_any(&out), found > 0);
    if (found) frozen_words(&all[0], words);
    free(all);
    return found;
}

static move_record kind(char *name, plugmc_counts *counts, int32_t rungs, uint32_t changes)
{
    return (move_record){
        .mover = (char *)"m", .name = name, .counts = counts, .rungs = rungs, .changes = changes};
}

static void moves_that_are_never_accepted_are_found(void **state)
{
    (void)state;
    char words[FROZEN_WORDS], one[] = "move", two[] = "other";
    plugmc_counts none[] = {{5000, 0}}, hardly[] = {{5000, 4}}, enough[] = {{5000, 5}},
                  half[] = {{5000, 2500}};
    move_record moves[2] = {kind(one, none, 1, PARTICLES), kind(two, half, 1, PARTICLES)};
    assert_int_equal(frozen_of(moves, 1, words), 1);
    assert_string_equal(words, "none of the 5000 trial moves of m.move was accepted in production");
    assert_int_equal(frozen_of(moves, 2, words), 0); /* the other kind moves particles, too */
    moves[0].changes = BOX;
    assert_int_equal(frozen_of(moves, 2, words), 1); /* but no box */
    moves[0].changes = 0;                            /* of an old file */
    assert_int_equal(frozen_of(moves, 2, words), 1);
    moves[0].changes = PARTICLES;
    moves[0].counts = hardly; /* a sweep makes 5 */
    assert_int_equal(frozen_of(moves, 1, words), 1);
    assert_string_equal(
        words,
        "only 4 of the 5000 trial moves of m.move were accepted in production, fewer than one "
        "sweep makes");
    moves[0].counts = enough;
    assert_int_equal(frozen_of(moves, 1, words), 0);
    moves[0].changes = BOX;
    assert_int_equal(frozen_of(moves, 1, words), 1); /* 5 of 5000 */
    assert_string_equal(words,
                        "only 5 of the 5000 trial moves of m.move were accepted in production");
    plugmc_counts some[] = {{5000, 16}}, untried[] = {{0, 0}};
    moves[0].counts = some;
    assert_int_equal(frozen_of(moves, 1, words), 0);
    moves[0].counts = untried;
    assert_int_equal(frozen_of(moves, 1, words), 0);
}

static void rungs_that_stand_still_are_told(void **state)
{
    (void)state;
    char words[FROZEN_WORDS], name[] = "move";
    plugmc_counts counts[] = {{1000, 500}, {1000, 0}, {1000, 500}, {0, 0}};
    move_record moves[] = {kind(name, counts, 4, PLUGMC_CHANGED_RUNG)};
    assert_int_equal(frozen_of(moves, 1, words), 1);
    assert_string_equal(
        words, "none of the 1000 trial moves of m.move between rung 1 and the next was accepted in "
               "production");
    moves[0].changes = PARTICLES;
    assert_int_equal(frozen_of(moves, 1, words), 1);
    assert_string_equal(
        words, "none of the 1000 trial moves of m.move on rung 1 was accepted in production");
}

static void nothing_is_said_before_production(void **state)
{
    (void)state;
    plugmc_counts none[] = {{5000, 0}};
    char name[] = "move";
    move_record move = kind(name, none, 1, PARTICLES);
    const output_data out = {.equilibrate = 100, .sweep = 100, .moves = &move, .move_count = 1};
    assert_false(frozen_any(&out));
}

/* ---- Walkers ---------------------------------------------------------------------------------------------- */

enum { SAMPLES = 50, WALKERS = 8 };

static int32_t still_among(int32_t still, int64_t samples)
{
    double x[SAMPLES][WALKERS];
    for (int64_t i = 0; i < SAMPLES; i++)
        for (int32_t w = 0; w < WALKERS; w++)
            x[i][w] = w < still ? 1 + w : sin(1.7 * (double)(i * WALKERS + w));
    return frozen_walkers(&x[0][0], samples, WALKERS);
}

static void walkers_that_stand_still_are_counted(void **state)
{
    (void)state;
    for (int32_t still = 0; still <= WALKERS; still++)
        assert_int_equal(still_among(still, SAMPLES), still);
    assert_int_equal(still_among(WALKERS, 1), 0); /* one sample says nothing */
    double same[SAMPLES * WALKERS];
    for (int k = 0; k < SAMPLES * WALKERS; k++) same[k] = 0.1;
    assert_int_equal(frozen_walkers(same, SAMPLES, WALKERS), 0); /* a constant */
}

/* A number that is 1 in one sample of 50: walkers that never saw it are no wonder. */
static void rare_events_are_no_standstill(void **state)
{
    (void)state;
    double x[SAMPLES][WALKERS] = {{0}};
    for (int32_t w = 0; w < WALKERS / 2; w++) x[7 * w + 3][w] = 1;
    assert_int_equal(frozen_walkers(&x[0][0], SAMPLES, WALKERS), 0);
}

TEST_MAIN(cmocka_unit_test(moves_that_are_never_accepted_are_found),
          cmocka_unit_test(rungs_that_stand_still_are_told),
          cmocka_unit_test(nothing_is_said_before_production),
          cmocka_unit_test(walkers_that_stand_still_are_counted),
          cmocka_unit_test(rare_events_are_no_standstill))
