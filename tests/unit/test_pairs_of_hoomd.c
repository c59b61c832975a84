/* Overlaps of hard bodies as HOOMD-blue's own tests state them.
 *
 * Of 1,580 statements in nine files 1,538 are here, 624 different pairs. 40 are not because they are a square beside a disk and an
 * octahedron beside a sphere, which are shapes of two potentials here, and these do not see each other's bodies. Shapes that
 * plugmc does not have (test_faceted_sphere.cc, test_sphinx.cc) are not looked at.
 *
 * Pairs that touch along a face or an edge overlap in HOOMD-blue's tests, and here. Two ellipsoids that touch in a point, the other
 * two statements, are apart there and overlap here. In float bodies that are 1e-6 apart overlap here, too: the margin is 2^-19
 * of the sum of their radii. */
#include "testing.h"

#include "hard_bodies.h"

typedef struct hoomd_pairs {
    const char *file;
    shape shape;
    double first[4], second[4];
    const double (*at)[4];
    int n;
} hoomd_pairs;

#include "pairs_of_hoomd.h"

static plugmc_orientation orientation_of(const double q[4], int dimension)
{
    plugmc_orientation out = {{0}};
    if (dimension == 2) out.part[0] = (int32_t)lround(atan2(q[3], q[0]) / M_PI * 0x1p24) & 0xffffff;
    for (int k = 0; k < 4 && dimension == 3; k++) out.part[k] = (int32_t)lround(q[k] * 0x1p30);
    return out;
}

/* Compares the pairs of a group. Returns how many of those that are apart overlap in float. */
static int compare_pairs(hard_body *body, const hoomd_pairs *all)
{
    const int dimension = all->shape.dimension;
    int closer = 0;
    for (int k = 0; k < all->n; k++) {
        const double *at = all->at[k];
        const body_pair pair = {{-at[0], -at[1], -at[2]},
                                orientation_of(all->first, dimension),
                                orientation_of(all->second, dimension)};
        const int expected = at[3] > 0, found = bodies_overlap(body, DOUBLE, &pair, 0),
                  rounded = bodies_overlap(body, SINGLE, &pair, 0);
        if (found != expected || found != bodies_overlap(body, DOUBLE, &pair, 1))
            fail_msg("test_%s.cc: %s at %g %g %g: overlap %d", all->file, all->shape.keys, at[0],
                     at[1], at[2], found);
        assert_int_equal(rounded, bodies_overlap(body, SINGLE, &pair, 1));
        assert_true(rounded || !expected);
        closer += rounded && !expected;
    }
    return closer;
}

static void pairs_overlap_as_hoomd_blue_has_it(void **state)
{
    (void)state;
    int pairs = 0, closer = 0;
    for (size_t k = 0; k < PLUGMC_COUNT(hoomd_all); k++) {
        hard_body body;
        hoomd_pairs all = hoomd_all[k];
        all.shape.other = 1;
        hard_body_open(&body, &all.shape);
        closer += compare_pairs(&body, &all);
        pairs += all.n;
        hard_body_close(&body);
    }
    printf("%d pairs; in float %d of them are closer than its margin\n", pairs, closer);
    assert_int_equal(pairs, 624);
    assert_true(closer <= 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_overlap_as_hoomd_blue_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
