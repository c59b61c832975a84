/* The part of a fused text that adds up derivatives by free numbers (plugmc/free.h). */
#include "base/crash.h"
#include "gpu/gpu.h"

const plugmc_free *fuse_free_of(const plugmc_term *term)
{
    const plugmc_potential *potential = term->plugin->potential;
    const plugmc_free *facet =
        potential && (potential->pair || potential->field) ? plugmc_free_of(term->plugin) : NULL;
    return term->sampled && facet && facet->functions ? facet : NULL;
}

int64_t fuse_free_sums(const plugmc_system *system, int index)
{
    int64_t sums = 0;
    for (int i = 0; i < index; i++) {
        const plugmc_term *term = plugmc_term_at(system, i);
        const plugmc_free *facet = fuse_free_of(term);
        if (!facet) continue;
        const crash_record outer = crash_calling_potential(term->label, "sums");
        sums += facet->sums(term->instance);
        crash_called_within(outer);
    }
    return sums;
}

/* One line for each term with that function; @ stands for its place in the system, # for its namespace, $ for its
 * first sum. */
static void put_for_each(FILE *out, const plugmc_system *system, int function, const char *line)
{
    for (int i = 0; i < system->term_count; i++) {
        const plugmc_free *facet = fuse_free_of(plugmc_term_at(system, i));
        if (!facet || !(facet->functions & function)) continue;
        for (const char *c = line; *c; c++) {
            if (*c == '#')
                fprintf(out, "plugmc_p%d", i);
            else if (*c == '@')
                fprintf(out, "%d", i);
            else if (*c == '$')
                fprintf(out, "%lld", (long long)fuse_free_sums(system, i));
            else
                fputc(*c, out);
        }
    }
}

void fuse_free_put(FILE *out, const plugmc_system *system)
{
    fputs("PLUGMC_FN plugmc_tally plugmc_tally_from(plugmc_tally t, int32_t first)\n{\n"
          "    if (t.values) t.values += first * t.stride;\n"
          "    if (t.kinetic) t.kinetic += first * t.stride;\n    return t;\n}\n"
          "PLUGMC_FN void plugmc_pair_numbers(plugmc_placed s, plugmc_site a, plugmc_site b, "
          "const plugmc_tally &t)\n{\n",
          out);
    put_for_each(out, system, PLUGMC_FREE_PAIR,
                 "    const #::parameters p@ = #::plugmc_parameters();\n"
                 "    const plugmc_tally t@ = plugmc_tally_from(t, $);\n"
                 "    #::pair_numbers(&p@, s.at, s, a, b, &t@);\n");
    fputs("}\nPLUGMC_FN void plugmc_field_numbers(plugmc_position r, plugmc_site a, "
          "const plugmc_tally &t)\n{\n",
          out);
    put_for_each(out, system, PLUGMC_FREE_FIELD,
                 "    const #::parameters p@ = #::plugmc_parameters();\n"
                 "    const plugmc_tally t@ = plugmc_tally_from(t, $);\n"
                 "    #::field_numbers(&p@, r, a, &t@);\n");
    fputs("}\n", out);
}
