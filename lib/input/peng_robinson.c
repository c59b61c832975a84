/* See peng_robinson.h. */
#include "input/peng_robinson.h"

#include <math.h>

/* At the critical point the cubic in Z has three equal roots; then these are a P_c / (k T_c)^2 and b P_c / (k T_c). */
static const double of_a = 0.45723552892138219, of_b = 0.077796073903888456;

typedef struct cubic {
    double a, b;       /* a alpha P / (kT)^2 and b P / kT */
    double c2, c1, c0; /* Z^3 + c2 Z^2 + c1 Z + c0 */
} cubic;

static cubic cubic_at(double t, double p, double omega)
{
    const double kappa = 0.37464 + (1.54226 - 0.26992 * omega) * omega,
                 root = 1 + kappa * (1 - sqrt(t));
    cubic c = {.a = of_a * root * root * p / (t * t), .b = of_b * p / t};
    c.c2 = c.b - 1;
    c.c1 = c.a - (2 + 3 * c.b) * c.b;
    c.c0 = -(c.a - (1 + c.b) * c.b) * c.b;
    return c;
}

/* Real roots, ascending, as the closed formulas give them. */
static int real_roots(const cubic *c, double out[3])
{
    const double shift = c->c2 / 3, pi = 3.14159265358979323846;
    const double q = shift * shift - c->c1 / 3,
                 r = shift * (shift * shift - 0.5 * c->c1) + 0.5 * c->c0;
    if (r * r < q * q * q) {
        const double angle = acos(fmax(-1, fmin(1, r / sqrt(q * q * q))));
        for (int k = 0; k < 3; k++)
            out[k] = -2 * sqrt(q) * cos((angle + 2 * pi * (k == 1 ? 2 : k == 2)) / 3) - shift;
        return 3;
    }
    const double s = -copysign(cbrt(fabs(r) + sqrt(r * r - q * q * q)), r);
    out[0] = s + (s != 0 ? q / s : 0) - shift;
    return 1;
}

/* Cancellation has cost the formulas digits: Newton gives them back. */
static double polished(const cubic *c, double z)
{
    for (int k = 0; k < 8; k++) {
        const double value = ((z + c->c2) * z + c->c1) * z + c->c0,
                     slope = (3 * z + 2 * c->c2) * z + c->c1;
        if (!(fabs(slope) > 1e-12)) break;
        const double next = z - value / slope;
        if (!(next > c->b) || fabs(next - z) < 1e-16 * z) break;
        z = next;
    }
    return z;
}

int peng_robinson_roots(double temperature, double pressure, double acentric_factor,
                        peng_robinson out[3])
{
    const cubic c = cubic_at(temperature, pressure, acentric_factor);
    const double two = sqrt(2);
    double found[3];
    int n = 0;
    const int roots = real_roots(&c, found);
    for (int k = 0; k < roots; k++) {
        /* Below b there is no fluid. */
        if (!(found[k] > c.b)) continue;
        const double z = polished(&c, found[k]);
        const double ratio = (z + (1 + two) * c.b) / (z + (1 - two) * c.b);
        out[n++] = (peng_robinson){z, z - 1 - log(z - c.b) - c.a / (2 * two * c.b) * log(ratio)};
    }
    return n;
}

peng_robinson peng_robinson_at(double temperature, double pressure, double acentric_factor)
{
    peng_robinson found[3] = {{NAN, NAN}};
    const int n = peng_robinson_roots(temperature, pressure, acentric_factor, found);
    int best = 0;
    for (int k = 1; k < n; k++)
        if (found[k].ln_coefficient < found[best].ln_coefficient) best = k;
    return found[best];
}

/* ln f rises with ln P, by Z. */
double peng_robinson_pressure(double temperature, double fugacity, double acentric_factor)
{
    double low = log(fugacity), high = low;
    for (int k = 0; k < 400; k++) {
        const double p = exp(low);
        if (low + peng_robinson_at(temperature, p, acentric_factor).ln_coefficient <= log(fugacity))
            break;
        low -= 0.5;
    }
    for (int k = 0; k < 400; k++) {
        const double p = exp(high);
        if (high + peng_robinson_at(temperature, p, acentric_factor).ln_coefficient >=
            log(fugacity))
            break;
        high += 0.5;
    }
    for (int k = 0; k < 200 && low < high; k++) {
        const double middle = 0.5 * (low + high);
        if (middle == low || middle == high) break;
        const double there =
            middle + peng_robinson_at(temperature, exp(middle), acentric_factor).ln_coefficient;
        *(there < log(fugacity) ? &low : &high) = middle;
    }
    return exp(0.5 * (low + high));
}
