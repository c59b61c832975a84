/* ions.c: which ions there are, with which charges and pseudopotentials, and where their images are. */
#include "local_energy.h"

#include <math.h>
#include <string.h>

/* What cannot be used of kind number k. */
static int check_kind(const local_energy *le, const plugmc_host *host, int k)
{
    const pseudopotential *p = &le->v.kind[k];
    for (int i = 0; i < k; i++)
        if (le->v.kind[i].atomic_number == p->atomic_number)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "pseudopotentials '%s' and '%s' both have atomic number %d",
                              le->v.kind[i].path, p->path, p->atomic_number);
    if (le->set.nonlocal == SEPARABLE && !p->projectors && p->channels)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "pseudopotential '%s' has no projectors, so nonlocal = separable is not possible",
            p->path);
    if (le->set.nonlocal == SEMILOCAL && p->no_channels)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "pseudopotential '%s' has no semilocal potential, since %s; use "
                          "nonlocal = separable",
                          p->path, p->no_channels);
    return PLUGMC_OK;
}

static int read_pseudopotentials(local_energy *le, const plugmc_host *host)
{
    const size_t bytes = strlen(le->set.pseudopotentials) + 1;
    char *names = host->allocate(host->context, bytes), *rest = names, *name;
    size_t files = 1;
    for (size_t i = 0; i < bytes; i++) files += le->set.pseudopotentials[i] == '\n';
    le->v.kind = host->allocate(host->context, files * MOST_OF_TREXIO * sizeof *le->v.kind);
    if (!names || !le->v.kind) return local_energy_no_memory(host);
    memcpy(names, le->set.pseudopotentials, bytes);
    while ((name = strtok_r(rest, "\n", &rest))) {
        pseudopotential *p = &le->v.kind[le->kinds];
        int found = 1, code = PLUGMC_OK;
        if (pseudopotential_is_hdf5(name)) {
            code = host->rehearse(host->context, name);
            if (!code)
                code = pseudopotentials_of_trexio(host, name, le->set.tolerance, p, MOST_OF_TREXIO,
                                                  &found);
        } else {
            code = pseudopotential_read(p, host, name, le->set.tolerance);
        }
        for (; found > 0 && !code; found--) code = check_kind(le, host, le->kinds++);
        if (code) return code;
    }
    return PLUGMC_OK;
}

/* Charge of ion i, by its pseudopotential or as it is. */
static int take_ion(local_energy *le, const plugmc_host *host, int32_t i)
{
    const int32_t z = le->ions.atomic_number[i];
    const double valence = le->ions.valence ? le->ions.valence[i] : 0;
    le->v.kind_of[i] = -1;
    for (int k = 0; k < le->kinds; k++)
        if (le->v.kind[k].atomic_number == z) le->v.kind_of[i] = k;
    const pseudopotential *p = le->v.kind_of[i] < 0 ? NULL : &le->v.kind[le->v.kind_of[i]];
    le->v.charge[i] = p ? p->valence : z;
    if (valence == 0 || fabs(valence - le->v.charge[i]) < 1e-6) return PLUGMC_OK;
    if (p)
        return host->fail(
            host->context, PLUGMC_ERROR_INPUT,
            "ion %d (atomic number %d) has %g valence electrons in the file of its orbitals, "
            "but %g in pseudopotential '%s'",
            i + 1, z, valence, p->valence, p->path);
    return host->fail(
        host->context, PLUGMC_ERROR_INPUT,
        "ion %d (atomic number %d) has %g valence electrons in the file of its orbitals: "
        "give its pseudopotential",
        i + 1, z, valence);
}

/* A file that was named for nothing: of another element than is meant, or the ions are of another one. */
static void warn_of_unused(const local_energy *le, const plugmc_host *host)
{
    for (int k = 0; k < le->kinds; k++) {
        int used = 0;
        for (int32_t i = 0; i < le->ions.count; i++) used |= le->v.kind_of[i] == k;
        if (!used)
            host->warn(host->context,
                       "pseudopotentials: no ion has atomic number %d, to which '%s' belongs",
                       le->v.kind[k].atomic_number, le->v.kind[k].path);
    }
}

int prepare_ions(local_energy *le, const plugmc_host *host)
{
    const plugmc_orbitals *orbitals = plugmc_orbitals_of(le->wave.orbitals->plugin);
    le->ions = (plugmc_ions){.size = sizeof le->ions};
    int code = read_pseudopotentials(le, host);
    if (!code && PLUGMC_HAS(orbitals, ions) && orbitals->ions)
        code = orbitals->ions(le->wave.orbitals->instance, &le->ions);
    const size_t n = (size_t)le->ions.count;
    le->has_ions = n > 0;
    le->v.kind_of = host->allocate(host->context, (n + 1) * sizeof *le->v.kind_of);
    le->v.charge = host->allocate(host->context, (n + 1) * sizeof *le->v.charge);
    if (!code && (!le->v.kind_of || !le->v.charge)) code = local_energy_no_memory(host);
    double total = 0;
    for (int32_t i = 0; i < le->ions.count && !code; i++) {
        code = take_ion(le, host, i);
        total += le->v.charge[i];
    }
    if (!code) warn_of_unused(le, host);
    if (code || !le->has_ions || le->system->box.domain != PLUGMC_DOMAIN_PERIODIC ||
        fabs(total - (double)le->system->particles - le->ions.charge) < 1e-6)
        return code;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "the ions have a charge of %g, but there are %lld electrons%s", total,
                      (long long)le->system->particles,
                      le->kinds ? "" : "; no pseudopotentials are given");
}

/* Distance between the lattice planes that d counts. */
static double plane_distance(const plugmc_box *box, int d)
{
    double square = 0;
    for (int e = 0; e < 3; e++) square += box->inverse[e][d] * box->inverse[e][d];
    return 1 / sqrt(square);
}

/* Images of ion i that can be within `reach` of a point of the cell, and a thousandth of the cell
 * more; counted, and noted if that is asked. */
static int64_t images_of(local_energy *le, int32_t i, double reach, int note)
{
    const plugmc_box *box = &le->system->box;
    const double *r = le->ions.positions[i];
    int low[3] = {0}, high[3] = {0};
    double f[3] = {0};
    int64_t count = 0;
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    for (int d = 0; d < 3 && periodic; d++) {
        const double share = reach / plane_distance(box, d) + 1e-3;
        f[d] = r[0] * box->inverse[0][d] + r[1] * box->inverse[1][d] + r[2] * box->inverse[2][d];
        low[d] = (int)ceil(-share - f[d]);
        high[d] = (int)floor(1 + share - f[d]);
    }
    for (int a = low[0]; a <= high[0]; a++)
        for (int b = low[1]; b <= high[1]; b++)
            for (int c = low[2]; c <= high[2]; c++, count++) {
                if (!note) continue;
                for (int d = 0; d < 3; d++)
                    le->v.centre[le->v.centres][d] =
                        r[d] + (periodic ? a * box->vector[0][d] + b * box->vector[1][d] +
                                               c * box->vector[2][d]
                                         : 0);
                le->v.ion_of[le->v.centres++] = i;
            }
    return count;
}

static void find_reaches(local_energy *le)
{
    ion_potentials *v = &le->v;
    for (int k = 0; k < le->kinds; k++) {
        const pseudopotential *p = &v->kind[k];
        double far = 0;
        v->reach[k] = radial_reach(&p->local);
        for (int l = 0; l < p->channels && !v->separable; l++)
            far = fmax(far, radial_reach(&p->channel[l]));
        for (int j = 0; j < p->projectors && v->separable; j++)
            far = fmax(far, radial_reach(&p->projector[j].beta));
        v->nonlocal_reach[k] = far;
        if (v->separable)
            gauss_legendre(v->radii, far, v->node + k * v->radii, v->node_weight + k * v->radii);
    }
}

int prepare_centres(local_energy *le, const plugmc_host *host)
{
    plugmc_context *context = host->context;
    ion_potentials *v = &le->v;
    const plugmc_orbitals *orbitals = plugmc_orbitals_of(le->wave.orbitals->plugin);
    v->ions = le->ions.count;
    if (PLUGMC_HAS(orbitals, twist) && orbitals->twist)
        orbitals->twist(le->wave.orbitals->instance, v->twist);
    v->twisted = le->wave.is_complex && (v->twist[0] != 0 || v->twist[1] != 0 || v->twist[2] != 0);
    v->separable = le->set.nonlocal == SEPARABLE;
    v->of_determinants = le->set.localisation == OF_DETERMINANTS;
    v->radii = v->separable ? (int32_t)le->set.radial_points : 1;
    quadrature_choose(&v->sphere, le->set.quadrature);
    const size_t kinds = (size_t)le->kinds + 1, nodes = kinds * (size_t)v->radii;
    const size_t ions = (size_t)v->ions, waves = (size_t)le->sums.waves;
    double far = 0;
    int64_t count = 0;
    v->reach = host->allocate(context, 2 * kinds * sizeof *v->reach);
    v->node = host->allocate(context, 2 * nodes * sizeof *v->node);
    v->position = host->allocate(context, (ions + 1) * sizeof *v->position);
    le->ion_wave = host->allocate(context, (2 * waves + 1) * sizeof *le->ion_wave);
    if (!v->reach || !v->node || !v->position || !le->ion_wave) return local_energy_no_memory(host);
    v->nonlocal_reach = v->reach + kinds;
    v->node_weight = v->node + nodes;
    if (ions) memcpy(v->position, le->ions.positions, ions * sizeof *v->position);
    find_reaches(le);
    for (int k = 0; k < le->kinds; k++) far = fmax(far, fmax(v->reach[k], v->nonlocal_reach[k]));
    for (int32_t i = 0; i < v->ions && le->kinds; i++) count += images_of(le, i, far, 0);
    v->centre = host->allocate(context, (size_t)(count + 1) * sizeof *v->centre);
    v->ion_of = host->allocate(context, (size_t)(count + 1) * sizeof *v->ion_of);
    if (!v->centre || !v->ion_of) return local_energy_no_memory(host);
    for (int32_t i = 0; i < v->ions && le->kinds; i++) images_of(le, i, far, 1);
    if (!ions) return PLUGMC_OK;
    const double energy = coulomb_self(&le->sums, v->ions, &v->position[0][0], v->charge,
                                       le->ion_wave, le->ion_wave + waves);
    if (le->set.ion_ion) le->constant = energy;
    return PLUGMC_OK;
}
