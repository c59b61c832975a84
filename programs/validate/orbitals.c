/* Orbitals that a potential offers: derivatives against differences, and points one by one and together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "base/guarded_memory.h"
#include "checks.h"

enum { POINTS = 6 };

/* Of one species, at points: doubles, real and imaginary parts beside each other. */
typedef struct sheet {
    int64_t count, width; /* orbitals; numbers of a row */
    double *values, *gradients, *laplacians;
} sheet;

static sheet new_sheet(const plugmc_orbitals *o, const void *instance, int32_t species)
{
    const int64_t count = o->count(instance, species),
                  width = count * (o->complex_valued(instance) ? 2 : 1);
    const size_t bytes = sizeof(double) * (size_t)(POINTS * width);
    return (sheet){count, width, checked(guarded_allocate(bytes, 64, "the values of orbitals")),
                   checked(guarded_allocate(3 * bytes, 64, "the gradients of orbitals")),
                   checked(guarded_allocate(bytes, 64, "the Laplacians of orbitals"))};
}

static void free_sheet(sheet *s)
{
    guarded_free(s->values), guarded_free(s->gradients), guarded_free(s->laplacians);
}

static int evaluate(stand *s, const plugmc_orbitals *o, int32_t species, int64_t points,
                    const double *positions, bool slopes, sheet *out)
{
    const plugmc_orbital_request request = {.size = sizeof request,
                                            .species = species,
                                            .real_size = sizeof(double),
                                            .points = points,
                                            .positions = positions,
                                            .pitch = out->count,
                                            .values = out->values,
                                            .gradients = slopes ? out->gradients : NULL,
                                            .laplacians = slopes ? out->laplacians : NULL};
    context_calling(&s->own->context, "evaluate");
    const int code = o->evaluate(s->own->data, &request);
    crash_called();
    return code;
}

static void random_points(stand *s, double *positions)
{
    const plugmc_box *box = &s->session.engine.system.box;
    for (int k = 0; k < 3 * POINTS; k++) positions[k] = 0;
    for (int k = 0; k < POINTS; k++)
        for (int d = 0; d < box->dimension; d++) {
            if (box->domain == PLUGMC_DOMAIN_SPHERE)
                positions[3 * k + d] = 1.5 * stand_symmetric(s);
            const double part = stand_uniform(s);
            for (int e = 0; e < box->dimension && box->domain == PLUGMC_DOMAIN_PERIODIC; e++)
                positions[3 * k + e] += part * box->vector[d][e];
        }
}

/* Values at points moved along d, [WIDTHS] to both sides: of all points and orbitals. */
static int compare_slopes(stand *s, const plugmc_orbitals *o, int32_t species,
                          const double *positions, const sheet *here, findings *f)
{
    const int64_t n = POINTS * here->width;
    const double unit = stand_distance(&s->session.engine.system, &s->session.engine.system.box);
    two_sides *slopes = checked(calloc((size_t)n, sizeof *slopes)),
              *second = checked(calloc((size_t)n, sizeof *second));
    sheet moved = new_sheet(o, s->own->data, species);
    int code = PLUGMC_OK;
    for (int d = 0; d < s->session.engine.system.box.dimension; d++) {
        for (int k = 0; k < 2 * WIDTHS && !code; k++) {
            double there[3 * POINTS];
            const double h = (k & 1 ? 1 : -1) * slope_widths[k / 2] * unit;
            memcpy(there, positions, sizeof there);
            for (int p = 0; p < POINTS; p++) there[3 * p + d] += h;
            code = evaluate(s, o, species, POINTS, there, false, &moved);
            for (int64_t i = 0; i < n && !code; i++) {
                const double slope = (moved.values[i] - here->values[i]) / h;
                (k & 1 ? slopes[i].right : slopes[i].left)[k / 2] = slope;
                second[i].left[k / 2] += slope / h;
                second[i].right[k / 2] += slope / h;
            }
        }
        for (int64_t i = 0; i < n && !code; i++) {
            const int64_t p = i / here->width, m = i % here->width;
            const double own = here->gradients[(3 * p + d) * here->width + m],
                         tolerance =
                             1e-3 * fabs(own) + 1e-4 * (fabs(here->values[i]) / unit) + 1e-9;
            double found = 0;
            bool settled;
            const bool wrong = slope_is_wrong(&slopes[i], own, tolerance, &found, &settled);
            if (settled)
                check_value(
                    f,
                    wrong ? fmax(1.01, fabs(own - found) / tolerance)
                          : fabs(own - found) / tolerance,
                    "the derivative along %c of number %lld of the orbitals of species %d is "
                    "%.9g, but finite differences give %.9g: correct the gradients of "
                    "`evaluate`",
                    "xyz"[d], (long long)m, species, own, found);
        }
    }
    for (int64_t i = 0; i < n && !code; i++) {
        const double own = here->laplacians[i],
                     tolerance =
                         0.02 * fabs(own) + 2e-3 * fabs(here->values[i]) / (unit * unit) + 1e-7;
        double found = 0;
        bool settled;
        const bool wrong = slope_is_wrong(&second[i], own, tolerance, &found, &settled);
        if (settled)
            check_value(f,
                        wrong ? fmax(1.01, fabs(own - found) / tolerance)
                              : fabs(own - found) / tolerance,
                        "the Laplacian of number %lld of the orbitals of species %d is %.9g, but "
                        "finite differences give %.9g: correct the Laplacians of `evaluate`",
                        (long long)(i % here->width), species, own, found);
    }
    free_sheet(&moved), free(slopes), free(second);
    return code;
}

static int compare_single(stand *s, const plugmc_orbitals *o, int32_t species,
                          const double *positions, const sheet *all, findings *f)
{
    sheet one = new_sheet(o, s->own->data, species);
    int code = PLUGMC_OK;
    for (int p = 0; p < POINTS && !code; p++) {
        code = evaluate(s, o, species, 1, positions + 3 * p, false, &one);
        for (int64_t m = 0; m < all->width && !code; m++) {
            const double a = all->values[p * all->width + m], b = one.values[m];
            check_value(f, fabs(a - b) / (1e-9 * (fabs(a) + fabs(b)) + 1e-12),
                        "number %lld of the orbitals of species %d is %.12g among %d points and "
                        "%.12g alone",
                        (long long)m, species, a, POINTS, b);
        }
    }
    free_sheet(&one);
    return code;
}

int check_orbitals(const target *t, stand *s, findings *f)
{
    const plugmc_orbitals *o = plugmc_orbitals_of(s->own->plugin);
    const plugmc_system *system = &s->session.engine.system;
    const int rounds = t->quick ? 3 : 60;
    int code = PLUGMC_OK;
    if (!o) {
        check_not_covered(f, "orbitals", "there are none");
        return 0;
    }
    check_begin(
        f, "orbitals", 1,
        "gradients and Laplacians with differences of %d widths, points alone and together; "
        "allowed 0.1 %%, 2 %% and 1e-9",
        WIDTHS);
    for (int k = 0; k < rounds * system->species_count && !code; k++) {
        const int32_t species = k % system->species_count;
        double positions[3 * POINTS];
        if (o->count(s->own->data, species) < 1) continue;
        sheet here = new_sheet(o, s->own->data, species);
        random_points(s, positions);
        code = evaluate(s, o, species, POINTS, positions, true, &here);
        if (!code) code = compare_slopes(s, o, species, positions, &here, f);
        if (!code) code = compare_single(s, o, species, positions, &here, f);
        free_sheet(&here);
    }
    return code;
}
