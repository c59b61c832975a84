#include "engine/state.h"

#include <stdlib.h>
#include <string.h>

#include "system/both_sides.h"

static int array(const plugmc_state *, int what, int side, int access, void **out, size_t *row);

static size_t row_bytes(const plugmc_system *system, const ladder *ladder, int what)
{
    switch (what) {
    case PLUGMC_STATE_BOX: return sizeof(plugmc_box);
    case PLUGMC_STATE_COUNT: return (size_t)system->species_count * sizeof(int64_t);
    case PLUGMC_STATE_POSITION: return (size_t)system->particles * 3 * sizeof(double);
    case PLUGMC_STATE_MULTIPLIER: return (size_t)ladder->width * sizeof(double);
    case PLUGMC_STATE_RUNG: return sizeof(int32_t);
    case PLUGMC_STATE_WEIGHT: return sizeof(double);
    case PLUGMC_STATE_ORIENTATION:
        return system->bodies ? (size_t)system->particles * sizeof(plugmc_orientation) : 0;
    default: return (size_t)system->particles * sizeof(int32_t); /* species, molecule */
    }
}

void state_begin(state *s, const plugmc_system *system, const ladder *ladder,
                 const plugmc_host *host, int32_t first, int32_t all)
{
    *s = (state){.system = system, .first = first, .ladder = ladder, .host = host};
    s->face = (plugmc_state){.size = sizeof s->face,
                             .walkers = system->walkers,
                             .first_walker = (int32_t)system->seed.first_walker,
                             .all_walkers = (int32_t)system->seed.first_walker - first + all,
                             .capacity = system->particles,
                             .array = array,
                             .core = s,
                             .of_run = all};
    for (int k = 0; k < STATE_ARRAYS; k++)
        s->arrays[k] =
            (state_array){.row = row_bytes(system, ladder, k), .version = 1}; /* 0: unseen */
}

void state_end(state *s)
{
    for (int k = 0; k < STATE_ARRAYS; k++) free(s->arrays[k].host);
    *s = (state){0}; /* memory on the device goes with it */
}

double *state_positions(state *s, int side, int access, int *code)
{
    void *out = NULL;
    *code = s->face.array(&s->face, PLUGMC_STATE_POSITION, side, access, &out, NULL);
    return *code ? NULL : out;
}

uint32_t state_changes(const state *s, uint64_t *seen)
{
    uint32_t changed = 0;
    for (int k = 0; k < STATE_ARRAYS; k++) {
        if (s->arrays[k].version != seen[k]) changed |= 1u << k;
        seen[k] = s->arrays[k].version;
    }
    return changed;
}

/* ---- An array that is asked for -------------------------------------------------------------- */

/* An array that nobody has written: what the system says. Positions stay zero where somebody will be. */
static void fill_from_system(const state *s, int what, void *out)
{
    const plugmc_system *system = s->system;
    for (int32_t w = 0; w < system->walkers; w++) {
        const ladder *ladder = s->ladder;
        const int32_t rung = (s->first + w) % ladder->rungs;
        if (what == PLUGMC_STATE_BOX) ((plugmc_box *)out)[w] = system->box;
        if (what == PLUGMC_STATE_RUNG) ((int32_t *)out)[w] = rung;
        if (what == PLUGMC_STATE_MULTIPLIER)
            memcpy((double *)out + w * ladder->width, ladder->multipliers + rung * ladder->width,
                   (size_t)ladder->width * sizeof(double));
        for (int32_t k = 0; k < system->species_count; k++) {
            if (what == PLUGMC_STATE_COUNT)
                ((int64_t *)out)[w * system->species_count + k] =
                    plugmc_species_at(system, k)->count;
            for (int64_t i = system->first[k];
                 what == PLUGMC_STATE_SPECIES && i < system->first[k + 1]; i++)
                ((int32_t *)out)[w * system->particles + i] = k;
        }
        for (int64_t i = 0;
             what == PLUGMC_STATE_ORIENTATION && system->bodies && i < system->particles; i++)
            ((plugmc_orientation *)out)[w * system->particles + i] =
                plugmc_upright(system->box.dimension);
        for (int64_t i = 0; what == PLUGMC_STATE_MOLECULE && i < system->particles; i++)
            ((int32_t *)out)[w * system->particles + i] =
                system->molecule ? system->molecule[i] : -1;
    }
}

static int make_host(state *s, int what)
{
    state_array *a = &s->arrays[what];
    if (a->host) return PLUGMC_OK;
    a->host = calloc((size_t)s->face.walkers, a->row ? a->row : 1);
    if (!a->host)
        return s->host->fail(s->host->context, PLUGMC_ERROR_MEMORY,
                             "no memory for the configuration of %lld particles",
                             (long long)s->system->particles * s->system->walkers);
    if (a->on_host || a->on_device) return PLUGMC_OK;
    fill_from_system(s, what, a->host);
    a->on_host = 1;
    return PLUGMC_OK;
}

static int make_device(state *s, int what)
{
    state_array *a = &s->arrays[what];
    const size_t bytes = (size_t)s->face.walkers * a->row;
    return a->device ? PLUGMC_OK : s->host->gpu->allocate(s->host->context, bytes, &a->device);
}

/* The side asked for holds what the array is now. */
static int bring(state *s, int what, int side)
{
    const plugmc_gpu *gpu = s->host->gpu;
    state_array *a = &s->arrays[what];
    const size_t bytes = (size_t)s->face.walkers * a->row;
    int code = PLUGMC_OK;
    if (!a->on_device) code = make_host(s, what);
    if (side == PLUGMC_ON_HOST && !a->on_host && !code) {
        code = gpu->download(s->host->context, a->host, a->device, bytes);
        a->on_host = !code;
    } else if (side == PLUGMC_ON_DEVICE && !a->on_device && !code) {
        code = gpu->upload(s->host->context, a->device, a->host, bytes);
        a->on_device = !code;
    }
    return code;
}

/* plugmc_state.array */
static int array(const plugmc_state *face, int what, int side, int access, void **out, size_t *row)
{
    state *s = face->core;
    if (what < 0 || what >= STATE_ARRAYS || (side == PLUGMC_ON_DEVICE && !s->host->gpu))
        return s->host->fail(
            s->host->context, PLUGMC_ERROR_STATE,
            "array %d of the configuration was requested for memory space %d, which does not "
            "exist",
            what, side);
    state_array *a = &s->arrays[what];
    int code = access & PLUGMC_READ && s->fetch ? s->fetch(s->fetched_from, what) : PLUGMC_OK;
    if (!code) code = side == PLUGMC_ON_HOST ? make_host(s, what) : make_device(s, what);
    if (!code && access & PLUGMC_READ) code = bring(s, what, side);
    if (code) return code;
    if (access & PLUGMC_WRITE) {
        if (!(access & ON_BOTH_SIDES)) {
            a->on_host = side == PLUGMC_ON_HOST;
            a->on_device = side == PLUGMC_ON_DEVICE;
        }
        a->version++;
    }
    *out = side == PLUGMC_ON_HOST ? a->host : (void *)(uintptr_t)a->device;
    if (row) *row = a->row;
    return PLUGMC_OK;
}
