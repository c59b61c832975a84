/* Expansions in determinants (plugins/determinants/spin_table.c) against sums of dense determinants: ratios after many
 * accepted moves, rows, ln |Psi|, derivatives of each determinant, and references that vanish where Psi does not. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#include "../../plugins/determinants/spin_table.h"

enum { UP = 5, DOWN = 4, ORBITALS = 12, PITCH = 16, NUMBERS = 2 * PITCH, TERMS = 80, MOST = 8 };

/* Terms of a random expansion: term k has determinants k of each spin, and some are shared. */
typedef struct subject {
    expansion e;
    int is_complex;
    double coefficients[TERMS], imaginary[TERMS];
    int32_t of[2][TERMS], column[2][ORBITALS], occupied[2][TERMS][MOST];
    double values[2][MOST * NUMBERS]; /* orbitals at the electrons */
    slater spin[2], copy[2];
    void *memory[2];
} subject;

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53 - 0.5;
}

static int smaller(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Determinant u: up to four orbitals of the first n are replaced. All orbitals but number 3 and 7 may occur. */
static void occupy(subject *s, int spin, int n, int u, uint64_t *state)
{
    int32_t *to = s->occupied[spin][u];
    int used[ORBITALS] = {0};
    const int degree = u ? 1 + u % 4 : 0;
    for (int i = 0; i < n; i++) used[i] = 1;
    for (int k = 0; k < degree; k++) {
        int hole, particle;
        do hole = (int)((uniform(state) + 0.5) * n);
        while (!used[hole]);
        do particle = n + (int)((uniform(state) + 0.5) * (ORBITALS - 2 - n));
        while (used[particle]);
        used[hole] = 0;
        used[particle] = 1;
    }
    n = 0;
    for (int32_t o = 0; o < ORBITALS; o++)
        if (used[o]) to[n++] = o;
    qsort(to, (size_t)n, sizeof *to, smaller);
}

static void begin(subject *s, int is_complex, int64_t block, uint64_t *state)
{
    static int32_t packed[2][TERMS * MOST];
    const int electrons[2] = {UP, DOWN};
    *s = (subject){.is_complex = is_complex};
    for (int spin = 0; spin < 2; spin++) {
        const int n = electrons[spin];
        for (int o = 0, number = 0; o < ORBITALS - 2; o++, number++) {
            while (number == 3 || number == 7) number++;
            s->column[spin][o] = number;
        }
        for (int u = 0; u < TERMS; u++) {
            occupy(s, spin, n, u, state);
            memcpy(packed[spin] + u * n, s->occupied[spin][u], (size_t)n * sizeof packed[0][0]);
            s->of[spin][u] = spin ? u : u % 30;
        }
        s->e.spin[spin] = (expansion_spin){.electrons = n,
                                           .orbitals = ORBITALS - 2,
                                           .determinants = spin ? TERMS : 30,
                                           .degree = n,
                                           .column = s->column[spin],
                                           .occupied = packed[spin]};
        s->e.of[spin] = s->of[spin];
        for (int i = 0; i < MOST * NUMBERS; i++) s->values[spin][i] = uniform(state);
    }
    for (int k = 0; k < TERMS; k++) s->coefficients[k] = k ? uniform(state) : 1;
    s->e.terms = TERMS;
    s->e.coefficients = s->coefficients;
    for (int k = 1; k < TERMS && is_complex; k++) s->imaginary[k] = uniform(state);
    s->e.imaginary = is_complex ? s->imaginary : NULL;
    for (int k = 0; k < 2; k++) {
        s->memory[k] = aligned_alloc(64, spin_tables_bytes(&s->e, PITCH, is_complex, block));
        spin_tables_prepare(k ? s->copy : s->spin, s->memory[k], &s->e, PITCH, is_complex, block);
    }
}

static void end(subject *s)
{
    free(s->memory[0]);
    free(s->memory[1]);
}

static double complex value(const subject *s, const double *row, int o)
{
    return s->is_complex ? row[2 * o] + I * row[2 * o + 1] : row[o];
}

static size_t row_length(const subject *s) { return s->is_complex ? 2 * PITCH : PITCH; }

/* The determinant of n x n numbers. */
static double complex dense(double complex *a, int n)
{
    double complex product = 1;
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int i = c + 1; i < n; i++)
            if (cabs(a[i * n + c]) > cabs(a[best * n + c])) best = i;
        for (int j = 0; j < n && best != c; j++) {
            const double complex swap = a[c * n + j];
            a[c * n + j] = a[best * n + j];
            a[best * n + j] = swap;
        }
        product *= best == c ? a[c * n + c] : -a[c * n + c];
        for (int i = c + 1; i < n; i++) {
            const double complex factor = a[i * n + c] / a[c * n + c];
            for (int j = c; j < n; j++) a[i * n + j] -= factor * a[c * n + j];
        }
    }
    return product;
}

/* D_u of a spin with electron e at `instead`; e = -1: all are where they are. */
static double complex determinant(const subject *s, int spin, int u, int e, const double *instead)
{
    const int n = s->e.spin[spin].electrons;
    double complex a[MOST * MOST];
    for (int i = 0; i < n; i++)
        for (int o = 0; o < n; o++)
            a[i * n + o] = value(s, i == e ? instead : s->values[spin] + (size_t)i * row_length(s),
                                 s->column[spin][s->occupied[spin][u][o]]);
    return dense(a, n);
}

static double complex psi(const subject *s, int spin, int e, const double *instead)
{
    double complex sum = 0;
    for (int k = 0; k < TERMS; k++)
        sum += (s->coefficients[k] + I * s->imaginary[k]) *
               determinant(s, 0, s->of[0][k], spin == 0 ? e : -1, instead) *
               determinant(s, 1, s->of[1][k], spin == 1 ? e : -1, instead);
    return sum;
}

static void invert(subject *s)
{
    for (int spin = 0; spin < 2; spin++)
        assert_true(slater_invert(&s->spin[spin], s->values[spin], NULL));
    assert_true(slater_settle(s->spin));
}

static void is_psi(const subject *s, const slater spin[2])
{
    assert_close(spin[0].ln_square + spin[1].ln_square, 2 * log(cabs(psi(s, 0, -1, NULL))), 0,
                 1e-9);
}

/* An electron may go to `there`: its row and the ratio are those of dense determinants. */
static double complex looked_at(subject *s, int spin, int e, const double *there)
{
    const double complex now = psi(s, 0, -1, NULL), expected = psi(s, spin, e, there) / now,
                         by_row = slater_dot(&s->spin[spin], slater_row(&s->spin[spin], e), there),
                         q = slater_ratio(&s->spin[spin], e, there);
    assert_close(cabs(q - expected), 0, 0, 1e-10 * (1 + cabs(expected)));
    assert_close(cabs(by_row - expected), 0, 0, 1e-10 * (1 + cabs(expected)));
    return expected;
}

static void moved(subject *s, int spin, int e, const double *there)
{
    slater_accept(&s->spin[spin], e, there);
    memcpy(s->values[spin] + (size_t)e * row_length(s), there, row_length(s) * sizeof *there);
}

static int sweep(subject *s, int64_t block, uint64_t *random)
{
    int accepted = 0;
    for (int spin = 0; spin < 2; spin++) {
        const int n = s->e.spin[spin].electrons;
        for (int e = 0; e < n; e++) {
            const int64_t left = n - e;
            double there[NUMBERS];
            if (e % block == 0) slater_begin(&s->spin[spin], e, left < block ? left : block);
            for (int i = 0; i < NUMBERS; i++) there[i] = uniform(random);
            const double complex q = looked_at(s, spin, e, there);
            if (cabs(q) > 0.05 + uniform(random)) {
                moved(s, spin, e, there);
                accepted++;
            }
            if (e % block == block - 1 || left == 1) slater_end(&s->spin[spin]);
        }
    }
    return accepted;
}

static void ratios_are_those_of_dense_determinants(void **state)
{
    (void)state;
    int64_t exchanges = 0;
    for (int64_t block = 1; block <= 4; block += 3)
        for (int is_complex = 0; is_complex < 2; is_complex++) {
            subject s;
            uint64_t random = 12;
            int accepted = 0;
            begin(&s, is_complex, block, &random);
            invert(&s);
            is_psi(&s, s.spin);
            for (int k = 0; k < 60; k++) accepted += sweep(&s, block, &random);
            is_psi(&s, s.spin);
            assert_in_range(accepted, 200, 540);
            exchanges += s.spin[0].sum->exchanges + s.spin[1].sum->exchanges;
            end(&s);
        }
    /* random orbitals make other determinants much larger now and then */
    assert_in_range(exchanges, 10, 200);
}

/* Rows of all electrons, for quadratures, and what a copy of the walker has. */
static void rows_and_copies(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        subject s;
        uint64_t random = 7;
        begin(&s, is_complex, 1, &random);
        invert(&s);
        for (int k = 0; k < 5; k++) sweep(&s, 1, &random);
        for (int spin = 0; spin < 2; spin++) slater_copy(&s.spin[spin], &s.copy[spin]);
        is_psi(&s, s.copy);
        const double complex now = psi(&s, 0, -1, NULL);
        for (int spin = 0; spin < 2; spin++)
            for (int e = 0; e < s.e.spin[spin].electrons; e++) {
                double there[NUMBERS];
                for (int i = 0; i < NUMBERS; i++) there[i] = uniform(&random);
                const double complex expected = psi(&s, spin, e, there) / now;
                for (int k = 0; k < 2; k++) {
                    const slater *one = k ? &s.copy[spin] : &s.spin[spin];
                    assert_close(cabs(slater_product(one, e, there) - expected), 0, 0,
                                 1e-10 * (1 + cabs(expected)));
                }
            }
        memcpy(s.spin, s.copy, sizeof s.spin); /* and it goes on */
        for (int k = 0; k < 5; k++) sweep(&s, 1, &random);
        end(&s);
    }
}

/* Orbitals of electron e so that the first determinant of its spin is `near` zero, and others are not: those that the
 * first one has are those of electron f. */
static void plant(const subject *s, int spin, int f, double near, double *there, uint64_t *random)
{
    const int parts = s->is_complex ? 2 : 1, n = s->e.spin[spin].electrons;
    const double *other = s->values[spin] + (size_t)f * row_length(s);
    for (int i = 0; i < NUMBERS; i++) there[i] = uniform(random);
    for (int o = 0; o < n; o++)
        for (int p = 0; p < parts; p++) {
            const int at = parts * s->column[spin][o] + p;
            there[at] = other[at] + near * there[at];
        }
}

static void a_reference_that_vanishes_is_replaced(void **state)
{
    (void)state;
    static const double nearness[] = {0, 1e-300, 1e-15, 1e-9, 1e-5};
    for (int is_complex = 0; is_complex < 2; is_complex++)
        for (int k = 0; k < 5; k++)
            for (int64_t block = 1; block <= 4; block += 3) {
                subject s;
                uint64_t random = 31 + (uint64_t)k;
                double there[NUMBERS];
                begin(&s, is_complex, block, &random);
                invert(&s);
                for (int spin = 0; spin < 2; spin++) {
                    slater *one = &s.spin[spin];
                    const int64_t before = one->sum->exchanges;
                    plant(&s, spin, 2, nearness[k], there, &random);
                    slater_begin(one, 0, block);
                    assert_true(cabs(looked_at(&s, spin, 0, there)) >
                                1e-3); /* Psi is not 0 there */
                    moved(&s, spin, 0, there);
                    assert_true(cabs(determinant(&s, spin, 0, -1, NULL)) <= nearness[k]);
                    assert_true(one->sum->exchanges > before);
                    assert_true(one->sum->chosen > 0);
                    for (int e = 1; e < block; e++) {
                        for (int i = 0; i < NUMBERS; i++) there[i] = uniform(&random);
                        looked_at(&s, spin, e, there);
                        if (e % 2) moved(&s, spin, e, there);
                    }
                    slater_end(one);
                    is_psi(&s, s.spin);
                }
                sweep(&s, block, &random);
                end(&s);
            }
}

/* Matrices that are made where the first determinant is zero, as after a resume; and a Psi that is zero everywhere. */
static void matrices_begin_with_another_reference(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        subject s;
        uint64_t random = 5;
        begin(&s, is_complex, 1, &random);
        plant(&s, 0, 2, 0, s.values[0], &random);
        invert(&s);
        assert_true(s.spin[0].sum->chosen > 0);
        assert_int_equal(s.spin[1].sum->chosen, 0);
        is_psi(&s, s.spin);
        sweep(&s, 1, &random);
        memset(s.values[1], 0, sizeof s.values[1]);
        assert_false(slater_invert(&s.spin[1], s.values[1], NULL));
        end(&s);
    }
}

/* sum_e D_u(electron e's orbitals replaced by v_e) / D_reference of each determinant u. */
static void derivatives_of_each_determinant(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        subject s;
        uint64_t random = 3;
        double vectors[MOST * NUMBERS], work[2 * MOST * 2 * NUMBERS], out[2 * TERMS];
        begin(&s, is_complex, 1, &random);
        invert(&s);
        for (int k = 0; k < 3; k++) sweep(&s, 1, &random);
        for (int i = 0; i < MOST * NUMBERS; i++) vectors[i] = uniform(&random);
        for (int spin = 0; spin < 2; spin++) {
            const spin_table *t = s.spin[spin].sum;
            const double complex reference = determinant(&s, spin, t->chosen, -1, NULL);
            spin_table_along(t, vectors, work, out);
            for (int u = 0; u < s.e.spin[spin].determinants; u++) {
                double complex expected = 0;
                for (int e = 0; e < s.e.spin[spin].electrons; e++)
                    expected += determinant(&s, spin, u, e, vectors + (size_t)e * row_length(&s)) /
                                reference;
                const double complex found = is_complex ? out[2 * u] + I * out[2 * u + 1] : out[u];
                assert_close(cabs(found - expected), 0, 0, 1e-9 * (1 + cabs(expected)));
            }
        }
        end(&s);
    }
}

TEST_MAIN(cmocka_unit_test(ratios_are_those_of_dense_determinants),
          cmocka_unit_test(rows_and_copies),
          cmocka_unit_test(a_reference_that_vanishes_is_replaced),
          cmocka_unit_test(matrices_begin_with_another_reference),
          cmocka_unit_test(derivatives_of_each_determinant))
