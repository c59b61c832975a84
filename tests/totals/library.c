/* The two libraries of examples/totals, without plugmc:
 *
 *   the diamond lattice has -2 epsilon an atom, and its lattice constant is 5.431 angstrom for sigma = 2.0951: four
 *   neighbours at the pair's minimum, -epsilon at 2^(1/6) sigma = sqrt(3) a / 4, ideal angles, and no further neighbours
 *   within 1.8 sigma
 *   forces and virials are differences of energies
 *   C++ and Fortran have the same energies, forces and virials
 *   the number of threads changes nothing */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw_border.h"

int sw_fortran_evaluate(int64_t atoms, const double *positions, const double *box, double epsilon,
                        double sigma, double *energy, double *forces, double *virial, char *why,
                        int64_t length);

#define EPSILON 2.168205
#define SIGMA 2.0951
enum { MOST = 216 };

typedef struct answer {
    double energy, forces[3 * MOST], virial[3];
} answer;

typedef struct crystal {
    size_t atoms;
    double x[3 * MOST], box[3];
} crystal;

static int faults;

static void expect(double found, double right, double within, const char *what)
{
    const int good = fabs(found - right) <= within;
    printf("%s %s: %.12g, expected %.12g within %.1e\n", good ? "good " : "WRONG", what, found,
           right, within);
    faults += !good;
}

/* A cube of `cells` cells along each side. Positions are displaced at random by up to `width`. */
static crystal make_crystal(int cells, double a, double width)
{
    static const int quarters[8][3] = {{0, 0, 0}, {0, 2, 2}, {2, 0, 2}, {2, 2, 0},
                                       {1, 1, 1}, {1, 3, 3}, {3, 1, 3}, {3, 3, 1}};
    crystal c = {0};
    srand(17);
    for (int cell = 0; cell < cells * cells * cells; cell++)
        for (int k = 0; k < 8; k++, c.atoms++) {
            const int at[3] = {cell % cells, cell / cells % cells, cell / cells / cells};
            for (int d = 0; d < 3; d++)
                c.x[3 * c.atoms + d] =
                    a * (at[d] + 0.25 * quarters[k][d]) + width * (2.0 * rand() / RAND_MAX - 1);
        }
    for (int d = 0; d < 3; d++) c.box[d] = cells * a;
    return c;
}

static answer by_cpp(const crystal *c, int threads)
{
    answer r = {0};
    char why[256] = "";
    sw_model *model = sw_create(EPSILON, SIGMA, threads, why, sizeof why);
    if (!model ||
        sw_evaluate(model, c->atoms, c->x, c->box, &r.energy, r.forces, r.virial, why, sizeof why))
        printf("WRONG %s\n", why), faults++;
    sw_destroy(model);
    return r;
}

static answer by_fortran(const crystal *c)
{
    answer r = {0};
    char why[256] = "";
    if (sw_fortran_evaluate((int64_t)c->atoms, c->x, c->box, EPSILON, SIGMA, &r.energy, r.forces,
                            r.virial, why, sizeof why))
        printf("WRONG %s\n", why), faults++;
    return r;
}

/* Slope of the energy along coordinate k of an atom. */
static double slope(const crystal *c, int k)
{
    crystal left = *c, right = *c;
    left.x[k] -= 1e-5, right.x[k] += 1e-5;
    return (by_cpp(&right, 1).energy - by_cpp(&left, 1).energy) / 2e-5;
}

/* -dU / d ln L_d, where box and positions are stretched together. */
static double stretch(const crystal *c, int d)
{
    double energy[2];
    for (int way = 0; way < 2; way++) {
        crystal s = *c;
        const double by = way ? 1 + 1e-6 : 1 - 1e-6;
        s.box[d] *= by;
        for (size_t i = 0; i < s.atoms; i++) s.x[3 * i + (size_t)d] *= by;
        energy[way] = by_cpp(&s, 1).energy;
    }
    return (energy[0] - energy[1]) / 2e-6;
}

static void compare(int cells)
{
    const crystal c = make_crystal(cells, 5.3, 0.4);
    const answer cpp = by_cpp(&c, 1), fortran = by_fortran(&c);
    double furthest = 0;
    for (size_t k = 0; k < 3 * c.atoms; k++)
        furthest = fmax(furthest, fabs(cpp.forces[k] - fortran.forces[k]));
    printf("-- %zu atoms, displaced\n", c.atoms);
    expect(fortran.energy, cpp.energy, 1e-10 * fabs(cpp.energy), "energy, Fortran and C++");
    expect(furthest, 0, 1e-10, "difference of a force, Fortran and C++");
    for (int d = 0; d < 3; d++) {
        expect(fortran.virial[d], cpp.virial[d], 1e-10 * fabs(cpp.energy),
               "virial, Fortran and C++");
        expect(cpp.virial[d], stretch(&c, d), 1e-6 * fabs(cpp.energy), "virial and difference");
    }
    for (int k = 0; k < 24; k += 5)
        expect(cpp.forces[k], -slope(&c, k), 1e-6, "force and difference");
}

int main(void)
{
    const double a = 4 / sqrt(3) * pow(2, 1.0 / 6) * SIGMA;
    expect(a, 5.431, 5e-4, "lattice constant in angstrom");
    for (int cells = 1; cells <= 3; cells += 2) {
        const crystal c = make_crystal(cells, a, 0);
        const answer r = by_cpp(&c, 1);
        expect(r.energy / (double)c.atoms, -2 * EPSILON, 1e-8, "energy of an atom, C++");
        expect(by_fortran(&c).energy / (double)c.atoms, -2 * EPSILON, 1e-8,
               "energy of an atom, Fortran");
        for (int d = 0; d < 3; d++) expect(r.virial[d], 0, 1e-6 * (double)c.atoms, "virial");
    }
    compare(1);
    compare(2);
    const crystal c = make_crystal(3, 5.3, 0.4);
    const answer one = by_cpp(&c, 1), four = by_cpp(&c, 4);
    expect(memcmp(&one, &four, sizeof one), 0, 0, "difference between 1 and 4 threads");
    return faults > 0;
}
