/* hard_disk: particles that may not come closer than the mean of their diameters.
 *
 * The model of N. Metropolis, A. W. Rosenbluth, M. N. Rosenbluth, A. H. Teller, E. Teller,
 * J. Chem. Phys. 21, 1087 (1953), in two dimensions (disks) and three (spheres). The diameters
 * are those of the species; mixtures are additive. There is no energy, only a contact distance.
 * In three dimensions it may be called hard_sphere, which is the same file.
 */
#include <plugmc/potential.h>

typedef struct parameters {
    real scale; /* of all diameters */
} parameters;

PLUGMC_FN real pair_contact(const parameters *p, plugmc_site a, plugmc_site b)
{
    return p->scale * (real)0.5 * (a.diameter + b.diameter);
}

#define PLUGMC_PAIR PLUGMC_PAIR_CONTACT
#include <plugmc/pair.h>

#if PLUGMC_HOST
static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(parameters, scale, "1", 1e-6, 1e6, "",
                    "factor of the diameters of the species"),
};

static const plugmc_potential potential = {.size = sizeof potential, .pair = &plugmc_pair_facet};

PLUGMC_PLUGIN(.kind = PLUGMC_POTENTIAL, .name = "hard_disk",
              .summary = "hard disks or spheres with the diameters of their species",
              .reference = "Metropolis et al., J. Chem. Phys. 21, 1087 (1953)",
              PLUGMC_KEYS(parameters, table), .potential = &potential);
#endif
