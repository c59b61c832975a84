/* Blips from plane waves, after E. Hernandez, M. J. Gillan, C. M. Goringe, Phys. Rev. B 55, 13485
 * (1997) and D. Alfe, M. J. Gillan, Phys. Rev. B 70, 161101 (2004).
 *
 * A sum of blips a_n theta(x - n) with a_n = exp(2 pi i g n / N) is, but for aliases, a plane wave
 * of amplitude 1/gamma(g). gamma is a product over the directions; with k = 2 pi g / N
 *
 *     gamma = k^4 / (6 (cos^2 k - 2 cos k + 1)),   2/3 at g = 0.
 *
 * The coefficients are then a Fourier sum, done one direction after the other. There are few waves,
 * so this takes no longer than reading them, for grids of any size.
 */
#include "blips.h"

#include <math.h>
#include <stddef.h>

#include "../../determinants/complex_numbers.h"

static int is_smooth(int32_t n)
{
    for (int p = 2; p <= 5; p++)
        while (n % p == 0) n /= p;
    return n == 1;
}

void blip_grid(const int32_t extent[3], double multiplicity, int32_t grid[3])
{
    for (int d = 0; d < 3; d++) {
        grid[d] = 2 * (int32_t)ceil(extent[d] * multiplicity) + 2;
        if (grid[d] < 8) grid[d] = 8;
        while (!is_smooth(grid[d])) grid[d]++;
    }
}

double blip_multiplicity(const int32_t extent[3], const int32_t grid[3])
{
    double least = INFINITY;
    for (int d = 0; d < 3; d++)
        if (extent[d] > 0) least = fmin(least, (grid[d] - 2) / (2.0 * extent[d]));
    return least;
}

static double gamma_of(int32_t g, int32_t n)
{
    if (g == 0) return 2.0 / 3;
    double k = 2 * M_PI * g / n, c = cos(k);
    return k * k * k * k / (6 * (c * c - 2 * c + 1));
}

/* gamma(g) exp(2 pi i g n / N) at n by_point + g by_wave. The angle is reduced with integers. */
static void fill_table(int32_t extent, int32_t points, double complex *table, int64_t by_point,
                       int64_t by_wave)
{
    for (int32_t n = 0; n < points; n++)
        for (int32_t g = -extent; g <= extent; g++) {
            double angle = 2 * M_PI * (double)((int64_t)g * n % points) / points;
            double gamma = gamma_of(g, points);
            table[n * by_point + (g + extent) * by_wave] =
                CMPLX(gamma * cos(angle), gamma * sin(angle));
        }
}

/* out = sum over g of factor[g] in[g], where in has `terms` rows of `row` numbers. */
static void add_rows(const double complex *factor, int64_t terms, int64_t row,
                     const double complex *in, double complex *out)
{
    double *restrict to = (double *)out;
    for (int64_t i = 0; i < 2 * row; i++) to[i] = 0;
    for (int64_t g = 0; g < terms; g++) {
        const double c = creal(factor[g]), s = cimag(factor[g]);
        const double *from = (const double *)(in + g * row);
        for (int64_t i = 0; i < 2 * row; i += 2) {
            to[i] += c * from[i] - s * from[i + 1];
            to[i + 1] += c * from[i + 1] + s * from[i];
        }
    }
}

size_t blip_scratch(const int32_t extent[3], const int32_t grid[3])
{
    size_t g[3], n[3];
    for (int d = 0; d < 3; d++) {
        g[d] = 2 * (size_t)extent[d] + 1;
        n[d] = (size_t)grid[d];
    }
    return n[0] * g[0] + n[1] * g[1] + n[2] * g[2] + n[0] * g[1] * g[2] + n[0] * n[1] * g[2];
}

/* x, then y, then z: [x][gy][gz], [x][y][gz], [x][y][z]. */
void blips_from_waves(const int32_t extent[3], const double complex *waves, const int32_t grid[3],
                      double complex *blips, double complex *scratch, int threads)
{
    const int64_t gx = 2 * extent[0] + 1, gy = 2 * extent[1] + 1, gz = 2 * extent[2] + 1;
    const int64_t nx = grid[0], ny = grid[1], nz = grid[2];
    double complex *factor_x = scratch, *factor_y = factor_x + nx * gx;
    double complex *factor_z = factor_y + ny * gy;
    double complex *first = factor_z + nz * gz, *second = first + nx * gy * gz;
    fill_table(extent[0], grid[0], factor_x, gx, 1);
    fill_table(extent[1], grid[1], factor_y, gy, 1);
    fill_table(extent[2], grid[2], factor_z, 1, nz);
#pragma omp parallel for num_threads(threads)
    for (int64_t x = 0; x < nx; x++) {
        add_rows(factor_x + x * gx, gx, gy * gz, waves, first + x * gy * gz);
        for (int64_t y = 0; y < ny; y++) {
            double complex *line = second + (x * ny + y) * gz;
            add_rows(factor_y + y * gy, gy, gz, first + x * gy * gz, line);
            /* along z both sides change places: the row is that of the table */
            add_rows(line, gz, nz, factor_z, blips + (x * ny + y) * nz);
        }
    }
}

/* Overlaps of a blip with itself and its neighbours at distance 1, 2, 3; those of higher distance
 * are 0. */
static const double overlap[4] = {2.25 * 2416 / 5040, 2.25 * 1191 / 5040, 2.25 * 120 / 5040,
                                  2.25 / 5040};

/* out = the overlaps along one direction, of `points` rows of `row` numbers around the cell. */
static void overlap_rows(int64_t points, int64_t row, const double complex *in, double complex *out)
{
    for (int64_t i = 0; i < points; i++) {
        double *restrict to = (double *)(out + i * row);
        for (int64_t z = 0; z < 2 * row; z++) to[z] = 0;
        for (int64_t d = -3; d <= 3; d++) {
            const double *from = (const double *)(in + (i + d + points) % points * row);
            const double o = overlap[d < 0 ? -d : d];
            for (int64_t z = 0; z < 2 * row; z++) to[z] += o * from[z];
        }
    }
}

/* <u|u> = sum over pairs of blips of conj(a) a' and the overlaps of the three directions. */
double blip_norm(const int32_t grid[3], const double complex *blips, double complex *scratch,
                 int threads)
{
    const int64_t nx = grid[0], ny = grid[1], nz = grid[2], all = nx * ny * nz;
    double complex *first = scratch, *second = scratch + all;
    const double *a = (const double *)blips, *b = (const double *)first;
    double sum = 0;
#pragma omp parallel for num_threads(threads)
    for (int64_t x = 0; x < nx; x++) {
        for (int64_t y = 0; y < ny; y++)
            overlap_rows(nz, 1, blips + (x * ny + y) * nz, first + (x * ny + y) * nz);
        overlap_rows(ny, nz, first + x * ny * nz, second + x * ny * nz);
    }
    overlap_rows(nx, ny * nz, second, first);
    for (int64_t i = 0; i < 2 * all; i++) sum += a[i] * b[i];
    return sum / (double)all;
}
