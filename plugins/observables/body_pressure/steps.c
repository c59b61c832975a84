/* steps.c: what steps of the energy along a body's path add to its share of the pressure, for body_pressure. */
#include "body_pressure.h"

/* What exp(-u) has of a term. */
static double multiplier_of(const plugmc_system *system, int32_t term)
{
    return system->weighted ? system->of_rungs[term] : 1 / system->temperature;
}

/* The places of a term's steps between i and j, at r from it, on the line from `from` to `to`, in their order. Returns how many. */
static int32_t places_of_steps(const task *t, int32_t which, uint32_t i, uint32_t j,
                               const double r[3], int axis, double from, double to,
                               double places[PLUGMC_MOST_STEPS])
{
    const body_pressure *p = t->p;
    const double apart[3] = {-r[0], -r[1], -r[2]};
    double steps[PLUGMC_MOST_STEPS];
    int32_t n = 0;
    const int32_t all =
        p->body[which]->steps(plugmc_term_at(p->system, p->terms[which])->instance, p->dimension,
                              axis, apart, &p->kinds[kind_of(p->system, i)], &t->orientations[i],
                              &p->kinds[kind_of(p->system, j)], &t->orientations[j], steps);
    for (int32_t k = 0; k < all; k++) {
        int32_t at = n;
        if (!(steps[k] > from && steps[k] < to)) continue;
        for (n++; at > 0 && places[at - 1] > steps[k]; at--) places[at] = places[at - 1];
        places[at] = steps[k];
    }
    return n;
}

/* The steps of a term between i and j, at r from it, on the line from `from` to `to`. */
static void add_steps_of_term(const task *t, int32_t which, uint32_t i, uint32_t j,
                              const double r[3], int axis, double from, double to,
                              energy_line *line)
{
    const body_pressure *p = t->p;
    const plugmc_system *system = p->system;
    const plugmc_term *term = plugmc_term_at(system, p->terms[which]);
    const plugmc_particle *own = &p->kinds[kind_of(system, i)],
                          *other = &p->kinds[kind_of(system, j)];
    double aside = 0, places[PLUGMC_MOST_STEPS], before = NAN;
    for (int d = 0; d < 3; d++) aside += d == axis ? 0 : r[d] * r[d];
    /* what the line has of the sphere beyond which there is no energy */
    const double half = sqrt(p->energies * p->energies - aside) + 1e-9 * p->energies,
                 first = fmax(from, r[axis] - half), last = fmin(to, r[axis] + half);
    const int32_t n = places_of_steps(t, which, i, j, r, axis, first, last, places);
    for (int32_t k = -1; k < n; k++) {
        const double at = k < 0 ? from : places[k], next = k + 1 < n ? places[k + 1] : to,
                     middle = (at + next) / 2;
        double x[3] = {r[0], r[1], r[2]}, energy = 0;
        x[axis] -= middle;
        const plugmc_particles one = {
            1, &x[0], &x[1], &x[2], &other->charge, &other->diameter, &other->species};
        const int64_t overlaps =
            p->body[which]->energy(term->instance, t->box, 0, own, &t->orientations[i], &one,
                                   &t->orientations[j], &energy);
        if (overlaps) energy = isnan(before) ? 0 : before; /* an interval as long as rounding */
        energy *= overlaps ? 1 : multiplier_of(system, p->terms[which]);
        if (k >= 0 && energy != before)
            energy_line_add(line, (energy_step){at, energy - before, at - r[axis]});
        before = energy;
    }
}

/* The steps between the body at entry k and those of one cell, with all their images. */
static void add_steps_of_cell(const task *t, uint32_t k, int axis, uint32_t cell, double from,
                              double to, energy_line *line)
{
    const body_pressure *p = t->p;
    const double *at = t->positions + 3 * (size_t)k, length = t->box->length[axis];
    for (uint32_t m = t->start[cell]; m < t->start[cell + 1]; m++) {
        double r[3] = {0, 0, 0}, aside = 0;
        if (m == k) continue;
        for (int d = 0; d < p->dimension; d++) {
            r[d] = t->positions[3 * (size_t)m + d] - at[d];
            if (d == axis) continue;
            r[d] = plugmc_nearest_image(r[d], t->box->length[d]);
            aside += r[d] * r[d];
        }
        if (aside >= p->energies * p->energies) continue;
        const double first = r[axis];
        for (int image = (int)ceil((from - p->energies - first) / length);
             first + image * length < to + p->energies; image++) {
            r[axis] = first + image * length;
            for (int32_t which = 0; which < p->bodies; which++)
                if (p->body[which]->functions & PLUGMC_BODY_ENERGY)
                    add_steps_of_term(t, which, t->order[k], t->order[m], r, axis, from, to, line);
        }
    }
}

/* The share of the body at entry k, stopped like this; NAN without memory. */
double body_pressure_with_energies(const task *t, uint32_t k, int axis, stop down, stop up,
                                   energy_line *line)
{
    const body_pressure *p = t->p;
    const double at = t->positions[3 * (size_t)k + axis], length = t->box->length[axis];
    const int closed = !isfinite(up.path + down.path);
    const double from = closed ? 0 : -down.path, to = closed ? length : up.path;
    int32_t own[3], columns[3][3], box[3][3], number[3];
    line->count = 0;
    body_pressure_own_cell(t, k, own);
    for (int d = 0; d < 3; d++) number[d] = body_pressure_beside(t, own[d], d, columns[d], box[d]);
    number[axis] = 1;
    /* layers with a body whose energy can change, a little more for rounding */
    const int32_t count = t->count[axis];
    const double wide = p->energies * (1 + 1e-9);
    const int64_t lowest = (int64_t)floor((at + from - wide) / length * count),
                  highest = (int64_t)floor((at + to + wide) / length * count),
                  layers = highest - lowest + 1 < count ? highest - lowest + 1 : count;
    for (int64_t layer = lowest; layer < lowest + layers; layer++) {
        columns[axis][0] = (int32_t)((layer % count + count) % count);
        for (int32_t x = 0; x < number[0]; x++)
            for (int32_t y = 0; y < number[1]; y++)
                for (int32_t z = 0; z < number[2]; z++) {
                    const int32_t cell =
                        (columns[2][z] * t->count[1] + columns[1][y]) * t->count[0] + columns[0][x];
                    add_steps_of_cell(t, k, axis, (uint32_t)cell, from, to, line);
                }
    }
    if (line->lost) return NAN;
    return energy_line_share(line, from, to, closed ? 0 : down.separation,
                             closed ? 0 : up.separation);
}
