/* Determinants on the CPU (plugins/determinants/slater.c): what moves of a block do, against matrices whose rows are
 * replaced and that are inverted anew after each. */
#include "../../plugins/determinants/slater.c" /* before CMocka, for which `fail` is a macro */

#include "testing.h"

enum { ELECTRONS = 11, PITCH = 16, BLOCK = 4, NUMBERS = 2 * PITCH };

typedef struct pair {
    slater delayed, anew;
    double values[ELECTRONS * NUMBERS]; /* rows of orbitals, as electrons are */
} pair;

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

static void begin(pair *p, int is_complex, uint64_t *state)
{
    const size_t bytes = slater_bytes(ELECTRONS, is_complex, BLOCK);
    for (int i = 0; i < ELECTRONS * NUMBERS; i++) p->values[i] = uniform(state);
    for (int k = 0; k < 2; k++)
        slater_prepare(k ? &p->anew : &p->delayed, aligned_alloc(64, bytes), ELECTRONS, PITCH,
                       is_complex, BLOCK);
    assert_true(slater_invert(&p->delayed, p->values, NULL));
    assert_true(slater_invert(&p->anew, p->values, NULL));
}

static void end(pair *p)
{
    free(p->delayed.inverse);
    free(p->anew.inverse);
}

static void rows_are_equal(const pair *p, const double *found, int64_t e)
{
    const double *expected = row_of(&p->anew, p->anew.inverse, e);
    for (size_t i = 0; i < numbers(&p->anew, ELECTRONS); i++)
        assert_close(found[i], expected[i], 1e-10, 1e-10);
}

/* Two sweeps in blocks of four, which do not divide the electrons, two thirds accepted: rows before a move, ratios and
 * ln |det|, and the matrix after the last block. */
static void moves_of_a_block_are_those_of_matrices_made_anew(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        pair p;
        uint64_t random = 12;
        int accepted = 0;
        begin(&p, is_complex, &random);
        for (int sweep = 0; sweep < 2; sweep++)
            for (int64_t e = 0; e < ELECTRONS; e++) {
                const int64_t left = ELECTRONS - e;
                double there[NUMBERS];
                if (e % BLOCK == 0) slater_begin(&p.delayed, e, left < BLOCK ? left : BLOCK);
                for (int i = 0; i < NUMBERS; i++) there[i] = uniform(&random);
                const double *row = slater_row(&p.delayed, e);
                rows_are_equal(&p, row, e);
                const double complex by_row = slater_dot(&p.delayed, row, there),
                                     q = slater_ratio(&p.delayed, e, there),
                                     expected = slater_product(&p.anew, e, there);
                assert_close(cabs(q - expected), 0, 0, 1e-9 * (1 + cabs(expected)));
                assert_close(cabs(by_row - expected), 0, 0, 1e-9 * (1 + cabs(expected)));
                if (uniform(&random) < 1. / 6) {
                    accepted++;
                    slater_accept(&p.delayed, e, there);
                    const size_t one = (is_complex ? 2 : 1) * PITCH;
                    memcpy(p.values + (size_t)e * one, there, one * sizeof *there);
                    assert_true(slater_invert(&p.anew, p.values, NULL));
                    assert_close(p.delayed.ln_square, p.anew.ln_square, 1e-10, 1e-10);
                }
                if (e % BLOCK == BLOCK - 1 || left == 1) slater_end(&p.delayed);
            }
        for (int64_t e = 0; e < ELECTRONS; e++)
            rows_are_equal(&p, row_of(&p.delayed, p.delayed.inverse, e), e);
        assert_in_range(accepted, 8, 20); /* some, and not all */
        end(&p);
    }
}

/* A block in which nobody has moved leaves rows where they are, and one whose first electron has moved does not. */
static void rows_change_with_the_first_move(void **state)
{
    (void)state;
    pair p;
    uint64_t random = 5;
    begin(&p, 1, &random);
    slater_begin(&p.delayed, 0, BLOCK);
    assert_ptr_equal(slater_row(&p.delayed, 1), row_of(&p.delayed, p.delayed.inverse, 1));
    slater_ratio(&p.delayed, 0, p.values + NUMBERS * 3 / 2);
    slater_accept(&p.delayed, 0, p.values + NUMBERS * 3 / 2);
    const double *row = slater_row(&p.delayed, 1);
    double largest = 0;
    for (int64_t i = 0; i < 2 * ELECTRONS; i++)
        largest = fmax(largest, fabs(row[i] - p.delayed.inverse[2 * ELECTRONS + i]));
    assert_true(largest > 1e-3);
    end(&p);
}

TEST_MAIN(cmocka_unit_test(moves_of_a_block_are_those_of_matrices_made_anew),
          cmocka_unit_test(rows_change_with_the_first_move))
