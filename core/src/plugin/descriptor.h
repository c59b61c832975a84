/* What is asked of a descriptor before the rest of the program may trust it. */
#ifndef PLUGMC_DESCRIPTOR_H
#define PLUGMC_DESCRIPTOR_H

#include "plugin/sentence.h"
#include "plugmc/plugin.h"

/* Version, sizes, parameters and functions, of both precisions. kind 0: any. */
bool check_descriptor(const plugmc_plugin *, int kind, sentence why);
#endif
