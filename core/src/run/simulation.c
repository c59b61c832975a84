/* From a configuration to a system with a mover that is ready to sweep. The loop is in loop.c. */
#include "run/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "plugin/answers.h"
#include "archive/averages.h"
#include "run/board.h"
#include "run/borrowing.h"
#include "run/device_choice.h"
#include "run/history.h"
#include "run/listing.h"
#include "run/matching.h"
#include "run/molecules.h"
#include "run/moves.h"
#include "run/not_a_number.h"
#include "run/pair_table.h"
#include "run/refusals.h"
#include "run/saving.h"
#include "run/snapshot.h"
#include "run/total_check.h"
#include "system/system.h"
#include "run/share.h"
#include "parallel/spread.h"
#include "parallel/team.h"

static int load_instances(simulation *);
static int configure_instances(simulation *);

/* Small systems lose more by waiting for threads than these save. Results do not depend on it. */
static int threads_worth_while(const plugmc_system *system, int offered)
{
    enum { PARTICLES_A_THREAD = 1024 };
    int64_t most = system->particles * system->walkers / PARTICLES_A_THREAD;
    return most < 1 ? 1 : most < offered ? (int)most : offered;
}

int simulation_open(simulation *sim)
{
    int code = sim->report->errors ? sim->report->code
                                   : system_build(&sim->config, &sim->system, sim->report);
    if (!sim->offer.threads) sim->offer = threads_offered("");
    sim->system.threads = sim->config.run.threads
                              ? (int32_t)sim->config.run.threads
                              : threads_worth_while(&sim->system, sim->offer.threads);
    int loading = load_instances(sim);
    if (!code) code = loading;
    if (!code) code = share_walkers(sim);
    if (!code) code = share_numbers(sim);
    if (!code) code = configure_instances(sim);
    if (!code)
        code =
            ladder_build(&sim->ladder, &sim->config, sim->all_walkers, &sim->system, sim->report);
    if (!code) share_system(sim);
    if (!code && !sim->pairs_known) code = check_pairs(sim);
    if (!code) code = match(sim);
    for (int k = 0; k < sim->mover_count; k++)
        sim->output.joined |= sim->movers[k].mover->joins != 0;
    return code;
}

/* ---- Loading ----------------------------------------------------------------------------------- */

static const char *const *core_keys(int kind)
{
    return kind == PLUGMC_POTENTIAL ? potential_keys
           : kind == PLUGMC_MOVER   ? mover_keys
                                    : observable_keys;
}

static int fill(const plugmc_plugin *plugin, const config *config, ini_section *section,
                void **data, report *report)
{
    *data = calloc(1, plugin->instance_size ? plugin->instance_size : 1);
    if (!*data) return report_error(report, EXIT_MEMORY, NULL, 0, "no memory for a plugin");
    return parameters_fill(plugin->parameters, plugin->parameter_count, plugin->real_size, *data,
                           config->ini.path, section, report);
}

static int load_instance(simulation *sim, instance *instance, const plugin_section *section)
{
    const char *path = sim->config.ini.path,
               *source = ini_source(&sim->config.ini, section->section);
    instance->section = section;
    int code = plugin_load(section->plugin, section->kind, source, section->section->line,
                           &instance->loaded, sim->report);
    if (code) return code;
    instance->plugin = instance->loaded.plugin;
    instance->context = (plugmc_context){.report = sim->report,
                                         .file = source,
                                         .line = section->section->line,
                                         .section = section->section->name,
                                         .keys = section->section,
                                         .plugin = instance->loaded.path,
                                         .any_failed = &sim->plugin_failed};
    code = fill(instance->plugin, &sim->config, section->section, &instance->data, sim->report);
    int unused = parameters_unused(instance->plugin->parameters, instance->plugin->parameter_count,
                                   core_keys(section->kind), path, section->section, sim->report);
    if (!code) code = unused;
    const ini_entry *period = ini_get(section->section, "period");
    if (!code && period && section->kind == PLUGMC_MOVER && !instance->plugin->observable)
        code = report_error(sim->report, EXIT_INPUT, source, period->line,
                            "[%s] period: this mover measures nothing", section->section->name);
    /* The float descriptor has the same table, so its errors have been reported already. */
    if (!code && instance->plugin->single)
        code = fill(instance->plugin->single, &sim->config, section->section,
                    &instance->data_single, sim->report);
    return code;
}

static int load_instances(simulation *sim)
{
    const config *config = &sim->config;
    int first_error = 0;
    plugmc_first_walker = (uint32_t)config->run.first_walker;
    sim->instance_count = config->plugin_count;
    sim->instances = checked(calloc((size_t)config->plugin_count + 1, sizeof *sim->instances));
    sim->movers = checked(calloc((size_t)config->plugin_count + 1, sizeof *sim->movers));
    for (int i = 0; i < config->plugin_count; i++) {
        instance *instance = &sim->instances[i];
        if (!*config->plugins[i].plugin) continue; /* a section without a name: told already */
        int code = load_instance(sim, instance, &config->plugins[i]);
        if (!first_error) first_error = code;
        if (config->plugins[i].kind == PLUGMC_MOVER && instance->plugin)
            sim->movers[sim->mover_count++] = (moving){.instance = instance,
                                                       .mover = instance->plugin->mover,
                                                       .by_core = !instance->plugin->mover->take,
                                                       .every = (uint64_t)config->plugins[i].every};
    }
    return first_error;
}

/* ---- Configuration ------------------------------------------------------------------------------ */

static int configure(const simulation *sim, instance *instance)
{
    instance->host = context_host(&instance->context, &sim->system);
    const plugmc_plugin *both[2] = {instance->plugin, instance->plugin->single};
    void *data[2] = {instance->data, instance->data_single};
    for (int i = 0; i < 2; i++) {
        if (!both[i] || !both[i]->configure) continue;
        context_calling(&instance->context, "configure");
        int code = both[i]->configure(data[i], &instance->host);
        code = context_exit_code(&instance->context, code, "checking its parameters");
        if (code) return code;
    }
    return 0;
}

static int configure_instances(simulation *sim)
{
    int terms = 0, first_error = 0;
    sim->terms = checked(calloc((size_t)sim->instance_count + 1, sizeof *sim->terms));
    for (int i = 0; i < sim->instance_count; i++) {
        instance *instance = &sim->instances[i];
        if (instance->section->kind != PLUGMC_POTENTIAL) continue;
        sim->terms[terms++] = (plugmc_term){.label = instance->section->section->label,
                                            .plugin = instance->plugin,
                                            .instance = instance->data,
                                            .plugin_single = instance->plugin->single,
                                            .instance_single = instance->data_single,
                                            .sampled = instance->section->sampled,
                                            .host = &instance->host};
    }
    sim->system.terms = sim->terms;
    sim->system.term_size = sizeof *sim->terms;
    sim->system.term_count = terms;
    sim->system.together = 1;
    for (int k = 0; k < sim->mover_count; k++) {
        const plugmc_mover *mover = sim->movers[k].mover;
        sim->system.changes |= mover->changes & ~(uint32_t)PLUGMC_CHANGED_POSITION;
        if (PLUGMC_HAS(mover, together) && mover->together > sim->system.together)
            sim->system.together = mover->together;
    }
    /* Potentials first: movers and observables may look at them. */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < sim->instance_count; i++) {
            instance *instance = &sim->instances[i];
            if ((instance->section->kind == PLUGMC_POTENTIAL) != (pass == 0)) continue;
            int code = configure(sim, instance);
            if (!first_error) first_error = code;
        }
        if (first_error) return first_error;
        sim->system.range = 0;
        for (int t = 0; t < terms; t++)
            if (sim->terms[t].sampled && sim->terms[t].plugin->potential->pair)
                sim->system.range =
                    fmax(sim->system.range, reach_of_term(&sim->system, &sim->terms[t]));
    }
    return 0;
}

/* ---- Memory ------------------------------------------------------------------------------------------ */

static char *copy_text(const char *text) { return text ? checked(strdup(text)) : NULL; }

static int no_memory_for(const simulation *sim, const char *label)
{
    return report_error(sim->report, EXIT_MEMORY, NULL, 0, "no memory for what '%s' measures",
                        label);
}

/* What `plugmc info` tells must be true. */
static int check_listed(simulation *sim, const measurement *m, const plugmc_quantity *q,
                        bool derived)
{
    const instance *instance = m->instance;
    if (listing_has(instance->plugin->observable, q, derived)) return 0;
    return report_error(sim->report, EXIT_INTERNAL, instance->context.file, instance->context.line,
                        "[%s] gives '%s' in '%s', which the listing of the plugin does not have",
                        instance->section->section->name, q->name, q->unit ? q->unit : "");
}

/* "energy", or "energy@0.7" on a rung of a ladder. */
static char *name_on(const simulation *sim, const char *name, int32_t rung)
{
    char suffix[LADDER_SUFFIX], *full;
    if (asprintf(&full, "%s%s", name, ladder_suffix(&sim->ladder, rung, suffix)) < 0) checked(NULL);
    return full;
}

/* The unit that people read, and for the first rung the scale to it of q's values, behind the `width` there
 * are. */
static char *unit_of(const simulation *sim, measurement *m, const plugmc_quantity *q, int32_t rung,
                     double **scales, int64_t *width)
{
    double scale;
    const int64_t length = plugmc_quantity_length(q), before = *width;
    char *text = units_words(&sim->config.units, q->unit ? q->unit : "", sim->system.box.dimension,
                             sim->system.temperature, &scale);
    if (rung > 0) return text;
    *width += length;
    *scales = checked(realloc(*scales, (size_t)*width * sizeof **scales));
    for (int64_t i = before; i < *width; i++) (*scales)[i] = scale;
    m->scaled |= scale != 1;
    return text;
}

static int add_quantity(simulation *sim, measurement *m, const plugmc_quantity *q, int32_t rung)
{
    output_data *out = &sim->output;
    const char *label = m->instance->section->section->label;
    out->quantities = checked(
        realloc(out->quantities, sizeof *out->quantities * (size_t)(out->quantity_count + 1)));
    quantity_record *record = &out->quantities[out->quantity_count++];
    *record = (quantity_record){.observable = copy_text(label),
                                .name = name_on(sim, q->name, rung),
                                .walkers = sim->all_walkers / sim->system.rungs,
                                .unit = unit_of(sim, m, q, rung, &m->scales, &m->width),
                                .doc = copy_text(q->doc),
                                .length = plugmc_quantity_length(q),
                                .period = m->period};
    if (rung == 0) m->quantity_count++;
    return axes_copy(&record->axes, q) ||
                   (record->length > 1 && block_average_init(&record->blocks, record->length))
               ? no_memory_for(sim, label)
               : 0;
}

static int add_derived(simulation *sim, measurement *m, const plugmc_quantity *q, int32_t rung)
{
    output_data *out = &sim->output;
    const char *label = m->instance->section->section->label;
    out->derived =
        checked(realloc(out->derived, sizeof *out->derived * (size_t)(out->derived_count + 1)));
    derived_record *record = &out->derived[out->derived_count++];
    *record =
        (derived_record){.observable = copy_text(label),
                         .name = name_on(sim, q->name, rung),
                         .unit = unit_of(sim, m, q, rung, &m->derived_scales, &m->derived_width),
                         .doc = copy_text(q->doc),
                         .length = plugmc_quantity_length(q)};
    if (axes_copy(&record->axes, q)) return no_memory_for(sim, label);
    if (record->length < 2) return 0;
    record->values = calloc((size_t)record->length, sizeof(double));
    record->errors = calloc((size_t)record->length, sizeof(double));
    record->each_converged = calloc((size_t)record->length, sizeof(bool));
    return record->values && record->errors && record->each_converged ? 0
                                                                      : no_memory_for(sim, label);
}

/* All of one list, measured or derived, for a rung. */
static int add_list(simulation *sim, measurement *m, enum quantity_list which, int32_t rung)
{
    char why[512];
    const plugmc_observable *observable = m->instance->plugin->observable;
    int code = 0;
    for (int k = 0; !code; k++) {
        plugmc_quantity q;
        int more =
            ask_quantity(observable, m->instance->data, which, k, &q, (sentence){why, sizeof why});
        if (more == 0) return 0;
        if (more < 0) return refuse_answer(m->instance, EXIT_PLUGIN, why);
        code = check_listed(sim, m, &q, which == QUANTITIES_DERIVED);
        if (code) return code;
        code = which == QUANTITIES_MEASURED ? add_quantity(sim, m, &q, rung)
                                            : add_derived(sim, m, &q, rung);
    }
    return code;
}

/* The mean weight of walkers at each measurement, where a mover changes it. */
static void add_weight(simulation *sim, measurement *m)
{
    output_data *out = &sim->output;
    bool weighted = false;
    m->weight = -1;
    for (int k = 0; k < sim->mover_count; k++)
        weighted |= (sim->movers[k].mover->changes & PLUGMC_CHANGED_WALKER_WEIGHT) != 0;
    if (!weighted) return;
    for (int i = m->first_quantity; i < out->quantity_count; i++) out->quantities[i].walkers = 1;
    m->weight = out->quantity_count;
    out->quantities = checked(
        realloc(out->quantities, sizeof *out->quantities * (size_t)(out->quantity_count + 1)));
    out->quantities[out->quantity_count++] =
        (quantity_record){.observable = copy_text(m->instance->section->section->label),
                          .name = copy_text("weight"),
                          .walkers = 1,
                          .unit = copy_text(""),
                          .doc = copy_text("mean weight of walkers in averages"),
                          .length = 1,
                          .period = m->period,
                          .weighs = true};
}

static int add_quantities(simulation *sim, measurement *m)
{
    m->first_quantity = sim->output.quantity_count;
    context_calling(&m->instance->context, "quantity");
    int code = 0;
    for (int32_t r = 0; r < sim->system.rungs && !code; r++)
        code = add_list(sim, m, QUANTITIES_MEASURED, r);
    add_weight(sim, m);
    m->first_derived = sim->output.derived_count;
    for (int32_t r = 0; r < sim->system.rungs && !code; r++)
        code = add_list(sim, m, QUANTITIES_DERIVED, r);
    m->derived_count = (sim->output.derived_count - m->first_derived) / sim->system.rungs;
    crash_called();
    if (code) return code;
    m->values = calloc((size_t)(sim->system.walkers * m->width) + 1, sizeof(double));
    return m->values ? 0 : no_memory_for(sim, m->instance->section->section->label);
}

/* All but movers that know the CPU alone. */
static bool runs_on_gpu(const plugmc_plugin *plugin)
{
    return plugin->kind != PLUGMC_MOVER || plugin->mover->needs & PLUGMC_RUNS_ON_GPU;
}

/* The first mover has the seed of the run, mover number k that seed and k stirred into another key,
 * by the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), which is one to one. */
static uint64_t seed_of(const simulation *sim, const instance *instance)
{
    uint64_t k = 0;
    while ((int)k < sim->mover_count && sim->movers[k].instance != instance) k++;
    if (!k || (int)k == sim->mover_count) return sim->system.seed;
    uint64_t z = sim->system.seed + k * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Potentials with orbitals come before others, which may ask them where their ions are. */
static bool has_orbitals(const plugmc_plugin *plugin)
{
    return plugin->kind == PLUGMC_POTENTIAL && plugin->potential->orbitals;
}

static int prepare_kind(simulation *sim, int kind, bool orbitals)
{
    for (int i = 0; i < sim->instance_count; i++) {
        instance *instance = &sim->instances[i];
        const plugmc_plugin *plugin = instance->plugin;
        int code = 0;
        if (plugin->kind != kind || has_orbitals(plugin) != orbitals) continue;
        instance->context.gpu = runs_on_gpu(plugin) ? sim->gpu : NULL;
        instance->context.sim = sim;
        instance->context.stage->state = &sim->state.face;
        instance->host = context_host(&instance->context, &sim->system);
        instance->host.seed = seed_of(sim, instance);
        instance->host.state = &sim->state.face;
        if (kind == PLUGMC_MOVER) instance->host.every = instance->section->every;
        context_calling(&instance->context, "prepare");
        if (plugin->prepare) code = plugin->prepare(instance->data, &instance->host);
        if (!code && plugin->kind == PLUGMC_MOVER && !plugin->mover->take)
            code = hamiltonian_open(&sim->hamiltonian, &instance->host);
        code = context_exit_code(&instance->context, code, "preparing");
        if (code) return code;
        code = check_prepared(sim, instance);
        if (code) return code;
    }
    return 0;
}

/* Of sections with the same label: of a mover that measures and an observable. */
static int check_names(const simulation *sim)
{
    const char *label, *name;
    if (!output_names_clash(&sim->output, &label, &name)) return 0;
    return report_error(sim->report, EXIT_INPUT, sim->config.ini.path, 0,
                        "two quantities are called '%s.%s': sections that measure need different "
                        "names, as in [observable NAME] with plugin = ...",
                        label, name);
}

/* Observables, and movers that measure, in the order of the file. */
static int begin_measuring(simulation *sim)
{
    int code = 0;
    for (int i = 0; i < sim->instance_count && !code; i++) {
        instance *instance = &sim->instances[i];
        if (!instance->plugin->observable) continue;
        measurement *m = &sim->measurements[sim->measurement_count++];
        *m = (measurement){.instance = instance, .period = instance->section->period};
        if (m->period > sim->config.run.sweeps)
            report_warning(
                sim->report, instance->context.file, instance->context.line,
                "[%s] period = %lld is longer than the run, sweeps = %lld: nothing is measured",
                instance->section->section->name, (long long)m->period,
                (long long)sim->config.run.sweeps);
        code = add_quantities(sim, m);
    }
    return code ? code : check_names(sim);
}

/* Each mover that can change a macrostate has to leave its decisions to the core. */
static int begin_weighing(simulation *sim)
{
    const uint32_t of = PLUGMC_CHANGED_BOX | PLUGMC_CHANGED_COUNT;
    instance *weighing = sim->weighing->instance;
    for (int k = 0; k < sim->mover_count; k++) {
        const moving *m = &sim->movers[k];
        const char *why = m->mover->joins ? "decides about several walkers together"
                                          : "keeps a configuration of its own";
        if ((m->by_core || !(m->mover->changes & of)) && !m->mover->joins) continue;
        return report_error(sim->report, EXIT_INPUT, weighing->context.file, weighing->context.line,
                            "mover '%s' weighs macrostates, and mover '%s' %s",
                            weighing->loaded.name, m->instance->loaded.name, why);
    }
    const int code = bias_open(&sim->hamiltonian, sim->macrostates);
    return context_exit_code(&weighing->context, code, "preparing");
}

/* Movers may call potentials, observables may look at both. */
static int prepare_instances(simulation *sim)
{
    sim->measurements = checked(calloc((size_t)sim->instance_count, sizeof *sim->measurements));
    int code = prepare_kind(sim, PLUGMC_POTENTIAL, true);
    if (!code) code = prepare_kind(sim, PLUGMC_POTENTIAL, false);
    if (!code) code = check_floors(sim);
    if (!code) code = molecules_find(sim);
    if (!code) code = prepare_kind(sim, PLUGMC_MOVER, false);
    if (!code) code = moves_begin(sim);
    if (!code) code = match_reservoirs(sim);
    if (!code && sim->weighing) code = begin_weighing(sim);
    if (!code) code = prepare_kind(sim, PLUGMC_OBSERVABLE, false);
    return code ? code : begin_measuring(sim);
}

static char *effective(const simulation *sim, bool pairs)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    config_echo(out, &sim->config);
    for (int i = 0; i < sim->instance_count; i++) {
        const instance *instance = &sim->instances[i];
        plugin_section_echo(out, instance->section);
        parameters_echo(out, instance->plugin->parameters, instance->plugin->parameter_count,
                        instance->plugin->real_size, instance->data, instance->section->section);
    }
    if (pairs) pair_table_write(out, sim, "; ");
    fclose(out);
    return text;
}

char *effective_ini(const simulation *sim) { return effective(sim, true); }
char *effective_keys(const simulation *sim) { return effective(sim, false); }

char *ini_as_text(const ini_file *ini, const char *archive)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    ini_write(out, ini, archive);
    fclose(out);
    return text;
}

int simulation_prepare(simulation *sim)
{
    int code = choose_device(sim);
    instance *asking = simulation_asking(sim);
    if (code) return code;
    code = spread_begin(sim->gpu, sim->report);
    if (code) return code;
    sim->state_host = asking->host;
    sim->state_host.gpu = sim->gpu ? gpu_services(sim->gpu) : NULL;
    state_begin(&sim->state, &sim->system, &sim->ladder, &sim->state_host, sim->first_walker,
                sim->all_walkers);
    sim->output.effective_ini = effective_ini(sim); /* as it was read, whatever plugins do to it */
    code = prepare_instances(sim);
    if (code) return code;
    borrowing_begin(sim);
    state_positions(&sim->state, PLUGMC_ON_HOST, 0, &code);
    if (!code && sim->gpu) state_positions(&sim->state, PLUGMC_ON_DEVICE, 0, &code);
    if (code) return context_exit_code(&asking->context, code, "taking memory for positions");
    sim->output.system = &sim->whole;
    sim->output.provenance = history_describe(sim);
    sim->output.history = history_append(sim->before, sim->output.provenance);
    sim->output.author = sim->config.run.author;
    sim->output.equilibrate = (uint64_t)sim->config.run.equilibrate;
    sim->output.trajectory_note =
        sim->system.box.dimension == 2 ? "two-dimensional run: z = 0" : "";
    if (!sim->output_path) sim->output_path = sim->config.run.output;
    sim->output.user_ini = ini_as_text(&sim->config.ini, sim->output_path);
    sim->csv_path = sim->config.run.csv;
    return 0;
}

/* Numbers of particles are those that have a place: a frame of a file says so, walker by walker. */
static int count_places(simulation *sim, const double *positions)
{
    const plugmc_system *system = &sim->system;
    void *out;
    const int code = sim->state.face.array(&sim->state.face, PLUGMC_STATE_COUNT, PLUGMC_ON_HOST,
                                           PLUGMC_WRITE, &out, NULL);
    int64_t *count = out;
    if (code) return context_exit_code(&simulation_asking(sim)->context, code, "counting");
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t s = 0; s < system->species_count; s++) {
            int64_t *n = &count[w * system->species_count + s];
            *n = 0;
            for (int64_t i = system->first[s]; i < system->first[s + 1]; i++)
                *n += !isnan(positions[3 * (w * system->particles + i)]);
        }
    return 0;
}

/* The boxes of walkers where a file may say other ones than [box]; NULL: it may not. */
static int boxes_of_file(simulation *sim, plugmc_box **boxes)
{
    void *out = NULL;
    *boxes = NULL;
    if (sim->config.initial.state != INITIAL_FILE || !(sim->system.changes & PLUGMC_CHANGED_BOX))
        return 0;
    const int code = sim->state.face.array(&sim->state.face, PLUGMC_STATE_BOX, PLUGMC_ON_HOST,
                                           PLUGMC_READ | PLUGMC_WRITE, &out, NULL);
    *boxes = out;
    return context_exit_code(&simulation_asking(sim)->context, code, "reading boxes");
}

/* In these every pair within range must have one image alone, as in [box]. */
static int check_boxes_of_file(simulation *sim, const plugmc_box *boxes)
{
    for (int32_t w = 0; w < sim->system.walkers && boxes; w++)
        if (hamiltonian_finds_box_too_small(&sim->hamiltonian, &boxes[w]))
            return report_error(sim->report, EXIT_INPUT, sim->config.initial.file, 0,
                                "the box of walker %d is so small, a volume of %g, that the range "
                                "of a potential is more than half of it",
                                sim->first_walker + w, boxes[w].volume);
    return 0;
}

int simulation_begin(simulation *sim)
{
    double *positions;
    plugmc_box *boxes;
    int code = borrowing_write(sim, &positions);
    if (!code) code = boxes_of_file(sim, &boxes);
    if (!code)
        code = initial_state(&sim->config, &sim->system, sim->first_walker, positions, boxes,
                             sim->report);
    if (!code) code = check_boxes_of_file(sim, boxes);
    if (!code && sim->system.changes & PLUGMC_CHANGED_COUNT) code = count_places(sim, positions);
    if (code || !sim->mover_count) return code;
    code = check_initial_energy(sim, positions);
    if (!code) code = check_totals(sim, positions);
    return code ? code : borrowing_take_all(sim);
}

/* In a run on a GPU one that knows it. */
instance *simulation_asking(simulation *sim)
{
    for (int k = 0; k < sim->mover_count; k++)
        if (!sim->gpu || runs_on_gpu(sim->movers[k].instance->plugin))
            return sim->movers[k].instance;
    return sim->instances;
}

/* ---- Release -------------------------------------------------------------------------------------------- */

static void free_output(output_data *out)
{
    for (int i = 0; i < out->quantity_count; i++) {
        quantity_record *q = &out->quantities[i];
        free(q->observable), free(q->name), free(q->unit), free(q->doc), free(q->series);
        axes_free(&q->axes);
        if (q->length > 1) block_average_free(&q->blocks);
        averages_free(q);
    }
    for (int i = 0; i < out->derived_count; i++) {
        derived_record *d = &out->derived[i];
        free(d->observable), free(d->name), free(d->unit), free(d->doc);
        free(d->values), free(d->errors), free(d->each_converged);
        axes_free(&d->axes);
    }
    for (int i = 0; i < out->frame_count; i++) free(out->frames[i].positions);
    move_records_free(out);
    free(out->quantities);
    free(out->derived);
    free(out->frames);
    free((char *)out->effective_ini);
    free((char *)out->user_ini);
    free((char *)out->provenance);
    free((char *)out->history);
}

void simulation_close(simulation *sim)
{
    saving_wait(sim);
    for (int i = 0; i < sim->instance_count; i++) {
        instance *instance = &sim->instances[i];
        const plugmc_plugin *both[2] = {instance->plugin,
                                        instance->plugin ? instance->plugin->single : NULL};
        void *data[2] = {instance->data, instance->data_single};
        for (int k = 0; k < 2; k++) {
            context_calling(&instance->context, "release");
            if (both[k] && both[k]->release && data[k]) both[k]->release(data[k]);
            crash_called();
            free(data[k]);
        }
        context_release(&instance->context);
    }
    spread_end();
    if (sim->gpu) gpu_close(sim->gpu);
    for (int i = 0; i < sim->measurement_count; i++)
        free(sim->measurements[i].values), free(sim->measurements[i].scales),
            free(sim->measurements[i].derived_scales);
    snapshot_free(sim);
    free_output(&sim->output);
    for (int i = 0; i < sim->instance_count; i++)
        if (sim->instances[i].plugin) plugin_unload(&sim->instances[i].loaded);
    for (int i = 0; i < sim->mover_count; i++)
        free(sim->movers[i].counted), free(sim->movers[i].made);
    hamiltonian_close(&sim->hamiltonian);
    free(sim->by_rung), free(sim->molecule);
    board_free(sim);
    free(sim->reservoirs);
    free(sim->movers);
    free(sim->measurements);
    free(sim->instances);
    free(sim->terms);
    state_end(&sim->state);
    ladder_free(&sim->ladder);
    system_free(&sim->system);
    config_free(&sim->config);
}
