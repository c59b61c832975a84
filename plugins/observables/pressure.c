/* pressure: of hard cores with other forces between them, in one number. With kT = 1, V the volume, d
 * the dimension and S r^(d-1) the surface of a sphere (S = 2 pi or 4 pi),
 *
 *     P = N / V + (1 / (d V)) < virial of all forces >
 *               + (S / (2 d)) sum_ab rho_a rho_b s_ab^d g_ab(s_ab+)
 *
 * where s_ab is the contact distance of species a and b: J.-P. Hansen, I. R. McDonald, Theory of
 * Simple Liquids, sections 2.5 and 10.2 (the primitive model of electrolytes). P V / N kT is the
 * osmotic coefficient there.
 *
 * Contact values. A histogram of pair distances in (s, s (1 + fit_range)] gives g at points R_i. Near
 * contact g of a strongly attracting pair falls as steeply as exp(-u), and y = g exp(u) is what varies
 * slowly, with u the energy of the pair alone. So a polynomial is laid through
 * g(R_i) exp(u(R_i) - u(s)) and read off at s. Of an Ewald sum, u is the part in pairs, whose slope
 * near contact is all but that of the bare charges. What is left out of the first bin, and why, is
 * said in hard_pressure.c.
 *
 * The result is a sum of means, so it is a derived number; its error comes from blocks of the whole
 * sum, contact and virial together: where ions attract they partly cancel, and their errors are not
 * independent. In a box that changes, V is that of each sample, and so are the contacts and the osmotic
 * coefficient: both are linear in the counts, and no product of means.
 *
 * Where a pair energy jumps outside the core, as at the edge of a square well, the virial of all forces has a part of its
 * own, `jumps` (pair_jumps.h).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <plugmc/species_pairs.h>

#include "extrapolation.h"
#include "kept_frames.h"
#include "virials.h"

#include PLUGMC_KERNEL_FILE

PLUGMC_EMBED(contact_kernel, PLUGMC_KERNEL_FILE);

enum { MOST_BINS = 10000 };
enum { PRESSURE, OSMOTIC, CONTACTS, NUMBERS };

/* Two species with a hard core between them. */
typedef struct core {
    int32_t a, b;
    double contact; /* length */
    const char *g_name, *contact_name;
    double *radius;   /* [bins]: R_i, length */
    double *weight;   /* [bins]: g at contact is the sum of weight[i] g(R_i), i > 0 */
    double per_count; /* pressure of g = 1 at contact, kT, in the box at the start */
    double *g_factor; /* [bins]: g(R_i) of one pair of particles in bin i */
} core;

typedef struct pressure {
    /* parameters */
    real delta_r, fit_range;
    int64_t degree;

    virials virials;
    const plugmc_system *system;
    char unit[32];
    int32_t bins, cores;
    int32_t measured,
        derived;       /* numbers: with the virial those of one sample, those of the means */
    core *core;        /* [cores] */
    double *contact;   /* [species][species], length; 0 without a core */
    int32_t *slot;     /* [species][species]: number of the core */
    double largest;    /* contact distance */
    uint16_t *species; /* [particles] */
    uint32_t *counts;  /* [walkers][cores][bins], then one counter of overlaps */
    size_t count_bytes;

    kept_frames frames;
    plugmc_kernel *kernel;
    plugmc_device_pointer device_species, device_contact, device_slot, device_counts;
} pressure;

/* ---- What is measured ------------------------------------------------------------------------ */

static size_t numbers_of(const pressure *p) { return (size_t)p->cores * (size_t)p->bins; }

static uint32_t *overlaps_of(const pressure *p)
{
    return p->counts + (size_t)p->system->walkers * numbers_of(p);
}

static contact_task task_of(const pressure *p, const plugmc_view *view, const plugmc_cells *cells)
{
    contact_task t = {
        .reach = 1 + (double)p->fit_range,
        .bins_per_contact = p->bins / (double)p->fit_range,
        .overlap = 1 - 1e-4, /* more than rounding, even that of positions in float */
        .start = cells->start,
        .order = cells->order,
        .positions = cells->positions,
        .species = p->species,
        .contact = p->contact,
        .slot = p->slot,
        .particles = (uint32_t)p->system->particles,
        .cells = (uint32_t)cells->cells,
        .species_count = p->system->species_count,
        .bins = p->bins,
        .slots = p->cores,
    };
    memcpy(t.count, cells->count, sizeof t.count);
    if (view->on_device) {
        t.species = (const uint16_t *)(uintptr_t)p->device_species;
        t.contact = (const double *)(uintptr_t)p->device_contact;
        t.slot = (const int32_t *)(uintptr_t)p->device_slot;
    }
    return t;
}

static void count_on_host(const pressure *p, const contact_task *t)
{
    uint32_t overlaps = 0;
    for (int32_t w = 0; w < p->system->walkers; w++) {
        uint32_t *histogram = p->counts + (size_t)w * numbers_of(p);
#pragma omp parallel for num_threads(p->system->threads) schedule(static) reduction(+ : overlaps)
        for (uint32_t k = 0; k < t->particles; k++)
            count_contacts(t, (uint32_t)w, k, histogram, &overlaps);
    }
    *overlaps_of(p) = overlaps;
}

static int count_on_device(const pressure *p, const plugmc_host *host, contact_task *t)
{
    const plugmc_gpu *gpu = host->gpu;
    plugmc_device_pointer histogram = p->device_counts;
    plugmc_device_pointer overlaps =
        histogram + (size_t)((char *)overlaps_of(p) - (char *)p->counts);
    const uint32_t blocks = (t->particles + CONTACT_BLOCK - 1) / CONTACT_BLOCK;
    int code = gpu->fill(host->context, histogram, 0, p->count_bytes);
    if (!code)
        code = gpu->launch(
            host->context, p->kernel, (uint32_t[3]){blocks, (uint32_t)p->system->walkers, 1},
            (uint32_t[3]){CONTACT_BLOCK, 1, 1}, 0, (void *[]){t, &histogram, &overlaps});
    return code ? code : gpu->download(host->context, p->counts, histogram, p->count_bytes);
}

static int count_pairs_near_contact(const pressure *p, const plugmc_host *host,
                                    const plugmc_view *view)
{
    const double reach = p->largest * (1 + (double)p->fit_range);
    plugmc_cells cells = {.size = sizeof cells};
    if (!p->cores) return PLUGMC_OK;
    int code = check_reach(host, view, reach, "the distance that contacts are looked for in");
    if (!code) code = view->cells(view, reach, &cells);
    if (code) return code;
    contact_task task = task_of(p, view, &cells);
    code = take_frames(&p->frames, host, view, &cells, &task.frames);
    if (code) return code;
    memset(p->counts, 0, p->count_bytes);
    if (view->on_device)
        code = count_on_device(p, host, &task);
    else
        count_on_host(p, &task);
    if (!code && *overlaps_of(p) > 0)
        return host->fail(host->context, PLUGMC_ERROR_STATE,
                          "particles overlap in the configuration after sweep %llu, by more "
                          "than rounding errors",
                          (unsigned long long)view->sweep);
    return code;
}

/* Pressure of the contacts in a box that is `larger` times that at the start. g [cores][bins], near
 * contact; at_contact [cores], unless NULL. */
static double pressure_of_contacts(const pressure *p, const double *g, double larger,
                                   double *at_contact)
{
    double contacts = 0;
    for (int32_t c = 0; c < p->cores; c++) {
        double sum = 0;
        for (int32_t b = 1; b < p->bins; b++) sum += p->core[c].weight[b] * g[c * p->bins + b];
        if (at_contact) at_contact[c] = sum;
        contacts += p->core[c].per_count * sum * p->system->temperature / (larger * larger);
    }
    return contacts;
}

static double osmotic_coefficient(const pressure *p, double pressure, double volume)
{
    return pressure * volume / ((double)p->system->particles * p->system->temperature);
}

static int has_jumps(const pressure *p) { return p->virials.jumps.count > 0; }

/* values [walkers][1 + measured + cores * bins]: the pressure without contacts, numbers of the sample
 * (osmotic coefficient, contacts), then g near contact; behind them the part of jumps, where there are any. */
static int measure(void *instance, const plugmc_host *host, const plugmc_view *view, double *values)
{
    pressure *p = instance;
    int code = virials_measure(&p->virials, host, view);
    if (!code) code = count_pairs_near_contact(p, host, view);
    for (int32_t w = 0; w < p->system->walkers && !code; w++) {
        const uint32_t *counts = p->counts + (size_t)w * numbers_of(p);
        const plugmc_box *box = &view->box[w];
        const double larger = box->volume / p->system->box.volume; /* 1 where nobody changes it */
        double *row =
                   values + (size_t)w * ((size_t)(1 + p->measured + has_jumps(p)) + numbers_of(p)),
               *g = row + 1 + p->measured, virial = 0;
        for (int d = 0; d < box->dimension; d++) virial += p->virials.virial[w][d];
        row[0] = ((double)p->system->particles * p->system->temperature + virial / box->dimension) /
                 box->volume;
        if (has_jumps(p)) g[numbers_of(p)] = p->virials.jump[w] / (box->dimension * box->volume);
        for (int32_t c = 0; c < p->cores; c++)
            for (int32_t b = 0; b < p->bins; b++)
                g[c * p->bins + b] = p->core[c].g_factor[b] * counts[c * p->bins + b] * larger;
        if (!p->measured) continue;
        row[CONTACTS] = pressure_of_contacts(p, g, larger, NULL);
        row[OSMOTIC] = osmotic_coefficient(p, row[0] + row[CONTACTS], box->volume);
    }
    return code;
}

/* `which` of PRESSURE ... CONTACTS. */
static int number(const pressure *p, int which, plugmc_quantity *out)
{
    const char *const numbers[NUMBERS][3] = {
        {"pressure", p->unit, "pressure from contacts, forces and ideal gas"},
        {"osmotic_coefficient", "", "pressure over that of the ideal gas, P V / N kT"},
        {"contacts", p->unit, "contribution of contacts to the pressure"}};
    return plugmc_scalar(out, numbers[which][0], numbers[which][1], numbers[which][2]);
}

static int quantity(void *instance, int index, plugmc_quantity *out)
{
    const pressure *p = instance;
    if (index == 0)
        return plugmc_scalar(out, "virial", p->unit,
                             "pressure of ideal gas, forces and jumps, without contacts");
    if (index <= p->measured) return number(p, index, out);
    index -= 1 + p->measured;
    if (index == p->cores && has_jumps(p))
        return plugmc_scalar(out, "jumps", p->unit,
                             "contribution of jumps of pair energies to the pressure");
    if (index >= p->cores) return 0;
    return plugmc_array(out, p->core[index].g_name, "", "pair distribution near contact", p->bins,
                        "r", p->core[index].radius);
}

static int derived(void *instance, int index, plugmc_quantity *out)
{
    const pressure *p = instance;
    if (index < p->derived) return number(p, index, out);
    index -= p->derived;
    if (index >= p->cores) return 0;
    return plugmc_scalar(out, p->core[index].contact_name, "",
                         "pair distribution at contact, extrapolated");
}

static int derive(void *instance, const double *means, double *out)
{
    const pressure *p = instance;
    const double contacts = pressure_of_contacts(p, means + 1 + p->measured, 1, out + p->derived);
    out[PRESSURE] = means[0] + (p->measured ? means[CONTACTS] : contacts);
    if (p->measured) return 0;
    out[OSMOTIC] = osmotic_coefficient(p, out[PRESSURE], p->system->box.volume);
    out[CONTACTS] = contacts;
    return 0;
}

/* ---- The fit --------------------------------------------------------------------------------- */

static const char *label(const plugmc_host *host, const char *before, const core *core,
                         const char *after)
{
    const char *a = plugmc_species_at(host->system, core->a)->name,
               *b = plugmc_species_at(host->system, core->b)->name;
    const int one = host->system->species_count == 1;
    const size_t room = strlen(before) + strlen(a) + strlen(b) + strlen(after) + 3;
    char *text = host->allocate(host->context, room);
    if (text && one) snprintf(text, room, "%s%s", before, after);
    if (text && !one) snprintf(text, room, "%s_%s_%s%s", before, a, b, after);
    return text;
}

/* That of a pair at R_i over kT; where it jumps within the bin, that of the mean of exp(-u). */
static double energy_of_bin(const pressure *p, const core *core, int32_t bin, double width)
{
    enum { PARTS = 1000 };
    const pair_jumps *jumps = &p->virials.jumps;
    const jump_list *list = &jumps->lists[core->a * p->system->species_count + core->b];
    const double low = core->contact + width * bin;
    int split = 0;
    double sum = 0;
    for (int32_t j = list->first; j < list->first + list->count; j++)
        split |= jumps->jumps[j].at > low && jumps->jumps[j].at < low + width;
    if (!split) return plugmc_energy_of_species(p->system, 0, core->a, core->b, core->radius[bin]);
    for (int k = 0; k < PARTS; k++)
        sum += exp(-plugmc_energy_of_species(p->system, 0, core->a, core->b,
                                             low + (k + 0.5) / PARTS * width));
    return -log(sum / PARTS);
}

/* R_i, where g is read off if it is linear within a bin, what one pair in the bin is worth, and the
 * weights of the extrapolation of g exp(u). */
static int prepare_core(const pressure *p, const plugmc_host *host, core *core)
{
    const plugmc_system *system = p->system;
    const int32_t n = p->bins, d = system->box.dimension;
    const double surface = d == 2 ? 2 * M_PI : 4 * M_PI, volume = system->box.volume;
    const double na = (double)plugmc_species_at(system, core->a)->count,
                 nb = (double)plugmc_species_at(system, core->b)->count;
    const double pairs = core->a == core->b ? na * na / 2 : na * nb; /* an ideal gas has g = 1 */
    double *work = host->allocate(host->context, (size_t)n * 6 * sizeof *work);
    core->g_name = label(host, "g", core, "_near_contact");
    core->contact_name = label(host, "g", core, "_at_contact");
    if (!work || !core->g_name || !core->contact_name)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d bins", n);
    core->radius = work + 3 * n;
    core->g_factor = work + 4 * n;
    core->weight = work + 5 * n;
    const double width = core->contact * (double)p->fit_range / n;
    const double at_contact =
        plugmc_energy_of_species(system, 0, core->a, core->b, core->contact * (1 + 1e-9));
    for (int32_t b = 0; b < n; b++) {
        const double low = core->contact + width * b, high = low + width;
        const double sum = d == 2 ? (low + high) / 2 : (low * low + low * high + high * high) / 3;
        core->radius[b] = d == 2 ? (low * low + low * high + high * high) / (3 * sum)
                                 : (low + high) * (low * low + high * high) / (4 * sum);
        core->g_factor[b] = volume / (pairs * width * sum * surface);
    }
    extrapolation_weights(core->radius + 1, n - 1, p->degree, core->contact, work,
                          core->weight + 1);
    for (int32_t b = 1; b < n; b++) {
        const double energy = energy_of_bin(p, core, b, width), less = exp(energy - at_contact);
        if (!isfinite(less))
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "the energy of a pair goes from %g kT at contact to %g at the "
                              "distance %g: g cannot be extrapolated",
                              at_contact, energy, core->radius[b]);
        core->weight[b] *= less;
    }
    core->per_count = surface / d * pow(core->contact, d) * pairs / (volume * volume);
    return PLUGMC_OK;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static int find_cores(pressure *p, const plugmc_host *host)
{
    const plugmc_system *system = p->system;
    const int32_t n = system->species_count;
    const size_t squares = (size_t)n * (size_t)n;
    p->contact = host->allocate(host->context, squares * sizeof *p->contact);
    p->slot = host->allocate(host->context, squares * sizeof *p->slot);
    p->core = host->allocate(host->context, squares * sizeof *p->core);
    p->species = host->allocate(host->context, (size_t)system->particles * sizeof *p->species);
    if (!p->contact || !p->slot || !p->core || !p->species)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %lld particles",
                          (long long)system->particles);
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = a; b < n; b++) {
            const double contact = plugmc_contact_of_species(system, a, b);
            if (!(contact > 0) || plugmc_species_at(system, a)->count < 1 + (a == b) ||
                plugmc_species_at(system, b)->count < 1)
                continue; /* there is no such pair */
            p->contact[a * n + b] = p->contact[b * n + a] = contact;
            p->slot[a * n + b] = p->slot[b * n + a] = p->cores;
            p->core[p->cores++] = (core){.a = a, .b = b, .contact = contact};
            p->largest = fmax(p->largest, contact);
        }
    for (int32_t s = 0; s < n; s++)
        for (int64_t i = system->first[s]; i < system->first[s + 1]; i++)
            p->species[i] = (uint16_t)s;
    return PLUGMC_OK;
}

static int check_fit(pressure *p, const plugmc_host *host)
{
    const double *length = p->system->box.length, reach = p->largest * (1 + (double)p->fit_range);
    p->bins = (int32_t)lround((double)(p->fit_range / p->delta_r));
    if (p->bins < 2 * (p->degree + 1) || p->bins > MOST_BINS)
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "fit_range = %g and delta_r = %g give %d bins, but a fit of degree "
                          "%lld needs %lld to %d",
                          (double)p->fit_range, (double)p->delta_r, p->bins, (long long)p->degree,
                          2 * ((long long)p->degree + 1), MOST_BINS);
    for (int a = 0; a < p->system->box.dimension; a++)
        if (length[a] < 2 * reach)
            return host->fail(host->context, PLUGMC_ERROR_INPUT,
                              "the box is %g long in %c, less than twice %g, the largest "
                              "distance of contacts: a pair could be in contact on two sides",
                              length[a], "xyz"[a], reach);
    return PLUGMC_OK;
}

static int prepare_device(pressure *p, const plugmc_host *host)
{
    const plugmc_gpu *gpu = host->gpu;
    const size_t squares = (size_t)p->system->species_count * (size_t)p->system->species_count,
                 species = (size_t)p->system->particles * sizeof *p->species;
    plugmc_gpu_source text = {.size = sizeof text};
    if (!set_text_with_frames(host, "contact_pairs.cu", (const char *const[3]){contact_kernel},
                              &text))
        return PLUGMC_ERROR_MEMORY;
    int code = gpu->kernel(host->context, &text, "contact_pairs", &p->kernel);
    if (!code) code = gpu->allocate(host->context, species, &p->device_species);
    if (!code)
        code = gpu->allocate(host->context, squares * sizeof *p->contact, &p->device_contact);
    if (!code) code = gpu->allocate(host->context, squares * sizeof *p->slot, &p->device_slot);
    if (!code) code = gpu->allocate(host->context, p->count_bytes, &p->device_counts);
    if (!code) code = gpu->upload(host->context, p->device_species, p->species, species);
    if (!code)
        code =
            gpu->upload(host->context, p->device_contact, p->contact, squares * sizeof *p->contact);
    return code ? code
                : gpu->upload(host->context, p->device_slot, p->slot, squares * sizeof *p->slot);
}

/* What is read off at contact depends on the energy there, and is the same on all rungs. */
static int check_rungs(const pressure *p, const plugmc_host *host)
{
    const plugmc_system *system = p->system;
    for (int64_t k = 0; k < system->rungs && system->weighted; k++)
        for (int32_t t = 0; t < system->term_count; t++) {
            const plugmc_term *term = plugmc_term_at(system, t);
            const plugmc_pair *pair = term->sampled ? term->plugin->potential->pair : NULL;
            if (pair && pair->functions & PLUGMC_PAIR_ENERGY &&
                system->of_rungs[k * system->multipliers + t] != system->of_rungs[t])
                return host->fail(host->context, PLUGMC_ERROR_INPUT,
                                  "walkers have different couplings of '%s', but the "
                                  "extrapolation needs a single energy at contact",
                                  term->label);
        }
    return PLUGMC_OK;
}

static int prepare(void *instance, const plugmc_host *host)
{
    pressure *p = instance;
    p->system = host->system;
    if (isnan(host->system->temperature))
        return host->fail(host->context, PLUGMC_ERROR_INPUT,
                          "walkers at different temperatures have different pressures");
    snprintf(p->unit, sizeof p->unit, "%s/length^%d", plugmc_energy_unit(host->system),
             host->system->box.dimension);
    p->measured = boxes_change(host->system) ? NUMBERS - 1 : 0;
    p->derived = NUMBERS - p->measured;
    int code = virials_prepare(&p->virials, host, 1, (double)p->fit_range, p->degree);
    if (!code) code = find_cores(p, host);
    if (code || !p->cores) return code;
    code = check_fit(p, host);
    if (!code) code = check_rungs(p, host);
    if (!code) code = prepare_frames(&p->frames, host);
    for (int32_t c = 0; c < p->cores && !code; c++) code = prepare_core(p, host, &p->core[c]);
    if (code) return code;
    p->count_bytes = ((size_t)p->system->walkers * numbers_of(p) + 1) * sizeof *p->counts;
    p->counts = host->allocate(host->context, p->count_bytes);
    if (!p->counts)
        return host->fail(host->context, PLUGMC_ERROR_MEMORY, "no memory for %d walkers",
                          p->system->walkers);
    return host->gpu ? prepare_device(p, host) : PLUGMC_OK;
}

/* The histograms, then the virials of pairs where a GPU sums them. */
static int gpu_source(void *instance, const plugmc_host *host, int index, plugmc_gpu_source *out)
{
    (void)instance;
    if (index > 0) return virials_gpu_source(host, index - 1, out);
    return set_text_with_frames(host, "contact_pairs.cu", (const char *const[3]){contact_kernel},
                                out);
}

/* ---- The tables ------------------------------------------------------------------------------ */

static const plugmc_parameter table[] = {
    PLUGMC_REAL_KEY(pressure, delta_r, "5e-4", 1e-7, 1, "contact distances",
                    "width of a bin of the histograms near contact"),
    PLUGMC_REAL_KEY(
        pressure, fit_range, "0.05", 1e-5, 1, "contact distances",
        "the fit uses distances up to 1 + fit_range, without the first bin; at a jump of the "
        "energy pairs on both sides, as far as fit_range times its distance"),
    PLUGMC_INTEGER_KEY(pressure, degree, "4", 0, 12, "", "degree of the polynomials"),
};

static const plugmc_listing listing[] = {
    {"virial", "<energy>/length^<dimension>",
     "pressure of ideal gas, forces and jumps, without contacts", 0, 0},
    {"jumps", "<energy>/length^<dimension>",
     "contribution of jumps of pair energies to the pressure, if there are any", 0, 0},
    {"g_near_contact", "", "pair distribution near contact against r, of one species", 1, 0},
    {"g_<species>_<species>_near_contact", "", "pair distribution near contact against r", 1, 0},
    {"pressure", "<energy>/length^<dimension>", "pressure from contacts, forces and ideal gas", 0,
     1},
    {"osmotic_coefficient", "", "pressure over that of the ideal gas, P V / N kT", 0, 1},
    {"contacts", "<energy>/length^<dimension>", "contribution of contacts to the pressure", 0, 1},
    {"osmotic_coefficient", "",
     "pressure over that of the ideal gas, P V / N kT; in a changing box", 0, 0},
    {"contacts", "<energy>/length^<dimension>",
     "contribution of contacts to the pressure; in a changing box", 0, 0},
    {"g_at_contact", "", "pair distribution at contact, of one species", 0, 1},
    {"g_<species>_<species>_at_contact", "", "pair distribution at contact", 0, 1},
};

PLUGMC_PLUGIN(.name = "pressure",
              .summary = "pressure of hard cores with other forces: contacts and virial together",
              .reference = "Hansen, McDonald, Theory of Simple Liquids, sections 2.5 and 10.2",
              PLUGMC_KEYS(pressure, table),
              PLUGMC_OBSERVABLE_WITH(.on_device = 1, .of_totals = PLUGMC_TOTAL_VIRIAL,
                                     .quantity = quantity, .measure = measure, .derived = derived,
                                     .derive = derive, .listing = listing,
                                     .listing_count = PLUGMC_COUNT(listing),
                                     .follows = PLUGMC_CHANGED_BOX,
                                     .depends_on = PLUGMC_ON_MULTIPLIERS),
              .prepare = prepare, .gpu_source = gpu_source)
