/* turns: how far turns of the lattice of orientations (plugmc/orientation.h) are reversible, and what measure they leave.
 *
 *     turns MILLIONS
 *
 * So many million turns about axes of space, of up to 1e-4 rad and then of up to 0.3 rad, from an orientation at the edge of
 * the shell 0.98 < |p|^2 < 1.02: turns that leave it are rejected, as in a run. Then all that were taken are made backwards.
 * Prints how many were rejected, how |p|^2 ended, and whether the last orientation is the first one, bit for bit. Then the
 * moments of so many million orientations that are drawn, and of as many along a chain of turns of up to 1 rad, against
 * those of the uniform measure (Haar): <q_k^2> = 1/4, <q_k^4> = 1/8, <R_zz^4> = 1/5. Errors are those of means over 64
 * blocks. Ends with 1 if an orientation did not come back, a mean is off by more than 4.5 errors, or its error is above 1e-4.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/everything.h>

enum { BLOCKS = 64, MOMENTS = 9 };
static const plugmc_seed seed = {20261129, 0, 0};

/* Turn k of up to `largest` = tan(step / 4). */
static int32_t draw_tangent(uint64_t k, double largest, int32_t *axis)
{
    const plugmc_random r = plugmc_draw(seed, k, 0, 0, PLUGMC_PURPOSE_TRIAL, 0);
    *axis = (int32_t)plugmc_below(r.word[0], 3);
    return (int32_t)lrint(largest * 0x1p30 * (2 * plugmc_uniform_double(r.word[1], r.word[2]) - 1));
}

static double square_of(const plugmc_orientation *o)
{
    double square = 0;
    for (int k = 0; k < 4; k++) square += (double)o->part[k] * o->part[k] * 0x1p-60;
    return square;
}

/* Returns 1 if the orientation is another one in the end. */
static int there_and_back(uint64_t n, double step)
{
    const plugmc_orientation start = {{(int32_t)(sqrt(1.02) * 0x1p30) - 20, 3, -5, 7}};
    plugmc_orientation o = start;
    unsigned char *taken = calloc(n / 8 + 1, 1); /* a bit each */
    uint64_t rejected = 0, backwards = 0;
    int32_t axis;
    if (!taken) {
        fprintf(stderr, "no memory\n");
        return 1;
    }
    for (uint64_t k = 0; k < n; k++) {
        const int32_t tangent = draw_tangent(k, tan(step / 4), &axis);
        plugmc_orientation next = o;
        if (plugmc_turn_in_space(&next, axis, tangent)) {
            o = next;
            taken[k / 8] |= (unsigned char)(1 << k % 8);
        } else {
            rejected++;
        }
    }
    const plugmc_orientation end = o;
    for (uint64_t k = n; k-- > 0;) {
        const int32_t tangent = draw_tangent(k, tan(step / 4), &axis);
        if (!(taken[k / 8] >> k % 8 & 1)) continue;
        backwards += plugmc_turn_in_space(&o, axis, -tangent);
    }
    const int back = backwards == n - rejected && !memcmp(&o, &start, sizeof o);
    printf(
        "%llu turns of up to %g rad, %llu rejected: at (%d %d %d %d), |p|^2 = 1.02 %+.3g; back: %s\n",
        (unsigned long long)n, step, (unsigned long long)rejected, end.part[0], end.part[1],
        end.part[2], end.part[3], square_of(&end) - 1.02, back ? "the same bits" : "ANOTHER");
    free(taken);
    return !back;
}

static void add_moments(const plugmc_orientation *o, double sums[MOMENTS])
{
    const double square = square_of(o);
    double q[4];
    for (int k = 0; k < 4; k++) {
        q[k] = (double)o->part[k] * (double)o->part[k] * 0x1p-60 / square;
        sums[k] += q[k];
        sums[4 + k] += q[k] * q[k];
    }
    const double cosine = q[0] - q[1] - q[2] + q[3];
    sums[8] += cosine * cosine * cosine * cosine;
}

/* Returns 1 if a moment is not that of the uniform measure. */
static int compare(const char *what, double sums[BLOCKS][MOMENTS], uint64_t in_block)
{
    int wrong = 0;
    printf("%s\n", what);
    for (int k = 0; k < MOMENTS; k++) {
        const double exact = k < 4 ? 0.25 : k < 8 ? 0.125 : 0.2;
        double mean = 0, spread = 0;
        for (int b = 0; b < BLOCKS; b++) mean += sums[b][k] / (double)in_block / BLOCKS;
        for (int b = 0; b < BLOCKS; b++) spread += pow(sums[b][k] / (double)in_block - mean, 2);
        const double error = sqrt(spread / BLOCKS / (BLOCKS - 1)), z = (mean - exact) / error;
        if (k < 8)
            printf("  <q_%d^%d>", k % 4, k < 4 ? 2 : 4);
        else
            printf("  <R_zz^4>");
        printf(" = %.6f (%.1e), exactly %g: z = %+.2f\n", mean, error, exact, z);
        wrong |= !(fabs(z) < 4.5 && error < 1e-4);
    }
    return wrong;
}

static int measure(uint64_t n)
{
    const uint64_t in_block = n / BLOCKS;
    static double drawn[BLOCKS][MOMENTS], turned[BLOCKS][MOMENTS];
    plugmc_orientation o = plugmc_draw_orientation(seed, 1, 1, 0, 3);
    for (uint64_t b = 0; b < BLOCKS; b++)
        for (uint64_t k = 0; k < in_block; k++) {
            const plugmc_orientation one = plugmc_draw_orientation(seed, b * in_block + k, 0, 0, 3);
            add_moments(&one, drawn[b]);
            plugmc_orientation next = o;
            if (plugmc_draw_turn(seed, b * in_block + k, 1, 0, 3, 1, &next)) o = next;
            add_moments(&o, turned[b]);
        }
    const int wrong = compare("orientations that are drawn", drawn, in_block);
    return compare("orientations along turns of up to 1 rad", turned, in_block) | wrong;
}

int main(int count, char **arguments)
{
    const long millions = count == 2 ? atol(arguments[1]) : 0;
    if (millions < 1 || millions > 1000000) {
        fprintf(stderr, "turns MILLIONS\n");
        return 2;
    }
    const uint64_t n = (uint64_t)millions * 1000000;
    int wrong = there_and_back(n, 1e-4);
    wrong |= there_and_back(n, 0.3);
    return measure(n) | wrong;
}
