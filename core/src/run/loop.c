/* The loop: sweeps in stretches between events; at an event observables measure, the step is
 * tuned, a checkpoint is written. Where stretches end never changes the chain, so wall time may
 * decide about checkpoints and progress.
 *
 * Sweeps are numbered from 0; those below `equilibrate` are equilibration. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "run/refusals.h"
#include "run/results.h"
#include "run/simulation.h"
#include "system/system.h"

enum {
    TUNINGS = 40,             /* of the step during equilibration */
    FRAME_BYTES = 256 << 20   /* of trajectory kept in memory before they are written */
};

static volatile sig_atomic_t stop_signal;
static void take_signal(int number) { stop_signal = number; }

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Measuring ----------------------------------------------------------------------------------- */

/* The mover's positions, on the host. */
static int fetch_positions(simulation *sim)
{
    instance *mover = sim->mover;
    const plugmc_mover *m = mover->plugin->mover;
    size_t bytes = sizeof(double) * 3 * (size_t)sim->system.walkers * (size_t)sim->system.particles;
    int code;
    if (!sim->gpu) {
        code = m->store(mover->data, &mover->host, sim->positions);
    } else {
        code = m->store(mover->data, &mover->host, (double *)(uintptr_t)sim->device_positions);
        if (!code)
            code = mover->host.gpu->download(mover->host.context, sim->positions,
                                             sim->device_positions, bytes);
    }
    return context_exit_code(&mover->context, code, "storing positions");
}

/* Appends a sample to the records of an observable. */
static int record(simulation *sim, const measurement *m)
{
    const int walkers = sim->system.walkers;
    const double *values = m->values;
    for (int k = 0; k < m->quantity_count; k++) {
        quantity_record *q = &sim->output.quantities[m->first_quantity + k];
        if (q->length == 1) {
            if ((q->samples + 1) * walkers > q->capacity) {
                int64_t capacity = 2 * q->capacity + 1024 * walkers;
                double *series = realloc(q->series, sizeof(double) * (size_t)capacity);
                if (!series)
                    return report_error(sim->report, EXIT_MEMORY, NULL, 0,
                                        "no memory for the series of '%s'", q->name);
                q->series = series;
                q->capacity = capacity;
            }
            for (int w = 0; w < walkers; w++)
                q->series[q->samples * walkers + w] = values[w * m->width];
        } else {
            double *mean = calloc((size_t)q->length, sizeof(double));
            if (!mean) return report_error(sim->report, EXIT_MEMORY, NULL, 0, "no memory for '%s'", q->name);
            for (int w = 0; w < walkers; w++)
                for (int64_t i = 0; i < q->length; i++) mean[i] += values[w * m->width + i] / walkers;
            block_average_add(&q->blocks, mean);
            free(mean);
        }
        q->samples++;
        values += q->length;
    }
    return 0;
}

static int keep_frame(simulation *sim, uint64_t sweep)
{
    output_data *out = &sim->output;
    size_t bytes = sizeof(double) * 3 * (size_t)sim->system.walkers * (size_t)sim->system.particles;
    frame *frames = realloc(out->frames, sizeof *frames * (size_t)(out->frame_count + 1));
    double *copy = malloc(bytes);
    if (frames) out->frames = frames;
    if (!frames || !copy) {
        free(copy);
        return report_error(sim->report, EXIT_MEMORY, NULL, 0, "no memory for a frame of the trajectory");
    }
    memcpy(copy, sim->positions, bytes);
    out->frames[out->frame_count++] = (frame){sweep, copy};
    return 0;
}

/* All observables due after production sweep `produced`. */
static int measure(simulation *sim, uint64_t produced)
{
    view_stage stage = {.system = &sim->system,
                        .gpu = sim->gpu,
                        .mover = sim->mover->plugin,
                        .mover_instance = sim->mover->data,
                        .mover_host = &sim->mover->host};
    uint64_t sweep = produced + (uint64_t)sim->config.run.equilibrate;
    bool on_host = false, on_device = false;
    for (int i = 0; i < sim->measurement_count; i++) {
        const measurement *m = &sim->measurements[i];
        const plugmc_observable *o = m->instance->plugin->observable;
        if (produced % (uint64_t)m->period) continue;
        if (sim->gpu && o->on_device && !o->writes_trajectory)
            on_device = true;
        else
            on_host = true;
    }
    if (!on_host && !on_device) return 0;
    int code = 0;
    if (on_host) {
        code = fetch_positions(sim);
    } else {
        instance *mover = sim->mover;
        code = mover->plugin->mover->store(mover->data, &mover->host,
                                           (double *)(uintptr_t)sim->device_positions);
        code = context_exit_code(&mover->context, code, "storing positions");
    }
    for (int i = 0; i < sim->measurement_count && !code; i++) {
        measurement *m = &sim->measurements[i];
        const plugmc_observable *o = m->instance->plugin->observable;
        if (produced % (uint64_t)m->period) continue;
        bool device = sim->gpu && o->on_device;
        if (o->writes_trajectory) code = keep_frame(sim, sweep);
        if (!o->measure || code) continue;
        const double *positions =
            device ? (const double *)(uintptr_t)sim->device_positions : sim->positions;
        plugmc_view view = view_of(&stage, positions, device, sweep);
        code = o->measure(m->instance->data, &m->instance->host, &view, m->values);
        code = context_exit_code(&m->instance->context, code, "measuring");
        if (!code) code = check_sample(sim, m);
        if (!code) code = record(sim, m);
    }
    view_clear(&stage);
    return code;
}

/* ---- Tuning the step --------------------------------------------------------------------------------- */

static int read_counts(simulation *sim, plugmc_counts *out, int clear)
{
    instance *mover = sim->mover;
    int code = mover->plugin->mover->counts(mover->data, &mover->host, out, clear);
    out->trials += sim->counts_base.trials;
    out->accepted += sim->counts_base.accepted;
    if (clear) sim->counts_base = (plugmc_counts){0, 0};
    return context_exit_code(&mover->context, code, "counting");
}

/* 0 if the step is not tuned. */
static double target_acceptance(const simulation *sim)
{
    const plugmc_mover *m = sim->mover->plugin->mover;
    return m->target_acceptance && m->step && m->set_step ? m->target_acceptance(sim->mover->data) : 0;
}

static uint64_t tuning_interval(const simulation *sim)
{
    uint64_t interval = (uint64_t)sim->config.run.equilibrate / TUNINGS;
    return interval > 0 ? interval : 1;
}

/* Moves the step towards the target acceptance, by at most a factor 2. */
static int tune(simulation *sim)
{
    instance *mover = sim->mover;
    plugmc_counts counts;
    int code = read_counts(sim, &counts, 1);
    if (code || !counts.trials) return code;
    double acceptance = (double)counts.accepted / (double)counts.trials;
    double factor = fmin(2, fmax(0.5, acceptance / target_acceptance(sim)));
    double step = mover->plugin->mover->step(mover->data) * factor;
    code = mover->plugin->mover->set_step(mover->data, &mover->host, step);
    return context_exit_code(&mover->context, code, "setting the step");
}

/* ---- Checkpoints --------------------------------------------------------------------------------------- */

/* plugmc_archive over a list of named blobs. */
typedef struct blob_archive {
    plugmc_archive base;
    simulation *sim;
    instance *owner;
    blob *blobs;
    int count;
} blob_archive;

/* The mover's names stand as they are, those of others behind their section: "potential ewald/k".
 * malloc'ed. */
static char *blob_name(const blob_archive *archive, const char *name)
{
    char *full;
    if (archive->owner == archive->sim->mover) return strdup(name);
    return asprintf(&full, "%s/%s", archive->owner->section->section->name, name) < 0 ? NULL : full;
}

static int archive_bytes(plugmc_archive *base, const char *name, void *data, size_t bytes)
{
    blob_archive *archive = (blob_archive *)base;
    char *full = blob_name(archive, name);
    if (!full) return PLUGMC_ERROR_MEMORY;
    if (base->reading) {
        const blob *found = NULL;
        for (int i = 0; i < archive->count && !found; i++)
            if (strcmp(archive->blobs[i].name, full) == 0) found = &archive->blobs[i];
        free(full);
        if (found && found->bytes == bytes) {
            memcpy(data, found->data, bytes);
            return PLUGMC_OK;
        }
        report_error(archive->sim->report, EXIT_CHECKPOINT, NULL, 0,
                     "the checkpoint does not hold %zu bytes of '%s' for %s '%s'", bytes, name,
                     plugin_kind_name(archive->owner->plugin->kind),
                     archive->owner->section->section->label);
        archive->owner->context.failed = 1;
        return PLUGMC_ERROR_STATE;
    }
    blob *blobs = realloc(archive->blobs, sizeof *blobs * (size_t)(archive->count + 1));
    if (blobs) archive->blobs = blobs;
    void *copy = blobs ? malloc(bytes ? bytes : 1) : NULL;
    if (!copy) {
        free(full);
        return PLUGMC_ERROR_MEMORY;
    }
    memcpy(copy, data, bytes);
    blobs[archive->count++] = (blob){full, copy, bytes};
    return PLUGMC_OK;
}

/* All plugins' states to, or from, the blobs. */
static int archive_instances(simulation *sim, blob_archive *archive)
{
    int code = 0;
    for (int i = 0; i < sim->instance_count && !code; i++) {
        instance *instance = &sim->instances[i];
        if (!instance->plugin->archive) continue;
        archive->owner = instance;
        code = context_exit_code(
            &instance->context,
            instance->plugin->archive(instance->data, &instance->host, &archive->base),
            archive->base.reading ? "taking up the checkpoint" : "saving its state");
    }
    return code;
}

static void free_blobs(blob *blobs, int count)
{
    for (int i = 0; i < count; i++) {
        free(blobs[i].name);
        free(blobs[i].data);
    }
    free(blobs);
}

enum { KEPT = 4096 };

/* A file that is in the way of a new run is kept under another name, "" if there is none. */
static int move_aside(simulation *sim, char kept[KEPT])
{
    kept[0] = 0;
    if (access(sim->output_path, F_OK)) return 0;
    for (int k = 1; k < 10000; k++) {
        snprintf(kept, KEPT, "%s.%d", sim->output_path, k);
        if (access(kept, F_OK) == 0) continue;
        if (rename(sim->output_path, kept)) break;
        return 0;
    }
    kept[0] = 0;
    return report_error(sim->report, EXIT_OUTPUT, sim->output_path, 0, "is there already and cannot be moved aside");
}

/* The first write of a run. If it fails, what was there is there again. */
static int write_fresh(simulation *sim)
{
    char kept[KEPT];
    int code = move_aside(sim, kept);
    if (code) return code;
    code = output_write(sim->output_path, true, &sim->output, sim->report);
    if (kept[0] && (!code || rename(kept, sim->output_path)))
        report_warning(sim->report, sim->output_path, 0, "was there already and is now %s", kept);
    return code;
}

static int checkpoint(simulation *sim, uint64_t sweep, double seconds, bool *fresh)
{
    instance *mover = sim->mover;
    const plugmc_mover *m = mover->plugin->mover;
    output_data *out = &sim->output;
    blob_archive archive = {.base = {.size = sizeof(plugmc_archive), .reading = 0, .bytes = archive_bytes},
                            .sim = sim};
    int code = fetch_positions(sim);
    if (!code) code = read_counts(sim, &out->counts, 0);
    if (!code) code = archive_instances(sim, &archive);
    out->sweep = sweep;
    out->seconds = sim->seconds_base + seconds;
    out->positions = sim->positions;
    out->blobs = archive.blobs;
    out->blob_count = archive.count;
    out->step = m->step ? m->step(mover->data) : 0;
    out->finished = sweep == (uint64_t)(sim->config.run.equilibrate + sim->config.run.sweeps);
    if (!code) derive_results(sim);
    if (!code)
        code = *fresh ? write_fresh(sim) : output_write(sim->output_path, false, out, sim->report);
    if (!code && sim->csv_path && *sim->csv_path) code = output_csv(sim->csv_path, out, sim->report);
    if (!code) *fresh = false;
    free_blobs(archive.blobs, archive.count);
    out->blobs = NULL;
    out->blob_count = 0;
    return code;
}

/* A run can be made longer when it is resumed, not shorter than it is. */
static int enough_left(const simulation *sim, const char *path)
{
    const run_section *run = &sim->config.run;
    if (sim->output.sweep <= (uint64_t)(run->equilibrate + run->sweeps)) return 0;
    return report_error(sim->report, EXIT_INPUT, NULL, 0,
                        "cannot resume from %s with [run] sweeps = %lld: it has made %lld already",
                        path, (long long)run->sweeps,
                        (long long)sim->output.sweep - (long long)run->equilibrate);
}

int simulation_resume(simulation *sim, const char *path)
{
    instance *mover = sim->mover;
    const plugmc_mover *m = mover->plugin->mover;
    output_data *out = &sim->output;
    sim->output_path = path;
    int code = output_read(path, out, sim->report);
    if (code) return code;
    memcpy(sim->positions, out->positions, sizeof(double) * 3 * (size_t)sim->system.walkers * (size_t)sim->system.particles);
    code = m->load(mover->data, &mover->host, sim->positions);
    blob_archive archive = {.base = {.size = sizeof(plugmc_archive), .reading = 1, .bytes = archive_bytes},
                            .sim = sim, .blobs = (blob *)out->blobs, .count = out->blob_count};
    code = context_exit_code(&mover->context, code, "taking up positions");
    if (!code) code = archive_instances(sim, &archive);
    plugmc_counts unused;
    int last = 0;
    if (!code && m->set_step) last = m->set_step(mover->data, &mover->host, out->step);
    if (!code && !last) last = m->counts(mover->data, &mover->host, &unused, 1);
    if (!code) code = context_exit_code(&mover->context, last, "taking up the checkpoint");
    sim->counts_base = out->counts;
    sim->seconds_base = out->seconds;
    free_blobs((blob *)out->blobs, out->blob_count);
    free((void *)out->positions);
    out->positions = NULL;
    out->blobs = NULL;
    out->blob_count = 0;
    if (code) return code;
    return enough_left(sim, path);
}

/* ---- Progress -------------------------------------------------------------------------------------------- */

typedef struct progress {
    bool terminal;
    double begin, last;
    uint64_t first;
} progress;

static void show_progress(progress *p, uint64_t sweep, const simulation *sim, bool final)
{
    uint64_t total = (uint64_t)(sim->config.run.equilibrate + sim->config.run.sweeps);
    double t = now(), elapsed = t - p->begin;
    if (!final && t - p->last < (p->terminal ? 0.5 : 30)) return;
    p->last = t;
    double rate = elapsed > 0 ? (double)(sweep - p->first) / elapsed : 0;
    double left = rate > 0 ? (double)(total - sweep) / rate : 0;
    fprintf(stderr, "%s%s %llu of %llu sweeps, %.3g sweeps/s, %.0f s left%s", p->terminal ? "\r" : "",
            sweep <= (uint64_t)sim->config.run.equilibrate ? "equilibration:" : "production:",
            (unsigned long long)sweep, (unsigned long long)total, rate, left,
            p->terminal && !final ? "\033[K" : "\n");
    fflush(stderr);
}

/* ---- The loop ---------------------------------------------------------------------------------------------- */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t next_multiple(uint64_t n, uint64_t period) { return (n / period + 1) * period; }

/* The first sweep after `sweep` at which something must happen. */
static uint64_t next_event(const simulation *sim, uint64_t sweep)
{
    uint64_t equilibrate = (uint64_t)sim->config.run.equilibrate;
    uint64_t event = equilibrate + (uint64_t)sim->config.run.sweeps;
    if (sweep < equilibrate) {
        event = equilibrate;
        if (target_acceptance(sim) > 0) event = least(event, next_multiple(sweep, tuning_interval(sim)));
    } else {
        for (int i = 0; i < sim->measurement_count; i++)
            event = least(event, equilibrate + next_multiple(sweep - equilibrate,
                                                             (uint64_t)sim->measurements[i].period));
    }
    return event;
}

/* What happens at `sweep`. */
static int handle_events(simulation *sim, uint64_t sweep)
{
    uint64_t equilibrate = (uint64_t)sim->config.run.equilibrate;
    int code = 0;
    if (sweep <= equilibrate && target_acceptance(sim) > 0 &&
        (sweep % tuning_interval(sim) == 0 || sweep == equilibrate) && sweep != sim->tuned_at) {
        code = tune(sim);
        sim->tuned_at = sweep;
    }
    if (!code && sweep == equilibrate) { /* production counts from here */
        plugmc_counts unused;
        code = read_counts(sim, &unused, 1);
    }
    if (!code && sweep > equilibrate) code = measure(sim, sweep - equilibrate);
    return code;
}

int simulation_run(simulation *sim)
{
    const run_section *run = &sim->config.run;
    const uint64_t total = (uint64_t)(run->equilibrate + run->sweeps);
    uint64_t sweep = sim->output.sweep;
    bool fresh = sweep == 0 && !sim->output.frames_written && sim->seconds_base == 0;
    int code = 0, ended = EXIT_DONE;
    double begin = now(), last_checkpoint = begin;
    uint64_t stretch = 1; /* sweeps a call, doubled while they take less than a quarter second */
    progress progress = {isatty(STDERR_FILENO), begin, begin, sweep};
    struct sigaction action = {.sa_handler = take_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);

    if (run->equilibrate == 0 && sweep == 0) code = handle_events(sim, 0);
    while (!code && sweep < total) {
        uint64_t event = next_event(sim, sweep), n = least(event - sweep, stretch);
        double t = now();
        code = simulation_sweep(sim, sweep, n);
        sweep += n;
        if (now() - t < 0.25 && n == stretch && stretch < 1 << 30) stretch *= 2;
        if (now() - t > 0.5 && stretch > 1) stretch /= 2;
        if (!code && sweep == event) code = handle_events(sim, sweep);
        if (code) break;
        show_progress(&progress, sweep, sim, false);

        size_t frame_bytes = sizeof(double) * 3 * (size_t)sim->system.walkers *
                             (size_t)sim->system.particles * (size_t)sim->output.frame_count;
        t = now();
        if (stop_signal)
            ended = EXIT_INTERRUPTED;
        else if (run->time_limit > 0 && t - begin >= run->time_limit && sweep < total)
            ended = EXIT_TIME_LIMIT;
        if (ended != EXIT_DONE) break;
        if (sweep < total && ((run->checkpoint > 0 && t - last_checkpoint >= run->checkpoint) ||
                              frame_bytes > FRAME_BYTES)) {
            code = checkpoint(sim, sweep, t - begin, &fresh);
            last_checkpoint = now();
        }
    }
    if (progress.terminal) fputs("\r\033[K", stderr);
    if (code) return code;
    show_progress(&progress, sweep, sim, true);
    code = checkpoint(sim, sweep, now() - begin, &fresh);
    if (code) return code;
    print_results(sim);
    if (ended == EXIT_INTERRUPTED)
        fprintf(stderr, "stopped by signal %d after sweep %llu; go on with: plugmc run --resume %s\n",
                (int)stop_signal, (unsigned long long)sweep, sim->output_path);
    if (ended == EXIT_TIME_LIMIT)
        fprintf(stderr, "time limit reached after sweep %llu; go on with: plugmc run --resume %s\n",
                (unsigned long long)sweep, sim->output_path);
    return ended;
}
