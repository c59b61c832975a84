/* What every unit test includes: CMocka with its prerequisites in order, comparisons in double
 * precision (CMocka 1.1.5 compares in float), and the folder of the test data. */
#ifndef PLUGMC_TESTING_H
#define PLUGMC_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

/* |a - b| <= absolute + relative * |b| */
#define assert_close(a, b, relative, absolute)                                                     \
    do {                                                                                           \
        double close_a = (a), close_b = (b);                                                       \
        if (!(fabs(close_a - close_b) <= (absolute) + (relative)*fabs(close_b)))                   \
            fail_msg("%s = %.17g, but %s = %.17g", #a, close_a, #b, close_b);                      \
    } while (0)

/* A statistical test: prints its z-score and fails above `limit` standard errors. */
#define assert_z(name, value, error, expected, limit)                                              \
    do {                                                                                           \
        double z_score = ((value) - (expected)) / (error);                                         \
        printf("z = %+.2f  %s: %.8g +- %.2g, expected %.8g\n", z_score, name, (double)(value),     \
               (double)(error), (double)(expected));                                               \
        if (!(fabs(z_score) <= (limit))) fail_msg("%s: |z| > %g", name, (double)(limit));          \
    } while (0)

/* main of a test executable: CMocka's count of failures wraps at 256. */
#define TEST_MAIN(...)                                                                             \
    int main(void)                                                                                 \
    {                                                                                              \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                                           \
        return cmocka_run_group_tests(tests, NULL, NULL) != 0;                                     \
    }

#endif
