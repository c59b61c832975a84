/* Checks of observables by configurations that are rare at random: rows that are reserved, lattices, particles far apart, and
 * none at all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/guarded_memory.h"
#include "engine/sync.h"
#include "measuring.h"

static const plugmc_system *system_of(const subject *o) { return &o->s->session.engine.system; }

static size_t rows_of(const subject *o)
{
    return (size_t)(system_of(o)->walkers * system_of(o)->particles);
}

static double *new_results(const subject *o)
{
    return checked(guarded_allocate((size_t)(system_of(o)->walkers * o->width) * sizeof(double), 8,
                                    "the array of results"));
}

/* The first value that is not finite; -1: there is none. */
static int64_t first_wrong(const subject *o, const double *values)
{
    for (int64_t k = 0; k < system_of(o)->walkers * o->width; k++)
        if (!isfinite(values[k])) return k;
    return -1;
}

/* ---- Other runs ---------------------------------------------------------------------------------- */

enum { MOST_SPECIES = 16 };

/* Results of another run where it begins, values [walkers][width], and its positions; both malloc'ed. */
typedef struct other_run {
    subject subject; /* whose names have gone with the run */
    double *values, *positions;
    char wrong[64]; /* the name of the first quantity with a value that is no number */
} other_run;

static void free_other(other_run *r) { free(r->values), free(r->positions), free(r); }

/* A lattice, as runs may begin with, has hardly any pairs within a range: the particles of the beginning go by `moves`
 * [walkers][all of them][3], the same in runs with other reserved places. */
static void move_all(const plugmc_system *system, const double *moves, double *positions)
{
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t k = 0; k < system->species_count; k++)
            for (int64_t i = 0; i < plugmc_species_at(system, k)->count; i++, moves += 3) {
                double *at = positions + 3 * (w * system->particles + system->first[k] + i);
                for (int d = 0; d < system->box.dimension; d++) at[d] += moves[d];
                plugmc_wrap(&system->box, at);
            }
}

/* NULL: it is refused. moves: NULL, or of move_all. */
static other_run *look_at_other(const subject *o, stand_change change, const double *moves,
                                findings *f)
{
    stand s;
    other_run *r = checked(calloc(1, sizeof *r));
    subject *other = &r->subject;
    const double *now;
    int code = stand_open_changed(o->target, o->s->number, STAND_POSITIONS, change, &s);
    if (!code) code = session_begin(&s.session);
    if (!code) code = sync_positions(&s.session.engine, PLUGMC_ON_HOST, &now);
    *other = *o;
    other->s = &s;
    if (!code && !ask_again(other, f)) code = EXIT_INPUT;
    if (!code) {
        const size_t results = (size_t)(system_of(other)->walkers * other->width),
                     numbers = 3 * rows_of(other);
        r->values = checked(malloc((results + 1) * sizeof(double)));
        r->positions = checked(malloc((numbers + 1) * sizeof(double)));
        memcpy(r->positions, now, numbers * sizeof(double));
        if (moves) move_all(system_of(other), moves, r->positions);
        double *values = new_results(other);
        s.own->context.tried = true;
        code = measure(other, r->positions, false, 1, values);
        memcpy(r->values, values, results * sizeof(double));
        guarded_free(values);
        int64_t at;
        const int64_t k = code ? -1 : first_wrong(other, r->values);
        if (k >= 0)
            snprintf(r->wrong, sizeof r->wrong, "%s",
                     quantity_at(other, k % other->width, &at)->name);
    }
    stand_close(&s);
    if (!code) return r;
    free_other(r);
    return NULL;
}

static void set_keys(const subject *o, const char *format, int more, char *keys[MOST_SPECIES + 1])
{
    const plugmc_system *system = system_of(o);
    for (int32_t k = 0; k < system->species_count; k++) {
        const plugmc_species *species = plugmc_species_at(system, k);
        const long long number = more < 0 ? 0 : species->capacity + more;
        if (asprintf(&keys[k], format, species->name, number) < 0) checked(NULL);
    }
}

static void free_keys(char *keys[MOST_SPECIES + 1])
{
    for (int k = 0; k < MOST_SPECIES; k++) free(keys[k]);
}

/* All species have reservoirs, and places for more. */
static bool all_change(const subject *o)
{
    const plugmc_system *system = system_of(o);
    bool all = system->species_count <= MOST_SPECIES;
    for (int32_t k = 0; k < system->species_count && all; k++) {
        const plugmc_species *species = plugmc_species_at(system, k);
        all = species->capacity > species->count && !isnan(species->mu);
    }
    return all;
}

/* ---- Reserved rows ------------------------------------------------------------------------------ */

/* Whether particles of both runs, which have `more` places for each species, are where they were. */
static bool same_particles(const subject *o, const other_run *a, const other_run *b, int more)
{
    const plugmc_system *system = system_of(o);
    const int64_t n = system->particles, m = n + more * system->species_count;
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t k = 0; k < system->species_count; k++)
            for (int64_t i = 0; i < plugmc_species_at(system, k)->count; i++)
                if (memcmp(a->positions + 3 * (w * n + system->first[k] + i),
                           b->positions + 3 * (w * m + system->first[k] + more * k + i),
                           3 * sizeof(double)))
                    return false;
    return true;
}

int check_reserved(subject *o, findings *f)
{
    enum { MORE = 9 };
    static const char check[] = "reserved places";
    char *few[MOST_SPECIES + 1] = {0}, *many[MOST_SPECIES + 1] = {0};
    const char *why =
        o->observable->depends_on == PLUGMC_ON_HISTORY ? "it depends on the history of walkers"
        : !all_change(o) ? "numbers of particles of a species stay: there are no reserved places"
                         : NULL;
    if (why) {
        check_not_covered(f, check, "%s", why);
        return 0;
    }
    check_begin(f, check, 1,
                "results of one configuration in runs that reserve %d more places; allowed 1e-9",
                MORE);
    double *moves = checked(malloc((3 * rows_of(o) + 1) * sizeof *moves));
    for (size_t k = 0; k < 3 * rows_of(o); k++)
        moves[k] = 0.4 * stand_distance(system_of(o), &system_of(o)->box) * stand_symmetric(o->s);
    set_keys(o, "species %s.max_count=%lld", 0, few);
    set_keys(o, "species %s.max_count=%lld", MORE, many);
    other_run *a = look_at_other(o, (stand_change){.edge = 1, .assignments = few}, moves, f),
              *b = look_at_other(o, (stand_change){.edge = 1, .assignments = many}, moves, f);
    const bool comparable = a && b && a->subject.width == b->subject.width &&
                            a->subject.width == o->width && same_particles(o, a, b, MORE);
    for (int64_t k = 0; comparable && k < system_of(o)->walkers * o->width; k++) {
        int64_t at;
        const plugmc_quantity *q = quantity_at(o, k % o->width, &at);
        const double x = a->values[k], y = b->values[k], size = fmax(fabs(x), fabs(y));
        check_value(
            f, x == y || (isnan(x) && isnan(y)) ? 0 : fabs(x - y) / (1e-9 * size),
            "value %lld of '%s' in walker %lld is %.9g, and %.9g with max_count larger by %d: "
            "particle k of species s is there if k < view->count[w * species_count + s]; "
            "system->first and system->particles count reserved places, too",
            (long long)at, q->name, (long long)(k / o->width), x, y, MORE);
    }
    if (!comparable) check_leave(f, "such a run is refused, or begins with other positions");
    check_end(f);
    free_keys(few), free_keys(many), free(moves);
    if (a) free_other(a);
    if (b) free_other(b);
    return 0;
}

/* ---- A lattice ---------------------------------------------------------------------------------- */

/* A cubic block of particles, whose coordinates and distances along axes are exact: so are angles of 0 and pi, and distances
 * that are multiples of each other. */
static void put_on_lattice(const subject *o, double *positions)
{
    const plugmc_system *system = system_of(o);
    const int dimension = system->box.dimension;
    const double spacing = exp2(floor(log2(0.6 * stand_distance(system, &system->box))));
    const int64_t n = system->particles,
                  side = (int64_t)ceil(pow((double)n, 1.0 / dimension) - 1e-9);
    for (int64_t row = 0; row < system->walkers * n; row++) {
        int64_t rest = row % n;
        double *at = positions + 3 * row;
        for (int d = 0; d < 3; d++, rest /= side)
            at[d] = d < dimension ? spacing * ((double)(rest % side) + 0.5) : 0;
        if (system->box.domain != PLUGMC_DOMAIN_PERIODIC)
            for (int d = 0; d < dimension; d++) at[d] -= 0.5 * spacing * (double)side;
        else
            plugmc_wrap(&system->box, at);
    }
}

int check_on_lattice(subject *o, findings *f)
{
    static const char check[] = "particles on a lattice";
    const size_t bytes = 3 * sizeof(double) * rows_of(o);
    if (o->observable->depends_on == PLUGMC_ON_HISTORY) {
        check_not_covered(f, check, "it depends on the history of walkers");
        return 0;
    }
    double *positions = checked(malloc(bytes + 8)), *values = new_results(o);
    char words[768];
    put_on_lattice(o, positions);
    check_begin(
        f, check, NAN,
        "results are numbers where distances are equal and angles are 0 or pi, and nothing else "
        "is written to");
    o->s->own->context.tried = true; /* overlaps may be refused */
    const int code = measure(o, positions, false, 5, values);
    o->s->own->context.tried = false;
    const int64_t k = code ? -1 : first_wrong(o, values);
    if (!guarded_memory_intact((sentence){words, sizeof words}))
        check_fail(
            f,
            "%s, where particles are on a lattice: is a cosine of 1, or a distance that is just the "
            "range, in the bin behind the last one?",
            words);
    if (code) check_leave(f, "it refuses such a configuration");
    if (k >= 0) {
        int64_t at;
        const plugmc_quantity *q = quantity_at(o, k % o->width, &at);
        check_warn(
            f,
            "value %lld of '%s' in walker %lld is %g where particles are on a lattice, and a run ends "
            "there: acos or a root of a number that rounding has taken beyond 1 or below 0, or 0 / 0?",
            (long long)at, q->name, (long long)(k / o->width), values[k]);
    }
    check_end(f);
    free(positions), guarded_free(values);
    return 0;
}

/* ---- Hardly any particles ----------------------------------------------------------------------- */

/* Many-body terms take long in a large box, as those with a mesh. */
static bool any_total(const subject *o)
{
    for (int32_t k = 0; k < system_of(o)->term_count; k++)
        if (plugmc_term_at(system_of(o), k)->plugin->potential->total) return true;
    return false;
}

/* Whether there was such a run; a warning if a value is no number. */
static bool look_for_wrong(const subject *o, stand_change change, const char *where, findings *f)
{
    other_run *r = look_at_other(o, change, NULL, f);
    if (!r) return false;
    if (*r->wrong)
        check_warn(f, "'%s' is not a number %s, and a run ends there: 0 / 0?", r->wrong, where);
    free_other(r);
    return true;
}

int check_sparse(subject *o, findings *f)
{
    static const char check[] = "few particles";
    char *none[MOST_SPECIES + 1] = {0};
    const char *why = o->observable->depends_on == PLUGMC_ON_HISTORY
                          ? "it depends on the history of walkers"
                      : system_of(o)->bodies ? "there are bodies"
                                             : NULL;
    if (why) {
        check_not_covered(f, check, "%s", why);
        return 0;
    }
    check_begin(f, check, NAN,
                "results are numbers in a box with edges of 8 times the length, and without "
                "particles");
    bool any =
        !any_total(o) &&
        look_for_wrong(o, (stand_change){.edge = 8},
                       "in a box whose edges are 8 times as long, where hardly anybody is near "
                       "another one",
                       f);
    if (all_change(o)) {
        set_keys(o, "species %s.count=%lld", -1, none);
        any |= look_for_wrong(o, (stand_change){.edge = 1, .assignments = none},
                              "where there are no particles", f);
    }
    if (!any) check_leave(f, "such systems are refused, or a many-body term takes long in them");
    check_end(f);
    free_keys(none);
    return 0;
}
