/* Checks of what a potential takes from the run around it: the temperature, the box of the beginning, its faces, and the
 * range that it declares. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "checks.h"

/* ---- Another run ------------------------------------------------------------------------------- */

/* Energies of walkers at the positions of s, by s and by another run of the same plugin: in its boxes if there is a mover
 * that changes boxes. Returns a PLUGMC_* code. */
static int ask_both(stand *s, stand *other, bool boxes, double scale, whole *here, whole *there)
{
    hamiltonian *h = &s->session.engine.current.hamiltonian;
    const plugmc_system *system = &s->session.engine.system;
    const size_t numbers = 3 * (size_t)(system->walkers * system->particles);
    double *positions = checked(malloc(numbers * sizeof *positions + 1));
    plugmc_view view = {.size = sizeof view}, own = {.size = sizeof own};
    int code = hamiltonian_refresh(h, s->host);
    if (!code) code = hamiltonian_view(h, s->host, &view);
    for (size_t k = 0; k < numbers && !code; k++) positions[k] = scale * view.positions[k];
    if (!code) code = other->host->view(other->host->context, positions, 0, &view);
    if (!code) code = s->host->view(s->host->context, positions, 0, &own);
    if (boxes) own.box = view.box;
    if (!code) code = whole_energies(s, &own, here);
    if (!code) code = whole_energies(other, &view, there);
    free(positions);
    return code;
}

static double size_of(const whole *a, const whole *b) { return a->size + b->size + 1e-300; }

/* In a run at another temperature. Energies are divided by it, by the core. */
int check_temperature(const target *t, stand *s, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    const double kT = isfinite(system->temperature) ? system->temperature : 1;
    const bool total = stand_total(s) != NULL;
    stand other;
    whole here[system->walkers], there[system->walkers];
    check_begin(f, "another temperature", 1,
                "energies of a configuration in runs at %g and %g; allowed 1e-9, with a many-body "
                "term 2 %%",
                kT, 1.7 * kT);
    int code = scramble(s);
    if (code) return code;
    code = stand_open_changed(t, s->number, STAND_POSITIONS,
                              (stand_change){.temperature = 1.7 * kT, .edge = 1}, &other);
    if (code) {
        check_leave(f, "%s", heard_or(&other.heard, "such a run cannot be prepared"));
        stand_close(&other);
        return 0;
    }
    code = ask_both(s, &other, false, 1, here, there);
    for (int32_t w = 0; w < system->walkers && !code; w++)
        if (isfinite(here[w].energy) && isfinite(there[w].energy))
            check_value(
                f,
                fabs(here[w].energy - there[w].energy) /
                    ((total ? 0.02 : 1e-9) * size_of(&here[w], &there[w])),
                "the energy of walker %d is %.9g in a run at temperature %g, and %.9g at %g, for the "
                "same configuration: the core divides energies by the temperature; do not do so, too",
                w, here[w].energy, kT, there[w].energy, 1.7 * kT);
    stand_close(&other);
    return code;
}

/* In a box that changes, and in a run that begins with it. Ranges of pairs may follow from the first box. */
int check_first_box(const target *t, stand *s, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    const double edge = 1.09;
    stand other;
    whole here[system->walkers], there[system->walkers];
    if (stand_pair(s) || s->session.engine.config.box.a.count > 0 ||
        system->box.domain != PLUGMC_DOMAIN_PERIODIC) {
        check_not_covered(f, "box of the beginning",
                          stand_pair(s) ? "pairs are given the box" : "the box is not rectangular");
        return 0;
    }
    check_begin(f, "box of the beginning", 1,
                "energies in a box that has grown to %g of its edges with those of a run that "
                "begins with it; allowed 2 %%",
                edge);
    int code = scramble(s);
    if (code) return code;
    code = stand_open_changed(t, s->number, STAND_BOXES, (stand_change){.edge = edge}, &other);
    if (code || other.session.engine.system.particles != system->particles) {
        check_leave(f, "%s", heard_or(&other.heard, "such a run cannot be prepared"));
        stand_close(&other);
        return 0;
    }
    code = ask_both(s, &other, true, edge, here, there);
    for (int32_t w = 0; w < system->walkers && !code; w++)
        if (isfinite(here[w].energy) && isfinite(there[w].energy))
            check_value(
                f, fabs(here[w].energy - there[w].energy) / (0.02 * size_of(&here[w], &there[w])),
                "the energy of walker %d is %.9g in a box that has grown to %g of its edges, and "
                "%.9g in a run that begins with that box: read the box of the view or of the call; one "
                "that 'configure' or 'prepare' keeps is that of the beginning",
                w, here[w].energy, edge, there[w].energy);
    stand_close(&other);
    return code;
}

/* ---- The range --------------------------------------------------------------------------------- */

static double pair_at(const stand *s, const plugmc_species *of[2], const int32_t kind[2], double r)
{
    const plugmc_box *box = &s->session.engine.system.box;
    const plugmc_particle a = {0, 0, 0, of[0]->charge, of[0]->diameter, kind[0]};
    double x = r, y = 0, z = 0, charge = of[1]->charge, diameter = of[1]->diameter, u = 0;
    const plugmc_particles b = {1, &x, &y, &z, &charge, &diameter, &kind[1]};
    return stand_pair(s)->energy(s->own->data, box, 0, &a, &b, &u) ? INFINITY : u;
}

/* Where the energy ends, of all pairs of species. 0: it is 0 everywhere. */
static double end_of_energy(const stand *s, double range)
{
    enum { POINTS = 4000 };
    const plugmc_system *system = &s->session.engine.system;
    double end = 0;
    for (int32_t i = 0; i < system->species_count; i++)
        for (int32_t j = i; j < system->species_count; j++) {
            const plugmc_species *of[2] = {plugmc_species_at(system, i),
                                           plugmc_species_at(system, j)};
            const int32_t kind[2] = {i, j};
            int k = POINTS - 1;
            while (k > 0 && pair_at(s, of, kind, range * k / POINTS) == 0) k--;
            end = fmax(end, range * k / POINTS);
        }
    return end;
}

int check_end_of_range(const target *t, stand *s, findings *f)
{
    (void)t;
    const double range = stand_pair(s) ? stand_pair(s)->range(s->own->data) : NAN;
    if (!isfinite(range) || range <= 0) {
        check_not_covered(f, "end of the range",
                          stand_pair(s) ? "the range is not limited" : "there is no pair energy");
        return 0;
    }
    check_begin(f, "end of the range", NAN,
                "the separation from which all pair energies are 0 with the root and the square of "
                "the declared range");
    context_calling(&s->own->context, "energy");
    const double end = end_of_energy(s, range), root = range > 1 ? sqrt(range) : range * range;
    crash_called();
    if (fabs(end - root) < 1e-3 * range && range - root > 0.01 * range)
        check_fail(f,
                   "the pair energy is 0 from separation %.4g on, which is the %s of the declared "
                   "range %.6g: compare s.r2 with the square of the cutoff",
                   root, range > 1 ? "root" : "square", range);
    return 0;
}

/* ---- Faces of the box -------------------------------------------------------------------------- */

/* Of a single particle at x; false: it may not be there. */
static bool field_at(const stand *s, const double x[3], int32_t kind, double *u)
{
    const plugmc_species *species = plugmc_species_at(&s->session.engine.system, kind);
    double charge = species->charge, diameter = species->diameter;
    const plugmc_particles list = {1, &x[0], &x[1], &x[2], &charge, &diameter, &kind};
    *u = 0;
    return !stand_field(s)->energy(s->own->data, &list, u) && isfinite(*u);
}

/* Whether the energy jumps from one face to the opposite one although it is not constant beside them, as that of a step
 * is. */
static void compare_faces(stand *s, int d, double size, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    const plugmc_box *box = &system->box;
    const double width = 1e-7 * box->length[d], far = 0.02 * box->length[d];
    const double places[4] = {width, far, box->length[d] - width, box->length[d] - far};
    const int32_t kind = (int32_t)stand_below(s, system->species_count);
    double x[3] = {0, 0, 0}, u[4];
    for (int e = 0; e < box->dimension; e++) x[e] = box->length[e] * stand_uniform(s);
    for (int k = 0; k < 4; k++) {
        x[d] = places[k];
        if (!field_at(s, x, kind, &u[k])) return;
    }
    const double jump = fabs(u[2] - u[0]), slope = fabs(u[1] - u[0]) + fabs(u[3] - u[2]);
    if (slope <= 1e-9 * (fabs(u[0]) + fabs(u[2]) + slope)) return;
    check_value(
        f, jump / (1e-3 * size + 1e-30),
        "the field jumps from %.6g to %.6g where a particle leaves the periodic box along %c and enters "
        "it on the other side: let a whole number of waves (2 pi n / L) be in the box, take the nearest "
        "image, or put a wall (*outside = 1) there",
        u[2], u[0], "xyz"[d]);
}

/* Between the least and the largest energy at random positions. */
static double size_of_field(stand *s)
{
    const plugmc_system *system = &s->session.engine.system;
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < 500; k++) {
        const int32_t kind = (int32_t)stand_below(s, system->species_count);
        double x[3] = {0, 0, 0}, u;
        for (int d = 0; d < system->box.dimension; d++)
            x[d] = system->box.length[d] * stand_uniform(s);
        if (!field_at(s, x, kind, &u)) continue;
        least = fmin(least, u);
        most = fmax(most, u);
    }
    return most > least ? most - least : 0;
}

int check_faces(const target *t, stand *s, findings *f)
{
    const plugmc_box *box = &s->session.engine.system.box;
    const int rounds = t->quick ? 20 : 200;
    if (!stand_field(s) || box->domain != PLUGMC_DOMAIN_PERIODIC || box->oblique) {
        check_not_covered(f, "faces of the box",
                          stand_field(s) ? "the box is not rectangular" : "there is no field");
        return 0;
    }
    check_begin(f, "faces of the box", 1,
                "the field on opposite faces of the periodic box, where it is not constant; "
                "allowed 1e-3 of its differences in the box");
    context_calling(&s->own->context, "energy");
    const double size = size_of_field(s);
    for (int k = 0; k < rounds; k++)
        for (int d = 0; d < box->dimension; d++)
            if (!box->closed[d]) compare_faces(s, d, size, f);
    crash_called();
    return 0;
}
