/* spherical_wall: a hard sphere around the origin that particles cannot leave.
 *
 * The confinement of the cell model of electrolytes. Either the whole particle stays inside, so
 * that its centre comes no closer to the wall than half its diameter, or only its centre does.
 */
#include <plugmc/potential.h>

enum { PARTICLES, CENTRES };

typedef struct parameters {
    real radius; /* length; 0 in the INI file: that of the box */
    int32_t keeps;
} parameters;

PLUGMC_FN real largest_distance(const parameters *p, real diameter)
{
    return p->keeps == PARTICLES ? p->radius - (real)0.5 * diameter : p->radius;
}

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    real most = largest_distance(p, a.diameter);
    if (r.x * r.x + r.y * r.y + r.z * r.z > most * most) *outside = 1;
    return 0;
}

PLUGMC_FN void field_derivative(const parameters *p, plugmc_position r, plugmc_site a,
                                real gradient[3], real *laplacian)
{
    (void)p, (void)r, (void)a;
    gradient[0] = gradient[1] = gradient[2] = *laplacian = 0;
}

#define PLUGMC_FIELD (PLUGMC_FIELD_ENERGY | PLUGMC_FIELD_DERIVATIVE)
#include <plugmc/field.h>

#if PLUGMC_HOST
#include "box_default.h"

/* Nobody is too large, and together they take no more room than there can be: close packing. */
static int check_room(const parameters *p, const plugmc_host *host)
{
    const plugmc_system *system = host->system;
    const double radius = (double)p->radius;
    double filled = 0, most = 1;
    for (int32_t k = 0; k < system->species_count; k++) {
        const plugmc_species *s = plugmc_species_at(system, k);
        if (p->keeps == PARTICLES && s->diameter >= 2 * radius)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "a sphere of radius %g is too small for species '%s' of diameter %g",
                              radius, s->name, s->diameter);
        filled += (double)s->count * pow(s->diameter / (2 * radius), system->box.dimension);
    }
    if (system->species_count == 1)
        most = system->box.dimension == 2 ? M_PI / (2 * sqrt(3)) : M_PI / (3 * sqrt(2));
    if (p->keeps == PARTICLES && filled > most)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "a sphere of radius %g is too small for %lld particles: they would "
                          "fill %.3g of it, but the maximum is %.3g",
                          radius, (long long)system->particles, filled, most);
    return PLUGMC_OK;
}

/* Centres stay within the sphere of [box] in any case. */
static void warn_idle(const parameters *p, const plugmc_host *host)
{
    double least = INFINITY;
    for (int32_t k = 0; k < host->system->species_count; k++)
        least = fmin(
            least, (double)largest_distance(p, (real)plugmc_species_at(host->system, k)->diameter));
    if (least >= host->system->box.radius)
        host->warn(host->context,
                   "the wall has no effect: no particle centre of [box] is farther out than "
                   "%g",
                   host->system->box.radius);
}

static int configure(void *instance, const plugmc_host *host)
{
    parameters *p = instance;
    if (host->system->box.domain != PLUGMC_DOMAIN_SPHERE)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "the wall is a sphere around the origin: it needs [box] shape = "
                          "sphere");
    int code = p->radius == 0 ? box_default_check(host, "radius = 0", "give a radius") : PLUGMC_OK;
    if (p->radius == 0) p->radius = (real)host->system->box.radius;
    if (sizeof(real) == sizeof(float)) return PLUGMC_OK; /* said once is enough */
    if (!code) code = check_room(p, host);
    if (!code) warn_idle(p, host);
    return code;
}

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, radius, "0", 0, 1e9, "length",
                    "radius of the sphere; 0: that of [box]"),
    PLUGMC_CHOICE_KEY(parameters, keeps, "particles", "particles|centres",
                      "confines whole particles with their diameter, or only their centres"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "spherical_wall",
              .summary = "hard spherical wall around the origin", .reference = "",
              PLUGMC_KEYS(parameters, table), .configure = configure, .potential = &potential);
#endif
