/* The wave function and the moves of VMC movers: proposals, orbitals at them, ratios, decisions. */
#include "vmc.h"

#include <math.h>
#include <string.h>

/* ---- Proposals ------------------------------------------------------------------------------- */

void vmc_propose(const vmc *v, const vmc_walker *walker, uint64_t sweep, int64_t e, double to[3])
{
    const vmc_draws draws = vmc_draws_of(v, sweep);
    double d[3];
    vmc_displacement(&draws, walker->index, e, d);
    to[0] = walker->x[e] + v->step * d[0];
    to[1] = walker->y[e] + v->step * d[1];
    to[2] = walker->z[e] + v->step * d[2];
    plugmc_wrap(&v->system->box, to);
}

void vmc_propose_all(const vmc *v, int32_t first, int32_t n, int spin, uint64_t sweep)
{
    const int64_t particles = v->system->particles;
#pragma omp parallel for schedule(static) num_threads(v->cpu.threads) if (v->cpu.threads > 1)
    for (int32_t w = first; w < first + n; w++)
        for (int64_t e = v->system->first[spin]; e < v->system->first[spin + 1]; e++)
            vmc_propose(v, &v->walkers[w], sweep, e, v->cpu.proposals + 3 * (w * particles + e));
}

/* ---- Orbitals -------------------------------------------------------------------------------- */

/* Called from the main thread, as plugin.h promises potentials. */
int vmc_evaluate(const vmc *v, const plugmc_host *host, int spin, int64_t points,
                 const double *positions, double *values)
{
    const int64_t n = vmc_numbers(v, points * v->wave.pitch);
    const plugmc_orbital_request request = {
        .size = sizeof request,
        .species = spin,
        .real_size = v->cpu.single ? (int32_t)sizeof(float) : (int32_t)sizeof(double),
        .points = points,
        .positions = positions,
        .pitch = v->wave.pitch,
        .values = v->cpu.single ? (void *)v->cpu.single : (void *)values,
    };
    int code = plugmc_orbitals_of(v->wave.orbitals->plugin)
                   ->evaluate(v->wave.orbitals->instance, &request);
    if (code)
        return host->fail(host->context, code, "potential '%s' could not evaluate its orbitals",
                          v->wave.orbitals->label);
    for (int64_t i = 0; i < n && v->cpu.single; i++) values[i] = v->cpu.single[i];
    return PLUGMC_OK;
}

int vmc_evaluate_proposals(const vmc *v, const plugmc_host *host, int32_t first, int32_t n,
                           int spin)
{
    const int64_t electrons = vmc_electrons(v, spin), particles = v->system->particles;
    for (int32_t k = 0; k < n; k++)
        memcpy(v->cpu.points + 3 * k * electrons,
               v->cpu.proposals + 3 * ((first + k) * particles + v->system->first[spin]),
               3 * (size_t)electrons * sizeof *v->cpu.points);
    return vmc_evaluate(v, host, spin, n * electrons, v->cpu.points, v->cpu.values);
}

/* ---- Pair and field terms -------------------------------------------------------------------- */

static plugmc_particle particle_at(const vmc *v, int64_t i, const double r[3])
{
    return (plugmc_particle){
        r[0], r[1], r[2], v->wave.charge[i], v->wave.diameter[i], v->wave.species[i]};
}

static plugmc_particles slice(const vmc *v, const double *x, const double *y, const double *z,
                              int64_t begin, int64_t end)
{
    return (plugmc_particles){end - begin,
                              x + begin,
                              y + begin,
                              z + begin,
                              v->wave.charge + begin,
                              v->wave.diameter + begin,
                              v->wave.species + begin};
}

static int outside(const plugmc_box *box, const double r[3])
{
    return box->domain != PLUGMC_DOMAIN_PERIODIC &&
           r[0] * r[0] + r[1] * r[1] + r[2] * r[2] > box->radius * box->radius;
}

static int64_t field_energy(const vmc *v, const plugmc_term *term, int64_t i, const double r[3],
                            double *energy)
{
    const plugmc_particles one = {
        1, &r[0], &r[1], &r[2], &v->wave.charge[i], &v->wave.diameter[i], &v->wave.species[i]};
    return term->plugin->potential->field->energy(term->instance, &one, energy);
}

int vmc_parts_change(const vmc *v, const vmc_walker *walker, int64_t e, const double to[3],
                     double *change)
{
    const plugmc_box *box = &v->system->box;
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    const double from[3] = {walker->x[e], walker->y[e], walker->z[e]};
    const plugmc_particle probe = particle_at(v, e, from);
    const plugmc_particles before = slice(v, walker->x, walker->y, walker->z, 0, e),
                           after = slice(v, walker->x, walker->y, walker->z, e + 1,
                                         v->system->particles);
    if (outside(box, to)) return 0;
    for (int t = 0; t < v->wave.term_count; t++) {
        const plugmc_term *term = v->wave.terms[t];
        const plugmc_pair *pair = term->plugin->potential->pair;
        double old_field = 0, new_field = 0;
        if (term->plugin->potential->field) {
            if (field_energy(v, term, e, to, &new_field)) return 0;
            field_energy(v, term, e, from, &old_field);
            *change += new_field - old_field;
        }
        if (pair && (pair->change(term->instance, box, periodic, &probe, to, &before, change) ||
                     pair->change(term->instance, box, periodic, &probe, to, &after, change)))
            return 0;
    }
    return 1;
}

int vmc_parts_energy(const vmc *v, const double *x, const double *y, const double *z,
                     double *energy)
{
    const plugmc_box *box = &v->system->box;
    const int periodic = box->domain == PLUGMC_DOMAIN_PERIODIC;
    int64_t forbidden = 0;
    *energy = 0;
    for (int64_t i = 0; i < v->system->particles; i++) {
        const double r[3] = {x[i], y[i], z[i]};
        const plugmc_particle probe = particle_at(v, i, r);
        const plugmc_particles before = slice(v, x, y, z, 0, i);
        forbidden += outside(box, r);
        for (int t = 0; t < v->wave.term_count; t++) {
            const plugmc_term *term = v->wave.terms[t];
            const plugmc_potential *potential = term->plugin->potential;
            if (potential->field) forbidden += field_energy(v, term, i, r, energy);
            if (potential->pair)
                forbidden +=
                    potential->pair->energy(term->instance, box, periodic, &probe, &before, energy);
        }
    }
    return forbidden == 0;
}

/* ---- Decisions ------------------------------------------------------------------------------- */

int vmc_accepts(const vmc *v, vmc_walker *walker, uint64_t sweep, int64_t e, double square_of_q,
                double change)
{
    const double ratio = square_of_q * exp(-change);
    const plugmc_random u =
        plugmc_draw(v->seed, sweep, (uint32_t)walker->index, (uint32_t)e, PLUGMC_PURPOSE_ACCEPT, 0);
    /* a probability that is not a number, or infinite: it is made, and none after it, so that it is found */
    if (!(change > -INFINITY) || !(square_of_q < INFINITY)) {
        walker->not_a_number = 1;
        walker->sweep = sweep;
        walker->electron = e;
        return 1;
    }
    return plugmc_uniform_double(u.word[0], u.word[1]) < ratio;
}

void vmc_move(vmc_walker *walker, int64_t e, const double to[3])
{
    walker->x[e] = to[0];
    walker->y[e] = to[1];
    walker->z[e] = to[2];
}

void vmc_try(const vmc *v, vmc_walker *walker, int spin, uint64_t sweep, int64_t e,
             const double to[3], const double *values)
{
    slater *s = &walker->spin[spin];
    const int64_t own = e - v->system->first[spin];
    double change = 0;
    if (walker->not_a_number) return;
    walker->trials++;
    if (!vmc_parts_change(v, walker, e, to, &change)) return;
    const double complex q = slater_ratio(s, own, values);
    if (!vmc_accepts(v, walker, sweep, e, creal(q) * creal(q) + cimag(q) * cimag(q), change))
        return;
    slater_accept(s, own, values);
    vmc_move(walker, e, to);
    walker->parts += change;
    walker->accepted++;
}
