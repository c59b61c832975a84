/* The trial move of one particle, in double precision and the same on CPU and GPU: brush.c
 * includes this file, and its text stands in front of brush.cu.
 *
 * Random numbers are those of movers/serial in sequential order: trial i of sweep s in walker w
 * moves particle i by step * v, v from plugmc_draw_in_ball(seed, s, w, i), and accepts if the energy
 * changes by less than -kT ln u, u from plugmc_draw(seed, s, w, i, ACCEPT, 0).
 *
 * Where pairs are summed in float, places are multiples of a quantum (a power of two, fine enough
 * for float to hold the coordinates exactly): then separations are exact, and so is the reverse of
 * every move. With quantum = 0 nothing is rounded.
 */
typedef struct brush_domain {
    double edge[3];                     /* rectangular periodic box */
    double vector[3][3], inverse[3][3]; /* oblique */
    double radius2;                     /* sphere */
    double quantum;                     /* length; 0: none */
    int32_t dimension, periodic, oblique, padding;
} brush_domain;

/* A walker, where walkers differ. */
typedef struct brush_walker {
    brush_domain domain;
    double kT, step; /* energy, length */
} brush_walker;

PLUGMC_FN void brush_wrap(const brush_domain *b, double r[3])
{
    if (!b->periodic) return;
    if (b->oblique)
        plugmc_wrap_oblique(b->vector, b->inverse, r);
    else
        plugmc_wrap_rectangular(b->edge, b->dimension, r);
}

/* Back into an oblique box that rounding has led out of: a quantum at a time across the face. */
PLUGMC_FN void brush_round_inside(const brush_domain *b, double r[3])
{
    for (int outside = 1, tries = 0; outside && tries < 8; tries++) {
        double push[3] = {0, 0, 0};
        outside = 0;
        for (int d = 0; d < 3; d++) {
            const double f =
                r[0] * b->inverse[0][d] + r[1] * b->inverse[1][d] + r[2] * b->inverse[2][d];
            const double way = f < 0 ? 1 : f >= 1 ? -1 : 0;
            outside |= way != 0;
            for (int e = 0; e < 3; e++)
                push[e] += b->inverse[e][d] > 0 ? way : b->inverse[e][d] < 0 ? -way : 0;
        }
        for (int e = 0; e < 3; e++) r[e] += push[e] * b->quantum;
    }
}

/* To the nearest quanta in the domain. */
PLUGMC_FN void brush_round(const brush_domain *b, double r[3])
{
    if (!(b->quantum > 0)) return;
    for (int d = 0; d < b->dimension; d++) r[d] = rint(r[d] / b->quantum) * b->quantum;
    if (b->periodic && b->oblique) brush_round_inside(b, r);
    for (int d = 0; d < b->dimension && b->periodic && !b->oblique; d++)
        if (r[d] >= b->edge[d]) r[d] = 0;
}

/* `to` holds the old place and gets the new one. Returns 1 if that is in the domain. */
PLUGMC_FN int brush_displace(const brush_domain *b, plugmc_seed seed, uint64_t sweep,
                             uint32_t walker, uint32_t trial, double step, double to[3])
{
    double v[3];
    plugmc_draw_in_ball(seed, sweep, walker, trial, b->dimension, v);
    for (int d = 0; d < b->dimension; d++) to[d] += step * v[d];
    brush_wrap(b, to);
    brush_round(b, to);
    return b->periodic || to[0] * to[0] + to[1] * to[1] + to[2] * to[2] <= b->radius2;
}

/* -ln u: a change of energy below kT times that is accepted. */
PLUGMC_FN double brush_threshold(plugmc_seed seed, uint64_t sweep, uint32_t walker, uint32_t trial)
{
    plugmc_random random = plugmc_draw(seed, sweep, walker, trial, PLUGMC_PURPOSE_ACCEPT, 0);
    return -log(plugmc_uniform_double(random.word[0], random.word[1]));
}
