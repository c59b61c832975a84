/* UPF version 2, norm-conserving: the local potential and projectors with their strengths, Rydberg.
 *
 * Projectors were made from a semilocal potential as beta_l = dv_l chi_l with D_l = 1 / <chi_l |
 * dv_l | chi_l>, chi_l being the pseudo wave functions that the file also holds. Where there is one
 * for each l and these relations hold, dv_l = beta_l / chi_l is had back, and the semilocal
 * potential is what quantum Monte Carlo takes. It is equal to the separable one for the atom, not
 * quite in a solid: the energies of the calculation that the orbitals come from are those of the
 * separable one. Files with <PP_SEMILOCAL> give it outright. */
#include "pseudopotential.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file being read: its grid, and places of its parts. */
typedef struct upf {
    const file_text *file;
    const element *all;
    int64_t n;
    double *r, *weight; /* [n] radii and their weights in sums */
} upf;

static int is_true(const element *e, const char *name)
{
    const char *value = find_attribute(e, name);
    const char first = !value ? 0 : value[0] == '.' ? value[1] : value[0];
    return first && strchr("tTyY1", first);
}

static int read_header(pseudopotential *p, const upf *u, int *projectors)
{
    const element *header = find_element(u->all, NULL, "PP_HEADER");
    if (!header) return pseudopotential_fault(u->file, "has no PP_HEADER");
    const char *type = find_attribute(header, "pseudo_type");
    if (is_true(header, "is_ultrasoft") || is_true(header, "is_paw") ||
        (type && (!strcmp(type, "US") || !strcmp(type, "PAW"))))
        return pseudopotential_fault(u->file,
                                     "is ultrasoft or of the PAW method; quantum Monte Carlo "
                                     "needs one that conserves the norm");
    if (is_true(header, "has_so"))
        return pseudopotential_fault(u->file, "has spin-orbit coupling, and orbitals here have one "
                                              "component of spin: take a scalar-relativistic one");
    const char *symbol = find_attribute(header, "element"),
               *valence = find_attribute(header, "z_valence"),
               *count = find_attribute(header, "number_of_proj");
    if (symbol) p->atomic_number = element_of(symbol);
    if (valence) p->valence = strtod(valence, NULL);
    const long number = count ? strtol(count, NULL, 10) : 0;
    if (number < 0 || number > MOST_PROJECTORS)
        return pseudopotential_fault(u->file, "has %ld projectors; %d are the most", number,
                                     MOST_PROJECTORS);
    *projectors = (int)number;
    return PLUGMC_OK;
}

/* An angular momentum that can be used, or -1. */
static int angular_momentum(const element *e, const char *name)
{
    const char *value = find_attribute(e, name);
    const long l = value ? strtol(value, NULL, 10) : -1;
    return l >= 0 && l <= MOST_L ? (int)l : -1;
}

/* Numbers [n] of the element `name`; its l by the attribute `l_name` if that is given. */
static double *numbers_of(const upf *u, const char *name, int64_t n, const char *l_name, int *l)
{
    const element *e = find_element(u->all, NULL, name);
    if (!e) {
        pseudopotential_fault(u->file, "has no %s", name);
        return NULL;
    }
    if (l_name && (*l = angular_momentum(e, l_name)) < 0) {
        pseudopotential_fault(u->file, "has a function %s without an l that could be used", name);
        return NULL;
    }
    char *at = e->text;
    return read_numbers(u->file, name, &at, n);
}

static int read_grid(upf *u)
{
    const element *mesh = find_element(u->all, NULL, "PP_MESH"),
                  *r = mesh ? find_element(mesh, NULL, "PP_R") : NULL;
    if (!r) return pseudopotential_fault(u->file, "has no grid");
    const char *points = find_attribute(mesh, "mesh");
    if (!points) points = find_attribute(r, "size");
    u->n = points ? strtoll(points, NULL, 10) : 0;
    if (u->n < 4) return pseudopotential_fault(u->file, "has %lld grid points", (long long)u->n);
    u->r = numbers_of(u, "PP_R", u->n, NULL, NULL);
    u->weight = u->r ? numbers_of(u, "PP_RAB", u->n, NULL, NULL) : NULL;
    if (!u->weight) return PLUGMC_ERROR_INPUT;
    for (int64_t i = 1; i < u->n; i++)
        if (!(u->r[i] > u->r[i - 1]))
            return pseudopotential_fault(u->file, "has a grid that does not grow at point %lld",
                                         (long long)i + 1);
    return PLUGMC_OK;
}

/* r v + Z with its value at the origin. */
static int read_local(pseudopotential *p, const upf *u, double tolerance)
{
    double *v = numbers_of(u, "PP_LOCAL", u->n, NULL, NULL);
    double *r = malloc(2 * ((size_t)u->n + 1) * sizeof *r), *y = r ? r + u->n + 1 : NULL;
    const int64_t skip = u->r[0] > 0;
    int code = v && r ? PLUGMC_OK : PLUGMC_ERROR_INPUT;
    for (int64_t i = 0; i < u->n && !code; i++) {
        r[i + skip] = u->r[i];
        y[i + skip] = 0.5 * u->r[i] * v[i] + p->valence;
    }
    if (!code) {
        r[0] = 0;
        y[0] = p->valence;
        const double last = y[u->n - 1 + skip];
        if (fabs(last) > 1e-3)
            code = pseudopotential_fault(u->file,
                                         "does not end as -Z/r with Z = %g: r v + Z = %g at "
                                         "r = %g",
                                         p->valence, last, r[u->n - 1 + skip]);
        else
            code = radial_make(&p->local, u->file->host, u->n + skip, r, y, tolerance);
    }
    free(v);
    free(r);
    return code;
}

/* ---- What depends on l ----------------------------------------------------------------------- */

static int read_projectors(pseudopotential *p, const upf *u, int count, double **beta,
                           double tolerance)
{
    double *d = count ? numbers_of(u, "PP_DIJ", (int64_t)count * count, NULL, NULL) : NULL;
    int code = count && !d ? PLUGMC_ERROR_INPUT : PLUGMC_OK;
    for (int i = 0; i < count && !code; i++) {
        char name[32];
        snprintf(name, sizeof name, "PP_BETA.%d", i + 1);
        beta[i] = numbers_of(u, name, u->n, "angular_momentum", &p->projector[i].l);
        if (!beta[i]) code = PLUGMC_ERROR_INPUT;
        if (!code)
            code =
                radial_make(&p->projector[i].beta, u->file->host, u->n, u->r, beta[i], tolerance);
        for (int j = 0; j < count && !code; j++) p->strength[i][j] = 0.5 * d[i * count + j];
    }
    for (int i = 0; i < count && !code; i++)
        for (int j = 0; j < count && !code; j++)
            if (p->projector[i].l != p->projector[j].l && p->strength[i][j] != 0)
                code = pseudopotential_fault(u->file, "couples projectors %d and %d of different l",
                                             i + 1, j + 1);
    if (!code) p->projectors = count;
    free(d);
    return code;
}

/* The pseudo wave function of an l: the first of it, or NULL where the file has none. */
static int wave_function(const upf *u, int wanted, double **chi)
{
    *chi = NULL;
    for (int i = 1; i < 64; i++) {
        char name[32];
        int l;
        snprintf(name, sizeof name, "PP_CHI.%d", i);
        if (!find_element(u->all, NULL, name)) return PLUGMC_OK;
        if (!(*chi = numbers_of(u, name, u->n, "l", &l))) return PLUGMC_ERROR_INPUT;
        if (l == wanted) return PLUGMC_OK;
        free(*chi);
        *chi = NULL;
    }
    return PLUGMC_OK;
}

/* dv = beta / chi up to where it has died off; NULL if all is well, or why not. */
static const char *divide(const upf *u, const double *beta, const double *chi, double strength,
                          double tolerance, double *dv)
{
    const int64_t skip = u->r[0] == 0; /* where both are 0 */
    double overlap = 0, largest = 0;
    int64_t last = 0;
    for (int64_t i = 0; i < u->n; i++) {
        overlap += u->weight[i] * beta[i] * chi[i];
        largest = fmax(largest, fabs(chi[i]));
        if (fabs(beta[i]) > tolerance) last = i;
    }
    if (!(fabs(2 * strength * overlap - 1) <
          1e-3)) /* strength is in Hartree, the rest in Rydberg */
        return "its projectors are not made from a semilocal potential and its wave functions";
    for (int64_t i = 0; i < u->n; i++) {
        dv[i] = 0;
        if (i > last || i < skip) continue;
        if (chi[i] * chi[last] <= 0 || fabs(chi[i]) < 1e-12 * largest)
            return "a wave function of it has a node";
        dv[i] = 0.5 * beta[i] / chi[i];
    }
    return NULL;
}

static int channels_of_projectors(pseudopotential *p, const upf *u, double *const *beta,
                                  double tolerance)
{
    const int64_t skip = u->r[0] == 0;
    int code = PLUGMC_OK;
    double *dv = malloc((size_t)u->n * sizeof *dv);
    if (!dv)
        return u->file->host->fail(u->file->host->context, PLUGMC_ERROR_MEMORY,
                                   "no memory for a pseudopotential");
    for (int i = 0; i < p->projectors && !code && !p->no_channels; i++) {
        const int l = p->projector[i].l;
        double *chi;
        if ((code = wave_function(u, l, &chi))) break;
        p->no_channels = p->channel[l].n ? "it has several projectors for one l"
                         : !chi          ? "it has no wave function for an l"
                                : divide(u, beta[i], chi, p->strength[i][i], tolerance, dv);
        if (!p->no_channels)
            code = radial_make(&p->channel[l], u->file->host, u->n - skip, u->r + skip, dv + skip,
                               tolerance);
        if (l >= p->channels) p->channels = l + 1;
        free(chi);
    }
    if (p->no_channels) p->channels = 0;
    free(dv);
    return code;
}

/* <PP_SEMILOCAL>: potentials of each l, whole ones or less the local one; far out they differ. */
static int channels_of_file(pseudopotential *p, const upf *u, const element *semilocal,
                            double tolerance)
{
    const int64_t skip = u->r[0] == 0; /* where whole potentials diverge alike */
    int code = PLUGMC_OK;
    for (int i = 1; i <= MOST_L + 1 && !code; i++) {
        char name[32];
        snprintf(name, sizeof name, "PP_VNL.%d", i);
        const element *e = find_element(semilocal, NULL, name);
        if (!e) {
            snprintf(name, sizeof name, "PP_VNL%d", i);
            if (!(e = find_element(semilocal, NULL, name))) break;
        }
        const int l = angular_momentum(e, find_attribute(e, "L") ? "L" : "l");
        char *at = e->text;
        double *v = read_numbers(u->file, name, &at, u->n);
        if (!v || l < 0 || l > MOST_L) {
            if (v) code = pseudopotential_fault(u->file, "has a potential %s for l = %d", name, l);
            free(v);
            return v ? code : PLUGMC_ERROR_INPUT;
        }
        const double far = u->r[u->n - 1];
        const int whole = fabs(far * v[u->n - 1] + 2 * p->valence) < 0.1 * p->valence;
        for (int64_t k = 0; k < u->n; k++) {
            v[k] *= 0.5;
            if (whole && k >= skip) v[k] -= (radial_at(&p->local, u->r[k]) - p->valence) / u->r[k];
        }
        code = radial_make(&p->channel[l], u->file->host, u->n - skip, u->r + skip, v + skip,
                           tolerance);
        if (l >= p->channels) p->channels = l + 1;
        free(v);
    }
    return code;
}

int read_upf(pseudopotential *p, const file_text *file, double tolerance)
{
    element *outermost;
    double *beta[MOST_PROJECTORS] = {NULL};
    int count = 0, code = pseudopotential_markup(file, &outermost);
    if (code) return code;
    upf u = {.file = file, .all = outermost};
    code = read_header(p, &u, &count);
    if (!code) code = read_grid(&u);
    if (!code) code = read_local(p, &u, tolerance);
    if (!code) code = read_projectors(p, &u, count, beta, tolerance);
    const element *semilocal = code ? NULL : find_element(u.all, NULL, "PP_SEMILOCAL");
    if (!code)
        code = semilocal ? channels_of_file(p, &u, semilocal, tolerance)
                         : channels_of_projectors(p, &u, beta, tolerance);
    for (int i = 0; i < MOST_PROJECTORS; i++) free(beta[i]);
    free(u.r);
    free(u.weight);
    markup_free(outermost);
    return code;
}
