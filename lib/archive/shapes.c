/* See shapes.h. */
#include "archive/shapes.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/crash.h"

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
