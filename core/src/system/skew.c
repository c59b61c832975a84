/* plugmc_nearest_oblique rounds fractional coordinates f to within half a vector and looks one vector further in each
 * direction. The nearest images of all pairs fill the Wigner-Seitz cell, so it finds them all if no corner of that cell
 * has |f| above 3/2. */
#include "system/skew.h"

#include <math.h>
#include <string.h>

enum { AROUND = 26 };

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void combine(const double v[3][3], const int n[3], double out[3])
{
    for (int d = 0; d < 3; d++) out[d] = n[0] * v[0][d] + n[1] * v[1][d] + n[2] * v[2][d];
}

/* Vector i less what of the others makes it shorter by more than rounding; whether there was something. */
static bool shorten(double v[3][3], int i)
{
    bool done = false;
    for (int a = -1; a <= 1; a++)
        for (int b = -1; b <= 1; b++) {
            double shorter[3];
            int n[3] = {0};
            n[i] = 1;
            n[(i + 1) % 3] = a;
            n[(i + 2) % 3] = b;
            combine(v, n, shorter);
            if (dot(shorter, shorter) >= (1 - 1e-12) * dot(v[i], v[i])) continue;
            memcpy(v[i], shorter, sizeof shorter);
            done = true;
        }
    return done;
}

/* Adding others to a vector changes neither the lattice nor the sign of the determinant. First by as much as a
 * projection says, then by one of each. */
void reduce_vectors(double v[3][3])
{
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const double times = i == j ? 0 : rint(dot(v[i], v[j]) / dot(v[j], v[j]));
                if (fabs(times) < 2) continue;
                for (int d = 0; d < 3; d++) v[i][d] -= times * v[j][d];
                more = true;
            }
        for (int i = 0; i < 3; i++) more |= shorten(v, i);
    }
}

/* x.plane = |plane|^2 / 2 for three planes; 0: they have no point in common. */
static int corner_of(const double *const plane[3], double x[3])
{
    double cross[3][3], determinant;
    for (int i = 0; i < 3; i++) {
        const double *a = plane[(i + 1) % 3], *b = plane[(i + 2) % 3];
        for (int d = 0; d < 3; d++)
            cross[i][d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
    }
    determinant = dot(plane[0], cross[0]);
    if (fabs(determinant) < 1e-9 * sqrt(dot(plane[0], plane[0]) * dot(cross[0], cross[0])))
        return 0;
    for (int d = 0; d < 3; d++) {
        x[d] = 0;
        for (int i = 0; i < 3; i++)
            x[d] += 0.5 * dot(plane[i], plane[i]) * cross[i][d] / determinant;
    }
    return 1;
}

/* Planes halfway to the lattice points around, which bound the Wigner-Seitz cell if vectors are reduced. */
static void planes_of(const double v[3][3], double plane[AROUND][3])
{
    int count = 0;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            for (int k = -1; k <= 1; k++)
                if (i || j || k) combine(v, (int[3]){i, j, k}, plane[count++]);
}

static bool is_within(const double plane[AROUND][3], const double x[3])
{
    for (int p = 0; p < AROUND; p++)
        if (dot(x, plane[p]) > 0.5 * (1 + 1e-9) * dot(plane[p], plane[p])) return false;
    return true;
}

/* No corner is farther from the origin than half the diagonal of the upright box of the same heights, one on the
 * other (L. Babai, Combinatorica 6, 1 (1986)), and |f| is at most that over the height. True of most boxes. */
static bool is_hardly_skewed(const plugmc_box *box)
{
    const double a = box->length[0], c = plugmc_height(box, 2), b = box->volume / (a * c);
    const double least = fmin(plugmc_height(box, 0), fmin(plugmc_height(box, 1), c));
    return 0.5 * sqrt(a * a + b * b + c * c) <= 1.5 * least;
}

bool finds_nearest_images(const plugmc_box *box)
{
    double v[3][3], plane[AROUND][3], x[3];
    if (!box->oblique || is_hardly_skewed(box)) return true;
    memcpy(v, box->vector, sizeof v);
    reduce_vectors(v);
    planes_of(v, plane);
    for (int p = 0; p < AROUND; p++)
        for (int q = 0; q < p; q++)
            for (int r = 0; r < q; r++) {
                if (!corner_of((const double *const[]){plane[p], plane[q], plane[r]}, x) ||
                    !is_within(plane, x))
                    continue;
                for (int d = 0; d < 3; d++)
                    if (fabs(x[0] * box->inverse[0][d] + x[1] * box->inverse[1][d] +
                             x[2] * box->inverse[2][d]) > 1.5 + 1e-9)
                        return false;
            }
    return true;
}
