/* See variational.h. */
#include "quantum/variational.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quantum/variational_on_device.h"
#include "engine/refusals.h"

/* ---- Which there are -------------------------------------------------------------------------- */

static bool is_sampled(const engine *engine, const instance *one)
{
    for (int t = 0; t < engine->system.term_count; t++)
        if (engine->terms[t].instance == one->data) return engine->terms[t].sampled;
    return false;
}

static plugmc_variational_parameter number_of(const variational_part *part, int64_t k)
{
    plugmc_variational_parameter n = {.size = sizeof n};
    part->facet->number(part->owner->data, k - part->first, &n); /* answers.c has checked it */
    return n;
}

static int check_keys(engine *engine, const variational_part *part)
{
    if (PLUGMC_HAS(part->facet, keys_before_files) && part->facet->keys_before_files) return 0;
    for (int64_t k = part->first; k < part->first + part->count; k++) {
        const plugmc_variational_parameter n = number_of(part, k);
        const instance *owner = part->owner;
        if (ini_get(owner->section->section, n.key)) continue;
        return report_error(engine->report, EXIT_INPUT, owner->context.file, owner->context.line,
                            "[%s] the parameters of '%s' are to be optimised, but the "
                            "section does not contain them: move them here from their file",
                            owner->context.section, n.key);
    }
    return 0;
}

static int open_device(engine *engine, variational_parameters *out)
{
    instance *asking = engine_asking(engine);
    return context_exit_code(
        &asking->context, variational_device_open(out, &asking->host, &engine->current.state.face),
        "preparing derivatives on the GPU");
}

/* Whether a list of words with commas has a word; NULL has all. */
static bool lists(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strcspn(at, ",") == length && !strncmp(at, word, length)) return true;
    return !words;
}

/* Each word of the list has to be a potential with parameters. */
static int check_words(engine *engine, const char *only, const variational_parameters *f)
{
    for (const char *at = only; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const size_t length = strcspn(at, ",");
        bool found = false;
        for (int k = 0; k < f->parts; k++) {
            const char *label = f->part[k].owner->section->section->label;
            found |= strlen(label) == length && !strncmp(at, label, length);
        }
        if (!found)
            return report_error(engine->report, EXIT_INPUT, engine->config.ini.path, 0,
                                "--only %s: no sampled potential '%.*s' has variational parameters",
                                only, (int)length, at);
    }
    return 0;
}

int variational_find(engine *engine, const char *only, variational_parameters *out)
{
    int code = 0;
    *out = (variational_parameters){
        .part = checked(calloc((size_t)engine->instance_count, sizeof *out->part))};
    for (int i = 0; i < engine->instance_count && !code; i++) {
        instance *one = &engine->instances[i];
        const plugmc_variational *facet =
            one->plugin->kind == PLUGMC_POTENTIAL ? plugmc_variational_of(one->plugin) : NULL;
        if (!facet || !is_sampled(engine, one)) continue;
        if (!lists(only, one->section->section->label)) continue;
        variational_part *part = &out->part[out->parts];
        *part = (variational_part){one, facet, out->count, facet->count(one->data)};
        if (!part->count) continue;
        if (engine->device.gpu && !facet->tables)
            return report_error(
                engine->report, EXIT_INPUT, one->context.file, one->context.line,
                "[%s] its variational parameters are constants in the GPU kernels: set [run] "
                "device = cpu",
                one->context.section);
        out->parts++;
        out->count += part->count;
        code = check_keys(engine, part);
    }
    if (!code) code = check_words(engine, only, out);
    if (!code && out->count && engine->device.gpu) code = open_device(engine, out);
    if (code || out->count) return code;
    return report_error(engine->report, EXIT_INPUT, engine->config.ini.path, 0,
                        "no sampled potential of the run has variational parameters: plugmc "
                        "info NAME shows which plugins have them");
}

void variational_free(variational_parameters *f)
{
    variational_device_close(f->device);
    free(f->part);
}

/* ---- What they are ---------------------------------------------------------------------------- */

int variational_get(const variational_parameters *f, double *values)
{
    int code = 0;
    for (int k = 0; k < f->parts && !code; k++) {
        instance *owner = f->part[k].owner;
        context_calling(&owner->context, "get");
        code = context_exit_code(&owner->context,
                                 f->part[k].facet->get(owner->data, values + f->part[k].first),
                                 "reading its variational parameters");
    }
    return code;
}

int variational_set(const variational_parameters *f, const double *values)
{
    int code = 0;
    for (int k = 0; k < f->parts && !code; k++) {
        const variational_part *part = &f->part[k];
        instance *owner = part->owner;
        const plugmc_plugin *single = owner->plugin->single;
        context_calling(&owner->context, "set");
        int set = part->facet->set(owner->data, values + part->first);
        if (!set && single && plugmc_variational_of(single))
            set = plugmc_variational_of(single)->set(owner->data_single, values + part->first);
        code = context_exit_code(&owner->context, set, "setting its variational parameters");
    }
    plugmc_context *first = &f->part[0].owner->context;
    if (!code && first->gpu)
        code = context_exit_code(first, gpu_write_numbers(first),
                                 "setting its variational parameters on the GPU");
    return code;
}

bool variational_in_range(const variational_parameters *f, const double *values)
{
    for (int k = 0; k < f->parts; k++) {
        const variational_part *part = &f->part[k];
        const plugmc_plugin *plugin = part->owner->plugin;
        for (int64_t i = part->first; i < part->first + part->count; i++) {
            const char *key = number_of(part, i).key;
            for (int32_t j = 0; j < plugin->parameter_count; j++) {
                const plugmc_parameter *p = plugmc_parameter_at(plugin, j);
                if (!strcmp(p->name, key) && !(values[i] >= p->minimum && values[i] <= p->maximum))
                    return false;
            }
        }
    }
    return true;
}

/* ---- As text ---------------------------------------------------------------------------------- */

static const variational_part *part_of(const variational_parameters *f, int64_t k)
{
    const variational_part *part = f->part;
    while (k >= part->first + part->count) part++;
    return part;
}

char *variational_name(const variational_parameters *f, int64_t k)
{
    const variational_part *part = part_of(f, k);
    const plugmc_variational_parameter n = number_of(part, k);
    const char *label = part->owner->section->section->label;
    char *name;
    const int made = n.place < 0 ? asprintf(&name, "%s.%s", label, n.key)
                                 : asprintf(&name, "%s.%s[%lld]", label, n.key, (long long)n.place);
    return checked(made < 0 ? NULL : name);
}

/* The value of the key that number k begins, with all numbers that belong to it; *next: the one after them. A
 * number takes the place that it says. */
static char *value_of(const variational_parameters *f, const double *values, int64_t k,
                      int64_t *next)
{
    const variational_part *part = part_of(f, k);
    const plugmc_variational_parameter first = number_of(part, k);
    char *text;
    size_t size;
    FILE *out = checked(open_memstream(&text, &size));
    *next = k;
    for (; *next < part->first + part->count; ++*next) {
        if (strcmp(number_of(part, *next).key, first.key)) break;
        fprintf(out, "%s%.12g", *next > k ? " " : "", values[*next]);
    }
    fclose(out);
    return checked(text);
}

void variational_write(FILE *out, const variational_parameters *f, const double *values)
{
    const variational_part *before = NULL;
    for (int64_t k = 0, next; k < f->count; k = next) {
        const variational_part *part = part_of(f, k);
        char *value = value_of(f, values, k, &next);
        if (part != before)
            fprintf(out, "%s[%s]\n", before ? "\n" : "", part->owner->section->section->name);
        fprintf(out, "%s = %s\n", number_of(part, k).key, value);
        free(value);
        before = part;
    }
}

int variational_put(const variational_parameters *f, ini_file *ini, const double *values,
                    report *report)
{
    int code = 0;
    for (int64_t k = 0, next; k < f->count && !code; k = next) {
        char *value = value_of(f, values, k, &next), *set;
        checked(asprintf(&set, "%s.%s=%s", part_of(f, k)->owner->section->section->name,
                         number_of(part_of(f, k), k).key, value) < 0
                    ? NULL
                    : set);
        code = ini_set(ini, set, report);
        free(value);
        free(set);
    }
    return code;
}

/* ---- Derivatives ------------------------------------------------------------------------------ */

static int check_derivatives(instance *owner, const double *values, int64_t count)
{
    char why[160];
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i])) {
            snprintf(why, sizeof why, "a derivative by its variational parameters is %g",
                     values[i]);
            return refuse_answer(owner, EXIT_INTERNAL, why);
        }
    return 0;
}

static bool is_serial(const variational_part *part)
{
    return PLUGMC_HAS(part->facet, on_main_thread) && part->facet->on_main_thread;
}

int variational_derive(const variational_parameters *f, const plugmc_view *view, int threads,
                       int32_t first, int32_t n, const double *drift, double *derivatives,
                       double *kinetic)
{
    const int64_t all = n * f->count;
    memset(derivatives, 0, (size_t)all * sizeof *derivatives);
    if (drift) memset(kinetic, 0, (size_t)all * sizeof *kinetic);
    int code = 0;
    for (int k = 0; k < f->parts && !code; k++) {
        const variational_part *part = &f->part[k];
        instance *owner = part->owner;
        const int64_t row = 3 * owner->host.system->particles;
        const int32_t each = is_serial(part) && n > 0 ? n : 1; /* walkers of a call */
        int failed = 0;
        context_calling(&owner->context, "derivatives");
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && each == 1)
        for (int32_t w = 0; w < n; w += each) {
            const plugmc_variational_request request = {
                .size = sizeof request,
                .first = first + w,
                .walkers = each,
                .row = f->count,
                .view = view,
                .derivatives = derivatives + w * f->count + part->first,
                .kinetic = drift ? kinetic + w * f->count + part->first : NULL,
                .drift = drift ? drift + w * row : NULL};
            const int one = part->facet->derivatives(owner->data, &owner->host, &request);
            if (one)
#pragma omp atomic write
                failed = one;
        }
        code = context_exit_code(&owner->context, failed, "finding derivatives");
    }
    if (!code) code = check_derivatives(f->part[0].owner, derivatives, all);
    if (!code && drift) code = check_derivatives(f->part[0].owner, kinetic, all);
    return code;
}

/* Places first ... end - 1 are of one electron of one walker; of parts that are called from the main thread, or of the
 * others. */
static int visit(const variational_parameters *f, bool serial, const plugmc_view *view,
                 const plugmc_nonlocal_point *place, int64_t n, double *changes,
                 double (*position)[3], double (*phase)[2], double *energies)
{
    int code = 0;
    memset(changes, 0, (size_t)(n * f->count) * sizeof *changes);
    for (int64_t i = 0; i < n; i++) {
        memcpy(position[i], place[i].position, sizeof position[i]);
        memcpy(phase[i], place[i].phase, sizeof phase[i]);
    }
    for (int k = 0; k < f->parts && !code; k++) {
        const variational_part *part = &f->part[k];
        if (is_serial(part) != serial) continue;
        const plugmc_variational_points request = {.size = sizeof request,
                                                   .walker = place->walker,
                                                   .particle = place->electron,
                                                   .points = n,
                                                   .row = f->count,
                                                   .view = view,
                                                   .position = (const double(*)[3])position,
                                                   .phases = (const double(*)[2])phase,
                                                   .changes = changes + part->first};
        code = part->facet->at_points(part->owner->data, &part->owner->host, &request);
    }
    double *row = energies + place->walker * f->count;
    for (int64_t i = 0; i < n && !code; i++)
        for (int64_t k = 0; k < f->count; k++)
            row[k] += place[i].energy * changes[i * f->count + k];
    return code;
}

enum { MOST_PLACES = 64 }; /* of one call */

/* Places [count] of one walker. */
static int visit_walker(const variational_parameters *f, bool serial, const plugmc_view *view,
                        const plugmc_nonlocal_point *places, int64_t count, double *energies)
{
    double position[MOST_PLACES][3], phase[MOST_PLACES][2];
    double *changes = malloc(MOST_PLACES * (size_t)f->count * sizeof *changes);
    int code = changes ? PLUGMC_OK : PLUGMC_ERROR_MEMORY;
    for (int64_t i = 0, end; i < count && !code; i = end) {
        for (end = i;
             end < count && end - i < MOST_PLACES && places[end].electron == places[i].electron;)
            end++;
        code = visit(f, serial, view, places + i, end - i, changes, position, phase, energies);
    }
    free(changes);
    return code;
}

/* Walkers, whose places begin at `begin`. */
static int visit_walkers(const variational_parameters *f, bool serial, const plugmc_view *view,
                         int threads, const plugmc_nonlocal_point *places, const int64_t *begin,
                         int64_t walkers, double *energies)
{
    int failed = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1 && !serial)
    for (int64_t w = 0; w < walkers; w++) {
        const int one =
            visit_walker(f, serial, view, places + begin[w], begin[w + 1] - begin[w], energies);
        if (one)
#pragma omp atomic write
            failed = one;
    }
    return failed;
}

int variational_visit(const variational_parameters *f, const plugmc_view *view, int threads,
                      const plugmc_nonlocal_point *places, int64_t count, double *energies)
{
    instance *owner = f->part[0].owner;
    int64_t walkers = 0, *begin = checked(malloc(((size_t)count + 1) * sizeof *begin));
    int failed = 0;
    bool any[2] = {false, false};
    for (int k = 0; k < f->parts; k++) any[is_serial(&f->part[k])] = true;
    for (int64_t i = 0; i < count; i++)
        if (!i || places[i].walker != places[i - 1].walker) begin[walkers++] = i;
    begin[walkers] = count;
    context_calling(&owner->context, "at_points");
    for (int serial = 0; serial < 2 && !failed; serial++)
        if (any[serial])
            failed = visit_walkers(f, serial, view, threads, places, begin, walkers, energies);
    free(begin);
    return context_exit_code(&owner->context, failed, "finding derivatives");
}

/* ---- On the GPU -------------------------------------------------------------------------------- */

/* Adds what sums [walkers][all sums] are to the numbers. */
static void combine(const variational_parameters *f, const double *sums, double *rows)
{
    const int64_t all = variational_device_sums(f->device);
    for (int k = 0; k < f->parts; k++) {
        const variational_part *part = &f->part[k];
        const double *own = sums + variational_device_first(f->device, k);
        context_calling(&part->owner->context, "combine");
        for (int32_t w = 0; w < part->owner->host.system->walkers; w++)
            part->facet->combine(part->owner->data, own + w * all,
                                 rows + w * f->count + part->first);
        context_exit_code(&part->owner->context, PLUGMC_OK, "finding derivatives");
    }
}

int variational_derive_there(const variational_parameters *f, const plugmc_view *view,
                             const double *drift, const plugmc_nonlocal_point *places,
                             int64_t count, double *derivatives, double *energies)
{
    instance *owner = f->part[0].owner;
    const int64_t all = owner->host.system->walkers * f->count;
    const double *values, *slopes;
    memset(derivatives, 0, (size_t)all * sizeof *derivatives);
    memset(energies, 0, (size_t)all * sizeof *energies);
    int code = context_exit_code(
        &owner->context,
        variational_device_evaluate(f->device, view, drift, places, count, &values, &slopes),
        "finding derivatives on the GPU");
    if (code) return code;
    combine(f, values, derivatives);
    combine(f, slopes, energies);
    code = check_derivatives(owner, derivatives, all);
    return code ? code : check_derivatives(owner, energies, all);
}
