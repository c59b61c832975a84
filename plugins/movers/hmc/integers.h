/* integers.h: positions and momenta as integers, and Gaussian numbers, for the CPU and in front of hmc.cu.
 *
 * Positions are fractions of the box in units of 2^-64, of which the last 16 bits stay zero: what
 * leaves on one side comes in on the other by itself, and a double holds a position exactly.
 * Momenta are multiples of 2^-40. A half step of one is added to the other as an integer that is an
 * odd function of its argument, so a trajectory runs back over the very same states.
 */
#ifndef PLUGMC_HMC_INTEGERS_H
#define PLUGMC_HMC_INTEGERS_H
#define HMC_PLACE_UNIT 281474976710656.0  /* 2^48 steps along an edge of the box */
#define HMC_MOMENTUM_UNIT 1099511627776.0 /* 2^40 */
#define HMC_ENERGY_UNIT 4294967296.0      /* 2^32 */

/* To the nearest integer, an odd function of x; 0 if x is no number. */
PLUGMC_FN int64_t hmc_nearest(double x)
{
    const double most = 4.6e18;
    double y = x > most ? most : (x < -most ? -most : (x == x ? x : 0.0));
#ifdef __CUDACC_RTC__
    return __double2ll_rn(y);
#else
    return (int64_t)llrint(y);
#endif
}

/* A fraction of the box, any number of boxes away, to the position that it is. */
PLUGMC_FN uint64_t hmc_place(double fraction)
{
    return (uint64_t)hmc_nearest((fraction - floor(fraction)) * HMC_PLACE_UNIT) << 16;
}

/* In [0, 1). */
PLUGMC_FN double hmc_fraction(uint64_t place) { return (double)(place >> 16) / HMC_PLACE_UNIT; }

PLUGMC_FN void hmc_position(const plugmc_box *box, const uint64_t place[3], double r[3])
{
    const double f[3] = {hmc_fraction(place[0]), hmc_fraction(place[1]), hmc_fraction(place[2])};
    for (int d = 0; d < 3; d++) {
        r[d] = f[d] * box->vector[d][d];
        if (box->oblique)
            r[d] = f[0] * box->vector[0][d] + f[1] * box->vector[1][d] + f[2] * box->vector[2][d];
        if (d >= box->dimension) r[d] = 0;
    }
}

PLUGMC_FN void hmc_place_of(const plugmc_box *box, const double r[3], uint64_t place[3])
{
    for (int d = 0; d < 3; d++) {
        double f = r[d] * box->inverse[d][d];
        if (box->oblique)
            f = r[0] * box->inverse[0][d] + r[1] * box->inverse[1][d] + r[2] * box->inverse[2][d];
        place[d] = d < box->dimension ? hmc_place(f) : 0;
    }
}

/* Half steps of the momentum before step k of a trajectory of `steps`, of whose two ends each has one. */
PLUGMC_FN int32_t hmc_half_steps(int64_t steps, int64_t k)
{
    return k < 0 || k > steps ? 0 : k == 0 || k == steps ? 1 : 2;
}

/* Half a step of the momentum, `times` times; half_step in time. */
PLUGMC_FN void hmc_kick(int32_t dimension, int32_t times, double half_step, const double force[3],
                        int64_t momentum[3])
{
    for (int d = 0; d < dimension; d++) {
        uint64_t change = (uint64_t)hmc_nearest(force[d] * (half_step * HMC_MOMENTUM_UNIT));
        momentum[d] = (int64_t)((uint64_t)momentum[d] + (uint64_t)times * change);
    }
}

/* A step of the position; step in time over mass. */
PLUGMC_FN void hmc_drift(const plugmc_box *box, double step, const int64_t momentum[3],
                         uint64_t place[3])
{
    double way[3];
    for (int d = 0; d < 3; d++) way[d] = (double)momentum[d] * (step / HMC_MOMENTUM_UNIT);
    for (int d = 0; d < box->dimension; d++) {
        double f = way[d] * box->inverse[d][d];
        if (box->oblique)
            f = way[0] * box->inverse[0][d] + way[1] * box->inverse[1][d] +
                way[2] * box->inverse[2][d];
        place[d] += (uint64_t)hmc_nearest(f * HMC_PLACE_UNIT) << 16;
    }
}

/* Twice the kinetic energy times the mass. */
PLUGMC_FN double hmc_square(const int64_t momentum[3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double p = (double)momentum[d] / HMC_MOMENTUM_UNIT;
        sum += p * p;
    }
    return sum;
}

/* ---- Gaussian numbers ------------------------------------------------------------------------
 * G. E. P. Box, M. E. Muller, Ann. Math. Stat. 29, 610 (1958), from IEEE operations alone. */

/* ln x for 0 < x < 1: x = 2^e m, ln m = 2 artanh((m - 1) / (m + 1)). */
PLUGMC_FN double hmc_log(double x)
{
    union {
        double value;
        uint64_t bits;
    } u;
    u.value = x;
    int32_t e = (int32_t)(u.bits >> 52) - 1023;
    u.bits = (u.bits & 0xfffffffffffffull) | 0x3ff0000000000000ull;
    double m = u.value;
    if (m > 1.4142135623730951) {
        m *= 0.5;
        e++;
    }
    double s = (m - 1) / (m + 1), z = s * s, p = 1.0 / 21;
    for (int k = 19; k > 0; k -= 2) p = p * z + 1.0 / k;
    return (double)e * 0.6931471805599453 + 2 * s * p;
}

/* sin and cos of 2 pi t, 0 < t < 1, by their series in the first octant. */
PLUGMC_FN void hmc_sincos(double t, double *sine, double *cosine)
{
    double quarter = rint(4 * t), x = (4 * t - quarter) * 1.5707963267948966, z = x * x;
    double s = 0, c = 0;
    for (int k = 16; k >= 2; k -= 2) {
        s = (1 + s) * -z / (double)(k * (k + 1));
        c = (1 + c) * -z / (double)(k * (k - 1));
    }
    s = x * (1 + s);
    c = 1 + c;
    int32_t turn = (int32_t)quarter & 3;
    double a = turn & 1 ? c : s, b = turn & 1 ? s : c;
    *sine = turn & 2 ? -a : a;
    *cosine = turn == 1 || turn == 2 ? -b : b;
}

/* Momenta of a particle of this mass, kT = 1. */
PLUGMC_FN void hmc_momentum(plugmc_seed seed, uint64_t sweep, uint32_t walker, uint32_t particle,
                            int32_t dimension, double mass, int64_t momentum[3])
{
    plugmc_random random = plugmc_draw(seed, sweep, walker, particle, PLUGMC_PURPOSE_TRIAL, 0);
    double u[4], g[4];
    for (int k = 0; k < 4; k++) u[k] = ((double)random.word[k] + 0.5) / HMC_ENERGY_UNIT;
    for (int k = 0; k < 4; k += 2) {
        double radius = sqrt(-2 * hmc_log(u[k])), sine, cosine;
        hmc_sincos(u[k + 1], &sine, &cosine);
        g[k] = radius * cosine;
        g[k + 1] = radius * sine;
    }
    for (int d = 0; d < 3; d++)
        momentum[d] = d < dimension ? hmc_nearest(g[d] * (sqrt(mass) * HMC_MOMENTUM_UNIT)) : 0;
}

#endif
