#include "session/advice.h"

#include <math.h>

#include "engine/moves.h"
#include "other_movers.h"
#include "parallel/team.h"
#include "walls.h"

typedef struct place {
    const char *file;
    int line;
} place;

/* Of a key, or of its section if the key is not given. */
static place place_of(const engine *engine, const ini_section *section, const char *key)
{
    const ini_file *ini = &engine->config.ini;
    const ini_entry *entry = ini_get(section, key);
    if (!entry) return (place){ini_source(ini, section), section->line};
    return (place){entry->line ? ini->path : entry->origin, entry->line};
}

/* All particles of all walkers in their places: no state that the chain would come to. */
static void advise_lattice(const engine *engine, const output_data *out)
{
    if (engine->config.initial.state != INITIAL_LATTICE || !out->quantity_count) return;
    const place at = place_of(engine, ini_find(&engine->config.ini, "run"), "equilibrate");
    report_warning(engine->report, at.file, at.line,
                   "[run] equilibrate = 0 and [initial] state = lattice: averages begin with the "
                   "lattice, which is no state in equilibrium");
}

static void advise_tuning(const engine *engine, const mover_slot *m)
{
    const ini_section *section = m->instance->section->section;
    double target = 0;
    for (int k = 0; k < m->mover->move_count; k++) target = fmax(target, moves_target(m, k));
    if (!(target > 0)) return;
    const place at = place_of(engine, section, "target_acceptance");
    report_warning(engine->report, at.file, at.line,
                   "[%s] target_acceptance = %g has no effect: the step is tuned during "
                   "equilibration, and [run] equilibrate = 0",
                   section->name, target);
}

/* Reservoirs of particles that no mover takes from are refused: engine/matching.c. */
static void advise_pressure(const engine *engine)
{
    const ini_section *run = ini_find(&engine->config.ini, "run");
    for (int k = 0; k < engine->mover_count; k++)
        if (engine->movers[k].mover->changes & PLUGMC_CHANGED_BOX) return;
    if (!ini_get(run, "pressure")) return;
    const place at = place_of(engine, run, "pressure");
    report_warning(engine->report, at.file, at.line,
                   "[run] pressure has no effect: no mover changes the volume");
}

/* Sections that never act in a run that is too short for them. */
static void advise_every(const engine *engine)
{
    const int64_t sweeps = engine->config.run.equilibrate + engine->config.run.sweeps;
    for (int k = 0; k < engine->mover_count; k++) {
        const mover_slot *m = &engine->movers[k];
        const ini_section *section = m->instance->section->section;
        if ((int64_t)m->every <= sweeps) continue;
        const place at = place_of(engine, section, "every");
        report_warning(engine->report, at.file, at.line,
                       "[%s] every = %lld is longer than the run, %lld sweeps with equilibration: "
                       "it never moves anything",
                       section->name, (long long)m->every, (long long)sweeps);
    }
}

/* Keys of [initial] that the chosen state does not look at. */
static void advise_initial(const engine *engine)
{
    static const struct {
        const char *key, *words;
        int state;
    } belong[] = {
        {"lattice", "lattice", INITIAL_LATTICE}, {"file", "file", INITIAL_FILE},
        {"frame", "file", INITIAL_FILE},         {"random_fraction", "random", INITIAL_RANDOM},
        {"attempts", "random", INITIAL_RANDOM},  {"ion_width", "near_ions", INITIAL_NEAR_IONS},
    };
    const ini_section *section = ini_find(&engine->config.ini, "initial");
    for (size_t i = 0; section && i < sizeof belong / sizeof *belong; i++) {
        if (!ini_get(section, belong[i].key) || engine->config.initial.state == belong[i].state)
            continue;
        const place at = place_of(engine, section, belong[i].key);
        report_warning(engine->report, at.file, at.line,
                       "[initial] %s has no effect: it is for state = %s", belong[i].key,
                       belong[i].words);
    }
}

void advise(const session *session)
{
    const engine *engine = &session->engine;
    if (team_leads()) advise_other_movers(engine);
    if (team_leads()) advise_walls(engine);
    advise_pressure(engine);
    advise_every(engine);
    advise_initial(engine);
    if (engine->config.run.equilibrate > 0) return;
    advise_lattice(engine, &session->records.output);
    for (int k = 0; k < engine->mover_count; k++) advise_tuning(engine, &engine->movers[k]);
}
