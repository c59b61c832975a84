/* A program that holds an engine: energies on the way, positions read and replaced.
 * cc sweeps.c $(pkg-config --cflags-only-I --libs plugmc) -o sweeps */
#include <plugmc/engine.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char liquid[] = "[run]\nsweeps = 400\nequilibrate = 100\nseed = 5\nwalkers = 2\ndevice = cpu\n"
                             "[box]\ndimension = 3\ndensity = 0.5\n"
                             "[species a]\ncount = 216\n"
                             "[potential lennard_jones]\nepsilon = 1\nsigma = 1\ncutoff = 2.5\n"
                             "[mover serial]\nstep = 0.2\n"
                             "[observable energy]\nperiod = 10\n";

static void interrupted(int number)
{
    (void)number;
    plugmc_engine_stop();
}

static int leave(plugmc_engine *engine, int code)
{
    if (code) fprintf(stderr, "%s\n", plugmc_engine_error(engine));
    plugmc_engine_close(engine);
    return code;
}

static int tell(plugmc_engine *engine, void *data)
{
    double sums[2]; /* -ln p of each walker */
    (void)data;
    if (plugmc_engine_energies(engine, NULL, sums)) return 1;
    printf("sweep %lld: -ln p = %.6f, %.6f\n", (long long)plugmc_engine_sweeps(engine), sums[0], sums[1]);
    return 0;
}

int main(void)
{
    plugmc_engine_array positions;
    plugmc_engine_quantity energy;
    plugmc_engine *engine = plugmc_engine_new();
    signal(SIGINT, interrupted);
    int code = plugmc_engine_open_text(engine, "liquid", liquid);
    if (!code) code = plugmc_engine_call_every(engine, 100, tell, NULL);
    if (!code) code = plugmc_engine_sweep(engine, 500);
    if (!code) code = plugmc_engine_get(engine, "positions", &positions);
    if (code) return leave(engine, code);

    /* the second walker goes on from where the first one is */
    const int64_t numbers = positions.shape[0] * positions.shape[1] * 3, half = numbers / 2;
    double *copy = malloc((size_t)numbers * sizeof *copy);
    memcpy(copy, positions.data, (size_t)half * sizeof *copy);
    memcpy(copy + half, positions.data, (size_t)half * sizeof *copy);
    code = plugmc_engine_replace(engine, "positions", copy, numbers);
    free(copy);
    if (!code) code = tell(engine, NULL);
    if (!code) code = plugmc_engine_sweep(engine, 100);
    if (!code) code = plugmc_engine_quantity_at(engine, 0, &energy);
    if (!code) printf("%s.%s = %.4f +- %.4f\n", energy.observable, energy.name, *energy.mean, *energy.error);
    return leave(engine, code);
}
