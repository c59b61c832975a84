/* Ions of a Jastrow factor: those of a section, or those of the orbitals. Included inside PLUGMC_HOST. Potentials with
 * orbitals are configured and prepared before others, which may ask for their ions from configure on. */
#ifndef PLUGINS_IONS_OF_ORBITALS_H
#define PLUGINS_IONS_OF_ORBITALS_H

#include <math.h>

#include <plugmc/everything.h>

/* Ions of the first potential with orbitals that tells of some; its label, or NULL. */
static inline const char *ions_of_orbitals(const plugmc_host *host, plugmc_ions *out)
{
    for (int32_t t = 0; t < host->system->term_count; t++) {
        const plugmc_term *term = plugmc_term_at(host->system, t);
        const plugmc_orbitals *orbitals = plugmc_orbitals_of(term->plugin);
        if (!orbitals || !PLUGMC_HAS(orbitals, ions) || !orbitals->ions) continue;
        *out = (plugmc_ions){.size = sizeof *out};
        if (!orbitals->ions(term->instance, out) && out->count > 0) return term->label;
    }
    return NULL;
}

/* Numbers the elements of the first n ions as they come, from 0: number [n]. Returns how many elements there are. */
static inline int32_t number_elements(const plugmc_ions *ions, int32_t n, int32_t *number)
{
    int32_t elements = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t before = 0;
        while (ions->atomic_number[before] != ions->atomic_number[i]) before++;
        number[i] = before < i ? number[before] : elements++;
    }
    return elements;
}

/* Between places, of which the nearest images count: good where they are near each other. */
static inline double ion_distance(const plugmc_box *box, const double a[3], const double b[3])
{
    double d[3], r[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    if (box->domain == PLUGMC_DOMAIN_PERIODIC) {
        for (int k = 0; k < 3; k++) {
            d[k] =
                r[0] * box->inverse[0][k] + r[1] * box->inverse[1][k] + r[2] * box->inverse[2][k];
            d[k] -= rint(d[k]);
        }
        for (int e = 0; e < 3; e++)
            r[e] = d[0] * box->vector[0][e] + d[1] * box->vector[1][e] + d[2] * box->vector[2][e];
    }
    return sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
}

/* ---- Sites ------------------------------------------------------------------------------------- */

/* Ions that share a function: in a periodic box fractions of its vectors in [0, 1), else positions, length. */
typedef struct ion_sites {
    int32_t count;
    double (*at)[3];
} ion_sites;

static inline int ion_sites_make(const plugmc_host *host, int64_t count, ion_sites *out)
{
    *out = (ion_sites){0};
    if (count < INT32_MAX)
        out->at = host->allocate(host->context, ((size_t)count + 1) * sizeof *out->at);
    return out->at ? PLUGMC_OK
                   : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld ions",
                                (long long)count);
}

/* Those of a list [n][3], of which tile[0] x tile[1] x tile[2] copies fill a periodic box. */
static inline int ion_sites_of_list(const plugmc_host *host, const plugmc_list *ions,
                                    const plugmc_list *tiles, ion_sites *out)
{
    const plugmc_box *box = &host->system->box;
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    int32_t tile[3] = {1, 1, 1};
    for (int d = 0; d < 3 && periodic; d++) tile[d] = (int32_t)tiles->values[d];
    const int64_t copies = (int64_t)tile[0] * tile[1] * tile[2];
    const int code = ion_sites_make(host, ions->count / 3 * copies, out);
    if (code) return code;
    for (int32_t i = 0; i < ions->count / 3; i++)
        for (int32_t c = 0; c < copies; c++, out->count++) {
            const int32_t copy[3] = {c % tile[0], c / tile[0] % tile[1], c / tile[0] / tile[1]};
            double *f = out->at[out->count];
            for (int d = 0; d < 3; d++) {
                f[d] = periodic ? (double)copy[d] / tile[d] : (double)ions->values[3 * i + d];
                for (int e = 0; e < 3 && periodic; e++)
                    f[d] += (double)ions->values[3 * i + e] * box->inverse[e][d];
                if (periodic) f[d] -= floor(f[d]);
            }
        }
    return PLUGMC_OK;
}

/* Those of the orbitals for which `wanted` is 1, [ions]. */
static inline int ion_sites_of_orbitals(const plugmc_host *host, const plugmc_ions *ions,
                                        const uint8_t *wanted, ion_sites *out)
{
    const plugmc_box *box = &host->system->box;
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    const int code = ion_sites_make(host, ions->count, out);
    for (int32_t i = 0; i < ions->count && !code; i++) {
        const double *r = ions->positions[i];
        double *f = out->at[out->count];
        if (!wanted[i]) continue;
        out->count++;
        for (int d = 0; d < 3; d++) {
            f[d] = periodic ? 0 : r[d];
            for (int e = 0; e < 3 && periodic; e++) f[d] += r[e] * box->inverse[e][d];
            if (periodic) f[d] -= floor(f[d]);
        }
    }
    return code;
}

static inline void ion_site_position(const plugmc_box *box, const double at[3], double r[3])
{
    for (int e = 0; e < 3; e++)
        r[e] =
            box->domain == PLUGMC_DOMAIN_PERIODIC
                ? at[0] * box->vector[0][e] + at[1] * box->vector[1][e] + at[2] * box->vector[2][e]
                : at[e];
}

/* ---- Sites of a section against those of the orbitals ------------------------------------------- */

/* Looks at one ion after the other. */
typedef struct ion_comparison {
    const plugmc_host *host;
    plugmc_ions ions;
    const char *label; /* NULL: nobody tells of ions */
    int64_t elsewhere; /* of those that were looked at */
    double worst, place[3];
} ion_comparison;

static inline ion_comparison ion_comparison_begin(const plugmc_host *host)
{
    ion_comparison c = {.host = host};
    c.label = ions_of_orbitals(host, &c.ions);
    return c;
}

static inline void ion_comparison_add(ion_comparison *c, const double place[3])
{
    const double near_enough = 0.01; /* bohr: files have four digits or more */
    double nearest = INFINITY;
    for (int32_t i = 0; i < c->ions.count && c->label; i++)
        nearest = fmin(nearest, ion_distance(&c->host->system->box, place, c->ions.positions[i]));
    if (!c->label || nearest < near_enough) return;
    c->elsewhere++;
    if (nearest <= c->worst) return;
    c->worst = nearest;
    for (int d = 0; d < 3; d++) c->place[d] = place[d];
}

static inline void ion_comparison_add_sites(ion_comparison *c, const ion_sites *sites)
{
    for (int32_t i = 0; i < sites->count; i++) {
        double r[3];
        ion_site_position(&c->host->system->box, sites->at[i], r);
        ion_comparison_add(c, r);
    }
}

static inline void ion_comparison_end(const ion_comparison *c)
{
    if (!c->elsewhere) return;
    c->host->warn(c->host->context,
                  "ions: %lld of them, for example at (%.6g, %.6g, %.6g), do not coincide "
                  "with an ion of potential '%s': the nearest one is %.3g away",
                  (long long)c->elsewhere, c->place[0], c->place[1], c->place[2], c->label,
                  c->worst);
}

#endif
