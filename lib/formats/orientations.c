/* See orientations.h. */
#include "formats/orientations.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"

#define ONE ((double)PLUGMC_QUATERNION_ONE)
/* What plugmc_turn_in_space lets the square of the length be. */
#define LEAST_SQUARE 0.98
#define MOST_SQUARE 1.02

static double square_of(const double q[4])
{
    return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
}

/* Angles are far shorter than quaternions. */
void quaternion_of(const plugmc_orientation *o, double out[4])
{
    for (int k = 0; k < 4; k++) out[k] = o->part[k] / ONE;
    if (square_of(out) > 0.25) return;
    const double half = o->part[0] * (M_PI / PLUGMC_WHOLE_TURN);
    out[0] = cos(half);
    out[1] = out[2] = 0;
    out[3] = sin(half);
}

bool same_orientation(const double a[4], const double b[4])
{
    const double over_a = 1 / sqrt(square_of(a)), over_b = 1 / sqrt(square_of(b));
    double product = 0, largest = 0;
    for (int k = 0; k < 4; k++) product += a[k] * b[k];
    const double sign = product < 0 ? -1 : 1;
    for (int k = 0; k < 4; k++) largest = fmax(largest, fabs(a[k] * over_a - sign * b[k] * over_b));
    return isfinite(over_a) && isfinite(over_b) && isfinite(product) && largest <= 1e-6;
}

/* Whether a quaternion is one of ours. */
static bool on_lattice(const double q[4], double square)
{
    bool on = square > LEAST_SQUARE && square < MOST_SQUARE;
    for (int k = 0; k < 4; k++) on = on && q[k] * ONE == rint(q[k] * ONE);
    return on;
}

const char *orientation_of_quaternion(const double q[4], int32_t dimension, plugmc_orientation *out)
{
    const double square = square_of(q), length = sqrt(square);
    if (!isfinite(square)) return "is not finite";
    if (!(square > 1e-12)) return "is the quaternion 0, which is no rotation";
    *out = (plugmc_orientation){{0}};
    if (dimension == 2) {
        if (fabs(q[1]) > 1e-5 * length || fabs(q[2]) > 1e-5 * length)
            return "is no rotation about z, but the run is in two dimensions";
        const double angle = 2 * atan2(q[3], q[0]) * (PLUGMC_WHOLE_TURN / (2 * M_PI));
        out->part[0] = (int32_t)((int64_t)rint(angle) & (PLUGMC_WHOLE_TURN - 1));
        return NULL;
    }
    const double scale = on_lattice(q, square) ? ONE : ONE / length;
    for (int k = 0; k < 4; k++) out->part[k] = (int32_t)rint(q[k] * scale);
    return NULL;
}

/* ---- Shapes ------------------------------------------------------------------------------------- */

enum { LONGEST_SHAPE = 1 << 20 };

/* A line of the text, without the lines that it may have itself; false: there is none. */
static bool put_shape(FILE *out, const plugmc_term *term, const plugmc_particle *particle)
{
    const plugmc_body *body = plugmc_body_of(term->plugin);
    if (!term->sampled || !body || !body->shape || !(body->reach(term->instance, particle) > 0))
        return false;
    const int length = body->shape(term->instance, particle, NULL, 0);
    char *json = length > 0 && length < LONGEST_SHAPE ? malloc((size_t)length + 1) : NULL;
    if (!json) return false;
    const bool good = body->shape(term->instance, particle, json, (size_t)length + 1) == length;
    for (char *c = json; good && c < json + length; c++)
        fputc(iscntrl((unsigned char)*c) ? ' ' : *c, out);
    free(json);
    return good;
}

char *shapes_of(const plugmc_system *system)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return NULL;
    for (int32_t s = 0; s < system->species_count; s++) {
        const plugmc_species *species = plugmc_species_at(system, s);
        const plugmc_particle one = {
            .charge = species->charge, .diameter = species->diameter, .species = s};
        bool found = false;
        for (int32_t t = 0; t < system->term_count && !found; t++) {
            const plugmc_term *term = plugmc_term_at(system, t);
            const crash_record outer = crash_calling_potential(term->label, "shape");
            found = put_shape(out, term, &one);
            crash_called_within(outer);
        }
        fputs(found ? "\n" : "{}\n", out);
    }
    if (!fclose(out)) return text;
    free(text);
    return NULL;
}
