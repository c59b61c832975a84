/* The services behind plugmc_host. */
#ifndef PLUGMC_RUN_SERVICES_H
#define PLUGMC_RUN_SERVICES_H

#include "base/context.h"
#include "input/ini.h"
#include "engine/view.h"

/* A plugmc_host for an instance. Its gpu and system may be filled in later. context_release frees it. */
plugmc_host context_host(plugmc_context *, const plugmc_system *);
void context_release(plugmc_context *);
#endif
