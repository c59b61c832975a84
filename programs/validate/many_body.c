/* Checks of many-body terms that need no moves of a chain, and of memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "base/guarded_memory.h"
#include "checks.h"
#include "engine/sync.h"
#include "engine/total_check.h"

static const plugmc_total *total_of(const stand *s)
{
    const plugmc_total *total = s->own->plugin->potential->total;
    return total && plugmc_follows_positions(total) ? total : NULL;
}

int check_many_body(const target *t, stand *s, findings *f)
{
    const double *positions;
    (void)t;
    if (!total_of(s)) {
        check_not_covered(f, "many-body term", "there is none that depends on positions");
        return 0;
    }
    check_begin(
        f, "many-body term", NAN,
        "single moves, rejected and accepted, the way back and forces with energies of whole "
        "configurations, as every run does at its start");
    int code = sync_positions(&s->session.engine, PLUGMC_ON_HOST, &positions);
    if (!code) code = check_totals(&s->session.engine, positions);
    if (code == EXIT_PLUGIN) check_fail(f, "%s", heard_or(&s->heard, "it failed"));
    return code == EXIT_PLUGIN ? 0 : code;
}

/* ---- Walkers --------------------------------------------------------------------------------- */

/* Energies of all walkers, beside what is in `energy` already. */
static int ask(stand *s, const double *positions, double *energy)
{
    plugmc_view view = {.size = sizeof view};
    int code = s->host->view(s->host->context, positions, 0, &view);
    const plugmc_total_request request = {.size = sizeof request, .view = &view, .energy = energy};
    context_calling(&s->own->context, "energy");
    if (!code) code = total_of(s)->energy(s->own->data, &request);
    crash_called();
    return code;
}

static void compare_walkers(const stand *s, const double *before, const double *after,
                            const double *added, findings *f)
{
    const int32_t walkers = s->session.engine.system.walkers;
    for (int32_t w = 0; w < walkers; w++) {
        const double size = 1e-9 * (fabs(before[w]) + 1);
        if (isnan(before[w])) {
            check_fail(f, "the energy of walker %d is not a number", w);
            continue;
        }
        if (isinf(before[w])) {
            check_leave(f, "the energy of walker %d is infinite where the run begins", w);
            return;
        }
        check_value(f, fabs(added[w] - before[w] - 1) / size,
                    "the energy of walker %d is %.9g in an array of zeros, and %.9g in an array of "
                    "ones: the energy must be added to what is in the array",
                    w, before[w], added[w]);
        if (w < walkers - 1)
            check_value(
                f, fabs(after[w] - before[w]) / size,
                "the energy of walker %d changes from %.9g to %.9g when a particle of walker "
                "%d moves: look at how walkers are indexed",
                w, before[w], after[w], walkers - 1);
    }
}

/* Whether there is none, so that the check is not made. */
static bool no_many_body(const stand *s, findings *f, const char *check)
{
    if (total_of(s)) return false;
    check_not_covered(f, check, "there is no many-body term");
    return true;
}

int check_walkers(const target *t, stand *s, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    const size_t walkers = (size_t)system->walkers,
                 numbers = 3 * walkers * (size_t)system->particles;
    const double *now;
    (void)t;
    if (no_many_body(s, f, "independent walkers")) return 0;
    check_begin(
        f, "independent walkers", 1,
        "energies of walkers after another one has changed, and added to ones; allowed 1e-9");
    int code = sync_positions(&s->session.engine, PLUGMC_ON_HOST, &now);
    if (code) return code;
    double *positions = checked(malloc(numbers * sizeof *positions)),
           *energy = checked(calloc(3 * walkers, sizeof *energy));
    memcpy(positions, now, numbers * sizeof *positions);
    for (size_t w = 0; w < walkers; w++) energy[2 * walkers + w] = 1;
    code = ask(s, positions, energy);
    if (!code) code = ask(s, positions, energy + 2 * walkers);
    double *last = &positions[numbers - 3 * (size_t)system->particles];
    last[0] += 0.31 * stand_distance(system, &system->box);
    plugmc_wrap(&system->box, last);
    if (!code) code = ask(s, positions, energy + walkers);
    if (!code) compare_walkers(s, energy, energy + walkers, energy + 2 * walkers, f);
    free(positions), free(energy);
    return code;
}

/* ---- Particles of a species ------------------------------------------------------------------ */

/* Particles of each species change places at random. */
static void shuffle(stand *s, double *positions)
{
    const plugmc_system *system = &s->session.engine.system;
    for (int32_t w = 0; w < system->walkers; w++)
        for (int32_t k = 0; k < system->species_count; k++) {
            double *first = positions + 3 * (w * system->particles + system->first[k]);
            for (int64_t i = plugmc_species_at(system, k)->count - 1; i > 0; i--) {
                const int64_t other = stand_below(s, i + 1);
                for (int d = 0; d < 3; d++) {
                    const double at = first[3 * i + d];
                    first[3 * i + d] = first[3 * other + d];
                    first[3 * other + d] = at;
                }
            }
        }
}

/* They are alike, but where they are numbered on purpose, as in a chain: so that is a warning. */
int check_alike_particles(const target *t, stand *s, findings *f)
{
    const plugmc_system *system = &s->session.engine.system;
    const size_t walkers = (size_t)system->walkers,
                 numbers = 3 * walkers * (size_t)system->particles;
    const double *now;
    (void)t;
    if (no_many_body(s, f, "particles of a species")) return 0;
    check_begin(f, "particles of a species", NAN,
                "energies of many-body terms after particles of each species have changed places");
    int code = scramble(s);
    if (!code) code = sync_positions(&s->session.engine, PLUGMC_ON_HOST, &now);
    if (code) return code;
    double *positions = checked(malloc(numbers * sizeof *positions)),
           *energy = checked(calloc(2 * walkers, sizeof *energy)), *after = energy + walkers;
    memcpy(positions, now, numbers * sizeof *positions);
    code = ask(s, positions, energy);
    shuffle(s, positions);
    if (!code) code = ask(s, positions, after);
    for (size_t w = 0; w < walkers && !code; w++)
        if (isfinite(energy[w]) && fabs(after[w] - energy[w]) > 1e-6 * fabs(energy[w]) + 1e-9)
            check_warn(
                f,
                "the energy of walker %zu is %.9g, and %.9g after particles of a species have "
                "exchanged places: right for chains and molecules, wrong for particles that are "
                "alike; is something kept from one particle to the next, or of another species?",
                w, energy[w], after[w]);
    free(positions), free(energy);
    return code;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Pairs and fields are asked from many threads, so their struct must stay as it is. */
int check_memory(const target *t, stand *s, findings *f)
{
    const size_t bytes = s->own->plugin->instance_size;
    const bool parts = stand_pair(s) || stand_field(s);
    plugmc_view view = {.size = sizeof view};
    char words[512];
    (void)t;
    check_begin(f, "memory", NAN, "bytes around the struct and around what is allocated%s",
                parts ? "; the struct before and after energies" : "");
    int code = hamiltonian_refresh(&s->session.engine.current.hamiltonian, s->host);
    if (!code) code = hamiltonian_view(&s->session.engine.current.hamiltonian, s->host, &view);
    if (code) return code;
    unsigned char *before = checked(malloc(bytes + 1));
    whole *energies = checked(calloc((size_t)s->session.engine.system.walkers, sizeof *energies));
    memcpy(before, s->own->data, bytes);
    code = whole_energies(s, &view, energies);
    const bool total = s->own->plugin->potential->total != NULL;
    size_t k = 0;
    while (k < bytes && before[k] == ((const unsigned char *)s->own->data)[k]) k++;
    if (!code && parts && !total && k < bytes)
        check_fail(f,
                   "byte %zu of the struct has changed while energies were computed: pairs and "
                   "fields are called from many threads at once and must write nothing but results",
                   k);
    if (!guarded_memory_intact((sentence){words, sizeof words}))
        check_fail(f, "%s: look at indices and sizes of what the plugin writes there", words);
    free(before), free(energies);
    return code;
}
