/* trajectory: the positions at its period go into the trajectory of the run. The core writes those of the views that it
 * makes for this observable, which measures nothing, and reads its keys. */
#include <plugmc/observable.h>

PLUGMC_PLUGIN(.name = "trajectory",
              .summary = "writes positions into the trajectory, which is a file of its own",
              .reference = "",
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .writes_trajectory = 1,
                                     .follows = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT |
                                                PLUGMC_CHANGED_ORIENTATION |
                                                PLUGMC_CHANGED_MOLECULE |
                                                PLUGMC_CHANGED_WALKER_WEIGHT))
