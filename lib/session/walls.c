/* See walls.h. The box is cut into slices along each axis, and fields are asked at some positions in each. A slice belongs to
 * a wall if no particle may be at any of these, or if its energy there is far above the least of all. */
#include "walls.h"

#include <math.h>
#include <string.h>

#include "base/crash.h"
#include "base/stop.h"
#include "system/system.h"

enum { SLICES = 1000, POSITIONS = 12, FIRST_LOOK = 100 };

/* kT, above the least energy: a particle in e^30 is there. */
#define HIGH 30

static bool is_field(const plugmc_term *term)
{
    return term->sampled && term->plugin->potential->field &&
           !(term->plugin->potential->total && !term->plugin->potential->total->beside_parts);
}

/* Of all fields, over kT; INFINITY where one forbids it. */
static double energy_at(const engine *engine, int32_t species, const double r[3])
{
    const plugmc_system *system = &engine->system;
    const plugmc_species *s = plugmc_species_at(system, species);
    const plugmc_particles one = {1, &r[0], &r[1], &r[2], &s->charge, &s->diameter, &species};
    const double kT = system->temperature > 0 ? system->temperature : 1;
    double energy = 0;
    for (int t = 0; t < system->term_count; t++) {
        const plugmc_term *term = &engine->terms[t];
        if (!is_field(term)) continue;
        crash_calling_potential(term->label, "energy");
        if (term->plugin->potential->field->energy(term->instance, &one, &energy) > 0)
            energy = INFINITY;
        crash_called();
    }
    return energy / kT;
}

/* Whether there may be walls: one in each hundredth of the box along every axis is asked. Most fields have none, and are
 * asked no further. */
static bool any_wall(const engine *engine)
{
    const plugmc_box *box = &engine->system.box;
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < FIRST_LOOK; k++) {
        const int along[3] = {k, k * 37 % FIRST_LOOK, k * 61 % FIRST_LOOK};
        double r[3] = {0};
        for (int d = 0; d < box->dimension; d++)
            r[d] = box->length[d] * (along[d] + 0.5) / FIRST_LOOK;
        const double energy = energy_at(engine, k % engine->system.species_count, r);
        least = fmin(least, energy);
        most = fmax(most, energy);
    }
    return most > least + HIGH;
}

/* Seconds: no run waits longer for a warning. */
#define BUDGET 0.1

/* The least energy at some positions of a slice, of particles of any species. NaN: there is no time left. */
static double energy_of_slice(const engine *engine, int axis, int slice, double end)
{
    const plugmc_box *box = &engine->system.box;
    double least = INFINITY;
    for (int k = 0; k < POSITIONS; k++) {
        double r[3] = {0};
        for (int d = 0; d < box->dimension; d++)
            r[d] = box->length[d] * fmod((k + 0.5) * (d == 2 ? 0.754877666 : 0.569840291), 1);
        r[axis] = box->length[axis] * (slice + 0.5) / SLICES;
        for (int32_t s = 0; s < engine->system.species_count; s++) {
            if (stop_clock() > end) return NAN;
            least = fmin(least, energy_at(engine, s, r));
        }
    }
    return least;
}

/* Slices of the thinnest wall across this axis, in a row around the periodic box; 0: there is none, or fields are slow. */
static int thinnest_wall(const engine *engine, int axis, double end)
{
    double energy[SLICES], least = INFINITY;
    int first = -1, thinnest = 0;
    for (int k = 0; k < SLICES; k++) {
        energy[k] = energy_of_slice(engine, axis, k, end);
        if (isnan(energy[k])) return 0;
        least = fmin(least, energy[k]);
    }
    for (int k = 0; k < SLICES && first < 0 && isfinite(least); k++)
        if (energy[k] <= least + HIGH) first = k;
    for (int k = 1, row = 0; k <= SLICES && first >= 0; k++) {
        if (!(energy[(first + k) % SLICES] <= least + HIGH)) {
            row++;
            continue;
        }
        if (row && (!thinnest || row < thinnest)) thinnest = row;
        row = 0;
    }
    return thinnest;
}

/* The pair that reaches farthest. */
static const plugmc_term *longest_pair(const engine *engine, double *reach)
{
    const plugmc_term *found = NULL;
    *reach = 0;
    for (int t = 0; t < engine->system.term_count; t++) {
        const plugmc_term *term = &engine->terms[t];
        if (!term->sampled || !term->plugin->potential->pair) continue;
        const double own = reach_of_term(&engine->system, term);
        if (own > *reach) *reach = own, found = term;
    }
    return found;
}

void advise_walls(const engine *engine)
{
    const plugmc_box *box = &engine->system.box;
    double reach;
    const plugmc_term *pair = longest_pair(engine, &reach);
    int t = 0;
    while (t < engine->system.term_count && !is_field(&engine->terms[t])) t++;
    if (!pair || t == engine->system.term_count || box->domain != PLUGMC_DOMAIN_PERIODIC ||
        box->oblique || !any_wall(engine))
        return;
    const ini_section *section = ini_find(&engine->config.ini, "box");
    for (int d = 0; d < box->dimension; d++) {
        const int slices = thinnest_wall(engine, d, stop_clock() + BUDGET);
        const double width = (slices + 1) * box->length[d] / SLICES; /* or a little less */
        if (!slices || width >= reach) continue;
        report_warning(
            engine->report, ini_source(&engine->config.ini, section), section->line,
            "[box] pairs act through a wall: potential '%s' keeps particles out of a layer of %.4g along "
            "%c, and '%s' reaches %.4g, to nearest images on the other side; with l%c larger by %.4g it "
            "would not",
            engine->terms[t].label, width, "xyz"[d], pair -> label, reach, "xyz"[d], reach - width);
    }
}
