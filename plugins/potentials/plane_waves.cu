/* plane_waves.cu: values and derivatives of plane waves at a point, or of their real or imaginary
 * parts, the same text on the CPU and on the GPU. */

/* cos or sin of k.r. */
typedef struct orbital {
    double n[3];   /* k = sum_d n_d b_d, b the reciprocal vectors of the box */
    double k[3];   /* 1/length */
    double square; /* of k */
    double
        factor; /* the mean of the square of an orbital is 1: sqrt(2), or 1 for the constant and for
                      the parts of a complex wave */
    int32_t sine; /* 0: cosine */
} orbital;

/* out: value, gradient, Laplacian. */
PLUGMC_FN void orbital_values(const orbital *w, const double inverse[3][3], const double *r,
                              double out[5])
{
    double turns = 0;
    for (int d = 0; d < 3; d++)
        turns += w->n[d] * (r[0] * inverse[0][d] + r[1] * inverse[1][d] + r[2] * inverse[2][d]);
    const double phase = 6.283185307179586476925 * (turns - floor(turns));
    const double c = w->factor * cos(phase), s = w->factor * sin(phase);
    const double value = w->sine ? s : c, slope = w->sine ? c : -s;
    out[0] = value;
    for (int e = 0; e < 3; e++) out[1 + e] = slope * w->k[e];
    out[4] = -w->square * value;
}
