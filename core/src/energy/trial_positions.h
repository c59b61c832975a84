/* Trials of one particle that comes, or leaves, with several places to choose from (plugmc_trial.trial_positions). */
#ifndef PLUGMC_ENERGY_PLACES_H
#define PLUGMC_ENERGY_PLACES_H

#include "energy/hamiltonian.h"

typedef struct several_places {
    plugmc_changes
        changes; /* [1][k] who would come at each place; of one who leaves, who would go there instead */
    int32_t particle[PLUGMC_MOST_TRIAL_POSITIONS], species[PLUGMC_MOST_TRIAL_POSITIONS],
        forbidden[PLUGMC_MOST_TRIAL_POSITIONS];
    double place[PLUGMC_MOST_TRIAL_POSITIONS][3], growth[PLUGMC_MOST_TRIAL_POSITIONS];
} several_places;

/* Somebody who comes: the place that is chosen, its number in *chosen, and the growth of -ln p that is decided
 * upon. Room for `change` [places][terms]. */
int places_to_come(hamiltonian *, const plugmc_trial *, several_places *, double *change,
                   int64_t *chosen, int32_t *forbidden, double *growth);
/* Somebody who leaves, whose own growth is in *growth: what is decided upon is added. */
int places_to_leave(hamiltonian *, const plugmc_trial *, several_places *, double *change,
                    double *growth);
#endif
