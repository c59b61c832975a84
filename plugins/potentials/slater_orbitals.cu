/* slater_orbitals.cu: values and derivatives of sums of Slater functions, the same text on the CPU and on the GPU. */

/* One function, c r^k exp(-zeta r) S_lm(r) of the place r relative to a nucleus; and, of the first one of an orbital,
 * where the others are. S_lm are solid harmonics, without a norm: 1; x, y, z; xy, xz, yz, x^2 - y^2,
 * 3 z^2 - r^2. */
typedef struct orbital {
    double centre[3];    /* of the nucleus, length */
    double zeta;         /* 1/length */
    double coefficient;  /* c */
    int32_t power, l, m; /* k; m from 0 */
    int32_t more, rest;  /* how many others; they begin `rest` entries behind this one */
    int32_t reserved;
} orbital;

/* S and its gradient. */
PLUGMC_FN void harmonic_values(int32_t l, int32_t m, double x, double y, double z, double s[4])
{
    s[0] = 1;
    s[1] = s[2] = s[3] = 0;
    if (l == 1) {
        s[0] = m == 0 ? x : m == 1 ? y : z;
        s[1 + m] = 1;
    } else if (l == 2 && m < 3) {
        s[0] = m == 0 ? x * y : m == 1 ? x * z : y * z;
        s[1] = m == 0 ? y : m == 1 ? z : 0;
        s[2] = m == 0 ? x : m == 1 ? 0 : z;
        s[3] = m == 0 ? 0 : m == 1 ? x : y;
    } else if (l == 2) {
        s[0] = m == 3 ? x * x - y * y : 2 * z * z - x * x - y * y;
        s[1] = m == 3 ? 2 * x : -2 * x;
        s[2] = -2 * y;
        s[3] = m == 3 ? 0 : 4 * z;
    }
}

/* Adds value, gradient and Laplacian of one function. With d the distance, R = d^k exp(-zeta d) and
 * R' = (k/d - zeta) R: R S, (R' r/d) S + R grad S, and, since S has no Laplacian,
 * (R'' + 2 (l + 1) R'/d) S. On the nucleus itself d is taken as a tiny number. */
PLUGMC_FN void add_function(const orbital *o, const double *r, double out[5])
{
    const double x = r[0] - o->centre[0], y = r[1] - o->centre[1], z = r[2] - o->centre[2];
    const double square = x * x + y * y + z * z, d = sqrt(square > 1e-24 ? square : 1e-24);
    const int32_t k = o->power, l = o->l;
    double value = o->coefficient * exp(-o->zeta * d), s[4];
    for (int32_t i = 0; i < k; i++) value *= d;
    const double slope = (k / d - o->zeta) * value / d;
    const double bent = o->zeta * (o->zeta - 2 * (k + l + 1) / d) + k * (k + 1 + 2 * l) / (d * d);
    harmonic_values(l, o->m, x, y, z, s);
    out[0] += value * s[0];
    out[1] += slope * x * s[0] + value * s[1];
    out[2] += slope * y * s[0] + value * s[2];
    out[3] += slope * z * s[0] + value * s[3];
    out[4] += bent * value * s[0];
}

PLUGMC_FN void orbital_values(const orbital *o, const double inverse[3][3], const double *r,
                              double out[5])
{
    (void)inverse; /* open space */
    for (int e = 0; e < 5; e++) out[e] = 0;
    add_function(o, r, out);
    for (int32_t k = 0; k < o->more; k++) add_function(o + o->rest + k, r, out);
}
