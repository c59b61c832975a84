/* plugmc/everything.h: the whole interface, for the core and for plugins that are several kinds in one. */
#ifndef PLUGMC_EVERYTHING_H
#define PLUGMC_EVERYTHING_H

#include "plugmc/body_facet.h"
#include "plugmc/driver.h"
#include "plugmc/macrostates.h"
#include "plugmc/observable.h"
#include "plugmc/orbitals.h"
#include "plugmc/domain_decomposition.h"
#include "plugmc/wave.h"

#endif
