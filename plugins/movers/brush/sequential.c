/* sequential.c: what movers of the sequential Metropolis sweep share, see sequential.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../join_texts.h"
#include "sequential.h"

/* Fixed-point units of a kT on the device, [precision]: BRUSH_UNIT of pairs.cu. */
static const double unit[] = {[SINGLE] = 0x1p32, [DOUBLE] = 0x1p36};

/* ---- Preparation ----------------------------------------------------------------------------- */

/* Terms without a pair energy first: hard cores on the CPU are looked up in cells. */
static int sort_terms(sequential *me, const plugmc_host *host)
{
    const plugmc_system *system = me->system;
    me->terms = host->allocate(host->context, (size_t)(system->term_count + 1) * sizeof *me->terms);
    if (!me->terms) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for terms");
    for (int energies = 0; energies < 2; energies++)
        for (int32_t t = 0; t < system->term_count; t++) {
            const plugmc_term *of = plugmc_term_at(system, t);
            const int single = me->precision == SINGLE;
            const plugmc_pair *pair = of->plugin->potential->pair;
            if (!of->sampled || (pair && pair->functions & PLUGMC_PAIR_ENERGY) != energies)
                continue;
            if (!pair && !of->plugin->potential->field) continue; /* a constant */
            const plugmc_plugin *plugin = single ? of->plugin_single : of->plugin;
            me->terms[me->term_count++] =
                (term){of, plugin->potential->pair, of->plugin->potential->field,
                       single ? of->instance_single : of->instance};
            if (!energies) me->hard_count = me->term_count;
        }
    return PLUGMC_OK;
}

/* What float makes of a large box shows: contacts widened by a part of 1e-4 change the pressure of a fluid by as much
 * as its error bar, or more. */
static void warn_of_rounding(const sequential *me, const plugmc_host *host)
{
    const double wider = contact_margin(host->system, &host->system->box, me->precision) - 1,
                 quantum = me->domain.quantum / largest_contact(host->system);
    if (wider > 1e-4)
        host->warn(host->context,
                   "precision: single would widen hard cores by %.1g of the largest contact "
                   "distance in this large box, because of rounding: use precision = double",
                   wider);
    else if (isfinite(quantum) && quantum > 1e-2)
        host->warn(host->context,
                   "precision: single would round positions to %.1g of the largest contact "
                   "distance in this large domain: use precision = double",
                   quantum);
}

int sequential_prepare(sequential *me, const plugmc_host *host)
{
    me->system = host->system;
    me->seed = host->seed;
    me->real_size = me->precision == SINGLE ? sizeof(float) : sizeof(double);
    me->domain = domain_of(&host->system->box, me->precision);
    me->now.energy =
        host->allocate(host->context, (size_t)host->system->walkers * sizeof *me->now.energy);
    if (!me->now.energy)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for energies");
    warn_of_rounding(me, host);
    TRY(walkers_prepare(me, host));
    return sort_terms(me, host);
}

/* Whether walkers differ, or will. */
static int by_walker(const plugmc_system *system)
{
    return system->weighted || system->rungs > 1 || system->changes & PLUGMC_CHANGED_BOX;
}

void sequential_count(sequential *me, uint64_t n)
{
    if (me->spread && me->spread->part > 0) return; /* the first one counts those of all */
    for (int32_t w = 0; w < me->system->walkers; w++)
        me->counts[me->now.on_rung[w]].trials += n * (uint64_t)me->system->particles;
}

/* ---- On the device --------------------------------------------------------------------------- */

void sequential_define(sequential *me, const char *name, int number)
{
    char *text = me->kernels.defines[me->kernels.define_count];
    snprintf(text, sizeof me->kernels.defines[0], "%s=%d", name, number);
    me->kernels.define_list[me->kernels.define_count++] = text;
}

/* Numbers that all texts need; BRUSH_MARGIN is a factor on squares. */
static void define_common(sequential *me, const plugmc_host *host)
{
    char *stored = me->kernels.defines[me->kernels.define_count++],
         *margin = me->kernels.defines[me->kernels.define_count++];
    snprintf(stored, sizeof me->kernels.defines[0], "BRUSH_STORED=%s",
             me->precision == SINGLE ? "float" : "double");
    snprintf(margin, sizeof me->kernels.defines[0], "BRUSH_MARGIN=%.17g",
             pow(contact_margin(host->system, &host->system->box, me->precision), 2));
    me->kernels.define_list[me->kernels.define_count - 2] = stored;
    me->kernels.define_list[me->kernels.define_count - 1] = margin;
    if (me->precision == DOUBLE) sequential_define(me, "BRUSH_DOUBLE", 1);
    sequential_define(me, "BRUSH_BY_WALKER", by_walker(host->system));
}

int sequential_gpu_source(sequential *me, const plugmc_host *host, const device_text *texts,
                          int index, plugmc_gpu_source *out)
{
    if (index >= TEXTS) return 0;
    if (!me->kernels.texts[0]) {
        define_common(me, host);
        for (int k = 0; k < TEXTS; k++) {
            me->kernels.texts[k] = join_texts(host, texts[k].part);
            if (!me->kernels.texts[k]) return 0;
        }
    }
    plugmc_set_gpu_source(out,
                          &(plugmc_gpu_source){
                              .name = texts[index].name,
                              .source = me->kernels.texts[index],
                              .defines = me->kernels.define_list,
                              .fuse = PLUGMC_FUSE_SAMPLED,
                              .double_precision = texts[index].in_double || me->precision == DOUBLE,
                              .contract = texts[index].contract,
                          });
    return 1;
}

static int allocate_on_device(sequential *me, const plugmc_host *host)
{
    device_state *d = &me->d;
    const size_t n = (size_t)me->system->particles, walkers = (size_t)me->system->walkers;
    const size_t places = (size_t)d->padded * walkers;
    const struct {
        plugmc_device_pointer *to;
        size_t bytes;
    } wanted[] = {{&d->place, places * 4 * me->real_size},
                  {&d->before, places * 4 * me->real_size},
                  {&d->trials.moved, places * 4 * me->real_size},
                  {&d->trials.trial, places * 16},
                  {&d->trials.outcome, me->outcome_bytes * walkers},
                  {&d->sum, places * 8},
                  {&d->hit, places * 4},
                  {&d->done, (size_t)d->panels * walkers * 4},
                  {&d->decided, walkers * 4},
                  {&d->ticket, walkers * 4},
                  {&d->role, 4},
                  {&d->failed, 16},
                  {&d->accepted, walkers * 8},
                  {&d->energy, walkers * 8},
                  {&d->sweep, 8},
                  {&d->step, 8},
                  {&me->d_positions, 3 * n * walkers * 8},
                  {&me->d_rows, n * walkers * 8},
                  {&d->now.each, walkers * sizeof *me->now.of},
                  {&d->now.weight, walkers * ((size_t)me->system->term_count + 1) * 8},
                  {&d->now.margin, walkers * 8},
                  {&d->now.boxes, walkers * sizeof *me->now.box}};
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++)
        if (!*wanted[k].to) /* places that others write are there */
            TRY(host->gpu->allocate(host->context, wanted[k].bytes, wanted[k].to));
    return walkers_upload(me, host);
}

int sequential_prepare_device(sequential *me, const plugmc_host *host, const device_text *texts)
{
    const struct {
        int text;
        const char *name;
        plugmc_kernel **to;
    } kernels[] = {{TEXT_PROPOSE, "brush_propose", &me->kernels.propose},
                   {TEXT_PROPOSE, "brush_store", &me->kernels.store},
                   {TEXT_ENERGY, "brush_energy", &me->kernels.energy}};
    for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
        plugmc_gpu_source text = {.size = sizeof text};
        if (!sequential_gpu_source(me, host, texts, kernels[k].text, &text))
            return PLUGMC_ERROR_MEMORY;
        TRY(host->gpu->kernel(host->context, &text, kernels[k].name, kernels[k].to));
    }
    me->d.particles = (int32_t)me->system->particles;
    me->d.walkers = me->system->walkers;
    TRY(allocate_on_device(me, host));
    return host->gpu->upload(host->context, me->d.step, me->steps, sizeof *me->steps);
}

int sequential_propose(sequential *me, const plugmc_host *host)
{
    plugmc_seed seed = host->seed;
    const uint32_t grid[3] = {(uint32_t)(me->system->particles + 255) / 256,
                              (uint32_t)me->system->walkers, 1};
    const uint32_t block[3] = {256, 1, 1};
    void *arguments[] = {&me->d, &me->domain, &seed};
    return host->gpu->launch(host->context, me->kernels.propose, grid, block, 0, arguments);
}

/* What the device has added up since it was last asked. */
static int take_sums(sequential *me, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    const int32_t walkers = me->system->walkers;
    const size_t bytes = (size_t)walkers * sizeof(int64_t);
    if (!gpu) return PLUGMC_OK;
    int64_t *energy = malloc(2 * bytes), *accepted = energy + walkers;
    if (!energy) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for energies");
    int code = gpu->download(host->context, accepted, me->d.accepted, bytes);
    if (!code) code = gpu->download(host->context, energy, me->d.energy, bytes);
    if (!code) code = gpu->fill(host->context, me->d.accepted, 0, bytes);
    if (!code) code = gpu->fill(host->context, me->d.energy, 0, bytes);
    for (int32_t w = 0; w < walkers && !code; w++) {
        me->now.energy[w] += (double)energy[w] / unit[me->precision];
        me->counts[me->now.on_rung[w]].accepted += (uint64_t)accepted[w];
    }
    free(energy);
    return code;
}

/* ---- Energy ---------------------------------------------------------------------------------- */

static int write_positions(sequential *, const plugmc_host *, double *positions);

static double fields_of_all(const sequential *me, int32_t w, const double *positions)
{
    const plugmc_system *system = me->system;
    double energy = 0;
    int64_t unused = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
            plugmc_particle p = {positions[3 * i],
                                 positions[3 * i + 1],
                                 positions[3 * i + 2],
                                 plugmc_species_at(system, s)->charge,
                                 plugmc_species_at(system, s)->diameter,
                                 s};
            energy += sequential_fields(me, w, &p, &unused);
        }
    return energy;
}

/* Sum over pairs in double, row by row, in order. rows [particles] is scratch. */
static double pairs_of_all(const sequential *me, int32_t w, const double *positions, double *rows,
                           double *soa, int32_t *species)
{
    const plugmc_system *system = me->system;
    const int64_t n = system->particles;
    double sum = 0;
    for (int32_t s = 0; s < system->species_count; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
            for (int d = 0; d < 3; d++) soa[d * n + i] = positions[3 * i + d];
            soa[3 * n + i] = plugmc_species_at(system, s)->charge;
            soa[4 * n + i] = plugmc_species_at(system, s)->diameter;
            species[i] = s;
        }
#pragma omp parallel for num_threads(system->threads) schedule(dynamic, 16)
    for (int64_t i = 0; i < n; i++) {
        const plugmc_particle probe = {soa[i],         soa[n + i],     soa[2 * n + i],
                                       soa[3 * n + i], soa[4 * n + i], species[i]};
        const int64_t j = i + 1;
        const plugmc_particles others = {n - j,           soa + j,         soa + n + j,
                                         soa + 2 * n + j, soa + 3 * n + j, soa + 4 * n + j,
                                         species + j};
        rows[i] = 0;
        for (int t = 0; t < me->term_count; t++) {
            const plugmc_term *of = me->terms[t].of;
            const double weight = weight_of(me, w, &me->terms[t]);
            double own = 0, *sum = me->now.weight ? &own : &rows[i];
            if (!me->terms[t].pair || !(me->terms[t].pair->functions & PLUGMC_PAIR_ENERGY))
                continue;
            of->plugin->potential->pair->energy(of->instance, &me->now.box[w], me->domain.periodic,
                                                &probe, &others, sum);
            if (me->now.weight && weight != 0) rows[i] += weight * own;
        }
    }
    for (int64_t i = 0; i < n; i++) sum += rows[i];
    return sum;
}

/* The energy of every walker as it is, in double precision. */
static int fresh_energy(sequential *me, const plugmc_host *host, double *energy)
{
    const plugmc_system *system = me->system;
    const size_t n = (size_t)system->particles, walkers = (size_t)system->walkers;
    double *positions = malloc(3 * n * walkers * sizeof *positions),
           *rows = malloc(n * walkers * sizeof *rows);
    double *soa = malloc(5 * n * sizeof *soa);
    int32_t *species = malloc(n * sizeof *species);
    int code = positions && rows && soa && species
                   ? PLUGMC_OK
                   : host->fail(host->context, PLUGMC_ERROR_MEMORY,
                                "no memory for the energy of %zu particles", n);
    if (host->gpu && !code) {
        const uint32_t block[3] = {ENERGY_BLOCK, 1, 1};
        energy_share own = share_of_energy(me, me->spread ? me->spread->part : 0);
        const uint32_t grid[3] = {(uint32_t)own.count, (uint32_t)walkers, 1};
        void *arguments[] = {&me->d.place,     &me->d.particles,  &me->d.padded, &me->d_rows,
                             &me->d.now.boxes, &me->d.now.weight, &own.first};
        if (own.count)
            code = host->gpu->launch(host->context, me->kernels.energy, grid, block, 0, arguments);
        if (!code) code = write_positions(me, host, (double *)(uintptr_t)me->d_positions);
        if (!code)
            code = host->gpu->download(host->context, rows, me->d_rows, n * walkers * sizeof *rows);
        if (!code)
            code = host->gpu->download(host->context, positions, me->d_positions,
                                       3 * n * walkers * sizeof *positions);
    } else if (!code) {
        code = write_positions(me, host, positions);
    }
    if (me->spread) code = join_rows(me, host, code, rows);
    for (size_t w = 0; w < walkers && !code; w++) {
        energy[w] = fields_of_all(me, (int32_t)w, positions + 3 * n * w);
        if (host->gpu)
            for (size_t i = 0; i < n; i++) energy[w] += rows[w * n + i];
        else
            energy[w] += pairs_of_all(me, (int32_t)w, positions + 3 * n * w, rows, soa, species);
    }
    free(positions);
    free(rows);
    free(soa);
    free(species);
    return code;
}

static int refresh_energy(sequential *me, const plugmc_host *host)
{
    const size_t walkers = (size_t)me->system->walkers;
    double *fresh = malloc(walkers * sizeof *fresh);
    int code = fresh ? fresh_energy(me, host, fresh)
                     : host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for energies");
    for (size_t w = 0; w < walkers && !code; w++) me->now.energy[w] = fresh[w];
    me->now.energy_known = 1;
    me->now.sweeps_since = 0;
    free(fresh);
    return code;
}

int sequential_running_energy(void *instance, const plugmc_host *host, double *energy)
{
    sequential *me = instance;
    TRY(take_sums(me, host));
    if (!me->now.energy_known || (me->refresh > 0 && me->now.sweeps_since >= (uint64_t)me->refresh))
        TRY(refresh_energy(me, host));
    memcpy(energy, me->now.energy, (size_t)me->system->walkers * sizeof *energy);
    return PLUGMC_OK;
}

/* ---- Positions in and out -------------------------------------------------------------------- */

static int load_on_device(sequential *me, const plugmc_host *host, const double *positions)
{
    const plugmc_system *system = me->system;
    const size_t padded = (size_t)me->d.padded,
                 bytes = padded * (size_t)system->walkers * 4 * me->real_size;
    void *places = calloc(1, bytes);
    if (!places) return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t s = 0; s < system->species_count; s++)
            for (int64_t i = system->first[s]; i < system->first[s + 1]; i++) {
                const int64_t at = 4 * ((int64_t)padded * w + i);
                for (int d = 0; d < 3; d++)
                    set(me, places, at + d, positions[3 * (w * system->particles + i) + d]);
                set(me, places, at + 3, s);
            }
    int code = host->gpu->upload(host->context, me->d.place, places, bytes);
    free(places);
    return code;
}

int sequential_take(void *instance, const plugmc_host *host, const plugmc_state *state,
                    uint32_t changed)
{
    sequential *me = instance;
    const plugmc_system *system = me->system;
    const size_t count = (size_t)(system->particles * system->walkers);
    double *positions;
    TRY(take_sums(me, host)); /* of the rungs on which they were made */
    int code = walkers_take(me, host, state, changed);
    me->now.energy_known = 0;
    if (code || !(changed & ~(PLUGMC_CHANGED_MULTIPLIER | PLUGMC_CHANGED_RUNG))) return code;
    if (!host->gpu && system->changes & PLUGMC_CHANGED_BOX) cpu_boxes(me);
    code = plugmc_state_positions(state, PLUGMC_ON_HOST, PLUGMC_READ, &positions);
    if (code) return code;
    double *places = malloc(3 * count * sizeof *places);
    char *rounded = malloc(count); /* [walkers][particles]: 1 if the place has changed */
    if (!places || !rounded)
        code = host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for positions");
    for (size_t i = 0; i < count && !code; i++) {
        double *r = &places[3 * i];
        memcpy(r, &positions[3 * i], 3 * sizeof *r);
        const brush_domain *domain = &me->now.of[i / (size_t)system->particles].domain;
        brush_wrap(domain, r);
        brush_round(domain, r);
        rounded[i] = memcmp(r, &positions[3 * i], 3 * sizeof *r) != 0;
    }
    if (!code && me->domain.quantum > 0) code = part_touching(me, host, rounded, places);
    if (!code && host->gpu) code = load_on_device(me, host, places);
    if (!code && !host->gpu) cpu_load(me, places);
    free(places);
    free(rounded);
    return code;
}

int sequential_give(void *instance, const plugmc_host *host, const plugmc_state *state)
{
    double *positions;
    const int side = host->gpu ? PLUGMC_ON_DEVICE : PLUGMC_ON_HOST,
              code = plugmc_state_positions(state, side, PLUGMC_WRITE, &positions);
    return code ? code : write_positions(instance, host, positions);
}

/* To host memory, or to device memory on a GPU. */
static int write_positions(sequential *me, const plugmc_host *host, double *positions)
{
    const plugmc_system *system = me->system;
    const int64_t n = system->particles;
    if (host->gpu) {
        const uint32_t grid[3] = {(uint32_t)(n + 255) / 256, (uint32_t)system->walkers, 1};
        const uint32_t block[3] = {256, 1, 1};
        plugmc_device_pointer to = (plugmc_device_pointer)(uintptr_t)positions;
        void *arguments[] = {&me->d, &to};
        return host->gpu->launch(host->context, me->kernels.store, grid, block, 0, arguments);
    }
    cpu_store(me, positions);
    return PLUGMC_OK;
}

/* ---- The rest -------------------------------------------------------------------------------- */

double sequential_fields(const sequential *me, int32_t w, const plugmc_particle *p,
                         int64_t *forbidden)
{
    double energy = 0;
    const plugmc_particles one = {1, &p->x, &p->y, &p->z, &p->charge, &p->diameter, &p->species};
    for (int t = 0; t < me->term_count; t++) {
        const double weight = weight_of(me, w, &me->terms[t]);
        double own = 0, *sum = me->now.weight ? &own : &energy;
        if (!me->terms[t].field) continue;
        *forbidden += me->terms[t].field->energy(me->terms[t].of->instance, &one, sum);
        if (me->now.weight && weight != 0) energy += weight * own;
    }
    return energy;
}

/* To when the particle at `place` [walkers][padded] tried to move: those before it in its walker have
 * been decided, it and those after it are where they were. to: where it would have gone. */
static int go_back_to(const sequential *me, const plugmc_host *host, uint64_t place, double to[3])
{
    const device_state *d = &me->d;
    const uint64_t bytes = 4 * me->real_size, particle = place % (uint64_t)d->padded,
                   left = (uint64_t)d->particles - particle;
    double moved[4]; /* reals */
    TRY(host->gpu->copy(host->context, d->place + place * bytes, d->before + place * bytes,
                        left * bytes));
    TRY(host->gpu->download(host->context, moved, d->trials.moved + place * bytes, bytes));
    for (int k = 0; k < 3; k++) to[k] = get(me, moved, k);
    return PLUGMC_OK;
}

int sequential_check_device(const sequential *me, const plugmc_host *host, uint64_t last)
{
    uint64_t failed[2]; /* of state.h */
    double to[3];
    TRY(host->gpu->download(host->context, failed, me->d.failed, sizeof failed));
    if (!failed[0]) return PLUGMC_OK;
    const uint64_t place = ~failed[0], padded = (uint64_t)me->d.padded;
    TRY(go_back_to(me, host, place, to));
    const plugmc_not_a_number where = {.size = sizeof where,
                                       .walker = (int32_t)(place / padded),
                                       .particle = (int64_t)(place % padded),
                                       .sweep = last - failed[1],
                                       .trial = to};
    return host->not_a_number(host->context, &where);
}

int sequential_counts(void *instance, const plugmc_host *host, plugmc_counts *out, int clear)
{
    sequential *me = instance;
    TRY(take_sums(me, host));
    const size_t bytes = (size_t)me->rungs * sizeof *out;
    memcpy(out, me->counts, bytes);
    if (clear) memset(me->counts, 0, bytes);
    return PLUGMC_OK;
}

int sequential_archive(void *instance, const plugmc_host *host, plugmc_archive *archive)
{
    sequential *me = instance;
    TRY(take_sums(me, host)); /* when reading: so that nothing from before is added later */
    TRY(plugmc_archive_walkers(archive, "energy", me->now.energy, sizeof *me->now.energy));
    TRY(archive->bytes(archive, "energy_known", &me->now.energy_known,
                       sizeof me->now.energy_known));
    return archive->bytes(archive, "sweeps_since", &me->now.sweeps_since,
                          sizeof me->now.sweeps_since);
}
