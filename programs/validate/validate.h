/* plugmc validate: a plugin is tested by itself, before anything is sampled or measured with it. */
#ifndef PLUGMC_VALIDATE_H
#define PLUGMC_VALIDATE_H

#include "findings.h"
#include "plugin/loader.h"

/* The plugin and how it is to be tested. */
typedef struct target {
    /* As in the command line. */
    const char *name;
    /* FILE.ini. NULL: parameters have their defaults, and the system is one of ours. */
    const char *file;
    /* NAME in [potential NAME] of FILE.ini. Without a file: of the section that is made. */
    const char *label;
    /* Fewer moves and configurations. */
    bool quick;
    /* Of a mover: which seeds its runs have. 0: those of every validation. */
    int64_t seed;
    /* DEVICE_* (input/config.h). */
    int device;
    /* Why there is no GPU. "": there is one, and `device` allows it. */
    char why_no_gpu[512];
    loaded loaded;
} target;

/* Each of these adds its checks to the findings. Returns 0, or an exit code, already reported, if the plugin cannot be
 * tested at all: it needs FILE.ini, or FILE.ini cannot be used. A failed check is no such code. */
int validate_potential(const target *, findings *);
int validate_observable(const target *, findings *);
int validate_mover(const target *, findings *);
#endif
