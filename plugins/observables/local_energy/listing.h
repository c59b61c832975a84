/* All that local_energy can give; <units>: those of key `units`. */
#ifndef PLUGMC_LOCAL_ENERGY_LISTING_H
#define PLUGMC_LOCAL_ENERGY_LISTING_H

#include <plugmc/everything.h>

static const plugmc_listing listing[] = {
    {"energy", "<units>", "local energy", 0, 0},
    {"kinetic", "<units>", "kinetic energy", 0, 0},
    {"electron_electron", "<units>", "repulsion of the electrons", 0, 0},
    {"local", "<units>", "ions' charges and local pseudopotentials", 0, 0},
    {"nonlocal", "<units>", "pseudopotentials that depend on the angular momentum", 0, 0},
    {"ion_ion", "<units>", "repulsion of the ions", 0, 0},
    {"energy_squared", "", "square of the local energy", 0, 0},
    {"drift", "", "error of the updated ln |Psi|^2", 0, 0},
    {"variance", "", "variance of the local energy", 0, 1},
    {"<part>_less_file", "<units>", "a part minus that of the calculation of the orbitals", 0, 1},
};
#endif
