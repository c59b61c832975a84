/* Samples of the wave function as it is, by the run that the INI file describes. */
#include "optimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/borrowing.h"
#include "run/local_energies.h"
#include "run/moves.h"
#include "base/stop.h"
#include "run/view.h"

enum { TUNINGS = 40 }; /* of steps during equilibration */

static void *array(int64_t count, size_t size) { return checked(calloc((size_t)count + 1, size)); }

/* Seconds since *from, which is now. */
static double lap(double *from)
{
    const double now = stop_clock(), seconds = now - *from;
    *from = now;
    return seconds;
}

static int samples_make(samples *s, simulation *sim, int64_t records, int64_t numbers)
{
    const int64_t particles = sim->system.particles, walkers = sim->system.walkers,
                  count = records * walkers;
    const plugmc_host *host = &simulation_asking(sim)->host;
    const size_t bytes = (size_t)(3 * walkers * particles) * sizeof(double);
    int code = PLUGMC_OK;
    *s = (samples){.records = records,
                   .count = count,
                   .walkers = sim->system.walkers,
                   .numbers = numbers,
                   .host = host};
    s->sweep = array(records, sizeof *s->sweep);
    s->positions = array(3 * count * particles, sizeof *s->positions);
    s->energy = array(count, sizeof *s->energy);
    s->ln_psi = array(count, sizeof *s->ln_psi);
    s->derivatives = array(count * numbers, sizeof *s->derivatives);
    s->energies = array(count * numbers, sizeof *s->energies);
    if (sim->gpu) code = host->gpu->allocate(host->context, bytes, &s->positions_there);
    if (sim->gpu && !code) code = host->gpu->allocate(host->context, bytes, &s->drift_there);
    return context_exit_code(host->context, code, "taking GPU memory");
}

void samples_free(samples *s)
{
    free(s->sweep), free(s->positions), free(s->energy), free(s->ln_psi);
    free(s->derivatives), free(s->energies);
    if (s->positions_there) s->host->gpu->release(s->host->context, s->positions_there);
    if (s->drift_there) s->host->gpu->release(s->host->context, s->drift_there);
    *s = (samples){0};
}

/* ---- Sweeps ------------------------------------------------------------------------------------ */

static int reason_to_end(void) { return stop_signal() ? EXIT_INTERRUPTED : 0; }

/* Sizes of trial moves, record after record. */
static void copy_steps(simulation *sim, double *steps, bool back)
{
    for (int i = 0; i < sim->output.move_count; i++)
        for (int32_t r = 0; r < sim->system.rungs; r++, steps++) {
            double *kept = &sim->output.moves[i].steps[r];
            *(back ? kept : steps) = *(back ? steps : kept);
        }
}

double *samples_first_steps(simulation *sim)
{
    double *steps = array(sim->output.move_count * (int64_t)sim->system.rungs, sizeof *steps);
    copy_steps(sim, steps, false);
    return steps;
}

/* Steps are as in the INI file, then tuned as in a run, so that a loop does not hang on those before. */
static int equilibrate(simulation *sim, uint64_t begin)
{
    const uint64_t sweeps = (uint64_t)sim->config.run.equilibrate,
                   stretch = sweeps / TUNINGS ? sweeps / TUNINGS : 1;
    int code = moves_clear(sim);
    for (uint64_t done = 0; done < sweeps && !code; done += stretch) {
        const uint64_t n = sweeps - done < stretch ? sweeps - done : stretch;
        code = reason_to_end();
        if (!code) code = simulation_sweep(sim, begin + done, n, true);
        if (!code && moves_are_tuned(sim)) code = moves_tune(sim, false);
    }
    return code ? code : moves_clear(sim);
}

/* Of the observable that gives the local energies. */
static int64_t period_of(const simulation *sim)
{
    for (int i = 0; i < sim->measurement_count; i++)
        if (sim->measurements[i].instance->plugin->local_energy) return sim->measurements[i].period;
    return 1;
}

/* ---- What is found of a record ---------------------------------------------------------------- */

static double *at_device(plugmc_device_pointer at) { return (double *)(uintptr_t)at; }

static size_t record_bytes(const samples *s)
{
    return (size_t)(3 * s->walkers * s->host->system->particles) * sizeof(double);
}

/* The view of a record on the GPU. */
static int upload_record(const samples *s, view_stage *stage, const plugmc_view *here,
                         plugmc_view *there)
{
    const int code = s->host->gpu->upload(s->host->context, s->positions_there, here->positions,
                                          record_bytes(s));
    return code ? code : view_of(stage, at_device(s->positions_there), 1, here->sweep, there);
}

/* Derivatives of a record, from what its local energies have left: drift and places of quadratures, on the GPU where
 * derivatives are found there. */
static int derive(simulation *sim, const free_numbers *f, samples *s, int64_t record,
                  const plugmc_view *view, const double *drift, const plugmc_nonlocal_place *places,
                  int64_t place_count)
{
    const int64_t first = record * s->walkers * s->numbers;
    double *derivatives = s->derivatives + first, *energies = s->energies + first;
    if (f->device)
        return free_numbers_derive_there(f, view, drift, places, place_count, derivatives,
                                         energies);
    const int code = free_numbers_derive(f, view, sim->system.threads, 0, s->walkers, drift,
                                         derivatives, energies);
    return code || !place_count
               ? code
               : free_numbers_visit(f, view, sim->system.threads, places, place_count, energies);
}

/* All walkers of a record, with the present numbers, where the run is. drift [walkers][particles][3]: room for what
 * derivatives need on the CPU; NULL: they are not wanted. */
static int evaluate(simulation *sim, const free_numbers *f, samples *s, int64_t record,
                    double *energy, double *ln_psi, double *drift)
{
    instance *asking = simulation_asking(sim);
    const int64_t first = record * s->walkers;
    const bool all_there = drift && f->device;
    view_stage stage = {.system = &sim->system, .gpu = sim->gpu, .state = &sim->state.face};
    plugmc_view view, there;
    const plugmc_nonlocal_place *places = NULL;
    plugmc_nonlocal_place *device_places = NULL;
    int64_t place_count = 0;
    double clock = stop_clock();
    double *const drift_there = sim->gpu ? at_device(s->drift_there) : drift;
    int code = view_of(&stage, s->positions + 3 * first * sim->system.particles, 0,
                       s->sweep[record], &view);
    if (!code && sim->gpu) code = upload_record(s, &stage, &view, &there);
    const plugmc_local_energy_request request = {.size = sizeof request,
                                                 .walkers = s->walkers,
                                                 .view = sim->gpu ? &there : &view,
                                                 .energy = energy + first,
                                                 .ln_psi = ln_psi + first,
                                                 .drift = drift ? drift_there : NULL,
                                                 .places = drift && !all_there ? &places : NULL,
                                                 .place_count = drift ? &place_count : NULL,
                                                 .device_places =
                                                     all_there ? &device_places : NULL};
    if (!code) code = local_energies(&asking->context, &request);
    if (!code && drift && sim->gpu && !all_there)
        code = s->host->gpu->download(s->host->context, drift, s->drift_there, record_bytes(s));
    code = context_exit_code(&asking->context, code, "finding local energies");
    s->spent->energies += lap(&clock);
    if (!code && drift)
        code =
            derive(sim, f, s, record, all_there ? &there : &view, all_there ? drift_there : drift,
                   all_there ? device_places : places, place_count);
    view_clear(&stage);
    return code;
}

/* Psi that has no number where it was sampled. */
static int check_record(simulation *sim, const samples *s, int64_t record)
{
    for (int64_t i = record * s->walkers; i < (record + 1) * s->walkers; i++)
        if (!isfinite(s->energy[i]) || !isfinite(s->ln_psi[i]))
            return report_error(sim->report, EXIT_INPUT, sim->config.ini.path, 0,
                                "the local energy is %g and ln |Psi| %g in walker %lld: this wave "
                                "function cannot be sampled; begin with coefficients nearer to 0",
                                s->energy[i], s->ln_psi[i], (long long)(i % s->walkers));
    return 0;
}

static int take_record(simulation *sim, const free_numbers *f, samples *s, int64_t record,
                       uint64_t sweep, double *drift)
{
    const int64_t numbers = 3 * s->walkers * sim->system.particles;
    const double *here;
    double clock = stop_clock();
    int code = borrowing_positions(sim, PLUGMC_ON_HOST, &here);
    s->spent->sweeps += lap(&clock); /* on a GPU this waits for them */
    if (code) return code;
    s->sweep[record] = sweep;
    memcpy(s->positions + record * numbers, here, (size_t)numbers * sizeof *here);
    code = evaluate(sim, f, s, record, s->energy, s->ln_psi, drift);
    return code ? code : check_record(sim, s, record);
}

int samples_take(simulation *sim, const free_numbers *f, double *first_steps, int64_t loop,
                 int64_t wanted, spent *spent, samples *s)
{
    const int32_t walkers = sim->system.walkers;
    const int64_t records = (wanted + walkers - 1) / walkers;
    const uint64_t period = (uint64_t)period_of(sim);
    uint64_t sweep = (uint64_t)loop
                     << 32; /* numbers of sweeps draw the random numbers: below 2^48 */
    double *drift = array(3 * walkers * sim->system.particles, sizeof *drift);
    int code = samples_make(s, sim, records, f->count);
    double clock = stop_clock();
    s->spent = spent;
    copy_steps(sim, first_steps, true);
    if (!code) code = moves_take_up(sim);
    if (!code) code = simulation_begin(sim);
    if (!code) code = equilibrate(sim, sweep);
    sweep += (uint64_t)sim->config.run.equilibrate;
    for (int64_t r = 0; r < records && !code; r++) {
        code = reason_to_end();
        if (!code) code = simulation_sweep(sim, sweep, period, true);
        sweep += period;
        spent->sweeps += lap(&clock);
        if (!code) code = take_record(sim, f, s, r, sweep, drift);
        lap(&clock);
    }
    free(drift);
    if (code) samples_free(s);
    return code;
}

int samples_again(simulation *sim, const samples *s, double *energy, double *ln_psi, int *finite)
{
    samples same = *s;
    spent trying = {0};
    int code = 0;
    same.spent = &trying;
    *finite = 1;
    for (int64_t r = 0; r < s->records && !code && *finite; r++) {
        code = reason_to_end();
        if (!code) code = evaluate(sim, NULL, &same, r, energy, ln_psi, NULL);
        for (int64_t i = r * s->walkers; i < (r + 1) * s->walkers && !code; i++)
            if (!isfinite(energy[i]) || !isfinite(ln_psi[i])) *finite = 0;
    }
    s->spent->again += trying.energies;
    return code;
}
