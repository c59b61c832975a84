/* What the tests of libplugmc share: small runs, and what a process has open. */
#ifndef PLUGMC_TESTS_HOSTING_H
#define PLUGMC_TESTS_HOSTING_H

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <plugmc/engine.h>

/* A liquid in two walkers, of which `device` is to be cpu or gpu. */
static inline const char *liquid_text(const char *device, const char *mover, const char *observable)
{
    static char text[2048];
    snprintf(text, sizeof text,
             "[run]\nsweeps = 120\nequilibrate = 60\nseed = 11\nwalkers = 2\nthreads = 1\n"
             "device = %s\noutput = run.h5\n[box]\ndimension = 3\ndensity = 0.6\n"
             "[species a]\ncount = 150\n[potential lennard_jones]\nepsilon = 1\nsigma = 1\n"
             "cutoff = 2.5\n[mover %s]\nstep = 0.2\n%s",
             device, mover, observable);
    return text;
}

#define ENERGY "target_acceptance = 0.4\n[observable energy]\nperiod = 10\n"

static inline int count_entries(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

static inline int descriptors(void) { return count_entries("/proc/self/fd"); }
static inline int threads(void) { return count_entries("/proc/self/task"); }
static inline size_t memory(void) { return mallinfo2().uordblks; }

/* Positions of all walkers, malloc'ed; NULL where it fails. */
static inline double *positions_of(plugmc_engine *e, int64_t *numbers)
{
    plugmc_engine_array a;
    if (plugmc_engine_get(e, "positions", &a)) return NULL;
    *numbers = a.shape[0] * a.shape[1] * a.shape[2];
    double *copy = malloc((size_t)*numbers * sizeof *copy);
    return copy ? memcpy(copy, a.data, (size_t)*numbers * sizeof *copy) : NULL;
}
#endif
