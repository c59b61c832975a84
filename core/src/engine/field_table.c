/* Least energies of single particles in fields. See field_table.h. */
#include "engine/field_table.h"

#include <math.h>
#include <string.h>

#include "base/crash.h"

/* Positions anywhere in the box, and steps from the best of them, which become shorter. */
enum { POSITIONS = 4000, REFINEMENTS = 3000, MOST_LISTED = 32 };

typedef struct lowest {
    double at[3], energy; /* NaN: no position is allowed */
} lowest;

static const plugmc_field *field_of(const plugmc_term *term)
{
    return term->sampled ? term->plugin->potential->field : NULL;
}

/* In the unit of energy, couplings included; NaN: forbidden. */
static double energy_at(const engine *engine, int32_t species, const double at[3])
{
    const plugmc_species *kind = plugmc_species_at(&engine->system, species);
    const double charge = kind->charge, diameter = kind->diameter;
    const plugmc_particles one = {1, &at[0], &at[1], &at[2], &charge, &diameter, &species};
    double sum = 0;
    for (int32_t t = 0; t < engine->system.term_count; t++) {
        const plugmc_term *term = &engine->terms[t];
        const double factor = engine->ladder.multipliers[t] * engine->ladder.temperature[0];
        double u = 0;
        if (!field_of(term)) continue;
        const crash_record outer = crash_calling_potential(term->label, "energy");
        const int64_t forbidden = field_of(term)->energy(term->instance, &one, &u);
        crash_called_within(outer);
        if (forbidden) return NAN;
        sum += factor * u;
    }
    return sum;
}

/* Three numbers in [0, 1), always the same ones; they have nothing to do with those of the chain. */
static void draw(uint64_t k, double out[3])
{
    const plugmc_seed seed = {.key = 0x6669656c64};
    for (uint32_t d = 0; d < 3; d++) {
        const plugmc_random r = plugmc_draw(seed, k, 0, 0, PLUGMC_PURPOSE_TRIAL, d);
        out[d] = plugmc_uniform_double(r.word[0], r.word[1]);
    }
}

/* `part` of each vector of the box, or of twice the radius. */
static void add(const plugmc_box *box, const double part[3], double at[3])
{
    for (int i = 0; i < box->dimension; i++)
        for (int d = 0; d < 3; d++)
            at[d] += part[i] * (box->domain == PLUGMC_DOMAIN_SPHERE ? (i == d ? 2 * box->radius : 0)
                                                                    : box->vector[i][d]);
}

static bool is_inside(const plugmc_box *box, const double at[3])
{
    return box->domain != PLUGMC_DOMAIN_SPHERE ||
           at[0] * at[0] + at[1] * at[1] + at[2] * at[2] <= box->radius * box->radius;
}

static void try_position(const engine *engine, int32_t species, const double at[3], lowest *best)
{
    if (!is_inside(&engine->system.box, at)) return;
    const double u = energy_at(engine, species, at);
    if (isnan(u) || u >= best->energy) return;
    best->energy = u;
    memcpy(best->at, at, sizeof best->at);
}

static lowest find_lowest(const engine *engine, int32_t species)
{
    const plugmc_box *box = &engine->system.box;
    const double begin = box->domain == PLUGMC_DOMAIN_SPHERE ? -0.5 : 0;
    lowest best = {.energy = INFINITY};
    for (uint64_t k = 0; k < POSITIONS + REFINEMENTS; k++) {
        double part[3], at[3] = {0, 0, 0};
        const bool refines = k >= POSITIONS;
        const double width = 0.2 * pow(1e-6, (double)(k - POSITIONS) / REFINEMENTS);
        draw(k, part);
        for (int d = 0; d < 3; d++) part[d] = refines ? width * (part[d] - 0.5) : part[d] + begin;
        if (refines) memcpy(at, best.at, sizeof at);
        add(box, part, at);
        plugmc_wrap(box, at);
        try_position(engine, species, at, &best);
    }
    return best;
}

void field_table_write(FILE *out, const engine *engine, const char *begin)
{
    const plugmc_system *system = &engine->system;
    const units *u = &engine->config.units;
    bool any = false;
    for (int32_t t = 0; t < system->term_count; t++) any |= field_of(&engine->terms[t]) != NULL;
    if (!any || system->species_count > MOST_LISTED) return;
    fprintf(out, "%s%-24s  least energy (%s) and where\n", begin, "field on",
            u->given ? u->energy : plugmc_energy_unit(system));
    for (int32_t a = 0; a < system->species_count; a++) {
        const lowest found = find_lowest(engine, a);
        fprintf(out, "%s%-24.32s  ", begin, plugmc_species_at(system, a)->name);
        if (found.energy == INFINITY)
            fprintf(out, "it may be nowhere in the box\n");
        else if (system->box.dimension == 2)
            fprintf(out, "%-10.6g  at %.4g %.4g\n", found.energy, found.at[0], found.at[1]);
        else
            fprintf(out, "%-10.6g  at %.4g %.4g %.4g\n", found.energy, found.at[0], found.at[1],
                    found.at[2]);
    }
}
