/* plugmc build: a plugin, from one C file to a shared object that `run` accepts. compiler.c makes it, the loader tries
 * it in a child process, kernels.c compiles what it has for GPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "gpu/gpu.h"
#include "kernels.h"
#include "plugin/loader.h"
#include "program/beside.h"

static const char help[] =
    "usage: plugmc build FILE.c [-o FILE.so] [--draft] [--compiler CC]\n"
    "                    [-IFOLDER] [-LFOLDER] [-lNAME | LIBRARY.a]...\n"
    "\n"
    "Makes a plugin of one C file, with the flags that plugins need; one with a pair or a field is\n"
    "compiled in double and in float. The plugin is then loaded once, as a run would, and its GPU source\n"
    "is compiled for all GPUs if NVRTC is there, which needs no GPU.\n"
    "\n"
    "  -o FILE.so      the plugin; default: FILE.so beside FILE.c\n"
    "  --draft         for the processors of all machines alike and for one GPU: compiles faster, runs\n"
    "                  slower, with the same results\n"
    "  --compiler CC   the C compiler; default: $CC, or cc\n"
    "  -lNAME, LIBRARY.a, -LFOLDER, -IFOLDER\n"
    "                  libraries in C, C++ or Fortran that it calls, and where they and their headers are\n"
    "\n"
    "Several C files, or kernels in files of their own: use CMake, see docs/plugin-guide.md.\n"
    "\n"
    "exit codes: 0 done, 2 command line, 4 the compiler has failed or a run would refuse the plugin, 5 it\n"
    "cannot be written, 7 its GPU source does not compile\n";

enum { MOST_LIBRARIES = 64 };

typedef struct arguments {
    order order;
    const char *libraries[MOST_LIBRARIES + 1];
    int library_count;
} arguments;

static int usage_error(const char *format, const char *word)
{
    fputs("plugmc build: ", stderr);
    fprintf(stderr, format, excerpt(word).text);
    fputs("; see --help\n", stderr);
    return EXIT_USAGE;
}

static bool ends_in(const char *word, const char *end)
{
    const size_t length = strlen(word), tail = strlen(end);
    return length > tail && !strcmp(word + length - tail, end);
}

/* A library, or where one is. */
static bool is_library(const char *word)
{
    if (word[0] == '-') return strchr("lLI", word[1]) && word[1] && word[2];
    return ends_in(word, ".a");
}

static int parse(int argc, char **argv, arguments *a)
{
    order *o = &a->order;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        const char **value = !strcmp(word, "-o")           ? &o->output
                             : !strcmp(word, "--compiler") ? &o->compiler
                                                           : NULL;
        if (value) {
            if (i + 1 == argc) return usage_error("%s needs a value", word);
            *value = argv[++i];
        } else if (!strcmp(word, "--draft")) {
            o->draft = true;
        } else if (is_library(word)) {
            if (a->library_count == MOST_LIBRARIES)
                return usage_error("too many libraries: %s", word);
            a->libraries[a->library_count++] = word;
        } else if (word[0] == '-') {
            return usage_error("unknown option '%s'", word);
        } else if (!ends_in(word, ".c")) {
            return usage_error("'%s' is no C file and no library", word);
        } else if (o->source) {
            return usage_error("more than one C file: '%s'", word);
        } else {
            o->source = word;
        }
    }
    o->libraries = a->libraries;
    return o->source ? 0 : usage_error("%s", "which C file?");
}

/* FILE.so of FILE.c. malloc'ed. */
static char *default_output(const char *source)
{
    char *output;
    if (asprintf(&output, "%.*s.so", (int)strlen(source) - 2, source) < 0) checked(NULL);
    return output;
}

static const char *kind_of(const plugmc_plugin *plugin)
{
    return plugin->kind == PLUGMC_POTENTIAL ? "potential"
           : plugin->kind == PLUGMC_MOVER   ? "mover"
                                            : "observable";
}

/* The loader takes what has a '/' for a path as it is. */
static int try_plugin(const order *o, double seconds, report *r)
{
    char why[1024];
    loaded plugin;
    if (!plugin_open(o->output, 0, &plugin, why, sizeof why))
        return report_error(r, plugin.shortage ? EXIT_MEMORY : EXIT_PLUGIN, NULL, 0, "%s", why);
    printf("%s: %s '%s', compiled in %.1f s%s\n", o->output, kind_of(plugin.plugin),
           plugin.plugin->name, seconds, o->draft ? " as a draft" : "");
    fflush(stdout);
    const int code = kernels_compile(&plugin, o->draft ? 1 : GPU_ARCHITECTURES, r);
    plugin_unload(&plugin);
    return code;
}

static int command(int argc, char **argv)
{
    arguments a = {0};
    report r = {0};
    double seconds;
    int code = parse(argc, argv, &a);
    if (code) return code;
    char *output = default_output(a.order.source);
    if (!a.order.output) a.order.output = output;
    if (!a.order.compiler) a.order.compiler = getenv("CC");
    if (!a.order.compiler || !*a.order.compiler) a.order.compiler = "cc";
    code = compiler_run(&a.order, &seconds, &r);
    if (!code) code = try_plugin(&a.order, seconds, &r);
    free(output);
    return code;
}

int main(int argc, char **argv) { return beside_main(argc, argv, help, command); }
