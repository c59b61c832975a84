#include "energy/anew.h"

#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "energy/hamiltonian.h"

static bool has_parts(const plugmc_plugin *plugin)
{
    return plugin->potential->pair || plugin->potential->field || plugmc_body_of(plugin);
}

/* The total that belongs to a term; NULL: its parts are all of its energy. */
static const plugmc_total *total_of(const plugmc_plugin *plugin)
{
    const plugmc_total *total = plugin->potential->total;
    return !has_parts(plugin) || (total && total->beside_parts) ? total : NULL;
}

/* A total that the Hamiltonian adds to what are parts otherwise. */
static bool goes_with_parts(const plugmc_total *total)
{
    return !plugmc_follows_positions(total) && PLUGMC_HAS(total, of_counts) && total->of_counts;
}

/* A system in which all terms with parts count. malloc'ed terms, as those that plugins know; NULL: no memory. */
static plugmc_term *take_terms(const plugmc_system *system, plugmc_system *out)
{
    plugmc_term *terms = calloc((size_t)system->term_count + 1, sizeof *terms);
    *out = *system;
    for (int32_t t = 0; t < system->term_count && terms; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_plugin *p = term->plugin;
        memcpy(&terms[t], term,
               system->term_size < sizeof *terms ? system->term_size : sizeof *terms);
        terms[t].sampled = has_parts(p) || (total_of(p) && goes_with_parts(total_of(p)));
    }
    out->terms = terms;
    out->term_size = sizeof *terms;
    return terms;
}

/* Energies of pairs and fields. */
static int add_parts(hamiltonian *h, const shown_configuration *shown, double *energy)
{
    const plugmc_system *system = h->system;
    int code = PLUGMC_OK;
    for (int32_t w = 0; w < system->walkers && !code; w++) {
        configuration *now = &h->walkers[w].now;
        code = configuration_fill(now, &shown->boxes[w], shown->counts + w * system->species_count,
                                  shown->positions + 3 * w * system->particles,
                                  shown->orientations ? shown->orientations + w * system->particles
                                                      : NULL)
                   ? PLUGMC_ERROR_MEMORY
                   : PLUGMC_OK;
        if (!code) hamiltonian_energy_anew(h, w, energy + w * system->term_count);
    }
    return code;
}

/* What stands for the whole configuration, or beside the parts. */
static int add_totals(const plugmc_host *host, const shown_configuration *shown, double *sums,
                      double *energy)
{
    const plugmc_system *system = host->system;
    plugmc_view view = {.size = sizeof view};
    int code = host->view(host->context, shown->positions, 0, &view);
    view.box = shown->boxes;
    view.count = shown->counts;
    for (int32_t t = 0; t < system->term_count && !code; t++) {
        const plugmc_term *term = plugmc_term_at(system, t);
        const plugmc_total *total = total_of(term->plugin);
        const plugmc_total_request request = {
            .size = sizeof request, .view = &view, .energy = sums};
        if (!total || goes_with_parts(total)) continue;
        memset(sums, 0, sizeof *sums * (size_t)system->walkers);
        const crash_record outer = crash_calling_potential(term->label, "energy");
        code = total->energy(term->instance, &request);
        crash_called_within(outer);
        for (int32_t w = 0; w < system->walkers && !code; w++)
            energy[w * system->term_count + t] += sums[w];
    }
    return code;
}

int energies_anew(const plugmc_host *host, const shown_configuration *shown, double *energy)
{
    hamiltonian h = {0};
    plugmc_system parts;
    plugmc_host here = *host;
    plugmc_term *terms = take_terms(host->system, &parts);
    here.system = &parts;
    here.gpu = NULL;
    int code = terms ? hamiltonian_open(&h, &here) : PLUGMC_ERROR_MEMORY;
    if (!code) code = add_parts(&h, shown, energy);
    if (!code) code = add_totals(host, shown, h.sums, energy);
    hamiltonian_close(&h);
    free(terms);
    return code;
}
