/* orbital_edge.cu: waves along x that are not a number beyond a plane. */
typedef struct orbital {
    int32_t n, sine; /* cos or sin of 2 pi n x / L */
    double edge;     /* length */
} orbital;

/* out: value, gradient, Laplacian. */
PLUGMC_FN void orbital_values(const orbital *o, const double inverse[3][3], const double *r,
                              double out[5])
{
    const double g = 6.283185307179586476925 * o->n * inverse[0][0], c = cos(g * r[0]),
                 s = sin(g * r[0]);
    out[0] = o->sine ? s : c;
    out[1] = o->sine ? g * c : -g * s;
    out[2] = out[3] = 0;
    out[4] = -g * g * out[0];
    if (r[0] >= o->edge) out[0] = (r[0] - r[0]) / (r[0] - r[0]);
}
