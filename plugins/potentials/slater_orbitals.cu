/* slater_orbitals.cu: values and derivatives of exp(-zeta |r - R|), the same text on the CPU and on
 * the GPU. */
typedef struct orbital {
    double centre[3]; /* R */
    double zeta;      /* 1/length */
} orbital;

/* out: value, gradient, Laplacian. With d the distance: exp(-zeta d), -zeta (r - R)/d times it, and
 * zeta (zeta - 2/d) times it. On the nucleus itself d is taken as a tiny number. */
PLUGMC_FN void orbital_values(const orbital *o, const double inverse[3][3], const double *r,
                              double out[5])
{
    (void)inverse; /* open space */
    const double x = r[0] - o->centre[0], y = r[1] - o->centre[1], z = r[2] - o->centre[2];
    const double square = x * x + y * y + z * z, d = sqrt(square > 1e-24 ? square : 1e-24);
    const double value = exp(-o->zeta * d), slope = -o->zeta * value / d;
    out[0] = value;
    out[1] = slope * x;
    out[2] = slope * y;
    out[3] = slope * z;
    out[4] = o->zeta * (o->zeta - 2 / d) * value;
}
