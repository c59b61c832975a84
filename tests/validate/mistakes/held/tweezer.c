/* mistake: the distance from the centre of the tweezer is not that of the nearest image */
/* a user would see: the trap near a face of the box is cut in half: particles on the other side
 * of the face do not feel it */
/* tweezer: Gaussian optical trap, u = -depth exp(-|r - c|^2 / (2 waist^2)), in a cubic periodic box. */
#include <plugmc/potential.h>

typedef struct parameters {
    real depth, waist, x, y, z;
} parameters;

PLUGMC_FN real field_energy(const parameters *p, plugmc_position r, plugmc_site a, int *outside)
{
    real x = r.x - p->x, y = r.y - p->y, z = r.z - p->z;
    real e = -(x * x + y * y + z * z) / (2 * p->waist * p->waist);
    (void)a, (void)outside;
    return -p->depth * (sizeof(real) == 4 ? (real)plugmc_exp((float)e) : (real)exp((double)e));
}

#include <plugmc/field.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, depth, "4", -1e9, 1e9, "kT", "energy at the centre"),
    PLUGMC_REAL_KEY(parameters, waist, "1", -1e9, 1e9, "length", "standard deviation"),
    PLUGMC_REAL_KEY(parameters, x, "0", -1e9, 1e9, "length", "centre"),
    PLUGMC_REAL_KEY(parameters, y, "0", -1e9, 1e9, "length", "centre"),
    PLUGMC_REAL_KEY(parameters, z, "0", -1e9, 1e9, "length", "centre"),
};

static const plugmc_potential potential = {.size = sizeof potential, .field = &plugmc_field_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "tweezer", .summary = "Gaussian optical trap",
              .reference = "", PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
