/* plugmc validate: tests a plugin by itself and says what is wrong with it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apart.h"
#include "base/json_values.h"
#include "base/stop.h"
#include "gpu/gpu.h"
#include "input/config.h"
#include "plugin/descriptor.h"
#include "plugin/search.h"
#include "program/beside.h"
#include "records/json.h"
#include "validate.h"

static const char help[] =
    "usage: plugmc validate PLUGIN [FILE.ini] [--quick] [--json FILE] [--device cpu|gpu|auto]\n"
    "                       [--seed N]\n"
    "\n"
    "Tests a plugin by itself: energies by all paths against each other, derivatives against finite\n"
    "differences, changes against whole energies, results against units and shapes, memory, crashes.\n"
    "PLUGIN is a name in the search path, or a file (./mine.so). A failed check is followed by a\n"
    "sentence that says what is wrong and what to do. A check that could not be made is printed as\n"
    "'not covered', with the reason. A 'warning' is about what may be meant.\n"
    "\n"
    "  FILE.ini    parameters, species and box are those of this file, which has a section for PLUGIN.\n"
    "              Without it parameters have their defaults, in a small system of two species\n"
    "  --quick     fewer moves and configurations: seconds instead of minutes\n"
    "  --json FILE the findings as one JSON object; - is the standard output, which then has nothing else\n"
    "  --device    where to test: cpu, gpu, or auto (default), which is the CPU and a GPU if there is one\n"
    "  --seed N    of a mover: other seeds of its runs, from 0 (default) to 999999\n"
    "\n"
    "exit codes: 0 all checks passed or not covered, 2 command line, 3 FILE.ini is needed or cannot be\n"
    "used, 4 a check failed or the plugin cannot be loaded, 5 output cannot be written, 7 no GPU\n"
    "although --device gpu asks for one, 8 memory\n";

typedef struct arguments {
    const char *plugin, *file, *json;
    bool quick;
    int device;
    int64_t seed;
} arguments;

/* ---- Command line ---------------------------------------------------------------------------- */

static int refuse(const char *what, const char *word)
{
    fprintf(stderr, "plugmc validate: %s '%s'; see plugmc validate --help\n", what,
            excerpt(word).text);
    return EXIT_USAGE;
}

static int read_device(const char *word, int *device)
{
    static const char *const words[] = {"auto", "cpu", "gpu"}; /* DEVICE_* */
    for (int k = 0; k < 3; k++)
        if (!strcmp(word, words[k])) {
            *device = k;
            return EXIT_DONE;
        }
    return refuse("--device is cpu, gpu or auto, not", word);
}

static int read_seed(const char *word, int64_t *seed)
{
    char *end;
    *seed = strtoll(word, &end, 10);
    if (end != word && !*end && *seed >= 0 && *seed <= 999999) return EXIT_DONE;
    return refuse("--seed is an integer from 0 to 999999, not", word);
}

/* The value of an option: "--name value" or "--name=value". NULL: another option, or no value. */
static const char *value_of(const char *name, int argc, char **argv, int *i)
{
    const size_t n = strlen(name);
    if (strncmp(argv[*i], name, n)) return NULL;
    if (argv[*i][n] == '=') return argv[*i] + n + 1;
    return argv[*i][n] || *i + 1 == argc ? NULL : argv[++*i];
}

static int parse(int argc, char **argv, arguments *a)
{
    for (int i = 0; i < argc; i++) {
        const char *value;
        int code = EXIT_DONE;
        if (!strcmp(argv[i], "--quick"))
            a->quick = true;
        else if ((value = value_of("--json", argc, argv, &i)))
            a->json = value;
        else if ((value = value_of("--device", argc, argv, &i)))
            code = read_device(value, &a->device);
        else if ((value = value_of("--seed", argc, argv, &i)))
            code = read_seed(value, &a->seed);
        else if (*argv[i] == '-')
            code = refuse("unknown option, or no value behind it:", argv[i]);
        else if (!a->plugin)
            a->plugin = argv[i];
        else if (!a->file)
            a->file = argv[i];
        else
            code = refuse("one plugin and one INI file at most; this is one too many:", argv[i]);
        if (code) return code;
    }
    if (a->plugin) return EXIT_DONE;
    fprintf(stderr, "plugmc validate: which plugin? See plugmc validate --help\n");
    return EXIT_USAGE;
}

/* ---- The plugin ------------------------------------------------------------------------------ */

/* "NAME" of FOLDER/NAME.so, of which *length are the characters. */
static const char *name_in(const char *path, size_t *length)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t n = strlen(name);
    *length = n > 3 && !strcmp(name + n - 3, ".so") ? n - 3 : n;
    return name;
}

static bool names_plugin(const ini_section *s, const loaded *plugin)
{
    size_t n, m;
    const ini_entry *entry = ini_get(s, "plugin");
    const char *name = name_in(entry && *entry->value ? entry->value : s->label, &n),
               *file = name_in(plugin->path, &m), *own = plugin->plugin->name;
    return (n == m && !strncmp(name, file, n)) || (n == strlen(own) && !strncmp(name, own, n));
}

/* A section of the plugin in FILE.ini; NULL: there is none. */
static const ini_section *section_of(const ini_file *ini, const loaded *plugin)
{
    for (int k = 0; k < ini->count; k++)
        if (!strcmp(ini->sections[k].kind, plugin_kind_name(plugin->plugin->kind)) &&
            names_plugin(&ini->sections[k], plugin))
            return &ini->sections[k];
    return NULL;
}

static int find_label(target *t, report *r)
{
    ini_file ini = {0};
    if (!t->file) {
        t->label = t->loaded.plugin->name;
        return EXIT_DONE;
    }
    int code = ini_read(t->file, &ini, r);
    const ini_section *s = code ? NULL : section_of(&ini, &t->loaded);
    if (s) t->label = checked(strdup(s->label));
    if (!code && !s)
        code =
            report_error(r, EXIT_INPUT, t->file, 0,
                         "there is no section for the %s '%s': plugmc info %s prints one to paste",
                         plugin_kind_name(t->loaded.plugin->kind), t->loaded.plugin->name, t->name);
    ini_free(&ini);
    return code;
}

/* The driver of a GPU does not survive a fork, so a child looks. */
static int look_for_gpu(const target *t, findings *f, void *why)
{
    gpu *device = gpu_open(0, false, why);
    (void)t, (void)f;
    if (!device) return EXIT_DEVICE;
    gpu_close(device);
    return EXIT_DONE;
}

static int find_gpu(target *t, findings *f, report *r)
{
    if (t->device == DEVICE_CPU) {
        strcpy(t->why_no_gpu, "--device cpu");
        return EXIT_DONE;
    }
    char *why = shared_new(sizeof t->why_no_gpu);
    if (apart(t, f, "GPU", INFINITY, look_for_gpu, why))
        snprintf(t->why_no_gpu, sizeof t->why_no_gpu, "%s", *why ? why : "it cannot be opened");
    if (!*t->why_no_gpu || t->device == DEVICE_AUTO) return EXIT_DONE;
    return report_error(r, EXIT_DEVICE, NULL, 0, "--device gpu: %s", t->why_no_gpu);
}

/* A path that is given once more in a text, wherever that text is thought to be. */
static const char *absolute(const char *name)
{
    char *path = strchr(name, '/') ? realpath(name, NULL) : NULL;
    return path ? path : name;
}

static int validate(target *t, findings *f)
{
    const int kind = t->loaded.plugin->kind;
    return kind == PLUGMC_POTENTIAL    ? validate_potential(t, f)
           : kind == PLUGMC_OBSERVABLE ? validate_observable(t, f)
                                       : validate_mover(t, f);
}

/* ---- Output ---------------------------------------------------------------------------------- */

static int write_json(const arguments *a, const target *t, const findings *f, report *r)
{
    FILE *out = strcmp(a->json, "-") ? fopen(a->json, "w") : stdout;
    if (!out)
        return report_error(r, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s", a->json,
                            strerror(errno));
    fputs("{\"plugin\": ", out);
    json_put(out, t->loaded.plugin->name);
    json_text(out, "kind", plugin_kind_name(t->loaded.plugin->kind));
    json_text(out, "path", t->loaded.path);
    json_text(out, "hash", t->loaded.hash);
    if (t->file) json_text(out, "file", t->file);
    if (*f->box) json_text(out, "box", f->box);
    fprintf(out, ", \"quick\": %s, ", t->quick ? "true" : "false");
    findings_json(out, f);
    fputs("}\n", out);
    const bool failed = ferror(out) || (out == stdout ? fflush(out) : fclose(out));
    return failed ? report_error(r, EXIT_OUTPUT, NULL, 0, "cannot write %s: %s", a->json,
                                 strerror(errno))
                  : EXIT_DONE;
}

static int conclude(const arguments *a, const target *t, const findings *f, report *r)
{
    if (!a->json || strcmp(a->json, "-")) {
        printf("%s '%s' (%s)%s%s\n", plugin_kind_name(t->loaded.plugin->kind),
               t->loaded.plugin->name, t->loaded.path,
               t->file   ? ", as in "
               : *f->box ? ", with default parameters, in "
                         : "",
               t->file ? t->file : f->box);
        findings_print(stdout, f);
    }
    const int code = a->json ? write_json(a, t, f, r) : EXIT_DONE;
    return code ? code : findings_failed(f) ? EXIT_PLUGIN : EXIT_DONE;
}

static int command_validate(int argc, char **argv)
{
    arguments a = {.device = DEVICE_AUTO};
    report r = {0};
    int code = parse(argc, argv, &a);
    if (code) return code;
    findings *f = checked(findings_new());
    target t = {.name = absolute(a.plugin),
                .file = a.file,
                .quick = a.quick,
                .device = a.device,
                .seed = a.seed};
    /* a file of its own, as words of child processes on stderr are read */
    if (!a.json || strcmp(a.json, "-")) findings_tell(dup(STDERR_FILENO));
    code = plugin_load(t.name, 0, NULL, 0, &t.loaded, &r);
    if (!code) code = find_label(&t, &r);
    if (!code) code = find_gpu(&t, f, &r);
    if (!code) code = validate(&t, f);
    if (!code) code = conclude(&a, &t, f, &r);
    findings_free(f);
    return code;
}

int main(int argc, char **argv) { return beside_main(argc, argv, help, command_validate); }
