/* polynomial_jastrow: a Jastrow factor exp(J) of a many-electron wave function from polynomials, as CASINO has them
 * (N. D. Drummond, M. D. Towler, R. J. Needs, Phys. Rev. B 70, 235119 (2004)),
 *
 *     J = sum_{i<j} u(r_ij) + sum_{i,I} chi(r_iI) + sum_{i<j,I} f(r_iI, r_jI, r_ij),
 *
 * as a term of -ln |Psi|^2: the energy over kT is -2 J. With x = r / L, L the cutoff of each,
 *
 *     u   = (1 - x)^C sum_l a_l x^l
 *     chi = (1 - x)^C sum_l b_l x^l
 *     f   = (1 - x_i)^C (1 - x_j)^C sum_lmn g_lmn x_i^l x_j^m x_ij^n,    g_lmn = g_mln,
 *
 * and 0 beyond the cutoffs. u and f are one function for like and one for unlike spins, which are species. a_1 is
 * what gives u the slope 1/4 (like) or 1/2 (unlike) where two electrons meet (T. Kato, Commun. Pure Appl. Math. 10, 151
 * (1957)), b_1 gives chi the slope -chi_cusp at the ion, and f has no slope of its own at either (f_form.h): lists in
 * the INI file have the coefficients that are left. They have no unit; CASINO's alpha_l, beta_l and gamma_lmn
 * are a_l / ((-L)^C L^l), b_l / ((-L)^C L^l) and g_lmn / (L^(2 C + l + m + n)).
 *
 * Each kind of ion has a chi and an f of its own; all f have the same orders. In a periodic box f reaches half as far
 * as u may: then of an electron that is near an ion the image of another one that is near the same image of that ion
 * is the nearest one.
 */
#include <plugmc/potential.h>
#include <plugmc/tally.h>

typedef struct parameters {
    plugmc_list u_like, u_unlike, chi, f_like,
        f_unlike;                        /* what is free, one kind of ion after the other */
    real u_cutoff, chi_cutoff, f_cutoff; /* length */
    real chi_cusp;
    int64_t truncation, f_electron_ion, f_electron_electron;
    int32_t f_without_u, f_without_chi;
    plugmc_list ions, tile; /* [ions][3] length; [3] */
    const char *file, *elements;
    int64_t chi_set, f_set;
    plugmc_list u_table;            /* [like, unlike][u_terms] a_l */
    plugmc_list chi_table;          /* [kinds][terms] b_l */
    plugmc_list f_table;            /* [kinds][like, unlike][n][l][m] g_lmn */
    plugmc_list cell;               /* inverse [3][3], vectors [3][3]; empty: open space */
    plugmc_list chi_places;         /* [images of ions][3] length, one kind after the other */
    plugmc_list chi_kinds, f_kinds; /* [kinds][CHI_NUMBERS], [kinds][F_NUMBERS] */
    plugmc_list f_places,
        f_begin; /* [kinds]: those near each bin, one bin after the other; [kinds][bins + 1] */
    int64_t u_terms, f_bins;            /* f_bins: along each lattice vector */
    real u_reach, reach;                /* length */
    const struct polynomial_form *form; /* for the host alone */
} parameters;

/* Of a kind of ion. chi: its images among the places, its coefficients in the table, how many these are, its cutoff. f:
 * its cutoff, where its bins begin in f_begin, its coefficients in the table. */
enum { CHI_BEGIN, CHI_END, CHI_FIRST, CHI_TERMS, CHI_REACH, CHI_NUMBERS };
enum { F_REACH, F_BINS, F_FIRST, F_NUMBERS };

/* ---- Polynomials ---- */

PLUGMC_FN real raised(real x, int32_t n)
{
    real y = 1;
    for (int32_t k = 0; k < n; k++) y *= x;
    return y;
}

/* (1 - x)^C sum_k c_k x^k. */
PLUGMC_FN real radial(const real *c, int32_t terms, int32_t power, real x)
{
    real sum = 0;
    for (int32_t k = terms - 1; k >= 0; k--) sum = sum * x + c[k];
    return sum * raised(1 - x, power);
}

/* Its first and second derivative by x. */
PLUGMC_FN void radial_slopes(const real *c, int32_t terms, int32_t power, real x, real *first,
                             real *second)
{
    real q = 0, q1 = 0, q2 = 0; /* the sum, its derivative, and half the second one */
    for (int32_t k = terms - 1; k >= 0; k--) {
        q2 = q2 * x + q1;
        q1 = q1 * x + q;
        q = q * x + c[k];
    }
    const real y = 1 - x, w2 = raised(y, power - 2), w1 = w2 * y, w = w1 * y, n = (real)power;
    *first = q1 * w - n * q * w1;
    *second = 2 * q2 * w - 2 * n * q1 * w1 + n * (n - 1) * q * w2;
}

/* ---- u ---- */

PLUGMC_FN const real *u_of(const parameters *p, plugmc_site a, plugmc_site b)
{
    return p->u_table.values + (a.species == b.species ? 0 : (int32_t)p->u_terms);
}

PLUGMC_FN real u_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    if (!(s.r2 < p->u_reach * p->u_reach)) return 0;
    return -2 * radial(u_of(p, a, b), (int32_t)p->u_terms, (int32_t)p->truncation,
                       plugmc_sqrt(s.r2) / p->u_reach);
}

/* Adds to what is there. */
PLUGMC_FN void add_u_slopes(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b,
                            real gradient[3], real *laplacian)
{
    real first, second, r = plugmc_sqrt(s.r2), floor = (real)1e-30;
    if (!(s.r2 < p->u_reach * p->u_reach)) return;
    radial_slopes(u_of(p, a, b), (int32_t)p->u_terms, (int32_t)p->truncation, r / p->u_reach,
                  &first, &second);
    first *= -2 / (p->u_reach * (r > floor ? r : floor));
    gradient[0] += first * s.x;
    gradient[1] += first * s.y;
    gradient[2] += first * s.z;
    *laplacian += -2 * second / (p->u_reach * p->u_reach) + 2 * first;
}

/* ---- Ions ---- */

/* The image of a place in the cell, and where in units of the lattice vectors that is. */
PLUGMC_FN plugmc_position in_cell(const parameters *p, plugmc_position r, real f[3])
{
    const real *m = p->cell.values, *v = m + 9;
    real shift[3];
    f[0] = f[1] = f[2] = 0;
    if (!p->cell.count) return r;
    for (int d = 0; d < 3; d++) {
        const real all = r.x * m[d] + r.y * m[3 + d] + r.z * m[6 + d];
        shift[d] = sizeof(real) == 4 ? (real)floorf((float)all) : (real)floor((double)all);
        f[d] = all - shift[d];
    }
    r.x -= shift[0] * v[0] + shift[1] * v[3] + shift[2] * v[6];
    r.y -= shift[0] * v[1] + shift[1] * v[4] + shift[2] * v[7];
    r.z -= shift[0] * v[2] + shift[1] * v[5] + shift[2] * v[8];
    return r;
}

PLUGMC_FN int32_t bin_of(const parameters *p, const real f[3])
{
    int32_t bin = 0, n = (int32_t)p->f_bins;
    for (int d = 0; d < 3; d++) {
        const int32_t k = (int32_t)(f[d] * (real)n);
        bin = bin * n + (k < 0 ? 0 : k < n ? k : n - 1);
    }
    return bin;
}

/* From number k of a list of places. */
PLUGMC_FN plugmc_separation from_place(const real *places, int32_t k, plugmc_position r)
{
    plugmc_separation s;
    s.x = r.x - places[k];
    s.y = r.y - places[k + 1];
    s.z = r.z - places[k + 2];
    s.r2 = s.x * s.x + s.y * s.y + s.z * s.z;
    return s;
}

PLUGMC_FN plugmc_separation less(plugmc_separation a, plugmc_separation b)
{
    plugmc_separation s;
    s.x = a.x - b.x;
    s.y = a.y - b.y;
    s.z = a.z - b.z;
    s.r2 = s.x * s.x + s.y * s.y + s.z * s.z;
    return s;
}

/* ---- chi ---- */

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    real sum = 0, f[3];
    const plugmc_position at = in_cell(p, r, f);
    (void)a, (void)outside;
    for (int32_t m = 0; m < p->chi_kinds.count; m += CHI_NUMBERS) {
        const real *kind = p->chi_kinds.values + m, reach = kind[CHI_REACH];
        const int32_t end = (int32_t)kind[CHI_END];
        for (int32_t k = (int32_t)kind[CHI_BEGIN]; k < end; k += 3) {
            const plugmc_separation s = from_place(p->chi_places.values, k, at);
            if (!(s.r2 < reach * reach)) continue;
            sum += radial(p->chi_table.values + (int32_t)kind[CHI_FIRST], (int32_t)kind[CHI_TERMS],
                          (int32_t)p->truncation, plugmc_sqrt(s.r2) / reach);
        }
    }
    return -2 * sum;
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    real f[3];
    const real floor = (real)1e-30;
    const plugmc_position at = in_cell(p, r, f);
    (void)a;
    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;
    for (int32_t m = 0; m < p->chi_kinds.count; m += CHI_NUMBERS) {
        const real *kind = p->chi_kinds.values + m, reach = kind[CHI_REACH];
        const int32_t end = (int32_t)kind[CHI_END];
        for (int32_t k = (int32_t)kind[CHI_BEGIN]; k < end; k += 3) {
            const plugmc_separation s = from_place(p->chi_places.values, k, at);
            real first, second, distance = plugmc_sqrt(s.r2);
            if (!(s.r2 < reach * reach)) continue;
            radial_slopes(p->chi_table.values + (int32_t)kind[CHI_FIRST], (int32_t)kind[CHI_TERMS],
                          (int32_t)p->truncation, distance / reach, &first, &second);
            first *= -2 / (reach * (distance > floor ? distance : floor));
            gradient[0] += first * s.x;
            gradient[1] += first * s.y;
            gradient[2] += first * s.z;
            *laplacian += -2 * second / (reach * reach) + 2 * first;
        }
    }
}

/* ---- f ---- */

/* Coefficients g_lmn of like or of unlike spins. */
PLUGMC_FN int32_t f_size(const parameters *p)
{
    const int32_t terms = (int32_t)p->f_electron_ion + 1;
    return terms * terms * ((int32_t)p->f_electron_electron + 1);
}

PLUGMC_FN const real *f_of(const parameters *p, const real *kind, plugmc_site a, plugmc_site b)
{
    return p->f_table.values + (int32_t)kind[F_FIRST] + (a.species == b.species ? 0 : f_size(p));
}

/* x, y: distances of a and b from the ion, z: from each other, over the cutoff. */
PLUGMC_FN real f_value(const parameters *p, const real *g, real x, real y, real z)
{
    const int32_t terms = (int32_t)p->f_electron_ion + 1, power = (int32_t)p->truncation;
    real sum = 0;
    for (int32_t n = (int32_t)p->f_electron_electron; n >= 0; n--) {
        real of_x = 0;
        for (int32_t l = terms - 1; l >= 0; l--) {
            const real *row = g + (n * terms + l) * terms;
            real of_y = 0;
            for (int32_t m = terms - 1; m >= 0; m--) of_y = of_y * y + row[m];
            of_x = of_x * x + of_y;
        }
        sum = sum * z + of_x;
    }
    return sum * raised((1 - x) * (1 - y), power);
}

/* Derivatives by x and z. */
typedef struct f_slopes {
    real x, xx, z, zz, xz;
} f_slopes;

PLUGMC_FN f_slopes f_derivatives(const parameters *p, const real *g, real x, real y, real z)
{
    const int32_t terms = (int32_t)p->f_electron_ion + 1, power = (int32_t)p->truncation;
    real s = 0, sx = 0, sxx = 0, sz = 0, szz = 0, sxz = 0; /* of the sum; xx and zz halved */
    for (int32_t n = (int32_t)p->f_electron_electron; n >= 0; n--) {
        real q = 0, qx = 0, qxx = 0;
        for (int32_t l = terms - 1; l >= 0; l--) {
            const real *row = g + (n * terms + l) * terms;
            real of_y = 0;
            for (int32_t m = terms - 1; m >= 0; m--) of_y = of_y * y + row[m];
            qxx = qxx * x + qx;
            qx = qx * x + q;
            q = q * x + of_y;
        }
        szz = szz * z + sz;
        sz = sz * z + s;
        sxz = sxz * z + sx;
        s = s * z + q;
        sx = sx * z + qx;
        sxx = sxx * z + qxx;
    }
    const real t = 1 - x, w2 = raised(t, power - 2) * raised(1 - y, power), w1 = w2 * t, w = w1 * t,
               c = (real)power;
    f_slopes d;
    d.x = sx * w - c * s * w1;
    d.xx = 2 * sxx * w - 2 * c * sx * w1 + c * (c - 1) * s * w2;
    d.z = sz * w;
    d.zz = 2 * szz * w;
    d.xz = sxz * w - c * sz * w1;
    return d;
}

/* ---- Pairs ---- */

/* The ions near a bin: places from *begin on, to what is returned. */
PLUGMC_FN int32_t f_near(const parameters *p, const real *kind, int32_t bin, int32_t *begin)
{
    const real *of_bins = p->f_begin.values + (int32_t)kind[F_BINS];
    *begin = (int32_t)of_bins[bin];
    return (int32_t)of_bins[bin + 1];
}

PLUGMC_FN real pair_energy_at(const parameters *p, plugmc_position at, plugmc_separation s,
                              plugmc_site a, plugmc_site b)
{
    real sum = 0, f[3];
    for (int32_t m = 0; m < p->f_kinds.count; m += F_NUMBERS) {
        const real *kind = p->f_kinds.values + m, reach = kind[F_REACH], square = reach * reach;
        int32_t k;
        if (!(s.r2 < 4 * square)) continue;
        const plugmc_position r = in_cell(p, at, f);
        for (const int32_t end = f_near(p, kind, bin_of(p, f), &k); k < end; k += 3) {
            const plugmc_separation first = from_place(p->f_places.values, k, r),
                                    other = less(first, s);
            if (first.r2 < square && other.r2 < square)
                sum += f_value(p, f_of(p, kind, a, b), plugmc_sqrt(first.r2) / reach,
                               plugmc_sqrt(other.r2) / reach, plugmc_sqrt(s.r2) / reach);
        }
    }
    return u_energy(p, s, a, b) - 2 * sum;
}

/* Adds -2 f of one ion, `from` the separation of a from it. */
PLUGMC_FN void add_f_slopes(const parameters *p, const real *g, real reach, plugmc_separation from,
                            plugmc_separation s, real gradient[3], real *laplacian)
{
    const real tiny = (real)1e-12;
    const real x = plugmc_sqrt(from.r2) / reach, z = plugmc_sqrt(s.r2) / reach,
               y = plugmc_sqrt(less(from, s).r2) / reach;
    const f_slopes d = f_derivatives(p, g, x, y, z);
    const real over = -2 / (reach * reach), by_x = d.x / (x > tiny ? x : tiny),
               by_z = d.z / (z > tiny ? z : tiny);
    const real cosine = (from.x * s.x + from.y * s.y + from.z * s.z) /
                        (reach * reach * (x > tiny ? x : tiny) * (z > tiny ? z : tiny));
    gradient[0] += over * (by_x * from.x + by_z * s.x);
    gradient[1] += over * (by_x * from.y + by_z * s.y);
    gradient[2] += over * (by_x * from.z + by_z * s.z);
    *laplacian += over * (d.xx + 2 * by_x + d.zz + 2 * by_z + 2 * cosine * d.xz);
}

PLUGMC_FN void pair_derivative_at(const parameters *p, plugmc_position at, plugmc_separation s,
                                  plugmc_site a, plugmc_site b, real gradient[3], real *laplacian)
{
    real f[3];
    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;
    add_u_slopes(p, s, a, b, gradient, laplacian);
    for (int32_t m = 0; m < p->f_kinds.count; m += F_NUMBERS) {
        const real *kind = p->f_kinds.values + m, reach = kind[F_REACH], square = reach * reach;
        int32_t k;
        if (!(s.r2 < 4 * square)) continue;
        const plugmc_position r = in_cell(p, at, f);
        for (const int32_t end = f_near(p, kind, bin_of(p, f), &k); k < end; k += 3) {
            const plugmc_separation first = from_place(p->f_places.values, k, r);
            if (first.r2 < square && less(first, s).r2 < square)
                add_f_slopes(p, f_of(p, kind, a, b), reach, first, s, gradient, laplacian);
        }
    }
}

/* ---- What coefficients have to do with it ---- */

/* Sums of monomials with their factors (1 - x)^C, for variational parameters: u of like, of unlike spins, chi of each
 * kind of ion, for each kind f of like and of unlike spins. variational.h makes derivatives of them. */
enum { MOST_POWERS = 10 };

/* Coefficients g_lmn with l >= m, ordered by n, then m, then l (f_form.h). */
PLUGMC_FN int32_t f_columns(const parameters *p)
{
    const int32_t l = (int32_t)p->f_electron_ion + 1, n = (int32_t)p->f_electron_electron + 1;
    return p->f_kinds.count ? n * l * (l + 1) / 2 : 0;
}

/* x^k (1 - x)^C and its derivatives by x. */
typedef struct monomial {
    real value, first, second;
} monomial;

/* `now`, `before`, `last` are x^k, x^(k-1), x^(k-2); what has the factor 0 is 0. */
PLUGMC_FN monomial truncated(int32_t k, int32_t power, real y, real now, real before, real last)
{
    const real w2 = raised(y, power - 2), w1 = w2 * y, w = w1 * y, c = (real)power, n = (real)k;
    monomial m;
    m.value = now * w;
    m.first = n * before * w - c * now * w1;
    m.second = n * (n - 1) * last * w - 2 * c * n * before * w1 + c * (c - 1) * now * w2;
    return m;
}

/* A function of a distance, shared by `electrons`. */
PLUGMC_FN void radial_numbers(const parameters *p, plugmc_separation s, real reach, int32_t terms,
                              int32_t electrons, const plugmc_tally *t, int32_t sum)
{
    const real r = plugmc_sqrt(s.r2), floor = (real)1e-30, x = r / reach,
               over = 1 / (reach * (r > floor ? r : floor)), along = plugmc_tally_along(t, s);
    real now = 1, before = 0, last = 0;
    if (!(r < reach)) return;
    for (int32_t k = 0; k < terms; k++) {
        const monomial m = truncated(k, (int32_t)p->truncation, 1 - x, now, before, last);
        plugmc_tally_radial(t, sum + k, electrons, along, m.value, m.first * over,
                            m.second / (reach * reach));
        last = before;
        before = now;
        now *= x;
    }
}

/* What f's monomials need of one electron of a pair: its own distance from the ion, and how it is moved by. */
typedef struct side {
    monomial power[MOST_POWERS];
    real over_x;           /* 1 / x */
    real cosine;           /* of the directions from the ion and from the other electron */
    real by_ion, by_other; /* drift along these, times length */
} side;

PLUGMC_FN side side_of(const parameters *p, real reach, plugmc_separation from, plugmc_separation s,
                       const double drift[3])
{
    const real r = plugmc_sqrt(from.r2), z = plugmc_sqrt(s.r2), tiny = (real)1e-12 * reach,
               x = r / reach, near = r > tiny ? r : tiny, close = z > tiny ? z : tiny;
    const real v[3] = {(real)drift[0], (real)drift[1], (real)drift[2]};
    side d;
    real now = 1, before = 0, last = 0;
    for (int32_t k = 0; k <= (int32_t)p->f_electron_ion; k++) {
        d.power[k] = truncated(k, (int32_t)p->truncation, 1 - x, now, before, last);
        last = before;
        before = now;
        now *= x;
    }
    d.over_x = reach / near;
    d.cosine = (from.x * s.x + from.y * s.y + from.z * s.z) / (near * close);
    d.by_ion = (v[0] * from.x + v[1] * from.y + v[2] * from.z) / near * reach;
    d.by_other = (v[0] * s.x + v[1] * s.y + v[2] * s.z) / close * reach;
    return d;
}

/* -1/2 lap - drift . grad of x^l y^m z^n by the electron of x, times length^2; z: z^n and its derivatives. */
PLUGMC_FN real f_kinetic(const side *own, int32_t l, real other, const monomial *z, real over_z)
{
    const monomial *x = &own->power[l];
    const real laplacian = x->second * z->value + 2 * x->first * own->over_x * z->value +
                           x->value * z->second + 2 * x->value * z->first * over_z +
                           2 * own->cosine * x->first * z->first;
    return -other * ((real)0.5 * laplacian + own->by_ion * x->first * z->value +
                     own->by_other * x->value * z->first);
}

/* One pair near one ion; a and b are its sides, l >= m powers of both. */
PLUGMC_FN void f_column(const side *a, const side *b, int32_t l, int32_t m, const monomial *z,
                        real over_z, real over_square, const plugmc_tally *t, int32_t sum)
{
    real value = a->power[l].value * b->power[m].value, energy = 0;
    if (l != m) value += a->power[m].value * b->power[l].value;
    if (t->kinetic) {
        energy = f_kinetic(a, l, b->power[m].value, z, over_z) +
                 f_kinetic(b, m, a->power[l].value, z, over_z);
        if (l != m)
            energy += f_kinetic(a, m, b->power[l].value, z, over_z) +
                      f_kinetic(b, l, a->power[m].value, z, over_z);
    }
    plugmc_tally_add(t, sum, value * z->value, energy * over_square);
}

PLUGMC_FN void f_numbers(const parameters *p, real reach, plugmc_separation first,
                         plugmc_separation other, plugmc_separation s, const plugmc_tally *t,
                         int32_t sum)
{
    const real x = plugmc_sqrt(s.r2) / reach, tiny = (real)1e-12;
    const real over_z = 1 / (x > tiny ? x : tiny), over_square = 1 / (reach * reach);
    plugmc_separation back;
    back.x = -s.x, back.y = -s.y, back.z = -s.z, back.r2 = s.r2;
    const side a = side_of(p, reach, first, s, t->drift_a),
               b = side_of(p, reach, other, back, t->drift_b);
    real now = 1, before = 0, last = 0;
    for (int32_t n = 0; n <= (int32_t)p->f_electron_electron; n++) {
        monomial z;
        z.value = now;
        z.first = (real)n * before;
        z.second = (real)(n * (n - 1)) * last;
        for (int32_t m = 0; m <= (int32_t)p->f_electron_ion; m++)
            for (int32_t l = m; l <= (int32_t)p->f_electron_ion; l++)
                f_column(&a, &b, l, m, &z, over_z, over_square, t, sum++);
        last = before;
        before = now;
        now *= x;
    }
}

PLUGMC_FN void pair_variational(const parameters *p, plugmc_position at, plugmc_separation s,
                                plugmc_site a, plugmc_site b, const plugmc_tally *t)
{
    const int32_t unlike = a.species != b.species, u = (int32_t)p->u_terms;
    int32_t sum = 2 * u + p->chi_table.count + unlike * f_columns(p);
    real f[3];
    radial_numbers(p, s, p->u_reach, u, 2, t, unlike * u);
    for (int32_t m = 0; m < p->f_kinds.count; m += F_NUMBERS, sum += 2 * f_columns(p)) {
        const real *kind = p->f_kinds.values + m, reach = kind[F_REACH], square = reach * reach;
        int32_t k;
        if (!(s.r2 < 4 * square)) continue;
        const plugmc_position r = in_cell(p, at, f);
        for (const int32_t end = f_near(p, kind, bin_of(p, f), &k); k < end; k += 3) {
            const plugmc_separation first = from_place(p->f_places.values, k, r),
                                    other = less(first, s);
            if (first.r2 < square && other.r2 < square)
                f_numbers(p, reach, first, other, s, t, sum);
        }
    }
}

PLUGMC_FN void field_variational(const parameters *p, plugmc_position r, plugmc_site a,
                                 const plugmc_tally *t)
{
    real f[3];
    const plugmc_position at = in_cell(p, r, f);
    (void)a;
    for (int32_t m = 0; m < p->chi_kinds.count; m += CHI_NUMBERS) {
        const real *kind = p->chi_kinds.values + m;
        const int32_t end = (int32_t)kind[CHI_END];
        for (int32_t k = (int32_t)kind[CHI_BEGIN]; k < end; k += 3)
            radial_numbers(p, from_place(p->chi_places.values, k, at), kind[CHI_REACH],
                           (int32_t)kind[CHI_TERMS], 1, t,
                           2 * (int32_t)p->u_terms + (int32_t)kind[CHI_FIRST]);
    }
}

PLUGMC_FN real pair_range(const parameters *p) { return p->reach; }

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_DERIVATIVE | PLUGMC_PAIR_POSITIONS)
#include <plugmc/pair.h>
#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <plugmc/description.h>
#include <plugmc/former_keys.h>
#include <plugmc/species_pairs.h>

#include "../../files/element_symbols.h"
#include "../../files/text_file.h"
#include "../box_default.h"
#include "../ions_of_orbitals.h"
#include "../jastrow_files/qmcpack_jastrow.h"
#include "correlation_data.h"
#include "ions.h"
#include "lists.h"

#include "from_file.h"

#include "preparation.h"

#include "variational.h"

#include "keys.h"

static const plugmc_potential potential = {
    .size = sizeof potential, .pair = &plugmc_pair_facet, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "polynomial_jastrow",
              .summary =
                  "Jastrow factor of a wave function: u, chi and f as polynomials, as CASINO's",
              .reference = "Drummond, Towler, Needs, Phys. Rev. B 70, 235119 (2004)",
              PLUGMC_KEYS(parameters, table),
              PLUGMC_OFFERS({PLUGMC_VARIATIONAL_PARAMETERS, &free_facet},
                            {PLUGMC_FORMER_KEYS, &former_keys}, {PLUGMC_DESCRIPTION, &description}),
              .configure = configure, .prepare = prepare, .potential = &potential);
#endif
