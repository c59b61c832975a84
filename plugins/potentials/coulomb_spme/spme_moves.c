/* spme_moves.c: one particle at a time, on the CPU. The mesh is evaluated anew for each trial move,
 * which takes as long as the energy of the whole walker: for few charges, and for movers of another
 * kind beside which boxes change. What is kept is the energy of a configuration, which is the same
 * however it came about, so there is nothing to be archived. */
#include <string.h>

#include "spme.h"

/* The trial move of a walker that waits for settle. */
typedef struct trial {
    int64_t particle; /* -1: none */
    double position[3], energy;
} trial;

struct spme_moves {
    double *positions; /* [walkers][particles][3] */
    plugmc_box *box;   /* [walkers] */
    double *energy;    /* [walkers], where it is known */
    int32_t *known;    /* [walkers] */
    double *sums;      /* [walkers], room to work in */
    trial *trial;      /* [walkers] */
};

static int make_moves(spme *m)
{
    const plugmc_host *host = m->host;
    const size_t walkers = (size_t)host->system->walkers,
                 numbers = 3 * walkers * (size_t)host->system->particles;
    struct spme_moves *s = host->allocate(host->context, sizeof *s);
    if (s) {
        s->positions = host->allocate(host->context, numbers * sizeof *s->positions);
        s->box = host->allocate(host->context, walkers * sizeof *s->box);
        s->energy = host->allocate(host->context, walkers * sizeof *s->energy);
        s->known = host->allocate(host->context, walkers * sizeof *s->known);
        s->sums = host->allocate(host->context, walkers * sizeof *s->sums);
        s->trial = host->allocate(host->context, walkers * sizeof *s->trial);
    }
    if (!s || !s->positions || !s->box || !s->energy || !s->known || !s->sums || !s->trial)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu positions",
                          numbers / 3);
    m->moves = s;
    return PLUGMC_OK;
}

int spme_start(spme *m, const plugmc_view *view)
{
    const size_t walkers = (size_t)m->host->system->walkers,
                 numbers = 3 * walkers * (size_t)m->host->system->particles;
    const int code = m->moves ? PLUGMC_OK : make_moves(m);
    if (code) return code;
    struct spme_moves *s = m->moves;
    memcpy(s->positions, view->positions, numbers * sizeof *s->positions);
    if (m->limit.stretch > 0) memcpy(s->box, view->box, walkers * sizeof *s->box);
    memset(s->known, 0, walkers * sizeof *s->known);
    for (size_t w = 0; w < walkers; w++) s->trial[w].particle = -1;
    return PLUGMC_OK;
}

static int find_energy(spme *m, int32_t walker, double *energy)
{
    const struct spme_moves *s = m->moves;
    const plugmc_view view = {.size = sizeof view, .positions = s->positions, .box = s->box};
    const plugmc_total_request request = {.size = sizeof request, .view = &view, .energy = s->sums};
    s->sums[walker] = 0;
    const int code = spme_host_walker(m, &request, walker);
    *energy = s->sums[walker];
    return code;
}

int spme_change(spme *m, int32_t walker, int64_t particle, const double position[3], double *change)
{
    struct spme_moves *s = m->moves;
    double *at = s->positions + 3 * (walker * m->host->system->particles + particle), from[3];
    int code = PLUGMC_OK;
    s->trial[walker] = (trial){particle, {position[0], position[1], position[2]}, 0};
    if (m->charge[particle] == 0) return PLUGMC_OK;
    if (!s->known[walker]) code = find_energy(m, walker, &s->energy[walker]);
    if (code) return code;
    s->known[walker] = 1;
    memcpy(from, at, sizeof from);
    memcpy(at, position, sizeof from);
    code = find_energy(m, walker, &s->trial[walker].energy);
    memcpy(at, from, sizeof from);
    *change += s->trial[walker].energy - s->energy[walker];
    return code;
}

int spme_settle(spme *m, int32_t walker, int accepted)
{
    struct spme_moves *s = m->moves;
    const trial t = s->trial[walker];
    if (t.particle < 0)
        return m->host->fail(m->host->context, PLUGMC_ERROR_STATE,
                             "no particle of walker %d has been moved", walker);
    s->trial[walker].particle = -1;
    if (!accepted) return PLUGMC_OK;
    memcpy(s->positions + 3 * (walker * m->host->system->particles + t.particle), t.position,
           sizeof t.position);
    if (m->charge[t.particle] != 0) s->energy[walker] = t.energy;
    return PLUGMC_OK;
}
