/* Laws. Keys: dimension, particles, kT, coupling, and
 *
 *   volume        V of two particles with a potential among `particles`, the others ideal, at `pressure`;
 *                 weight V^N Z(V) exp(-P V / kT) dV, Z = <exp(-U / kT)> over places of the two. `spring`:
 *                 edges of a rectangle are free, with the energy spring t^2 / 2, t the logarithm of
 *                 their ratio. `stiff`: with the energy stiff t^2 / 2, t the logarithm of V over `around`
 *   shape         t of that
 *   ring          length L of a ring with `particles` rods of length 1 at `pressure` along it: weight
 *                 L (L - N)^(N - 1) exp(-P L / kT) dL
 *   energy        U of the two in a square or cube of edge `length`
 *   distance      nearest distance of those two
 *   field         x of a particle in U = strength t^2 (1 - t)^2 (t - 0.4), t = x / `length`
 *   well          U of one particle in (x^2 - 1)^2
 *   wall          U of two balls of `diameters` A,B and contact `core` within a sphere of `radius`, from
 *                 which no part of them sticks out; U is not sampled
 *   number        N of particles of `activity`, at most `most`, in a square or cube of edge `length` or a
 *                 sphere of `radius`; with a potential at most two. With `pressure` of an ideal gas whose
 *                 box changes, too. `tail`: of two particles, as N^2. `rods`=1: of rods of length 1 on a ring of
 *                 `length`, weight z^N L (L - N)^(N - 1) / N!, 1 of none
 *   mixture       how many of `total` particles are A, where each may become B: `ratio` of their activities;
 *                 ideal, or two of contacts `cores` AA,AB,BB
 *   even          all numbers from 0 to `total` are equally probable; or with `to` all between `from` and that
 *   bins          V of `particles` of an ideal gas at `pressure` in `bins` bins from `least` to `most`
 *   group         number of the first species where `group` particles of each come and go together, up to `most` groups
 *   composition   numbers a, b of two species, as a (most of b + 1) + b, with `activities` A,B, at most `most` A,B of them
 *                 and three together (others have the weight 0), and the energies strength (1 - r^2 / range^2)^3 of pairs,
 *                 `strengths` AA,AB,BB; `range` is at most half of `length`
 *   arrangements  U of particles of charge A,B on fixed places x,y: `count` of A among them, `charges` A,B,
 *                 `places` X,Y,X,Y...
 *
 * Potentials, of the nearest image: `core` (hard), `coulomb` (its Bjerrum length times both charges; `ewald` with all
 * images), `yukawa` (Bjerrum
 * length, with `kappa`), `lennard_jones` (epsilon, sigma = 1, with `cutoff`; `tail` adds the long-range
 * correction, which is tail / V). Nothing here uses code of the program. */
#include "laws.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 4000 };

typedef struct model {
    int dimension, particles;
    double kT, coupling, pressure, length, spring, stiff, around;
    double core, coulomb, ewald, yukawa, kappa, lennard_jones, cutoff, tail;
} model;

static void refuse(const char *what)
{
    fprintf(stderr, "distribution: %s\n", what);
    exit(2);
}

const char *text_of(int count, char **keys, const char *key)
{
    const size_t n = strlen(key);
    for (int i = 0; i < count; i++)
        if (!strncmp(keys[i], key, n) && keys[i][n] == '=') return keys[i] + n + 1;
    return NULL;
}

double number_of(int count, char **keys, const char *key, double otherwise)
{
    const char *text = text_of(count, keys, key);
    char *end;
    if (!text) return otherwise;
    const double number = strtod(text, &end);
    if (end == text) refuse("not a number");
    return number;
}

/* At most `most` numbers with commas between them. */
static int numbers_of(int count, char **keys, const char *key, int most, double *out)
{
    const char *text = text_of(count, keys, key);
    int n = 0;
    for (char *end; text && n < most; text = *end == ',' ? end + 1 : NULL)
        out[n++] = strtod(text, &end);
    return n;
}

static model read_model(int count, char **keys)
{
#define KEY(name, otherwise) .name = number_of(count, keys, #name, otherwise)
    return (model){.dimension = (int)number_of(count, keys, "dimension", 3),
                   .particles = (int)number_of(count, keys, "particles", 2),
                   KEY(kT, 1),
                   KEY(coupling, 1),
                   KEY(pressure, 1),
                   KEY(length, 1),
                   KEY(spring, 0),
                   KEY(stiff, 0),
                   KEY(around, 1),
                   KEY(core, 0),
                   KEY(coulomb, 0),
                   KEY(ewald, 0),
                   KEY(yukawa, 0),
                   KEY(kappa, 0),
                   KEY(lennard_jones, 0),
                   KEY(cutoff, INFINITY),
                   KEY(tail, 0)};
}

/* ---- Two particles in a box ------------------------------------------------------------------ */

static double pair_energy(const model *m, double r)
{
    const double sixth = pow(r, -6);
    if (r >= m->cutoff) return 0;
    return m->coulomb / r + m->yukawa * exp(-m->kappa * r) / r +
           4 * m->lennard_jones * (sixth * sixth - sixth);
}

static int is_soft(const model *m)
{
    return m->coulomb != 0 || m->yukawa != 0 || m->lennard_jones != 0;
}

/* Area of the disk of radius r around the middle of a rectangle, within it: h are half its edges. */
static double disk_in_rectangle(double r, const double h[2])
{
    const double whole = fmin(h[1] < r ? sqrt(r * r - h[1] * h[1]) : 0, h[0]), last = fmin(r, h[0]);
    const double a = whole / r, b = last / r;
    return 4 * whole * h[1] +
           2 * r * r * (b * sqrt(1 - b * b) + asin(b) - a * sqrt(1 - a * a) - asin(a));
}

/* The same of a ball in a box with three edges: slices at z = r sin(angle). */
static double ball_in_box(double r, const double h[3])
{
    enum { SLICES = 64 };
    const double last = asin(fmin(1, h[2] / r)), step = last / SLICES;
    double sum = 0;
    for (int i = 0; i < SLICES; i++) {
        const double c = r * cos((i + 0.5) * step);
        sum += disk_in_rectangle(c, h) * c;
    }
    return 2 * sum * step;
}

static double within(const model *m, double r, const double h[3])
{
    if (r <= 0) return 0;
    return m->dimension == 2 ? disk_in_rectangle(r, h) : ball_in_box(r, h);
}

/* Mean of exp(-U) over places of two particles in a box with half edges h. */
static double pair_factor(const model *m, const double h[3])
{
    enum { SHELLS = 300 };
    const double volume = m->dimension == 2 ? 4 * h[0] * h[1] : 8 * h[0] * h[1] * h[2];
    double inner = within(m, m->core, h), sum = 0;
    if (!is_soft(m)) return fmax(0, 1 - inner / volume);
    const double corner = sqrt(h[0] * h[0] + h[1] * h[1] + (m->dimension == 3 ? h[2] * h[2] : 0));
    const double far = fmin(m->cutoff, corner);
    const double step = (far - m->core) / SHELLS;
    for (int i = 0; i < SHELLS && step > 0; i++) {
        const double r = m->core + (i + 0.5) * step, outer = within(m, r + 0.5 * step, h);
        sum += (outer - inner) * exp(-m->coupling / m->kT * pair_energy(m, r));
        inner = outer;
    }
    return (sum + (m->cutoff < corner ? volume - inner : 0)) / volume;
}

/* ---- Two charges with all their images ------------------------------------------------------- */

enum { IMAGES = 7 };

/* Energy of a charge at r in the lattice of images of another one and its neutralising background, less 1 / r,
 * in a cube: the Ewald sum, alpha = 6 / length. wave [IMAGES + 1]^3: weights of cosines. */
static double beyond_nearest(double length, const double *wave, const double r[3])
{
    const double alpha = 6 / length, square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    double sum = square > 0 ? -erf(alpha * sqrt(square)) / sqrt(square) : -2 * alpha / sqrt(M_PI);
    for (int i = 0; i < 27; i++) {
        const double x = r[0] + (i / 9 - 1) * length, y = r[1] + (i / 3 % 3 - 1) * length,
                     z = r[2] + (i % 3 - 1) * length, d = sqrt(x * x + y * y + z * z);
        if (i != 13) sum += erfc(alpha * d) / d;
    }
    double c[3][IMAGES + 1];
    for (int d = 0; d < 3; d++)
        for (int n = 0; n <= IMAGES; n++) c[d][n] = cos(2 * M_PI * n * r[d] / length);
    for (int n = 0; n < (IMAGES + 1) * (IMAGES + 1) * (IMAGES + 1); n++)
        sum += wave[n] * c[0][n / (IMAGES + 1) / (IMAGES + 1)] *
               c[1][n / (IMAGES + 1) % (IMAGES + 1)] * c[2][n % (IMAGES + 1)];
    return sum - M_PI / (alpha * alpha * length * length * length);
}

/* Mean of exp(-U) over places of charges that are opposite, or alike if ewald > 0, in a cube; U is with the energy
 * that each has with its own images. */
static double ewald_factor(const model *m)
{
    enum { SHELLS = 150, ANGLES = 24 };
    const double length = m->length, alpha = 6 / length, volume = length * length * length;
    double wave[(IMAGES + 1) * (IMAGES + 1) * (IMAGES + 1)], sum = 0;
    for (int n = 0; n < (IMAGES + 1) * (IMAGES + 1) * (IMAGES + 1); n++) {
        const int x = n / (IMAGES + 1) / (IMAGES + 1), y = n / (IMAGES + 1) % (IMAGES + 1),
                  z = n % (IMAGES + 1);
        const double k2 = 4 * M_PI * M_PI / length / length * (x * x + y * y + z * z);
        wave[n] = k2 > 0 ? 4 * M_PI / volume * exp(-k2 / 4 / alpha / alpha) / k2 *
                               (double)((1 + (x > 0)) * (1 + (y > 0)) * (1 + (z > 0)))
                         : 0;
    }
    const double own = beyond_nearest(length, wave, (const double[3]){0, 0, 0}),
                 step = (sqrt(3) / 2 * length - m->core) / SHELLS;
    for (int i = 0; i < SHELLS; i++)
        for (int j = 0; j < ANGLES * ANGLES; j++) {
            const double r = m->core + (i + 0.5) * step, c = (j / ANGLES + 0.5) / ANGLES,
                         phi = (j % ANGLES + 0.5) / ANGLES * M_PI / 2, s = sqrt(1 - c * c);
            const double at[3] = {r * s * cos(phi), r * s * sin(phi), r * c};
            if (fmax(at[0], fmax(at[1], at[2])) > 0.5 * length) continue;
            const double u =
                m->ewald * (1 / r + beyond_nearest(length, wave, at)) + fabs(m->ewald) * own;
            sum += r * r * exp(-u / m->kT);
        }
    return 4 * M_PI * step * sum / (ANGLES * ANGLES) / volume;
}

/* ---- Laws ------------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    const double x = ((const point *)a)->value, y = ((const point *)b)->value;
    return (x > y) - (x < y);
}

static law new_law(int count)
{
    law l = {.count = count, .points = calloc((size_t)count, sizeof *l.points)};
    if (!l.points) refuse("no memory");
    return l;
}

static law finish(law l)
{
    double sum = 0;
    qsort(l.points, (size_t)l.count, sizeof *l.points, by_value);
    for (int i = 0; i < l.count; i++) sum += l.points[i].weight;
    for (int i = 0; i < l.count; i++) l.points[i].weight /= sum;
    return l;
}

/* ln of the weight of a box of volume exp(logarithm) and shape t, per d ln V dt. */
static double log_weight(const model *m, double logarithm, double t)
{
    const double v = exp(logarithm), edge = exp(logarithm / m->dimension);
    const double away = logarithm - log(m->around);
    const double h[3] = {0.5 * edge * exp(0.5 * t), 0.5 * edge * exp(-0.5 * t), 0.5 * edge};
    return (m->particles + 1) * logarithm - m->pressure * v / m->kT - m->tail / v / m->kT -
           0.5 * (m->spring * t * t + m->stiff * away * away) / m->kT +
           (m->core > 0 || is_soft(m) ? log(pair_factor(m, h)) : 0);
}

/* Where ln V has weights within 1e-17 of the largest, for a square or cube. */
static void find_range(const model *m, double *from, double *to)
{
    enum { STEPS = 600 };
    const double middle = log((m->particles + 1) * m->kT / m->pressure), first = middle - 25;
    double weight[STEPS], most = -INFINITY;
    for (int i = 0; i < STEPS; i++) {
        weight[i] = log_weight(m, first + i * 0.05, 0);
        most = fmax(most, weight[i]);
    }
    *from = first + (STEPS - 1) * 0.05, *to = first;
    for (int i = 0; i < STEPS; i++)
        if (weight[i] > most - 39) *from = fmin(*from, first + i * 0.05), *to = first + i * 0.05;
    *from -= 0.05, *to += 0.05;
}

/* Marginal law of V or, if `shape`, of t. */
static law box_law(const model *m, int shape)
{
    const int rows = shape ? 400 : is_soft(m) ? POINTS / 4 : POINTS, columns = shape ? 2001 : 121;
    const int used = m->spring > 0 ? columns : 1;
    if (m->spring > 0 && (m->dimension != 2 || is_soft(m))) refuse("no such shape");
    double from, to, reach = m->spring > 0 ? 9 / sqrt(m->spring / m->kT) : 0;
    find_range(m, &from, &to);
    law l = new_law(shape ? used : rows);
    const double shift = log_weight(m, 0.5 * (from + to), 0), step = (to - from) / rows;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < used; j++) {
            const double logarithm = from + (i + 0.5) * step;
            const double t = used > 1 ? reach * (2.0 * j / (used - 1) - 1) : 0;
            point *p = &l.points[shape ? j : i];
            p->value = shape ? t : exp(logarithm);
            p->weight += exp(log_weight(m, logarithm, t) - shift);
        }
    l.multiplier = m->pressure / m->kT;
    return finish(l);
}

static law ring_law(const model *m)
{
    const int n = m->particles;
    const double longest = n + 60 * m->kT / m->pressure, step = (longest - n) / POINTS;
    law l = new_law(POINTS);
    for (int i = 0; i < POINTS; i++) {
        const double x = (i + 0.5) * step;
        l.points[i] = (point){n + x, (n + x) * pow(x, n - 1) * exp(-m->pressure * x / m->kT)};
    }
    return finish(l);
}

/* U of the two, or their distance. */
static law energy_law(const model *m, int distance)
{
    const double h[3] = {0.5 * m->length, 0.5 * m->length, 0.5 * m->length};
    const double step = (sqrt(m->dimension) * h[0] - m->core) / POINTS;
    law l = new_law(POINTS);
    for (int i = 0; i < POINTS; i++) {
        const double r = m->core + (i + 0.5) * step, u = pair_energy(m, r);
        l.points[i] = (point){distance ? r : u,
                              (within(m, r + 0.5 * step, h) - within(m, r - 0.5 * step, h)) *
                                  exp(-m->coupling * u / m->kT)};
    }
    l.multiplier = m->coupling / m->kT;
    return finish(l);
}

static law field_law(const model *m, int count, char **keys)
{
    const double strength = number_of(count, keys, "strength", 1);
    law l = new_law(POINTS);
    for (int i = 0; i < POINTS; i++) {
        const double t = (i + 0.5) / POINTS, u = strength * t * t * (1 - t) * (1 - t) * (t - 0.4);
        l.points[i] = (point){t * m->length, exp(-m->coupling * u / m->kT)};
    }
    return finish(l);
}

static law well_law(const model *m)
{
    law l = new_law(POINTS);
    for (int i = 0; i < POINTS; i++) {
        const double x = 4 * (i + 0.5) / POINTS, u = (x * x - 1) * (x * x - 1);
        l.points[i] = (point){u, exp(-m->coupling * u / m->kT)};
    }
    l.multiplier = m->coupling / m->kT;
    return finish(l);
}

/* Volume common to balls of radius a and b, r apart. */
static double lens(double a, double b, double r)
{
    const double s = a + b - r, d = a - b;
    if (s <= 0) return 0;
    if (r <= fabs(d)) return 4 * M_PI / 3 * pow(fmin(a, b), 3);
    return M_PI * s * s * (r * r + 2 * r * (a + b) - 3 * d * d) / (12 * r);
}

/* Of a distance r: 4 pi r^2 times the volume from which both are inside. */
static law wall_law(const model *m, int count, char **keys)
{
    const double radius = number_of(count, keys, "radius", 1);
    double diameter[2];
    if (numbers_of(count, keys, "diameters", 2, diameter) != 2) refuse("diameters: two of them");
    const double a = radius - 0.5 * diameter[0], b = radius - 0.5 * diameter[1];
    law l = new_law(POINTS);
    for (int i = 0; i < POINTS; i++) {
        const double r = m->core + (i + 0.5) / POINTS * (a + b - m->core);
        l.points[i] = (point){pair_energy(m, r), r * r * lens(a, b, r)};
    }
    return finish(l);
}

static double nearest(double d, double length) { return d - length * rint(d / length); }

static law arrangement_law(const model *m, int count, char **keys)
{
    double place[32], charge[2];
    const int places = numbers_of(count, keys, "places", 32, place) / 2;
    const int first = (int)number_of(count, keys, "count", 1);
    if (places < 2 || numbers_of(count, keys, "charges", 2, charge) != 2)
        refuse("places or charges");
    law l = new_law(1 << places);
    l.discrete = 1;
    l.count = 0;
    for (int bits = 0; bits < 1 << places; bits++) {
        double u = 0;
        if (__builtin_popcount((unsigned)bits) != first) continue;
        for (int i = 0; i < places; i++)
            for (int j = 0; j < i; j++)
                u += charge[!(bits >> i & 1)] * charge[!(bits >> j & 1)] *
                     pair_energy(m, hypot(nearest(place[2 * i] - place[2 * j], m->length),
                                          nearest(place[2 * i + 1] - place[2 * j + 1], m->length)));
        l.points[l.count++] = (point){u, exp(-m->coupling * u / m->kT)};
    }
    return finish(l);
}

/* ln of <exp(-U / kT)> over places of `n` particles. */
static double log_factor(const model *m, int n)
{
    const double h[3] = {0.5 * m->length, 0.5 * m->length, 0.5 * m->length};
    if (n < 2 || !(m->core > 0 || is_soft(m) || m->ewald != 0)) return 0;
    if (n > 2) refuse("more than two particles with a potential");
    if (m->ewald != 0) return log(ewald_factor(m));
    return log(pair_factor(m, h));
}

static law number_law(const model *m, int count, char **keys)
{
    const int most = (int)number_of(count, keys, "most", 0);
    const double activity = number_of(count, keys, "activity", 1),
                 radius = number_of(count, keys, "radius", 0);
    const double volume = radius > 0
                              ? (m->dimension == 2 ? M_PI : 4 * M_PI / 3 * radius) * radius * radius
                              : pow(m->length, m->dimension);
    const int boxes = text_of(count, keys, "pressure") != NULL;
    const int rods = number_of(count, keys, "rods", 0) != 0;
    law l = new_law(most + 1);
    for (int n = 0; n <= most; n++) {
        /* of V^N exp(-P V / kT), the integral over V is N! (kT / P)^(N + 1) */
        const double room = boxes ? n * log(m->kT / m->pressure) : n * log(volume) - lgamma(n + 1);
        const double tail = 0.25 * m->tail * n * n / volume / m->kT;
        if (rods && n > 0) {
            const double free = m->length - n;
            const double rings = log(m->length) + (n - 1) * log(free) - lgamma(n + 1);
            l.points[n] = (point){n, free > 0 ? exp(n * log(activity) + rings) : 0};
            continue;
        }
        l.points[n] = (point){n, exp(n * log(activity) + room - tail + log_factor(m, n))};
    }
    l.multiplier = -log(activity);
    return finish(l);
}

/* Of groups that come and go, `group` particles of each species: 1,2. */
static law group_law(const model *m, int count, char **keys)
{
    double group[8], all = 0;
    const int most = (int)number_of(count, keys, "most", 0),
              species = numbers_of(count, keys, "group", 8, group);
    const double activity = number_of(count, keys, "activity", 1);
    law l = new_law(most + 1);
    for (int s = 0; s < species; s++) all += group[s];
    for (int n = 0; n <= most; n++) {
        double sum =
            n * all * log(activity * pow(m->length, m->dimension)) + log_factor(m, (int)(n * all));
        for (int s = 0; s < species; s++) sum -= lgamma(n * group[s] + 1);
        l.points[n] = (point){n * group[0], exp(sum)};
    }
    l.multiplier = -log(activity);
    return finish(l);
}

static law mixture_law(model m, int count, char **keys)
{
    const int total = (int)number_of(count, keys, "total", 2);
    const double ratio = number_of(count, keys, "ratio", 1);
    double cores[3] = {0, 0, 0};
    if (numbers_of(count, keys, "cores", 3, cores) % 3) refuse("cores: three of them");
    law l = new_law(total + 1);
    for (int n = 0; n <= total; n++) {
        m.core = total == 2 ? cores[2 - n] : 0;
        l.points[n] = (point){
            n, exp(n * log(ratio) - lgamma(n + 1) - lgamma(total - n + 1) + log_factor(&m, total))};
    }
    l.multiplier = -log(ratio);
    return finish(l);
}

/* ---- Two species ------------------------------------------------------------------------------- */

/* Waves along each axis: energies bend in no derivative below the third, and sums over waves converge as fast. */
enum { WAVES_IN_PLANE = 64, WAVES_IN_SPACE = 32 };

/* Fourier coefficients [n]^dimension of f(r) = exp(-U / kT) - 1 of two particles in the box. f is even, so they are real. */
static double *mayer_waves(const model *m, int n, double strength, double range)
{
    const int axes = m->dimension, size = axes == 2 ? n * n : n * n * n;
    double *f = calloc((size_t)size, sizeof *f), *line = calloc((size_t)n, sizeof *line),
           *cosine = calloc((size_t)n, sizeof *cosine);
    if (!f || !line || !cosine) refuse("no memory");
    for (int k = 0; k < n; k++) cosine[k] = cos(2 * M_PI * k / n);
    for (int k = 0; k < size; k++) {
        double square = 0;
        for (int d = 0, rest = k; d < axes; d++, rest /= n) {
            const int i = rest % n, near = i <= n / 2 ? i : n - i;
            square += (double)(near * near) * m->length * m->length / (double)(n * n);
        }
        const double left = fmax(0, 1 - square / (range * range));
        f[k] = expm1(-strength * left * left * left / m->kT);
    }
    for (int stride = 1; stride < size; stride *= n)
        for (int begin = 0; begin < size; begin++) {
            if (begin / stride % n) continue;
            for (int wave = 0; wave < n; wave++) {
                line[wave] = 0;
                for (int i = 0; i < n; i++)
                    line[wave] += f[begin + i * stride] * cosine[wave * i % n] / n;
            }
            for (int wave = 0; wave < n; wave++) f[begin + wave * stride] = line[wave];
        }
    free(line), free(cosine);
    return f;
}

/* <exp(-U / kT)> over positions of a and b particles, three at most: sums over graphs of Mayer's f, of which a chain is the
 * product of its bonds in a homogeneous box, and a ring the sum over waves of the product of Fourier coefficients. */
static double mayer_sum(double *const waves[3], int size, int a, int b)
{
    const double *bond[3] = {0};
    int bonds = 0;
    double ring = 0;
    for (int i = 0; i < a + b; i++)
        for (int j = 0; j < i && bonds < 3; j++) bond[bonds++] = waves[(i >= a) + (j >= a)];
    if (bonds == 0) return 1;
    if (bonds == 1) return 1 + bond[0][0];
    for (int k = 0; k < size; k++) ring += bond[0][k] * bond[1][k] * bond[2][k];
    const double x = bond[0][0], y = bond[1][0], z = bond[2][0];
    return 1 + x + y + z + x * y + x * z + y * z + ring;
}

static law composition_law(const model *m, int count, char **keys)
{
    double most[2], activity[2], strength[3], *waves[3];
    const double range = number_of(count, keys, "range", 0), volume = pow(m->length, m->dimension);
    const int n = m->dimension == 2 ? WAVES_IN_PLANE : WAVES_IN_SPACE,
              size = m->dimension == 2 ? n * n : n * n * n;
    if (numbers_of(count, keys, "most", 2, most) != 2 ||
        numbers_of(count, keys, "activities", 2, activity) != 2 ||
        numbers_of(count, keys, "strengths", 3, strength) != 3 || !(range <= 0.5 * m->length))
        refuse("most, activities, strengths or range");
    for (int k = 0; k < 3; k++) waves[k] = mayer_waves(m, n, strength[k], range);
    const int most_a = (int)most[0], most_b = (int)most[1];
    law l = new_law((most_a + 1) * (most_b + 1));
    l.discrete = 1;
    for (int a = 0; a <= most_a; a++)
        for (int b = 0; b <= most_b; b++) {
            const double ideal = pow(activity[0] * volume, a) * pow(activity[1] * volume, b) /
                                 tgamma(a + 1) / tgamma(b + 1);
            l.points[a * (most_b + 1) + b] =
                (point){a * (most_b + 1) + b, a + b > 3 ? 0 : ideal * mayer_sum(waves, size, a, b)};
        }
    for (int k = 0; k < 3; k++) free(waves[k]);
    return finish(l);
}

static law even_law(int count, char **keys)
{
    const int total = (int)number_of(count, keys, "total", 0);
    const double from = number_of(count, keys, "from", 0), to = number_of(count, keys, "to", 0);
    law l = new_law(to > 0 ? POINTS : total + 1);
    l.discrete = to <= 0;
    for (int i = 0; i < l.count; i++)
        l.points[i] = (point){to > 0 ? from + (to - from) * (i + 0.5) / l.count : i, 1};
    return finish(l);
}

/* Simpson's rule in each bin: 100 pieces of a smooth function. */
static law bins_law(const model *m, int count, char **keys)
{
    const double least = number_of(count, keys, "least", 0),
                 most = number_of(count, keys, "most", 1);
    law l = new_law((int)number_of(count, keys, "bins", 1));
    const double width = (most - least) / l.count, piece = width / 100;
    for (int b = 0; b < l.count; b++) {
        double sum = 0;
        for (int k = 0; k <= 100; k++) {
            const double V = least + b * width + k * piece;
            sum += (k == 0 || k == 100 ? 1
                    : k % 2            ? 4
                                       : 2) *
                   pow(V, m->particles) * exp(-m->pressure * V / m->kT);
        }
        l.points[b] = (point){least + (b + 0.5) * width, sum};
    }
    return finish(l);
}

law make_law(const char *name, int count, char **keys)
{
    const model m = read_model(count, keys);
    if (!strcmp(name, "volume")) return box_law(&m, 0);
    if (!strcmp(name, "shape")) return box_law(&m, 1);
    if (!strcmp(name, "ring")) return ring_law(&m);
    if (!strcmp(name, "energy")) return energy_law(&m, 0);
    if (!strcmp(name, "distance")) return energy_law(&m, 1);
    if (!strcmp(name, "field")) return field_law(&m, count, keys);
    if (!strcmp(name, "well")) return well_law(&m);
    if (!strcmp(name, "wall")) return wall_law(&m, count, keys);
    if (!strcmp(name, "number")) return number_law(&m, count, keys);
    if (!strcmp(name, "group")) return group_law(&m, count, keys);
    if (!strcmp(name, "mixture")) return mixture_law(m, count, keys);
    if (!strcmp(name, "composition")) return composition_law(&m, count, keys);
    if (!strcmp(name, "even")) return even_law(count, keys);
    if (!strcmp(name, "bins")) return bins_law(&m, count, keys);
    if (!strcmp(name, "arrangements")) return arrangement_law(&m, count, keys);
    refuse("there is no such law");
    return (law){0};
}
