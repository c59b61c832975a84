/* See kernels.h. */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crash.h"
#include "energy/on_device.h"
#include "engine/services.h"
#include "gpu/gpu.h"
#include "gpu/nvrtc.h"
#include "input/config.h"
#include "plugin/answers.h"
#include "quantum/variational_on_device.h"
#include "system/system.h"

PLUGMC_EMBED(text_of_every_function, EVERY_FUNCTION_FILE);

/* A system with the plugin in it. */
typedef struct example {
    const loaded *loaded;
    plugmc_system system;
    plugmc_term term;
    void *data, *data_single;
    plugmc_context context;
    plugmc_host host;
    report quiet;
    char why[512]; /* what the plugin has said first */
    nvrtc *nvrtc;
    const char *path; /* of the plugin */
    int count;        /* architectures */
    int compiled;     /* sources */
    report *report;
} example;

/* ---- An instance with default parameters --------------------------------------------------------------- */

static void keep_first(void *listener, const report_message *m)
{
    example *t = listener;
    if (m->kind == REPORT_ERROR && !t->why[0])
        snprintf(t->why, sizeof t->why, "%s", m->text ? m->text : "no memory");
}

/* A value of a key without a default: 1, or what is nearest to it. */
static void put_value(FILE *out, const plugmc_parameter *p)
{
    const double one = p->minimum > 1 ? p->minimum : p->maximum < 1 ? p->maximum : 1;
    const bool number = p->type == PLUGMC_TYPE_REAL || p->type == PLUGMC_TYPE_INTEGER ||
                        p->type == PLUGMC_TYPE_LIST;
    if (p->type == PLUGMC_TYPE_CHOICE)
        fprintf(out, "%s = %.*s\n", p->name, (int)strcspn(p->choices, "|"), p->choices);
    else if (p->type == PLUGMC_TYPE_FLAG)
        fprintf(out, "%s = no\n", p->name);
    else if (number)
        fprintf(out, "%s =", p->name);
    else
        fprintf(out, "%s = a\n", p->name);
    for (int64_t k = 0; number && (!k || k < p->length); k++) fprintf(out, " %.17g", one);
    if (number) fputs("\n", out);
}

static char *section_text(const plugmc_plugin *plugin)
{
    char *text;
    size_t length;
    FILE *out = checked(open_memstream(&text, &length));
    fputs("[plugin example]\n", out);
    for (int32_t k = 0; k < plugin->parameter_count; k++) {
        const plugmc_parameter *p = plugmc_parameter_at(plugin, k);
        if (!p->derived && !p->fallback) put_value(out, p);
    }
    fclose(out);
    return text;
}

/* What `plugin` has in the precision of its reals; NULL: it refuses. */
static void *make_instance(example *t, const plugmc_plugin *plugin, ini_section *section)
{
    void *data = checked(calloc(1, plugin->instance_size ? plugin->instance_size : 1));
    int code = parameters_fill(plugin->parameters, plugin->parameter_count, plugin->real_size, data,
                               t->path, section, &t->quiet);
    if (!code && plugin->configure) {
        context_calling(&t->context, "configure");
        code = context_exit_code(&t->context, plugin->configure(data, &t->host),
                                 "checking its parameters");
    }
    if (!code) return data;
    free(data);
    return NULL;
}

static bool make_instances(example *t)
{
    const plugmc_plugin *plugin = t->loaded->plugin;
    ini_file ini = {0};
    char *text = section_text(plugin);
    t->context = (plugmc_context){.report = &t->quiet, .plugin = t->path, .section = plugin->name};
    t->host = context_host(&t->context, &t->system);
    if (!ini_read_text(t->path, text, &ini, &t->quiet)) {
        t->data = make_instance(t, plugin, ini.sections);
        if (t->data && plugin->single)
            t->data_single = make_instance(t, plugin->single, ini.sections);
    }
    ini_free(&ini);
    free(text);
    return t->data && (t->data_single || !plugin->single);
}

/* Two charged species in a cube or a square. */
static bool make_system(example *t, int dimension)
{
    species_section species[] = {{.count = 2, .diameter = 1, .charge = 1, .mass = 1},
                                 {.count = 2, .diameter = 1, .charge = -1, .mass = 1}};
    const char *names[] = {"a", "b"};
    config config = {.run = {.sweeps = 1, .seed = 1, .walkers = 1, .threads = 1},
                     .box = {.dimension = dimension, .lx = 20},
                     .species_count = 2,
                     .species = species,
                     .species_names = names};
    config.ini.path = (char *)t->path;
    if (system_build(&config, &t->system, &t->quiet)) return false;
    t->system.threads = 1;
    t->system.together = 1;
    return true;
}

/* A potential is a term of its system. */
static void add_term(example *t)
{
    const plugmc_plugin *plugin = t->loaded->plugin;
    if (plugin->kind != PLUGMC_POTENTIAL) return;
    t->term = (plugmc_term){.label = plugin->name,
                            .plugin = plugin,
                            .instance = t->data,
                            .plugin_single = plugin->single,
                            .instance_single = t->data_single,
                            .sampled = 1,
                            .host = &t->host};
    t->system.terms = &t->term;
    t->system.term_size = sizeof t->term;
    t->system.term_count = 1;
    if (plugin->potential->pair) t->system.range = reach_of_term(&t->system, &t->term);
}

/* ---- Compiling ----------------------------------------------------------------------------------------- */

static int compile_one(example *t, const plugmc_gpu_source *source)
{
    char *fused = fuse(&t->system, source);
    int code =
        fused ? 0 : report_error(t->report, EXIT_MEMORY, NULL, 0, "no memory for a GPU source");
    for (int k = 0; k < t->count && !code; k++) {
        void *cubin = NULL;
        size_t bytes;
        code = compile(t->nvrtc, fused, source->name, gpu_architectures[k],
                       arithmetic_of(source, false), &cubin, &bytes, t->report);
        free(cubin);
    }
    t->compiled += !code;
    free(fused);
    return code;
}

/* A source that was put together in *joined; `failed`: there was no memory for it. */
static int compile_joined(example *t, int failed, const plugmc_gpu_source *source, char *joined)
{
    const int code =
        failed ? report_error(t->report, EXIT_MEMORY, NULL, 0, "no memory for a GPU source")
               : compile_one(t, source);
    free(joined);
    return code;
}

/* Pairs and fields, in both precisions, and derivatives by variational parameters. */
static int compile_potential(example *t)
{
    const plugmc_potential *p = t->loaded->plugin->potential;
    char *joined = NULL;
    int code = 0;
    if (!p || !(p->pair || p->field)) return 0;
    for (int in_double = 0; in_double < 2 && !code; in_double++) {
        const plugmc_gpu_source source = {.size = sizeof source,
                                          .name = "every_function.cu",
                                          .source = text_of_every_function,
                                          .fuse = PLUGMC_FUSE_SAMPLED,
                                          .double_precision = in_double};
        code = compile_one(t, &source);
    }
    if (code || !fuse_variational_sums(&t->system, t->system.term_count)) return code;
    plugmc_gpu_source source;
    const int failed = variational_device_text(&source, &joined);
    return compile_joined(t, failed, &source, joined);
}

/* Trial moves that a mover proposes. */
static int compile_proposal(example *t)
{
    const plugmc_plugin *plugin = t->loaded->plugin;
    plugmc_gpu_source source;
    char *joined = NULL;
    if (!plugin->mover || !plugin->source || !(plugin->mover->needs & PLUGMC_RUNS_ON_GPU)) return 0;
    const uint32_t rigid = PLUGMC_KEEPS_MOLECULES | PLUGMC_KEEPS_RIGID;
    const bool molecules = (plugin->mover->needs & rigid) == rigid;
    const int failed = on_device_text(plugin, molecules ? BESIDE_MOLECULES | BESIDE_RESERVOIR : 0,
                                      &source, &joined);
    return compile_joined(t, failed, &source, joined);
}

static void tell_refusal(const example *t)
{
    report_note(t->report,
                "its GPU source is not compiled, as it refuses its default parameters (%s): plugmc "
                "check FILE.ini --architecture all compiles it with yours",
                t->why);
}

/* Kernels of its own. */
static int compile_kernels(example *t)
{
    const plugmc_plugin *plugin = t->loaded->plugin;
    plugmc_gpu_source source;
    int more = 1, code = 0;
    for (int k = 0; !code; k++) {
        char why[512];
        context_calling(&t->context, "gpu_source");
        more = ask_gpu_source(plugin, t->data, &t->host, k, &source, (sentence){why, sizeof why});
        crash_called();
        if (more < 0) return report_error(t->report, EXIT_PLUGIN, t->path, 0, "%s", why);
        if (!more) break;
        code = compile_one(t, &source);
    }
    if (t->quiet.errors) tell_refusal(t);
    return code;
}

static int compile_everything(example *t)
{
    int code = compile_potential(t);
    if (!code) code = compile_proposal(t);
    if (!code) code = compile_kernels(t);
    return code;
}

static bool has_kernels(const plugmc_plugin *plugin)
{
    return plugin->source || plugin->gpu_source;
}

static void tell(const example *t)
{
    if (!t->compiled) return; /* a mover for the CPU alone */
    printf("GPU source compiles for");
    for (int k = 0; k < t->count; k++) printf("%s sm_%d", k ? "," : "", gpu_architectures[k]);
    puts("");
}

/* Before another box, and at the end. */
static void release_example(example *t)
{
    const plugmc_plugin *plugin = t->loaded->plugin;
    if (t->data && plugin->release) plugin->release(t->data);
    if (t->data_single && plugin->single->release) plugin->single->release(t->data_single);
    context_release(&t->context);
    system_free(&t->system);
    free(t->data);
    free(t->data_single);
    t->data = t->data_single = NULL;
}

/* Some plugins are for two dimensions. *why [512]: what the plugin says in three. */
static bool make_example(example *t, char *why)
{
    *why = 0;
    for (int dimension = 3; dimension >= 2; dimension--) {
        t->why[0] = 0;
        t->quiet.errors = 0;
        if (make_system(t, dimension) && make_instances(t)) return true;
        if (!*why) snprintf(why, sizeof t->why, "%s", t->why);
        if (dimension > 2) release_example(t);
    }
    memcpy(t->why, why, sizeof t->why);
    return false;
}

int kernels_compile(const loaded *plugin, int count, report *r)
{
    char why[512];
    if (!has_kernels(plugin->plugin)) return 0;
    example t = {.loaded = plugin, .path = plugin->path, .count = count, .report = r};
    t.quiet = (report){.hear = keep_first, .listener = &t};
    t.nvrtc = nvrtc_open(why);
    int code = 0;
    if (!t.nvrtc) {
        report_note(r, "its GPU source is not compiled here: %s", why);
    } else if (!make_example(&t, why)) {
        tell_refusal(&t);
    } else {
        add_term(&t);
        code = compile_everything(&t);
        if (!code) tell(&t);
    }
    release_example(&t);
    if (t.nvrtc) nvrtc_close(t.nvrtc);
    return code;
}
