/* Samples of the wave function as it is, by the run that the INI file describes. */
#include "optimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sync.h"
#include "engine/local_energies.h"
#include "engine/moves.h"
#include "base/stop.h"
#include "engine/view.h"
#include "initial/initial.h"

enum { TUNINGS = 40 }; /* of steps during equilibration */

static void *array(int64_t count, size_t size) { return checked(calloc((size_t)count + 1, size)); }

/* Seconds since *from, which is now. */
static double lap(double *from)
{
    const double now = stop_clock(), seconds = now - *from;
    *from = now;
    return seconds;
}

static int samples_make(samples *s, session *session, int64_t records, int64_t numbers)
{
    const int64_t particles = session->engine.system.particles,
                  walkers = session->engine.system.walkers, count = records * walkers;
    const plugmc_host *host = &engine_asking(&session->engine)->host;
    const size_t bytes = (size_t)(3 * walkers * particles) * sizeof(double);
    int code = PLUGMC_OK;
    *s = (samples){.records = records,
                   .count = count,
                   .walkers = session->engine.system.walkers,
                   .numbers = numbers,
                   .host = host};
    s->sweep = array(records, sizeof *s->sweep);
    s->positions = array(3 * count * particles, sizeof *s->positions);
    s->energy = array(count, sizeof *s->energy);
    s->ln_psi = array(count, sizeof *s->ln_psi);
    s->derivatives = array(count * numbers, sizeof *s->derivatives);
    s->energies = array(count * numbers, sizeof *s->energies);
    if (session->engine.device.gpu)
        code = host->gpu->allocate(host->context, bytes, &s->positions_there);
    if (session->engine.device.gpu && !code)
        code = host->gpu->allocate(host->context, bytes, &s->drift_there);
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
static void copy_steps(session *session, double *steps, bool back)
{
    for (int i = 0; i < session->records.output.move_count; i++)
        for (int32_t r = 0; r < session->engine.system.rungs; r++, steps++) {
            double *kept = &session->records.output.moves[i].steps[r];
            *(back ? kept : steps) = *(back ? steps : kept);
        }
}

double *samples_first_steps(session *session)
{
    double *steps = array(
        session->records.output.move_count * (int64_t)session->engine.system.rungs, sizeof *steps);
    copy_steps(session, steps, false);
    return steps;
}

/* Steps are as in the INI file, then tuned as in a run, so that a loop does not depend on those before. */
static int equilibrate(session *session, uint64_t begin)
{
    const uint64_t sweeps = (uint64_t)session->engine.config.run.equilibrate,
                   stretch = sweeps / TUNINGS ? sweeps / TUNINGS : 1;
    int code = moves_clear(&session->engine);
    for (uint64_t done = 0; done < sweeps && !code; done += stretch) {
        const uint64_t n = sweeps - done < stretch ? sweeps - done : stretch;
        code = reason_to_end();
        if (!code) code = engine_sweep(&session->engine, begin + done, n, true);
        if (!code && moves_are_tuned(&session->engine)) code = moves_tune(&session->engine, false);
    }
    return code ? code : moves_clear(&session->engine);
}

/* Of the observable that gives the local energies. */
static int64_t period_of(const session *session)
{
    for (int i = 0; i < session->records.measurement_count; i++)
        if (plugmc_local_energy_of(session->records.measurements[i].instance->plugin))
            return session->records.measurements[i].period;
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
static int derive(session *session, const variational_parameters *f, samples *s, int64_t record,
                  const plugmc_view *view, const double *drift, const plugmc_nonlocal_point *places,
                  int64_t place_count)
{
    const int64_t first = record * s->walkers * s->numbers;
    double *derivatives = s->derivatives + first, *energies = s->energies + first;
    if (f->device)
        return variational_derive_there(f, view, drift, places, place_count, derivatives, energies);
    const int code = variational_derive(f, view, session->engine.system.threads, 0, s->walkers,
                                        drift, derivatives, energies);
    return code || !place_count ? code
                                : variational_visit(f, view, session->engine.system.threads, places,
                                                    place_count, energies);
}

/* All walkers of a record, with the present numbers, where the run is. drift [walkers][particles][3]: room for what
 * derivatives need on the CPU; NULL: they are not wanted. */
static int evaluate(session *session, const variational_parameters *f, samples *s, int64_t record,
                    double *energy, double *ln_psi, double *drift)
{
    instance *asking = engine_asking(&session->engine);
    const int64_t first = record * s->walkers;
    const bool all_there = drift && f->device;
    view_stage stage = {.system = &session->engine.system,
                        .gpu = session->engine.device.gpu,
                        .state = &session->engine.current.state.face};
    plugmc_view view, there;
    const plugmc_nonlocal_point *places = NULL;
    plugmc_nonlocal_point *device_places = NULL;
    int64_t place_count = 0;
    double clock = stop_clock();
    double *const drift_there = session->engine.device.gpu ? at_device(s->drift_there) : drift;
    int code = view_of(&stage, s->positions + 3 * first * session->engine.system.particles, 0,
                       s->sweep[record], &view);
    if (!code && session->engine.device.gpu) code = upload_record(s, &stage, &view, &there);
    const plugmc_local_energy_request request = {
        .size = sizeof request,
        .walkers = s->walkers,
        .view = session->engine.device.gpu ? &there : &view,
        .energy = energy + first,
        .ln_psi = ln_psi + first,
        .drift = drift ? drift_there : NULL,
        .points = drift && !all_there ? &places : NULL,
        .point_count = drift ? &place_count : NULL,
        .device_points = all_there ? &device_places : NULL};
    if (!code) code = local_energies(&asking->host, &request);
    if (!code && drift && session->engine.device.gpu && !all_there)
        code = s->host->gpu->download(s->host->context, drift, s->drift_there, record_bytes(s));
    code = context_exit_code(&asking->context, code, "finding local energies");
    s->spent->energies += lap(&clock);
    if (!code && drift)
        code = derive(session, f, s, record, all_there ? &there : &view,
                      all_there ? drift_there : drift, all_there ? device_places : places,
                      place_count);
    view_clear(&stage);
    return code;
}

/* Psi that has no number where it was sampled. */
static int check_record(session *session, const samples *s, int64_t record)
{
    for (int64_t i = record * s->walkers; i < (record + 1) * s->walkers; i++)
        if (!isfinite(s->energy[i]) || !isfinite(s->ln_psi[i]))
            return report_error(session->engine.report, EXIT_INPUT, session->engine.config.ini.path,
                                0,
                                "the local energy is %g and ln |Psi| %g in walker %lld: this "
                                "wave function cannot be sampled; start with coefficients "
                                "closer to 0",
                                s->energy[i], s->ln_psi[i], (long long)(i % s->walkers));
    return 0;
}

static int take_record(session *session, const variational_parameters *f, samples *s,
                       int64_t record, uint64_t sweep, double *drift)
{
    const int64_t numbers = 3 * s->walkers * session->engine.system.particles;
    const double *here;
    double clock = stop_clock();
    int code = sync_positions(&session->engine, PLUGMC_ON_HOST, &here);
    s->spent->sweeps += lap(&clock); /* on a GPU this waits for them */
    if (code) return code;
    s->sweep[record] = sweep;
    memcpy(s->positions + record * numbers, here, (size_t)numbers * sizeof *here);
    code = evaluate(session, f, s, record, s->energy, s->ln_psi, drift);
    return code ? code : check_record(session, s, record);
}

int samples_take(session *session, const variational_parameters *f, double *first_steps,
                 int64_t loop, int64_t wanted, spent *spent, samples *s)
{
    const int32_t walkers = session->engine.system.walkers;
    const int64_t records = (wanted + walkers - 1) / walkers;
    const uint64_t period = (uint64_t)period_of(session);
    uint64_t sweep = (uint64_t)loop
                     << 32; /* numbers of sweeps draw the random numbers: below 2^48 */
    double *drift = array(3 * walkers * session->engine.system.particles, sizeof *drift);
    int code = samples_make(s, session, records, f->count);
    double clock = stop_clock();
    s->spent = spent;
    copy_steps(session, first_steps, true);
    if (!code) code = moves_take_up(&session->engine);
    if (!code) code = initial_begin(&session->engine);
    if (!code) code = equilibrate(session, sweep);
    sweep += (uint64_t)session->engine.config.run.equilibrate;
    for (int64_t r = 0; r < records && !code; r++) {
        code = reason_to_end();
        if (!code) code = engine_sweep(&session->engine, sweep, period, true);
        sweep += period;
        spent->sweeps += lap(&clock);
        if (!code) code = take_record(session, f, s, r, sweep, drift);
        lap(&clock);
    }
    free(drift);
    if (code) samples_free(s);
    return code;
}

int samples_again(session *session, const samples *s, double *energy, double *ln_psi, int *finite)
{
    samples same = *s;
    spent trying = {0};
    int code = 0;
    same.spent = &trying;
    *finite = 1;
    for (int64_t r = 0; r < s->records && !code && *finite; r++) {
        code = reason_to_end();
        if (!code) code = evaluate(session, NULL, &same, r, energy, ln_psi, NULL);
        for (int64_t i = r * s->walkers; i < (r + 1) * s->walkers && !code; i++)
            if (!isfinite(energy[i]) || !isfinite(ln_psi[i])) *finite = 0;
    }
    s->spent->again += trying.energies;
    return code;
}
