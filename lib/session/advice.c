#include "session/advice.h"

#include <math.h>

#include "energy/molecule_trials.h"
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

/* Of -ln p: in a liquid molecules have energies of a few kT with all others, and what is thermal is never as much. */
static const double PUSHED_TOGETHER = 50;

/* Where the core has the configuration: others move molecules along forces, or on a GPU. */
static bool core_has_it(const engine *engine)
{
    const hamiltonian *h = &engine->current.hamiltonian;
    return engine->system.molecules && h->walkers && !h->stale && !engine->device.gpu;
}

void advise_molecules(session *session)
{
    engine *engine = &session->engine;
    hamiltonian *h = &engine->current.hamiltonian;
    const plugmc_molecules *all = engine->system.molecules;
    double largest = PUSHED_TOGETHER;
    const plugmc_molecule *worst = NULL;
    int32_t where = 0;
    if (!core_has_it(engine)) return;
    for (int32_t w = 0; w < engine->system.walkers; w++) {
        const int64_t *counts = h->walkers[w].now.counts,
                      n = plugmc_molecules_present(all, counts, NULL);
        for (int64_t m = 0; m < n; m++) {
            int64_t within;
            const plugmc_molecule *kind = plugmc_present_molecule(all, counts, m, &within);
            const double energy = molecule_energy(h, w, plugmc_site_number(kind, within, 0));
            if (energy <= largest) continue;
            largest = energy, worst = kind, where = w;
        }
    }
    if (!worst) return;
    const place at = place_of(engine, ini_find(&engine->config.ini, "initial"), "state");
    report_warning(
        engine->report, at.file, at.line,
        "[initial] state: equilibration has left a molecule of [molecule %s], in walker %d, "
        "with an energy of %.3g kT with the others: sites have been pushed into each other "
        "since the start, which displacements and turns may never undo; begin with state = "
        "random, which keeps them apart",
        worst->name, where, largest);
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
