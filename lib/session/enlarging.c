/* See enlarging.h. */
#include "session/enlarging.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "system/system.h"

/* Capacity with which a run begins again: doubled, so that it happens seldom. */
static int64_t more_than(int64_t capacity) { return 2 * capacity + 32; }

static bool grows(const session *session, int32_t s)
{
    return plugmc_species_at(&session->engine.system, s)->grows != 0;
}

bool arrays_are_full(const session *session)
{
    const walker_energy *walkers = session->engine.current.hamiltonian.walkers;
    for (int32_t w = 0; w < session->engine.system.walkers && walkers; w++)
        if (walkers[w].full && grows(session, walkers[w].full - 1)) return true;
    return false;
}

void enlarge_arrays(session *session, int64_t *capacity)
{
    const walker_energy *walkers = session->engine.current.hamiltonian.walkers;
    for (int32_t s = 0; s < session->engine.system.species_count; s++) {
        const plugmc_species *species = plugmc_species_at(&session->engine.system, s);
        bool full = false;
        for (int32_t w = 0; w < session->engine.system.walkers && walkers; w++)
            full |= walkers[w].full == s + 1;
        capacity[s] = !species->grows ? 0 : full ? more_than(species->capacity) : species->capacity;
        if (capacity[s] > species->capacity)
            report_note(session->engine.report,
                        "room for %lld of [species %s] a walker was not enough: the run goes on "
                        "with room for %lld",
                        (long long)species->capacity, species->name, (long long)capacity[s]);
    }
}

/* Room of each species in a file, [species]; NULL: it says none. */
static const int64_t *capacity_in(const output_data *data, int species)
{
    for (int i = 0; i < data->blob_count; i++) {
        const blob *b = &data->blobs[i];
        if (!strcmp(b->name, "run/room") && b->bytes == (size_t)species * sizeof(int64_t))
            return b->data;
    }
    return NULL;
}

void capacity_of_file(config *config, const output_data *data)
{
    const int64_t *capacity = capacity_in(data, config->species_count);
    for (int s = 0; s < config->species_count && capacity; s++)
        if (capacity[s] > config->species[s].capacity) config->species[s].capacity = capacity[s];
}

/* Whether capacities in a file, which is not trusted, are those of its positions. */
static bool fits(const int64_t *capacity, int32_t species, int64_t particles)
{
    int64_t sum = 0;
    for (int32_t s = 0; s < species; s++) {
        if (capacity[s] < 0 || capacity[s] > particles - sum) return false;
        sum += capacity[s];
    }
    return sum == particles;
}

int spread_over_capacity(session *session, const output_data *data, double *positions)
{
    const plugmc_system *system = &session->engine.system;
    const size_t numbers = 3 * (size_t)system->walkers * (size_t)system->particles;
    const int64_t *capacity = capacity_in(data, system->species_count);
    if (!capacity && data->particles == system->particles) {
        memcpy(positions,
               data->positions + numbers / (size_t)system->walkers *
                                     (size_t)session->engine.processes.first_walker,
               numbers * sizeof *positions);
        return 0;
    }
    if (!capacity || !fits(capacity, system->species_count, data->particles))
        return report_error(session->engine.report, EXIT_CHECKPOINT, NULL, 0,
                            "the checkpoint has room for %lld particles, the run for %lld",
                            (long long)data->particles, (long long)system->particles);
    for (size_t i = 0; i < numbers; i++) positions[i] = NAN;
    for (int32_t w = 0; w < system->walkers; w++) {
        const double *from =
            data->positions + 3 * (session->engine.processes.first_walker + w) * data->particles;
        double *to = positions + 3 * w * system->particles;
        for (int32_t s = 0; s < system->species_count; s++) {
            const int64_t here = system->first[s + 1] - system->first[s];
            for (int64_t i = 0; i < capacity[s]; i++) {
                if (isnan(from[3 * i])) continue;
                if (i >= here) {
                    if (!grows(session, s))
                        return report_error(session->engine.report, EXIT_CHECKPOINT, NULL, 0,
                                            "the checkpoint has more of a species than the run");
                    session->engine.config.species[s].capacity = capacity[s];
                    return ARRAYS_FULL;
                }
                memcpy(&to[3 * (system->first[s] + i)], &from[3 * i], 3 * sizeof *to);
            }
            from += 3 * capacity[s];
        }
    }
    return 0;
}

int spread_orientations(session *session, const output_data *data, const plugmc_orientation *from,
                        plugmc_orientation *to)
{
    const plugmc_system *system = &session->engine.system;
    const int64_t *capacity = capacity_in(data, system->species_count);
    if (!capacity || !fits(capacity, system->species_count, data->particles))
        return report_error(session->engine.report, EXIT_CHECKPOINT, NULL, 0,
                            "the checkpoint has orientations of %lld particles, the run %lld",
                            (long long)data->particles, (long long)system->particles);
    for (int64_t i = 0; i < system->walkers * system->particles; i++)
        to[i] = plugmc_upright(system->box.dimension);
    from += session->engine.processes.first_walker * data->particles;
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t s = 0; s < system->species_count; from += capacity[s++]) {
            const int64_t here = system->first[s + 1] - system->first[s];
            memcpy(to + w * system->particles + system->first[s], from,
                   (size_t)(capacity[s] < here ? capacity[s] : here) * sizeof *to);
        }
    return 0;
}
