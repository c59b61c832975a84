/* spme_moves.c: one particle at a time, and some that come or leave, on the CPU. The mesh is evaluated anew for each
 * trial move, which takes as long as the energy of the whole walker: for few charges, and for movers of another
 * kind beside which boxes or numbers change. (What a move changes could be told from the potential on the grid, but
 * an accepted one would still need a transform.) What is kept is the energy of a configuration, which is the same
 * however it came about, so there is nothing to be archived. */
#include <math.h>
#include <string.h>

#include "spme.h"

/* The trial of a walker that waits for settle: where one particle goes, or a whole configuration, of which several have gone
 * elsewhere or come and left. */
typedef struct trial {
    int waits, whole;
    int64_t particle;
    double position[3], energy;
} trial;

struct spme_moves {
    double *positions; /* [walkers][particles][3] */
    int64_t *count;    /* [walkers][species] */
    plugmc_box *box;   /* [walkers] */
    double *energy;    /* [walkers], where it is known */
    int32_t *known;    /* [walkers] */
    double *sums;      /* [walkers], room to work in */
    trial *trial;      /* [walkers] */
    /* Of walkers whose trial is `whole`, as positions and count; the latter is NULL where numbers do not change. */
    double *other_positions;
    int64_t *other_count;
};

static int make_moves(spme *m)
{
    const plugmc_host *host = m->host;
    const size_t walkers = (size_t)host->system->walkers,
                 species = walkers * (size_t)host->system->species_count,
                 numbers = 3 * walkers * (size_t)host->system->particles;
    struct spme_moves *s = host->allocate(host->context, sizeof *s);
    if (s) {
        s->positions = host->allocate(host->context, numbers * sizeof *s->positions);
        s->count = host->allocate(host->context, species * sizeof *s->count);
        s->box = host->allocate(host->context, walkers * sizeof *s->box);
        s->energy = host->allocate(host->context, walkers * sizeof *s->energy);
        s->known = host->allocate(host->context, walkers * sizeof *s->known);
        s->sums = host->allocate(host->context, walkers * sizeof *s->sums);
        s->trial = host->allocate(host->context, walkers * sizeof *s->trial);
        s->other_positions = host->allocate(host->context, numbers * sizeof *s->positions);
    }
    if (s && m->counts_change)
        s->other_count = host->allocate(host->context, species * sizeof *s->count);
    if (!s || !s->positions || !s->count || !s->box || !s->energy || !s->known || !s->sums ||
        !s->trial || !s->other_positions || (m->counts_change && !s->other_count))
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
    if (m->counts_change)
        memcpy(s->count, view->count,
               walkers * (size_t)m->host->system->species_count * sizeof *s->count);
    memset(s->known, 0, walkers * sizeof *s->known);
    for (size_t w = 0; w < walkers; w++) s->trial[w].waits = 0;
    return PLUGMC_OK;
}

/* Of a walker of these [walkers]. */
static int find_energy(spme *m, int32_t walker, const double *positions, const int64_t *count,
                       double *energy)
{
    const struct spme_moves *s = m->moves;
    const plugmc_view view = {
        .size = sizeof view, .positions = positions, .box = s->box, .count = count};
    const plugmc_total_request request = {.size = sizeof request, .view = &view, .energy = s->sums};
    s->sums[walker] = 0;
    const int code = spme_host_walker(m, &request, walker);
    *energy = s->sums[walker];
    return code;
}

/* The energy as it is. */
static int know_energy(spme *m, int32_t walker)
{
    struct spme_moves *s = m->moves;
    if (s->known[walker]) return PLUGMC_OK;
    const int code = find_energy(m, walker, s->positions, s->count, &s->energy[walker]);
    s->known[walker] = !code;
    return code;
}

int spme_change(spme *m, int32_t walker, int64_t particle, const double position[3], double *change)
{
    struct spme_moves *s = m->moves;
    double *at = s->positions + 3 * (walker * m->host->system->particles + particle), from[3];
    s->trial[walker] = (trial){1, 0, particle, {position[0], position[1], position[2]}, 0};
    if (m->charge[particle] == 0) return PLUGMC_OK;
    int code = know_energy(m, walker);
    if (code) return code;
    memcpy(from, at, sizeof from);
    memcpy(at, position, sizeof from);
    code = find_energy(m, walker, s->positions, s->count, &s->trial[walker].energy);
    memcpy(at, from, sizeof from);
    *change += s->trial[walker].energy - s->energy[walker];
    return code;
}

static int32_t species_of(const plugmc_system *system, int64_t i)
{
    int32_t a = 0;
    while (i >= system->first[a + 1]) a++;
    return a;
}

/* positions and count of the walker, after this. */
static void turn_over(const plugmc_system *system, const plugmc_insert_remove *x, double *positions,
                      int64_t *count)
{
    for (int32_t k = 0; k < x->removed; k++) {
        const int32_t a = species_of(system, x->particle[k]);
        const int64_t last = system->first[a] + --count[a];
        memmove(&positions[3 * x->particle[k]], &positions[3 * last], 3 * sizeof *positions);
        for (int d = 0; d < 3; d++) positions[3 * last + d] = NAN;
    }
    for (int32_t k = 0; k < x->inserted; k++) {
        const int64_t i = system->first[x->species[k]] + count[x->species[k]]++;
        memcpy(&positions[3 * i], x->position[k], 3 * sizeof *positions);
    }
}

int spme_insert_remove(spme *m, int32_t walker, const plugmc_insert_remove *x, double *change)
{
    const plugmc_system *system = m->host->system;
    struct spme_moves *s = m->moves;
    const int64_t numbers = 3 * system->particles, species = system->species_count;
    double *positions = s->other_positions + walker * numbers;
    int64_t *count = s->other_count + walker * species;
    s->trial[walker] = (trial){.waits = 1, .whole = 1};
    memcpy(positions, s->positions + walker * numbers, (size_t)numbers * sizeof *positions);
    memcpy(count, s->count + walker * species, (size_t)species * sizeof *count);
    turn_over(system, x, positions, count);
    int code = know_energy(m, walker);
    if (!code)
        code = find_energy(m, walker, s->other_positions, s->other_count, &s->trial[walker].energy);
    *change += s->trial[walker].energy - s->energy[walker];
    return code;
}

int spme_displace(spme *m, int32_t walker, const plugmc_displacements *x, double *change)
{
    struct spme_moves *s = m->moves;
    const int64_t numbers = 3 * m->host->system->particles;
    double *positions = s->other_positions + walker * numbers;
    s->trial[walker] = (trial){.waits = 1, .whole = 1};
    memcpy(positions, s->positions + walker * numbers, (size_t)numbers * sizeof *positions);
    if (m->counts_change)
        memcpy(s->other_count + walker * m->host->system->species_count,
               s->count + walker * m->host->system->species_count,
               (size_t)m->host->system->species_count * sizeof *s->count);
    for (int32_t k = 0; k < x->n; k++)
        memcpy(&positions[3 * x->particle[k]], x->position[k], 3 * sizeof *positions);
    int code = know_energy(m, walker);
    if (!code)
        code = find_energy(m, walker, s->other_positions, s->other_count, &s->trial[walker].energy);
    *change += s->trial[walker].energy - s->energy[walker];
    return code;
}

static void take_whole(spme *m, int32_t walker)
{
    struct spme_moves *s = m->moves;
    const int64_t numbers = 3 * m->host->system->particles,
                  species = m->host->system->species_count;
    memcpy(s->positions + walker * numbers, s->other_positions + walker * numbers,
           (size_t)numbers * sizeof *s->positions);
    if (m->counts_change)
        memcpy(s->count + walker * species, s->other_count + walker * species,
               (size_t)species * sizeof *s->count);
}

int spme_settle(spme *m, int32_t walker, int accepted)
{
    struct spme_moves *s = m->moves;
    const trial t = s->trial[walker];
    if (!t.waits)
        return m->host->fail(m->host->context, PLUGMC_ERROR_STATE,
                             "no particle of walker %d has been moved", walker);
    s->trial[walker].waits = 0;
    if (!accepted) return PLUGMC_OK;
    if (t.whole)
        take_whole(m, walker);
    else
        memcpy(s->positions + 3 * (walker * m->host->system->particles + t.particle), t.position,
               sizeof t.position);
    if (t.whole || m->charge[t.particle] != 0) s->energy[walker] = t.energy;
    return PLUGMC_OK;
}
