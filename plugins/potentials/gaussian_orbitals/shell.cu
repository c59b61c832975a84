/* shell.cu: the functions of a shell from its radial sums, the same text on the CPU and on the GPU. Stands behind
 *
 *     number     one real number, or several points side by side
 *     scalar     the type of constants
 *     GAUSSIAN_INLINE   static and always inline
 *     GAUSSIAN_UNROLL   in front of loops up to l
 *
 * With R = sum_k c_k exp(-a_k r^2), R1 = -2 sum_k a_k c_k exp(-a_k r^2) and R2 = 4 sum_k a_k^2 c_k exp(-a_k r^2), a
 * polynomial P of degree l times R has the gradient R grad P + P R1 r and the Laplacian
 * R lap P + P ((2 l + 3) R1 + r^2 R2). */

/* r of a point from a nucleus, its square, and the radial sums there. */
typedef struct gaussian_radial {
    number x, y, z, r2, R, R1, R2;
} gaussian_radial;

/* Adds one function; out [1], or [5] with derivatives: value, gradient, Laplacian. */
GAUSSIAN_INLINE void gaussian_add(const int derivatives, const scalar l, const gaussian_radial *g,
                                  number P, number px, number py, number pz, number laplacian,
                                  number *out)
{
    out[0] += P * g->R;
    if (!derivatives) return;
    const number slope = P * g->R1;
    out[1] += px * g->R + slope * g->x;
    out[2] += py * g->R + slope * g->y;
    out[3] += pz * g->R + slope * g->z;
    out[4] += laplacian * g->R + P * ((2 * l + 3) * g->R1 + g->r2 * g->R2);
}

/* r^l P_l^m(z/r) exp(i m phi) without the sign (-1)^m, for m = 0 ... l: real parts c and imaginary parts s; and those of
 * l - 1. From m to m by (x + i y)^m, at constant m by the recursion of Legendre polynomials. */
GAUSSIAN_INLINE void gaussian_harmonics(const int l, const gaussian_radial *g, number *c, number *s,
                                        number *low_c, number *low_s)
{
    const number zero = g->x - g->x;
    number re = zero + 1, im = zero;
    scalar odd = 1;
    GAUSSIAN_UNROLL
    for (int m = 0; m <= l; m++) {
        number before = zero, here = zero + odd;
        GAUSSIAN_UNROLL
        for (int n = m + 1; n <= l; n++) {
            const number next =
                ((scalar)(2 * n - 1) * g->z * here - (scalar)(n + m - 1) * g->r2 * before) *
                ((scalar)1 / (scalar)(n - m));
            before = here;
            here = next;
        }
        c[m] = here * re;
        s[m] = here * im;
        low_c[m] = before * re;
        low_s[m] = before * im;
        const number more = re * g->x - im * g->y;
        im = re * g->y + im * g->x;
        re = more;
        odd *= (scalar)(2 * m + 1);
    }
    low_c[l + 1] = low_s[l + 1] = zero;
}

/* The gradient of a solid harmonic of degree l is made of those of degree l - 1: with R_l^m those of above, d/dz R_l^m =
 * (l + m) R_(l-1)^m, (d/dx + i d/dy) R_l^m = -R_(l-1)^(m+1), (d/dx - i d/dy) R_l^m = (l + m)(l + m - 1) R_(l-1)^(m-1). */
GAUSSIAN_INLINE void gaussian_spherical(const int l, const int derivatives,
                                        const gaussian_radial *g, const int stride, number *out)
{
    number c[GAUSSIAN_MOST_L + 2], s[GAUSSIAN_MOST_L + 2], u[GAUSSIAN_MOST_L + 2],
        v[GAUSSIAN_MOST_L + 2];
    const number zero = g->x - g->x;
    c[0] = u[0] = v[0] = zero; /* as compilers do not see that l is not negative */
    gaussian_harmonics(l, g, c, s, u, v);
    gaussian_add(derivatives, (scalar)l, g, c[0], -u[1], -v[1], (scalar)l * u[0], zero,
                 out + l * stride);
    GAUSSIAN_UNROLL
    for (int m = 1; m <= l; m++) {
        const scalar k = (scalar)((l + m) * (l + m - 1)), half = (scalar)0.5;
        gaussian_add(derivatives, (scalar)l, g, c[m], half * (k * u[m - 1] - u[m + 1]),
                     -half * (k * v[m - 1] + v[m + 1]), (scalar)(l + m) * u[m], zero,
                     out + (l + m) * stride);
        gaussian_add(derivatives, (scalar)l, g, s[m], half * (k * v[m - 1] - v[m + 1]),
                     half * (k * u[m - 1] + u[m + 1]), (scalar)(l + m) * v[m], zero,
                     out + (l - m) * stride);
    }
}

/* n t^(n-1) and n (n-1) t^(n-2), with powers of t from 0. */
#define GAUSSIAN_FIRST(powers, n) ((n) ? (scalar)(n)*powers[(n) ? (n)-1 : 0] : zero)
#define GAUSSIAN_SECOND(powers, n)                                                                 \
    ((n) > 1 ? (scalar)((n) * ((n)-1)) * powers[(n) > 1 ? (n)-2 : 0] : zero)

GAUSSIAN_INLINE void gaussian_cartesian(const int l, const int derivatives,
                                        const gaussian_radial *g, const int stride, number *out)
{
    number x[GAUSSIAN_MOST_L + 1], y[GAUSSIAN_MOST_L + 1], z[GAUSSIAN_MOST_L + 1];
    const number zero = g->x - g->x;
    int place = 0;
    x[0] = y[0] = z[0] = zero + 1;
    GAUSSIAN_UNROLL
    for (int n = 1; n <= l; n++) {
        x[n] = x[n - 1] * g->x;
        y[n] = y[n - 1] * g->y;
        z[n] = z[n - 1] * g->z;
    }
    GAUSSIAN_UNROLL
    for (int a = l; a >= 0; a--) {
        GAUSSIAN_UNROLL
        for (int b = l - a; b >= 0; b--) {
            const int c = l - a - b;
            const number yz = y[b] * z[c];
            gaussian_add(derivatives, (scalar)l, g, x[a] * yz, GAUSSIAN_FIRST(x, a) * yz,
                         x[a] * GAUSSIAN_FIRST(y, b) * z[c], x[a] * y[b] * GAUSSIAN_FIRST(z, c),
                         GAUSSIAN_SECOND(x, a) * yz + x[a] * GAUSSIAN_SECOND(y, b) * z[c] +
                             x[a] * y[b] * GAUSSIAN_SECOND(z, c),
                         out + place * stride);
            place++;
        }
    }
}
