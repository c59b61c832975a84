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
    const plugmc_system *system = &engine->system;
    const plugmc_molecule *kind =
        species < system->species_count
            ? NULL
            : plugmc_kind_of_molecule(system->molecules, species - system->species_count);
    const double kT = l->temperature[rung],
                 m = l->multipliers[rung * l->width + system->term_count + 1 +
                                    (kind ? kind->species[0] : species)] *
                     (kind ? (double)kind->stride[0] : 1);
    bool varies = false;
    for (int d = 0; d < l->rank; d++) {
        const char *name = reservoir_name(&engine->config, species);
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
        species >= reservoir_owners(&engine->config) || rung >= engine->system.rungs)
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

int reservoir_words(const engine *engine, int32_t species, int32_t rung,
                    reservoir_word out[RESERVOIR_WORDS])
{
    const reservoir r = reservoir_on(engine, species, rung);
    const double kT = engine->ladder.temperature[rung];
    const int dimension = engine->system.box.dimension;
    const char *inverse = dimension == 2 ? "length^-2" : "length^-3",
               *pressure = dimension == 2 ? "energy/length^2" : "energy/length^3";
    const struct {
        const char *name, *words, *unit;
        double value;
    } all[RESERVOIR_WORDS] = {
        {"activity", "activity z =", inverse, r.activity},
        {"mu", ", mu = kT ln z =", "energy", r.mu},
        {"fugacity", ", fugacity f = kT z =", pressure, r.fugacity},
        {"pressure", "; pressure", pressure, r.pressure},
        {"fugacity_coefficient", ", fugacity coefficient", "", r.coefficient},
        {"density", ", density", inverse, r.density},
        {"chemical_potential", "; chemical potential with the de Broglie factor", "energy",
         r.with_factor},
        {"thermal_wavelength", ", thermal wavelength", "length", r.wavelength}};
    int n = 0;
    for (int k = 0; k < RESERVOIR_WORDS; k++) {
        double scale;
        if (isnan(all[k].value)) continue;
        char *unit = units_words(&engine->config.units, all[k].unit, dimension, kT, &scale);
        const bool in_kT = !engine->config.units.given && !strcmp(all[k].unit, "energy") && kT == 1;
        out[n] = (reservoir_word){all[k].name, all[k].words, all[k].value * scale, ""};
        snprintf(out[n++].unit, sizeof out->unit, "%s", in_kT ? "kT" : unit);
        free(unit);
    }
    return n;
}

static void write_line(FILE *out, const engine *engine, int32_t s, int32_t rung, const char *begin)
{
    reservoir_word words[RESERVOIR_WORDS];
    char suffix[LADDER_SUFFIX];
    const int n = reservoir_words(engine, s, rung, words);
    fprintf(out, "%sreservoir of %s%s: ", begin, reservoir_name(&engine->config, s),
            ladder_suffix(&engine->ladder, rung, suffix));
    for (int k = 0; k < n; k++)
        fprintf(out, "%s %.8g%s%s", words[k].words, words[k].value, *words[k].unit ? " " : "",
                words[k].unit);
    fputs("\n", out);
}

void reservoirs_write(FILE *out, const engine *engine, const char *begin)
{
    const plugmc_system *system = &engine->system;
    const int32_t owners = reservoir_owners(&engine->config);
    if (!engine->ladder.multipliers || (int64_t)owners * system->rungs > MOST_LINES) return;
    for (int32_t s = 0; s < owners; s++)
        for (int32_t rung = 0; rung < system->rungs; rung++)
            if (reservoir_is_given(&engine->config, s)) write_line(out, engine, s, rung, begin);
}
