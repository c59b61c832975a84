/* Asking a many-body term about a configuration, and displacements of single particles in it. */
#include "engine/total_examination.h"

#include <math.h>
#include <string.h>

#include "base/crash.h"

double examination_draw(examination *x)
{
    const plugmc_random r = plugmc_draw((plugmc_seed){.key = 0x746f74616c73}, x->draws++, 0, 0,
                                        PLUGMC_PURPOSE_TRIAL, 0);
    return plugmc_uniform_double(r.word[0], r.word[1]);
}

static void clear(double *values, size_t n, double to)
{
    for (size_t k = 0; values && k < n; k++) values[k] = to;
}

bool examination_wrote(const double *values, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (values[k] != 0 || !signbit(values[k])) return true;
    return false;
}

int examination_ask(examination *x, question asked)
{
    const plugmc_system *system = &x->engine->system;
    const plugmc_host *host = x->term->host;
    const size_t walkers = (size_t)system->walkers;
    plugmc_view view = {.size = sizeof view};
    const int code = host->view(host->context, x->positions, 0, &view);
    if (code) return code;
    view.box = x->boxes;
    view.count = x->counts;
    view.walkers = x->walkers;
    const plugmc_total_request request = {.size = sizeof request,
                                          .view = &view,
                                          .energy = asked.energy,
                                          .forces = asked.forces,
                                          .virial = asked.virial};
    clear(asked.energy, walkers, 0);
    clear(asked.forces, 3 * walkers * (size_t)system->particles, -0.0);
    clear(asked.virial, 3 * walkers, -0.0);
    crash_calling_potential(x->term->label, "energy");
    return x->total->energy(x->term->instance, &request);
}

int64_t examination_present(const examination *x, int32_t w)
{
    int64_t n = 0;
    for (int32_t s = 0; s < x->engine->system.species_count; s++)
        n += x->counts[w * x->engine->system.species_count + s];
    return n;
}

bool examination_draw_move(examination *x, int32_t w, examined_move *m)
{
    const plugmc_system *system = &x->engine->system;
    const int64_t n = examination_present(x, w);
    int64_t k = (int64_t)(examination_draw(x) * (double)n);
    int32_t s = 0;
    if (n < 1) return false;
    for (; k >= x->counts[w * system->species_count + s]; s++)
        k -= x->counts[w * system->species_count + s];
    m->walker = w;
    m->particle = system->first[s] + k;
    const double step = 0.1 * pow(x->boxes[w].volume / (double)n, 1.0 / system->box.dimension);
    const double *at = x->positions + 3 * (w * system->particles + m->particle);
    for (int d = 0; d < 3; d++) {
        m->from[d] = m->to[d] = at[d];
        if (d < system->box.dimension)
            m->to[d] +=
                step * (0.5 + 0.5 * examination_draw(x)) * (examination_draw(x) < 0.5 ? -1 : 1);
    }
    plugmc_wrap(&x->boxes[w], m->to);
    /* out of a sphere nothing is asked */
    return system->box.domain != PLUGMC_DOMAIN_SPHERE ||
           m->to[0] * m->to[0] + m->to[1] * m->to[1] + m->to[2] * m->to[2] <=
               system->box.radius * system->box.radius;
}

void examination_put(examination *x, const examined_move *m, const double at[3])
{
    memcpy(x->positions + 3 * (m->walker * x->engine->system.particles + m->particle), at,
           3 * sizeof *at);
}
