#include "engine/molecules.h"

#include <stdlib.h>
#include <string.h>

#include "base/crash.h"

/* Of one instance, if it knows any: out [particles], -1: none. */
static int ask(engine *engine, instance *of, int32_t *out)
{
    const plugmc_potential *p = of->plugin->potential;
    if (!p || !p->total || !PLUGMC_HAS(p->total, molecule_of) || !p->total->molecule_of) return 0;
    context_calling(&of->context, "molecule_of");
    const int code = p->total->molecule_of(of->data, out);
    crash_called();
    for (int64_t i = 0; i < engine->system.particles && !code; i++)
        if (out[i] < 0) out[i] = -1;
    return context_exit_code(&of->context, code, "telling molecules");
}

static bool any(const int32_t *molecule, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (molecule[i] >= 0) return true;
    return false;
}

int molecules_find(engine *engine)
{
    const int64_t n = engine->system.particles;
    const size_t bytes = (size_t)n * sizeof(int32_t);
    int32_t *asked = checked(malloc(bytes ? bytes : 1));
    const instance *first = NULL;
    int code = 0;
    if (engine->system
            .molecules) { /* those of [molecule NAME], which many-body terms know already */
        free(asked);
        return 0;
    }
    for (int i = 0; i < engine->instance_count && !code; i++) {
        instance *of = &engine->instances[i];
        for (int64_t k = 0; k < n; k++) asked[k] = -1;
        code = ask(engine, of, asked);
        if (code || !any(asked, n)) continue;
        if (!first) {
            engine->molecule = checked(malloc(bytes));
            memcpy(engine->molecule, asked, bytes);
            first = of;
        } else if (memcmp(engine->molecule, asked, bytes)) {
            code = report_error(engine->report, EXIT_INPUT, of->context.file, of->context.line,
                                "[%s] its molecules differ from those of [%s]", of->context.section,
                                first->context.section);
        }
    }
    engine->system.molecule = engine->processes.whole.molecule = engine->molecule;
    free(asked);
    return code;
}
