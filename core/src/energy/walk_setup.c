/* What walk.cu needs of rigid molecules and of sums over waves. */
#include "energy/walk_setup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "system/molecule_kinds.h"

/* ---- Numbers that change --------------------------------------------------------------------------- */

enum { MOST_ENTRIES = 1 << 21 }; /* of all boxes: 16 MiB for each potential */

/* Boxes for which there are tables. */
static int64_t boxes_of(const plugmc_system *system)
{
    return system->changes & PLUGMC_CHANGED_BOX ? system->walkers : 1;
}

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
    const int64_t most = MOST_ENTRIES / boxes_of(system);
    int64_t entries = 1;
    for (int32_t s = 0; s < system->species_count; s++) {
        row[s] = fixed[s] = 0;
        if (has_sites(system, s) || !may_change(system, s)) continue;
        row[s] = entries;
        entries *= system->first[s + 1] - system->first[s] + 1;
        if (entries > most) return 0;
    }
    for (int32_t k = 0; system->molecules && k < system->molecules->kinds; k++) {
        const plugmc_molecule *kind = plugmc_kind_of_molecule(system->molecules, k);
        const int32_t a = counted_site(kind), s = kind->species[a];
        if (!kind->changes) continue;
        row[s] = entries;
        fixed[s] = plugmc_species_at(system, s)->count - kind->count * kind->stride[a];
        entries *= kind->capacity * kind->stride[a] + 1;
        if (entries > most) return 0;
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
    if (counts && !counts_in_table(system)) return NULL;
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

/* ---- What depends on boxes ------------------------------------------------------------------------------ */

int walk_setup_tables(const hamiltonian *h, const plugmc_host *host, walk_task *task)
{
    const plugmc_system *system = h->system;
    const size_t species = (size_t)system->species_count, terms = (size_t)system->term_count;
    int64_t row[species], fixed[species];
    plugmc_device_pointer there[3];
    if (!h->any_total || !(system->changes & PLUGMC_CHANGED_COUNT)) return PLUGMC_OK;
    task->entries = walk_rows(system, row, fixed);
    const size_t of_box = terms * (size_t)task->entries, boxes = (size_t)boxes_of(system);
    int code = host->gpu->allocate(host->context, boxes * of_box * sizeof(double), &there[0]);
    if (!code) code = put(host, row, sizeof row, &there[1]);
    if (!code) code = put(host, fixed, sizeof fixed, &there[2]);
    if (code) return code;
    task->by_count = at_device(there[0]);
    task->count_row = boxes > 1 ? of_box : 0;
    task->row = at_device(there[1]);
    task->fixed = at_device(there[2]);
    return PLUGMC_OK;
}

/* Energies of totals by counts in a box: [terms][entries]. Of a sum over waves what does not depend on positions. */
static void fill_table(const hamiltonian *h, const plugmc_box *box, const int64_t *row,
                       int64_t entries, double *table)
{
    int64_t count[h->system->species_count];
    for (int64_t n = 0; n < entries; n++) {
        if (!walk_counts_of(h->system, row, n, count)) continue;
        for (int k = 0; k < h->count; k++) {
            const energy_term *t = &h->terms[k];
            if (t->total)
                table[t->index * entries + n] = t->total->of_counts(t->of->instance, box, count);
        }
    }
}

static int make_boxes(const hamiltonian *h, const plugmc_host *host, walk_boxes *known,
                      const walk_task *task)
{
    const plugmc_system *system = h->system;
    const size_t species = (size_t)system->species_count, boxes = (size_t)boxes_of(system),
                 entries = (size_t)system->term_count * (size_t)task->entries,
                 weights = (size_t)task->waves.weight_row;
    int64_t fixed[species];
    known->box = calloc(boxes, sizeof *known->box);
    known->row = calloc(species, sizeof *known->row);
    known->weight = weights ? calloc(boxes * weights, sizeof *known->weight) : NULL;
    known->table = task->by_count ? calloc(boxes * entries, sizeof *known->table) : NULL;
    if (!known->box || !known->row || (weights && !known->weight) ||
        (task->by_count && !known->table))
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for trial moves");
    if (known->table) walk_rows(system, known->row, fixed);
    return PLUGMC_OK;
}

void walk_boxes_free(walk_boxes *known)
{
    free(known->box), free(known->weight), free(known->table), free(known->row);
}

int walk_follow_boxes(const hamiltonian *h, const plugmc_host *host, const plugmc_box *box,
                      walk_boxes *known, const walk_task *task)
{
    const size_t boxes = (size_t)boxes_of(h->system), row = (size_t)task->waves.weight_row,
                 entries = (size_t)h->system->term_count * (size_t)task->entries;
    const plugmc_term *term = on_device_waves(h->system);
    bool any = false;
    if (!row && !task->by_count) return PLUGMC_OK;
    int code = known->box ? PLUGMC_OK : make_boxes(h, host, known, task);
    for (size_t w = 0; w < boxes && !code; w++) {
        if (!memcmp(&known->box[w], &box[w], sizeof *box)) continue;
        any = true;
        known->box[w] = box[w];
        if (known->table)
            fill_table(h, &box[w], known->row, task->entries, known->table + w * entries);
        if (row)
            code = term->plugin->potential->total->weights(term->instance, &box[w], (int32_t)w,
                                                           known->weight + w * row);
    }
    if (!code && any && row)
        code =
            host->gpu->upload(host->context, (plugmc_device_pointer)(uintptr_t)task->waves.weight,
                              known->weight, boxes * row * sizeof(double));
    if (!code && any && known->table)
        code = host->gpu->upload(host->context, (plugmc_device_pointer)(uintptr_t)task->by_count,
                                 known->table, boxes * entries * sizeof(double));
    return code;
}

/* ---- Molecules -------------------------------------------------------------------------------------- */

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
