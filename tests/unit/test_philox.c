/* Philox4x32-10 of plugmc/device.h against the published known-answer vectors and against
 * Random123, the implementation of its authors (J. K. Salmon et al., SC11, 2011); and what
 * plugmc_draw makes of seed, sweep, walker, index, purpose and draw. */
#include "testing.h"

#include <Random123/philox.h>

#include "plugmc/device.h"

/* kat_vectors of Random123, the lines "philox4x32 10" */
static void known_answers_are_given(void **state)
{
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const uint32_t *c = known[i].counter, *k = known[i].key;
        plugmc_random r = plugmc_philox(c[0], c[1], c[2], c[3], k[0], k[1]);
        assert_memory_equal(r.word, known[i].answer, sizeof r.word);
    }
}

/* Counters and keys with all kinds of bits: each block is the counter and key of the next. */
static void random123_gives_the_same(void **state)
{
    philox4x32_ctr_t counter = {{1, 2, 3, 4}};
    philox4x32_key_t key = {{5, 6}};
    (void)state;
    for (int i = 0; i < 100000; i++) {
        philox4x32_ctr_t theirs = philox4x32_R(10, counter, key);
        plugmc_random ours = plugmc_philox(counter.v[0], counter.v[1], counter.v[2], counter.v[3],
                                           key.v[0], key.v[1]);
        assert_memory_equal(ours.word, theirs.v, sizeof ours.word);
        key.v[0] = counter.v[1] + (uint32_t)i;
        key.v[1] = counter.v[3];
        counter = theirs;
    }
}

/* Two uses that differ in one of the arguments, at the ends of its range, share no block: the
 * counters and keys that Random123 needs for the same numbers are all different. */
static void every_argument_of_a_draw_counts(void **state)
{
    static const struct {
        uint64_t seed, sweep;
        uint32_t walker, index, purpose, draw;
    } uses[] = {
        {0, 0, 0, 0, 1, 0},          {1, 0, 0, 0, 1, 0},          {1ull << 32, 0, 0, 0, 1, 0},
        {0, 1, 0, 0, 1, 0},          {0, 1ull << 32, 0, 0, 1, 0}, {0, (1ull << 48) - 1, 0, 0, 1, 0},
        {0, 0, 1, 0, 1, 0},          {0, 0, UINT32_MAX, 0, 1, 0}, {0, 0, 0, 1, 1, 0},
        {0, 0, 0, UINT32_MAX, 1, 0}, {0, 0, 0, 0, 2, 0},          {0, 0, 0, 0, 6, 0},
        {0, 0, 0, 0, 1, 1},          {0, 0, 0, 0, 1, 255},        {UINT64_MAX, 0, 0, 0, 1, 0},
    };
    enum { USES = sizeof uses / sizeof *uses };
    plugmc_random blocks[USES];
    (void)state;
    for (int i = 0; i < USES; i++) {
        philox4x32_ctr_t counter = {
            {uses[i].index, (uint32_t)uses[i].sweep,
             (uint32_t)(uses[i].sweep >> 32) << 16 | uses[i].purpose << 8 | uses[i].draw,
             uses[i].walker}};
        philox4x32_key_t key = {{(uint32_t)uses[i].seed, (uint32_t)(uses[i].seed >> 32)}};
        philox4x32_ctr_t expected = philox4x32_R(10, counter, key);
        blocks[i] = plugmc_draw((plugmc_seed){uses[i].seed}, uses[i].sweep, uses[i].walker,
                                uses[i].index, uses[i].purpose, uses[i].draw);
        assert_memory_equal(blocks[i].word, expected.v, sizeof expected.v);
        for (int k = 0; k < i; k++)
            assert_memory_not_equal(blocks[i].word, blocks[k].word, sizeof blocks[i].word);
    }
}

static void uniforms_stay_below_one(void **state)
{
    (void)state;
    assert_true(plugmc_uniform_float(0) == 0 && plugmc_uniform_double(0, 0) == 0);
    assert_true(plugmc_uniform_float(UINT32_MAX) == 1 - 0x1p-24f);
    assert_true(plugmc_uniform_double(UINT32_MAX, UINT32_MAX) == 1 - 0x1p-53);
    assert_int_equal(plugmc_below(UINT32_MAX, 7), 6);
    assert_int_equal(plugmc_below(0, 7), 0);
}

TEST_MAIN(cmocka_unit_test(known_answers_are_given), cmocka_unit_test(random123_gives_the_same),
          cmocka_unit_test(every_argument_of_a_draw_counts),
          cmocka_unit_test(uniforms_stay_below_one))
