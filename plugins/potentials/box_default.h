/* Parameters that are taken from the box of the start: included inside the PLUGMC_HOST part of a
 * potential. */
#ifndef PLUGMC_BOX_DEFAULT_H
#define PLUGMC_BOX_DEFAULT_H

#include <plugmc/state.h>

/* Refuses one beside a mover that changes boxes, where it would have another value in each: `what`
 * is the setting as in the INI file, `instead` what to do. */
static inline int box_default_check(const plugmc_host *host, const char *what, const char *instead)
{
    if (!(host->system->changes & PLUGMC_CHANGED_BOX)) return PLUGMC_OK;
    return host->fail(host->context, PLUGMC_ERROR_INPUT,
                      "%s depends on the size of the box, which a mover of this run changes: %s",
                      what, instead);
}

#endif
