/* gaussian_orbitals: one-electron orbitals of molecules and solids as sums of contracted Gaussian functions around nuclei
 * (S. F. Boys, Proc. R. Soc. A 200, 542 (1950)), from the files of QMCPACK's converters and from TREXIO.
 *
 *     psi_o(r) = sum_i C_oi P_i(r - R_i) sum_k c_ik exp(-a_ik |r - R_i|^2)
 *
 * P are real solid harmonics or monomials up to l = 5. A molecule is in open space, [box] shape = sphere. In a periodic
 * box each function is a sum over lattice vectors T, exp(i k T) times the function at R_i + T, as far as functions are above
 * `tolerance`. Lengths are bohr. Species 0 has spin up, species 1 spin down.
 *
 * Gaussian functions have no cusp at a nucleus. Where a nucleus is bare, s functions near it are replaced orbital by
 * orbital (cusp.c).
 *
 * molecule.c and the readers beside it read files, tables.c fills what evaluation reads, host.c and gpu.c evaluate. */
#include <math.h>
#include <string.h>

#include <plugmc/description.h>
#include <plugmc/everything.h>

#include "gaussian_orbitals.h"
#include "mixing.h"

/* ---- Orbitals for others ---------------------------------------------------------------------- */

static int evaluate(void *instance, const plugmc_orbital_request *q)
{
    const gaussian_orbitals *g = instance;
    const plugmc_host *host = g->host;
    if (q->species < 0 || q->species > 1 || g->wanted[q->species] == 0)
        return host->fail(host->context, PLUGMC_ERROR_STATE, "there are no orbitals for species %d",
                          q->species);
    if (q->pitch < g->wanted[q->species] ||
        (q->real_size != sizeof(float) && q->real_size != sizeof(double)))
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "orbitals are asked for with a pitch of %lld and reals of %d bytes",
                          (long long)q->pitch, q->real_size);
    if (q->points <= 0 || (!q->values && !q->gradients && !q->laplacians)) return PLUGMC_OK;
    if (q->on_device && !host->gpu)
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "orbitals are requested on the GPU in a run on the CPU");
    if (q->on_device) return gaussian_on_device(g, q);
    gaussian_on_host(g, q);
    return PLUGMC_OK;
}

static int64_t count(const void *instance, int32_t species)
{
    const gaussian_orbitals *g = instance;
    return species == 0 || species == 1 ? g->wanted[species] : 0;
}

static int32_t complex_valued(const void *instance)
{
    return ((const gaussian_orbitals *)instance)->tables.parts == 2;
}

/* The caller may know fewer members. */
static int ions(const void *instance, plugmc_ions *out)
{
    const plugmc_ions *found = &((const gaussian_orbitals *)instance)->ions;
    const uint32_t size = out->size < sizeof *found ? out->size : sizeof *found;
    memcpy(out, found, size);
    out->size = size;
    return PLUGMC_OK;
}

static void turns_of(const void *instance, double turns[3])
{
    for (int d = 0; d < 3; d++) turns[d] = ((const gaussian_orbitals *)instance)->tables.turns[d];
}

/* ---- Preparation ------------------------------------------------------------------------------ */

/* The box of the run is that of the file: open space, or its cell. */
static int check_box(const gaussian_orbitals *g)
{
    const plugmc_host *host = g->host;
    const plugmc_box *box = &host->system->box;
    const double(*a)[3] = (const double(*)[3])g->source.lattice;
    double worst = 0, largest = 0;
    if (!g->source.periodic) {
        if (box->domain == PLUGMC_DOMAIN_SPHERE && box->dimension == 3) return PLUGMC_OK;
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "%s is of a molecule, which needs open space: [box] dimension = 3, shape = "
            "sphere with a large radius",
            g->keys.file);
    }
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) {
            largest = fmax(largest, fabs(a[d][e]));
            worst = fmax(worst, fabs(a[d][e] - box->vector[d][e]));
        }
    if (box->domain == PLUGMC_DOMAIN_PERIODIC && box->dimension == 3 && worst < 1e-6 * largest)
        return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s: the box of the run differs from its cell, which is [box] dimension = 3, "
                      "shape = oblique, a = %.12g %.12g %.12g, b = %.12g %.12g %.12g, c = %.12g "
                      "%.12g %.12g (bohr)",
                      g->keys.file, a[0][0], a[0][1], a[0][2], a[1][0], a[1][1], a[1][2], a[2][0],
                      a[2][1], a[2][2]);
}

/* A nucleus outside of the sphere, or so near its edge that orbitals are cut off. */
static int check_sphere(const gaussian_orbitals *g)
{
    const plugmc_host *host = g->host;
    const double radius = host->system->box.radius;
    double nearest = INFINITY;
    for (int32_t i = 0; i < g->source.nuclei && !g->source.periodic; i++) {
        const double *r = g->source.position[i];
        nearest = fmin(nearest, radius - sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]));
        if (nearest > 0) continue;
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "nucleus %d of %s, at (%g, %g, %g), is not inside the sphere of radius %g", i + 1,
            g->keys.file, r[0], r[1], r[2], radius);
    }
    if (nearest < 8)
        host->warn(
            host->context,
            "the edge of the sphere is only %.3g bohr from a nucleus, and orbitals end there",
            nearest);
    return PLUGMC_OK;
}

static int check_charge(const gaussian_orbitals *g)
{
    double charge = -(double)(g->electrons[0] + g->electrons[1]);
    for (int32_t i = 0; i < g->source.nuclei; i++) charge += g->source.charge[i];
    if (!g->source.periodic || fabs(charge) < 1e-6) return PLUGMC_OK;
    return g->host->fail(g->host->context, PLUGMC_ERROR_INPUT,
                         "%s: the cell has charge %g, with %d electrons; a periodic box has to be "
                         "neutral",
                         g->keys.file, charge, g->electrons[0] + g->electrons[1]);
}

/* The charges of `valence`, a number for each element in the order in which the file has them first. */
static int set_valence(gaussian_orbitals *g)
{
    molecule *m = &g->source;
    const plugmc_host *host = g->host;
    int32_t elements = 0;
    for (int32_t i = 0; i < m->nuclei && g->keys.valence.count; i++) {
        int32_t first = 0;
        while (m->atomic_number[first] != m->atomic_number[i]) first++;
        if (first < i) {
            m->charge[i] = m->charge[first];
            continue;
        }
        if (elements < g->keys.valence.count)
            m->charge[i] = (double)g->keys.valence.values[elements];
        elements++;
        if (!(m->charge[i] > 0 && m->charge[i] <= m->atomic_number[i]))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "valence: %g is no charge of a nucleus of atomic number %d",
                              m->charge[i], m->atomic_number[i]);
    }
    if (elements == g->keys.valence.count) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "valence has %d numbers, but %s has %d elements", g->keys.valence.count,
                      g->keys.file, elements);
}

static int configure(void *instance, const plugmc_host *host)
{
    gaussian_orbitals *g = instance;
    g->host = host;
    int code = molecule_read(&g->source, host, g->keys.file,
                             g->keys.beyond ? ORDER_OF_LISTS : ORDER_OF_ENERGY);
    if (!code) code = set_valence(g);
    if (!code) code = check_box(g);
    if (!code) code = check_sphere(g);
    if (!code) code = gaussian_occupy(g);
    if (!code) code = mixing_check(g);
    if (!code) code = check_charge(g);
    if (!code) code = gaussian_check_norms(g);
    if (code) return code;
    g->ions = (plugmc_ions){.size = sizeof g->ions,
                            .count = g->source.nuclei,
                            .positions = (const double(*)[3])g->source.position,
                            .atomic_number = g->source.atomic_number,
                            .valence = g->source.charge,
                            .primitive_cells = 1};
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    gaussian_orbitals *g = instance;
    g->host = host;
    g->threads = host->system->threads;
    int code = mixing_prepare(g);
    if (!code) code = gaussian_tables_fill(g);
    if (code) return code;
    g->scratch_bytes = gaussian_scratch_bytes(g);
    g->scratch_bytes += (64 - g->scratch_bytes % 64) % 64;
    g->scratch = host->allocate(host->context, (size_t)g->threads * g->scratch_bytes + 64);
    if (!g->scratch) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for sums");
    g->scratch += (64 - (uintptr_t)g->scratch % 64) % 64;
    code = gaussian_prepare_cusps(g);
    if (code) return code;
    return host->gpu ? gaussian_prepare_gpu(g) : PLUGMC_OK;
}

static const plugmc_parameter table[] = {
    {"file", PLUGMC_TYPE_FILE, 0, offsetof(gaussian_orbitals, keys.file), NULL, 0, 0, "", NULL,
     "orbitals as QMCPACK's converters (convert4qmc, PyscfToQmcpack.py) or TREXIO write them, HDF5; or "
     "an input of QMCPACK that has basis and coefficients itself, XML",
     1},
    {"occupied_up", PLUGMC_TYPE_TEXT, 0, offsetof(gaussian_orbitals, keys.occupied[0]), "", 0, 0,
     "", NULL,
     "orbitals of spin up that are occupied, as in 1-4,6; empty: the first ones, or those of "
     "largest occupation in a TREXIO file",
     0},
    {"occupied_down", PLUGMC_TYPE_TEXT, 0, offsetof(gaussian_orbitals, keys.occupied[1]), "", 0, 0,
     "", NULL, "likewise, spin down", 0},
    {"virtual", PLUGMC_TYPE_INTEGER, 0, offsetof(gaussian_orbitals, keys.beyond), "0", 0, 4096, "",
     NULL,
     "number of orbitals beyond those that are occupied, the next ones of the file, for expansions "
     "in determinants; occupied_up and occupied_down then list these, too, and where QMCPACK's file "
     "has an order of its own for lists of determinants it is that one",
     0},
    {"valence", PLUGMC_TYPE_LIST, 0, offsetof(gaussian_orbitals, keys.valence), "", 0, 118, "e",
     NULL,
     "charges of the nuclei that electrons see, one for each element in the order of the file; "
     "they replace those of the file, as pseudopotentials need where the file has bare nuclei",
     0},
    {"mixing", PLUGMC_TYPE_LIST, 0, offsetof(gaussian_orbitals, keys.mixing), "", -1e6, 1e6, "",
     NULL,
     "numbers T of phi_i + sum_a T_ia phi_a in place of each occupied orbital i, a being the `virtual` "
     "ones: for orbital 1 of spin up, 2 ..., then spin down; zeros to be optimised. Empty: none",
     0},
    {"cusp", PLUGMC_TYPE_CHOICE, 0, offsetof(gaussian_orbitals, keys.cusp), "auto", 0, 0, "",
     "auto|yes|no",
     "replace s functions near bare nuclei such that orbitals have the cusp of the nucleus; auto: "
     "where orbitals are real",
     0},
    {"cusp_files", PLUGMC_TYPE_FILE, 0, offsetof(gaussian_orbitals, keys.cusp_files), "", 0, 0, "",
     NULL,
     "files of QMCPACK (cuspInfo) that have the functions in place of these s functions, for spin up "
     "and spin down, or one for both; without them they are optimised",
     0},
    {"tolerance", PLUGMC_TYPE_REAL, 0, offsetof(gaussian_orbitals, keys.tolerance), "1e-12", 1e-30,
     1e-3, "", NULL,
     "in a periodic box: functions are cut off where they are smaller than this (bohr^-3/2)", 0},
};

static const plugmc_orbitals orbitals = {.size = sizeof orbitals,
                                         .on_device = 1,
                                         .count = count,
                                         .complex_valued = complex_valued,
                                         .evaluate = evaluate,
                                         .ions = ions,
                                         .twist = turns_of};

static const plugmc_description description = {.size = sizeof description,
                                               .line = gaussian_describe};

static const plugmc_potential potential = {.size = sizeof potential};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "gaussian_orbitals",
              .summary = "orbitals of Gaussian functions from a file, for molecules and solids",
              .reference = "Boys, Proc. R. Soc. A 200, 542 (1950)",
              PLUGMC_KEYS(gaussian_orbitals, table),
              PLUGMC_OFFERS({PLUGMC_ORBITALS, &orbitals}, {PLUGMC_DESCRIPTION, &description},
                            {PLUGMC_VARIATIONAL_PARAMETERS, &mixing_variational}),
              .configure = configure, .prepare = prepare, .gpu_source = gaussian_gpu_source,
              .potential = &potential, .rehearse = molecule_rehearse)
