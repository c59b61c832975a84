#include "engine/mover_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "parallel/team.h"

static const char automatic[] = "auto";

bool is_left_to_choice(const plugin_section *p)
{
    return p->kind == PLUGMC_MOVER && !strcmp(p->plugin, automatic);
}

/* ---- The choice ------------------------------------------------------------------------------- */

/* Seconds of a trial move on the device that is asked for. Energies of movers without a configuration are computed on
 * the CPU where that is faster. */
static double seconds_on(const mover_offer *o, int device)
{
    if (device != DEVICE_GPU) return o->on_cpu;
    return o->on_gpu < INFINITY || !o->by_core ? o->on_gpu : o->on_cpu;
}

static bool runs_on(const mover_offer *o, int device)
{
    return o->needs & (device == DEVICE_GPU ? PLUGMC_RUNS_ON_GPU : PLUGMC_RUNS_ON_CPU);
}

/* One whose trial moves the core makes works with everything that it fits, and is the last resort where its speed is not
 * known; others of unknown speed may yet refuse the system when they are prepared. */
static bool is_eligible(const mover_offer *o, int device)
{
    return o->single && !*o->why_not && runs_on(o, device) && (o->known || o->by_core);
}

static const mover_offer *fastest_on(const mover_offers *offers, int device)
{
    const mover_offer *best = NULL;
    for (int i = 0; i < offers->count; i++) {
        const mover_offer *o = &offers->all[i];
        if (!is_eligible(o, device)) continue;
        if (!best || seconds_on(o, device) < seconds_on(best, device)) best = o;
    }
    return best;
}

const mover_offer *choose_offer(const mover_offers *offers, int device, bool (*gpu_there)(void),
                                bool *on_gpu)
{
    *on_gpu = device == DEVICE_GPU;
    if (device != DEVICE_AUTO) return fastest_on(offers, device);
    const mover_offer *here = fastest_on(offers, DEVICE_CPU),
                      *there = fastest_on(offers, DEVICE_GPU);
    const double seconds = here ? here->on_cpu : INFINITY;
    *on_gpu = there && (!here || is_clear_gain(seconds, there->on_gpu)) && gpu_there();
    return *on_gpu ? there : here;
}

static bool gpu_is_there(void)
{
    char why[512];
    int version;
    return gpu_count(&version, why) > 0;
}

/* ---- What is said ----------------------------------------------------------------------------- */

/* Trial moves a second. */
static void put_rate(FILE *out, const char *before, double seconds, const char *unit)
{
    if (seconds < INFINITY)
        fprintf(out, "%s%.2g%s", before, 1 / seconds, unit);
    else
        fprintf(out, "%sspeed unknown", before);
}

/* "[mover auto]: 'a' on one core, 1e+06 trial moves a second expected; 'b' 5e+05". malloc'ed. */
static char *words_of_choice(const engine *engine, const ini_section *section,
                             const mover_offers *offers, const mover_offer *best, bool on_gpu)
{
    const int device = on_gpu ? DEVICE_GPU : DEVICE_CPU;
    const mover_offer *here = fastest_on(offers, DEVICE_CPU);
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    fprintf(out, "[%s]: '%s' on %s", section->name, best->name, on_gpu ? "a GPU" : "one core");
    put_rate(out, ", ", seconds_on(best, device), " trial moves a second expected");
    for (int i = 0; i < offers->count; i++) {
        const mover_offer *o = &offers->all[i];
        if (o == best || !is_eligible(o, device)) continue;
        fprintf(out, "; '%s'", o->name);
        put_rate(out, " ", seconds_on(o, device), "");
    }
    if (on_gpu && engine->config.run.device == DEVICE_AUTO && here) {
        fprintf(out, "; on one core '%s'", here->name);
        put_rate(out, " ", here->on_cpu, "");
    }
    fclose(out);
    return checked(text);
}

/* Each mover of single particles with what is in its way. */
static int refuse_all(const engine *engine, const ini_section *section, const mover_offers *offers)
{
    const char *between = ":";
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    for (int i = 0; i < offers->count; i++) {
        const mover_offer *o = &offers->all[i];
        if (!o->single) continue;
        fprintf(out, "%s '%s' %s", between, o->name,
                *o->why_not ? o->why_not
                : !is_eligible(o, DEVICE_CPU) && !is_eligible(o, DEVICE_GPU)
                    ? "does not say how fast it is here"
                : engine->config.run.device == DEVICE_GPU ? "runs on the CPU only"
                                                          : "runs on a GPU only");
        between = ";";
    }
    fclose(out);
    const int code = report_error(
        engine->report, EXIT_INPUT, ini_source(&engine->config.ini, section), section->line,
        "[%s] no mover of single particles fits this run%s", section->name, text);
    free(text);
    return code;
}

/* ---- The configuration ------------------------------------------------------------------------ */

/* Keys that all of them share, beside those of the core. */
static int check_keys(const engine *engine, const ini_section *section, const mover_offer *best)
{
    const char *const known[] = {"plugin", "every", best->step_key, best->target_key};
    int first_error = 0;
    for (int k = 0; k < section->count; k++) {
        const ini_entry *entry = &section->entries[k];
        bool is_known = false;
        for (int i = 0; i < PLUGMC_COUNT(known); i++) is_known |= !strcmp(known[i], entry->key);
        if (is_known) continue;
        const char *nearest = nearest_name(entry->key, known, PLUGMC_COUNT(known));
        char words[256];
        if (nearest)
            snprintf(words, sizeof words, "; did you mean '%s'?", nearest);
        else
            snprintf(words, sizeof words,
                     ": where the mover is chosen, %s, %s and every are all keys there are; name a "
                     "mover to set others",
                     best->step_key, best->target_key);
        const int code = report_error(engine->report, EXIT_INPUT,
                                      entry->line ? engine->config.ini.path : "--set", entry->line,
                                      "[%s] unknown key '%s'%s", section->name, entry->key, words);
        if (!first_error) first_error = code;
    }
    return first_error;
}

/* The configuration of the engine, which chooses itself, in another one without these sections. */
static int open_trial(const engine *engine, struct engine *trial)
{
    char *packed;
    size_t size;
    FILE *out = checked(open_memstream(&packed, &size));
    ini_pack(out, &engine->config.ini);
    fclose(out);
    FILE *in = checked(fmemopen(packed, size, "r"));
    if (!ini_unpack(in, &trial->config.ini)) checked(NULL);
    fclose(in);
    free(packed);
    trial->config.without_mover = engine->config.without_mover;
    trial->in_child = engine->in_child;
    trial->device.offer = engine->device.offer;
    trial->device.leaves_out_choice = true;
    int code = config_read(&trial->config, trial->report);
    for (int s = 0; s < trial->config.species_count && !code; s++)
        trial->config.species[s].capacity = engine->config.species[s].capacity;
    if (!code) code = engine_configure(trial);
    trial->processes.all_walkers = trial->system.walkers;
    if (!code)
        code = ladder_build(&trial->ladder, &trial->config, trial->processes.all_walkers,
                            &trial->system, trial->report);
    return code;
}

/* Some movers can divide a walker among processes on some devices only, and say so when they are prepared. */
static int refuse_division(const engine *engine, const ini_section *section,
                           const mover_offers *offers)
{
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    const char *between = "such as ";
    for (int i = 0; i < offers->count; i++) {
        if (!offers->all[i].single || *offers->all[i].why_not) continue;
        fprintf(out, "%s'%s'", between, offers->all[i].name);
        between = " or ";
    }
    fclose(out);
    const int code = report_error(
        engine->report, EXIT_INPUT, ini_source(&engine->config.ini, section), section->line,
        "[%s] with more processes than walkers no mover is chosen: name one that divides a walker "
        "among processes%s%s",
        section->name, *text ? ", " : "", text);
    free(text);
    return code;
}

/* One core, so that the chain is the same on any number of them. */
static int choose_for(engine *engine, const struct engine *trial, plugin_section *p)
{
    enum { ONE_CORE = 1 };
    mover_offers offers = offers_of_movers(trial, NULL, ONE_CORE, NULL);
    const bool divided = team_now()->ranks > trial->processes.all_walkers;
    bool on_gpu = false;
    const mover_offer *best =
        divided ? NULL : choose_offer(&offers, engine->config.run.device, gpu_is_there, &on_gpu);
    int code = best      ? check_keys(engine, p->section, best)
               : divided ? refuse_division(engine, p->section, &offers)
                         : refuse_all(engine, p->section, &offers);
    if (!code) {
        free(engine->device.choice);
        engine->device.choice = words_of_choice(engine, p->section, &offers, best, on_gpu);
        p->plugin = ini_decide(p->section, "plugin", best->name);
    }
    mover_offers_free(&offers);
    return code;
}

static void keep_first(void *listener, const report_message *m)
{
    char **first = listener;
    if (m->kind == REPORT_ERROR && m->text && !*first) *first = strdup(m->text);
}

int choose_movers(engine *engine)
{
    config *config = &engine->config;
    char *why = NULL;
    report unheard = {.hear = keep_first, .listener = &why};
    struct engine trial = {.report = &unheard};
    bool any = false;
    int code = 0;
    for (int i = 0; i < config->plugin_count; i++) any |= is_left_to_choice(&config->plugins[i]);
    if (!any || engine->device.leaves_out_choice) return 0;
    const bool fails = open_trial(engine, &trial) != 0;
    for (int i = 0; i < config->plugin_count && !fails && !code; i++)
        if (is_left_to_choice(&config->plugins[i]))
            code = choose_for(engine, &trial, &config->plugins[i]);
    engine_release(&trial);
    engine_close(&trial);
    engine->device.leaves_out_choice = fails || code;
    if (fails) engine->device.choice = why;
    if (!fails) free(why);
    return code;
}

int choice_is_made(const engine *engine)
{
    const device_choice *d = &engine->device;
    if (!d->leaves_out_choice || !d->choice) return 0;
    return report_error(engine->report, EXIT_INTERNAL, engine->config.ini.path, 0,
                        "no mover could be chosen: %s", d->choice);
}
