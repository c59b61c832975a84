/* A host under mpirun: `all` gives the engine its communicator, `half` one of its two groups at a time. It prints
 * what one process would: the positions of all walkers as a hash, and a mean. MPI is the host's before and after. */
#include <inttypes.h>
#include <mpi.h>

#include "hosting.h"

static const char text[] =
    "[run]\nsweeps = 40\nequilibrate = 20\nseed = 4\nwalkers = 4\nthreads = 1\ndevice = cpu\noutput = mpi.h5\n"
    "[box]\ndimension = 3\ndensity = 0.5\n[species a]\ncount = 64\n"
    "[potential lennard_jones]\nepsilon = 1\nsigma = 1\ncutoff = 1.9\n[mover serial]\nstep = 0.2\n"
    "[observable energy]\nperiod = 5\n";

static uint64_t hash(const double *p, int64_t n)
{
    const unsigned char *c = (const unsigned char *)p;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < (size_t)n * sizeof *p; i++) h = (h ^ c[i]) * 0x100000001b3u;
    return h;
}

static int fail(plugmc_engine *e, int code)
{
    printf("code %d: %s\n", code, plugmc_engine_error(e));
    plugmc_engine_close(e);
    return code;
}

/* Of the processes of a communicator. */
static int run(MPI_Comm comm, int by_fortran)
{
    int rank, ranks;
    int64_t numbers = 0;
    plugmc_engine_quantity q;
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
    plugmc_engine *e = plugmc_engine_new();
    int code = by_fortran ? plugmc_engine_communicator_fortran(e, MPI_Comm_c2f(comm))
                          : plugmc_engine_communicator(e, &comm);
    if (!code) code = plugmc_engine_open_text(e, "text", text);
    if (!code) code = plugmc_engine_sweep(e, 37);
    if (!code) code = plugmc_engine_sweep(e, 23);
    if (!code) code = plugmc_engine_quantity_at(e, 0, &q);
    if (code) return fail(e, code);
    double *mine = positions_of(e, &numbers),
           *all = malloc((size_t)(ranks * numbers) * sizeof *all);
    MPI_Gather(mine, (int)numbers, MPI_DOUBLE, all, (int)numbers, MPI_DOUBLE, 0, comm);
    if (!rank) printf("%" PRIx64 " %.17g\n", hash(all, ranks * numbers), *q.mean);
    free(mine), free(all);
    code = plugmc_engine_checkpoint(e);
    if (code) return fail(e, code);
    plugmc_engine_close(e);
    return 0;
}

int main(int argc, char **argv)
{
    int rank, initialised, finalised;
    MPI_Comm part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int code = argc > 1 && !strcmp(argv[1], "all") ? run(MPI_COMM_WORLD, 0) : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (!code) code = run(MPI_COMM_WORLD, 1); /* once more, after it was closed */
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
    for (int which = 0; which < 2 && !code; which++) {
        if (rank % 2 == which) code = run(part, 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&part);
    MPI_Allreduce(MPI_IN_PLACE, &code, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Initialized(&initialised), MPI_Finalized(&finalised);
    if (!initialised || finalised) code = 99;
    return MPI_Finalize() || code;
}
