/* What the ways share by which processes bring each other parts of one system. */
#ifndef PLUGMC_TEAM_SPREAD_CALLS_H
#define PLUGMC_TEAM_SPREAD_CALLS_H

#include "mpi/mpi_calls.h"
#include "gpu/gpu.h"

/* The code of a plugin's callback as one that all agree on, and what the callback has to return. */
int spread_for_all(plugmc_context *, int own);
int spread_for_plugin(plugmc_context *, int own, int code);
const plugmc_message *spread_parcel_at(const plugmc_message *, int32_t k);
int32_t spread_rank_of(int32_t part);

/* Whether processes may open memory of each other's GPUs: not on several machines, nor where the user has forbidden it;
 * then `why`, with room for 512 bytes, says which. */
bool spread_is_near(char *why);
/* All: whether everybody can open memory of the others' GPUs, which takes one machine. *why: if not, as far as it is
 * known here. An exit code. */
int spread_mail_opens(gpu *, report *, bool *all, char why[512]);
/* All: then parcels go from GPU to GPU. PLUGMC_* code. */
int spread_by_mail(plugmc_context *, int own, const plugmc_message *, int32_t n);

/* All: whether each has a GPU of its own; `why` has room for 512 bytes. An exit code. */
int spread_own_gpus(const gpu *, bool *own, char *why);
/* plugmc_decomposition.memory */
int spread_memory(plugmc_context *, int own, size_t bytes, plugmc_device_pointer *of_parts,
                  plugmc_device_pointer *lost);
#endif
