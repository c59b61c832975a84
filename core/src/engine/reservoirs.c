/* See reservoirs.h. */
#include "engine/reservoirs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plugmc/reservoir.h"

enum { MOST_LINES = 1000 };

reservoir reservoir_on(const engine *engine, int32_t species, int32_t rung)
{
    const ladder *l = &engine->ladder;
    const double kT = l->temperature[rung],
                 m = l->multipliers[rung * l->width + engine->system.term_count + 1 + species];
    bool varies = false;
    for (int d = 0; d < l->rank; d++) {
        const char *name = engine->config.species_names[species];
        const size_t n = strlen(name);
        varies |= !strncmp(l->keys[d], name, n) && !strcmp(l->keys[d] + n, ".mu");
    }
    return reservoir_at(&engine->config, species, kT, varies ? -m * kT : NAN);
}

/* ---- For plugins --------------------------------------------------------------------------------------- */

static int host_reservoir_of(plugmc_context *context, int32_t species, int32_t rung,
                             plugmc_reservoir *out)
{
    const engine *engine = context->engine;
    if (!engine || !engine->ladder.multipliers || species < 0 || rung < 0 ||
        species >= engine->system.species_count || rung >= engine->system.rungs)
        return 0;
    const reservoir r = reservoir_on(engine, species, rung);
    const plugmc_reservoir all = {.size = out->size,
                                  .activity = r.activity,
                                  .mu = r.mu,
                                  .fugacity = r.fugacity,
                                  .thermal_wavelength = r.wavelength,
                                  .chemical_potential = r.with_factor,
                                  .pressure = r.pressure,
                                  .fugacity_coefficient = r.coefficient,
                                  .density = r.density};
    memcpy(out, &all, out->size < sizeof all ? out->size : sizeof all);
    return !isnan(r.mu);
}

const void *reservoir_services(void)
{
    static const plugmc_reservoirs services = {.size = sizeof services, .of = host_reservoir_of};
    return &services;
}

/* ---- For the user -------------------------------------------------------------------------------------- */

/* "NAME VALUE UNIT", in the unit of the run for what is told in `unit`; nothing where it is not known. */
static void put(FILE *out, const engine *engine, double kT, const char *name, double value,
                const char *unit)
{
    double scale;
    const plugmc_system *system = &engine->system;
    if (isnan(value)) return;
    char *word = units_words(&engine->config.units, unit, system->box.dimension, kT, &scale);
    const bool in_kT = !engine->config.units.given && !strcmp(unit, "energy") && kT == 1;
    fprintf(out, "%s %.8g%s%s", name, value * scale, *word ? " " : "", in_kT ? "kT" : word);
    free(word);
}

static void write_line(FILE *out, const engine *engine, int32_t s, int32_t rung, const char *begin)
{
    const reservoir r = reservoir_on(engine, s, rung);
    const double kT = engine->ladder.temperature[rung];
    const bool flat = engine->system.box.dimension == 2;
    const char *inverse = flat ? "length^-2" : "length^-3",
               *pressure = flat ? "energy/length^2" : "energy/length^3";
    char suffix[LADDER_SUFFIX];
    fprintf(out, "%sreservoir of %s%s: ", begin, plugmc_species_at(&engine->system, s)->name,
            ladder_suffix(&engine->ladder, rung, suffix));
    put(out, engine, kT, "activity z =", r.activity, inverse);
    put(out, engine, kT, ", mu = kT ln z =", r.mu, "energy");
    put(out, engine, kT, ", fugacity f = kT z =", r.fugacity, pressure);
    put(out, engine, kT, "; pressure", r.pressure, pressure);
    put(out, engine, kT, ", fugacity coefficient", r.coefficient, "");
    put(out, engine, kT, ", density", r.density, inverse);
    put(out, engine, kT, "; chemical potential with the de Broglie factor", r.with_factor,
        "energy");
    put(out, engine, kT, ", thermal wavelength", r.wavelength, "length");
    fputs("\n", out);
}

void reservoirs_write(FILE *out, const engine *engine, const char *begin)
{
    const plugmc_system *system = &engine->system;
    if (!engine->ladder.multipliers || (int64_t)system->species_count * system->rungs > MOST_LINES)
        return;
    for (int32_t s = 0; s < system->species_count; s++)
        for (int32_t rung = 0; rung < system->rungs; rung++)
            if (reservoir_is_given(&engine->config, s)) write_line(out, engine, s, rung, begin);
}
