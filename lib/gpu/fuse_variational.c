/* Sums of derivatives by variational parameters (plugmc/variational.h) in fused kernels. */
#include "base/crash.h"
#include "gpu/gpu.h"

const plugmc_variational *fuse_variational_of(const plugmc_term *term)
{
    const plugmc_potential *potential = term->plugin->potential;
    const plugmc_variational *facet = potential && (potential->pair || potential->field)
                                          ? plugmc_variational_of(term->plugin)
                                          : NULL;
    return term->sampled && facet && facet->functions ? facet : NULL;
}

int64_t fuse_variational_sums(const plugmc_system *system, int index)
{
    int64_t sums = 0;
    for (int i = 0; i < index; i++) {
        const plugmc_term *term = plugmc_term_at(system, i);
        const plugmc_variational *facet = fuse_variational_of(term);
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
        const plugmc_variational *facet = fuse_variational_of(plugmc_term_at(system, i));
        if (facet && facet->functions & function)
            fprintf(out, " DO(%lld, plugmc_p%d)", (long long)fuse_variational_sums(system, i), i);
    }
    fputs("\n", out);
}

void fuse_variational_put(FILE *out, const plugmc_system *system)
{
    put_list(out, system, "PLUGMC_FOR_PAIR_VARIATIONAL", PLUGMC_VARIATIONAL_PAIR);
    put_list(out, system, "PLUGMC_FOR_FIELD_VARIATIONAL", PLUGMC_VARIATIONAL_FIELD);
}
