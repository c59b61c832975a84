#include "run/advice.h"

#include <math.h>

#include "run/moves.h"
#include "run/other_movers.h"
#include "parallel/team.h"

typedef struct place {
    const char *file;
    int line;
} place;

/* Of a key, or of its section if the key is not given. */
static place place_of(const simulation *sim, const ini_section *section, const char *key)
{
    const ini_file *ini = &sim->config.ini;
    const ini_entry *entry = ini_get(section, key);
    if (!entry) return (place){ini_source(ini, section), section->line};
    return (place){entry->line ? ini->path : entry->origin, entry->line};
}

/* All particles of all walkers in their places: no state that the chain would come to. */
static void advise_lattice(const simulation *sim)
{
    if (sim->config.initial.state != INITIAL_LATTICE || !sim->output.quantity_count) return;
    const place at = place_of(sim, ini_find(&sim->config.ini, "run"), "equilibrate");
    report_warning(sim->report, at.file, at.line,
                   "[run] equilibrate = 0 and [initial] state = lattice: averages begin with the "
                   "lattice, which is no state in equilibrium");
}

static void advise_tuning(const simulation *sim, const moving *m)
{
    const ini_section *section = m->instance->section->section;
    double target = 0;
    for (int k = 0; k < m->mover->move_count; k++) target = fmax(target, moves_target(m, k));
    if (!(target > 0)) return;
    const place at = place_of(sim, section, "target_acceptance");
    report_warning(sim->report, at.file, at.line,
                   "[%s] target_acceptance = %g has no effect: the step is tuned during "
                   "equilibration, and [run] equilibrate = 0",
                   section->name, target);
}

void advise(const simulation *sim)
{
    if (team_leads()) advise_other_movers(sim);
    if (sim->config.run.equilibrate > 0) return;
    advise_lattice(sim);
    for (int k = 0; k < sim->mover_count; k++) advise_tuning(sim, &sim->movers[k]);
}
