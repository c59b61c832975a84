/* Where the ions of a Jastrow factor should be: where those of the orbitals are. For plugins that have ions of their own,
 * included inside PLUGMC_HOST, and called in prepare: potentials with orbitals are prepared before others. */
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
