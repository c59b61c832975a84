#include "parallel/team.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/mpi_calls.h"
#include "base/leftovers.h"
#include "meeting.h"
#include "objects.h"

static team now = {0, 1, 0, 1, 0, 1};
static const mpi_calls *mpi; /* NULL: this process is alone */
static report *speaker;
static bool guest; /* the communicator is that of a host program */
static int broken; /* a code that all have agreed on; 0: none */

const team *team_now(void) { return &now; }

/* ---- What the launcher says --------------------------------------------------------------------- */

/* Launchers and what they tell: how many, which one. Slurm's own variables are not among them: a batch script has
 * these too. */
static const struct {
    const char *ranks, *rank;
    int abi; /* the MPI that is tried first */
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", ABI_OPEN_MPI},
    {"PMI_SIZE", "PMI_RANK", ABI_MPICH},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", ABI_OPEN_MPI}, /* srun, whatever its --mpi */
};

static int number(const char *name, int least)
{
    const char *text = getenv(name);
    char *end;
    const long value = text ? strtol(text, &end, 10) : -1;
    return text && *text && !*end && value >= least && value <= INT32_MAX ? (int)value : -1;
}

static int launcher_of(int32_t *rank, int32_t *ranks)
{
    for (size_t k = 0; k < sizeof launchers / sizeof launchers[0]; k++) {
        const int of = number(launchers[k].ranks, 1), at = number(launchers[k].rank, 0);
        if (of < 2 || at < 0 || at >= of) continue;
        *ranks = of, *rank = at;
        return (int)k;
    }
    return -1;
}

const team *team_expect(report *r)
{
    speaker = r;
    if (launcher_of(&now.rank, &now.ranks) >= 0 && now.rank) report_hold(r, true);
    return &now;
}

/* ---- Joining and leaving ---------------------------------------------------------------------------- */

/* As long as nobody has met, the first alone says what all of them meet. */
static int alone(int code, const char *why)
{
    const int32_t ranks = now.ranks, rank = now.rank;
    now = (team){0, 1, 0, 1, 0, 1};
    if (rank) return EXIT_INPUT;
    return code ? code
                : report_error(
                      speaker, EXIT_INPUT, NULL, 0,
                      "%s has started %d processes, but %s; each would do the whole run, so "
                      "none starts",
                      getenv("OMPI_COMM_WORLD_SIZE") || !getenv("SLURM_STEP_NUM_TASKS")
                          ? "the launcher"
                          : "srun",
                      ranks, why);
}

int team_meet(report *r, int code)
{
    char why[1024] = "";
    int32_t rank, ranks;
    speaker = r;
    const int launcher = launcher_of(&rank, &ranks);
    if (launcher < 0) return code;
    mpi = objects_open(launchers[launcher].abi, why, sizeof why);
    if (!mpi) return alone(code, why);
    if (mpi->join(NULL, &now.rank, &now.ranks, &now.local_rank, &now.local_ranks)) {
        mpi = NULL;
        return alone(code, "MPI cannot be initialised");
    }
    if (now.ranks != ranks) {
        snprintf(why, sizeof why,
                 "%s sees %d of them: it is not the launcher's MPI, or srun needs another --mpi "
                 "(srun --mpi=list shows them: pmix, pmi2)",
                 mpi->library, now.ranks);
        now.rank = rank, now.ranks = ranks;
        mpi = NULL;
        return alone(code, why);
    }
    if ((now.rank > 0) != (r->held != NULL)) report_hold(r, now.rank > 0);
    return team_agree(code);
}

int team_be_guest(report *r, const void *mpi_comm, int32_t fortran)
{
    const mpi_host host = {mpi_comm, fortran};
    char why[1024] = "";
    speaker = r;
    broken = 0;
    mpi = objects_open_loaded(why, sizeof why);
    if (!mpi)
        return report_error(r, EXIT_INPUT, NULL, 0, "the communicator cannot be used: %s", why);
    if (mpi->join(&host, &now.rank, &now.ranks, &now.local_rank, &now.local_ranks)) {
        now = (team){0, 1, 0, 1, 0, 1};
        mpi = NULL;
        return report_error(r, EXIT_INPUT, NULL, 0,
                            "the communicator cannot be used: MPI is not initialised, or was "
                            "finalised");
    }
    guest = true;
    report_hold(r, now.rank > 0);
    return 0;
}

bool team_is_guest(void) { return guest; }

void team_imagine(int32_t rank, int32_t ranks) { now = (team){rank, ranks, 0, 1, 0, 1}; }

bool team_has_met(void) { return mpi != NULL; }

void team_part(void)
{
    mpi->leave();
    mpi = NULL;
    now = (team){0, 1, 0, 1, 0, 1};
    broken = 0;
    guest = false;
}

void team_divide(int32_t parts)
{
    now.parts = parts;
    now.part = now.rank % parts;
}

void team_fall(void)
{
    report_let_go(speaker, now.rank);
    leftovers_remove();
    _exit(EXIT_DEVICE);
}

/* ---- All ---------------------------------------------------------------------------------------------- */

/* MPI gave up: the others are gone, or will be told so. */
static int failed(void)
{
    report_hold(speaker, false);
    return broken = report_error(speaker, EXIT_PEER, NULL, 0, "rank %d: MPI has failed", now.rank);
}

/* A code as a number, of which the largest is the one that counts: that of the lowest rank. */
enum { CODES = 256 };
static int64_t weigh(int code)
{
    return !code ? 0 : code == TEAM_GAVE_UP ? 1 : (int64_t)(now.ranks - now.rank) * CODES + code;
}

int team_agree(int code)
{
    if (!mpi) return code;
    if (broken) return broken;
    int64_t worst = weigh(code);
    if (mpi->largest(&worst, 1)) return failed();
    if (worst < CODES) return broken = worst ? TEAM_GAVE_UP : 0;
    broken = (int)(worst % CODES);
    const int32_t whose = now.ranks - (int32_t)(worst / CODES);
    if (whose == now.rank) report_let_go(speaker, now.rank);
    report_drop(speaker);
    return broken;
}

void team_goes_on(void)
{
    if (broken == TEAM_GAVE_UP) broken = 0;
}

int team_largest(int code, int64_t *values, int n)
{
    code = team_agree(code);
    if (!mpi || code) return code;
    return mpi->largest(values, n) ? failed() : 0;
}

int team_sum(int code, int64_t *values, int n)
{
    code = team_agree(code);
    if (!mpi || code) return code;
    return mpi->sum(values, n) ? failed() : 0;
}

int team_spread(int code, void *data, size_t bytes)
{
    code = team_agree(code);
    if (!mpi || code) return code;
    return mpi->spread(data, bytes) ? failed() : 0;
}

/* Bytes of each rank [ranks], malloc'ed, and their sum. */
static int ask_bytes(size_t mine, size_t **bytes, size_t *sum)
{
    int64_t *each = checked(calloc((size_t)now.ranks, sizeof *each));
    each[now.rank] = (int64_t)mine;
    *bytes = checked(calloc((size_t)now.ranks, sizeof **bytes));
    const int lost = mpi->sum(each, now.ranks);
    *sum = 0;
    for (int32_t k = 0; k < now.ranks; k++) *sum += (*bytes)[k] = (size_t)each[k];
    free(each);
    return lost ? failed() : 0;
}

static int gather(int code, const void *mine, size_t bytes, void **all)
{
    *all = NULL;
    if (!mpi && !code) *all = checked(memcpy(checked(malloc(bytes ? bytes : 1)), mine, bytes));
    code = team_agree(code);
    if (!mpi || code) return code;
    size_t *each = NULL, sum = 0;
    code = ask_bytes(bytes, &each, &sum);
    if (!code && !now.rank && !(*all = malloc(sum ? sum : 1)))
        code = report_error(speaker, EXIT_MEMORY, NULL, 0,
                            "no memory for %zu bytes of all processes", sum);
    code = team_agree(code);
    if (!code && mpi->gather(mine, each, *all)) code = failed();
    free(each);
    return code;
}

int team_gather(int code, const void *mine, size_t bytes, void **all)
{
    return gather(code, mine, now.part ? 0 : bytes, all);
}

int team_share(int code, const void *mine, size_t bytes, void *all, size_t bytes_of_all)
{
    void *gathered;
    code = gather(code, mine, bytes, &gathered);
    if (!code && gathered) memcpy(all, gathered, bytes_of_all);
    free(gathered);
    return mpi && !code ? team_spread(0, all, bytes_of_all) : code;
}

int team_deliver(int code, const mpi_parcel *parcels, int n)
{
    code = team_agree(code);
    if (!mpi || code) return code;
    return mpi->deliver(parcels, n) ? failed() : 0;
}

void team_describe(FILE *out) { objects_describe(out); }
