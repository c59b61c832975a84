/* What a finite box does to the energy of a wave function of electrons (bohr, Hartree). With S of all
 * electrons and S(k) = b k^2 for small k, the box lacks
 *
 *     potential 2 pi rho b,    kinetic 1 / (8 b),    rho = N / volume,
 *
 * to leading order in 1/N (S. Chiesa, D. M. Ceperley, R. M. Martin, M. Holzmann, Phys. Rev. Lett. 97, 076404 (2006)),
 * which are to be added to the energies of the box. b is 1/(2 w), w^2 = 4 pi rho, for the electron gas, whose kinetic
 * energy has a next order as well (next_order), or found from the smallest k that fit into the box: with one of
 * them as S / k^2, with more of them from
 *
 *     (k^2 / S)^2 - k^4 = 1 / b^2 + a k^2,
 *
 * a straight line in k^2, since S = k^2 / (2 w(k)) with w(k)^2 = w^2 + a k^2 / 4 + k^4 / 4 has both limits. */
#include <math.h>

#include "structure_factor.h"

enum { SLOPE, POTENTIAL_CORRECTION, KINETIC_CORRECTION, NEXT_ORDER, CORRECTIONS };

int correction(const structure_factor *f, int index, plugmc_quantity *out)
{
    if (!f->finite_size) return 0;
    switch (index) {
    case SLOPE:
        return plugmc_scalar(out, "finite_size_b", "length^2", "b of S(k) = b k^2 for small k");
    case POTENTIAL_CORRECTION:
        return plugmc_scalar(out, "finite_size_potential", "hartree",
                             "2 pi rho b, to be added to the potential energy");
    case KINETIC_CORRECTION:
        return plugmc_scalar(out, "finite_size_kinetic", "hartree",
                             "1 / (8 b), to be added to the kinetic energy");
    case NEXT_ORDER:
        return f->finite_size == FINITE_SIZE_GAS &&
               plugmc_scalar(out, "finite_size_kinetic_next", "hartree",
                             "next order for the electron gas, to be added to the kinetic "
                             "energy as well");
    default: return 0;
    }
}

/* S of all particles in a shell, from the means [rows][used]. */
static double whole(const structure_factor *f, const double *means, int64_t shell)
{
    const plugmc_system *system = f->system;
    double sum = 0;
    for (int32_t a = 0; a < system->species_count; a++)
        for (int32_t b = a; b < system->species_count; b++) {
            const double counts = (double)plugmc_species_at(system, a)->count *
                                  (double)plugmc_species_at(system, b)->count;
            if (counts == 0) continue;
            sum += (a == b ? 1 : 2) * sqrt(counts) * means[shell];
            means += f->used;
        }
    return sum / (double)system->particles;
}

/* NaN where S(k) is no such function. That of a determinant alone goes with k, which a few k do not tell. */
static double slope_of(const structure_factor *f, const double *means)
{
    double x = 0, y = 0, xx = 0, xy = 0, n = (double)f->fit;
    if (f->fit == 1) return whole(f, means, 0) / (f->k[0] * f->k[0]);
    for (int64_t i = 0; i < f->fit; i++) {
        const double square = f->k[i] * f->k[i], ratio = square / whole(f, means, i),
                     value = ratio * ratio - square * square;
        x += square, y += value, xx += square * square, xy += square * value;
    }
    const double inverse = (y * xx - x * xy) / (n * xx - x * x); /* 1 / b^2: where k is 0 */
    return inverse > 0 ? 1 / sqrt(inverse) : NAN;
}

int derive_corrections(const structure_factor *f, const double *means, double *out)
{
    const double density = (double)f->system->particles / f->system->box.volume;
    const double b =
        f->finite_size == FINITE_SIZE_GAS ? 1 / (2 * sqrt(4 * M_PI * density)) : slope_of(f, means);
    if (!(b > 0)) return 1;
    out[SLOPE] = b;
    out[POTENTIAL_CORRECTION] = 2 * M_PI * density * b;
    out[KINETIC_CORRECTION] = 1 / (8 * b);
    if (f->finite_size == FINITE_SIZE_GAS) out[NEXT_ORDER] = f->next;
    return PLUGMC_OK;
}

const char *lacking_corrections(const structure_factor *f, const double *means)
{
    double out[CORRECTIONS];
    if (!f->finite_size || !derive_corrections(f, means, out)) return NULL;
    return "S(k) is not proportional to k^2 for small k, as it is with a Jastrow factor: "
           "finite_size corrections are not possible";
}

/* Integral of t exp(-R^2 t) above cut^2, R = sum_d n_d a_d. */
static double near_part(const plugmc_box *box, double cut, const int32_t n[3])
{
    double square = 0;
    for (int e = 0; e < 3; e++)
        square +=
            pow(n[0] * box->vector[0][e] + n[1] * box->vector[1][e] + n[2] * box->vector[2][e], 2);
    const double above = cut * cut * square;
    return exp(-above) * (1 + above) / (square * square);
}

/* Integral of t (pi / t)^(3/2) / volume exp(-k^2 / (4 t)) below cut^2, k = 2 pi sum_d n_d b_d. */
static double far_part(const plugmc_box *box, double cut, const int32_t n[3])
{
    const double k = length_of(box, n), x = k / (2 * cut);
    return pow(M_PI, 1.5) / box->volume * (2 * cut * exp(-x * x) - sqrt(M_PI) * k * erfc(x));
}

/* |b_d| / 2 pi */
static double edge_of_reciprocal(const plugmc_box *box, int d)
{
    return hypot(hypot(box->inverse[0][d], box->inverse[1][d]), box->inverse[2][d]);
}

/* Sum of R^-4 over the lattice vectors R of the box but 0 (16.5323 / edge^4 of a cube), as Ewald sums are made: R^-4
 * is the integral of t exp(-R^2 t), summed over R above t = cut^2 and over reciprocal vectors k below. */
static double inverse_fourth_powers(const plugmc_box *box)
{
    const double cut = sqrt(M_PI) / cbrt(box->volume), reach = 6; /* exp(-36) is left out */
    double sum = 2 * pow(M_PI, 1.5) * cut / box->volume - pow(cut, 4) / 2; /* k = 0 less R = 0 */
    for (int far = 0; far < 2; far++) {
        int most[3];
        for (int d = 0; d < 3; d++)
            most[d] = (int)ceil(far ? reach * cut / M_PI * box->length[d]
                                    : reach / cut * edge_of_reciprocal(box, d));
        for (int x = -most[0]; x <= most[0]; x++)
            for (int y = -most[1]; y <= most[1]; y++)
                for (int z = -most[2]; z <= most[2]; z++)
                    if (x || y || z)
                        sum += far ? far_part(box, cut, (int32_t[]){x, y, z})
                                   : near_part(box, cut, (int32_t[]){x, y, z});
    }
    return sum;
}

/* In the random phase approximation the wave k of a determinant with a Jastrow factor has the kinetic energy
 *
 *     T(k) = k^2 (S - S_0)^2 / (8 S S_0^2) = w/4 - k / (4 s) + ...,    S^-2 = S_0^-2 + 4 w^2 / k^4,
 *
 * S_0 = s k that of the determinant, s = sum over spins of 3 N_s / (4 k_F,s N), k_F,s^3 = 6 pi^2 N_s / volume
 * (T. Gaskell, Proc. Phys. Soc. 77, 1182 (1961)). The integral of |k| is above the sum over the waves of a box by
 * volume / pi^2 times the sum of R^-4 over its lattice vectors. Goes with N^(-1/3). */
static double next_order(const plugmc_system *system)
{
    const double volume = system->box.volume, n = (double)system->particles;
    double s = 0;
    for (int32_t a = 0; a < system->species_count; a++) {
        const double own = (double)plugmc_species_at(system, a)->count;
        if (own > 0) s += 3 * own / (4 * cbrt(6 * M_PI * M_PI * own / volume) * n);
    }
    return -volume / (M_PI * M_PI) * inverse_fourth_powers(&system->box) / (4 * s);
}

/* Electrons in three dimensions, and as many shells as the fit takes. */
int check_finite_size(structure_factor *f, const plugmc_host *host)
{
    const plugmc_system *system = f->system;
    if (!f->finite_size) return PLUGMC_OK;
    if (system->box.dimension != 3 || boxes_change(system) || f->numbers)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "finite_size: the corrections need a three-dimensional box and fixed particle "
            "numbers");
    for (int32_t a = 0; a < system->species_count; a++) {
        const plugmc_species *species = plugmc_species_at(system, a);
        if (species->count && species->charge != -1)
            return host->fail(
                host->context, PLUGMC_ERROR_INPUT,
                "finite_size: the corrections are for electrons, but species '%s' has charge "
                "%g",
                species->name, species->charge);
    }
    if (f->finite_size == FINITE_SIZE_MEASURED && f->fit > f->used)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "fit: the %lld smallest |k| are needed, but up to k_max = %g there are only %lld",
            (long long)f->fit, (double)f->k_max, (long long)f->used);
    if (f->finite_size == FINITE_SIZE_GAS) f->next = next_order(system);
    return PLUGMC_OK;
}
