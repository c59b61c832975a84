/* coulomb_spme: charges in a periodic box with all their images, by smooth particle-mesh Ewald.
 *
 *     U / l_B = sum_{i<j} z_i z_j erfc(alpha r_ij) / r_ij                     pairs, r < cutoff
 *             + (2 pi / V) sum_{k != 0} exp(-k^2 / 4 alpha^2) / k^2 |S(k)|^2   mesh
 *             - alpha / sqrt(pi) sum_i z_i^2 - pi / (2 alpha^2 V) (sum_i z_i)^2
 *             - sum over excluded pairs of z_i z_j / r_ij
 *             - sum over pairs within rigid molecules of z_i z_j erf(alpha r_ij) / r_ij
 *
 * with the valences z and the Bjerrum length l_B. The structure factors S(k) come from one fast
 * Fourier transform: charges are spread on a grid by cardinal B-splines of order 4 to 8. U.
 * Essmann, L. Perera, M. L. Berkowitz, T. Darden, H. Lee, L. G. Pedersen, J. Chem. Phys. 103, 8577
 * (1995). Conducting (tin-foil) surroundings; a box that is charged has a uniform background.
 *
 * The pairs are the pair facet of this file, so movers treat them with their other pairs. All the
 * rest is the total facet and comes on top: spme_host.c (FFTW), spme_device.c with coulomb_spme.cu
 * (cuFFT), spme_moves.c (one particle or several at a time: a whole evaluation each), spme_tune.c (alpha and grid
 * for a tolerance), spme_exclusions.c. Where movers change boxes, cutoff, alpha and grid stay as they
 * are at the start. The real part of pairs within rigid molecules is left out by whoever adds up pairs, so that the last line is a
 * constant of each molecule; forces and virials are those of all waves, as in coulomb_ewald. The forces are the
 * exact gradient of the energy on the grid; they do not add up to zero exactly, unless asked to
 * (balance_forces); the observable net_force measures by how much.
 */
#include <plugmc/potential.h>
#include <plugmc/functions.h>

typedef struct parameters {
    real bjerrum_length, cutoff; /* length */
    real permittivity;           /* relative; with [units] in place of bjerrum_length */
    real tolerance;
    real alpha;       /* 1/length; 0: from the tolerance */
    plugmc_list grid; /* points along x, y, z; empty or 0: from the tolerance */
    int64_t order;
    int32_t influence, spreading, precision, balance_forces;
    plugmc_list molecule; /* atoms of each species in a molecule */
    const char *molecules, *exclusions;
    real splitting;    /* alpha that is used */
    struct spme *mesh; /* in the double precision instance */
} parameters;

/* ---- Pairs ------------------------------------------------------------------------------- */

PLUGMC_FN real pair_range(const parameters *p) { return p->cutoff; }

PLUGMC_FN real pair_factor(const parameters *p, plugmc_site a)
{
    return p->bjerrum_length * a.charge;
}

PLUGMC_FN real pair_energy(const parameters *p, plugmc_separation s, plugmc_site a, plugmc_site b)
{
    (void)a;
    real gauss, over, u = b.charge * plugmc_screened(p->splitting, s.r2, &gauss, &over);
    return s.r2 < p->cutoff * p->cutoff ? u : (real)0;
}

PLUGMC_FN void pair_derivative(const parameters *p, plugmc_separation s, plugmc_site a,
                               plugmc_site b, real *first, real *second)
{
    (void)a;
    real gauss, over, u = b.charge * plugmc_screened(p->splitting, s.r2, &gauss, &over);
    real g = b.charge * (real)1.1283791670955126 * p->splitting * gauss; /* 2 alpha / sqrt(pi) */
    real slope = (u + g) * over * over;
    real inside = s.r2 < p->cutoff * p->cutoff ? (real)1 : (real)0;
    *first = -inside * slope;                                         /* u' / r */
    *second = inside * 2 * (slope + g * p->splitting * p->splitting); /* u'' */
}

#define PLUGMC_PAIR (PLUGMC_PAIR_ENERGY | PLUGMC_PAIR_FACTOR | PLUGMC_PAIR_DERIVATIVE)
#include <plugmc/pair.h>

/* ---- Mesh -------------------------------------------------------------------------------- */

#if PLUGMC_HOST
#include <plugmc/everything.h>
#include "../charged_species.h"
#include "spme.h"

static int check_box(const parameters *p, const plugmc_host *host)
{
    const plugmc_box *box = &host->system->box;
    if (box->domain != PLUGMC_DOMAIN_PERIODIC || box->dimension != 3 || box->oblique)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "particle-mesh Ewald needs a three-dimensional, rectangular, periodic box, but "
            "[box] is %s",
            box->domain != PLUGMC_DOMAIN_PERIODIC ? "a sphere"
            : box->dimension != 3                 ? "two-dimensional"
                                                  : "oblique: use 'coulomb_ewald'");
    double shortest = INFINITY;
    for (int d = 0; d < 3; d++) {
        if (!(box->length[d] > 0) || !isfinite(box->length[d]))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "the box is %g long in %c: an edge must be above 0 and finite",
                              box->length[d], "xyz"[d]);
        shortest = fmin(shortest, box->length[d]);
    }
    if ((double)p->cutoff > shortest / 2 * (1 + 1e-6))
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "cutoff = %g exceeds half the shortest edge of the box, %g: only nearest images "
            "of pairs are included",
            (double)p->cutoff, shortest / 2);
    return PLUGMC_OK;
}

/* `grid`: nothing or 0, one number for all edges, or three. */
static int read_grid(const parameters *p, const plugmc_host *host, int32_t grid[3])
{
    if (p->grid.count != 0 && p->grid.count != 1 && p->grid.count != 3)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "grid has %d numbers: give one for all edges, or three", p->grid.count);
    for (int d = 0; d < 3; d++) {
        double points = p->grid.count == 0 ? 0 : p->grid.values[p->grid.count == 3 ? d : 0];
        if (points != floor(points))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "grid = %g: must be a whole number", points);
        if (points != 0 && points < (double)p->order)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "grid = %g is too coarse: a spline of order %lld spans %lld points",
                              points, (long long)p->order, (long long)p->order);
        grid[d] = (int32_t)points;
    }
    if (!grid[0] != !grid[1] || !grid[0] != !grid[2])
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "grid = %d %d %d: give all three, or none", grid[0], grid[1], grid[2]);
    return PLUGMC_OK;
}

/* From numbers rounded to float, so that both precisions find the same. */
static int tune(parameters *p, const plugmc_host *host, int32_t grid[3])
{
    const spme_charges charges = spme_charges_of(host->system);
    double alpha = (double)p->alpha;
    if (!spme_tune(&charges, (double)(float)p->cutoff, (double)(float)p->tolerance, (int)p->order,
                   p->influence, &alpha, grid))
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "a tolerance of %g with order %lld and alpha = %g needs more than 4096 grid "
            "points along an edge: increase order or cutoff",
            (double)p->tolerance, (long long)p->order, alpha);
    p->splitting = (real)alpha;
    return PLUGMC_OK;
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    const int single = sizeof(real) == sizeof(float);
    int32_t grid[3] = {0, 0, 0};
    int code = charges_strength(host, &p->bjerrum_length, p->permittivity);
    if (!code) code = check_box(p, host);
    if (!code) code = single ? PLUGMC_OK : charges_are_there(host); /* said once is enough */
    if (!code) code = read_grid(p, host, grid);
    if (code) return code;
    code = tune(p, host, grid);
    if (code || single) return code;
    const spme_settings settings = {
        .bjerrum_length = (double)p->bjerrum_length,
        .cutoff = (double)p->cutoff,
        .alpha = (double)p->splitting,
        .tolerance = (double)p->tolerance,
        .order = (int32_t)p->order,
        .grid = {grid[0], grid[1], grid[2]},
        .influence = p->influence,
        .spreading = p->spreading,
        .precision = p->precision,
        .balance_forces = p->balance_forces,
        .molecule = (const double *)p->molecule.values,
        .molecule_species = p->molecule.count,
        .molecules = p->molecules,
        .exclusions = p->exclusions,
    };
    return spme_configure(host, &settings, &p->mesh);
}

#ifndef PLUGMC_FLOAT_UNIT
static int prepare(void *instance, const plugmc_host *host)
{
    int code = charges_cannot_collapse(instance, host);
    return code ? code : spme_prepare(((parameters *)instance)->mesh, host);
}

static int energy(void *instance, const plugmc_total_request *request)
{
    return spme_energy(((parameters *)instance)->mesh, request);
}

static int32_t recordable(const void *instance)
{
    return spme_recordable(((const parameters *)instance)->mesh);
}

static int start(void *instance, const plugmc_view *view)
{
    return spme_start(((parameters *)instance)->mesh, view);
}

static int change(void *instance, int32_t walker, int64_t particle, const double position[3],
                  double *change)
{
    return spme_change(((parameters *)instance)->mesh, walker, particle, position, change);
}

static int insert_remove(void *instance, int32_t walker, const plugmc_insert_remove *x,
                         double *change)
{
    return spme_insert_remove(((parameters *)instance)->mesh, walker, x, change);
}

static int displace(void *instance, int32_t walker, const plugmc_displacements *x, double *change)
{
    return spme_displace(((parameters *)instance)->mesh, walker, x, change);
}

static int settle(void *instance, int32_t walker, int accepted)
{
    return spme_settle(((parameters *)instance)->mesh, walker, accepted);
}

static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    return index == 0 && !spme_gpu_source(((parameters *)instance)->mesh, host, out);
}

static void release(void *instance) { spme_release(((parameters *)instance)->mesh); }

static int32_t molecules(const void *instance)
{
    const parameters *p = instance;
    return p->molecule.count || *p->molecules || *p->exclusions ? PLUGMC_MOLECULES_LOOSE
                                                                : PLUGMC_MOLECULES_NONE;
}

static int molecule_of(void *instance, int32_t *molecule)
{
    return spme_molecules(((parameters *)instance)->mesh, molecule);
}

static const plugmc_total mesh = {.size = sizeof mesh,
                                  .on_device = 1,
                                  .beside_parts = 1,
                                  .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                             PLUGMC_CHANGED_MOLECULE,
                                  .energy = energy,
                                  .start = start,
                                  .change = change,
                                  .settle = settle,
                                  .molecules = molecules,
                                  .insert_remove = insert_remove,
                                  .molecule_of = molecule_of,
                                  .displace = displace,
                                  .recordable = recordable};
#define MESH .total = &mesh
#define CALLBACKS .prepare = prepare, .gpu_source = gpu_source, .release = release
#else
#define MESH .total = NULL
#define CALLBACKS .prepare = NULL
#endif

static const plugmc_parameter table[] = {
    CHARGES_KEYS(parameters),
    PLUGMC_REAL_KEY(parameters, cutoff, NULL, 1e-9, 1e9, "length", "cutoff of the real-space sum"),
    PLUGMC_REAL_KEY(parameters, tolerance, "1e-4", 1e-12, 0.1, "",
                    "rms error of the forces relative to the force between two charges at "
                    "distance (N/V)^(-1/3); determines alpha and grid if they are not given"),
    PLUGMC_REAL_KEY(parameters, alpha, "0", 0, 1e9, "1/length",
                    "splitting parameter of real-space sum and mesh; 0: from tolerance and "
                    "cutoff"),
    PLUGMC_LIST_KEY(parameters, grid, 0, "0", 0, 4096, "",
                    "grid points along the edges, one number or three; 0: from the tolerance"),
    PLUGMC_INTEGER_KEY(parameters, order, "6", 4, 8, "", "order of the B-splines"),
    PLUGMC_CHOICE_KEY(
        parameters, influence, "spme", "spme|optimal",
        "influence function: that of Essmann et al. (spme), or that of the smallest rms "
        "error (optimal)"),
    PLUGMC_CHOICE_KEY(parameters, spreading, "sorted", "sorted|gather",
                      "charge assignment on a GPU: charges sorted by tiles of the grid, or "
                      "gathered by each grid point (Harvey, De Fabritiis 2009)"),
    PLUGMC_CHOICE_KEY(parameters, precision, "single", "single|double",
                      "precision of the mesh on a GPU"),
    PLUGMC_FLAG_KEY(parameters, balance_forces, "no",
                    "subtract the mean force of the mesh, an error that net_force measures, "
                    "from every particle"),
    PLUGMC_LIST_KEY(
        parameters, molecule, 0, "", 0, 1e9, "",
        "number of atoms of each species in a molecule, which do not interact with each "
        "other; molecules are consecutive within each species"),
    PLUGMC_FILE_KEY(parameters, molecules, "",
                    "file with the index of the molecule of each particle, negative for none"),
    PLUGMC_FILE_KEY(parameters, exclusions, "",
                    "file with two particles a line (from 0, species by species) that do not "
                    "interact"),
    PLUGMC_REAL_DERIVED(parameters, splitting, "alpha that is used"),
};

static const plugmc_potential potential = {
    .size = sizeof potential, .pair = &plugmc_pair_facet, MESH};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "coulomb_spme",
              .summary = "Coulomb interaction with all periodic images, by smooth "
                         "particle-mesh Ewald",
              .reference = "Essmann, Perera, Berkowitz, Darden, Lee, Pedersen, J. Chem. Phys. 103, "
                           "8577 (1995); Harvey, De Fabritiis, J. Chem. Theory Comput. 5, 2371 "
                           "(2009)",
              PLUGMC_KEYS(parameters, table), .configure = configure, CALLBACKS,
              .potential = &potential);
#endif
