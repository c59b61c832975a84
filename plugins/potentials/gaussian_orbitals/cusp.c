/* cusp.c: cusps at bare nuclei, orbital by orbital (A. Ma, M. D. Towler, N. D. Drummond, R. J. Needs, J. Chem. Phys. 122,
 * 224322 (2005); equations below are theirs). Within r_c of a nucleus the sum phi of the s functions there is replaced by
 *
 *     phi~(r) = C + sign exp(p(r)),    p a polynomial of degree 4.
 *
 * Four of its coefficients follow from phi, phi' and phi'' at r_c and from the cusp phi~'(0) = -Z (phi~(0) + eta), eta being
 * all else of the orbital at the nucleus (9 - 14). phi~(0) and r_c are those for which the effective one-electron energy
 *
 *     E(r) = -(1/2) lap phi~ / phi~ - Z_eff / r,    Z_eff = Z (1 + eta / phi~(0)),                     (15, 16)
 *
 * deviates least, at its worst point below 1/Z, from a curve that fits the 1s orbitals of atoms (17). Beyond r_c E(r) is
 * that of the Gaussian functions, so that r_c comes out as far as their energy oscillates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cusp_file.h"

enum { GRID = 80, RADII = 20, GUESSES = 81, REFINEMENTS = 40 };

/* One orbital at one nucleus: phi, phi' and phi'' at radii r, and what is tried in its place. */
typedef struct fit {
    double z, eta, at_zero;
    double r[GRID], phi[GRID], slope[GRID], bent[GRID], largest;
    int joint; /* r_c is r[joint] */
} fit;

static double ideal(double z, double r)
{
    static const double beta[] = {3.25819, -15.0126, 33.7308, -42.8705, 31.2276, -12.1316, 1.94692};
    double sum = 0, power = r * r;
    for (int i = 0; i < PLUGMC_COUNT(beta); i++, power *= r) sum += beta[i] * power;
    return z * z * sum;
}

/* (9 - 14): the function that has the value `at_zero` at the nucleus; 0: there is none. */
static int make_cusp(const fit *f, double at_zero, gaussian_cusp *c)
{
    const double h = f->r[f->joint], phi = f->phi[f->joint];
    c->radius = h;
    c->shift = phi * at_zero < 0 ? 1.5 * phi : 0; /* so that phi~ - C has one sign */
    c->sign = at_zero > c->shift ? 1 : -1;
    const double u = phi - c->shift, v = at_zero - c->shift;
    if (!(u * c->sign > 0) || !(v * c->sign > 0)) return 0;
    const double x2 = f->slope[f->joint] / u, x3 = f->bent[f->joint] / u,
                 x4 = -f->z * (at_zero + f->eta) / v, x5 = log(fabs(v));
    const double a = log(fabs(u)) - x5 - x4 * h, b = x2 - x4, d = x3 - x2 * x2;
    c->p[0] = x5;
    c->p[1] = x4;
    c->p[2] = 6 * a / (h * h) - 3 * b / h + d / 2;
    c->p[3] = -8 * a / (h * h * h) + 5 * b / (h * h) - d / h;
    c->p[4] = 3 * a / (h * h * h * h) - 2 * b / (h * h * h) + d / (2 * h * h);
    return 1;
}

/* phi~ and its Laplacian within r_c, phi and its own beyond. */
static void value_at(const fit *f, const gaussian_cusp *c, int i, double *value, double *laplacian)
{
    const double r = f->r[i], *p = c->p;
    if (i >= f->joint) {
        *value = f->phi[i];
        *laplacian = f->bent[i] + 2 * f->slope[i] / r;
        return;
    }
    const double e = c->sign * exp(p[0] + r * (p[1] + r * (p[2] + r * (p[3] + r * p[4]))));
    const double slope = p[1] + r * (2 * p[2] + r * (3 * p[3] + r * 4 * p[4]));
    const double bent = 2 * p[2] + r * (6 * p[3] + r * 12 * p[4]);
    *value = c->shift + e;
    *laplacian = e * (bent + slope * slope + 2 * slope / r);
}

/* The largest deviation of E(r); where phi~ is near a node it counts less, since so do electrons. */
static double deviation(const fit *f, double at_zero, gaussian_cusp *c)
{
    double worst = 0, value, laplacian;
    if (!make_cusp(f, at_zero, c) || at_zero == 0) return INFINITY;
    const double z = f->z * (1 + f->eta / at_zero);
    value_at(f, c, f->joint, &value, &laplacian);
    const double offset =
        -0.5 * laplacian / value - z / f->r[f->joint] - ideal(f->z, f->r[f->joint]);
    for (int i = 0; i < GRID; i++) {
        value_at(f, c, i, &value, &laplacian);
        const double weight = fmin(1, 5 * fabs(value) / f->largest);
        const double off = -0.5 * laplacian / value - z / f->r[i] - ideal(f->z, f->r[i]) - offset;
        worst = fmax(worst, weight * fabs(off));
    }
    return worst;
}

/* The best value at the nucleus for one r_c: a coarse search, then golden sections. */
static double fit_value(const fit *f, gaussian_cusp *best)
{
    const double golden = 0.6180339887498949, scale = f->largest;
    const double width = 3 * scale / (GUESSES - 1);
    double least = INFINITY, found = 0;
    gaussian_cusp c;
    for (int i = 0; i < GUESSES; i++) {
        const double at_zero = f->at_zero - 1.5 * scale + i * width;
        const double d = deviation(f, at_zero, &c);
        if (!(d < least)) continue;
        least = d;
        found = at_zero;
    }
    if (least == INFINITY) return least;
    double low = found - width, high = found + width;
    for (int i = 0; i < REFINEMENTS; i++) {
        const double a = high - golden * (high - low), b = low + golden * (high - low);
        if (deviation(f, a, &c) < deviation(f, b, &c))
            high = b;
        else
            low = a;
    }
    const double refined = deviation(f, (low + high) / 2, &c);
    if (refined <= least) {
        *best = c;
        return refined;
    }
    return deviation(f, found, best);
}

/* r_c as well. Without a fit, or with next to no s functions, radius 0: the orbital stays as it is. */
static void fit_cusp(fit *f, double most, gaussian_cusp *best)
{
    double least = INFINITY;
    *best = (gaussian_cusp){0};
    for (int k = 1; k <= RADII; k++) {
        gaussian_cusp c;
        f->joint = k * (GRID - 1) / RADII;
        if (f->joint < 2 || f->r[f->joint] > most || f->phi[f->joint] == 0) continue;
        const double d = fit_value(f, &c);
        if (!(d < least)) continue;
        least = d;
        *best = c;
    }
}

/* ---- Nuclei --------------------------------------------------------------------------------- */

/* The largest r_c at a nucleus, up to `most`: spheres of neighbours and of images do not meet. */
static double largest_radius(const gaussian_orbitals *g, int32_t nucleus, double most)
{
    const gaussian_tables *t = &g->tables;
    for (int32_t i = 0; i < t->nuclei; i++) {
        double d[3], n[3];
        gaussian_displacement(t, i, t->position[nucleus], d, n);
        const double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        if (i != nucleus) most = fmin(most, 0.49 * r);
    }
    for (int k = 0; k < 3 && t->periodic; k++) {
        double square = 0;
        for (int e = 0; e < 3; e++) square += t->inverse[e][k] * t->inverse[e][k];
        most = fmin(most, 0.4 / sqrt(square));
    }
    return most;
}

/* s shells of a nucleus; 0 if it is not bare, or has none, or too many. */
static int32_t list_shells(const gaussian_orbitals *g, int32_t nucleus, gaussian_corrected *c)
{
    const gaussian_tables *t = &g->tables;
    *c = (gaussian_corrected){.nucleus = nucleus};
    if (fabs(g->source.charge[nucleus] - g->source.atomic_number[nucleus]) > 1e-6) return 0;
    for (int32_t i = 0; i < t->shells; i++) {
        if (t->shell[i].nucleus != nucleus || t->shell[i].l != 0) continue;
        if (c->shells == GAUSSIAN_MOST_S) return 0;
        c->shell[c->shells++] = i;
    }
    return c->shells;
}

/* Values of all orbitals of a spin at all nuclei, [nuclei][columns], without cusps yet. */
static double *values_at_nuclei(const gaussian_orbitals *g, int s)
{
    double *values = malloc(((size_t)(g->tables.nuclei * g->spin[s].columns) + 1) * sizeof *values);
    const plugmc_orbital_request q = {.size = sizeof q,
                                      .species = s,
                                      .real_size = sizeof(double),
                                      .points = g->tables.nuclei,
                                      .positions = g->tables.position[0],
                                      .pitch = g->spin[s].columns,
                                      .values = values};
    if (values && g->spin[s].columns) gaussian_on_host(g, &q);
    return values;
}

/* All orbitals of a spin at one nucleus. */
static void fit_orbitals(const gaussian_orbitals *g, const gaussian_corrected *c, int s,
                         const double *values, gaussian_cusp *out)
{
    const gaussian_tables *t = &g->tables;
    const gaussian_spin *spin = &g->spin[s];
    const double most = largest_radius(g, c->nucleus, 1 / g->source.charge[c->nucleus]);
    for (int64_t j = 0; j < spin->columns; j++) {
        fit f = {.z = g->source.charge[c->nucleus]};
        double sum[3];
        for (int k = 0; k < c->shells; k++) {
            const double a = spin->coefficient[t->shell[c->shell[k]].row * spin->pitch + j];
            gaussian_s(t, &t->shell[c->shell[k]], 0, sum);
            f.at_zero += a * sum[0];
            for (int i = 0; i < GRID; i++) {
                /* dense near the nucleus */
                const double x = (i + 1.0) / GRID, r = x * (0.2 + 0.8 * x) / f.z;
                f.r[i] = r;
                gaussian_s(t, &t->shell[c->shell[k]], r * r, sum);
                f.phi[i] += a * sum[0];
                f.slope[i] += a * r * sum[1];
                f.bent[i] += a * (sum[1] + r * r * sum[2]);
            }
        }
        f.largest = fabs(f.at_zero);
        for (int i = 0; i < GRID; i++) f.largest = fmax(f.largest, fabs(f.phi[i]));
        f.eta = values[j] - f.at_zero;
        if (f.largest > 1e-8) fit_cusp(&f, most, &out[j]);
    }
}

/* Bare nuclei with s functions, as many as are returned. */
static int32_t list_nuclei(const gaussian_orbitals *g, gaussian_corrected *correction)
{
    int32_t found = 0;
    for (int32_t i = 0; i < g->tables.nuclei; i++)
        found += list_shells(g, i, &correction[found]) != 0;
    return found;
}

/* Functions of a spin for all of these nuclei, [nuclei][columns], from an optimisation. */
static int fit_spin(const gaussian_orbitals *g, const gaussian_corrected *correction,
                    int32_t nuclei, int s, gaussian_cusp *out)
{
    const int64_t columns = g->spin[s].columns;
    double *values = values_at_nuclei(g, s);
    if (!values) return g->host->fail(g->host->context, PLUGMC_ERROR_MEMORY, "no memory for cusps");
    for (int32_t i = 0; i < nuclei; i++)
        fit_orbitals(g, &correction[i], s, values + correction[i].nucleus * columns,
                     out + i * columns);
    free(values);
    return PLUGMC_OK;
}

/* The same from a file: one for both spins, or the first for spin up and the second for spin down. */
static int read_spin(const gaussian_orbitals *g, const gaussian_corrected *correction,
                     int32_t nuclei, int s, gaussian_cusp *out)
{
    const plugmc_host *host = g->host;
    const char *files = g->keys.cusp_files, *second = strchr(files, '\n');
    if (second && strchr(second + 1, '\n'))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "cusp_files: one file for both spins, or one for each");
    char path[4096];
    if (s && second)
        snprintf(path, sizeof path, "%s", second + 1);
    else
        snprintf(path, sizeof path, "%.*s", (int)strcspn(files, "\n"), files);
    int32_t *nucleus = calloc((size_t)nuclei + 1, sizeof *nucleus);
    double *radius = calloc((size_t)nuclei + 1, sizeof *radius);
    for (int32_t i = 0; i < nuclei && nucleus && radius; i++) {
        nucleus[i] = correction[i].nucleus;
        radius[i] = largest_radius(g, nucleus[i], 1);
    }
    const cusp_wanted wanted = {.nuclei = nuclei,
                                .nucleus = nucleus,
                                .largest_radius = radius,
                                .orbitals = g->spin[s].columns,
                                .orbital = g->occupied[s]};
    const int code = nucleus && radius
                         ? cusp_file_read(host, path, &wanted, out)
                         : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for cusps");
    free(nucleus);
    free(radius);
    return code;
}

/* Nuclei at which some orbital is corrected move to the front, with their functions; how many there are. */
static int32_t keep_nuclei(gaussian_orbitals *g, gaussian_corrected *correction, int32_t nuclei,
                           gaussian_entry *entry)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < nuclei; i++) {
        double far = 0;
        for (int s = 0; s < 2; s++) {
            const int64_t columns = g->spin[s].columns;
            gaussian_cusp *cusp = (gaussian_cusp *)(uintptr_t)g->spin[s].cusp;
            for (int64_t j = 0; j < columns; j++) {
                far = fmax(far, cusp[i * columns + j].radius);
                cusp[kept * columns + j] = cusp[i * columns + j];
            }
        }
        if (far == 0) continue;
        correction[kept] = correction[i];
        gaussian_corrected *c = &correction[kept++];
        c->reach2 = far * far;
        for (int k = 0; k < c->shells; k++) entry[c->shell[k]].inner2 = c->reach2;
    }
    return kept;
}

static int correct_nuclei(gaussian_orbitals *g, gaussian_corrected *correction,
                          gaussian_entry *entry)
{
    const plugmc_host *host = g->host;
    const int32_t nuclei = list_nuclei(g, correction);
    int code = PLUGMC_OK;
    for (int s = 0; s < 2 && !code; s++) {
        gaussian_cusp *cusp = host->allocate(
            host->context, ((size_t)(nuclei * g->spin[s].columns) + 1) * sizeof *cusp);
        g->spin[s].cusp = cusp;
        if (!cusp)
            code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for cusps");
        else if (g->spin[s].columns)
            code = (*g->keys.cusp_files ? read_spin : fit_spin)(g, correction, nuclei, s, cusp);
    }
    g->tables.correction = correction;
    g->tables.corrected = code ? 0 : keep_nuclei(g, correction, nuclei, entry);
    return code;
}

int gaussian_prepare_cusps(gaussian_orbitals *g)
{
    const plugmc_host *host = g->host;
    if (g->keys.cusp == CUSP_NO && *g->keys.cusp_files)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "cusp = no is given beside cusp_files: leave one of them out");
    if (g->keys.cusp == CUSP_NO) return PLUGMC_OK;
    if (g->tables.parts == 2)
        return g->keys.cusp == CUSP_AUTO && !*g->keys.cusp_files
                   ? PLUGMC_OK
                   : host->fail(host->context, PLUGMC_ERROR_INPUT,
                                "cusp: orbitals of %s are complex, for which cusps are not "
                                "implemented",
                                g->keys.file);
    gaussian_corrected *correction =
        host->allocate(host->context, (size_t)g->tables.nuclei * sizeof *correction);
    if (!correction) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for cusps");
    return correct_nuclei(g, correction, (gaussian_entry *)(uintptr_t)g->tables.shell);
}
