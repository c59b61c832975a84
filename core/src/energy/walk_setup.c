/* What walk.cu needs of rigid molecules and of sums over waves. */
#include "energy/walk_setup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "system/molecule_kinds.h"

/* ---- Numbers that change --------------------------------------------------------------------------- */

enum { MOST_ENTRIES = 1 << 21 }; /* 16 MiB for each potential */

/* The site of a kind whose species has the fewest of them in a molecule. */
static int32_t counted_site(const plugmc_molecule *kind)
{
    int32_t least = 0;
    for (int32_t a = 1; a < kind->sites; a++)
        if (kind->stride[a] < kind->stride[least]) least = a;
    return least;
}

static bool may_change(const plugmc_system *system, int32_t s)
{
    const plugmc_species *one = plugmc_species_at(system, s);
    return system->species_count == 1 || one->capacity > one->count || one->grows ||
           !isnan(one->mu);
}

int64_t walk_rows(const plugmc_system *system, int64_t *row, int64_t *fixed)
{
    int64_t entries = 1;
    for (int32_t s = 0; s < system->species_count; s++) {
        row[s] = fixed[s] = 0;
        if (has_sites(system, s) || !may_change(system, s)) continue;
        row[s] = entries;
        entries *= system->first[s + 1] - system->first[s] + 1;
        if (entries > MOST_ENTRIES) return 0;
    }
    for (int32_t k = 0; system->molecules && k < system->molecules->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(system->molecules, k);
        const int32_t a = counted_site(kind), s = kind->species[a];
        if (!kind->changes) continue;
        row[s] = entries;
        fixed[s] = plugmc_species_at(system, s)->count - kind->count * kind->stride[a];
        entries *= kind->capacity * kind->stride[a] + 1;
        if (entries > MOST_ENTRIES) return 0;
    }
    return entries;
}

bool walk_counts_of(const plugmc_system *system, const int64_t *row, int64_t entry, int64_t *count)
{
    for (int32_t s = 0; s < system->species_count; s++) {
        count[s] = plugmc_species_at(system, s)->count;
        if (row[s] && !has_sites(system, s))
            count[s] = entry / row[s] % (system->first[s + 1] - system->first[s] + 1);
    }
    for (int32_t k = 0; system->molecules && k < system->molecules->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(system->molecules, k);
        const int32_t a = counted_site(kind);
        if (!kind->changes) continue;
        const int64_t sites =
            entry / row[kind->species[a]] % (kind->capacity * kind->stride[a] + 1);
        if (sites % kind->stride[a]) return false;
        for (int32_t b = 0; b < kind->sites; b++)
            count[kind->species[b]] += sites / kind->stride[a] - kind->count;
    }
    return true;
}

/* ---- Waves ----------------------------------------------------------------------------------------- */

/* Whether the part of a sum over waves that depends on counts alone is known. */
static bool counts_in_waves(const plugmc_total *total)
{
    return PLUGMC_HAS(total, of_counts) && total->of_counts;
}

static bool weights_in_waves(const plugmc_total *total)
{
    return PLUGMC_HAS(total, weights) && total->weights;
}

static bool counts_in_table(const plugmc_system *system)
{
    int64_t row[system->species_count], fixed[system->species_count];
    return walk_rows(system, row, fixed) > 0;
}

const plugmc_term *on_device_waves(const plugmc_system *system)
{
    const plugmc_term *found = NULL;
    const bool boxes = system->changes & PLUGMC_CHANGED_BOX,
               counts = system->changes & PLUGMC_CHANGED_COUNT;
    if ((boxes && counts) || (counts && !counts_in_table(system))) return NULL;
    for (int32_t k = 0; k < system->term_count; k++) {
        const plugmc_term *term = plugmc_term_at(system, k);
        const plugmc_total *total = term->plugin->potential->total;
        if (!term->sampled || !total || !plugmc_follows_positions(total)) continue;
        if (found || !total->waves || !total->beside_parts || (counts && !counts_in_waves(total)) ||
            (boxes && !weights_in_waves(total)))
            return NULL;
        found = term;
    }
    return found;
}

uint32_t on_device_beside(const plugmc_system *system)
{
    const bool reservoir = system->molecules && system->changes & PLUGMC_CHANGED_COUNT;
    return (system->molecules ? BESIDE_MOLECULES : 0u) |
           (on_device_waves(system) ? BESIDE_WAVES : 0u) | (reservoir ? BESIDE_RESERVOIR : 0u) |
           (system->bodies && !system->molecules ? BESIDE_BODIES : 0u);
}

/* A copy of `bytes` on the device. */
static int put(const plugmc_host *host, const void *what, size_t bytes, plugmc_device_pointer *out)
{
    const int code = host->gpu->allocate(host->context, bytes, out);
    return code ? code : host->gpu->upload(host->context, *out, what, bytes);
}

static int32_t index_of(const plugmc_system *system, const plugmc_term *term)
{
    int32_t k = 0;
    while (plugmc_term_at(system, k) != term) k++;
    return k;
}

/* What the factors of the waves are about, on the device. */
static int put_waves(const hamiltonian *h, const plugmc_host *host, const plugmc_waves *waves,
                     walk_waves *out)
{
    const size_t count = (size_t)waves->count, walkers = (size_t)h->system->walkers,
                 factors = 2 * walkers * count * sizeof(double);
    plugmc_device_pointer n, weight, structure, shift;
    int16_t(*small)[4] = calloc(count, sizeof *small);
    if (!small) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for waves");
    for (size_t k = 0; k < count; k++)
        for (int d = 0; d < 3; d++) {
            const uint32_t m = (uint32_t)abs(waves->n[k][d]);
            small[k][d] = (int16_t)waves->n[k][d];
            if (m > out->most[d]) out->most[d] = m;
        }
    int code = put(host, small, count * sizeof *small, &n);
    free(small);
    if (!code && out->weight_row)
        code = host->gpu->allocate(host->context, walkers * count * sizeof(double), &weight);
    else if (!code)
        code = put(host, waves->weight, count * sizeof(double), &weight);
    if (!code) code = host->gpu->allocate(host->context, factors, &structure);
    if (!code) code = host->gpu->allocate(host->context, factors, &shift);
    if (code) return code;
    out->n = at_device(n);
    out->weight = at_device(weight);
    out->structure = at_device(structure);
    out->shift = at_device(shift);
    return PLUGMC_OK;
}

int walk_setup_waves(const hamiltonian *h, const plugmc_host *host, walk_waves *out)
{
    const plugmc_term *term = on_device_waves(h->system);
    plugmc_waves waves = {.size = sizeof waves};
    if (!term) return PLUGMC_OK;
    const int code = term->plugin->potential->total->waves(term->instance, &waves);
    *out = (walk_waves){.count = (uint32_t)waves.count, .term = index_of(h->system, term)};
    if (h->system->changes & PLUGMC_CHANGED_BOX) out->weight_row = out->count;
    return code || !waves.count ? code : put_waves(h, host, &waves, out);
}

int walk_weigh_waves(const hamiltonian *h, const plugmc_host *host, const plugmc_box *box,
                     walk_weights *known, const walk_waves *waves)
{
    const size_t walkers = (size_t)h->system->walkers, row = waves->weight_row;
    const plugmc_term *term = on_device_waves(h->system);
    bool any = false;
    int code = PLUGMC_OK;
    if (!row) return code;
    if (!known->box) known->box = calloc(walkers, sizeof *known->box);
    if (!known->weight) known->weight = calloc(walkers * row, sizeof *known->weight);
    if (!known->box || !known->weight)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for weights of waves");
    for (size_t w = 0; w < walkers && !code; w++) {
        if (!memcmp(&known->box[w], &box[w], sizeof *box)) continue;
        any = true;
        known->box[w] = box[w];
        code = term->plugin->potential->total->weights(term->instance, &box[w], (int32_t)w,
                                                       known->weight + w * row);
    }
    return code || !any
               ? code
               : host->gpu->upload(host->context, (plugmc_device_pointer)(uintptr_t)waves->weight,
                                   known->weight, walkers * row * sizeof(double));
}

int on_device_kinds(const plugmc_host *host, plugmc_device_pointer *out)
{
    plugmc_device_pointer kinds;
    *out = 0;
    if (!host->system->molecules) return PLUGMC_OK;
    plugmc_molecules all = *host->system->molecules;
    const int code = put(host, all.kind, (size_t)all.kinds * all.kind_size, &kinds);
    if (code) return code;
    all.kind = at_device(kinds);
    return put(host, &all, sizeof all, out);
}

int walk_setup_molecules(const hamiltonian *h, const plugmc_host *host, walk_task *task)
{
    const plugmc_system *system = h->system;
    const size_t species = (size_t)system->species_count;
    plugmc_device_pointer first, count;
    if (!system->molecules) return PLUGMC_OK;
    int64_t fixed[species];
    for (size_t s = 0; s < species; s++) fixed[s] = h->free.fixed[s] ? h->free.count[s] : -1;
    int code = put(host, h->free.first, (species + 1) * sizeof *h->free.first, &first);
    if (!code) code = put(host, fixed, sizeof fixed, &count);
    if (code) return code;
    task->molecules = at_device(h->device->molecules);
    task->free_first = at_device(first);
    task->free_count = at_device(count);
    return PLUGMC_OK;
}
