/* Empty slabs between hard bodies (plugmc_body.slab), by which pressures leave out paths, against the paths. */
#include "testing.h"

#include "hard_bodies.h"

enum { PAIRS = 4000 };

static hard_body body;

/* A slab between two bodies has to be crossed on every path from one to the other. */
static void slabs_bound_paths_along_all_axes(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++) {
        int known = 0, never = 0;
        hard_body_open(&body, &shapes[k]);
        const plugmc_body *facet = body.body[DOUBLE];
        for (uint64_t i = 0; i < PAIRS && facet->slab; i++) {
            const body_pair pair = i % 2
                                       ? near_pair(&body, i, 0.1 * body.reach * chance(&body, i, 5))
                                       : random_pair(&body, i);
            const plugmc_particle a = one_of(&body, 0, (double[3]){0}),
                                  b = one_of(&body, 1, (double[3]){0});
            double n[3];
            const double slab = facet->slab(body.instance[DOUBLE], shapes[k].dimension, pair.at, &a,
                                            &pair.first, &b, &pair.second, n);
            assert_true(slab >= 0);
            if (!(slab > 0)) continue;
            known++;
            assert_int_equal(bodies_overlap(&body, DOUBLE, &pair, 0), 0);
            assert_true(fabs(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] - 1) < 1e-12);
            for (int32_t axis = 0; axis < shapes[k].dimension; axis++) {
                const double way = path_of(&body, &pair, axis);
                never += !(n[axis] > 0);
                if (n[axis] > 0 ? way < slab / n[axis] * (1 - 1e-9) : !isinf(way))
                    fail_msg("%s: a path of %g, the slab is %g wide", shapes[k].name, way, slab);
            }
        }
        const int convex =
            strncmp(shapes[k].plugin, "union", 5) && strcmp(shapes[k].plugin, "hard_polygon");
        if (convex) assert_true(known > PAIRS / 8 && never > PAIRS / 8);
        hard_body_close(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slabs_bound_paths_along_all_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
