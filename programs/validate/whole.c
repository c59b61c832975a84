/* Energies as one would write them down: a double loop over pairs, each asked alone, and a loop over particles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "stand.h"

const plugmc_term *stand_term(const stand *s)
{
    const engine *engine = &s->session.engine;
    for (int32_t t = 0; t < engine->system.term_count; t++)
        if (engine->terms[t].instance == s->own->data) return &engine->terms[t];
    return NULL; /* a potential is a term */
}

const plugmc_pair *stand_pair(const stand *s) { return s->own->plugin->potential->pair; }

const plugmc_field *stand_field(const stand *s) { return s->own->plugin->potential->field; }

const plugmc_total *stand_total(const stand *s)
{
    const plugmc_potential *p = s->own->plugin->potential;
    return p->total && ((!p->pair && !p->field) || p->total->beside_parts) ? p->total : NULL;
}

void particles_put(particles *p, int k, const plugmc_particle *a)
{
    const double numbers[5] = {a->x, a->y, a->z, a->charge, a->diameter};
    for (int d = 0; d < 5; d++) {
        p->x[d][k] = numbers[d];
        p->y[d][k] = (float)numbers[d];
    }
    p->species[k] = a->species;
}

plugmc_particles particles_list(const particles *p, bool single, int first, int count)
{
    const void *at[5];
    for (int d = 0; d < 5; d++)
        at[d] = single ? (const void *)&p->y[d][first] : (const void *)&p->x[d][first];
    return (plugmc_particles){count, at[0], at[1], at[2], at[3], at[4], &p->species[first]};
}

/* One particle as arrays. */
typedef struct one {
    double numbers[5];
    plugmc_particles list;
} one;

static const plugmc_particles *list_of(one *o, const plugmc_particle *p)
{
    *o = (one){{p->x, p->y, p->z, p->charge, p->diameter}, {0}};
    const double *at = o->numbers;
    o->list = (plugmc_particles){1, at, at + 1, at + 2, at + 3, at + 4, &p->species};
    return &o->list;
}

plugmc_particle particle_of(const plugmc_system *system, int32_t s, const double at[3])
{
    const plugmc_species *species = plugmc_species_at(system, s);
    return (plugmc_particle){at[0], at[1], at[2], species->charge, species->diameter, s};
}

static plugmc_particle particle_at(const plugmc_system *system, int64_t i, const double at[3])
{
    int32_t s = 0;
    while (i >= system->first[s + 1]) s++;
    return particle_of(system, s, at);
}

static bool is_there(const plugmc_system *system, const int64_t *count, int64_t i)
{
    int32_t s = 0;
    while (i >= system->first[s + 1]) s++;
    return i < system->first[s] + count[s];
}

static bool add(whole *w, double u, int64_t forbidden)
{
    w->energy = forbidden ? INFINITY : w->energy + u;
    if (isfinite(u)) w->size += fabs(u);
    return !forbidden;
}

static bool add_pair(const stand *s, const plugmc_box *box, const plugmc_particle *a,
                     const plugmc_particle *b, whole *w)
{
    double u = 0;
    one o;
    const int64_t hits = stand_pair(s)->energy(
        s->own->data, box, box->domain == PLUGMC_DOMAIN_PERIODIC, a, list_of(&o, b), &u);
    return add(w, u, hits);
}

static bool add_field(const stand *s, const plugmc_particle *a, whole *w)
{
    double u = 0;
    one o;
    const int64_t hits = stand_field(s)->energy(s->own->data, list_of(&o, a), &u);
    return add(w, u, hits);
}

whole energy_of_one(const stand *s, const plugmc_view *view, int32_t w, int64_t i,
                    const double at[3])
{
    const plugmc_system *system = &s->session.engine.system;
    const double *positions = view->positions + 3 * w * system->particles;
    const int64_t *count = view->count + w * system->species_count;
    const plugmc_particle a = particle_at(system, i, at);
    whole out = {0, 0};
    context_calling(&s->own->context, "energy");
    if (stand_field(s) && !add_field(s, &a, &out)) return out;
    for (int64_t j = 0; j < system->particles && stand_pair(s); j++) {
        if (j == i || !is_there(system, count, j)) continue;
        const plugmc_particle b = particle_at(system, j, positions + 3 * j);
        if (!add_pair(s, &view->box[w], &a, &b, &out)) return out;
    }
    crash_called();
    return out;
}

/* Pairs and fields of a walker. */
static whole parts_of_walker(const stand *s, const plugmc_view *view, int32_t w)
{
    const plugmc_system *system = &s->session.engine.system;
    const double *positions = view->positions + 3 * w * system->particles;
    const int64_t *count = view->count + w * system->species_count;
    whole out = {0, 0};
    for (int64_t i = 0; i < system->particles; i++) {
        if (!is_there(system, count, i)) continue;
        const plugmc_particle a = particle_at(system, i, positions + 3 * i);
        if (stand_field(s) && !add_field(s, &a, &out)) return out;
        for (int64_t j = i + 1; j < system->particles && stand_pair(s); j++) {
            if (!is_there(system, count, j)) continue;
            const plugmc_particle b = particle_at(system, j, positions + 3 * j);
            if (!add_pair(s, &view->box[w], &a, &b, &out)) return out;
        }
    }
    return out;
}

int whole_energies(const stand *s, const plugmc_view *view, whole *out)
{
    const plugmc_system *system = &s->session.engine.system;
    const plugmc_total *total = stand_total(s);
    double *energy = checked(calloc((size_t)system->walkers, sizeof *energy));
    const plugmc_total_request request = {.size = sizeof request, .view = view, .energy = energy};
    int code = PLUGMC_OK;
    context_calling(&s->own->context, "energy");
    for (int32_t w = 0; w < system->walkers; w++) out[w] = parts_of_walker(s, view, w);
    if (total) code = total->energy(s->own->data, &request);
    crash_called();
    for (int32_t w = 0; w < system->walkers && total && !code; w++) {
        if (isfinite(out[w].energy)) out[w].energy += energy[w];
        out[w].size += fabs(energy[w]);
    }
    free(energy);
    return code;
}

double pair_energy_at(const stand *s, int32_t a, int32_t b, double r)
{
    const plugmc_system *system = &s->session.engine.system;
    const double here[3] = {0, 0, 0}, there[3] = {r, 0, 0};
    const plugmc_particle first = particle_of(system, a, here),
                          second = particle_of(system, b, there);
    double u = 0;
    one o;
    return stand_pair(s)->energy(s->own->data, &system->box, 0, &first, list_of(&o, &second), &u)
               ? INFINITY
               : u;
}

double field_energy_at(const stand *s, int32_t species, const double at[3])
{
    const plugmc_particle a = particle_of(&s->session.engine.system, species, at);
    double u = 0;
    one o;
    return stand_field(s)->energy(s->own->data, list_of(&o, &a), &u) ? INFINITY : u;
}

/* ---- Derivatives ----------------------------------------------------------------------------- */

static bool has_derivatives(const stand *s)
{
    const plugmc_pair *pair = stand_pair(s);
    const plugmc_field *field = stand_field(s);
    if (pair && (!PLUGMC_HAS(pair, derivatives) || !pair->derivatives)) return false;
    if (field && (!PLUGMC_HAS(field, derivatives) || !field->derivatives)) return false;
    return pair || field;
}

bool derivatives_of_one(const stand *s, const plugmc_view *view, int32_t w, int64_t i,
                        plugmc_derivatives *out)
{
    const plugmc_system *system = &s->session.engine.system;
    const double *positions = view->positions + 3 * w * system->particles;
    const int64_t *count = view->count + w * system->species_count;
    const plugmc_box *box = &view->box[w];
    const plugmc_particle a = particle_at(system, i, positions + 3 * i);
    *out = (plugmc_derivatives){0};
    if (!has_derivatives(s)) return false;
    context_calling(&s->own->context, "derivatives");
    if (stand_field(s)) stand_field(s)->derivatives(s->own->data, &a, out);
    for (int64_t j = 0; j < system->particles && stand_pair(s); j++) {
        if (j == i || !is_there(system, count, j)) continue;
        const plugmc_particle b = particle_at(system, j, positions + 3 * j);
        one o;
        stand_pair(s)->derivatives(s->own->data, box, box->domain == PLUGMC_DOMAIN_PERIODIC, 1, &a,
                                   list_of(&o, &b), out);
    }
    crash_called();
    return true;
}
