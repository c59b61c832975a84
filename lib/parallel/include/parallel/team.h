/* The processes that make one run together, started by mpirun or srun. Walkers are divided among them; rank 0
 * decides what depends on wall time, writes the file and speaks for all.
 *
 * Every call below that says "all" is made by all processes in the same order, from the main thread, and carries
 * the caller's own code: 0, or why it cannot go on. What comes back is the same everywhere: 0, or the code of the
 * lowest rank that has one, whose messages have been printed by then. After that no call waits for anybody again:
 * each returns the same code at once. So a process that fails alone, wherever that is, ends the run of all. */
#ifndef PLUGMC_TEAM_H
#define PLUGMC_TEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/report.h"

typedef struct team {
    int32_t rank, ranks;             /* 0 and 1 without a launcher */
    int32_t local_rank, local_ranks; /* the same among the processes of this host */
    int32_t part,
        parts; /* where there are more processes than walkers, `parts` ranks in a row have the same ones;
                            0 and 1 else */
} team;

/* What the launcher has told by its variables; nothing is opened. Messages of ranks above 0 are kept back from
 * here on, see report.h. */
const team *team_expect(report *);
/* The team as it is by now. */
const team *team_now(void);
static inline bool team_leads(void) { return team_now()->rank == 0; }

/* As one of so many, which nobody has started, or of which this process is a child: for plugmc check, and where plugins
 * are configured in a child. */
void team_imagine(int32_t rank, int32_t ranks);
/* Whether others are there with whom calls can be made. */
bool team_has_met(void);
/* Opens the MPI that fits the launcher and finds the others; `code` as of the calls below. EXIT_INPUT if the
 * launcher started several that MPI does not bring together. */
int team_join(report *, int code);
/* All: those of a communicator of the program that has opened plugmc, with the MPI that it has loaded. Nobody is watched
 * (parallel/liveness.h): what becomes of processes is for that program. team_leave lets go of it. */
int team_be_guest(report *, const void *mpi_comm,
                  int32_t fortran); /* mpi_comm NULL: as Fortran has it */
bool team_is_guest(void);
/* From here on `parts` ranks in a row, of which there are several times as many, have the same walkers. */
void team_divide(int32_t parts);
/* Ends this process at once, whose GPU has failed, which has been said: others may wait for it where no code of it is
 * heard, and learn of its end as of any (parallel/liveness.h). */
void team_fall(void);
/* Before the process ends in good order, whatever its code is. */
void team_leave(void);

/* ---- All --------------------------------------------------------------------------------------- */

/* Nothing but the codes. */
int team_agree(int code);
/* Each number becomes the largest, or the sum, of those of all processes. */
int team_largest(int code, int64_t *values, int n);
int team_sum(int code, int64_t *values, int n);
/* What rank 0 has. */
int team_spread(int code, void *data, size_t bytes);
/* `bytes` bytes of the walkers of each process to rank 0, one after the other: *all, malloc'ed (there alone, NULL
 * else). Of ranks that have the same walkers the first one speaks. */
int team_gather(int code, const void *mine, size_t bytes, void **all);
/* Those of each process, whatever it has, to everybody. `all` has room for what all have, which is as much as each
 * knows. */
int team_share(int code, const void *mine, size_t bytes, void *all, size_t bytes_of_all);

/* All parcels at once; between two ranks they are matched in their order. */
struct mpi_parcel;
int team_deliver(int code, const struct mpi_parcel *, int n);

/* A sweep that was given up because the run has to end is no failure: all give up theirs, and go on. */
enum { TEAM_GAVE_UP = -1 }; /* as a code; real ones are above 0 and count more */
void team_goes_on(void);

/* ---- For plugmc doctor ------------------------------------------------------------------------------- */

/* A line for each object that there is, or why there is none. */
void team_describe(FILE *);
#endif
