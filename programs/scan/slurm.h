/* A job script for Slurm: an array with a task for each point. */
#ifndef PLUGMC_SCAN_SLURM_H
#define PLUGMC_SCAN_SLURM_H

#include "study.h"

/* On stdout. `program` is plugmc. After a survey. */
void slurm_print(const study *, const char *program);
#endif
