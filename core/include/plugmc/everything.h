/* plugmc/everything.h: all of the interface. The core includes it, and plugins that are made of several parts. */
#ifndef PLUGMC_EVERYTHING_H
#define PLUGMC_EVERYTHING_H

#include "plugmc/body.h"
#include "plugmc/driver.h"
#include "plugmc/macrostates.h"
#include "plugmc/observable.h"
#include "plugmc/orbitals.h"
#include "plugmc/domain_decomposition.h"
#include "plugmc/wave.h"

#endif
