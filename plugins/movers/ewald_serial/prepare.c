/* What is made before the first sweep: waves, units, memory, kernels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../join_texts.h"
#include "ewald_serial.h"

PLUGMC_EMBED(sum_of_block_text, SUM_OF_BLOCK_FILE);
PLUGMC_EMBED(ewald_serial_kernels, PLUGMC_KERNEL_FILE);

/* ---- Waves ----------------------------------------------------------------------------------- */

/* Whether this term has a total facet that has to be summed; its waves if so. */
static int waves_of(const plugmc_host *host, const plugmc_term *term, int *there, plugmc_waves *out)
{
    const plugmc_potential *p = term->plugin->potential;
    *there = term->sampled && p->total && plugmc_follows_positions(p->total) &&
             (p->total->beside_parts || !(p->pair || p->field));
    if (!*there) return PLUGMC_OK;
    if (!PLUGMC_HAS(p->total, waves) || !p->total->waves)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "potential '%s' is not a sum over waves that this mover supports "
                          "on the GPU: use '" ES_WITHOUT "'",
                          term->label);
    *out = (plugmc_waves){.size = sizeof *out};
    return p->total->waves(term->instance, out);
}

/* The waves of all terms in one list. */
static int take_waves(ewald_serial *s, const plugmc_host *host)
{
    const plugmc_system *system = s->system;
    int64_t count = 0;
    for (int fill = 0; fill < 2; fill++) {
        int64_t at = 0;
        for (int32_t k = 0; k < system->term_count; k++) {
            plugmc_waves waves;
            int there;
            int code = waves_of(host, plugmc_term_at(system, k), &there, &waves);
            if (code) return code;
            if (!there) continue;
            if (fill) {
                memcpy(s->wave + at, waves.n, (size_t)waves.count * sizeof *s->wave);
                memcpy(s->weight + at, waves.weight, (size_t)waves.count * sizeof *s->weight);
                for (int64_t w = 0; w < waves.count; w++) s->term[at + w] = (uint32_t)k;
                s->constant[k] += waves.constant;
            }
            at += waves.count;
        }
        if (fill) break;
        count = at;
        s->wave = host->allocate(host->context, (size_t)count * sizeof *s->wave);
        s->weight = host->allocate(host->context, (size_t)count * sizeof *s->weight);
        s->term = host->allocate(host->context, (size_t)count * sizeof *s->term);
        s->constant =
            host->allocate(host->context, ((size_t)system->term_count + 1) * sizeof *s->constant);
        if (!s->wave || !s->weight || !s->term || !s->constant)
            return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld waves",
                              (long long)count);
    }
    if (count > 1 << 24 || system->walkers > 65535 || system->particles > 1 << 28)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there can be 2^24 waves, 65535 walkers and 2^28 particles, not %lld, %d "
                          "and %lld",
                          (long long)count, system->walkers, (long long)system->particles);
    s->task.waves = (uint32_t)count;
    return PLUGMC_OK;
}

/* ---- Units and memory ------------------------------------------------------------------------ */

/* Particles that are in no molecule, or with ES_RIGID molecules. */
static void count_units(ewald_serial *s)
{
    const plugmc_system *system = s->system;
    const plugmc_molecules *all = system->molecules;
    es_task *t = &s->task;
    t->units = ES_RIGID && all ? (uint32_t)all->count : 0;
    t->most = 1;
    for (int64_t i = 0; i < system->particles && !ES_RIGID; i++)
        t->units += !all || system->molecule[i] < 0;
    for (int32_t k = 0; ES_RIGID && all && k < all->kinds; k++) {
        const uint32_t sites = (uint32_t)plugmc_kind_of_molecule(all, k)->sites;
        if (sites > t->most) t->most = sites;
    }
}

/* The least multiple of `each` of which `most` are as many as n. */
static uint32_t shares_of(uint32_t n, uint32_t each, uint32_t most)
{
    const uint32_t shares = es_blocks_of(n, each * most);
    return each * (shares ? shares : 1);
}

static void describe_system(ewald_serial *s)
{
    const plugmc_system *system = s->system;
    const plugmc_box *box = &system->box;
    es_task *t = &s->task;
    double reach = 0;
    memcpy(t->length, box->length, sizeof t->length);
    memcpy(t->vector, box->vector, sizeof t->vector);
    memcpy(t->inverse, box->inverse, sizeof t->inverse);
    t->dimension = box->dimension;
    t->oblique = box->oblique;
    t->particles = (uint32_t)system->particles;
    t->walkers = (uint32_t)system->walkers;
    t->wave_blocks = es_blocks_of(t->waves, ES_THREADS);
    t->block_particles = shares_of(t->particles, ES_THREADS, 16);
    t->block_waves = shares_of(t->waves, ES_TILE, 512);
    t->particle_blocks = es_blocks_of(t->particles, t->block_particles);
    count_units(s);
    t->chunks = es_blocks_of(t->waves, t->block_waves);
    for (int32_t k = 0; k < system->term_count; k++) {
        const plugmc_term *term = plugmc_term_at(system, k);
        const plugmc_pair *pair = term->plugin->potential->pair;
        if (term->sampled && pair) reach = fmax(reach, pair->range(term->instance));
    }
    t->reach_square = reach * reach * (1 + 1e-9);
}

static int take_memory(ewald_serial *s, const plugmc_host *host)
{
    es_task *t = &s->task;
    const size_t n = t->particles, walkers = t->walkers, waves = t->waves,
                 moves = walkers * ES_BATCH, units = t->units,
                 listed = s->system->molecules != NULL, rigid = ES_RIGID,
                 kinds = rigid ? (size_t)s->system->molecules->kinds : 0;
    const struct {
        void *array; /* address of the pointer */
        size_t bytes;
    } wanted[] = {
        {&t->plan, sizeof *t->plan},
        {&t->state, walkers * sizeof *t->state},
        {&t->species, n * sizeof *t->species},
        {&t->wave, 3 * waves * sizeof *t->wave},
        {&t->weight, waves * sizeof *t->weight},
        {&t->positions, 3 * walkers * n * sizeof *t->positions},
        {&t->structure, 2 * walkers * waves * sizeof *t->structure},
        {&t->from, 3 * moves * t->most * sizeof *t->from},
        {&t->to, 3 * moves * t->most * sizeof *t->to},
        {&t->alone, moves * sizeof *t->alone},
        {&t->shift, 2 * moves * waves * sizeof *t->shift},
        {&t->wave_part, moves * t->wave_blocks * sizeof *t->wave_part},
        {&t->pair_part, moves * t->particle_blocks * sizeof *t->pair_part},
        {&t->couple_part, moves * ES_BATCH * t->chunks * sizeof *t->couple_part},
        {&t->between, walkers * (2 * t->most + 1) * ES_TRIANGLE * sizeof *t->between},
        {&t->accepted, moves * sizeof *t->accepted},
        {&t->share, walkers * n * sizeof *t->share},
        {&t->rung, (size_t)s->by_walker * walkers * sizeof *t->rung},
        {&t->coupling,
         (s->coupling ? walkers * (size_t)s->system->term_count : 0) * sizeof *t->coupling},
        {&t->wave_term, waves * sizeof *t->wave_term},
        {&t->member, listed * units * t->most * sizeof *t->member},
        {&t->unit_of, listed * n * sizeof *t->unit_of},
        {&t->molecule, listed * n * sizeof *t->molecule},
        {&t->box, rigid * sizeof *t->box},
        {&t->kinds, kinds * sizeof *t->kinds},
        {&t->kind, rigid * units * sizeof *t->kind},
        {&t->turned, rigid * walkers * n * sizeof *t->turned},
        {&t->turn, rigid * moves * sizeof *t->turn},
    };
    int code = PLUGMC_OK;
    for (int k = 0; k < PLUGMC_COUNT(wanted) && !code; k++) {
        plugmc_device_pointer at = 0;
        if (wanted[k].bytes) code = host->gpu->allocate(host->context, wanted[k].bytes, &at);
        memcpy(wanted[k].array, &(void *){(void *)(uintptr_t)at}, sizeof(void *));
    }
    s->structure = host->allocate(host->context, es_structure_bytes(s));
    s->state = host->allocate(host->context, walkers * sizeof *s->state);
    if (!code && (!s->structure || !s->state))
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu waves", waves);
    return code;
}

static int upload_constants(ewald_serial *s, const plugmc_host *host)
{
    const plugmc_system *system = s->system;
    const es_task *t = &s->task;
    const size_t bytes = (size_t)system->particles * sizeof(uint32_t);
    uint32_t *species = host->allocate(host->context, bytes);
    if (!species)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the species");
    for (int32_t a = 0; a < system->species_count; a++)
        for (int64_t i = system->first[a]; i < system->first[a + 1]; i++) species[i] = (uint32_t)a;
    int code = host->gpu->upload(host->context, es_device(t->species), species, bytes);
    if (!code && t->waves)
        code = host->gpu->upload(host->context, es_device(t->wave), s->wave,
                                 t->waves * sizeof *s->wave);
    if (!code && t->waves)
        code = host->gpu->upload(host->context, es_device(t->weight), s->weight,
                                 t->waves * sizeof *s->weight);
    if (!code && t->waves)
        code = host->gpu->upload(host->context, es_device(t->wave_term), s->term,
                                 t->waves * sizeof *s->term);
    return code;
}

/* Which unit has which particles: in `member` [units][most], `unit_of` [particles] and `kind` [units]. */
static void list_units(const ewald_serial *s, uint32_t *member, uint32_t *unit_of, uint32_t *kind)
{
    const plugmc_system *system = s->system;
    const plugmc_molecules *all = system->molecules;
    const es_task *t = &s->task;
    uint32_t unit = 0;
    for (int64_t i = 0; i < system->particles; i++) {
        unit_of[i] = ES_NOBODY;
        if (ES_RIGID || system->molecule[i] >= 0) continue;
        unit_of[i] = unit;
        member[unit++] = (uint32_t)i;
    }
    for (int32_t k = 0; ES_RIGID && k < all->kinds; k++) {
        const plugmc_molecule *own = plugmc_kind_of_molecule(all, k);
        for (int64_t m = 0; m < own->count; m++, unit++) {
            kind[unit] = (uint32_t)k;
            for (int32_t a = 0; a < own->sites; a++) {
                const int64_t i = plugmc_site_number(own, m, a);
                member[(size_t)unit * t->most + (size_t)a] = (uint32_t)i;
                unit_of[i] = unit;
            }
        }
    }
}

static int upload_units(const ewald_serial *s, const plugmc_host *host)
{
    const plugmc_molecules *all = s->system->molecules;
    const es_task *t = &s->task;
    const plugmc_gpu *gpu = host->gpu;
    const size_t n = t->particles, units = t->units;
    int code = PLUGMC_OK;
    if (!all) return PLUGMC_OK;
    uint32_t *member = calloc(units * t->most + 1, sizeof *member),
             *unit_of = calloc(n, sizeof *unit_of), *kind = calloc(units + 1, sizeof *kind);
    plugmc_molecule *kinds = calloc((size_t)all->kinds, sizeof *kinds);
    if (!member || !unit_of || !kind || !kinds)
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for the molecules");
    if (!code) list_units(s, member, unit_of, kind);
    for (int32_t k = 0; k < all->kinds && !code; k++) {
        kinds[k] = *plugmc_kind_of_molecule(all, k);
        kinds[k].name = NULL;
    }
    const struct {
        const void *to, *from;
        size_t bytes;
    } arrays[] = {
        {t->member, member, units * t->most * sizeof *member},
        {t->unit_of, unit_of, n * sizeof *unit_of},
        {t->molecule, s->system->molecule, n * sizeof *t->molecule},
        {t->box, &s->system->box, sizeof *t->box},
        {t->kinds, kinds, (size_t)all->kinds * sizeof *kinds},
        {t->kind, kind, units * sizeof *kind},
    };
    for (int k = 0; k < (ES_RIGID ? PLUGMC_COUNT(arrays) : 3) && !code; k++)
        code = gpu->upload(host->context, es_device(arrays[k].to), arrays[k].from, arrays[k].bytes);
    free(member), free(unit_of), free(kind), free(kinds);
    return code;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

int es_gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    static const char *const defines[2][2][4] = {
        {{ES_WHAT, "ES_LISTED=0", "ES_BY_WALKER=0", NULL},
         {ES_WHAT, "ES_LISTED=0", "ES_BY_WALKER=1", NULL}},
        {{ES_WHAT, "ES_LISTED=1", "ES_BY_WALKER=0", NULL},
         {ES_WHAT, "ES_LISTED=1", "ES_BY_WALKER=1", NULL}}};
    (void)instance;
    if (index > 0) return 0;
    out->name = ES_NAME ".cu";
    out->defines =
        defines[host->system->molecules != NULL][host->system->weighted || host->system->rungs > 1];
    out->source =
        join_texts(host, (const char *const[]){sum_of_block_text, ewald_serial_kernels, NULL});
    out->fuse = PLUGMC_FUSE_SAMPLED;
    out->double_precision = 1;
    return out->source != NULL;
}

static int load_kernels(ewald_serial *s, const plugmc_host *host)
{
    static const char *const names[KERNELS] = {
        [PROPOSE] = "es_propose", [PAIRS] = "es_pairs",         [WAVES] = "es_waves",
        [COUPLE] = "es_couple",   [BETWEEN] = "es_between",     [DECIDE] = "es_decide",
        [APPLY] = "es_apply",     [STRUCTURE] = "es_structure", [ENERGIES] = "es_energies"};
    plugmc_gpu_source text = {.size = sizeof text};
    int code = es_gpu_source(s, host, 0, &text) ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (int k = 0; k < KERNELS && !code; k++)
        code = host->gpu->kernel(host->context, &text, names[k], &s->kernel[k]);
    return code;
}

/* Walkers as they begin. */
static int take_walkers(ewald_serial *s, const plugmc_host *host)
{
    const plugmc_system *system = s->system;
    const size_t walkers = (size_t)system->walkers, terms = (size_t)system->term_count;
    s->rungs = system->rungs > 1 ? system->rungs : 1;
    s->by_walker = system->weighted || s->rungs > 1;
    const size_t rungs = (size_t)s->rungs;
    s->on_rung = host->allocate(host->context, walkers * sizeof *s->on_rung);
    s->rung = host->allocate(host->context, walkers * sizeof *s->rung);
    s->steps = host->allocate(host->context, ES_KINDS * rungs * sizeof *s->steps);
    s->counted = host->allocate(host->context, ES_KINDS * rungs * sizeof *s->counted);
    if (system->weighted)
        s->coupling = host->allocate(host->context, walkers * terms * sizeof *s->coupling);
    if (!s->on_rung || !s->rung || !s->steps || !s->counted || (system->weighted && !s->coupling))
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %zu walkers", walkers);
    for (size_t k = 0; k < ES_KINDS * rungs; k++) s->steps[k] = k < rungs ? s->step : s->turn;
    return PLUGMC_OK;
}

int es_prepare(void *instance, const plugmc_host *host)
{
    ewald_serial *s = instance;
    s->system = host->system;
    s->seed = host->seed;
    if (ES_RIGID && !s->system->molecules)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "there are no rigid molecules to move: describe them in a section "
                          "[molecule NAME]");
    int code = take_walkers(s, host);
    if (!code) code = take_waves(s, host);
    if (code) return code;
    describe_system(s);
    code = take_memory(s, host);
    if (!code) code = upload_constants(s, host);
    if (!code) code = upload_units(s, host);
    return code ? code : load_kernels(s, host);
}
