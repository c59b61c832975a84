/* Checks of what a potential takes from the run around it: the temperature, the box of the beginning, its faces, and the
 * range that it declares. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "checks.h"

/* ---- Another run ------------------------------------------------------------------------------- */

/* Energies of walkers at the positions of s times `scale`, by s and by another run of the same plugin: in its boxes if
 * there is a mover that changes boxes, then with the particles drawn together by `gathered` where that is not 1. Returns a
 * PLUGMC_* code. */
static int ask_both(stand *s, stand *other, bool boxes, double scale, double gathered, whole *here,
                    whole *there)
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
    if (!code && gathered != 1) {
        stand_gather(system, view.box, gathered, positions);
        code = other->host->view(other->host->context, positions, 0, &view);
    }
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
    code = ask_both(s, &other, false, 1, 1, here, there);
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

static void compare_boxes(const stand *s, double edge, const whole *here, const whole *there,
                          findings *f)
{
    for (int32_t w = 0; w < s->session.engine.system.walkers; w++)
        if (isfinite(here[w].energy) && isfinite(there[w].energy))
            check_value(
                f,
                fabs(here[w].energy - there[w].energy) /
                    ((stand_total(s) ? 0.02 : 1e-9) * size_of(&here[w], &there[w])),
                "the energy of walker %d is %.9g in a box that has grown to %g of its edges, and "
                "%.9g in a run that begins with that box: %s; one that 'configure' or 'prepare' keeps is "
                "that of the beginning",
                w, here[w].energy, edge, there[w].energy,
                stand_total(s)
                    ? "read the box of the view or of the call"
                    : "a field is given no box, so take lengths from keys, or let 'configure' "
                      "refuse runs in which host->system->changes has PLUGMC_CHANGED_BOX");
}

/* In a box that changes, and in a run that begins with it. Ranges of pairs may follow from the first box. Particles
 * are drawn together about a corner, too, since those of a dilute FILE.ini may not meet across a face. */
int check_first_box(const target *t, stand *s, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    const double edge = 1.09;
    stand other;
    whole here[system->walkers], there[system->walkers];
    if (stand_pair(s) || system->box.domain != PLUGMC_DOMAIN_PERIODIC) {
        check_not_covered(f, "box of the beginning",
                          stand_pair(s) ? "pairs are given the box" : "the box is not periodic");
        return 0;
    }
    check_begin(f, "box of the beginning", 1,
                "energies in a box that has grown to %g of its edges with those of a run that "
                "begins with it; allowed 1e-9, with a many-body term 2 %%",
                edge);
    int code = scramble(s);
    if (code) return code;
    code = stand_open_changed(t, s->number, STAND_BOXES, (stand_change){.edge = edge}, &other);
    if (code || other.session.engine.system.particles != system->particles) {
        check_leave(f, "%s", heard_or(&other.heard, "such a run cannot be prepared"));
        stand_close(&other);
        return 0;
    }
    for (int k = 0; k < 3 && !code; k++) {
        code = ask_both(s, &other, true, edge, (const double[]){1, 0.6, 0.35}[k], here, there);
        if (!code) compare_boxes(s, edge, here, there, f);
    }
    stand_close(&other);
    return code;
}

/* Positions of one run in the places of another one, which has others behind those of each species. */
static void move_places(const plugmc_system *from, const plugmc_system *to, const double *positions,
                        double *out)
{
    for (int32_t w = 0; w < from->walkers; w++)
        for (int32_t k = 0; k < from->species_count; k++) {
            const int64_t n = from->first[k + 1] - from->first[k],
                          m = to->first[k + 1] - to->first[k];
            memcpy(out + 3 * (w * to->particles + to->first[k]),
                   positions + 3 * (w * from->particles + from->first[k]),
                   3 * sizeof *out * (size_t)(n < m ? n : m));
        }
}

/* In a run with more places for particles, and as many of them. */
int check_places(const target *t, stand *s, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    stand other;
    whole here[system->walkers], there[system->walkers];
    plugmc_view view = {.size = sizeof view}, more = {.size = sizeof more};
    if (!stand_total(s)) {
        check_not_covered(f, "reserved places", "there is no many-body term");
        return 0;
    }
    check_begin(f, "reserved places", 1,
                "energies of a configuration in runs that have memory for different numbers of "
                "particles; allowed 2 %%");
    int code = stand_open_changed(t, s->number, STAND_COUNTS,
                                  (stand_change){.edge = 1, .places = 16}, &other);
    if (code) {
        check_leave(f, "%s", heard_or(&other.heard, "such a run cannot be prepared"));
        stand_close(&other);
        return 0;
    }
    const plugmc_system *there_system = &other.session.engine.system;
    double *positions = checked(
        malloc(3 * sizeof(double) * (size_t)(system->walkers * there_system->particles) + 1));
    for (int64_t k = 0; k < 3 * system->walkers * there_system->particles; k++) positions[k] = NAN;
    code = scramble(s);
    if (!code) code = hamiltonian_refresh(&s->session.engine.current.hamiltonian, s->host);
    if (!code) code = hamiltonian_view(&s->session.engine.current.hamiltonian, s->host, &view);
    if (!code) move_places(system, there_system, view.positions, positions);
    if (!code) code = whole_energies(s, &view, here);
    if (!code) code = other.host->view(other.host->context, positions, 0, &more);
    if (!code) code = whole_energies(&other, &more, there);
    for (int32_t w = 0; w < system->walkers && !code; w++)
        if (isfinite(here[w].energy) && isfinite(there[w].energy))
            check_value(
                f, fabs(here[w].energy - there[w].energy) / (0.02 * size_of(&here[w], &there[w])),
                "the energy of walker %d is %.9g in a run with %lld places for particles, and %.9g in "
                "one with %lld, for the same particles: system->particles and system->first count places; "
                "there are view->count particles of each species",
                w, here[w].energy, (long long)system->particles, there[w].energy,
                (long long)there_system->particles);
    stand_close(&other);
    free(positions);
    return code;
}

/* ---- The range --------------------------------------------------------------------------------- */

/* Where the energy ends, of all pairs of species. 0: it is 0 everywhere. */
static double end_of_energy(const stand *s, double range)
{
    enum { POINTS = 4000 };
    const plugmc_system *system = &s->session.engine.system;
    double end = 0;
    for (int32_t i = 0; i < system->species_count; i++)
        for (int32_t j = i; j < system->species_count; j++) {
            int k = POINTS - 1;
            while (k > 0 && pair_energy_at(s, i, j, range * k / POINTS) == 0) k--;
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

/* The least and the largest energy at random positions, and energies that were compared. */
typedef struct energies_of_field {
    double least, most;
    int compared;
} energies_of_field;

/* Whether the energy jumps from one face to the opposite one although it is not constant beside them, as that of a step
 * is. A trap about the middle of an oblique box has unlike energies at opposite faces, as these are displaced
 * against each other; that does no harm where no particle comes. */
static void compare_faces(stand *s, int d, energies_of_field *all, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    const plugmc_box *box = &system->box;
    const double width = 1e-7, far = 0.02, places[4] = {width, far, 1 - width, 1 - far},
                 size = all->most > all->least ? all->most - all->least : 0,
                 kT = isfinite(system->temperature) ? system->temperature : 1;
    const int32_t kind = (int32_t)stand_below(s, system->species_count);
    double part[3] = {0, 0, 0}, x[3], u[4];
    for (int e = 0; e < box->dimension; e++) part[e] = stand_uniform(s);
    for (int k = 0; k < 4; k++) {
        part[d] = places[k];
        stand_at_fractions(box, part, x);
        u[k] = field_energy_at(s, kind, x);
        if (!isfinite(u[k])) return;
    }
    if (box->oblique && fmin(u[0], u[2]) > all->least + 30 * kT) return;
    all->compared++;
    const double jump = fabs(u[2] - u[0]), slope = fabs(u[1] - u[0]) + fabs(u[3] - u[2]);
    if (slope <= 1e-9 * (fabs(u[0]) + fabs(u[2]) + slope)) return;
    check_value(
        f, jump / (1e-3 * size + 1e-30),
        "the field jumps from %.6g to %.6g where a particle leaves the periodic box along %s and enters "
        "it on the other side: let a whole number of waves (2 pi n / L) be in the box, take the nearest "
        "image, or put a wall (*outside = 1) there; the middle of a box is half the sum of its vectors",
        u[2], u[0], stand_axis(box, d));
}

static energies_of_field look_at_field(stand *s)
{
    const plugmc_system *system = &s->session.engine.system;
    energies_of_field all = {INFINITY, -INFINITY, 0};
    for (int k = 0; k < 500; k++) {
        const int32_t kind = (int32_t)stand_below(s, system->species_count);
        double x[3];
        stand_position(s, &system->box, x);
        const double u = field_energy_at(s, kind, x);
        if (!isfinite(u)) continue;
        all.least = fmin(all.least, u);
        all.most = fmax(all.most, u);
    }
    return all;
}

int check_faces(const target *t, stand *s, findings *f)
{
    const plugmc_box *box = &s->session.engine.system.box;
    const int rounds = t->quick ? 20 : 200;
    if (!stand_field(s) || box->domain != PLUGMC_DOMAIN_PERIODIC) {
        check_not_covered(f, "faces of the box",
                          stand_field(s) ? "the box is not periodic" : "there is no field");
        return 0;
    }
    check_begin(f, "faces of the box", 1,
                "the field on opposite faces of the periodic box, where it is not constant; "
                "allowed 1e-3 of its differences in the box");
    context_calling(&s->own->context, "energy");
    energies_of_field all = look_at_field(s);
    for (int k = 0; k < rounds; k++)
        for (int d = 0; d < box->dimension; d++)
            if (!box->closed[d]) compare_faces(s, d, &all, f);
    crash_called();
    if (!all.compared) check_leave(f, "no particle comes to the faces of the box");
    return 0;
}
