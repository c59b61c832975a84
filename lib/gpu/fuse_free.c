/* Sums of derivatives by free numbers (plugmc/free.h) in fused kernels. */
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

static void put_list(FILE *out, const plugmc_system *system, const char *name, int function)
{
    fprintf(out, "#define %s(DO)", name);
    for (int i = 0; i < system->term_count; i++) {
        const plugmc_free *facet = fuse_free_of(plugmc_term_at(system, i));
        if (facet && facet->functions & function)
            fprintf(out, " DO(%lld, plugmc_p%d)", (long long)fuse_free_sums(system, i), i);
    }
    fputs("\n", out);
}

void fuse_free_put(FILE *out, const plugmc_system *system)
{
    put_list(out, system, "PLUGMC_FOR_PAIR_NUMBERS", PLUGMC_FREE_PAIR);
    put_list(out, system, "PLUGMC_FOR_FIELD_NUMBERS", PLUGMC_FREE_FIELD);
}
