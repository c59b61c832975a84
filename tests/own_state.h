/* A state of its own for a context that no run has made: views take boxes from there. */
#ifndef TESTS_OWN_STATE_H
#define TESTS_OWN_STATE_H

#include "engine/services.h"
#include "engine/state.h"

/* `host` is that of the context; both and its system stay where they are. A few calls later the memory
 * is used again. */
static inline void own_state(plugmc_context *context, const plugmc_host *host)
{
    enum { KEPT = 8 };
    static state kept[KEPT];
    static const ladder none = {.rungs = 1};
    static int last;
    state *s = &kept[last++ % KEPT];
    state_end(s);
    state_begin(s, host->system, &none, host, 0, host->system->walkers);
    context->stage->state = &s->face;
}

#endif
